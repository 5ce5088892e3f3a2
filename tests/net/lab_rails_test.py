#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Labs of hosts with two ports: a TAP and a mapper per plane, a stream per rail, a leaf that dies.

usage: lab_rails_test.py WEFT [CASE...]
"""
import json
import unittest

import iperf3
import labs

WEFT = None
TOPOLOGY = """weft: topology/1
name: rails
link: {rate: 1Gbps, delay: 100ns}
switches: [{name: plane0, ports: 4}, {name: plane1, ports: 4}]
hosts: [{name: node1, ports: 2}, {name: node2, ports: 2}, {name: node3, ports: 2}]
links:
  - {a: node1:0, b: plane0:0}
  - {a: node1:1, b: plane1:0}
  - {a: node2:0, b: plane0:1}
  - {a: node2:1, b: plane1:1}
  - {a: node3:0, b: plane0:2}
  - {a: node3:1, b: plane1:2}
"""
LAB = """topology: topology.yaml
seed: 1
dilation: 20
nic: {give-up: 60s}
mapper: {key: fabric.key, """ + labs.MAPPER + """}
edges: {hosts: all, network: 10.99.0.0/24}
traffic: [{pattern: uniform, from: all, load: 10%, message: 1KiB}]
measure: {duration: 20ms, sample: 2ms}
"""


class Base:
    """A lab for all cases of a class."""

    @classmethod
    def setUpClass(cls):
        cls.lab = labs.Lab(WEFT, cls.TAG, LAB, {"topology.yaml": TOPOLOGY, "fabric.key": 32 * "5e" + "\n"}, cls.FORM)
        cls.addClassCleanup(cls.lab.remove)
        cls.lab.up()

    def enter(self, host, rail):
        return ["ip", "netns", "exec", self.namespace(host, rail)]

    def namespace(self, host, rail):
        return f"weft-{self.lab.name}-node{host}.{rail}"

    # Host number i has the address network + 1 + i: first ports are numbered first, then second ones.
    def address(self, host, rail):
        return f"10.99.0.{host + 3 * rail}"

    def received(self, rail):
        return sum(self.lab.status()["nics"][f"node{host}:{rail}"]["messages_delivered"] for host in (1, 2, 3))


class Rails(Base):
    """Both forms of a lab."""

    def test_ping_and_a_stream_per_rail(self):
        for rail in range(2):
            client, server = self.namespace(1, rail), self.namespace(2, rail)
            labs.ping(self, ["ip", "netns", "exec", client], self.address(2, rail))
            self.assertGreater(iperf3.bytes_in_a_second(self, client, server, self.address(2, rail)), 0)

    def test_a_mapper_leads_in_each_plane_and_the_map_is_whole(self):
        leaders = [m for m in self.lab.status()["mapping"]["mappers"] if m["state"] == "leading"]
        self.assertEqual(sorted((m["host"][-2:], m["switches"], m["hosts"], m["cables"]) for m in leaders),
                         [(":0", 1, 3, 3), (":1", 1, 3, 3)])
        found = json.loads(self.lab.must("map", "--json"))
        self.assertEqual(found["differences"], [])
        self.assertEqual(sorted((h["name"], h["ports"]) for h in found["topology"]["hosts"]),
                         [("node1", 2), ("node2", 2), ("node3", 2)])
        self.assertEqual(len(found["topology"]["links"]), 6)
        self.assertIn(", 1 path\n", self.lab.must("route", "node1:1", "node2:1"))
        apart = self.lab.weft("route", "node1:0", "node2:1")
        self.assertEqual(apart.returncode, 1, apart.stdout + apart.stderr)

    def test_a_run_uses_both_rails_and_loses_nothing(self):
        _, result, said = labs.Traffic(self.lab, "20ms").finish()
        self.assertEqual((result["topology"]["hosts"], result["topology"]["host_ports"]), (3, 6))
        self.assertIn("3 hosts with 6 ports", said)
        self.assertEqual([result["checks"][check] for check in labs.CHECKS], [0, 0, 0], said)
        self.assertGreater(self.received(0), 0)
        self.assertGreater(self.received(1), 0)


class OneProcess(Rails, unittest.TestCase):
    FORM, TAG = "one", "ro"


class EachProcess(Rails, unittest.TestCase):
    FORM, TAG = "each", "re"


class DeadLeaf(Base, unittest.TestCase):
    FORM, TAG = "each", "rd"

    def test_a_dead_leaf_takes_its_rail_and_no_other(self):
        labs.ping(self, self.enter(1, 1), self.address(2, 1))
        traffic = labs.Traffic(self.lab, "100s")
        traffic.wait_flow()
        self.lab.kill("plane1")
        self.lab.wait(lambda: {self.lab.links()[f"node{host}:1"] for host in (1, 2, 3)} == {"down"},
                      "the links of the dead leaf are not down")
        before = self.received(0), self.received(1)
        self.lab.wait(lambda: self.received(0) > before[0] + 100, "the other rail does not go on")
        labs.ping(self, self.enter(1, 0), self.address(2, 0))
        self.assertEqual(self.received(1), before[1])
        traffic.stop()
        _, result, said = traffic.finish()
        self.assertGreater(result["packets"]["delivered"], 0, said)


if __name__ == "__main__":
    labs.main(__doc__, ("ip", "ping", "iperf3"))
