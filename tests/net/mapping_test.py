#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The mapper in a lab of real processes: 16 switches, 32 hosts, six processes (labs.MappedTorus). It
finds the fabric, and keeps it when cables are cut, processes are killed, and it falls into parts.
Needs root, for namespaces; says so and exits 77 where that is not allowed. Measured times are printed
as lines that begin with MEASURED; nothing depends on them.

usage: mapping_test.py WEFT
"""
import json
import re
import time
import unittest

import labs

WEFT = None


def measured(what, nanoseconds, aim):
    print(f"MEASURED {what}: {nanoseconds / 1e6:.1f} ms (asked for: {aim})", flush=True)


class MappingCase(unittest.TestCase):
    def lab(self, tag, links, traffic, more=""):
        lab = labs.MappedTorus(WEFT, tag, links, traffic, more)
        self.addCleanup(lab.remove)
        self.said = lab.up()
        return lab

    def assert_nothing_lost(self, traffic, killed=()):
        code, result, said = traffic.finish()
        checks = result["checks"]
        messages = result["messages"]
        print(f"MEASURED traffic: {messages['delivered']} messages delivered, "
              f"{messages['dropped']} refused for want of a route, "
              f"{result['packets']['retransmitted']} frames retransmitted", flush=True)
        self.assertEqual([checks[c] for c in ("lost", "duplicated", "out_of_order")], [0, 0, 0], said)
        self.assertEqual(messages["injected"], messages["delivered"], said)
        # Hosts that send here can be reached all the time: one without a route refuses messages.
        self.assertEqual(messages["dropped"], 0, said)
        self.assertGreater(messages["delivered"], 100)
        # The counts of killed processes are missing, and nothing else is wrong but what was judged above. A run
        # that was stopped ends with 130, or with 1 if counts are missing.
        reasons = [reason for reason in result["incomplete_reasons"]
                   if not reason.startswith("a signal ended")]
        self.assertEqual(reasons, [f"{process} is gone, and its counts are lost" for process in killed],
                         said)
        self.assertEqual(code, 1 if killed else 130, said)

    def discovered(self, lab, cables=64, code=0):
        """The map, when it has so many cables, and what 'weft lab map' has printed."""
        lab.wait_map(cables=cables)
        found, done = lab.discovered()
        self.assertEqual((done.returncode, len(found["hosts"])), (code, 32), done.stderr)
        return found, done

    def assert_map_is_the_file(self, lab):
        found, _ = self.discovered(lab)
        self.assertEqual(labs.by_identity(found), labs.by_identity(labs.shown(WEFT, lab.TOPOLOGY)))


class Found(MappingCase):
    def test_the_map_is_the_topology_of_the_file(self):
        lab = self.lab("a", "shared", labs.MappedTorus.traffic(range(32)))
        leader = lab.wait_map()
        self.assertEqual(leader["host"], "h1")
        print(f"MEASURED first routes of 16 switches, 32 hosts, after their links were up: "
              f"{re.search('([0-9]+) ms after the links', self.said)[1]} ms (asked for: < 1 s)", flush=True)
        self.assert_map_is_the_file(lab)
        lab.assert_up()

    def test_a_cable_that_is_not_as_expected_is_reported(self):
        lab = self.lab("b", "shared", "")
        expected = labs.shown(WEFT, lab.TOPOLOGY)
        lab.cut("s0:1")
        found, done = self.discovered(lab, cables=63, code=1)
        self.assertIn("1 difference from", done.stderr)
        self.assertIn("s3:0 - s0:1: this cable is missing", done.stderr)
        missing = labs.by_identity(expected)[2] - labs.by_identity(found)[2]
        self.assertEqual(missing, {frozenset(("s0:1", "s3:0"))})
        self.assertIn("graph", lab.weft("map", "--dot").stdout.splitlines()[0])
        document = json.loads(lab.weft("map", "--json").stdout)
        self.assertEqual((document["mapper"], len(document["differences"])), ("h1", 1))


class Healed(MappingCase):
    def test_a_cut_cable_is_mapped_around_and_taken_back(self):
        lab = self.lab("c", "shared", labs.MappedTorus.traffic(range(32)))
        maps = lab.wait_map()["counters"]["maps"]
        traffic = labs.Traffic(lab, "60s")
        traffic.wait_flow()
        lab.cut("s5:0")
        leader = lab.wait_map(cables=63, maps=maps)
        measured("a cut cable mapped around, from the first report", leader["last_change_ns"],
                 "< 200 ms")
        traffic.wait_flow()
        lab.join("s5:0")
        leader = lab.wait_map(maps=leader["counters"]["maps"])
        measured("a new cable taken in, from the first report", leader["last_change_ns"], "-")
        traffic.wait_flow()
        traffic.stop()
        self.assert_nothing_lost(traffic)
        self.assert_map_is_the_file(lab)

    def test_a_killed_switch_is_mapped_around_and_taken_back(self):
        lab = self.lab("d", "shared", labs.MappedTorus.traffic(range(30)))
        maps = lab.wait_map()["counters"]["maps"]
        traffic = labs.Traffic(lab, "60s")
        traffic.wait_flow()
        lab.kill("s15")
        # With its hosts and its six cables.
        leader = lab.wait_map(switches=15, hosts=30, cables=58, maps=maps)
        measured("a killed switch mapped around, from the first report", leader["last_change_ns"],
                 "< 200 ms")
        traffic.wait_flow()
        lab.start_again("s15")
        lab.wait_map(maps=leader["counters"]["maps"])
        traffic.wait_flow()
        traffic.stop()
        self.assert_nothing_lost(traffic, killed=["s15"])
        self.assert_map_is_the_file(lab)


class Mappers(MappingCase):
    def test_when_the_mapper_is_killed_another_leads_and_traffic_goes_on(self):
        lab = self.lab("e", "shared", labs.MappedTorus.traffic([i for i in range(32) if i != 1]))
        self.assertEqual(lab.wait_map()["host"], "h1")
        traffic = labs.Traffic(lab, "60s")
        traffic.wait_flow()
        delivered, killed = lab.delivered(), time.monotonic()
        lab.kill("h1")
        leader = lab.wait_map(hosts=31, cables=63)
        measured("a killed mapper: another leads and all is mapped, as seen from outside",
                 (time.monotonic() - killed) * 1e9, "-")
        self.assertNotEqual(leader["host"], "h1")
        self.assertGreater(lab.delivered(), delivered)
        traffic.wait_flow()
        lab.start_again("h1")
        # It has the higher priority.
        lab.wait(lambda: (leader := lab.leader()) and leader["host"] == "h1", "h1 does not lead")
        lab.wait_map()
        traffic.wait_flow()
        traffic.stop()
        self.assert_nothing_lost(traffic, killed=["h1"])
        self.assert_map_is_the_file(lab)

    def test_a_fabric_in_two_parts_has_two_mappers_and_joined_again_one(self):
        lab = self.lab("f", "shared", labs.MappedTorus.traffic(range(16), range(16, 32)))
        lab.wait_map()
        traffic = labs.Traffic(lab, "60s")
        traffic.wait_flow()
        lab.cut(*lab.SEAM)

        def halves():
            leaders = lab.leaders()
            return len(leaders) == 2 and all(
                (m["state"], m["fault"], m["switches"], m["hosts"]) == ("leading", "", 8, 16)
                for m in leaders)
        lab.wait(halves, "there are no two mappers with a half each")
        traffic.wait_flow()
        lab.join(*lab.SEAM)
        self.assertEqual(lab.wait_map()["host"], "h1")
        traffic.wait_flow()
        traffic.stop()
        self.assert_nothing_lost(traffic)
        self.assert_map_is_the_file(lab)


if __name__ == "__main__":
    labs.main(__doc__)
