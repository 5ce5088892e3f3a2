#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A hot spot on the real clock, and what a capture shows of its notifications: 'weft run --pcap'
and 'weft lab status'.

usage: congestion_test.py WEFT DISSECTOR.lua [TEST]...    exit 77 with the reason where this machine
cannot

The network is a fat tree of four leaves, s0 to s3 with two hosts each, under s4 and s5. Six hosts
send to h0; by D-mod-K all of that passes s4, so the root is the output of s4 that goes down to s0.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import captures
import labs

WEFT = sys.argv.pop(1) if len(sys.argv) > 1 else ""
DISSECTOR = sys.argv.pop(1) if len(sys.argv) > 1 else ""
NETWORK = """
dilation: 20
topology: "rlft:ports=4,stages=2"
seed: 7
link: {rate: 50Mbps, delay: 1us}
switch: {buffer: 32KiB, mtu: 1KiB}
nic: {mtu: 1KiB, retry: 200ms}
routing: {algorithm: dmodk, mode: table, adaptive: arn, afi: true}
detector: {fcth: 50%, crt: 2ms, arn-ttl: 300ms, arn-refresh: 1ms}
traffic:
  - {pattern: hotspot, from: [h2, h3, h4, h5, h6, h7], to: [h0], load: 80%, message: 1KiB}
"""
RUN = "weft: run/1\nclock: real\nmeasure: {duration: 60ms, sample: 20ms}\n" + NETWORK
SWITCHES_ACT = ("--set", "detector.variants.down-roots=stage",
                "--set", "detector.variants.hosts-act=false")
PLAIN = ("--set", "routing.adaptive=none", "--set", "routing.afi=false")
FIELDS = ["frame.interface_name", "frame.p2p_dir", "frame.time_epoch", "weft.kind", "weft.dst",
          "weft.adapted", "weft.vc", "weft.vc_original", "weft.arn.id", "weft.arn.destination",
          "weft.arn.vc", "weft.arn.root_info", "weft.state.reason", "weft.fecn"]
OUT, IN = "0", "1"
DATA, ARN = "1", "3"
ROOT = 5 << 8 | 0  # the upper half of its identity: device 5 is s4, output 0


class Frame:
    def __init__(self, values):
        self.port, self.direction, time_text, self.kind, self.to, adapted, self.vc, \
            self.vc_original, root, self.arn_to, self.arn_vc, self.root_info, self.reason, fecn = values
        self.marked = fecn == "1"
        self.time = float(time_text)
        self.adapted = adapted == "1"
        self.root = int(root, 0) if root else None

    def is_of_root(self):
        return self.kind == ARN and self.root >> 8 == ROOT

    def leaves(self, *ports):
        return self.direction == OUT and self.port in ports

    def comes(self, *ports):
        return self.direction == IN and self.port in ports


def first(frames):
    return min((frame.time for frame in frames), default=None)


def ports(devices, numbers):
    return tuple(f"s{device}:{port}" for device in devices for port in numbers)


class Folder(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-congestion-"))
        self.addCleanup(shutil.rmtree, self.dir)

    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return str(path)

    def run_fabric(self, *more):
        return subprocess.run([WEFT, "run", self.write("run.yaml", RUN), "--json", "-", *more], capture_output=True,
                              text=True, timeout=labs.HANG_SECONDS, check=False)


@unittest.skipIf(shutil.which("tshark") is None, "tshark is not installed")
class Capture(Folder):
    def capture(self, *more):
        path = self.dir / "switches.pcapng"
        looked_at = [word for port in ports(range(5), range(4)) for word in ("--pcap", f"{port}={path}")]
        done = self.run_fabric(*looked_at, "--snaplen", "128", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        for check in ("lost", "duplicated", "out_of_order"):
            self.assertEqual(result["checks"][check], 0, check)
        self.assertGreater(result["messages"]["delivered"], 50)
        rows = captures.fields(DISSECTOR, path, FIELDS, kinds=(captures.DATA, captures.ARN))
        return result, [Frame(row) for row in rows]

    def assert_told(self, frames):
        """The root's notifications leave the congested switch against the way of the packets."""
        told = [f for f in frames if f.is_of_root()]
        self.assertGreater(len(told), 0, "no notification")
        self.assertEqual({(f.arn_to, f.arn_vc) for f in told}, {("0", "0")})
        self.assertEqual({f.port for f in told if f.direction == OUT and f.port.startswith("s4:")} -
                         set(ports([4], [1, 2, 3])), set(), "towards the root")
        self.assertEqual([f for f in told if f.leaves(*ports(range(4), [2, 3]))], [],
                         "up again")
        return told

    def test_a_notification_reaches_the_hosts_and_they_set_the_bit(self):
        result, frames = self.capture()
        told = self.assert_told(frames)
        self.assertEqual({f.root_info for f in told}, {"0"})
        from_root = first(f for f in told if f.leaves(*ports([4], [1, 2, 3])))
        adapted = [f for f in frames if f.kind == DATA and f.adapted]
        acting = 0
        for host in range(2, 8):
            leaf, port = f"s{host // 2}", f"s{host // 2}:{host % 2}"
            way = [from_root, first(f for f in told if f.comes(f"{leaf}:2")),
                   first(f for f in told if f.leaves(port)),
                   first(f for f in adapted if f.comes(port))]
            if None in way:
                continue
            self.assertEqual(way, sorted(way), f"h{host}")
            acting += 1
        self.assertGreater(acting, 0, "no host has set the bit")
        # Nobody else sets it, and where it is set the packet is in the last VC.
        self.assertGreaterEqual(first(adapted), from_root)
        self.assertEqual({(f.vc, f.vc_original, f.to) for f in adapted}, {("1", "0", "0")})
        self.assertEqual(result["counters"]["packets_adapted"], 0)
        self.assertGreater(result["counters"]["host_frames_adapted"], 0)
        self.assertGreater(sum(sample["arn"] for sample in result["series"]), 0)

    def test_read_literally_the_stage_below_the_root_goes_around_it(self):
        result, frames = self.capture(*SWITCHES_ACT)
        told = self.assert_told(frames)
        self.assertEqual({f.root_info for f in told}, {"1"})
        self.assertEqual([f for f in told if f.leaves(*ports(range(4), [0, 1]))], [],
                         "a leaf consumes it")
        adapted = [f for f in frames if f.kind == DATA and f.adapted]
        self.assertEqual([f for f in adapted if f.comes(*ports(range(4), [0, 1]))], [],
                         "a host has set it")
        acting = 0
        for leaf in (1, 2, 3):
            heard = first(f for f in told if f.comes(f"s{leaf}:2"))
            around = first(f for f in adapted if f.leaves(f"s{leaf}:3"))
            if around is None:
                continue
            self.assertIsNotNone(heard)
            self.assertLessEqual(heard, around, f"s{leaf}")
            acting += 1
        self.assertGreater(acting, 0, "no leaf has gone around the root")
        self.assertIn("adapted: other path",
                      {f.reason for f in frames if f.comes(*ports([1, 2, 3], [0, 1]))})
        # By the other top switch, and only so: s4 is the primary way.
        self.assertEqual([f for f in adapted if f.leaves(*ports(range(4), [2]))], [])
        self.assertGreater(result["counters"]["packets_adapted"], 0)
        self.assertEqual(result["counters"]["host_frames_adapted"], 0)

    def test_without_a_detector_nothing_is_told_and_nothing_adapted(self):
        _, frames = self.capture(*PLAIN)
        self.assertEqual([f for f in frames if f.kind == ARN or f.adapted], [])
        self.assertEqual({f.vc for f in frames if f.kind == DATA}, {"0"})


    def test_packets_that_find_their_vc_half_full_are_marked_and_nothing_else(self):
        result, frames = self.capture("--set", "routing.adaptive=none", "--set",
                                      "routing.afi=false", "--set", "switch.fecn=8")
        marked = [f for f in frames if f.marked]
        self.assertEqual({(f.kind, f.to) for f in marked}, {(DATA, "0")})
        # Hosts mark nothing, and what finds an empty buffer is not marked.
        self.assertEqual([f for f in marked if f.comes(*ports(range(4), [0, 1]))], [])
        self.assertEqual([f for f in frames if f.leaves("s1:2") and f.kind == DATA][0].marked,
                         False)
        self.assertGreater(result["counters"]["packets_marked"], 0)


class Draining(Folder):
    def test_what_arrives_for_longer_than_two_seconds_after_the_traffic_is_waited_for(self):
        """Six hosts fill the buffers in front of a slow link, which takes more than 3 s to empty them."""
        slow = ("dilation=2", "hello=200ms", "link.rate=2Mbps", "switch.buffer=512KiB", "nic.retry=9s", "nic.give-up=60s", "traffic[0].load=100%",
                "measure.duration=700ms")
        done = self.run_fabric("--quiet", *PLAIN, *(word for change in slow for word in ("--set", change)))
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["messages"]["injected"], result["messages"]["delivered"])
        self.assertGreater(result["messages"]["delivered"], 350)


class Live(Folder):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("labs need root")
        if subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL,
                          check=False).returncode != 0:
            self.skipTest("network namespaces are not allowed here")
        self.lab = self.write("lab.yaml",
                              f"weft: lab/1\nname: c{os.getpid()}\nmeasure: {{duration: 20s}}\n"
                              "groups: {fabric: [s0, s1, s2, s3, s4, s5], "
                              "ends: [h0, h1, h2, h3, h4, h5, h6, h7]}\n" + NETWORK)

    def weft(self, part, *more):
        return subprocess.run([WEFT, "lab", part, self.lab, *more], text=True, timeout=labs.HANG_SECONDS,
                              capture_output=True, check=False)

    def test_status_shows_the_root_while_it_stands(self):
        up = self.weft("up")
        self.addCleanup(self.weft, "down")
        self.assertEqual(up.returncode, 0, up.stderr)

        def root():
            status = json.loads(self.weft("status", "--json").stdout)
            # A status is not of one moment.
            return status["congestion"]["s4"]["roots_now"] > 0 and status["ports"]["s4:0"]["congestion_root"] == 1 and status

        with labs.Program([WEFT, "lab", "run", self.lab, "--duration", "9999s"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as run:
            seen = labs.wait_until(root, "no root")
            run.kill()
        self.assertEqual(sorted(seen["congestion"]), [f"s{i}" for i in range(6)])
        self.assertGreater(seen["congestion"]["s4"]["arn_entries_now"], 0)
        self.assertGreater(seen["congestion"]["s4"]["congestion_roots"], 0)
        self.assertIn("packets_adapted", seen["congestion"]["s4"])
        port = seen["ports"]["s4:0"]
        self.assertEqual(port["congestion_root"], 1)
        # VC 0 and the adapted-flow channel.
        self.assertIn("stored_blocks_vc1", port)
        self.assertNotIn("stored_blocks_vc2", port)
        self.assertIn("CONGESTION", self.weft("status").stdout)


if __name__ == "__main__":
    done = unittest.main(verbosity=2, exit=False)
    if done.result.testsRun > 0 and len(done.result.skipped) == done.result.testsRun:
        sys.exit(77)
    sys.exit(not done.result.wasSuccessful())
