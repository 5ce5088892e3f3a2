#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The verbs of 'weft lab' on both forms of a lab, one process and several. Needs root, for namespaces and
TAPs; says so and exits 77 where that is not allowed.

usage: lab_forms_test.py WEFT DISSECTOR.lua [CASE...]
"""
import json
import os
import re
import signal
import subprocess
import sys
import unittest

import captures
import lab_cases
import labs
import web_labs
from lab_cases import LabCase

WEFT = DISSECTOR = None


class OnOneLab:
    """What 'weft lab' does with a lab that stays up, whatever its processes are."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        edges, cls.namespaces = lab_cases.edges("a")
        cls.common = lab_cases.Lab("a", edges, form=cls.FORM)
        cls.addClassCleanup(cls.common.remove)
        cls.common.up()

    def test_all_links_of_a_lab_come_up(self):
        lab = self.common
        lab.assert_up()
        status = lab.status()
        self.assertEqual(sorted(status["switches"]), ["leaf0", "leaf1", "spine"])
        self.assertEqual(sorted(status["nics"]), ["h0", "h1", "h2", "h3"])
        # Both ends of six links.
        self.assertEqual(list(lab.links().values()), ["up"] * 12)

    def test_traffic_arrives_whole_and_in_order_each_time(self):
        lab = self.common
        first = lab.run("--duration", "40ms")
        self.assert_whole(first)
        self.assertEqual(first["topology"]["hosts"], 4)
        self.assertEqual(first["topology"]["switches"], 3)
        self.assertGreater(first["latency_ns"]["network"]["p50"], 0)
        self.assertGreaterEqual(first["wall"]["stall_ns"], 0.98 * first["wall"]["stall_p99_ns"])
        self.assertGreater(first["wall"]["stall_p99_ns"], 0)
        second = lab.run("--duration", "10ms")
        self.assert_whole(second)
        # The counts of the first run are not in the second.
        self.assertLess(second["messages"]["delivered"], first["messages"]["delivered"])

    def test_what_programs_sent_before_a_run_is_not_offered_in_it(self):
        lab, ping = self.common, lambda: labs.ping(self, [WEFT, "lab", "exec", self.common.name, "h0", "--"], "h3", 1)
        send = "import socket;s=socket.socket(2,2);[s.sendto(bytes(1400),('h3',9)) for _ in range(1000)]"
        ping()
        lab.must("exec", "h0", "--", sys.executable, "-c", send)
        ping() # the answer arrives after everything that was still in the TAP
        self.assertLess(lab.run("--duration", "2ms")["throughput"]["offered"], 0.02)

    def test_a_run_tells_its_progress_on_a_terminal_and_ends_with_what_can_be_trusted(self):
        lab = self.common
        run = f"{WEFT} lab run {lab.name} --duration 100ms"
        said = subprocess.run(["script", "-qec", run, "/dev/null"], stdout=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=labs.HANG_SECONDS, check=False).stdout.decode()
        self.assertRegex(said, r"\r *\d+\.\d %  0\.\d of 0\.1 s, \d s left")
        self.assertRegex(said.splitlines()[-1], r"^  loop stalls +p99 .*s, longest .*s: link times are "
                         r"trustworthy above [\d.]+ [mun]?s$")
        self.assertNotIn("left", lab.weft("run").stderr)

    def test_a_capture_is_read_by_tshark_with_our_dissector(self):
        lab = self.common
        for port in ("spine:0", "h0:0"):
            with self.subTest(port):
                self.check_capture(lab, port)

    def check_capture(self, lab, port):
        path = os.path.join(lab.folder, f"{port}.pcapng")
        with lab.capture(path, [port]) as capture:
            lab.run()
            capture.send_signal(signal.SIGINT)
            said = capture.communicate(timeout=labs.HANG_SECONDS)[1]
        self.assertEqual(capture.returncode, 0, said)
        captured = re.search(r": (\d+) frames captured,", said)[1]
        read = subprocess.run(["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", path, "-T",
                               "fields", "-e", "weft.kind", "-e", "weft.vc", "-e",
                               "frame.interface_name", "-e", "frame.packet_flags_direction"],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lines = [line.split("\t") for line in read.stdout.splitlines()]
        self.assertGreater(len(lines), 100, read.stderr)
        self.assertEqual(str(len(lines)), captured)
        self.assertEqual({line[2] for line in lines}, {port})
        self.assertTrue(all(line[1] != "" for line in lines))
        for kind in ("1", "2"):  # data and credits, in and out
            self.assertEqual(len({line[3] for line in lines if line[0] == kind}), 2)

    def test_a_capture_ends_when_its_reader_goes_away(self):
        lab = self.common
        done = subprocess.run(f"timeout 200 {WEFT} lab capture {lab.file} leaf0:2 | head -c 2000 | wc -c",
                              shell=True, text=True, stdout=subprocess.PIPE, timeout=labs.HANG_SECONDS)
        self.assertEqual(done.stdout.strip(), "2000")
        lab.assert_up()

    def test_a_reader_that_goes_away_in_traffic_is_no_error(self):
        lab = self.common
        with labs.Program([WEFT, "lab", "run", lab.file, "--duration", "60s"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as run:
            for _ in range(4):
                done = subprocess.run(["bash", "-c", f"timeout 200 {WEFT} lab capture {lab.file} leaf0:2 | head -c 100 >/dev/null; "
                                       "exit ${PIPESTATUS[0]}"], text=True, stderr=subprocess.PIPE, timeout=labs.HANG_SECONDS)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, r"^weft lab capture: leaf0:2: (the capture ended when the reader closed the output"
                                 r"|\d+ frames captured, \d+ dropped)\n$")
            run.send_signal(signal.SIGINT)
        lab.assert_up()

    def test_a_lab_that_is_up_is_not_started_again(self):
        lab = self.common
        again = lab.weft("up")
        self.assertEqual(again.returncode, 2)
        self.assertIn("is already up", again.stderr)
        lab.assert_up()

    def test_the_ending_of_a_maps_file_says_what_is_written(self):
        lab = self.common

        def written(ending, *more):
            path = os.path.join(lab.folder, f"found{ending}")
            lab.must("map", "-o", path, *more)
            with open(path) as file:
                return file.read()
        for ending in ("", ".yaml", ".yml"):
            self.assertIn("weft: topology/1\n", written(ending))
        for ending in (".dot", ".gv"):
            self.assertTrue(written(ending).startswith("graph "))
        for text in (written(".json"), written(".map", "--json")):
            self.assertEqual(json.loads(text)["topology"]["name"], lab.name)
        path = os.path.join(lab.folder, "found.png")
        done = lab.weft("map", "-o", path)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, f"weft lab map: -o {path}: the file must end in .yaml, .yml, .json, .dot or .gv\n")
        self.assertFalse(os.path.exists(path))

    def join_at_the_end(self, port):
        """Whatever comes of this test, the next one finds the lab up."""
        self.addCleanup(self.common.wait_up)
        self.addCleanup(self.common.join, port)

    def test_a_cable_is_cut_and_joined(self):
        lab = self.common
        done = lab.weft("link", "spine:0", "down")
        self.join_at_the_end("spine:0")
        self.assertEqual((done.returncode, done.stdout), (0, "leaf0:2 - spine:0 is cut\n"))
        states = lab.links()
        self.assertEqual((states["leaf0:2"], states["spine:0"]), ("cut", "cut"))
        self.assertEqual(lab.weft("status").returncode, 1)
        self.assertEqual(lab.must("link", "leaf0:2", "up"), "leaf0:2 - spine:0 is joined\n")

    def test_messages_to_hosts_behind_a_cut_cable_are_not_sent(self):
        # A run that a signal ends waits for 0.6 s of the lab's time: rare hellos instead of a slow clock.
        lab = self.lab("g", "hello: 80ms\n", dilation=5)
        lab.up()
        traffic = labs.Traffic(lab, "60s")
        traffic.wait_flow()
        lab.must("link", "spine:0", "down")  # the only way between the leaves
        lab.wait_parts([(1, 2), (2, 2)])
        traffic.wait_flow()
        traffic.stop()
        code, result, said = traffic.finish()
        self.assertEqual(code, 1, said)
        self.assertIn(" messages were not sent because ", said)
        self.assertEqual([result["checks"][check] for check in labs.CHECKS], [0, 0, 0], said)

    def test_programs_reach_each_other_after_runs_too(self):
        for _ in range(2):
            labs.ping(self, ["ip", "netns", "exec", self.namespaces[0]], "10.87.0.4")
            self.assert_whole(self.common.run("--duration", "10ms"))
        labs.ping(self, ["ip", "netns", "exec", self.namespaces[0]], "10.87.0.4")

    def test_a_cable_is_set_and_reset(self):
        lab = self.common
        lab.must("set", "leaf0:2", "rate=1Gbps", "delay=1ms", "corrupt=0.1%")
        ends = [link for link in lab.status()["links"] if link["port"] in ("leaf0:2", "spine:0")]
        self.assertEqual([(end["paced_bps"], end["delay_ps"], end["corrupt_ppm"]) for end in ends], 2 * [(10**9, 10**9, 1000)])
        lab.must("set", "leaf0:2", "reset")
        ends = [link for link in lab.status()["links"] if link["port"] in ("leaf0:2", "spine:0")]
        self.assertEqual({end["corrupt_ppm"] for end in ends}, {0})

    def test_the_way_between_two_hosts_is_the_only_one(self):
        ways = json.loads(self.common.must("route", "h0", "h3", "--json"))["ways"]
        self.assertEqual(ways, [["leaf0:2", "spine:1", "leaf1:1"]])

    def test_a_run_sends_what_it_is_told(self):
        told = self.common.run("--set", "traffic.0.from=[h1]", "--set", "measure.duration=10ms")
        self.assertEqual([entry["senders"] for entry in told["traffic"]], [1])

    def test_a_run_sends_the_packets_of_a_capture(self):
        path, by = (os.path.join(self.common.folder, name) for name in ("some.pcap", "hosts.txt"))
        captures.write_udp(path, [(i / 1000, i % 5, (i + 1 + i // 5) % 5, 40 * i, 0) for i in range(50)])
        with open(by, "w") as file:
            file.writelines(f"192.168.1.{i} h{i}\n" for i in range(4))
        told = self.common.run("--set", f"traffic=[{{pattern: pcap, file: {path}, by: {by}, speed: 10}}]", "--set", "measure.duration=20ms")
        entry, = told["traffic"]
        counts = entry["packets"]
        self.assertEqual((counts["read"], counts["no_source"]), (50, 10))
        left = 50 - counts["no_source"] - counts["no_destination"] - counts["same_host"]
        self.assertGreater(left, 20)
        self.assertEqual(entry["messages"], {"generated": left, "delivered": left})

    def test_a_run_until_a_value_is_known_ends_then_in_one_process(self):
        done = self.common.weft("run", "--json", "-", "--set",
                                "measure={until: {interval: 20%, of: accepted}, at-most: 200ms, sample: 2ms}")
        if self.FORM == "each":
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("measure.until: each of the lab's 4 processes measures only its own part; use 'processes: one' or measure.duration\n", done.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        # It ends before its time only if the value is known.
        self.assertTrue(result["until"]["reached"] or result["measured_ns"]["to"] >= 2 * 10**8, result)
        self.assertGreater(result["measured_ns"]["from"], 0)
        self.assert_whole(result)

    def test_all_ports_are_captured_in_one_file(self):
        path = os.path.join(self.common.folder, "all.pcapng")
        with self.common.capture(path, self.common.links(), "all") as capture:
            self.common.run("--duration", "10ms")
            capture.send_signal(signal.SIGINT)
            self.assertRegex(capture.communicate(timeout=labs.HANG_SECONDS)[1], r"spine:1: \d+ frames captured")
        names = subprocess.run(["tshark", "-r", path, "-T", "fields", "-e", "frame.interface_name"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, timeout=labs.HANG_SECONDS).stdout.split()
        self.assertEqual(set(names), set(self.common.links()))

    def test_top_and_metrics_show_every_link(self):
        top = json.loads(self.common.must("top", "--once", "--json-lines", "--interval", "100ms"))
        self.assertEqual(len(top["links"]), 12)
        metrics = self.common.must("metrics", "--once")
        self.assertEqual(len(re.findall(r"(?m)^weft_link_up\{", metrics)), 12)
        self.assertTrue(metrics.endswith("# EOF\n"))

    def test_a_program_runs_in_a_host(self):
        self.assertEqual(self.common.must("exec", "h3", "--", "hostname"), "h3\n")
        self.assertIn("h0 slots=1 # 10.87.0.1 ", self.common.must("hosts"))

    def test_the_page_cuts_and_joins_a_cable(self):
        web = web_labs.Web(WEFT, self.common)
        self.addCleanup(web.end)
        self.assertEqual(len(json.loads(web.ask("GET", "/topology")[2])["links"]), 6)
        self.assertEqual(len(next(web.events())[1]["utilisation"]), 12)
        self.join_at_the_end("spine:1")
        for state, told in (("down", "cut"), ("up", "up")):
            status, _, text = web.ask("POST", f"/cable?port=spine:1&state={state}", Weft_Token=web.token)
            self.assertEqual((status, json.loads(text)["state"]), (200, told))

    def test_explain_starts_nothing_and_has_the_form(self):
        said = self.common.must("up", "--explain")
        self.assertIn(f"processes: {self.FORM}\n", said)
        self.assertEqual({p["name"]: p["pid"] for p in self.common.status()["processes"]}, self.common.pids)


class Verbs:
    """What takes labs down, or needs one of its own."""

    def test_down_leaves_nothing(self):
        lab = self.lab("e")
        lab.up()
        self.assertNotEqual(lab.leftovers(), [])
        self.assertEqual(lab.weft("down").returncode, 0)
        self.assertEqual(lab.leftovers(), [])
        self.assertEqual(lab.weft("down").returncode, 2, "a second time")
        self.assertEqual(lab.weft("down", "--if-up").returncode, 0)

    def test_processes_end_without_a_complaint(self):
        lab = self.lab("v")
        lab.up()
        lab.run("--duration", "10ms")
        for pid in lab.pids.values():
            os.kill(pid, signal.SIGTERM)
        labs.wait_ends(lab.pids.values())
        # In a build with sanitizers this is where they would speak.
        for name in lab.pids:
            with open(f"{lab.run_dir}/{name}.log") as log:
                lines = log.read().splitlines()
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(f"of lab {lab.name}", lines[0])
        left = [path for path in lab.leftovers() if path.startswith("/var/run/dpdk")]
        self.assertEqual(left, [])

    def test_down_ends_processes_that_hang(self):
        lab = self.lab("f")
        lab.up()
        os.kill(lab.pid_of("spine"), signal.SIGSTOP)
        done = lab.weft("down")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("killed", done.stdout)
        self.assertEqual(lab.leftovers(), [])

    def test_what_a_crashed_lab_left_is_removed_by_the_next_up(self):
        lab = self.lab("i")
        lab.up()
        for pid in lab.pids.values():
            os.kill(pid, signal.SIGKILL)
        labs.wait_ends(lab.pids.values())
        lab.up()
        lab.assert_up()

    def test_two_labs_live_side_by_side(self):
        one, two = self.lab("j"), self.lab("k", form="one")
        one.up()
        two.up()
        self.assert_whole(one.run())
        two.assert_up()
        one.weft("down")
        two.assert_up()

    def test_a_changed_file_is_refused_until_the_lab_is_restarted(self):
        lab = self.lab("x")
        lab.up()
        before = dict(lab.pids)
        with open(lab.file) as file:
            text = file.read()
        with open(lab.file, "w") as file:
            file.write(text.replace("seed: 1", "seed: 2"))
        refused = lab.weft("status")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("seed: 2 in the file, 1 in the lab", refused.stderr)
        lab.must("up", "--restart", "--wait", labs.UP_WAIT)
        lab.note_pids()
        self.assertEqual(set(before.values()) & set(lab.pids.values()), set())
        lab.assert_up()

    def test_loops_with_nothing_to_do_rest_and_links_stay_up(self):
        # The sleep of a loop is real time: with a slower clock it would see each millisecond of the lab.
        lab = self.lab("Y", "hello: 40ms\n", mapper="key: fabric.key", dilation=5)
        lab.up()
        first = lab.status()
        # Heartbeats of the mapper tell the time: six in 50 ms. 'top' asks nothing for its interval.
        while (last := lab.status())["mapping"]["mappers"] and self.beats(last) < self.beats(first) + 90:
            lab.must("top", "--once", "--interval", "1s")
        self.assertEqual([link["link_downs"] for link in last["links"]], 12 * [0])
        credits = [self.credits(status) for status in (first, last)]
        # Loops that poll send one each millisecond, those that rest a few in 50 ms.
        self.assertLess((credits[1] - credits[0]) / 12, 15 * 25)

    @staticmethod
    def beats(status):
        return sum(mapper["counters"]["heartbeats"] for mapper in status["mapping"]["mappers"])

    @staticmethod
    def credits(status):
        return sum(port["credit_frames_sent"] for port in status["ports"].values()) + sum(
            nic["credit_frames_sent"] for nic in status["nics"].values())


class EachOnOneLab(OnOneLab, LabCase):
    """Several processes."""


class OneOnOneLab(OnOneLab, LabCase):
    """One."""
    FORM = "one"


class Each(Verbs, LabCase):
    """A lab of several processes."""


class One(Verbs, LabCase):
    """A lab of one process."""
    FORM = "one"

    def test_up_says_the_form_and_status_has_its_one_process(self):
        lab = self.lab("S")
        self.assertRegex(lab.up(), r": 3 switches, 4 hosts in 1 process, \d+ cores?, 6 links \(6 memory\), dilated by 20\n")
        self.assertEqual([(p["name"], p["program"]) for p in lab.status()["processes"]],
                         [("leaf0", "weft-fabric")])

    def test_no_traffic_is_sent_in_a_fabric_in_parts(self):
        # The run waits for ten seconds of the lab's time: rare hellos instead of a slow clock.
        lab = self.lab("P", "hello: 1s\n", mapper="key: fabric.key", dilation=1)
        lab.up()
        lab.must("link", "spine:0", "down")
        lab.wait_parts([(1, 2), (2, 2)])
        done = lab.weft("run")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (
            3, "", "weft lab run: not every device has routes: 2 mappers lead: the fabric is split into parts\n"))

    def test_a_lab_of_too_many_processes_for_its_cores_is_one(self):
        lab = self.lab("T", "cores: 1\n", form="auto")
        self.assertIn(": 3 switches, 4 hosts in 1 process, 1 core,", lab.up())
        # So it stays, whatever the CPUs are of those who ask.
        self.assertEqual(lab.weft("status").returncode, 0)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is one CPU here")
    def test_a_lab_of_a_few_processes_keeps_them(self):
        self.assertIn(": 4 processes, 3 switches, 4 hosts,", self.lab("X", form="auto").up())

    def test_ctrl_c_at_any_moment_of_up_leaves_nothing(self):
        # Links come up after 5 ms of the fabric's time, which are 100 s here; the signal comes before that.
        lab = self.lab("W", dilation=20000)
        prefix = f"{labs.RUNTIME}/dpdk/weft-{lab.name}-leaf0"
        for moment in (lab.run_dir, f"{lab.run_dir}/plan.txt", f"{lab.run_dir}/leaf0.log",
                       f"{lab.run_dir}/clock", prefix, f"{prefix}/dpdk_telemetry.v2"):
            with self.subTest(moment):
                self.interrupt_up(lab, moment)
        self.lab("W").up()

    def interrupt_up(self, lab, moment):
        """When that file is there."""
        with labs.Program([WEFT, "lab", "up", lab.file], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as up:
            labs.wait_path(moment, up)
            os.killpg(up.pid, signal.SIGINT)
            said = up.communicate(timeout=labs.HANG_SECONDS)[1]
        self.assertEqual((up.returncode, said), (130, "weft lab up: interrupted\n"))
        self.assertEqual(lab.leftovers(), [])


if __name__ == "__main__":
    labs.main(__doc__, ("ip", "ping", "tshark"), ("WEFT", "DISSECTOR"))
