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
links: memif
groups: {upper: [s0, s1, s2, s3], lower: [s4, s5, s6, s7], mapper: [h0], left: [h1, h2, h3], right: [h4, h5, h6, h7]}
seed: 1
link: {rate: 50Mbps}
hello: 20ms
switch: {buffer: 64KiB, vcs: 4, mtu: 1KiB, contention: 20us}
routing: {algorithm: msp, alternatives: 4}
nic: {mtu: 1KiB, retry: 50ms, give-up: 60s, control: pr-drb, drb: {high: 1.2, low: 1.1}}
mapper: {routes: mapper, mode: always, hosts: [h0]}
traffic:
  - {pattern: uniform, from: all, load: 5%, message: 4KiB}
  - {pattern: hotspot, from: [h1, h2, h5], to: [h7], load: 20%, message: 4KiB}
measure: {duration: 2s}
"""


class LabOfEight(unittest.TestCase):
    def setUp(self):
        labs.need_lab()

    def leader(self, lab, cables, maps):
        """Once the mapper has found so many cables, and all devices have its routes."""
        def look():
            mapping = lab.status()["mapping"]
            leaders = [m for m in mapping["mappers"] if m["state"] == "leading" and not m["changing"] and
                       (m["switches"], m["cables"]) == (8, cables) and m["counters"]["maps"] > maps]
            agents = [a for a in mapping["agents"] if a["epoch"] > 0 and not a["paused"]]
            return leaders[0] if leaders and len(agents) == 16 else None
        return lab.wait(look, f"no map of {cables} cables")

    def notified(self, lab):
        return sum(nic["cns_received"] for nic in lab.status()["nics"].values())

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
        self.assertEqual(messages["injected"], messages["delivered"], said)
        self.assertGreater(messages["delivered"], 100)
        self.assertGreater(result["counters"]["cn_received"], 100)
        self.assertGreater(result["counters"]["paths_opened"], 0, said)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    WEFT, LUA = sys.argv.pop(1), os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
