#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Knobs of a lab that runs: rate, delay and faults of cables; captures of several ports.

usage: lab_knobs_test.py WEFT [CASE...]"""
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

import captures
import labs

WEFT = None
# Links between the switches are memory, those to hosts are not.
LAB = """topology: topology.yaml
groups: {switches: [s0, s1]}
seed: 1
dilation: 20
nic: {give-up: 60s}
mapper: {key: fabric.key, """ + labs.MAPPER + """}
traffic: [{pattern: uniform, from: all, load: 10%, message: 1KiB}]
measure: {duration: 40ms, sample: 2ms}
"""


class Rates(unittest.TestCase):
    """A link is as fast as the file says in every form of lab."""
    FORMS = [("one", "shared"), ("each", "shared"), ("each", "veth"), ("each", "memif")]

    def run_form(self, form, links, rate, delay_us, link_key):
        lab = labs.Lab(WEFT, "r", "topology: 'full:switches=2,hosts=1'\nmapper: {routes: static}\ndilation: 50\n"
                       f"links: {links}\n{link_key}"
                       "traffic: [{pattern: hotspot, from: [h0], to: [h1], load: 100%, message: 4KiB}]\n"
                       "measure: {duration: 60ms, sample: 2ms, warmup: 10ms}\n", form=form)
        self.addCleanup(lab.remove)
        return lab, lab.up()

    def test_links_have_the_rate_and_the_delay_of_the_file_in_every_form(self):
        draw = random.Random(47)
        for form, links in self.FORMS:
            rate, delay_us = draw.randrange(400, 999), draw.randrange(10, 90)
            with self.subTest(form=form, links=links, rate=rate, delay_us=delay_us):
                lab, said = self.run_form(form, links, rate, delay_us, f"link: {{rate: {rate}Mbps, delay: {delay_us}us}}\n")
                self.assertIn(f"\nlinks: 3 {'memory' if form == 'one' else links}, {rate}Mbps, {delay_us}us\n", said)
                for end in lab.status()["links"]:
                    self.assertAlmostEqual(end["paced_bps"], rate * 1e6, delta=rate * 1e3)
                    self.assertEqual(end["delay_ps"], delay_us * 1_000_000)
                result = lab.run()
                accepted = 2 * result["throughput"]["accepted"]  # one of two hosts sends
                frame_us = (4096 + 64) * 8 / rate
                self.assertLessEqual(accepted, 1 + 20 / 60)  # loops catch up by 20 ms
                # Three delays and the whole frame once; a percentile is never too low.
                self.assertGreaterEqual(result["latency_ns"]["network"]["p50"], int(1000 * (3 * delay_us + frame_us)))
                if links == "shared":  # a late loop catches up: due times travel with frames
                    # The run reports what is still on its way at the end, and what no loop could catch up with.
                    fidelity = result["fidelity"]
                    missing_ns = fidelity["late_ns"]["max"] + fidelity["moved"]["ns"]
                    self.assertGreater(accepted, (0.98 - missing_ns / 50e6) * 4096 / (4096 + 64))
                lab.must("down")

    def test_without_a_rate_in_the_file_links_between_processes_are_as_fast_as_their_kind(self):
        for links, speed in (("shared", "memory"), ("veth", "their devices")):
            lab, said = self.run_form("each", links, 0, 0, "")
            self.assertIn(f"\nlinks: 3 {links}, as fast as {speed}\n", said)
            self.assertEqual({(end["paced_bps"], end["delay_ps"]) for end in lab.status()["links"]}, {(0, 0)})
            # The file that is kept for commands by name has no rate either.
            self.assertEqual(subprocess.check_output([WEFT, "lab", "set", lab.name, "h0", "reset"], text=True, timeout=labs.HANG_SECONDS),
                             "s0:1: as fast as its device\nh0:0: as fast as its device\n")
            lab.must("down")


class Events(unittest.TestCase):
    def test_events_of_the_file_occur_as_soon_as_the_lab_is_up(self):
        lab = labs.Lab(WEFT, "e", "topology: 'full:switches=2,hosts=1'\nmapper: {routes: static}\nhello: 10ms\n"
                       "events: [{every: 400ms, link: 's0:0', down: 100ms}]\n", form="one")
        self.addCleanup(lab.remove)
        lab.up()
        labs.wait_until(lambda: min(end["link_downs_ordered"] for end in lab.status()["links"] if "s0:0" in
                                    (end["port"], end["peer"])) > 1, "the cable to be cut twice")
        self.assertEqual({end["link_downs_ordered"] for end in lab.status()["links"] if "h0" in end["port"]}, {0})


class Knobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        files = labs.two_switches()
        files["topology.yaml"] = files["topology.yaml"].replace("s1, ports: 4", "s1, ports: 5")
        cls.lab = labs.Lab(WEFT, "k", LAB, files)
        cls.addClassCleanup(cls.lab.remove)
        cls.lab.up()

    def set(self, port, *words):
        self.addCleanup(self.lab.must, "set", port, "reset")
        return self.lab.must("set", port, *words)

    def ends(self, *ports):
        links = {link["port"]: link for link in self.lab.status()["links"]}
        return [links[port] for port in ports]

    def test_both_directions_get_the_values_and_reset_takes_them_back(self):
        said = self.set("s0:2", "rate=100Mbps", "delay=5us", "corrupt=0.1%", "credit-loss=1%")
        self.assertEqual(said, "".join(f"{port}: rate=100Mbps delay=5us corrupt=0.1% credit-loss=1%\n"
                                       for port in ("s0:2", "s1:2")))
        for end in self.ends("s0:2", "s1:2"):
            self.assertEqual([end[key] for key in ("paced_bps", "delay_ps", "corrupt_ppm", "credit_loss_ppm")],
                             [100_000_000, 5_000_000, 1000, 10_000])
        # A buffer that is too small for the link now.
        done = self.lab.weft("set", "s0:2", "rate=1Gbps", "delay=20ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"^weft lab set: warning: s\d:2 and 1 similar input: .* at 1 Gbps; the round trip "
                                      r"is [\d.]+ ms: at most [\d.]+ %\n$")
        self.set("s0:2", "rate=100Mbps")
        # Values that are not named stay.
        self.set("s0:2", "delay=7us")
        self.assertEqual([(end["paced_bps"], end["delay_ps"]) for end in self.ends("s0:2", "s1:2")],
                         2 * [(100_000_000, 7_000_000)])
        self.lab.must("set", "s1:2", "reset")
        for end in self.ends("s0:2", "s1:2"):
            self.assertEqual([end[key] for key in ("paced_bps", "delay_ps", "corrupt_ppm", "credit_loss_ppm")],
                             [10**9, 100_000, 0, 0])

    def test_a_slower_link_carries_no_more_than_its_rate(self):
        for port in ("s0:2", "s0:3"):
            self.set(port, "rate=20Mbps")
        ports = ("s0:2", "s0:3", "s1:2", "s1:3")
        traffic = labs.Traffic(self.lab, "60s")
        traffic.wait_flow()
        began, before = time.monotonic(), self.bits_out(ports)
        line = json.loads(self.lab.must("top", "--once", "--json-lines", "--interval", "2s"))
        grown = [now - then for now, then in zip(self.bits_out(ports), before)]
        elapsed = (time.monotonic() - began) / 20 # dilation; no shorter than the time between the counts
        traffic.stop()
        traffic.finish()
        links = {link["from"]: link for link in line["links"]}
        rates = [links[port]["rate_bps"] for port in ports]
        for port in ports:  # the load is that of the rate in force
            self.assertEqual(links[port]["capacity_bps"], 20e6)
            self.assertAlmostEqual(links[port]["utilisation"], links[port]["rate_bps"] / 20e6, 3)
        self.assertGreater(min(rates), 0)
        self.assertLess(max(grown), 20e6 * (elapsed + 0.02)) # loops catch up by 20 ms
        for rate, bits in zip(rates, grown):
            self.assertLessEqual(rate * line["seconds"], bits + 1)

    def bits_out(self, ports):
        """That the ports sent, as 'top' counts them: each frame with 24 bytes more."""
        counters = self.lab.status()["ports"]
        return [8 * (counters[port]["bytes_out"] + 24 * counters[port]["data_out"]) for port in ports]

    def test_a_link_between_processes_gets_rate_and_delay_and_its_own_by_reset(self):
        said = self.set("h0", "rate=80Mbps", "delay=2ms")
        self.assertEqual(said, "".join(f"{port}: rate=80Mbps delay=2ms\n"
                                       for port in ("s0:0", "h0:0")))
        # All ends at the link from s0 to h0. A frame takes 0.1 ms at that rate.
        for words, least in ((("rate=1Gbps", "delay=2ms"), 2e6), (("rate=80Mbps", "delay=0s"), 0.1024e6)):
            self.lab.must("set", "h0", *words)
            result = self.lab.run("--set", "traffic.0.to=[h0]", "--set", "traffic.0.from=[h1]", "--set",
                                  "traffic.0.load=5%")
            self.assertGreater(result["messages"]["delivered"], 10)
            for key in ("latency_ns", "latency_due_ns"):
                self.assertGreater(result[key]["network"]["p50"], least)
            self.assertEqual([result["checks"][key] for key in labs.CHECKS], [0, 0, 0])
        self.assertEqual(self.lab.must("set", "h0", "reset"),
                         "".join(f"{port}: rate=1Gbps delay=100ns\n" for port in ("s0:0", "h0:0")))
        self.assertEqual([(end["paced_bps"], end["delay_ps"]) for end in self.ends("h0:0", "s0:0")], [(10**9, 100_000)] * 2)

    def test_a_run_reports_what_was_changed_since_the_lab_came_up(self):
        changes = self.lab.run("--duration", "5ms")["changes"]
        self.assertEqual([changes[key] for key in ("links_set", "cables_cut", "unknown")], [[], [], []])
        self.set("s0:2", "rate=100Mbps", "corrupt=0.1%")
        self.lab.cut("s0:3")
        self.addCleanup(self.lab.join, "s0:3")
        said = self.lab.must("run", "--duration", "5ms", "--json", self.lab.file + ".json")
        self.assertRegex(said, r"(?m)^  links set +s0:2 rate=100Mbps delay=100ns corrupt=0\.1%, s1:2 ")
        self.assertRegex(said, r"(?m)^  cables cut +s0:3, s1:3$")
        changes = json.loads(labs.read(self.lab.file + ".json"))["changes"]
        self.assertEqual(changes["links_set"],
                         [{"port": port, "paced_bps": 100_000_000, "delay_ps": 100_000, "jitter_ps": 0, "loss_ppm": 0,
                           "corrupt_ppm": 1000, "credit_loss_ppm": 0, "reorder_ppm": 0, "during_run": False} for port in ("s0:2", "s1:2")])
        self.assertEqual(changes["cables_cut"], [{"port": port, "at_start": True, "at_end": True} for port in ("s0:3", "s1:3")])
        traffic = labs.Traffic(self.lab, "60s")
        traffic.wait_flow()
        self.lab.must("set", "s0:2", "reset")
        self.lab.join("s0:3")
        traffic.stop()
        changes = traffic.finish()[1]["changes"]
        self.assertEqual([(end["port"], end["paced_bps"], end["corrupt_ppm"], end["during_run"]) for end in changes["links_set"]],
                         [(port, 10**9, 0, True) for port in ("s0:2", "s1:2")])
        self.assertEqual(changes["cables_cut"], [{"port": port, "at_start": True, "at_end": False} for port in ("s0:3", "s1:3")])

    def test_frames_of_all_processes_are_judged_together_and_later_than_demanded_is_a_bad_answer(self):
        done = self.lab.weft("run", "--set", "fidelity.late=1us", "--set", "fidelity.share=100%")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"weft lab run: incomplete: fidelity: .* were late by at most 1us; fidelity.share requires 100 %")
        inside = self.lab.run("--set", "fidelity.late=100s")["fidelity"]
        self.assertTrue(inside["demand"]["met"])
        # All links have due times, also those between processes.
        self.assertGreater(inside["frames"], 0)

    def test_faults_damage_frames_and_nothing_is_lost(self):
        self.set("s0:2", "corrupt=5%", "credit-loss=5%")
        self.set("s0:3", "corrupt=5%", "credit-loss=5%")
        result = self.lab.run()
        self.assertGreater(sum(end["frames_corrupted"] for end in self.ends("s0:2", "s0:3", "s1:2", "s1:3")), 0)
        self.assertGreater(sum(end["credits_lost"] for end in self.ends("s0:2", "s0:3", "s1:2", "s1:3")), 0)
        self.assertGreater(result["packets"]["retransmitted"], 0)
        self.assertEqual([result["checks"][key] for key in labs.CHECKS], [0, 0, 0])

    def test_a_run_sends_what_it_is_told_and_the_next_one_what_the_file_says(self):
        words = ("--set", "traffic.0.message=2KiB", "--set", "traffic.0.from=[h0]", "--set", "traffic.0.to=[h3]",
                 "--set", "traffic.0.stop=10ms", "--set", "measure.duration=20ms", "--set", "seed=7")
        told = self.lab.run(*words)
        self.assertEqual([told["config"]["measure"]["duration"], told["seed"]], ["20ms", 7])
        self.assertEqual(told["config"]["traffic"][0]["message"], "2KiB")
        self.assertGreater(told["messages"]["delivered"], 0)
        entry, = told["traffic"]
        self.assertEqual([flow["from"] for flow in entry["flows"]], ["h0"])
        for result in (told, file := self.lab.run()):
            self.assertEqual([result["checks"][key] for key in labs.CHECKS], [0, 0, 0])
        self.assertEqual(file["seed"], 1)
        self.assertEqual([(entry["senders"], "flows" in entry) for entry in file["traffic"]], [(4, False)])

    def control(self, process, text):
        """An order to the loop of a process."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.connect(f"{labs.RUNTIME}/dpdk/weft-{self.lab.name}-{process}/dpdk_telemetry.v2")
            client.recv(4096)
            client.send(f"/weft/control,{text}".encode())
            self.assertEqual(json.loads(client.recv(4096)), {"/weft/control": "ok"})

    def ask(self, process, what):
        """What a process of an idle lab has counted."""
        answer = f"{self.lab.run_dir}/answer-{what}"
        self.control(process, f"{what} {answer}")
        labs.wait_file(answer)
        with open(answer) as file:
            document = json.load(file)
        os.unlink(answer)
        return document

    def test_counts_are_a_report_without_the_samples(self):
        self.lab.run()
        report, counts = self.ask("h0", "report"), self.ask("h0", "counts")
        self.assertGreater(len(report["samples"]), 10)
        self.assertEqual(counts["samples"], [])
        for key in ("messages_injected", "messages_delivered", "measured_ns", "network_ns", "traffic", "sending"):
            self.assertEqual(counts[key], report[key], key)
        self.assertEqual(counts["sending"], 0)

    def test_a_process_that_ends_its_traffic_later_than_the_others_is_waited_for(self):
        traffic = labs.Traffic(self.lab, "250ms")
        traffic.wait_flow(1)
        self.control("h0", "traffic start 300000000")
        _, result, said = traffic.finish()
        self.assertEqual(result["messages"]["injected"], result["messages"]["delivered"], said)
        # Nothing has been sent since.
        self.assertEqual(self.lab.delivered() - traffic.before, result["messages"]["delivered"], said)

    def test_the_traffic_of_a_run_that_was_killed_ends_before_the_next_begins(self):
        traffic = labs.Traffic(self.lab, "60s")
        traffic.wait_flow()
        traffic.run.kill()
        traffic.run.communicate()
        result = self.lab.run()
        self.assertGreater(result["messages"]["delivered"], 0)
        self.assertEqual(result["messages"]["injected"], result["messages"]["delivered"])
        self.assertEqual([result["checks"][key] for key in labs.CHECKS], [0, 0, 0])

    def test_what_was_loaded_for_a_run_that_never_began_is_not_sent_by_the_next(self):
        self.lab.run("--set", "traffic.0.from=[h0]", "--duration", "5ms")
        for process in self.lab.pids:
            answer = f"{self.lab.run_dir}/answer-{process}"
            self.control(process, f"traffic load {answer}")
            labs.wait_file(answer)
            with open(answer) as file:
                self.assertEqual(json.load(file), {})
            os.unlink(answer)
        result = self.lab.run()
        self.assertEqual([(entry["senders"], "flows" in entry) for entry in result["traffic"]], [(4, False)])

    def test_the_file_of_the_lab_is_not_written_over(self):
        with open(self.lab.file) as file:
            before = file.read()
        link = os.path.join(self.lab.folder, "link")
        os.link(self.lab.file, link)
        self.addCleanup(os.unlink, link)
        for part, *words in (("run", "--duration", "100ms"), ("map",), ("capture", "s0:2")):
            for output in (self.lab.file, link):
                done = self.lab.weft(part, *words, "-o", output)
                self.assertEqual((done.returncode, "is also the input" in done.stderr), (2, True), done.stderr)
        with open(self.lab.file) as file:
            self.assertEqual(file.read(), before)

    def test_what_a_run_cannot_change_is_refused(self):
        two = "{pattern: uniform, from: all, load: 5%, message: 1KiB}"
        for word, text in (("nic.mtu=1KiB", "--set nic.mtu=1KiB: 'nic.mtu' cannot change while lab " + self.lab.name + " is up; a run can only change seed and keys of traffic, events, measure and fidelity"),
                           ("topology=ring:switches=3,hosts=1", "'topology' cannot change"),
                           ("traffic.0.load=much", "--set traffic.0.load: "),
                           ("traffic.0.to=[h9]", "h9"),
                           (f"traffic=[{two}, {two}]", "--set: there are 2 traffic entries, but the lab has 1")):
            done = self.lab.weft("run", "--set", word)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(text, done.stderr)

    def test_a_host_link_can_have_faults_too(self):
        self.assertEqual(self.set("h0", "corrupt=1%"),
                         "".join(f"{port}: rate=1Gbps delay=100ns corrupt=1%\n" for port in ("s0:0", "h0:0")))

    def test_one_direction_a_device_or_the_whole_lab_can_be_set(self):
        links = {link["port"]: link["peer"] for link in self.lab.status()["links"]}
        self.addCleanup(self.lab.must, "set", "all", "reset")
        for target, meant in (("s0:2>", {"s0:2"}), ("h0>", {"h0:0"}),
                              ("s0:*>", {port for port in links if port.startswith("s0:")}),
                              ("s0:*", {port for port, peer in links.items() if "s0:" in port + peer}), ("all", set(links))):
            said = self.lab.must("set", target, "loss=7%")
            self.assertEqual(sorted(line.split(": ")[0] for line in said.splitlines()), sorted(meant), target)
            self.assertEqual({link["port"] for link in self.lab.status()["links"] if link["loss_ppm"] == 70_000}, meant, target)
            self.lab.must("set", "all", "reset")
            self.assertEqual({link["loss_ppm"] for link in self.lab.status()["links"]}, {0})

    def test_lost_late_and_overtaken_frames_cost_time_and_nothing_else(self):
        self.set("all", "loss=2%", "reorder=5%", "jitter=200us")
        result = self.lab.run()
        ends = self.lab.status()["links"]
        for counter in ("frames_lost", "frames_swapped"):
            self.assertGreater(sum(end[counter] for end in ends), 0, counter)
        self.assertGreater(result["packets"]["retransmitted"], 0)
        self.assertEqual([result["checks"][key] for key in labs.CHECKS], [0, 0, 0])
        self.assertEqual(result["messages"]["injected"], result["messages"]["delivered"])

    def test_events_of_a_run_cut_and_join_cables_and_the_next_run_has_none(self):
        events = "events=[{at: 5ms, link: 's0:2', down: 15ms}, {at: 30ms, link: 's0:2', corrupt: 20%}]"
        cut, damage = self.lab.run("--set", events)["events"]
        self.assertEqual((cut["event"], cut["at_ns"]), ("link s0:2 down 15ms", 5_000_000))
        self.assertGreater(cut["frames_lost"], 0)
        self.assertGreater(cut["frames_resent"] + damage["frames_resent"], 0)
        end = next(link for link in self.lab.status()["links"] if link["port"] == "s0:2")
        self.assertEqual((end["state"], end["corrupt_ppm"]), ("up", 200_000))
        result = self.lab.run()
        self.assertNotIn("events", result)
        self.assertEqual(self.lab.status()["links"][0]["corrupt_ppm"], 0)

    def counts(self):
        """Sums of some counters over all classes, which only grow."""
        status = self.lab.status()
        return (sum(nic["frames_delivered"] for nic in status["nics"].values()),
                sum(port["data_out"] for port in status["ports"].values()),
                sum(link["frames_lost"] for link in status["links"]))

    def test_cleared_counters_begin_at_0_and_count_what_comes_then(self):
        self.set("all", "loss=1%")
        self.lab.run()
        self.assertGreater(min(self.counts()), 0)
        self.assertEqual(self.lab.must("clear"), f"{self.lab.name}: counters reset to 0\n")
        self.assertEqual(self.counts(), (0, 0, 0))
        self.assertEqual({end["loss_ppm"] for end in self.lab.status()["links"]}, {10_000})  # a gauge
        delivered = self.lab.run()["packets"]["delivered"]
        self.assertEqual(self.counts()[0], delivered)

    def test_a_restarted_process_has_another_id_and_counts_from_0(self):
        self.lab.run()
        before = {process["name"]: process["pid"] for process in self.lab.status()["processes"]}
        self.assertRegex(self.lab.must("restart", "h1"), rf"^lab {self.lab.name}: ended processes are running again after \d+ ms\n$")
        self.lab.must("clear")
        status = self.lab.status()
        after = {process["name"]: process["pid"] for process in status["processes"]}
        self.assertEqual({name for name in before if before[name] != after[name]}, {"h0"})  # it has h1
        self.assertTrue(status["up"], status)
        self.assertIn({"process": "h0", "times": 1}, self.lab.run()["changes"]["restarts"])
        self.assertGreater(self.counts()[0], 0)

    def test_what_cannot_be_restarted_is_refused(self):
        pids = [process["pid"] for process in self.lab.status()["processes"]]
        for words, text in ((("s7",), "s7: no such switch or host"), (("s0", "h9"), "h9: no such switch or host")):
            done = self.lab.weft("restart", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(text, done.stderr)
        self.assertEqual([process["pid"] for process in self.lab.status()["processes"]], pids)

    def test_what_cannot_be_set_is_refused(self):
        for words, text in ((("h0:0", "rate=0Mbps"), "'rate=0Mbps': must be at least 1kbps"),
                            (("s0:2", "speed=1"), "'speed=1': expected reset, or rate="),
                            (("s0:2", "rate=fast"), "'rate=fast': expected a rate with its unit"),
                            (("s0:2", "corrupt=101%"), "'corrupt=101%': must be at most 100%"),
                            (("h0:0", "delay=1001s"), "'delay=1001s': must be at most 1000s"),
                            (("s0:9", "reset"), "s0:9: no such cable"), (("s7:*", "reset"), "s7:*: no such cable"),
                            (("all>", "reset"), "all>: no such cable")):
            done = self.lab.weft("set", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(text, done.stderr)

    def route(self, *hosts):
        return json.loads(self.lab.must("route", *hosts, "--json"))

    def test_the_ways_between_two_hosts_lead_through_the_cables_that_there_are(self):
        self.lab.wait(lambda: self.route("h0", "h3")["in_force"], "the way is not in force")
        way = self.route("h0", "h3")
        self.assertEqual(way["mapper"], self.lab.status()["mapping"]["mapper"])
        self.assertGreaterEqual(len(way["ways"]), 1)
        self.assertLessEqual({tuple(hops) for hops in way["ways"]}, {("s0:2", "s1:1"), ("s0:3", "s1:1")})
        self.assertEqual(self.route("h0", "h1")["ways"], [["s0:1"]])
        cut = way["ways"][0][0]
        self.lab.cut(cut)
        self.addCleanup(self.lab.wait_links, lambda links: set(links.values()) == {"up"})
        self.addCleanup(self.lab.join, cut)
        other = {"s0:2": "s0:3", "s0:3": "s0:2"}[cut]
        self.lab.wait(lambda: self.route("h0", "h3")["ways"] == [[other, "s1:1"]], "the way still has the cut cable")
        after = self.route("h0", "h3")
        self.assertGreater(after["epoch"] + after["generation"], way["epoch"] + way["generation"])
        self.assertRegex(self.lab.must("route", "h0", "h3"),
                         rf"(?m)^h0 to h3: mapper h\d, epoch \d+, 1 path\b.*\n 1  {other} s1:1  \(0 ITBs\)$")

    def test_a_host_that_does_not_exist_has_no_way(self):
        done = self.lab.weft("route", "h0", "h9")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("h9: no such host", done.stderr)

    def capture(self, ports, *words):
        path = os.path.join(self.lab.folder, "capture.pcapng")
        with self.lab.capture(path, ports, *words) as capture:
            self.lab.run()
            capture.send_signal(signal.SIGINT)
            said = capture.communicate(timeout=labs.HANG_SECONDS)[1]
        self.assertEqual(capture.returncode, 0, said)
        return said, subprocess.run(["tshark", "-r", path, "-T", "fields", "-e", "frame.interface_name"],
                                    text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                                    timeout=labs.HANG_SECONDS).stdout.split()

    def test_a_capture_that_cannot_begin_leaves_the_former_one(self):
        path = os.path.join(self.lab.folder, "former.pcapng")
        with open(path, "w") as file:
            file.write("former")
        done = self.lab.weft("capture", "s0:99", "-o", path)
        self.assertEqual(done.returncode, 2, done.stderr)
        with open(path) as file:
            self.assertEqual(file.read(), "former")

    def test_a_capture_on_a_full_disk_ends_and_says_so(self):
        done = self.lab.weft("capture", "s0:2", "h0:0", "-o", "/dev/full")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("weft lab capture: /dev/full: cannot be written: No space left on device\n", done.stderr)

    @unittest.skipIf(shutil.which("tshark") is None, "tshark is not installed")
    def test_a_capture_of_two_ports_has_the_frames_of_each_under_its_name(self):
        said, names = self.capture(["s0:2", "h0:0"])
        counts = dict(re.findall(r"(\S+): (\d+) frames captured", said))
        self.assertEqual({name: str(names.count(name)) for name in set(names)}, counts)
        self.assertEqual(set(names), {"s0:2", "h0:0"})

    @unittest.skipIf(shutil.which("tshark") is None, "tshark is not installed")
    def test_all_captures_every_port(self):
        _, names = self.capture(self.lab.links(), "all")
        self.assertEqual(set(names), set(self.lab.links()))

    def blocks(self, path):
        with open(path, "rb") as file:
            return list(captures.blocks(file.read()))

    def test_a_capture_ends_after_so_many_frames_or_such_a_time(self):
        path = os.path.join(self.lab.folder, "limits.pcapng")
        for words, counts in ((("--count", "5"), [5]), (("--duration", "2ms"), range(10000))):
            done = self.lab.weft("capture", "s0:2", "h0:0", "--where", "kind=credit,hello", *words, "-o", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            frames = [block for kind, block in self.blocks(path) if kind == captures.ENHANCED_PACKET]
            self.assertIn(len(frames), counts)
            self.assertEqual({block[captures.FRAME_AT + captures.KIND_AT] for block in frames} - {2, 6}, set())
            done = subprocess.run([WEFT, "audit", path, "--lab", self.lab.name], capture_output=True, text=True,
                                  timeout=labs.HANG_SECONDS)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("only frames selected with --where 'kind=credit,hello'" + (" --count 5 " if counts == [5] else " "),
                          done.stderr)

    def test_files_in_turn_can_each_be_read_and_the_last_ones_are_kept(self):
        path = os.path.join(self.lab.folder, "turn.pcapng")
        done = self.lab.weft("capture", "s0:2", "h0:0", "--count", "90", "--rotate", "2kB,3", "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(name for name in os.listdir(self.lab.folder) if name.startswith("turn"))
        numbers = [int(name[5:10]) for name in files]
        self.assertEqual(files, [f"turn-{number:05}.pcapng" for number in numbers])
        self.assertEqual(numbers, list(range(numbers[-1] - 2, numbers[-1] + 1)))
        self.assertGreater(numbers[0], 1)
        for name in files:
            blocks = self.blocks(os.path.join(self.lab.folder, name))
            self.assertEqual([kind for kind, _ in blocks[:3]], [0x0A0D0D0A, 1, 1])
            self.assertIn(captures.ENHANCED_PACKET, [kind for kind, _ in blocks])
            self.assertLess(sum(len(block) for kind, block in blocks if kind != 5), 2001)

    def test_wrong_limits_and_filters_are_refused(self):
        for words, said in ((("--rotate", "5x", "-o", "x"), "--rotate 5x: expected a size such as 100MB or a time"),
                            (("--rotate", "1MB,1", "-o", "x"), "--rotate 1MB,1: expected 2 to 99999 files"),
                            (("--rotate", "1MB", "-o", "-"), "--rotate: expected -o FILE"),
                            (("--count", "0"), "--count 0: expected a number from 1 on"),
                            (("--where", "vc=1 lost"), "'lost'"),
                            (("--filter", "tcp port"), "syntax error")):
            done = self.lab.weft("capture", "s0:2", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(said, done.stderr)

    def test_a_port_without_a_cable_is_refused(self):
        done = self.lab.weft("capture", "s1:4")
        self.assertEqual(done.returncode, 2)
        self.assertIn("s1:4: no such port with a cable", done.stderr)

    def test_a_port_that_is_named_twice_is_refused(self):
        done = self.lab.weft("capture", "s0:2", "s0:2")
        self.assertEqual((done.returncode, done.stderr), (2, "weft lab capture: s0:2 is listed twice\n"))


class Orders(unittest.TestCase):
    def in_force(self, knobs):
        return {link["port"]: (link["state"] == "cut", *(link[knob] for knob in knobs)) for link in self.lab.status()["links"]}

    def test_a_process_that_is_started_again_has_the_orders_of_its_former_life(self):
        draw = random.Random(53)
        knobs = ("paced_bps", "delay_ps", "jitter_ps", "loss_ppm", "corrupt_ppm", "credit_loss_ppm", "reorder_ppm")
        words = (("rate", (7, 80, 333), "Mbps"), ("delay", (3, 40), "us"), ("jitter", (0, 9), "us"), ("loss", (0, 0.5), "%"),
                 ("corrupt", (0, 0.3), "%"), ("credit-loss", (0, 2), "%"), ("reorder", (0, 4), "%"))
        self.lab = labs.Lab(WEFT, "o", LAB, labs.two_switches())
        self.addCleanup(self.lab.remove)
        self.lab.up()
        given = planned = self.in_force(knobs)
        self.lab.cut("s0:3")
        for again in ("restart", "kill", "restart"):
            for _ in range(4):
                chosen = draw.sample(words, draw.randrange(1, 4))
                self.lab.must("set", draw.choice([*given, *(port + ">" for port in given), "s0:*", "s1:*>", "all"]),
                              *(f"{word}={draw.choice(values)}{unit}" for word, values, unit in chosen))
            self.lab.must("set", draw.choice(list(given)), "reset")
            given = self.in_force(knobs)
            self.assertNotEqual(given, planned)
            self.assertEqual({port for port, end in given.items() if end[0]}, {"s0:3", "s1:3"})
            for device in ("h1", "s0"):
                process = {"h1": "h0"}.get(device, device)
                if again == "kill":
                    self.lab.kill(process)
                    self.lab.start_again(process)
                else:
                    self.lab.must("restart", device)
                    self.lab.note_pids()
                self.assertEqual(self.in_force(knobs), given, (again, device))
        # What was taken back stays away.
        self.lab.must("set", "all", "reset")
        self.lab.join("s0:3")
        self.lab.must("restart", "s0", "h0")
        self.lab.note_pids()
        self.assertEqual(self.in_force(knobs), planned)


if __name__ == "__main__":
    labs.main(__doc__)
