!> IS: ranks of integer keys by a parallel counting sort.
!>
!> There are N keys below M; key i is floor(M/4 (r1 + r2 + r3 + r4)) with numbers 4i+1 ... 4i+4 of
!> the random sequence. Process p of P holds keys pN/P ... (p+1)N/P - 1. The rank of a value is
!> the number of smaller keys among all.
!>
!> A ranking: count the own keys by bucket (their leading bits) and order them so; sum the counts
!> over the processes (the probe keys ride along); give each process the next buckets until the
!> keys of all processes so far reach its share; send every key to the process that has its
!> bucket; count each value there and sum up. On one process nothing is sent.
!>
!> Exported: `sorter_t`, `sorter_memory_bytes`. Timed: `rank_keys`, `count_right_ranks`. Collective
!> over the job: `rank_keys`, `is_sorted`.
module is_kernel

    use is_local, only: count_buckets, count_keys, order_by_bucket, waiting_keys
    use is_problem, only: is_problem_t
    use mpi, only: MPI_INTEGER, MPI_MAX, MPI_SUM
    use bl_kinds, only: dp, i4, i8
    use bl_memory, only: aligned_integers, prefer_large_pages
    use bl_messages, only: comm_allreduce, comm_alltoall, comm_alltoallv
    use bl_random, only: random_seed_common, random_skip, random_stream_t
    use bl_run, only: fail, run_t

    implicit none(type, external)
    private

    public :: sorter_t, sorter_memory_bytes

    integer(i8), parameter :: numbers_per_key = 4
    integer(i8), parameter :: key_bytes = 4

    type :: sorter_t
        type(is_problem_t) :: problem
        integer(i8) :: local_keys = 0
        !> The process's keys, the same in bucket order, and all processes' keys of its buckets.
        integer(i4), allocatable :: keys(:), received(:)
        integer(i4), pointer, contiguous :: ordered(:)
        !> Keys on their way from `keys` to `ordered`.
        integer(i4), pointer, contiguous :: waiting(:)
        integer(i8) :: received_keys = 0
        !> Global positions of the probe keys, from 0, and the keys that are there.
        integer(i8), allocatable :: probe_indices(:)
        integer(i4), allocatable :: probe_keys(:)
        !> The values that this process ranks, first_value ... last_value, none if it has no bucket,
        !> and the keys on the processes before.
        integer(i8) :: first_value = 0, last_value = -1
        integer(i8) :: keys_before = 0
        !> up_to(value - first_value + 1): received keys that are not larger than the value.
        integer(i4), allocatable :: up_to(:)
        !> Of the own keys: how many a bucket has, and how many are in `ordered` before it.
        integer(i4), allocatable :: bucket_keys(:), bucket_begin(:)
        !> Keys of all processes by bucket, then the probe keys.
        integer(i4), allocatable :: totals(:)
        integer(i4), allocatable :: sent_counts(:), sent_offsets(:)
        integer(i4), allocatable :: received_counts(:), received_offsets(:)
    contains
        procedure :: prepare
        procedure :: rank_keys
        procedure :: count_right_ranks
        procedure :: is_sorted
        procedure, private :: generate_keys
        procedure, private :: order_own_keys
        procedure, private :: share_buckets
        procedure, private :: exchange_keys
        procedure, private :: count_values
    end type sorter_t

contains

    !> What a process takes at most.
    pure integer(i8) function sorter_memory_bytes(problem, ranks) result(size_bytes)
        type(is_problem_t), intent(in) :: problem
        integer, intent(in) :: ranks
        integer(i8) :: keys
        keys = problem%total_keys()/ranks
        size_bytes = key_bytes*(2*keys + waiting_keys(keys, problem%buckets()) &
                                + values_max(problem, ranks))
        if (ranks > 1) size_bytes = size_bytes + key_bytes*receive_keys_max(problem, ranks)
    end function sorter_memory_bytes

    !> Room for received keys. Keys are bell-shaped and buckets indivisible, the more so the fewer
    !> buckets a process has.
    pure integer(i8) function receive_keys_max(problem, ranks) result(keys)
        type(is_problem_t), intent(in) :: problem
        integer, intent(in) :: ranks
        real(dp) :: factor
        factor = 1.5_dp
        if (ranks > 256) factor = 2.5_dp
        if (ranks > 512) factor = 4.0_dp
        if (ranks > 1024) factor = 6.5_dp
        keys = int(factor*real(problem%total_keys()/ranks, dp), i8)
    end function receive_keys_max

    !> Room for counters of values. The first and the last process have the widest range, since few
    !> keys are near the ends: a share 1/P of them is there in a fourth root of it.
    pure integer(i8) function values_max(problem, ranks) result(values)
        type(is_problem_t), intent(in) :: problem
        integer, intent(in) :: ranks
        integer(i8) :: widest
        values = problem%max_key()
        if (ranks == 1) return
        widest = int(0.6_dp*real(values, dp)/real(ranks, dp)**0.25_dp, i8)
        values = min(values, widest + 2*values/problem%buckets())
    end function values_max

    !> Generates the keys and allocates everything.
    subroutine prepare(self, problem, run, probe_indices)
        class(sorter_t), intent(inout) :: self
        type(is_problem_t), intent(in) :: problem
        type(run_t), intent(in) :: run
        integer(i8), intent(in) :: probe_indices(:)
        integer :: buckets

        self%problem = problem
        self%probe_indices = probe_indices
        self%local_keys = problem%total_keys()/run%ranks
        buckets = problem%buckets()
        allocate (self%keys(self%local_keys))
        call prefer_large_pages(self%keys, key_bytes*self%local_keys)
        self%ordered => aligned_integers(self%local_keys)
        self%waiting => aligned_integers(waiting_keys(self%local_keys, buckets))
        allocate (self%up_to(values_max(problem, run%ranks)))
        call prefer_large_pages(self%up_to, key_bytes*size(self%up_to, kind=i8))
        if (run%ranks > 1) then
            allocate (self%received(receive_keys_max(problem, run%ranks)))
            call prefer_large_pages(self%received, key_bytes*size(self%received, kind=i8))
        end if
        allocate (self%bucket_keys(buckets), self%bucket_begin(buckets + 1))
        allocate (self%totals(buckets + size(probe_indices)), self%probe_keys(size(probe_indices)))
        allocate (self%sent_counts(run%ranks), self%sent_offsets(run%ranks))
        allocate (self%received_counts(run%ranks), self%received_offsets(run%ranks))
        call self%generate_keys(run%rank)
    end subroutine prepare

    subroutine generate_keys(self, rank)
        class(sorter_t), intent(inout) :: self
        integer, intent(in) :: rank
        !> A multiple of `random_lanes` numbers, and all numbers of processes that have fewer keys.
        integer, parameter :: block_keys = 64
        type(random_stream_t) :: stream
        real(dp) :: numbers(numbers_per_key, block_keys), flat(numbers_per_key*block_keys), quarter
        integer(i8) :: first
        integer :: i, keys

        stream = random_stream_t(random_skip(random_seed_common, &
                                             numbers_per_key*rank*self%local_keys))
        quarter = real(self%problem%max_key()/4, dp)
        do first = 1, self%local_keys, block_keys
            call stream%fill(flat)
            numbers = reshape(flat, shape(numbers))
            keys = int(min(int(block_keys, i8), self%local_keys - first + 1))
            do i = 1, keys
                self%keys(first + i - 1) = int(quarter*(numbers(1, i) + numbers(2, i) &
                                                        + numbers(3, i) + numbers(4, i)), i4)
            end do
        end do
    end subroutine generate_keys

    !> Changes two keys as the benchmark wants and ranks all.
    subroutine rank_keys(self, run, iteration)
        class(sorter_t), intent(inout) :: self
        type(run_t), intent(in) :: run
        integer, intent(in) :: iteration
        integer(i8) :: position
        integer :: i, buckets

        if (run%rank == 0) then
            self%keys(iteration + 1) = iteration
            self%keys(iteration + 11) = int(self%problem%max_key() - iteration, i4)
        end if
        call self%order_own_keys()
        buckets = self%problem%buckets()
        self%totals(:buckets) = self%bucket_keys
        do i = 1, size(self%probe_indices)
            position = self%probe_indices(i) - run%rank*self%local_keys
            self%totals(buckets + i) = 0
            if (position >= 0 .and. position < self%local_keys) self%totals(buckets + i) = &
                self%keys(position + 1)
        end do
        if (run%ranks > 1) call comm_allreduce(self%totals, size(self%totals), MPI_INTEGER, &
                                               MPI_SUM, run%comm)
        self%probe_keys = self%totals(buckets + 1:)
        call self%share_buckets(run)
        call require_room(self, run)
        if (run%ranks > 1) then
            call self%exchange_keys(run)
            call self%count_values(self%received)
        else
            call self%count_values(self%ordered)
        end if
    end subroutine rank_keys

    subroutine order_own_keys(self)
        class(sorter_t), intent(inout) :: self
        integer :: shift, b
        shift = self%problem%max_key_log2 - self%problem%buckets_log2
        call count_buckets(self%keys, shift, self%bucket_keys)
        self%bucket_begin(1) = 0
        do b = 1, self%problem%buckets()
            self%bucket_begin(b + 1) = self%bucket_begin(b) + self%bucket_keys(b)
        end do
        call order_by_bucket(self%keys, shift, self%bucket_begin, self%waiting, &
                             self%ordered)
    end subroutine order_own_keys

    !> Gives process j the next buckets until all keys so far reach (j + 1) N/P.
    subroutine share_buckets(self, run)
        class(sorter_t), intent(inout) :: self
        type(run_t), intent(in) :: run
        integer(i8) :: keys, keys_before, bucket_values
        integer :: process, bucket, first

        bucket_values = self%problem%max_key()/self%problem%buckets()
        keys = 0
        bucket = 0
        do process = 0, run%ranks - 1
            first = bucket
            keys_before = keys
            do while (bucket < self%problem%buckets() .and. &
                      keys < (process + 1)*self%local_keys)
                bucket = bucket + 1
                keys = keys + self%totals(bucket)
            end do
            ! Empty buckets at the upper end belong to somebody, too.
            if (process == run%ranks - 1) bucket = self%problem%buckets()
            self%sent_offsets(process + 1) = self%bucket_begin(first + 1)
            self%sent_counts(process + 1) = self%bucket_begin(bucket + 1) &
                                            - self%bucket_begin(first + 1)
            if (process /= run%rank) cycle
            self%first_value = first*bucket_values
            self%last_value = bucket*bucket_values - 1
            self%keys_before = keys_before
            self%received_keys = keys - keys_before
        end do
    end subroutine share_buckets

    !> The room was reckoned from the distribution of the keys.
    subroutine require_room(sorter, run)
        class(sorter_t), intent(in) :: sorter
        type(run_t), intent(in) :: run
        logical :: fits
        fits = sorter%last_value - sorter%first_value < size(sorter%up_to, kind=i8)
        if (run%ranks > 1) fits = fits .and. &
                                  sorter%received_keys <= size(sorter%received, kind=i8)
        if (.not. fits) call fail(run, 'more keys or values come to a process than there is '// &
                                  'room for; report this as a bug')
    end subroutine require_room

    subroutine exchange_keys(self, run)
        class(sorter_t), intent(inout) :: self
        type(run_t), intent(in) :: run
        integer :: process

        call comm_alltoall(self%sent_counts, self%received_counts, 1, MPI_INTEGER, run%comm)
        self%received_offsets(1) = 0
        do process = 2, run%ranks
            self%received_offsets(process) = self%received_offsets(process - 1) &
                                             + self%received_counts(process - 1)
        end do
        call comm_alltoallv(self%ordered, self%sent_counts, self%sent_offsets, self%received, &
                            self%received_counts, self%received_offsets, MPI_INTEGER, run%comm)
    end subroutine exchange_keys

    !> Counts the values among the keys of the own buckets and sums up.
    subroutine count_values(self, keys)
        class(sorter_t), intent(inout) :: self
        integer(i4), intent(in), contiguous :: keys(:)
        integer(i8) :: values, i
        integer(i4) :: total

        values = self%last_value - self%first_value + 1
        self%up_to(:values) = 0
        call count_keys(keys(:self%received_keys), self%first_value, self%up_to(:values))
        total = 0
        do i = 1, values
            total = total + self%up_to(i)
            self%up_to(i) = total
        end do
    end subroutine count_values

    !> Probe keys of this process's values whose rank is the expected one.
    pure integer(i8) function count_right_ranks(self, expected) result(right)
        class(sorter_t), intent(in) :: self
        integer(i8), intent(in) :: expected(:)
        integer(i8) :: place, rank
        integer :: i
        right = 0
        do i = 1, size(expected)
            if (self%probe_keys(i) < self%first_value) cycle
            if (self%probe_keys(i) > self%last_value) cycle
            place = self%probe_keys(i) - self%first_value
            rank = self%keys_before
            if (place > 0) rank = rank + self%up_to(place)
            if (rank == expected(i)) right = right + 1
        end do
    end function count_right_ranks

    !> Puts the keys of the own values where their ranks say and checks that they ascend, and that
    !> none is below a key of a process before.
    logical function is_sorted(self, run)
        class(sorter_t), intent(inout) :: self
        type(run_t), intent(in) :: run
        integer(i4), allocatable :: sorted(:)
        integer(i4) :: largest(0:run%ranks - 1)
        integer(i8) :: i

        if (run%ranks > 1) then
            call place_keys(self%received)
        else
            call place_keys(self%ordered)
        end if
        is_sorted = .true.
        do i = 2, self%received_keys
            if (sorted(i - 1) > sorted(i)) is_sorted = .false.
        end do
        largest = -1
        if (self%received_keys > 0) largest(run%rank) = sorted(self%received_keys)
        call comm_allreduce(largest, run%ranks, MPI_INTEGER, MPI_MAX, run%comm)
        if (self%received_keys > 0) is_sorted = is_sorted .and. &
                                                all(largest(:run%rank - 1) <= sorted(1))

    contains

        !> `up_to` is the place of a value's last key, and used up. A place that no key takes keeps
        !> a value that sorts wrong.
        subroutine place_keys(keys)
            integer(i4), intent(in) :: keys(:)
            integer(i8) :: value, key
            allocate (sorted(self%received_keys), source=-1_i4)
            sorted(:min(1_i8, self%received_keys)) = huge(1_i4)
            do key = 1, self%received_keys
                value = keys(key) - self%first_value + 1
                sorted(self%up_to(value)) = keys(key)
                self%up_to(value) = self%up_to(value) - 1
            end do
        end subroutine place_keys

    end function is_sorted

end module is_kernel
