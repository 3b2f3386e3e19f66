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

    use mg_exchange, only: refresh, repopulate, wrap
    use mg_level, only: level_t
    use mg_stencil, only: add_interpolated, interpolate, restrict, smooth, subtract_a, &
        subtract_a_in_place
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_MAX, MPI_SUM
    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_allreduce

    implicit none(type, external)
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

    !> r = v - A u on the finest level.
    subroutine residual(self)
        class(mg_state_t), intent(inout) :: self
        integer :: k
        associate (level => self%levels(size(self%levels)))
            do k = 1, level%points(3)
                call subtract(level, k, 1, level%points(2), self%v)
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
        associate (coarsest => self%levels(1))
            if (coarsest%is_active) then
                coarsest%u = 0
                do k = 1, coarsest%points(3)
                    call add_smoothed(coarsest, k, 1, coarsest%points(2), self%smoother)
                end do
                call refresh(coarsest, coarsest%u)
            end if
        end associate
        do k = 2, finest - 1
            call ascend(self%levels(k - 1), self%levels(k), self%smoother)
        end do
        call ascend(self%levels(finest - 1), self%levels(finest), self%smoother, self%v)
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
                call wrap(coarse, 1, ny, coarse%r(:, :, k))
            end do
        end associate
        call refresh(coarse, coarse%r)
    end subroutine descend

    !> Correction and residual of a level from the next coarser one's correction; with `v`, those of
    !> the finest level and its new residual.
    !>
    !> Interpolation, residual, smoothing and new residual advance together, each one plane behind
    !> the one before, on one block of rows after another, in which each is also one row behind, so
    !> that all find their rows in the second-level cache. What needs ghosts that only messages or
    !> the last block bring is left for after the messages: of each operator on the smoothed side
    !> the outermost planes and, if y is cut or has blocks, rows; if x is cut, everything.
    subroutine ascend(coarse, fine, smoother, v)
        type(level_t), intent(in) :: coarse
        type(level_t), intent(inout) :: fine
        real(dp), intent(in) :: smoother(3)
        real(dp), intent(in), optional, contiguous :: v(0:, 0:, 0:)
        integer :: k, block
        if (.not. fine%is_active) return
        associate (nz => fine%points(3), ny => fine%points(2), all_rows => [0, huge(0)])
            if (any(fine%shift > 0)) then
                if (coarse%is_active) then
                    do k = 0, nz + 1
                        call correct(coarse, fine, k, 0, ny + 1, present(v))
                    end do
                end if
                call repopulate(fine, fine%u)
                do k = 1, nz
                    call subtract(fine, k, 1, ny, v)
                end do
            else
                do block = 1, blocks_of(fine)
                    call ascend_block(block)
                end do
            end if
            call refresh(fine, fine%r)
            do k = 1, nz
                call smooth_rows(k, all_rows, .true.)
            end do
            call refresh(fine, fine%u)
            if (.not. present(v)) return
            do k = 1, nz
                call subtract_rows(k, all_rows, .true.)
            end do
            call refresh(fine, fine%r)
        end associate

    contains

        !> All that comes before the messages on a block of rows.
        subroutine ascend_block(block)
            integer, intent(in) :: block
            integer :: rows(2), plane
            do plane = 0, fine%points(3) + 1
                rows = block_rows(fine, block, 0)
                call correct(coarse, fine, plane, max(rows(1), 0), &
                             min(rows(2), fine%points(2) + 1), present(v))
                rows = block_rows(fine, block, 1)
                if (plane >= 2) call subtract(fine, plane - 1, max(rows(1), 1), &
                                              min(rows(2), fine%points(2)), v)
                call smooth_rows(plane - 2, block_rows(fine, block, 2), .false.)
                call subtract_rows(plane - 3, block_rows(fine, block, 3), .false.)
            end do
        end subroutine ascend_block

        !> Of the rows `among` of a plane those that come before the messages, or those that come
        !> after.
        subroutine smooth_rows(plane, among, is_late)
            integer, intent(in) :: plane, among(2)
            logical, intent(in) :: is_late
            integer :: rows(2, 2), part
            rows = rows_of(fine, plane, 1, is_late)
            do part = 1, 2
                call add_smoothed(fine, plane, max(rows(1, part), among(1)), &
                                  min(rows(2, part), among(2)), smoother)
            end do
        end subroutine smooth_rows

        subroutine subtract_rows(plane, among, is_late)
            integer, intent(in) :: plane, among(2)
            logical, intent(in) :: is_late
            integer :: rows(2, 2), part
            if (.not. present(v)) return
            rows = rows_of(fine, plane, 2, is_late)
            do part = 1, 2
                call subtract(fine, plane, max(rows(1, part), among(1)), &
                              min(rows(2, part), among(2)), v)
            end do
        end subroutine subtract_rows

    end subroutine ascend

    !> First and last rows, in two parts that may be empty, of what an operator can do on a plane
    !> before the messages or has to do after them. `margin` planes and rows need the messages.
    pure function rows_of(level, plane, margin, is_late) result(rows)
        type(level_t), intent(in) :: level
        integer, intent(in) :: plane, margin
        logical, intent(in) :: is_late
        integer :: rows(2, 2), edge
        logical :: is_early_plane

        is_early_plane = all(level%shift == 0) .and. level%processes(1) == 1 &
                         .and. plane > margin .and. plane <= level%points(3) - margin
        edge = merge(margin, 0, level%processes(2) > 1 .or. blocks_of(level) > 1)
        rows(:, 2) = [1, 0]
        associate (ny => level%points(2))
            if (.not. is_late) then
                rows(:, 1) = merge([1 + edge, ny - edge], [1, 0], is_early_plane)
            else if (is_early_plane) then
                rows(:, 1) = [1, min(edge, ny)]
                rows(:, 2) = [max(ny - edge, edge) + 1, ny]
            else
                rows(:, 1) = [1, ny]
            end if
        end associate
    end function rows_of

    !> Blocks of rows that operators advance through together.
    pure integer function blocks_of(level) result(blocks)
        type(level_t), intent(in) :: level
        blocks = max(1, level%points(2)/level%block_rows)
    end function blocks_of

    !> First and last row of a block for an operator that is so many operators behind the first: it
    !> reads one row further than it writes. The outermost blocks have no end.
    pure function block_rows(level, block, behind) result(rows)
        type(level_t), intent(in) :: level
        integer, intent(in) :: block, behind
        integer :: rows(2)
        rows = [(block - 1)*level%block_rows, block*level%block_rows - 1] - behind
        if (block == 1) rows(1) = 0
        if (block == blocks_of(level)) rows(2) = huge(0)
    end function block_rows

    !> u = Q u_coarse, or u = u + Q u_coarse, on rows of one plane, which may be ghosts.
    subroutine correct(coarse, fine, k, first, last, is_added)
        type(level_t), intent(in) :: coarse
        type(level_t), intent(inout) :: fine
        integer, intent(in) :: k, first, last
        logical, intent(in) :: is_added
        integer :: below, above
        below = (k + fine%shift(3))/2
        above = (k + fine%shift(3) + 1)/2
        if (is_added) then
            call add_interpolated(coarse%points(1), coarse%points(2), fine%shift(:2), &
                                  coarse%u(:, :, below), coarse%u(:, :, above), &
                                  fine%points(1), fine%points(2), first, last, fine%u(:, :, k))
        else
            call interpolate(coarse%points(1), coarse%points(2), fine%shift(:2), &
                             coarse%u(:, :, below), coarse%u(:, :, above), &
                             fine%points(1), fine%points(2), first, last, fine%u(:, :, k))
        end if
    end subroutine correct

    !> r = v - A u, or r = r - A u without `v`, on rows of one plane.
    subroutine subtract(level, k, first, last, v)
        type(level_t), intent(inout) :: level
        integer, intent(in) :: k, first, last
        real(dp), intent(in), optional, contiguous :: v(0:, 0:, 0:)
        if (first > last) return
        associate (nx => level%points(1), ny => level%points(2))
            if (present(v)) then
                call subtract_a(nx, ny, first, last, level%u(:, :, k - 1), level%u(:, :, k), &
                                level%u(:, :, k + 1), v(:, :, k), level%r(:, :, k))
            else
                call subtract_a_in_place(nx, ny, first, last, level%u(:, :, k - 1), &
                                         level%u(:, :, k), level%u(:, :, k + 1), level%r(:, :, k))
            end if
        end associate
        call wrap(level, first, last, level%r(:, :, k))
    end subroutine subtract

    !> u = u + S r on rows of one plane.
    subroutine add_smoothed(level, k, first, last, smoother)
        type(level_t), intent(inout) :: level
        integer, intent(in) :: k, first, last
        real(dp), intent(in) :: smoother(3)
        if (first > last) return
        call smooth(level%points(1), level%points(2), first, last, smoother, level%r(:, :, k - 1), &
                    level%r(:, :, k), level%r(:, :, k + 1), level%u(:, :, k))
        call wrap(level, first, last, level%u(:, :, k))
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
