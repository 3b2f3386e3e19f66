!> Whether the processes of a job agree on what went between them: for verifications that must see
!> one lost message where the numerics forgive it.
!>
!> Iterations that converge heal what a lost message spoilt, and the last messages of a run are used
!> by nothing. So a process takes note of the bits of what it sends and of what it receives, which
!> over all processes are the same, added up as whole numbers, and of the bits of the sums that all
!> processes get: MPI promises that these are identical. A note costs an integer addition for a
!> number that has just been packed.
!>
!> Exported: `agreement_t`. Collective: `lost`, `differing`.
module bl_agreement

    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_allreduce
    use mpi, only: MPI_INTEGER8, MPI_SUM

    implicit none(type, external)
    private

    public :: agreement_t

    integer(i8), parameter :: half = 2_i8**32 - 1

    !> All modulo 2**64.
    type :: agreement_t
        private
        !> Bits that were sent less those that were received; bits of sums, in their order.
        integer(i8) :: balance = 0, heard = 0
    contains
        procedure :: forget
        procedure :: send
        procedure :: receive
        procedure, private :: hear_number, hear_numbers
        generic :: hear => hear_number, hear_numbers
        procedure :: lost
        procedure :: differing
    end type agreement_t

    interface
        !> The numbers' bits, added up.
        pure integer(c_int64_t) function sum_of_bits(numbers, count) bind(C, name='bl_sum_of_bits')
            use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
            implicit none
            integer(c_int64_t), value :: count
            real(c_double), intent(in) :: numbers(count)
        end function sum_of_bits

        !> The sum, wherever it is in 64 bits.
        pure integer(c_int64_t) function wrapped_sum(a, b) bind(C, name='bl_wrapped_sum')
            use, intrinsic :: iso_c_binding, only: c_int64_t
            implicit none
            integer(c_int64_t), value :: a, b
        end function wrapped_sum
    end interface

contains

    !> Begins anew.
    pure subroutine forget(self)
        class(agreement_t), intent(inout) :: self
        self%balance = 0
        self%heard = 0
    end subroutine forget

    !> Takes note of so many numbers that are about to be sent.
    pure subroutine send(self, count, numbers)
        class(agreement_t), intent(inout) :: self
        integer, intent(in) :: count
        real(dp), intent(in) :: numbers(count)
        self%balance = wrapped_sum(self%balance, sum_of_bits(numbers, int(count, i8)))
    end subroutine send

    !> Takes note of so many numbers that have come.
    pure subroutine receive(self, count, numbers)
        class(agreement_t), intent(inout) :: self
        integer, intent(in) :: count
        real(dp), intent(in) :: numbers(count)
        integer(i8) :: bits
        bits = sum_of_bits(numbers, int(count, i8))
        ! Less the bits: in two's complement, plus all of them turned round, and one.
        self%balance = wrapped_sum(wrapped_sum(self%balance, not(bits)), 1_i8)
    end subroutine receive

    !> Takes note of a sum over all processes.
    pure subroutine hear_number(self, number)
        class(agreement_t), intent(inout) :: self
        real(dp), intent(in) :: number
        self%heard = ieor(ishftc(self%heard, 1), transfer(number, self%heard))
    end subroutine hear_number

    pure subroutine hear_numbers(self, numbers)
        class(agreement_t), intent(inout) :: self
        real(dp), intent(in) :: numbers(:)
        integer :: i
        do i = 1, size(numbers)
            call self%hear_number(numbers(i))
        end do
    end subroutine hear_numbers

    !> 1 if what all processes received is not what they sent.
    integer function lost(self, comm)
        class(agreement_t), intent(in) :: self
        integer, intent(in) :: comm
        integer(i8) :: halves(2)
        ! Of 32 bits each, so that no sum wraps.
        halves = [iand(self%balance, half), ishft(self%balance, -32)]
        call comm_allreduce(halves, 2, MPI_INTEGER8, MPI_SUM, comm)
        halves(2) = iand(halves(2) + ishft(halves(1), -32), half)
        lost = merge(1, 0, iand(halves(1), half) /= 0 .or. halves(2) /= 0)
    end function lost

    !> How many processes got other sums than the first.
    integer function differing(self, comm, rank)
        class(agreement_t), intent(in) :: self
        integer, intent(in) :: comm, rank
        integer(i8) :: first(1), others(1)
        first = merge(self%heard, 0_i8, rank == 0)
        call comm_allreduce(first, 1, MPI_INTEGER8, MPI_SUM, comm)
        others = merge(1, 0, self%heard /= first(1))
        call comm_allreduce(others, 1, MPI_INTEGER8, MPI_SUM, comm)
        differing = int(others(1))
    end function differing

end module bl_agreement
