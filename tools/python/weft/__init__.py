# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Experiments with Weft: runs, sweeps, labs, topologies and routes.

    import weft

    result = weft.run("topo/fat-tree-432.yaml", {"traffic.0.load": "80%"})
    sweep = weft.sweep("fat.yaml", {"traffic.0.load": weft.span("10%", "90%", "10%")},
                       seeds=range(1, 6), out="fat")
    sweep.mean[["traffic.0.load", "accepted", "accepted_ci95"]]
    weft.route("torus:dims=4x4", "bmin-itb").verify()
    with weft.lab("topo/lab-two-leaves.yaml") as lab:
        lab.run(duration="2s")
"""
import importlib
from typing import TYPE_CHECKING, Any

from .error import Error, Exit
from .quantity import span

if TYPE_CHECKING:
    from .experiments import Result, Sweep, read, run, sweep
    from .labs import Lab, lab
    from .networks import Routes, Topology, Verdict, route, topology

__all__ = ["Error", "Exit", "Lab", "Result", "Routes", "Sweep", "Topology", "Verdict"]
__all__ += ["lab", "read", "route", "run", "span", "sweep", "topology"]


def __getattr__(name: str) -> Any:
    """Commands do not import what only scripts need."""
    for module in ("experiments", "labs", "networks") if name in __all__ else ():
        found = importlib.import_module(f".{module}", __name__)
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
