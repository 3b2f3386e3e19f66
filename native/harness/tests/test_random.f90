!> The random numbers: vectors and jumps against one number after the other.
program test_random

    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp, i8
    use bl_random, only: random_fill, random_lanes, random_multiplier, random_next, random_power, &
                          random_product, random_seed_common, random_skip, random_stream_t

    implicit none(type, external)

    integer(i8), parameter :: period = 2_i8**44, modulus = 2_i8**46

    call test_product()
    call test_skip()
    call test_fill()
    call test_stream()
    call finish_checks()

contains

    !> Against multiplication by repeated doubling, which needs no product at all.
    subroutine test_product()
        integer(i8) :: a, x, rest, term, expected
        integer :: i
        a = 1
        x = modulus - 1
        do i = 1, 200
            expected = 0
            term = x
            rest = a
            do while (rest > 0)
                if (btest(rest, 0)) expected = modulo(expected + term, modulus)
                term = modulo(2*term, modulus)
                rest = shiftr(rest, 1)
            end do
            call check(random_product(a, x) == expected, 'product mod 2**46')
            a = random_product(a, random_multiplier)
            x = random_product(x, 3_i8)
        end do
    end subroutine test_product

    subroutine test_skip()
        integer(i8) :: state
        real(dp) :: number
        integer :: n
        state = random_seed_common
        do n = 0, 300
            call check(random_skip(random_seed_common, int(n, i8)) == state, 'skip as many steps')
            call random_next(state, number)
            call check(number > 0 .and. number < 1, 'number within (0, 1)')
        end do
        call check(random_skip(random_seed_common, period) == random_seed_common, &
                   'period is 2**44')
        call check(random_skip(random_seed_common, period/2) /= random_seed_common, &
                   'period is not 2**43')
        call check(random_power(random_multiplier, 0_i8) == 1, 'power zero')
        call check(random_skip(random_skip(random_seed_common, 10_i8**12), period - 10_i8**12) &
                   == random_seed_common, 'skips add up')
    end subroutine test_skip

    subroutine test_fill()
        integer, parameter :: sizes(8) = [0, 1, 31, 32, 33, 64, 100, 4099]
        real(dp), allocatable :: numbers(:)
        integer(i8) :: state, stepped
        real(dp) :: number
        integer :: i, n
        state = random_seed_common
        stepped = random_seed_common
        do n = 1, size(sizes)
            allocate (numbers(sizes(n)))
            call random_fill(state, numbers)
            do i = 1, sizes(n)
                call random_next(stepped, number)
                call check(transfer(numbers(i), 0_i8) == transfer(number, 0_i8), &
                           'a vector of numbers is the sequence, bit by bit')
            end do
            call check(state == stepped, 'state after a vector')
            deallocate (numbers)
        end do
    end subroutine test_fill

    subroutine test_stream()
        integer, parameter :: step = 3, blocks = 5
        type(random_stream_t) :: stream
        real(dp) :: numbers(blocks*random_lanes), number
        integer(i8) :: state
        integer :: i, skipped
        stream = random_stream_t(random_seed_common, step=int(step, i8))
        call stream%fill(numbers(:random_lanes))
        call stream%fill(numbers(random_lanes + 1:))
        state = random_seed_common
        do i = 1, size(numbers)
            do skipped = 1, step
                call random_next(state, number)
            end do
            call check(transfer(numbers(i), 0_i8) == transfer(number, 0_i8), 'every third number')
        end do
    end subroutine test_stream

end program test_random
