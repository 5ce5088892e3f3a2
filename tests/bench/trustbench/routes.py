# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Routes: OpenSM computes some on a fabric that ibsim plays, and ibdmchk follows them and ours. None of the
three is ours."""

import glob
import re
import shutil
import subprocess

from routebench.fabric import PRELOAD, Fabric, missing_packages

from .cell import Cell, NotAble

HISTOGRAM = re.compile(r"LFT ROUTE HOP HISTOGRAM.*?NUM-CA-CA-PAIRS\n(.*?)\n---", re.S)
LOADS = re.compile(r"NUM-DLIDS NUM-SWITCH-PORTS\n(.*?)\n---", re.S)
LIMIT = 120  # seconds


class Report:
    """What ibdmchk says of two files. It says it and then crashes, so its text counts."""

    def __init__(self, folder, subnet, tables):
        if shutil.which("ibdmchk") is None:
            raise NotAble("no ibdmchk (Debian: ibutils)")
        done = subprocess.run(["ibdmchk", "-s", subnet, "-f", tables, "-m", "/dev/null"], cwd=folder, timeout=LIMIT,
                              capture_output=True, text=True, check=False)
        self.text = done.stdout
        scanned = re.search(r"Scanned:(\d+) CA to CA paths", self.text)
        if scanned is None:
            raise NotAble("ibdmchk follows no path")
        self.pairs = int(scanned.group(1))
        self.loops = "credit loops in routing" in self.text
        if not self.loops and "no credit loops found" not in self.text:
            raise NotAble("ibdmchk does not say whether there are credit loops")

    def table(self, pattern):
        return [tuple(map(int, line.split())) for line in pattern.search(self.text).group(1).splitlines()]

    def mean_hops(self):
        rows = self.table(HISTOGRAM)
        return round(sum(hops * pairs for hops, pairs in rows) / sum(pairs for _, pairs in rows), 6)

    def max_load(self):
        return max(destinations for destinations, _ in self.table(LOADS))


def ours(weft, topology, algorithm):
    weft.call(["route", "compute", topology, "--algorithm", algorithm, "--tables", "-o", "tables"],
              good=(0, 1))  # 1: they may deadlock
    weft.call(["route", "export", topology, "tables", "--format", "opensm", "-o", "ours"])
    verified = subprocess.run([str(weft.program), "route", "verify", topology, "tables"], cwd=weft.folder, timeout=LIMIT,
                              capture_output=True, check=False)
    return Report(weft.folder, "ours.lst", "ours.fdbs"), verified.returncode != 0


def opensm(weft, topology, engine):
    missing = missing_packages()
    if missing:
        raise NotAble(f"no {' '.join(missing)} (Debian packages)")
    weft.call(["topo", "export", topology, "--format", "ibnetdiscover", "-o", "net"])
    program = shutil.which("opensm") or "/usr/sbin/opensm"
    with Fabric(weft.folder, weft.folder / "net") as fabric:
        environment = {**fabric.environment, "LD_PRELOAD": glob.glob(PRELOAD)[0]}
        subprocess.run([program, "-o", "-f", str(weft.folder / "opensm.log"), "-D", "0x43", "--maxsmps", "32",
                        "--dump_files_dir", str(weft.folder), "-R", f"{engine},no_fallback"], env=environment,
                       cwd=weft.folder, timeout=LIMIT, capture_output=True, check=False)
    return Report(weft.folder, "opensm-subnet.lst", "opensm.fdbs")


def command(topology, algorithm):
    return f"weft route compute {topology} --algorithm {algorithm} --tables"


def hops_cell(topology, engine, algorithm):
    def measure(weft):
        return opensm(weft, topology, engine).mean_hops(), ours(weft, topology, algorithm)[0].mean_hops()

    return Cell(f"OpenSM {engine}", f"{algorithm} on {topology}: mean hops", ("equal",), measure,
                quick=True, command=command(topology, algorithm))


def load_cell(topology, engine, algorithm, factor):
    def measure(weft):
        return opensm(weft, topology, engine).max_load(), ours(weft, topology, algorithm)[0].max_load()

    return Cell(f"OpenSM {engine}", f"{algorithm} on {topology}: destinations of the busiest port", ("at most", factor),
                measure, quick=True, command=command(topology, algorithm))


def verdict_cell(topology, algorithm):
    """ibdmchk and 'weft route verify' agree on whether credits may loop."""
    def measure(weft):
        report, refused = ours(weft, topology, algorithm)
        return "loops" if report.loops else "free", "loops" if refused else "free"

    return Cell("ibdmchk", f"{algorithm} on {topology}: credit loops", ("equal",), measure,
                command=f"weft route verify {topology} TABLES")


def cells(_):
    trees = ("rlft:ports=8,stages=2", "rlft:ports=12,stages=3")
    others = ("torus:dims=4x4,hosts=2", "irregular:switches=32,hosts=4,seed=3", "irregular:switches=64,hosts=4,seed=1")
    for topology in (*trees, *others):
        yield hops_cell(topology, "minhop", "minhop")
    for topology in trees:
        yield hops_cell(topology, "ftree", "dmodk")
        yield load_cell(topology, "ftree", "dmodk", 1.0)
    for topology in others:
        yield load_cell(topology, "minhop", "minhop", 1.5)
    for topology in (*trees, *others, "hypercube:dims=4", "mesh:dims=3x5,hosts=2", "ring:switches=6"):
        for algorithm in ("ud", "dfs", "minhop"):
            yield verdict_cell(topology, algorithm)
