# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Instructions per packet of a switch, by the folder they were written in: callgrind counts two
runs of different length, what differs is the loop. Independent of everything else on the machine."""

import collections
import json
import re
import shutil
import subprocess

from .process import BenchError
from .programs import PORTS, weft_options

# Where an instruction comes from: by shared object, then by source file.
OBJECTS = [("librte_net_", "PMD")]
FILES = [("/lib/wire/", "check (lib/wire)"), ("/lib/switch/", "switch (lib/switch, lib/link)"),
         ("/lib/link/", "switch (lib/switch, lib/link)"), ("/pipelines/", "driver (pipelines)"),
         ("/lib/port/", "port (lib/port)"), ("/tests/bench/", "loop (tests/bench)"),
         ("/dpdk/", "inlined from DPDK headers"), ("rte_", "inlined from DPDK headers")]


def place(object_file, source):
    for pattern, name in OBJECTS:
        if pattern in object_file:
            return name
    if "weft-bench-switch" in object_file:
        for pattern, name in FILES:
            if pattern in source:
                return name
        return "headers of the C library and compiler" if "/usr/" in source else "other"
    return "DPDK libraries" if "librte" in object_file else "other libraries"


class Names:
    """callgrind's '(12) name', later only '(12)'."""

    def __init__(self):
        self.known = {}

    def resolve(self, text):
        match = re.match(r"\((\d+)\)(?: (.*))?", text)
        if match is None:
            return text
        if match[2] is not None:
            self.known[match[1]] = match[2]
        return self.known.get(match[1], "")


def read_callgrind(path):
    """Self cost by place. Lines after 'calls=' are the callee's, counted where it is."""
    names = {"ob": Names(), "fl": Names()}
    costs = collections.Counter()
    object_file = source = ""
    skip = False
    with open(path, errors="replace") as file:
        for line in file:
            key, equals, value = line.rstrip("\n").partition("=")
            if equals and key in ("ob", "cob"):
                name = names["ob"].resolve(value)
                object_file = name if key == "ob" else object_file
            elif equals and key in ("fl", "fi", "fe", "cfi", "cfl"):
                name = names["fl"].resolve(value)
                source = name if key in ("fl", "fi", "fe") else source
            elif key == "calls":
                skip = True
            elif line[:1] in "+-*0123456789" and not equals:
                fields = line.split()
                if not skip and len(fields) >= 2:
                    costs[place(object_file, source)] += int(fields[1])
                skip = False
    return costs


def run_once(setting, kind, frames):
    output = f"{setting.directory}/callgrind-{kind}-{setting.bytes}-{frames}"
    argv = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}",
            setting.tools.weft_switch, f"--lcores=0@{setting.core}", "--no-huge", "-m", "256",
            "--no-pci", "--no-telemetry"]
    for port in range(PORTS):
        argv += ["--vdev", setting.vdev(port, kind)]
    argv += ["--", *weft_options(setting, kind), "--frames", str(frames)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError("valgrind: " + (done.stderr.strip().splitlines() or ["failed"])[-1])
    counters = json.loads(done.stdout)["counters"]
    return read_callgrind(output), counters["data_out"]


def count_instructions(setting, kind, frames=100000):
    """{place: instructions per packet}; BenchError if valgrind is not there."""
    if not shutil.which("valgrind"):
        raise BenchError("instructions: no valgrind")
    once, packets_once = run_once(setting, kind, frames)
    twice, packets_twice = run_once(setting, kind, 2 * frames)
    packets = packets_twice - packets_once
    return {name: (twice[name] - once[name]) / packets
            for name in twice if (twice[name] - once[name]) / packets >= 0.05}
