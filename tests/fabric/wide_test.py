#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Switches of more than 64 ports: weft-fabric becomes weft-fabric-wide, and results do not change.

usage: wide_test.py WEFT WEFT-FABRIC [TEST]...
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

WEFT, FABRIC = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
RUN = """weft: run/1
topology: topology.yaml
clock: virtual
seed: 3
link: {rate: 100Gbps, delay: 30ns}
switch: {buffer: 64KiB, mtu: 2KiB, vcs: 2}
nic: {mtu: 2KiB}
routing: {algorithm: dmodk, mode: table}
traffic:
  - {pattern: uniform, from: rest, load: 90%, message: 2KiB}
measure: {duration: 20us, sample: 5us}
"""
HOT = ("--set", "traffic.1.pattern=hotspot", "--set", "traffic.1.from=25%", "--set", "traffic.1.to=[h4]", "--set", "traffic.1.load=100%",
       "--set", "traffic.1.message=2KiB", "--set", "detector.crt=500ns", "--set", "detector.hcdth=30%", "--set", "detector.lcdth=10%", "--set", "detector.arn-ttl=20us", "--set", "detector.arn-refresh=2us")


def star(ports):
    links = "".join(f"  - {{a: h{i}:0, b: s0:{i}}}\n" for i in range(ports))
    hosts = ", ".join(f"{{name: h{i}}}" for i in range(ports))
    return f"weft: topology/1\nname: star\nswitches: [{{name: s0, ports: {ports}}}]\nhosts: [{hosts}]\nlinks:\n{links}"


def ring(host_port):
    switches = ", ".join(f"{{name: s{i}, ports: {host_port + 1}}}" for i in range(6))
    hosts = ", ".join(f"{{name: h{i}}}" for i in range(6))
    links = "".join(f"  - {{a: s{i}:0, b: s{(i + 1) % 6}:1}}\n  - {{a: h{i}:0, b: s{i}:{host_port}}}\n"
                    for i in range(6))
    return f"weft: topology/1\nname: ring\nswitches: [{switches}]\nhosts: [{hosts}]\nlinks:\n{links}"


class Wide(unittest.TestCase):
    def done_with(self, topology, *more):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "topology.yaml").write_text(topology)
            pathlib.Path(folder, "run.yaml").write_text(RUN)
            return subprocess.run([FABRIC, "run.yaml", "--quiet", "--json=-", *more], cwd=folder, capture_output=True,
                                  text=True, timeout=240, check=False)

    def run_with(self, topology, *more):
        done = self.done_with(topology, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def same(self, *more):
        """Ports without cables change nothing but the program that runs."""
        tree = subprocess.run([WEFT, "topo", "gen", "rlft:ports=8,stages=3"], capture_output=True, text=True,
                              check=True).stdout
        self.assertIn("ports: 8", tree)
        narrow, wide = (self.run_with(text, *more) for text in (tree, tree.replace("ports: 8", "ports: 200")))
        for result in (narrow, wide):
            for part in ("wall", "config"):
                del result[part]
        self.assertGreater(narrow["packets"]["delivered"], 100)
        self.assertEqual(wide, narrow)
        return wide

    def test_tables_give_the_same_result(self):
        self.same()

    def test_arn_and_afi_give_the_same_result(self):
        counters = self.same("--set", "routing.adaptive=arn", "--set", "routing.afi=true", *HOT)["counters"]
        self.assertGreater(counters["packets_adapted"], 0)

    def test_adaptive_choices_are_the_same(self):
        self.same("--set", "routing.adaptive=adaptive")

    def test_flowlets_are_the_same(self):
        self.same("--set", "routing.adaptive=flowlet", "--set", "routing.flowlet-gap=200ns")

    def test_weighted_arbitration_is_the_same(self):
        self.same("--set", "switch.arbitration=weighted")

    def test_source_routes_give_the_same_result(self):
        self.same("--set", "routing.mode=source", "--set", "routing.alternatives=4", "--set", "nic.selector=random")

    def test_without_voqs_the_result_is_the_same(self):
        self.same("--set", "switch.voq=false")

    def every_port(self, *more):
        result = self.run_with(star(255), "--set", "routing.algorithm=ud", "--set", "traffic.0.load=30%", *more)
        self.assertEqual(result["checks"], dict.fromkeys(result["checks"], 0))
        self.assertEqual(sum(port["utilisation"] > 0 for port in result["links"]), 2 * 255)

    def test_tables_reach_255_ports(self):
        self.every_port("--set", "measure.links=true")

    def test_source_routes_reach_255_ports(self):
        self.every_port("--set", "measure.links=true", "--set", "routing.mode=source")

    def test_in_transit_hosts_above_port_63_pass_packets_on(self):
        """Routes have an element more for each port above 63, which takes 0.1 % of the links."""
        itbs = ("--set", "routing.algorithm=ud-itb", "--set", "routing.mode=source")
        narrow, wide = (self.run_with(ring(port), *itbs) for port in (2, 69))
        self.assertEqual(wide["checks"], dict.fromkeys(wide["checks"], 0))
        for result in (narrow, wide):
            self.assertGreater(result["counters"]["host_itb_reinjected"], 50)
            self.assertEqual(result["counters"]["host_itb_discarded"], 0)
        self.assertLess(abs(wide["throughput"]["accepted"] / narrow["throughput"]["accepted"] - 1), 0.005)

    def test_what_has_64_ports_refuses_more(self):
        cut = ("--set", "mapper.after=10us", "--set", "events=[{at: 5us, link: h0, down: 1us}]")
        for what, more in (("mapper.after", cut), ("routing.itb-hosts: balanced", ("--set", "routing.itb-hosts=balanced"))):
            done = self.done_with(star(65), "--set", "routing.algorithm=ud", "--set", "routing.mode=source", *more)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(f"s0 has 65 ports; expected at most 64 for {what}\n", done.stderr)

    def test_source_routes_reach_ports_above_63_on_the_real_clock(self):
        result = self.run_with(star(70), "--clock=real", "--dilation=200", "--set", "routing.algorithm=ud",
                               "--set", "routing.mode=source", "--set", "measure.links=true", "--set", "watchdog=off",
                               "--set", "measure.duration=100us", "--set", "measure.sample=50us")
        self.assertEqual([result["checks"][check] for check in ("lost", "duplicated", "out_of_order")], [0, 0, 0])
        self.assertEqual(result["counters"].get("discard_routing_error", 0), 0)
        self.assertGreater(result["packets"]["delivered"], 100)


if __name__ == "__main__":
    unittest.main()
