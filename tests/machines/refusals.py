# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Two guests whose NICs are not set up as they should be: each mistake is one line that says what to do, and exit
code 2 or 3. 'm0' has an IOMMU, a NIC in use by its own network, one that DPDK has no driver for, and a good one; 'm1' has
no IOMMU and no hugepages."""
import os
import re
import tempfile

import bench
import cables
import guest
import initramfs
import kernel
import machine
from guest import LOGIN_ADDRESS, LOGIN_SLOT
from lab import Wrong

GOOD, STRANGE, SHORT, OLD = "e1000e", "rtl8139", "vmxnet3", "virtio-net-pci,disable-modern=on"
# In the guests: programs and lab files that a user without privileges can reach.
FOLDER = "/opt/wrong"
# A guest with an emulated CPU needs half a minute for DPDK. The other hosts' machine does not exist.
WAIT = "--process s0 --wait 150s"
WAIT_FOR_CABLE = "--process s0 --process h0 --wait 150s"
WEFT = f"{FOLDER}/weft"
OWN = f"0000:00:{LOGIN_SLOT:02x}.0"
USER = 65534
LAB = """weft: lab/1
name: wrong
processes: each
topology:
  weft: topology/1
  name: wrong
  switches: [{{name: s0, ports: 2}}]
  hosts: [{{name: h0}}, {{name: h1}}]
  links: [{{a: h0, b: s0:0}}, {{a: h1, b: s0:1}}]
  ports: [{{port: s0:1, dpdk: "{address}"}}, {{port: h1:0, dpdk: "0000:ff:00.0"}}]
groups: {{near: [h0], far: [h1]}}
switch: {{mtu: {mtu}}}
nic: {{mtu: {mtu}}}
mapper: {{routes: static}}
"""


class Machines:
    """Both guests; all of them end with the 'with' block."""

    def __init__(self, weft):
        self.weft = weft
        self.folder = self.guests = self.plugs = self.addresses = None

    def __enter__(self):
        kernel_folder = kernel.files()
        self.folder = tempfile.TemporaryDirectory(prefix="weft-machines-")
        initrd = os.path.join(self.folder.name, "initrd")
        initramfs.write(initrd, os.path.join(bench.HERE, "guest_agent.py"), kernel.LOGIN_MODULES)
        self.guests, self.plugs = {}, {}
        try:
            for name, devices in (("m0", [GOOD, STRANGE, SHORT]), ("m1", [OLD])):
                plugs = self.plugs[name] = [cables.Plug(self.folder.name, name, i) for i in range(len(devices))]
                self.guests[name] = guest.Guest(
                    name, self.folder.name, kernel_folder, initrd,
                    [(device, plug.netdev()) for device, plug in zip(devices, plugs)], iommu=name == "m0", hugepages=256 if name == "m0" else 0,
                    login=name == "m0")
                for plug in plugs:
                    plug.guest = self.guests[name]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for each in self.guests.values():
            each.end()
        self.folder.cleanup()

    def boot(self):
        for name, each in self.guests.items():
            each.wait_boot()
            each.must(f"mkdir -p -m 755 {FOLDER} && cp {' '.join(self.programs())} {FOLDER}")
        self.guests["m0"].must(f"ip address add {LOGIN_ADDRESS}/24 dev eth0 && ip link set eth0 up")
        self.addresses = {name: each.nic_addresses(len(self.plugs[name])) for name, each in self.guests.items()}

    def programs(self):
        """Beside each other, or in a build folder."""
        folder = os.path.dirname(self.weft)
        found = [next(filter(os.path.exists, (os.path.join(folder, name), os.path.join(folder, "../../apps", kind, name))))
                 for kind, name in (("switch", "weft-switch"), ("nic", "weft-nic"))]
        return [self.weft, *found]

    def good(self):
        return self.addresses["m0"][0]

    def strange(self):
        return self.addresses["m0"][1]

    def short(self):
        return self.addresses["m0"][2]

    def old(self):
        return self.addresses["m1"][0]

    # --- what a user types ---

    def write_lab(self, name, address, mtu="1KiB", owner=0):
        each = self.guests[name]
        each.put(f"{FOLDER}/lab.yaml", LAB.format(address=address, mtu=mtu).encode())
        each.must(f"chown {owner} {FOLDER} {FOLDER}/lab.yaml && chmod 600 {FOLDER}/lab.yaml")

    def refused(self, name, command, code, pattern):
        """The line."""
        done = self.guests[name].run(command, seconds=200)
        lines = [line for line in done.err.splitlines() if not line.startswith("  ")]
        if done.code != code or len(lines) != 1 or not re.search(pattern, lines[0]):
            raise Wrong(f"expected exit {code} and one line with '{pattern}', got {done.said()}")
        return f"exit {code}: {lines[0]}"

    def up_refused(self, name, address, pattern, mtu="1KiB", wait=WAIT):
        self.write_lab(name, address, mtu)
        return self.refused(name, f"{WEFT} lab up {FOLDER}/lab.yaml {wait}", 3, pattern)

    def user_refused(self, pattern, limit=""):
        """A user without privileges is refused."""
        self.write_lab("m0", self.good(), owner=USER)
        command = (f"mkdir -p -m 700 /tmp/wrong && chown {USER} /tmp/wrong && {limit} RUNTIME_DIRECTORY=/tmp/wrong "
                   f"setpriv --reuid={USER} --regid={USER} --clear-groups {WEFT} lab up {FOLDER}/lab.yaml {WAIT}")
        return self.refused("m0", command, 3, pattern)

    def bind(self, name, address, driver="vfio-pci"):
        self.guests[name].must(f"{WEFT} port bind --driver {driver} {address}")


# --- cases, in their order ---

def an_address_that_is_not_there(machines):
    return machines.up_refused("m0", "0000:ff:1f.7", r"no PCI device 0000:ff:1f\.7 .*'weft port list'")


def a_device_that_is_no_nic(machines):
    return machines.up_refused("m0", "0000:00:1f.2", r"is not a network interface \(class 0x0106")


def a_nic_of_the_kernel(machines):
    return machines.up_refused("m0", OWN, r"is bound to the kernel driver virtio-pci; bind it to vfio-pci with 'weft port bind ")


def a_nic_of_the_machines_own_network(machines):
    return machines.refused("m0", f"{WEFT} port bind eth0", 3,
                            r"eth0 is in use by this machine's own network \(.*\); choose another port")


def a_nic_without_a_driver(machines):
    return machines.up_refused("m0", machines.good(), r"has no driver; bind it to vfio-pci with 'weft port bind ")


def a_kernel_driver_that_is_not_loaded(machines):
    busybox = f"{FOLDER}/busybox"
    machines.guests["m0"].must(f"cp {kernel.files()}/busybox {FOLDER} && chmod 755 {busybox} && {busybox} rmmod vfio_pci")
    said = machines.refused("m0", f"{WEFT} port bind {machines.good()}", 3,
                            r"driver vfio-pci is not loaded; run 'modprobe vfio-pci'")
    machines.guests["m0"].must(f"{busybox} insmod {kernel.files()}/vfio-pci.ko")
    return said


def a_nic_that_dpdk_has_no_driver_for(machines):
    machines.bind("m0", machines.strange())
    return machines.up_refused("m0", machines.strange(), r"is not usable: DPDK has no driver for it")


def a_user_without_permission(machines):
    machines.bind("m0", machines.good())
    return machines.user_refused(rf"no permission for /dev/vfio/\d+, .*'chown {USER} /dev/vfio/\d+'")


def a_user_who_may_lock_too_little_memory(machines):
    machines.guests["m0"].must(f"chown {USER} /dev/vfio/[0-9]*")
    said = machines.user_refused(r"DPDK needs to lock \d+ MiB, but RLIMIT_MEMLOCK is 1 MiB; raise it with 'ulimit -l",
                                 "prlimit --memlock=1048576 env")
    machines.guests["m0"].must("chown 0 /dev/vfio/[0-9]*")
    return said


def an_mtu_that_the_nic_does_not_have(machines):
    machines.bind("m0", machines.short())
    return machines.up_refused("m0", machines.short(), r"accepts frames of at most \d+ bytes, .*nic\.mtu of \d+B fits",
                               mtu="9000B")


def a_cable_that_is_out(machines):
    machines.plugs["m0"][0].carrier(False)
    try:
        return machines.up_refused("m0", machines.good(), r"link s0:1 - h1:0 is without carrier: is the cable plugged in, and is the other end on", wait=WAIT_FOR_CABLE)
    finally:
        machines.plugs["m0"][0].carrier(True)


def a_nic_that_another_program_has(machines):
    machines.write_lab("m0", machines.good())
    first = machines.guests["m0"].start(f"{WEFT} lab up {FOLDER}/lab.yaml {WAIT}", seconds=200)
    wait_open(machines)
    machines.guests["m0"].must(f"sed 's/^name: wrong/name: second/' {FOLDER}/lab.yaml > {FOLDER}/second.yaml && "
                               f"chmod 600 {FOLDER}/second.yaml")
    said = machines.refused("m0", f"{WEFT} lab up {FOLDER}/second.yaml {WAIT}", 3,
                            r"is used by DPDK process \d+ \(weft-switch\)")
    if first.is_over():
        raise Wrong(f"the other program has ended: {first.finish().said()}")
    first.signal(2)
    first.finish()
    return said


def wait_open(machines):
    """Until the first program has it; 'up' of the case before has removed its folder."""
    machines.guests["m0"].must(machine.until_file("/run/weft/wrong/s0.log", "weft-switch runs"), seconds=180)


def vfio_without_an_iommu(machines):
    return machines.refused("m1", f"{WEFT} port bind {machines.old()}", 3,
                            r"vfio-pci needs the IOMMU, which is off\. .*'weft port bind --driver uio_pci_generic ")


def an_iommu_that_is_off(machines):
    return machines.up_refused("m1", machines.old(), r"this machine's IOMMU is off\. Turn it on in the BIOS")


def no_hugepages(machines):
    machines.bind("m1", machines.old(), "uio_pci_generic")
    return machines.up_refused("m1", machines.old(), r"requires memory with known physical addresses; provide hugepages "
                               r"\('echo 256 > ")


ALL = (an_address_that_is_not_there, a_device_that_is_no_nic, a_nic_of_the_kernel, a_nic_of_the_machines_own_network,
       a_nic_without_a_driver, a_kernel_driver_that_is_not_loaded, a_nic_that_dpdk_has_no_driver_for,
       a_user_without_permission, a_user_who_may_lock_too_little_memory, an_mtu_that_the_nic_does_not_have,
       a_cable_that_is_out, a_nic_that_another_program_has, vfio_without_an_iommu, an_iommu_that_is_off, no_hugepages)


def run(report, machines):
    for case in ALL:
        report.case(f"wrong_{case.__name__}", lambda case=case: case(machines))
