!> The procedures of BLAS and LAPACK that the bands need.
module planewave_lapack

    use, intrinsic :: iso_c_binding, only: c_char, c_int
    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: zgemm, zheevd, zpotrf, ztrsm, dstev, bl_single_thread, bl_blas_names

    interface

        subroutine zgemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
            import :: dp
            character(1), intent(in) :: transa, transb
            integer, intent(in) :: m, n, k, lda, ldb, ldc
            complex(dp), intent(in) :: alpha, beta, a(lda, *), b(ldb, *)
            complex(dp), intent(inout) :: c(ldc, *)
        end subroutine zgemm

        subroutine zheevd(jobz, uplo, n, a, lda, w, work, lwork, rwork, lrwork, iwork, liwork, info)
            import :: dp
            character(1), intent(in) :: jobz, uplo
            integer, intent(in) :: n, lda, lwork, lrwork, liwork
            complex(dp), intent(inout) :: a(lda, *), work(*)
            real(dp), intent(inout) :: w(*), rwork(*)
            integer, intent(inout) :: iwork(*)
            integer, intent(out) :: info
        end subroutine zheevd

        subroutine zpotrf(uplo, n, a, lda, info)
            import :: dp
            character(1), intent(in) :: uplo
            integer, intent(in) :: n, lda
            complex(dp), intent(inout) :: a(lda, *)
            integer, intent(out) :: info
        end subroutine zpotrf

        subroutine ztrsm(side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb)
            import :: dp
            character(1), intent(in) :: side, uplo, transa, diag
            integer, intent(in) :: m, n, lda, ldb
            complex(dp), intent(in) :: alpha, a(lda, *)
            complex(dp), intent(inout) :: b(ldb, *)
        end subroutine ztrsm

        subroutine dstev(jobz, n, d, e, z, ldz, work, info)
            import :: dp
            character(1), intent(in) :: jobz
            integer, intent(in) :: n, ldz
            real(dp), intent(inout) :: d(*), e(*), z(ldz, *), work(*)
            integer, intent(out) :: info
        end subroutine dstev

        !> Keeps the BLAS from starting threads.
        subroutine bl_single_thread() bind(C)
        end subroutine bl_single_thread

        !> What the BLAS calls itself, and whose kernels it runs; blank where it does not tell.
        subroutine bl_blas_names(library, kernels, capacity) bind(C)
            import :: c_char, c_int
            integer(c_int), value :: capacity
            character(kind=c_char), intent(out) :: library(capacity), kernels(capacity)
        end subroutine bl_blas_names

    end interface

end module planewave_lapack
