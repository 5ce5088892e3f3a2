# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft plot: pictures of results."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..command import options as options_of
from ..error import Error, Exit
from ..files import refuse_same, write_file, write_text
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
# Options with one of two words, and those that may be given several times.
WORDS = {"unit": ("share", "flits"), "latency": ("total", "network"), "by": ("arrival", "release")}
FORMS = {"where": ("KEY=VALUE", 16), "label": ("KEY=VALUE=TEXT", 32)}
OPTIONS = (*WORDS, *FORMS, "kind", "along", "size", "font", "title", "script")


@dataclass
class Asked:
    """The options of the command."""

    inputs: list[str] = field(default_factory=list)
    request: Request = field(default_factory=lambda: Request(""))
    page: Page = field(default_factory=Page)
    output: str | None = None
    script: str | None = None


def _kind(text: str) -> str:
    if text not in KINDS:
        said = f"--kind {text}" if text else "--kind is missing"
        raise Error(f"{said}: expected {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    return text


def _take(asked: Asked, option: str, value: str) -> None:
    """Checks an option and takes its value."""
    request = asked.request
    if option in WORDS and value not in WORDS[option]:
        raise Error(f"--{option} {value}: expected {' or '.join(WORDS[option])}")
    if option in FORMS:
        known, form, most = getattr(request, option), *FORMS[option]
        if value.count("=") < form.count("=") or value.startswith("="):
            raise Error(f"--{option} {value}: expected {form}")
        if len(known) == most:
            raise Error(f"--{option}: at most {most} of them")
        known.append(value)
    elif option in ("size", "font"):
        {"size": set_size, "font": set_font}[option](asked.page, value)
    elif option == "title":
        asked.page.title = value
    elif option in ("script", "o"):
        setattr(asked, "output" if option == "o" else option, value)
    else:
        values = {"kind": _kind, "unit": "flits".__eq__, "by": "release".__eq__}
        name = {"unit": "flits", "by": "released"}.get(option, option)
        setattr(request, name, values.get(option, str)(value))


def parse(arguments: list[str]) -> Asked:
    asked = Asked()
    options, asked.inputs = options_of("plot", arguments, [f"{option}=" for option in OPTIONS])
    for option, value in options:
        _take(asked, option, value)
    if not asked.inputs:
        raise Error("which results? A sweep's folder or a JSON file")
    _kind(asked.request.kind)
    if asked.request.latency and asked.request.kind not in ("latency-throughput", "latency-cdf"):
        raise Error("--latency requires latency-throughput or latency-cdf")
    return asked


def read_curves(asked: Asked) -> Curves:
    if asked.request.kind == "waterfall":
        if asked.request != Request("waterfall"):
            options = "--where, --along, --unit, --latency, --by, --label"
            raise Error(f"--kind waterfall has no {options}")
        from .waterfall import read_waterfall

        return read_waterfall(asked.inputs)
    runs = load_runs(asked.inputs, asked.request)
    from .curves import make_curves

    return make_curves(runs)


def main(arguments: list[str]) -> int:
    asked = parse(arguments)
    expected = f"expected a file that ends in {ENDINGS}"
    if asked.output is None and asked.script is None:
        raise Error(f"-o is missing: {expected}")
    if asked.output is not None and format_of(asked.output) is None:
        raise Error(f"-o {asked.output}: {expected}")
    for path in filter(None, (asked.output, asked.script)):
        for source in asked.inputs:
            refuse_same(path, source)
    if asked.output == asked.script:
        raise Error(f"--script {asked.script}: expected another file than -o")
    curves = read_curves(asked)
    from .sheet import draw_sheet, save_options

    sheet = draw_sheet(curves, asked.page)
    name = asked.output or os.path.splitext(os.path.basename(asked.script or ""))[0] + ".pdf"
    options = save_options(curves, asked.page, format_of(name) or "pdf")
    if asked.output is not None:
        write_file(asked.output, sheet.picture(options))
    if asked.script is not None:
        write_text(asked.script, sheet.script(name, options))
    return Exit.DONE
