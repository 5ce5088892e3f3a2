# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A lab over the machines of a bench: its files, and 'weft lab' on all of them."""
import json
import os
import shlex
import signal
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

HELLO_MS = 500
UP_SECONDS = 90
HANG_SECONDS = 240 # emulated guests can take tens of seconds to show a status


class Wrong(Exception):
    """Weft does not do what is claimed."""


def topology_text(name, bench):
    lines = ["weft: topology/1", f"name: {name}", f"switches: [{{name: s0, ports: {bench.hosts}, stage: 1}}]",
             f"hosts: [{', '.join(f'{{name: h{i}}}' for i in range(bench.hosts))}]", "links:"]
    lines += [f"  - {{a: h{i}:0, b: s0:{i}}}" for i in range(bench.hosts)]
    lines += ["ports:"] + [f"  - {{port: {port}, dpdk: \"{address}\"}}" for port, address in bench.ports.items()]
    return "\n".join(lines) + "\n"


def lab_text(name, bench, mtu, load, eal):
    """Uniform and hot-spot traffic at the same time, in frames as large as nic.mtu."""
    groups = ", ".join(f"{group}: [{', '.join(hosts)}]" for group, hosts in bench.groups.items())
    edges = "\n".join(f"  - {{host: {host}, tap: wm{i}, namespace: {name}-{host}, address: {address(host)}/24}}"
                      for i, host in enumerate(bench.edges))
    spot = ", ".join(f"h{i}" for i in range(1, bench.hosts))
    words = ", ".join(json.dumps(word) for word in eal)
    return f"""weft: lab/1
name: {name}
topology: topology.yaml
links: {bench.links}
groups: {{{groups}}}
seed: 1
hello: {HELLO_MS}ms
switch: {{mtu: {mtu}}}
nic: {{mtu: {mtu}, retry: 1s, give-up: 60s}}
mapper: {{key: fabric.key}}
eal: [{words}]
edges:
{edges}
traffic:
  - {{pattern: uniform, from: all, to: all, load: {load}, message: {mtu}}}
  - {{pattern: hotspot, from: [{spot}], to: [h0], load: {load}, message: {mtu}}}
measure: {{duration: 10s}}
"""


def address(host):
    """The only one that the host's edge may have."""
    return f"10.87.0.{int(host[1:]) + 1}"


class Lab:
    def __init__(self, weft, bench, mtu, load, eal):
        self.weft, self.bench, self.mtu = weft, bench, mtu
        self.name = f"machines{os.getpid()}"
        self.folder = f"/tmp/weft-{self.name}"
        self.file = f"{self.folder}/lab.yaml"
        self.is_up = False
        for site in bench.sites:
            site.machine.must(f"mkdir -p {self.folder}")
            site.machine.put(self.file, lab_text(self.name, bench, mtu, load, eal).encode())
            site.machine.put(f"{self.folder}/topology.yaml", topology_text(self.name, bench).encode())
            site.machine.put(f"{self.folder}/fabric.key", 32 * b"5e" + b"\n")
            site.machine.must(f"chmod 600 {self.folder}/fabric.key")

    # --- commands ---

    def command(self, part, *more):
        return " ".join(shlex.quote(word) for word in (self.weft, "lab", part, self.file, *more))

    def on(self, site, part, *more, seconds=60):
        return site.machine.run(self.command(part, *more), seconds=seconds)

    def everywhere(self, part, *more, seconds=60, meanwhile=lambda: None):
        """At the same time on all machines, and meanwhile()."""
        runs = [site.machine.start(self.command(part, *more), seconds=seconds) for site in self.bench.sites]
        meanwhile()
        return [run.finish() for run in runs]

    def everywhere_well(self, part, *more, seconds=60):
        ended = self.everywhere(part, *more, seconds=seconds)
        for site, done in zip(self.bench.sites, ended):
            if done.code != 0:
                raise Wrong(f"{site.machine.name}: {done.said()}")
        return ended

    # --- up and down ---

    def check_ports(self):
        """'weft port check' on each machine, for its own processes; at the same time."""
        runs = [site.machine.start(shlex.join((self.weft, "port", "check", self.file, *(
            word for name in site.processes for word in ("--process", name)))), seconds=180) for site in self.bench.sites]
        return [run.finish() for run in runs]

    def try_up(self):
        """The result of 'up' on each machine; if one refuses, the others need not wait."""
        wait = ("--wait", f"{UP_SECONDS}s")
        runs = []
        for site in self.bench.sites:
            only = [] if site.all else [word for name in site.processes for word in ("--process", name)]
            runs.append(site.machine.start(self.command("up", *only, *wait), seconds=UP_SECONDS + 60))
        with ThreadPoolExecutor() as pool:
            for ended in as_completed([pool.submit(run.finish) for run in runs]):
                if ended.result().code != 0:
                    for other in runs:
                        if not other.is_over():
                            other.signal(signal.SIGINT)
        ended = [run.finish() for run in runs]
        self.is_up = all(done.code == 0 for done in ended)
        return ended

    def up(self):
        ended = self.try_up()
        for site, done in zip(self.bench.sites, ended):
            if done.code not in (0, 130):
                raise Wrong(f"{site.machine.name}: {done.said()}")

    def down(self):
        """Returns what is left on any machine."""
        self.is_up = False
        self.everywhere_well("down")
        return [f"{site.machine.name}: {line}" for site in self.bench.sites
                for line in self.leftovers(site.machine)]

    def leftovers(self, where):
        """The remains of a lab on a machine, a line for each."""
        paths = (f"/run/weft/{self.name}", f"/run/weft/{self.name}.lock", f"/var/run/dpdk/weft-{self.name}-*",
                 f"/dev/hugepages/*{self.name}*", f"/run/netns/*{self.name}*", "/sys/class/net/wm[0-9]*")
        done = where.must(f"pgrep -a 'weft-(switch|nic)' | grep -F {self.file} | sed 's/^/process /'; "
                          f"ls -d {' '.join(paths)} 2>/dev/null; true")
        return done.splitlines()

    def namespace(self, host):
        return f"{self.name}-{host}"

    def remove_processes(self):
        """Whatever came before."""
        self.is_up = False
        self.everywhere("down", seconds=30)

    def remove(self):
        self.remove_processes()
        for site in self.bench.sites:
            site.machine.run(f"rm -rf {self.folder}")

    # --- what it says ---

    def statuses(self):
        """By site."""
        documents = []
        for site, done in zip(self.bench.sites, self.everywhere("status", "--json")):
            try:
                documents.append(json.loads(done.out))
            except json.JSONDecodeError:
                raise Wrong(f"{site.machine.name}: {done.said()}") from None
            if "links" not in documents[-1]:
                raise Wrong(f"{site.machine.name}: the lab is not up: {done.said()}")
        return documents

    def links(self):
        return {link["port"]: link["state"] for status in self.statuses() for link in status["links"]}

    def all_up(self):
        links = self.links()
        return len(links) == 2 * self.bench.hosts and set(links.values()) == {"up"}

    def faults(self):
        """Counters that nobody wants to see, of all devices; in one line."""
        found = []
        for status in self.statuses():
            for devices in (status["switches"], status["nics"]):
                for device, counters in sorted(devices.items()):
                    found += [f"{device} {name} {counters[name]}" for name in (
                        "no_mbuf", "bad_length", "bad_crc", "transmit_lost", "discard_duplicate",
                        "messages_silent", "messages_unreachable", "messages_failed") if counters.get(name)]
            found += [f"{link['port']} {link['state']}" for link in status["links"] if link["state"] != "up"]
        return ", ".join(found) or "no faults are counted"

    def map(self):
        """The document of the mapper that leads, wherever it is; None: none does."""
        for site in self.bench.sites:
            if site.has_hosts():
                try:
                    document = json.loads(self.on(site, "map", "--json").out)
                except json.JSONDecodeError:
                    continue
                if not document.get("mapper_elsewhere"):
                    return document
        return None

    def differences(self):
        """Between the map and the file; None: there is no mapper."""
        document = self.map()
        return None if document is None else document["differences"]

    def pid(self, process):
        site = self.bench.site_of(process)
        status = json.loads(self.on(site, "status", "--json").out)
        return next(p["pid"] for p in status["processes"] if p["name"] == process)

    # --- waiting ---

    def wait(self, condition, what, seconds=HANG_SECONDS):
        deadline = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                raise Wrong(f"{what} after {seconds} s; {self.faults()}")

    def wait_whole(self):
        """Until all links are up and the mapper has found what the file says."""
        self.wait(self.all_up, "links are not up")
        self.wait(lambda: self.differences() == [], "the map is not the file's fabric")


def run_result(done):
    """The result document of a 'run --json -', or Wrong."""
    try:
        return json.loads(done.out)
    except json.JSONDecodeError:
        raise Wrong(done.said()) from None

