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
# The lists of counters: file, list, what stands before a name.
LISTS = (
    ("lib/nic/nic_counters.h", "NIC_COUNTERS", ""),
    ("lib/nic/congestion/source_control.h", "SOURCE_CONTROL_COUNTERS", ""),
    ("lib/host/edge.h", "EDGE_COUNTERS", ""),
    ("lib/host/endpoint.h", "ENDPOINT_COUNTERS", ""),
    ("lib/port/port_ethdev.h", "PORT_LOSSES", "device_"),
    ("lib/wire/frame.h", "FRAME_FAULTS", "bad_"),
    ("lib/switch/switch_counters.h", "SWITCH_COUNTERS", ""),
    ("pipelines/poll/switch_metrics.h", "SWITCH_METRICS_LINK", ""),
    ("pipelines/real/real_fabric_telemetry.c", "HOST_METRICS_MORE", ""),
    ("pipelines/real/real_fabric_telemetry.c", "LINK_COUNTERS", ""),
    ("pipelines/real/real_fabric_telemetry.c", "LOOP_METRICS", ""),
)
# Counted by calls instead of a list.
CALLS = (
    ("lib/switch/congestion_control.c", r'\bcount\(ctx, "(\w+)"'),
    ("pipelines/poll/switch_metrics.c", r'\btake\(reader, "(\w+)"'),
)


def of_list(path, name):
    text = (ROOT / path).read_text()
    body = re.search(rf"#define {name}\(X\)((?:[^\n]*\\\n)*[^\n]*)", text).group(1)
    body = re.sub(r"/\*.*?\*/", "", body.replace("\\\n", "\n"), flags=re.S)
    named = re.findall(r'X\(\s*\w+,\s*"(\w+)"', body)
    # Where the name is no text, it is the one in small letters.
    return named or re.findall(r"X\((?:[A-Z_0-9]+, )?([a-z_0-9]+)", body)


def counters():
    for path, name, before in LISTS:
        for counter in of_list(path, name):
            if before + counter != "bad_ok":
                yield before + counter, path
    for path, pattern in CALLS:
        for counter in re.findall(pattern, (ROOT / path).read_text()):
            yield counter, path


def explained():
    return re.findall(r'^\.TP\n\.BR (\w+)', PAGE.read_text(), flags=re.M)


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
        sources = "".join(path.read_text() for folder in ("lib", "pipelines")
                          for path in (ROOT / folder).rglob("*.[ch]"))
        missing = [name for name in explained() if name not in names and
                   not re.search(rf'"(host_|switch_)?{name}\d*"', sources)]
        self.assertEqual(missing, [])

    def test_no_counter_is_explained_twice(self):
        names = explained()
        self.assertEqual(sorted({name for name in names if names.count(name) > 1}), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
