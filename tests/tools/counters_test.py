#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft-counters(7) explains every counter, and no other.

usage: counters_test.py [CASE...]"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/man/weft-counters.7"
AT_SOURCE = "CONGESTION MANAGEMENT AT THE SOURCE"
SWITCHES = "SWITCHES AND THEIR PORTS"
# The lists of counters: file, list, what stands before a name, sections of the page.
LISTS = (
    ("lib/nic/nic_counters.h", "NIC_COUNTERS", "", ("INTERFACES", AT_SOURCE)),
    ("lib/nic/congestion/source_control.h", "SOURCE_CONTROL_COUNTERS", "", (AT_SOURCE,)),
    ("lib/host/edge.h", "EDGE_COUNTERS", "", ("TAP EDGES",)),
    ("lib/host/endpoint.h", "ENDPOINT_COUNTERS", "", ("ENDPOINTS",)),
    ("lib/port/port_ethdev.h", "PORT_LOSSES", "device_", ("LINKS",)),
    ("lib/wire/frame.h", "FRAME_FAULTS", "bad_", ("LINKS",)),
    ("lib/switch/switch_counters.h", "SWITCH_COUNTERS", "", (SWITCHES,)),
    ("pipelines/poll/switch_metrics.h", "SWITCH_METRICS_LINK", "", ("LINKS", SWITCHES)),
    ("pipelines/real/real_fabric_telemetry.c", "HOST_METRICS_MORE", "", ("LINKS", "INTERFACES")),
    ("pipelines/real/real_fabric_telemetry.c", "LINK_COUNTERS", "", ("LINKS",)),
    ("pipelines/real/real_fabric_telemetry.c", "LOOP_METRICS", "", ("POLL LOOPS",)),
)
# Counted by calls instead of a list.
CALLS = (
    ("lib/switch/congestion_control.c", r'\bcount\(ctx, "(\w+)"'),
    ("pipelines/poll/switch_metrics.c", r'\btake\(reader, "(\w+)"'),
)


def body_of(path, name):
    text = (ROOT / path).read_text()
    body = re.search(rf"#define {name}\(X\)((?:[^\n]*\\\n)*[^\n]*)", text).group(1)
    return re.sub(r"/\*.*?\*/", "", body.replace("\\\n", "\n"), flags=re.S)


def of_list(path, name):
    body = body_of(path, name)
    named = re.findall(r'X\(\s*\w+,\s*"(\w+)"', body)
    # Where the name is no text, it is the one in small letters.
    return named or re.findall(r"X\((?:[A-Z_0-9]+, )?([a-z_0-9]+)", body)


def counters():
    for path, name, before, _ in LISTS:
        for counter in of_list(path, name):
            if before + counter != "bad_ok":
                yield before + counter, path
    for path, pattern in CALLS:
        for counter in re.findall(pattern, (ROOT / path).read_text()):
            yield counter, path


def explained():
    return re.findall(r'^\.TP\n\.BR (\w+)', PAGE.read_text(), flags=re.M)


def section_of():
    """Returns the section of the page that explains each counter."""
    parts = re.split(r"^\.SH (.*)\n", PAGE.read_text(), flags=re.M)
    return {name: section for section, text in zip(parts[1::2], parts[2::2])
            for name in re.findall(r"^\.BR (\w+)", text, flags=re.M)}


def sources():
    return "".join(path.read_text() for folder in ("lib", "pipelines")
                   for path in (ROOT / folder).rglob("*.[ch]"))


class Counters(unittest.TestCase):
    def test_the_lists_are_found(self):
        names = {name for name, _ in counters()}
        for name in ("messages_queued", "data_out", "bad_header_crc", "tap_drop_full", "device_rx_missed",
                     "roots_now", "arn_sent", "link_up", "sink_lost", "throttled_ns", "neighbour_fabric"):
            self.assertIn(name, names)

    def test_every_counter_is_explained(self):
        known = set(explained())
        self.assertEqual([f"{path}: {name}" for name, path in counters() if name not in known], [])

    def test_every_counter_that_is_explained_exists(self):
        names = {name for name, _ in counters()}
        text = sources()
        missing = [name for name in explained() if name not in names and
                   not re.search(rf'"(host_|switch_)?{name}\d*"', text)]
        self.assertEqual(missing, [])

    def test_a_counter_is_explained_in_a_section_of_its_list(self):
        # A name of two lists is explained in a section of either.
        allowed = {}
        for path, name, before, sections in LISTS:
            for counter in of_list(path, name):
                allowed.setdefault(before + counter, []).extend(sections)
        found = section_of()
        self.assertEqual([f"{name}: explained in {found[name]}, expected in {' or '.join(sections)}"
                          for name, sections in allowed.items()
                          if name in found and found[name] not in sections], [])

    def test_the_code_uses_every_counter_of_an_enum(self):
        words, unused = set(re.findall(r"\b[A-Z][A-Z_0-9]+\b", sources())), []
        for path, name, _, _ in LISTS:
            prefix = re.search(r"#define X\(id, text\) (\w+_)##id", (ROOT / path).read_text())
            if prefix:
                unused += [f"{path}: nothing increments {prefix[1]}{counter}"
                           for counter in re.findall(r"X\(\s*([A-Z_0-9]+),", body_of(path, name))
                           if prefix[1] + counter not in words]
        self.assertEqual(unused, [])

    def test_no_counter_is_explained_twice(self):
        names = explained()
        self.assertEqual(sorted({name for name in names if names.count(name) > 1}), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
