# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""manifest.json, the request of a sweep: it identifies the results in the folder."""
import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterator
from typing import Any

from ..asker import Asker, Refused
from ..error import Error, Exit, naming, os_error
from ..files import read_json, refuse_same, remove, write_text
from .request import Sweep

Document = dict[str, Any]

NAME = "manifest.json"
FORMAT = "sweep/1"
OUTPUTS = (NAME, "sweep.csv", "sweep-mean.csv", "sweep.json")
RESULT_END = ".json"
TEXT_MAX, SHOWN_MAX = 60, 5  # letters of a value, and lines
CHOICES = (
    "to keep it, choose another folder with -o; to continue it, use its options and files; "
    "to delete its results and start over, add --restart"
)


def make(sweep: Sweep, asker: Asker) -> tuple[Document, bool]:
    """Checks the configuration of every point before the first run. Returns the manifest, and
    whether a point runs on the real clock."""
    plan, about = sweep.plan, asker.ask("about")
    base = asker.run(sweep.run_file, [("--set", sweep.sets)], whole=True)
    files, real_clock = _check_points(sweep, asker)
    manifest = {
        "weft": FORMAT,
        "sums": True,
        "version": about["version"],
        "program": about["mark"],
        "run_file": sweep.run_file,
        "vary": [{"key": vary.key, "values": vary.values} for vary in plan.vary],
        "seeds": {"first": plan.first_seed, "count": plan.seeds} if plan.seeds else None,
        "configuration": base["config"],
        "files": files,
        "points": [
            {
                "file": plan.name(point) + RESULT_END,
                "vary": dict(zip((v.key for v in plan.vary), plan.values(point))),
                "seed": plan.seed(point),
            }
            for point in range(plan.points)
        ],
    }
    if sweep.cases:
        manifest["cases"] = [{"name": name, "set": sets} for name, sets in sweep.cases.items()]
    return manifest, real_clock


def _check_points(sweep: Sweep, asker: Asker) -> tuple[dict[str, int], bool]:
    files: dict[str, int] = {}
    real_clock = False
    for point in range(sweep.plan.points):
        try:
            found = asker.run(sweep.run_file, sweep.overrides(point))
        except Refused as error:
            if sweep.skip_invalid and error.code == Exit.BAD_REQUEST:
                sweep.invalid[point] = str(error)
                continue
            if not sweep.plan.vary or str(error).startswith("--set "):
                raise
            raise Error(f"{error} (at point {sweep.plan.label(point)})", error.code) from error
        files.update(found["files"])
        real_clock = real_clock or found["real_clock"]
    if not sweep.valid:
        why = f"none of {sweep.plan.points} points is valid: {sweep.invalid[0]}"
        raise Error(f"--skip-invalid: {why}")
    return files, real_clock


def read(folder: str) -> Document | None:
    """Returns the manifest of a folder, or None. Raises an Error if it is damaged."""
    path = f"{folder}/{NAME}"
    if not os.path.exists(path):
        return None
    document = read_json(path, "no manifest of a sweep", FORMAT)
    if not isinstance(document.get("points"), list):
        raise Error(f"{path}: not a sweep manifest: expected a list of points")
    return document


def _text(value: object) -> str:
    """Returns a value of a run file in its syntax, shortened."""
    if isinstance(value, dict):
        text = f"{{{', '.join(f'{key}: {_text(inner)}' for key, inner in value.items())}}}"
    elif isinstance(value, list):
        text = f"[{', '.join(map(_text, value))}]"
    elif value is None or isinstance(value, bool):
        text = {None: "not set", True: "true", False: "false"}[value]
    else:
        text = str(value)
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}..."


def _differences(path: str, asked: object, there: object) -> Iterator[str]:
    """Yields the differences between two documents; 'path' is their position."""
    if isinstance(there, dict) and isinstance(asked, dict):
        for key in {**asked, **there}:
            place = f"{path}.{key}" if path else str(key)
            yield from _differences(place, asked.get(key), there.get(key))
    elif isinstance(there, list) and isinstance(asked, list) and len(there) == len(asked):
        for index, (now, before) in enumerate(zip(asked, there)):
            yield from _differences(f"{path}.{index}", now, before)
    elif there != asked:
        yield f"{path} is now {_text(asked)}; it was {_text(there)}"


def _options(manifest: Document) -> dict[str, str]:
    """Returns the options of a sweep as its user writes them."""
    vary, seeds = manifest["vary"], manifest.get("seeds")
    found = {f"--vary {one['key']}": ", ".join(one["values"]) for one in vary}
    for case in manifest.get("cases") or []:
        found[f"case '{case['name']}'"] = ", ".join(case["set"]) or "without changes"
    if seeds:
        found["--seeds"] = f"{seeds['first']}:{seeds['first'] + seeds['count'] - 1}"
    return found


def compare(sweep: Sweep, there: Document, asked: Document) -> None:
    found = [*_differences("", asked["configuration"], there.get("configuration"))]
    with contextlib.suppress(KeyError, TypeError, AttributeError):  # a damaged manifest
        options, before = _options(asked), _options(there)
        found += _differences("", options, before)
        if options == before and [*options] != [*before]:
            found.append("the order of --vary or of the cases has changed")
    keys = ("vary", "seeds", "cases")
    if not found and any(there.get(key) != asked.get(key) for key in keys):
        found.append(f"{NAME} there has been damaged")
    files = there.get("files")
    for path, total in asked["files"].items():
        if not isinstance(files, dict) or files.get(path) != total:
            found.append(f"{path} has changed since the sweep there started")
    if not isinstance(there.get("program"), str):
        found.append("the sweep there does not record its build of weft-fabric")
    elif there["program"] != asked["program"]:
        build = "weft-fabric is a different build from the one that the sweep there started with"
        found.append(build)
    if found:
        shown = found[:SHOWN_MAX] + [f"and {len(found) - SHOWN_MAX} more"] * (
            len(found) > SHOWN_MAX
        )
        lines = "".join(f"\n  {line}" for line in shown)
        raise Error(f"{sweep.folder} contains a different sweep:{lines}\n{CHOICES}")


def _stems(manifest: Document | None) -> list[str]:
    """Returns the names of those files of a manifest's points that exist in the folder."""
    points = manifest["points"] if manifest is not None else []
    names = [str(point.get("file")) for point in points if isinstance(point, dict)]
    return [name.removesuffix(".json") for name in names if re.fullmatch(r"[^/]+\.json", name)]


@contextlib.contextmanager
def locked(sweep: Sweep, asked: Document) -> Iterator[None]:
    """Creates the folder and its parents, locks it, and writes the manifest if the folder is suitable."""
    folder = sweep.folder or "."
    try:
        with contextlib.suppress(FileExistsError):
            os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise os_error(error, f"{error.filename}: the folder cannot be created") from error
    with naming(folder):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Error(f"{folder}: another sweep is running there", Exit.NOT_ABLE) from error
        _settle(sweep, asked)
        yield
    finally:
        os.close(descriptor)


def _settle(sweep: Sweep, asked: Document) -> None:
    """Compares the folder with the request, and writes the manifest."""
    for name in OUTPUTS:
        for given in (sweep.run_file, *asked["files"]):
            refuse_same(sweep.path(name), given)
    there, damage = None, None
    try:
        there = read(sweep.folder or ".")
    except Error as error:
        damage = error
    if sweep.restart:
        for stem in _stems(there) + _stems(asked):
            remove(sweep.path(stem + RESULT_END), sweep.path(f"{stem}.log"))
    elif damage is not None:
        raise Error(f"{damage}; {CHOICES}") from damage
    elif there is not None:
        compare(sweep, there, asked)
    else:
        names = [stem + RESULT_END for stem in _stems(asked)]
        found = next((name for name in names if os.path.exists(sweep.path(name))), None)
        if found is not None:
            raise Error(f"{sweep.folder} contains {found}, but no {NAME}; {CHOICES}")
    write_json(sweep.path(NAME), asked)


def write_json(path: str, document: object) -> None:
    write_text(path, json.dumps(document, indent=2, ensure_ascii=False), ours=True)
