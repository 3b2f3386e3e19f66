!> Halos of a field whose value tells the cell: periodic, its second axis cut into a part for each
!> process, its first not cut. On two processes each is the other's neighbour on both sides.
program test_halo

    use bl_check, only: check, finish_checks
    use bl_halo, only: box_t, halo_t
    use bl_kinds, only: dp
    use bl_messages, only: comm_rank, comm_size, job_finalize, job_init
    use mpi, only: MPI_COMM_WORLD

    implicit none(type, external)

    integer, parameter :: nx = 3, ny = 4, levels = 2
    integer :: rank, ranks

    call job_init()
    rank = comm_rank(MPI_COMM_WORLD)
    ranks = comm_size(MPI_COMM_WORLD)
    call test_axis_after_axis(1)
    call test_axis_after_axis(2)
    call test_all_at_once()
    if (ranks > 2) call test_deep()
    call job_finalize()
    call finish_checks()

contains

    !> Blocking receives; corners come with the second axis.
    subroutine test_axis_after_axis(width)
        integer, intent(in) :: width
        real(dp) :: field(nx + 2*width, ny + 2*width, levels), wrong
        type(halo_t) :: x, y
        type(box_t) :: span

        span = own_cells(width)
        call x%setup(MPI_COMM_WORLD, rank, shape(field), posted=.false.)
        call x%add(1, [rank, rank], width, span)
        span%first(1) = 1
        span%last(1) = nx + 2*width
        call y%setup(MPI_COMM_WORLD, rank, shape(field), posted=.false.)
        call y%add(2, neighbours(), width, span)
        call fill(width, field)
        call x%exchange(field)
        call y%exchange(field)
        wrong = maxval(abs(field - expected(width)))
        call check(wrong < 0.5_dp, 'axis after axis: all ghosts, corners too, are right')
        call x%exchange(field)
        call y%exchange(field)
        wrong = maxval(abs(field - expected(width)))
        call check(wrong < 0.5_dp, 'a second exchange changes nothing')
    end subroutine test_axis_after_axis

    !> All messages at once: nothing is promised of corners.
    subroutine test_all_at_once()
        integer, parameter :: width = 1
        real(dp) :: field(nx + 2, ny + 2, levels), right(nx + 2, ny + 2, levels)
        type(halo_t) :: halo

        call halo%setup(MPI_COMM_WORLD, rank, shape(field), posted=.true.)
        call halo%add(1, [rank, rank], width, own_cells(width))
        call halo%add(2, neighbours(), width, own_cells(width))
        call fill(width, field)
        call halo%exchange(field)
        right = expected(width)
        call check(maxval(abs(field(:, 2:ny + 1, :) - right(:, 2:ny + 1, :))) < 0.5_dp .and. &
                   maxval(abs(field(2:nx + 1, :, :) - right(2:nx + 1, :, :))) < 0.5_dp, &
                   'at once: ghosts of both axes are right')
    end subroutine test_all_at_once

    !> Ghosts wider than a process's part come from two processes on each side, one message each,
    !> which are waited for one by one.
    subroutine test_deep()
        integer, parameter :: width = ny + 2
        real(dp), dimension(nx + 2*width, ny + 2*width, levels) :: field, right
        type(halo_t) :: halo

        call halo%setup(MPI_COMM_WORLD, rank, shape(field), posted=.true., each=.true.)
        call halo%add(2, neighbours(), ny, own_cells(width))
        call halo%add(2, modulo(rank + [-2, 2], ranks), width - ny, own_cells(width), distance=ny)
        call fill(width, field)
        call halo%exchange(field)
        right = expected(width)
        associate (own => [1 + width, nx + width])
            call check(maxval(abs(field(own(1):own(2), :, :) - right(own(1):own(2), :, :))) &
                       < 0.5_dp, 'deeper than a part: all ghosts are right')
        end associate
    end subroutine test_deep

    function neighbours()
        integer :: neighbours(2)
        neighbours = modulo(rank + [-1, 1], ranks)
    end function neighbours

    type(box_t) function own_cells(width)
        integer, intent(in) :: width
        own_cells%first(:3) = [1 + width, 1 + width, 1]
        own_cells%last(:3) = [nx + width, ny + width, levels]
    end function own_cells

    !> Own cells as they should be, ghosts of no value.
    subroutine fill(width, field)
        integer, intent(in) :: width
        real(dp), intent(out) :: field(nx + 2*width, ny + 2*width, levels)
        real(dp) :: right(nx + 2*width, ny + 2*width, levels)
        right = expected(width)
        field = -1
        field(1 + width:nx + width, 1 + width:ny + width, :) = &
            right(1 + width:nx + width, 1 + width:ny + width, :)
    end subroutine fill

    function expected(width) result(field)
        integer, intent(in) :: width
        real(dp) :: field(nx + 2*width, ny + 2*width, levels)
        integer :: i, j, k
        do k = 1, levels
            do j = 1, ny + 2*width
                do i = 1, nx + 2*width
                    field(i, j, k) = modulo(i - width - 1, nx) + 10*k &
                                     + 100*modulo(rank*ny + j - width - 1, ny*ranks)
                end do
            end do
        end do
    end function expected

end program test_halo
