!> A sparse matrix in the form in which CG multiplies it: tiles of sliced ELLPACK.
!>
!> The matrix is cut into tiles: `width` columns, whose part of the vector stays in the first-level
!> cache while it is gathered from, by `window` rows. Within a tile rows are ordered by their number
!> of nonzeros and taken `lanes` at a time as a slice: entry k of all its rows lies together, and
!> as many independent sums as there are lanes grow in registers. The shorter rows of a slice are
!> filled up with zeros (1 %). A column is its offset in the tile in 16 bits, so that a nonzero
!> takes 10 bytes.
!>
!> Every other product goes through the slices from the last to the first: what it begins with is
!> what the one before ended with, and still lies in the second-level cache.
!>
!> Exported: `slices_t`. Nothing here is collective; `multiply` is timed, and making slices of rows,
!> which also tries how their products are computed fastest, is not.
!>
!> Reference: M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. R. Bishop (2014), A unified sparse
!> matrix data format for efficient general sparse matrix-vector multiplication on modern processors
!> with wide SIMD units, SIAM J. Sci. Comput. 36, C401, DOI 10.1137/130930352.
module cg_slices

    use, intrinsic :: iso_c_binding, only: c_double, c_f_pointer, c_int, c_int16_t, &
        c_int32_t, c_int64_t, c_loc
    use, intrinsic :: iso_fortran_env, only: int16
    use cg_matrix, only: matrix_t
    use bl_kinds, only: dp, i4, i8
    use bl_memory, only: aligned

    implicit none(type, external)
    private

    public :: slices_t, slice_memory_bytes

    !> Rows of a slice: one register for the sum of each.
    integer, parameter :: lanes = 16
    !> Narrowest tile: 4096 doubles of the vector are 32 KiB.
    integer, parameter :: width_min = 2**12
    !> Widest tile, by the 16 bits of a column.
    integer, parameter :: width_max = 2**16
    !> Rows of a tile: the results of a tile stay in the second-level cache.
    integer, parameter :: window = 2**12
    !> A row's result is loaded and stored once for each tile; with fewer nonzeros than these that
    !> would cost more than the gathering.
    integer, parameter :: row_nonzeros_min = 8
    !> A column that is stored as an unsigned number of 16 bits.
    integer, parameter :: unsigned_end = 2**16

    type :: slices_t
        integer :: rows = 0
        integer :: columns = 0
        integer :: width = width_min
        !> Slices of the tile columns 1, 2, ...: first_slice(b) ... first_slice(b + 1) - 1.
        integer, allocatable :: first_slice(:)
        !> Entries of slice s: first_entry(s) ... first_entry(s + 1) - 1.
        integer(i8), allocatable :: first_entry(:)
        !> row(lane, slice)
        integer(i4), allocatable :: row(:, :)
        !> column(lane, entry), value(lane, entry), from the begin of a cache line on.
        integer(int16), pointer, contiguous :: column(:, :) => null()
        real(dp), pointer, contiguous :: value(:, :) => null()
        !> How numbers of the vector are fetched, of the ways of cg_tile.c.
        integer(c_int) :: way = 0
        !> Whether the next product begins at the last slice.
        logical :: is_backward = .false.
    contains
        procedure :: multiply => slices_multiply
        procedure, private :: choose_way
    end type slices_t

    interface
        !> How many ways to fetch there are: 0, 1, ...
        pure integer(c_int) function tile_ways() bind(C, name='bl_cg_ways')
            import :: c_int
        end function tile_ways

        !> Adds what one tile gives; `vector` is the tile's part of it.
        pure subroutine add_tile(way, is_backward, slices, first_entry, row, column, value, &
                                 vector, product) bind(C, name='bl_cg_tile')
            import :: c_double, c_int, c_int16_t, c_int32_t, c_int64_t, lanes
            integer(c_int), value :: way, is_backward, slices
            integer(c_int64_t), intent(in) :: first_entry(slices + 1)
            integer(c_int32_t), intent(in) :: row(lanes, slices)
            integer(c_int16_t), intent(in) :: column(lanes, *)
            real(c_double), intent(in) :: value(lanes, *), vector(*)
            real(c_double), intent(inout) :: product(*)
        end subroutine add_tile
    end interface

    interface slices_t
        module procedure new_slices
    end interface slices_t

contains

    !> What so many nonzeros take.
    pure integer(i8) function slice_memory_bytes(nonzeros) result(size_bytes)
        integer(i8), intent(in) :: nonzeros
        integer(i8), parameter :: nonzero_bytes = 10
        !> Room for the filling and the rows' numbers.
        size_bytes = nonzero_bytes*(nonzeros + nonzeros/16)
    end function slice_memory_bytes

    !> Takes a matrix over from its rows.
    type(slices_t) function new_slices(matrix) result(slices)
        type(matrix_t), intent(in) :: matrix
        integer(i8), allocatable :: begin(:, :)
        integer :: tiles, slice
        integer(i8) :: entry

        slices%rows = matrix%rows
        slices%columns = matrix%columns
        slices%width = tile_width(matrix)
        tiles = (matrix%columns + slices%width - 1)/slices%width
        call find_segments(matrix, slices%width, tiles, begin)
        call walk(storing=.false.)
        allocate (slices%first_slice(tiles + 1), slices%first_entry(slice + 1), &
                  slices%row(lanes, slice))
        slices%value(1:lanes, 1:entry) => aligned(lanes*entry)
        call c_f_pointer(c_loc(aligned((lanes*entry + 3)/4)), slices%column, &
                         [int(lanes, i8), entry])
        call walk(storing=.true.)
        call slices%choose_way()

    contains

        !> Goes through all slices and counts them and their entries.
        subroutine walk(storing)
            logical, intent(in) :: storing
            integer :: length(window), order(window), tile, first, rows, i
            slice = 0
            entry = 0
            do tile = 1, tiles
                if (storing) slices%first_slice(tile) = slice + 1
                do first = 1, matrix%rows, window
                    rows = min(window, matrix%rows - first + 1)
                    length(:rows) = int(begin(first:first + rows - 1, tile + 1) &
                                        - begin(first:first + rows - 1, tile))
                    call order_by_length(length(:rows), order(:rows))
                    do i = 1, rows, lanes
                        if (length(order(i)) == 0) exit
                        slice = slice + 1
                        if (storing) call store(tile, first - 1 + order(i:min(i + lanes - 1, rows)))
                        entry = entry + length(order(i))
                    end do
                end do
            end do
            if (storing) slices%first_slice(tiles + 1) = slice + 1
            if (storing) slices%first_entry(slice + 1) = entry + 1
        end subroutine walk

        !> Stores a slice of these rows, the longest first. Missing rows, at the end of a window,
        !> are its last one once more with nothing to add.
        subroutine store(tile, rows)
            integer, intent(in) :: tile, rows(:)
            integer :: lane, longest, origin
            integer(i8) :: place, last

            origin = (tile - 1)*slices%width + 1
            longest = int(begin(rows(1), tile + 1) - begin(rows(1), tile))
            slices%first_entry(slice) = entry + 1
            slices%row(:, slice) = rows(size(rows))
            slices%row(:size(rows), slice) = rows
            slices%column(:, entry + 1:entry + longest) = 0
            slices%value(:, entry + 1:entry + longest) = 0
            do lane = 1, size(rows)
                place = begin(rows(lane), tile)
                last = entry + begin(rows(lane), tile + 1) - place
                slices%column(lane, entry + 1:last) = unsigned( &
                    matrix%column(place:place + last - entry - 1) - origin)
                slices%value(lane, entry + 1:last) = matrix%value(place:place + last - entry - 1)
            end do
        end subroutine store

    end function new_slices

    !> Width at which a row has enough nonzeros in a tile, and tiles are of one width.
    pure integer function tile_width(matrix) result(width)
        type(matrix_t), intent(in) :: matrix
        real(dp) :: density
        integer :: tiles
        density = real(matrix%first(matrix%rows + 1) - 1, dp)/ &
                  (real(matrix%rows, dp)*real(matrix%columns, dp))
        width = width_min
        do while (width < width_max .and. width*density < row_nonzeros_min)
            width = 2*width
        end do
        tiles = (matrix%columns + width - 1)/width
        width = (matrix%columns + tiles - 1)/tiles
    end function tile_width

    !> begin(row, tile): the first of the row's nonzeros in or behind that tile.
    pure subroutine find_segments(matrix, width, tiles, begin)
        type(matrix_t), intent(in) :: matrix
        integer, intent(in) :: width, tiles
        integer(i8), allocatable, intent(out) :: begin(:, :)
        integer(i8) :: place
        integer :: row, tile

        allocate (begin(matrix%rows, tiles + 1))
        do row = 1, matrix%rows
            place = matrix%first(row)
            begin(row, 1) = place
            do tile = 1, tiles
                do while (place < matrix%first(row + 1))
                    if ((matrix%column(place) - 1)/width >= tile) exit
                    place = place + 1
                end do
                begin(row, tile + 1) = place
            end do
        end do
    end subroutine find_segments

    !> Orders rows by falling length: counting sort.
    pure subroutine order_by_length(length, order)
        integer, intent(in) :: length(:)
        integer, intent(out) :: order(:)
        integer :: place(0:maxval(length)), row, n, before

        place = 0
        do row = 1, size(length)
            place(length(row)) = place(length(row)) + 1
        end do
        before = 0
        do n = ubound(place, 1), 0, -1
            before = before + place(n)
            place(n) = before - place(n)
        end do
        do row = 1, size(length)
            place(length(row)) = place(length(row)) + 1
            order(place(length(row))) = row
        end do
    end subroutine order_by_length

    !> A number below 2**16 in as many bits.
    elemental integer(int16) function unsigned(number)
        integer, intent(in) :: number
        unsigned = int(merge(number, number - unsigned_end, number < unsigned_end/2), int16)
    end function unsigned

    !> Takes the way of fetching that is fastest for this matrix on this processor: the least time of
    !> some products there and back. All ways give the same products.
    subroutine choose_way(self)
        class(slices_t), intent(inout) :: self
        integer, parameter :: rounds = 6
        real(dp), allocatable :: vector(:), product(:)
        integer(i8) :: begin, end, least
        integer(c_int) :: way, fastest
        integer :: round
        if (tile_ways() == 1) return
        allocate (vector(self%columns), source=1.0_dp)
        allocate (product(self%rows))
        least = huge(least)
        fastest = 0
        do round = 1, rounds
            do way = 0, tile_ways() - 1
                self%way = way
                call system_clock(begin)
                call self%multiply(vector, product)
                call self%multiply(vector, product)
                call system_clock(end)
                if (end - begin >= least) cycle
                least = end - begin
                fastest = way
            end do
        end do
        self%way = fastest
    end subroutine choose_way

    !> product = matrix vector.
    subroutine slices_multiply(self, vector, product)
        class(slices_t), intent(inout) :: self
        real(dp), intent(in), contiguous :: vector(:)
        real(dp), intent(out), contiguous :: product(:)
        integer :: turn, tiles, tile, first, last

        product = 0
        tiles = size(self%first_slice) - 1
        do turn = 1, tiles
            tile = merge(tiles + 1 - turn, turn, self%is_backward)
            first = self%first_slice(tile)
            last = self%first_slice(tile + 1) - 1
            call add_tile(self%way, merge(1_c_int, 0_c_int, self%is_backward), last - first + 1, &
                          self%first_entry(first:last + 1), self%row(:, first:last), self%column, &
                          self%value, vector((tile - 1)*self%width + 1:), product)
        end do
        self%is_backward = .not. self%is_backward
    end subroutine slices_multiply

end module cg_slices
