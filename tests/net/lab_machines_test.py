#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A lab on two machines, played by two network namespaces with a veth pair between them for the cable
and a run directory each. The mapper is on the right one; hosts of both send. Needs root; says so and
exits 77 where that is not allowed.

usage: lab_machines_test.py WEFT
"""
import json
import os
import re
import signal
import subprocess
import unittest

import labs

WEFT = None

DEVICE = "net_af_packet0,iface=cable"

TOPOLOGY = f"""weft: topology/1
name: two-machines
link: {{rate: 10Gbps, delay: 30ns}}
switches: [{{name: left, ports: 3, stage: 1}}, {{name: right, ports: 3, stage: 1}}]
hosts: [{{name: h0}}, {{name: h1}}, {{name: h2}}, {{name: h3}}]
links:
  - {{a: h0:0, b: left:0}}
  - {{a: h1:0, b: left:1}}
  - {{a: h2:0, b: right:0}}
  - {{a: h3:0, b: right:1}}
  - {{a: left:2, b: right:2}}
ports:
  - {{port: left:2, dpdk: "{DEVICE}"}}
  - {{port: right:2, dpdk: "{DEVICE}"}}
"""

# h0 gets frames of nobody, h1 and h3 of the other machine only, h2 of both. Dilated: links fall, and runs are incomplete,
# only after seconds in which a process was not scheduled.
LAB = """topology: topology.yaml
seed: 1
dilation: 5
hello: 80ms
nic: {retry: 100ms}
mapper: {key: fabric.key, hosts: [h3], """ + labs.MAPPER.replace("80ms", "320ms").replace("60ms", "240ms") + """}
groups: {near: [h0, h1], far: [h2, h3]}
traffic:
  - {pattern: uniform, from: [h0], to: [h2, h3], load: 0.05%, message: 1KiB}
  - {pattern: uniform, from: [h3], to: [h1, h2], load: 0.05%, message: 1KiB}
measure: {duration: 350ms}
"""

HERE = {"left": ["left", "h0"], "right": ["right", "h2"]}


class Machines(labs.Lab):
    def __init__(self, tag, text=LAB, topology=TOPOLOGY):
        super().__init__(WEFT, tag, text, {"topology.yaml": topology, "fabric.key": 32 * "5e" + "\n"})
        for side in HERE:
            subprocess.run(["ip", "netns", "add", self.netns(side)], check=True)
        subprocess.run(["ip", "link", "add", "cable", "mtu", "5000", "netns", self.netns("left"), "type",
                        "veth", "peer", "name", "cable", "mtu", "5000", "netns", self.netns("right")],
                       check=True)
        for side in HERE:
            subprocess.run(["ip", "-n", self.netns(side), "link", "set", "cable", "up"], check=True)

    def netns(self, side):
        return f"{self.name}-{side}"

    def directory(self, side):
        return f"/run/weft/{self.netns(side)}"

    def start(self, side, part, *more):
        # 'up' names a process that lacks CPU time, but this folder has no CPU times.
        return subprocess.Popen(["ip", "netns", "exec", self.netns(side), WEFT, "lab", part, self.file,
                                 "--run-dir", self.directory(side), *more], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env={**os.environ, "WEFT_SYSFS_ROOT": self.folder})

    def start_up(self, side, wait=labs.UP_WAIT):
        return self.start(side, "up", "--wait", wait,
                          *[word for name in HERE[side] for word in ("--process", name)])

    def on(self, side, part, *more):
        """Its exit code, and what it says on standard output and standard error."""
        run = self.start(side, part, *more)
        said = run.communicate(timeout=240)
        return run.returncode, *said

    def status_of(self, side):
        return json.loads(self.on(side, "status", "--json")[1])

    def wait_status(self, side, condition, what):
        """Until condition(document) is true, which is looked at with each line of 'weft lab top'; the document."""
        look = lambda: condition(status := self.status_of(side)) and status
        if status := look():
            return status
        with self.start(side, "top", "--json-lines", "--interval", "100ms") as top:
            try:
                return labs.wait_until(lambda: (top.stdout.readline(), look())[1], what)
            finally:
                top.kill()

    def wait_up(self):
        for side in HERE:
            self.wait_status(side, lambda status: status["up"], f"{side} is not up")

    def remove(self):
        for side in HERE:
            self.on(side, "down")
            subprocess.run(["ip", "netns", "del", self.netns(side)], stderr=subprocess.DEVNULL,
                           check=False)
        super().remove()


class Both(unittest.TestCase):
    """Tests with one lab that is up on both machines."""

    @classmethod
    def setUpClass(cls):
        cls.lab = Machines("m")
        cls.addClassCleanup(cls.lab.remove)
        ups = {side: cls.lab.start_up(side) for side in HERE}
        cls.said = {side: up.communicate(timeout=600) for side, up in ups.items()}
        cls.codes = {side: up.returncode for side, up in ups.items()}

    def test_up_ends_well_on_both_and_says_where_the_mapper_is(self):
        self.assertEqual(self.codes, {"left": 0, "right": 0}, self.said)
        left, right = self.said["left"][0], self.said["right"][0]
        for said in (left, right):
            self.assertRegex(said, r"\Alab \w+ is up on this machine after \d+ ms: 2 processes, 1 switch, "
                             r"2 hosts, 3 links \(2 shared\) \(1 ports\), dilated by 5\n")
        self.assertIn("on other machines: right, h2, h3\n", left)
        self.assertIn("routes computed by the mapper h3 on another machine, at most", left)
        self.assertIn("on other machines: left, h0, h1\n", right)
        self.assertIn("routes computed by the mapper h3, at most", right)

    def test_status_tells_of_the_mapper_on_the_other_machine(self):
        self.lab.wait_up()
        said = self.lab.on("left", "status")[1]
        self.assertRegex(said, r"\nh3 +elsewhere +[1-9]\d* +- +- +-\n  h3 on another machine is the mapper, last heard "
                         r"\d+\.\d ms ago")
        self.assertTrue(said.endswith("\non other machines: right, h2, h3\n"), said)
        self.assertRegex(self.lab.on("right", "status")[1], r"\nh3 +leading ")

    def test_status_has_both_as_json(self):
        self.lab.wait_up()
        left, right = self.lab.status_of("left"), self.lab.status_of("right")
        self.assertEqual((left["elsewhere"], right["elsewhere"]), (["right", "h2", "h3"], ["left", "h0", "h1"]))
        left, right = left["mapping"], right["mapping"]
        self.assertEqual((left["mapper"], left["mapper_elsewhere"], left["leader"]), ("h3", True, None))
        self.assertEqual((right["mapper"], right["mapper_elsewhere"], right["leader"]), ("h3", False, "h3"))
        self.assertGreater(left["mapper_epoch"], 0)
        self.assertIsInstance(left["mapper_heard_ns"], int)
        self.assertIsNone(right["mapper_heard_ns"])

    def test_a_map_is_where_its_mapper_is(self):
        self.lab.wait_up()
        code, out, err = self.lab.on("left", "map")
        self.assertEqual((code, out), (1, ""))
        self.assertRegex(err, rf"\Aweft lab map: mapper h3 on another machine leads lab {self.lab.name} in epoch \d+ "
                         "and has the map; run 'weft lab map' there\n\\Z")
        document = json.loads(self.lab.on("left", "map", "--json")[1])
        self.assertGreater(document.pop("epoch"), 0)
        self.assertEqual(document, {"mapper": "h3", "mapper_elsewhere": True, "differences": None,
                                    "topology": None})
        code, out, err = self.lab.on("right", "map", "--json")
        self.assertEqual((code, err), (0, ""))
        document = json.loads(out)
        self.assertEqual((document["mapper"], document["mapper_elsewhere"], document["differences"]),
                         ("h3", False, []))
        self.assertEqual({host["name"] for host in document["topology"]["hosts"]},
                         {"h0", "h1", "h2", "h3"})

    def send(self):
        """The output of 'run' on both machines, and its documents."""
        paths = {side: os.path.join(self.lab.folder, f"{side}.json") for side in HERE}
        runs = {side: self.lab.start(side, "run", "--json", path) for side, path in paths.items()}
        said = {side: run.communicate(timeout=240)[0] for side, run in runs.items()}
        codes = [run.returncode for run in runs.values()]
        self.assertEqual(codes, [0, 0], said)
        documents = {}
        for side, path in paths.items():
            with open(path) as file:
                documents[side] = json.load(file)
        return said, documents

    def test_latencies_between_machines_have_a_bound(self):
        self.lab.wait_up()
        said, results = self.send()
        for result in results.values():
            self.assertGreater(result["messages"]["delivered"], 20)
            self.assertEqual([result["checks"][check] for check in
                              ("lost", "duplicated", "out_of_order")], [0, 0, 0])
            clocks = result["clocks"]
            self.assertGreater(clocks["frames_timed"], clocks["frames_untimed"])
            self.assertGreaterEqual(clocks["bound_ns"], clocks["mean_bound_ns"])
            self.assertGreater(clocks["mean_bound_ns"], 0)
            self.assertEqual([result[key] for key in ("nothing_measured", "saturated", "steady")], [None] * 3)
            self.assertEqual(result["saturated_needs"]["reason"], "hosts on other machines are not in this result")
        self.assertEqual(results["left"]["elsewhere"], ["right", "h2", "h3"])
        # All that arrives at the left has come from h3.
        for kind in ("network", "total"):
            for side, result in results.items():
                self.assertRegex(said[side], rf"\n  {kind} latency +p50 .* us, \+- \d+\.\d us\n")
                self.assertGreater(result["latency_ns"][kind]["p50"], 0)
        self.assertIn("\n  on other machines      right, h2, h3 (not in this result)\n", said["left"])
        nics = {side: self.lab.status_of(side)["nics"] for side in HERE}
        for side, host in (("left", "h1"), ("right", "h2"), ("right", "h3")):
            self.assertGreater(nics[side][host]["network_latency_p50_ns"], 0)
        self.assertGreater(nics["left"]["h1"]["clock_answers_taken"], 0)
        self.assertEqual({clock["of"] for clock in self.lab.status_of("left")["clocks"]}, {"h3"})


class One(unittest.TestCase):
    def machines(self, tag):
        lab = Machines(tag)
        self.addCleanup(lab.remove)
        return lab

    def test_a_machine_whose_other_is_not_up_says_where_it_waits(self):
        lab = self.machines("a")
        up = lab.start_up("left", "1200ms")
        with labs.held(up, lab.directory("left"), 2):
            # The one that waits is down after three hellos, whether or not the others are up by then.
            lab.wait_status("left", lambda status: len(status["links"]) == 5 and all(
                (link["state"] == "up") == (link["port"] != "left:2") for link in status["links"]),
                "other links are not up")
        out, err = up.communicate(timeout=240)
        self.assertEqual((up.returncode, out), (3, ""), err)
        self.assertEqual(err.splitlines()[-1],
                         "weft lab up: after 1200 ms link left:2 - right:2 is waiting: nothing was received "
                         "from right, which runs on another machine; is its part of the lab up there, "
                         "and does the cable connect these two ports?; use a longer --wait")
        self.assertFalse(os.path.exists(lab.directory("left")))

    def test_a_process_that_is_killed_while_the_other_machine_is_waited_for_is_said_to_be(self):
        lab = self.machines("b")
        up = lab.start_up("left")
        pid = re.compile(r"^process left \S+ \S+ (\d+) [1-9]", re.M)
        state = f"{lab.directory('left')}/state"
        labs.wait_path(state, up)
        labs.wait_file(state, lambda path: pid.search(labs.read(path)), up)
        os.kill(int(pid.search(labs.read(state))[1]), signal.SIGKILL)
        out, err = up.communicate(timeout=240)
        self.assertEqual((up.returncode, out), (3, ""), err)
        self.assertRegex(err.splitlines()[-1],
                         r"\Aweft lab up: left \(weft-switch\) was killed by signal 9 \(.*; see dmesg\)\Z")
        self.assertFalse(os.path.exists(lab.directory("left")))

    def test_a_killed_process_with_a_port_to_another_machine_joins_again_beside_the_others(self):
        lab = self.machines("k")
        ups = [lab.start_up(side) for side in HERE]
        said = [up.communicate(timeout=600) for up in ups]
        self.assertEqual([up.returncode for up in ups], [0, 0], said)
        pids = lambda side: {p["name"]: p["pid"] for p in lab.status_of(side)["processes"]}
        for side, process in (("left", "left"), ("right", "right"), ("left", "h0")):
            before = {at: pids(at) for at in HERE}
            os.kill(before[side].pop(process), signal.SIGKILL)
            lab.wait_status(side, lambda status: {p["name"]: p["state"] for p in status["processes"]}[process] == "gone",
                            f"{process} is not gone")
            code, out, err = lab.on(side, "up", "--wait", labs.UP_WAIT)
            self.assertEqual(code, 0, err)
            self.assertRegex(out, r"\Alab \S+: ended processes are running again after \d+ ms\n\Z")
            lab.wait_up()
            after = {at: pids(at) for at in HERE}
            self.assertNotIn(after[side].pop(process), [*before["left"].values(), *before["right"].values()])
            self.assertEqual(after, before)

    def test_a_mapper_elsewhere_that_is_gone_is_missed(self):
        lab = self.machines("c")
        ups = [lab.start_up(side) for side in HERE]
        said = [up.communicate(timeout=600) for up in ups]
        self.assertEqual([up.returncode for up in ups], [0, 0], said)
        pids = {p["name"]: p["pid"] for p in lab.status_of("right")["processes"]}
        os.kill(pids["h2"], signal.SIGKILL)
        status = lab.wait_status("left", lambda status: not status["up"] and "was last heard from" in
                                 status["mapping"]["why"], "nobody misses it")
        self.assertRegex(status["mapping"]["why"], r"\Amapper h3 on another machine was last heard from "
                         r"\d+\.\d s ago; is it running, and is there a path to it\?\Z")
        self.assertTrue(status["mapping"]["mapper_silent"])
        code, out, err = lab.on("left", "status")
        self.assertEqual(code, 1, err)
        self.assertIn("\n  h3 on another machine is silent, last heard ", out)
        code, out, err = lab.on("left", "map")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("mapper h3 on another machine was last heard from", err)


if __name__ == "__main__":
    labs.main(__doc__)
