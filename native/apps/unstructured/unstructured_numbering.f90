!> Which cells and nodes a process has, and their local numbers.
!>
!> Slots of a process: its own cells, those of the first colour before those of the second, each
!> colour along Morton's curve and filled up to whole blocks of `lanes` slots, so that all loops over
!> cells are loops over whole vectors; then the halo, cells of others that share a node with an own
!> one. Nodes are those of own cells, in the order in which these come to them.
!>
!> Collective over the job: `assign`.
module unstructured_numbering

    use bl_kinds, only: dp, i8
    use unstructured_box, only: cell_number, cell_of, cell_t, colours, find_surroundings, kinds, &
                                surrounding, surroundings_t
    use unstructured_exchange, only: hand_over
    use unstructured_nodes, only: nodes_t
    use unstructured_order, only: curve_place, sorted_order
    use unstructured_partition, only: cut_cells, cuts_t

    implicit none(type, external)
    private

    public :: numbering_t, lanes

    !> Cells of a block: doubles of the longest vectors.
    integer, parameter :: lanes = 8

    type :: numbering_t
        !> Hexahedra along an edge of the box.
        integer :: n = 0
        !> Who has which cell, and where the nodes are that this process knows.
        type(cuts_t) :: cuts
        type(nodes_t) :: nodes
        !> Own cells; blocks up to the end of each colour; slots of own cells, empty ones among them;
        !> slots of own cells and halo.
        integer :: cells_own = 0, block_end(0:colours) = 0, own = 0, slots = 0
        !> The cell of each slot.
        type(cell_t), allocatable :: cells(:)
        logical, allocatable :: is_empty(:)
        !> Slot of (kind, hexahedron), 0 if it is neither own nor halo.
        integer, allocatable :: slot_of(:, :, :, :)
        !> Number of the node at (i, j, k), 0 if it is none of an own cell; and where each lies.
        integer, allocatable :: node_of(:, :, :), node_at(:, :)
    contains
        procedure :: assign
        procedure :: slot
        procedure :: owner
        procedure, private :: number_cells
        procedure, private :: number_nodes
        procedure, private :: number_halo
    end type numbering_t

contains

    subroutine assign(self, comm, rank, ranks, n)
        class(numbering_t), intent(inout) :: self
        integer, intent(in) :: comm, rank, ranks, n
        integer(i8), allocatable :: numbers(:)
        integer :: first(3), last(3), axis, i
        type(cell_t), allocatable :: cells(:)

        self%n = n
        call deal(comm, rank, ranks, n, self%cuts, numbers)
        cells = [(cell_of(n, numbers(i)), i=1, size(numbers))]
        do axis = 1, 3
            first(axis) = minval(cells%hexahedron(axis)) - 1
            last(axis) = maxval(cells%hexahedron(axis)) + 1
        end do
        call self%nodes%cover(n, first, last + 1)
        allocate (self%slot_of(kinds, first(1):last(1), first(2):last(2), first(3):last(3)), &
                  source=0)
        allocate (self%node_of(first(1):last(1) + 1, first(2):last(2) + 1, &
                               first(3):last(3) + 1), source=0)
        call self%number_cells(cells)
        call self%number_nodes()
        call self%number_halo()
    end subroutine assign

    !> Cuts the mesh and gives each process the numbers of its cells.
    subroutine deal(comm, rank, ranks, n, cuts, numbers)
        integer, intent(in) :: comm, rank, ranks, n
        type(cuts_t), intent(out) :: cuts
        integer(i8), allocatable, intent(out) :: numbers(:)
        type(nodes_t) :: nodes
        integer(i8) :: begin, end, i
        integer(i8), allocatable :: keys(:)
        real(dp), allocatable :: centres(:, :)
        integer, allocatable :: owners(:), order(:)
        integer :: gives(0:ranks - 1), gets(0:ranks - 1)

        begin = kinds*((rank*int(n, i8)**3)/ranks)
        end = kinds*(((rank + 1)*int(n, i8)**3)/ranks)
        associate (low => cell_of(n, begin), high => cell_of(n, end - 1))
            call nodes%cover(n, [0, 0, low%hexahedron(3)], [n, n, high%hexahedron(3) + 1])
        end associate
        keys = [(i, i=begin, end - 1)]
        allocate (centres(3, size(keys)), owners(size(keys)), order(size(keys)))
        do i = 1, size(keys)
            centres(:, i) = nodes%centre(cell_of(n, keys(i)))
        end do
        call cut_cells(comm, ranks, centres, cuts, owners)
        call hand_over(comm, ranks, owners, keys, numbers, gives, gets, order)
    end subroutine deal

    !> Own cells in the order of their colours and of the curve.
    subroutine number_cells(self, cells)
        class(numbering_t), intent(inout) :: self
        type(cell_t), intent(in) :: cells(:)
        integer(i8) :: keys(size(cells))
        integer :: order(size(cells)), many(colours), colour, i, slot

        many = 0
        do i = 1, size(cells)
            colour = cells(i)%colour()
            keys(i) = 8*curve_place(cells(i)%hexahedron) + cells(i)%kind
            if (colour == colours) keys(i) = ibset(keys(i), 56)
            many(colour) = many(colour) + 1
        end do
        order = sorted_order(keys)
        do colour = 1, colours
            self%block_end(colour) = self%block_end(colour - 1) + (many(colour) + lanes - 1)/lanes
        end do
        self%cells_own = size(cells)
        self%own = lanes*self%block_end(colours)
        allocate (self%cells(self%own))
        allocate (self%is_empty(self%own), source=.true.)
        do i = 1, size(cells)
            slot = i
            if (i > many(1)) slot = i - many(1) + lanes*self%block_end(1)
            self%cells(slot) = cells(order(i))
            self%is_empty(slot) = .false.
            associate (cell => self%cells(slot))
                self%slot_of(cell%kind, cell%hexahedron(1), cell%hexahedron(2), &
                             cell%hexahedron(3)) = slot
            end associate
        end do
    end subroutine number_cells

    subroutine number_nodes(self)
        class(numbering_t), intent(inout) :: self
        integer, allocatable :: at(:, :)
        integer :: slot, c, many, nodes(3, 4)

        allocate (at(3, size(self%node_of)))
        many = 0
        do slot = 1, self%own
            if (self%is_empty(slot)) cycle
            nodes = self%cells(slot)%corners()
            do c = 1, 4
                associate (number => self%node_of(nodes(1, c), nodes(2, c), nodes(3, c)))
                    if (number > 0) cycle
                    many = many + 1
                    number = many
                    at(:, many) = nodes(:, c)
                end associate
            end do
        end do
        self%node_at = at(:, :many)
    end subroutine number_nodes

    subroutine number_halo(self)
        class(numbering_t), intent(inout) :: self
        type(surroundings_t) :: around
        type(cell_t) :: cell
        type(cell_t), allocatable :: cells(:)
        integer :: node, i, round

        around = find_surroundings()
        ! Counted in the first round, kept in the second.
        do round = 1, 2
            self%slots = self%own
            do node = 1, size(self%node_at, 2)
                do i = 1, surrounding
                    cell = around%near(self%node_at(:, node), i)
                    if (cell%is_outside(self%n)) cycle
                    associate (h => cell%hexahedron)
                        associate (slot => self%slot_of(cell%kind, h(1), h(2), h(3)))
                            if (slot > 0 .or. (round == 1 .and. slot < 0)) cycle
                            self%slots = self%slots + 1
                            slot = merge(-1, self%slots, round == 1)
                            if (round == 2) cells(self%slots) = cell
                        end associate
                    end associate
                end do
            end do
            if (round == 1) allocate (cells(self%slots))
        end do
        cells(:self%own) = self%cells
        call move_alloc(cells, self%cells)
    end subroutine number_halo

    !> Slot of a cell that is own or in the halo.
    pure integer function slot(self, cell)
        class(numbering_t), intent(in) :: self
        type(cell_t), intent(in) :: cell
        associate (h => cell%hexahedron)
            slot = self%slot_of(cell%kind, h(1), h(2), h(3))
        end associate
    end function slot

    !> Owner, and number in the whole mesh, of the cell of a slot.
    pure subroutine owner(self, slot, rank, number)
        class(numbering_t), intent(in) :: self
        integer, intent(in) :: slot
        integer, intent(out) :: rank
        integer(i8), intent(out) :: number
        rank = self%cuts%owner(self%nodes%centre(self%cells(slot)))
        number = cell_number(self%n, self%cells(slot))
    end subroutine owner

end module unstructured_numbering
