!> MG: V-cycles for the discrete Poisson problem A u = v on a periodic cube.
!>
!> One V-cycle with the residual r = v - A u that it needs and leaves:
!>
!>     down    r_(k-1) = R r_k for k = L ... 2;  u_1 = S r_1
!>     up      u_k = Q u_(k-1);  r_k = r_k - A u_k;  u_k = u_k + S r_k  for k = 2 ... L - 1
!>     top     u = u + Q u_(L-1);  r = v - A u;  u = u + S r;  r = v - A u
!>
!> Exported: `mg_state_t`. Timed: `residual`, `cycle`, `norm`. Collective: all but `reset`.
!> Arrays: mg_level; `v` has the bounds of the finest level's.
module mg_kernel

    use mg_exchange, only: refresh, repopulate
    use mg_level, only: level_t
    use mg_stencil, only: add_interpolated, interpolate, restrict, smooth, subtract_a, &
        subtract_a_in_place
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_MAX, MPI_SUM
    use npb_kinds, only: dp, i8
    use npb_messages, only: comm_allreduce

    implicit none (type, external)
    private

    public :: mg_state_t

    type :: mg_state_t
        type(level_t), allocatable :: levels(:)
        real(dp), allocatable :: v(:, :, :)
        !> Weights of S.
        real(dp) :: smoother(3) = 0
        !> Root mean square and largest absolute value of the residual, set by `norm`.
        real(dp) :: residual_rms = 0, residual_max = 0
    contains
        procedure :: reset
        procedure :: residual
        procedure :: cycle => v_cycle
        procedure :: norm
    end type mg_state_t

contains

    !> Starts anew from u = 0.
    subroutine reset(self)
        class(mg_state_t), intent(inout) :: self
        integer :: k
        do k = 1, size(self%levels)
            if (allocated(self%levels(k)%u)) self%levels(k)%u = 0
            if (allocated(self%levels(k)%r)) self%levels(k)%r = 0
        end do
    end subroutine reset

    !> r = v - A u.
    subroutine residual(self)
        class(mg_state_t), intent(inout) :: self
        integer :: k
        associate (level => self%levels(size(self%levels)))
            do k = 1, level%points(3)
                call subtract_a(level%points(1), level%points(2), level%u(:, :, k - 1), &
                                level%u(:, :, k), level%u(:, :, k + 1), self%v(:, :, k), &
                                level%r(:, :, k))
            end do
            call refresh(level, level%r)
        end associate
    end subroutine residual

    subroutine v_cycle(self)
        class(mg_state_t), intent(inout) :: self
        integer :: k, finest

        finest = size(self%levels)
        do k = finest, 2, -1
            call descend(self%levels(k), self%levels(k - 1))
        end do
        if (self%levels(1)%is_active) then
            self%levels(1)%u = 0
            call add_smoothed(self%levels(1), self%smoother)
        end if
        do k = 2, finest - 1
            call ascend(self%levels(k - 1), self%levels(k), self%smoother)
        end do
        call add_correction(self%levels(finest - 1), self%levels(finest))
        call self%residual()
        call add_smoothed(self%levels(finest), self%smoother)
        call self%residual()
    end subroutine v_cycle

    !> The coarser level's residual.
    subroutine descend(fine, coarse)
        type(level_t), intent(in) :: fine
        type(level_t), intent(inout) :: coarse
        integer :: k, on
        if (.not. coarse%is_active) return
        associate (nx => coarse%points(1), ny => coarse%points(2))
            do k = 1, coarse%points(3)
                on = 2*k - fine%shift(3)
                call restrict(nx, ny, fine%shift(:2), fine%points(1), fine%points(2), &
                              fine%r(:, :, on - 1), fine%r(:, :, on), fine%r(:, :, on + 1), &
                              coarse%r(:, :, k))
            end do
        end associate
        call refresh(coarse, coarse%r)
    end subroutine descend

    !> Correction and residual of a level between the coarsest and the finest.
    subroutine ascend(coarse, fine, smoother)
        type(level_t), intent(in) :: coarse
        type(level_t), intent(inout) :: fine
        real(dp), intent(in) :: smoother(3)
        integer :: k, below, above
        if (.not. fine%is_active) return
        associate (nx => fine%points(1), ny => fine%points(2), nz => fine%points(3))
            if (coarse%is_active) then
                do k = 0, nz + 1
                    below = (k + fine%shift(3))/2
                    above = (k + fine%shift(3) + 1)/2
                    call interpolate(coarse%points(1), coarse%points(2), fine%shift(:2), &
                                     coarse%u(:, :, below), coarse%u(:, :, above), nx, ny, &
                                     fine%u(:, :, k))
                end do
            end if
            call repopulate(fine, fine%u)
            do k = 1, nz
                call subtract_a_in_place(nx, ny, fine%u(:, :, k - 1), fine%u(:, :, k), &
                                         fine%u(:, :, k + 1), fine%r(:, :, k))
            end do
            call refresh(fine, fine%r)
            call add_smoothed(fine, smoother)
        end associate
    end subroutine ascend

    !> u = u + Q u_coarse on the finest level, on which every process has two points at least.
    subroutine add_correction(coarse, fine)
        type(level_t), intent(in) :: coarse
        type(level_t), intent(inout) :: fine
        integer :: k
        do k = 0, fine%points(3) + 1
            call add_interpolated(coarse%points(1), coarse%points(2), fine%shift(:2), &
                                  coarse%u(:, :, k/2), coarse%u(:, :, (k + 1)/2), &
                                  fine%points(1), fine%points(2), fine%u(:, :, k))
        end do
    end subroutine add_correction

    !> u = u + S r.
    subroutine add_smoothed(level, smoother)
        type(level_t), intent(inout) :: level
        real(dp), intent(in) :: smoother(3)
        integer :: k
        do k = 1, level%points(3)
            call smooth(level%points(1), level%points(2), smoother, level%r(:, :, k - 1), &
                        level%r(:, :, k), level%r(:, :, k + 1), level%u(:, :, k))
        end do
        call refresh(level, level%u)
    end subroutine add_smoothed

    !> The norms of the finest residual.
    subroutine norm(self)
        class(mg_state_t), intent(inout) :: self
        real(dp) :: square(1), largest(1), row_square, row_largest
        integer :: i, j, k

        associate (level => self%levels(size(self%levels)))
            square = 0
            largest = 0
            do k = 1, level%points(3)
                do j = 1, level%points(2)
                    row_square = 0
                    row_largest = 0
                    !$omp simd reduction(+: row_square) reduction(max: row_largest)
                    do i = 1, level%points(1)
                        row_square = row_square + level%r(i, j, k)**2
                        row_largest = max(row_largest, abs(level%r(i, j, k)))
                    end do
                    square = square + row_square
                    largest = max(largest, row_largest)
                end do
            end do
            call comm_allreduce(largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, level%comm)
            call comm_allreduce(square, 1, MPI_DOUBLE_PRECISION, MPI_SUM, level%comm)
            self%residual_max = largest(1)
            self%residual_rms = sqrt(square(1)/real(level%total, dp)**3)
        end associate
    end subroutine norm

end module mg_kernel
