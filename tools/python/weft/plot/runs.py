# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The results of a plot: single ones and those of sweeps, each reduced to the numbers that the kind
of plot shows. Times are in ns, shares are fractions; NaN was not measured."""
from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

from ..asker import Asker
from ..error import Error, os_error
from ..sweeping import manifest as manifests

NAN = math.nan

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
    """What is drawn of the results, as the options of 'weft plot' have it."""

    kind: str
    where: list[str] = field(default_factory=list)  # KEY=VALUE
    along: Optional[str] = None
    flits: bool = False
    latency: str = ""  # "total" or "network"; "": both, for latency-cdf total
    released: bool = False
    labels: list[str] = field(default_factory=list)  # KEY=VALUE=TEXT

    def latency_key(self, which: str) -> str:
        """The key of a latency, "total" or "network", in a result."""
        return f"{which}_released" if self.released else which

    @property
    def traffic_key(self) -> str:
        """The key of traffic in a result."""
        return "released" if self.released else "accepted"


@dataclass
class Value:
    """A point of a run. 'doubtful': the run is saturated, not steady, or too short to tell."""

    x: float
    y: float
    y2: float = NAN
    doubtful: bool = False


@dataclass
class Run:
    """A result of an input, and its varied keys with their values; none outside of sweeps."""

    input: int
    vary: dict[str, str]
    values: list[Value]
    result: dict[str, Any]

    def __post_init__(self) -> None:
        config, wall = self.result.get("config"), self.result.get("wall")
        self.config: dict[str, Any] = config if isinstance(config, dict) else {}
        self.real_clock = self.config.get("clock") == "real"
        self.network, self.hosts = _describe_network(self.result, self.config)
        self.traffic = _describe_traffic(self.config)
        self.seed = self.result.get("seed")
        self.version = wall.get("version") if isinstance(wall, dict) else None
        self.result = {}  # large, and its values have been taken


@dataclass
class Runs:
    """All runs, and the names of the inputs in legends."""

    request: Request
    runs: list[Run] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)


def _describe_network(result: dict[str, Any], config: dict[str, Any]) -> tuple[str, int]:
    topology = result.get("topology")
    about = topology if isinstance(topology, dict) else {}
    kind = str(config.get("topology", "")).split(":")[0]
    hosts = about.get("hosts")
    name = _NETWORKS.get(kind, str(about.get("name", "")))
    return name, hosts if isinstance(hosts, int) else 0


def _describe_traffic(config: dict[str, Any]) -> str:
    """The patterns of a run, each once."""
    traffic = config.get("traffic")
    flows = traffic if isinstance(traffic, list) else []
    patterns = [flow.get("pattern") for flow in flows if isinstance(flow, dict)]
    words = (
        "schedule" if pattern == "goal" else pattern.replace("-", " ")
        for pattern in patterns
        if isinstance(pattern, str)
    )
    return " + ".join(dict.fromkeys(words))


def key_is(asked: str, key: str) -> bool:
    """Whether a user's key is this one of a manifest.

    >>> key_is("traffic[0].load", "traffic.0.load"), key_is("load", "traffic.0.load")
    (True, False)
    """
    return asked.replace("]", "").replace("[", ".") == key


def label_of(labels: list[str], key: str, value: str) -> Optional[str]:
    """The text of the first label for this value of a key; None if there is none."""
    return next(
        (text for text in (_label_text(label, key, value) for label in labels) if text is not None),
        None,
    )


def _label_text(label: str, key: str, value: str) -> Optional[str]:
    asked, rest = label.split("=", 1)
    if key_is(asked, key) and rest.startswith(value + "="):
        return rest[len(value) + 1 :]
    return None


def load_runs(paths: list[str], request: Request) -> Runs:
    """The runs of sweeps' folders and of results. Points without a result are left out."""
    runs = Runs(request)
    varied: set[tuple[str, str]] = set()
    with Asker() as asker:
        for path in paths:
            try:
                folder = os.path.isdir(path) if os.stat(path) else False
            except OSError as error:
                raise os_error(error, path) from None
            runs.inputs.append(os.path.basename(path.rstrip("/") or "/").removesuffix(".json"))
            if folder:
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
        if not any(key_is(asked, key) for key, _ in varied):
            raise Error(f"--where {where}: no sweep varies '{asked}'")
    for label in request.labels:
        if all(_label_text(label, key, value) is None for key, value in varied):
            raise Error(
                f"--label {label}: no point of a sweep has this value: expected KEY=VALUE=TEXT "
                "with a varied key and one of its values"
            )


def _points(folder: str, manifest: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """The file and the varied values of each point."""
    for index, point in enumerate(manifest["points"]):
        file = point.get("file") if isinstance(point, dict) else None
        vary = (point.get("vary") or {}) if isinstance(point, dict) else {}
        texts = isinstance(vary, dict) and all(isinstance(value, str) for value in vary.values())
        if not isinstance(file, str) or "/" in file or not texts:
            raise Error(
                f"{folder}/{manifests.NAME}: points[{index}]: expected a file and texts in 'vary'"
            )
        yield file, vary


def _add_points(runs: Runs, folder: str, varied: set[tuple[str, str]], asker: Asker) -> None:
    manifest = manifests.read(folder)
    if manifest is None:
        raise Error(f"{folder}: the folder has no {manifests.NAME} of a sweep")
    before = len(runs.runs)
    for file, vary in _points(folder, manifest):
        varied.update(vary.items())
        path = os.path.join(folder, file)
        if _is_wanted(runs.request.where, vary) and os.path.exists(path):
            _add_run(runs, asker.result(path), path, vary, manifest.get("sums") is True)
    if len(runs.runs) == before:
        _check_options(runs.request, varied)
        raise Error(f"{folder}: no results of the points that are asked for")


def _is_wanted(where: list[str], vary: dict[str, str]) -> bool:
    """Whether a point has every requested value of the keys that its sweep varies."""
    asked = [text.split("=", 1) for text in where]
    return all(value == vary[key] for name, value in asked for key in vary if key_is(name, key))


def _add_run(
    runs: Runs, result: dict[str, Any], path: str, vary: dict[str, str], sealed: bool
) -> None:
    """'sealed': the result must have a checksum."""
    if sealed and "sum" not in result:
        raise Error(f"{path}: expected a 'sum', as every result of this sweep has")
    values = READERS[runs.request.kind](runs.request, result, path)
    runs.runs.append(Run(len(runs.inputs) - 1, vary, values, result))


def _number(section: Any, key: str) -> float:
    value = section.get(key) if isinstance(section, dict) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else NAN


def _latency(request: Request, result: dict[str, Any], which: str) -> float:
    section = result.get("latency_ns", {})
    return _number(section.get(request.latency_key(which)), "mean")


def is_doubtful(result: dict[str, Any]) -> bool:
    """Whether a run is saturated, not steady or too short to tell. Runs with a schedule or with
    traffic that ends never have an answer, however long they are."""
    until = result.get("until")
    return (
        result.get("saturated") is True
        or result.get("steady") is False
        or isinstance(until, dict)
        and until.get("reached") is False
        or not math.isnan(_number(result.get("steady_needs"), "measured_ns"))
        or not math.isnan(_number(result.get("saturated_needs"), "measured_ns"))
    )


def _read_point(request: Request, result: dict[str, Any], path: str) -> list[Value]:
    key = "flits_per_ns_per_switch" if request.flits else request.traffic_key
    accepted = _number(result["throughput"], key)
    if request.flits and accepted == 0:
        raise Error(
            f"{path}: throughput in flits/ns/switch is not in it, as with results of the real clock"
        )
    total = NAN if request.latency == "network" else _latency(request, result, "total")
    network = NAN if request.latency == "total" else _latency(request, result, "network")
    return [Value(accepted, total, network, is_doubtful(result))]


def _read_load(request: Request, result: dict[str, Any], path: str) -> list[Value]:
    throughput = result["throughput"]
    accepted = _number(throughput, request.traffic_key)
    return [Value(_number(throughput, "offered"), accepted, NAN, is_doubtful(result))]


def _read_series(request: Request, result: dict[str, Any], path: str) -> list[Value]:
    series = result.get("series")
    if not series:
        raise Error(
            f"{path}: no samples ('series'): expected a measure.sample shorter than the run"
        )
    latency = "released_latency_ns" if request.released else "latency_ns"
    return [
        Value(_number(at, "t_ns"), _number(at, request.traffic_key), _number(at, latency))
        for at in series
    ]


def _read_links(key: str) -> Callable[[Request, dict[str, Any], str], list[Value]]:
    def read(request: Request, result: dict[str, Any], path: str) -> list[Value]:
        links = result.get("links")
        if not isinstance(links, list) or not links:
            raise Error(
                f"{path}: nothing about links ('links'): run it with --set measure.links=true"
            )
        figures = [_number(link, key) for link in links]
        known = sorted((figure for figure in figures if not math.isnan(figure)), reverse=True)
        return [Value(rank, figure) for rank, figure in enumerate(known, 1)]

    return read


def _read_histogram(request: Request, result: dict[str, Any], path: str) -> list[Value]:
    """How many values are in each step of the histogram of a latency."""
    which = request.latency_key("network" if request.latency == "network" else "total")
    section = result.get("latency_ns", {}).get(which)
    steps = section.get("histogram") if isinstance(section, dict) else None
    if steps is None:
        raise Error(
            f"{path}: no histogram of latencies ('latency_ns.{which}.histogram'): run it with "
            "--set measure.latencies=true"
        )
    try:
        return [Value(float(end), float(count)) for end, count in steps]
    except (TypeError, ValueError):
        raise Error(
            f"{path}: latency_ns.{which}.histogram: expected a list of [ns, values]"
        ) from None


def _read_completion(request: Request, result: dict[str, Any], path: str) -> list[Value]:
    counters = result.get("counters", {})
    if "goal_completion_ns" not in counters:
        raise Error(
            f"{path}: no schedule ('counters.goal_completion_ns'): expected a run whose traffic "
            "is 'pattern: goal'"
        )
    ended = not _number(counters, "goal_unfinished") > 0
    return [Value(0, _number(counters, "goal_completion_ns") if ended else NAN)]


def _read_slowdowns(request: Request, result: dict[str, Any], path: str) -> list[Value]:
    """99th percentile and median of each decade of lengths, at the longest length of it."""
    flows = result.get("flows")
    if not isinstance(flows, dict) or not isinstance(flows.get("by_size"), list):
        raise Error(
            f"{path}: no flows ('flows.by_size'): expected a run whose traffic is 'pattern: flows'"
        )
    ranges = {_number(part, "to_bytes"): part.get("slowdown") or {} for part in flows["by_size"]}
    return [
        Value(10.0**power, _number(slowdown, "p99"), _number(slowdown, "p50"))
        for power in range(3, 14)
        for slowdown in [ranges.get(10.0**power, {})]
    ]


# Kinds of plots: the function that takes the values of a result.
READERS: dict[str, Callable[[Request, dict[str, Any], str], list[Value]]] = {
    "latency-throughput": _read_point,
    "efficiency-time": _read_series,
    "throughput-load": _read_load,
    "link-load": _read_links("utilisation"),
    "blocked-time": _read_links("blocked"),
    "latency-cdf": _read_histogram,
    "completion": _read_completion,
    "slowdown": _read_slowdowns,
}
