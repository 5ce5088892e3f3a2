#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Programs that use libweft in the hosts of a lab, in one process and in several.

usage: lab_endpoints_test.py WEFT RING PEER [CASE...]      RING: examples/ring.c, PEER: endpoint_peer.c"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

import lab_cases
import labs

RING, PEER = (os.path.abspath(path) for path in sys.argv[2:4]) if len(sys.argv) > 3 else ("", "")
HOSTS = ("h0", "h1", "h2", "h3")
EXEC = ("weft", "lab", "exec", "--no-faketime")
BUILD = pathlib.Path(sys.argv[1]).resolve().parents[2] if len(sys.argv) > 1 else pathlib.Path()
PORT = 20000 + os.getpid() % 10000  # on which fi_pingpong exchanges addresses
HAS_FABRIC = (BUILD / "apps/provider/libweft-fi.so").exists() and shutil.which("fi_pingpong") is not None


def listens(pid):
    """Whether a TCP socket listens on PORT where the process is."""
    with open(f"/proc/{pid}/net/tcp", encoding="ascii") as file:
        return any(line.split()[1].endswith(f":{PORT:04X}") and line.split()[3] == "0A" for line in file)


class Several(lab_cases.LabCase):
    FORM = "each"

    def program(self, lab, host, *command):
        process = subprocess.Popen([lab_cases.WEFT, "lab", "exec", "--no-faketime", lab.name, host, "--", *command],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def ends_with(self, process, *lines):
        output, _ = process.communicate(timeout=labs.HANG_SECONDS)
        self.assertEqual(output.splitlines(), list(lines))

    def test_a_token_goes_around_the_hosts(self):
        lab = self.lab("er")
        lab.up()
        others = [self.program(lab, host, RING, *HOSTS) for host in HOSTS[1:]]
        first = self.program(lab, "h0", RING, *HOSTS)
        for process in others:
            self.assertIn("received", process.communicate(timeout=labs.HANG_SECONDS)[0])
        self.assertIn("h0: received", first.communicate(timeout=labs.HANG_SECONDS)[0])
        self.assertEqual([process.returncode for process in (first, *others)], 4 * [0])

    def test_the_end_of_a_program_is_an_error_for_its_peer_only(self):
        lab = self.lab("ek")
        lab.up()
        pairs = [("h0", "h3"), ("h1", "h2")]
        programs = {host: self.program(lab, host, PEER, peer) for pair in pairs
                    for host, peer in (pair, pair[::-1])}
        for process in programs.values():
            self.assertEqual(process.stdout.readline(), "met\n")
        programs["h3"].send_signal(signal.SIGKILL)
        self.ends_with(programs["h0"], "ECONNRESET")
        self.assertIsNone(programs["h1"].poll())
        # The number is free again, and the next program meets others.
        programs = {host: self.program(lab, host, PEER, peer) for host, peer in (pairs[0], pairs[0][::-1])}
        for process in programs.values():
            self.assertEqual(process.stdout.readline(), "met\n")

    def test_the_end_of_the_process_of_a_host_ends_its_programs(self):
        lab = self.lab("ep")
        lab.up()
        programs = {host: self.program(lab, host, PEER, peer) for host, peer in (("h0", "h3"), ("h3", "h0"))}
        for process in programs.values():
            self.assertEqual(process.stdout.readline(), "met\n")
        os.kill(lab.pid_of("h0"), signal.SIGKILL)  # the process of all hosts, in both forms
        for process in programs.values():
            self.ends_with(process, "ENETDOWN")


class One(Several):
    FORM = "one"

    @unittest.skipUnless(HAS_FABRIC, "the provider is not built, or libfabric-bin is not installed")
    def test_programs_on_libfabric_use_the_provider(self):
        lab = self.lab("ef")
        lab.up()
        found = lab.must("exec", "h0", "--", "fi_info", "-p", "weft")
        self.assertIn("type: FI_EP_RDM", found)
        for kind in ("msg", "tagged"):
            for size in ("1", "65536"):
                # -c: the data is checked.
                command = ("fi_pingpong", "-p", "weft", "-e", "rdm", "-m", kind, "-S", size, "-I", "5", "-c")
                with labs.Program([*EXEC, lab.name, "h0", "--", *command, "-B", str(PORT)], executable=lab_cases.WEFT,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
                    labs.wait_until(lambda: listens(server.pid), "fi_pingpong does not listen")
                    client = subprocess.run(
                        [*EXEC, lab.name, "h3", "--", *command, "-P", str(PORT), "localhost"],
                        executable=lab_cases.WEFT, capture_output=True, text=True, timeout=labs.HANG_SECONDS)
                    self.assertEqual(client.returncode, 0, client.stdout + client.stderr)
                    self.assertIn("=5", client.stdout)
                    server.communicate(timeout=labs.HANG_SECONDS)
                    self.assertEqual(server.returncode, 0)

    @unittest.skipUnless(HAS_FABRIC, "the provider is not built, or libfabric-bin is not installed")
    def test_waiting_on_libfabric_ends_with_the_process_of_the_host(self):
        lab = self.lab("ew")
        lab.up()
        programs = [self.program(lab, "h0", BUILD / "tests/net/fi_waiter", wait) for wait in ("queue", "counter")]
        for process in programs:
            self.assertEqual(process.stdout.readline(), "waits\n")
        os.kill(lab.pid_of("h0"), signal.SIGKILL)
        for process in programs:
            self.ends_with(process, "ENETDOWN")

    @unittest.skipUnless(HAS_FABRIC, "the provider is not built, or libfabric-bin is not installed")
    def test_the_provider_refuses_what_it_cannot_do(self):
        lab = self.lab("el")
        lab.up()
        self.assertEqual(lab.must("exec", "h0", "--", BUILD / "tests/net/fi_waiter", "flags").splitlines(),
                         ["Flags not supported", "Flags not supported", "Invalid argument"])

    def test_endpoints_are_counted(self):
        lab = self.lab("ec", "endpoints: 1\n")
        lab.up()
        first = self.program(lab, "h0", PEER, "h1")
        other = self.program(lab, "h1", PEER, "h0")
        for process in (first, other):
            self.assertEqual(process.stdout.readline(), "met\n")
        self.ends_with(self.program(lab, "h0", PEER, "h1"), "open: EBUSY")
        shown = json.loads(lab.must("top", "--once", "--json-lines"))["endpoints"]
        self.assertEqual({host["host"]: (host["programs"], host["waiting"], host["unexpected"]) for host in shown},
                         {"h0": (1, 0, 0), "h1": (1, 0, 0)})
        self.assertRegex(lab.must("top", "--once"), r"(?m)^ENDPOINTS +PROGRAMS .*\nh[01] +1 ")

    def test_a_lab_without_endpoints_has_none(self):
        lab = self.lab("e0", "endpoints: 0\n")
        lab.up()
        done = lab.weft("exec", "h0", "--", PEER, "h1")
        self.assertEqual((done.returncode, "no 'edges'" in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    del sys.argv[2:4]
    lab_cases.WEFT = os.path.abspath(sys.argv[1])
    labs.main(__doc__)
