# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The texts of a comparison's rows and curves, for the tables on a terminal and in Markdown."""
from __future__ import annotations

import math
from collections.abc import Sequence

from ..interval import mean_of
from .comparison import Compared, Comparison
from .courses import AFTER, AFTER_CRT
from .definition import COMPLETION, EFFICIENCY, THROUGHPUT, Definition
from .published import LINK_QUANTITIES, NAN, Row
from .trial import Trial

PLAIN = ("factor", "percent", "value", *LINK_QUANTITIES)  # show a minimum equal to the maximum


def subject(row: Row) -> str:
    """ "UD_ITB", "UD_ITB / UD"."""
    return f"{row.algorithm} / {row.over}" if row.is_relative else row.algorithm


def network(row: Row) -> str:
    """The network and the case."""
    return ", ".join(filter(None, (row.network, row.case)))


def _bound_digits(quantity: str, bound: float) -> int:
    """Decimals of a bound: two, or for a value up to four, as its paper prints."""
    digits = 2
    while quantity == "value" and digits < 4:
        scaled = bound * 10**digits
        if abs(scaled - round(scaled)) <= 1e-6:
            break
        digits += 1
    return digits


def numbers(quantity: str, low: float, high: float, mean: float) -> str:
    """ "1.42 (1.27..1.56)"."""
    if math.isnan(mean):
        if not math.isnan(low) and not math.isnan(high):
            return f"{low:.2f} to {high:.2f}"
        for words, bound in (("at least", low), ("at most", high)):
            if not math.isnan(bound):
                return f"{words} {bound:.{_bound_digits(quantity, bound)}f}"
        return "-"
    if math.isinf(mean):
        return "never"
    digits = 2
    if quantity == "value":
        digits = 4 if mean < 10 and mean != math.floor(mean) else 0
    alone = math.isnan(low) or math.isnan(high) or math.isinf(low)
    if alone or quantity not in PLAIN and low == high:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ({low:.{digits}f}..{high:.{digits}f})"


class Cells:
    """The texts of a row."""

    def __init__(self, one: Compared) -> None:
        row = one.row
        self.network, self.subject = network(row), subject(row)
        self.reading = ""
        self.theirs = numbers(row.quantity, row.min, row.max, row.mean)
        if row.words:
            self.reading = self.theirs
            self.theirs = "-" if row.words == "-" else f"'{row.words}'"
        ends = (one.min, one.max) if one.instances > 1 else (NAN, NAN)
        self.ours = numbers(row.quantity, *ends, one.mean)
        self.mean = numbers(row.quantity, NAN, NAN, one.mean)
        finite = one.instances > 0 and math.isfinite(one.ratio)
        self.ratio = f"{one.ratio:.2f}" if finite else "-"
        spread = row.is_relative and math.isfinite(one.half)
        self.spread = f"{one.half:.2f}" if spread else ""
        self.match = _match(one)


def _match(one: Compared) -> str:
    if one.instances == 0:
        return "not measured"
    if not one.is_whole:
        return f"{one.instances} of {one.wanted} measured"
    if not one.checked:
        return ""
    if one.row.is_claim:
        return "holds" if one.within else "does not hold"
    return "near" if one.within else "apart"


# Name in documents and heading in tables of the course of a trial around its hot spot.
COURSE = {
    "deliverable": "possible",
    "before": "before",
    "minimum": "minimum",
    "at_8ms": f"+{AFTER} ms",
    "at_13ms": f"+{AFTER_CRT} ms",
    "end": "end",
    "back_ms": "back, ms",
}


def course(trial: Trial) -> list[float]:
    """Shares of the hosts' links, and the time to recover in the paper's ms: infinity for never."""
    found, unit_ns = trial.transient, trial.definition.unit_ns
    return [
        found.deliverable,
        found.before(),
        found.minimum(),
        found.at(AFTER * unit_ns),
        found.at(AFTER_CRT * unit_ns),
        found.end(),
        found.back_ns() / unit_ns,
    ]


def heads(trial: Trial) -> list[str]:
    """The columns of a curve. Trials of an experiment that have ended have the same."""
    measure = trial.definition.measure
    if measure == EFFICIENCY:
        return list(COURSE.values())
    if measure == THROUGHPUT:
        return [f"{100 * point.load:.0f} %" for point in trial.points]
    return ["time, ms" if measure == COMPLETION else measure]


def curve(trial: Trial) -> list[float]:
    """The numbers of a curve."""
    if trial.definition.measure == EFFICIENCY:
        return course(trial)
    if trial.definition.measure == THROUGHPUT:
        return [point.accepted for point in trial.points]
    return [trial.value]


def _digits(what: Definition, column: int) -> int:
    """Times to recover have one digit, shares three."""
    return 1 if what.measure == EFFICIENCY and column == len(COURSE) - 1 else 3


def _curve_cell(value: float, digits: int) -> str:
    if math.isnan(value):
        return "-"
    return "never" if math.isinf(value) else f"{value:.{digits}f}"


def curve_cells(trial: Trial) -> list[str]:
    """ "0.850"; "-": there is none."""
    return [
        _curve_cell(value, _digits(trial.definition, column))
        for column, value in enumerate(curve(trial))
    ]


def mean_cells(trials: Sequence[Trial], wanted: int) -> list[str]:
    """The same over several instances: "0.850 ± 0.012"; "8.5 (3 of 4)" if not all of 'wanted' have
    the number."""
    cells = []
    for column, values in enumerate(zip(*map(curve, trials))):
        digits = _digits(trials[0].definition, column)
        finite = [value for value in values if math.isfinite(value)]
        mean, half = mean_of(finite)
        if not finite:
            cells.append(_curve_cell(values[0], digits))
        elif len(finite) < wanted:
            cells.append(f"{mean:.{digits}f} ({len(finite)} of {wanted})")
        elif math.isnan(half):
            cells.append(f"{mean:.{digits}f}")
        else:
            cells.append(f"{mean:.{digits}f} ± {half:.{digits}f}")
    return cells


def _latency_limit(what: Definition) -> str:
    text, defined = "", what.defined[2]
    if what.latency_limit > 0:
        text = f"; saturated above a mean latency of {what.latency_limit / 1e6:.4g} us"
    elif defined > 0:
        text = "; not saturated by any latency"
    if what.latency_limit != defined:
        text += f" (the definition: {defined / 1e6:.4g} us)"
    return text


def extent(what: Definition) -> str:
    """A line with the messages of each run, beside those of the definition if they differ, and the
    instances that were asked for; "" if there is neither."""
    text = ""
    if what.counts_messages:
        text = f"Each run: {what.warmup} messages discarded, {what.messages} measured"
        if (what.warmup, what.messages) != what.defined[:2]:
            text += f" (the full run: {what.defined[0]}, {what.defined[1]})"
    text += _latency_limit(what)
    if what.instances > 0:
        text += "; " if what.counts_messages else ""
        text += f"{what.instances} instances of each network"
    return f"{text}.\n" if what.counts_messages or what.instances > 0 else text


def counts(found: Comparison) -> str:
    """ "12 of 14 published means within 10 %; ... orders not as published"."""
    per_cent, text = f"{found.definition.tolerance / 1e4:.4g} %", ""
    rows = len(found.rows)
    if found.means > 0:
        text += f"{found.near} of {found.means} published means within {per_cent}; "
    if found.claims > 0:
        text += f"{found.held} of {found.claims} bounds and readings hold; "
    if found.means + found.claims > 0:
        text += (
            f"{found.missed} of {rows} rows not measured or away from the published by more than "
        )
        text += f"{per_cent}; "
    else:
        text += f"no bounds; {found.missed} of {rows} rows not measured; "
    return text + f"{len(found.wrong)} of {found.orders} orders not as published"


def wrong(found: Comparison, pair: tuple[int, int]) -> str:
    """A published order that is not Weft's."""
    high, low = (found.rows[at] for at in pair)
    return (
        f"{subject(high.row)} is published above {subject(low.row)}, here below "
        f"({network(high.row)}: {high.mean:.2f}, {low.mean:.2f})"
    )
