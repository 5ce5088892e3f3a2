# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Results of runs in files ("weft": "result/1").

A sweep seals the results of its points: "sum" is a CRC-32C of everything except "wall". It detects
results that were edited after weft-fabric wrote them.
"""
from __future__ import annotations

import functools
import json
import math
import re
from typing import Any, NoReturn, Optional

from .error import Error, os_error

FORMAT = "result/1"
SHOWN = 60  # characters of a value in a message

# Sections from which readers take figures: whether a result must have them.
_SECTIONS = {
    "throughput": True,
    "checks": True,
    "latency_ns": False,
    "packets": False,
    "messages": False,
    "counters": False,
}


def load(path: str) -> dict[str, Any]:
    """A result. Error if the file is not one of this version, has impossible values or was changed."""
    document: dict[str, Any] = load_json(path, "no result of a run")
    _check(path, document)
    if "sum" in document and document["sum"] != sum_of(document):
        raise Error(
            f"{path}: was changed after the run: expected the values that weft-fabric wrote, "
            "whose checksum is in 'sum'"
        )
    return document


def load_json(path: str, what: str) -> Any:
    """A JSON document without NaN and without an object that has a key twice; the error starts with
    the place and 'what'."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise os_error(error, path) from None
    except UnicodeDecodeError as error:
        raise Error(f"{path}: {what}: the text is not UTF-8 ({error.reason})") from None
    try:
        return json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        raise Error(f"{path}:{error.lineno}:{error.colno}: {what}: {error.msg}") from None
    except RecursionError:
        raise Error(f"{path}: {what}: nested too deeply") from None
    except ValueError as error:
        line = text.count("\n", 0, _place_of_offence(text)) + 1
        raise Error(f"{path}:{line}: {what}: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate object key")
    return found


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"invalid token {text}")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("real number overflow")
    return value


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


def _place_of_offence(text: str) -> int:
    """Where a document that is JSON otherwise has a key twice or a number that no result has."""
    keys: list[set[str]] = []
    token = ""
    for match in _TOKEN.finditer(text):
        before, token = token, match[0]
        if token in "{[":
            keys.append(set())
        elif token in "}]":
            keys.pop()
        elif token == ":":
            if before in keys[-1]:
                return match.start()
            keys[-1].add(before)
        elif (
            token in ("NaN", "Infinity", "-Infinity")
            or re.match(r"-?\d.*[.eE]", token)
            and math.isinf(float(token))
        ):
            return match.start()
    return 0


def _check(path: str, result: Any) -> None:
    form = result.get("weft") if isinstance(result, dict) else None
    if not isinstance(result, dict) or "weft" not in result:
        raise Error(f"{path}: no result of a run: expected 'weft: {FORMAT}'")
    if form != FORMAT:
        _fail(path, "weft", form, f'"{FORMAT}"')
    for key, required in _SECTIONS.items():
        if key not in result:
            if required:
                raise Error(f"{path}: '{key}' is missing, so it is no result of a run")
            continue
        if not isinstance(result[key], dict):
            _fail(path, key, result[key], "an object")
        _check_values(path, key, result[key], True)
    if not isinstance(result.get("series", []), list):
        _fail(path, "series", result["series"], "a list")
    _check_values(path, "", result, False)


def _check_values(path: str, at: str, value: Any, figures: bool) -> None:
    """No number of a result is negative. 'figures': outside lists, which may name ports and hosts,
    only numbers, true, false and null are allowed."""
    if isinstance(value, (int, float)):
        if value < 0:
            _fail(path, at, value, "0 or more")
    elif isinstance(value, str):
        if figures:
            _fail(path, at, value, "a number")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _check_values(path, f"{at}[{index}]", inner, False)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_values(path, f"{at}.{key}" if at else key, inner, figures)


def _fail(path: str, at: str, value: Any, expected: str) -> NoReturn:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    raise Error(f"{path}: {at}: {text[:SHOWN]}: expected {expected}")


def _text(value: Any) -> str:
    """Compact JSON with sorted keys, and 17 digits of each real number."""
    kind = type(value)
    if kind is float:
        return _real(value)
    if kind is int:
        return str(value)
    if kind is dict:
        return (
            "{" + ",".join([f"{_quoted(key)}:{_text(value[key])}" for key in sorted(value)]) + "}"
        )
    if kind is list:
        return "[" + ",".join([_text(inner) for inner in value]) + "]"
    return _quoted(value)


@functools.lru_cache(maxsize=4096)
def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _real(value: float) -> str:
    """As jansson writes it: always with a point or an exponent, and the exponent in few digits."""
    text = f"{value:.17g}"
    if "e" not in text:
        return text if "." in text else text + ".0"
    digits, exponent = text.split("e")
    return f"{digits}e{int(exponent)}"


def sum_of(result: dict[str, Any]) -> str:
    """The checksum of a result, as its "sum" has it."""
    rest = {key: value for key, value in result.items() if key not in ("sum", "wall")}
    return f"{crc32c(_text(rest).encode()):08x}"


def _table() -> list[int]:
    table = list(range(256))
    for _ in range(8):
        table = [value >> 1 ^ (0x82F63B78 if value & 1 else 0) for value in table]
    return table


_crc_table: Optional[list[int]] = None


def crc32c(data: bytes) -> int:
    """CRC-32C, as in iSCSI.

    >>> f"{crc32c(b'123456789'):08x}"
    'e3069283'
    """
    global _crc_table
    _crc_table = table = _crc_table or _table()
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF
