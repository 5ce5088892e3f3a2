#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Labs on machines that are not set up as they should be: one line that says what to do, exit code 2 or 3, and
nothing is left. Machines are network namespaces with a veth pair for the cable; a full disk is a small file system
in memory. (PCI devices: tests/tools/port_test.py, tests/unit/port/pci_fault_test.c and tests/machines; ssh:
lab_ssh_test.py.)

usage: wrong_setup_test.py WEFT [TEST]...
"""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import lab_machines_test
import labs

WEFT = None
HERE = lab_machines_test.HERE
NO_SPACE = "No space left on device|no space left in "

ALONE = """topology: "full:switches=2,hosts=1"
dilation: 20
mapper: {key: fabric.key}
traffic: [{pattern: uniform, from: all, to: all, load: 0.1%, message: 1KiB}]
measure: {duration: 20ms}
"""

# Mounts a file system of $1 on $2; the rest is a command, whose end leaves no file there.
SMALL = """mount -t tmpfs -o size=$1,mode=700 small "$2" && dir=$2 && shift 2 && { "$@"; code=$?; }
find "$dir" ! -type d | sed 's/^/left /'
exit $code"""
# The same with no space at all.
FULL = """mount -t tmpfs -o size=8k,mode=700 full "$1" && dir=$1 && shift && cat /dev/zero 2>/dev/null > "$dir/fill"
cd "$dir" && exec "$@" """


class Setup(unittest.TestCase):
    def one_line(self, code, done, pattern, command="up"):
        """Beside it there are only lines of logs."""
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        lines = [line for line in done.stderr.splitlines() if not line.startswith("  ")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], rf"\Aweft lab {command}: .*{pattern}")


class Cable(Setup):
    def machines(self, tag, text=lab_machines_test.LAB):
        lab_machines_test.WEFT = WEFT
        lab = lab_machines_test.Machines(tag, text)
        self.addCleanup(lab.remove)
        return lab

    def ip(self, lab, side, *words):
        subprocess.run(["ip", "-n", lab.netns(side), "link", "set", "cable", *words], check=True)

    def refused(self, lab, code, pattern, wait=labs.UP_WAIT, before=None):
        """By 'up' on the left machine, which looks at the lab for the last time after before()."""
        up = lab.start_up("left", wait)
        if before:
            with labs.held(up, lab.directory("left"), 2):
                before()
        out, err = up.communicate(timeout=600)
        self.one_line(code, subprocess.CompletedProcess(up.args, up.returncode, out, err), pattern)
        self.assertFalse(os.path.exists(lab.directory("left")))

    def test_an_interface_that_is_not_there_is_named(self):
        lab = self.machines("a")
        topology = os.path.join(lab.folder, "topology.yaml")
        with open(topology, encoding="utf-8") as file:
            text = file.read()
        with open(topology, "w", encoding="utf-8") as file:
            file.write(text.replace("iface=cable", "iface=nosuch", 1))
        self.refused(lab, 3, r"left \(weft-switch\) ended with exit code 3: left:2: net_af_packet0,iface=nosuch.*"
                     r"no such interface.*'ip link'")

    def test_a_pci_address_that_is_not_there_is_named(self):
        lab = self.machines("b")
        topology = os.path.join(lab.folder, "topology.yaml")
        with open(topology, encoding="utf-8") as file:
            text = file.read()
        with open(topology, "w", encoding="utf-8") as file:
            file.write(text.replace(lab_machines_test.DEVICE, "0000:ff:1f.7", 1))
        self.refused(lab, 3, r"ended with exit code 3: left:2: no PCI device 0000:ff:1f\.7 in this machine; 'weft "
                     r"port list' lists the network interfaces\Z")

    def test_an_mtu_that_is_too_small_is_said_with_what_fits(self):
        lab = self.machines("c")
        self.ip(lab, "left", "mtu", "1500")
        self.refused(lab, 3, r"left:2: net_af_packet0 accepts frames of at most 1514 bytes, but .* reduce nic\.mtu by \d+ bytes, or run "
                     r"'ip link set cable mtu \d+'\Z")

    def test_an_interface_that_is_down_is_no_cable(self):
        lab = self.machines("d")
        self.ip(lab, "left", "down")
        self.refused(lab, 3, r"link left:2 - right:2 is without carrier: is the cable plugged in.*'ip link set NAME up'",
                     "1200ms", lambda: lab.wait_status("left", lambda status: any(
                         link["state"] == "no carrier" for link in status["links"]), "nobody sees it"))

    def test_an_interface_that_goes_down_is_a_cable_that_is_pulled_and_comes_back(self):
        # A loss that three hellos tell is another state.
        lab = self.machines("e", lab_machines_test.LAB.replace("dilation: 5\nhello: 80ms", "hello: 10s"))
        ups = [lab.start_up(side) for side in HERE]
        said = [up.communicate(timeout=600) for up in ups]
        self.assertEqual([up.returncode for up in ups], [0, 0], said)
        state = lambda side: next(link["state"] for link in lab.status_of(side)["links"]
                                  if link["port"] == f"{side}:2")
        self.ip(lab, "left", "down")
        for side in HERE: # the kernel takes the carrier of the other end, too
            lab.wait_status(side, lambda _, side=side: state(side) == "no carrier", "nobody sees it")
        self.ip(lab, "left", "up")
        for side in HERE:
            lab.wait_status(side, lambda _, side=side: state(side) == "up", "it does not come back")

    def refused_two_files(self, tag, change):
        """By 'up' on both machines, whose lab files have the same name."""
        lab = self.machines(tag)
        other = os.path.join(lab.folder, "right.yaml")
        with open(lab.file, encoding="utf-8") as file, open(other, "w", encoding="utf-8") as copy:
            text = file.read()
            self.assertNotEqual(change(text), text)
            copy.write(change(text))
        files, ups = {"left": lab.file, "right": other}, []
        with contextlib.ExitStack() as holds:
            for side, lab.file in files.items():
                ups.append(lab.start_up(side, "1200ms"))
                holds.enter_context(labs.held(ups[-1], lab.directory(side), 2))
            for side, lab.file in files.items():
                lab.wait_status(side, lambda status: any(
                    link["state"] == "other fabric" for link in status["links"]), "nobody sees it")
        for up in ups:
            out, err = up.communicate(timeout=600)
            self.one_line(3, subprocess.CompletedProcess(up.args, up.returncode, out, err),
                          r"(left:2|right:2) is cabled to another fabric \(number 0x[0-9a-f]{4}\): the lab there has "
                          r"a different name, key or lab file; these must agree on both machines")

    def test_two_files_or_two_fabric_keys_of_one_lab_do_not_join(self):
        key = os.path.join(tempfile.mkdtemp(), "other.key")
        self.addCleanup(shutil.rmtree, os.path.dirname(key))
        with open(key, "w", encoding="ascii") as file:
            file.write(32 * "5f" + "\n")
        os.chmod(key, 0o600)
        self.refused_two_files("f", lambda text: text + "switch: {vcs: 2}\n")
        self.refused_two_files("g", lambda text: text.replace("fabric.key", key))

    def test_files_that_differ_in_what_each_machine_may_decide_join(self):
        lab = self.machines("h")
        other = os.path.join(lab.folder, "right.yaml")
        with open(lab.file, encoding="utf-8") as file, open(other, "w", encoding="utf-8") as copy:
            copy.write(file.read().replace("duration: 350ms", "duration: 2s").replace("load: 0.05%", "load: 0.06%")
                       .replace("seed: 1", "lcores: 2"))
        first = lab.start_up("left")
        lab.file = other
        second = lab.start_up("right")
        for up in (first, second):
            said = up.communicate(timeout=600)
            self.assertEqual(up.returncode, 0, said)


class Disk(Setup):
    def setUp(self):
        self.lab = labs.Lab(WEFT, "d", ALONE, {"fabric.key": 32 * "5e" + "\n"})
        self.addCleanup(self.lab.remove)
        self.place = os.path.join(self.lab.folder, "place")
        os.mkdir(self.place, 0o700)

    def call(self, script, *words, **more):
        return subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", *words], text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=240, check=False,
                              env=os.environ | more)

    def test_a_runtime_folder_without_room_is_said_whatever_does_not_fit(self):
        for kib in (4, 8, 12, 20, 24, 28, 48):
            with self.subTest(kib=kib):
                done = self.call(SMALL, f"{kib}k", self.place, WEFT, "lab", "up", "--wait", labs.UP_WAIT, self.lab.file,
                                 RUNTIME_DIRECTORY=self.place)
                self.one_line(3, done, NO_SPACE)

    def test_results_captures_and_maps_that_do_not_fit_are_said(self):
        self.lab.up()
        for command, words in (("run", ["--json", "result.json"]), ("map", ["-o", "map.yaml"]),
                               ("capture", ["s0:0", "-o", "ports.pcapng"])):
            with self.subTest(command):
                done = self.call(FULL, self.place, WEFT, "lab", command, self.lab.name, *words)
                if command == "run": # all that is known of it is said, before that of the file
                    done.stdout = ""
                    done.stderr = re.sub("(?m)^weft lab run: (incomplete|CPU starved): .*\n", "", done.stderr)
                self.one_line(3, done, rf"{words[-1]}: cannot be written: No space left on device\Z", command)
        self.lab.assert_up()

    def test_up_and_apply_by_the_name_of_a_lab_that_is_up_are_told_the_file(self):
        self.lab.up()
        for part in ("up", "apply"):
            done = subprocess.run([WEFT, "lab", part, self.lab.name], text=True, capture_output=True, timeout=240,
                                  check=False)
            self.one_line(2, done, rf"{self.lab.name}: this is the name of a lab that is up; use its lab file, {self.lab.file}\Z", part)


if __name__ == "__main__":
    labs.main(__doc__, ("ip", "unshare"))
