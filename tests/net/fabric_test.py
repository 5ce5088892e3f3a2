#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A whole fabric in one process, as a user runs it: 'weft run'.

usage: fabric_test.py WEFT [TEST]...    exit 77 with the reason where this machine cannot
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import iperf3
import labs

WEFT = sys.argv.pop(1) if len(sys.argv) > 1 else ""
TOP = pathlib.Path(__file__).resolve().parents[2]
RUN = """
weft: run/1
topology: "rlft:ports=4,stages=2"
clock: real
seed: 7
link: {rate: 1Gbps, delay: 1us}
switch: {buffer: 32KiB, mtu: 4KiB}
routing: {algorithm: ud, mode: source, alternatives: 4}
traffic:
  - {pattern: uniform, from: all, load: 5%, message: 6KiB}
  - {pattern: hotspot, from: [h1, h5], to: [h2], load: 10%, message: 256B}
measure: {duration: 20ms, sample: 5ms, links: true}
"""
EVENTS = """
weft: run/1
topology: "rlft:ports=4,stages=2"
clock: real
hello: 5ms
link: {rate: 20Mbps, delay: 10us}
switch: {buffer: 16KiB, mtu: 1KiB}
nic: {mtu: 1KiB, retry: 20ms}
routing: {algorithm: dmodk, mode: table}
measure: {duration: 600ms, sample: 20ms}
events:
  - {at: 100ms, link: "s0:2", down: 100ms}
  - {at: 300ms, link: "s1:2", down: 6ms}
  - {at: 350ms, link: "s2:2", corrupt: 5%, rate: 15Mbps}
  - {at: 500ms, host: h3, drain: 10Mbps}
traffic:
  - {pattern: uniform, from: all, load: 20%, message: 1KiB}
"""
DRAGONFLY = """
weft: run/1
topology: "dragonfly:a=4,p=2,h=2"
clock: real
hello: 5ms
link: {rate: 100Mbps, delay: 1us}
switch: {buffer: 64KiB, mtu: 1KiB, vcs: 3}
nic: {mtu: 1KiB, retry: 5ms}
routing: {algorithm: df-ugal-l}
measure: {duration: 60ms}
events: [{at: 10ms, link: "s0:4", down: 30ms}]
traffic: [{pattern: uniform, from: all, load: 3%, message: 1KiB}]
"""
EDGES = """
edges:
  - {host: h0, tap: wtest0, namespace: weft-test-a, address: 10.87.0.1/24}
  - {host: h6, tap: wtest6, namespace: weft-test-b, address: 10.87.0.7/24}
"""


def runtime_dirs():
    return set(os.listdir("/var/run/dpdk")) if os.path.isdir("/var/run/dpdk") else set()


class Fabric(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-fabric-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.file = self.write("run.yaml", RUN)

    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return str(path)

    def weft(self, *args):
        return subprocess.run([WEFT, *args], capture_output=True, text=True, timeout=labs.HANG_SECONDS, check=False)

    def run_slowly(self, *args):
        """No loop misses three hellos then, however busy the machine is."""
        return self.weft("run", self.file, "--dilation", "10", *args)

    def measure(self, *args):
        """Runs and returns the result document, after the checks that always hold."""
        result, done = self.judge(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(result["checks"]["deadlock"])
        return result

    def judge(self, *args):
        done = self.run_slowly("--json", "-", *args)
        result = json.loads(done.stdout)
        self.assertEqual(
            {key: result["checks"][key] for key in ("lost", "duplicated", "out_of_order")},
            {"lost": 0, "duplicated": 0, "out_of_order": 0})
        for kind in ("messages", "packets"):
            self.assertEqual(result[kind]["injected"], result[kind]["delivered"])
        counters = result["counters"]
        discards = sum(value for name, value in counters.items() if name.startswith("discard_"))
        self.assertEqual(counters["data_in"], counters["data_out"] + discards)
        self.assertGreater(result["messages"]["delivered"], 100)
        return result, done

    def test_nothing_is_lost_duplicated_or_reordered_over_several_paths(self):
        result = self.measure()
        self.assertEqual(result["packets"]["dropped"], 0)

    def test_multi_step_paths_deliver_in_their_classes(self):
        for topology, vcs in (("torus:dims=4x4,hosts=1", 4), ("mesh:dims=3x3,hosts=1", 3),
                              ("rlft:ports=4,stages=2", 1)):
            result = self.measure("--set", "topology=" + topology, "--set", f"switch.vcs={vcs}",
                                  "--set", "routing.algorithm=msp", "--set",
                                  "nic.selector=round-robin")
            self.assertEqual(result["packets"]["dropped"], 0)

    def test_destination_tables_deliver_like_source_routes(self):
        self.measure("--set", "routing.mode=table")

    def test_tables_with_alternative_ports_deliver(self):
        self.measure("--set", "routing.algorithm=dmodk", "--set", "routing.mode=table")

    def test_routes_that_the_switches_cannot_carry_out_are_refused(self):
        done = self.weft("run", self.file, "--set", "topology=ring:switches=8,hosts=1",
                         "--set", "routing.algorithm=dor")
        self.assertEqual(done.returncode, 2)
        self.assertIn("switch.vcs is 1, but must be 2 or more", done.stderr)

    def test_a_mapper_finds_the_fabric_and_its_routes(self):
        for args in (("routing.mode=source",), ("routing.algorithm=dmodk", "routing.mode=table"),
                     ("topology=torus:dims=3x3,hosts=1", "routing.algorithm=ud-itb"),
                     ("topology=torus:dims=3x3,hosts=1", "routing.algorithm=ud+ud-itb",
                      "nic.selector=fraction"),
                     ("topology=torus:dims=3x3,hosts=1", "routing.algorithm=dor", "switch.vcs=2",
                      "routing.mode=table"),
                     ("topology=torus:dims=3x3,hosts=1", "routing.algorithm=msp", "switch.vcs=4",
                      "nic.selector=round-robin")):
            sets = [word for arg in args for word in ("--set", arg)]
            result = self.measure("--set", f"mapper={{routes: mapper, {labs.MAPPER}}}", *sets)
            # The counters of hosts that took routes while they ran.
            self.assertGreater(result["counters"]["host_route_changes"], 0)

    def test_mapped_routes_keep_the_queuing_scheme(self):
        if shutil.which("tshark") is None:
            self.skipTest("tshark is not installed")
        capture = self.dir / "s0.pcapng"
        self.measure("--pcap", f"s0:2={capture}", "--snaplen", "200", "--set", "mapper.routes=mapper",
                     "--set", "queuing=dbbm", "--set", "switch.vcs=4")
        read = self.fields(capture, "weft.vc", "weft.kind")
        # dbbm: the destination's number modulo the VCs.
        self.assertEqual({vc for vc, kind in read if kind == "1"}, {"0", "1", "2", "3"})

    def test_what_a_mapper_does_not_expect_is_printed(self):
        args = ("--json", str(self.dir / "out.json"), "--set", "mapper.routes=mapper", "--set")
        done = self.run_slowly(*args, "mapper.expect=rlft:ports=4,stages=2")
        self.assertIn(": the fabric is as expected", done.stdout)
        done = self.run_slowly(*args, "mapper.expect=full:switches=6,hosts=1")
        self.assertIn(": the fabric is not as expected:", done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_run_without_a_mapper_says_why_nothing_could_be_sent(self):
        done = self.run_slowly("--set", "mapper.routes=mapper", "--set", "mapper.mode=never")
        self.assertEqual(done.returncode, 1)
        self.assertIn("traffic started without mapped routes from and to all hosts: no host of this process "
                      "may be the mapper", done.stderr)

    def test_a_signal_does_not_excuse_a_run_without_routes(self):
        samples = self.dir / "samples"
        with open(samples, "wb") as out:
            process = subprocess.Popen(
                [WEFT, "run", self.file, "--live", str(out.fileno()), "--set", "mapper.routes=mapper", "--set",
                 "mapper.mode=never", "--set", "measure={duration: 60s, sample: 1ms}"],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, pass_fds=[out.fileno()])
        self.addCleanup(process.kill)
        # More than what precedes the first sample.
        labs.wait_file(samples, lambda path: path.stat().st_size > 10000, process)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=labs.HANG_SECONDS)[1]
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("traffic started without mapped routes", errors)

    def test_routes_for_which_the_vcs_do_not_suffice_are_replaced_and_that_is_said(self):
        done = self.run_slowly("--set", "mapper.routes=mapper", "--set", "topology=torus:dims=3x3,hosts=1", "--set",
                               "routing.algorithm=dor", "--set", "routing.mode=table")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("routes are computed with ud instead: the routes need 2 VC classes",
                      done.stderr)

    def test_hosts_on_the_way_re_inject(self):
        for algorithm, selector in (("ud-itb", "first"), ("disjoint", "round-robin")):
            result = self.measure("--set", "topology=torus:dims=4x4,hosts=1", "--set",
                                  "routing.algorithm=" + algorithm, "--set",
                                  "nic.selector=" + selector)
            counters = result["counters"]
            self.assertGreater(counters["host_itb_absorbed"], 100)
            self.assertEqual(counters["host_itb_absorbed"], counters["host_itb_reinjected"])
            self.assertEqual(counters["host_itb_discarded"], 0)
            self.assertGreater(counters["host_itb_control"], 0)
            self.assertGreater(sum(sample["itb"] for sample in result["series"]), 100)

    def test_what_a_small_pool_discards_comes_again_in_order(self):
        result = self.measure("--set", "topology=torus:dims=4x4,hosts=1", "--set",
                              "routing.algorithm=ud-itb", "--set", "traffic=[{pattern: uniform, "
                              "from: all, load: 100%, message: 1KiB}]", "--set",
                              "nic.mtu=1KiB",
                              "--set", "nic.itb.pool=8KiB", "--set", "link.rate=200Mbps", "--set",
                              "nic.retry=10ms", "--set", "nic.window=16")
        counters = result["counters"]
        self.assertGreater(counters["host_itb_discarded"], 0)
        self.assertGreater(result["packets"]["retransmitted"], 0)
        self.assertEqual(counters["host_itb_absorbed"], counters["host_itb_reinjected"])

    def ring(self, *args):
        """Minimal routes round a ring. For a few milliseconds everybody sends as fast as he can."""
        return self.judge(
            "--set", "topology=ring:switches=6,hosts=2", "--set", "routing={algorithm: minhop, "
            "mode: table, may-deadlock: true}", "--set", "link.rate=200Mbps", "--set",
            "switch={buffer: 8KiB, mtu: 1KiB}", "--set", "nic={mtu: 1KiB, window: 16}", "--set",
            "traffic=[{pattern: uniform, load: 100%, message: 1KiB, stop: 4ms}]", "--set",
            "measure.duration=300ms", "--set",
            "hello=100ms", "--dilation", "2", *args)  # it waits for watchdogs

    def test_a_deadlock_is_named_and_the_watchdog_frees_it_and_everything_arrives(self):
        result, done = self.ring()
        self.assertGreater(result["counters"]["discard_watchdog"], 10)
        self.assertGreater(result["packets"]["retransmitted"], 10)
        self.assertTrue(result["checks"]["deadlock"])
        cycle = result["checks"]["cycle"]
        self.assertEqual({name.split(":")[0] for name in cycle}, {f"s{i}" for i in range(6)})
        self.assertEqual(len({name.split(":")[1] for name in cycle}), 1)  # one way round
        self.assertEqual(done.returncode, 1)
        self.assertIn("6 channels wait for each other: " + " ".join(cycle), done.stderr)

    def test_the_same_ring_with_in_transit_buffers_has_no_deadlock(self):
        result, done = self.ring("--set", "routing={algorithm: ud-itb, mode: source}",
                                 "--set", "measure.duration=20ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(result["checks"]["deadlock"])
        self.assertEqual(result["counters"]["discard_watchdog"], 0)

    def test_dimension_order_crosses_datelines(self):
        self.measure("--set", "topology=ring:switches=5,hosts=2", "--set", "switch.vcs=2",
                     "--set", "routing.algorithm=dor")

    def test_without_voqs_everything_is_still_delivered(self):
        self.measure("--set", "switch.voq=false")

    def test_several_vcs_share_the_buffer(self):
        self.measure("--set", "switch.vcs=4")

    def test_lost_credit_frames_cost_time_and_nothing_else(self):
        result = self.measure("--set", "faults.credit-loss=10%")
        self.assertEqual(result["counters"]["discard_credit_violation"], 0)
        self.assertLess(result["counters"]["host_credits_received"],
                        result["counters"]["credit_frames_sent"])

    def test_damaged_frames_are_found_and_come_again(self):
        result = self.measure("--set", "faults.corrupt=0.5%")
        self.assertGreater(result["packets"]["dropped"], 0)
        self.assertGreater(result["packets"]["retransmitted"], 0)

    def test_events_happen_alike_on_both_clocks(self):
        hello_ns, down_ns = 5e6, 100e6
        file = self.write("events.yaml", EVENTS)
        results = []
        for clock in (("--dilation", "10"), ("--clock", "virtual")):
            done = self.weft("run", file, "--json", "-", *clock)
            self.assertEqual(done.returncode, 0, done.stderr)
            results.append(json.loads(done.stdout))
        for result in results:
            self.assertEqual([result["checks"][key] for key in ("lost", "duplicated", "out_of_order")], [0, 0, 0])
            flap, short, damage, drain = result["events"]
            # The last hello was heard up to a hello before the cut, and three more must be missing.
            self.assertGreaterEqual(flap["detect_ns"], 2 * hello_ns)
            self.assertLess(flap["detect_ns"], down_ns)
            self.assertGreater(flap["frames_resent"], 0)
            self.assertGreater(result["counters"]["discard_link_down"], 0)
            self.assertGreater(short["frames_resent"], 0)
            self.assertGreater(damage["frames_resent"], 0)
            for event in (damage, drain):
                self.assertIsNone(event["detect_ns"])
            self.assertEqual(sum(event["frames_abandoned"] for event in result["events"]), 0)
            # All that was discarded was lost on a link, or waited for one that was down; each came again.
            lost = sum(event["frames_lost"] for event in result["events"])
            self.assertGreater(min(event["frames_lost"] for event in (flap, short, damage)), 0)
            self.assertEqual((lost, lost), (result["counters"]["link_frames_lost"], result["packets"]["dropped"]))
            self.assertGreaterEqual(result["packets"]["retransmitted"], lost)
            self.assertEqual(result["packets"]["delivered"], result["packets"]["injected"])
        real, virtual = (result["events"] for result in results)
        self.assertEqual([(event["event"], event["at_ns"]) for event in real],
                         [(event["event"], event["at_ns"]) for event in virtual])
        # Both ends of the first cable, and of the short cut none: it is joined before three hellos are missing.
        self.assertEqual(results[0]["counters"]["link_downs_ordered"], 2)
        self.assertIsNone(short["detect_ns"])

    def test_drawn_cuts_cost_about_as_many_frames_on_both_clocks(self):
        file = self.write("events.yaml", EVENTS)
        for seed in (5, 7):
            rng = random.Random(seed)
            cables = rng.sample([f"s{at}:{port}" for at in range(4) for port in (2, 3)], 3)
            cuts = ", ".join(f"{{at: {rng.randint(100, 200)}ms, link: '{cable}', down: {rng.choice((6, 30, 120))}ms}}"
                             for cable in cables)
            sets = (f"events=[{cuts}]", f"traffic.0.load={rng.randint(15, 50)}%", "measure.duration=400ms")
            lost = []
            for clock in (("--dilation", "10"), ("--clock", "virtual")):
                done = self.weft("run", file, "--json", "-", *clock, *(word for key in sets for word in ("--set", key)))
                self.assertEqual(done.returncode, 0, done.stderr)
                lost.append(json.loads(done.stdout)["counters"]["link_frames_lost"])
            with self.subTest(sets=sets, lost=lost):
                self.assertLessEqual(abs(lost[0] - lost[1]), 5 + max(lost) / 10)

    def test_a_mapper_heals_a_cut_alike_on_both_clocks(self):
        file = self.write("events.yaml", EVENTS)
        lost, recover_ms = [], []
        for key, *clock in (("routes", "--dilation", "10"), ("after", "--clock", "virtual")):
            done = self.weft("run", file, "--json", "-", *clock, "--set", f"mapper={{{key}: mapper, {labs.MAPPER}}}",
                             "--set", "events=[{at: 100ms, link: 's0:2', down: forever}]", "--set",
                             "measure={duration: 400ms, sample: 5ms}", "--set", "traffic.0.load=30%", "--set", "traffic.0.stop=350ms")
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads(done.stdout)
            self.assertEqual(result["packets"]["delivered"], result["packets"]["injected"])
            lost.append(result["counters"]["link_frames_lost"])
            recover_ms.append(result["events"][0]["recover_ns"] / 1e6)
        with self.subTest(lost=lost, recover_ms=recover_ms):
            self.assertLessEqual(abs(lost[0] - lost[1]), 5 + max(lost) / 4)
            # A hello and a sample of 5 ms each, and what the mapper takes.
            self.assertLessEqual(abs(recover_ms[0] - recover_ms[1]), 15)

    def detours(self, *sets):
        """All is delivered past a cut cable, and the captures keep the rules."""
        file, path = self.write("detours.yaml", DRAGONFLY), self.dir / "detours.pcapng"
        words = [word for key in sets for word in ("--set", key)]
        done = self.weft("run", file, "--dilation", "20", "--json", "-", "--pcap", f"all={path}", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual([result["checks"][key] for key in ("lost", "duplicated", "out_of_order")], [0, 0, 0])
        self.assertEqual(result["packets"]["delivered"], result["packets"]["generated"])
        self.assertGreater(min(result["packets"]["delivered"] - 1000, result["events"][0]["frames_lost"]), 0)
        done = self.weft("audit", path, "--run", file, "--json", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_ugal_on_72_hosts_delivers_all_past_a_cut_cable_and_its_captures_say_so(self):
        self.detours()

    def test_ugal_in_a_torus_and_dal_in_a_hyperx_deliver_all_past_a_cut_cable(self):
        for algorithm, topology in (("ugal", "torus:dims=4x4"), ("dal", "hyperx:shape=4x4,hosts=1")):
            with self.subTest(algorithm):
                self.detours(f"routing.algorithm={algorithm}", f"topology={topology}", "switch.vcs=4",
                             "events.0.link=s0:0", "traffic.0.load=15%")

    def test_every_pattern_and_process_of_arrivals_delivers(self):
        for entry in ("pattern: local, switches: 2", "pattern: bit-reversal", "pattern: shuffle",
                      "pattern: butterfly", "pattern: all-to-all",
                      "pattern: combined, to: [h2], share: 10%, arrivals: uniform",
                      "pattern: bursty, on: 2ms, off: 6ms",
                      "pattern: uniform, arrivals: poisson, other-message: 512B, other-share: 70%"):
            with self.subTest(entry):
                result = self.measure("--set", f"traffic=[{{{entry}, load: 5%}}]")
                self.assertLess(result["throughput"]["offered"], 0.08)

    def test_no_more_is_accepted_than_offered_with_messages_of_two_lengths(self):
        result = self.measure("--set", "switch.mtu=1KiB", "--set", "nic.mtu=1KiB", "--set",
                              "routing.mode=table", "--set",
                              "traffic=[{pattern: uniform, from: all, load: 5%, message: 64B, "
                              "other-message: 8KiB, other-share: 10%}]")
        throughput = result["throughput"]
        self.assertLessEqual(throughput["accepted"], throughput["offered"] * 1.0001)

    def test_entries_that_a_host_has_no_room_for_are_refused_before_the_start(self):
        entries = ", ".join(9 * ["{pattern: uniform, from: all, load: 1%}"])
        done = self.weft("run", self.file, "--set", "switch={buffer: 128KiB, vcs: 16}",
                         "--set", "queuing=vftree", "--set", f"traffic=[{entries}]")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("h0 sends for 9 traffic entries with 16 sources each, but a host has at most 128 "
                      "sources; use at most 8 such entries", done.stderr)

    def test_what_the_topology_cannot_have_is_refused_before_the_start(self):
        done = self.weft("run", self.file, "--set", "traffic=[{pattern: transpose}]")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the number of hosts must be an even power of two (4, 16, 64, ...)", done.stderr)

    def replay(self, kind, *args):
        """A schedule over all eight hosts, backwards."""
        schedule = str(self.dir / "s.goal")
        done = self.weft("goal", "gen", kind, "--ranks", "8", "--bytes", "9000", "--rounds", "20",
                         "--calc", "20us", "-o", schedule)
        self.assertEqual(done.returncode, 0, done.stderr)
        ranks = self.write("ranks.txt", "".join(f"{7 - i} h{i}\n" for i in range(8)))
        return self.measure("--set", f"traffic=[{{pattern: goal, file: {schedule}, ranks: {ranks}}}]",
                            "--set", "measure.duration=20s", *args)

    def test_samples_begin_when_the_warm_up_is_over(self):
        result = self.measure("--set", "measure.warmup=10ms")
        self.assertGreaterEqual(result["series"][0]["t_ns"], 15000000)

    def test_a_run_until_a_value_is_known_ends_then(self):
        value = "{interval: 20%, of: accepted}"
        result = self.measure("--set", f"measure={{until: {value}, at-most: 1s, sample: 5ms}}", "--set", "traffic.0.load=20%")
        until, at = result["until"], result["measured_ns"]
        self.assertEqual((until["of"], until["asked"]), ("accepted", 0.2))
        self.assertEqual(until["reached"], until["interval"] <= 0.2)
        # It ends before its time only if the value is known.
        self.assertTrue(until["reached"] or at["to"] >= 10**9, (until, at))
        self.assertGreater(at["from"], 0)
        # What arrived in the warm-up has no latency.
        self.assertLess(sum(entry["measured_messages"] for entry in result["traffic"]), result["messages"]["delivered"])

    def test_a_schedule_is_replayed_to_its_end(self):
        for kind, messages in (("allreduce", 480), ("alltoall", 1120), ("ring", 160)):
            with self.subTest(kind):
                result = self.replay(kind)
                self.assertEqual(result["counters"]["goal_unfinished"], 0)
                self.assertEqual(result["counters"]["goal_strays"], 0)
                self.assertEqual(result["messages"]["delivered"], messages)
                # The time to compute, at the least.
                self.assertGreater(result["counters"]["goal_completion_ns"], 400000)
                # The run ends with the schedule, not after the 20 s that it may take.
                self.assertLess(result["measured_ns"]["to"] - result["measured_ns"]["from"], 10**10)

    def test_a_schedule_that_only_computes_takes_that_time(self):
        schedule = self.write("s.goal", "num_ranks 2\nrank 0 {\ncalc 5000000\n}\nrank 1 {\ncalc 10\n}\n")
        done = self.weft("run", self.file, "--json", "-", "--set",
                         f"traffic=[{{pattern: goal, file: {schedule}}}]")
        self.assertEqual(json.loads(done.stdout)["counters"]["goal_completion_ns"], 5000000)

    def test_a_schedule_ends_over_several_loops_and_damaged_links(self):
        result = self.replay("alltoall", "--lcores", "2", "--set", "faults.corrupt=0.5%")
        self.assertEqual(result["counters"]["goal_unfinished"], 0)
        self.assertGreater(result["packets"]["retransmitted"], 0)

    def test_a_schedule_that_does_not_end_is_a_bad_answer_that_names_the_recv(self):
        schedule = self.write("s.goal", "num_ranks 2\nrank 0 {\nsend 1b to 1 tag 3\n}\n"
                              "rank 1 {\nlast: recv 1b from 0 tag 4\n}\n")
        done = self.weft("run", self.file, "--set", "measure.duration=30ms",
                         "--set", f"traffic=[{{pattern: goal, file: {schedule}}}]")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("rank 1: recv 'last' (line 6) from 0 tag 4 received no message", done.stderr)

    def demand(self, *args):
        """The part 'fidelity' of a result, and what the run said."""
        done = self.weft("run", self.file, "--json", "-", *args)
        return json.loads(done.stdout), done

    def test_frames_that_arrive_later_than_demanded_are_a_bad_answer(self):
        # No loop of 14 devices takes every frame within a microsecond, and none is away for 100 s.
        result, done = self.demand("--set", "fidelity={late: 1us, share: 100%}")
        fidelity = result["fidelity"]
        self.assertEqual(done.returncode, 1)
        self.assertIn("weft run: incomplete: fidelity: ", done.stderr)
        self.assertRegex(result["incomplete_reasons"][0], r"^fidelity: .* of arrivals were late by at most 1us; fidelity.share requires 100 %")
        self.assertEqual((fidelity["demand"]["met"], fidelity["demand"]["late_ns"]), (False, 1000))
        self.assertGreater(fidelity["arrivals"], fidelity["frames"])
        self.assertEqual(max(link["late_ns"]["max"] for link in result["links"] if link["late_ns"]) <=
                         fidelity["late_ns"]["max"], True)
        result, done = self.demand("--set", "fidelity.late=100s")
        self.assertEqual(result["fidelity"]["demand"], {"late_ns": 100 * 10**9, "share": 0.99, "reached": 1, "met": True})
        self.assertNotIn("fidelity", done.stderr)

    def test_nothing_is_late_on_the_virtual_clock(self):
        result, done = self.demand("--clock", "virtual", "--set", "fidelity={late: 1us, share: 100%}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("fidelity", result)

    def test_two_loops_do_what_one_does(self):
        self.measure("--lcores", "2")

    def test_the_result_has_the_fields_that_are_promised(self):
        result = self.measure()
        for key in ("config", "seed", "topology", "packets", "messages", "throughput", "latency_ns",
                    "series", "links", "checks", "counters", "fingerprint", "wall"):
            self.assertIn(key, result)
        self.assertEqual(result["topology"], {"name": result["topology"]["name"], "hosts": 8,
                                              "switches": 6})
        self.assertEqual(set(result["latency_ns"]["network"]),
                         {"mean", "stddev", "p50", "p99", "p999", "max"})
        self.assertEqual(result["config"]["seed"], 7)

    def test_a_buffer_too_small_for_its_link_is_said_before_and_after(self):
        sets = ("--set", "link.delay=2ms", "--set", "nic.window=2", "--set", "measure.duration=50ms")
        explained = self.weft("run", "--explain", self.file, *sets).stdout
        lines = [line[2:] for line in explained.splitlines() if line.startswith("# ")]
        self.assertEqual(len(lines), 2, explained)
        self.assertRegex(lines[0], r"^s0:0 and \d+ similar inputs: 32 KiB cover [\d.]+ us at 1 Gbps; "
                                   r"the round trip is [\d.]+ ms: at most \d\.\d %$")
        self.assertRegex(lines[1], r"^nic.window: 2 frames cover [\d.]+ us at 1 Gbps; the round trip from h\d to "
                                   r"h\d is [\d.]+ ms: at most \d\.\d %$")
        text = RUN.replace("clock: real", "clock: virtual")
        done = self.weft("run", self.write("virtual.yaml", text), "--json", str(self.dir / "small.json"), *sets)
        warnings = json.loads((self.dir / "small.json").read_text())["warnings"]
        self.assertEqual(len(warnings), 1, warnings)  # windows are of the real clock
        self.assertRegex(warnings[0], "^s0:0 and .*: at most .* %$")
        self.assertIn(f"weft run: warning: {warnings[0]}\n", done.stderr)
        self.assertIn(f"  {warnings[0]}\n", done.stdout)

    def fields(self, capture, *names):
        """Fields of all frames in a capture, as the dissector tells them."""
        lua = TOP / "tools" / "wireshark" / "weft.lua"
        read = subprocess.run(
            ["tshark", "-X", f"lua_script:{lua}", "-r", str(capture), "-T", "fields",
             *(word for name in names for word in ("-e", name))],
            capture_output=True, text=True, timeout=240, check=True)
        return [line.split("\t") for line in read.stdout.splitlines()]

    def test_a_capture_has_both_directions_and_is_readable(self):
        if shutil.which("tshark") is None:
            self.skipTest("tshark is not installed")
        capture = self.dir / "s0.pcapng"
        self.measure("--pcap", f"s0:2={capture}", "--snaplen", "200")
        rows = self.fields(capture, "frame.interface_name", "frame.packet_flags_direction",
                           "weft.kind")
        self.assertEqual({row[0] for row in rows}, {"s0:2"})
        self.assertEqual(len({row[1] for row in rows}), 2)
        self.assertTrue({"1", "2", "6"} <= {row[2] for row in rows})

    def test_a_capture_of_hosts_has_each_data_frame_that_they_count(self):
        if shutil.which("tshark") is None:
            self.skipTest("tshark is not installed")
        capture = self.dir / "hosts.pcapng"
        traffic = "traffic=[{pattern: uniform, from: all, load: 20%, message: 6KiB}]"
        result, done = self.judge(
            "--pcap", f"h0:0={capture}", "--pcap", f"h1:0={capture}", "--snaplen", "200",
            "--set", "topology=full:switches=2,hosts=1", "--set", traffic,
            "--set", "measure.duration=40ms")
        self.assertEqual((done.returncode, done.stderr), (0, ""))  # no frame is missing in it
        rows = self.fields(capture, "frame.interface_name", "frame.packet_flags_direction",
                           "weft.kind", "weft.src", "weft.seq", "weft.state.credits")
        seen = {}
        for port, direction, kind, *what in rows:
            seen.setdefault((port, direction, kind), []).append(what)
        into, out = "0x00000001", "0x00000002"
        for port in ("h0:0", "h1:0"):
            for direction in (into, out):
                for kind in ("1", "2", "6"):  # data, credits, hellos
                    self.assertIn((port, direction, kind), seen)
        counters = result["counters"]
        data = {direction: seen["h0:0", direction, "1"] + seen["h1:0", direction, "1"]
                for direction in (into, out)}
        self.assertEqual(len(data[out]), counters["host_frames_injected"] +
                         counters["host_frames_retransmitted"])
        self.assertEqual(len(data[into]), counters["host_frames_received"])
        self.assertTrue(all(credits for *_, credits in data[into] + data[out]))
        # Frames that leave one host arrive at the other, in this order.
        for a, b in (("h0:0", "h1:0"), ("h1:0", "h0:0")):
            self.assertEqual([what[:2] for what in seen[a, out, "1"]],
                             [what[:2] for what in seen[b, into, "1"]])

    def test_a_signal_ends_the_run_early_with_its_result_and_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            capture = self.dir / f"{number}.pcapng"
            process = subprocess.Popen(
                [WEFT, "run", self.file, "--dilation", "10", "--json", str(self.dir / "early.json"), "--pcap",
                 f"h0:0={capture}", "--snaplen", "200", "--set", "measure.duration=60s"],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.addCleanup(process.kill)
            # It is in the middle of the traffic.
            labs.wait_file(capture, lambda path: path.exists() and path.stat().st_size > 50000, process)
            # DPDK's folder of the program that 'weft run' has started; others are not our business.
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            own = {f"weft-{pid}" for pid in [process.pid, *children.split()]}
            self.assertEqual(len(own & runtime_dirs()), 1)
            process.send_signal(number)
            _, errors = process.communicate(timeout=labs.HANG_SECONDS)
            self.assertEqual(process.returncode, 130, errors)
            self.assertTrue(json.loads((self.dir / "early.json").read_text())["incomplete"])
            self.assertEqual(own & runtime_dirs(), set())

    def test_the_virtual_clock_refuses_what_needs_the_world(self):
        text = RUN.replace("clock: real", "clock: virtual")
        for args, reason in (([self.write("e.yaml", text + EDGES)], "edges"),
                             ([self.file, "--clock", "lunar"], "virtual or real")):
            done = self.weft("run", *args)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(reason, done.stderr)

    def test_bad_requests_are_one_line_with_the_place_and_exit_2(self):
        for text, place in (
                (RUN.replace("seed: 7", "sede: 7"), "run.yaml:5:"),
                (RUN.replace("rlft:ports=4", "rlft:ports=5"), "ports"),
                (RUN.replace("1Gbps", "1"), "run.yaml:6:"),
                (RUN.replace("[h1, h5]", "[h1, h99]"), "h99"),
                (RUN.replace("clock: real", "clock: unreal"), "virtual"),
                (RUN.replace("algorithm: ud", "algorithm: smarty"), "smart"),
                (RUN.replace("32KiB", "1B"), "buffer"),
                ("][", "bad.yaml:1:")):
            name = "bad.yaml" if text == "][" else "run.yaml"
            done = self.weft("run", self.write(name, text))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(place, done.stderr)

    def test_too_few_descriptors_are_one_message(self):
        done = subprocess.run(["prlimit", "--nofile=12:12", WEFT, "run", self.file, "--quiet"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"\Aweft run: too few file descriptors: 12 may be open, but "
                         r"\d+ are needed \('ulimit -n'\)\n\Z")

    def test_a_low_limit_of_descriptors_is_raised_where_that_is_allowed(self):
        done = subprocess.run(["prlimit", "--nofile=12:1024", WEFT, "run", self.file, "--quiet", "--dilation",
                               "10"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_more_samples_than_a_result_can_have_are_refused(self):
        done = self.weft("run", self.file, "--set", "measure.duration=86400s", "--set", "measure.sample=1us")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(": measure.sample: 1us gives 86400000000 samples in a run of 86400s; at most 1000000 are "
                      "allowed", done.stderr)

    def test_a_missing_file_and_a_wrong_flag_are_bad_requests(self):
        for args in (["run", "/nonexistent.yaml"], ["run", self.file, "--nonsense"], ["run"],
                     ["nonsense"]):
            self.assertEqual(self.weft(*args).returncode, 2, args)


@unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/dev/net/tun"),
                     "TAPs and namespaces need root and /dev/net/tun")
class Edge(Fabric):
    """Real programs: two namespaces, three switches apart."""

    def cross(self, addresses, *args, more=None):
        """Ping, a million bytes over TCP and what 'more' does, from the first edge to the second;
        the result of the run."""
        path = self.dir / "edges.json"
        process = subprocess.Popen(
            [WEFT, "run", self.write("edges.yaml", RUN + EDGES), "--dilation", "10", "--quiet", "--json", str(path),
             "--set", "measure.duration=60s", *args], stderr=subprocess.PIPE, text=True)
        # Leaves nothing behind for the next test, whatever happens to this one.
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        labs.wait_until(lambda: addresses[1] in subprocess.run(
            ["ip", "-n", "weft-test-b", "addr", "show", "wtest6"], capture_output=True, text=True,
            check=False).stdout, "no second edge")
        labs.ping(self, ["ip", "netns", "exec", "weft-test-a"], addresses[1])
        self.carry_a_million_bytes(addresses[1])
        if more is not None:
            more(addresses[1])
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(labs.HANG_SECONDS), 130, process.stderr.read())
        process.stderr.close()
        names = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("weft-test-", names)
        return json.loads(path.read_text())

    def carry_a_million_bytes(self, address):
        """Through a socket, compared at the other end."""
        receive = subprocess.Popen(
            ["ip", "netns", "exec", "weft-test-b", sys.executable, "-c",
             f"import socket,hashlib;s=socket.create_server(('{address}',5201));print('ready',flush=True);c=s.accept()[0];"
             "h=hashlib.sha256()\nwhile d:=c.recv(65536):h.update(d)\nprint(h.hexdigest())"],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(receive.kill)
        self.assertEqual(receive.stdout.readline(), "ready\n")
        send = subprocess.run(
            ["ip", "netns", "exec", "weft-test-a", sys.executable, "-c",
             "import socket,hashlib\nd=bytes(i*7&255 for i in range(1000000))\n"
             f"c=socket.create_connection(('{address}',5201))\n"
             "c.sendall(d);c.close();print(hashlib.sha256(d).hexdigest())"],
            capture_output=True, text=True, timeout=labs.HANG_SECONDS, check=True)
        self.assertEqual(receive.communicate(timeout=labs.HANG_SECONDS)[0], send.stdout)

    def iperf3(self, address):
        received = iperf3.bytes_in_a_second(self, "weft-test-a", "weft-test-b", address)
        self.assertGreater(received, 100000)

    def test_the_next_run_removes_the_namespaces_that_a_killed_run_made(self):
        subprocess.run(["ip", "netns", "add", "weft-test-b"], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "del", "weft-test-b"], check=True)
        process = subprocess.Popen([WEFT, "run", self.write("edges.yaml", RUN + EDGES), "--dilation", "10", "--quiet",
                                    "--set", "measure.duration=60s"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        labs.wait_file("/run/netns/weft-test-a", process=process)
        process.kill()
        process.wait()
        self.assertTrue(os.path.exists("/run/netns/weft-test-a"))
        self.measure()
        self.assertEqual([name for name in os.listdir("/run/netns") if name.startswith("weft-test-")], ["weft-test-b"])

    def test_ping_and_tcp_cross_three_switches_and_nothing_stays_behind(self):
        result = self.cross(("10.87.0.1", "10.87.0.7"))
        throughput, latency = result["throughput"], result["latency_ns"]
        edges = throughput["edges"]
        self.assertGreater(edges["bytes_sent"], 1000000)
        self.assertGreaterEqual(edges["bytes_sent"], edges["bytes_received"])
        self.assertGreater(edges["accepted"], 0)
        self.assertGreater(throughput["accepted"], edges["accepted"] + 0.01)  # hosts send, too
        self.assertGreater(throughput["offered"], edges["offered"] + 0.01)
        self.assertGreater(latency["edges"]["mean"], 0)
        self.assertGreater(sum(sample["edges"] for sample in result["series"]), 0)

    def test_packets_that_a_tap_does_not_take_are_dropped_messages(self):
        def ping_into_nothing(address):
            subprocess.run(["ip", "-n", "weft-test-b", "link", "set", "wtest6", "down"], check=True)
            ping = subprocess.run(["ip", "netns", "exec", "weft-test-a", "ping", "-n", "-c", "5", "-i",
                                   "0.01", "-W", "1", address], capture_output=True, text=True, check=False)
            self.assertIn("100% packet loss", ping.stdout)

        result = self.cross(("10.87.0.1", "10.87.0.7"), more=ping_into_nothing)
        messages, lost = result["messages"], result["counters"]["tap_drop_full"]
        self.assertGreaterEqual(lost, 5)
        self.assertGreaterEqual(messages["dropped"], lost)
        self.assertEqual(messages["generated"],
                         messages["delivered"] + messages["dropped"] + messages["pending"])
        self.assertLessEqual(messages["delivered"] + lost, messages["injected"])

    def test_ping_and_tcp_cross_a_host_that_re_injects(self):
        # h6 stands on the way from h1 to h7, and on the way back: 'weft route show'.
        result = self.cross(
            ("10.87.0.2", "10.87.0.8"), "--set", "topology=torus:dims=4x4,hosts=1", "--set",
            "routing.algorithm=ud-itb", "--set", "traffic=[]", "--set", "edges[0].host=h1", "--set",
            "edges[0].address=10.87.0.2/24", "--set", "edges[1].host=h7", "--set",
            "edges[1].address=10.87.0.8/24", more=self.iperf3)
        counters = result["counters"]
        # Without hosts that send, all traffic is that of programs.
        self.assertAlmostEqual(result["throughput"]["accepted"], result["throughput"]["edges"]["accepted"], 9)
        self.assertGreater(result["throughput"]["accepted"], 0)
        # Not one frame has found another way.
        self.assertGreater(counters["host_frames_delivered"], 500)
        self.assertEqual(counters["host_itb_reinjected"], counters["host_frames_injected"] +
                         counters["host_frames_retransmitted"])


# The cases of Fabric run once.
for name in [name for name in dir(Fabric) if name.startswith("test_")]:
    setattr(Edge, name, None)

if __name__ == "__main__":
    unittest.main(verbosity=2)
