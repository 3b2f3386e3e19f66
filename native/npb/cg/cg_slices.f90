!> A sparse matrix in the form in which CG multiplies it: tiles of sliced ELLPACK.
!>
!> The matrix is cut into tiles: `width` columns, whose part of the vector stays in the first-level
!> cache while it is gathered from, by `window` rows. Within a tile rows are ordered by their number
!> of nonzeros and taken `lanes` at a time as a slice: entry k of all its rows lies together, and
!> as many independent sums as there are lanes grow in registers. The shorter rows of a slice are
!> filled up with zeros (1 %). A column is its offset in the tile in 16 bits, so that a nonzero
!> takes 10 bytes.
!>
!> Exported: `slices_t`. Nothing here is collective; `multiply` is timed.
!>
!> Reference: M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. R. Bishop (2014), A unified sparse
!> matrix data format for efficient general sparse matrix-vector multiplication on modern processors
!> with wide SIMD units, SIAM J. Sci. Comput. 36, C401, DOI 10.1137/130930352.
module cg_slices

    use, intrinsic :: iso_fortran_env, only: int16
    use cg_matrix, only: matrix_t
    use bl_kinds, only: dp, i4, i8

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
    !> Columns are stored from -2**15 on.
    integer, parameter :: column_bias = 2**15

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
        !> column(lane, entry), value(lane, entry)
        integer(int16), allocatable :: column(:, :)
        real(dp), allocatable :: value(:, :)
    contains
        procedure :: multiply => slices_multiply
    end type slices_t

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
                  slices%row(lanes, slice), slices%column(lanes, entry), &
                  slices%value(lanes, entry))
        call walk(storing=.true.)

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

            origin = (tile - 1)*slices%width + 1 + column_bias
            longest = int(begin(rows(1), tile + 1) - begin(rows(1), tile))
            slices%first_entry(slice) = entry + 1
            slices%row(:, slice) = rows(size(rows))
            slices%row(:size(rows), slice) = rows
            slices%column(:, entry + 1:entry + longest) = -column_bias
            slices%value(:, entry + 1:entry + longest) = 0
            do lane = 1, size(rows)
                place = begin(rows(lane), tile)
                last = entry + begin(rows(lane), tile + 1) - place
                slices%column(lane, entry + 1:last) = int( &
                    matrix%column(place:place + last - entry - 1) - origin, int16)
                slices%value(lane, entry + 1:last) = matrix%value(place:place + last - entry - 1)
            end do
        end subroutine store

    end function new_slices

    !> Width at which a row has enough nonzeros in a tile.
    pure integer function tile_width(matrix) result(width)
        type(matrix_t), intent(in) :: matrix
        real(dp) :: density
        density = real(matrix%first(matrix%rows + 1) - 1, dp)/ &
                  (real(matrix%rows, dp)*real(matrix%columns, dp))
        width = width_min
        do while (width < width_max .and. width*density < row_nonzeros_min)
            width = 2*width
        end do
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

    !> product = matrix vector.
    subroutine slices_multiply(self, vector, product)
        class(slices_t), intent(in) :: self
        real(dp), intent(in), contiguous :: vector(:)
        real(dp), intent(out), contiguous :: product(:)
        integer :: tile, first, last

        product = 0
        do tile = 1, size(self%first_slice) - 1
            first = self%first_slice(tile)
            last = self%first_slice(tile + 1) - 1
            call multiply_tile(last - first + 1, self%first_entry(first:last + 1), &
                               self%row(:, first:last), self%column, self%value, &
                               int(tile - 1, i8)*self%width + 1 + column_bias, vector, product)
        end do
    end subroutine slices_multiply

    !> Adds what one tile gives. `origin` + column is the position in the vector.
    subroutine multiply_tile(slices, first_entry, row, column, value, origin, vector, product)
        integer, intent(in) :: slices
        integer(i8), intent(in) :: first_entry(slices + 1)
        integer(i4), intent(in) :: row(lanes, slices)
        integer(int16), intent(in) :: column(lanes, *)
        real(dp), intent(in) :: value(lanes, *)
        integer(i8), intent(in) :: origin
        real(dp), intent(in) :: vector(*)
        real(dp), intent(inout) :: product(*)
        real(dp) :: total(lanes)
        integer(i8) :: entry
        integer :: slice, lane

        do slice = 1, slices
            total = 0
            do entry = first_entry(slice), first_entry(slice + 1) - 1
                ! One by one: gathering into vectors costs more than it saves afterwards.
                !GCC$ novector
                do lane = 1, lanes
                    total(lane) = total(lane) + &
                                  value(lane, entry)*vector(origin + int(column(lane, entry), i8))
                end do
            end do
            do lane = 1, lanes
                product(row(lane, slice)) = product(row(lane, slice)) + total(lane)
            end do
        end do
    end subroutine multiply_tile

end module cg_slices
