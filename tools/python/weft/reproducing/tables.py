# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A comparison as text for a terminal and as Markdown, which tests/bench/pages reads."""
from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..quantity import mean_of
from .comparison import Compared, Comparison
from .definition import COMPLETION, EFFICIENCY, RUN_TITLES, THROUGHPUT, Definition
from .published import LINK_QUANTITIES, NAN, Row
from .trial import Stage, Trial

COLUMNS_MIN, COLUMNS_MAX = 2, 4  # for a wide table
PLAIN = ("factor", "percent", "value", *LINK_QUANTITIES)  # show a minimum equal to the maximum
# The headings of Transient.course().
COURSE = ("possible", "before", "minimum", "+8 ms", "+13 ms", "end", "back, ms")


def _joined(*words: str) -> str:
    return ", ".join(filter(None, words))


def subject(row: Row) -> str:
    """ "UD_ITB", "UD_ITB / UD"."""
    return f"{row.algorithm} / {row.over}" if row.is_relative else row.algorithm


def numbers(quantity: str, low: float, high: float, mean: float) -> str:
    """ "1.42 (1.27..1.56)". Bounds of a value have up to four decimals, as its paper prints."""
    if math.isnan(mean):
        if not math.isnan(low + high):
            return f"{low:.2f} to {high:.2f}"
        words, bound = ("at least", low) if math.isnan(high) else ("at most", high)
        decimals = re.sub("0{1,2}$", "", f"{bound:.4f}") if quantity == "value" else f"{bound:.2f}"
        return "-" if math.isnan(bound) else f"{words} {decimals}"
    if math.isinf(mean):
        return "never"
    digits = 2
    if quantity == "value":
        digits = 4 if mean < 10 and mean != math.floor(mean) else 0
    if not math.isfinite(low) or math.isnan(high) or quantity not in PLAIN and low == high:
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ({low:.{digits}f}..{high:.{digits}f})"


class Cells(NamedTuple):
    """The texts of a row."""

    network: str
    subject: str
    theirs: str
    reading: str
    ours: str
    mean: str
    ratio: str
    spread: str
    match: str

    @classmethod
    def of(cls, one: Compared) -> Cells:
        row, ends = one.row, (one.min, one.max) if one.instances > 1 else (NAN, NAN)
        theirs, reading = numbers(row.quantity, row.min, row.max, row.mean), ""
        if row.words:
            theirs, reading = "-" if row.words == "-" else f"'{row.words}'", theirs
        match = ""
        if not one.is_whole:
            many = f"{one.instances} of {one.wanted}" if one.instances > 0 else "not"
            match = f"{many} measured"
        elif one.checked:
            match = (("apart", "near"), ("does not hold", "holds"))[row.is_claim][one.within]
        return cls(
            _joined(row.network, row.case),
            subject(row),
            theirs,
            reading,
            numbers(row.quantity, *ends, one.mean),
            numbers(row.quantity, NAN, NAN, one.mean),
            f"{one.ratio:.2f}" if one.instances > 0 and math.isfinite(one.ratio) else "-",
            f"{one.half:.2f}" if row.is_relative and math.isfinite(one.half) else "",
            match,
        )


def curve(trial: Trial) -> dict[str, float]:
    """The numbers of a curve by heading. Trials of an experiment that have ended have the same."""
    measure = trial.definition.measure
    if measure == EFFICIENCY:
        return dict(zip(COURSE, trial.course().values()))
    if measure == THROUGHPUT:
        return {f"{100 * point.load:.0f} %": point.accepted for point in trial.points}
    return {"time, ms" if measure == COMPLETION else measure: trial.value}


def _cell(head: str, value: float) -> str:
    """ "0.850"; "-": there is none. Times to recover have one digit, shares three."""
    if math.isnan(value):
        return "-"
    return "never" if math.isinf(value) else f"{value:.{1 if head == COURSE[-1] else 3}f}"


def curve_cells(trial: Trial) -> list[str]:
    return [_cell(head, value) for head, value in curve(trial).items()]


def mean_cells(trials: list[Trial], wanted: int) -> Iterator[str]:
    """The same over several instances: "0.850 ± 0.012"; "8.5 (3 of 4)" if not all of 'wanted' have
    the number."""
    columns = zip(*(curve(trial).values() for trial in trials))
    for head, values in zip(curve(trials[0]), columns):
        finite = [value for value in values if math.isfinite(value)]
        mean, half = mean_of(finite)
        text = _cell(head, mean if finite else values[0])
        if finite and len(finite) < wanted:
            text += f" ({len(finite)} of {wanted})"
        elif not math.isnan(half):
            text += f" ± {_cell(head, half)}"
        yield text


def _extent(what: Definition) -> str:
    """A line with the messages of each run, beside those of the definition if they differ, and the
    instances that were asked for; "" if there is neither."""
    parts, (warmup, messages, limit) = [], what.defined
    if what.counts_messages:
        text = f"Each run: {what.warmup} messages discarded, {what.messages} measured"
        if (what.warmup, what.messages) != (warmup, messages):
            text += f" (the full run: {warmup}, {messages})"
        parts.append(text)
    if what.latency_limit > 0:
        mean = f"a mean latency of {what.latency_limit / 1e6:.4g} us"
        parts.append(f"saturated above {mean}")
    elif limit > 0:
        parts.append("not saturated by any latency")
    if what.latency_limit != limit:
        parts[-1] += f" (the definition: {limit / 1e6:.4g} us)"
    if what.instances > 0:
        parts.append(f"{what.instances} instances of each network")
    return f"{'; '.join(parts)}.\n" if parts else ""


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


def _done(found: Comparison) -> list[Trial]:
    """Those whose numbers are listed."""
    curves = not found.definition.counts_messages
    return [trial for trial in found.trials if curves and trial.stage == Stage.DONE]


def _text_curves(found: Comparison) -> Iterator[str]:
    what = found.definition
    if what.counts_messages:
        return
    if what.measure == EFFICIENCY:
        unit = f"; a ms stands for {what.unit / 1e6:.4g} us" if what.unit != 10**9 else ""
        yield f"efficiency over time, shares of the hosts' links{unit}"
        if found.trials:  # only a course has columns that need a name
            yield f"  {'':48}" + "".join(f" {head:>8}" for head in COURSE)
    elif what.measure == THROUGHPUT:
        yield "accepted at each load, per cent of the hosts' links: share"
    else:
        title = RUN_TITLES[what.measure]
        yield "time of the schedule, ms" if what.measure == COMPLETION else title
    for trial in _done(found):
        texts = [f" {text:>8}" for text in curve_cells(trial)]
        if what.measure == THROUGHPUT:
            # Loads stand beside the shares: a line may have no room for their names.
            cells = zip(trial.points, curve_cells(trial))
            texts = [f" {100 * point.load:4.0f}:{text}" for point, text in cells]
        yield f"  {trial.label:48}{''.join(texts)}"


def _troubles(found: Comparison) -> Iterator[str]:
    for trial in found.trials:
        dropped = sum(point.dropped for point in trial.points)
        if dropped > 0:
            yield f"  {trial.label}: {dropped} messages discarded, over all points"
        if any(point.deadlock for point in trial.points):
            yield f"  {trial.label}: deadlock"
        if trial.stage == Stage.FAILED:
            yield f"  {trial.label}: {trial.fault}"


def _failed(found: Comparison) -> str:
    return f"{found.failed} of {len(found.trials)} measurements failed"


def _by_kind(
    found: Comparison, rows: Sequence[Compared]
) -> Iterator[tuple[str, list[str], list[Cells]]]:
    """The tables of rows: the heading of each, its columns with numbers, and its cells."""
    readings = any(one.row.words for one in found.rows)
    columns = ["published", *["our reading"] * readings, "ours", "ratio"]
    for kind, ones in itertools.groupby(rows, lambda one: one.row.kind(found.definition)):
        yield kind, columns, [Cells.of(one) for one in ones]


def _lines(found: Comparison) -> Iterator[str]:
    yield from _text_curves(found)
    for kind, columns, cells in _by_kind(found, found.rows):
        readings = len(columns) > 3
        form = (
            f"  {{:24}} {{:24}} | {{:22}} |{' {:15} |' * readings} {{:22}} | {{:>5}}  {{}}".format
        )
        yield kind
        yield form("network", "algorithm", *columns, "").rstrip()
        for cell in cells:
            numbers = [cell.theirs, *[cell.reading] * readings, cell.ours, cell.ratio]
            spread = f" ours +-{cell.spread}" if cell.spread else ""
            yield form(cell.network, cell.subject, *numbers, cell.match + spread).rstrip()
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
        by_name.setdefault(trial.names, []).append(trial)
    for names, trials in by_name.items():
        wanted = sum(other.names == names for other in found.trials)
        yield _line(_joined(names[2], *names[:2]), *mean_cells(trials, wanted))


def _wide_cell(one: Compared) -> str:
    """ "1.42 (1.27..1.56) → 1.51 ± 0.05 (1.06)"."""
    cell, bold = Cells.of(one), "**" if one.checked and not one.within else ""
    text = f"{cell.theirs if one.row.is_number else '–'} →"
    if one.instances > 0:
        text += f" {cell.mean}" + (f" ± {cell.spread}" if cell.spread else "")
        text += f" ({bold}{cell.ratio}{bold})" if one.row.is_number else ""
    return text if one.is_whole else f"{text} **{cell.match}**"


def _wide(found: Comparison) -> tuple[list[str], list[Compared]]:
    """Wide tables, and the rows that have none: a line for each subject ("UD_ITB / UD"), a column for
    each network. If there are more networks than columns, the last word of a network's name
    ("hot-spot 16") is its column, and the words before it are part of the line's subject."""
    order = [network.name for network in found.definition.networks]
    tables: dict[tuple[str, int], dict[tuple[str, ...], dict[str, Compared]]] = {}

    def split(name: str) -> tuple[str, str]:
        before, space, last = name.rpartition(" ")
        return (before, last) if len(order) > COLUMNS_MAX and space else ("", name)

    def line_of(row: Row) -> tuple[str, ...]:
        return split(row.network)[0], row.case, row.algorithm, row.over

    # Bounds and readings have a column of their own, so they cannot share a line. A row without a
    # number is in the line of those that have one.
    rows = [(one, one.row, (one.row.quantity, one.row.limit)) for one in found.rows]
    numbered = {(kind, line_of(row)) for _, row, kind in rows if row.is_number}
    for one, row, kind in rows:
        if not (row.is_claim or row.words) and (kind, line_of(row)) in numbered:
            line = tables.setdefault(kind, {}).setdefault(line_of(row), {})
            line.setdefault(row.network, one)
    made, shown = [], []
    for lines in tables.values():
        known = sorted({name for line in lines.values() for name in line}, key=order.index)
        columns = list(dict.fromkeys(split(name)[1] for name in known))
        if not COLUMNS_MIN <= len(columns) <= COLUMNS_MAX:
            continue
        ones = [one for line in lines.values() for one in line.values()]
        made.append(_head(ones[0].row.kind(found.definition), *columns))
        for line in lines.values():
            cells = {split(name)[1]: _wide_cell(one) for name, one in line.items()}
            row = next(iter(line.values())).row
            first = _joined(subject(row), split(row.network)[0], row.case)
            made.append(_line(first, *(cells.get(column, "") for column in columns)))
        shown += [id(one) for one in ones]
    return made, [one for one in found.rows if id(one) not in shown]


def markdown(found: Comparison, version: str) -> str:
    """The same as tables in Markdown, with the version of Weft."""
    what, lines = found.definition, [*_mark_curves(found)]
    wide, rest = _wide(found)
    if wide:
        lines.append(
            "Cells: published mean (min..max) → ours ± half of its 95 % interval (ratio, "
            f"bold if it differs from 1 by more than {what.tolerance / 1e4:.4g} %)."
        )
    lines += wide
    for kind, columns, cells in _by_kind(found, rest):
        lines.append(_head(kind, "", *columns, ""))
        for cell in cells:
            ours = cell.ours + (f" ± {cell.spread}" if cell.spread else "")
            texts = [
                cell.theirs,
                *[cell.reading] * (len(columns) > 3),
                ours,
                cell.ratio,
                cell.match,
            ]
            lines.append(f"| {' | '.join([cell.network, cell.subject, *texts])} |")
    lines.append(f"\n{_counts(found)}; {_failed(found)}.")
    lines += [f"Order: {_wrong(found, pair)}." for pair in found.wrong]
    body = "".join(f"{line}\n" for line in lines)
    return f"{what.paper}, {what.place}: {what.title} (weft {version})\n{_extent(what)}{body}"
