# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Experiments with Weft: runs, sweeps, labs, topologies and routes."""
from .error import Error, Exit

__all__ = ["Error", "Exit"]
