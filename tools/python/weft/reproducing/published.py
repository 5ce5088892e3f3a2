# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The numbers that a paper has printed, from CSV (docs/how-to/reproduce-a-figure.md):

    [definition,]quantity,case,network,algorithm,over,min,max,mean[,words]

An empty number was not printed. Rows with a minimum or maximum and no mean are bounds. With 'words',
which the paper has in place of a number, the numbers are Weft's reading of them; with '-' as words
they are bounds that no paper has.
"""
import math
from dataclasses import dataclass

from ..error import Error, naming
from .definition import BLOCKED, COMPLETION, RUN_TITLES, SATURATION, Definition

HEADER = "quantity,case,network,algorithm,over,min,max,mean"
WORDS_MAX = 39
# Quantity: the heading of its rows. {0}: the measure; {1}: the number in the quantity's name.
QUANTITIES = {
    "factor": "factor of {0}",
    "percent": "increase of {0}, per cent",
    "value": "{0}",
    "max": "maximum {0} of a link, per cent",
    "min": "minimum {0} of a link, per cent",
    "below": "links with a {0} below {1} %, per cent",
    "above": "links with a {0} above {1} %, per cent",
    "before": "efficiency before the hot spot",
    "minimum": "minimum efficiency in the hot spot",
    "at": "efficiency {1} ms into the hot spot",
    "end": "efficiency at the end of the hot spot",
    "back": "time to recover, ms",
    "slowdown": "slowdown beside the other case",
    "after": "mean latency after {1} thousandths of the messages, away from the final one, per cent",
    "interval": "95 % interval of the {0}, per cent of the mean",
    "traffic-interval": "95 % interval of the accepted traffic, per cent of the mean",
}
FACTORS = ("factor", "percent")
LINK_QUANTITIES = ("max", "min", "below", "above")
TRANSIENT = ("before", "minimum", "at", "end", "back")
NUMBERED = {"below": "below", "above": "above", "after": "thousandths", "at": "ms"}  # its JSON key
VALUES = {
    SATURATION: "productivity, flits/ns/switch",
    "latency": "latency, ns",
    "waiting": "messages that wait at the host with most",
    "links": "traffic, flits/ns/switch",
    "blocked": "traffic, flits/ns/switch",
    "settling": "mean latency, ns",
    "efficiency": "efficiency of the run",
    "throughput": "accepted at full load",
    **RUN_TITLES,
    COMPLETION: "time of the schedule, ms",
}


@dataclass
class Row:
    """A row of the file. 'limit': the number in the quantity's name."""

    quantity: str
    limit: int
    case: str
    network: str
    algorithm: str
    over: str  # an algorithm, of a slowdown a case
    min: float
    max: float
    mean: float
    words: str

    @property
    def is_link(self) -> bool:
        return self.quantity in LINK_QUANTITIES

    @property
    def is_relative(self) -> bool:
        """Returns whether the row compares the algorithm with another one."""
        return self.quantity in FACTORS or self.quantity in TRANSIENT and bool(self.over)

    @property
    def is_claim(self) -> bool:
        """Returns whether the row is only a bound, without a mean."""
        return math.isnan(self.mean) and not (math.isnan(self.min) and math.isnan(self.max))

    @property
    def is_number(self) -> bool:
        return not math.isnan(self.mean) and not self.words

    def kind(self, definition: Definition) -> str:
        """Returns the heading of its table, such as "factor of productivity"."""
        what = definition.measure
        if self.quantity == "value":
            what = VALUES[what]
        elif self.is_link:
            what = "blocked time" if what == BLOCKED else "utilisation"
        elif what == SATURATION:
            what = "productivity"  # the thesis' word
        return QUANTITIES[self.quantity].format(what, self.limit)


def _row(cells: list[str]) -> Row:
    """Returns the row. Raises ValueError if the cells are not a row."""
    text, case, network, algorithm, over, *ends = cells
    words = ends.pop() if len(ends) == 4 else ""
    low, high, mean = (float(end or "nan") for end in ends)
    name, _, digits = (text, "", "0") if text in QUANTITIES else text.partition("-")
    row = Row(name, int(digits), case, network, algorithm, over, low, high, mean, words)
    known = name in NUMBERED if name != text else name in QUANTITIES and name not in NUMBERED
    limit = 1000 if name == "after" else 10**9
    needs = row.is_relative or name == "slowdown"
    wrong = name not in TRANSIENT and needs != bool(over) or len(words) > WORDS_MAX
    if not known or wrong or not digits.isdecimal() or row.limit > limit:
        raise ValueError
    if any(end and not math.isfinite(float(end)) for end in ends):
        raise ValueError
    return row


def load(definition: Definition) -> list[Row]:
    """Returns the rows for the networks, cases and algorithms of the definition."""
    path, rows = definition.published, []
    networks, cases, algorithms = ({c.name for c in choices} for choices in definition.lists)
    with naming(path), open(path, encoding="utf-8", errors="replace") as file:
        lines = [(at, line.rstrip("\n")) for at, line in enumerate(file, 1)]
    (first, head), *lines = [one for one in lines if one[1] and one[1][0] != "#"] or [(1, "")]
    whole = head.startswith("definition,")
    if not head.removeprefix("definition,").startswith(HEADER):
        raise Error(f"{path}:{first}: expected '{HEADER}'")
    for at, line in lines:
        cells = line.split(",")
        if whole and cells.pop(0) != definition.name:
            continue
        try:
            row = _row(cells)
        except ValueError:
            raise Error(f"{path}:{at}: expected a row of '{HEADER}'") from None
        over = cases if row.quantity == "slowdown" else algorithms
        known = row.network in networks and row.case in cases and row.algorithm in algorithms
        if known and (not row.over or row.over in over):
            rows.append(row)
    if not rows and definition.counts_messages:
        raise Error(f"{path}: no row for this experiment")
    return rows
