# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The published figures: 'weft reproduce' compares them one by one; a cell counts those within its bounds."""

import json

from .cell import Cell, NotAble

# Experiment, paper, whether --quick, the share of rows that must be within the experiment's own bounds, whether the test
# suite runs it. The pages of the reproductions discuss each row that is not; a share may fall no further. Within bounds are
# 10 of 12 rows in table 6, 15 of 26 in afi-figure-5 with --quick and 17 without, 1 of 3 in drb-figure-8 and 3 with --quick,
# and 1 of 2 in drb-figure-10, where drb-cn over iba-cc is not. Rows without a published value are not counted.
EXPERIMENTS = (
    ("table-6", "Flich 2001", False, 0.8, False),
    ("table-15", "Flich 2001", False, 0.8, False),
    ("figure-77", "Flich 2001", True, 0.9, False),
    ("afi-figure-5", "Rocher-Gonzalez 2019", True, 0.55, False),
    ("afi-figure-6", "Rocher-Gonzalez 2019", True, 0.6, False),
    ("arn-figure-6", "Rocher-Gonzalez 2021", True, 0.85, False),
    ("arn-figure-8", "Rocher-Gonzalez 2021", True, 0.9, False),
    ("drb-figure-1", "Lugones 2007", False, 1, True),
    ("drb-figure-8", "Lugones 2007", False, 0.3, False),
    ("drb-figure-8-latency", "Lugones 2007", False, 0.85, False),
    ("drb-figure-10", "Lugones 2007", False, 0.5, True),
    ("pr-drb-figure-4", "Nunez 2010", False, 1, False),
    ("pr-drb-figure-5", "Nunez 2010", False, 1, True),
    ("pr-drb-figure-5-time", "Nunez 2010", False, 1, True),
)


def is_published(row):
    """Not a bound of our own, which 'published' has without a number and without words."""
    return any(row["published"].get(key) is not None for key in ("min", "max", "mean", "words"))


def experiment_cell(name, paper, quick, share, suite):
    words = ["reproduce", name, "--json", *(["--quick"] if quick else [])]

    def measure(weft):
        found = json.loads(weft.call(words, good=(0, 1)))
        if found["failed"]:
            raise NotAble(f"{found['failed']} runs failed")
        within = [row["within"] for row in found["rows"] if row.get("within") is not None and is_published(row)]
        if not within:
            raise NotAble("no row has a bound")
        return len(within), sum(within)

    return Cell(paper, f"{name}: values within their bounds", ("at least", share), measure, quick=suite,
                command="weft " + " ".join(words))


def cells(_):
    for experiment in EXPERIMENTS:
        yield experiment_cell(*experiment)
