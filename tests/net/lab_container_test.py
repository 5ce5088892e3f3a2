#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The container image, and a lab that 'weft lab export --containerlab' has written. Debian has no containerlab, so this
test starts the containers with podman and makes their veth pairs, as containerlab does. The image is built on programs of this
machine, without a network.

usage: lab_container_test.py WEFT BUILD [CASE...]"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

import labs

WEFT = BUILD = None
TOP = pathlib.Path(__file__).resolve().parents[2]
TAG = f"weft-test-{os.getpid()}"
# What the image needs of Debian: the Dockerfile installs it in a base without it.
PROGRAMS = ("sh", "ip", "ping", "sleep", "grep")
# crun, podman's default, refuses machines with both versions of control groups. Podman's limits are higher than those of a
# machine without CAP_SYS_RESOURCE.
LIMITS = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096")
DRIVERS = ("bus_vdev", "bus_pci", "mempool_ring")

LAB = """weft: lab/1
name: clab
topology: topology.yaml
dilation: 20
nic: {give-up: 60s}
mapper: {key: fabric.key, """ + labs.MAPPER + """}
edges: {hosts: all, network: 10.88.0.0/24}
groups: {pair: [h2, h3]}
"""


def must(*words):
    # Building needs no control groups.
    done = subprocess.run(words, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=labs.HANG_SECONDS, env=os.environ | {"BUILDAH_ISOLATION": "chroot"})
    if done.returncode != 0:
        raise AssertionError(f"{words} ends with {done.returncode}: {done.stdout}")
    return done.stdout


def libraries(path):
    return re.findall(r"(/\S+) \(0x", must("ldd", path))


def copy_file(path, root):
    """With the links that lead to it: DPDK loads a driver under one name only."""
    folder = os.path.realpath(os.path.dirname(path))  # /bin is /usr/bin
    path = os.path.join(folder, os.path.basename(path))
    if os.path.lexists(root + path):
        return
    os.makedirs(root + folder, exist_ok=True)
    shutil.copy(path, root + path, follow_symlinks=False)
    if os.path.islink(path):
        copy_file(os.path.join(folder, os.readlink(path)), root)


def make_base(root):
    """A root file system of this machine's programs."""
    for link in ("bin", "sbin", "lib", "lib64"):
        os.symlink(f"usr/{link}", os.path.join(root, link))
    eal = next(path for path in libraries(f"{BUILD}/apps/nic/weft-nic") if "librte_eal" in path)
    plugins = next(pathlib.Path(os.path.realpath(eal)).parent.glob("dpdk/pmds-*"))
    wanted = [shutil.which(name) for name in PROGRAMS]
    wanted += [str(path) for name in DRIVERS for path in plugins.glob(f"librte_{name}.so*")]
    for path in wanted + [f"{BUILD}/{name}" for name in ("tools/weft/weft", "apps/nic/weft-nic", "apps/fabric/weft-fabric")]:
        for library in libraries(path):
            copy_file(library, root)
    for path in wanted:
        copy_file(path, root)


class Containers:
    """What containerlab does with a topology file: a privileged container for each node, a veth pair for each link."""

    def __init__(self, path):
        self.folder, self.stack = os.path.dirname(path), contextlib.ExitStack()
        with open(path, encoding="utf-8") as file:
            self.lab = yaml.safe_load(file)
        topology = self.lab["topology"]
        self.links = [[end.split(":") for end in link["endpoints"]] + [link["mtu"]] for link in topology["links"]]
        for name, node in topology["nodes"].items():
            self.start(name, topology["kinds"][node["kind"]] | node)
        for (a, a_name), (b, b_name), mtu in self.links:
            must("ip", "link", "add", a_name, "mtu", str(mtu), "netns", self.pid(a), "type", "veth", "peer", "name", b_name,
                 "mtu", str(mtu), "netns", self.pid(b))

    def name(self, node):
        return f"{TAG}-{node}"

    def start(self, name, node):
        ends = sum(name == end[0] for link in self.links for end in link[:2])
        binds = [word for bind in node["binds"] for word in ("-v", os.path.join(self.folder, bind))]
        self.stack.callback(subprocess.run, ["podman", "rm", "-f", "-t", "0", self.name(name)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
        must("podman", "--runtime=runc", "run", "-d", "--privileged", *LIMITS, "--network", node["network-mode"], "--env", f"CLAB_INTFS={ends}",
             "--name", self.name(name), *binds, TAG, node["cmd"])

    def pid(self, node):
        return must("podman", "inspect", "-f", "{{.State.Pid}}", self.name(node)).strip()

    def run(self, node, *words):
        return subprocess.run(["podman", "exec", self.name(node), *words], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=labs.HANG_SECONDS)

    def status(self, node):
        """{"up": False} until its part has been started."""
        if must("podman", "inspect", "-f", "{{.State.Running}}", self.name(node)) != "true\n":
            raise AssertionError(f"{node} has ended: {self.logs(node)}")
        done = self.run(node, "weft", "lab", "status", "clab", "--machine", node, "--json")
        return json.loads(done.stdout) if done.stdout.startswith("{") else {"up": False}

    def logs(self, node):
        return must("podman", "logs", self.name(node))


class Exported(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="weft-container-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        base = os.path.join(cls.folder, "base")
        os.mkdir(base)
        make_base(base)
        with open(os.path.join(cls.folder, "Dockerfile"), "w") as file:
            file.write("FROM scratch\nCOPY base/ /\n")
        must("podman", "build", "-q", "-t", TAG + "-base", cls.folder)
        cls.addClassCleanup(must, "podman", "rmi", "-f", TAG + "-base")
        cls.built = must(TOP / "tools/container/build", "-b", "localhost/" + TAG + "-base", "-t", TAG, BUILD)
        cls.addClassCleanup(must, "podman", "rmi", "-f", TAG)
        for name, text in (labs.two_switches() | {"lab.yaml": LAB}).items():
            with open(os.path.join(cls.folder, name), "w") as file:
                file.write(text)
        os.chmod(os.path.join(cls.folder, "fabric.key"), 0o600)
        cls.file = os.path.join(cls.folder, "clab.clab.yml")
        must(WEFT, "lab", "export", "--containerlab", os.path.join(cls.folder, "lab.yaml"), "-o", cls.file)

    def test_the_fabric_comes_up_in_containers_and_carries_their_packets(self):
        containers = Containers(self.file)
        self.addCleanup(containers.stack.close)
        nodes = list(containers.lab["topology"]["nodes"])
        self.assertEqual(nodes, ["s0", "s1", "h0", "h1", "h2"])  # h2 has h3, too
        for node in nodes:
            labs.wait_until(lambda: containers.status(node)["up"], f"{node} is not up")
        # h2 has a namespace of its own, because it shares its container with h3.
        enter = ("weft", "lab", "exec", "--no-faketime", "clab", "h2", "--")
        for node, words, address in (("h0", (), "10.88.0.3"), ("h1", (), "10.88.0.4"), ("h2", enter, "10.88.0.1")):
            done = containers.run(node, *words, "ping", "-n", "-i", "0.01", "-c", "50", "-W", str(labs.HANG_SECONDS), address)
            self.assertIn("50 packets transmitted, 50 received, 0% packet loss", done.stdout)
        for node in nodes:
            status = containers.status(node)
            self.assertEqual({link["state"] for link in status["links"]}, {"up"}, node)
            for nic in status["nics"].values():
                self.assertGreater(nic["frames_delivered"], 0)
        # A container that is stopped takes its part down.
        must("podman", "stop", "-t", "60", containers.name("h0"))
        self.assertIn("down: 1 process ended", containers.logs("h0"))


class Refused(unittest.TestCase):
    def export(self, text, *words):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "lab.yaml"), "w") as file:
                file.write(text)
            done = subprocess.run([WEFT, "lab", "export", "lab.yaml", *words], text=True, cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            return done.returncode, done.stderr, sorted(os.listdir(folder))

    def test_what_cannot_be_exported_is_named_and_nothing_is_written(self):
        plain = "weft: lab/1\ntopology: 'full:switches=2,hosts=1'\n"
        machine = "machines: [{name: a, devices: [s0, s1, h0, h1]}]\n"
        bound = ("weft: lab/1\ntopology: {weft: topology/1, name: t, switches: [{name: s0, ports: 2}], hosts: [{name: h0}, {name: h1}],\n"
                 " links: [{a: h0, b: s0:0}, {a: h1, b: s0:1}],\n"
                 " ports: [{port: h0:0, dpdk: 'net_af_packet0,iface=a'}, {port: s0:0, dpdk: 'net_af_packet1,iface=b'}]}\n")
        name = "a-name-that-is-longer-than-23"
        long = f"weft: lab/1\ntopology: {{weft: topology/1, name: t, switches: [{{name: {name}, ports: 1}}], hosts: [{{name: h0}}], links: [{{a: h0, b: '{name}:0'}}]}}\n"
        for text, words, why in ((plain, (), "expected --containerlab"),
                                 (plain, ("--containerlab", "-o", "x.yaml"), "-o x.yaml: expected a file name that ends in .clab.yml"),
                                 (plain, ("--containerlab", "-o", "a:b.clab.yml"), "contains no ':'"),
                                 (plain, ("--containerlab", "-o", "no/x.clab.yml"), "-o no/x.clab.yml: No such file"),
                                 (plain + machine, ("--containerlab",), "'machines' is not allowed"),
                                 (bound, ("--containerlab",), "'ports' is not allowed"),
                                 (long, ("--containerlab",), f"device {name} cannot be a container name"),
                                 (plain + "mapper: {key: missing}\n", ("--containerlab",), "missing: No such file")):
            code, err, files = self.export(text, *words)
            self.assertEqual((code, files), (2 if "No such file" not in why else code, ["lab.yaml"]), err)
            self.assertIn(code, (2, 3))
            self.assertIn(why, err)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(2))
    labs.main(__doc__, ("ip", "podman", "runc"))
