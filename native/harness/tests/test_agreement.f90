!> Agreement: numbers that go round are not missed in any order, one that is lost is, and so is a sum
!> that one process got otherwise.
program test_agreement

    use bl_agreement, only: agreement_t
    use bl_check, only: check, finish_checks
    use bl_kinds, only: dp
    use bl_messages, only: comm_rank, comm_sendrecv, comm_size, job_finalize, job_init
    use mpi, only: MPI_COMM_WORLD, MPI_DOUBLE_PRECISION

    implicit none(type, external)

    integer, parameter :: many = 5
    type(agreement_t) :: agreement
    real(dp) :: sent(many), received(many)
    integer :: rank, ranks, i

    call job_init()
    rank = comm_rank(MPI_COMM_WORLD)
    ranks = comm_size(MPI_COMM_WORLD)
    ! Signs and sizes that fill all 64 bits.
    sent = [((-1)**i*(rank + 1)*10.0_dp**(20*i - 60), i=1, many)]

    call go_round()
    call agreement%receive(2, received(4:))
    call agreement%receive(3, received)
    call check(agreement%lost(MPI_COMM_WORLD) == 0, 'nothing is missed, whatever the order')
    call agreement%forget()

    call go_round()
    if (rank == 0) received(3) = 0
    call agreement%receive(many, received)
    call check(agreement%lost(MPI_COMM_WORLD) == 1, 'a number that was lost is missed')
    call agreement%forget()
    call check(agreement%lost(MPI_COMM_WORLD) == 0, 'what is forgotten is not missed')

    call agreement%hear(1.5_dp)
    call agreement%hear([2.5_dp, merge(0.0_dp, -3.5_dp, ranks > 1 .and. rank == ranks - 1)])
    call check(agreement%differing(MPI_COMM_WORLD, rank) == merge(1, 0, ranks > 1), &
               'a process that got another sum is counted')
    call job_finalize()
    call finish_checks()

contains

    !> Each process sends to the next one.
    subroutine go_round()
        call agreement%send(many, sent)
        call comm_sendrecv(sent, many, modulo(rank + 1, ranks), received, many, &
                           modulo(rank - 1, ranks), MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD)
    end subroutine go_round

end program test_agreement
