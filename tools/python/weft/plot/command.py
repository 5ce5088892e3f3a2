# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft plot: figures of results."""
import os
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ..command import options
from ..error import Error, Exit
from ..files import refuse_same, write_file, write_text
from ..quantity import Parse, choice
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

Draws sweeps (their folders) and single results (their JSON files). Keys that
differ become curves with a legend. Seeds become means with 95 % confidence
intervals. Points whose run is saturated or not steady are hollow; half-filled
ones are too short to tell.
  --kind latency-throughput   total and network latency against accepted traffic
  --kind throughput-load      accepted against offered traffic, for sweeps over
                              a load
  --kind latency-cdf          share of messages with at most this latency
                              (measure.latencies: true)
  --kind completion           time of a schedule against the key given with
                              --along
  --kind slowdown             99th percentile and median slowdown of flows, by
                              length
  --kind waterfall            where packets spent their time, from weft why
                              --json
  --kind efficiency-time      accepted traffic against time
  --kind link-load            utilisation of every link, sorted (measure.links:
                              true)
  --kind blocked-time         time for which links wait for credit, sorted (the
                              same)
  --where KEY=VALUE           only the points of a sweep with this value
  --along KEY                 the key that changes along a curve of
                              latency-throughput, throughput-load or completion
                              (default: the first key that ends in 'load',
                              otherwise the last key)
  --unit share|flits          unit of accepted traffic in latency-throughput:
                              share of the hosts' link rate (default), or
                              flits/ns/switch
  --latency total|network     only this latency (default: both; latency-cdf:
                              total)
  --by arrival|release        when a frame counts: when it arrives (default), or
                              when all earlier frames have also arrived
  --label KEY=VALUE=TEXT      TEXT represents this value in legends
  --size SIZE                 7.5x5in, 3.4in, 86x60mm, 900x600
  --font FONT                 serif, serif,9 or ,9
  --title TEXT                replaces the default title; '' for none
  --script FILE               a Python program that draws the figure and can be
                              edited; with or without -o
Exit: 0 success, 2 invalid request, 3 not possible on this machine (no
matplotlib).
"""

KINDS = (*READERS, "waterfall")
FORMS = {"where": "KEY=VALUE", "label": "KEY=VALUE=TEXT"}  # options that may be given several times


@dataclass
class Asked:
    inputs: list[str]
    request: Request = field(default_factory=Request)
    page: Page = field(default_factory=Page)
    output: str | None = None
    script: str | None = None


def parse(arguments: list[str]) -> Asked:
    asked = Asked([])
    request, page = asked.request, asked.page

    def add(name: str, text: str) -> None:
        if text.count("=") < FORMS[name].count("=") or text.startswith("="):
            raise ValueError(FORMS[name])
        getattr(request, name).append(text)

    readers: dict[str, Parse] = {
        "kind": choice(*KINDS),
        "unit": choice("share", "flits"),
        "latency": choice("total", "network"),
        "by": choice("arrival", "release"),
        "size": partial(set_size, page),
        "font": partial(set_font, page),
        **{name: partial(add, name) for name in FORMS},
    }
    found, asked.inputs = options(USAGE, arguments, readers)
    asked.output, asked.script = found.pop("o", None), found.pop("script", None)
    page.title = found.pop("title", None)
    if not asked.inputs:
        raise Error("expected results: a sweep's folder or a JSON file")
    if "kind" not in found:
        raise Error(f"--kind is missing; expected one of {', '.join(KINDS)}")
    for name, value in found.items():
        setattr(request, name, value)
    if request.latency and request.kind not in ("latency-throughput", "latency-cdf"):
        raise Error("--latency requires latency-throughput or latency-cdf")
    return asked


def read_curves(asked: Asked) -> "Curves":
    if asked.request.kind == "waterfall":
        if asked.request != Request("waterfall"):
            options = "--where, --along, --unit, --latency, --by or --label"
            raise Error(f"--kind waterfall does not accept {options}")
        from .waterfall import read_waterfall

        return read_waterfall(asked.inputs)
    runs = load_runs(asked.inputs, asked.request)
    from .curves import make_curves

    return make_curves(runs)


def main(arguments: list[str]) -> int:
    asked = parse(arguments)
    expected = f"expected a file that ends in {ENDINGS}"
    if asked.output is None and asked.script is None:
        raise Error(f"-o is missing; {expected}")
    if asked.output is not None and format_of(asked.output) is None:
        raise Error(f"-o {asked.output}: {expected}")
    for path in filter(None, (asked.output, asked.script)):
        for source in asked.inputs:
            refuse_same(path, source)
    if asked.output == asked.script:
        raise Error(f"--script {asked.script}: expected a file other than -o")
    curves = read_curves(asked)
    from .sheet import draw_sheet, save_options

    sheet = draw_sheet(curves, asked.page)
    name = asked.output or os.path.splitext(os.path.basename(asked.script or ""))[0] + ".pdf"
    look = save_options(curves, asked.page, format_of(name) or "pdf")
    if asked.output is not None:
        write_file(asked.output, sheet.picture(look))
    if asked.script is not None:
        write_text(asked.script, sheet.script(name, look))
    return Exit.DONE
