#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A lab on three machines with the networks of others for cables: all ports on one bridge that learns, each
link a VLAN through two bridges, Open vSwitch, a router. Machines are network namespaces with a run directory
each. Needs root; says so and exits 77 where that is not allowed.

usage: lab_ethernet_test.py WEFT      WEFT_LONG=1: a million frames instead of some thousands
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import labs

WEFT = None

MACHINES = ("a", "b", "c")
LINKS = (("a", 0, "b", 1), ("b", 0, "c", 1), ("c", 0, "a", 1))  # machine, NIC, machine, NIC
VLAN = 120                                                     # on the first link; the next ones follow
DEVICE = "net_af_packet{nic},iface=nic{nic},blocksz=1089536,framesz=4256,framecnt=1024"

# A part of a lab waits four seconds of the lab's time for frames of others: rare hellos instead of a slow clock.
LAB = """topology: topology.yaml
seed: 1
cores: 1
groups: {na: [ha], nb: [hb], nc: [hc]}
hello: 300ms
nic: {retry: 100ms, give-up: 200s}
ROUTES
traffic: [{pattern: uniform, from: all, to: all, load: LOAD, message: 1KiB}]
measure: {duration: 1s}
"""
STATIC = "mapper: {routes: static}"
MAPPED = "mapper: {key: fabric.key, hosts: [ha], lease: 3s, takeover: 4s}"


def topology(port):
    """'port' gives the rest of a port's entry, of its machine, its NIC and its link's number."""
    links = "".join(f"  - {{a: h{m}:0, b: s{m}:0}}\n" for m in MACHINES)
    ports = ""
    for number, (a, a_nic, b, b_nic) in enumerate(LINKS):
        links += f"  - {{a: s{a}:{1 + a_nic}, b: s{b}:{1 + b_nic}}}\n"
        for machine, nic in ((a, a_nic), (b, b_nic)):
            ports += f"  - {{port: s{machine}:{1 + nic}, {port(machine, nic, number)}}}\n"
    switches = ", ".join(f"{{name: s{m}, ports: 3, stage: 1}}" for m in MACHINES)
    hosts = ", ".join(f"{{name: h{m}}}" for m in MACHINES)
    return (f"weft: topology/1\nname: triangle\nlink: {{rate: 1Gbps, delay: 30ns}}\nswitches: [{switches}]\n"
            f"hosts: [{hosts}]\nlinks:\n{links}ports:\n{ports}")


def by_packet_socket(machine, nic, number):
    return f'dpdk: "{DEVICE.format(nic=nic)}"'


def by_vlan(machine, nic, number):
    return f'dpdk: "{DEVICE.format(nic=nic)}", vlan: {VLAN + number}'


def ip(*words, netns=None):
    subprocess.run(["ip", *(("-n", netns) if netns else ()), *words], check=True, stdin=subprocess.DEVNULL)


class Ethernet(labs.Lab):
    """The lab, and between its machines the namespace 'middle', where NIC n of machine a is port an."""

    def __init__(self, tag, port, routes):
        super().__init__(WEFT, tag, LAB.replace("ROUTES", routes).replace("LOAD", "5%" if labs.LONG else "1%"),
                         {"topology.yaml": topology(port), "fabric.key": 32 * "5e" + "\n"})
        for side in (*MACHINES, "middle"):
            ip("netns", "add", self.netns(side))
        for machine in MACHINES:
            for nic in range(2):
                ip("link", "add", f"nic{nic}", "mtu", "5000", "netns", self.netns(machine), "type", "veth", "peer",
                   "name", f"{machine}{nic}", "mtu", "5000", "netns", self.netns("middle"))
                ip("link", "set", f"nic{nic}", "up", netns=self.netns(machine))
                self.middle("link", "set", f"{machine}{nic}", "up")

    def netns(self, side):
        return f"{self.name}-{side}"

    def directory(self, side):
        return f"/run/weft/{self.netns(side)}"

    def middle(self, *words):
        ip(*words, netns=self.netns("middle"))

    def start(self, side, part, *more):
        return subprocess.Popen(["ip", "netns", "exec", self.netns(side), WEFT, "lab", part, self.file,
                                 "--run-dir", self.directory(side), *more], text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def on_all(self, part, *more, words=lambda side: ()):
        """Exit codes and what they say, of the same command on each machine at the same time."""
        runs = {side: self.start(side, part, *more, *words(side)) for side in MACHINES}
        said = {side: run.communicate(timeout=240) for side, run in runs.items()}
        return {side: run.returncode for side, run in runs.items()}, said

    def up(self):
        return self.on_all("up", "--wait", labs.UP_WAIT, words=lambda side: ("--process", f"s{side}", "--process", f"h{side}"))

    def status_of(self, side):
        return json.loads(self.start(side, "status", "--json").communicate(timeout=240)[0])

    def wait_links(self, condition, what):
        """Until condition(states by port, of the links of processes that answered) is true."""
        labs.wait_until(lambda: condition({link["port"]: link["state"] for side in MACHINES
                                           for link in self.status_of(side)["links"]}), what)

    def remove(self):
        self.on_all("down")
        for side in (*MACHINES, "middle"):
            subprocess.run(["ip", "netns", "del", self.netns(side)], stderr=subprocess.DEVNULL, check=False)
        super().remove()


class Cases:
    """Tests that run on each Ethernet. A class per Ethernet builds it in cables()."""

    port, routes = staticmethod(by_packet_socket), STATIC

    @classmethod
    def setUpClass(cls):
        cls.lab = Ethernet(cls.__name__[0].lower(), cls.port, cls.routes)
        cls.addClassCleanup(cls.lab.remove)
        cls.cables()
        codes, said = cls.lab.up()
        assert set(codes.values()) == {0}, said

    def send(self, meanwhile):
        """Runs the traffic on all machines: the results."""
        path = {side: os.path.join(self.lab.folder, f"{side}.json") for side in MACHINES}
        runs = [self.lab.start(side, "run", "--duration", "90s" if labs.LONG else "1s", "--json", path[side])
                for side in MACHINES]
        meanwhile()
        said = [run.communicate(timeout=300) for run in runs]
        for run in runs:
            self.assertIn(run.returncode, (0, 1), said)  # 1: the machine took its loops away for long
        return [json.loads(labs.read(path[side])) for side in MACHINES]

    def test_frames_arrive_once_and_in_order_also_if_a_cable_is_pulled_and_put_back(self):
        def cut_and_heal():
            self.lab.middle("link", "set", "a0", "down")
            self.lab.wait_links(lambda states: {"up", None}.isdisjoint((states.get("sa:1"), states.get("sb:2"))), "not cut")
            self.lab.middle("link", "set", "a0", "up")
            self.lab.wait_links(lambda states: set(states.values()) == {"up"}, "not healed")

        results = self.send(cut_and_heal)
        for result in results:
            self.assertEqual([result["checks"][check] for check in labs.CHECKS], [0, 0, 0], result["checks"])
        delivered = sum(result["messages"]["delivered"] for result in results)
        print(f"{type(self).__name__}: {delivered} frames delivered", file=sys.stderr)
        self.assertGreater(delivered, 1_000_000 if labs.LONG else 300)


class Bridged(Cases):
    """Tests for Ethernets that learn addresses."""

    def test_no_bridge_sees_an_address_at_two_of_its_ports(self):
        """What the bridges have learned. A bridge that no frame of a NIC was flooded to lacks its address."""
        everywhere = set()
        for bridge in self.bridges():
            seen = {}
            for entry in self.learned(bridge):
                self.assertNotIn(entry[0], seen)
                seen[entry[0]] = entry[1]
            everywhere.update(seen)
        self.assertEqual(len(everywhere), 6, everywhere)


class Bridge(Bridged, unittest.TestCase):
    """All six ports in one broadcast domain, with a plan of cables."""

    @classmethod
    def cables(cls):
        cls.lab.middle("link", "add", "bridge", "type", "bridge", "ageing_time", "30000")
        cls.lab.middle("link", "set", "bridge", "up")
        for machine in MACHINES:
            for nic in range(2):
                cls.lab.middle("link", "set", f"{machine}{nic}", "master", "bridge")

    def doctor(self):
        """On machine a alone: the exit code, and the result for each of its links."""
        run = self.lab.start("a", "doctor", "--json")
        checks = json.loads(run.communicate(timeout=240)[0])["checks"]
        return {check["subject"]: check["result"] for check in checks if check["check"] == "path MTU"}

    def test_a_small_mtu_in_between_is_found_from_one_of_the_machines(self):
        good = {"ha:0": "ok", "sa:0": "ok", "sa:1": "ok", "sa:2": "ok"}
        self.assertEqual(self.doctor(), good)
        self.lab.middle("link", "set", "b1", "mtu", "1500")
        self.addCleanup(self.lab.middle, "link", "set", "b1", "mtu", "5000")
        self.assertEqual(self.doctor(), {**good, "sa:1": "change"})

    def bridges(self):
        return ["bridge"]

    def learned(self, bridge):
        said = subprocess.run(["ip", "netns", "exec", self.lab.netns("middle"), "bridge", "-j", "fdb", "show", "br",
                               bridge, "dynamic"], check=True, stdout=subprocess.PIPE, text=True).stdout
        return [(entry["mac"], entry["ifname"]) for entry in json.loads(said) if entry["mac"].startswith("02:00:")]


class Tagged(Bridge):
    """Two bridges, each link a VLAN of its own: a's and b's NICs on the first, c's on the second. The kernel has
    to know nothing of VLANs: the tags are Weft's."""

    port = staticmethod(by_vlan)

    @classmethod
    def cables(cls):
        cls.lab.middle("link", "add", "trunk0", "mtu", "5000", "type", "veth", "peer", "name", "trunk1", "mtu", "5000")
        for number, members in enumerate((("a0", "a1", "b0", "b1", "trunk0"), ("c0", "c1", "trunk1"))):
            cls.lab.middle("link", "add", f"bridge{number}", "type", "bridge")
            cls.lab.middle("link", "set", f"bridge{number}", "up")
            for member in members:
                cls.lab.middle("link", "set", member, "up", "master", f"bridge{number}")

    def bridges(self):
        return ["bridge0", "bridge1"]


class OpenVSwitch(Bridged, unittest.TestCase):
    """Its userspace datapath, in the namespace in the middle; each link is a VLAN there, which Weft does not see."""

    @classmethod
    def cables(cls):
        for program in ("ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-appctl"):
            if not os.path.exists(f"/usr/bin/{program}") and not os.path.exists(f"/usr/sbin/{program}"):
                raise unittest.SkipTest(f"{program} is not installed (package openvswitch-switch)")
        cls.folder = tempfile.mkdtemp(prefix="weft-ovs-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        database = f"{cls.folder}/conf.db"
        subprocess.run(["ovsdb-tool", "create", database, "/usr/share/openvswitch/vswitch.ovsschema"], check=True)
        cls.daemon("ovsdb-server", database, f"--remote=punix:{cls.folder}/db.sock")
        cls.vsctl("--no-wait", "init")
        cls.daemon("ovs-vswitchd", f"unix:{cls.folder}/db.sock")
        cls.vsctl("add-br", "ovs", "--", "set", "bridge", "ovs", "datapath_type=netdev")
        for number, (a, a_nic, b, b_nic) in enumerate(LINKS):
            for machine, nic in ((a, a_nic), (b, b_nic)):
                cls.vsctl("add-port", "ovs", f"{machine}{nic}", f"tag={VLAN + number}")

    @classmethod
    def inside(cls, *words, **options):
        return subprocess.run(["ip", "netns", "exec", cls.lab.netns("middle"), "env", f"OVS_RUNDIR={cls.folder}",
                               *words], check=True, stdin=subprocess.DEVNULL, timeout=240, **options)

    @classmethod
    def vsctl(cls, *words):
        cls.inside("ovs-vsctl", "--timeout=240", f"--db=unix:{cls.folder}/db.sock", *words)

    @classmethod
    def daemon(cls, program, *words):
        pidfile = f"{cls.folder}/{program}.pid"
        cls.inside(program, *words, "--detach", "--no-chdir", f"--pidfile={pidfile}", f"--log-file={cls.folder}/log",
                   f"--unixctl={cls.folder}/{program}.ctl", stderr=subprocess.DEVNULL)
        cls.addClassCleanup(os.kill, int(labs.read(pidfile)), signal.SIGKILL)

    def bridges(self):
        return ["ovs"]

    def learned(self, bridge):
        said = self.inside("ovs-appctl", "-t", f"{self.folder}/ovs-vswitchd.ctl", "fdb/show", bridge,
                           stdout=subprocess.PIPE, text=True).stdout
        rows = [line.split() for line in said.splitlines()[1:]]
        return [(mac, port) for port, _, mac, _ in rows if mac.startswith("02:00:")]


class Routed(Cases, unittest.TestCase):
    """Over UDP: NIC n of each machine is a network of its own, and the middle routes among them."""

    @staticmethod
    def port(machine, nic, number):
        (a, a_nic, b, b_nic) = LINKS[number]
        far, far_nic = (b, b_nic) if machine == a else (a, a_nic)
        address = lambda at, at_nic: f"10.{MACHINES.index(at)}.{at_nic}.1:{4000 + number}"
        return f'udp: {{local: "{address(machine, nic)}", remote: "{address(far, far_nic)}"}}'

    @classmethod
    def cables(cls):
        for number, machine in enumerate(MACHINES):
            for nic in range(2):
                ip("addr", "add", f"10.{number}.{nic}.1/24", "dev", f"nic{nic}", netns=cls.lab.netns(machine))
                cls.lab.middle("addr", "add", f"10.{number}.{nic}.2/24", "dev", f"{machine}{nic}")
            netns = cls.lab.netns(machine)
            for far in set(range(len(MACHINES))) - {number}:
                for nic in range(2):
                    link = next(at for at in LINKS if (MACHINES[far], nic) in (at[:2], at[2:]))
                    own = next((at_nic for at, at_nic in (link[:2], link[2:]) if at == machine), None)
                    if own is not None:
                        ip("route", "add", f"10.{far}.{nic}.0/24", "via", f"10.{number}.{own}.2", netns=netns)
        subprocess.run(["ip", "netns", "exec", cls.lab.netns("middle"), "sysctl", "-qw", "net.ipv4.ip_forward=1"],
                       check=True)


class Mapped(Bridge):
    """The same where a mapper finds out how the cables run."""

    routes = MAPPED


class Exchanged(unittest.TestCase):
    """Two cables between two switches, each with one end in the other's port."""

    def test_status_and_up_name_the_port_at_the_other_end_if_routes_are_static(self):
        netns = f"t{os.getpid()}x"
        ip("netns", "add", netns)
        self.addCleanup(ip, "netns", "del", netns)
        ports = ""
        for port, far in ((2, 3), (3, 2)):
            ip("link", "add", f"s0-{port}", "mtu", "5000", "up", "type", "veth", "peer", "name", f"s1-{far}", "mtu", "5000",
               netns=netns)
            ip("link", "set", f"s1-{far}", "up", netns=netns)
        for number, (switch, port) in enumerate(((0, 2), (0, 3), (1, 2), (1, 3))):
            device = DEVICE.format(nic=number).replace(f"iface=nic{number}", f"iface=s{switch}-{port}")
            ports += f'  - {{port: s{switch}:{port}, dpdk: "{device}"}}\n'
        files = labs.two_switches()
        files["topology.yaml"] += f"ports:\n{ports}"
        lab = labs.Lab(WEFT, "x", "topology: topology.yaml\nmapper: {routes: static}\n", files)
        self.addCleanup(lab.remove)
        up = subprocess.Popen(["ip", "netns", "exec", netns, WEFT, "lab", "up", lab.file, "--wait", "240s"], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(up.communicate)
        self.addCleanup(up.kill)
        expected = [f"s{a}:{port} receives hellos of s{1 - a}:{5 - port} instead of s{1 - a}:{port}"
                    for a in range(2) for port in (2, 3)]
        labs.wait_until(lambda: all(line in lab.weft("status").stdout for line in expected) or up.poll() is not None,
                        "not named")
        if up.poll() is not None:
            self.fail(up.communicate())
        links = {link["port"]: (link["state"], link.get("neighbour")) for link in lab.status()["links"]}
        self.assertEqual({port: links[port] for port in ("s0:2", "s1:3")},
                         {"s0:2": ("wrong port", "s1:3"), "s1:3": ("wrong port", "s0:2")})
        self.assertEqual(links["s0:0"], ("up", None))
        up.send_signal(signal.SIGTERM)
        self.assertEqual((up.communicate(), up.returncode)[1], 130)


if __name__ == "__main__":
    labs.main(__doc__, ("ip", "bridge"))
