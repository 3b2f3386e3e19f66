!> IS: what a process does with its own keys; the loops are in is_loops.c.
!>
!> Exported: `count_buckets`, `order_by_bucket`, `count_keys`, which are timed, `waiting_keys`.
!> Nothing is collective. Keys are not negative and there are `buckets` buckets, 0 ... buckets - 1:
!> the bucket of a key is the key without its last `shift` bits.
!>
!> Ordering stores few keys directly at their buckets' ends. Of many keys these ends are not in the
!> caches, and each line would be read before it is written: they are gathered, four lines a bucket,
!> which go to memory whole and past the caches. With one line a bucket ordering took 1.4 times as
!> long: whenever keys are passed on, a branch is mispredicted.
module is_local

    use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t
    use bl_kinds, only: i4, i8

    implicit none(type, external)
    private

    public :: count_buckets, order_by_bucket, count_keys, waiting_keys

    !> Counters of each bucket: with one, a key would often wait for the one before it.
    integer, parameter :: tables = 4
    !> Keys of a bucket that are stored together, four cache lines.
    integer, parameter :: together = 64
    !> So many keys and more are gathered before they are stored.
    integer(i8), parameter :: gathered_from = 2_i8**19

    interface
        !> Counts each bucket's keys in some of its counters.
        pure subroutine is_count_buckets(keys, keys_count, shift, counts) bind(C)
            import :: c_int, c_int32_t, c_int64_t
            integer(c_int32_t), intent(in) :: keys(*)
            integer(c_int64_t), value :: keys_count
            integer(c_int), value :: shift
            integer(c_int32_t), intent(inout) :: counts(*)
        end subroutine is_count_buckets

        !> Copies the keys to `ordered`. next(bucket): the place, from 0, of the bucket's next key.
        pure subroutine is_order_directly(keys, keys_count, shift, next, ordered) bind(C)
            import :: c_int, c_int32_t, c_int64_t
            integer(c_int32_t), intent(in) :: keys(*)
            integer(c_int64_t), value :: keys_count
            integer(c_int), value :: shift
            integer(c_int32_t), intent(inout) :: next(*), ordered(*)
        end subroutine is_order_directly

        !> The same by whole lines; `waiting` and `ordered` begin on lines.
        pure subroutine is_order_by_lines(keys, keys_count, shift, buckets, begin, next, waiting, &
                                          ordered) bind(C)
            import :: c_int, c_int32_t, c_int64_t
            integer(c_int32_t), intent(in) :: keys(*)
            integer(c_int64_t), value :: keys_count
            integer(c_int), value :: shift, buckets
            integer(c_int32_t), intent(in) :: begin(*)
            integer(c_int32_t), intent(inout) :: next(*), waiting(*), ordered(*)
        end subroutine is_order_by_lines

        !> Adds the keys to totals(value - first_value + 1). Keys in the order of their buckets find
        !> the counters in the first-level cache.
        pure subroutine is_count_values(keys, keys_count, first_value, totals) bind(C)
            import :: c_int32_t, c_int64_t
            integer(c_int32_t), intent(in) :: keys(*)
            integer(c_int64_t), value :: keys_count
            integer(c_int32_t), value :: first_value
            integer(c_int32_t), intent(inout) :: totals(*)
        end subroutine is_count_values
    end interface

contains

    !> totals(b + 1) = keys in bucket b.
    pure subroutine count_buckets(keys, shift, totals)
        integer(i4), intent(in), contiguous :: keys(:)
        integer, intent(in) :: shift
        integer(i4), intent(out), contiguous :: totals(:)
        integer(i4) :: counts(tables, size(totals))
        counts = 0
        call is_count_buckets(keys, size(keys, kind=i8), shift, counts)
        totals = sum(counts, dim=1)
    end subroutine count_buckets

    !> So many places `order_by_bucket` needs for so many keys.
    pure integer(i8) function waiting_keys(keys, buckets)
        integer(i8), intent(in) :: keys
        integer, intent(in) :: buckets
        waiting_keys = 0
        if (keys >= gathered_from) waiting_keys = together*buckets
    end function waiting_keys

    !> Copies the keys to `ordered`, those of bucket b from begin(b + 1) + 1 on. `waiting` has
    !> `waiting_keys` places; it and `ordered` begin on cache lines.
    pure subroutine order_by_bucket(keys, shift, begin, waiting, ordered)
        integer(i4), intent(in), contiguous :: keys(:)
        integer, intent(in) :: shift
        integer(i4), intent(in), contiguous :: begin(:)
        integer(i4), intent(inout), contiguous :: waiting(:)
        integer(i4), intent(inout), contiguous :: ordered(:)
        integer(i4) :: next(size(begin) - 1)
        next = begin(:size(next))
        if (size(keys, kind=i8) < gathered_from) then
            call is_order_directly(keys, size(keys, kind=i8), shift, next, ordered)
        else
            call is_order_by_lines(keys, size(keys, kind=i8), shift, size(next), begin, next, &
                                   waiting, ordered)
        end if
    end subroutine order_by_bucket

    !> Adds the keys to their values' counters, totals(value - first_value + 1).
    pure subroutine count_keys(keys, first_value, totals)
        integer(i4), intent(in), contiguous :: keys(:)
        integer(i8), intent(in) :: first_value
        integer(i4), intent(inout), contiguous :: totals(:)
        call is_count_values(keys, size(keys, kind=i8), int(first_value, i4), totals)
    end subroutine count_keys

end module is_local
