!> The tetrahedral mesh as a rule: which cells there are, what they share and where they lie.
!>
!> A box of n**3 hexahedra, each cut into six tetrahedra around its diagonal (Kuhn's subdivision). A
!> tetrahedron of a hexahedron is an order of the axes (a, b, c): its corners are the hexahedron's
!> corner v0, v1 = v0 + a, v2 = v1 + b, v3 = v2 + c. Face f lies opposite to corner f - 1. Across face
!> 1 lies (b, c, a) of the next hexahedron along a, across face 4 (c, a, b) of the last one along c,
!> across faces 2 and 3 the orders with the first or last two axes exchanged. So a face changes either
!> the parity of the order or that of the hexahedron, and two colours suffice for all cells.
!>
!> Cells are numbered 6 hexahedron + kind - 1, nodes (the lattice's points) and hexahedra from 0, x
!> fastest. Every process knows the rule, none has the whole mesh.
!>
!> Nodes inside of the box are moved by up to a tenth of the spacing, at random; a smooth map then
!> raises a bump from the floor and gathers the nodes at floor and ceiling. `position` must round the
!> same wherever it is called, hence it is not in the modules that call it.
!>
!> Reference: H. W. Kuhn (1960): Some combinatorial lemmas in topology. IBM J. Res. Dev. 4,
!> doi:10.1147/rd.45.0518.
module unstructured_box

    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: cell_t, cell_of, cell_number, colours, kinds, surrounding
    public :: node_number, position, surroundings_t, find_surroundings

    integer, parameter :: colours = 2, kinds = 6
    !> Cells around a node inside of the box.
    integer, parameter :: surrounding = 24

    !> Orders of the axes, the even ones first.
    integer, parameter :: axes(3, kinds) = reshape([1, 2, 3, 2, 3, 1, 3, 1, 2, &
                                                    2, 1, 3, 1, 3, 2, 3, 2, 1], [3, kinds])

    real(dp), parameter :: pi = acos(-1.0_dp)
    !> By how much a node is moved, in spacings; height of the bump; how nodes are gathered.
    real(dp), parameter :: disorder = 0.1_dp, bump = 0.1_dp, gathering = 0.06_dp

    type :: cell_t
        !> Hexahedron, and kind of tetrahedron in it, from 1.
        integer :: hexahedron(3) = 0, kind = 1
    contains
        procedure :: colour
        procedure :: corners
        procedure :: across
        procedure :: is_outside
    end type cell_t

    !> Cells around a node, relative to it, and which of their corners, from 1, it is.
    type :: surroundings_t
        type(cell_t) :: cells(surrounding)
        integer :: corner(surrounding) = 0
    contains
        procedure :: near => around_node
    end type surroundings_t

    !> The face by which a cell is seen from across its face.
    integer, parameter, public :: face_across(4) = [4, 2, 3, 1]

contains

    pure type(cell_t) function cell_of(n, number) result(cell)
        integer, intent(in) :: n
        integer(i8), intent(in) :: number
        integer(i8) :: rest
        cell%kind = int(mod(number, int(kinds, i8))) + 1
        rest = number/kinds
        cell%hexahedron(1) = int(mod(rest, int(n, i8)))
        rest = rest/n
        cell%hexahedron(2) = int(mod(rest, int(n, i8)))
        cell%hexahedron(3) = int(rest/n)
    end function cell_of

    pure integer(i8) function cell_number(n, cell) result(number)
        integer, intent(in) :: n
        type(cell_t), intent(in) :: cell
        associate (h => cell%hexahedron)
            number = kinds*(h(1) + int(n, i8)*(h(2) + int(n, i8)*h(3))) + cell%kind - 1
        end associate
    end function cell_number

    pure integer(i8) function node_number(n, at) result(number)
        integer, intent(in) :: n, at(3)
        number = at(1) + int(n + 1, i8)*(at(2) + int(n + 1, i8)*at(3))
    end function node_number

    !> 1 or 2: no two cells that share a face have the same.
    pure integer function colour(self)
        class(cell_t), intent(in) :: self
        colour = 1 + modulo(sum(self%hexahedron) + (self%kind - 1)/3, 2)
    end function colour

    !> Nodes of the four corners.
    pure function corners(self) result(nodes)
        class(cell_t), intent(in) :: self
        integer :: nodes(3, 4), i
        nodes(:, 1) = self%hexahedron
        do i = 1, 3
            nodes(:, i + 1) = nodes(:, i)
            nodes(axes(i, self%kind), i + 1) = nodes(axes(i, self%kind), i) + 1
        end do
    end function corners

    !> The cell across a face, which may lie outside of the box.
    pure type(cell_t) function across(self, face) result(other)
        class(cell_t), intent(in) :: self
        integer, intent(in) :: face
        associate (order => axes(:, self%kind))
            other%hexahedron = self%hexahedron
            select case (face)
            case (1)
                other%hexahedron(order(1)) = other%hexahedron(order(1)) + 1
                other%kind = kind_of([order(2), order(3), order(1)])
            case (2)
                other%kind = kind_of([order(2), order(1), order(3)])
            case (3)
                other%kind = kind_of([order(1), order(3), order(2)])
            case default
                other%hexahedron(order(3)) = other%hexahedron(order(3)) - 1
                other%kind = kind_of([order(3), order(1), order(2)])
            end select
        end associate
    end function across

    pure integer function kind_of(order) result(kind)
        integer, intent(in) :: order(3)
        do kind = 1, kinds - 1
            if (all(axes(:, kind) == order)) return
        end do
    end function kind_of

    pure logical function is_outside(self, n)
        class(cell_t), intent(in) :: self
        integer, intent(in) :: n
        is_outside = any(self%hexahedron < 0 .or. self%hexahedron >= n)
    end function is_outside

    !> The cells around a node at the origin, some of them outside of the box, always in the same
    !> order.
    pure type(surroundings_t) function find_surroundings() result(around)
        type(cell_t) :: cell
        integer :: nodes(3, 4), many, offset, kind, c

        many = 0
        do offset = 0, 7
            cell%hexahedron = -[ibits(offset, 0, 1), ibits(offset, 1, 1), ibits(offset, 2, 1)]
            do kind = 1, kinds
                cell%kind = kind
                nodes = cell%corners()
                do c = 1, 4
                    if (any(nodes(:, c) /= 0)) cycle
                    many = many + 1
                    around%cells(many) = cell
                    around%corner(many) = c
                end do
            end do
        end do
    end function find_surroundings

    !> The cell `i` around a node.
    pure type(cell_t) function around_node(self, node, i) result(cell)
        class(surroundings_t), intent(in) :: self
        integer, intent(in) :: node(3), i
        cell%hexahedron = node + self%cells(i)%hexahedron
        cell%kind = self%cells(i)%kind
    end function around_node

    !> Where a node lies; `random` are three numbers between 0 and 1 that belong to it.
    pure function position(n, at, random) result(x)
        integer, intent(in) :: n, at(3)
        real(dp), intent(in) :: random(3)
        real(dp) :: x(3)
        x = at
        if (all(at > 0 .and. at < n)) x = x + disorder*(2*random - 1)
        x = x/n
        x(3) = x(3) - gathering*sin(2*pi*x(3))
        x(3) = x(3) + (1 - x(3))*bump*(sin(pi*x(1))*sin(pi*x(2)))**4
    end function position

end module unstructured_box
