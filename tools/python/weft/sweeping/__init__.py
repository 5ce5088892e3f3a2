# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Sweeps of runs over values of their keys and over seeds."""
