!> Weights by which a linear function is found at a node from its values at points around.
module unstructured_stencil

    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: node_weights

contains

    !> Weights w of points(3, many) so that sum w q is the value at `node` of the linear function that
    !> is nearest to the values q, in least squares: the first row of the inverse of the normal
    !> equations times (1, d), d the distances from the node. The sum of the weights is 1.
    pure function node_weights(points, node) result(weights)
        real(dp), intent(in) :: points(:, :), node(3)
        real(dp) :: weights(size(points, 2)), a(4, 5), row(4), length
        integer :: i, j, k

        length = maxval(norm2(points - spread(node, 2, size(points, 2)), 1))
        a = 0
        do k = 1, size(points, 2)
            row = [1.0_dp, (points(:, k) - node)/length]
            do j = 1, 4
                a(:, j) = a(:, j) + row*row(j)
            end do
        end do
        a(1, 5) = 1
        ! Symmetric and positive definite: needs no pivots.
        do k = 1, 4
            a(k, k + 1:) = a(k, k + 1:)/a(k, k)
            do i = k + 1, 4
                a(i, k + 1:) = a(i, k + 1:) - a(i, k)*a(k, k + 1:)
            end do
        end do
        do k = 3, 1, -1
            a(k, 5) = a(k, 5) - dot_product(a(k, k + 1:4), a(k + 1:4, 5))
        end do
        do k = 1, size(points, 2)
            row = [1.0_dp, (points(:, k) - node)/length]
            weights(k) = dot_product(a(:, 5), row)
        end do
    end function node_weights

end module unstructured_stencil
