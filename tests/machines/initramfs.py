# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The file system a guest begins with: a shell, some modules, and a script that makes this machine's own
'/' the guest's, read over 9p and never written: what a guest writes stays in its memory."""
import os
import shlex

import kernel

# EAL loads every driver that it finds as it starts. All of Debian's take an emulated CPU seconds each time.
PMDS = ("bus_pci", "bus_vdev", "mempool_ring", "net_e1000", "net_virtio", "net_vmxnet3")
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /lower /upper /root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in {modules}; do insmod /modules/$module || echo "init: $module cannot be loaded"; done
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=262144,cache=loose machine /lower || echo "init: no 9p"
mount -t tmpfs -o mode=755 upper /upper
mkdir /upper/files /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay /root ||
	echo "init: no overlay"
pmds=$(echo /lower/usr/lib/*/dpdk/pmds-*)
mount -t tmpfs -o mode=755 pmds /root/${{pmds#/lower/}}
for pmd in {pmds}; do cp -a $pmds/librte_$pmd.so* /root/${{pmds#/lower/}}; done
cd /root
for folder in proc sys dev; do mount --move /$folder /root/$folder; done
mount -t tmpfs -o mode=755 run /root/run
mkdir -p /root/run/netns /root/run/lock /root/dev/shm /root/dev/pts /root/dev/hugepages
mount -t tmpfs shm /root/dev/shm
mount -t devpts devpts /root/dev/pts
mount -t hugetlbfs huge /root/dev/hugepages
ip link set lo up
{first_program}
"""
# A server, as far as Ansible and units can tell: systemd is the first program and starts the agent, and nothing that this
# machine's own services do at boot. modprobe finds what is loaded already.
SYSTEMD = "/lib/systemd/systemd"
SYSTEMD_INIT = """units=/root/run/systemd/system
masked=/root/run/systemd/system.control
generators=/root/run/systemd/system-generators
mkdir -p $units $masked $generators
for unit in /root/lib/systemd/system/*.target.wants/* /root/etc/systemd/system/*.target.wants/*; do
	ln -sf /dev/null $masked/${{unit##*/}}
done
for generator in /root/lib/systemd/system-generators/*; do ln -sf /dev/null $generators/${{generator##*/}}; done
cat > $units/guest.target <<'END'
[Unit]
Requires=guest-agent.service
END
cat > $units/guest-agent.service <<'END'
[Unit]
DefaultDependencies=no
[Service]
ExecStart=/usr/bin/env -i {environment} python3 {agent}
KillMode=none
END
modules=/lib/modules/$(uname -r)
mkdir -p $modules /root$modules /root/usr/local/sbin
cp /modules/* $modules
depmod
cp $modules/* /root$modules
cp /bin/busybox /root/usr/local/sbin/modprobe
exec switch_root /root /lib/systemd/systemd --unit=guest.target --show-status=no
"""
AGENT_INIT = "exec switch_root /root /usr/bin/env -i {environment} python3 {agent}"


def entry(name, mode, data, number):
    """One file in the format 'newc' of cpio."""
    fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def write(path, agent, more_modules=(), systemd=False):
    """The file for QEMU's -initrd. 'agent' is the program of the guests, by its path on this machine; 'systemd' starts
    it, or it is the first program itself."""
    folder = kernel.files()
    modules = kernel.module_order(folder, [*kernel.MODULES, *more_modules])
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                   "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    first_program = (SYSTEMD_INIT if systemd else AGENT_INIT).format(
        environment=" ".join(f"{k}={v}" for k, v in environment.items()), agent=shlex.quote(agent))
    init = INIT.format(modules=" ".join(os.path.basename(name) for name in modules), pmds=" ".join(PMDS),
                       first_program=first_program)
    parts = [(folder_name, 0o40755, b"") for folder_name in ("bin", "modules")]
    parts.append(("init", 0o100755, init.encode()))
    for target, source in [("bin/busybox", os.path.join(folder, "busybox"))] + \
            [("modules/" + os.path.basename(name), name) for name in modules]:
        with open(source, "rb") as file:
            parts.append((target, 0o100755, file.read()))
    with open(path, "wb") as file:
        for number, (name, mode, data) in enumerate(parts, 1):
            file.write(entry(name, mode, data, number))
        file.write(entry("TRAILER!!!", 0, b"", 0))
