!> A process's part of the mesh as the solver sees it: lists of neighbours, areas and weights.
!>
!> Slots (see unstructured_numbering) go on after the halo with ghosts: one for each face on the
!> box's boundary, those of own cells first. Each face of an own cell has two sides with values of the
!> flow that differ. A value is a column of the sides less that of a node: of an own cell's side the
!> column of its slot, which its four sides share, and the node opposite to the face. Further columns
!> are whole values, with a node of zeros: what other processes have on shared faces, then ghosts;
!> then the edge, those sides of own cells that are needed whole, for other processes and at walls.
!>
!> Values at the nodes are those of the linear function that fits the cells and ghosts around best
!> (least squares, all alike); the weights depend on the mesh alone.
!>
!> Collective over the job: `setup`.
module unstructured_mesh

    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_allreduce
    use mpi, only: MPI_INTEGER8, MPI_MAX, MPI_SUM
    use unstructured_box, only: cell_of, cell_t, colours, face_across, find_surroundings, &
                                surrounding, surroundings_t
    use unstructured_exchange, only: exchange_t
    use unstructured_numbering, only: lanes, numbering_t
    use unstructured_stencil, only: node_weights

    implicit none(type, external)
    private

    public :: mesh_t

    !> Faces on walls: the cell and its mirror image, those of own cells of each colour, then those
    !> of the halo.
    type :: walls_t
        integer :: last(0:colours + 1) = 0
        integer, allocatable :: cell(:), ghost(:), cell_side(:), ghost_side(:)
        !> Normals out of the flow, of length 1, and areas.
        real(dp), allocatable :: normal(:, :), area(:)
    end type walls_t

    type :: mesh_t
        type(numbering_t) :: numbering
        !> Slots with ghosts, columns of sides, and the node of zeros.
        integer :: slots = 0, sides = 0, no_node = 0
        !> Ghosts, of which the first are those of own cells; the first's slot and side less one.
        integer :: ghosts = 0, ghosts_own = 0, ghost_slot = 0, ghost_side = 0
        !> Of own cells (lane, face, block): slot across, column and node of the side across, number of
        !> the corner's node opposite to the face; and (lane, axis, face, block) the normal, of length
        !> 1, that points outwards, and in the place of a fourth axis the area.
        integer, allocatable :: across(:, :, :), side(:, :, :), opposite(:, :, :), corner(:, :, :)
        real(dp), allocatable :: area(:, :, :, :)
        !> Stencils of the nodes: first(node) to first(node + 1) - 1.
        integer, allocatable :: first(:), member(:)
        real(dp), allocatable :: weight(:)
        type(walls_t) :: walls
        !> Where the faces of the ghosts lie.
        real(dp), allocatable :: ghost_centre(:, :)
        !> The edge: cells and nodes of its sides; the first's column less one.
        integer, allocatable :: edge_cell(:), edge_node(:)
        integer :: edge_side = 0
        !> The whole halo; sides of shared faces; cells of a colour across shared faces.
        type(exchange_t) :: halo, shared, colour(colours)
        !> Faces shared by two processes, in the whole mesh; the most cells of a process.
        integer(i8) :: cut_faces = 0, cells_most = 0
    contains
        procedure :: setup
        procedure, private :: find_ghosts
        procedure, private :: join
        procedure, private :: find_opposite
        procedure, private :: arrange_edge
        procedure, private :: add_wall
        procedure, private :: weigh
        procedure, private :: arrange_exchanges
        procedure, private :: arrange_faces
    end type mesh_t

contains

    subroutine setup(self, comm, rank, ranks, n, has_wall)
        class(mesh_t), intent(inout) :: self
        integer, intent(in) :: comm, rank, ranks, n
        logical, intent(in) :: has_wall
        integer, allocatable :: ghost_of(:, :)
        real(dp), allocatable :: images(:, :)

        call self%numbering%assign(comm, rank, ranks, n)
        call self%find_ghosts(has_wall, ghost_of, images)
        call self%join(ghost_of)
        call self%weigh(ghost_of, images)
        call self%arrange_exchanges(comm, ranks)
    end subroutine setup

    !> Numbers the ghosts, from 1. `images` is where their values belong: on the face, but behind a
    !> wall at the cell's mirror image.
    subroutine find_ghosts(self, has_wall, ghost_of, images)
        class(mesh_t), intent(inout) :: self
        logical, intent(in) :: has_wall
        integer, allocatable, intent(out) :: ghost_of(:, :)
        real(dp), allocatable, intent(out) :: images(:, :)
        type(cell_t) :: other
        real(dp) :: area(3), middle(3), centre(3)
        integer :: slot, f, round

        associate (numbers => self%numbering)
            allocate (ghost_of(4, numbers%slots), source=0)
            do round = 1, 2
                self%ghosts = 0
                do slot = 1, numbers%slots
                    if (slot == numbers%own + 1) self%ghosts_own = self%ghosts
                    if (slot <= numbers%own) then
                        if (numbers%is_empty(slot)) cycle
                    end if
                    do f = 1, 4
                        other = numbers%cells(slot)%across(f)
                        if (.not. other%is_outside(numbers%n)) cycle
                        self%ghosts = self%ghosts + 1
                        if (round == 1) cycle
                        ghost_of(f, slot) = self%ghosts
                        call look_at_face(numbers%nodes%of_cell(numbers%cells(slot)), f, area, &
                                          middle)
                        self%ghost_centre(:, self%ghosts) = middle
                        images(:, self%ghosts) = middle
                        if (.not. has_wall .or. other%hexahedron(3) >= 0) cycle
                        area = area/norm2(area)
                        centre = numbers%nodes%centre(numbers%cells(slot))
                        images(:, self%ghosts) = centre + 2*dot_product(middle - centre, area)*area
                    end do
                end do
                if (numbers%slots == numbers%own) self%ghosts_own = self%ghosts
                if (round == 1) allocate (self%ghost_centre(3, self%ghosts), &
                                          images(3, self%ghosts))
            end do
            self%ghost_slot = numbers%slots
            self%slots = numbers%slots + self%ghosts
            call self%add_wall(has_wall, ghost_of)
        end associate
    end subroutine find_ghosts

    !> Area that points outwards, and middle, of a face of the cell with these corners.
    pure subroutine look_at_face(x, f, area, middle)
        real(dp), intent(in) :: x(3, 4)
        integer, intent(in) :: f
        real(dp), intent(out) :: area(3), middle(3)
        real(dp) :: a(3), b(3)
        ! The nodes' numbers grow from corner to corner: both cells of a face take them alike.
        integer, parameter :: corners(3, 4) = reshape([2, 3, 4, 1, 3, 4, 1, 2, 4, 1, 2, 3], [3, 4])

        associate (p => corners(1, f), q => corners(2, f), r => corners(3, f))
            a = x(:, q) - x(:, p)
            b = x(:, r) - x(:, p)
            middle = (x(:, p) + x(:, q) + x(:, r))/3
        end associate
        area = [a(2)*b(3) - a(3)*b(2), a(3)*b(1) - a(1)*b(3), a(1)*b(2) - a(2)*b(1)]/2
        if (dot_product(area, middle - x(:, f)) < 0) area = -area
    end subroutine look_at_face

    !> Lists the faces on walls.
    subroutine add_wall(self, has_wall, ghost_of)
        class(mesh_t), intent(inout) :: self
        logical, intent(in) :: has_wall
        integer, intent(in) :: ghost_of(:, :)
        type(cell_t) :: other
        real(dp) :: area(3), middle(3)
        integer :: slot, f, many, group

        many = 0
        if (has_wall) many = self%ghosts
        associate (walls => self%walls, numbers => self%numbering)
            allocate (walls%cell(many), walls%ghost(many), walls%cell_side(many), &
                      walls%ghost_side(many), source=0)
            allocate (walls%normal(3, many), walls%area(many), source=0.0_dp)
            if (.not. has_wall) return
            many = 0
            do slot = 1, numbers%slots
                do f = 1, 4
                    if (ghost_of(f, slot) == 0) cycle
                    other = numbers%cells(slot)%across(f)
                    if (other%hexahedron(3) >= 0) cycle
                    many = many + 1
                    call look_at_face(numbers%nodes%of_cell(numbers%cells(slot)), f, area, middle)
                    walls%area(many) = norm2(area)
                    walls%normal(:, many) = area/norm2(area)
                    walls%cell(many) = slot
                    walls%ghost(many) = self%ghost_slot + ghost_of(f, slot)
                    ! Faces until `arrange_edge` has the columns of their sides, and ghosts counted from
                    ! `ghost_side`, which `join` finds.
                    walls%cell_side(many) = f
                    walls%ghost_side(many) = ghost_of(f, slot)
                    group = colours + 1
                    if (slot <= numbers%own) group = numbers%cells(slot)%colour()
                    walls%last(group:) = many
                end do
            end do
        end associate
    end subroutine add_wall

    !> Joins the own cells to what lies across their faces.
    subroutine join(self, ghost_of)
        class(mesh_t), intent(inout) :: self
        integer, intent(in) :: ghost_of(:, :)
        type(cell_t) :: other
        real(dp) :: area(3), middle(3)
        integer :: block, lane, slot, f, shared

        associate (numbers => self%numbering)
            allocate (self%area(lanes, 4, 4, numbers%own/lanes), source=0.0_dp)
            allocate (self%corner(lanes, 4, numbers%own/lanes), source=1)
            allocate (self%across(lanes, 4, numbers%own/lanes), &
                      self%side(lanes, 4, numbers%own/lanes))
            shared = 0
            do slot = 1, numbers%own
                call locate(slot, lane, block)
                self%across(lane, :, block) = slot
                if (numbers%is_empty(slot)) cycle
                self%corner(lane, :, block) = corners_of(numbers, numbers%cells(slot))
                do f = 1, 4
                    call look_at_face(numbers%nodes%of_cell(numbers%cells(slot)), f, area, middle)
                    self%area(lane, :, f, block) = [area/norm2(area), norm2(area)]
                    if (ghost_of(f, slot) > 0) then
                        self%across(lane, f, block) = self%ghost_slot + ghost_of(f, slot)
                        cycle
                    end if
                    other = numbers%cells(slot)%across(f)
                    self%across(lane, f, block) = numbers%slot(other)
                end do
            end do
            self%side = self%across
            do block = 1, numbers%own/lanes
                do f = 1, 4
                    do lane = 1, lanes
                        associate (across => self%across(lane, f, block))
                            if (across <= numbers%own .or. across > self%ghost_slot) cycle
                            shared = shared + 1
                            self%side(lane, f, block) = numbers%own + shared
                        end associate
                    end do
                end do
            end do
            self%ghost_side = numbers%own + shared
            where (self%across > self%ghost_slot) &
                self%side = self%across - self%ghost_slot + self%ghost_side
            self%walls%ghost_side = self%walls%ghost_side + self%ghost_side
            self%edge_side = self%ghost_side + self%ghosts_own
        end associate
        call self%find_opposite()
    end subroutine join

    !> The nodes of the sides across.
    subroutine find_opposite(self)
        class(mesh_t), intent(inout) :: self
        integer :: block, lane, slot, f, other_lane, other_block

        self%no_node = size(self%numbering%node_at, 2) + 1
        allocate (self%opposite(lanes, 4, size(self%side, 3)))
        do slot = 1, self%numbering%own
            call locate(slot, lane, block)
            do f = 1, 4
                self%opposite(lane, f, block) = self%no_node
                associate (other => self%side(lane, f, block))
                    if (other > self%numbering%own) cycle
                    call locate(other, other_lane, other_block)
                    self%opposite(lane, f, block) = &
                        self%corner(other_lane, face_across(f), other_block)
                end associate
            end do
        end do
    end subroutine find_opposite

    !> Lane and block of a slot.
    pure subroutine locate(slot, lane, block)
        integer, intent(in) :: slot
        integer, intent(out) :: lane, block
        block = (slot - 1)/lanes + 1
        lane = slot - lanes*(block - 1)
    end subroutine locate

    pure function corners_of(numbers, cell) result(corner)
        type(numbering_t), intent(in) :: numbers
        type(cell_t), intent(in) :: cell
        integer :: corner(4), nodes(3, 4), c
        nodes = cell%corners()
        do c = 1, 4
            corner(c) = numbers%node_of(nodes(1, c), nodes(2, c), nodes(3, c))
        end do
    end function corners_of

    !> The nodes' stencils: cells and ghosts around each, in an order that all processes share.
    subroutine weigh(self, ghost_of, images)
        class(mesh_t), intent(inout) :: self
        integer, intent(in) :: ghost_of(:, :)
        real(dp), intent(in) :: images(:, :)
        integer, parameter :: members_max = 4*surrounding
        type(surroundings_t) :: around
        integer :: members(members_max), many, node, round, at(3)
        real(dp) :: points(3, members_max)

        around = find_surroundings()
        associate (numbers => self%numbering)
            allocate (self%first(size(numbers%node_at, 2) + 1))
            do round = 1, 2
                self%first(1) = 1
                do node = 1, size(numbers%node_at, 2)
                    at = numbers%node_at(:, node)
                    call gather(self, around, ghost_of, images, at, members, points, many)
                    self%first(node + 1) = self%first(node) + many
                    if (round == 1) cycle
                    self%member(self%first(node):self%first(node + 1) - 1) = members(:many)
                    self%weight(self%first(node):self%first(node + 1) - 1) = &
                        node_weights(points(:, :many), numbers%nodes%x(:, at(1), at(2), at(3)))
                end do
                if (round == 2) exit
                allocate (self%member(self%first(size(self%first)) - 1))
                allocate (self%weight(self%first(size(self%first)) - 1))
            end do
        end associate
    end subroutine weigh

    subroutine gather(mesh, around, ghost_of, images, at, members, points, many)
        class(mesh_t), intent(in) :: mesh
        type(surroundings_t), intent(in) :: around
        integer, intent(in) :: ghost_of(:, :), at(3)
        real(dp), intent(in) :: images(:, :)
        integer, intent(out) :: members(:), many
        real(dp), intent(out) :: points(:, :)
        type(cell_t) :: cell
        integer :: i, f, slot

        many = 0
        do i = 1, surrounding
            cell = around%near(at, i)
            if (cell%is_outside(mesh%numbering%n)) cycle
            slot = mesh%numbering%slot(cell)
            many = many + 1
            members(many) = slot
            points(:, many) = mesh%numbering%nodes%centre(cell)
            do f = 1, 4
                if (f == around%corner(i) .or. ghost_of(f, slot) == 0) cycle
                many = many + 1
                members(many) = mesh%ghost_slot + ghost_of(f, slot)
                points(:, many) = images(:, ghost_of(f, slot))
            end do
        end do
    end subroutine gather

    !> Finds out what is exchanged with whom.
    subroutine arrange_exchanges(self, comm, ranks)
        class(mesh_t), intent(inout) :: self
        integer, intent(in) :: comm, ranks
        integer, allocatable :: owners(:), places(:)
        integer(i8), allocatable :: numbers(:), asked(:)
        integer(i8) :: sums(1)
        integer :: slot

        associate (mine => self%numbering)
            allocate (owners(mine%own + 1:mine%slots), numbers(mine%own + 1:mine%slots))
            do slot = mine%own + 1, mine%slots
                call mine%owner(slot, owners(slot), numbers(slot))
            end do
            places = [(slot, slot=mine%own + 1, mine%slots)]
            call self%halo%ask(comm, ranks, owners, numbers, places, asked)
            self%halo%sent = slots_of(mine, asked)
            call self%arrange_faces(comm, ranks, owners, numbers, places)

            sums = self%ghost_side - mine%own
            call comm_allreduce(sums, 1, MPI_INTEGER8, MPI_SUM, comm)
            self%cut_faces = sums(1)/2
            sums = mine%cells_own
            call comm_allreduce(sums, 1, MPI_INTEGER8, MPI_MAX, comm)
            self%cells_most = sums(1)
        end associate
    end subroutine arrange_exchanges

    !> Shared faces, known by 4 times the number of the other's cell and its face less one; and the
    !> cells of the halo (owners, numbers, slots `places`) across them, by colours.
    subroutine arrange_faces(self, comm, ranks, owners, numbers, places)
        class(mesh_t), intent(inout) :: self
        integer, intent(in) :: comm, ranks
        integer, intent(in) :: owners(self%numbering%own + 1:), places(:)
        integer(i8), intent(in) :: numbers(self%numbering%own + 1:)
        integer, allocatable :: across(:), sides(:), chosen(:), colour_of(:)
        logical, allocatable :: is_near(:)
        integer(i8), allocatable :: keys(:), asked(:)
        integer :: many, colour, i

        associate (mine => self%numbering)
            many = self%ghost_side - mine%own
            allocate (keys(many), is_near(mine%own + 1:mine%slots))
            sides = pack(self%side, self%side > mine%own .and. self%side <= self%ghost_side)
            across = pack(self%across, self%side > mine%own .and. self%side <= self%ghost_side)
            keys = pack(spread(spread([1, 2, 3, 4], 1, lanes), 3, mine%own/lanes), &
                        self%side > mine%own .and. self%side <= self%ghost_side)
            do i = 1, many
                keys(i) = 4*numbers(across(i)) + face_across(keys(i)) - 1
            end do
            call self%shared%ask(comm, ranks, owners(across), keys, sides, asked)
            call self%arrange_edge(slots_of(mine, asked/4), int(mod(asked, 4_i8)) + 1)

            is_near = .false.
            is_near(across) = .true.
            allocate (colour_of(size(places)))
            do i = 1, size(places)
                colour_of(i) = mine%cells(places(i))%colour()
            end do
            do colour = 1, colours
                chosen = pack(places, is_near .and. colour_of == colour)
                call self%colour(colour)%ask(comm, ranks, owners(chosen), numbers(chosen), chosen, &
                                             asked)
                self%colour(colour)%sent = slots_of(mine, asked)
            end do
        end associate
    end subroutine arrange_faces

    !> The edge: sides (slots, faces) that others ask for, then those at walls.
    subroutine arrange_edge(self, slots, faces)
        class(mesh_t), intent(inout) :: self
        integer, intent(in) :: slots(:), faces(:)
        integer :: i, lane, block

        associate (walls => self%walls, at_walls => self%walls%last(colours))
            self%edge_cell = [slots, walls%cell(:at_walls)]
            self%edge_node = [faces, walls%cell_side(:at_walls)]
            do i = 1, size(self%edge_cell)
                call locate(self%edge_cell(i), lane, block)
                self%edge_node(i) = self%corner(lane, self%edge_node(i), block)
            end do
            self%shared%sent = [(self%edge_side + i, i=1, size(slots))]
            walls%cell_side(:at_walls) = [(self%edge_side + size(slots) + i, i=1, at_walls)]
            self%sides = self%edge_side + size(self%edge_cell)
        end associate
    end subroutine arrange_edge

    pure function slots_of(numbers, cells) result(slots)
        type(numbering_t), intent(in) :: numbers
        integer(i8), intent(in) :: cells(:)
        integer :: slots(size(cells)), i
        do i = 1, size(cells)
            slots(i) = numbers%slot(cell_of(numbers%n, cells(i)))
        end do
    end function slots_of

end module unstructured_mesh
