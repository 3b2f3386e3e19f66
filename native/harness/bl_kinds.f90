!> Kinds of the numbers of all kernels.
module bl_kinds

    use, intrinsic :: iso_fortran_env, only: int32, int64, real64

    implicit none(type, external)
    private

    public :: dp, i4, i8

    !> IEEE double precision, the arithmetic of all eight benchmarks.
    integer, parameter :: dp = real64
    !> Keys and indices in arrays: half the memory traffic of `i8`.
    integer, parameter :: i4 = int32
    !> Counts that exceed 2**31 in the large classes, and states of the random numbers.
    integer, parameter :: i8 = int64

end module bl_kinds
