#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Congestion management at the source with real frames: a lab of 8 switches with pr-drb while a cable is
cut and joined, and fabrics in one process with each mechanism. Needs root for labs; says so and exits 77
where that is not allowed.

usage: source_control_test.py WEFT WEFT_LUA
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import labs

WEFT = LUA = None

# Two processes of switches, two of hosts, the mapper alone.
LAB = """topology: "torus:dims=4x2,hosts=1"
links: shared
groups: {upper: [s0, s1, s2, s3], lower: [s4, s5, s6, s7], mapper: [h0], left: [h1, h2, h3], right: [h4, h5, h6, h7]}
seed: 1
dilation: 20
link: {rate: 1Gbps}
switch: {buffer: 64KiB, vcs: 4, mtu: 1KiB, contention: 1us}
routing: {algorithm: msp, alternatives: 4}
nic: {mtu: 1KiB, give-up: 60s, control: pr-drb, drb: {high: 1.2, low: 1.1}}
mapper: {routes: mapper, mode: always, hosts: [h0], """ + labs.MAPPER + """}
traffic:
  - {pattern: uniform, from: all, load: 5%, message: 4KiB}
  - {pattern: hotspot, from: [h1, h2, h5], to: [h7], load: 20%, message: 4KiB}
measure: {duration: 2s}
"""


# Four hosts of a mesh send to one, slowly enough to be followed.
RUN = """weft: run/1
topology: "mesh:dims=2x2,hosts=2"
clock: real
seed: 3
dilation: 10
link: {rate: 200Mbps, delay: 1us}
switch: {buffer: 64KiB, vcs: 3, mtu: 1KiB, fecn: 8, contention: 10us}
routing: {algorithm: msp, alternatives: 2}
nic: {mtu: 1KiB}
traffic:
  - {pattern: hotspot, from: [h1, h2, h4], to: [h7], load: 45%, message: 3KiB}
measure: {duration: 100ms}
"""
FIELDS = ["weft.kind", "weft.src", "weft.dst", "weft.msg", "weft.seq", "weft.latency.waiting", "weft.latency.path",
          "weft.latency.predictive", "weft.latency.source", "weft.latency.check.ok", "weft.bad_extension",
          "weft.bad_payload", "weft.cn.message", "weft.cn.sequence", "weft.cn.waiting", "weft.cn.path",
          "weft.cn.fecn", "weft.cn.becn", "frame.interface_name", "frame.packet_flags_direction"]
KIND_DATA, KIND_CN = "1", "5"


class Fabric(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-source-control-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "run.yaml").write_text(RUN)

    def run_with(self, control, *more):
        """The result, after what holds for each kind."""
        path = self.folder / f"{control}.json"
        done = subprocess.run([WEFT, "run", str(self.folder / "run.yaml"), "--json", str(path), "--set",
                               f"nic.control={control}", *more], capture_output=True, text=True, timeout=labs.HANG_SECONDS,
                              check=False)
        self.assertTrue(path.exists(), done.stderr)
        result = json.loads(path.read_text())
        checks = result["checks"]
        self.assertEqual([checks[c] for c in ("lost", "duplicated", "out_of_order")], [0, 0, 0], done.stderr)
        self.assertGreater(result["messages"]["delivered"], 50)
        return result["counters"]

    def test_each_mechanism_hears_notifications_and_acts(self):
        acts = {"iba-cc": "throttled_ns", "drb-cn": "paths_opened", "drb": "paths_opened", "pr-drb": "paths_opened"}
        for control, counter in acts.items():
            with self.subTest(control):
                counters = self.run_with(control)
                self.assertGreater(counters["cn_received"], 20)
                self.assertLessEqual(counters["cn_received"], counters["cn_sent"])
                self.assertGreater(counters[counter], 0)
                for bad in ("host_cns_foreign", "host_extension_bad", "host_control_bad", "host_control_ignored"):
                    self.assertEqual(counters[bad], 0, bad)
                recorded = counters.get("contention_recorded", 0)
                self.assertEqual(recorded > 0, control == "pr-drb")

    def test_without_a_mechanism_nothing_is_sent(self):
        counters = self.run_with("none")
        self.assertEqual(counters["host_cns_sent"], 0)
        self.assertNotIn("cn_sent", counters)
        self.assertNotIn("contention_recorded", counters)

    def capture(self, control):
        """The frames at a host that receives, by tshark."""
        path = self.folder / "h7.pcapng"
        self.run_with(control, "--pcap", f"h7:0={path}")
        arguments = ["tshark", "-X", f"lua_script:{LUA}", "-r", str(path), "-T", "fields", "-E", "separator=\t"]
        for name in FIELDS:
            arguments += ["-e", name]
        done = subprocess.run(arguments, capture_output=True, text=True, check=True,
                              env=dict(os.environ, HOME=str(self.folder), LC_ALL="C.UTF-8"))
        return [dict(zip(FIELDS, row.split("\t"))) for row in done.stdout.splitlines()]

    @unittest.skipIf(shutil.which("tshark") is None, "tshark is not installed")
    def test_wireshark_shows_what_switches_and_destinations_wrote(self):
        frames = self.capture("pr-drb")
        data = [f for f in frames if f["weft.kind"] == KIND_DATA and f["weft.dst"] == "7"]
        answers = [f for f in frames if f["weft.kind"] == KIND_CN and f["weft.src"] == "7"]
        self.assertGreater(len(data), 50)
        self.assertEqual({f["weft.latency.check.ok"] for f in data}, {"1"})
        self.assertEqual({f["weft.bad_extension"] + f["weft.bad_payload"] for f in frames}, {""})
        self.assertTrue(any(f["weft.latency.predictive"] == "1" and f["weft.latency.source"] for f in data))
        # Each answer repeats what its frame brought.
        told = {(f["weft.src"], f["weft.msg"], f["weft.seq"], f["weft.latency.waiting"], f["weft.latency.path"])
                for f in data}
        for answer in answers:
            self.assertIn((answer["weft.dst"], answer["weft.cn.message"], answer["weft.cn.sequence"],
                           answer["weft.cn.waiting"], answer["weft.cn.path"]), told)
        self.assertGreater(len(answers), 50)


class LabOfEight(unittest.TestCase):
    def leader(self, lab, cables, maps):
        """Once the mapper has found so many cables, and all devices have its routes."""
        def look():
            mapping = lab.status()["mapping"]
            leaders = [m for m in mapping["mappers"] if m["state"] == "leading" and not m["changing"] and
                       (m["switches"], m["cables"]) == (8, cables) and m["counters"]["maps"] > maps]
            agents = [a for a in mapping["agents"] if a["epoch"] > 0 and not a["paused"]]
            return leaders[0] if leaders and len(agents) == 16 else None
        return lab.wait(look, f"no map of {cables} cables")

    def of_all(self, lab, counter):
        return sum(nic[counter] for nic in lab.status()["nics"].values())

    def notified(self, lab):
        return self.of_all(lab, "cns_received")

    def test_a_cable_is_cut_and_joined_and_hosts_lose_nothing(self):
        lab = labs.Lab(WEFT, "sc", LAB)
        self.addCleanup(lab.remove)
        lab.up()
        cables = 8 + 8 + 4
        maps = self.leader(lab, cables, 0)["counters"]["maps"]
        traffic = labs.Traffic(lab, "60s")
        for change, left in ((lab.cut, cables - 1), (lab.join, cables)):
            traffic.wait_flow()
            change("s5:0")
            maps = self.leader(lab, left, maps)["counters"]["maps"]
            heard = self.notified(lab)
            lab.wait(lambda: self.notified(lab) > heard, "no notification arrives")
        traffic.wait_flow()
        traffic.stop()
        _, result, said = traffic.finish()
        checks, messages = result["checks"], result["messages"]
        self.assertEqual([checks[c] for c in ("lost", "duplicated", "out_of_order")], [0, 0, 0], said)
        # A run that a signal ends waits for 0.6 s only; what is under way arrives all the same.
        lab.wait(lambda: self.of_all(lab, "messages_injected") == self.of_all(lab, "messages_delivered"),
                 "messages do not arrive")
        self.assertGreater(messages["delivered"], 100)
        self.assertGreater(result["counters"]["cn_received"], 100)
        self.assertGreater(result["counters"]["paths_opened"], 0, said)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    WEFT, LUA = sys.argv.pop(1), os.path.abspath(sys.argv.pop(1))
    labs.need_lab()
    unittest.main(verbosity=2)
