# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Topologies and their routes."""
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from typing import Any

from .asker import Shown, call, failure, must, options_of
from .error import Exit
from .files import write_file

PathName = str | os.PathLike[str]


class Topology(Shown):
    """A topology. json["links"] and json["ports"] describe its cables."""

    def __init__(self, source: str) -> None:
        self.source = source if not source.startswith("-") else f"./{source}"
        self.json: dict[str, Any] = json.loads(must(["topo", "show", "--json", self.source]))
        self.name: str = self.json["name"]
        self.switches: list[str] = [switch["name"] for switch in self.json["switches"]]
        self.hosts: list[str] = [host["name"] for host in self.json["hosts"]]

    def _figures(self) -> dict[str, str]:
        sizes = (len(self.switches), len(self.hosts), len(self.json["links"]))
        return {"name": self.name, **dict(zip(("switches", "hosts", "links"), map(str, sizes)))}


class Verdict(Shown):
    """The result of 'weft route verify'. It is true if all pairs of hosts are connected and packets
    cannot deadlock. json["cycle"] contains the ports of a cycle, json["link_load"] the routes per
    link."""

    def __init__(self, good: bool, json: dict[str, Any]) -> None:
        self.good, self.json = good, json
        self.connected: bool = json["connected"]
        self.deadlock_free: bool = json["deadlock_free"]

    def __bool__(self) -> bool:
        return self.good

    def _figures(self) -> dict[str, str]:
        return {
            "connected": "yes" if self.connected else "no",
            "deadlock-free": "yes" if self.deadlock_free else "no",
            "evidence": self.json["evidence"] or "-",
        }


class Routes(Shown):
    """Routes between the hosts of a topology, in a temporary file that is removed with the object."""

    def __init__(self, topology: Topology, algorithm: str, options: list[str], without: list[str]):
        self.topology, self.algorithm, self._without = topology, algorithm, without
        folder = tempfile.mkdtemp(prefix="weft-routes-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._path = f"{folder}/routes"
        words = ["route", "compute", "--json", f"--algorithm={algorithm}", *options, *without]
        done = call([*words, "-o", self._path, topology.source])
        # Routes that may deadlock are accepted; verify() finds the cycle.
        if done.returncode > Exit.BAD_ANSWER or not os.path.exists(self._path):
            raise failure(done)
        self.json: dict[str, Any] = json.loads(done.stdout)

    def verify(self) -> Verdict:
        """Checks that the routes connect all hosts and that packets cannot deadlock."""
        words = ["route", "verify", "--json", *self._without]
        done = call([*words, self.topology.source, self._path])
        if not done.stdout:
            raise failure(done)
        return Verdict(done.returncode == Exit.DONE, json.loads(done.stdout))

    def save(self, path: PathName) -> None:
        """Writes a route file for the key routing.file of a run file."""
        with open(self._path, "rb") as file:
            write_file(os.fspath(path), file.read())

    def _figures(self) -> dict[str, str]:
        return {
            "topology": self.topology.name,
            "algorithm": self.algorithm,
            "routes": str(self.json["routes"]),
        }


def topology(source: PathName) -> Topology:
    """Returns the topology of a file or a generator.

    >>> net = topology("torus:dims=4x4")
    >>> net
    Topology(name torus-4x4-1, switches 16, hosts 16, links 48)
    >>> topology("torus:dims=0x4").hosts
    Traceback (most recent call last):
    weft.error.Error: torus:dims=0x4: dims=0x4: expected sizes such as 4x4, 1 to 8 of them, each 1 to 65535
    """
    return Topology(os.fspath(source))


def route(
    topology: Topology | PathName,
    algorithm: str,
    *,
    without: Sequence[str] = (),
    **options: str | int | bool,
) -> Routes:
    """Computes routes with an algorithm such as "ud-itb". 'without' lists failed links, switches
    and hosts' links. Other options, such as seed, root and alternatives, are as in weft-route(1).

    >>> routes = route("torus:dims=4x4", "bmin-itb", seed=2)
    >>> routes.verify()
    Verdict(connected yes, deadlock-free yes, evidence -)
    >>> bool(route(topology("torus:dims=4x4"), "minhop").verify())
    False
    """
    known = topology if isinstance(topology, Topology) else Topology(os.fspath(topology))
    return Routes(known, algorithm, options_of(options), [f"--without={name}" for name in without])
