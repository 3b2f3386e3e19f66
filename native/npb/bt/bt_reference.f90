!> Published verification values of BT (NAS Parallel Benchmarks 3.4).
module bt_reference

    use adi_problem, only: adi_classes, adi_reference_t
    use bl_kinds, only: dp

    implicit none(type, external)
    private

    public :: find_bt_reference

    !> Root mean squares of each component, in the order of the classes: of the residual,
    real(dp), parameter :: residuals(5, len(adi_classes)) = reshape([ &
            1.7034283709541311e-01_dp, 1.2975252070034097e-02_dp, 3.2527926989486055e-02_dp, &
            2.6436421275166801e-02_dp, 1.9211784131744430e-01_dp, &
            0.1125590409344e+03_dp, 0.1180007595731e+02_dp, 0.2710329767846e+02_dp, &
            0.2469174937669e+02_dp, 0.2638427874317e+03_dp, &
            1.0806346714637264e+02_dp, 1.1319730901220813e+01_dp, 2.5974354511582465e+01_dp, &
            2.3665622544678910e+01_dp, 2.5278963211748344e+02_dp, &
            1.4233597229287254e+03_dp, 9.9330522590150238e+01_dp, 3.5646025644535285e+02_dp, &
            3.2485447959084092e+02_dp, 3.2707541254659363e+03_dp, &
            0.62398116551764615e+04_dp, 0.50793239190423964e+03_dp, 0.15423530093013596e+04_dp, &
            0.13302387929291190e+04_dp, 0.11604087428436455e+05_dp, &
            0.2533188551738e+05_dp, 0.2346393716980e+04_dp, 0.6294554366904e+04_dp, &
            0.5352565376030e+04_dp, 0.3905864038618e+05_dp, &
            0.9795372484517e+05_dp, 0.9739814511521e+04_dp, 0.2467606342965e+05_dp, &
            0.2092419572860e+05_dp, 0.1392138856939e+06_dp, &
            0.4240735175585e+06_dp, 0.4348701133212e+05_dp, 0.1078114688845e+06_dp, &
            0.9142160938556e+05_dp, 0.5879842143431e+06_dp], [5, len(adi_classes)])

    !> and of the error.
    real(dp), parameter :: errors(5, len(adi_classes)) = reshape([ &
            4.9976913345811579e-04_dp, 4.5195666782961927e-05_dp, 7.3973765172921357e-05_dp, &
            7.3821238632439731e-05_dp, 8.9269630987491446e-04_dp, &
            0.4419655736008e+01_dp, 0.4638531260002e+00_dp, 0.1011551749967e+01_dp, &
            0.9235878729944e+00_dp, 0.1018045837718e+02_dp, &
            4.2348416040525025e+00_dp, 4.4390282496995698e-01_dp, 9.6692480136345650e-01_dp, &
            8.8302063039765474e-01_dp, 9.7379901770829278e+00_dp, &
            5.2969847140936856e+01_dp, 4.4632896115670668e+00_dp, 1.3122573342210174e+01_dp, &
            1.2006925323559144e+01_dp, 1.2459576151035986e+02_dp, &
            0.16462008369091265e+03_dp, 0.11497107903824313e+02_dp, 0.41207446207461508e+02_dp, &
            0.37087651059694167e+02_dp, 0.36211053051841265e+03_dp, &
            0.3100009377557e+03_dp, 0.2424086324913e+02_dp, 0.7782212022645e+02_dp, &
            0.6835623860116e+02_dp, 0.6065737200368e+03_dp, &
            0.4327562208414e+03_dp, 0.3699051964887e+02_dp, 0.1089845040954e+03_dp, &
            0.9462517622043e+02_dp, 0.7765512765309e+03_dp, &
            0.5095577042351e+03_dp, 0.4557065541652e+02_dp, 0.1286632140581e+03_dp, &
            0.1111419378722e+03_dp, 0.8720011709356e+03_dp], [5, len(adi_classes)])

contains

    pure type(adi_reference_t) function find_bt_reference(class_name) result(reference)
        character(1), intent(in) :: class_name
        integer :: row
        row = index(adi_classes, class_name)
        reference = adi_reference_t(residuals(:, row), errors(:, row))
    end function find_bt_reference

end module bt_reference
