#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""'weft run' on the virtual clock as a user sees it: what it writes and where, interrupts, and captures,
read by tshark with our dissector.

usage: virtual_run_test.py WEFT DISSECTOR [TEST]...
"""
import copy
import fcntl
import functools
import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

import captures
import labs

WEFT, DISSECTOR = (sys.argv.pop(1), sys.argv.pop(1)) if len(sys.argv) > 2 else ("", "")
TOP = pathlib.Path(__file__).resolve().parents[2]
# Two-level fat tree, 8 hosts, buffers of three packets.
RUN = """
weft: run/1
topology: "rlft:ports=4,stages=2"
clock: virtual
link: {rate: 10Gbps, delay: 30ns}
switch: {switching: cut-through, buffer: 3456B, mtu: 1KiB}
nic: {mtu: 1KiB}
routing: {algorithm: dmodk, mode: source}
measure: {warmup: 0ms, duration: 200us, sample: 100us}
traffic:
  - {pattern: uniform, from: all, load: 100%, message: 1KiB}
"""
FIELDS = ("frame.interface_name", "frame.p2p_dir", "frame.time_epoch", "frame.len",
          "frame.cap_len", "weft.kind", "weft.src", "weft.dst", "weft.seq",
          "weft.state.credits", "weft.state.voq", "weft.state.reason", "weft.adapted", "weft.vc")
FAULTS = ("weft.bad_crc", "weft.bad_length", "weft.bad_payload_crc", "weft.bad_payload", "weft.routing_error", "_ws.malformed")
IN, OUT = "1", "0"


class VirtualRun(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-virtual-run-"))
        self.addCleanup(shutil.rmtree, self.dir)
        (self.dir / "run.yaml").write_text(RUN)

    def run_file(self, *args):
        return subprocess.run([WEFT, "run", str(self.dir / "run.yaml"), *args],
                              capture_output=True, text=True, timeout=240, check=False)

    def packets(self, *words):
        """The packet blocks of a capture of all ports."""
        path = self.dir / "all.pcapng"
        done = self.run_file("--quiet", "--pcap", f"all={path}", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [block for kind, block in captures.blocks(path.read_bytes()) if kind == captures.ENHANCED_PACKET]

    def audit(self, path, *words):
        done = subprocess.run([WEFT, "audit", str(path), "--run", str(self.dir / "run.yaml"), *words, "--json"],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        return [{key: value for key, value in found.items() if key != "file"} for found in json.loads(done.stdout)["violations"]]

    def test_frames_that_an_audit_names_are_marked_for_the_dissector_and_for_no_other_audit(self):
        path, marked = self.dir / "all.pcapng", self.dir / "marked.pcapng"
        self.assertEqual(self.run_file("--quiet", "--pcap", f"all={path}").returncode, 0)
        # A bit of the payload of the hundredth frame of data, and a longer delay than the links had.
        contents, at, data = bytearray(path.read_bytes()), 0, 0
        for kind, block in captures.blocks(bytes(contents)):
            data += kind == captures.ENHANCED_PACKET and block[captures.FRAME_AT + captures.KIND_AT] == captures.DATA
            if data == 100:
                contents[at + captures.FRAME_AT + 100] ^= 1
                break
            at += len(block)
        path.write_bytes(contents)
        found = self.audit(path, "--set", "link.delay=2us", "--mark", str(marked))
        self.assertGreater(len({violation["kind"] for violation in found}), 1)
        self.assertEqual(self.audit(marked, "--set", "link.delay=2us"), found)
        rows = captures.fields(DISSECTOR, marked, ("frame.number", "weft.audit", "frame.comment"))
        said = {int(number): comment for number, mark, comment in rows if mark}
        self.assertEqual(set(said), {violation["frame"] for violation in found})
        for violation in found:
            self.assertIn(f"audit check {violation['check']}: {violation['means']}: ", said[violation["frame"]])

    def test_a_capture_that_lacks_frames_is_not_judged_as_a_whole_one(self):
        path, run = self.dir / "all.pcapng", ("--run", str(self.dir / "run.yaml"))
        weft = functools.partial(subprocess.run, capture_output=True, text=True, timeout=240, check=False)

        def truncate():
            self.packets()
            first, *_, last = (at for at, (kind, _) in enumerate(captures.blocks(path.read_bytes()))
                               if kind == captures.ENHANCED_PACKET)
            path.write_bytes(b"".join(block for at, (_, block) in enumerate(captures.blocks(path.read_bytes()))
                                      if at < first or at % 2 or at > last))

        def copy():
            self.packets()
            path.write_bytes(b"".join(block for kind, block in captures.blocks(path.read_bytes()) if kind != captures.COUNTS))

        for make, why in ((lambda: self.packets("--where", "kind=data"), r"only frames selected with --where 'kind=data' were"),
                          (lambda: self.packets("--snaplen", "46"), "frames were truncated to 46 bytes"),
                          (truncate, r"\d+ frames were captured, but the file contains \d+"),
                          (copy, "the frame count is unknown: the capture did not end cleanly, or another program rewrote it")):
            make()
            whole, part = (weft([WEFT, "audit", path, *run, *partial]) for partial in ((), ("--partial",)))
            self.assertEqual((whole.returncode, whole.stdout), (2, ""))
            self.assertRegex(whole.stderr, f"^weft audit: .* the first is h0:0 .{why}.*; use complete captures of all ports, or --partial\n$")
            self.assertEqual(part.returncode, 0, part.stdout + part.stderr)
            self.assertRegex(part.stdout, f"(?m)^not checked +h0:0 is partly captured .{why}.*checks 1, 3, 4, 5, 7, 8.$")
            cause = weft([WEFT, "why", path, *run])
            self.assertRegex(cause.stdout, f"\nunknown: waits in devices whose ports are not all captured, because .*{why}.*\n$")
            self.assertEqual(cause.returncode, 0)

    def test_a_capture_of_all_ports_without_their_names_is_refused(self):
        path, plain = self.dir / "all.pcapng", self.dir / "all.pcap"
        self.packets()
        subprocess.run(["editcap", "-F", "pcap", path, plain], check=True)
        done = subprocess.run([WEFT, "audit", plain, "--run", self.dir / "run.yaml", "--partial"],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, f"^weft audit: {plain}: contains the data frames of \\w+:\\d twice but no port names, as after "
                                      "'editcap -F pcap'; use the original capture\n$")

    def test_the_capture_that_ends_the_audit_of_the_others_is_named(self):
        files = {"h0": "200us", "h1": "100us"}
        for host, duration in files.items():
            path = self.dir / f"{host}.pcapng"
            done = self.run_file("--quiet", "--pcap", f"{host}:0={path}", "--set", f"measure.duration={duration}")
            self.assertEqual(done.returncode, 0, done.stderr)
            blocks = [(kind, bytearray(block)) for kind, block in captures.blocks(path.read_bytes())]
            for kind, block in blocks:
                if kind == captures.ENHANCED_PACKET:  # as on the real clock
                    high, low = struct.unpack_from("<II", block, 12)
                    struct.pack_into("<II", block, 12, *divmod((high << 32 | low) + 1_700_000_000 * 10**9, 1 << 32))
            path.write_bytes(b"".join(block for kind, block in blocks))
        done = subprocess.run([WEFT, "audit", *(self.dir / f"{host}.pcapng" for host in files), "--run", self.dir / "run.yaml", "--partial"],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertRegex(done.stdout, rf"\njudged until +1700000000\.\d{{9}} s, when {path} ends, the first capture to end; \d+ later frames\n")

    def test_the_rules_of_another_fabric_are_refused_with_the_difference(self):
        path = self.dir / "all.pcapng"
        self.packets()
        for change, said in (("link.rate=1Gbps", "the rate of h0:0 is 10Gbps, but should be 1Gbps"),
                             ("topology=rlft:ports=8,stages=2", r"frame \d+ of s\d:\d was sent by \w+:\d, not \w+:\d")):
            for command in ("audit", "why"):
                done = subprocess.run([WEFT, command, path, "--run", str(self.dir / "run.yaml"), "--set", change],
                                      capture_output=True, text=True, timeout=240, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, f"^weft {command}: {path}: {said}; the capture is from a different fabric\n$")

    def test_files_in_turn_have_the_frames_of_one_and_begin_with_the_interfaces(self):
        every, path = self.packets(), self.dir / "turn.pcapng"
        done = self.run_file("--quiet", "--pcap", f"all={path}", "--rotate", "200kB")
        self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(self.dir.glob("turn-*.pcapng"))
        self.assertEqual([file.name for file in files], [f"turn-{i + 1:05}.pcapng" for i in range(len(files))])
        self.assertGreater(len(files), 2)
        blocks = [captures.blocks(file.read_bytes()) for file in files]
        kept = [block for file in blocks for kind, block in file if kind == captures.ENHANCED_PACKET]
        # Interfaces of later files may have other numbers.
        self.assertEqual([(block[:8], block[12:]) for block in kept], [(block[:8], block[12:]) for block in every])
        for file in files:
            self.assertLess(file.stat().st_size, 200_000 + 3000)
            done = subprocess.run([WEFT, "audit", file, "--run", str(self.dir / "run.yaml")],
                                  capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual(done.returncode, 2, "a part is not the whole")

    def test_frames_for_which_an_in_transit_buffer_has_no_room_are_captured_as_discarded(self):
        path = self.dir / "itb.pcapng"
        change = ("topology=irregular:switches=8,degree=4,hosts=2,seed=1", "link.rate=100Gbps", "switch.buffer=8KiB",
                  "nic.itb.pool=4KiB", "watchdog=off", "routing={algorithm: bmax-itb}", "measure.duration=50us",
                  "measure.sample=50us")
        sets = [word for key in change for word in ("--set", key)]
        done = self.run_file("--quiet", "--json", "-", "--pcap", f"all={path}", *sets)
        self.assertEqual(done.returncode, 0, done.stderr)
        full = [block for kind, block in captures.blocks(path.read_bytes()) if b"discard_itb_full" in block]
        self.assertGreater(len(full), 10)
        self.assertEqual(len(full), json.loads(done.stdout)["counters"]["host_itb_discarded"])
        done = subprocess.run([WEFT, "audit", path, "--run", str(self.dir / "run.yaml"), *sets, "--json"],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual((done.returncode, json.loads(done.stdout)["discarded"]), (0, len(full)), done.stdout)

    def test_where_keeps_the_frames_that_it_names_and_no_other(self):
        every = self.packets()
        for words, wanted in (
                ("kind=credit", lambda f: f[15] == captures.CREDIT),
                ("kind=data,arn src=h3", lambda f: f[15] in (captures.DATA, captures.ARN) and f[16:18] == b"\0\3"),
                ("dst=h0 vc=0,1 kind=data", lambda f: f[15] == captures.DATA and f[18:20] == b"\0\0" and f[40] in (0, 1)),
                ("dropped", lambda f: False)):
            for workers in ("1", "2"):
                kept = [block for block in every if wanted(block[captures.FRAME_AT:])]
                self.assertEqual(self.packets("--where", words, "--workers", workers), kept, words)
                self.assertEqual(kept == [], words == "dropped")

    def test_a_filter_that_cannot_be_is_a_bad_request(self):
        capture = ("--pcap", f"s0:0={self.dir / 'x'}")
        for words, said in (
                ((*capture, "--where", "vc=0 kind=datum"), "expected kinds of data, .*, at character 6: 'kind=datum'\n"),
                ((*capture, "--filter", "icmp"), "frames carry no TAP packets; use --where$"),
                ((*capture, "--clock", "real", "--filter", "icmp and hots h3"),
                 "--filter 'icmp and hots h3': syntax error.*, at character 10: 'hots'\n.*\n +\\^$"),
                (("--where", "vc=0"), "require --pcap$")):
            done = self.run_file(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertRegex(done.stderr, said)

    def test_the_result_files_are_looked_at_before_the_run(self):
        long_run = ("--set", "measure.duration=1000s", "--set", "measure.sample=1s")
        for option in ("--json", "--csv"):
            done = self.run_file(option, "/nowhere/x", *long_run)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("/nowhere/x: cannot be written: No such file", done.stderr)

    def test_a_path_below_a_file_is_a_bad_request(self):
        path = self.dir / "run.yaml" / "x"
        for option, value in (("--json", path), ("--csv", path), ("--pcap", f"s0:0={path}")):
            done = self.run_file(option, str(value))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, f"^weft run: {path}: .*: Not a directory\n$")

    def test_a_folder_is_no_result_file(self):
        for option in ("--json", "--csv"):
            done = self.run_file(option, str(self.dir), "--set", "measure.duration=1000s", "--set", "measure.sample=1s")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("is a folder; use a file name", done.stderr)

    def test_samples_on_standard_output_are_nothing_else(self):
        done = subprocess.run([os.path.abspath(WEFT), "run", "run.yaml", "--csv", "-"], cwd=self.dir, timeout=240,
                              capture_output=True, text=True, check=True)
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith("t_ns,accepted,"))
        self.assertEqual([line.split(",")[0] for line in lines[1:]], ["100000", "200000"])
        self.assertEqual([path.name for path in self.dir.iterdir()], ["run.yaml"])

    def test_the_buffer_of_a_port_is_told_in_frames_of_the_mtu(self):
        # 54 blocks of 64 bytes; a frame of 1 KiB and its header takes 17 of them.
        for vcs, frames, line in ((1, 3, "3 frames of 1024 bytes"), (2, 1, "1 frames of 1024 bytes in each of 2 VCs")):
            done = self.run_file("--json", str(self.dir / "r.json"), "--set", f"switch.vcs={vcs}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, f"(?m)^  input buffer +{line}$")
            result = json.loads((self.dir / "r.json").read_text())
            self.assertEqual(result["buffer"], {"vcs": vcs, "frames_per_vc": frames})

    def test_only_one_of_both_can_be_standard_output(self):
        done = self.run_file("--json", "-", "--csv", "-", "--set", "measure.duration=1000s", "--set", "measure.sample=1s")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("only one can be standard output", done.stderr)

    def test_the_samples_do_not_take_the_place_of_the_result(self):
        path = str(self.dir / "out")
        done = self.run_file("--json", path, "--csv", path)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("must be two different files", done.stderr)
        self.assertEqual(self.run_file("--json", "/dev/null", "--csv", "/dev/null").returncode, 0)

    def test_any_run_can_be_explained_instead(self):
        done = self.run_file("--explain", "--clock", "real", "--set=seed=7", "--json", "-", "--csv", "x",
                             "--pcap", "s0:0=x", "--quiet", "--lcores", "2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("clock: real\ndilation: 1\nseed: 7\n", done.stdout)
        for args, words in ((("--clock", "x"), "expected virtual or real"), (("--jsn",), "--jsn")):
            done = self.run_file("--explain", *args)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(words, done.stderr)

    def test_every_command_says_how_it_is_used_wherever_help_stands(self):
        for args in (("run", "x"), ("sweep", "x"), ("plot", "x"), ("goal", "gen"), ("goal", "check"),
                     ("reproduce", "x"), ("topo", "gen"), ("route", "compute"), ("lab", "up")):
            done = subprocess.run([WEFT, *args, "--help"], capture_output=True, text=True, timeout=240,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(f"sage: weft {args[0]}", done.stdout)

    def test_files_that_are_folders_are_named_as_such(self):
        for key in ("topology", "traffic=[{pattern: permutation, file: .}]",
                    "traffic=[{pattern: goal, file: .}]"):
            done = self.run_file("--set", key if "=" in key else f"{key}=.")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("Is a directory", done.stderr)

    def test_a_file_may_begin_with_a_byte_order_mark(self):
        (self.dir / "run.yaml").write_text("\ufeff" + RUN.lstrip(), encoding="utf-8")
        self.assertEqual(self.run_file().returncode, 0)

    def test_a_result_that_does_not_fit_leaves_the_last_one(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
        for option in ("--json", "--csv"):
            path = self.dir / "result"
            path.write_text("the last one")
            done = subprocess.run([WEFT, "run", str(self.dir / "run.yaml"), option, str(path)],
                                  preexec_fn=limit, restore_signals=False, capture_output=True,
                                  text=True, timeout=240, check=False)
            self.assertEqual(done.returncode, 3)
            self.assertIn("result: cannot be written: File too large", done.stderr)
            self.assertEqual(path.read_text(), "the last one")
            self.assertEqual(len(list(self.dir.iterdir())), 2)

    def test_memory_does_not_grow_with_the_operations_of_a_schedule(self):
        chain = "".join(f"step{i}: calc 1\nstep{i + 1} requires step{i}\n" for i in range(40000))
        ranks = "".join(f"rank {rank} {{\n{chain}step40000: calc 1\n}}\n" for rank in range(8))
        (self.dir / "long.goal").write_text("num_ranks 8\n" + ranks, encoding="utf-8")

        def within(mebibytes, *words):
            limit = (mebibytes << 20, mebibytes << 20)
            done = subprocess.run([WEFT, *words], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, limit),
                                  capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done

        within(10, "goal", "check", str(self.dir / "long.goal"))
        done = within(56, "run", str(self.dir / "run.yaml"), "--json", "-", "--set",
                      f"traffic=[{{pattern: goal, file: {self.dir}/long.goal}}]")
        self.assertEqual(json.loads(done.stdout)["counters"]["goal_operations"], 320008)

    def test_the_ready_wormhole_network_carries_with_in_transit_buffers_what_it_cannot_without(self):
        accepted = {}
        for algorithm in ("ud", "ud-itb"):
            done = subprocess.run([WEFT, "run", str(TOP / "topo/wormhole-64.yaml"), "--json", "-",
                                   "--set", f"routing.algorithm={algorithm}"],
                                  capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            throughput = json.loads(done.stdout)["throughput"]
            accepted[algorithm] = throughput["accepted"] / throughput["offered"]
        self.assertGreater(accepted["ud-itb"], 0.97)
        self.assertLess(accepted["ud"], 0.7)

    def test_workers_without_a_core_share_threads_and_the_table_says_so(self):
        one_core = {min(os.sched_getaffinity(0))}
        done = [subprocess.run([WEFT, "run", str(self.dir / "run.yaml"), "--json", str(self.dir / "r.json"), *words],
                               capture_output=True, text=True, timeout=240, check=True,
                               preexec_fn=lambda: os.sched_setaffinity(0, one_core)).stdout
                for words in ((), ("--workers", "4"))]
        self.assertNotIn("workers", done[0])
        self.assertIn("\n  workers                4 on 1 thread, one per core\n", done[1])
        wall = json.loads((self.dir / "r.json").read_text())["wall"]
        self.assertEqual(wall["threads"], 1)
        self.assertEqual([(worker["thread"], worker["helped"]) for worker in wall["workers"]], [(0, 0)] * 4)

    def test_a_full_standard_output_is_reported(self):
        for args in ((), ("--json", "-")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([WEFT, "run", str(self.dir / "run.yaml"), *args],
                                      stdout=full, stderr=subprocess.PIPE, text=True, timeout=240,
                                      check=False)
            self.assertEqual(done.returncode, 3)
            self.assertEqual(done.stderr.count("cannot be written"), 1)

    def start_and_capture(self, host, *args, stdout=subprocess.PIPE, **more):
        """A long run that catches signals, and the capture of a host's port; only h0 and h1 have traffic."""
        capture = self.dir / "capture"
        os.mkfifo(capture)
        process = subprocess.Popen([WEFT, "run", str(self.dir / "run.yaml"), "--set", "measure.duration=1000s", "--set",
                                    "measure.sample=1ms", "--set", "traffic.0.from=[h0, h1]", "--set",
                                    "traffic.0.to=[h0, h1]", "--set", "traffic.0.load=1%", "--pcap", f"{host}:0={capture}",
                                    *args], stdout=stdout, stderr=subprocess.PIPE, **more)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        reader = open(capture, "rb")
        self.addCleanup(reader.close)
        return process, reader

    def test_an_interrupt_ends_a_small_run_too_and_keeps_what_was_measured(self):
        path = self.dir / "result.json"
        process, capture = self.start_and_capture("h0", "--json", str(path))
        capture.read(4096)
        # Until it waits for room in the pipe.
        room = fcntl.fcntl(capture, fcntl.F_GETPIPE_SZ)
        labs.wait_until(lambda: fcntl.ioctl(capture, termios.FIONREAD, bytes(4)) == room.to_bytes(4, sys.byteorder)
                        and ") S " in labs.read(f"/proc/{process.pid}/stat"), "it does not wait")
        process.send_signal(signal.SIGINT)
        capture.read()
        process.communicate(timeout=240)
        self.assertEqual(process.returncode, 130)
        result = json.loads(path.read_text())
        self.assertTrue(result["incomplete"])
        self.assertGreater(result["messages"]["delivered"], 0)

    def interrupt_a_schedule_that_hangs(self, **more):
        (self.dir / "s.goal").write_text("num_ranks 2\nrank 0 {\nsend 1000000b to 1 tag 3\ncalc 9000000000000\n}\n"
                                         "rank 1 {\nlast: recv 1b from 0 tag 4\n}\n")
        process, capture = self.start_and_capture(
            "h0", "--set", f"traffic=[{{pattern: goal, file: {self.dir}/s.goal}}]", **more)
        # It cannot be over: the pipe does not hold the frames of the send, and the calculation takes 9000 s.
        process.send_signal(signal.SIGINT)
        capture.read()
        errors = process.communicate(timeout=240)[1].decode()
        self.assertIn("rank 1: recv 'last' (line 7) from 0 tag 4 received no message", errors)
        return process.returncode, errors

    def test_an_interrupted_schedule_names_what_it_waits_for(self):
        self.assertEqual(self.interrupt_a_schedule_that_hangs()[0], 130)

    def test_a_table_of_an_interrupted_run_that_cannot_be_written_is_reported(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            code, errors = self.interrupt_a_schedule_that_hangs(stdout=full)
        self.assertEqual((code, errors.count("cannot be written")), (3, 1), errors)

    def test_a_second_signal_ends_it_while_what_was_measured_is_written(self):
        # The reader stops reading in the middle.
        process, _ = self.start_and_capture("h2", "--json", "-", pipesize=4096)
        process.send_signal(signal.SIGINT)
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=240), -signal.SIGINT)

    def test_a_signal_while_the_result_is_written_is_heard(self):
        # The reader stops reading in the middle, in that of a piece, too. What is left is more than a pipe holds.
        for option, read in ((option, read) for option in ("--json", "--csv") for read in (1, 4097)):
            with subprocess.Popen([WEFT, "run", str(self.dir / "run.yaml"), option, "-", "--set",
                                   "measure.duration=10ms", "--set", "measure.sample=1us", "--set",
                                   "traffic[0].load=0.01%"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, pipesize=4096) as process:
                left = read
                while left > 0:
                    left -= len(process.stdout.read(left))
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(timeout=240), 130, option)
                self.assertEqual(process.stderr.read(),
                                 b"weft run: interrupted before the result was written\n")


@unittest.skipIf(shutil.which("tshark") is None, "tshark is not installed")
class VirtualCapture(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-virtual-run-"))
        self.addCleanup(shutil.rmtree, self.dir)
        (self.dir / "run.yaml").write_text(RUN)

    def run_file(self, *args):
        return subprocess.run([WEFT, "run", str(self.dir / "run.yaml"), *args],
                              capture_output=True, text=True, timeout=240, check=False)

    def measure(self, *args):
        done = self.run_file("--json", "-", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def read(self, path):
        """Frames in which the dissector finds nothing wrong."""
        names = FIELDS + FAULTS
        frames = [dict(zip(names, row)) for row in captures.fields(DISSECTOR, path, names)]
        self.assertEqual([frame for frame in frames if any(frame[name] for name in FAULTS)], [])
        return frames

    def capture_all(self):
        """Result, frames and bytes of one capture of all ports: what several tests look at."""
        if not hasattr(VirtualCapture, "all_ports"):
            result, frames = self.capture("all")
            VirtualCapture.all_ports = result, frames, (self.dir / "link.pcapng").read_bytes()
        result, frames, contents = VirtualCapture.all_ports
        return copy.deepcopy(result), frames, contents

    def capture(self, *ports):
        path = self.dir / "link.pcapng"
        args = [arg for port in ports for arg in ("--pcap", f"{port}={path}")]
        result = self.measure(*args)
        return result, self.read(path)

    @staticmethod
    def data(frames, port=None, direction=None):
        return [frame for frame in frames if frame["weft.kind"] == "1" and
                port in (None, frame["frame.interface_name"]) and
                direction in (None, frame["frame.p2p_dir"])]

    @staticmethod
    def names(frames):
        return [(f["weft.src"], f["weft.dst"], f["weft.seq"]) for f in frames]

    def test_both_ends_of_a_link_see_the_same_frames_in_the_same_order(self):
        _, frames = self.capture("s0:2", "s4:0")
        for near, far in (("s0:2", "s4:0"), ("s4:0", "s0:2")):
            sent = self.names(self.data(frames, near, OUT))
            seen = self.names(self.data(frames, far, IN))
            self.assertGreater(len(seen), 50)
            self.assertEqual(sent[:len(seen)], seen)
            self.assertLessEqual(len(sent) - len(seen), 1, "one may be under way")

    def test_all_ports_together_saw_what_the_counters_say(self):
        result, frames, _ = self.capture_all()
        hosts = [f for f in self.data(frames) if f["frame.interface_name"].startswith("h")]
        switches = [f for f in self.data(frames) if f["frame.interface_name"].startswith("s")]
        self.assertEqual(len([f for f in switches if f["frame.p2p_dir"] == IN]),
                         result["counters"]["data_in"])
        self.assertEqual(len([f for f in switches if f["frame.p2p_dir"] == OUT]),
                         result["counters"]["data_out"])
        self.assertEqual(len([f for f in hosts if f["frame.p2p_dir"] == OUT]),
                         result["packets"]["injected"])
        self.assertEqual(len([f for f in hosts if f["frame.p2p_dir"] == IN]),
                         result["packets"]["delivered"])
        times = [f["frame.time_epoch"] for f in frames]
        self.assertEqual(times, sorted(times))

    def test_a_frame_is_its_headers_and_the_length_of_the_whole(self):
        _, frames = self.capture("s0:2")
        for frame in self.data(frames):
            route = int(frame["frame.len"]) - 46 - 1024
            self.assertIn(route, (2, 4))
            self.assertEqual(int(frame["frame.cap_len"]), 46 + route)
        self.assertGreater(len([f for f in frames if f["weft.kind"] == "2"]), 20, "credit frames")

    def test_the_dissector_finds_nothing_wrong_with_them(self):
        self.assertGreater(len(self.capture_all()[1]), 1000)

    def test_the_comments_explain_who_waits_for_credits(self):
        result, frames, _ = self.capture_all()
        outs = [f for f in self.data(frames, direction=OUT)
                if f["frame.interface_name"].startswith("s")]
        waited = [f for f in outs if f["weft.state.reason"] == "stall_credit"]
        self.assertGreater(len(waited), 50)
        self.assertLessEqual(len(waited), result["counters"]["stall_credit"])
        # 54 blocks are three packets of 17 and a bit; what is left after one is less.
        self.assertTrue(all(0 <= int(f["weft.state.credits"]) <= 54 - 17 for f in outs))
        self.assertTrue(any(int(f["weft.state.voq"]) > 0 for f in outs))
        for frame in self.data(frames, direction=IN):
            self.assertLessEqual(int(frame["weft.state.credits"]), 54 - 17)

    def test_looking_changes_nothing_and_shows_the_same_each_time(self):
        plain = self.measure()
        seen, _, first = self.capture_all()
        self.measure("--pcap", f"all={self.dir}/again.pcapng")
        for result in (plain, seen):
            del result["wall"]
        self.assertEqual(plain, seen)
        self.assertEqual((self.dir / "again.pcapng").read_bytes(), first)

    def test_notifications_are_seen_and_looking_at_them_changes_nothing(self):
        hot = [part for key in ("routing.mode=table", "routing.adaptive=arn", "routing.afi=true",
                                "switch.buffer=32KiB", "switch.credits=each", "detector.crt=20us",
                                "detector.arn-ttl=100us", "detector.arn-refresh=5us",
                                "traffic.0.pattern=hotspot", "traffic.0.to=[h5]")
               for part in ("--set", key)]
        path = self.dir / "all.pcapng"
        plain = self.measure(*hot)
        seen = self.measure("--pcap", f"all={path}", *hot)
        for result in (plain, seen):
            del result["wall"]
        self.assertEqual(plain, seen)
        frames = self.read(path)
        notes = [f for f in frames if f["weft.kind"] == "3"]
        sent = [f for f in notes if f["frame.p2p_dir"] == OUT]
        self.assertEqual(len(sent), seen["counters"]["arn_sent"])
        self.assertGreater(len(sent), 10)
        self.assertTrue(all(f["frame.interface_name"].startswith("s") for f in sent))
        self.assertTrue(any(f["frame.interface_name"].startswith("h") for f in notes), "hosts are told")
        self.assertTrue(any(f["weft.adapted"] == "1" for f in frames))
        self.assertEqual([f for f in frames if f["weft.kind"] == "1" and f["weft.adapted"] == "1" and f["weft.vc"] == "0"], [])

    def test_a_snapshot_length_cuts_headers_too(self):
        path = self.dir / "short.pcapng"
        self.measure("--pcap", f"s0:0={path}", "--snaplen", "46")
        for frame in self.data(self.read(path)):
            self.assertEqual(frame["frame.cap_len"], "46")

    def test_what_cannot_be_captured_is_refused_before_the_run(self):
        path = self.dir / "x.pcapng"
        for code, args, words in (
                (2, (f"s9:0={path}",), "s9:0: no such port here"),
                (2, (f"s0:7={path}",), "s0:7: no such port here"),
                (2, (f"s0:0={path}", f"s0:0={path}2"), "s0:0: is already being captured"),
                (2, ("s0:0=/nowhere/x",), "/nowhere/x: cannot write a capture: No such file")):
            done = self.run_file(*[part for arg in args for part in ("--pcap", arg)])
            self.assertEqual((done.returncode, done.stdout), (code, ""))
            self.assertIn(words, done.stderr)

    def test_a_full_disk_is_reported(self):
        done = self.run_file("--pcap", "all=/dev/full")
        self.assertEqual(done.returncode, 3)
        self.assertIn("/dev/full: the capture is incomplete: No space left", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
