!> FT's checksum on a small box against sums that define the transforms; with 1 rank, in slabs and
!> in pencils.
program test_ft_kernel

    use ft_kernel, only: ft_state_t
    use mpi, only: MPI_COMM_WORLD
    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_rank, comm_size, job_finalize, job_init
    use bl_random, only: random_next, random_seed_common

    implicit none(type, external)

    integer, parameter :: n(3) = [64, 32, 16], iterations = 2
    real(dp), parameter :: pi = acos(-1.0_dp), alpha = 1.0e-6_dp
    type(ft_state_t) :: state
    complex(dp) :: checksums(iterations), expected(iterations)
    integer :: rank, t

    call job_init()
    rank = comm_rank(MPI_COMM_WORLD)
    call state%layout(MPI_COMM_WORLD, rank, comm_size(MPI_COMM_WORLD), n)
    call state%prepare()
    call state%start()
    do t = 1, iterations
        call state%evolve_and_invert()
        checksums(t) = state%checksum()
    end do
    if (rank == 0) then
        call compute_expected()
        call check(all(abs(checksums - expected) < 1.0e-12_dp*abs(expected)), 'checksums')
        call check(abs(expected(2) - expected(1)) > 1.0e-6_dp, 'the state changes')
    end if
    call job_finalize()
    call finish_checks()

contains

    subroutine compute_expected()
        complex(dp), allocatable :: spectrum(:, :, :), x(:, :, :)
        real(dp) :: re, im
        integer(i8) :: random
        integer :: i, j, k, it

        allocate (spectrum(0:n(1) - 1, 0:n(2) - 1, 0:n(3) - 1))
        allocate (x, mold=spectrum)
        random = random_seed_common
        do k = 0, n(3) - 1
            do j = 0, n(2) - 1
                do i = 0, n(1) - 1
                    call random_next(random, re)
                    call random_next(random, im)
                    spectrum(i, j, k) = cmplx(re, im, dp)
                end do
            end do
        end do
        call transform(spectrum, -1)
        do it = 1, iterations
            do k = 0, n(3) - 1
                do j = 0, n(2) - 1
                    do i = 0, n(1) - 1
                        spectrum(i, j, k) = spectrum(i, j, k)*exp( &
                                            -4*alpha*pi**2*(folded(i, n(1))**2 &
                                                            + folded(j, n(2))**2 &
                                                            + folded(k, n(3))**2))
                    end do
                end do
            end do
            x(:, :, :) = spectrum
            call transform(x, 1)
            expected(it) = 0
            do i = 1, 1024
                expected(it) = expected(it) + x(mod(i, n(1)), mod(3*i, n(2)), mod(5*i, n(3)))
            end do
            expected(it) = expected(it)/product(n)
        end do
    end subroutine compute_expected

    pure real(dp) function folded(index, length)
        integer, intent(in) :: index, length
        folded = real(merge(index, index - length, index < length/2), dp)
    end function folded

    !> By the defining sum in each direction, `direction` the exponent's sign.
    pure subroutine transform(x, direction)
        complex(dp), intent(inout) :: x(0:, 0:, 0:)
        integer, intent(in) :: direction
        integer :: i, j
        do j = 0, n(3) - 1
            do i = 0, n(2) - 1
                x(:, i, j) = transformed(x(:, i, j), direction)
            end do
            do i = 0, n(1) - 1
                x(i, :, j) = transformed(x(i, :, j), direction)
            end do
        end do
        do j = 0, n(2) - 1
            do i = 0, n(1) - 1
                x(i, j, :) = transformed(x(i, j, :), direction)
            end do
        end do
    end subroutine transform

    pure function transformed(x, direction) result(y)
        complex(dp), intent(in) :: x(0:)
        integer, intent(in) :: direction
        complex(dp) :: y(0:size(x) - 1), roots(0:size(x) - 1)
        integer :: f, t
        do t = 0, size(x) - 1
            roots(t) = exp(cmplx(0, direction*2*pi*t/size(x), dp))
        end do
        do f = 0, size(x) - 1
            y(f) = sum([(x(t)*roots(mod(f*t, size(x))), t=0, size(x) - 1)])
        end do
    end function transformed

end program test_ft_kernel
