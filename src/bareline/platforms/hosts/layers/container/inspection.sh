# Prints what a program sees of the system around it, once outside and once inside a container.
#
# usage: sh -s -- LAUNCHER... <look.sh
#   LAUNCHER  names of an MPI library's launcher, the surest one first
for kind in cgroup ipc mnt net pid time user uts; do
    printf 'ns.%s %s\n' "$kind" "$(readlink "/proc/self/ns/$kind" 2>/dev/null)"
done
grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status 2>/dev/null | tr -d ':'
printf 'uid %s\n' "$(id -u)"
printf 'kernel %s\n' "$(uname -r)"
printf 'os %s\n' "$(sed -n 's/^PRETTY_NAME="*\([^"]*\)"*$/\1/p' /etc/os-release 2>/dev/null)"
printf 'libc %s\n' "$(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1)"
group=$(sed -n 's/^0:://p' /proc/self/cgroup 2>/dev/null)
for limit in cpu.max memory.max pids.max; do
    printf 'cgroup.%s %s\n' "$limit" "$(cat "/sys/fs/cgroup$group/$limit" 2>/dev/null)"
done
for library in /lib/*/libpmix.so.2 /usr/lib/*/libpmix.so.2 /usr/lib64/libpmix.so.2 \
    /usr/lib/*/pmix*/lib/libpmix.so.2; do
    [ -e "$library" ] && printf 'pmix %s\n' "$(basename "$(readlink -f "$library")")" && break
done
for launcher in "$@"; do
    if command -v "$launcher" >/dev/null 2>&1; then
        said=$("$launcher" --version 2>&1 </dev/null | head -n 8 | tr '\n' ' ')
        printf 'mpi %s\n' "$said"
    fi
done
