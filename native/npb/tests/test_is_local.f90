!> IS: ordering by bucket and counting, few keys and many, against what defines them.
program test_is_local

    use is_local, only: count_buckets, count_keys, order_by_bucket, waiting_keys
    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp, i4, i8
    use bl_memory, only: aligned_integers

    implicit none(type, external)

    !> Enough to be gathered by lines, and no multiple of anything.
    integer(i8), parameter :: many = 2_i8**19 + 37

    call check(waiting_keys(1000_i8, 512) == 0, 'few keys wait')
    call check(waiting_keys(many, 512) > 0, 'many keys do not wait')
    call test(1_i8, 2, 3, 1.0_dp)
    call test(1003_i8, 2, 512, 1.0_dp)
    call test(many, 9, 1024, 1.0_dp)
    call test(many, 0, 1024, 1.0_dp)
    call test(many, 17, 1024, 0.3_dp) ! most buckets are empty
    call test(many, 9, 1024, 0.0_dp) ! all keys in one
    call finish_checks()

contains

    !> Keys up to a share of all values, small ones the more often.
    subroutine test(keys_count, shift, buckets, share)
        integer(i8), intent(in) :: keys_count
        integer, intent(in) :: shift, buckets
        real(dp), intent(in) :: share
        real(dp) :: numbers(keys_count)
        integer(i4) :: keys(keys_count), begin(buckets + 1), totals(buckets)
        integer(i4), pointer, contiguous :: ordered(:), waiting(:)
        integer(i8) :: i
        integer :: bucket
        logical :: right

        call random_number(numbers)
        keys = int(share*numbers**2*real(buckets, dp)*2.0_dp**shift, i4)
        call count_buckets(keys, shift, totals)
        begin = 0
        do i = 1, keys_count
            bucket = keys(i)/2**shift + 1
            begin(bucket + 1) = begin(bucket + 1) + 1
        end do
        do bucket = 1, buckets
            begin(bucket + 1) = begin(bucket) + begin(bucket + 1)
        end do
        call check(all(totals == begin(2:) - begin(:buckets)), 'keys in each bucket')

        ordered => aligned_integers(keys_count)
        waiting => aligned_integers(waiting_keys(keys_count, buckets))
        ordered = -1
        call order_by_bucket(keys, shift, begin, waiting, ordered)
        right = all(ordered >= 0)
        do bucket = 1, buckets
            do i = begin(bucket) + 1, begin(bucket + 1)
                right = right .and. ordered(i)/2**shift == bucket - 1
            end do
        end do
        call check(right, 'keys lie in their buckets')
        call check(all(values(keys) == values(ordered)), 'the same keys as before')
    end subroutine test

    !> Keys of each value, counted from the second value on as a process with that range does.
    function values(keys)
        integer(i4), intent(in), contiguous :: keys(:)
        integer(i4), allocatable :: values(:)
        integer(i8), parameter :: first_value = 1
        integer(i4), allocatable :: counted(:), own(:)
        integer(i8) :: i
        own = pack(keys, keys >= first_value)
        allocate (counted(0:maxval(keys)), values(maxval(keys)), source=0)
        do i = 1, size(own, kind=i8)
            counted(own(i)) = counted(own(i)) + 1
        end do
        call count_keys(own, first_value, values)
        call check(all(values == counted(1:)), 'keys of each value')
    end function values

end program test_is_local
