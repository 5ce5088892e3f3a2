# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""weft reproduce: figures and tables of papers, published numbers beside those of Weft."""
import contextlib
import glob
import os
import re
import sys
from dataclasses import dataclass, field, replace
from typing import Any

from ..asker import Asker
from ..command import note, options, print_json
from ..error import Error, Exit, need
from ..files import make_folder
from ..quantity import TIME, Parse, choice, number, quantity
from . import pool, published, tables, trial
from .comparison import Comparison, Document, document
from .definition import COPIES_MAX, MESSAGES_MAX, Definition, load

NAME = "reproduce"
JOBS_MAX = 256
USAGE = """\
usage: weft reproduce --list [--json]
       weft reproduce NAME [--quick] [--only A,B] [--instances N] [--warmup N]
                           [--messages N] [--latency-limit TIME] [--jobs N]
                           [--json|--markdown] [--cache DIR]
                           [--on slurm [--srun ARGS]] [--again] [-o DIR]

Runs a figure or table of a paper and prints published | ours | ratio. NAME is a
name in --list or a file such as those in topo/reproduce. A group runs all of
its members (--only selects some), and so does the file of a paper. The same
command resumes after an interruption.
  --list       name, paper, figure or table, and time on two cores or the reason
               why it is not run
  --quick      fewer networks and messages: orderings and coarse factors
  --only A,B   only these networks, cases and algorithms; a list with none of
               them is run whole
  --instances N  number of random networks or seeds, up to 100, instead of the
                 definition's
  --warmup N   messages that are discarded before the measurement, instead of
               the definition's
  --messages N  messages that are measured; the output shows the number
  --latency-limit TIME  mean latency above which a search counts a network as
                        saturated, such as 20us, instead of the definition's;
                        0s: any latency is accepted
  --jobs N     runs at a time (default: the cores)
  --on slurm   run each point as a Slurm job; all machines must share the folder
               of results
  --srun ARGS  additional arguments for srun, such as '--time=1:00:00 --mem=2G'
  --json       print one JSON document
  --markdown   print tables in Markdown
  --cache DIR  folder for results (default: $XDG_CACHE_HOME/weft or
               ~/.cache/weft)
  --again      run everything again
  -o DIR       folder for figures (default: the current folder)
Exit: 0 success, 1 a value is not as published, 2 invalid request, 3 not
possible on this machine, 130 ended by Ctrl-C.
"""

LISTED = ("name", "paper", "place", "title", "time", "quick_time")
READERS: dict[str, Parse] = {
    "instances": number(1, COPIES_MAX),
    "warmup": number(0, MESSAGES_MAX),
    "messages": number(1, MESSAGES_MAX),
    "jobs": number(1, JOBS_MAX),
    "latency-limit": quantity(TIME),
    "on": choice("slurm"),
}


@dataclass
class Request:
    words: list[str]
    name: str | None = None
    only: str | None = None
    o: str = "."
    cache: str = ""
    on: str | None = None
    srun: str | None = None
    jobs: int = 0
    instances: int = 0  # 0, and None below: use the definition's value
    warmup: int | None = None
    messages: int | None = None
    latency_limit: int | None = None
    quick: bool = False
    json: bool = False
    markdown: bool = False
    again: bool = False
    documents: list[Document] | None = None  # from a group's members, with --json
    members: dict[str, Definition] = field(default_factory=dict)  # by name, from a paper's file


def default_cache() -> str:
    """Returns $XDG_CACHE_HOME/weft, ~/.cache/weft, or a local folder without a home directory."""
    cache, home = os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("HOME", "")
    folder = cache if cache.startswith("/") else f"{home}/.cache" if home.startswith("/") else "."
    with contextlib.suppress(OSError):
        os.mkdir(folder)
    return f"{folder}/weft"


def parse(words: list[str]) -> Request:
    found, rest = options(USAGE, words, READERS)
    lists = found.pop("list", False)
    if len(rest) > 1:
        raise Error(f"expected one NAME; found a second: '{rest[1]}'")
    request = Request(words, rest[0] if rest else None, **found)
    if lists == bool(rest):
        raise Error(f"expected --list or a NAME{', not both' if lists else ''}")
    if request.markdown and (request.json or lists):
        raise Error("--markdown requires a NAME, and cannot be combined with --json")
    if request.on is None and request.srun is not None:
        raise Error("--srun requires --on slurm")
    if not request.cache and not lists:
        request.cache = default_cache()
    if request.on is not None:
        request.srun = request.srun or ""
    cores = len(os.sched_getaffinity(0))
    request.jobs = request.jobs or (JOBS_MAX if request.on is not None else cores)
    return request


class Session:
    def __init__(self, request: Request, asker: Asker) -> None:
        self.request, self.asker = request, asker
        about = asker.ask("about")
        self.version: str = about["version"]
        # The files of the papers, not the base run files.
        names = sorted(glob.glob(f"{glob.escape(about['definitions'])}/*.yaml"))
        self.papers = [name for name in names if not os.path.basename(name).startswith("run-")]

    def open(self, name: str) -> Definition:
        """Returns the definition with this name or file. A paper's file is a group of definitions."""
        if name in self.request.members:
            return self.request.members[name]
        if "/" in name or "." in name:
            found = load(name)
            if found[0].origin == name:
                return found[0]
            self.request.members = {one.name: one for one in found}
            stem = os.path.splitext(os.path.basename(name))[0]
            runnable = [one.name for one in found if not one.members and not one.missing]
            return Definition(stem, name, paper=found[0].paper, members=runnable)
        for path in self.papers:
            with open(path, encoding="utf-8") as text:
                there = re.search(rf"^  {re.escape(name)}:", text.read(), re.M)
            for one in load(path, name) if there else []:
                return one
        raise Error(f"no experiment '{name}'; 'weft reproduce --list' lists them")

    def list(self) -> int:
        """Prints all definitions, ordered by name and number."""
        found = [one for path in self.papers for one in load(path)]
        parts = re.compile(r"(\d+)").split
        found.sort(key=lambda one: [int(p) if p.isdigit() else p for p in parts(f"{one.name}.")])
        if self.request.json:
            entries: list[dict[str, Any]] = []
            for one in found:
                entries.append({key: getattr(one, key) for key in LISTED})
                entries[-1] |= {"missing": one.missing or None, "group": bool(one.members)}
            print_json(entries)
            return Exit.DONE
        form = "{:22} {:20} {:17} {:10} {:10} {}".format
        print(form("NAME", "PAPER", "PLACE", "TIME", "--quick", "WHAT"))
        for one in found:
            time = "not run" if one.missing else one.time
            what = "; ".join(filter(None, (one.title, one.missing)))
            print(form(one.name, one.paper, one.place, time, one.quick_time, what))
        return Exit.DONE

    def reproduce(self, what: Definition) -> int:
        request = self.request
        if what.missing:
            raise Error(f"{what.name} cannot be run: {what.missing}", Exit.NOT_ABLE)
        from . import pictures  # which needs the package's plots

        if request.quick:
            what.reduce()
        if request.instances:
            what.set_instances(request.instances)
        for name in ("warmup", "messages", "latency_limit"):
            value = getattr(request, name)
            if value is not None:
                what.set_length(name, value)
        if request.only is not None:
            what.select(request.only)
        draws = pictures.wanted(what)
        need("scipy", *["matplotlib"] * draws)
        if draws:
            pictures.check_folder(request.o)
        pool.make_schedule(what.schedule, request.cache)
        rows = published.load(what)
        trials = trial.make(what, rows, self.asker)
        make_folder(request.cache)
        runner = pool.Pool(trials, self.asker, request.cache, request.srun, request.again)
        if runner.run(request.jobs):
            note(NAME, "ended early; run the same command again for the missing points")
            return Exit.INTERRUPTED
        found = Comparison(what, rows, trials)
        self._show(found)
        for path in pictures.draw(what, trials, self.asker, request.o) if draws else ():
            print(path, file=sys.stderr if request.json or request.markdown else sys.stdout)
        return Exit.DONE if found.good else Exit.BAD_ANSWER

    def _show(self, found: Comparison) -> None:
        if not self.request.json:
            shown = tables.render(found, self.version, self.request.markdown)
            print(shown, end="", flush=True)
            return
        made = document(found, self.version, self.request.words)
        if self.request.documents is not None:
            self.request.documents.append(made)
        else:
            print_json(made)

    def group(self, group: Definition) -> int:
        """Runs the members one after another. Returns the highest exit code, or Ctrl-C's."""
        request, known, code = self.request, group.members, int(Exit.DONE)
        words = known if request.only is None else request.only.split(",")
        if not set(words) <= set(known):
            expected = f"expected members of the group, such as {known[0]}"
            raise Error(f"{group.name}: --only {request.only}: {expected}")
        chosen = [name for name in known if name in words]
        for name in chosen:  # checked before the runs, which may take hours
            is_group = False
            with contextlib.suppress(Error):  # an unreadable file is reported when it is its turn
                is_group = bool(self.open(name).members)
            if is_group:
                expected = f"expected experiments as members; '{name}' is a group"
                raise Error(f"{request.name}: {expected}")
        request.documents = [] if request.json else None
        for name in chosen:
            if not request.json:
                print(f"\n{'###' if request.markdown else '=='} {name}", flush=True)
            try:
                member = self.open(name)
                instances = request.instances if member.has_instances() else 0
                self.request = replace(request, only=None, instances=instances)
                code = max(code, self.reproduce(member))
            except Error as error:  # which does not end the group
                note(NAME, str(error))
                code = max(code, error.code)
            if code == Exit.INTERRUPTED:
                break
        if request.documents is not None:
            form = {"weft": "reproduction-group/1", "name": group.name}
            print_json({**form, "members": request.documents})
        return code


def main(words: list[str]) -> int:
    request = parse(words)
    with Asker() as asker:
        session = Session(request, asker)
        if request.name is None:
            return session.list()
        what = session.open(request.name)
        return session.group(what) if what.members else session.reproduce(what)
