# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Sweeps of a run file over values of its keys and over seeds."""
