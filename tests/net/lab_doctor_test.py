#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft lab doctor, and the full-size frames of weft port check: on a machine whose /proc and /sys the test makes
(WEFT_SYSFS_ROOT), over a bridge with a small MTU, on NICs of the tests' own. Needs root; says so and exits 77
where that is not allowed.

usage: lab_doctor_test.py WEFT LIBRTE_NET_FAKE [TEST]..."""
import json
import os
import shutil
import subprocess
import sys
import unittest

import fake_nics
import lab_cases
import labs

WEFT = PLUGIN = None
BRIDGED = """topology: topology.yaml
seed: 1
groups: {n0: [h0], n1: [h1]}
dilation: 2
hello: 150ms
mapper: {key: fabric.key, """ + labs.MAPPER + """}
"""
TOPOLOGY = """weft: topology/1
name: pair
link: {rate: 1Gbps, delay: 30ns}
switches: [{name: s0, ports: 2, stage: 1}, {name: s1, ports: 2, stage: 1}]
hosts: [{name: h0}, {name: h1}]
links:
  - {a: h0:0, b: s0:0}
  - {a: h1:0, b: s1:0}
  - {a: s0:1, b: s1:1}
ports:
  - {port: s0:1, dpdk: "net_af_packet0,iface=nic0"}
  - {port: s1:1, dpdk: "net_af_packet1,iface=nic1"}
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


class Machine:
    """The /proc and /sys of a machine on which the threads of a lab ran and waited for so many ms each."""

    def __init__(self, lab, run_ms, wait_ms, autogroup, governors, defrag, groups=()):
        """'groups': (line of /proc/PID/cgroup, {file below /sys/fs/cgroup: text})"""
        self.root = os.path.join(lab.folder, "root")
        for pid in lab.pids.values():
            for thread in os.listdir(f"/proc/{pid}/task"):
                try:
                    name = labs.read(f"/proc/{pid}/task/{thread}/comm").strip()
                except FileNotFoundError:  # it has ended
                    continue
                write(f"{self.root}/proc/{pid}/task/{thread}/comm", name)
                write(f"{self.root}/proc/{pid}/task/{thread}/schedstat", f"{run_ms}000000 {wait_ms}000000 9")
        write(f"{self.root}/proc/sys/kernel/sched_autogroup_enabled", autogroup)
        for pid in lab.pids.values():
            write(f"{self.root}/proc/{pid}/cgroup", groups[0] if groups else "0::/")
        for path, text in groups[1].items() if groups else ():
            write(f"{self.root}/sys/fs/cgroup{path}", text)
        for cpu, governor in enumerate(governors):
            write(f"{self.root}/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", governor)
        write(f"{self.root}/sys/kernel/mm/transparent_hugepage/defrag", defrag)


def doctor(lab, *more, root="/nowhere", enter=()):
    """On one CPU of this machine, however many it has."""
    return subprocess.run(["taskset", "-c", str(min(os.sched_getaffinity(0))), *enter, WEFT, "lab", "doctor", lab.file,
                           *more], env={**os.environ, "WEFT_SYSFS_ROOT": root}, text=True, timeout=labs.HANG_SECONDS,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


class Case(lab_cases.LabCase):
    def changes(self, done):
        """What is to be changed: {check: subjects}."""
        document = json.loads(done.stdout)
        found = {}
        for check in document["checks"]:
            self.assertEqual(set(check), {"check", "subject", "result", "text", "fix"})
            self.assertEqual(check["fix"] is None, check["result"] != "change", check)
            if check["result"] == "change":
                found.setdefault(check["check"], []).append(check["subject"])
        self.assertEqual(document["findings"], sum(map(len, found.values())))
        self.assertEqual(document["unknown"], sum(check["result"] == "unknown" for check in document["checks"]))
        self.assertEqual(done.returncode, 1 if found else 0, done.stderr)
        return found


class Cpus(Case):
    def test_a_starved_machine_is_told_from_a_good_one_by_what_the_kernel_reports(self):
        lab = self.lab("c")
        lab.up()
        # The lab's clock is 20 times slower: it needs a twentieth of the time.
        good = Machine(lab, 900, 9000, "1", ["performance"] * 12, "always [madvise] never")
        done = doctor(lab, root=good.root)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("\nnothing to change\n", done.stdout)
        bad = Machine(lab, 300, 9700, "1", [*["performance"] * 10, "powersave", "schedutil"],
                      "[always] madvise never")
        found = self.changes(doctor(lab, "--json", root=bad.root))
        self.assertEqual(found, {"loops": [f"{name}, thread {pid}" for name, pid in lab.pids.items()],
                                 "cores": ["this machine"], "autogroup": ["kernel"], "governor": ["CPU 10"],
                                 "hugepages": ["transparent"]})
        said = doctor(lab, root=bad.root)
        self.assertEqual([line for line in said.stdout.splitlines() if len(line) > 80], [])
        self.assertIn("ran for 0.3 s and waited for a CPU for 9.7 s", " ".join(said.stdout.split()))
        self.assertIn("CPU 10: powersave; 2 of 12 CPUs", " ".join(said.stdout.split()))
        self.assertEqual(said.returncode, 1)

    def test_the_lowest_cpu_quota_of_the_groups_around_the_lab_is_found(self):
        lab = self.lab("q")
        lab.up()
        loops = len(lab.pids)
        for line, files, expected in (
                ("0::/a/b", {"/a/cpu.max": "max 100000", "/a/b/cpu.max": "max 100000"}, None),
                ("0::/a/b", {"/a/cpu.max": "150000 100000", "/a/b/cpu.max": "250000 100000"}, "1.5"),
                ("0::/a/b", {"/a/b/cpu.max": "5000 10000", "/cpu.max": "max 100000"}, "0.5"),
                ("0::/", {"/cpu.max": "200000 100000"}, "2"),
                ("4:cpu,cpuacct:/a", {"/cpu/a/cpu.cfs_quota_us": "-1", "/cpu/a/cpu.cfs_period_us": "100000"}, None),
                ("3:memory:/x\n4:cpu,cpuacct:/a", {"/cpu/a/cpu.cfs_quota_us": "25000", "/cpu/a/cpu.cfs_period_us": "100000"},
                 "0.25")):
            with self.subTest(line=line, files=files):
                machine = Machine(lab, 300, 9700, "0", ["performance"], "never", (line, files))
                self.addCleanup(shutil.rmtree, machine.root, True)
                found = self.changes(doctor(lab, "--json", root=machine.root))
                self.assertEqual("quota" in found, expected is not None)
                said = " ".join(doctor(lab, root=machine.root).stdout.split())
                self.assertIn(f"quota control group: {loops} loops, a quota of {expected} CPUs, dilation 20: raise the CPU quota"
                              if expected else "quota control group: no limit on CPU time", said)
                shutil.rmtree(machine.root)

    def test_what_the_kernel_does_not_report_is_unknown(self):
        lab = self.lab("u")
        lab.up()
        done = doctor(lab, "--json")
        self.assertEqual(self.changes(done), {})
        self.assertLessEqual({"loops", "quota", "governor", "hugepages"},
                             {c["check"] for c in json.loads(done.stdout)["checks"] if c["result"] == "unknown"})
        self.assertRegex(doctor(lab).stdout, r"\nnothing to change, [0-9]+ checks without a result\n$")

    def test_a_process_that_ended_is_unknown_and_drops_of_its_edge_are_not_0(self):
        lab, _ = self.edge_lab("g")
        lab.up()
        lab.kill("h0")
        labs.wait_ends([lab.pids["h0"]])
        done = doctor(lab, "--json")
        self.changes(done)
        checks = json.loads(done.stdout)["checks"]
        self.assertEqual([(c["subject"], c["result"]) for c in checks if c["check"] == "processes"], [("h0", "unknown")])
        self.assertNotIn("h0", [c["subject"] for c in checks if c["check"] == "edges"])

    def test_a_lab_that_is_not_up_has_no_answer(self):
        lab = self.lab("n")
        done = doctor(lab)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("is not up", done.stderr)


class Edges(Case):
    def test_a_packet_that_the_edge_dropped_is_counted(self):
        lab, (namespace, _) = self.edge_lab("e")
        lab.up()
        self.assertEqual(self.changes(doctor(lab, "--json")), {})
        send = ("import socket; s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('wt1', 0)); "
                "s.send(b'\\2' * 12 + b'\\x08\\x00' + b'\\x45' + 20 * b'\\xff')")
        subprocess.run(["ip", "netns", "exec", namespace, sys.executable, "-c", send], check=True)
        lab.wait(lambda: lab.status()["edges"][0]["drops"] > 0, "the packet is not counted")
        self.assertEqual(self.changes(doctor(lab, "--json")), {"edges": ["h0"]})


class Paths(Case):
    """Two processes of one machine with two bridges between them."""

    def setUp(self):
        self.lab_ = lab = labs.Lab(WEFT, "p", BRIDGED, {"topology.yaml": TOPOLOGY, "fabric.key": 32 * "5e" + "\n"})
        self.enter = ("ip", "netns", "exec", lab.name)
        self.ip("netns", "add", lab.name, inside=False)
        self.addCleanup(self.ip, "netns", "del", lab.name, inside=False)
        self.ip("link", "add", "middle0", "mtu", "5000", "type", "veth", "peer", "name", "middle1", "mtu", "5000")
        for i in range(2):
            self.ip("link", "add", f"bridge{i}", "up", "type", "bridge")
            self.ip("link", "set", f"middle{i}", "master", f"bridge{i}", "up")
            self.ip("link", "add", f"nic{i}", "mtu", "5000", "type", "veth", "peer", "name", f"port{i}", "mtu", "5000")
            self.ip("link", "set", f"port{i}", "master", f"bridge{i}", "up")
            self.ip("link", "set", f"nic{i}", "up")
        self.addCleanup(lab.remove)
        self.inside("lab", "up", lab.file, "--wait", labs.UP_WAIT)
        lab.note_pids()

    def ip(self, *words, inside=True):
        subprocess.run(["ip", *(("-n", self.lab_.name) if inside else ()), *words], check=True)

    def inside(self, *words, code=0):
        done = subprocess.run([*self.enter, WEFT, *words], text=True, stdin=subprocess.DEVNULL, check=False,
                              timeout=labs.HANG_SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def test_a_small_mtu_in_between_is_found_and_the_link_stays_up(self):
        downs = self.lab_.downs()
        done = doctor(self.lab_, "--json", enter=self.enter)
        self.assertEqual(self.changes(done), {})
        self.assertEqual([check["subject"] for check in json.loads(done.stdout)["checks"] if check["check"] == "pause"],
                         ["s0:1", "s1:1"])
        said = self.inside("port", "check", self.lab_.file)
        self.assertRegex(said, r"(?m)^ok +s0:1 +frames of 4174 bytes reach s1:1$")
        self.ip("link", "set", "middle0", "mtu", "1500")
        self.ip("link", "set", "middle1", "mtu", "1500")
        found = self.changes(doctor(self.lab_, "--json", enter=self.enter))
        self.assertEqual({check: sorted(ports) for check, ports in found.items()}, {"path MTU": ["s0:1", "s1:1"]})
        said = self.inside("port", "check", self.lab_.file, "--process", "s1", code=3)
        self.assertRegex(said, r"(?m)^FAULT +s1:1 +frames of 4174 bytes do not reach s0:1: raise the MTU of ")
        self.assertNotIn("s0:1 ", said.replace("reach s0:1", ""))
        self.assertEqual(self.lab_.downs(), downs)

    def test_a_link_that_is_cut_has_no_path_mtu_to_change(self):
        self.inside("lab", "link", self.lab_.file, "s0:1", "down")
        done = doctor(self.lab_, "--json", enter=self.enter)
        self.assertEqual(self.changes(done), {})
        checks = {check["subject"]: (check["result"], check["text"].split(",")[0].split(" of ")[0])
                  for check in json.loads(done.stdout)["checks"] if check["check"] == "path MTU"}
        dark = ("unknown", "the link is cut or has no carrier")
        self.assertEqual(checks, {"s0:1": dark, "s1:1": dark, **{
            port: ("ok", "frames") for port in ("h0:0", "h1:0", "s0:0", "s1:0")}})


class Nics(Case):
    def test_pause_frames_and_a_slow_nic_are_named(self):
        lab = fake_nics.FakeLab(WEFT, PLUGIN, "x", lambda port: {1: "pause=77", 2: "speed=1000"}.get(port, ""))
        self.addCleanup(lab.remove)
        lab.up()
        done = doctor(lab, "--json")
        self.assertEqual(self.changes(done), {"speed": ["s0:2"], "pause": ["net_fake3"]})
        self.assertIn("77 pause frames", done.stdout)


def main():
    global WEFT, PLUGIN
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    WEFT = lab_cases.WEFT = os.path.abspath(sys.argv[1])
    labs.need_lab(("ip", "taskset"))
    PLUGIN = fake_nics.Plugin(sys.argv[2])
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
    finally:
        PLUGIN.remove()


if __name__ == "__main__":
    main()
