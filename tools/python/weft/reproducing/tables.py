# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A comparison as tables for a terminal, or in Markdown, which tests/bench/pages reads."""
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..quantity import NAN, grouped, mean_of
from .comparison import Compared, Comparison
from .definition import COMPLETION, EFFICIENCY, RUN_TITLES, THROUGHPUT, Definition
from .published import LINK_QUANTITIES, Row
from .trial import Stage, Trial

COLUMNS_MIN, COLUMNS_MAX = 2, 4  # for a wide table
PLAIN = ("factor", "percent", "value", *LINK_QUANTITIES)  # show a minimum equal to the maximum
# The headings of Transient.course().
COURSE = ("possible", "before", "minimum", "+8 ms", "+13 ms", "end", "back, ms")


def _joined(*words: str) -> str:
    return ", ".join(filter(None, words))


def subject(row: Row) -> str:
    """Returns, for example, "UD_ITB" or "UD_ITB / UD"."""
    return f"{row.algorithm} / {row.over}" if row.is_relative else row.algorithm


def numbers(quantity: str, low: float, high: float, mean: float) -> str:
    """Returns, say, "1.42 (1.27..1.56)". Bounds have up to four decimals, as in the paper."""
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


class Table(NamedTuple):
    """A title, the names of the columns after the first, and rows of texts."""

    title: str
    head: Sequence[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        lines = ([self.title, *self.head], *self.rows)
        head, *rows = (
            "".join(f"| {cell} ".rstrip() + " " for cell in line) + "|" for line in lines
        )
        return "\n".join(["", head, f"|{'---|' * (len(self.head) + 1)}", *rows])

    def text(self) -> str:
        lines = [["", *self.head], *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines)]
        padded = ("  " + " | ".join(map(str.ljust, line, widths)).rstrip(" |") for line in lines)
        return "\n".join([self.title, *padded])


def _half(one: Compared) -> str:
    return f" ± {one.half:.2f}" if one.row.is_relative and math.isfinite(one.half) else ""


def _ratio(one: Compared) -> str:
    return f"{one.ratio:.2f}" if one.instances > 0 and math.isfinite(one.ratio) else "-"


def _match(one: Compared) -> str:
    if not one.is_whole:
        many = f"{one.instances} of {one.wanted}" if one.instances > 0 else "not"
        return f"{many} measured"
    words = (("apart", "near"), ("does not hold", "holds"))[one.row.is_claim]
    return words[one.within] if one.checked else ""


def _cells(one: Compared, readings: bool) -> list[str]:
    row, ends = one.row, (one.min, one.max) if one.instances > 1 else (NAN, NAN)
    published = [numbers(row.quantity, row.min, row.max, row.mean), ""]
    if row.words:
        published = ["-" if row.words == "-" else f"'{row.words}'", published[0]]
    ours = numbers(row.quantity, *ends, one.mean) + _half(one)
    names = [_joined(row.network, row.case), subject(row)]
    return [*names, *published[: 1 + readings], ours, _ratio(one), _match(one)]


def curve(trial: Trial) -> dict[str, float]:
    """Returns the numbers of a curve by heading. All completed trials of an experiment have the same headings."""
    measure = trial.definition.measure
    if measure == EFFICIENCY:
        return dict(zip(COURSE, trial.course().values()))
    if measure == THROUGHPUT:
        return {f"{100 * point.load:.0f} %": point.accepted for point in trial.points}
    return {"time, ms" if measure == COMPLETION else measure: trial.value}


def _cell(head: str, value: float) -> str:
    """Returns "0.850", or "-" if there is none. Recovery times have one decimal, shares three."""
    if math.isnan(value):
        return "-"
    return "never" if math.isinf(value) else f"{value:.{1 if head == COURSE[-1] else 3}f}"


def mean_cells(trials: list[Trial], wanted: int) -> Iterator[str]:
    """Returns the numbers of one instance, or means over several: "0.850 ± 0.012"; "8.5 (3 of 4)" if
    not all of 'wanted' have the number."""
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
    """Returns a line with the messages of each run, next to the definition's if they differ, and
    the requested instances; "" if there is neither."""
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
    """Returns "12 of 14 published means within 10 %; ... orders not as published"."""
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


def _curves(found: Comparison, markdown: bool) -> Iterator[Table]:
    """The numbers of all curves. Markdown has means over the instances if the definition says so."""
    what = found.definition
    done = [trial for trial in found.trials if trial.stage == Stage.DONE]
    if what.counts_messages or not done:
        return
    title = RUN_TITLES.get(what.measure, "accepted at each load, shares of the hosts' links")
    if what.measure == EFFICIENCY:
        unit = f"; a ms stands for {what.unit / 1e6:.4g} us" if what.unit != 10**9 else ""
        title = f"efficiency over time, shares of the hosts' links{unit}"
    rows = [[trial.label, *mean_cells([trial], 1)] for trial in done]
    if what.means and markdown:
        wanted = grouped(found.trials, lambda trial: trial.names)
        rows = [
            [_joined(names[2], *names[:2]), *mean_cells(trials, len(wanted[names]))]
            for names, trials in grouped(done, lambda trial: trial.names).items()
        ]
    yield Table("" if markdown else title, [*curve(done[0])], rows)


def _troubles(found: Comparison) -> Iterator[str]:
    for trial in found.trials:
        dropped = sum(point.dropped for point in trial.points)
        if dropped > 0:
            yield f"  {trial.label}: {dropped} messages discarded, over all points"
        if any(point.deadlock for point in trial.points):
            yield f"  {trial.label}: deadlock"
        if trial.stage == Stage.FAILED:
            yield f"  {trial.label}: {trial.fault}"


def _by_kind(found: Comparison, rows: Sequence[Compared]) -> Iterator[Table]:
    readings = any(one.row.words for one in found.rows)
    head = ["", "published", *["our reading"] * readings, "ours", "ratio", ""]
    for kind, ones in itertools.groupby(rows, lambda one: one.row.kind(found.definition)):
        yield Table(kind, head, [_cells(one, readings) for one in ones])


def _wide_cell(one: Compared) -> str:
    """Returns, for example, "1.42 (1.27..1.56) → 1.51 ± 0.05 (1.06)"."""
    row, bold = one.row, "**" if one.checked and not one.within else ""
    text = f"{numbers(row.quantity, row.min, row.max, row.mean) if row.is_number else '–'} →"
    if one.instances > 0:
        text += f" {numbers(row.quantity, NAN, NAN, one.mean)}{_half(one)}"
        text += f" ({bold}{_ratio(one)}{bold})" if row.is_number else ""
    return text if one.is_whole else f"{text} **{_match(one)}**"


def _wide(found: Comparison) -> tuple[list[Table], list[Compared]]:
    """Returns wide tables, with one line per subject ("UD_ITB / UD"), a column for
    each network. If there are more networks than columns, the last word of a network's name
    ("hot-spot 16") is its column, and the words before it are part of the line's subject."""
    order = [network.name for network in found.definition.networks]

    def split(name: str) -> tuple[str, str]:
        before, space, last = name.rpartition(" ")
        return (before, last) if len(order) > COLUMNS_MAX and space else ("", name)

    def line_of(one: Compared) -> tuple[str | int, ...]:
        row = one.row
        kind = (row.quantity, row.limit)
        return *kind, split(row.network)[0], row.case, row.algorithm, row.over

    # Bounds and readings have their own column, so they cannot share a line. A row without a
    # number is in the line of those that have one.
    numbered = {line_of(one) for one in found.rows if one.row.is_number}
    places: dict[object, Compared] = {}
    for one in found.rows:
        if not (one.row.is_claim or one.row.words) and line_of(one) in numbered:
            places.setdefault((line_of(one), one.row.network), one)
    made: list[Table] = []
    shown: set[int] = set()
    for ones in grouped(places.values(), lambda one: line_of(one)[:2]).values():
        known = sorted({one.row.network for one in ones}, key=order.index)
        columns = list(dict.fromkeys(split(name)[1] for name in known))
        if not COLUMNS_MIN <= len(columns) <= COLUMNS_MAX:
            continue
        rows = []
        for line in grouped(ones, line_of).values():
            row, cells = line[0].row, {split(one.row.network)[1]: _wide_cell(one) for one in line}
            first = _joined(subject(row), split(row.network)[0], row.case)
            rows.append([first, *(cells.get(column, "") for column in columns)])
        made.append(Table(ones[0].row.kind(found.definition), columns, rows))
        shown.update(map(id, ones))
    return made, [one for one in found.rows if id(one) not in shown]


def render(found: Comparison, version: str, markdown: bool) -> str:
    """Formats published value, Weft's value and ratio, then the deviations from the paper. In
    Markdown, tables are wide if they fit."""
    what, show = found.definition, Table.markdown if markdown else Table.text
    wide, rest = _wide(found) if markdown else ([], found.rows)
    lines = [show(table) for table in _curves(found, markdown)]
    if wide:
        lines.append(
            "Cells: published mean (min..max) → ours ± half of its 95 % interval (ratio, "
            f"bold if it differs from 1 by more than {what.tolerance / 1e4:.4g} %)."
        )
    lines += [show(table) for table in (*wide, *_by_kind(found, rest))]
    lines += () if markdown else _troubles(found)
    failed = f"{found.failed} of {len(found.trials)} measurements failed"
    lines.append(f"\n{_counts(found)}; {failed}.")
    lines += [f"Order: {_wrong(found, pair)}." for pair in found.wrong]
    body = "".join(f"{line}\n" for line in lines)
    return f"{what.paper}, {what.place}: {what.title} (weft {version})\n{_extent(what)}{body}"
