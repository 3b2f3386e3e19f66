!> Published verification values of SP (NAS Parallel Benchmarks 3.4).
module sp_reference

    use adi_problem, only: adi_classes, adi_reference_t
    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: find_sp_reference

    !> Root mean squares of each component, in the order of the classes: of the residual,
    real(dp), parameter :: residuals(5, len(adi_classes)) = reshape([ &
            2.7470315451339479e-02_dp, 1.0360746705285417e-02_dp, 1.6235745065095532e-02_dp, &
            1.5840557224455615e-02_dp, 3.4849040609362460e-02_dp, &
            0.1893253733584e-02_dp, 0.1717075447775e-03_dp, 0.2778153350936e-03_dp, &
            0.2887475409984e-03_dp, 0.3143611161242e-02_dp, &
            2.4799822399300195e00_dp, 1.1276337964368832e00_dp, 1.5028977888770491e00_dp, &
            1.4217816211695179e00_dp, 2.1292113035138280e00_dp, &
            0.6903293579998e+02_dp, 0.3095134488084e+02_dp, 0.4103336647017e+02_dp, &
            0.3864769009604e+02_dp, 0.5643482272596e+02_dp, &
            0.5881691581829e+03_dp, 0.2454417603569e+03_dp, 0.3293829191851e+03_dp, &
            0.3081924971891e+03_dp, 0.4597223799176e+03_dp, &
            0.1044696216887e+05_dp, 0.3204427762578e+04_dp, 0.4648680733032e+04_dp, &
            0.4238923283697e+04_dp, 0.7588412036136e+04_dp, &
            0.6255387422609e+05_dp, 0.1495317020012e+05_dp, 0.2347595750586e+05_dp, &
            0.2091099783534e+05_dp, 0.4770412841218e+05_dp, &
            0.9281628449462e+05_dp, 0.2230152287675e+05_dp, 0.3493102358632e+05_dp, &
            0.3114096186689e+05_dp, 0.7424426448298e+05_dp], [5, len(adi_classes)])

    !> and of the error.
    real(dp), parameter :: errors(5, len(adi_classes)) = reshape([ &
            2.7289258557377227e-05_dp, 1.0364446640837285e-05_dp, 1.6154798287166471e-05_dp, &
            1.5750704994480102e-05_dp, 3.4177666183390531e-05_dp, &
            0.7542088599534e-04_dp, 0.6512852253086e-05_dp, 0.1049092285688e-04_dp, &
            0.1128838671535e-04_dp, 0.1212845639773e-03_dp, &
            1.0900140297820550e-04_dp, 3.7343951769282091e-05_dp, 5.0092785406541633e-05_dp, &
            4.7671093939528255e-05_dp, 1.3621613399213001e-04_dp, &
            0.9810006190188e-02_dp, 0.1022827905670e-02_dp, 0.1720597911692e-02_dp, &
            0.1694479428231e-02_dp, 0.1847456263981e-01_dp, &
            0.2598120500183e+00_dp, 0.2590888922315e-01_dp, 0.5132886416320e-01_dp, &
            0.4806073419454e-01_dp, 0.5483377491301e+00_dp, &
            0.5089471423669e+01_dp, 0.5323514855894e+00_dp, 0.1187051008971e+01_dp, &
            0.1083734951938e+01_dp, 0.1164108338568e+02_dp, &
            0.6742735164909e+02_dp, 0.5390656036938e+01_dp, 0.1680647196477e+02_dp, &
            0.1536963126457e+02_dp, 0.1575330146156e+03_dp, &
            0.2683717702444e+03_dp, 0.2030647554028e+02_dp, 0.6734864248234e+02_dp, &
            0.5947451301640e+02_dp, 0.5417636652565e+03_dp], [5, len(adi_classes)])

contains

    pure type(adi_reference_t) function find_sp_reference(class_name) result(reference)
        character(1), intent(in) :: class_name
        integer :: row
        row = index(adi_classes, class_name)
        reference = adi_reference_t(residuals(:, row), errors(:, row))
    end function find_sp_reference

end module sp_reference
