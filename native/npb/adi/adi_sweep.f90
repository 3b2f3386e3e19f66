!> Sweeps of BT and SP: along one axis all interior lines are solved, a batch of `lanes`
!> neighbouring lines at a time. A batch is copied into a tile (lane, component, row), small enough
!> for the caches and alike for all axes, solved there in vectors of one element from each line,
!> and copied back.
!>
!> On several processes a sweep has q stages. Going up, each process receives what elimination
!> carries out of the cells before its own (the last `depth` rows: `kept` values of each line and
!> row), eliminates in its cell and sends its own on; going down, the first `depth` rows of the
!> solution (5 values of each line and row) pass the other way. The stage at the end of the lines
!> turns round batch by batch.
!>
!> What a sweep solves is an extension of `lines_t`, which BT and SP have one each.
!>
!> Exported: `lines_t`, `sweep_t`. Collective: `sweep`. Timed: all.
module adi_sweep

    use mpi, only: MPI_DOUBLE_PRECISION
    use adi_grid, only: cell_t, ghost, grid_t, lanes, row_first, sweep_axes
    use bl_memory, only: aligned
    use bl_kinds, only: dp, i8
    use bl_messages, only: comm_irecv, comm_isend, comm_wait

    implicit none(type, external)
    private

    public :: lines_t, sweep_t

    !> Line systems of one axis. Rows are those of a cell, lo ... hi; in the whole line they count
    !> from `first` on. Tiles are (lanes, component, row).
    type, abstract :: lines_t
        !> Rows that elimination and substitution look back on.
        integer :: depth = 0
        !> Values that elimination leaves in each row.
        integer :: kept = 0
        !> Whether `finish` reads u, by axis.
        logical :: finish_reads_u(3) = .false.
    contains
        procedure(order_i), deferred :: order
        procedure(eliminate_i), deferred :: eliminate
        procedure(substitute_i), deferred :: substitute
        procedure(finish_i), deferred :: finish
    end type lines_t

    abstract interface
        !> The components of the right-hand side in the order in which tiles hold them.
        pure function order_i(self, axis) result(order)
            import :: lines_t
            class(lines_t), intent(in) :: self
            integer, intent(in) :: axis
            integer :: order(5)
        end function order_i

        !> From u (rows lo - 1 ... hi + 1; momentum along the axis first) and the right-hand side r
        !> (lo ... hi), to kept (lanes, kept, lo - depth ... hi), whose first `depth` rows come
        !> from the cell before.
        subroutine eliminate_i(self, axis, first, lo, hi, u, r, kept)
            import :: dp, lanes, lines_t
            class(lines_t), intent(inout) :: self
            integer, intent(in) :: axis, first, lo, hi
            real(dp), intent(in) :: u(lanes, 5, lo - 1:hi + 1)
            real(dp), intent(inout) :: r(lanes, 5, lo:hi)
            real(dp), intent(inout) :: kept(lanes, *)
        end subroutine eliminate_i

        !> From kept to the solution x (lanes, 5, lo ... hi + depth), whose last `depth` rows come
        !> from the cell behind.
        subroutine substitute_i(self, lo, hi, kept, x)
            import :: dp, lanes, lines_t
            class(lines_t), intent(in) :: self
            integer, intent(in) :: lo, hi
            real(dp), intent(in) :: kept(lanes, *)
            real(dp), intent(inout) :: x(lanes, 5, *)
        end subroutine substitute_i

        !> Turns the solution into the next right-hand side or, along z, the change of u, in place.
        subroutine finish_i(self, axis, lo, hi, u, x)
            import :: dp, lanes, lines_t
            class(lines_t), intent(in) :: self
            integer, intent(in) :: axis, lo, hi
            real(dp), intent(in) :: u(lanes, 5, lo - 1:hi + 1)
            real(dp), intent(inout) :: x(lanes, 5, *)
        end subroutine finish_i
    end interface

    !> What elimination leaves in the cell of one stage.
    type :: store_t
        real(dp), pointer, contiguous :: values(:) => null()
    end type store_t

    !> Work space.
    type :: sweep_t
        private
        real(dp), pointer, contiguous :: u(:) => null(), r(:) => null(), x(:) => null()
        type(store_t), allocatable :: stores(:)
        real(dp), allocatable :: received(:), sent(:)
    contains
        procedure :: setup => sweep_setup
        procedure :: sweep => sweep_all
        procedure :: sweep_alone
    end type sweep_t

contains

    subroutine sweep_setup(self, grid, lines)
        class(sweep_t), intent(out) :: self
        type(grid_t), intent(in) :: grid
        class(lines_t), intent(in) :: lines
        integer(i8) :: rows, values
        integer :: axis, stage, carried

        rows = maxval([(maxval(grid%cells(stage)%points), stage=0, grid%q - 1)]) + 4
        self%u => aligned(5*lanes*rows)
        self%r => aligned(5*lanes*rows)
        self%x => aligned(5*lanes*rows)
        allocate (self%stores(0:grid%q - 1))
        carried = 0
        do stage = 0, grid%q - 1
            values = 0
            do axis = 1, 3
                associate (cell => grid%cells(grid%stage_cell(axis, stage)))
                    if (stage == grid%q - 1) then
                        values = max(values, kept_values(cell, axis, lines))
                    else
                        values = max(values, batches(cell, axis)*kept_values(cell, axis, lines))
                    end if
                    carried = max(carried, cell%lines(axis)*lines%depth*lines%kept)
                end associate
            end do
            self%stores(stage)%values => aligned(values)
        end do
        allocate (self%received(carried), self%sent(carried))
    end subroutine sweep_setup

    !> Values that one batch leaves.
    pure integer(i8) function kept_values(cell, axis, lines) result(values)
        type(cell_t), intent(in) :: cell
        integer, intent(in) :: axis
        class(lines_t), intent(in) :: lines
        values = lanes*lines%kept*(cell%hi(axis) - cell%lo(axis) + 1 + lines%depth)
    end function kept_values

    pure integer function batches(cell, axis)
        type(cell_t), intent(in) :: cell
        integer, intent(in) :: axis
        associate (points => cell%hi(sweep_axes(:, axis)) - cell%lo(sweep_axes(:, axis)) + 1)
            batches = (points(1) + lanes - 1)/lanes*points(2)
        end associate
    end function batches

    !> Solves all lines along an axis.
    subroutine sweep_all(self, grid, lines, axis)
        class(sweep_t), intent(inout) :: self
        type(grid_t), intent(inout) :: grid
        class(lines_t), intent(inout) :: lines
        integer, intent(in) :: axis
        integer :: stage, send

        do stage = 0, grid%q - 1
            associate (cell => grid%cells(grid%stage_cell(axis, stage)))
                if (stage > 0) then
                    call receive(self%received, cell%lines(axis)*lines%depth*lines%kept, &
                                 grid, axis, -1)
                    call comm_wait(send)
                end if
                call up(self, cell, lines, axis, stage, grid%q - 1)
                if (stage < grid%q - 1) &
                    call comm_isend(self%sent, cell%lines(axis)*lines%depth*lines%kept, &
                                    MPI_DOUBLE_PRECISION, grid%neighbour(axis, 1), axis, &
                                    grid%comm, send)
            end associate
        end do
        do stage = grid%q - 1, 0, -1
            associate (cell => grid%cells(grid%stage_cell(axis, stage)))
                if (stage < grid%q - 1) then
                    call receive(self%received, cell%lines(axis)*lines%depth*5, grid, axis, 1)
                    call comm_wait(send)
                    call down(self, cell, lines, axis, stage)
                end if
                if (stage > 0) &
                    call comm_isend(self%sent, cell%lines(axis)*lines%depth*5, &
                                    MPI_DOUBLE_PRECISION, grid%neighbour(axis, -1), axis, &
                                    grid%comm, send)
            end associate
        end do
    end subroutine sweep_all

    subroutine receive(values, count, grid, axis, side)
        real(dp), intent(inout), asynchronous :: values(*)
        integer, intent(in) :: count, axis, side
        type(grid_t), intent(in) :: grid
        integer :: request
        call comm_irecv(values, count, MPI_DOUBLE_PRECISION, grid%neighbour(axis, side), axis, &
                        grid%comm, request)
        call comm_wait(request)
    end subroutine receive

    !> Solves the lines along an axis with second transverse index `b`, on a single process.
    subroutine sweep_alone(self, cell, lines, axis, b)
        class(sweep_t), intent(inout) :: self
        type(cell_t), intent(inout) :: cell
        class(lines_t), intent(inout) :: lines
        integer, intent(in) :: axis, b
        integer :: a
        associate (across => sweep_axes(1, axis))
            do a = cell%lo(across), cell%hi(across), lanes
                call gather_state(cell, axis, a, b, self%u)
                call eliminate_batch(self, cell, lines, axis, a, b, self%stores(0)%values, 0)
                call clear_end(self%x, cell%lo(axis), cell%hi(axis), lines%depth)
                call substitute_batch(self, cell, lines, axis, a, b, self%stores(0)%values)
            end do
        end associate
    end subroutine sweep_alone

    !> Elimination in a cell; at the last stage also the way back.
    subroutine up(self, cell, lines, axis, stage, last)
        class(sweep_t), intent(inout) :: self
        type(cell_t), intent(inout) :: cell
        class(lines_t), intent(inout) :: lines
        integer, intent(in) :: axis, stage, last
        integer(i8) :: kept
        integer :: a, b, width, taken, given

        kept = 1
        taken = 0
        given = 0
        associate (lo => cell%lo(sweep_axes(:, axis)), hi => cell%hi(sweep_axes(:, axis)), &
                   store => self%stores(stage)%values)
            do b = lo(2), hi(2)
                do a = lo(1), hi(1), lanes
                    width = min(lanes, hi(1) - a + 1)
                    call gather_state(cell, axis, a, b, self%u)
                    if (stage > 0) call unpack(self%received, taken, width, &
                                               lines%kept*lines%depth, store(kept))
                    call eliminate_batch(self, cell, lines, axis, a, b, store(kept), stage)
                    if (stage == last) then
                        call clear_end(self%x, cell%lo(axis), cell%hi(axis), lines%depth)
                        call substitute_batch(self, cell, lines, axis, a, b, store(kept), given)
                    else
                        kept = kept + kept_values(cell, axis, lines)
                        call pack(self%sent, given, width, lines%kept*lines%depth, &
                                  store(kept - lanes*lines%kept*lines%depth))
                    end if
                end do
            end do
        end associate
    end subroutine up

    !> Substitution in a cell that is not the last.
    subroutine down(self, cell, lines, axis, stage)
        class(sweep_t), intent(inout) :: self
        type(cell_t), intent(inout) :: cell
        class(lines_t), intent(inout) :: lines
        integer, intent(in) :: axis, stage
        integer(i8) :: kept
        integer :: a, b, taken, given

        kept = 1
        taken = 0
        given = 0
        associate (lo => cell%lo(sweep_axes(:, axis)), hi => cell%hi(sweep_axes(:, axis)), &
                   store => self%stores(stage)%values, x => self%x)
            do b = lo(2), hi(2)
                do a = lo(1), hi(1), lanes
                    if (lines%finish_reads_u(axis)) call gather_state(cell, axis, a, b, self%u)
                    call clear_end(x, cell%lo(axis), cell%hi(axis), lines%depth)
                    call unpack(self%received, taken, min(lanes, hi(1) - a + 1), 5*lines%depth, &
                                x(1 + 5*lanes*(cell%hi(axis) - cell%lo(axis) + 1)))
                    call substitute_batch(self, cell, lines, axis, a, b, store(kept), given)
                    kept = kept + kept_values(cell, axis, lines)
                end do
            end do
        end associate
    end subroutine down

    !> Eliminates in a batch whose u is in its tile.
    subroutine eliminate_batch(self, cell, lines, axis, a, b, kept, stage)
        class(sweep_t), intent(inout) :: self
        type(cell_t), intent(in) :: cell
        class(lines_t), intent(inout) :: lines
        integer, intent(in) :: axis, a, b, stage
        real(dp), intent(inout) :: kept(*)
        integer :: lo, hi, row

        lo = cell%lo(axis)
        hi = cell%hi(axis)
        if (stage == 0) kept(:lanes*lines%kept*lines%depth) = 0
        call gather(cell%rhs, 0, axis, a, b, lo, hi, cell%points(2) - 1, lines%order(axis), self%r)
        row = cell%first(axis)
        call lines%eliminate(axis, row, lo, hi, self%u, self%r, kept)
    end subroutine eliminate_batch

    !> Solves a batch whose elimination is done and puts the result where it belongs. With `given`
    !> the first rows of the solution are packed for the cell before.
    subroutine substitute_batch(self, cell, lines, axis, a, b, kept, given)
        class(sweep_t), intent(inout) :: self
        type(cell_t), intent(inout) :: cell
        class(lines_t), intent(inout) :: lines
        integer, intent(in) :: axis, a, b
        real(dp), intent(in) :: kept(*)
        integer, intent(inout), optional :: given
        integer :: lo, hi, width

        lo = cell%lo(axis)
        hi = cell%hi(axis)
        width = min(lanes, cell%hi(sweep_axes(1, axis)) - a + 1)
        call lines%substitute(lo, hi, kept, self%x)
        if (present(given)) call pack(self%sent, given, width, 5*lines%depth, self%x)
        call lines%finish(axis, lo, hi, self%u, self%x)
        if (axis == 3) then
            call add_z(cell%u, a, b, lo, hi, width, lines%order(axis), self%x)
        else
            call scatter(cell%rhs, axis, a, b, lo, hi, width, lines%order(axis), self%x)
        end if
    end subroutine substitute_batch

    !> Beyond the end of a line the solution is zero.
    pure subroutine clear_end(x, lo, hi, depth)
        integer, intent(in) :: lo, hi, depth
        real(dp), intent(inout) :: x(lanes, 5, lo:hi + depth)
        x(:, :, hi + 1:) = 0
    end subroutine clear_end

    !> `values` of each of `width` lines go to the end of the message, which is at `position`.
    pure subroutine pack(message, position, width, values, tile)
        real(dp), intent(inout) :: message(*)
        integer, intent(inout) :: position
        integer, intent(in) :: width, values
        real(dp), intent(in) :: tile(lanes, values)
        integer :: v
        do v = 1, values
            message(position + 1:position + width) = tile(:width, v)
            position = position + width
        end do
    end subroutine pack

    !> The reverse. Lanes without a line get zeros.
    pure subroutine unpack(message, position, width, values, tile)
        real(dp), intent(in) :: message(*)
        integer, intent(inout) :: position
        integer, intent(in) :: width, values
        real(dp), intent(inout) :: tile(lanes, values)
        integer :: v
        do v = 1, values
            tile(:width, v) = message(position + 1:position + width)
            tile(width + 1:, v) = 0
            position = position + width
        end do
    end subroutine unpack

    !> u with the momentum along the axis as component 2 and the others after it in cyclic order.
    subroutine gather_state(cell, axis, a, b, tile)
        type(cell_t), intent(in) :: cell
        integer, intent(in) :: axis, a, b
        real(dp), intent(inout) :: tile(*)
        integer, parameter :: order(5, 3) = reshape([ &
                              1, 2, 3, 4, 5, 1, 3, 4, 2, 5, 1, 4, 2, 3, 5], [5, 3])
        call gather(cell%u, -ghost, axis, a, b, cell%lo(axis) - 1, cell%hi(axis) + 1, &
                    cell%points(2) + ghost - 1, order(:, axis), tile)
    end subroutine gather_state

    !> Rows lo ... hi of the lines that begin at transverse index `a`. Along x, lanes without a line
    !> repeat the line at `last`; otherwise the arrays have room for them.
    pure subroutine gather(field, low, axis, a, b, lo, hi, last, order, tile)
        integer, intent(in) :: low
        real(dp), intent(in), contiguous :: field(row_first:, :, low:, low:)
        integer, intent(in) :: axis, a, b, lo, hi, last, order(5)
        real(dp), intent(out) :: tile(lanes, 5, lo:hi)
        integer :: row, m, lane
        select case (axis)
        case (1)
            do m = 1, 5
                do lane = 1, lanes
                    tile(lane, m, :) = field(lo:hi, order(m), min(a + lane - 1, last), b)
                end do
            end do
        case (2)
            do row = lo, hi
                do m = 1, 5
                    tile(:, m, row) = field(a:a + lanes - 1, order(m), row, b)
                end do
            end do
        case default
            do row = lo, hi
                do m = 1, 5
                    tile(:, m, row) = field(a:a + lanes - 1, order(m), b, row)
                end do
            end do
        end select
    end subroutine gather

    !> The reverse, for the first `width` lines.
    pure subroutine scatter(field, axis, a, b, lo, hi, width, order, tile)
        real(dp), intent(inout), contiguous :: field(row_first:, :, 0:, 0:)
        integer, intent(in) :: axis, a, b, lo, hi, width, order(5)
        real(dp), intent(in) :: tile(lanes, 5, lo:*)
        integer :: row, m, lane
        if (axis == 1) then
            do lane = 1, width
                do m = 1, 5
                    field(lo:hi, order(m), a + lane - 1, b) = tile(lane, m, lo:hi)
                end do
            end do
        else
            do row = lo, hi
                do m = 1, 5
                    field(a:a + width - 1, order(m), row, b) = tile(:width, m, row)
                end do
            end do
        end if
    end subroutine scatter

    !> The change of u along lines in z.
    pure subroutine add_z(u, a, b, lo, hi, width, order, tile)
        real(dp), intent(inout), contiguous :: u(row_first:, :, -ghost:, -ghost:)
        integer, intent(in) :: a, b, lo, hi, width, order(5)
        real(dp), intent(in) :: tile(lanes, 5, lo:*)
        integer :: row, m
        do row = lo, hi
            do m = 1, 5
                u(a:a + width - 1, order(m), b, row) = &
                    u(a:a + width - 1, order(m), b, row) + tile(:width, m, row)
            end do
        end do
    end subroutine add_z

end module adi_sweep
