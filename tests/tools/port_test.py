#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft port over a /sys, /proc and /dev that the test makes (WEFT_SYSFS_ROOT).

A thread plays the kernel: it reads what is written to unbind and drivers_probe, which are FIFOs, and moves the link of the
driver. Nothing of this machine is bound; 'list' reads it.

usage: port_test.py WEFT [TEST]...
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

WEFT = sys.argv.pop(1) if len(sys.argv) > 1 else "weft"
NIC, SECOND, DISK, BRIDGE = "0000:3b:00.0", "0000:3b:00.1", "0000:00:1f.2", "0000:3a:00.0"
ROUTES = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
LAB = """weft: lab/1
name: wires
topology:
  weft: topology/1
  name: wires
  switches: [{{name: s0, ports: 4}}]
  hosts: [{{name: h0}}, {{name: h1}}]
  links:
    - {{a: h0:0, b: s0:0}}
    - {{a: h1:0, b: s0:1}}
  ports:
    - {{port: s0:1, dpdk: "{here}"}}
    - {{port: h1:0, dpdk: "{there}"}}
"""


class Kernel(threading.Thread):
    """Imitates drivers that accept the devices that they get."""

    def __init__(self, root):
        super().__init__(daemon=True)
        self.root, self.asked, self.failing = root, [], set()
        self.own = {} # the kernel's choice by address
        self.reader, self.writer = os.pipe()
        self.files = {}

    def serve(self, path, act):
        os.mkfifo(path)
        # Open for both, so that neither side waits for the other to open it.
        self.files[os.open(path, os.O_RDWR | os.O_NONBLOCK)] = act

    def run(self):
        import select
        while True:
            ready, _, _ = select.select([self.reader, *self.files], [], [])
            if self.reader in ready:
                return
            for file in ready:
                self.files[file](os.read(file, 64).decode())

    def stop(self):
        os.write(self.writer, b"x")
        self.join()
        for file in [self.reader, self.writer, *self.files]:
            os.close(file)

    def device(self, address):
        return self.root / "sys/bus/pci/devices" / address

    def unbind(self, address):
        self.asked.append(("unbind", address))
        (self.device(address) / "driver").unlink()

    def probe(self, address):
        override = (self.device(address) / "driver_override").read_text().strip()
        self.asked.append(("probe", address, override))
        driver = override or self.own.get(address)
        if driver and driver not in self.failing:
            (self.device(address) / "driver").symlink_to(f"../../../../bus/pci/drivers/{driver}")


class Port(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for folder in ("sys/bus/pci/devices", "sys/kernel/iommu_groups", "sys/kernel/mm/hugepages/hugepages-2048kB",
                       "proc/net", "dev/vfio"):
            (self.root / folder).mkdir(parents=True)
        self.kernel = Kernel(self.root)
        for driver in ("vfio-pci", "uio_pci_generic", "ixgbe", "ahci"):
            self.load(driver)
        self.kernel.serve(self.root / "sys/bus/pci/drivers_probe", self.kernel.probe)
        self.write("proc/net/route", ROUTES)
        self.write("proc/net/if_inet6", "")
        self.hugepages(0)
        self.nic(NIC, "ixgbe", "ens1", group="12")
        self.nic(SECOND, "ixgbe", "ens2", group="13")
        self.device(DISK, 0x010601, "ahci", group="3")
        self.started = False

    def tearDown(self):
        if self.started:
            self.kernel.stop()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def hugepages(self, free):
        self.write("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", f"{free}\n")

    def load(self, driver):
        folder = self.root / "sys/bus/pci/drivers" / driver
        folder.mkdir(parents=True)
        self.kernel.serve(folder / "unbind", self.kernel.unbind)

    def device(self, address, kind, driver, group=None):
        folder = self.kernel.device(address)
        folder.mkdir()
        for name, text in (("class", f"0x{kind:06x}"), ("vendor", "0x8086"), ("device", "0x10fb"), ("numa_node", "1"),
                           ("driver_override", "")):
            (folder / name).write_text(text + "\n")
        if driver:
            (folder / "driver").symlink_to(f"../../../../bus/pci/drivers/{driver}")
        if group:
            self.group(address, group)
        return folder

    def group(self, address, group):
        devices = self.root / "sys/kernel/iommu_groups" / group / "devices"
        devices.mkdir(parents=True, exist_ok=True)
        (devices / address).symlink_to("/")
        link = self.kernel.device(address) / "iommu_group"
        link.unlink(missing_ok=True)
        link.symlink_to(f"../../../../kernel/iommu_groups/{group}")

    def nic(self, address, driver, interface=None, group=None, speed=10000):
        folder = self.device(address, 0x020000, driver, group)
        self.kernel.own[address] = driver if driver != "vfio-pci" else "ixgbe"
        if interface:
            net = folder / "net" / interface
            net.mkdir(parents=True)
            for name, text in (("flags", "0x1003"), ("carrier", "1"), ("speed", str(speed))):
                (net / name).write_text(text + "\n")

    def weft(self, *words, **more):
        if not self.started:
            self.kernel.start()
            self.started = True
        return subprocess.run([WEFT, "port", *words], capture_output=True, text=True, timeout=240, check=False,
                              env={**os.environ, "WEFT_SYSFS_ROOT": str(self.root)}, **more)

    def driver(self, address):
        link = self.kernel.device(address) / "driver"
        return link.readlink().name if link.is_symlink() else None

    def refused(self, code, text, *words):
        """One line, the exit code, and nothing was changed."""
        before = [self.driver(address) for address in (NIC, SECOND, DISK)]
        done = self.weft(*words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith(f"weft port {words[0]}: "), done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual(self.kernel.asked, [])
        self.assertEqual([self.driver(address) for address in (NIC, SECOND, DISK)], before)


class List(Port):
    def test_a_row_has_all_that_sysfs_says(self):
        rows = [row.split() for row in self.weft("list").stdout.splitlines()]
        self.assertEqual(rows[1], [NIC, "ens1", "8086:10fb", "ixgbe", "kernel", "up", "10000Mbps", "1", "12", "-"])
        self.assertEqual([row[0] for row in rows[1:]], [NIC, SECOND])

    def test_json_has_the_same(self):
        self.write("proc/net/route", ROUTES + "ens1\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\n")
        first, second = json.loads(self.weft("list", "--json").stdout)
        self.assertEqual((first["address"], first["driver"], first["iommu_group"], first["numa_node"], first["in_use"]),
                         (NIC, "ixgbe", "12", 1, True))
        self.assertEqual(first["interfaces"], [{"name": "ens1", "up": True, "carrier": True, "speed_mbps": 10000,
                                                "used_for": "default route"}])
        self.assertFalse(second["in_use"])

    def test_a_device_of_dpdk_has_no_interface(self):
        self.nic("0000:5e:00.0", "vfio-pci", group="20")
        row = self.weft("list").stdout.splitlines()[-1].split()
        self.assertEqual(row[:5], ["0000:5e:00.0", "-", "8086:10fb", "vfio-pci", "dpdk"])

    def test_an_interface_of_virtio_is_found_below_its_device(self):
        folder = self.device("0000:00:04.0", 0x020000, "ixgbe")
        (folder / "virtio7/net/eth9").mkdir(parents=True)
        self.assertIn("eth9", self.weft("list").stdout)

    def test_a_machine_without_nics_says_so(self):
        for address in (NIC, SECOND):
            shutil.rmtree(self.kernel.device(address))
        self.assertEqual(self.weft("list").stdout, "this machine has no PCI network interfaces\n")

    def test_on_this_machine_the_interface_of_the_default_route_is_in_use(self):
        with open("/proc/net/route", encoding="ascii") as routes:
            default = [line.split()[0] for line in routes if line.split()[1] == "00000000"]
        devices = json.loads(subprocess.run([WEFT, "port", "list", "--json"], capture_output=True, text=True,
                                            check=True).stdout)
        used = [(device, interface) for device in devices for interface in device["interfaces"]
                if interface["name"] in default]
        if not used:
            self.skipTest("this machine has no default route by a PCI device")
        for device, interface in used:
            self.assertTrue(device["in_use"])
            self.assertIn("default route", interface["used_for"])
            # The command stops at the first reason, long before it writes anything.
            done = subprocess.run([WEFT, "port", "bind", device["address"]], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 3)
            self.assertIn("in use by this machine's own network", done.stderr)


class Bind(Port):
    def test_bind_gives_the_device_to_vfio_and_release_gives_it_back(self):
        done = self.weft("bind", NIC)
        self.assertEqual((done.returncode, done.stdout),
                         (0, f"{NIC}: ixgbe -> vfio-pci; 'weft port release {NIC}' returns it to the kernel\n"), done.stderr)
        self.assertEqual(self.driver(NIC), "vfio-pci")
        self.assertEqual(self.kernel.asked, [("unbind", NIC), ("probe", NIC, "vfio-pci")])
        done = self.weft("release", NIC)
        self.assertEqual((done.returncode, done.stdout), (0, f"{NIC}: vfio-pci -> ixgbe\n"), done.stderr)
        self.assertEqual(self.driver(NIC), "ixgbe")
        self.assertEqual(self.kernel.asked[-1], ("probe", NIC, ""))

    def test_an_interface_and_a_short_address_name_a_device(self):
        self.assertEqual(self.weft("bind", "ens1", "3b:00.1").returncode, 0)
        self.assertEqual((self.driver(NIC), self.driver(SECOND)), ("vfio-pci", "vfio-pci"))

    def test_a_second_bind_or_release_changes_nothing(self):
        self.weft("bind", NIC)
        self.kernel.asked.clear()
        self.assertIn(": already bound to", self.weft("bind", NIC).stdout)
        self.assertIn(": already bound to", self.weft("release", SECOND).stdout)
        self.assertEqual(self.kernel.asked, [])

    def test_the_network_of_the_machine_is_refused_whatever_uses_it(self):
        net = self.kernel.device(NIC) / "net/ens1"
        cases = (
            (lambda: self.write("proc/net/route", ROUTES + "ens1\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\n"), "default route"),
            (lambda: self.write("proc/net/route", ROUTES + "ens1\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\n"), "routes"),
            (lambda: self.write("proc/net/if_inet6", "fd000000000000000000000000000002 04 40 00 82 ens1\n"), "IPv6 address"),
            (lambda: (net / "master").symlink_to("../../br0"), "part of br0"),
            (lambda: (net / "upper_ens1.7").symlink_to("/"), "ens1.7 on top of it"),
        )
        for make, use in cases:
            self.write("proc/net/route", ROUTES)
            self.write("proc/net/if_inet6", "")
            make()
            self.refused(3, "ens1 is in use by this machine's own network", "bind", NIC)
            self.refused(3, use, "bind", "ens1")
            self.refused(3, f"'weft port bind --force {NIC}'", "bind", SECOND, NIC)

    def test_a_link_local_address_is_no_use(self):
        self.write("proc/net/if_inet6", "fe800000000000000000000000000002 04 40 20 80 ens1\n")
        self.assertEqual(self.weft("bind", NIC).returncode, 0)

    def test_force_takes_the_network_of_the_machine(self):
        self.write("proc/net/route", ROUTES + "ens1\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\n")
        self.assertEqual(self.weft("bind", "--force", NIC).returncode, 0)
        self.assertEqual(self.driver(NIC), "vfio-pci")

    def test_a_device_whose_interface_is_out_of_sight_is_refused(self):
        shutil.rmtree(self.kernel.device(NIC) / "net")
        self.refused(3, "network namespace", "bind", NIC)

    def test_what_is_no_nic_is_refused(self):
        self.refused(2, "not a network interface (class 0x010601)", "bind", DISK)
        self.refused(2, "has no PCI device with this address", "bind", "0000:99:00.0")
        self.refused(2, "neither a PCI address nor the interface name of a PCI device", "bind", "eth77")
        self.refused(2, "neither a PCI address nor the interface name of a PCI device", "bind", "../../etc")
        self.refused(2, "not a network interface", "release", DISK)

    def test_without_an_iommu_the_two_ways_out_are_told(self):
        for group in ("12", "13", "3"):
            shutil.rmtree(self.root / "sys/kernel/iommu_groups" / group)
        self.refused(3, "vfio-pci needs the IOMMU, which is off", "bind", NIC)
        self.refused(3, "intel_iommu=on iommu=pt", "bind", NIC)
        self.refused(3, f"'weft port bind --driver uio_pci_generic {NIC}'", "bind", NIC)
        self.assertEqual(self.weft("bind", "--driver", "uio_pci_generic", NIC).returncode, 0)
        self.assertEqual(self.driver(NIC), "uio_pci_generic")

    def test_vfio_without_an_iommu_is_taken_where_the_kernel_allows_it(self):
        for group in ("12", "13", "3"):
            shutil.rmtree(self.root / "sys/kernel/iommu_groups" / group)
        self.write("sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y\n")
        self.assertEqual(self.weft("bind", NIC).returncode, 0)

    def test_a_driver_that_is_not_loaded_is_named(self):
        shutil.rmtree(self.root / "sys/bus/pci/drivers/vfio-pci")
        self.refused(3, "driver vfio-pci is not loaded; run 'modprobe vfio-pci'", "bind", NIC)
        self.refused(2, "--driver ixgbe: expected vfio-pci, uio_pci_generic or igb_uio", "bind", "--driver", "ixgbe", NIC)

    def test_a_group_is_bound_as_a_whole(self):
        self.group(SECOND, "12")
        self.refused(3, f"shares IOMMU group 12 with {SECOND}, which is bound to driver ixgbe; bind both with 'weft port bind {NIC} {SECOND}'",
                     "bind", NIC)
        self.assertEqual(self.weft("bind", NIC, SECOND).returncode, 0)

    def test_a_bridge_of_the_group_may_keep_its_driver(self):
        self.device(BRIDGE, 0x060400, "ahci", group="12")
        self.assertEqual(self.weft("bind", NIC).returncode, 0)

    def test_another_device_of_the_group_is_named(self):
        self.group(DISK, "12")
        self.refused(3, "move the NIC to another slot", "bind", NIC)

    def open_by_a_switch(self, file):
        self.write("proc/4242/comm", "weft-switch\n")
        (self.root / "proc/4242/fd").mkdir()
        (self.root / "proc/4242/fd/7").symlink_to(file)

    def test_a_device_that_a_process_uses_through_uio_stays(self):
        folder = self.device("0000:5e:00.0", 0x020000, "uio_pci_generic")
        (folder / "uio/uio3").mkdir(parents=True)
        self.open_by_a_switch("/dev/uio3")
        self.refused(3, "in use by process 4242 (weft-switch)", "release", "0000:5e:00.0")

    def test_a_device_that_a_process_uses_through_vfio_without_an_iommu_stays(self):
        self.nic("0000:5e:00.0", "vfio-pci", group="0")
        self.write("dev/vfio/noiommu-0", "")
        self.open_by_a_switch("/dev/vfio/noiommu-0")
        self.refused(3, "in use by process 4242 (weft-switch)", "release", "0000:5e:00.0")

    def test_a_device_that_a_process_uses_stays(self):
        self.nic("0000:5e:00.0", "vfio-pci", group="20")
        self.open_by_a_switch("/dev/vfio/20")
        self.refused(3, "in use by process 4242 (weft-switch)", "release", "0000:5e:00.0")
        self.refused(3, "weft lab down", "bind", "--driver", "uio_pci_generic", "0000:5e:00.0")

    def test_devices_that_dpdk_shares_with_the_kernel_are_left(self):
        self.load("mlx5_core")
        self.nic("0000:af:00.0", "mlx5_core", "ens9")
        done = self.weft("bind", "ens9")
        self.assertEqual((done.returncode, self.kernel.asked), (0, []))
        self.assertIn("DPDK shares the device with kernel driver mlx5_core", done.stdout)

    def test_a_driver_that_does_not_take_the_device_is_told(self):
        self.kernel.failing = {"vfio-pci", "ixgbe"}
        done = self.weft("bind", NIC)
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"driver vfio-pci did not claim the device; see 'dmesg | tail'. 'weft port release {NIC}'", done.stderr)
        self.kernel.failing = {"vfio-pci"}
        self.kernel.own[NIC] = None
        done = self.weft("release", NIC, SECOND)
        self.assertEqual(done.returncode, 3)
        self.assertIn("no kernel driver claimed the device; try 'modprobe $(cat /sys/bus/pci/devices/", done.stderr)
        self.assertIn(f"{SECOND}: already bound to kernel driver ixgbe", done.stdout)

    def test_without_permission_sudo_is_named(self):
        if os.geteuid() != 0:
            self.skipTest("root lets another user try")
        override = self.kernel.device(NIC) / "driver_override"
        override.chmod(0o444)
        for path in (self.root, *self.root.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        if not os.access(WEFT, os.X_OK) or shutil.which("setpriv") is None:
            self.skipTest("no setpriv")
        copy = self.root / "weft"
        shutil.copy(WEFT, copy)
        self.kernel.start()
        self.started = True
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", str(copy), "port", "bind", NIC],
                              capture_output=True, text=True, timeout=240, check=False,
                              env={**os.environ, "WEFT_SYSFS_ROOT": str(self.root)})
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no permission to write", done.stderr)
        self.assertIn("'sudo'", done.stderr)
        self.assertEqual(self.kernel.asked, [])


class Check(Port):
    def setUp(self):
        super().setUp()
        self.nic("0000:5e:00.0", "vfio-pci", group="20")

    def check(self, *words, here="0000:5e:00.0", there="0000:77:00.0"):
        lab = self.root / "lab.yaml"
        lab.write_text(LAB.format(here=here, there=there))
        return self.weft("check", *words, str(lab))

    def fault(self, text, *words, **more):
        done = self.check(*words, **more)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        lines = [line for line in done.stdout.splitlines() if line.startswith("FAULT")]
        self.assertEqual(len(lines), 1, done.stdout)
        self.assertIn(text, lines[0])
        self.assertEqual(done.stderr, "weft port check: 1 fault; see above for the fixes\n")

    def test_a_good_machine_has_no_fault(self):
        self.hugepages(256)
        done = self.check()
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertRegex(done.stdout, r"ok +s0:1 +0000:5e:00\.0: vfio-pci\n")
        self.assertRegex(done.stdout, r"- +h1:0 +0000:77:00\.0: not in this machine\n")
        self.assertRegex(done.stdout, r"ok +hugepages +512 MiB free of about 256 MiB\n")

    def test_no_hugepages_is_a_fault_only_where_they_are_needed(self):
        done = self.check()
        self.assertEqual(done.returncode, 0)
        self.assertIn("hugepages  0 MiB free of about 256 MiB; without hugepages Weft is slightly slower; add 128 to ", done.stdout)
        (self.kernel.device("0000:5e:00.0") / "driver").unlink()
        (self.kernel.device("0000:5e:00.0") / "driver").symlink_to("../../../../bus/pci/drivers/uio_pci_generic")
        self.fault("which uio_pci_generic requires; add 128 to the number in /sys/kernel/mm/hugepages")

    def test_a_device_of_the_kernel_is_a_fault(self):
        self.fault(f"bound to kernel driver ixgbe; run 'weft port bind {NIC}'", here=NIC)

    def test_the_network_of_the_machine_is_a_fault(self):
        self.write("proc/net/route", ROUTES + "ens1\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\n")
        self.fault("in use by this machine's own network (default route)", here=NIC)

    def test_a_device_without_a_driver_is_a_fault(self):
        (self.kernel.device(NIC) / "driver").unlink()
        shutil.rmtree(self.kernel.device(NIC) / "net")
        self.fault(f"not bound to a driver; run 'weft port bind {NIC}'", here=NIC)

    def test_an_iommu_that_is_off_and_a_driver_that_is_missing_are_faults(self):
        shutil.rmtree(self.root / "sys/bus/pci/drivers/vfio-pci")
        self.fault("'modprobe vfio-pci'", here=NIC)
        for group in ("12", "13", "3", "20"):
            shutil.rmtree(self.root / "sys/kernel/iommu_groups" / group)
        self.fault("vfio-pci needs the IOMMU, which is off", here=NIC)

    def test_a_group_that_the_kernel_shares_is_a_fault(self):
        self.group(SECOND, "20")
        self.fault(f"shares IOMMU group 20 with {SECOND}")

    def test_a_device_in_use_is_a_fault(self):
        self.write("proc/77/comm", "testpmd\n")
        (self.root / "proc/77/fd").mkdir()
        (self.root / "proc/77/fd/3").symlink_to("/dev/vfio/20")
        self.fault("in use by process 77 (testpmd)")

    def test_with_a_process_a_device_that_is_elsewhere_is_a_fault(self):
        self.fault("this machine has no PCI device with this address", "--process", "h1")
        self.assertEqual(self.check("--process", "s0").returncode, 0)

    def test_two_ports_in_one_device_are_refused(self):
        done = self.check("--process", "s0", "--process", "h1", there="0000:5e:00.0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("are both bound to '0000:5e:00.0'", done.stderr)

    def test_a_lab_without_ports_here_says_so(self):
        done = self.check(here="0000:76:00.0")
        self.assertEqual(done.returncode, 0)
        self.assertIn("this lab has no PCI ports on this machine\n", done.stdout)

    def test_a_bad_file_or_process_is_refused(self):
        self.refused(2, "nofile.yaml: No such file or directory", "check", "nofile.yaml")
        done = self.check("--process", "s9")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn("--process s9: no such device", done.stderr)


if __name__ == "__main__":
    unittest.main()
