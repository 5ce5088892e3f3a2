#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The messages of 'weft lab up' about processes that do not come up. A program of this file stands in for
weft-switch and weft-nic: it needs no DPDK, no ports and no root.

usage: lab_up_test.py WEFT
"""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

import labs

WEFT = None

LAB = """weft: lab/1
name: {name}
topology: "full:switches=2,hosts=1"
mapper: {{routes: static}}
"""

PROGRAM = """#!/bin/sh
exec {python} {test} --play "$@"
"""


# --- the player: argv is what 'weft lab up' gives to its programs ---

def option(argv, name):
    return argv[argv.index(name) + 1]


def answers(device, part):
    """The telemetry of a process that has one switch, or all hosts."""
    kind = "switch" if device[0] == "s" else "nic"
    links = [{"port": f"{device}:{port}", "peer": f"{'s1' if device == 's0' else 's0'}:{port}",
              "state": "up", "sessions_seen": 1, "link_downs": 0} for port in (0, 1)]
    if part == "deaf":
        links[1].update(state="down", sessions_seen=0)
    if part == "opening":
        links = []
    told = {"/weft/links,0": links, f"/weft/links,{len(links)}": [], f"/weft/{kind}/list": [device],
            f"/weft/{kind}/stats,{device}": {"frames": 5, "no_mbuf": 0}, "/weft/switch/list": [],
            "/weft/nic/list": [], "/weft/port/list": []}
    told[f"/weft/{kind}/list"] = [device]
    if part == "empty-switch":
        told[f"/weft/{kind}/stats,{device}"] = {"no_mbuf": 17}
        told["/weft/port/list"] = [f"{device}:1", f"{device}:2"]
        told[f"/weft/port/stats,{device}:1"] = {"no_mbuf": 0}
        told[f"/weft/port/stats,{device}:2"] = {"no_mbuf": 17}
    if part == "empty-host":
        told[f"/weft/{kind}/stats,{device}"] = {"pool_empty": 3}
    if not links:
        told["/weft/links,0"] = []
    return told


def serve(prefix, told):
    folder = os.path.join(os.environ["RUNTIME_DIRECTORY"], "dpdk", prefix)
    os.makedirs(folder, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(os.path.join(folder, "dpdk_telemetry.v2"))
        listener.listen(16)
        while True:
            with listener.accept()[0] as peer, contextlib.suppress(ConnectionError):
                peer.send(b'{"version": "played", "pid": 1, "max_output_len": 16384}')
                while command := peer.recv(4096).decode():
                    peer.send(json.dumps({command: told.get(command)}).encode())


def play(argv):
    device = option(argv, "--switch" if "--switch" in argv else "--host")
    parts = json.loads(os.environ["PLAY"])
    part = parts.get(device, "good")
    print(f"playing: {part}", flush=True)
    if part == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if part == "crashed":
        os.kill(os.getpid(), signal.SIGBUS)
    if part == "ended":
        sys.exit(3)
    if part == "starved":
        folder = os.path.join(os.environ["WEFT_SYSFS_ROOT"], f"proc/{os.getpid()}/task/{os.getpid()}")
        os.makedirs(folder)
        with open(f"{folder}/schedstat", "w") as file:
            file.write("300000000 2600000000 77\n")
        with open(f"{os.environ['WEFT_SYSFS_ROOT']}/starved", "w"):
            signal.pause()
    if part == "slow":
        signal.pause()
    if part == "hungry":
        with open("/proc/self/comm", "w") as file:
            file.write("weft-switch")
        eaten = []
        while True:
            eaten.append(os.urandom(1 << 20))
    # The lab's name is that of its run directory.
    serve(f"weft-{os.path.basename(option(argv, '--run-dir'))}-{device}", answers(device, part))


# --- tests ---

def memory_group(name, limit):
    """A control group of so much memory below our own, or beside that of tools/check; (None, why)."""
    try:
        with open("/proc/self/cgroup") as file:
            own = {words[1]: words[2] for words in (line.strip().split(":", 2) for line in file)}
        first = "memory" in own
        above = re.sub("/weft-check-[0-9]+$", "", own["memory" if first else ""])
        group = os.path.join("/sys/fs/cgroup/memory" if first else "/sys/fs/cgroup", above.strip("/"), name)
        os.mkdir(group)
        limits = ("memory.limit_in_bytes",) if first else ("memory.max", "memory.swap.max")
        for file_name, value in zip(limits, (limit, 0)):
            with open(os.path.join(group, file_name), "w") as file:
                file.write(str(value))
    except (OSError, KeyError) as error:
        if "group" in locals() and os.path.isdir(group):
            os.rmdir(group)
        return None, f"no control group with a limit of memory can be made: {error}"
    return group, None



class Up(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="weft-up-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.weft = os.path.join(self.folder, "weft")
        # Programs are looked for beside 'weft'.
        shutil.copy(WEFT, self.weft)
        for program in ("weft-switch", "weft-nic"):
            path = os.path.join(self.folder, program)
            with open(path, "w") as file:
                file.write(PROGRAM.format(python=sys.executable, test=os.path.abspath(__file__)))
            os.chmod(path, 0o755)
        self.name = f"u{os.getpid()}"
        self.run_dir = os.path.join(self.folder, self.name)
        self.file = os.path.join(self.folder, "lab.yaml")
        with open(self.file, "w") as file:
            file.write(LAB.format(name=self.name))

    def start(self, part, *more, inside=None, **play):
        enter = ["sh", "-c", f'echo $$ > {inside}/cgroup.procs && exec "$@"', "sh"] if inside else []
        return labs.Program([*enter, self.weft, "lab", part, self.file, "--run-dir", self.run_dir, *more],
                            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env={**os.environ, "RUNTIME_DIRECTORY": self.folder, "WEFT_SYSFS_ROOT": self.folder,
                                 "PLAY": json.dumps(play)})

    def lab(self, part, *more, **kind):
        with self.start(part, *more, **kind) as run:
            out, err = run.communicate(timeout=labs.HANG_SECONDS)
        return subprocess.CompletedProcess(run.args, run.returncode, out, err)

    def refused(self, code, said, **kind):
        """The last line of what 'up' says; nothing is left."""
        done = self.lab("up", "--wait", labs.UP_WAIT, **kind)
        return self.assert_refused(code, said, done.returncode, done.stdout, done.stderr)

    def refused_late(self, said, **play):
        """As refused(), after three seconds and when all processes but slow ones answer."""
        with self.start("up", "--wait", "3s", **play) as up:
            with labs.held(up, self.run_dir, 3):
                for device in ("s0", "s1", "h0"):
                    if play.get(device) == "starved":
                        labs.wait_path(f"{self.folder}/starved", up)
                    elif play.get(device) != "slow":
                        labs.wait_socket(f"{self.folder}/dpdk/weft-{self.name}-{device}/dpdk_telemetry.v2", up)
            out, err = up.communicate(timeout=labs.HANG_SECONDS)
        return self.assert_refused(3, said, up.returncode, out, err)

    def assert_refused(self, wanted, said, code, out, err):
        self.assertEqual((code, out), (wanted, ""), err)
        last = err.splitlines()[-1]
        self.assertTrue(last.startswith("weft lab up: "), last)
        self.assertRegex(last, said)
        self.assertFalse(os.path.exists(self.run_dir))
        return err

    def test_a_lab_whose_processes_are_well_is_up(self):
        done = self.lab("up", "--wait", labs.UP_WAIT)
        self.addCleanup(self.lab, "down")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 processes, 2 switches, 2 hosts, 3 links", done.stdout)
        self.assertNotIn("other machines", done.stdout)

    def test_explain_prints_a_lab_file_that_reads_back_and_the_plan_and_starts_nothing(self):
        first = self.lab("up", "--explain")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("\n# process s1: weft-switch, 1 devices, ", first.stdout)
        self.assertFalse(os.path.exists(self.run_dir))
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(first.stdout)
        self.assertEqual(self.lab("up", "--explain").stdout, first.stdout)

    def test_a_process_that_was_killed_is_said_to_be(self):
        said = self.refused(3, r": s1 \(weft-switch\) was killed by signal 9 \(.*; see dmesg\)\Z",
                            s1="killed")
        self.assertIn("  s1: playing: killed\n", said)

    def test_a_process_that_the_kernel_killed_for_its_memory_is_said_to_be(self):
        # A sanitizer's programs need more themselves.
        group, why = memory_group(f"weft-{self.name}", (512 if labs.has_sanitizer(WEFT) else 64) << 20)
        if group is None:
            self.skipTest(why)
        self.addCleanup(os.rmdir, group)
        self.refused(3, r": s1 \(weft-switch\) was killed by signal 9 \((the kernel's out-of-memory killer|"
                     r"SIGKILL); see dmesg\)\Z",
                     inside=group, s1="hungry")

    def test_the_signal_that_ended_a_process_is_named(self):
        self.refused(3, r": h0 \(weft-nic\) was killed by signal 7 \(Bus error\)\Z", h0="crashed")

    def test_the_code_with_which_a_process_ended_is_said(self):
        self.refused(3, r": s0 \(weft-switch\) ended with exit code 3\Z", s0="ended")

    def test_a_process_that_is_slow_to_start_is_told_apart_from_links_that_do_not_come_up(self):
        # The links to it are not up either, which is no news.
        self.refused_late(r": after 3000 ms s1 has not started its ports: DPDK has not started yet "
                          r"\(.*\); use a longer --wait\Z", s0="deaf", s1="slow")

    def test_a_process_that_waits_for_a_cpu_is_named_with_its_times(self):
        self.refused_late(r": after 3000 ms s1 has not started its ports; this machine is short of CPU time: s1 ran for "
                          r"0\.3 s and waited for a CPU for 2\.6 s; end other programs or use fewer processes "
                          r"\('processes: one'\) \(.*\); use a longer --wait\Z", s1="starved")

    def test_a_process_that_opens_its_ports_is_told_apart_from_one_without_dpdk(self):
        self.refused_late("s0 has not started its ports: DPDK has started, and the ports are being opened", s0="opening")

    def test_a_link_at_which_nothing_was_heard_is_named(self):
        self.refused_late(r": after 3000 ms link s0:1 - s1:1 is waiting: nothing was received from the other "
                          r"end; use a longer --wait\Z", s0="deaf")

    def test_a_pool_that_has_run_out_fails_with_the_port_and_the_count(self):
        self.refused(1, r": s1:2: no buffer for control frames, 17 times: the pool of control frames is "
                     r"exhausted\Z", s1="empty-switch")

    def test_the_pool_of_any_device_may_run_out(self):
        self.refused(1, r": h0: no buffer, 3 times: a pool of this process is exhausted\Z", h0="empty-host")


def main():
    global WEFT
    if sys.argv[1:2] == ["--play"]:
        play(sys.argv[2:])
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    WEFT = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)


if __name__ == "__main__":
    main()
