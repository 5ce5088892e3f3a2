# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Open vSwitch with DPDK on the same ports, in a directory and a network namespace of its own (it makes
TAPs for its bridge): no service of the system is touched. Two forms: by IPv4 destination, as l3fwd, the job of a switch with a table (IPv4 because the
cache of exact flows tells only IP packets apart); and one flow per input port, which OVS handles by
its shortest way ('simple match')."""

import os
import shutil
import signal
import subprocess
import time

from .process import BenchError, Program

DAEMON = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
PORTS = 4


class OpenVSwitch(Program):
    def __init__(self, setting, by):
        name = f"ovs-{by}"
        self.setting, self.by = setting, by
        self.directory = f"{setting.directory}/{name}-{setting.device}-{setting.bytes}"
        self.database = f"unix:{self.directory}/db.sock"
        self.server = None
        env = dict(os.environ, **{key: self.directory for key in (
            "OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR")})
        super().__init__(name, ["unshare", "--net", DAEMON, self.database, "--no-chdir", "--pidfile",
                                "--unixctl=" + self.directory + "/vswitchd.ctl"],
                         setting.prefix(name), setting.log(name), PORTS, env=env)

    @staticmethod
    def missing():
        if not os.path.exists(DAEMON) or not shutil.which("ovsdb-server"):
            return "OVS: not installed (package openvswitch-switch-dpdk)"
        if os.geteuid() != 0:
            return "OVS: needs root"
        return None

    def call(self, *argv):
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, timeout=30,
                              check=False)
        if done.returncode != 0:
            raise BenchError(f"{self.name}: {argv[0]}: {done.stderr.strip().splitlines()[-1:]}")

    def vsctl(self, *argv):
        self.call("ovs-vsctl", f"--db={self.database}", "--timeout=20", *argv)

    def start(self):
        os.mkdir(self.directory)
        self.start_database()
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, env=self.env)
        self.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev",
                   "fail-mode=secure")
        self.set_flows()
        for port in range(PORTS):
            devargs = self.setting.vdev(port, "ipv4")
            self.vsctl("add-port", "br0", f"p{port}", "--", "set", "Interface", f"p{port}",
                       "type=dpdk", f"options:dpdk-devargs=\"{devargs}\"",
                       f"ofport_request={port + 1}")
        self.wait_until_forwarding()
        time.sleep(1)  # flows that were missed at first are in its caches now

    def start_database(self):
        self.call("ovsdb-tool", "create", f"{self.directory}/conf.db", SCHEMA)
        with open(self.log + ".db", "wb") as log:
            self.server = subprocess.Popen(
                ["ovsdb-server", f"{self.directory}/conf.db", f"--remote=p{self.database}",
                 f"--unixctl={self.directory}/ovsdb.ctl"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=self.env)
        deadline = time.monotonic() + 5
        while not os.path.exists(f"{self.directory}/db.sock") and time.monotonic() < deadline:
            time.sleep(0.02)
        setting = self.setting
        extra = f"--no-huge --legacy-mem -m 1024 --no-pci --file-prefix={self.prefix}"
        self.vsctl("--no-wait", "init")
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
                   f"other_config:dpdk-extra=\"{extra}\"",
                   f"other_config:dpdk-lcore-mask={hex(1 << setting.other_core)}",
                   f"other_config:pmd-cpu-mask={hex(1 << setting.core)}")

    def flows(self):
        """OpenFlow drops what would leave by the port it came in by, unless told so by name."""
        if self.by == "port":
            return [f"in_port={port + 1},actions=output:{(port ^ 1) + 1}" for port in range(PORTS)]
        flows = []
        for port in range(PORTS):
            match = f"ip,nw_dst=198.18.{port}.0/24"
            flows += [f"priority=1,{match},actions=output:{port + 1}",
                      f"priority=2,in_port={port + 1},{match},actions=in_port"]
        return flows

    def set_flows(self):
        path = f"{self.directory}/flows"
        with open(path, "w") as file:
            file.writelines(flow + "\n" for flow in self.flows())
        bridge = f"unix:{self.directory}/br0.mgmt"
        self.call("ovs-ofctl", "--timeout=20", "del-flows", bridge)
        self.call("ovs-ofctl", "--timeout=20", "add-flows", bridge, path)

    def stop(self):
        super().stop()
        if self.server is not None:
            self.server.send_signal(signal.SIGTERM)
            self.server.wait(5)
