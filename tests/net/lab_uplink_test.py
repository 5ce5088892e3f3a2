#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""'uplink' of a lab file: hosts reach a network outside the lab through NAT.

usage: lab_uplink_test.py WEFT"""
import os
import signal
import subprocess
import unittest

import labs

WEFT = None

LAB = """topology: "full:switches=2,hosts=2"
dilation: 20
nic: {give-up: 60s}
mapper: {routes: static}
edges: {hosts: [h0, h1, h3], network: 10.99.0.0/24}
"""
UPLINK = "uplink: {edge: h0, nat: eth0}\n"
# Answers each connection with the address from which it comes.
SERVER = """import socket
server = socket.create_server(("203.0.113.1", 4747))
print("ready", flush=True)
while True:
    client, (address, _) = server.accept()
    client.sendall(address.encode())
    client.close()
"""
CLIENT = f"""import socket
print(socket.create_connection(("203.0.113.1", 4747), {labs.HANG_SECONDS}).recv(99).decode())
"""


def ip(*words):
    return subprocess.run(["ip", *words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout


class Uplink(unittest.TestCase):
    """The commands run in the namespace 'here', whose interface eth0 leads to a server in 'world', which has no route to
    the lab."""

    def setUp(self):
        self.here, self.world = f"t{os.getpid()}here", f"t{os.getpid()}world"
        for netns in (self.here, self.world):
            ip("netns", "add", netns)
            self.addCleanup(ip, "netns", "del", netns)
        ip("link", "add", "eth0", "netns", self.here, "type", "veth", "peer", "name", "eth0", "netns", self.world)
        for netns, address in ((self.here, "203.0.113.2/24"), (self.world, "203.0.113.1/24")):
            ip("-n", netns, "addr", "add", address, "dev", "eth0")
            ip("-n", netns, "link", "set", "eth0", "up")
        self.forward(1)

    def forward(self, value):
        self.inside(self.here, "sh", "-c", f"echo {value} > /proc/sys/net/ipv4/conf/eth0/forwarding")

    def inside(self, netns, *words):
        return subprocess.run(["ip", "netns", "exec", netns, *words], check=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True).stdout

    def serve(self):
        server = subprocess.Popen(["ip", "netns", "exec", self.world, "python3", "-c", SERVER], text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        self.assertEqual(server.stdout.readline(), "ready\n")

    def lab(self, text, form="each"):
        """Its commands run in 'here', in the mount namespace of this test, where the hosts' namespaces appear."""
        lab = labs.Lab(WEFT, form[0], text, form=form)
        lab.weft_tool = os.path.join(lab.folder, "weft")
        with open(lab.weft_tool, "w") as out:
            out.write(f'#!/bin/sh\nexec nsenter --net=/run/netns/{self.here} {WEFT} "$@"\n')
        os.chmod(lab.weft_tool, 0o700)
        self.addCleanup(lab.remove)
        return lab

    def reach(self, lab):
        for host in ("h0", "h1", "h3"):
            self.assertEqual(lab.must("exec", host, "--", "python3", "-c", CLIENT), "203.0.113.2\n")

    def nothing_is_left(self):
        self.assertEqual(self.inside(self.here, "nft", "list", "ruleset"), "")
        self.assertNotIn("weft-", ip("-n", self.here, "link"))

    def test_all_hosts_of_the_network_have_a_way_out_in_one_process(self):
        self.serve()
        lab = self.lab(LAB + UPLINK, "one")
        self.assertIn("uplink: from h0 to eth0", lab.up())
        self.reach(lab)
        lab.must("down")
        self.nothing_is_left()

    def test_the_way_out_returns_with_restarted_and_killed_hosts(self):
        self.serve()
        lab = self.lab(LAB + UPLINK + "groups: {first: [h0], rest: [h1, h2, h3]}\n")
        lab.up()
        self.reach(lab)
        for host in ("h1", "h0"):
            lab.must("restart", host)
            self.reach(lab)
        lab.note_pids()
        for host in ("h0", "h1"):
            os.kill(lab.pids[host], signal.SIGKILL)
        labs.wait_ends([lab.pids["h0"], lab.pids["h1"]])
        lab.must("up", "--wait", labs.UP_WAIT)
        self.reach(lab)
        lab.must("down")
        self.nothing_is_left()

    def test_what_cannot_be_is_refused_before_anything_starts(self):
        for uplink, code, text in (
                ("{edge: h2, nat: eth0}", 2, ":9:9: uplink: host h2 has no edge with a namespace and an address"),
                ("{edge: h0, nat: eth1}", 2, ":9:9: uplink: no interface eth1 in this network namespace"),
                ("{edge: h0}", 2, ":9:9: key 'nat' is missing in 'uplink'"),
                ("{edge: h0, nat: lo}", 3, "uplink: lo does not forward packets; enable it with 'echo 1 > /proc/sys/net/ipv4/conf/lo/"
                                           "forwarding'")):
            lab = self.lab(LAB + f"uplink: {uplink}\n")
            done = lab.weft("up")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)
            self.assertFalse(os.path.exists(lab.run_dir))
            self.nothing_is_left()


if __name__ == "__main__":
    labs.main(__doc__, ("ip", "nft", "nsenter"))
