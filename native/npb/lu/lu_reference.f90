!> Published verification values of LU (NAS Parallel Benchmarks 3.4).
module lu_reference

    use lu_problem, only: lu_classes
    use bl_kinds, only: dp
    use bl_verification, only: quantity_t

    implicit none(type, external)
    private

    public :: verify_lu

    real(dp), parameter :: tolerance = 1.0e-8_dp

    !> Root mean squares of the last residual, and of the deviation from the exact solution: a
    !> column for each class, in the order of the classes.
    real(dp), parameter :: residuals(5, len(lu_classes)) = reshape([ &
            1.6196343210976702e-02_dp, 2.1976745164821318e-03_dp, 1.5179927653399185e-03_dp, &
            1.5029584435994323e-03_dp, 3.4264073155896461e-02_dp, &
            0.1236511638192e+02_dp, 0.1317228477799e+01_dp, 0.2550120713095e+01_dp, &
            0.2326187750252e+01_dp, 0.2826799444189e+02_dp, &
            7.7902107606689367e+02_dp, 6.3402765259692870e+01_dp, 1.9499249727292479e+02_dp, &
            1.7845301160418537e+02_dp, 1.8384760349464247e+03_dp, &
            3.5532672969982736e+03_dp, 2.6214750795310692e+02_dp, 8.8333721850952190e+02_dp, &
            7.7812774739425265e+02_dp, 7.3087969592545314e+03_dp, &
            1.03766980323537846e+04_dp, 8.92212458801008552e+02_dp, 2.56238814582660871e+03_dp, &
            2.19194343857831427e+03_dp, 1.78078057261061185e+04_dp, &
            0.4868417937025e+05_dp, 0.4696371050071e+04_dp, 0.1218114549776e+05_dp, &
            0.1033801493461e+05_dp, 0.7142398413817e+05_dp, &
            0.2099641687874e+06_dp, 0.2130403143165e+05_dp, 0.5319228789371e+05_dp, &
            0.4509761639833e+05_dp, 0.2932360006590e+06_dp, &
            0.8505125358152e+06_dp, 0.8774655318044e+05_dp, 0.2167258198851e+06_dp, &
            0.1838245257371e+06_dp, 0.1175556512415e+07_dp], &
            [5, len(lu_classes)])
    real(dp), parameter :: errors(5, len(lu_classes)) = reshape([ &
            6.4223319957960924e-04_dp, 8.4144342047347926e-05_dp, 5.8588269616485186e-05_dp, &
            5.8474222595157350e-05_dp, 1.3103347914111294e-03_dp, &
            0.4867877144216e+00_dp, 0.5064652880982e-01_dp, 0.9281818101960e-01_dp, &
            0.8570126542733e-01_dp, 0.1084277417792e+01_dp, &
            2.9964085685471943e+01_dp, 2.8194576365003349e+00_dp, 7.3473412698774742e+00_dp, &
            6.7139225687777051e+00_dp, 7.0715315688392578e+01_dp, &
            1.1401176380212709e+02_dp, 8.1098963655421574e+00_dp, 2.8480597317698308e+01_dp, &
            2.5905394567832939e+01_dp, 2.6054907504857413e+02_dp, &
            2.15986399716949279e+02_dp, 1.55789559239863600e+01_dp, 5.41318863077207766e+01_dp, &
            4.82262643154045421e+01_dp, 4.55902910043250358e+02_dp, &
            0.3752393004482e+03_dp, 0.3084128893659e+02_dp, 0.9434276905469e+02_dp, &
            0.8230686681928e+02_dp, 0.7002620636210e+03_dp, &
            0.4800572578333e+03_dp, 0.4221993400184e+02_dp, 0.1210851906824e+03_dp, &
            0.1047888986770e+03_dp, 0.8363028257389e+03_dp, &
            0.5293914132486e+03_dp, 0.4784861621068e+02_dp, 0.1337701281659e+03_dp, &
            0.1154215049655e+03_dp, 0.8956266851467e+03_dp], &
            [5, len(lu_classes)])
    !> Surface integrals of the pressure, in the order of the classes.
    real(dp), parameter :: surfaces(len(lu_classes)) = [ &
            7.8418928865937083e+00_dp, 0.1161399311023e+02_dp, &
            2.6030925604886277e+01_dp, 4.7887162703308227e+01_dp, &
            6.66404553572181300e+01_dp, 0.8334101392503e+02_dp, &
            0.9512163272273e+02_dp, 0.1002509436546e+03_dp]

contains

    !> `residual` and `error` are norms of the five components, `surface` is the integral.
    function verify_lu(class_name, residual, error, surface) result(quantities)
        character(1), intent(in) :: class_name
        real(dp), intent(in) :: residual(5), error(5), surface
        type(quantity_t), allocatable :: quantities(:)
        integer :: row, m

        row = index(lu_classes, class_name)
        allocate (quantities(11))
        do m = 1, 5
            quantities(m) = quantity_t(numbered('residual_', m), residual(m), residuals(m, row), &
                                       tolerance)
            quantities(5 + m) = quantity_t(numbered('error_', m), error(m), errors(m, row), &
                                           tolerance)
        end do
        quantities(11) = quantity_t('surface', surface, surfaces(row), tolerance)
    end function verify_lu

    pure function numbered(name, m) result(text)
        character(*), intent(in) :: name
        integer, intent(in) :: m
        character(len(name) + 1) :: text
        text = name//achar(iachar('0') + m)
    end function numbered

end module lu_reference
