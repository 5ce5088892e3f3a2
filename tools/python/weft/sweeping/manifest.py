# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""manifest.json, the request of the sweep in its folder: what results there belong to."""
from __future__ import annotations

import fcntl
import json
import os
from typing import Any

from ..asker import Asker, Refused
from ..error import Error, Exit, os_error
from ..output import read_json, refuse_same, remove
from .request import Sweep

Document = dict[str, Any]

NAME = "manifest.json"
FORMAT = "sweep/1"
OUTPUTS = (NAME, "sweep.csv", "sweep-mean.csv", "sweep.json")
RESULT_END = ".json"


def make(sweep: Sweep, asker: Asker) -> tuple[Document, bool]:
    """Checks the configuration of every point before the first run. Returns the manifest, and
    whether a point runs on the real clock."""
    plan = sweep.plan
    about = asker.ask("about")
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
        manifest["cases"] = [{"name": case.name, "set": case.sets} for case in sweep.cases]
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
            raise _at_point(sweep, point, error) from error
        files.update(found["files"])
        real_clock = real_clock or found["real_clock"]
    if sweep.valid_points == 0:
        raise Error(
            f"--skip-invalid: none of {sweep.plan.points} points is valid: {sweep.invalid[0]}"
        )
    return files, real_clock


def _at_point(sweep: Sweep, point: int, error: Refused) -> Error:
    """Adds the point, unless --set alone is to blame."""
    if not sweep.plan.vary or str(error).startswith("--set "):
        return error
    return Error(f"{error}, at the point {sweep.plan.label(point)}", error.code)


def read(folder: str) -> Document | None:
    """The manifest of a folder; None: it has none. Error if it is damaged."""
    path = f"{folder}/{NAME}"
    if not os.path.exists(path):
        return None
    document = read_json(path, "no manifest of a sweep")
    if (
        isinstance(document, dict)
        and document.get("weft") == FORMAT
        and isinstance(document.get("points"), list)
    ):
        return document
    raise Error(f"{path}: no manifest of a sweep (expected weft: {FORMAT})")


def _show(value: object) -> str:
    if value is None:
        return "nothing"
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)[:60]


def _difference(path: str, there: object, asked: object) -> str | None:
    """The first difference of two documents; 'path' is its place."""
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
    return deeper or (f"{path} is now {_show(asked)}, the sweep there began with {_show(there)}")


def _other_files(there: Document, asked: Document) -> str | None:
    known = there.get("files")
    for path, total in asked["files"].items():
        if not isinstance(known, dict) or known.get(path) != total:
            return f"{path} has changed since the sweep there began"
    return None


def _other_program(there: Document, asked: Document) -> str | None:
    before = there.get("program")
    if not isinstance(before, str):
        return "the sweep there does not say which build of weft-fabric it ran"
    if before != asked["program"]:
        return "weft-fabric is another build than the one that the sweep there began with"
    return None


def compare(sweep: Sweep, there: Document, asked: Document) -> None:
    """Refuses the manifest of another sweep."""
    parts = (("configuration", ""), ("vary", "--vary"), ("seeds", "--seeds"), ("cases", "--cases"))
    why = None
    for key, path in parts:
        why = why or _difference(path, there.get(key), asked.get(key))
    why = why or _other_files(there, asked) or _other_program(there, asked)
    if why is not None:
        raise Error(f"{sweep.folder} has another sweep: {why}; --restart deletes it")


def _point_files(sweep: Sweep, manifest: Document | None) -> list[str]:
    """The names of the results of a manifest's points, as far as they are in the folder."""
    points = manifest["points"] if manifest is not None else []
    names = [point.get("file") for point in points if isinstance(point, dict)]
    return [
        name
        for name in names
        if isinstance(name, str)
        and name.endswith(RESULT_END)
        and len(name) > len(RESULT_END)
        and "/" not in name
    ]


def _remove_points(sweep: Sweep, manifest: Document | None) -> None:
    for name in _point_files(sweep, manifest):
        remove(sweep.path(name))
        remove(sweep.path(name.removesuffix(RESULT_END) + ".log"))


def open_folder(sweep: Sweep) -> int:
    """Makes the folder and those above it, and locks it. The descriptor holds the lock."""
    assert sweep.folder is not None
    for part in _above(sweep.folder):
        try:
            os.mkdir(part)
        except FileExistsError:
            continue
        except OSError as error:
            raise os_error(error, f"{part}: the folder cannot be made") from error
    try:
        folder = os.open(sweep.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise os_error(error, sweep.folder) from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(folder)
        raise Error(f"{sweep.folder}: another sweep is running there", Exit.NOT_ABLE) from error
    return folder


def _above(folder: str) -> list[str]:
    """The folder after those above it."""
    ends = [at for at in range(1, len(folder)) if folder[at] == "/"]
    return [folder[:end] for end in (*ends, len(folder))]


def _check_outputs(sweep: Sweep, asked: Document) -> None:
    """The run file and the files that it names are not overwritten."""
    for name in OUTPUTS:
        path = sweep.path(name)
        for given in (sweep.run_file, *asked["files"]):
            refuse_same(path, given)


def settle(sweep: Sweep, asked: Document) -> None:
    """Compares the folder with what is asked for, and writes the manifest."""
    _check_outputs(sweep, asked)
    assert sweep.folder is not None
    there, damage = None, None
    try:
        there = read(sweep.folder)
    except Error as error:
        damage = error
    if sweep.restart:
        _remove_points(sweep, there)
        _remove_points(sweep, asked)
    elif damage is not None:
        raise Error(f"{damage}; --restart starts again") from damage
    elif there is not None:
        compare(sweep, there, asked)
    else:
        for name in _point_files(sweep, asked):
            if os.path.exists(sweep.path(name)):
                raise Error(
                    f"{sweep.folder} has {name}, but no {NAME} that describes it; --restart deletes it"
                )
    write_json(sweep.path(NAME), asked)


def write_json(path: str, document: object) -> None:
    """Writes a document whole or not at all."""
    write_text(path, json.dumps(document, indent=2, ensure_ascii=False))


def write_text(path: str, text: str) -> None:
    """Writes a file whole or not at all."""
    try:
        with open(f"{path}.part", "w", encoding="utf-8", errors="surrogateescape") as out:
            out.write(text)
        os.rename(f"{path}.part", path)
    except OSError as error:
        raise Error(f"{path}: cannot be written: {error.strerror}", Exit.NOT_ABLE) from error
