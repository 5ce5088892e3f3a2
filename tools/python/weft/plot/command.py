# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft plot: pictures of results."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Optional

from ..command import options as options_of
from ..error import Error, Exit
from ..files import refuse_same, write_file
from .page import ENDINGS, Page, format_of, set_font, set_size
from .runs import READERS, Request, load_runs

if TYPE_CHECKING:
    from .curves import Curves

USAGE = """\
usage: weft plot DIR|RESULT... --kind KIND -o FILE.png|.svg|.pdf
                 [--where KEY=VALUE]... [--along KEY] [--unit share|flits]
                 [--latency total|network] [--by arrival|release]
                 [--label KEY=VALUE=TEXT]...
                 [--size SIZE] [--font FONT] [--title TEXT] [--script FILE]

Draws sweeps (their folders) and single results (their JSON). Differing keys become curves
with a legend; seeds become means with 95 % confidence intervals. Points whose run is
saturated, not steady, or too short to tell are hollow.
  --kind latency-throughput   total and network latency against accepted traffic
  --kind throughput-load      accepted against offered traffic, points of sweeps over a
                              load
  --kind latency-cdf          share of messages with at most this latency
                              (measure.latencies: true)
  --kind completion           time of a schedule against the key along which a sweep goes
  --kind slowdown             99th percentile and median slowdown of flows, by length
  --kind waterfall            where packets spent their time, from weft why --json
  --kind efficiency-time      accepted traffic against time
  --kind link-load            utilisation of every link, sorted (measure.links: true)
  --kind blocked-time         time for which links wait for credit, sorted (the same)
  --where KEY=VALUE           of a sweep only the points with this value
  --along KEY                 the key that changes along a curve of latency-throughput,
                              throughput-load or completion (default: the first that ends
                              in 'load', else the last)
  --unit share|flits          accepted traffic of latency-throughput: share of the hosts'
                              links (default), or flits/ns/switch
  --latency total|network     only this one (default: both, of latency-cdf total)
  --by arrival|release        when a frame counts: when it arrives (default), or when its
                              host has all frames before it
  --label KEY=VALUE=TEXT      TEXT stands for this value in legends
  --size SIZE                 7.5x5in, 3.4in, 86x60mm, 900x600
  --font FONT                 serif, serif,9 or ,9
  --title TEXT                instead of the kind's own; '' for none
  --script FILE               the Python that draws the figure, for you to edit; with or
                              without -o
Exit: 0 done, 2 bad request, 3 not able (no matplotlib).
"""

KINDS = (*READERS, "waterfall")
LISTS_MAX = {"--where": 16, "--label": 32}
OPTIONS = ("kind", "where", "along", "unit", "latency", "by", "label", "size", "font", "title")


@dataclass
class Asked:
    """The options of the command."""

    inputs: list[str] = field(default_factory=list)
    request: Request = field(default_factory=lambda: Request(""))
    page: Page = field(default_factory=Page)
    output: Optional[str] = None
    script: Optional[str] = None


def _word(option: str, words: tuple[str, str], text: str) -> str:
    if text not in words:
        raise Error(f"{option} {text}: expected {words[0]} or {words[1]}")
    return text


def _kind(text: str) -> str:
    if text not in KINDS:
        kinds = list(KINDS)
        said = f"--kind {text}" if text else "--kind is missing"
        raise Error(f"{said}: expected {', '.join(kinds[:-1])} or {kinds[-1]}")
    return text


def _add(option: str, values: list[str], text: str, form: str) -> None:
    parts = text.split("=", form.count("="))
    if len(parts) <= form.count("=") or not parts[0]:
        raise Error(f"{option} {text}: expected {form}")
    if len(values) == LISTS_MAX[option]:
        raise Error(f"{option}: at most {LISTS_MAX[option]} of them")
    values.append(text)


def _take(asked: Asked, option: str, value: str) -> None:
    request = asked.request
    if option == "--kind":
        request.kind = _kind(value)
    elif option == "--where":
        _add(option, request.where, value, "KEY=VALUE")
    elif option == "--label":
        _add(option, request.labels, value, "KEY=VALUE=TEXT")
    elif option == "--along":
        request.along = value
    elif option == "--unit":
        request.flits = _word(option, ("share", "flits"), value) == "flits"
    elif option == "--latency":
        request.latency = _word(option, ("total", "network"), value)
    elif option == "--by":
        request.released = _word(option, ("arrival", "release"), value) == "release"
    elif option == "--size":
        set_size(asked.page, value)
    elif option == "--font":
        set_font(asked.page, value)
    elif option == "--title":
        asked.page.title = value
    elif option == "--script":
        asked.script = value
    else:
        asked.output = value


def parse(arguments: list[str]) -> Asked:
    """What a command line asks for."""
    asked = Asked()
    known = [f"{option}=" for option in (*OPTIONS, "script")]
    options, asked.inputs = options_of("plot", arguments, known)
    for option, value in options:
        _take(asked, option if option == "o" else f"--{option}", value)
    if not asked.inputs:
        raise Error("which results? A sweep's folder or a JSON file")
    _kind(asked.request.kind)
    if asked.request.latency and asked.request.kind not in ("latency-throughput", "latency-cdf"):
        raise Error("--latency requires latency-throughput or latency-cdf")
    return asked


def read_curves(asked: Asked) -> Curves:
    """The curves of the inputs."""
    if asked.request.kind == "waterfall":
        request = asked.request
        if request != Request("waterfall"):
            raise Error(
                "--kind waterfall has no --where, --along, --unit, --latency, --by, --label"
            )
        from .waterfall import read_waterfall

        return read_waterfall(asked.inputs)
    runs = load_runs(asked.inputs, asked.request)
    from .curves import make_curves

    return make_curves(runs)


def _check_outputs(asked: Asked) -> None:
    if asked.output is None and asked.script is None:
        raise Error(f"-o is missing: expected a file that ends in {ENDINGS}")
    if asked.output is not None and format_of(asked.output) is None:
        raise Error(f"-o {asked.output}: expected a file that ends in {ENDINGS}")


def main(arguments: list[str]) -> int:
    """The command."""
    asked = parse(arguments)
    _check_outputs(asked)
    for path in filter(None, (asked.output, asked.script)):
        for source in asked.inputs:
            refuse_same(path, source)
    if asked.output is not None and asked.output == asked.script:
        raise Error(f"--script {asked.script}: expected another file than -o")
    curves = read_curves(asked)
    from .sheets import draw_sheet, save_options

    sheet = draw_sheet(curves, asked.page)
    name = asked.output or os.path.splitext(os.path.basename(asked.script or ""))[0] + ".pdf"
    options = save_options(curves, asked.page, format_of(name) or "pdf")
    if asked.output is not None:
        write_file(asked.output, sheet.picture(options))
    if asked.script is not None:
        write_file(asked.script, sheet.script(name, options).encode())
    return Exit.DONE
