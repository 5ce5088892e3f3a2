#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A switch on DPDK's ports: net_pcap files in and out, net_ring.

usage: switch_test.py WEFT_BENCH_SWITCH [TEST]...
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

import labs

SWITCH = sys.argv.pop(1) if len(sys.argv) > 1 else ""
HEADER = 46  # Ethernet and the fixed header
VC, CURSOR, CRC = 40, 42, 44  # places in the frame
VERSION = 3


def header_crc(frame):
    """The wire format's CRC-16 over 32 bytes of route and 30 of header, by the book."""
    length = frame[22]
    covered = frame[HEADER:HEADER + length].ljust(32, b"\0") + frame[14:CRC] + b"\0\0"
    crc = 0
    for byte in covered:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
    return ~crc & 0xFFFF


def seal(frame):
    return frame[:CRC] + struct.pack("!H", header_crc(frame)) + frame[HEADER:]


def data_frame(destination, route=b"", number=0, sl=0, vc=0, cursor=0):
    payload = struct.pack("!I", number)
    header = struct.pack("!BBHHHBBIIIIBBBBH", VERSION, 1, 7, destination, len(payload), len(route),
                         sl, 0, number, 0, 0, vc, vc, cursor, 0, 0)
    return seal(bytes(12) + b"\x88\xb5" + header + route + payload).ljust(60, b"\0")


def changed(frame, at, value, sealed=True):
    frame = frame[:at] + bytes([value]) + frame[at + 1:]
    return seal(frame) if sealed else frame


def write_pcap(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def read_pcap(path):
    data, at, frames = pathlib.Path(path).read_bytes(), 24, []
    while at < len(data):
        length = struct.unpack("<I", data[at + 8:at + 12])[0]
        frames.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return frames


def runtime_dirs():
    return set(os.listdir("/var/run/dpdk")) if os.path.isdir("/var/run/dpdk") else set()


def ask(prefix, command):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.settimeout(240)
        client.connect(f"/var/run/dpdk/{prefix}/dpdk_telemetry.v2")
        client.recv(1024)
        client.send(command.encode())
        return next(iter(json.loads(client.recv(65536)).values()))


class Switch(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-switch-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.prefix = f"weft-switch-test-{os.getpid()}"

    def argv(self, vdevs, *options, prefix=None):
        argv = [SWITCH, "-m", "256", f"--file-prefix={prefix or self.prefix}"]
        for vdev in vdevs:
            argv += ["--vdev", vdev]
        return [*argv, "--", *options]

    def run_switch(self, vdevs, *options):
        return subprocess.run(self.argv(vdevs, *options), capture_output=True, text=True,
                              timeout=240, check=False)

    def start(self, vdevs, *options, prefix=None):
        process = subprocess.Popen(self.argv(vdevs, *options, prefix=prefix), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        labs.wait_socket(f"/var/run/dpdk/{prefix or self.prefix}/dpdk_telemetry.v2", process)
        self.wait_for(lambda: self.answers(prefix or self.prefix))
        return process

    @staticmethod
    def answers(prefix):
        # A process that starts may close a connection that came too early.
        try:
            return ask(prefix, "/weft/switch/list")
        except (BrokenPipeError, ConnectionResetError):
            return None

    @staticmethod
    def wait_for(condition):
        return labs.wait_until(condition, "nothing")

    def pcap_ports(self, frames_by_port):
        """Port i plays frames_by_port[i] once and writes out-i.pcap."""
        for port, frames in enumerate(frames_by_port):
            write_pcap(self.dir / f"in-{port}.pcap", frames)
        return [f"net_pcap{port},rx_pcap={self.dir}/in-{port}.pcap,"
                f"tx_pcap={self.dir}/out-{port}.pcap" for port in range(len(frames_by_port))]

    def out(self, port):
        return read_pcap(self.dir / f"out-{port}.pcap")

    def forward(self, frames_by_port, *options):
        """Plays the files through a switch until each frame has left it or was refused; returns the result document."""
        process = self.start(self.pcap_ports(frames_by_port), "--open", *options)
        name, = ask(self.prefix, "/weft/switch/list")
        frames = sum(map(len, frames_by_port))
        self.wait_for(lambda: frames == sum(
            value for key, value in ask(self.prefix, f"/weft/switch/stats,{name}").items()
            if key == "data_out" or key.startswith(("bad_", "discard_"))))
        process.terminate()
        said, errors = process.communicate(timeout=labs.HANG_SECONDS)
        self.assertEqual(process.returncode, 0, errors)
        result = json.loads(said)
        self.assertEqual(result["check"], "ok")
        return result

    def test_frames_leave_by_the_port_of_their_destination_and_unchanged(self):
        sent = [[data_frame(d, number=n) for n, d in enumerate([4, 9, 7] * 20)], [], []]
        switch = self.forward(sent, "--hosts", "16")
        for port in range(3):
            self.assertEqual(self.out(port), [f for f in sent[0] if f[19] % 3 == port])
        self.assertEqual(switch["counters"]["data_out"], 60)

    def test_a_source_routed_frame_leaves_by_its_port_with_the_cursor_moved_on(self):
        route = bytes([0x82, 0x81, 0x01])
        sent = [[data_frame(0, route, number=n) for n in range(40)], [], []]
        self.forward(sent)
        expected = [changed(frame, CURSOR, 1) for frame in sent[0]]
        self.assertEqual(self.out(2), expected)
        self.assertEqual(self.out(0) + self.out(1), [])

    def test_the_vc_in_the_frame_is_that_of_its_service_level(self):
        sent = [[data_frame(1, sl=n % 16, number=n) for n in range(32)], []]
        self.forward(sent, "--hosts", "16", "--vcs", "4")
        self.assertEqual([frame[VC] for frame in self.out(1)], [n % 4 for n in range(32)])
        for frame in self.out(1):
            self.assertEqual(frame[CRC:CRC + 2], struct.pack("!H", header_crc(frame)))

    def test_each_bad_frame_is_counted_by_its_reason_and_none_comes_out(self):
        good = data_frame(1)
        routed = data_frame(1, bytes([0x81, 0x01]))
        bad = {
            "bad_short": good[:40],
            "bad_ethertype": changed(good, 12, 0x08),
            "bad_version": changed(good, 14, 2),
            "bad_kind": changed(good, 15, 99),
            "bad_route_length": changed(good, 22, 65, sealed=False),
            "bad_cursor": changed(routed, CURSOR, 3),
            "bad_vc": changed(good, VC, 16),
            "bad_sl": changed(good, 23, 16),
            "bad_length": changed(good, 20, 1),
            "bad_header_crc": changed(good, 30, 1, sealed=False),
            "discard_routing_error": changed(routed, CURSOR, 1),
            "discard_no_route": data_frame(500),
            "discard_vc": data_frame(1, vc=1),
        }
        for copies, (reason, frame) in enumerate(bad.items(), 1):
            with self.subTest(reason):
                switch = self.forward([[frame] * copies, []], "--hosts", "16")
                counters = {name: value for name, value in switch["counters"].items()
                            if name.startswith(("bad_", "discard_")) and value}
                self.assertEqual(counters, {reason: copies})
                self.assertEqual(self.out(0) + self.out(1), [])

    def test_a_capture_says_what_became_of_each_frame(self):
        frames = [data_frame(1, number=0), data_frame(500), changed(data_frame(1), 30, 1, False)]
        self.forward([frames, []], "--hosts", "16", "--capture", f"{self.dir}/c.pcapng")
        captured = (self.dir / "c.pcapng").read_bytes()
        for text in (b"s0:0", b"s0:1", b"vc 0, credits 2047, voq 0", b"discard_no_route",
                     b"refused: header_crc"):
            self.assertIn(text, captured)
        for frame in frames:
            self.assertIn(frame, captured)

    def test_seeded_rings_go_round_under_credits_and_lose_nothing(self):
        done = self.run_switch([f"net_ring{i}" for i in range(3)], "--hosts", "9",
                               "--seed-frames", "60", "--frame-bytes", "700",
                               "--frames", "30000", "--vcs", "2", "--hello", "1s")
        self.assertEqual(done.returncode, 0, done.stderr)
        switch = json.loads(done.stdout)
        self.assertEqual(switch["check"], "ok")
        counters = switch["counters"]
        self.assertGreater(counters["data_out"], 10000)
        self.assertGreater(counters["credit_frames_received"], 10)
        self.assertEqual(sum(v for k, v in counters.items() if k.startswith(("bad", "disc"))), 0)

    def test_several_lcores_forward_as_one_does(self):
        """All ports at once, so that frames of different inputs meet at each output."""
        sent = [[data_frame(d, number=1000 * port + n, sl=n % 2)
                 for n, d in enumerate([0, 1, 2, 3, 3, 1] * 30)] for port in range(4)]
        for lcores in (2, 4):
            switch = self.forward(sent, "--hosts", "4", "--vcs", "2", "--lcores", str(lcores))
            self.assertEqual(switch["counters"]["data_out"], 720)
            for port in range(4):
                got = [(f[18:20], f[28:32]) for f in self.out(port)]
                for source in range(4):
                    numbers = [n for _, n in got if struct.unpack("!I", n)[0] // 1000 == source]
                    self.assertEqual(numbers, [f[28:32] for f in sent[source] if f[19] == port])

    def test_seeded_rings_go_round_on_two_lcores_and_lose_nothing(self):
        done = self.run_switch([f"net_ring{i}" for i in range(3)], "--hosts", "9",
                               "--seed-frames", "60", "--frame-bytes", "700", "--lcores", "2",
                               "--frames", "30000", "--vcs", "2", "--hello", "1s")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual((result["check"], result["wall"]["lcores"]), ("ok", 2))
        counters = result["counters"]
        self.assertGreater(counters["data_out"], 10000)
        self.assertEqual(sum(v for k, v in counters.items() if k.startswith(("bad", "disc"))), 0)

    def test_telemetry_captures_and_frames_work_with_several_lcores(self):
        process = self.start(self.pcap_ports([[data_frame(1), data_frame(9)] * 5, []]), "--open",
                             "--hosts", "2", "--lcores", "2",
                             "--capture", f"{self.dir}/c.pcapng")
        self.assertEqual(ask(self.prefix, "/weft/port/list"), ["s0:0", "s0:1"])
        self.wait_for(lambda: ask(self.prefix, "/weft/port/stats,s0:1")["data_out"] == 5)
        self.wait_for(lambda: ask(self.prefix, "/weft/switch/stats,s0")["discard_no_route"] == 5)
        process.terminate()
        process.communicate(timeout=240)
        captured = (self.dir / "c.pcapng").read_bytes()
        for text in (b"s0:0", b"s0:1", b"discard_no_route"):
            self.assertIn(text, captured)
        self.assertNotIn(b"voq 4294", captured)
        self.assertEqual(self.out(1), [data_frame(1)] * 5)

    def test_telemetry_tells_of_the_switch_and_of_each_port(self):
        process = self.start(self.pcap_ports([[data_frame(1)] * 5, []]), "--open",
                             "--hosts", "2")
        self.assertEqual(ask(self.prefix, "/weft/switch/list"), ["s0"])
        self.assertEqual(ask(self.prefix, "/weft/port/list"), ["s0:0", "s0:1"])
        self.wait_for(lambda: ask(self.prefix, "/weft/port/stats,s0:1")["data_out"] == 5)
        self.assertEqual(ask(self.prefix, "/weft/port/stats,s0:0")["data_in"], 5)
        self.assertEqual(ask(self.prefix, "/weft/switch/stats,s0")["data_out"], 5)
        process.terminate()
        process.communicate(timeout=240)

    def test_a_signal_ends_it_with_a_result_and_nothing_left_behind(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                before = runtime_dirs()
                process = self.start(["net_ring0", "net_ring1"], "--hosts", "2")
                process.send_signal(number)
                output, errors = process.communicate(timeout=240)
                self.assertEqual((process.returncode, errors), (0, ""))
                self.assertEqual(json.loads(output)["check"], "ok")
                self.assertNotIn(self.prefix, runtime_dirs() - before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
