#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The clocks of a lab on two machines, played by two network namespaces with a run directory each. Each side
has a clock file of its own, whose frequency and origin this test writes, so that the truth is known: both
clocks are the time stamp counter of this machine, on scales that are some minutes and 150 ppm apart.

usage: lab_clocks_test.py WEFT [CASE...]
       WEFT_CLOCK_SAMPLES=N: so many exchanges are compared with the truth (default 100)
"""
import json
import os
import re
import signal
import socket
import unittest
import unittest.mock
from fractions import Fraction

import lab_machines_test
import labs

WEFT = None
SAMPLES = int(os.environ.get("WEFT_CLOCK_SAMPLES", "100"))
APART_PPM = 150
DILATION = 3
LAB = f"""topology: topology.yaml
seed: 1
dilation: {DILATION}
hello: 100ms
nic: {{retry: 100ms}}
mapper: {{routes: static}}
security: {{link-key: fabric.key}}
groups: {{near: [h0, h1], far: [h2, h3]}}
traffic: [{{pattern: uniform, load: 0.1%, message: 1KiB}}]
measure: {{warmup: 100ms, duration: 500ms}}
"""


def frequency():
    """Frequency of the time stamp counter in Hz; the kernel's value is exact enough for a start."""
    with open("/proc/cpuinfo") as file:
        return int(float(re.search(r"^cpu MHz\s*: ([\d.]+)", file.read(), re.M)[1]) * 1e6)


# Stands for a program of a lab. The first process makes the clock unless there is one.
STARTER = """#!/bin/sh
cp {clock} {directory}/clock.$$
ln {directory}/clock.$$ {directory}/clock 2>/dev/null
rm {directory}/clock.$$
exec {program} "$@"
"""


class Machines(lab_machines_test.Machines):
    """'clocks': the first line of each side's clock file, but for the dilation."""

    def __init__(self, tag, clocks):
        lab_machines_test.WEFT = WEFT
        super().__init__(tag, LAB)
        for side, clock in clocks.items():
            self.put_starters(side, clock)

    def programs(self, side):
        return os.path.join(self.folder, f"programs-{side}")

    def put_starters(self, side, clock):
        os.mkdir(self.programs(side))
        own = os.path.join(self.programs(side), "clock")
        with open(own, "w") as file:
            file.write(f"{clock}:{DILATION}\n")
        for kind in ("switch", "nic"):
            path = os.path.join(self.programs(side), f"weft-{kind}")
            program = os.path.join(os.path.dirname(WEFT), "..", "..", "apps", kind, f"weft-{kind}")
            with open(path, "w") as file:
                file.write(STARTER.format(clock=own, directory=self.directory(side), program=program))
            os.chmod(path, 0o755)

    def scale(self, side):
        with open(f"{self.directory(side)}/clock") as file:
            hz, origin, _ = file.read().split(":")
        return int(hz), int(origin)

    def bring_up(self):
        ups = {}
        for side in lab_machines_test.HERE:
            with unittest.mock.patch.dict(os.environ, WEFT_PROGRAMS=self.programs(side)):
                ups[side] = self.start_up(side)
        said = {side: up.communicate(timeout=240) for side, up in ups.items()}
        assert all(up.returncode == 0 for up in ups.values()), said
        self.wait_up()

    def prefixes(self, side):
        return [process["prefix"] for process in self.status_of(side)["processes"] if process["program"] == "weft-nic"]


class Telemetry:
    """A connection to a process."""

    def __init__(self, prefix):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(240)
        self.socket.connect(f"/run/dpdk/{prefix}/dpdk_telemetry.v2")
        self.socket.recv(16384)

    def clocks(self):
        self.socket.send(b"/weft/clocks")
        return list(json.loads(self.socket.recv(65536))["/weft/clocks"].values())


def side_of(host):
    return "left" if host in ("h0", "h1") else "right"


class Clocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        hz = frequency()
        with open("/proc/uptime") as file: # a clock cannot begin after now, and the TSC began with the machine
            far = int(hz * min(300, float(file.read().split()[0]) / 2))
        cls.lab = Machines("k", {"left": f"{hz}:1", "right": f"{hz + hz * APART_PPM // 1000000}:{far}"})
        cls.addClassCleanup(cls.lab.remove)
        cls.lab.bring_up()

    def run_both(self, *more):
        paths = {side: os.path.join(self.lab.folder, f"{side}.json") for side in lab_machines_test.HERE}
        runs = {side: self.lab.start(side, "run", "--json", path, *more) for side, path in paths.items()}
        return runs, paths

    def finish(self, runs, paths):
        said = {side: run.communicate(timeout=240) for side, run in runs.items()}
        documents = {}
        for side, path in paths.items():
            self.assertIn(runs[side].returncode, (0, 1, 130), said)
            with open(path) as file:
                documents[side] = json.load(file)
        return {side: texts[0] for side, texts in said.items()}, documents

    def truth(self, at, of, local_ns):
        """What the clock of 'of' shows when the clock of 'at' shows this."""
        hz, origin = self.lab.scale(side_of(at))
        tsc = origin + Fraction(local_ns * DILATION * hz, 10**9)
        hz, origin = self.lab.scale(side_of(of))
        return (tsc - origin) * 10**9 / hz / DILATION

    def check_status(self):
        """While traffic runs."""
        status = self.lab.status_of("left")
        total = status["clocks_total"]
        self.assertIn((total["at"], total["of"]), [(clock["at"], clock["of"]) for clock in status["clocks"]])
        said = " ".join(self.lab.on("left", "status")[1].split())
        self.assertRegex(said, r" clocks of other machines: known within \d+\.\d us for [1-4] pairs of hosts; "
                         r"the clock of h[23] at h[01] has the largest error ")

    def test_the_offset_is_within_its_bound_of_the_truth(self):
        runs, paths = self.run_both("--duration", "9999s")
        telemetry = [Telemetry(prefix) for side in lab_machines_test.HERE for prefix in self.lab.prefixes(side)]
        seen, worst, bounds = set(), 0, []
        while len(seen) < SAMPLES:
            self.assertEqual([run.poll() for run in runs.values()], [None, None], f"only {len(seen)} samples")
            for clock in (clock for one in telemetry for clock in one.clocks()):
                name = clock["at"], clock["of"], clock["samples"]
                if not clock["known"] or name in seen:
                    continue
                error = abs(clock["remote_ns"] - self.truth(clock["at"], clock["of"], clock["local_ns"]))
                self.assertLessEqual(error, clock["bound_ns"], clock)
                self.assertEqual(clock["steps"], 0, clock)
                worst = max(worst, error / clock["bound_ns"])
                bounds.append(clock["bound_ns"])
                seen.add(name)
        self.check_status()
        for run in runs.values():
            run.send_signal(signal.SIGINT)
        self.finish(runs, paths)
        for one in telemetry:
            one.socket.close()
        bounds.sort()
        print(f"\n{len(seen)} samples: bound p50 {bounds[len(bounds) // 2] / 1e3:.1f} us, "
              f"max {bounds[-1] / 1e3:.1f} us; error at most {float(worst):.2f} of its bound", flush=True)

    def test_a_run_has_latencies_between_the_machines_and_their_bound(self):
        said, results = self.finish(*self.run_both())
        for side, result in results.items():
            clocks = result["clocks"]
            self.assertGreater(clocks["frames_timed"], 20, side)
            self.assertGreaterEqual(clocks["bound_ns"], clocks["mean_bound_ns"])
            self.assertGreater(clocks["mean_bound_ns"], 0)
            self.assertEqual(clocks["steps"], 0)
            # Clocks that are taken for one would be minutes apart.
            self.assertLess(result["latency_ns"]["network"]["p50"], 10 * 10**9)
            self.assertGreater(result["latency_ns"]["network"]["p50"], 0)
            self.assertRegex(said[side], r"\n  network latency +p50 .* us, \+- \d+\.\d us\n")
            self.assertRegex(said[side], r"\n  clocks +of other machines known within \d+\.\d us, \d+\.\d us on average\n")
        status = self.lab.status_of("left")
        self.assertEqual({clock["of"] for clock in status["clocks"]}, {"h2", "h3"})
        self.assertGreater(status["nics"]["h0"]["clock_answers_taken"], 0)
        total = status["clocks_total"]
        self.assertEqual((total["pairs"], total["cut"]), (len(status["clocks"]), False))


class FarApart(unittest.TestCase):
    def test_clocks_that_run_too_far_apart_give_no_latency_and_are_said(self):
        hz = frequency()
        lab = Machines("f", {"left": f"{hz}:1", "right": f"{hz + hz // 20}:1"})
        self.addCleanup(lab.remove)
        lab.bring_up()
        clocks = Clocks()
        clocks.lab = lab
        said, results = clocks.finish(*clocks.run_both())
        for side, result in results.items():
            self.assertGreater(result["clocks"]["frames_untimed"], 20, said)
            self.assertGreater(result["clocks"]["steps"], 0)
            self.assertRegex(said[side], r"\n  clocks +contradicted \d+ times: a machine was suspended, or its TSC "
                             r"deviates by more than 0\.2 % or is not invariant \(see ")


if __name__ == "__main__":
    labs.main(__doc__)
