!> MG's messages: all ghosts, edges and corners included, after `refresh`; all points and ghosts of
!> processes that return from idleness after `repopulate`.
program test_mg_exchange

    use mg_exchange, only: refresh, repopulate, wrap
    use mg_level, only: level_t, new_levels
    use mpi, only: MPI_COMM_WORLD, MPI_INTEGER, MPI_SUM
    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp
    use bl_messages, only: comm_allreduce, comm_rank, comm_size, job_finalize, job_init

    implicit none(type, external)

    integer, parameter :: finest = 5
    type(level_t), allocatable :: levels(:)
    integer :: k, points(1)

    call job_init()
    allocate (levels, source=new_levels(MPI_COMM_WORLD, comm_rank(MPI_COMM_WORLD), &
                                        comm_size(MPI_COMM_WORLD), finest))
    do k = 1, finest
        points = merge(product(levels(k)%points), 0, levels(k)%is_active)
        call comm_allreduce(points, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
        call check(points(1) == (2**k)**3, 'the parts have as many points as the grid')
        if (.not. levels(k)%is_active) cycle
        call test_refresh(levels(k))
        if (k > 1) call test_repopulate(levels(k))
    end do
    call job_finalize()
    call finish_checks()

contains

    !> A number that tells the point, periodic.
    pure subroutine set_numbers(level, field)
        type(level_t), intent(in) :: level
        real(dp), allocatable, intent(out) :: field(:, :, :)
        integer :: i, j, l, place(3)
        associate (n => level%points + 1)
            allocate (field(0:n(1), 0:n(2), 0:n(3)))
            do l = 0, n(3)
                do j = 0, n(2)
                    do i = 0, n(1)
                        place = modulo(level%first + [i, j, l] - 1, level%total)
                        field(i, j, l) = real(1 + place(1) + 100*(place(2) + 100*place(3)), dp)
                    end do
                end do
            end do
        end associate
    end subroutine set_numbers

    subroutine test_refresh(level)
        type(level_t), intent(in) :: level
        real(dp), allocatable :: expected(:, :, :), field(:, :, :)
        integer :: l
        call set_numbers(level, expected)
        allocate (field, mold=expected)
        field = -1
        associate (n => level%points)
            field(1:n(1), 1:n(2), 1:n(3)) = expected(1:n(1), 1:n(2), 1:n(3))
            do l = 1, n(3)
                call wrap(level, 1, n(2), field(:, :, l))
            end do
        end associate
        call refresh(level, field)
        call check(all(abs(field - expected) <= 0), 'ghosts after refresh')
    end subroutine test_refresh

    subroutine test_repopulate(level)
        type(level_t), intent(in) :: level
        real(dp), allocatable :: expected(:, :, :), field(:, :, :)
        call set_numbers(level, expected)
        call set_numbers(level, field)
        if (.not. all(level%is_coarse_active)) field = -1
        call repopulate(level, field)
        call check(all(abs(field - expected) <= 0), 'points and ghosts after repopulate')
    end subroutine test_repopulate

end program test_mg_exchange
