#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""An attacker sits on the cables of a lab and sends frames of every kind: forged, replayed in the same
life of the lab and in a later one, mutated with mended CRCs; towards both ends of a host's link and of
a link between switches. With keys nothing is lost, doubled or reordered, and no frame delays anything
by more than a retry. Without them the lab is whole again when the attack is over. Needs root; says so
and exits 77 where that is not allowed.

usage: attack_test.py WEFT [--long] [--frames N] [TEST]...
--long sends a million frames of every kind (or N).
"""
import contextlib
import ctypes
import os
import select
import socket
import sys
import time
import unittest

import attack_frames
import labs

WEFT = None
LONG = False
FRAMES = 2500  # of each kind
RETRY_MS = 200

LAB = """topology: "full:switches=2,hosts=1"
links: veth
groups: {{left: [s0], right: [s1], hosts: [h0, h1]}}
seed: 1
hello: 100ms
nic: {{retry: {retry}ms, mtu: 1KiB}}
mapper: {{routes: mapper, mode: always, hosts: [h0]{mapper}}}
routing: {{algorithm: dmodk, adaptive: arn, afi: true}}
traffic: [{{pattern: uniform, from: all, load: 0.05%, message: 100B}}]
measure: {{sample: 1s}}
{security}"""
KEYS = dict(mapper=", key: fabric.key", security="security: {link-key: fabric.key, data: true}\n")
LINK_KEY = dict(mapper=", key: fabric.key", security="security: {link-key: fabric.key}\n")
NO_KEYS = dict(mapper="", security="")
KEY = 32 * "5e" + "\n"
# Links of the plan: a host's, and the one between the switches.
CABLES = {"h0-s0": "wl0", "s0-s1": "wl2"}
PACKET_OUTGOING = 4
BURST = 32


@contextlib.contextmanager
def network_of(name):
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net") as own, open(f"/run/netns/{name}") as other:
        if libc.setns(other.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), f"setns {name}")
        try:
            yield
        finally:
            libc.setns(own.fileno(), 0)


def raw_socket(interface, protocol):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    raw.bind((interface, protocol))
    return raw


class Attacker:
    """Somebody with his hands on the cables."""

    def __init__(self, lab, arsenal=None):
        self.lab, self.arsenal, self.sent = lab, arsenal, 0
        with network_of(f"weft-{lab.name}"):
            # By what is sent at end 'a', it comes to 'b', and reverse.
            self.places = {(cable, end): raw_socket(f"{name}{end}", 0)
                           for cable, name in CABLES.items() for end in "ab"}
            self.ears = {raw_socket(f"{name}a", 3): cable for cable, name in CABLES.items()}

    def close(self):
        for raw in [*self.places.values(), *self.ears]:
            raw.close()

    def listen(self, done):
        """Frames by place and kind until done(); then deaf."""
        heard = {place: [] for place in self.places}
        while not done():
            for raw in select.select(list(self.ears), [], [], 0.1)[0]:
                frame, address = raw.recvfrom(65536)
                end = "a" if address[2] == PACKET_OUTGOING else "b"
                if frame[12:14] == attack_frames.ETHERTYPE:
                    heard[self.ears[raw], end].append(frame)
        for raw in self.ears:
            raw.close()
        self.ears = {}
        return {place: attack_frames.Arsenal.sort(frames) for place, frames in heard.items()}

    def send(self, kind, way, place):
        frame = self.arsenal.make(kind, way, place)
        try:
            self.places[place].send(frame)
            self.sent += 1
        except BlockingIOError:
            pass

    def shots(self, without=()):
        """All there is: kind, way and place."""
        return [(kind, way, place) for kind in attack_frames.KINDS.values() for place in self.places
                for way in self.arsenal.ways(kind, place) if (kind, way) not in without]

    def flood(self, frames, without=(), note=None):
        """So many of each kind, in all ways and places by turns."""
        shots = self.shots(without)
        for kind, name in attack_frames.KINDS.items():
            kind, name = name, kind
            turns = [shot for shot in shots if shot[0] == kind]
            begun = time.monotonic()
            for i in range(frames):
                # A few of one sort in a row.
                self.send(*turns[i // BURST % len(turns)])
            if note:
                note(f"{name}: {frames} frames in {time.monotonic() - begun:.1f} s")


class AttackedLab(labs.Lab):
    def __init__(self, tag, keys):
        super().__init__(WEFT, tag, LAB.format(retry=RETRY_MS, **keys), {"fabric.key": KEY})

    def up(self):
        super().up()
        self.wait(lambda: self.status()["up"], "the lab is not up")

    def sessions(self):
        """What no frame of an attacker may change."""
        return {link["port"]: (link["state"], link["sessions_seen"])
                for link in self.status()["links"]}

    def refused(self):
        """Frames that ports and interfaces did not take, by counter."""
        status, sums = self.status(), {}
        for device in [*status["ports"].values(), *status["nics"].values()]:
            for name, value in device.items():
                if value and name.startswith(("bad_", "replayed", "unproven", "discard_", "control_bad",
                                              "control_discard", "acks_", "offers_foreign", "arn")):
                    sums[name] = sums.get(name, 0) + value
        return sums


class Attack(unittest.TestCase):
    maxDiff = None

    def lab(self, tag, keys):
        """In its second life, and its attacker with recordings of both."""
        lab = AttackedLab(tag, keys)
        self.addCleanup(lab.remove)
        lives = []
        for _ in range(2):
            lab.up()
            attacker = Attacker(lab)
            traffic = labs.Traffic(lab, "60s")
            end = time.monotonic() + 1.2
            lives.append(attacker.listen(lambda: time.monotonic() > end))
            traffic.stop()
            traffic.finish()
            if len(lives) == 1:
                attacker.close()
                lab.must("down")
        self.addCleanup(attacker.close)
        fabric = lab.status()["links"][0]["fabric"]
        attacker.arsenal = attack_frames.Arsenal(1, fabric, hosts=2, vcs=2)
        attacker.arsenal.before, attacker.arsenal.now = lives
        return lab, attacker

    def attacked(self, lab, attack):
        """Result of a run during which 'attack' happens."""
        traffic = labs.Traffic(lab, "9999s")
        traffic.wait_flow(20)
        attack()
        traffic.stop()
        return traffic.finish()

    def assert_whole(self, outcome):
        _, result, said = outcome
        messages = result["messages"]
        self.assertEqual([result["checks"][check] for check in ("lost", "duplicated", "out_of_order")],
                         [0, 0, 0], said)
        self.assertEqual(messages["dropped"], 0, said)
        self.assertEqual(messages["injected"], messages["delivered"], said)
        self.assertGreater(messages["delivered"], 100)

    def one_by_one(self, attacker, without, pause):
        """One frame of every sort, each after a pause."""
        for shot in attacker.shots(without):
            attacker.send(*shot)
            time.sleep(pause)

    def note(self, text):
        if LONG:
            print(text, flush=True)

    def assert_prompt(self, outcome):
        """No message took longer than a repeated frame does: the timer of a sender has a tick of one
        retry, and begins within one."""
        _, result, said = outcome
        latest = result["latency_ns"]["total"]["max"] / 1e6
        away = result["wall"]["away_ns"] / 1e6
        self.note(f"latest message {latest:.1f} ms, loops away {away:.1f} ms")
        self.assertLess(latest, 2 * RETRY_MS + away, said)

    def attack_with_keys(self, tag, keys, without=()):
        lab, attacker = self.lab(tag, keys)
        before = lab.sessions()
        single = self.attacked(lab, lambda: self.one_by_one(attacker, without, 0.02))
        self.note(lab.refused())
        self.assert_whole(single)
        self.assert_prompt(single)
        self.assertEqual(lab.sessions(), before)
        flooded = self.attacked(lab, lambda: attacker.flood(FRAMES, without, self.note))
        self.note(lab.refused())
        self.assert_whole(flooded)
        self.assertEqual(lab.sessions(), before)
        self.assertGreater(attacker.sent, len(attack_frames.KINDS) * FRAMES * 0.9)

    def test_with_both_keys_no_frame_of_any_kind_does_anything(self):
        self.attack_with_keys("k", KEYS)

    @unittest.skipUnless("--long" in sys.argv, "only with --long")
    def test_with_a_link_key_data_that_somebody_has_read_is_needed(self):
        self.attack_with_keys("l", LINK_KEY, without={(attack_frames.DATA, "mutated")})

    def test_without_keys_the_lab_is_whole_when_the_attack_is_over(self):
        lab, attacker = self.lab("n", NO_KEYS)
        self.attacked(lab, lambda: attacker.flood(FRAMES, (), self.note))
        self.note(lab.refused())
        lab.wait(lambda: lab.status()["up"] and lab.weft("status").returncode == 0, "not up again")
        traffic = labs.Traffic(lab, "1s")
        outcome = traffic.finish()
        self.assertEqual((outcome[0], outcome[1]["incomplete"]), (0, False), outcome[2])
        self.assert_whole(outcome)


if __name__ == "__main__":
    labs.need_lab()
    WEFT = sys.argv.pop(1)
    LONG = "--long" in sys.argv
    if LONG:
        FRAMES = 1000000
        sys.argv.remove("--long")
    if "--frames" in sys.argv:
        at = sys.argv.index("--frames")
        FRAMES = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main()
