#!/usr/bin/env bash
# usage: scripts/clean_root.sh [--share FOLDER] [--keep] SUITE COMMAND...
#        scripts/clean_root.sh --enter ROOT COMMAND...
#
# Run COMMAND as a newcomer would: as root, in a clone of the committed state of this repository, on a
# Debian that has nothing but ca-certificates, git, make, sudo, python3 and python3-venv.
#
#   scripts/clean_root.sh bookworm make test
#   scripts/clean_root.sh trixie bash            # look around
#
# SUITE is bookworm (Debian 12) or trixie (Debian 13). The packages come from this machine's own
# package sources, with SUITE in the place of its own release. Package manager, pip, proxies and
# additional certificates are configured there as they are here. The clone is in /root/bareline, where
# only root can read it. The exit code is that of COMMAND, and 2 where the root could not be made.
#
#   --share FOLDER  a folder of this machine that COMMAND finds as /mnt, to bring results out
#   --keep          leave the root, and print its folder, for --enter
#   --enter ROOT    run COMMAND in the clone of a root that was kept, as it is now
#
# The root is a folder below TMPDIR (/var/tmp where that is not set), has 350 MB before COMMAND, and is
# removed at the end and on Ctrl-C. COMMAND has mount and process namespaces of its own: with it end
# all its processes and mounts. It uses this machine's network and devices.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
suites="bookworm trixie"
packages=ca-certificates,git,make,sudo,python3,python3-venv
clone=/root/bareline
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { printf 'clean root: %s\n' "$*" >&2; }

refuse() { # with exit code 2, as for every usage error: what, where, and the next step
    say "$*"
    exit 2
}

usage() { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; }

share='' keep='' root='' suite=''
while :; do
    case ${1:-} in
    -h | --help) usage && exit ;;
    --keep) keep=yes && shift ;;
    --share)
        share=$(realpath -e -- "${2:?--share needs a folder}") || exit 2
        [ -d "$share" ] || refuse "--share: $share is not a folder"
        shift 2
        ;;
    --enter)
        keep=yes
        root=$(realpath -e -- "${2:?--enter needs a folder}") || exit 2
        [ -d "$root$clone" ] || refuse "--enter: $root has no $clone; make one: $0 --keep SUITE true"
        shift 2
        ;;
    -*) refuse "no option is called $1; see $0 --help" ;;
    *) break ;;
    esac
done
if [ -z "$root" ]; then
    suite=${1:-}
    [ -n "$suite" ] || refuse "no SUITE given, one of: $suites; see $0 --help"
    grep -qw -- "$suite" <<<"$suites" || refuse "'$suite' is not a suite; one of: $suites"
    shift
fi
[ $# -gt 0 ] || refuse "no COMMAND given, for example: $0 ${suite:---enter $root} make test"
[ "$(id -u)" -eq 0 ] || refuse "only root can make mounts and install packages: sudo $0 $suite $*"

needs() { # PROGRAM PACKAGE
    command -v "$1" >/dev/null || refuse "$1 is not installed: apt-get install $2"
}

package_lines() { # this machine's sources of Debian for the suite; none on another distribution
    # shellcheck disable=SC1091
    local codename uri release component
    codename=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") || return 0
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        while read -r uri release component; do
            case $release in
            "$codename" | "$codename"-updates | "$codename"-security)
                echo "deb [signed-by=$keyring] $uri $suite${release#"$codename"} $component"
                ;;
            esac
        done
}

package_settings() { # proxies, certificates and patience of this machine's apt
    apt-config dump | grep -E '^Acquire::(https?::|Retries |Check-)' | grep -v ' "";$' || true
}

make_root() {
    local settings=$root.apt
    package_settings >"$settings"
    # Without lines of this machine, mmdebstrap has Debian's own archive for a suite that it knows.
    local lines=()
    mapfile -t lines < <(package_lines)
    mmdebstrap --variant=minbase --include=$packages --aptopt="$settings" --quiet \
        "$suite" "$root" "${lines[@]}" >&2 ||
        refuse "no root of $suite could be made; does \`apt-get update\` succeed on this machine?"
    rm "$settings"
}

configure_root() { # as this machine: the network's names, certificates that it trusts in addition, pip
    local file
    for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do
        [ ! -r "$file" ] || cp -L "$file" "$root$file"
    done
    file=${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf
    [ ! -r "$file" ] || install -D "$file" "$root/root/.config/pip/pip.conf"
    if [ -d /usr/local/share/ca-certificates ]; then
        find /usr/local/share/ca-certificates -name '*.crt' \
            -exec cp -L -t "$root/usr/local/share/ca-certificates" {} +
    fi
    # Without this machine's variables: its TMPDIR is not there.
    env -i "PATH=$path" chroot "$root" update-ca-certificates >/dev/null 2>"$root/root/certificates" ||
        refuse "certificates could not be added: $(tail -n 1 "$root/root/certificates")"
    rm "$root/root/certificates"
}

clone_repository() { # by the transport that copies only what is committed
    git clone --quiet --no-local "$repository" "$root$clone" ||
        refuse "$repository could not be cloned"
    if [ -n "$(git -C "$repository" status --porcelain)" ]; then
        say "changes that are not committed are not in the clone"
    fi
}

plain_environment() { # VARIABLE=VALUE lines: what is needed to reach registries, and nothing else
    env | grep -iE '^(https?|ftp|all|no)_proxy=' || true
    env | grep -E '^(CI|PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT))=' || true
    if [ -n "$(ls "$root/usr/local/share/ca-certificates")" ]; then
        echo PIP_CERT=/etc/ssl/certs/ca-certificates.crt
    fi
}

# The first process of the namespaces. pivot_root instead of chroot: in a chroot the kernel refuses
# user namespaces, and no container without rights would start. Shared memory is not the machine's, so
# that nothing remains there. It waits for the command instead of becoming it: a first process has to
# collect the children that others leave behind.
first_process() { # ROOT SHARE CLONE COMMAND...
    local root=$1 share=$2 clone=$3
    shift 3
    set -e
    mount --bind "$root" "$root"
    cd "$root"
    mount --rbind /dev dev
    mount --rbind /sys sys
    mount --make-rslave dev
    mount --make-rslave sys
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
    mount -t tmpfs -o mode=755 tmpfs run
    mkdir -p run/netns run/lock .machine
    [ -z "$share" ] || mount --bind "$share" mnt
    pivot_root . .machine
    cd "$clone"
    mount -t proc proc /proc
    umount -l /.machine
    rmdir /.machine
    set +e
    "$@"
    exit $?
}

enter_root() { # COMMAND...; leaves its exit code in `status`
    local variables=()
    mapfile -t variables < <(plain_environment)
    unshare --mount --pid --fork --kill-child --propagation private \
        env -i HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 "${variables[@]}" \
        PATH="$path" \
        bash -c "$(declare -f first_process); first_process \"\$@\"" first_process \
        "$root" "$share" "$clone" "$@" <&0 &
    running=$!
    status=0
    wait "$running" || status=$?
    running=''
}

end_command() { # where it is interrupted: with the first process end all others, before `wait` does
    local first=''
    read -r first <"/proc/$running/task/$running/children" 2>/dev/null || true
    kill -KILL "${first:-$running}" 2>/dev/null || true
    wait "$running" 2>/dev/null || true
}

remove_root() { # never a folder with something mounted in it: that may be a part of this machine
    if awk -v root="$root" '$5 == root || index($5, root "/") == 1 { found = 1 } END { exit !found }' \
        /proc/self/mountinfo; then
        say "$root is not removed, because something is mounted there (see findmnt): umount that first"
        return
    fi
    rm -rf --one-file-system -- "$root" "$root.apt"
}

running=''
leave() {
    trap '' INT TERM HUP
    [ -z "$running" ] || end_command
    if [ -n "$keep" ]; then
        say "kept: $root; more there: $0 --enter $root COMMAND..."
    else
        remove_root
    fi
}

needs unshare util-linux
if [ -z "$suite" ]; then
    trap '[ -z "$running" ] || end_command' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    enter_root "$@"
    exit "$status"
fi
needs mmdebstrap "mmdebstrap debian-archive-keyring"
needs git git
[ -r "$keyring" ] || refuse "$keyring is missing: apt-get install debian-archive-keyring"
folder=$(realpath -e -- "${TMPDIR:-/var/tmp}") || exit 2
case $folder in
*[!A-Za-z0-9_/.,+-]*) refuse "$folder: a root's folder has plain characters only; set TMPDIR" ;;
esac
root=$(mktemp -d "$folder/clean-root-$suite-XXXXXX")
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
say "$suite: installing $packages"
make_root
configure_root
clone_repository
say "$suite: made in $SECONDS s, begins: $*"
SECONDS=0
enter_root "$@"
say "$suite: $SECONDS s, exit code $status: $*"
exit "$status"
