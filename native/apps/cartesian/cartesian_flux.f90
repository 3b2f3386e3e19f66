!> Van Leer's flux-vector splitting for a row or plane of cells, and the step of a stage.
!>
!> The state of a cell is q = rho/c, u, v, w, c (c the speed of sound): in these variables the split
!> fluxes of a subsonic flow are polynomials,
!>
!>     F+ = q/4 (u + c)**2 g(e),  e = (gamma - 1) u + 2 c
!>     F- = -q/4 (u - c)**2 g(e), e = (gamma - 1) u - 2 c
!>     g(e) = (1, e/gamma, v, w, e**2/(2 (gamma**2 - 1)) + (v**2 + w**2)/2)
!>
!> of mass, of the momentum along the face's normal (here x) and across it, and of energy. F+ + F-
!> is the whole flux for every u. A supersonic flow takes all of it from upwind.
!>
!> From a cell's state x, that at its upper face is x + s/2 and at its lower face x - s/2. The slope
!> s is the central difference, the least-squares gradient on these cells, times a limiter which the
!> differences a and b of c to the two sides give: max(0, (2 a b + eps)/(a**2 + b**2 + eps)).
!>
!> Arrays are (stride, 5); a routine works on their first `count` rows. Nothing is collective.
!>
!> Reference: B. van Leer (1982): Flux-vector splitting for the Euler equations. Lecture Notes in
!> Physics 170, doi:10.1007/3-540-11948-5_66.
module cartesian_flux

    use bl_kinds, only: dp
    use cartesian_problem, only: brick_cells

    implicit none(type, external)
    private

    public :: gamma, split_limited, split_first, split_weighted, take_stage, full_flux

    real(dp), parameter :: gamma = 1.4_dp
    real(dp), parameter :: over_gamma = 1/gamma, energy_factor = 1/(2*(gamma**2 - 1))
    !> How far variables are apart in planes of the finest level, plain and with two more cells on
    !> both sides.
    integer, parameter :: plane = brick_cells**2, padded_plane = brick_cells*(brick_cells + 4)
    !> Least pressure and density that a stage leaves.
    real(dp), parameter :: floor_value = 1.0e-3_dp

contains

    !> F+ at the upper faces and F- at the lower faces, of the second order. `faster` tells that a
    !> state was supersonic: then they are wrong and `split_weighted` has to be asked.
    pure subroutine split_limited(count, stride, axis, eps, before, here, after, up, down, faster)
        integer, intent(in) :: count, stride, axis
        real(dp), intent(in) :: eps
        real(dp), intent(in), dimension(stride, *) :: before, here, after
        real(dp), intent(inout), dimension(stride, *) :: up, down
        logical, intent(out) :: faster

        ! Twenty-five columns have an address each in a register only if the compiler knows how far
        ! they are apart.
        select case (stride)
        case (padded_plane)
            call limited(count, padded_plane, axis, eps, before, here, after, up, down, faster)
        case (plane)
            call limited(count, plane, axis, eps, before, here, after, up, down, faster)
        case default
            call limited(count, stride, axis, eps, before, here, after, up, down, faster)
        end select
    end subroutine split_limited

    pure subroutine limited(count, stride, axis, eps, before, here, after, up, down, faster)
        integer, value, intent(in) :: stride
        integer, intent(in) :: count, axis
        real(dp), intent(in) :: eps
        real(dp), intent(in), dimension(stride, *) :: before, here, after
        real(dp), intent(inout), dimension(stride, *) :: up, down
        logical, intent(out) :: faster
        real(dp) :: a, b, factor, q, u, v, w, c, m, e, slope(5), most
        integer :: i, iu, iv, iw

        iu = 1 + axis
        iv = 2 + mod(axis, 3)
        iw = 2 + mod(axis + 1, 3)
        most = -1
        !$omp simd private(a, b, factor, q, u, v, w, c, m, e, slope) reduction(max: most)
        do i = 1, count
            a = here(i, 5) - before(i, 5)
            b = after(i, 5) - here(i, 5)
            factor = 0.25_dp*max(0.0_dp, (2*a*b + eps)/(a*a + b*b + eps))
            slope(1) = factor*(after(i, 1) - before(i, 1))
            slope(2) = factor*(after(i, iu) - before(i, iu))
            slope(3) = factor*(after(i, iv) - before(i, iv))
            slope(4) = factor*(after(i, iw) - before(i, iw))
            slope(5) = factor*(a + b)
            q = here(i, 1) + slope(1)
            u = here(i, iu) + slope(2)
            v = here(i, iv) + slope(3)
            w = here(i, iw) + slope(4)
            c = here(i, 5) + slope(5)
            most = max(most, abs(u) - c)
            m = 0.25_dp*q*(u + c)**2
            e = (gamma - 1)*u + 2*c
            up(i, 1) = m
            up(i, iu) = m*e*over_gamma
            up(i, iv) = m*v
            up(i, iw) = m*w
            up(i, 5) = m*(energy_factor*e*e + 0.5_dp*(v*v + w*w))
            q = here(i, 1) - slope(1)
            u = here(i, iu) - slope(2)
            v = here(i, iv) - slope(3)
            w = here(i, iw) - slope(4)
            c = here(i, 5) - slope(5)
            most = max(most, abs(u) - c)
            m = -0.25_dp*q*(u - c)**2
            e = (gamma - 1)*u - 2*c
            down(i, 1) = m
            down(i, iu) = m*e*over_gamma
            down(i, iv) = m*v
            down(i, iw) = m*w
            down(i, 5) = m*(energy_factor*e*e + 0.5_dp*(v*v + w*w))
        end do
        faster = most > 0
    end subroutine limited

    !> The same of the first order, without slopes.
    pure subroutine split_first(count, stride, axis, here, up, down, faster)
        integer, intent(in) :: count, stride, axis
        real(dp), intent(in) :: here(stride, *)
        real(dp), intent(inout), dimension(stride, *) :: up, down
        logical, intent(out) :: faster
        real(dp) :: m, e, across, most
        integer :: i, iu, iv, iw

        iu = 1 + axis
        iv = 2 + mod(axis, 3)
        iw = 2 + mod(axis + 1, 3)
        most = -1
        !$omp simd private(m, e, across) reduction(max: most)
        do i = 1, count
            across = 0.5_dp*(here(i, iv)**2 + here(i, iw)**2)
            most = max(most, abs(here(i, iu)) - here(i, 5))
            m = 0.25_dp*here(i, 1)*(here(i, iu) + here(i, 5))**2
            e = (gamma - 1)*here(i, iu) + 2*here(i, 5)
            up(i, 1) = m
            up(i, iu) = m*e*over_gamma
            up(i, iv) = m*here(i, iv)
            up(i, iw) = m*here(i, iw)
            up(i, 5) = m*(energy_factor*e*e + across)
            m = -0.25_dp*here(i, 1)*(here(i, iu) - here(i, 5))**2
            e = (gamma - 1)*here(i, iu) - 2*here(i, 5)
            down(i, 1) = m
            down(i, iu) = m*e*over_gamma
            down(i, iv) = m*here(i, iv)
            down(i, iw) = m*here(i, iw)
            down(i, 5) = m*(energy_factor*e*e + across)
        end do
        faster = most > 0
    end subroutine split_first

    !> The same for flows of any speed, with slopes from differences to below and above times the
    !> weights(:, 1) and (:, 2): 1/2 and 1/2, 1 and 0 where the upper neighbour is missing, 0 and 0
    !> for the first order. The limiter is only where there are two differences. Of the two terms of
    !> a whole flux, F+ has what waves carry upwards, F- what they carry downwards.
    pure subroutine split_weighted(count, stride, axis, eps, weights, before, here, after, up, down)
        integer, intent(in) :: count, stride, axis
        real(dp), intent(in) :: eps
        real(dp), intent(in), dimension(stride, *) :: weights, before, here, after
        real(dp), intent(inout), dimension(stride, *) :: up, down
        real(dp) :: a, b, both, below, above, q, u, v, w, c, m, n, e, f, across, slope(5)
        integer :: i, iu, iv, iw

        iu = 1 + axis
        iv = 2 + mod(axis, 3)
        iw = 2 + mod(axis + 1, 3)
        !$omp simd private(a, b, both, below, above, q, u, v, w, c, m, n, e, f, across, slope)
        do i = 1, count
            a = here(i, 5) - before(i, 5)
            b = after(i, 5) - here(i, 5)
            both = 4*weights(i, 1)*weights(i, 2)
            m = 0.5_dp*max(0.0_dp, (2*both*a*b + eps)/(both*(a*a + b*b) + eps))
            below = m*weights(i, 1)
            above = m*weights(i, 2)
            slope(1) = below*(here(i, 1) - before(i, 1)) + above*(after(i, 1) - here(i, 1))
            slope(2) = below*(here(i, iu) - before(i, iu)) + above*(after(i, iu) - here(i, iu))
            slope(3) = below*(here(i, iv) - before(i, iv)) + above*(after(i, iv) - here(i, iv))
            slope(4) = below*(here(i, iw) - before(i, iw)) + above*(after(i, iw) - here(i, iw))
            slope(5) = below*a + above*b
            q = here(i, 1) + slope(1)
            u = here(i, iu) + slope(2)
            v = here(i, iv) + slope(3)
            w = here(i, iw) + slope(4)
            c = here(i, 5) + slope(5)
            m = 0.25_dp*q*max(u + c, 0.0_dp)**2
            n = -0.25_dp*q*max(u - c, 0.0_dp)**2
            e = (gamma - 1)*u + 2*c
            f = (gamma - 1)*u - 2*c
            across = 0.5_dp*(v*v + w*w)
            up(i, 1) = m + n
            up(i, iu) = (m*e + n*f)*over_gamma
            up(i, iv) = (m + n)*v
            up(i, iw) = (m + n)*w
            up(i, 5) = energy_factor*(m*e*e + n*f*f) + (m + n)*across
            q = here(i, 1) - slope(1)
            u = here(i, iu) - slope(2)
            v = here(i, iv) - slope(3)
            w = here(i, iw) - slope(4)
            c = here(i, 5) - slope(5)
            m = 0.25_dp*q*min(u + c, 0.0_dp)**2
            n = -0.25_dp*q*min(u - c, 0.0_dp)**2
            e = (gamma - 1)*u + 2*c
            f = (gamma - 1)*u - 2*c
            across = 0.5_dp*(v*v + w*w)
            down(i, 1) = m + n
            down(i, iu) = (m*e + n*f)*over_gamma
            down(i, iv) = (m + n)*v
            down(i, iw) = (m + n)*w
            down(i, 5) = energy_factor*(m*e*e + n*f*f) + (m + n)*across
        end do
    end subroutine split_weighted

    !> Flux of mass, momentum (three components) and energy through an area vector.
    pure function full_flux(x, area) result(flux)
        real(dp), intent(in) :: x(5), area(3)
        real(dp) :: flux(5), density, pressure, through
        density = x(1)*x(5)
        pressure = density*x(5)**2/gamma
        through = dot_product(x(2:4), area)
        flux(1) = density*through
        flux(2:4) = density*through*x(2:4) + pressure*area
        flux(5) = through*(pressure/(1 - 1/gamma) + 0.5_dp*density*sum(x(2:4)**2))
    end function full_flux

    !> The state `out` that a stage leaves: from the state `x` at the begin of the step and the
    !> residual `r`, the sum of fluxes out of a cell. The step of a cell is `courant` times its
    !> volume over s, the sum of its open areas, `areas`(:, 3) of each direction, times the speeds
    !> of sound waves. A cell without open faces stays as it is.
    !>
    !> With mass, momentum and energy times s (M, P, E) there is one division and one root: from
    !> C**2 = gamma (gamma - 1) (M E - P**2/2) follow the speed of sound C/M and q = M**2/(s C).
    pure subroutine take_stage(count, courant, areas, x, r, out)
        integer, intent(in) :: count
        real(dp), intent(in) :: courant
        real(dp), intent(in) :: areas(count, 3), x(count, 5), r(count, 5)
        real(dp), intent(inout) :: out(count, 5)
        real(dp) :: s, mass, energy, u, v, w, root, over, over_mass
        integer :: i

        !$omp simd private(s, mass, energy, u, v, w, root, over, over_mass)
        do i = 1, count
            s = max(areas(i, 1)*(abs(x(i, 2)) + x(i, 5)) + areas(i, 2)*(abs(x(i, 3)) + x(i, 5)) &
                    + areas(i, 3)*(abs(x(i, 4)) + x(i, 5)), floor_value)
            mass = s*x(i, 1)*x(i, 5)
            energy = mass*(x(i, 5)**2*(1/(gamma*(gamma - 1))) &
                           + 0.5_dp*(x(i, 2)**2 + x(i, 3)**2 + x(i, 4)**2)) - courant*r(i, 5)
            u = mass*x(i, 2) - courant*r(i, 2)
            v = mass*x(i, 3) - courant*r(i, 3)
            w = mass*x(i, 4) - courant*r(i, 4)
            mass = max(mass - courant*r(i, 1), floor_value*s)
            root = sqrt(max(gamma*(gamma - 1)*(energy*mass - 0.5_dp*(u*u + v*v + w*w)), &
                            floor_value*mass*mass))
            over = 1/(mass*s*root)
            over_mass = s*root*over
            out(i, 1) = mass*mass*(mass*over)
            out(i, 2) = u*over_mass
            out(i, 3) = v*over_mass
            out(i, 4) = w*over_mass
            out(i, 5) = root*over_mass
        end do
    end subroutine take_stage

end module cartesian_flux
