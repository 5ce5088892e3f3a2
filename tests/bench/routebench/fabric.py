# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A simulated InfiniBand fabric, and what the routing phase of one OpenSM run on it takes.

OpenSM (umad2sim preloaded) discovers the fabric that ibsim plays, then computes the tables, then
sends them. Only the middle is its routing phase. Its log has a time in microseconds on each line:
"building routing with" begins the phase, the first request to set something in the fabric ends it,
because OpenSM asks for nothing while it computes. These two are the only lines that are logged in
between, so that the log costs nothing."""

import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

PACKAGES = ("opensm", "ibsim-utils", "libumad2sim0")
PRELOAD = "/usr/lib/*/umad2sim/libumad2sim.so"
DAY = 24 * 3600
# Modules and their levels: 1 errors, 2 information, 4 the beginning, 8 requests.
LEVELS = "osm_ucast_mgr.c 0x07\nosm_req.c 0x0b\n"
CLOCK = re.compile(rb"^\w+ +\d+ (\d+):(\d+):(\d+) (\d+) \[\w+\] 0x(\w+) -> (.*)")


class FabricError(Exception):
    """Says in one line what this machine could not do."""


def missing_packages():
    there = {"opensm": shutil.which("opensm", path=os.environ["PATH"] + ":/usr/sbin"),
             "ibsim-utils": shutil.which("ibsim"), "libumad2sim0": glob.glob(PRELOAD)}
    return [name for name in PACKAGES if not there[name]]


class Run:
    """The result of one run of OpenSM: the seconds of its routing phase, or its own message if there was
    none. 'at_least': seconds after which it was ended while it still computed."""

    def __init__(self, seconds, reason=None, at_least=None):
        self.seconds, self.reason, self.at_least = seconds, reason, at_least


class Fabric:
    """ibsim with one network; a new one for each run, because it remembers what was configured."""

    def __init__(self, directory, netfile):
        self.directory, self.netfile = pathlib.Path(directory), netfile
        self.nodes, self.ports, self.first_host, self.first_switch = scan(netfile)
        self.socket = f"weft-{os.getpid()}"
        self.environment = {**os.environ, "IBSIM_SOCKNAME": self.socket,
                            "OSM_TMP_DIR": str(directory), "OSM_CACHE_DIR": str(directory),
                            "SIM_HOST": self.first_host}
        self.process = None

    def __enter__(self):
        with open(self.directory / "ibsim.log", "wb") as log:
            self.process = subprocess.Popen(
                ["ibsim", "-s", "-n", "-N", str(self.nodes), "-S", str(self.nodes), "-P",
                 str(self.ports), "-L", "49151", str(self.netfile)], stdout=log, stderr=log, env=self.environment,
                cwd=self.directory)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            if self.socket in pathlib.Path("/proc/net/unix").read_text():
                return self
            time.sleep(0.05)
        self.__exit__()
        raise FabricError("ibsim does not start: " + last_line(self.directory / "ibsim.log"))

    def __exit__(self, *_):
        stop(self.process)

    def route(self, engine, rooted, limit):
        """Runs OpenSM with this engine alone, until its tables are there, it gives up, or 'limit'
        seconds have passed. 'rooted': it is told that the first switch is the root."""
        modules, options = self.directory / "levels", self.directory / "opensm.conf"
        roots = self.directory / "roots"
        modules.write_text(LEVELS)
        roots.write_text(self.first_switch + "\n")
        options.write_text(f"per_module_logging_file {modules}\n")
        extra = ["--root_guid_file", str(roots)] if rooted else []
        environment = {**self.environment, "LD_PRELOAD": glob.glob(PRELOAD)[0]}
        opensm = shutil.which("opensm", path=os.environ["PATH"] + ":/usr/sbin")
        process = subprocess.Popen(
            [opensm, "-F", str(options), "-o", "-f", "stdout", "-D", "0x03", "--maxsmps", "32",
             "--dump_files_dir", str(self.directory), "-R", f"{engine},no_fallback", *extra],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
            cwd=self.directory)  # umad2sim leaves a folder where it runs
        # Its output need not come to an end by itself.
        signal.signal(signal.SIGALRM, lambda *_: process.kill())
        signal.alarm(limit)
        try:
            return follow(process.stdout)
        finally:
            signal.alarm(0)
            stop(process)
            process.stdout.close()


def follow(log):
    """Reads the log up to the end of the first attempt to route."""
    start = None
    said = []
    since = time.monotonic()
    for line in log:
        if start is None and b"building routing" not in line:
            continue
        match = CLOCK.match(line)
        if match is None:
            continue
        text = match.group(6).decode(errors="replace").strip()
        if start is None:
            start, since = clock(match), time.monotonic()
        elif "osm_prepare_req_set" in text or "tables configured" in text:
            return Run((clock(match) - start) % DAY)
        elif "building routing" in text or "cannot build" in text:
            return Run(None, reason(said + [text]))
        elif match.group(5) in (b"01", b"02"):
            said.append(text)
    waited = time.monotonic() - since
    if start is None:
        return Run(None, f"no end of its discovery after {waited:.0f} s")
    return Run(None, f"no tables after {waited:.0f} s", waited)


def clock(match):
    hours, minutes, seconds, microseconds = (int(match.group(i)) for i in range(1, 5))
    return hours * 3600 + minutes * 60 + seconds + microseconds * 1e-6


def reason(said):
    """The first error, else the last line, without the function's name."""
    errors = [text for text in said if "ERR" in text]
    others = [text for text in said if "cannot build" not in text]
    text = (errors or others[-1:] or said[-1:])[0]
    return re.sub(r"^\w+: +", "", text)


def scan(netfile):
    """Nodes and ports, which ibsim wants to know beforehand, with something to spare; the first
    host, where OpenSM runs; the GUID of the first switch."""
    nodes, ports, host, switch = 16, 64, None, None
    with open(netfile) as lines:
        for line in lines:
            node = re.match(r'(Switch|Ca)\s+(\d+) "([^"]+)"', line)
            guid = re.match(r"switchguid=(0x[0-9a-f]+)", line)
            if guid and switch is None:
                switch = guid.group(1)
            if node:
                nodes += 1
                ports += int(node.group(2)) + 1
                host = host or (node.group(3) if node.group(1) == "Ca" else None)
    return nodes, ports, host, switch


def stop(process):
    if process is None or process.poll() is not None:
        return
    process.kill()  # nothing of it is kept, and on a gentler signal both think for two seconds
    process.wait()


def last_line(path):
    lines = path.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
