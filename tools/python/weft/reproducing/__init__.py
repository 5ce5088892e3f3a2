# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft reproduce: figures and tables of papers, published numbers beside those of Weft."""
