#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Labs from Python (weft.lab).

usage: python_lab_test.py WEFT [CASE...]"""
import os
import pathlib
import signal
import struct
import subprocess
import sys

import labs
import lab_cases
from lab_cases import LabCase

PACKAGE = str(pathlib.Path(__file__).resolve().parents[2] / "tools/python")
sys.path.insert(0, PACKAGE)
import weft

WEFT = None
FAR = "10.87.0.4"  # h3
PING = ["ping", "-n", "-c", "1", "-W", str(labs.HANG_SECONDS), FAR]


def frames(path):
    """How many frames a capture has."""
    contents, at, count = pathlib.Path(path).read_bytes(), 0, 0
    while at < len(contents):
        kind, length = struct.unpack_from("<II", contents, at)
        count, at = count + (kind == 6), at + length
    return count


class Labs(LabCase):
    FORM = "one"

    def setUp(self):
        os.environ["WEFT"] = lab_cases.WEFT = WEFT

    def test_a_block_has_a_lab_that_is_up(self):
        lab, _ = self.edge_lab("b")
        path = f"{lab.folder}/cut.pcapng"
        with weft.lab(lab.file, wait=labs.UP_WAIT) as own:
            lab.note_pids()
            self.assertTrue(own.status()["up"])
            self.assertIn("<th>ports</th><td>12 of 12 up</td>", own._repr_html_())
            self.assertEqual(own.exec("h0", ["sh", "-c", "hostname; exit 7"]).returncode, 7)
            result = own.run(duration="10ms", set={"traffic.0.load": "2%"})
            self.assert_whole(result.json)
            self.assertGreater(result.latency.p99, 0)
            with own.capture("leaf0:2", "spine:1", out=path):
                done = own.exec("h0", PING)
                self.assertEqual(done.returncode, 0, done.stdout)
            self.assertGreater(frames(path), 0)
            with own.capture("all", filter=f"icmp and src {FAR}", where="vc=0") as replies:
                self.assertEqual(own.exec("h0", PING).returncode, 0)
            packets = f"{lab.folder}/packets.pcapng"
            done = subprocess.run([WEFT, "capture", "decap", replies.path, "-o", packets], capture_output=True, text=True,
                                  check=True)
            # Two at each of the ports of hosts, switches and cables on the path.
            self.assertEqual(frames(packets), frames(replies.path), done.stderr)
            self.assertIn(frames(packets), (6, 8))
            text = subprocess.run(["tcpdump", "-nr", packets], capture_output=True, text=True, check=True).stdout
            self.assertEqual(text.count("ICMP echo reply"), frames(packets))
            every = own.capture("all")
            self.assertEqual(own.exec("h0", PING).returncode, 0)
            own.link("leaf0:2").down()
            lab.wait_links(lambda links: links["leaf0:2"] != "up")
            own.link("leaf0:2").up()
            lab.wait_links(lambda links: links["leaf0:2"] == "up")
            with self.assertRaisesRegex(weft.Error, "leaf0:9: no such port"):
                with own.capture("leaf0:9", out=path):
                    self.fail("the block of a failed capture is entered")
            with self.assertRaisesRegex(weft.Error, "unrecognized option '--sieve'"):
                own.capture("leaf0:2", sieve="icmp")
        self.assertEqual(lab.leftovers(), [])
        self.assertGreater(frames(every.path), 0)
        self.assertIn("ended", repr(every))
        with self.assertRaisesRegex(weft.Error, "is not up"):
            own.run()
        self.assertIn("state down", repr(own))

    def test_a_block_that_fails_takes_the_lab_down_and_leaves_labs_of_others(self):
        lab = self.lab("f")
        with self.assertRaises(ZeroDivisionError):
            with weft.lab(lab.file, wait=labs.UP_WAIT):
                lab.note_pids()
                with self.assertRaisesRegex(weft.Error, "is already up"):
                    with weft.lab(lab.file):
                        self.fail("a lab comes up twice")
                lab.assert_up()
                1 / 0
        self.assertEqual(lab.leftovers(), [])

    def test_an_interrupted_start_leaves_nothing(self):
        lab = self.lab("i", form="each")
        # The links of one process alone never come up.
        script = f"import sys; sys.path.insert(0, {PACKAGE!r}); import weft\n" \
                 f"with weft.lab({lab.file!r}, process='spine', wait='{labs.UP_WAIT}'): pass"
        with labs.Program([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True) as start:
            labs.wait_path(f"{lab.run_dir}/state", start)
            start.send_signal(signal.SIGINT)
            said = start.communicate(timeout=labs.HANG_SECONDS)[1]
        self.assertIn("KeyboardInterrupt", said)
        self.assertEqual(lab.leftovers(), [])


if __name__ == "__main__":
    labs.main(__doc__, ("ip", "ping"))
