!> What passes between a level and the next coarser one within a brick.
!>
!> Fields of one brick are (m, m, 5, m), m cells along an edge on the coarser level, 2 m on the
!> finer. Nothing is collective.
module cartesian_transfer

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: restrict_brick, prolong_brick

contains

    !> A coarse cell gets the mean of its eight, by their volumes, and the sum of their residuals,
    !> in units of its own faces, which are four times as large. Without any volume it gets the
    !> plain mean.
    pure subroutine restrict_brick(m, volume, x, r, coarse_x, coarse_r)
        integer, intent(in) :: m
        real(dp), intent(in) :: volume(2*m, 2*m, 2*m)
        real(dp), intent(in), dimension(2*m, 2*m, 5, 2*m) :: x, r
        real(dp), intent(inout), dimension(m, m, 5, m) :: coarse_x, coarse_r
        real(dp) :: total
        integer :: i, j, k, l, y, z

        do k = 1, m
            z = 2*k - 1
            do l = 1, 5
                do j = 1, m
                    y = 2*j - 1
                    do i = 1, m
                        total = sum(volume(2*i - 1:2*i, y:y + 1, z:z + 1))
                        if (total > 0) then
                            coarse_x(i, j, l, k) = &
                                sum(volume(2*i - 1:2*i, y:y + 1, z:z + 1) &
                                    *x(2*i - 1:2*i, y:y + 1, l, z:z + 1))/total
                        else
                            coarse_x(i, j, l, k) = sum(x(2*i - 1:2*i, y:y + 1, l, z:z + 1))/8
                        end if
                        coarse_r(i, j, l, k) = sum(r(2*i - 1:2*i, y:y + 1, l, z:z + 1))/4
                    end do
                end do
            end do
        end do
    end subroutine restrict_brick

    !> Adds to the eight cells, as far as they have volume, what a coarse cell has changed.
    pure subroutine prolong_brick(m, volume, coarse_x, restricted, x)
        integer, intent(in) :: m
        real(dp), intent(in) :: volume(2*m, 2*m, 2*m)
        real(dp), intent(in), dimension(m, m, 5, m) :: coarse_x, restricted
        real(dp), intent(inout) :: x(2*m, 2*m, 5, 2*m)
        real(dp) :: change(2*m)
        integer :: j, k, l, y, z

        do k = 1, m
            do l = 1, 5
                do j = 1, m
                    change(1::2) = coarse_x(:, j, l, k) - restricted(:, j, l, k)
                    change(2::2) = change(1::2)
                    do z = 2*k - 1, 2*k
                        do y = 2*j - 1, 2*j
                            where (volume(:, y, z) > 0) x(:, y, l, z) = x(:, y, l, z) + change
                        end do
                    end do
                end do
            end do
        end do
    end subroutine prolong_brick

end module cartesian_transfer
