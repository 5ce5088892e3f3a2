# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The results of a plot, of single runs and of sweeps, each reduced to the numbers that the kind
of plot shows. Times are in ns, shares are fractions; NaN was not measured."""
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..asker import Asker
from ..error import Error, naming
from ..quantity import NAN, at, figure
from ..sweeping import manifest as manifests
from ..sweeping.request import normal_key

_NETWORKS = {
    "rlft": "fat tree",
    "torus-express": "express torus",
    "full": "full mesh",
    "dragonfly": "Dragonfly",
    "cplant": "Cplant",
    "irregular": "irregular network",
    **{kind: kind for kind in ("torus", "mesh", "ring", "hypercube")},
}


@dataclass
class Request:
    """Which part of the results is drawn, as selected with the options of 'weft plot'."""

    kind: str = ""
    where: list[str] = field(default_factory=list)  # KEY=VALUE
    along: str | None = None
    unit: str = "share"
    latency: str = ""  # "total" or "network"; "": both, for latency-cdf total
    by: str = "arrival"
    label: list[str] = field(default_factory=list)  # KEY=VALUE=TEXT

    def latency_key(self, which: str) -> str:
        return f"{which}_released" if self.by == "release" else which

    @property
    def traffic_key(self) -> str:
        return "released" if self.by == "release" else "accepted"


@dataclass
class Value:
    """A point of a run. 'doubtful': the run is saturated or not steady; 'unsure': too short to tell."""

    x: float
    y: float
    y2: float = NAN
    doubtful: bool = False
    unsure: bool = False


@dataclass
class Run:
    """A result of an input, with its varied keys and their values; no keys outside sweeps."""

    input: int
    vary: dict[str, str]
    values: list[Value]
    result: dict[str, Any]

    def __post_init__(self) -> None:
        result, self.result = self.result, {}  # large; freed when its values have been taken
        self.real_clock = at(result, "config.clock") == "real"
        kind, traffic = str(at(result, "config.topology")).split(":")[0], at(
            result, "config.traffic"
        )
        self.network = _NETWORKS.get(kind, str(at(result, "topology.name") or ""))
        self.hosts = int(figure(result, "topology.hosts", 0))
        flows = traffic if isinstance(traffic, list) else []
        patterns = [str(at(flow, "pattern") or "") for flow in flows]
        words = ["schedule" if word == "goal" else word.replace("-", " ") for word in patterns]
        self.traffic = " + ".join(dict.fromkeys(filter(None, words)))  # each once
        self.seed, self.version = result.get("seed"), at(result, "wall.version")


@dataclass
class Runs:
    request: Request
    runs: list[Run] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)


def label_of(labels: list[str], key: str | None, value: str) -> str | None:
    """Returns the text of the first KEY=VALUE=TEXT for this value of a key, or None."""
    for label in labels:
        asked, rest = label.split("=", 1)
        if normal_key(asked) == key and rest.startswith(f"{value}="):
            return rest[len(value) + 1 :]
    return None


def load_runs(paths: list[str], request: Request) -> Runs:
    """Reads the runs of sweep folders and results. Points without a result are omitted."""
    runs = Runs(request)
    varied: set[tuple[str, str]] = set()
    with Asker() as asker:
        for path in paths:
            with naming(path):
                os.stat(path)
            runs.inputs.append(os.path.basename(path.rstrip("/") or "/").removesuffix(".json"))
            if os.path.isdir(path):
                _add_points(runs, path, varied, asker)
            else:
                _add_run(runs, asker.result(path), path, {}, False)
    _check_options(request, varied)
    if not any(not (math.isnan(v.y) and math.isnan(v.y2)) for run in runs.runs for v in run.values):
        whys = {"completion": "no schedule ended", "slowdown": "no flow was completed"}
        why = whys.get(request.kind, "nothing was delivered")
        count = len(runs.runs)
        who = "the result has no" if count == 1 else f"none of the {count} results has a"
        raise Error(f"nothing to draw: {who} value of this kind ({why})")
    return runs


def _check_options(request: Request, varied: set[tuple[str, str]]) -> None:
    for where in request.where:
        asked = where.split("=", 1)[0]
        if not any(normal_key(asked) == key for key, _ in varied):
            raise Error(f"--where {where}: no sweep varies '{asked}'")
    for label in request.label:
        if all(label_of([label], key, value) is None for key, value in varied):
            raise Error(
                f"--label {label}: no point of a sweep has this value; expected KEY=VALUE=TEXT, "
                "where the sweep varies KEY and uses VALUE"
            )


def _add_points(runs: Runs, folder: str, varied: set[tuple[str, str]], asker: Asker) -> None:
    """Returns the points that have the requested values of the keys that their sweep varies."""
    manifest = manifests.read(folder)
    if manifest is None:
        raise Error(f"{folder}: the folder does not contain a sweep's {manifests.NAME}")
    before, asked = len(runs.runs), [text.split("=", 1) for text in runs.request.where]
    for index, point in enumerate(manifest["points"]):
        file, vary = (
            (point.get("file"), point.get("vary") or {}) if isinstance(point, dict) else ("/", {})
        )
        texts = isinstance(vary, dict) and all(isinstance(value, str) for value in vary.values())
        if not isinstance(file, str) or "/" in file or not texts:
            place = f"{folder}/{manifests.NAME}: points[{index}]"
            raise Error(f"{place}: expected a file, and strings in 'vary'")
        varied.update(vary.items())
        path = os.path.join(folder, file)
        wanted = all(vary.get(normal_key(name), value) == value for name, value in asked)
        if wanted and os.path.exists(path):
            _add_run(runs, asker.result(path), path, vary, manifest.get("sums") is True)
    if len(runs.runs) == before:
        _check_options(runs.request, varied)
        raise Error(f"{folder}: no results for the requested points")


def _add_run(
    runs: Runs, result: dict[str, Any], path: str, vary: dict[str, str], sealed: bool
) -> None:
    """Adds a run. 'sealed': the result must have a checksum."""
    if sealed and "sum" not in result:
        raise Error(f"{path}: expected 'sum', the checksum that all results of this sweep contain")
    try:
        values = READERS[runs.request.kind](runs.request, result)
    except Error as error:
        raise Error(f"{path}: {error}") from None
    runs.runs.append(Run(len(runs.inputs) - 1, vary, values, result))


def doubts(result: dict[str, Any]) -> tuple[bool, bool]:
    """Returns whether a run is saturated or not steady, and whether it is too short to tell. Runs
    with a schedule or with traffic that ends cannot be judged, however long they are."""
    needs = (at(result, f"{key}_needs.measured_ns") for key in ("steady", "saturated"))
    return (
        result.get("saturated") is True or result.get("steady") is False,
        at(result, "until.reached") is False or any(ns is not None for ns in needs),
    )


def _read_point(request: Request, result: dict[str, Any]) -> list[Value]:
    flits = request.unit == "flits"
    key = "flits_per_ns_per_switch" if flits else request.traffic_key
    accepted = figure(result, f"throughput.{key}")
    if flits and accepted == 0:
        what = "no throughput in flits/ns/switch"
        raise Error(f"{what}, as with results of the real clock")
    total, network = (
        figure(result, f"latency_ns.{request.latency_key(which)}.mean")
        if request.latency in ("", which)
        else NAN
        for which in ("total", "network")
    )
    return [Value(accepted, total, network, *doubts(result))]


def _read_load(request: Request, result: dict[str, Any]) -> list[Value]:
    x, y = (figure(result, f"throughput.{key}") for key in ("offered", request.traffic_key))
    return [Value(x, y, NAN, *doubts(result))]


def _read_series(request: Request, result: dict[str, Any]) -> list[Value]:
    series = result.get("series")
    if not series:
        raise Error("no samples ('series'); expected measure.sample shorter than the run")
    latency = "released_latency_ns" if request.by == "release" else "latency_ns"
    keys = ("t_ns", request.traffic_key, latency)
    samples = ([figure(sample, key) for key in keys] for sample in series)
    return [Value(t, accepted, mean) for t, accepted, mean in samples]


def _links(result: dict[str, Any], key: str) -> list[Value]:
    links = result.get("links")
    if not isinstance(links, list) or not links:
        raise Error("no 'links'; run again with --set measure.links=true")
    figures = [figure(link, key) for link in links]
    known = sorted((figure for figure in figures if not math.isnan(figure)), reverse=True)
    return [Value(rank, figure) for rank, figure in enumerate(known, 1)]


def _read_histogram(request: Request, result: dict[str, Any]) -> list[Value]:
    """Returns the number of values in each bucket of a latency histogram."""
    which = request.latency_key(request.latency or "total")
    name = f"latency_ns.{which}.histogram"
    steps = at(result, name)
    if steps is None:
        raise Error(f"no latency histogram ('{name}'); run again with --set measure.latencies=true")
    try:
        return [Value(float(end), float(count)) for end, count in steps]
    except (TypeError, ValueError):
        raise Error(f"{name}: expected a list of [ns, count] pairs") from None


def _read_completion(_: Request, result: dict[str, Any]) -> list[Value]:
    counters = result.get("counters", {})
    if "goal_completion_ns" not in counters:
        what = "no schedule ('counters.goal_completion_ns')"
        raise Error(f"{what}: expected a run whose traffic is 'pattern: goal'")
    ended = not figure(counters, "goal_unfinished") > 0
    return [Value(0, figure(counters, "goal_completion_ns") if ended else NAN)]


def _read_slowdowns(_: Request, result: dict[str, Any]) -> list[Value]:
    """Reads the 99th percentile and the median of each decade of flow sizes, at its upper end."""
    flows = at(result, "flows.by_size")
    if not isinstance(flows, list):
        what = "no flows ('flows.by_size')"
        raise Error(f"{what}: expected a run whose traffic is 'pattern: flows'")
    ranges = {figure(part, "to_bytes"): at(part, "slowdown") for part in flows}
    found = ((10.0**power, ranges.get(10.0**power)) for power in range(3, 14))
    return [Value(end, figure(part, "p99"), figure(part, "p50")) for end, part in found]


# Kinds of plots, with the function that extracts the values of a result.
READERS: dict[str, Callable[[Request, dict[str, Any]], list[Value]]] = {
    "latency-throughput": _read_point,
    "efficiency-time": _read_series,
    "throughput-load": _read_load,
    "link-load": lambda _, result: _links(result, "utilisation"),
    "blocked-time": lambda _, result: _links(result, "blocked"),
    "latency-cdf": _read_histogram,
    "completion": _read_completion,
    "slowdown": _read_slowdowns,
}
