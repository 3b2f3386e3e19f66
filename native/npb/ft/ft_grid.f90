!> How FT's box is cut among the processes, and where its pieces lie in memory.
!>
!> P = columns rows; `columns` = 1 while P <= nz (slabs), else nz (pencils). Three layouts, each
!> with one direction whole on a process:
!>
!>     x  (x; y/columns; z/rows)      y  (y; x/columns; z/rows)      z  (z; x/columns; y/rows)
!>
!> Between x and y the processes of one row exchange, between y and z those of one column. With
!> one column, x and y are whole at once and only the second exchange remains.
!>
!> Numbers are stored by lines in x: so many real, then as many imaginary parts; a line of a
!> piece is 2 nx/columns doubles. Messages between y and z hold (line; z of the row's part; y), cut
!> by y for the way to z and by z for the way back:
!>
!>     (2 nx/columns, nz/rows, ny/rows, rows)
!>
!> and those between x and y (2 nx/columns, ny/columns, nz/rows, columns). The tables of offsets
!> tell the place of each y or z in them.
!>
!> Collective over the job: `new_grid`.
module ft_grid

    use bl_kinds, only: i8
    use bl_messages, only: comm_split

    implicit none(type, external)
    private

    public :: ft_grid_t, new_grid, process_columns

    type :: ft_grid_t
        !> Points of the whole box.
        integer :: n(3) = 0
        integer :: columns = 1, rows = 1
        integer :: column = 0, row = 0
        !> The processes of this one's row, and of its column.
        integer :: row_comm = 0, column_comm = 0
        !> Points of a part: of x in layouts y and z, of y in x and in z, of z in x and y.
        integer :: nx_part = 0, ny_part_x = 0, ny_part_z = 0, nz_part = 0
        !> Doubles of a line in x of a piece.
        integer(i8) :: line = 0
        !> Places of y and z in a message between layouts y and z, without the place of the line.
        integer(i8), allocatable :: y_offset(:), z_offset(:)
        !> Places of y in a message between layouts x and y.
        integer(i8), allocatable :: y_offset_x(:)
    contains
        procedure :: size_local
    end type ft_grid_t

contains

    !> Columns of the grid of so many processes, a power of two.
    pure integer function process_columns(n, ranks) result(columns)
        integer, intent(in) :: n(3), ranks
        columns = merge(n(3), 1, ranks > n(3))
    end function process_columns

    type(ft_grid_t) function new_grid(comm, rank, ranks, n) result(grid)
        integer, intent(in) :: comm, rank, ranks, n(3)
        integer(i8) :: y, z

        grid%n = n
        grid%columns = process_columns(n, ranks)
        grid%rows = ranks/grid%columns
        grid%column = mod(rank, grid%columns)
        grid%row = rank/grid%columns
        grid%row_comm = comm_split(comm, grid%row, grid%column)
        grid%column_comm = comm_split(comm, grid%column, grid%row)
        grid%nx_part = n(1)/grid%columns
        grid%ny_part_x = n(2)/grid%columns
        grid%ny_part_z = n(2)/grid%rows
        grid%nz_part = n(3)/grid%rows
        grid%line = 2*grid%nx_part

        allocate (grid%y_offset(0:n(2) - 1), grid%y_offset_x(0:n(2) - 1))
        allocate (grid%z_offset(0:n(3) - 1))
        do y = 0, n(2) - 1
            grid%y_offset(y) = y*grid%nz_part*grid%line
            grid%y_offset_x(y) = grid%line*(mod(y, int(grid%ny_part_x, i8)) &
                                            + y/grid%ny_part_x*grid%ny_part_x*grid%nz_part)
        end do
        do z = 0, n(3) - 1
            grid%z_offset(z) = grid%line*(mod(z, int(grid%nz_part, i8)) &
                                          + z/grid%nz_part*grid%nz_part*grid%ny_part_z)
        end do
    end function new_grid

    !> Doubles of this process's part of the box.
    pure integer(i8) function size_local(self)
        class(ft_grid_t), intent(in) :: self
        size_local = self%line*self%n(2)*self%nz_part
    end function size_local

end module ft_grid
