# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs and sweeps from Python, with their results as objects."""
import html
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .asker import Asker, Shown, load_result
from .child import run_one
from .error import Error, Exit, need
from .files import read_json
from .quantity import at, three, time_text
from .sweeping import command, manifest, request

if TYPE_CHECKING:
    import pandas

    from .plot.sheet import Drawn

Value = str | int | float | bool
PathName = str | os.PathLike[str]


def text_of(value: Value) -> str:
    """Returns a value in the syntax of run files.

    >>> text_of(True), text_of(4), text_of("80%")
    ('true', '4', '80%')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def sets_of(changes: Mapping[str, Value] | None) -> list[str]:
    return [f"{key}={text_of(value)}" for key, value in (changes or {}).items()]


def _frame(rows: Sequence[Mapping[str, Any]]) -> "pandas.DataFrame":
    """Returns a table; columns with only true and false contain booleans."""
    import pandas

    frame = pandas.DataFrame(list(rows))
    for name in frame.columns:
        if set(frame[name].map(repr)) <= {"'true'", "'false'"}:
            frame[name] = frame[name] == "true"
    return frame


class Latency(dict[str, Any]):
    """Statistics of a latency in ns, as latency.p99 or latency["p99"]; None: not measured.

    >>> Latency(mean=812.5, p99=4096).p99, Latency().p99
    (4096, None)
    """

    FIGURES = ("mean", "stddev", "p50", "p99", "p999", "max")

    def __getattr__(self, name: str) -> float | None:
        if name not in self.FIGURES:
            raise AttributeError(f"'{name}': expected {', '.join(self.FIGURES)}")
        return self.get(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.FIGURES]


class Result(Shown):
    """The result of a run (docs/reference/result-file.md). Times are in ns, loads are shares of the hosts' links."""

    def __init__(self, json: dict[str, Any]) -> None:
        self.json = json
        self.offered: float | None = at(json, "throughput.offered")  # what sources generate
        self.accepted: float | None = at(json, "throughput.accepted")  # what hosts receive
        # From the generation of a message to its end.
        self.latency = Latency(at(json, "latency_ns.total") or {})

    @property
    def series(self) -> "pandas.DataFrame":
        """Returns a table with one row per sample."""
        return _frame(self.json.get("series") or [])

    @property
    def links(self) -> "pandas.DataFrame":
        """Returns a table with one row per direction of a link; requires measure.links."""
        return _frame(self.json.get("links") or [])

    def _figures(self) -> dict[str, str]:
        mean = self.latency.get("mean")
        return {
            "offered": "-" if self.offered is None else f"{three(100 * self.offered)} %",
            "accepted": "-" if self.accepted is None else f"{three(100 * self.accepted)} %",
            "mean latency": "-" if mean is None else time_text(mean / 1e9).replace("us", "µs"),
        }


class Sweep:
    """The results of a sweep in its folder. In 'frame' and 'mean', a varied key is a number in base
    units if all its values are numbers, and KEY_text is its text. 'missing' lists the points
    without a result."""

    def __init__(self, folder: str, json: dict[str, Any]) -> None:
        self.folder, self.json = folder, json
        self.missing: list[str] = json["missing"]

    @property
    def frame(self) -> "pandas.DataFrame":
        """Returns one row per point: the varied keys, the seed and the measures."""
        return _frame(self.json["points"])

    @property
    def mean(self) -> "pandas.DataFrame":
        """Returns means over the seeds; NAME_ci95 is half the width of the 95 % interval."""
        return _frame(self.json["means"])

    def plot(
        self,
        kind: str = "latency-throughput",
        where: Mapping[str, Value] | None = None,
        **options: Any,
    ) -> "Drawn":
        """Returns the matplotlib figure that 'weft plot' draws. 'where' selects points by key and
        value; weft.plot.draw describes the other options."""
        from .plot import draw

        texts = {key: text_of(value) for key, value in (where or {}).items()}
        return draw([self.folder], kind, where=texts, **options)

    def save(self, path: PathName, kind: str = "latency-throughput", **options: Any) -> None:
        """Writes a figure of plot() as a PNG, SVG or PDF. The option size="3.4x2.2in" suits a column."""
        self.plot(kind, **options).save(os.fspath(path))

    def __repr__(self) -> str:
        return f"Sweep({self.folder!r}, {len(self.json['points'])} points)"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>{self.mean.to_html()}"


def run(file: PathName, set: Mapping[str, Value] | None = None) -> Result:
    """Runs a run file after the changes in 'set' and returns its result.

    Error, with the message of weft-fabric, if there is none. A result with lost packets or a
    deadlock is one: see json["checks"].
    """
    need("pandas")  # for the tables of the result
    with Asker() as asker, tempfile.TemporaryDirectory(prefix="weft-run-") as folder:
        fabric = asker.ask("about")["fabric"]
        done = run_one(fabric, os.path.realpath(file), sets_of(set), folder)
        return Result(asker.result(done.part))


def _add_values(
    asked: request.Sweep, vary: Mapping[str, Iterable[Value]], seeds: Sequence[int] | None
) -> None:
    plan = asked.plan
    if asked.cases:
        plan.add(request.Vary(request.CASES_KEY, [*asked.cases]))
    for name, listed in vary.items():
        key = request.normal_key(name)
        values = [text_of(value) for value in ([listed] if isinstance(listed, str) else listed)]
        if not values:
            raise Error(f"vary {key}: expected at least one value")
        plan.add(request.Vary(key, values))
    if seeds is not None:
        found = list(seeds) if isinstance(seeds, Iterable) else []
        if not found or found[0] < 0 or found != list(range(found[0], found[0] + len(found))):
            raise Error("seeds: expected consecutive numbers, such as range(1, 6)")
        plan.first_seed, plan.seeds = found[0], len(found)


def sweep(
    file: PathName,
    vary: Mapping[str, Iterable[Value]] | None = None,
    *,
    out: PathName,
    cases: Mapping[str, Mapping[str, Value]] | PathName | None = None,
    seeds: Sequence[int] | None = None,
    set: Mapping[str, Value] | None = None,
    jobs: int = 0,
    skip_invalid: bool = False,
    restart: bool = False,
) -> Sweep:
    """Runs every combination of the values, each with every seed, as 'weft sweep' does, in the
    folder 'out'. The same call continues after an interruption. 'cases' are named settings, which
    appear in the table's column 'case', or a file with them. 'jobs' 0: as many points at a time as
    there are cores; one on the real clock. An Error means that a point failed."""
    need("pandas", "scipy")  # for the tables of the results
    if not 0 <= jobs <= request.JOBS_MAX:
        raise Error(f"jobs: {jobs}: expected 0 to {request.JOBS_MAX}")
    asked = request.Sweep(os.fspath(file), sets=sets_of(set), jobs=jobs)
    if isinstance(cases, Mapping):
        asked.cases = request.check_cases({name: sets_of(case) for name, case in cases.items()})
    elif cases is not None:
        asked.cases = request.load_cases(os.fspath(cases))
    asked.folder, asked.skip_invalid, asked.restart = os.fspath(out), skip_invalid, restart
    _add_values(asked, vary or {}, seeds)
    asked.check()
    with Asker() as asker:
        outcome, found = command.run_all(asked, asker, *manifest.make(asked, asker))
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failed:
        raise Error(f"{command.summary(outcome)}; the logs are in {out}", Exit.BAD_ANSWER)
    return Sweep(os.fspath(out), found)


def read(path: PathName) -> Result | Sweep:
    """Reads the sweep in a folder, or the result in a file."""
    name = os.fspath(path)
    if not os.path.isdir(name):
        return Result(load_result(name))
    what = "not a sweep result"
    return Sweep(name, read_json(f"{name}/sweep.json", what, "sweep-result/1"))
