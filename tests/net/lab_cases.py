# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The small lab of several tests: two leaves, a spine, four hosts, a mapper with a key."""
import os
import unittest

import labs

WEFT = None  # main() of the test sets it

TOPOLOGY = """weft: topology/1
name: two-leaves
link: {rate: 10Gbps, delay: 30ns}
switches: [{name: leaf0, ports: 3, stage: 1}, {name: leaf1, ports: 3, stage: 1},
  {name: spine, ports: 2, stage: 2}]
hosts: [{name: h0}, {name: h1}, {name: h2}, {name: h3}]
links:
  - {a: h0:0, b: leaf0:0}
  - {a: h1:0, b: leaf0:1}
  - {a: h2:0, b: leaf1:0}
  - {a: h3:0, b: leaf1:1}
  - {a: leaf0:2, b: spine:0}
  - {a: leaf1:2, b: spine:1}
"""

LAB = """topology: {topology}
seed: 1
dilation: {dilation}
mapper: {{{mapper}}}
traffic: [{traffic}]
measure: {{duration: 20ms, sample: 2ms}}
"""


class Lab(labs.Lab):
    def __init__(self, tag, more="", topology="topology.yaml",
                 traffic="{pattern: uniform, from: all, load: 1%, message: 1KiB}", form="each",
                 mapper=f"key: fabric.key, {labs.MAPPER}", dilation=20):
        text = LAB.format(topology=topology, traffic=traffic, mapper=mapper, dilation=dilation)
        super().__init__(WEFT, tag, text + more,
                         {"topology.yaml": TOPOLOGY, "fabric.key": 32 * "5e" + "\n"}, form)


def edges(tag):
    """Edges of h0 and h3 for a lab file, and their namespaces."""
    names = [f"wt{os.getpid()}{tag}{side}" for side in "ab"]
    lines = "\n".join(f"  - {{host: {host}, tap: wt{i}, namespace: {name}, address: 10.87.0.{i}/24}}"
                      for host, i, name in (("h0", 1, names[0]), ("h3", 4, names[1])))
    return f"edges:\n{lines}\n", names


class LabCase(unittest.TestCase):
    FORM = "each"

    def lab(self, tag, more="", **kind):
        lab = Lab(tag, more, **{"form": self.FORM, **kind})
        self.addCleanup(lab.remove)
        return lab

    def assert_whole(self, result):
        self.assertGreater(result["messages"]["delivered"], 100)
        self.assertEqual(result["messages"]["injected"], result["messages"]["delivered"])
        for check in labs.CHECKS:
            self.assertEqual(result["checks"][check], 0, check)

    def edge_lab(self, tag):
        text, names = edges(tag)
        return self.lab(tag, text), names
