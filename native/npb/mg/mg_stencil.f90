!> The operators of MG, each on one plane of constant z.
!>
!> The three 27-point operators have one weight each for the centre, the 6 face, the 12 edge and
!> the 8 corner neighbours. A row (j, k) first gets two lines: `faces`, the sum of its four
!> neighbouring rows in y and z, and `edges`, the sum of its four diagonal ones. Every result needs
!> these lines, and the row itself, at i - 1, i and i + 1 only.
!>
!> Planes have the bounds (0 : nx + 1, 0 : ny + 1), ghosts included; `lower` and `upper` lie below
!> and above the plane that an operator is evaluated on, `first` and `last` are the rows. Nothing
!> here is collective.
module mg_stencil

    use npb_kinds, only: dp

    implicit none (type, external)
    private

    public :: subtract_a, subtract_a_in_place, smooth, restrict, interpolate, add_interpolated

    !> Weights of A; those of the faces are zero.
    real(dp), parameter :: a_centre = -8.0_dp/3, a_edge = 1.0_dp/6, a_corner = 1.0_dp/12

contains

    !> r = v - A u.
    pure subroutine subtract_a(nx, ny, first, last, lower, u, upper, v, r)
        integer, intent(in) :: nx, ny, first, last
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, u, upper, v
        real(dp), intent(inout) :: r(0:nx + 1, 0:ny + 1)
        real(dp), dimension(0:nx + 1) :: faces, edges
        integer :: i, j
        do j = first, last
            call sum_rows(nx, ny, j, lower, u, upper, faces, edges)
            !$omp simd
            do i = 1, nx
                r(i, j) = v(i, j) - a_centre*u(i, j) &
                          - a_edge*(edges(i) + faces(i - 1) + faces(i + 1)) &
                          - a_corner*(edges(i - 1) + edges(i + 1))
            end do
        end do
    end subroutine subtract_a

    !> r = r - A u.
    pure subroutine subtract_a_in_place(nx, ny, first, last, lower, u, upper, r)
        integer, intent(in) :: nx, ny, first, last
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, u, upper
        real(dp), intent(inout) :: r(0:nx + 1, 0:ny + 1)
        real(dp), dimension(0:nx + 1) :: faces, edges
        integer :: i, j
        do j = first, last
            call sum_rows(nx, ny, j, lower, u, upper, faces, edges)
            !$omp simd
            do i = 1, nx
                r(i, j) = r(i, j) - a_centre*u(i, j) &
                          - a_edge*(edges(i) + faces(i - 1) + faces(i + 1)) &
                          - a_corner*(edges(i - 1) + edges(i + 1))
            end do
        end do
    end subroutine subtract_a_in_place

    !> u = u + S r, `weights` those of the centre, the faces and the edges.
    pure subroutine smooth(nx, ny, first, last, weights, lower, r, upper, u)
        integer, intent(in) :: nx, ny, first, last
        real(dp), intent(in) :: weights(3)
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, r, upper
        real(dp), intent(inout) :: u(0:nx + 1, 0:ny + 1)
        real(dp), dimension(0:nx + 1) :: faces, edges
        integer :: i, j
        do j = first, last
            call sum_rows(nx, ny, j, lower, r, upper, faces, edges)
            !$omp simd
            do i = 1, nx
                u(i, j) = u(i, j) + weights(1)*r(i, j) &
                          + weights(2)*(r(i - 1, j) + r(i + 1, j) + faces(i)) &
                          + weights(3)*(edges(i) + faces(i - 1) + faces(i + 1))
            end do
        end do
    end subroutine smooth

    !> The plane `coarse` of the next coarser grid, nx by ny points, from the fine plane on which
    !> it lies. `shift` says where its points lie (mg_level).
    pure subroutine restrict(nx, ny, shift, fine_nx, fine_ny, lower, r, upper, coarse)
        integer, intent(in) :: nx, ny, shift(2), fine_nx, fine_ny
        real(dp), intent(in), dimension(0:fine_nx + 1, 0:fine_ny + 1) :: lower, r, upper
        real(dp), intent(inout) :: coarse(0:nx + 1, 0:ny + 1)
        real(dp), dimension(0:fine_nx + 1) :: faces, edges
        integer :: i, j, f, g
        do j = 1, ny
            g = 2*j - shift(2)
            call sum_rows(fine_nx, fine_ny, g, lower, r, upper, faces, edges)
            !$omp simd private(f)
            do i = 1, nx
                f = 2*i - shift(1)
                coarse(i, j) = 0.5_dp*r(f, g) &
                               + 0.25_dp*(r(f - 1, g) + r(f + 1, g) + faces(f)) &
                               + 0.125_dp*(edges(f) + faces(f - 1) + faces(f + 1)) &
                               + 0.0625_dp*(edges(f - 1) + edges(f + 1))
            end do
        end do
    end subroutine restrict

    !> The two lines of row j.
    pure subroutine sum_rows(nx, ny, j, lower, here, upper, faces, edges)
        integer, intent(in) :: nx, ny, j
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, here, upper
        real(dp), intent(out), dimension(0:nx + 1) :: faces, edges
        integer :: i
        !$omp simd
        do i = 0, nx + 1
            faces(i) = here(i, j - 1) + here(i, j + 1) + lower(i, j) + upper(i, j)
            edges(i) = lower(i, j - 1) + lower(i, j + 1) + upper(i, j - 1) + upper(i, j + 1)
        end do
    end subroutine sum_rows

    !> fine = Q coarse on one fine plane, ghosts included. The plane lies between the coarse planes
    !> `lower` and `upper`, or on one that is given twice.
    pure subroutine interpolate(nx, ny, shift, lower, upper, fine_nx, fine_ny, fine)
        integer, intent(in) :: nx, ny, shift(2), fine_nx, fine_ny
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, upper
        real(dp), intent(out) :: fine(0:fine_nx + 1, 0:fine_ny + 1)
        fine = 0
        call add_interpolated(nx, ny, shift, lower, upper, fine_nx, fine_ny, fine)
    end subroutine interpolate

    !> fine = fine + Q coarse.
    pure subroutine add_interpolated(nx, ny, shift, lower, upper, fine_nx, fine_ny, fine)
        integer, intent(in) :: nx, ny, shift(2), fine_nx, fine_ny
        real(dp), intent(in), dimension(0:nx + 1, 0:ny + 1) :: lower, upper
        real(dp), intent(inout) :: fine(0:fine_nx + 1, 0:fine_ny + 1)
        real(dp) :: line(0:nx + 1)
        integer :: g, first, last, i
        do g = 0, fine_ny + 1
            ! A fine row lies on one coarse row or between two.
            first = (g + shift(2))/2
            last = (g + shift(2) + 1)/2
            !$omp simd
            do i = 0, nx + 1
                line(i) = 0.25_dp*(lower(i, first) + upper(i, first) + lower(i, last) &
                                   + upper(i, last))
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

end module mg_stencil
