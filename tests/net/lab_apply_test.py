#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""'weft lab apply': devices and cables of a lab that is up are added, removed and moved.

usage: lab_apply_test.py WEFT KILL_AT.SO [CASE...]      WEFT_LONG=1: more changes and kills"""
import copy
import json
import os
import random
import subprocess
import sys
import unittest

import labs

WEFT = KILL_AT = None
LAB = """topology: topology.yaml
seed: 1
dilation: 20
nic: {give-up: 600s}
mapper: {key: fabric.key, """ + labs.MAPPER + """}
edges: {hosts: all, network: 10.83.0.0/24}
traffic: [{pattern: uniform, from: all, load: 1%, message: 1KiB}]
measure: {duration: 20ms, sample: 2ms}
"""
# Sends until its input ends, and then prints how many bytes were sent, and how many segments were sent again.
SENDER = """
import select, socket, struct, sys
with socket.create_connection((sys.argv[1], 7008)) as peer:
    sent = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        peer.sendall(bytes(8192))
        sent += 8192
        print(sent, flush=True)
    peer.shutdown(socket.SHUT_WR)
    peer.recv(1)
    print("again", struct.unpack_from("I", peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 100)[0])
"""
RECEIVER = """
import socket
with socket.create_server(("", 7008)) as server:
    print("listens", flush=True)
    peer, _ = server.accept()
    got = 0
    while part := peer.recv(65536):
        got += len(part)
    print(got, flush=True)
"""
# One request after the other until its input ends, each answered before the next; then how many.
PINGS = """
import select, subprocess, sys
count = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    subprocess.run(["ping", "-n", "-c", "1", "-W", sys.argv[2], sys.argv[1]], check=True, stdout=subprocess.DEVNULL)
    count += 1
    print(count, flush=True)
"""


class Net:
    """Switches {name: ports}, hosts, and cables {(port, port)}."""

    def __init__(self, leaves=2, spines=2, hosts=2):
        self.switches, self.hosts, self.cables = {}, [], []
        for spine in range(spines):
            self.switches[f"spine{spine}"] = 8
        for leaf in range(leaves):
            self.add_leaf(f"leaf{leaf}", [f"h{leaf * hosts + i}" for i in range(hosts)])

    def spines(self):
        return [name for name in self.switches if name.startswith("spine")]

    def leaves(self):
        return [name for name in self.switches if name.startswith("leaf")]

    def free(self, switch):
        used = {end for cable in self.cables for end in cable}
        return next(f"{switch}:{i}" for i in range(self.switches[switch]) if f"{switch}:{i}" not in used)

    def join(self, a, b):
        self.cables.append((a if ":" in a else self.free(a), b if ":" in b else self.free(b)))

    def add_host(self, host, leaf):
        self.hosts.append(host)
        self.join(f"{host}:0", leaf)

    def add_leaf(self, leaf, hosts):
        self.switches[leaf] = 10
        for host in hosts:
            self.add_host(host, leaf)
        for spine in self.spines():
            self.join(leaf, spine)

    def remove(self, device):
        self.cables = [cable for cable in self.cables if not any(end.split(":")[0] == device for end in cable)]
        self.switches.pop(device, None)
        self.hosts = [host for host in self.hosts if host != device]

    def hosts_of(self, leaf):
        return [a.split(":")[0] for a, b in self.cables if b.split(":")[0] == leaf and a.startswith("h")]

    def text(self):
        """Switches in the order of their names, so that numbers would change if they came from the file."""
        return "weft: topology/1\nname: net\nlink: {rate: 10Gbps, delay: 30ns}\nswitches:\n" + "".join(
            f"  - {{name: {name}, ports: {self.switches[name]}}}\n" for name in sorted(self.switches)) + \
            "hosts:\n" + "".join(f"  - {{name: {name}}}\n" for name in sorted(self.hosts)) + \
            "links:\n" + "".join(f"  - {{a: {a}, b: {b}}}\n" for a, b in self.cables)


class Lab(labs.Lab):
    """'together': switches of which those that there are share a process."""

    def __init__(self, tag, net, form, together):
        super().__init__(WEFT, tag, LAB, {"topology.yaml": net.text(), "fabric.key": 32 * "5e" + "\n"}, form)
        self.together, self.text = together, labs.read(self.file)
        self.write(net)

    def write(self, net):
        with open(os.path.join(self.folder, "topology.yaml"), "w") as file:
            file.write(net.text())
        together = [name for name in self.together if name in net.switches]
        with open(self.file, "w") as file:
            file.write(self.text + (f"groups: {{net: [{', '.join(together)}]}}\n" if together else ""))

    def apply(self, net, *more):
        self.write(net)
        said = self.must("apply", "--wait", labs.UP_WAIT, *more)
        self.note_pids()
        return said

    def address(self, host):
        edge, = [edge for edge in self.status()["edges"] if edge["host"] == host]
        return edge["address"].split("/")[0]

    def program(self, host, text, *words):
        return labs.Program([WEFT, "lab", "exec", "--no-faketime", self.name, host, "--", sys.executable, "-c", text,
                             *words], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


class Case(unittest.TestCase):
    form, together = "each", ()

    def lab(self, tag, net):
        lab = Lab(tag, net, self.form, self.together)
        self.addCleanup(lab.remove)
        lab.up()
        return lab

    def assert_is(self, lab, net):
        """The mapper has found the devices and cables of the file and no others, all hosts reach each other, and
        nothing is lost or counted twice."""
        lab.assert_up()
        path = os.path.join(lab.folder, "map.yaml")
        lab.must("map", "-o", path)
        self.assertEqual(labs.by_identity(labs.shown(WEFT, path)),
                         labs.by_identity(labs.shown(WEFT, os.path.join(lab.folder, "topology.yaml"))))
        status = lab.status()
        self.assertEqual(sorted(status["nics"]), sorted(net.hosts))
        self.assertEqual(sorted(edge["host"] for edge in status["edges"]), sorted(net.hosts))
        self.assertEqual(sorted(link["port"] for link in status["links"]),
                         sorted(end for cable in net.cables for end in cable))
        address = {edge["host"]: edge["address"].split("/")[0] for edge in status["edges"]}
        for host, other in zip(net.hosts, net.hosts[1:] + net.hosts[:1]):
            labs.ping(self, [WEFT, "lab", "exec", "--no-faketime", lab.name, host, "--"], address[other], times=1)
        messages = (result := lab.run())["messages"]
        self.assertGreater(messages["delivered"], 100)
        self.assertEqual(messages["injected"], messages["delivered"])
        for check in labs.CHECKS:
            self.assertEqual(result["checks"][check], 0, check)


    def refused(self, lab, text, code=2):
        before = {name: labs.read(os.path.join(lab.run_dir, name)) for name in ("lab.yaml", "state")}
        done = lab.weft("apply")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual({name: labs.read(os.path.join(lab.run_dir, name)) for name in before}, before)
        self.assertFalse(os.path.exists(os.path.join(lab.run_dir, "devices")))


class Traffic(Case):
    def still(self, lab, host, netns):
        """TCP sends again only what was lost, however slow this machine is."""
        def ip(*words):
            subprocess.run(["ip", "-n", netns, *words], check=True)
        route = subprocess.check_output(["ip", "-n", netns, "route", "show", "10.83.0.0/24"], text=True).split()
        ip("route", "replace", *[word for word in route if word != "linkdown"], "rto_min", f"{labs.HANG_SECONDS}s")
        subprocess.run(["ip", "netns", "exec", netns, "sysctl", "-q", "net.ipv4.tcp_early_retrans=0"], check=True)

    def spines_between(self, lab, a, b):
        ways = [json.loads(lab.must("route", x, y, "--json"))["ways"][0] for x, y in ((a, b), (b, a))]
        return {hop.split(":")[0] for way in ways for hop in way if hop.startswith("spine")}

    def test_tcp_and_ping_lose_nothing_while_a_leaf_is_added_and_a_spine_removed(self):
        net = Net(leaves=2, spines=3)
        lab = self.lab("t", net)
        for edge in lab.status()["edges"]:
            self.still(lab, edge["host"], edge["namespace"])
        spare = sorted(set(net.spines()) - self.spines_between(lab, "h0", "h2") - self.spines_between(lab, "h1", "h3"))[:1]
        # Else the pings stay within a leaf.
        far, spine = ("h3", spare[0]) if spare else ("h0", sorted(
            set(net.spines()) - self.spines_between(lab, "h0", "h2"))[0])
        with lab.program("h2", RECEIVER) as receiver:
            self.assertEqual(receiver.stdout.readline(), "listens\n")
            with lab.program("h0", SENDER, lab.address("h2")) as sender, \
                    lab.program("h1", PINGS, lab.address(far), str(labs.HANG_SECONDS)) as pings:
                for program in (sender, pings):
                    self.assertRegex(program.stdout.readline(), r"^\d+\n$")
                net.remove(spine)
                net.add_leaf("leaf2", ["h4", "h5"])
                said = lab.apply(net)
                self.assertIn(f"remove   switch {spine}\n", said)
                self.assertIn("add      switch leaf2\n", said)
                results = []
                for program in (sender, pings):
                    # Both go on.
                    self.assertRegex(program.stdout.readline(), r"^\d+\n$")
                    program.stdin.close()
                    results.append(program.stdout.read().split("\n"))
                    self.assertEqual(program.wait(labs.HANG_SECONDS), 0)
            self.assertEqual(results[0][-2], "again 0")
            self.assertEqual(receiver.stdout.read(), results[0][-3] + "\n")
        self.assert_is(lab, net)


class TrafficOfOne(Traffic):
    form = "one"


class Drawn(Case):
    """Sequences of changes."""
    seeds = (1, 2) if labs.LONG else (1,)

    def change(self, rng, net):
        """One to three changes; the fabric stays connected, because each leaf has cables to all spines."""
        names = iter(f"h{i}" for i in range(40) if f"h{i}" not in net.hosts)
        for _ in range(rng.randint(1, 3)):
            kind = rng.randrange(6)
            leaf = rng.choice(net.leaves())
            if kind == 0 and len(net.leaves()) < 3:
                net.add_leaf(next(f"leaf{i}" for i in range(9) if f"leaf{i}" not in net.switches), [next(names)])
            elif kind == 1 and len(net.leaves()) > 2:
                for host in net.hosts_of(leaf):
                    net.remove(host)
                net.remove(leaf)
            elif kind == 2:
                spine = rng.choice(net.spines())
                if len(net.spines()) > 1:
                    net.remove(spine)
                else:
                    new = next(f"spine{i}" for i in range(9) if f"spine{i}" not in net.switches)
                    net.switches[new] = 8
                    for other in net.leaves():
                        net.join(other, new)
            elif kind == 3 and len(net.hosts) < 6:
                net.add_host(next(names), leaf)
            elif kind == 4 and len(net.hosts) > 3:
                net.remove(rng.choice(net.hosts))
            else:
                host = rng.choice(net.hosts)
                net.remove(host)
                net.add_host(host, leaf)

    def check(self, seed, steps):
        rng, net = random.Random(seed), Net()
        lab = self.lab(f"d{seed}", net)
        for step in range(steps):
            before = net.text()
            self.change(rng, net)
            with self.subTest(seed=seed, step=step):
                lab.apply(net)
                try:
                    self.assert_is(lab, net)
                except AssertionError as fault:
                    raise AssertionError(f"{fault}\nbefore:\n{before}\nafter:\n{net.text()}") from None
        said = lab.must("down")
        self.assertIn("ended", said)
        self.assertEqual(lab.leftovers(), [])

    def test_each_lab_is_as_in_the_file_after_each_change(self):
        for seed in self.seeds:
            self.check(seed, 5 if labs.LONG else 3)


class DrawnOfOne(Drawn):
    form, seeds = "one", (3,)


class DrawnInGroups(Drawn):
    together, seeds = ("leaf0", "leaf1", "spine0", "spine1"), (4,)


class Requests(Case):
    def test_what_cannot_change_is_refused_before_anything_changes(self):
        net = Net(leaves=2, spines=1, hosts=1)
        lab = self.lab("q", net)
        more = copy.deepcopy(net)
        more.add_host("h2", "leaf0")
        lab.write(more)
        with open(lab.file) as file:
            text = file.read()
        for old, new, why in (
                ("dilation: 20", "dilation: 30", "dilation: 30 in the file, 20 in the lab"),
                ("edges: {hosts: all, network: 10.83.0.0/24}", "edges: {hosts: [h0], network: 10.83.0.0/24}",
                 "edges: the edge of host h1 cannot change while the lab is running"),
                ("processes: each\n", "processes: each\ngroups: {both: [h0, h2]}\n",
                 "group 'both': some of its devices are running and some are new"),
                ("processes: each", "processes: one", "processes: one in the file, each in the lab"),
                ("processes: each\n", "processes: each\nlinks: veth\n", "changes require 'links: shared'")):
            with self.subTest(why):
                self.assertIn(old, text)
                with open(lab.file, "w") as file:
                    file.write(text.replace(old, new))
                self.refused(lab, why)
        with open(lab.file, "w") as file:
            file.write(text)
        self.assertIn("add      host h2\nplug     h2:0 - leaf0:2\nstart    weft-nic of h2\n", lab.must("apply", "--dry-run"))
        self.assertFalse(os.path.exists(os.path.join(lab.run_dir, "devices")))
        lab.must("down")
        done = lab.weft("apply")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"'weft lab up {lab.file}' starts it", done.stderr)

    def test_a_switch_without_a_free_port_is_restarted(self):
        net = Net(leaves=2, spines=1, hosts=1)
        net.switches["leaf0"] = 2
        lab = self.lab("s", net)
        before = dict(lab.pids)
        net.switches["leaf0"] = 4
        net.add_host("h2", "leaf0")
        said = lab.apply(net)
        self.assertIn("restart  switch leaf0, which gets 4 ports instead of 2\n", said)
        self.assertEqual({name for name, pid in before.items() if lab.pids[name] != pid}, {"leaf0"})
        self.assert_is(lab, net)

    def test_a_host_that_its_process_has_lost_is_not_taken_back(self):
        net = Net(leaves=2, spines=1)
        lab = self.lab("n", net)
        whole = copy.deepcopy(net)
        net.remove("h1")
        lab.apply(net)
        self.assertEqual(lab.weft("exec", "h1", "--", "true").returncode, 2)
        lab.must("restart", "h0")
        lab.note_pids()
        self.assert_is(lab, net)
        # The process of h0 has started without it.
        lab.write(whole)
        done = lab.weft("apply")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("h1 was removed from process h0 and cannot be added to it again", done.stderr)


class RequestsOfOne(Case):
    form = "one"

    def test_a_process_of_several_switches_is_not_restarted_for_more_ports(self):
        net = Net(leaves=2, spines=1, hosts=1)
        lab = self.lab("o", net)
        net.switches["leaf0"] = 12
        lab.write(net)
        self.refused(lab, "switch leaf0 cannot have more than its 10 ports because other devices share its process")

    def test_a_switch_that_its_process_has_lost_is_not_taken_back(self):
        net = Net(leaves=2, spines=2)
        lab = self.lab("b", net)
        whole = copy.deepcopy(net)
        net.remove("spine1")
        net.add_leaf("leaf2", ["h4"])
        lab.apply(net)
        lab.must("restart", "leaf0")
        lab.note_pids()
        self.assert_is(lab, net)
        lab.write(whole)
        done = lab.weft("apply")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("spine1 was removed from process leaf0 and cannot be added to it again", done.stderr)


class Kills(Case):
    def test_apply_that_was_killed_is_finished_by_the_next_one(self):
        nets = [Net(leaves=2, spines=2, hosts=1), Net(leaves=3, spines=1, hosts=1)]
        lab = self.lab("k", nets[0])
        step, number = 1, 1
        while True:
            lab.write(nets[number % 2])
            done = subprocess.run([WEFT, "lab", "apply", "--wait", labs.UP_WAIT, lab.file], text=True,
                                  env=dict(os.environ, LD_PRELOAD=KILL_AT, WEFT_KILL_AT=str(step)),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            if done.returncode == 0:
                break
            self.assertEqual(done.returncode, -9, f"step {step}: {done.stdout}{done.stderr}")
            lab.apply(nets[number % 2])
            lab.assert_up()
            step, number = step + (9 if labs.LONG else 19), number + 1
        self.assertGreater(step, 10)
        lab.note_pids()
        self.assert_is(lab, nets[number % 2])
        # The last word is 'down', which knows all processes of an 'apply' that was killed.
        lab.write(nets[(number + 1) % 2])
        subprocess.run([WEFT, "lab", "apply", lab.file], env=dict(os.environ, LD_PRELOAD=KILL_AT, WEFT_KILL_AT=str(step // 2)),
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        subprocess.run([WEFT, "lab", "down", lab.name], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(lab.leftovers(), [])
        print(f"killed up to step {step}", file=sys.stderr)


class KillsOfOne(Kills):
    form = "one"


if __name__ == "__main__":
    if len(sys.argv) > 2:
        KILL_AT = os.path.abspath(sys.argv.pop(2))
    labs.main(__doc__, ("ip", "ping"))
