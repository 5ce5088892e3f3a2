# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The tests' own NIC (fake_nic.h) under unaware programs: the plug-in where EAL loads it, cables in files, labs on
them."""
import os
import shutil
import struct
import tempfile

import labs

# The counters of an end of a cable, from byte 128 of its file on for a, from 256 on for b.
WORDS = ("sent", "received", "segmented", "kept", "kept_max", "missed")


class Plugin:
    """A copy that only its owner can write; otherwise EAL does not load it."""

    def __init__(self, path):
        self.folder = tempfile.mkdtemp(prefix="weft-fake-", dir="/run")
        self.path = shutil.copy(path, self.folder)

    def remove(self):
        shutil.rmtree(self.folder)


class Cables:
    """Files in memory, for the ends of cables 0, 1, …"""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="wf", dir="/dev/shm")

    def path(self, number):
        return f"{self.folder}/{number}"

    def device(self, number, end, arguments=""):
        """The port's name for EAL and in a topology. Its number is unique to cable and end, so that one process may
        have both ends."""
        return (f"net_fake{2 * number + (end == 'b')},cable={self.path(number)},end={end}"
                + (f",{arguments}" if arguments else ""))

    def cut(self, number, cut=True):
        with open(self.path(number), "r+b") as file:
            file.write(struct.pack("=I", cut))

    def shown(self, number, end):
        with open(self.path(number), "rb") as file:
            file.seek(256 if end == "b" else 128)
            return dict(zip(WORDS, struct.unpack("=6Q", file.read(48))))

    def remove(self):
        shutil.rmtree(self.folder)


class FakeLab(labs.Lab):
    """A switch of four ports with a host at each, which share a process: two processes, eight NICs.
    'switch' and 'hosts' are the arguments of their NICs, for all ports or as a function of the port.
    Cable i is that of host i, end a the host's."""

    PORTS = range(4)
    def __init__(self, weft_tool, plugin, tag, switch="", hosts="", more="", clock="dilation: 20"):
        self.cables = Cables()
        ports = "".join(f'  - {{port: {port}, dpdk: "{self.cables.device(i, end, arguments)}"}}\n'
                        for i in self.PORTS
                        for port, end, arguments in ((f"h{i}:0", "a", self.of(hosts, i)),
                                                     (f"s0:{i}", "b", self.of(switch, i))))
        hosts_list = ", ".join(f"{{name: h{i}}}" for i in self.PORTS)
        links = "".join(f"  - {{a: h{i}:0, b: s0:{i}}}\n" for i in self.PORTS)
        topology = ("weft: topology/1\nname: star\nlink: {rate: 10Gbps, delay: 30ns}\n"
                    "switches: [{name: s0, ports: 4, stage: 1}]\n"
                    f"hosts: [{hosts_list}]\nlinks:\n{links}ports:\n{ports}")
        super().__init__(weft_tool, tag, f"""topology: topology.yaml
links: dpdk
eal: ["-d", "{plugin.path}"]
seed: 1
{clock}
traffic: [{{pattern: uniform, from: all, load: 12%, message: 16KiB}}]
measure: {{duration: 25ms, sample: 5ms}}
{more}""", {"topology.yaml": topology})

    @staticmethod
    def of(arguments, port):
        return arguments if isinstance(arguments, str) else arguments(port)

    def ends(self, end):
        """Returns the counters of the switch's NICs (end b), or of the hosts' (a)."""
        return [self.cables.shown(i, end) for i in self.PORTS]

    def remove(self):
        super().remove()
        self.cables.remove()
