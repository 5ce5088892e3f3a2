#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Labs whose cable somebody else has his hands on: a cable into another lab, forged and repeated frames
on a cable between two machines, which two network namespaces with a veth pair play. Needs root; says so
and exits 77 where that is not allowed.

usage: lab_security_test.py WEFT
"""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import unittest

import labs

WEFT = None

DEVICE = "net_af_packet0,iface=cable"
SPARE = DEVICE.replace("packet0,iface=cable", "packet1,iface=spare")  # pr-drb needs a choice of routes

TOPOLOGY = f"""weft: topology/1
name: two-machines
link: {{rate: 10Gbps, delay: 30ns}}
switches: [{{name: left, ports: 3, stage: 1}}, {{name: right, ports: 3, stage: 1}}]
hosts: [{{name: h0}}, {{name: h1}}]
links:
  - {{a: h0:0, b: left:0}}
  - {{a: h1:0, b: right:0}}
  - {{a: left:1, b: right:1}}
  - {{a: left:2, b: right:2}}
ports:
  - {{port: left:1, dpdk: "{DEVICE}"}}
  - {{port: right:1, dpdk: "{DEVICE}"}}
  - {{port: left:2, dpdk: "{SPARE}"}}
  - {{port: right:2, dpdk: "{SPARE}"}}
"""

# Dilated: a link falls after three hellos, which are 2.7 seconds.
LAB = """topology: topology.yaml
seed: 1
dilation: 30
hello: 30ms
switch: {contention: 1us}
nic: {retry: 30ms, control: pr-drb}
mapper: {routes: static}
routing: {algorithm: ud, alternatives: 2}
groups: {near: [h0], far: [h1]}
traffic:
  - {pattern: uniform, from: all, to: all, load: 5%, message: 1KiB}
measure: {duration: 9999s}
"""

KEY = 32 * "5e" + "\n"

HERE = {"left": ["left", "h0"], "right": ["right", "h1"]}

# Listens at the right end of the cable and sends at the left one: credit frames that take credits back and
# notifications to a source, without a seal and with a seal of zeros, and frames that the left end has sent before,
# notifications among them.
ATTACK = r"""
import ctypes, socket, sys

def end_of_cable(netns):
    with open("/run/netns/" + netns) as file:
        assert ctypes.CDLL(None).setns(file.fileno(), 0) == 0
    cable = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    cable.bind(("cable", 0))
    return cable

right, cable = (end_of_cable(netns) for netns in sys.argv[1:])
right.settimeout(240)
print("listens", flush=True)
heard = {}
while len(heard.get(5, [])) < 5 or 2 not in heard or sum(map(len, heard.values())) < 20:
    frame, where = right.recvfrom(9000)
    if where[2] != socket.PACKET_OUTGOING and frame[12:14] == b"\x88\xb5" and frame[15] in (2, 3, 4, 5, 6):
        heard.setdefault(frame[15], []).append(frame)
one_of = {kind: heard[kind][0] for kind in (2, 5)}
again = [frame for kind in heard for frame in heard[kind] if kind != 5][:15] + heard[5][:5]
for frame in one_of.values():
    plain = 46 + frame[22] + int.from_bytes(frame[20:22], "big")
    for _ in range(50):
        cable.send(frame[:plain] + bytes(16))
        cable.send(frame[:plain].ljust(60, b"\0"))
for frame in again:
    cable.send(frame)
print(len(again))
"""


class Machines(labs.Lab):
    """Two labs of one form on the two ends of a cable, with the same name and key, or not."""

    def __init__(self, tag, security, names=("", "")):
        super().__init__(WEFT, tag, LAB + security, {"topology.yaml": TOPOLOGY, "link.key": KEY})
        self.files = {}
        for side, name in zip(HERE, names):
            self.files[side] = os.path.join(self.folder, f"{side}.yaml")
            with open(self.files[side], "w") as file:
                file.write(f"weft: lab/1\nname: {self.name}{name}\n{LAB}{security}")
            subprocess.run(["ip", "netns", "add", self.netns(side)], check=True)
        for name in "cable", "spare":
            subprocess.run(["ip", "link", "add", name, "mtu", "5000", "netns", self.netns("left"), "type",
                            "veth", "peer", "name", name, "mtu", "5000", "netns", self.netns("right")],
                           check=True)
            for side in HERE:
                subprocess.run(["ip", "-n", self.netns(side), "link", "set", name, "up"], check=True)

    def netns(self, side):
        return f"{self.name}-{side}"

    def directory(self, side):
        return f"/run/weft/{self.netns(side)}"

    def start(self, side, part, *more):
        return subprocess.Popen(["ip", "netns", "exec", self.netns(side), WEFT, "lab", part,
                                 self.files[side], "--run-dir", self.directory(side), *more],
                                text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def start_up(self, side, wait):
        return self.start(side, "up", "--wait", wait,
                          *[word for name in HERE[side] for word in ("--process", name)])

    def on(self, side, part, *more):
        run = self.start(side, part, *more)
        said = run.communicate(timeout=240)
        return run.returncode, *said

    def up_both(self):
        ups = {side: self.start_up(side, labs.UP_WAIT) for side in HERE}
        for side, up in ups.items():
            said = up.communicate(timeout=700)
            if up.returncode != 0:
                raise AssertionError(f"{side}: {said}")

    def wait_stranger(self, side):
        """The number of the other fabric at the cable, once the links of the host are up."""
        labs.wait_until(lambda: all(link["state"] == "up" for link in json.loads(self.on(side, "status", "--json")[1])["links"]
                                    if f"{side}:0" in (link["port"], link["peer"])), f"{side}:0 is not up")
        return labs.wait_until(lambda: re.search(
            rf"^{side}:1 is cabled to another fabric \(number (0x[0-9a-f]{{4}})\)$", self.on(side, "status")[1],
            re.M), f"no other fabric at {side}:1")[1]

    def link_of(self, side):
        """The end of the cable, as status tells of it."""
        status = json.loads(self.on(side, "status", "--json")[1])
        return next(link for link in status["links"] if link["port"] == f"{side}:1")

    def nics(self):
        return {name: nic for side in HERE
                for name, nic in json.loads(self.on(side, "status", "--json")[1])["nics"].items()}

    def wait_traffic(self):
        """Until each host has received 500 more messages, and 100 more notifications."""
        before = self.nics()
        labs.wait_until(lambda: all(
            nic[key] >= before[name][key] + more for name, nic in self.nics().items()
            for key, more in (("messages_delivered", 500), ("cns_received", 100))), "too little traffic")

    def send_under_attack(self):
        """Number of frames that were repeated, and the documents of 'run' on both machines, which go on after the
        attack."""
        attack = labs.Program([sys.executable, "-c", ATTACK, self.netns("right"), self.netns("left")], text=True,
                              stdout=subprocess.PIPE)
        with attack:
            attack.stdout.readline()
            paths = {side: os.path.join(self.folder, f"{side}.json") for side in HERE}
            runs = {side: self.start(side, "run", "--json", path) for side, path in paths.items()}
            repeated = int(attack.communicate(timeout=240)[0])
            self.wait_traffic()
            for run in runs.values():
                run.send_signal(signal.SIGINT)
            said = {side: run.communicate(timeout=240)[0] for side, run in runs.items()}
        if any(run.returncode not in (0, 130) for run in runs.values()):
            raise AssertionError(said)
        documents = []
        for path in paths.values():
            with open(path) as file:
                documents.append(json.load(file))
        return repeated, documents

    def remove(self):
        for side in HERE:
            self.on(side, "down")
            subprocess.run(["ip", "netns", "del", self.netns(side)], stderr=subprocess.DEVNULL,
                           check=False)
        super().remove()


class Security(unittest.TestCase):
    def machines(self, *arguments):
        lab = Machines(*arguments)
        self.addCleanup(lab.remove)
        return lab

    def hold_up(self, holds, lab, side):
        up = lab.start_up(side, "200ms")
        holds.enter_context(labs.held(up, lab.directory(side), 2))
        return up

    def test_labs_of_two_names_or_two_keys_on_one_cable_do_not_join_and_say_why(self):
        lab = self.machines("o", "", ("a", "b"))
        keys = self.machines("d", "security: {link-key: link.key}\n")
        with open(os.path.join(keys.folder, "other.key"), "w") as file:
            file.write(32 * "5f" + "\n")
        os.chmod(file.name, 0o600)
        with open(keys.files["right"]) as file:
            text = file.read()
        with open(keys.files["right"], "w") as file:
            file.write(text.replace("link.key", "other.key"))
        with contextlib.ExitStack() as holds:
            ups, of_keys = ({side: self.hold_up(holds, of, side) for side in HERE} for of in (lab, keys))
            seen = {side: (lab.wait_stranger(side), lab.link_of(side)) for side in HERE}
            for side in HERE:
                keys.wait_stranger(side)
        numbers = {side: link["fabric"] for side, (_, link) in seen.items()}
        self.assertEqual(int(seen["left"][0], 16), numbers["right"])
        self.assertEqual(int(seen["right"][0], 16), numbers["left"])
        self.assertNotEqual(numbers["left"], numbers["right"])
        for side, (_, link) in seen.items():
            self.assertEqual((link["state"], link["sessions_seen"]), ("other fabric", 0))
        for side, up in ups.items():
            err = up.communicate(timeout=240)[1]
            self.assertEqual(up.returncode, 3, err)
            self.assertIn(f"{side}:1 is cabled to another fabric (number {seen[side][0]})", err)
        for side, up in of_keys.items():
            err = up.communicate(timeout=240)[1]
            self.assertEqual(up.returncode, 3, err)
            # The key is a part of the number.
            self.assertIn(f"{side}:1 is cabled to another fabric", err)

    def test_forged_and_repeated_frames_move_a_counter_and_nothing_else(self):
        lab = self.machines("k", "security: {link-key: link.key}\n")
        lab.up_both()
        before = lab.link_of("right")
        repeated, results = lab.send_under_attack()
        after = lab.link_of("right")
        self.assertEqual(after["state"], "up")
        self.assertEqual(after["bad_tag"] - before["bad_tag"], 200)
        self.assertEqual(after["replayed"] - before["replayed"], repeated)
        self.assertGreater(repeated, 0)
        self.assertEqual((after["link_downs"], after["sessions_seen"]),
                         (before["link_downs"], before["sessions_seen"]))
        self.assertEqual({nic["cns_foreign"] for nic in lab.nics().values()}, {0})
        for result in results:
            self.assertEqual([result["checks"][check] for check in
                              ("lost", "duplicated", "out_of_order")], [0, 0, 0])
            self.assertEqual(result["messages"]["dropped"], 0)


class KeyFile(unittest.TestCase):
    def refused(self, prepare, wanted):
        lab = labs.Lab(WEFT, "f", "topology: \"full:switches=1,hosts=2\"\n"
                       "security: {link-key: link.key}\n", {"link.key": KEY})
        self.addCleanup(lab.remove)
        prepare(os.path.join(lab.folder, "link.key"))
        done = lab.weft("up")
        self.assertIn(done.returncode, (2, 3), done.stderr)
        self.assertRegex(done.stderr, r"lab\.yaml:\d+:\d+: security\.link-key: .*" + wanted)

    def test_a_missing_file(self):
        self.refused(os.remove, "No such file or directory; create a file with 64 hexadecimal digits")

    def test_a_short_file(self):
        def cut(path):
            with open(path, "w") as file:
                file.write("5e5e\n")
        self.refused(cut, "must contain 64 hexadecimal digits on one line")

    def test_a_file_that_others_may_read(self):
        self.refused(lambda path: os.chmod(path, 0o644), r"mode 644\); run 'chmod 600 ")


if __name__ == "__main__":
    labs.main(__doc__)
