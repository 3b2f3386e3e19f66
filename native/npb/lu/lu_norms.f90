!> What LU is verified by: root mean squares over the interior points of the residual and of the
!> deviation from the exact solution, and an integral of the pressure over the faces of a box.
!>
!> Collective: everything. Timed: `field_norm`.
module lu_norms

    use adi_flow, only: c2, exact_solution
    use lu_block, only: block_t, ghost
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_SUM
    use bl_kinds, only: dp
    use bl_messages, only: comm_allreduce

    implicit none(type, external)
    private

    public :: error_norm, field_norm, surface_integral

contains

    function field_norm(block, field) result(norm)
        type(block_t), intent(in) :: block
        real(dp), intent(in) :: field(-ghost:, :, -ghost:, 0:)
        real(dp) :: norm(5)
        integer :: k, s, m

        norm = 0
        do k = 1, block%n - 2
            do s = sum(block%lo), sum(block%hi)
                do m = 1, 5
                    norm(m) = norm(m) + sum(field(block%row_lo(s):block%row_hi(s), m, s, k)**2)
                end do
            end do
        end do
        call finish(block, norm)
    end function field_norm

    function error_norm(block) result(norm)
        type(block_t), intent(in) :: block
        real(dp) :: norm(5)
        integer :: i, j, k

        norm = 0
        do k = 1, block%n - 2
            do j = block%lo(2), block%hi(2)
                do i = block%lo(1), block%hi(1)
                    norm = norm + (block%u(i, :, i + j, k) &
                                   - exact_solution(block%position(i, j, k)))**2
                end do
            end do
        end do
        call finish(block, norm)
    end function error_norm

    subroutine finish(block, norm)
        type(block_t), intent(in) :: block
        real(dp), intent(inout) :: norm(5)
        call comm_allreduce(norm, 5, MPI_DOUBLE_PRECISION, MPI_SUM, block%comm)
        norm = sqrt(norm/real(block%n - 2, dp)**3)
    end subroutine finish

    !> A quarter of the sum, over each pair of opposite faces of a box and over the cells of these,
    !> of the pressure at the cells' corners times the cells' area. A corner counts once for each of
    !> the cells that meet in it.
    function surface_integral(block) result(integral)
        type(block_t), intent(in) :: block
        real(dp) :: integral, sums(1), pressure
        integer :: box(2, 3), point(3), cells(3), axis, i, j, k

        box = reshape([1, block%n - 2, 1, block%n - 3, 2, block%n - 2], [2, 3])
        integral = 0
        do axis = 1, 3
            sums = 0
            do k = 0, block%n - 1
                do j = 0, block%points(2) - 1
                    do i = 0, block%points(1) - 1
                        point = [block%first(1) + i, block%first(2) + j, k]
                        if (any(point < box(1, :)) .or. any(point > box(2, :))) cycle
                        if (all(point(axis) /= box(:, axis))) cycle
                        cells = merge(1, 2, point == box(1, :) .or. point == box(2, :))
                        cells(axis) = 1
                        associate (u => block%u(i, :, i + j, k))
                            pressure = c2*(u(5) - 0.5_dp*sum(u(2:4)**2)/u(1))
                        end associate
                        sums = sums + product(cells)*pressure
                    end do
                end do
            end do
            call comm_allreduce(sums, 1, MPI_DOUBLE_PRECISION, MPI_SUM, block%comm)
            integral = integral + 0.25_dp*sums(1)/real(block%n - 1, dp)**2
        end do
    end function surface_integral

end module lu_norms
