# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A comparison as text for a terminal and as Markdown, which tests/bench/pages reads."""
from __future__ import annotations

from collections.abc import Iterator

from . import cells
from .cells import Cells
from .comparison import Compared, Comparison
from .definition import COMPLETION, EFFICIENCY, RUN_TITLES, THROUGHPUT, Definition
from .published import Row
from .trial import Stage, Trial

COLUMNS_MIN, COLUMNS_MAX = 2, 4  # for a wide table


def _title(what: Definition) -> str:
    if what.measure == EFFICIENCY:
        unit = f"; a ms stands for {what.unit / 1e6:.4g} us" if what.unit != 10**9 else ""
        return f"efficiency over time, shares of the hosts' links{unit}"
    if what.measure == THROUGHPUT:
        return "accepted at each load, per cent of the hosts' links: share"
    return "time of the schedule, ms" if what.measure == COMPLETION else RUN_TITLES[what.measure]


def _done(found: Comparison) -> list[Trial]:
    return [trial for trial in found.trials if trial.stage == Stage.DONE]


def _text_curves(found: Comparison) -> Iterator[str]:
    what = found.definition
    if what.counts_messages:
        return
    yield _title(what)
    if what.measure == EFFICIENCY and found.trials:
        # Only a course has columns that need a name.
        yield f"  {'':48}" + "".join(f" {head:>8}" for head in cells.heads(found.trials[0]))
    for trial in _done(found):
        texts = cells.curve_cells(trial)
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
    """Discarded messages and deadlocks of the networks."""
    for trial in found.trials:
        dropped = sum(point.dropped for point in trial.points)
        if dropped > 0:
            yield f"  {trial.label}: {dropped} messages discarded, over all points"
        if any(point.deadlock for point in trial.points):
            yield f"  {trial.label}: deadlock"
        if trial.stage == Stage.FAILED:
            yield f"  {trial.label}: {trial.fault}"


def has_readings(found: Comparison) -> bool:
    """Whether some row has words in place of a number."""
    return any(one.row.words for one in found.rows)


def _lines(found: Comparison) -> Iterator[str]:
    what, before, readings = found.definition, "", has_readings(found)
    yield from _text_curves(found)
    for one in found.rows:
        kind = one.row.kind(what)
        if kind != before:
            reading = " our reading     |" if readings else ""
            yield kind
            yield f"  {'network':24} {'algorithm':24} | {'published':22} |{reading} {'ours':22} | ratio"
        before = kind
        yield _text_row(one, readings)
    yield from _troubles(found)
    if found.failed > 0:
        yield f"{found.failed} of {len(found.trials)} measurements failed"
    yield cells.counts(found)
    for pair in found.wrong:
        yield f"  order: {cells.wrong(found, pair)}"


def text(found: Comparison) -> str:
    """A table: published, ours, ratio; then what is not as published."""
    what = found.definition
    lines = "".join(f"{line}\n" for line in _lines(found))
    return f"{what.paper}, {what.place}: {what.title}\n{cells.extent(what)}{lines}"


def _line(first: str, texts: list[str]) -> str:
    return f"| {first} |" + "".join(f" {text} |" for text in texts)


def _head(first: str, texts: list[str]) -> str:
    return f"\n|{' ' + first if first else ''} |{''.join(f' {t} |' for t in texts)}\n|---|{'---|' * len(texts)}"


def _mark_curves(found: Comparison) -> Iterator[str]:
    done = _done(found)
    if found.definition.counts_messages or not done:
        return
    yield _head("", cells.heads(done[0]))
    seen: set[tuple[str, str, str]] = set()
    for trial in done:
        if not found.definition.means:
            yield _line(trial.label, cells.curve_cells(trial))
            continue
        names = (trial.network.name, trial.case.name, trial.algorithm.name)
        if names in seen:
            continue
        seen.add(names)
        wanted = sum(other.is_of(*names) for other in found.trials)
        label = ", ".join(filter(None, (names[2], names[0], names[1])))
        yield _line(label, cells.mean_cells([t for t in done if t.is_of(*names)], wanted))


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
        """Equal for the rows of one line."""
        own = (row.quantity, row.limit, row.case, row.algorithm, row.over)
        return (*own, self._split(row)[0])

    def has(self, one: Compared) -> bool:
        """Whether the row stands in a wide table."""
        names = self.columns.get((one.row.quantity, one.row.limit), [])
        return one in self.rows and COLUMNS_MIN <= len(names) <= COLUMNS_MAX

    def _cell(self, one: Compared) -> str:
        """ "1.42 (1.27..1.56) → 1.51 ± 0.05 (1.06)"."""
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
        yield _head(own[0].row.kind(self.what), columns)
        lines: dict[tuple[object, ...], list[Compared]] = {}
        for one in own:
            lines.setdefault(self._line_of(one.row), []).append(one)
        for ones in lines.values():
            row, by_column = ones[0].row, {self._split(o.row)[1]: o for o in reversed(ones)}
            first = ", ".join(filter(None, (cells.subject(row), self._split(row)[0], row.case)))
            texts = [f" {self._cell(by_column[c])} |" if c in by_column else " |" for c in columns]
            yield f"| {first} |{''.join(texts)}"

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
            names = ["published", "our reading", "ours"] if readings else ["published", "ours"]
            yield f"\n| {kind} | | {' | '.join(names)} | ratio | |\n|---|---|{'---|' * (len(names) + 2)}"
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
    failed = f"{found.failed} of {len(found.trials)} measurements failed"
    lines.append(f"\n{cells.counts(found)}; {failed}.")
    lines += [f"Order: {cells.wrong(found, pair)}." for pair in found.wrong]
    body = "".join(f"{line}\n" for line in lines)
    return f"{what.paper}, {what.place}: {what.title} (weft {version})\n{cells.extent(what)}{body}"
