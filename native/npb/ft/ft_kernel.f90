!> FT: the diffusion equation in a periodic box, solved by Fourier transforms.
!>
!>     forward  U(k) = sum over x of u(x) exp(-2 pi i k x/n)
!>     evolve   U = U exp(-4 alpha pi^2 (kx^2 + ky^2 + kz^2)), k counted from -n/2 to n/2 - 1
!>     inverse  X(x) = sum over k of U(k) exp(2 pi i k x/n)
!>     checksum sum over j = 1 ... 1024 of X(j mod nx, 3 j mod ny, 5 j mod nz), over nx ny nz
!>
!> The transform goes by planes: the lines in x and y of one plane of constant z while it is in
!> cache, then the exchange, then the lines in z of one plane of constant y, with what evolves them
!> just before. The exponential is a product of one factor for each direction.
!>
!> Exported: `ft_state_t`. Timed: `prepare`, `start`, `evolve_and_invert`, `checksum`. Collective:
!> these and `layout`. Layout of the arrays: ft_grid. Checksums are valid on rank 0.
module ft_kernel

    use ft_grid, only: ft_grid_t, new_grid
    use ft_lines, only: lines_t, new_lines, new_rows, rows_t
    use mpi, only: MPI_DOUBLE_PRECISION, MPI_SUM
    use bl_kinds, only: dp, i8
    use bl_memory, only: prefer_large_pages
    use bl_messages, only: comm_alltoall, comm_reduce
    use bl_random, only: random_seed_common, random_skip, random_stream_t

    implicit none(type, external)
    private

    public :: ft_memory_bytes, ft_state_t

    real(dp), parameter :: pi = acos(-1.0_dp)
    real(dp), parameter :: alpha = 1.0e-6_dp
    integer, parameter :: checksum_terms = 1024

    !> Lines that are transformed together: in x, and in y and z as many as take this memory, which
    !> is to fit in the second-level cache twice, but not fewer than 16: short pieces of lines in x
    !> cost more in the main memory. Half the size was 8 % slower, twice the size no faster.
    integer, parameter :: rows_max = 4, batch_bytes = 2**18

    type :: ft_state_t
        integer :: comm = 0
        type(ft_grid_t) :: grid
        !> Spectrum, in layout z.
        real(dp), allocatable :: u(:)
        !> Solution, in layout x, and what it is made from.
        real(dp), allocatable :: x(:)
        !> Messages; empty with one process, which needs none.
        real(dp), allocatable :: sent(:)
        !> Lines in x of one plane, `pitch` doubles apart.
        real(dp), allocatable :: plane(:)
        integer(i8) :: pitch = 0
        integer(i8), allocatable :: plane_offset(:)
        integer :: lanes_y = 0, lanes_z = 0, rows = 0
        type(rows_t) :: along_x
        type(lines_t) :: along_y, along_z
        !> exp(-4 alpha pi^2 k^2) for this process's k in each direction.
        real(dp), allocatable :: factor_x(:), factor_y(:), factor_z(:)
    contains
        procedure :: layout
        procedure :: prepare
        procedure :: start
        procedure :: evolve_and_invert
        procedure :: checksum
        procedure, private :: fill_row
        procedure, private :: planes_forward, pencils_forward, z_forward
        procedure, private :: planes_inverse, pencils_inverse, z_inverse
        procedure, private :: exchange_rows, exchange_columns
    end type ft_state_t

contains

    !> Memory of a process.
    pure integer(i8) function ft_memory_bytes(points, ranks) result(size_bytes)
        integer(i8), intent(in) :: points
        integer, intent(in) :: ranks
        integer, parameter :: complex_bytes = 16
        size_bytes = merge(2, 3, ranks == 1)*complex_bytes*(points/ranks)
    end function ft_memory_bytes

    !> Cuts the box and allocates the arrays.
    subroutine layout(self, comm, rank, ranks, n)
        class(ft_state_t), intent(inout) :: self
        integer, intent(in) :: comm, rank, ranks, n(3)
        integer, parameter :: padding = 8
        integer :: y

        self%comm = comm
        self%grid = new_grid(comm, rank, ranks, n)
        associate (grid => self%grid)
            call new_array(grid%size_local(), self%u)
            call new_array(grid%size_local(), self%x)
            call new_array(merge(grid%size_local(), 0_i8, ranks > 1), self%sent)
            self%pitch = 2*n(1) + padding
            allocate (self%plane(0:self%pitch*n(2) - 1), source=0.0_dp)
            allocate (self%plane_offset(0:n(2) - 1))
            self%plane_offset = [(self%pitch*y, y=0, n(2) - 1)]
            self%lanes_y = min(batch_lanes(n(2)), grid%nx_part)
            self%lanes_z = min(batch_lanes(n(3)), grid%nx_part)
            self%rows = min(rows_max, grid%ny_part_x)
        end associate
    end subroutine layout

    pure integer function batch_lanes(length)
        integer, intent(in) :: length
        integer, parameter :: complex_bytes = 16
        batch_lanes = max(batch_bytes/(complex_bytes*length), 16)
    end function batch_lanes

    !> Zeros. Lines in y and z pass through as many pages as they have points: large pages.
    subroutine new_array(count, array)
        integer(i8), intent(in) :: count
        real(dp), allocatable, intent(out) :: array(:)
        integer, parameter :: real_bytes = 8
        allocate (array(0:count - 1))
        call prefer_large_pages(array, real_bytes*count)
        array = 0
    end subroutine new_array

    !> The tables: factors and twiddles.
    subroutine prepare(self)
        class(ft_state_t), intent(inout) :: self
        associate (grid => self%grid)
            self%along_x = new_rows(grid%n(1), self%rows)
            self%along_y = new_lines(grid%n(2), self%lanes_y)
            self%along_z = new_lines(grid%n(3), self%lanes_z)
            self%factor_x = factors(grid%n(1), grid%column*grid%nx_part, grid%nx_part)
            self%factor_y = factors(grid%n(2), grid%row*grid%ny_part_z, grid%ny_part_z)
            self%factor_z = factors(grid%n(3), 0, grid%n(3))
        end associate
    end subroutine prepare

    pure function factors(n, first, count) result(factor)
        integer, intent(in) :: n, first, count
        real(dp) :: factor(count)
        integer :: i, k
        do i = 1, count
            k = first + i - 1
            if (k >= n/2) k = k - n
            factor(i) = exp(-4*alpha*pi**2*real(k, dp)**2)
        end do
    end function factors

    !> Initial state and its spectrum.
    subroutine start(self)
        class(ft_state_t), intent(inout) :: self
        if (size(self%sent) == 0) then
            call self%planes_forward(self%u)
        else
            if (self%grid%columns == 1) then
                call self%planes_forward(self%sent)
            else
                call self%pencils_forward()
            end if
            call self%exchange_columns(self%sent, self%u)
        end if
        call self%z_forward()
    end subroutine start

    !> One iteration: U of the next time and X from it.
    subroutine evolve_and_invert(self)
        class(ft_state_t), intent(inout) :: self
        if (size(self%sent) == 0) then
            call self%z_inverse(self%x)
        else
            call self%z_inverse(self%sent)
            call self%exchange_columns(self%sent, self%x)
        end if
        if (self%grid%columns == 1) then
            call self%planes_inverse()
        else
            call self%pencils_inverse()
        end if
    end subroutine evolve_and_invert

    !> Next line of the initial state: real and imaginary parts come in turn.
    subroutine fill_row(self, stream, row)
        class(ft_state_t), intent(in) :: self
        type(random_stream_t), intent(inout) :: stream
        real(dp), intent(out) :: row(*)
        real(dp) :: numbers(2, self%grid%n(1))
        integer :: i, nx
        nx = self%grid%n(1)
        call fill_numbers(stream, 2*nx, numbers)
        do i = 1, nx
            row(i) = numbers(1, i)
            row(nx + i) = numbers(2, i)
        end do
    end subroutine fill_row

    subroutine fill_numbers(stream, count, numbers)
        type(random_stream_t), intent(inout) :: stream
        integer, intent(in) :: count
        real(dp), intent(out) :: numbers(count)
        call stream%fill(numbers)
    end subroutine fill_numbers

    !> The stream that goes on with point (0, y, z).
    pure type(random_stream_t) function stream_at(n, y, z) result(stream)
        integer, intent(in) :: n(3), y, z
        stream = random_stream_t(random_skip(random_seed_common, &
                                             2_i8*n(1)*(y + int(n(2), i8)*z)))
    end function stream_at

    !> Initial state, transformed in x and y, into the message to layout z.
    subroutine planes_forward(self, message)
        class(ft_state_t), intent(inout) :: self
        real(dp), intent(inout) :: message(0:)
        type(random_stream_t) :: stream
        integer(i8) :: z, y, i

        associate (grid => self%grid, nx => self%grid%n(1))
            do z = 0, grid%nz_part - 1
                stream = stream_at(grid%n, 0, grid%row*grid%nz_part + int(z))
                do y = 0, grid%n(2) - 1
                    call self%fill_row(stream, self%plane(y*self%pitch:))
                end do
                do y = 0, grid%n(2) - 1, self%rows
                    call self%along_x%read(self%rows, self%plane(y*self%pitch:), self%pitch, 0, nx)
                    call self%along_x%write(self%rows, self%plane(y*self%pitch:), self%pitch, 0, &
                                            nx)
                end do
                do i = 0, nx - 1, self%lanes_y
                    call self%along_y%read(self%lanes_y, self%plane(i:), self%plane_offset, 0, nx)
                    call self%along_y%write(self%lanes_y, message(z*grid%line + i:), &
                                            grid%y_offset, 0, nx)
                end do
            end do
        end associate
    end subroutine planes_forward

    !> The lines in z, in place.
    subroutine z_forward(self)
        class(ft_state_t), intent(inout) :: self
        integer(i8) :: y, first, i
        associate (grid => self%grid, nx => self%grid%nx_part)
            do y = 0, grid%ny_part_z - 1
                first = y*grid%nz_part*grid%line
                do i = first, first + nx - 1, self%lanes_z
                    call self%along_z%read(self%lanes_z, self%u(i:), grid%z_offset, 0, nx)
                    call self%along_z%write(self%lanes_z, self%u(i:), grid%z_offset, 0, nx)
                end do
            end do
        end associate
    end subroutine z_forward

    !> Evolves the spectrum and transforms it in z, into the message to layout y.
    subroutine z_inverse(self, message)
        class(ft_state_t), intent(inout) :: self
        real(dp), intent(inout) :: message(0:)
        integer(i8) :: y, i, first
        associate (grid => self%grid, nx => self%grid%nx_part)
            do y = 0, grid%ny_part_z - 1
                first = y*grid%nz_part*grid%line
                do i = 0, nx - 1, self%lanes_z
                    call evolve(self%lanes_z, self%factor_x(i + 1:), self%factor_y(y + 1), &
                                self%factor_z, grid%z_offset, nx, self%u(first + i:))
                    call self%along_z%read(self%lanes_z, self%u(first + i:), grid%z_offset, nx, 0)
                    call self%along_z%write(self%lanes_z, message(first + i:), grid%z_offset, nx, 0)
                end do
            end do
        end associate
    end subroutine z_inverse

    !> Multiplies the lines in z of some neighbouring x by their factors.
    pure subroutine evolve(lanes, factor_x, factor_y, factor_z, offset, im, u)
        integer, intent(in) :: lanes, im
        real(dp), intent(in) :: factor_x(lanes), factor_y, factor_z(0:)
        integer(i8), intent(in) :: offset(0:)
        real(dp), intent(inout) :: u(0:*)
        real(dp) :: factor
        integer(i8) :: place
        integer :: z, i
        do z = 0, size(factor_z) - 1
            factor = factor_y*factor_z(z)
            place = offset(z)
            !$omp simd
            do i = 1, lanes
                u(place + i - 1) = u(place + i - 1)*(factor*factor_x(i))
                u(place + im + i - 1) = u(place + im + i - 1)*(factor*factor_x(i))
            end do
        end do
    end subroutine evolve

    !> Transforms in y and x, in place.
    subroutine planes_inverse(self)
        class(ft_state_t), intent(inout) :: self
        integer(i8) :: z, y, i
        associate (grid => self%grid, nx => self%grid%n(1))
            do z = 0, grid%nz_part - 1
                do i = 0, nx - 1, self%lanes_y
                    call self%along_y%read(self%lanes_y, self%x(z*grid%line + i:), grid%y_offset, &
                                           nx, 0)
                    call self%along_y%write(self%lanes_y, self%plane(i:), self%plane_offset, nx, 0)
                end do
                do y = 0, grid%n(2) - 1, self%rows
                    call self%along_x%read(self%rows, self%plane(y*self%pitch:), self%pitch, nx, 0)
                    call self%along_x%write(self%rows, self%x(z*grid%line + grid%y_offset(y):), &
                                            grid%y_offset(1), nx, 0)
                end do
            end do
        end associate
    end subroutine planes_inverse

    !> Initial state, transformed in x and, after an exchange, in y, into the message to layout z.
    subroutine pencils_forward(self)
        class(ft_state_t), intent(inout) :: self
        type(random_stream_t) :: stream
        integer(i8) :: z, y
        associate (grid => self%grid, nx => self%grid%n(1))
            do z = 0, grid%nz_part - 1
                stream = stream_at(grid%n, grid%column*grid%ny_part_x, &
                                   grid%row*grid%nz_part + int(z))
                do y = 0, grid%ny_part_x - 1
                    call self%fill_row(stream, self%plane)
                    call self%along_x%read(1, self%plane, self%pitch, 0, nx)
                    call self%along_x%write(1, self%plane, self%pitch, 0, nx)
                    call cut_line(grid, self%plane, y, z, self%sent)
                end do
            end do
            call self%exchange_rows(self%sent, self%x)
            call transform_y(self, self%x, grid%y_offset_x, grid%ny_part_x*grid%line, self%sent, &
                             grid%y_offset, grid%line, 0, grid%nx_part)
        end associate
    end subroutine pencils_forward

    subroutine pencils_inverse(self)
        class(ft_state_t), intent(inout) :: self
        integer(i8) :: z, y
        associate (grid => self%grid, nx => self%grid%n(1))
            call transform_y(self, self%x, grid%y_offset, grid%line, self%sent, &
                             grid%y_offset_x, grid%ny_part_x*grid%line, grid%nx_part, 0)
            call self%exchange_rows(self%sent, self%x)
            do z = 0, grid%nz_part - 1
                do y = 0, grid%ny_part_x - 1
                    call join_line(grid, self%x, y, z, self%plane)
                    call self%along_x%read(1, self%plane, self%pitch, nx, 0)
                    call self%along_x%write(1, self%plane, self%pitch, nx, 0)
                    call cut_line(grid, self%plane, y, z, self%x)
                end do
            end do
        end associate
    end subroutine pencils_inverse

    !> All lines in y of a process in layout y; `z_from` and `z_to` are the distances of planes.
    subroutine transform_y(self, from, from_offset, z_from, to, to_offset, z_to, re, im)
        class(ft_state_t), intent(inout) :: self
        real(dp), intent(in) :: from(0:)
        integer(i8), intent(in) :: from_offset(0:), z_from, to_offset(0:), z_to
        real(dp), intent(inout) :: to(0:)
        integer, intent(in) :: re, im
        integer(i8) :: z, i
        do z = 0, self%grid%nz_part - 1
            do i = 0, self%grid%nx_part - 1, self%lanes_y
                call self%along_y%read(self%lanes_y, from(z*z_from + i:), from_offset, re, im)
                call self%along_y%write(self%lanes_y, to(z*z_to + i:), to_offset, re, im)
            end do
        end do
    end subroutine transform_y

    !> Puts a line in x into the pieces of a message between layouts x and y.
    pure subroutine cut_line(grid, line, y, z, message)
        type(ft_grid_t), intent(in) :: grid
        real(dp), intent(in) :: line(0:)
        integer(i8), intent(in) :: y, z
        real(dp), intent(inout) :: message(0:)
        integer(i8) :: place
        integer :: part, nx, width
        nx = grid%n(1)
        width = grid%nx_part
        do part = 0, grid%columns - 1
            place = piece_place(grid, part, y, z)
            message(place:place + width - 1) = line(part*width:(part + 1)*width - 1)
            message(place + width:place + 2*width - 1) = &
                line(nx + part*width:nx + (part + 1)*width - 1)
        end do
    end subroutine cut_line

    pure subroutine join_line(grid, message, y, z, line)
        type(ft_grid_t), intent(in) :: grid
        real(dp), intent(in) :: message(0:)
        integer(i8), intent(in) :: y, z
        real(dp), intent(inout) :: line(0:)
        integer(i8) :: place
        integer :: part, nx, width
        nx = grid%n(1)
        width = grid%nx_part
        do part = 0, grid%columns - 1
            place = piece_place(grid, part, y, z)
            line(part*width:(part + 1)*width - 1) = message(place:place + width - 1)
            line(nx + part*width:nx + (part + 1)*width - 1) = &
                message(place + width:place + 2*width - 1)
        end do
    end subroutine join_line

    !> Where the piece `part` of the line (y, z) begins; y and z count in the process's part.
    pure integer(i8) function piece_place(grid, part, y, z) result(place)
        type(ft_grid_t), intent(in) :: grid
        integer, intent(in) :: part
        integer(i8), intent(in) :: y, z
        place = grid%line*(y + grid%ny_part_x*(z + int(grid%nz_part, i8)*part))
    end function piece_place

    !> Between layouts x and y.
    subroutine exchange_rows(self, sent, received)
        class(ft_state_t), intent(in) :: self
        real(dp), intent(in) :: sent(0:)
        real(dp), intent(inout) :: received(0:)
        call comm_alltoall(sent, received, int(size(sent, kind=i8)/self%grid%columns), &
                           MPI_DOUBLE_PRECISION, self%grid%row_comm)
    end subroutine exchange_rows

    !> Between layouts y and z.
    subroutine exchange_columns(self, sent, received)
        class(ft_state_t), intent(in) :: self
        real(dp), intent(in) :: sent(0:)
        real(dp), intent(inout) :: received(0:)
        call comm_alltoall(sent, received, int(size(sent, kind=i8)/self%grid%rows), &
                           MPI_DOUBLE_PRECISION, self%grid%column_comm)
    end subroutine exchange_columns

    !> Checksum of X.
    complex(dp) function checksum(self)
        class(ft_state_t), intent(in) :: self
        real(dp) :: sums(2)
        integer(i8) :: place, y, z
        integer :: j, x

        sums = 0
        associate (grid => self%grid)
            do j = 1, checksum_terms
                x = mod(j, grid%n(1))
                y = mod(3*j, grid%n(2)) - grid%column*grid%ny_part_x
                z = mod(5*j, grid%n(3)) - grid%row*grid%nz_part
                if (z < 0 .or. z >= grid%nz_part .or. y < 0 .or. y >= grid%ny_part_x) cycle
                if (grid%columns == 1) then
                    place = grid%y_offset(y) + z*grid%line + x
                else
                    place = piece_place(grid, x/grid%nx_part, y, z) + mod(x, grid%nx_part)
                end if
                sums = sums + self%x([place, place + grid%nx_part])
            end do
            call comm_reduce(sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, 0, self%comm)
            checksum = cmplx(sums(1), sums(2), dp)/product(real(grid%n, dp))
        end associate
    end function checksum

end module ft_kernel
