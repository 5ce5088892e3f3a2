# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Experiments with Weft: runs and sweeps.

    import weft

    result = weft.run("topo/fat-tree-432.yaml", {"traffic.0.load": "80%"})
    sweep = weft.sweep("fat.yaml", {"traffic.0.load": weft.span("10%", "90%", "10%")},
                       seeds=range(1, 6), out="fat")
    sweep.mean[["traffic.0.load", "accepted", "accepted_ci95"]]
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .error import Error, Exit
from .quantity import span

if TYPE_CHECKING:
    from .experiments import Result, Sweep, read, run, sweep

__all__ = ["Error", "Exit", "Result", "Sweep", "read", "run", "span", "sweep"]


def __getattr__(name: str) -> Any:
    """Commands do not import what only scripts need."""
    if name in __all__:
        from . import experiments

        return getattr(experiments, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
