#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""An attacker sits on the cables of a lab and sends frames of every kind: forged, replayed in the same
life of the lab and in a later one, mutated with mended CRCs; towards both ends of a host's link and of
a link between switches. With keys nothing is lost, doubled or reordered, and no frame delays anything
by more than a retry. Without them the lab is whole again when the attack is over. Needs root; says so
and exits 77 where that is not allowed.

Then a stream of TCP through three switches with corrupt data, lost credits, a cable that is cut again and again
and the attacker at the link of a host arrives as it was sent.

usage: attack_test.py WEFT [--long] [--frames N] [--megabytes N] [TEST]...
--long sends a million frames of every kind (or N) and 4 GB (or N MB).
"""
import contextlib
import ctypes
import hashlib
import os
import select
import socket
import sys
import threading
import time
import unittest

import attack_frames
import labs

WEFT = None
LONG = False
FRAMES = 2500  # per kind
MEGABYTES = 8
RETRY_MS = 20
CATCH_UP_MS = 20
HEARD = 200  # frames of each place that an attacker records

LAB = """topology: "full:switches=2,hosts=1"
links: veth
groups: {{left: [s0], right: [s1], hosts: [h0, h1]}}
seed: 1
dilation: 20
nic: {{retry: {retry}ms, mtu: 1KiB}}
mapper: {{routes: mapper, mode: always, hosts: [h0]{mapper}}}
routing: {{algorithm: dmodk, adaptive: arn, afi: true}}
traffic: [{{pattern: uniform, from: all, load: 1%, message: 100B}}]
measure: {{sample: 100ms}}
{security}"""
# The same with notifications to sources: data has the extension, and each frame is answered by cn.
MEASURED = LAB.replace(", adaptive: arn, afi: true", ", alternatives: 2").replace("mtu: 1KiB}}", "mtu: 1KiB, control: pr-drb}}") \
    .replace("seed: 1\n", "seed: 1\nswitch: {{contention: 1us}}\n")
KEYS = dict(mapper=", key: fabric.key", security="security: {link-key: fabric.key, data: true}\n")
LINK_KEY = dict(mapper=", key: fabric.key", security="security: {link-key: fabric.key}\n")
NO_KEYS = dict(mapper="", security="")
KEY = 32 * "5e" + "\n"
# Links of the plan: a host's, and the one between the switches.
CABLES = {"h0-s0": "wl0", "s0-s1": "wl2"}
USUAL = (attack_frames.DATA, attack_frames.CREDIT, attack_frames.ACK, attack_frames.HELLO)
OTHER = {"a": "b", "b": "a"}
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

    def __init__(self, lab, cables=None):
        self.lab, self.arsenal, self.sent = lab, None, 0
        cables = cables or CABLES
        with network_of(f"weft-{lab.name}"):
            # By what is sent at end 'a', it comes to 'b', and reverse.
            self.places = {(cable, end): raw_socket(f"{name}{end}", 0)
                           for cable, name in cables.items() for end in "ab"}
            # What leaves an end comes in at the other one: drivers bypass the ears of their own end.
            self.ears = {raw_socket(f"{name}{OTHER[end]}", 3): (cable, end)
                         for cable, name in cables.items() for end in "ab"}

    def close(self):
        for raw in [*self.places.values(), *self.ears]:
            raw.close()

    def listen(self):
        """Frames by place and kind, until there are enough of each place, of what traffic has everywhere among them.
        Afterwards one ear is left, for the rhythm of what is sent."""
        heard = {place: [] for place in self.places}
        while not all(len(frames) >= HEARD and all(any(frame[15] == kind for frame in frames) for kind in USUAL)
                      for frames in heard.values()):
            ready = select.select(list(self.ears), [], [], labs.HANG_SECONDS)[0]
            if not ready:
                raise AssertionError("no traffic to be recorded")
            for raw in ready:
                frame, address = raw.recvfrom(65536)
                if address[2] != PACKET_OUTGOING and frame[12:14] == attack_frames.ETHERTYPE:
                    heard[self.ears[raw]].append(frame)
        for raw in list(self.ears)[1:]:
            raw.close()
            del self.ears[raw]
        return {place: attack_frames.Arsenal.sort(frames) for place, frames in heard.items()}

    def pause(self, frames):
        """While so many frames pass an ear."""
        ear = next(iter(self.ears))
        while select.select([ear], [], [], 0)[0]:
            ear.recv(1)
        for _ in range(frames):
            if not select.select([ear], [], [], labs.HANG_SECONDS)[0]:
                raise AssertionError("no frame passes any more")
            ear.recv(1)

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
            if not turns:
                continue
            begun = time.monotonic()
            for i in range(frames):
                # A few of one sort in a row.
                self.send(*turns[i // BURST % len(turns)])
            if note:
                note(f"{name}: {frames} frames in {time.monotonic() - begun:.1f} s")


class AttackedLab(labs.Lab):
    def __init__(self, tag, keys, text):
        super().__init__(WEFT, tag, text.format(retry=RETRY_MS, **keys), {"fabric.key": KEY})

    def up(self):
        super().up()

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
                                              "control_discard", "acks_", "cns_", "offers_foreign", "arn",
                                              "extension_bad")):
                    sums[name] = sums.get(name, 0) + value
        return sums


class Attack(unittest.TestCase):
    maxDiff = None

    def lab(self, tag, keys, text=LAB):
        """In its second life, and its attacker with recordings of both."""
        lab = AttackedLab(tag, keys, text)
        self.addCleanup(lab.remove)
        lives = []
        for _ in range(2):
            lab.up()
            attacker = Attacker(lab)
            traffic = labs.Traffic(lab, "60s")
            lives.append(attacker.listen())
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
        outcome = traffic.finish()
        for words in ("taken down", "is gone", "does not report"):
            self.assertNotIn(words, outcome[2])
        return outcome

    def assert_whole(self, outcome):
        _, result, said = outcome
        messages = result["messages"]
        self.assertEqual([result["checks"][check] for check in ("lost", "duplicated", "out_of_order")],
                         [0, 0, 0], said)
        self.assertEqual(messages["dropped"], 0, said)
        self.assertEqual(messages["injected"], messages["delivered"], said)
        self.assertGreater(messages["delivered"], 100, said)

    def one_by_one(self, attacker, without, pause):
        """One frame of every sort, and a pause of so many frames after each."""
        for shot in attacker.shots(without):
            attacker.send(*shot)
            attacker.pause(pause)

    def note(self, text):
        if LONG:
            print(text, flush=True)

    def assert_prompt(self, outcome):
        """A message takes at most as long as a repeated frame. The timer of a sender has a tick of one retry and begins
        within one. The sender may be late with the frame and with its timer. The other three devices on the way are
        late only beyond what loops catch up, because the arrivals are due ones."""
        _, result, said = outcome
        latest = result["latency_due_ns"]["total"]["max"] / 1e6
        away = result["wall"]["stall_ns"] / 1e6
        self.note(f"latest message {latest:.1f} ms, loops away {away:.1f} ms")
        self.assertLess(latest, 2 * RETRY_MS + 2 * away + 3 * max(0, away - CATCH_UP_MS), said)

    def attack_with_keys(self, tag, keys, without=()):
        lab, attacker = self.lab(tag, keys)
        before = lab.sessions()
        single = self.attacked(lab, lambda: self.one_by_one(attacker, without, 4))
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

    def test_with_a_link_key_data_that_somebody_has_read_is_needed(self):
        self.attack_with_keys("l", LINK_KEY, without={(attack_frames.DATA, "mutated")})

    def test_without_keys_a_single_frame_costs_a_retry_at_most(self):
        """All kinds except mapper frames: devices obey any mapper. Mutated data is believed."""
        lab, attacker = self.lab("o", NO_KEYS)
        shots = {(kind, way) for kind in (attack_frames.SCOUT, attack_frames.MAPPER)
                 for way in attack_frames.Arsenal.WAYS} | {(attack_frames.DATA, "mutated")}
        # A link has more than 20 frames in a millisecond.
        outcome = self.attacked(lab, lambda: self.one_by_one(attacker, shots, 3 * RETRY_MS * 20))
        self.assert_whole(outcome)
        self.assert_prompt(outcome)

    def answered_lab(self, tag, keys):
        """With cn frames and extensions among the recordings."""
        lab, attacker = self.lab(tag, keys, MEASURED)
        now = attacker.arsenal.now
        for cable in CABLES:
            self.assertTrue(any(attack_frames.CN in now[cable, end] for end in "ab"), cable)
            self.assertTrue(any(attack_frames.extension_of(frame) for end in "ab"
                                for frame in now[cable, end][attack_frames.DATA]), cable)
        return lab, attacker

    def test_without_keys_false_notifications_to_sources_lose_nothing(self):
        lab, attacker = self.answered_lab("c", NO_KEYS)
        others = {(kind, way) for kind in attack_frames.NAMES if kind != attack_frames.CN
                  for way in attack_frames.Arsenal.WAYS}
        outcome = self.attacked(lab, lambda: attacker.flood(FRAMES, others, self.note))
        refused = lab.refused()
        self.note(refused)
        self.assert_whole(outcome)
        self.assertGreater(refused.get("cns_foreign", 0), FRAMES / 20, refused)
        self.assertGreater(refused.get("cns_stale", 0), 0, refused)
        self.assertGreater(refused.get("control_bad", 0), 0, refused)

    def test_with_both_keys_false_notifications_and_extensions_do_nothing(self):
        lab, attacker = self.answered_lab("e", KEYS)
        before = lab.sessions()
        outcome = self.attacked(lab, lambda: attacker.flood(FRAMES, (), self.note))
        self.note(lab.refused())
        self.assert_whole(outcome)
        self.assertEqual(lab.sessions(), before)
        self.assertGreater(lab.refused().get("bad_tag", 0), FRAMES / 4)

    def test_without_keys_the_lab_is_whole_when_the_attack_is_over(self):
        lab, attacker = self.lab("n", NO_KEYS)
        self.attacked(lab, lambda: attacker.flood(FRAMES, (), self.note))
        self.note(lab.refused())
        lab.wait_up()
        traffic = labs.Traffic(lab, "50ms")
        outcome = traffic.finish()
        self.assertEqual((outcome[0], outcome[1]["incomplete"]), (0, False), outcome[2])
        self.assert_whole(outcome)


LINE = """weft: topology/1
name: line
switches: [{name: s0, ports: 2}, {name: s1, ports: 2}, {name: s2, ports: 2}]
hosts: [{name: h0}, {name: h1}]
links:
  - {a: h0:0, b: s0:0}
  - {a: s0:1, b: s1:0}
  - {a: s1:1, b: s2:0}
  - {a: h1:0, b: s2:1}
"""
STREAM = """topology: topology.yaml
links: veth
groups: {{fabric: [s0, s1, s2], near: [h0], far: [h1]}}
seed: 1
dilation: 20
nic: {{retry: 1ms, mtu: 1500B}}
mapper: {{routes: static}}
routing: {{algorithm: ud}}
faults: {{credit-loss: 10%, corrupt: 0.1%}}
security: {{link-key: fabric.key, data: true}}
edges:
  - {{host: h0, tap: wt0, namespace: {near}, address: 10.87.0.1/24}}
  - {{host: h1, tap: wt1, namespace: {far}, address: 10.87.0.2/24}}
"""
CHUNK = 1 << 20


# In the long form only, so that the suite neither runs nor skips them.
if "--long" not in sys.argv:
    del Attack.test_with_a_link_key_data_that_somebody_has_read_is_needed
    del Attack.test_without_keys_a_single_frame_costs_a_retry_at_most
    del Attack.test_with_both_keys_false_notifications_and_extensions_do_nothing


class Stream:
    """TCP from one namespace to the other, hashed at both ends."""

    def __init__(self, near, far, address, megabytes):
        self.sent, self.received = hashlib.sha256(), hashlib.sha256()
        self.bytes, self.megabytes, self.error = 0, megabytes, None
        with network_of(far):
            self.server = socket.create_server((address, 5001))
        with network_of(near):
            self.client = socket.socket()
        self.client.settimeout(labs.HANG_SECONDS)
        self.client.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 127)  # the kernel gives up after two minutes
        self.client.connect((address, 5001))
        self.threads = [threading.Thread(target=self.guarded, args=(part,), daemon=True)
                        for part in (self.send, self.receive)]
        for thread in self.threads:
            thread.start()

    def guarded(self, part):
        try:
            part()
        except OSError as error:
            self.error = error

    def send(self):
        block = bytearray(os.urandom(CHUNK))
        for i in range(self.megabytes):
            block[:8] = i.to_bytes(8, "big")
            self.sent.update(block)
            self.client.sendall(block)
        self.client.shutdown(socket.SHUT_WR)

    def receive(self):
        with self.server.accept()[0] as connection:
            connection.settimeout(labs.HANG_SECONDS)
            while data := connection.recv(CHUNK):
                self.received.update(data)
                self.bytes += len(data)

    def runs(self):
        return any(thread.is_alive() for thread in self.threads) and self.error is None

    def close(self):
        self.client.close()
        self.server.close()


class Integrity(unittest.TestCase):
    def test_a_stream_arrives_as_it_was_sent(self):
        names = {side: f"wt{os.getpid()}{side}" for side in ("near", "far")}
        lab = labs.Lab(WEFT, "i", STREAM.format(**names), {"fabric.key": KEY, "topology.yaml": LINE})
        self.addCleanup(lab.remove)
        lab.up()
        attacker = Attacker(lab, {"h0-s0": "wl0"})
        self.addCleanup(attacker.close)
        stream = Stream(names["near"], names["far"], "10.87.0.2", MEGABYTES)
        self.addCleanup(stream.close)
        now = attacker.listen()
        fabric = lab.status()["links"][0]["fabric"]
        attacker.arsenal = attack_frames.Arsenal(2, fabric, hosts=2, vcs=1)
        attacker.arsenal.now = now
        cuts = self.attack(lab, attacker, stream)
        self.assertIsNone(stream.error)
        self.assertEqual(stream.bytes, MEGABYTES * CHUNK)
        self.assertEqual(stream.received.hexdigest(), stream.sent.hexdigest())
        self.assertGreater(cuts, 0)
        corrupted = sum(port["bad_header_crc"] + port["bad_payload_crc"] for port in lab.status()["ports"].values()) \
            + sum(nic["discard_payload_crc"] for nic in lab.status()["nics"].values())
        self.assertGreater(corrupted, 0)
        if LONG:
            print(f"{MEGABYTES} MB, {attacker.sent} frames of the attacker, {cuts} cuts, {corrupted} frames corrupted",
                  flush=True)

    def attack(self, lab, attacker, stream):
        """Until the stream ends, and the cable was cut at least once. Number of cuts."""
        shots, cuts, turn = attacker.shots(), 0, 0
        while stream.runs() or cuts == 0:
            for _ in range(BURST):
                attacker.send(*shots[turn % len(shots)])
                turn += 1
            attacker.pause(BURST)
            if turn % (50 * BURST) == 0:
                lab.cut("s0:1")
                lab.join("s0:1")
                cuts += 1
        return cuts


if __name__ == "__main__":
    labs.need_lab()
    WEFT = sys.argv.pop(1)
    LONG = "--long" in sys.argv
    if LONG:
        FRAMES, MEGABYTES = 1000000, 4096
        sys.argv.remove("--long")
    if "--frames" in sys.argv:
        at = sys.argv.index("--frames")
        FRAMES = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    if "--megabytes" in sys.argv:
        at = sys.argv.index("--megabytes")
        MEGABYTES = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main()
