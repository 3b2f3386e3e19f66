!> The operators of MG, each on rows of one plane of constant z.
!>
!> The three 27-point operators have one weight each for the centre c, the 6 face, the 12 edge and
!> the 8 corner neighbours. Of a row (j, k) let `faces` be the sum of its four neighbours in y and
!> z and `edges` the sum of its four diagonal ones. Then the result at i is
!>
!>     middle(i) + side(i - 1) + side(i + 1),
!>     middle = w0 c + w1 faces + w2 edges,   side = w1 c + w2 faces + w3 edges.
!>
!> The two lines stay in the first-level cache, as do the sums of the rows above and below, `pairs`,
!> each of which serves three rows: a result costs 7 reads of planes and 8 of lines. Weights that
!> are zero are left out.
!>
!> A row is a short piece of memory with much work after it, so that the processor foresees the next
!> ones badly: those that come from memory are asked for some rows ahead.
!>
!> Planes have the bounds (0 : nx + 1, 0 : ny + 1), ghosts included; `lower` and `upper` lie below
!> and above the plane that an operator is evaluated on. Nothing here is collective.
module mg_stencil

    use bl_kinds, only: dp, i8
    use bl_memory, only: prefetch

    implicit none(type, external)
    private

    public :: subtract_a, subtract_a_in_place, smooth, restrict, interpolate, add_interpolated

    !> Weights of A; those of the faces are zero.
    real(dp), parameter :: a_centre = -8.0_dp/3, a_edge = 1.0_dp/6, a_corner = 1.0_dp/12
    !> How far ahead rows are asked for: 200 ns of work, and not so many that they drive others from the
    !> first-level cache.
    integer, parameter :: rows_ahead = 1
    !> Weights of R.
    real(dp), parameter :: r_weights(0:3) = [0.5_dp, 0.25_dp, 0.125_dp, 0.0625_dp]

contains

    !> r = v - A u.
    pure subroutine subtract_a(nx, ny, first, last, lower, u, upper, v, r)
        integer, intent(in) :: nx, ny, first, last
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, u, upper, v
        real(dp), intent(inout) :: r(0:nx + 1, 0:ny + 1)
        real(dp) :: middle(0:nx + 1), side(0:nx + 1), pairs(0:nx + 1, 0:2)
        integer :: i, j
        call start_pairs(nx, ny, first, lower, upper, pairs)
        do j = first, last
            call fetch(nx, ny, j + 1, upper)
            call fetch(nx, ny, j, v)
            call fetch(nx, ny, j, r)
            call lines_of_a(nx, ny, j, lower, u, upper, v(:, j), pairs, middle, side)
            !$omp simd
            do i = 1, nx
                r(i, j) = middle(i) - (side(i - 1) + side(i + 1))
            end do
        end do
    end subroutine subtract_a

    !> r = r - A u.
    pure subroutine subtract_a_in_place(nx, ny, first, last, lower, u, upper, r)
        integer, intent(in) :: nx, ny, first, last
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, u, upper
        real(dp), intent(inout) :: r(0:nx + 1, 0:ny + 1)
        real(dp) :: middle(0:nx + 1), side(0:nx + 1), pairs(0:nx + 1, 0:2)
        integer :: i, j
        call start_pairs(nx, ny, first, lower, upper, pairs)
        do j = first, last
            call lines_of_a(nx, ny, j, lower, u, upper, r(:, j), pairs, middle, side)
            !$omp simd
            do i = 1, nx
                r(i, j) = middle(i) - (side(i - 1) + side(i + 1))
            end do
        end do
    end subroutine subtract_a_in_place

    !> u = u + S r, `weights` those of the centre, the faces and the edges.
    pure subroutine smooth(nx, ny, first, last, weights, lower, r, upper, u)
        integer, intent(in) :: nx, ny, first, last
        real(dp), intent(in) :: weights(0:2)
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, r, upper
        real(dp), intent(inout) :: u(0:nx + 1, 0:ny + 1)
        real(dp) :: middle(0:nx + 1), side(0:nx + 1), pairs(0:nx + 1, 0:2)
        integer :: i, j
        call start_pairs(nx, ny, first, lower, upper, pairs)
        do j = first, last
            call fetch(nx, ny, j + 1, upper)
            call fetch(nx, ny, j, u)
            call lines_of_s(nx, ny, j, weights, lower, r, upper, pairs, middle, side)
            !$omp simd
            do i = 1, nx
                u(i, j) = u(i, j) + (middle(i) + (side(i - 1) + side(i + 1)))
            end do
        end do
    end subroutine smooth

    !> Sums of the upper and the lower plane on the two rows before the first new one.
    pure subroutine start_pairs(nx, ny, first, lower, upper, pairs)
        integer, intent(in) :: nx, ny, first
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, upper
        real(dp), intent(out) :: pairs(0:nx + 1, 0:2)
        integer :: j
        do j = first - 1, first
            pairs(:, modulo(j, 3)) = lower(:, j) + upper(:, j)
        end do
    end subroutine start_pairs

    pure subroutine lines_of_a(nx, ny, j, lower, u, upper, v, pairs, middle, side)
        integer, intent(in) :: nx, ny, j
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, u, upper
        real(dp), intent(in) :: v(0:nx + 1)
        real(dp), intent(inout) :: pairs(0:nx + 1, 0:2)
        real(dp), intent(out) :: middle(0:nx + 1), side(0:nx + 1)
        real(dp) :: faces, edges, pair
        integer :: i, before, here, next
        before = modulo(j - 1, 3)
        here = modulo(j, 3)
        next = modulo(j + 1, 3)
        !$omp simd private(faces, edges, pair)
        do i = 0, nx + 1
            pair = lower(i, j + 1) + upper(i, j + 1)
            faces = u(i, j - 1) + u(i, j + 1) + pairs(i, here)
            edges = pairs(i, before) + pair
            pairs(i, next) = pair
            middle(i) = v(i) - (a_centre*u(i, j) + a_edge*edges)
            side(i) = a_edge*faces + a_corner*edges
        end do
    end subroutine lines_of_a

    pure subroutine lines_of_s(nx, ny, j, weights, lower, r, upper, pairs, middle, side)
        integer, intent(in) :: nx, ny, j
        real(dp), intent(in) :: weights(0:2)
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, r, upper
        real(dp), intent(inout) :: pairs(0:nx + 1, 0:2)
        real(dp), intent(out) :: middle(0:nx + 1), side(0:nx + 1)
        real(dp) :: faces, edges, pair
        integer :: i, before, here, next
        before = modulo(j - 1, 3)
        here = modulo(j, 3)
        next = modulo(j + 1, 3)
        !$omp simd private(faces, edges, pair)
        do i = 0, nx + 1
            pair = lower(i, j + 1) + upper(i, j + 1)
            faces = r(i, j - 1) + r(i, j + 1) + pairs(i, here)
            edges = pairs(i, before) + pair
            pairs(i, next) = pair
            middle(i) = weights(0)*r(i, j) + weights(1)*faces + weights(2)*edges
            side(i) = weights(1)*r(i, j) + weights(2)*faces
        end do
    end subroutine lines_of_s

    !> The plane `coarse` of the next coarser grid, nx by ny points, from the fine plane on which
    !> it lies. `shift` says where its points lie (mg_level).
    pure subroutine restrict(nx, ny, shift, fine_nx, fine_ny, lower, r, upper, coarse)
        integer, intent(in) :: nx, ny, shift(2), fine_nx, fine_ny
        real(dp), intent(in), dimension(0:fine_nx + 1, 0:fine_ny + 1) :: lower, r, upper
        real(dp), intent(inout) :: coarse(0:nx + 1, 0:ny + 1)
        real(dp), dimension(0:fine_nx + 1) :: middle, side
        real(dp) :: faces, edges
        integer :: i, j, f, g
        do j = 1, ny
            g = 2*j - shift(2)
            call fetch(fine_nx, fine_ny, g, r)
            call fetch(fine_nx, fine_ny, g + 1, r)
            call fetch(fine_nx, fine_ny, g, upper)
            call fetch(fine_nx, fine_ny, g + 1, upper)
            !$omp simd private(faces, edges)
            do i = 0, fine_nx + 1
                faces = r(i, g - 1) + r(i, g + 1) + lower(i, g) + upper(i, g)
                edges = lower(i, g - 1) + lower(i, g + 1) + upper(i, g - 1) + upper(i, g + 1)
                middle(i) = r_weights(0)*r(i, g) + r_weights(1)*faces + r_weights(2)*edges
                side(i) = r_weights(1)*r(i, g) + r_weights(2)*faces + r_weights(3)*edges
            end do
            !$omp simd private(f)
            do i = 1, nx
                f = 2*i - shift(1)
                coarse(i, j) = middle(f) + (side(f - 1) + side(f + 1))
            end do
        end do
    end subroutine restrict

    !> fine = Q coarse on rows of one fine plane, which may be ghosts. The plane lies between the
    !> coarse planes `lower` and `upper`, or on one that is given twice.
    pure subroutine interpolate(nx, ny, shift, lower, upper, fine_nx, fine_ny, first, last, fine)
        integer, intent(in) :: nx, ny, shift(2), fine_nx, fine_ny, first, last
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, upper
        real(dp), intent(inout) :: fine(0:fine_nx + 1, 0:fine_ny + 1)
        fine(:, first:last) = 0
        call add_interpolated(nx, ny, shift, lower, upper, fine_nx, fine_ny, first, last, fine)
    end subroutine interpolate

    !> fine = fine + Q coarse.
    pure subroutine add_interpolated(nx, ny, shift, lower, upper, fine_nx, fine_ny, first, last, &
                                     fine)
        integer, intent(in) :: nx, ny, shift(2), fine_nx, fine_ny, first, last
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, upper
        real(dp), intent(inout) :: fine(0:fine_nx + 1, 0:fine_ny + 1)
        real(dp) :: line(0:nx + 1)
        integer :: g, before, behind, i
        do g = first, last
            call fetch(fine_nx, fine_ny, g, fine)
            ! A fine row lies on one coarse row or between two.
            before = (g + shift(2))/2
            behind = (g + shift(2) + 1)/2
            !$omp simd
            do i = 0, nx + 1
                line(i) = 0.25_dp*(lower(i, before) + upper(i, before) + lower(i, behind) &
                                   + upper(i, behind))
            end do
            if (shift(1) == 0) fine(0, g) = fine(0, g) + line(0)
            !$omp simd
            do i = 1, nx
                fine(2*i - 1 - shift(1), g) = fine(2*i - 1 - shift(1), g) &
                                              + 0.5_dp*(line(i - 1) + line(i))
                fine(2*i - shift(1), g) = fine(2*i - shift(1), g) + line(i)
            end do
            fine(fine_nx + 1, g) = fine(fine_nx + 1, g) + 0.5_dp*(line(nx) + line(nx + 1))
        end do
    end subroutine add_interpolated

    !> Asks for a row of a plane some rows before it is needed.
    pure subroutine fetch(nx, ny, j, plane)
        integer, intent(in) :: nx, ny, j
        real(dp), intent(in) :: plane(0:nx + 1, 0:ny + 1)
        integer, parameter :: real_bytes = 8
        if (j + rows_ahead <= ny) call prefetch(plane(:, j + rows_ahead), real_bytes*(nx + 2_i8))
    end subroutine fetch

end module mg_stencil
