#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""'routing.file': 'weft route compute' writes routes, and a run, sweep or lab loads them.

usage: run_route_file_test.py WEFT [TEST]...
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

WEFT = sys.argv.pop(1) if len(sys.argv) > 1 else ""
TREE = "rlft:ports=4,stages=2"
IRREGULAR = "irregular:switches=8,hosts=2,degree=4"
TORUS = "torus:dims=3x3,hosts=1"
RUN = """
weft: run/1
topology: "{topology}"
clock: {clock}
seed: 7
link: {{rate: 1Gbps, delay: 1us}}
switch: {{buffer: 32KiB, mtu: 4KiB, vcs: 4}}
hello: 200ms
nic: {{retry: 50ms}}
routing: {{algorithm: ud}}
traffic: [{{pattern: uniform, from: all, load: {load}, message: 4KiB}}]
measure: {{duration: {duration}, sample: {duration}, links: true}}
"""
WORMHOLE = """
weft: run/1
topology: "{topology}"
clock: virtual
seed: 7
switch: {{switching: wormhole}}
traffic: [{{pattern: uniform, from: all, load: 20%, message: 512B}}]
measure: {{duration: 200us, sample: 100us}}
"""
LAB = """topology: "{topology}"
seed: 7
dilation: 10
nic: {{retry: 50ms}}
mapper: {{routes: static}}
routing: {{file: routes}}
traffic: [{{pattern: uniform, from: all, load: 0.5%, message: 1KiB}}]
measure: {{duration: 100ms}}
"""


def weft(*args):
    return subprocess.run([WEFT, *args], capture_output=True, text=True, timeout=240, check=False)


def algorithms():
    return [line.split()[0] for line in weft("route", "algorithms").stdout.splitlines()]


def sets(values):
    return [word for value in values for word in ("--set", value)]


class Routes(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-run-route-file-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.file, self.routes = str(self.dir / "run.yaml"), str(self.dir / "routes")

    def write(self, topology, clock="virtual", load="60%", duration="200us", text=RUN):
        pathlib.Path(self.file).write_text(
            text.format(topology=topology, clock=clock, load=load, duration=duration))

    def compute(self, topology, algorithm, *options, seed=7):
        """False: the algorithm does not do this network."""
        return weft("route", "compute", topology, "--algorithm", algorithm, "--seed", str(seed), "--vcs", "4", "-o",
                    self.routes, *options).returncode in (0, 1)  # 1: they may deadlock

    def result(self, *values):
        done = weft("run", self.file, "--json", "-", *sets(values))
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertGreater(result["messages"]["delivered"], 10)
        result.pop("wall", None)
        return result

    def assert_same(self, computed, loaded):
        self.assertEqual(loaded["config"].pop("routing")["file"], self.routes)
        self.assertNotIn("file", computed["config"].pop("routing"))
        self.assertEqual(computed, loaded)


class VirtualClock(Routes):
    def check_all(self, topology, compute_options, *values):
        """Every algorithm that does this network; how many that are."""
        self.write(topology)
        count = 0
        for algorithm in algorithms():
            with self.subTest(algorithm):
                if not self.compute(topology, algorithm, *compute_options):
                    continue
                count += 1
                both = (*values, "routing.may-deadlock=true")
                self.assert_same(self.result(f"routing.algorithm={algorithm}", *both),
                                 self.result(f"routing.file={self.routes}", *both))
        return count

    def test_routes_from_a_file_give_the_result_of_the_run_that_computes_them(self):
        # All but dmodk, dor, dor-o1turn, df-min, valiant, msp and ugal.
        self.assertEqual(self.check_all(IRREGULAR, ()), len(algorithms()) - 7)

    def test_binary_routes_do_so_too(self):
        self.assertGreater(self.check_all(TORUS, ("--binary",)), 15)

    def test_tables_with_and_without_vc_classes_do_so_too(self):
        self.assertGreater(self.check_all(TORUS, ("--tables",), "routing.mode=table"), 1)

    def test_tables_with_alternative_ports_do_so_too(self):
        self.write(TREE)
        self.assertTrue(self.compute(TREE, "dmodk", "--tables"))
        for mode in ("none", "adaptive", "arn"):
            both = ("routing.mode=table", f"routing.adaptive={mode}")
            self.assert_same(self.result("routing.algorithm=dmodk", *both),
                             self.result(f"routing.file={self.routes}", *both))

    def test_wormhole_switching_does_so_too(self):
        self.write(IRREGULAR, text=WORMHOLE)
        for algorithm in ("ud-itb", "ud-rr"):
            self.assertTrue(self.compute(IRREGULAR, algorithm))
            self.assert_same(self.result(f"routing.algorithm={algorithm}"),
                             self.result(f"routing.file={self.routes}"))

    def test_other_routes_give_another_result(self):
        self.write(IRREGULAR)
        self.compute(IRREGULAR, "ud", seed=8)
        computed, loaded = self.result(), self.result(f"routing.file={self.routes}")
        self.assertNotEqual(computed["links"], loaded["links"])

    def test_an_explained_run_can_be_run(self):
        self.write(IRREGULAR)
        self.compute(IRREGULAR, "ud-itb")
        expected = self.result(f"routing.file={self.routes}")
        explained = weft("run", "--explain", self.file, *sets([f"routing.file={self.routes}"])).stdout
        pathlib.Path(self.file).write_text(explained)
        self.assertEqual(self.result(), expected)

    def test_more_vc_classes_than_vcs_are_refused(self):
        self.write(TORUS)
        self.compute(TORUS, "dor", "--tables")
        done = weft("run", self.file, *sets([f"routing.file={self.routes}", "switch.vcs=1"]))
        self.assertEqual(done.returncode, 2)
        self.assertIn("switch.vcs is 1, but must be 2 or more, because routing.file needs that many VC classes on this topology", done.stderr)

    def test_a_sweep_takes_files_and_sees_when_one_has_changed(self):
        self.write(IRREGULAR, duration="50us")
        self.compute(IRREGULAR, "ud")
        other = str(self.dir / "other")
        shutil.copy(self.routes, other)
        sweep = ("sweep", self.file, "--vary", f"routing.file={self.routes},{other}", "-o",
                 str(self.dir / "out"))
        self.assertEqual(weft(*sweep).returncode, 0)
        self.compute(IRREGULAR, "ud-itb")
        done = weft(*sweep)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{self.routes} has changed", done.stderr)


class RealClock(Routes):
    def check(self, algorithm, *options):
        self.write(TORUS, clock="real", load="5%", duration="50ms")
        self.assertTrue(self.compute(TORUS, algorithm, *options))
        result = self.result(f"routing.file={self.routes}", "dilation=10")
        self.assertEqual(result["config"]["routing"]["file"], self.routes)
        self.assertEqual(result["messages"]["injected"], result["messages"]["delivered"])
        self.assertEqual(result["checks"],
                         {"lost": 0, "duplicated": 0, "out_of_order": 0, "deadlock": False})

    def test_source_routes_with_itbs_deliver(self):
        self.check("ud-itb")

    def test_tables_with_vc_classes_deliver(self):
        self.check("dor", "--tables")


@unittest.skipUnless(os.geteuid() == 0, "labs need root")
class Lab(Routes):
    def lab(self, tag, routes, text=LAB):
        lab = labs.Lab(WEFT, tag, text.format(topology=TREE))
        self.addCleanup(lab.remove)
        if routes is not None:
            shutil.copy(routes, os.path.join(lab.folder, "routes"))
        return lab

    def check(self, tag, *options):
        self.compute(TREE, "ud", *options)
        lab = self.lab(tag, self.routes)
        lab.up()
        result = lab.run()
        self.assertGreater(result["messages"]["delivered"], 100)
        self.assertEqual(result["messages"]["injected"], result["messages"]["delivered"])
        self.assertEqual(result["config"]["routing"]["file"], os.path.join(lab.folder, "routes"))

    def test_the_processes_of_a_lab_load_source_routes(self):
        self.check("rs")

    def test_the_processes_of_a_lab_load_tables(self):
        self.check("rt", "--tables")

    def refused(self, lab):
        done = lab.weft("up")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertFalse(os.path.exists(lab.run_dir))
        return done.stderr

    def test_a_lab_refuses_routes_that_may_deadlock_before_it_starts_anything(self):
        ring = "ring:switches=5,hosts=1"
        self.compute(ring, "minhop")
        lab = self.lab("rd", self.routes, LAB.replace("{topology}", ring))
        self.assertIn("routing.file: ", self.refused(lab))
        self.assertIn("a cycle of 5 channel dependencies", self.refused(lab))

    def test_a_lab_whose_mapper_finds_routes_refuses_a_file(self):
        self.compute(TREE, "ud")
        lab = self.lab("rm", self.routes, LAB.replace("mapper: {{routes: static}}\n", ""))
        self.assertIn("routing.file: with 'mapper.routes: mapper' the mapper computes the routes; "
                      "use 'mapper.routes: static'", self.refused(lab))


if __name__ == "__main__":
    unittest.main(verbosity=2)
