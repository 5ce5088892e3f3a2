# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
#
# The Debian 12 packages that Weft needs, in one place; sourced by tools/quickstart, tools/check and
# CONTRIBUTING.md's readers. The functions take the names of further lists: weft_missing_packages
# check.

# To build and to run a lab.
weft_packages='gcc libc6-dev meson ninja-build pkg-config python3
	libdpdk-dev libcmocka-dev libyaml-dev libjansson-dev coinor-libclp-dev libsodium-dev
	libseccomp-dev libfabric-dev libmetis-dev libmicrohttpd-dev libpcap-dev
	iproute2 iputils-ping iperf3 faketime
	python3-numpy python3-pandas python3-scipy python3-matplotlib python3-yaml python3-jsonschema
	python3-tqdm'

# For the whole test suite: the fuzz targets need clang, the captures tshark and tcpdump, exported
# topologies ibsim and ibnetdiscover; ibutils' ibdmchk is the second verifier of destination tables, and
# opensm computes tables to compare with. Labs on PCI NICs run in guests of QEMU, whose kernel is downloaded
# and not installed. Labs on several machines are reached over ssh. Shells complete command lines; man formats
# the manual pages; packages are built, judged, and installed in an empty system.
# Slurm and Snakemake run the points of sweeps.
# Lint reads the Python package, and its example notebook is executed.
# podman builds the container image and runs it with runc.
# dnsmasq and udhcpc are a DHCP server and client in hosts of labs.
# prometheus checks and scrapes the metrics of labs, chromium shows their page, Open MPI and libfabric's
# programs run in their hosts.
weft_check_packages='clang llvm libclang-rt-14-dev clang-format clang-tidy libasan8 binutils
	tshark tcpdump dpdk procps util-linux
	bash-completion zsh man-db groff
	debhelper lintian mmdebstrap
	pyflakes3 black mypy python3-nbconvert python3-ipykernel
	dh-python
	ibsim-utils libumad2sim0 infiniband-diags ibutils opensm
	qemu-system-x86 openvswitch-switch nftables openssh-client openssh-server ansible-core prometheus openmpi-bin libopenmpi-dev libfabric-bin
	chromium chromium-driver podman runc
	dnsmasq-base udhcpc
	slurm-wlm munge snakemake'

weft_package_list() {
	list=$weft_packages
	for more; do
		[ "$more" != check ] || list="$list $weft_check_packages"
	done
	echo $list # one line
}

# The names of missing packages, on one line; nothing if all are installed. On a system without dpkg it
# reports that it cannot know.
weft_missing_packages() {
	command -v dpkg-query >/dev/null 2>&1 || {
		echo "(no dpkg here: cannot tell whether the packages of tools/packages.sh are installed)" >&2
		return 0
	}
	missing=
	for package in $(weft_package_list "$@"); do
		case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
		installed) ;;
		*) missing="$missing $package" ;;
		esac
	done
	echo $missing
}

# Installs missing packages, if there are any. Fails if one is missing afterwards.
weft_install_packages() {
	missing=$(weft_missing_packages "$@")
	[ -n "$missing" ] || return 0
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null 2>&1 || {
			echo "not root and no sudo: cannot install $missing" >&2
			return 1
		}
		sudo=sudo
	fi
	echo "installing: $missing"
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 ||
		echo "apt-get update failed; trying with the package lists that are there" >&2
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing \
		>/dev/null </dev/null
	[ -z "$(weft_missing_packages "$@")" ]
}
