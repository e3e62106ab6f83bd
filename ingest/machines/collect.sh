#!/bin/sh
# Collects what a benchmark's reader wants to know of a machine: hardware, system, versions.
# Portable: POSIX sh, no root, nothing to install. Missing commands and missing rights are normal.

usage() {
    cat <<'TEXT'
usage: sh collect.sh [FOLDER]

Writes what this machine says of its hardware, operating system and software into FOLDER
(default: ./machine-HOSTNAME), one file for each command, and index.txt with command, return
code and size. Run it on every machine of a testbed: server, traffic generator, database.

It only reads. It needs no root (with root, dmidecode and lshw tell more), leaves out serial
numbers, and masks what looks like a secret on the kernel's command line.
TEXT
}

case "${1:-}" in
    -h | --help)
        usage
        exit 0
        ;;
    -*)
        usage >&2
        exit 2
        ;;
esac
if [ "$#" -gt 1 ]; then
    usage >&2
    exit 2
fi

LC_ALL=C
export LC_ALL
unset CDPATH
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
name=$(hostname 2>/dev/null || uname -n)
folder=${1:-./machine-$name}
if ! mkdir -p -- "$folder" || ! cd -- "$folder"; then
    echo "collect.sh: cannot write to the folder $folder; name another one" >&2
    exit 1
fi
: >index.txt || exit 1
missing=
hide= # what sed leaves out of the output

# take FILE COMMAND [ARGUMENT...]: run the command, keep its output and, in FILE.err, its complaints.
take() {
    file=$1
    shift
    if command -v timeout >/dev/null 2>&1; then
        timeout 60 "$@" >"$file" 2>"$file.err" </dev/null
    else
        "$@" >"$file" 2>"$file.err" </dev/null
    fi
    rc=$?
    [ -s "$file.err" ] || rm -f -- "$file.err"
    if [ -n "$hide" ]; then
        sed "$hide" "$file" >"$file.new" && mv -- "$file.new" "$file"
    fi
    printf '%s\n' "$file rc=$rc $(($(wc -c <"$file"))) bytes: $*" >>index.txt
    [ "$rc" -eq 0 ] || missing="$missing $file"
}

take hostname.txt uname -n
take uname.txt uname -a
take os-release.txt cat /etc/os-release
take lscpu.json lscpu -J
take lscpu.txt lscpu
take cpuinfo.txt cat /proc/cpuinfo
take meminfo.txt cat /proc/meminfo
take lshw.json lshw -json -quiet -sanitize
hide='/Serial Number:/d;/UUID:/d;/Asset Tag:/d'
take dmidecode.txt dmidecode -t system -t processor -t memory
hide=
take lsblk.json lsblk -J -b -o NAME,TYPE,SIZE,MODEL,ROTA,TRAN
take lspci.txt lspci
take ip-link.json ip -j -d link
for path in /sys/class/net/*; do
    interface=${path##*/}
    [ -e "$path" ] && [ "$interface" != lo ] || continue
    take "ethtool-$interface.txt" ethtool "$interface"
    take "ethtool-i-$interface.txt" ethtool -i "$interface"
    take "ethtool-k-$interface.txt" ethtool -k "$interface"
done
# On bare metal it says `none` and returns 1.
take systemd-detect-virt.txt sh -c 'systemd-detect-virt || [ $? -eq 1 ]'
take clocksource.txt cat /sys/devices/system/clocksource/clocksource0/current_clocksource
take governor.txt sh -c 'cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor'
take transparent_hugepage.txt cat /sys/kernel/mm/transparent_hugepage/enabled
take vulnerabilities.txt sh -c 'grep . /sys/devices/system/cpu/vulnerabilities/*'
# What a container or a service may use, up to the root: of this shell, and of the DHCP servers that run.
limits=
for pid in self $(pidof kea-dhcp4 kea-dhcp6 2>/dev/null); do
    path=$(sed -n 's|^0::/*|/|p' "/proc/$pid/cgroup" 2>/dev/null)
    while [ -n "$path" ]; do
        for limit in "/sys/fs/cgroup${path%/}/cpu.max" "/sys/fs/cgroup${path%/}/memory.max"; do
            [ -r "$limit" ] && limits="$limits $limit"
        done
        path=${path%/*}
    done
done
# shellcheck disable=SC2086 # one word a file; /dev/null has grep name the file, however few there are
[ -z "$limits" ] || take cgroup.txt grep . $limits /dev/null
take sysctl-net.txt sysctl net.core net.ipv4.udp_mem net.ipv4.udp_rmem_min net.ipv4.udp_wmem_min
hide=
for word in '[Pp][Aa][Ss][Ss]' '[Ss][Ee][Cc][Rr][Ee][Tt]' '[Tt][Oo][Kk][Ee][Nn]' '[Kk][Ee][Yy]'; do
    hide="${hide}s/[^ ]*$word[^ =]*=[^ ]*/***/g;"
done
take cmdline.txt cat /proc/cmdline
hide=
if command -v dpkg-query >/dev/null 2>&1; then
    # shellcheck disable=SC2016 # dpkg-query itself replaces these
    take dpkg-installed.txt dpkg-query -W -f \
        '${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\n'
elif command -v rpm >/dev/null 2>&1; then
    take rpm.txt rpm -qa
fi
take kea-dhcp4-V.txt kea-dhcp4 -V
take kea-dhcp6-V.txt kea-dhcp6 -V
take perfdhcp-v.txt perfdhcp -v
take mariadbd-version.txt mariadbd --version
postgres=$(command -v postgres || ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -n 1)
take postgres-version.txt "${postgres:-postgres}" --version

echo "collected in $(pwd): $(($(wc -l <index.txt))) commands, see index.txt"
if [ -n "$missing" ]; then
    echo "without an answer (not installed, no rights, or not on this machine):"
    for file in $missing; do
        echo "  $file"
    done
fi
echo "next: put the folder beside the benchmark's results; if there are several machines, say in"
echo "campaign.yaml under \`machines:\` which is the server; then run \`dropline ingest\` on it all"
