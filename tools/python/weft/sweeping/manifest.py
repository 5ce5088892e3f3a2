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


def _difference(path: str, there: object, asked: object) -> str | None:
    """Returns the first difference between two documents; 'path' is its position."""
    if there == asked:
        return None
    deeper = None
    if isinstance(there, dict) and isinstance(asked, dict):
        for key, value in asked.items():
            place = f"{path}.{key}" if path else str(key)
            deeper = deeper or _difference(place, there.get(key), value)
    elif isinstance(there, list) and isinstance(asked, list) and len(there) == len(asked):
        for index, (before, now) in enumerate(zip(there, asked)):
            deeper = deeper or _difference(f"{path}[{index}]", before, now)
    now, then = (
        "nothing"
        if value is None
        else json.dumps(value, separators=(",", ":"), ensure_ascii=False)[:60]
        for value in (asked, there)
    )
    return deeper or f"{path} is now {now}, but the sweep there started with {then}"


def compare(sweep: Sweep, there: Document, asked: Document) -> None:
    found = []
    for key in ("configuration", "vary", "seeds", "cases"):
        path = "" if key == "configuration" else f"--{key}"
        found.append(_difference(path, there.get(key), asked.get(key)))
    files = there.get("files")
    for path, total in asked["files"].items():
        if not isinstance(files, dict) or files.get(path) != total:
            found.append(f"{path} has changed since the sweep there started")
    if not isinstance(there.get("program"), str):
        found.append("the sweep there does not record its build of weft-fabric")
    elif there["program"] != asked["program"]:
        build = "weft-fabric is a different build from the one that the sweep there started with"
        found.append(build)
    for why in filter(None, found):
        raise Error(f"{sweep.folder} contains a different sweep: {why}; --restart deletes it")


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
        raise Error(f"{damage}; --restart starts the sweep again") from damage
    elif there is not None:
        compare(sweep, there, asked)
    else:
        names = [stem + RESULT_END for stem in _stems(asked)]
        found = next((name for name in names if os.path.exists(sweep.path(name))), None)
        if found is not None:
            why = f"contains {found}, but no {NAME}"
            raise Error(f"{sweep.folder} {why}; --restart deletes it")
    write_json(sweep.path(NAME), asked)


def write_json(path: str, document: object) -> None:
    write_text(path, json.dumps(document, indent=2, ensure_ascii=False), ours=True)
