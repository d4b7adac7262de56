#!/bin/sh
# Installs the Debian packages that the lab and the checks use, if any is missing and we are root.
# No daemon of theirs is started: the lab starts its own, in a private directory.
set -eu

packages="python3 python3-venv ca-certificates gcc libc6-dev \
munge slurm-client slurmctld slurmd slurm-wlm-basic-plugins \
stress-ng fio iperf3 iproute2 procps util-linux curl openssl"

missing=""
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "missing Debian packages:$missing" >&2
    echo "next step: run as root, or: sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi

echo "installing:$missing"
policy=/usr/sbin/policy-rc.d
made=""
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' > "$policy"
    chmod 755 "$policy"
    made=yes
fi
trap '[ -z "$made" ] || rm -f "$policy"' EXIT
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing > /tmp/greenroom-apt.$$.log 2>&1 || {
    tail -20 /tmp/greenroom-apt.$$.log >&2
    exit 1
}
rm -f /tmp/greenroom-apt.$$.log
