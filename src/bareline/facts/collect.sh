# Prints what a node is, as raw sections for the parsers of this folder.
#
# usage: sh -s -- ADDRESS FOLDER <collect.sh
#   ADDRESS  under which the other nodes reach this one: the device that carries it is described
#   FOLDER   in which trials work: its file system is described
#
# POSIX sh with what the smallest Debian has. A program that is missing, or says nothing within
# its time, leaves its section out or empty. A section begins with a line of the ASCII record
# separator and the section's name; the last one is "end".

LC_ALL=C
export LC_ALL
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/lpp/mmfs/bin"
export PATH

section() { printf '\n\036%s\n' "$1"; }
have() { command -v "$1" >/dev/null 2>&1; }

# A dead file server must not hold up the rest.
limited() {
    if have timeout; then timeout 5 "$@" 2>/dev/null; else "$@" 2>/dev/null; fi
}

# output NAME COMMAND...: what a command prints, if it is there.
output() {
    name=$1
    shift
    have "$1" || return 0
    section "$name"
    limited "$@"
}

# files NAME PATH...: lines "path:content" of small files, in one process.
files() {
    section "$1"
    shift
    grep -sH '' "$@"
}

processor() {
    section cpuinfo
    cat /proc/cpuinfo
    output lscpu lscpu
    files topology \
        /sys/devices/system/cpu/cpu[0-9]*/topology/core_id \
        /sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id
    files cpu \
        /sys/devices/system/cpu/online \
        /sys/devices/system/cpu/smt/active \
        /sys/devices/system/cpu/cpu0/cache/index*/level \
        /sys/devices/system/cpu/cpu0/cache/index*/type \
        /sys/devices/system/cpu/cpu0/cache/index*/size \
        /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor \
        /sys/devices/system/cpu/cpu0/cpufreq/scaling_driver \
        /sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq \
        /sys/devices/system/cpu/cpu0/cpufreq/base_frequency \
        /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq \
        /sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq \
        /proc/sys/abi/sve_default_vector_length \
        /sys/devices/system/cpu/cpu0/microcode/version \
        /sys/devices/system/cpu/intel_pstate/no_turbo \
        /sys/devices/system/cpu/cpufreq/boost \
        /sys/devices/system/cpu/cpuidle/current_driver \
        /sys/devices/system/node/online
    section device-tree
    for clock in /proc/device-tree/cpus/cpu@*/clock-frequency; do
        [ ! -r "$clock" ] || ! have od || printf '%s:%s\n' "$clock" "$(od -A n -v -t u1 "$clock" | tr '\n' ' ')"
    done
    [ "$(id -u)" = 0 ] && [ "$(uname -m)" = aarch64 ] && output dmi-processor dmidecode -t 4
    section allowed
    grep -s '^Cpus_allowed_list' /proc/self/status
    cat /sys/fs/cgroup/cpu.max 2>/dev/null
}

memory() {
    section meminfo
    cat /proc/meminfo
    files vm \
        /sys/kernel/mm/transparent_hugepage/enabled \
        /proc/sys/vm/swappiness \
        /proc/sys/vm/overcommit_memory \
        /proc/sys/kernel/numa_balancing
    [ "$(id -u)" = 0 ] && output dmidecode dmidecode -t 17
}

system() {
    section uname
    uname -s
    uname -r
    uname -m
    uname -n
    files os-release /etc/os-release
    files clock \
        /sys/devices/system/clocksource/clocksource0/current_clocksource \
        /sys/devices/system/clocksource/clocksource0/available_clocksource
    files cmdline /proc/cmdline
    files vulnerabilities /sys/devices/system/cpu/vulnerabilities/*
    files load /proc/loadavg /proc/uptime
    section stat
    head -n 1 /proc/stat
    section limits
    printf 'locked %s\nstack %s\nfiles %s\n' \
        "$(ulimit -l 2>/dev/null)" "$(ulimit -s 2>/dev/null)" "$(ulimit -n 2>/dev/null)"
    files machine \
        /sys/hypervisor/type \
        /sys/class/dmi/id/sys_vendor \
        /sys/class/dmi/id/product_name \
        /sys/class/dmi/id/board_name \
        /sys/class/dmi/id/bios_version
    output virt-vm systemd-detect-virt --vm
    output virt-container systemd-detect-virt --container
    section container
    ls -d /.dockerenv /run/.containerenv /run/systemd/container 2>/dev/null
}

# The device that carries the node's address, else that of the default route.
find_device() {
    address=$1
    case $address in
    *[!0-9a-fA-F:.]*) named=yes ;;
    *[:.]*) named= ;;
    *) named=yes ;;
    esac
    if [ "$named" ] && have getent; then
        address=$(limited getent ahostsv4 "$address" | head -n 1 | cut -d ' ' -f 1)
    fi
    device=
    chosen=
    if have ip && [ -n "$address" ]; then
        device=$(ip -o addr show to "$address" 2>/dev/null | head -n 1 | tr -s ' ' | cut -d ' ' -f 2)
        chosen=address
    fi
    if [ -z "$device" ]; then
        device=$(grep -s '	00000000	' /proc/net/route | head -n 1 | cut -f 1)
        chosen=route
    fi
    device=${device%@*}
}

# Inside a network namespace /sys may show the devices of another one, even under the same name:
# the hardware address tells.
in_sysfs() {
    mac=$(cat "/sys/class/net/$1/address" 2>/dev/null)
    [ -n "$mac" ] || return 1
    ! have ip || ip -o link show dev "$1" 2>/dev/null | grep -q " $mac "
}

network() {
    find_device "$1"
    section device
    printf '%s %s %s\n' "$device" "$chosen" "$address"
    if [ -n "$device" ]; then
        output iplink ip -o link show dev "$device"
        if in_sysfs "$device"; then
            base=/sys/class/net/$device
            files net "$base/mtu" "$base/speed" "$base/tx_queue_len" "$base/uevent" \
                "$base/device/vendor" "$base/device/device" "$base/device/sriov_numvfs" \
                "$base/device/sriov_totalvfs"
            section netlinks
            ls -ld "$base/device/driver" "$base/device/physfn" 2>/dev/null
            ls -d "$base"/queues/* 2>/dev/null
        fi
        output ethtool-i ethtool -i "$device"
        output ethtool-k ethtool -k "$device"
        output ethtool-c ethtool -c "$device"
        output ethtool-g ethtool -g "$device"
        output qdisc tc qdisc show dev "$device"
        output class tc class show dev "$device"
    fi
    files sysctl \
        /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_wmem \
        /proc/sys/net/ipv4/tcp_congestion_control /proc/sys/net/ipv4/tcp_mtu_probing \
        /proc/sys/net/ipv4/tcp_window_scaling /proc/sys/net/ipv4/tcp_timestamps \
        /proc/sys/net/ipv4/tcp_sack /proc/sys/net/ipv4/tcp_slow_start_after_idle \
        /proc/sys/net/ipv4/tcp_moderate_rcvbuf /proc/sys/net/ipv4/tcp_no_metrics_save \
        /proc/sys/net/ipv4/tcp_ecn /proc/sys/net/ipv4/tcp_autocorking \
        /proc/sys/net/core/rmem_max /proc/sys/net/core/wmem_max \
        /proc/sys/net/core/rmem_default /proc/sys/net/core/wmem_default \
        /proc/sys/net/core/netdev_max_backlog /proc/sys/net/core/default_qdisc \
        /proc/sys/net/core/busy_poll /proc/sys/net/core/busy_read
    files infiniband \
        /sys/class/infiniband/*/ports/*/rate /sys/class/infiniband/*/ports/*/state \
        /sys/class/infiniband/*/ports/*/link_layer /sys/class/infiniband/*/fw_ver \
        /sys/class/infiniband/*/hca_type
}

storage() {
    folder=$1
    while [ -n "$folder" ] && [ "$folder" != / ] && [ ! -d "$folder" ]; do
        folder=$(dirname "$folder")
    done
    section folder
    (cd "$folder" 2>/dev/null && pwd -P)
    output df df -PTk -- "$folder"
    output statfs stat -f -c '%S' -- "$folder"
    # What stripes files over servers says how, each in its own way.
    case $(stat -f -c '%T' -- "$folder" 2>/dev/null) in
    lustre) output striping lfs getstripe -d "$folder" ;;
    gpfs) output striping mmlsattr -L "$folder" ;;
    fhgfs | beegfs)
        output striping beegfs-ctl --getentryinfo "$folder"
        have beegfs-ctl || output striping beegfs entry info --retro "$folder"
        ;;
    esac
    section mountinfo
    cat /proc/self/mountinfo
    section blocks
    ls -l /sys/dev/block 2>/dev/null
    files disks /sys/block/[!lz]*/device/model /sys/block/[!lz]*/queue/rotational \
        /sys/block/[!lz]*/queue/scheduler
}

software() {
    output version.mpirun mpirun --version
    for program in gcc gfortran clang icx ifx icc ifort nvc nvfortran; do
        output "version.$program" "$program" --version | head -n 4
    done
    section libraries
    if have dpkg-query; then
        limited dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' \
            'libopenblas0*' libfftw3-double3 'libscalapack-*' libucx0 libfabric1 libc6
    elif have rpm; then
        limited rpm -q --qf 'installed %{NAME} %{VERSION}\n' \
            openblas fftw-libs-double scalapack-openmpi ucx libfabric glibc
    fi
    if [ -n "$MKLROOT" ]; then printf 'installed mkl %s\n' "${MKLROOT##*/}"; fi
    section ofed
    limited cat /sys/module/mlx5_core/version /sys/module/mlx4_core/version
}

# One function, so that no program reads the rest of this script as its input.
collect() {
    processor
    memory
    system
    network "$1"
    storage "$2"
    software
    section end
}

collect "$1" "$2" </dev/null
