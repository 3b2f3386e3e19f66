!> Positions of the nodes of a part of the box.
!>
!> The random numbers of a node follow from its number alone, so that every process sees the same
!> mesh.
module unstructured_nodes

    use bl_kinds, only: dp, i8
    use bl_random, only: random_fill, random_seed_common, random_skip
    use unstructured_box, only: cell_t, node_number, position

    implicit none(type, external)
    private

    public :: nodes_t

    type :: nodes_t
        !> x(3, i, j, k), from the first to the last node of the part.
        real(dp), allocatable :: x(:, :, :, :)
    contains
        procedure :: cover
        procedure :: of_cell
        procedure :: centre
    end type nodes_t

contains

    !> Takes the nodes from `first` to `last`, as far as they are in the box.
    subroutine cover(self, n, first, last)
        class(nodes_t), intent(inout) :: self
        integer, intent(in) :: n, first(3), last(3)
        real(dp), allocatable :: random(:)
        integer(i8) :: state
        integer :: lo(3), hi(3), i, j, k

        lo = max(first, 0)
        hi = min(last, n)
        allocate (self%x(3, lo(1):hi(1), lo(2):hi(2), lo(3):hi(3)))
        allocate (random(3*(hi(1) - lo(1) + 1)))
        do k = lo(3), hi(3)
            do j = lo(2), hi(2)
                state = random_skip(random_seed_common, 3*node_number(n, [lo(1), j, k]))
                call random_fill(state, random)
                do i = lo(1), hi(1)
                    self%x(:, i, j, k) = position(n, [i, j, k], &
                                                  random(3*(i - lo(1)) + 1:3*(i - lo(1)) + 3))
                end do
            end do
        end do
    end subroutine cover

    !> The corners of a cell.
    pure function of_cell(self, cell) result(x)
        class(nodes_t), intent(in) :: self
        type(cell_t), intent(in) :: cell
        real(dp) :: x(3, 4)
        integer :: nodes(3, 4), i
        nodes = cell%corners()
        do i = 1, 4
            x(:, i) = self%x(:, nodes(1, i), nodes(2, i), nodes(3, i))
        end do
    end function of_cell

    pure function centre(self, cell) result(x)
        class(nodes_t), intent(in) :: self
        type(cell_t), intent(in) :: cell
        real(dp) :: x(3), corners(3, 4)
        corners = self%of_cell(cell)
        x = (corners(:, 1) + corners(:, 2) + corners(:, 3) + corners(:, 4))/4
    end function centre

end module unstructured_nodes
