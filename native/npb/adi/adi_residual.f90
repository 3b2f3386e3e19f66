!> The right-hand side of BT and SP: scale*(R(U) + G) at interior points, R the discrete spatial
!> operator and G the forcing.
!>
!> R(U) is the sum over the axes of -t2 dF + V + d t1 d2U - dissipation*D4 U: F the convective flux,
!> V the second differences of velocities and energy (viscosity), t1 = 1/h**2, t2 = 1/(2h), D4 the
!> fourth difference, whose rows next to the boundary leave out what lies on or beyond it. D4 and
!> the diffusion d t1 d2U are one five-point stencil.
!>
!> All three axes are done row by row along x, and the rows of a plane one after the other: a row of
!> the result stays in the first-level cache from the forcing to the scaling, and the velocities
!> of three planes in the second-level cache.
!>
!> Exported: `residual_t`, `fourth_difference`. Timed: `begin`, `plane`. Nothing here is collective.
module adi_residual

    use adi_flow, only: c1, c2, diffusion, dissipation, kappa, kappa_e
    use adi_grid, only: cell_t, lanes, row_first
    use bl_memory, only: aligned
    use bl_kinds, only: dp, i8

    implicit none(type, external)
    private

    public :: residual_t, fourth_difference

    !> What is derived from u at a point: three velocities, the sum of their squares, the energy by
    !> the density, the pressure.
    integer, parameter :: derived_values = 6

    !> Kinds of rows of D4: inside, the two at the lower boundary, the two at the upper one.
    integer, parameter :: row_kinds = 5

    !> Factors of the spatial operator along one axis.
    type :: factors_t
        real(dp) :: convection, viscosity, normal_viscosity, square_sum, square_normal, heat
    end type factors_t

    !> The right-hand side of one cell.
    type :: residual_t
        private
        integer :: n = 0
        type(factors_t) :: factors
        !> (row, velocities and so on, y, plane modulo 3)
        real(dp), pointer, contiguous :: derived(:, :, :, :) => null()
        !> (row, component, 2): the sum over one, and over two axes.
        real(dp), pointer, contiguous :: row(:, :, :) => null()
        !> (row, offset -2:2) for x; (row, offset, kind) for y and z, the same in all of a row.
        real(dp), allocatable :: stencil_x(:, :), stencil_y(:, :, :), stencil_z(:, :, :)
    contains
        procedure :: setup => residual_setup
        procedure :: begin => residual_begin
        procedure :: plane => residual_plane
        procedure :: cell => residual_cell
    end type residual_t

contains

    subroutine residual_setup(self, cell, n)
        class(residual_t), intent(out) :: self
        type(cell_t), intent(in) :: cell
        integer, intent(in) :: n
        integer :: last, length, i, kind
        real(dp) :: t1

        self%n = n
        t1 = real(n - 1, dp)**2
        self%factors = factors_t( &
                       convection=0.5_dp*(n - 1), viscosity=kappa*t1, &
                       normal_viscosity=4*kappa*t1/3, square_sum=(kappa - kappa_e)*t1/2, &
                       square_normal=kappa*t1/6, heat=kappa_e*t1)
        last = cell%row_last()
        length = last - row_first + 1
        self%derived(row_first:last, 1:derived_values, -1:cell%points(2), 0:2) => &
            aligned(3_i8*derived_values*length*(cell%points(2) + 2))
        self%row(1:length, 1:5, 1:2) => aligned(10_i8*length)
        allocate (self%stencil_x(row_first:last, -2:2), &
                  self%stencil_y(row_first:last, -2:2, row_kinds), &
                  self%stencil_z(row_first:last, -2:2, row_kinds))
        do i = row_first, last
            self%stencil_x(i, :) = stencil(row_kind(cell%first(1) + i, n), diffusion(1)*t1)
            do kind = 1, row_kinds
                self%stencil_y(i, :, kind) = stencil(kind, diffusion(2)*t1)
                self%stencil_z(i, :, kind) = stencil(kind, diffusion(3)*t1)
            end do
        end do
    end subroutine residual_setup

    pure integer function row_kind(row, n) result(kind)
        integer, intent(in) :: row, n
        kind = 1
        if (row == 1) kind = 2
        if (row == 2) kind = 3
        if (row == n - 3) kind = 4
        if (row == n - 2) kind = 5
    end function row_kind

    !> Row of D4 for a point that counts from 0 in a line of n.
    pure function fourth_difference(row, n) result(weights)
        integer, intent(in) :: row, n
        real(dp) :: weights(-2:2)
        weights = fourth_difference_of(row_kind(row, n))
    end function fourth_difference

    pure function fourth_difference_of(kind) result(weights)
        integer, intent(in) :: kind
        real(dp) :: weights(-2:2)
        real(dp), parameter :: rows(-2:2, row_kinds) = reshape([ &
                               1.0_dp, -4.0_dp, 6.0_dp, -4.0_dp, 1.0_dp, &
                               0.0_dp, 0.0_dp, 5.0_dp, -4.0_dp, 1.0_dp, &
                               0.0_dp, -4.0_dp, 6.0_dp, -4.0_dp, 1.0_dp, &
                               1.0_dp, -4.0_dp, 6.0_dp, -4.0_dp, 0.0_dp, &
                               1.0_dp, -4.0_dp, 5.0_dp, 0.0_dp, 0.0_dp], [5, row_kinds])
        weights = rows(:, kind)
    end function fourth_difference_of

    !> Diffusion and dissipation.
    pure function stencil(kind, diffusion_factor) result(weights)
        integer, intent(in) :: kind
        real(dp), intent(in) :: diffusion_factor
        real(dp) :: weights(-2:2)
        weights = -dissipation*fourth_difference_of(kind)
        weights(-1:1) = weights(-1:1) + diffusion_factor*[1.0_dp, -2.0_dp, 1.0_dp]
    end function stencil

    !> All interior planes of a cell; the result is cell%rhs.
    subroutine residual_cell(self, cell, scale)
        class(residual_t), intent(inout) :: self
        type(cell_t), intent(inout) :: cell
        real(dp), intent(in) :: scale
        integer :: k
        call self%begin(cell)
        do k = cell%lo(3), cell%hi(3)
            call self%plane(cell, k, scale)
        end do
    end subroutine residual_cell

    !> Before the first plane.
    subroutine residual_begin(self, cell)
        class(residual_t), intent(inout) :: self
        type(cell_t), intent(in) :: cell
        call derive_plane(self, cell, cell%lo(3) - 1)
        call derive_plane(self, cell, cell%lo(3))
    end subroutine residual_begin

    !> Plane k of cell%rhs; planes must follow each other upwards.
    subroutine residual_plane(self, cell, k, scale)
        class(residual_t), intent(inout) :: self
        type(cell_t), intent(inout) :: cell
        integer, intent(in) :: k
        real(dp), intent(in) :: scale
        integer :: j, length, points, below, here, above, kind

        call derive_plane(self, cell, k + 1)
        below = modulo(k - 1, 3)
        here = modulo(k, 3)
        above = modulo(k + 1, 3)
        length = cell%row_last() - row_first + 1
        points = cell%hi(1) - cell%lo(1) + 1
        associate (u => cell%u, p => self%derived, f => self%factors, s => cell%lo(1), &
                   forcing => cell%forcing, rhs => cell%rhs, row => self%row)
            do j = cell%lo(2), cell%hi(2)
                call add_axis(length, points, 1, 2, 3, f, self%stencil_x(s, -2), &
                              u(s - 2, 1, j, k), u(s - 1, 1, j, k), u(s, 1, j, k), &
                              u(s + 1, 1, j, k), u(s + 2, 1, j, k), &
                              p(s - 1, 1, j, here), p(s, 1, j, here), p(s + 1, 1, j, here), &
                              1.0_dp, forcing(s, 1, j, k), row(1, 1, 1))
                kind = row_kind(cell%first(2) + j, self%n)
                call add_axis(length, points, 2, 3, 1, f, self%stencil_y(s, -2, kind), &
                              u(s, 1, j - 2, k), u(s, 1, j - 1, k), u(s, 1, j, k), &
                              u(s, 1, j + 1, k), u(s, 1, j + 2, k), &
                              p(s, 1, j - 1, here), p(s, 1, j, here), p(s, 1, j + 1, here), &
                              1.0_dp, row(1, 1, 1), row(1, 1, 2))
                kind = row_kind(cell%first(3) + k, self%n)
                call add_axis(length, points, 3, 1, 2, f, self%stencil_z(s, -2, kind), &
                              u(s, 1, j, k - 2), u(s, 1, j, k - 1), u(s, 1, j, k), &
                              u(s, 1, j, k + 1), u(s, 1, j, k + 2), &
                              p(s, 1, j, below), p(s, 1, j, here), p(s, 1, j, above), &
                              scale, row(1, 1, 2), rhs(s, 1, j, k))
            end do
        end associate
    end subroutine residual_plane

    subroutine derive_plane(self, cell, k)
        class(residual_t), intent(inout) :: self
        type(cell_t), intent(in) :: cell
        integer, intent(in) :: k
        integer :: j
        do j = cell%lo(2) - 1, cell%hi(2) + 1
            call derive_row(cell%row_last() - row_first + 1, cell%u(:, :, j, k), &
                            self%derived(:, :, j, modulo(k, 3)))
        end do
    end subroutine derive_plane

    pure subroutine derive_row(length, u, p)
        integer, intent(in) :: length
        real(dp), intent(in) :: u(length, 5)
        real(dp), intent(out) :: p(length, derived_values)
        real(dp) :: inverse
        integer :: i
        !$omp simd private(inverse)
        do i = 1, length ! a multiple of `lanes`
            inverse = 1/u(i, 1)
            p(i, 1) = u(i, 2)*inverse
            p(i, 2) = u(i, 3)*inverse
            p(i, 3) = u(i, 4)*inverse
            p(i, 4) = p(i, 1)*p(i, 1) + p(i, 2)*p(i, 2) + p(i, 3)*p(i, 3)
            p(i, 5) = u(i, 5)*inverse
            p(i, 6) = c2*(u(i, 5) - 0.5_dp*u(i, 1)*p(i, 4))
        end do
    end subroutine derive_row

    !> r = scale*(start + the operator along one axis), in so many points of a row, rounded up to
    !> whole vectors (what is written beyond the row's points is never used). The rows `um2`
    !> ... `up2` are those at distance -2 ... 2 along the axis, `length` is from component to
    !> component; `n`, `s`, `t` are the normal velocity and the two others.
    pure subroutine add_axis(length, points, n, s, t, f, weights, um2, um1, u0, up1, up2, &
                             pm1, p0, pp1, scale, start, r)
        integer, intent(in) :: length, points, n, s, t
        type(factors_t), intent(in) :: f
        real(dp), intent(in) :: weights(length, -2:*)
        real(dp), intent(in), dimension(length, *) :: um2, um1, u0, up1, up2, pm1, p0, pp1
        real(dp), intent(in) :: scale, start(length, *)
        real(dp), intent(inout) :: r(length, *)
        real(dp) :: wm, w0, wp, second_n, second_s, second_t, energy
        integer :: first, i

        do first = 1, points, lanes
            !$omp simd private(wm, w0, wp, second_n, second_s, second_t, energy)
            do i = first, first + lanes - 1
                wm = pm1(i, n)
                w0 = p0(i, n)
                wp = pp1(i, n)
                second_n = wp - 2*w0 + wm
                second_s = pp1(i, s) - 2*p0(i, s) + pm1(i, s)
                second_t = pp1(i, t) - 2*p0(i, t) + pm1(i, t)
                energy = f%square_sum*(pp1(i, 4) - 2*p0(i, 4) + pm1(i, 4)) &
                         + f%square_normal*(wp*wp - 2*w0*w0 + wm*wm) &
                         + f%heat*(pp1(i, 5) - 2*p0(i, 5) + pm1(i, 5))
                r(i, 1) = scale*(start(i, 1) &
                          - f%convection*(up1(i, n + 1) - um1(i, n + 1)) &
                          + (weights(i, -2)*um2(i, 1) + weights(i, -1)*um1(i, 1) &
                             + weights(i, 0)*u0(i, 1) + weights(i, 1)*up1(i, 1) &
                             + weights(i, 2)*up2(i, 1)))
                r(i, n + 1) = scale*(start(i, n + 1) &
                          + f%normal_viscosity*second_n &
                          - f%convection*(up1(i, n + 1)*wp + pp1(i, 6) &
                                          - um1(i, n + 1)*wm - pm1(i, 6)) &
                          + (weights(i, -2)*um2(i, n + 1) + weights(i, -1)*um1(i, n + 1) &
                             + weights(i, 0)*u0(i, n + 1) + weights(i, 1)*up1(i, n + 1) &
                             + weights(i, 2)*up2(i, n + 1)))
                r(i, s + 1) = scale*(start(i, s + 1) &
                          + f%viscosity*second_s &
                          - f%convection*(up1(i, s + 1)*wp - um1(i, s + 1)*wm) &
                          + (weights(i, -2)*um2(i, s + 1) + weights(i, -1)*um1(i, s + 1) &
                             + weights(i, 0)*u0(i, s + 1) + weights(i, 1)*up1(i, s + 1) &
                             + weights(i, 2)*up2(i, s + 1)))
                r(i, t + 1) = scale*(start(i, t + 1) &
                          + f%viscosity*second_t &
                          - f%convection*(up1(i, t + 1)*wp - um1(i, t + 1)*wm) &
                          + (weights(i, -2)*um2(i, t + 1) + weights(i, -1)*um1(i, t + 1) &
                             + weights(i, 0)*u0(i, t + 1) + weights(i, 1)*up1(i, t + 1) &
                             + weights(i, 2)*up2(i, t + 1)))
                r(i, 5) = scale*(start(i, 5) &
                          + energy - f%convection*((up1(i, 5) + pp1(i, 6))*wp &
                                                   - (um1(i, 5) + pm1(i, 6))*wm) &
                          + (weights(i, -2)*um2(i, 5) + weights(i, -1)*um1(i, 5) &
                             + weights(i, 0)*u0(i, 5) + weights(i, 1)*up1(i, 5) &
                             + weights(i, 2)*up2(i, 5)))
            end do
        end do
    end subroutine add_axis

end module adi_residual
