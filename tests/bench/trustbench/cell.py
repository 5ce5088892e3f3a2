# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A cell of the matrix, and the program that is measured."""

import json
import shlex
import subprocess


class NotAble(Exception):
    """Says in one line why this machine cannot measure a cell."""


class Cell:
    """What a peer says, what we say, and how far they may be apart.

    'measure' takes a Weft and gives our figure, or (theirs, ours) if the peer runs now.
    bound: ("within", share), ("equal",), ("at most", factor) or ("at least", factor) of theirs."""

    def __init__(self, peer, claim, bound, measure, *, command, theirs=None, quick=False):
        self.peer, self.claim, self.bound, self.measure = peer, claim, bound, measure
        self.command, self.theirs, self.quick = command, theirs, quick
        self.ours = self.reason = None
        self.seconds = 0.0

    def good(self):
        if self.ours is None:
            return False
        kind, *share = self.bound
        if kind == "equal":
            return self.ours == self.theirs
        if kind == "within":
            return abs(self.ours - self.theirs) <= share[0] * abs(self.theirs)
        if kind == "at most":
            return self.ours <= share[0] * self.theirs
        return self.ours >= share[0] * self.theirs

    def bound_text(self):
        kind, *share = self.bound
        if kind == "equal":
            return "equal"
        if kind == "within":
            return f"±{100 * share[0]:g} %"
        return f"{kind} {100 * share[0]:g} %"

    def as_json(self):
        return {"peer": self.peer, "claim": self.claim, "theirs": self.theirs, "ours": self.ours,
                "bound": list(self.bound), "command": self.command, "good": self.good(),
                "not_run": self.reason, "seconds": round(self.seconds, 3)}


class Weft:
    """The built programs, and a folder for files."""

    def __init__(self, build, folder, root):
        self.build, self.folder, self.root = build, folder, root
        self.program = build / "tools/weft/weft"

    def call(self, arguments, good=(0,), timeout=1500):
        try:
            done = subprocess.run([str(self.program), *map(str, arguments)], capture_output=True, text=True,
                                  timeout=timeout, check=False, cwd=self.folder)
        except FileNotFoundError as error:
            raise NotAble(f"{self.program}: not built") from error
        if done.returncode not in good:
            raise NotAble(f"weft {shlex.join(map(str, arguments))}: {done.stderr.strip().splitlines()[-1:]}")
        return done.stdout

    def run(self, file, *settings):
        words = ["run", self.root / "topo" / file, "--quiet", "--json", "-"]
        for setting in settings:
            words += ["--set", setting]
        return json.loads(self.call(words))

    def version(self):
        return self.call(["--version"]).strip().splitlines()[0]


def command_of(file, *settings):
    return " ".join(["weft run", f"topo/{file}", *(f"--set {shlex.quote(setting)}" for setting in settings)])
