# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A comparison as text for a terminal and as Markdown, which tests/bench/pages reads."""
from __future__ import annotations

import math
from collections.abc import Iterator

from ..quantity import mean_of
from .comparison import Compared, Comparison
from .courses import AFTER, AFTER_CRT
from .definition import COMPLETION, EFFICIENCY, RUN_TITLES, THROUGHPUT, Definition
from .published import LINK_QUANTITIES, NAN, Row
from .trial import Stage, Trial

COLUMNS_MIN, COLUMNS_MAX = 2, 4  # for a wide table
PLAIN = ("factor", "percent", "value", *LINK_QUANTITIES)  # show a minimum equal to the maximum
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


def _joined(*words: str) -> str:
    return ", ".join(filter(None, words))


def subject(row: Row) -> str:
    """ "UD_ITB", "UD_ITB / UD"."""
    return f"{row.algorithm} / {row.over}" if row.is_relative else row.algorithm


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
        bounds = (("at least", low), ("at most", high))
        known = ((words, bound) for words, bound in bounds if not math.isnan(bound))
        texts = (f"{words} {bound:.{_bound_digits(quantity, bound)}f}" for words, bound in known)
        return next(texts, "-")
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
        self.network, self.subject = _joined(row.network, row.case), subject(row)
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
        self.spread = f"{one.half:.2f}" if row.is_relative and math.isfinite(one.half) else ""
        self.match = _match(one)


def _match(one: Compared) -> str:
    if not one.is_whole:
        many = f"{one.instances} of {one.wanted} measured"
        return many if one.instances > 0 else "not measured"
    if not one.checked:
        return ""
    words = ("holds", "does not hold") if one.row.is_claim else ("near", "apart")
    return words[not one.within]


def course(trial: Trial) -> dict[str, float]:
    """Shares of the hosts' links, and the time to recover in the paper's ms: infinity for never."""
    found, unit_ns = trial.transient, trial.definition.unit_ns
    values = (found.deliverable, found.before(), found.minimum(), found.at(AFTER * unit_ns))
    late = (found.at(AFTER_CRT * unit_ns), found.end(), found.back_ns() / unit_ns)
    return dict(zip(COURSE, (*values, *late)))


def curve(trial: Trial) -> dict[str, float]:
    """The numbers of a curve by heading. Trials of an experiment that have ended have the same."""
    measure = trial.definition.measure
    if measure == EFFICIENCY:
        return {COURSE[name]: value for name, value in course(trial).items()}
    if measure == THROUGHPUT:
        return {f"{100 * point.load:.0f} %": point.accepted for point in trial.points}
    return {"time, ms" if measure == COMPLETION else measure: trial.value}


def _digits(head: str) -> int:
    """Times to recover have one digit, shares three."""
    return 1 if head == COURSE["back_ms"] else 3


def _curve_cell(value: float, digits: int) -> str:
    if math.isnan(value):
        return "-"
    return "never" if math.isinf(value) else f"{value:.{digits}f}"


def curve_cells(trial: Trial) -> list[str]:
    """ "0.850"; "-": there is none."""
    return [_curve_cell(value, _digits(head)) for head, value in curve(trial).items()]


def mean_cells(trials: list[Trial], wanted: int) -> Iterator[str]:
    """The same over several instances: "0.850 ± 0.012"; "8.5 (3 of 4)" if not all of 'wanted' have
    the number."""
    columns = zip(*(curve(trial).values() for trial in trials))
    for head, values in zip(curve(trials[0]), columns):
        finite = [value for value in values if math.isfinite(value)]
        mean, half = mean_of(finite)
        text = _curve_cell(mean if finite else values[0], _digits(head))
        if finite and len(finite) < wanted:
            text += f" ({len(finite)} of {wanted})"
        elif not math.isnan(half):
            text += f" ± {half:.{_digits(head)}f}"
        yield text


def _latency_limit(what: Definition) -> str:
    text, defined = "", what.defined[2]
    if what.latency_limit > 0:
        text = f"; saturated above a mean latency of {what.latency_limit / 1e6:.4g} us"
    elif defined > 0:
        text = "; not saturated by any latency"
    if what.latency_limit != defined:
        text += f" (the definition: {defined / 1e6:.4g} us)"
    return text


def _extent(what: Definition) -> str:
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


def _counts(found: Comparison) -> str:
    """ "12 of 14 published means within 10 %; ... orders not as published"."""
    per_cent, text = f"{found.definition.tolerance / 1e4:.4g} %", ""
    if found.means > 0:
        text += f"{found.near} of {found.means} published means within {per_cent}; "
    if found.claims > 0:
        text += f"{found.held} of {found.claims} bounds and readings hold; "
    away = f" or away from the published by more than {per_cent}" if text else ""
    text = text or "no bounds; "
    text += f"{found.missed} of {len(found.rows)} rows not measured{away}; "
    return text + f"{len(found.wrong)} of {found.orders} orders not as published"


def _wrong(found: Comparison, pair: tuple[int, int]) -> str:
    high, low = (found.rows[at] for at in pair)
    return (
        f"{subject(high.row)} is published above {subject(low.row)}, here below "
        f"({_joined(high.row.network, high.row.case)}: {high.mean:.2f}, {low.mean:.2f})"
    )


def _title(what: Definition) -> str:
    if what.measure == EFFICIENCY:
        unit = f"; a ms stands for {what.unit / 1e6:.4g} us" if what.unit != 10**9 else ""
        return f"efficiency over time, shares of the hosts' links{unit}"
    if what.measure == THROUGHPUT:
        return "accepted at each load, per cent of the hosts' links: share"
    return "time of the schedule, ms" if what.measure == COMPLETION else RUN_TITLES[what.measure]


def _done(found: Comparison) -> list[Trial]:
    curves = not found.definition.counts_messages
    return [trial for trial in found.trials if curves and trial.stage == Stage.DONE]


def _text_curves(found: Comparison) -> Iterator[str]:
    what = found.definition
    if what.counts_messages:
        return
    yield _title(what)
    if what.measure == EFFICIENCY and found.trials:
        # Only a course has columns that need a name.
        yield f"  {'':48}" + "".join(f" {head:>8}" for head in curve(found.trials[0]))
    for trial in _done(found):
        texts = curve_cells(trial)
        if what.measure == THROUGHPUT:
            # Loads stand beside the shares: a line may have no room for their names.
            texts = [f" {100 * p.load:4.0f}:{text}" for p, text in zip(trial.points, texts)]
        else:
            texts = [f" {text:>8}" for text in texts]
        yield f"  {trial.label:48}" + "".join(texts)


def _text_row(one: Compared, readings: bool) -> str:
    cell = Cells(one)
    reading = f" {cell.reading:15} |" if readings else ""
    spread = f" ours +-{cell.spread}" if cell.spread else ""
    return (
        f"  {cell.network:24} {cell.subject:24} | {cell.theirs:22} |{reading} {cell.ours:22} | "
        f"{cell.ratio:>5}  {cell.match}{spread}"
    )


def _troubles(found: Comparison) -> Iterator[str]:
    for trial in found.trials:
        dropped = sum(point.dropped for point in trial.points)
        if dropped > 0:
            yield f"  {trial.label}: {dropped} messages discarded, over all points"
        if any(point.deadlock for point in trial.points):
            yield f"  {trial.label}: deadlock"
        if trial.stage == Stage.FAILED:
            yield f"  {trial.label}: {trial.fault}"


def has_readings(found: Comparison) -> bool:
    return any(one.row.words for one in found.rows)


def _failed(found: Comparison) -> str:
    return f"{found.failed} of {len(found.trials)} measurements failed"


def _lines(found: Comparison) -> Iterator[str]:
    before, readings = "", has_readings(found)
    yield from _text_curves(found)
    for one in found.rows:
        kind = one.row.kind(found.definition)
        if kind != before:
            reading = " our reading     |" if readings else ""
            yield kind
            yield f"  {'network':24} {'algorithm':24} | {'published':22} |{reading} {'ours':22} | ratio"
        before = kind
        yield _text_row(one, readings)
    yield from _troubles(found)
    if found.failed > 0:
        yield _failed(found)
    yield _counts(found)
    for pair in found.wrong:
        yield f"  order: {_wrong(found, pair)}"


def text(found: Comparison) -> str:
    """A table: published, ours, ratio; then what is not as published."""
    what = found.definition
    lines = "".join(f"{line}\n" for line in _lines(found))
    return f"{what.paper}, {what.place}: {what.title}\n{_extent(what)}{lines}"


def _line(*texts: str) -> str:
    return "|" + "".join(f" {text} |" if text else " |" for text in texts)


def _head(*texts: str) -> str:
    return f"\n{_line(*texts)}\n|{'---|' * len(texts)}"


def _mark_curves(found: Comparison) -> Iterator[str]:
    done = _done(found)
    if done:
        yield _head("", *curve(done[0]))
    if not found.definition.means:
        yield from (_line(trial.label, *curve_cells(trial)) for trial in done)
        return
    by_name: dict[tuple[str, str, str], list[Trial]] = {}
    for trial in done:
        names = (trial.network.name, trial.case.name, trial.algorithm.name)
        by_name.setdefault(names, []).append(trial)
    for names, trials in by_name.items():
        wanted = sum(other.is_of(*names) for other in found.trials)
        yield _line(_joined(names[2], *names[:2]), *mean_cells(trials, wanted))


class Wide:
    """Wide tables: a line for each subject ("UD_ITB / UD"), a column for each network. If there are
    more networks than columns, the last word of a network's name ("hot-spot 16") is its column, and
    the words before it are part of the line's subject."""

    def __init__(self, found: Comparison) -> None:
        self.found, self.what = found, found.definition
        rows = [one.row for one in found.rows]
        # Bounds and readings have a column of their own, so they cannot share a line. A row without
        # a number is in the line of those that have one.
        numbered = {self._line_of(row) for row in rows if row.is_number}
        self.rows = [
            one
            for one in found.rows
            if not (one.row.is_claim or one.row.words) and self._line_of(one.row) in numbered
        ]
        order = {network.name: at for at, network in enumerate(self.what.networks)}
        self.columns: dict[tuple[str, int], list[str]] = {}  # by quantity
        for one in sorted(self.rows, key=lambda one: order[one.row.network]):
            names = self.columns.setdefault((one.row.quantity, one.row.limit), [])
            column = self._split(one.row)[1]
            if column not in names:
                names.append(column)

    def _split(self, row: Row) -> tuple[str, str]:
        """The parts of a network's name for the line and for the column."""
        before, space, last = row.network.rpartition(" ")
        if len(self.what.networks) <= COLUMNS_MAX or not space:
            return "", row.network
        return before, last

    def _line_of(self, row: Row) -> tuple[object, ...]:
        own = (row.quantity, row.limit, row.case, row.algorithm, row.over)
        return (*own, self._split(row)[0])

    def has(self, one: Compared) -> bool:
        names = self.columns.get((one.row.quantity, one.row.limit), [])
        return one in self.rows and COLUMNS_MIN <= len(names) <= COLUMNS_MAX

    def _cell(self, one: Compared | None) -> str:
        """ "1.42 (1.27..1.56) → 1.51 ± 0.05 (1.06)"."""
        if one is None:
            return ""
        cell = Cells(one)
        bold = "**" if one.checked and not one.within else ""
        text = f"{cell.theirs if one.row.is_number else '–'} →"
        if one.instances > 0:
            text += f" {cell.mean}" + (f" ± {cell.spread}" if cell.spread else "")
            text += f" ({bold}{cell.ratio}{bold})" if one.row.is_number else ""
        return text if one.is_whole else f"{text} **{cell.match}**"

    def _table(self, quantity: tuple[str, int]) -> Iterator[str]:
        own = [one for one in self.rows if (one.row.quantity, one.row.limit) == quantity]
        columns = self.columns[quantity]
        yield _head(own[0].row.kind(self.what), *columns)
        lines: dict[tuple[object, ...], list[Compared]] = {}
        for one in own:
            lines.setdefault(self._line_of(one.row), []).append(one)
        for ones in lines.values():
            row, by_column = ones[0].row, {self._split(o.row)[1]: o for o in reversed(ones)}
            first = _joined(subject(row), self._split(row)[0], row.case)
            yield _line(first, *(self._cell(by_column.get(column)) for column in columns))

    def lines(self) -> Iterator[str]:
        """All tables, and before them what their cells have."""
        wide = [(one.row.quantity, one.row.limit) for one in self.rows if self.has(one)]
        if wide:
            yield (
                "Cells: published mean (min..max) → ours ± half of its 95 % interval (ratio, "
                f"bold if it differs from 1 by more than {self.what.tolerance / 1e4:.4g} %)."
            )
        for quantity in dict.fromkeys(wide):
            yield from self._table(quantity)


def _mark_rows(found: Comparison, wide: Wide) -> Iterator[str]:
    readings, before = has_readings(found), ""
    for one in found.rows:
        if wide.has(one):
            continue
        kind, cell = one.row.kind(found.definition), Cells(one)
        if kind != before:
            names = ["published", *["our reading"] * readings, "ours", "ratio"]
            yield _head(kind, "", *names, "")
        before = kind
        reading = f" {cell.reading} |" if readings else ""
        spread = f" ± {cell.spread}" if cell.spread else ""
        yield (
            f"| {cell.network} | {cell.subject} | {cell.theirs} |{reading} {cell.ours}{spread} | "
            f"{cell.ratio} | {cell.match} |"
        )


def markdown(found: Comparison, version: str) -> str:
    """The same as tables in Markdown, with the version of Weft."""
    what, wide = found.definition, Wide(found)
    lines = [*_mark_curves(found), *wide.lines(), *_mark_rows(found, wide)]
    lines.append(f"\n{_counts(found)}; {_failed(found)}.")
    lines += [f"Order: {_wrong(found, pair)}." for pair in found.wrong]
    body = "".join(f"{line}\n" for line in lines)
    return f"{what.paper}, {what.place}: {what.title} (weft {version})\n{_extent(what)}{body}"
