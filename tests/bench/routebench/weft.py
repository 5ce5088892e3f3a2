# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The program 'weft', and what its computations take by its own account (--json)."""

import json
import subprocess
import time


class WeftError(Exception):
    """The message of weft when it refused."""


class Weft:
    """'directory' holds what it writes; files that were written once are kept."""

    def __init__(self, program, directory):
        self.program, self.directory = str(program), directory
        self.algorithms = {one["name"] for one in json.loads(self.run("route", "algorithms",
                                                                      "--json"))}

    def run(self, *arguments, good=(0,)):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True,
                              check=False)
        if done.returncode not in good:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise WeftError(said[0] if said else f"exit {done.returncode}")
        return done.stdout

    def topology(self, spec):
        """The topology as a file, so that reading it takes as long for every kind."""
        return self.kept(spec, "yaml", "topo", "gen", *generator(spec))

    def netfile(self, spec):
        """The same as ibsim reads it."""
        return self.kept(spec, "net", "topo", "export", spec, "--format", "ibnetdiscover")

    def kept(self, spec, ending, *arguments):
        path = self.directory / f"{name_of(spec)}.{ending}"
        if not path.exists():
            self.run(*arguments, "-o", str(path))
        return path

    def routes(self, spec, ours):
        return self.directory / f"{name_of(spec)}-{name_of(' '.join(ours))}.routes"

    def compute(self, spec, ours):
        """(seconds, bytes): the computation alone, and the most memory that the process had."""
        if ours[0] not in self.algorithms:
            raise WeftError(f"there is no algorithm '{ours[0]}'")
        said = json.loads(self.run("route", "compute", str(self.topology(spec)), "--algorithm",
                                   *ours, "--json", "-o", str(self.routes(spec, ours)), good=(0, 1)))
        return said["seconds"], said["peak_rss_bytes"]

    def verify(self, spec, ours):
        """(seconds, bytes) of the proof, or of the whole process if weft does not report them."""
        start = time.monotonic()
        said = json.loads(self.run("route", "verify", str(self.topology(spec)),
                                   str(self.routes(spec, ours)), "--json"))
        return said.get("seconds", time.monotonic() - start), said.get("peak_rss_bytes")


def generator(spec):
    """Returns 'torus:dims=8x8,hosts=8' as the arguments of 'topo gen'."""
    kind, _, options = spec.partition(":")
    return [kind, *(f"--{option}" for option in options.split(",") if option)]


def name_of(text):
    return "".join(c if c.isalnum() else "-" for c in text)
