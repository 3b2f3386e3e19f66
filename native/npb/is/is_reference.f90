!> Published verification values of IS (NAS Parallel Benchmarks 3.4): five probe keys, whose ranks
!> are known in every iteration.
module is_reference

    use is_problem, only: is_classes, is_iterations
    use bl_kinds, only: dp, i8
    use bl_verification, only: quantity_t

    implicit none(type, external)
    private

    public :: probes, probe_indices, expected_ranks, verify_is

    integer, parameter :: probes = 5
    integer, parameter :: classes = len(is_classes)

    !> Global positions of the probe keys, counted from 0; a column for each class.
    integer(i8), parameter :: indices(probes, classes) = reshape([ &
        48427_i8, 17148_i8, 23627_i8, 62548_i8, 4431_i8, &
        357773_i8, 934767_i8, 875723_i8, 898999_i8, 404505_i8, &
        2112377_i8, 662041_i8, 5336171_i8, 3642833_i8, 4250760_i8, &
        41869_i8, 812306_i8, 5102857_i8, 18232239_i8, 26860214_i8, &
        44172927_i8, 72999161_i8, 74326391_i8, 129606274_i8, 21736814_i8, &
        1317351170_i8, 995930646_i8, 1157283250_i8, 1503301535_i8, 1453734525_i8, &
        21492309536_i8, 24606226181_i8, 12608530949_i8, 4065943607_i8, 3324513396_i8], &
        [probes, classes])

    !> The rank in iteration `it` is ranks + signs (it + offsets).
    integer(i8), parameter :: ranks(probes, classes) = reshape([ &
        0_i8, 18_i8, 346_i8, 64917_i8, 65463_i8, &
        1249_i8, 11698_i8, 1039987_i8, 1043896_i8, 1048018_i8, &
        104_i8, 17523_i8, 123928_i8, 8288932_i8, 8388264_i8, &
        33422937_i8, 10244_i8, 59149_i8, 33135281_i8, 99_i8, &
        61147_i8, 882988_i8, 266290_i8, 133997595_i8, 133525895_i8, &
        1_i8, 36538729_i8, 1978098519_i8, 2145192618_i8, 2147425337_i8, &
        3_i8, 27580354_i8, 3248475153_i8, 30048754302_i8, 31485259697_i8], &
        [probes, classes])

    integer, parameter :: signs(probes, classes) = reshape([ &
        1, 1, 1, -1, -1, &
        1, 1, -1, -1, -1, &
        1, 1, 1, -1, -1, &
        -1, 1, 1, -1, 1, &
        1, 1, 1, -1, -1, &
        1, 1, -1, -1, -1, &
        1, 1, 1, -1, -1], [probes, classes])

    integer, parameter :: offsets(probes, classes) = reshape([ &
        0, 0, 0, 0, 0, &
        -2, -2, 0, 0, 0, &
        -1, -1, -1, -1, -1, &
        0, 0, 0, 0, 0, &
        0, 0, 0, 0, 0, &
        0, 0, 0, 0, 0, &
        -2, -2, -2, -2, -2], [probes, classes])

contains

    pure function probe_indices(class_name)
        character(1), intent(in) :: class_name
        integer(i8) :: probe_indices(probes)
        probe_indices = indices(:, index(is_classes, class_name))
    end function probe_indices

    !> Ranks of the probe keys in iteration 1 ... 10.
    pure function expected_ranks(class_name, iteration) result(expected)
        character(1), intent(in) :: class_name
        integer, intent(in) :: iteration
        integer(i8) :: expected(probes)
        integer :: column
        column = index(is_classes, class_name)
        expected = ranks(:, column) + signs(:, column)*(iteration + offsets(:, column))
        ! The one probe among whose smaller keys changed ones come and go.
        if (class_name == 'E') then
            if (iteration >= 3 .and. iteration <= 4) expected(3) = expected(3) - 1
            if (iteration >= 5) expected(3) = expected(3) - 2
        end if
    end function expected_ranks

    !> `right_ranks` is the number of right probe ranks in all iterations, `sorted_processes` that
    !> of the processes whose keys came out in order.
    pure function verify_is(right_ranks, sorted_processes, processes) result(quantities)
        integer(i8), intent(in) :: right_ranks, sorted_processes
        integer, intent(in) :: processes
        type(quantity_t), allocatable :: quantities(:)
        quantities = [quantity_t('probe_ranks', real(right_ranks, dp), &
                                 real(probes*is_iterations, dp), 0.0_dp), &
                      quantity_t('sorted_processes', real(sorted_processes, dp), &
                                 real(processes, dp), 0.0_dp)]
    end function verify_is

end module is_reference
