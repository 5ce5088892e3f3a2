#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Switches, interfaces and labs on NICs that behave as PCI drivers do (fake_nic.h). Needs root; says so
and exits 77 where that is not allowed.

usage: awkward_lab_test.py WEFT WEFT_BENCH_SWITCH LIBRTE_NET_FAKE [TEST]...
"""
import json
import os
import subprocess
import sys
import unittest

import fake_nics
import lab_machines_test
import labs

WEFT = SWITCH = PLUGIN = None
RING = 2048
# Frames of a port after which its ring is full.
ENOUGH = RING + 100
# Drivers' habits, as fake_nic.h calls them.
E1000E = "keep=4096,round=pow2,scatter=always,max_mtu=9216"
IXGBE = "keep=4096,round=1024"
VMXNET3 = "keep=4096,split=2,max_mtu=9000"
VIRTIO = "room=16,no_scatter=1,no_multi=1,promisc=unsupported"


class LabCase(unittest.TestCase):
    def lab(self, tag, switch="", hosts="", more="", **clock):
        lab = fake_nics.FakeLab(WEFT, PLUGIN, f"f{tag}", switch, hosts, more, **clock)
        self.addCleanup(lab.remove)
        return lab

    def assert_whole(self, result):
        self.assertGreater(result["messages"]["delivered"], 100)
        self.assertEqual(result["messages"]["injected"], result["messages"]["delivered"])
        self.assertEqual({check: result["checks"][check]
                          for check in ("lost", "duplicated", "out_of_order")},
                         {"lost": 0, "duplicated": 0, "out_of_order": 0})

    def traffic_passes(self, tag, arguments, more=""):
        lab = self.lab(tag, arguments, arguments, more)
        lab.up()
        self.assert_whole(lab.run())
        return lab


class Speeds(LabCase):
    def test_a_nic_that_is_slower_than_the_link_is_named(self):
        for speed, clock, times in ((1000, 2, ", 2 times that in the lab"), (10000, 1, None)):
            lab = self.lab(f"S{clock}", f"speed={speed}", f"speed={speed}", clock=f"dilation: {clock}\nhello: 200ms")
            done = lab.weft("up", "--wait", labs.UP_WAIT)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("\nlinks: 4 ports, 10Gbps, 30ns\n", done.stdout)
            for i in lab.PORTS:
                for port in (f"h{i}:0", f"s0:{i}"):
                    said = f"weft lab up: warning: {port}: the file's rate is 10Gbps, but the device's is 1Gbps{times}; the link runs at the device's rate\n"
                    (self.assertIn if times else self.assertNotIn)(said, done.stderr)
            self.assertEqual({(end["device_speed_mbps"], end["paced_bps"]) for end in lab.status()["links"]}, {(speed, 10**10)})
            lab.must("down")


class Buffers(LabCase):
    """Sent mbufs stay with the driver until its ring is nearly full: all rings together must not take
    what others need. Credit frames, of which there are a thousand a second, fill them up: on a fast clock, with rare
    hellos."""
    CLOCK = "dilation: 2\nhello: 200ms"

    def goes_on(self, lab, end):
        lab.up()
        sent = lambda: [shown["sent"] for shown in lab.ends(end)]
        short = lambda: {port: counters["no_mbuf"] for port, counters in
                         lab.status()["ports"].items() if counters.get("no_mbuf")}
        lab.wait(lambda: lab.must("top", "--once") and (min(sent()) >= ENOUGH or short()), "no more frames")
        self.assertEqual(short(), {}, f"sent {sent()}")
        kept = [shown["kept_max"] for shown in lab.ends(end)]
        lab.assert_up()
        self.assert_whole(lab.run())
        return kept

    def test_a_switch_goes_on_when_each_of_its_ports_keeps_all_that_it_sends(self):
        # Two of them can be told to give it back.
        switch = lambda port: f"keep={RING}" + (",done_cleanup=1" if port < 2 else "")
        kept = self.goes_on(self.lab("a", switch, clock=self.CLOCK), "b")
        self.assertGreater(min(kept[2:]), 100)
        self.assertLess(max(kept[:2]), min(kept[2:]))

    def test_hosts_go_on_when_each_of_their_ports_keeps_all_that_it_sends(self):
        kept = self.goes_on(self.lab("c", hosts=f"keep={RING}", clock=self.CLOCK), "a")
        self.assertGreater(min(kept), 100)


class Segments(LabCase):
    KINDS = [E1000E, IXGBE, VMXNET3, VIRTIO]

    def test_traffic_passes_nics_without_habits(self):
        self.traffic_passes("d", "")

    def test_traffic_passes_frames_in_three_segments(self):
        lab = self.traffic_passes("e", "split=3")
        self.assertGreater(min(shown["segmented"] for shown in lab.ends("b")), 100)

    def test_traffic_passes_nics_of_four_kinds(self):
        lab = self.traffic_passes("f", lambda port: self.KINDS[port])
        self.assertGreater(lab.ends("b")[2]["segmented"], 100)

    def test_traffic_passes_nics_of_four_kinds_with_the_small_mtu_that_the_docs_recommend(self):
        self.traffic_passes("j", lambda port: self.KINDS[port], "nic: {mtu: 1KiB}\n")


class Refusals(LabCase):
    def refused(self, tag, arguments, text):
        lab = self.lab(tag, hosts=arguments)
        done = lab.weft("up")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual(lab.leftovers(), [])

    def test_nics_of_1500_refuse_4_kib_and_say_what_fits(self):
        self.refused("l", "max_mtu=1500", "nic.mtu of ")

    def test_what_a_driver_says_is_said_by_up(self):
        self.refused("m", "fail=start,error=1", "because of the moon")

    def test_what_a_driver_says_of_its_queue_is_said_by_up(self):
        self.refused("n", "fail=rxq", "because of the moon")


class Carrier(LabCase):
    # Three hellos take minutes: a loss that is seen before is seen by the carrier.
    SLOW = "hello: 10s\nmapper: {routes: static}\n"

    def test_a_link_without_carrier_is_down_at_once(self):
        # The NICs of cable 1 have to be asked, those of cable 2 interrupt.
        arguments = lambda port: "lsc=1" if port == 2 else ""
        lab = self.lab("o", arguments, arguments, self.SLOW)
        lab.up()
        ends = ["h1:0", "h2:0", "s0:1", "s0:2"]
        lab.cables.cut(1)
        lab.cables.cut(2)
        dark = lambda: [end for end, state in sorted(lab.links().items())
                        if state == "no carrier"]
        lab.wait(lambda: set(dark()) >= set(ends), "the loss of carrier was not seen")
        self.assertEqual(dark(), ends)

    def test_a_link_comes_back_with_its_carrier(self):
        lab = self.lab("q", f"keep={RING}", "down=hold", f"mapper: {{{labs.MAPPER}}}\n")
        lab.up()
        lab.cables.cut(2)
        lab.wait_links(lambda links: links["h2:0"] == links["s0:2"] == "no carrier")
        lab.cables.cut(2, False)
        lab.wait_links(lambda links: set(links.values()) == {"up"})
        lab.wait_up()
        self.assert_whole(lab.run())

    def test_a_switch_that_was_killed_comes_back_on_the_same_nics(self):
        lab = self.lab("r", more=f"mapper: {{{labs.MAPPER}}}\n")
        lab.up()
        lab.kill("s0")
        lab.start_again("s0")
        lab.wait_up()
        self.assert_whole(lab.run())


class StandAlone(unittest.TestCase):
    """A switch whose ports 0 and 1, 2 and 3 are the ends of two cables: what it sends comes back, goes
    on to another port, and so on."""

    def circle(self, arguments, *options):
        cables = fake_nics.Cables()
        self.addCleanup(cables.remove)
        argv = [SWITCH, "-m", "512", f"--file-prefix=weft-fake-{os.getpid()}", "-d", PLUGIN.path]
        for number in (0, 1):
            for end in "ab":
                argv += ["--vdev", cables.device(number, end, arguments)]
        done = subprocess.run([*argv, "--", "--hosts", "9", "--seed-frames", "20",
                               "--frame-bytes", "1400", "--frames", "30000", "--hello", "1s",
                               *options],
                              capture_output=True, text=True, timeout=labs.HANG_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        switch = json.loads(done.stdout)
        self.assertEqual(switch["check"], "ok")
        counters = {name: value for name, value in switch["counters"].items()
                    if value and name.startswith(("bad_", "discard_", "rx_", "tx_", "no_mbuf"))}
        self.assertEqual(counters, {})
        self.assertGreater(switch["counters"]["data_out"], 10000)

    def test_frames_go_round_over_nics_without_habits(self):
        self.circle("")

    def test_frames_go_round_over_nics_that_keep_what_they_send(self):
        self.circle(f"keep={RING}")

    def test_frames_go_round_in_three_segments(self):
        self.circle("split=3")

    def test_frames_go_round_over_e1000e(self):
        self.circle(E1000E, "--frame-bytes", "4142", "--seed-frames", "10")

    def test_frames_go_round_over_virtio(self):
        self.circle(VIRTIO)


class Stamps(unittest.TestCase):
    """Two machines, with a switch each and a cable between these. On the left one, h0 is at a NIC that stamps, and
    whose cable leads to the right one's switch; h1 is at its own switch. The clocks are one clock, except for the scales.
    The run of a part of a lab goes on for four seconds of the lab's time: rare hellos and a clock that is less slow."""

    def make(self, nic=""):
        cables = fake_nics.Cables()
        self.addCleanup(cables.remove)
        ports = "".join(f'  - {{port: {port}, dpdk: "{cables.device(number, end, more)}"}}\n' for port, number, end, more in (
            ("left:2", 0, "a", "stamps=150"), ("right:2", 0, "b", "stamps=150"), ("h0:0", 1, "a", "stamps=150"),
            ("right:3", 1, "b", "stamps=150")))
        topology = f"""weft: topology/1
name: two-machines
link: {{rate: 10Gbps, delay: 30ns}}
switches: [{{name: left, ports: 3, stage: 1}}, {{name: right, ports: 4, stage: 1}}]
hosts: [{{name: h0}}, {{name: h1}}, {{name: h2}}]
links: [{{a: h0:0, b: right:3}}, {{a: h1:0, b: left:0}}, {{a: h2:0, b: right:0}}, {{a: left:2, b: right:2}}]
ports:
{ports}"""
        text = f"""topology: topology.yaml
eal: ["-d", "{PLUGIN.path}"]
seed: 1
dilation: 3
hello: 200ms
nic: {{give-up: 60s{nic}}}
mapper: {{routes: static}}
security: {{link-key: fabric.key}}
groups: {{near: [h0, h1], far: [h2]}}
traffic: [{{pattern: uniform, load: 0.1%, message: 1KiB}}]
"""
        lab_machines_test.WEFT = WEFT
        lab = lab_machines_test.Machines("fs", text, topology)
        self.addCleanup(lab.remove)
        ups = {side: lab.start_up(side) for side in lab_machines_test.HERE}
        said = {side: up.communicate(timeout=labs.HANG_SECONDS) for side, up in ups.items()}
        self.assertEqual({up.returncode for up in ups.values()}, {0}, said)
        lab.wait_up()
        return lab

    def stamped(self, lab):
        """Stamps that each host has used, after a run; none was refused."""
        runs = {side: lab.start(side, "run", "--duration", "300ms", "--json", "-") for side in lab_machines_test.HERE}
        said = {side: run.communicate(timeout=labs.HANG_SECONDS) for side, run in runs.items()}
        self.assertEqual({run.returncode for run in runs.values()}, {0}, said)
        nics = {name: nic for side in lab_machines_test.HERE for name, nic in lab.status_of(side)["nics"].items()}
        self.assertEqual({nic["clock_stamps_refused"] for nic in nics.values()}, {0})
        self.assertGreater(min(nic["clock_answers_taken"] for nic in nics.values()), 0)
        return {name: nic["clock_stamps"] for name, nic in nics.items()}

    def test_clocks_are_compared_by_the_stamps_of_a_hosts_nic(self):
        stamps = self.stamped(self.make())
        self.assertGreater(stamps["h0"], 0)
        self.assertEqual((stamps["h1"], stamps["h2"]), (0, 0))

    def test_a_lab_file_leaves_stamps_off(self):
        self.assertEqual(set(self.stamped(self.make(", hardware-stamps: false")).values()), {0})


def main():
    global WEFT, SWITCH, PLUGIN
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    WEFT, SWITCH = (os.path.abspath(path) for path in sys.argv[1:3])
    labs.need_lab()
    PLUGIN = fake_nics.Plugin(sys.argv[3])
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
    finally:
        PLUGIN.remove()


if __name__ == "__main__":
    main()
