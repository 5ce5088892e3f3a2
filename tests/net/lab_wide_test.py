#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A lab with a switch of 70 memory links: weft-switch becomes weft-switch-wide.

usage: lab_wide_test.py WEFT [CASE...]
"""
import unittest

import labs

WEFT = None
PORTS = 70
NAMES = [f"h{i}" for i in range(PORTS)]
TOPOLOGY = f"""weft: topology/1
name: star
link: {{rate: 1Gbps, delay: 1us}}
switches: [{{name: s0, ports: {PORTS}}}]
hosts: [{", ".join(f"{{name: {name}}}" for name in NAMES)}]
links:
""" + "".join(f"  - {{a: {name}:0, b: s0:{i}}}\n" for i, name in enumerate(NAMES))
LAB = f"""topology: topology.yaml
dilation: 50
groups: [[{", ".join(NAMES)}]]
mapper: {{routes: static}}
routing: {{algorithm: ud, mode: source}}
edges: {{hosts: [h0, h69], network: 10.98.0.0/24}}
"""


class Wide(unittest.TestCase):
    def test_ping_through_ports_0_and_69(self):
        lab = labs.Lab(WEFT, "wd", LAB, {"topology.yaml": TOPOLOGY})
        self.addCleanup(lab.remove)
        lab.up()
        self.assertEqual(len(lab.pids), 2)
        labs.ping(self, ["ip", "netns", "exec", f"weft-{lab.name}-h0"], "10.98.0.70")
        self.assertEqual(set(lab.links().values()), {"up"})


if __name__ == "__main__":
    labs.main(__doc__, ("ip", "ping"))
