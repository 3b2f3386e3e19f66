!> The lowest states of an electron in a periodic potential: all bands at once by preconditioned
!> conjugate gradients.
!>
!>     H x = (|G|**2/2 + V) x = e x,   x in the plane waves |G| <= cutoff
!>
!> V is applied in space (planewave_transform). An iteration, for all bands: residuals r = H x - e x;
!> steepest descent k r with the diagonal preconditioner k; the conjugate direction d with what moved
!> the band before, freed of the bands; orthonormalization of the directions by Cholesky's factors
!> of their overlaps; H d; diagonalization within the space of bands and directions.
!>
!> Exported: `bands_t`. Timed: `iterate`. Collective over the job: all but `restart`. An iteration
!> transforms each band forth and back (two MPI_Alltoall) and sums over the processes four matrices
!> of bands x bands complex numbers and two lists of one number for each band.
!>
!> Reference: M. Payne, M. Teter, D. Allan, T. Arias, J. Joannopoulos (1992): Iterative minimization
!> techniques for ab initio total-energy calculations. Rev. Mod. Phys. 64,
!> doi:10.1103/RevModPhys.64.1045.
module planewave_kernel

    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_allreduce
    use bl_random, only: random_fill, random_seed_common, random_skip
    use mpi, only: MPI_DOUBLE_COMPLEX, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_SUM
    use planewave_basis, only: basis_t
    use planewave_lapack, only: bl_single_thread, zgemm, zheevd, zpotrf, ztrsm
    use planewave_problem, only: planewave_problem_t
    use planewave_transform, only: transform_t

    implicit none(type, external)
    private

    public :: bands_t, planewave_memory_bytes

    complex(dp), parameter :: one = (1.0_dp, 0.0_dp), zero = (0.0_dp, 0.0_dp)

    type :: bands_t
        integer :: comm = 0
        type(planewave_problem_t) :: problem
        type(basis_t) :: basis
        type(transform_t) :: transform
        !> Bands and directions, and H times them: (own waves, bands).
        complex(dp), allocatable :: x(:, :), hx(:, :), d(:, :), hd(:, :), r(:, :)
        !> Sums over the waves: (bands, bands).
        complex(dp), allocatable :: overlap(:, :), mixed(:, :), beside(:, :)
        real(dp), allocatable :: energy(:), descent(:)
        integer :: steps = 0
        !> What all descents since the start add up to.
        real(dp) :: history = 0
    contains
        procedure :: setup
        procedure :: restart
        procedure :: iterate
        procedure :: residual_norm
        procedure :: disagreement
        procedure, private :: apply
        procedure, private :: find_directions
        procedure, private :: orthonormalize
        procedure, private :: mix
        procedure, private :: overlaps
    end type bands_t

contains

    !> What a process needs.
    pure integer(i8) function planewave_memory_bytes(problem, ranks) result(size_bytes)
        type(planewave_problem_t), intent(in) :: problem
        integer, intent(in) :: ranks
        integer(i8), parameter :: complex_bytes = 16
        size_bytes = complex_bytes*(6*int(problem%waves(), i8)*problem%bands/ranks &
                                    + 4*int(problem%n, i8)**3/ranks + 16*int(problem%bands, i8)**2)
    end function planewave_memory_bytes

    subroutine setup(self, comm, rank, ranks, problem)
        class(bands_t), intent(inout) :: self
        integer, intent(in) :: comm, rank, ranks
        type(planewave_problem_t), intent(in) :: problem

        call bl_single_thread()
        self%comm = comm
        self%problem = problem
        self%basis = basis_t(problem%cutoff, rank, ranks)
        call self%transform%setup(comm, self%basis, problem%n, problem%cutoff)
        associate (waves => self%basis%waves, bands => problem%bands)
            allocate (self%x(waves, bands), self%hx(waves, bands), self%d(waves, bands), &
                      self%hd(waves, bands), self%r(waves, bands))
            allocate (self%overlap(bands, bands), self%mixed(bands, bands), &
                      self%beside(bands, bands))
            allocate (self%energy(bands), self%descent(bands))
        end associate
    end subroutine setup

    !> Random bands, smooth, orthonormal; the same on any number of processes but for rounding.
    subroutine restart(self)
        class(bands_t), intent(inout) :: self
        real(dp) :: numbers(2)
        integer(i8) :: state
        integer :: wave, band

        do band = 1, self%problem%bands
            do wave = 1, self%basis%waves
                state = random_skip(random_seed_common, 2*(band + int(self%problem%bands, i8) &
                                                           *self%basis%identity(wave)))
                call random_fill(state, numbers)
                self%x(wave, band) = cmplx(numbers(1) - 0.5_dp, numbers(2) - 0.5_dp, dp) &
                                     /(1 + self%basis%kinetic(wave)**2)
            end do
        end do
        self%d = 0
        self%steps = 0
        self%history = 0
        call self%orthonormalize(self%x)
        call self%apply(self%x, self%hx)
        call self%overlaps(self%x, self%hx, self%mixed)
        call diagonalize(self%problem%bands, self%mixed, self%energy)
        call multiply(self, self%x, self%mixed, zero, self%r)
        call swap(self%x, self%r)
        call multiply(self, self%hx, self%mixed, zero, self%r)
        call swap(self%hx, self%r)
    end subroutine restart

    !> One iteration.
    subroutine iterate(self)
        class(bands_t), intent(inout) :: self
        call self%find_directions()
        call self%orthonormalize(self%d)
        call self%apply(self%d, self%hd)
        call self%mix()
        self%steps = self%steps + 1
    end subroutine iterate

    !> product = H wave, band by band.
    subroutine apply(self, wave, product)
        class(bands_t), intent(inout) :: self
        complex(dp), intent(in) :: wave(:, :)
        complex(dp), intent(inout) :: product(:, :)
        integer :: band
        do band = 1, self%problem%bands
            product(:, band) = self%basis%kinetic*wave(:, band)
            call self%transform%multiply_potential(wave(:, band), product(:, band))
        end do
    end subroutine apply

    !> Conjugate directions, orthogonal to the bands.
    subroutine find_directions(self)
        class(bands_t), intent(inout) :: self
        real(dp) :: kinetic(self%problem%bands), descent(self%problem%bands), beta
        integer :: band

        do band = 1, self%problem%bands
            kinetic(band) = weighted_square(self%basis%waves, self%basis%kinetic, self%x(:, band))
        end do
        call sum_reals(self, kinetic)
        do band = 1, self%problem%bands
            call precondition(self%basis%waves, self%basis%kinetic, kinetic(band), &
                              self%energy(band), self%x(:, band), self%hx(:, band), &
                              self%r(:, band), descent(band))
        end do
        call sum_reals(self, descent)
        do band = 1, self%problem%bands
            beta = 0
            if (self%steps > 0 .and. self%descent(band) > 0) beta = descent(band)/self%descent(band)
            self%d(:, band) = beta*self%d(:, band) - self%r(:, band)
        end do
        self%descent = descent
        self%history = self%history + sum(descent)
        call self%overlaps(self%x, self%d, self%overlap)
        associate (waves => self%basis%waves, bands => self%problem%bands)
            call zgemm('N', 'N', waves, bands, bands, -one, self%x, waves, self%overlap, bands, &
                       one, self%d, waves)
        end associate
    end subroutine find_directions

    !> sum of weight |wave|**2.
    pure real(dp) function weighted_square(waves, weight, wave) result(total)
        integer, intent(in) :: waves
        real(dp), intent(in) :: weight(waves)
        complex(dp), intent(in) :: wave(waves)
        integer :: i
        total = 0
        !$omp simd reduction(+: total)
        do i = 1, waves
            total = total + weight(i)*(real(wave(i))**2 + aimag(wave(i))**2)
        end do
    end function weighted_square

    !> k (H x - e x) for one band, and its product with the residual. Teter's k is 1 for waves of
    !> less kinetic energy than the band's and falls as its inverse beyond.
    pure subroutine precondition(waves, kinetic, scale, energy, x, hx, direction, product)
        integer, intent(in) :: waves
        real(dp), intent(in) :: kinetic(waves), scale, energy
        complex(dp), intent(in) :: x(waves), hx(waves)
        complex(dp), intent(inout) :: direction(waves)
        real(dp), intent(out) :: product
        complex(dp) :: residual
        real(dp) :: s, k
        integer :: i
        product = 0
        !$omp simd reduction(+: product) private(residual, s, k)
        do i = 1, waves
            s = kinetic(i)/scale
            k = 27 + s*(18 + s*(12 + 8*s))
            k = k/(k + 16*s**4)
            residual = hx(i) - energy*x(i)
            direction(i) = k*residual
            product = product + k*(real(residual)**2 + aimag(residual)**2)
        end do
    end subroutine precondition

    !> Real part of a^H b.
    pure real(dp) function product_of(waves, a, b) result(total)
        integer, intent(in) :: waves
        complex(dp), intent(in) :: a(waves), b(waves)
        integer :: i
        total = 0
        !$omp simd reduction(+: total)
        do i = 1, waves
            total = total + real(a(i))*real(b(i)) + aimag(a(i))*aimag(b(i))
        end do
    end function product_of

    !> vectors = vectors U**-1 with vectors^H vectors = U^H U.
    subroutine orthonormalize(self, vectors)
        class(bands_t), intent(inout) :: self
        complex(dp), intent(inout) :: vectors(:, :)
        integer :: trouble
        associate (waves => self%basis%waves, bands => self%problem%bands)
            call self%overlaps(vectors, vectors, self%overlap)
            call zpotrf('U', bands, self%overlap, bands, trouble)
            if (trouble /= 0) self%overlap = huge(1.0_dp) ! dependent: nothing will verify
            call ztrsm('R', 'U', 'N', 'N', waves, bands, one, self%overlap, bands, vectors, waves)
        end associate
    end subroutine orthonormalize

    !> Makes the bands the lowest eigenvectors of H within the space of bands and directions, which
    !> become what was added to the bands.
    subroutine mix(self)
        class(bands_t), intent(inout) :: self
        complex(dp), allocatable :: within(:, :)
        real(dp), allocatable :: energies(:)
        integer :: band

        associate (bands => self%problem%bands)
            allocate (within(2*bands, 2*bands), source=zero)
            allocate (energies(2*bands))
            call self%overlaps(self%x, self%hd, self%overlap)
            call self%overlaps(self%d, self%hd, self%beside)
            do band = 1, bands
                within(band, band) = self%energy(band)
            end do
            within(:bands, bands + 1:) = self%overlap
            within(bands + 1:, bands + 1:) = self%beside
            call diagonalize(2*bands, within, energies)
            self%energy = energies(:bands)
            self%mixed = within(:bands, :bands)
            self%beside = within(bands + 1:, :bands)
        end associate
        call multiply(self, self%hx, self%mixed, zero, self%r)
        call multiply(self, self%hd, self%beside, one, self%r)
        call swap(self%hx, self%r)
        call multiply(self, self%d, self%beside, zero, self%hd)
        call multiply(self, self%x, self%mixed, zero, self%r)
        call swap(self%d, self%hd)
        call add(size(self%r), self%d, self%r)
        call swap(self%x, self%r)
    end subroutine mix

    !> Eigenvalues, rising, and eigenvectors in the place of a Hermitian matrix, of which the upper
    !> triangle is read.
    subroutine diagonalize(n, matrix, values)
        integer, intent(in) :: n
        complex(dp), intent(inout) :: matrix(n, n)
        real(dp), intent(out) :: values(n)
        complex(dp), allocatable :: work(:)
        real(dp), allocatable :: real_work(:)
        integer, allocatable :: integer_work(:)
        integer :: trouble

        allocate (work(n*(n + 2)), real_work(2*n**2 + 5*n + 1), integer_work(5*n + 3))
        call zheevd('V', 'U', n, matrix, n, values, work, size(work), real_work, size(real_work), &
                    integer_work, size(integer_work), trouble)
        if (trouble /= 0) values = huge(1.0_dp) ! nothing will verify
    end subroutine diagonalize

    !> out = vectors matrix + factor out.
    subroutine multiply(self, vectors, matrix, factor, out)
        class(bands_t), intent(in) :: self
        complex(dp), intent(in) :: vectors(:, :), matrix(:, :), factor
        complex(dp), intent(inout) :: out(:, :)
        associate (waves => self%basis%waves, bands => self%problem%bands)
            call zgemm('N', 'N', waves, bands, bands, one, vectors, waves, matrix, bands, factor, &
                       out, waves)
        end associate
    end subroutine multiply

    pure subroutine add(values, change, total)
        integer, intent(in) :: values
        complex(dp), intent(in) :: change(values)
        complex(dp), intent(inout) :: total(values)
        total = total + change
    end subroutine add

    pure subroutine swap(a, b)
        complex(dp), allocatable, intent(inout) :: a(:, :), b(:, :)
        complex(dp), allocatable :: kept(:, :)
        call move_alloc(a, kept)
        call move_alloc(b, a)
        call move_alloc(kept, b)
    end subroutine swap

    !> a^H b, summed over the processes.
    subroutine overlaps(self, a, b, matrix)
        class(bands_t), intent(inout) :: self
        complex(dp), intent(in) :: a(:, :), b(:, :)
        complex(dp), intent(inout) :: matrix(:, :)
        associate (waves => self%basis%waves, bands => self%problem%bands)
            call zgemm('C', 'N', bands, bands, waves, one, a, waves, b, waves, zero, matrix, bands)
        end associate
        call comm_allreduce(matrix, size(matrix), MPI_DOUBLE_COMPLEX, MPI_SUM, self%comm)
    end subroutine overlaps

    subroutine sum_reals(self, values)
        class(bands_t), intent(in) :: self
        real(dp), intent(inout) :: values(:)
        call comm_allreduce(values, size(values), MPI_DOUBLE_PRECISION, MPI_SUM, self%comm)
    end subroutine sum_reals

    !> How far the processes' sums of descents are apart, of the largest. A process that has got
    !> another one searches along another direction and finds the same bands all the same: energies
    !> do not tell.
    real(dp) function disagreement(self)
        class(bands_t), intent(in) :: self
        real(dp) :: ends(2)
        ends = [self%history, -self%history]
        call comm_allreduce(ends, 2, MPI_DOUBLE_PRECISION, MPI_MAX, self%comm)
        disagreement = (ends(1) + ends(2))/ends(1)
    end function disagreement

    !> Largest |H x - e x| of the lowest bands, H applied anew.
    real(dp) function residual_norm(self, lowest) result(norm)
        class(bands_t), intent(inout) :: self
        integer, intent(in) :: lowest
        real(dp) :: squares(self%problem%bands)
        integer :: band
        call self%apply(self%x, self%hx)
        do band = 1, self%problem%bands
            self%r(:, band) = self%hx(:, band) - self%energy(band)*self%x(:, band)
            squares(band) = product_of(self%basis%waves, self%r(:, band), self%r(:, band))
        end do
        call sum_reals(self, squares)
        norm = sqrt(maxval(squares(:lowest)))
    end function residual_norm

end module planewave_kernel
