!> Where CG's matrix takes its vectors from: every process draws them all.
!>
!> For a simulator of MPI cg_source_shared.f90 stands in its place.
!>
!> Exported: `sparse_vector_t`, `vector_source_t`.
module cg_source

    use cg_vectors, only: sparse_vector_t, vector_source_t

    implicit none(type, external)
    private

    public :: sparse_vector_t, vector_source_t

end module cg_source
