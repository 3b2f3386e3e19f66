!> IS: what a process does with its own keys, the loops that take the time.
!>
!> Exported: `count_buckets`, `order_by_bucket`, `count_keys`. All are timed, nothing is collective.
!> Keys are not negative and there are `buckets` buckets, 0 ... buckets - 1: the bucket of a key is
!> the key without its last `shift` bits. Places count from 1.
!>
!> Ordering stores each key directly at its bucket's end. Gathering whole cache lines first, with
!> and without stores past the cache, took 1.4 to 2 times as long for 2**16 ... 2**27 keys.
module is_local

    use bl_kinds, only: i4, i8

    implicit none(type, external)
    private

    public :: count_buckets, order_by_bucket, count_keys

    !> Counters of each bucket: with one, a key would often wait for the one before it.
    integer, parameter :: tables = 4

contains

    !> totals(b + 1) = keys in bucket b.
    pure subroutine count_buckets(keys, shift, totals)
        integer(i4), intent(in), contiguous :: keys(:)
        integer, intent(in) :: shift
        integer(i4), intent(out), contiguous :: totals(:)
        integer(i4) :: counts(0:size(totals) - 1, tables)
        integer(i8) :: i, whole
        integer :: table, bucket

        counts = 0
        whole = size(keys, kind=i8) - mod(size(keys, kind=i8), int(tables, i8))
        do i = 1, whole, tables
            do table = 1, tables
                bucket = shiftr(keys(i + table - 1), shift)
                counts(bucket, table) = counts(bucket, table) + 1
            end do
        end do
        do i = whole + 1, size(keys, kind=i8)
            bucket = shiftr(keys(i), shift)
            counts(bucket, 1) = counts(bucket, 1) + 1
        end do
        totals = sum(counts, dim=2)
    end subroutine count_buckets

    !> Copies the keys to `ordered`, those of bucket b from begin(b + 1) + 1 on.
    pure subroutine order_by_bucket(keys, shift, begin, ordered)
        integer(i4), intent(in), contiguous :: keys(:)
        integer, intent(in) :: shift
        integer(i4), intent(in), contiguous :: begin(:)
        integer(i4), intent(out), contiguous :: ordered(:)
        integer(i4) :: last(0:size(begin) - 1)
        integer(i8) :: i
        integer :: bucket

        last = begin
        do i = 1, size(keys, kind=i8)
            bucket = shiftr(keys(i), shift)
            last(bucket) = last(bucket) + 1
            ordered(last(bucket)) = keys(i)
        end do
    end subroutine order_by_bucket

    !> Adds the keys to their values' counters, totals(value - first_value + 1). Keys in the order
    !> of their buckets find the counters in the first-level cache.
    pure subroutine count_keys(keys, first_value, totals)
        integer(i4), intent(in), contiguous :: keys(:)
        integer(i8), intent(in) :: first_value
        integer(i4), intent(inout), contiguous :: totals(:)
        integer(i8) :: i, place
        do i = 1, size(keys, kind=i8)
            place = keys(i) - first_value + 1
            totals(place) = totals(place) + 1
        end do
    end subroutine count_keys

end module is_local
