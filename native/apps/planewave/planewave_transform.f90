!> Fourier transforms between a sphere of plane waves and a grid in space, by transposition.
!>
!> Lines along z are transformed where their columns are. Then every process sends every other the
!> piece of its columns that lies in the other's planes (one MPI_Alltoall, padded to equal pieces of
!> 16 bytes times planes times columns), and lines along y, only those that are not zero, and along x
!> follow in the planes. The way back is the same in reverse.
!>
!> Exported: `transform_t`. Collective over the job: `multiply_potential`.
module planewave_transform

    use, intrinsic :: iso_c_binding, only: c_double_complex, c_f_pointer, c_int, c_loc, c_ptr, &
        c_size_t
    use bl_kinds, only: dp
    use bl_messages, only: comm_alltoall
    use mpi, only: MPI_DOUBLE_COMPLEX
    use planewave_basis, only: basis_t
    use planewave_fftw, only: backwards, fftw_alloc_complex, fftw_execute_dft, &
        fftw_plan_many_dft, forwards, measure
    use planewave_problem, only: amplitude, phase

    implicit none(type, external)
    private

    public :: transform_t

    real(dp), parameter :: pi = acos(-1.0_dp)

    !> Planes that are worked on at once: of a column's points so many fill a cache line.
    integer, parameter :: together = 4

    type :: transform_t
        integer :: comm = 0
        type(basis_t) :: basis
        integer :: n = 0, cutoff = 0
        !> Own planes, those before, most planes and columns of any process.
        integer :: planes = 0, before = 0, planes_max = 0, columns_max = 0
        !> First plane of every process, and of one more.
        integer, allocatable :: first_plane(:)
        !> Columns along z (z, column); a few planes (y, x, z); a plane between y and x. Transforms
        !> within planes go from one to the other: in place FFTW would copy to and fro.
        complex(c_double_complex), pointer, contiguous :: lines(:, :) => null(), &
            space(:, :, :) => null(), between(:, :) => null()
        !> Where the columns of every process cross a plane: (column, process), y first.
        integer, allocatable :: places(:, :)
        !> Pieces by process: (z, column, process).
        complex(dp), allocatable :: sent(:, :, :), received(:, :, :)
        real(dp), allocatable :: potential(:, :, :)
        !> Plans forth (to space, 1) and back (2).
        type(c_ptr) :: along_z(2), along_x(2), along_y(2), along_y_negative(2)
    contains
        procedure :: setup
        procedure :: multiply_potential
        procedure, private :: multiply_planes
    end type transform_t

contains

    subroutine setup(self, comm, basis, n, cutoff)
        class(transform_t), intent(inout) :: self
        integer, intent(in) :: comm, n, cutoff
        type(basis_t), intent(in) :: basis
        integer :: rank, own

        self%comm = comm
        self%basis = basis
        self%n = n
        self%cutoff = cutoff
        self%first_plane = [(n*rank/basis%ranks, rank=0, basis%ranks)]
        self%before = self%first_plane(basis%rank + 1)
        self%planes = self%first_plane(basis%rank + 2) - self%before
        self%planes_max = (n + basis%ranks - 1)/basis%ranks
        self%columns_max = maxval(basis%counts)
        own = basis%counts(basis%rank + 1)
        call c_f_pointer(fftw_alloc_complex(int(n*max(own, 1), c_size_t)), self%lines, &
                         [n, max(own, 1)])
        call c_f_pointer(fftw_alloc_complex(int(n*n*together, c_size_t)), self%space, &
                         [n, n, together])
        call c_f_pointer(fftw_alloc_complex(int(n*n, c_size_t)), self%between, [n, n])
        allocate (self%sent(self%planes_max, self%columns_max, basis%ranks), &
                  source=(0.0_dp, 0.0_dp))
        allocate (self%received, mold=self%sent)
        call plan(self, own)
        self%lines = 0
        self%places = modulo(basis%columns%gy, n) + 1 + n*modulo(basis%columns%gx, n)
        call set_potential(self)
    end subroutine setup

    subroutine plan(self, own)
        class(transform_t), intent(inout) :: self
        integer, intent(in) :: own
        integer(c_int), parameter :: sign(2) = [backwards, forwards]
        type(c_ptr) :: plane(2), negative(2)
        integer :: way
        associate (n => self%n, lines => c_loc(self%lines), first => self%n - self%cutoff + 1)
            plane = [c_loc(self%space), c_loc(self%between)]
            negative = [c_loc(self%space(1, first, 1)), c_loc(self%between(1, first))]
            do way = 1, 2
                self%along_z(way) = planned(n, max(own, 1), lines, lines, 1, n, sign(way))
                self%along_x(way) = planned(n, n, plane(3 - way), plane(way), n, 1, sign(way))
                self%along_y(way) = planned(n, self%cutoff + 1, plane(way), plane(3 - way), 1, n, &
                                            sign(way))
                self%along_y_negative(way) = planned(n, self%cutoff, negative(way), &
                                                     negative(3 - way), 1, n, sign(way))
            end do
        end associate
    end subroutine plan

    !> `many` lines of n points that lie `stride` apart, the lines `distance`.
    type(c_ptr) function planned(n, many, from, to, stride, distance, sign)
        integer, intent(in) :: n, many, stride, distance
        type(c_ptr), intent(in) :: from, to
        integer(c_int), intent(in) :: sign
        planned = fftw_plan_many_dft(1, [n], many, from, [n], stride, distance, to, [n], stride, &
                                     distance, sign, measure)
    end function planned

    !> V in the own planes, over the number of points: the factor of a transform forth and back.
    subroutine set_potential(self)
        class(transform_t), intent(inout) :: self
        integer :: x, y, z
        associate (n => self%n)
            allocate (self%potential(n, n, self%planes))
            do z = 1, self%planes
                do x = 1, n
                    do y = 1, n
                        self%potential(y, x, z) = &
                            sum(amplitude*cos(2*pi*[x - 1, y - 1, self%before + z - 1]/n - phase)) &
                            /real(n, dp)**3
                    end do
                end do
            end do
        end associate
    end subroutine set_potential

    !> product = product + V wave.
    subroutine multiply_potential(self, wave, product)
        class(transform_t), intent(inout) :: self
        complex(dp), intent(in) :: wave(self%basis%waves)
        complex(dp), intent(inout) :: product(self%basis%waves)
        integer :: c, n

        n = self%n
        associate (mine => self%basis%columns(:, self%basis%rank + 1), &
                   first => self%basis%first)
            do c = 1, size(first)
                associate (reach => mine(c)%reach, at => first(c) + mine(c)%reach)
                    self%lines(1:reach + 1, c) = wave(at:at + reach)
                    self%lines(reach + 2:n - reach, c) = 0
                    self%lines(n - reach + 1:n, c) = wave(at - reach:at - 1)
                end associate
            end do
            call self%multiply_planes()
            do c = 1, size(first)
                associate (reach => mine(c)%reach, at => first(c) + mine(c)%reach)
                    product(at:at + reach) = product(at:at + reach) + self%lines(1:reach + 1, c)
                    product(at - reach:at - 1) = product(at - reach:at - 1) &
                                                 + self%lines(n - reach + 1:n, c)
                end associate
            end do
        end associate
    end subroutine multiply_potential

    !> From columns to columns: a few planes at a time are transformed, multiplied and transformed
    !> back, so that they stay in cache.
    subroutine multiply_planes(self)
        class(transform_t), intent(inout) :: self
        integer :: r, c, z, first, many, piece

        call fftw_execute_dft(self%along_z(1), c_loc(self%lines), c_loc(self%lines))
        do r = 1, self%basis%ranks
            piece = self%first_plane(r + 1) - self%first_plane(r)
            do c = 1, self%basis%counts(self%basis%rank + 1)
                self%sent(:piece, c, r) = self%lines(self%first_plane(r) + 1: &
                                                     self%first_plane(r + 1), c)
            end do
        end do
        call swap(self, self%sent, self%received)
        do first = 1, self%planes, together
            many = min(together, self%planes - first + 1)
            self%space(:, :self%cutoff + 1, :many) = 0
            self%space(:, self%n - self%cutoff + 1:, :many) = 0
            call scatter(self%n**2, self%basis%counts, self%places, first, many, self%received, &
                         self%space)
            do z = 1, many
                call multiply_plane(self, self%potential(:, :, first + z - 1), &
                                    self%space(:, :, z))
            end do
            call gather(self%n**2, self%basis%counts, self%places, first, many, self%space, &
                        self%sent)
        end do
        call swap(self, self%sent, self%received)
        do r = 1, self%basis%ranks
            piece = self%first_plane(r + 1) - self%first_plane(r)
            do c = 1, self%basis%counts(self%basis%rank + 1)
                self%lines(self%first_plane(r) + 1:self%first_plane(r + 1), c) = &
                    self%received(:piece, c, r)
            end do
        end do
        call fftw_execute_dft(self%along_z(2), c_loc(self%lines), c_loc(self%lines))
    end subroutine multiply_planes

    !> The columns' points in `many` planes from the own plane `first` on.
    pure subroutine scatter(points, counts, places, first, many, pieces, planes)
        integer, intent(in) :: points, counts(:), places(:, :), first, many
        complex(dp), intent(in), contiguous :: pieces(:, :, :)
        complex(dp), intent(inout) :: planes(points, together)
        integer :: r, c, z
        do r = 1, size(counts)
            do c = 1, counts(r)
                do z = 1, many
                    planes(places(c, r), z) = pieces(first + z - 1, c, r)
                end do
            end do
        end do
    end subroutine scatter

    pure subroutine gather(points, counts, places, first, many, planes, pieces)
        integer, intent(in) :: points, counts(:), places(:, :), first, many
        complex(dp), intent(in) :: planes(points, together)
        complex(dp), intent(inout), contiguous :: pieces(:, :, :)
        integer :: r, c, z
        do r = 1, size(counts)
            do c = 1, counts(r)
                do z = 1, many
                    pieces(first + z - 1, c, r) = planes(places(c, r), z)
                end do
            end do
        end do
    end subroutine gather

    pure subroutine scale(points, factor, values)
        integer, intent(in) :: points
        real(dp), intent(in) :: factor(points)
        complex(dp), intent(inout) :: values(points)
        integer :: i
        do i = 1, points
            values(i) = factor(i)*values(i)
        end do
    end subroutine scale

    !> Transforms a plane to space, multiplies it and transforms it back. Lines along y are those at
    !> the x where the sphere has columns.
    subroutine multiply_plane(self, potential, plane)
        class(transform_t), intent(inout) :: self
        real(dp), intent(in), contiguous :: potential(:, :)
        complex(c_double_complex), intent(inout), target, contiguous :: plane(:, :)
        associate (negative => self%n - self%cutoff + 1, between => self%between)
            between(:, self%cutoff + 2:negative - 1) = 0
            call fftw_execute_dft(self%along_y(1), c_loc(plane), c_loc(between))
            call fftw_execute_dft(self%along_y_negative(1), c_loc(plane(1, negative)), &
                                  c_loc(between(1, negative)))
            call fftw_execute_dft(self%along_x(1), c_loc(between), c_loc(plane))
            call scale(self%n**2, potential, plane)
            call fftw_execute_dft(self%along_x(2), c_loc(plane), c_loc(between))
            call fftw_execute_dft(self%along_y(2), c_loc(between), c_loc(plane))
            call fftw_execute_dft(self%along_y_negative(2), c_loc(between(1, negative)), &
                                  c_loc(plane(1, negative)))
        end associate
    end subroutine multiply_plane

    subroutine swap(self, sent, received)
        class(transform_t), intent(inout) :: self
        complex(dp), intent(in) :: sent(:, :, :)
        complex(dp), intent(inout) :: received(:, :, :)
        integer :: piece
        piece = self%planes_max*self%columns_max
        call comm_alltoall(sent, received, piece, MPI_DOUBLE_COMPLEX, self%comm)
    end subroutine swap

end module planewave_transform
