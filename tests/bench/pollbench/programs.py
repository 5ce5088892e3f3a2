# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The programs that are compared, and their command lines: the same ports, one loop on one core."""

import os
import shutil

from .ovs import OpenVSwitch
from .process import Program

PORTS = 4


class Setting:
    """Shared by all programs of one comparison."""

    def __init__(self, device, wire_bytes, core, other_core, directory, tools):
        self.device = device                # net_pcap or net_ring
        self.wire_bytes = wire_bytes        # with FCS: 64, 1500
        self.bytes = wire_bytes - 4         # as programs count
        self.core, self.other_core = core, other_core
        self.directory, self.tools = directory, tools

    @property
    def title(self):
        return f"{self.device}, {self.wire_bytes} bytes"

    @property
    def seed_frames(self):
        """Per net_ring port: what its buffer of 1,023 blocks holds with room to move."""
        return 128 if self.wire_bytes == 64 else 32

    def pcap(self, kind, port):
        # With adaptive routing the frames are the same, it is the switch that differs.
        kind = "table" if kind == "adaptive" else kind
        return f"{self.directory}/{kind}-{self.bytes}-{port}.pcap"

    def vdev(self, port, kind):
        if self.device == "net_ring":
            return f"net_ring{port}"
        return f"net_pcap{port},rx_pcap={self.pcap(kind, port)},infinite_rx=1"

    def eal(self, prefix, kind, main_apart=False):
        """EAL's part of a command line; lcore 1 is the one that forwards if 'main_apart'."""
        lcores = f"0@{self.other_core},1@{self.core}" if main_apart else f"0@{self.core}"
        argv = [f"--lcores={lcores}", "--no-huge", "-m", "512", "--no-pci",
                f"--file-prefix={prefix}"]
        for port in range(PORTS):
            argv += ["--vdev", self.vdev(port, kind)]
        return argv

    def prefix(self, name):
        return f"bench{os.getpid()}-{name}"

    def log(self, name):
        return f"{self.directory}/{name}-{self.device}-{self.bytes}.log"


def weft_options(setting, kind):
    """Everything of a switch in force: two VCs with credits, VOQs, table or source route, watchdog;
    'adaptive': by table, with detector, notifications and a third VC for adapted flows.
    A held program must not take its neighbours for dead: long hellos."""
    queues = ["--vcs", "2", "--adaptive"] if kind == "adaptive" else ["--vcs", "2"]
    options = [*queues, "--hosts", "256", "--mtu", "1500B"]
    if setting.device == "net_ring":
        return options + ["--seed-frames", str(setting.seed_frames),
                          "--frame-bytes", str(setting.bytes)]
    return options + ["--open"]


def weft(setting, kind):
    name = f"weft-{kind}"
    prefix = setting.prefix(name)
    argv = [setting.tools.weft_switch, *setting.eal(prefix, kind), "--",
            *weft_options(setting, kind)]
    return Program(name, argv, prefix, setting.log(name), PORTS)


def macswap(setting):
    prefix = setting.prefix("macswap")
    argv = ["dpdk-testpmd", *setting.eal(prefix, "table", main_apart=True), "--",
            "--forward-mode=macswap", "--nb-cores=1", "--total-num-mbufs=16384",
            "--no-lsc-interrupt"]
    keyboard = None
    if setting.device == "net_ring":
        argv += ["--interactive", f"--txpkts={setting.bytes}"]
        keyboard = f"start tx_first {setting.seed_frames // 32}\n"
    else:
        argv.append("--auto-start")
    return Program("macswap", argv, prefix, setting.log("macswap"), PORTS, keyboard)


def l3fwd(setting):
    prefix = setting.prefix("l3fwd")
    rules4, rules6 = f"{setting.directory}/rules4", f"{setting.directory}/rules6"
    with open(rules4, "w") as rules:
        rules.writelines(f"R198.18.{port}.0/24 {port}\n" for port in range(PORTS))
    with open(rules6, "w") as rules:
        rules.write("R2001:200::/48 0\n")
    config = ",".join(f"({port},0,0)" for port in range(PORTS))
    argv = [setting.tools.l3fwd, *setting.eal(prefix, "ipv4"), "--", "-P", "-p", hex(2**PORTS - 1),
            "--lookup", "lpm", "--rule_ipv4", rules4, "--rule_ipv6", rules6, "--parse-ptype",
            "--config", config]
    return Program("l3fwd", argv, prefix, setting.log("l3fwd"), PORTS)


def comparison(setting):
    """The programs for one kind of ports, and why others are missing."""
    programs, missing = [weft(setting, "table")], []
    if setting.device == "net_pcap":
        programs += [weft(setting, "source"), weft(setting, "adaptive")]
    else:
        missing.append("weft-source on net_ring: a source route is used up after some rounds")
    if shutil.which("dpdk-testpmd"):
        programs.append(macswap(setting))
    else:
        missing.append("macswap: no dpdk-testpmd (package dpdk-dev)")
    if setting.device == "net_ring":
        missing.append("l3fwd, OVS on net_ring: neither can send the first frames")
        return programs, missing
    if setting.tools.l3fwd:
        programs.append(l3fwd(setting))
    else:
        missing.append("l3fwd: Debian does not ship it; build DPDK's examples/l3fwd and give it "
                       "with --l3fwd")
    why = OpenVSwitch.missing()
    if why:
        missing.append(why)
    else:
        programs += [OpenVSwitch(setting, by) for by in ("destination", "port")]
    return programs, missing
