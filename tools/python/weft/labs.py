# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Labs: networks of real processes, through which programs send their packets."""
import contextlib
import json
import os
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

from .asker import Shown, call, failure, load_result, must, options_of, program
from .error import Error, Exit
from .experiments import PathName, Result, Value, sets_of

LOOK_S = 0.02  # seconds between two checks of a starting capture
ANSWERS = (Exit.DONE, Exit.BAD_ANSWER)


class Link:
    """The cable at a port such as s0:2."""

    def __init__(self, lab: "Lab", port: str) -> None:
        self._lab, self._port = lab, port

    def down(self) -> None:
        self._lab.call("link", self._port, "down")

    def up(self) -> None:
        self._lab.call("link", self._port, "up")


class Lab(Shown):
    """A lab that is up until its block ends. Labs with edges need root."""

    def __init__(self, file: PathName, **up: str | int | bool) -> None:
        self.file = os.path.abspath(file)
        self._up = options_of(up)
        self._captures = contextlib.ExitStack()
        self._run_dir = options_of({"run-dir": up["run_dir"]}) if "run_dir" in up else []

    def __enter__(self) -> "Lab":
        must(["lab", "up", *self._up, "--", self.file])
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._captures.close()
        finally:
            self.call("down", "--if-up")

    def _words(self, part: str, *more: str) -> list[str]:
        return ["lab", part, *self._run_dir, self.file, *more]

    def call(self, part: str, *words: str) -> str:
        """Returns the output of a part of 'weft lab', such as lab.call("set", "s0:2", "loss=1%")."""
        return must(self._words(part, *words))

    def status(self) -> dict[str, Any]:
        """Returns processes, links and counters, as 'weft lab status --json' does."""
        done = call(self._words("status", "--json"))
        if done.returncode not in ANSWERS or not done.stdout:
            raise failure(done)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def exec(self, host: str, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Runs a program in a host with an edge. The exit code is in 'returncode'."""
        return call(self._words("exec", host, "--", *command))

    def run(self, duration: str | None = None, set: Mapping[str, Value] | None = None) -> Result:
        """Sends the traffic of the lab file, and returns the result. Lost packets do not raise an
        Error: see json["checks"]."""
        with tempfile.TemporaryDirectory(prefix="weft-run-") as folder:
            path = f"{folder}/result.json"
            words = [f"--duration={duration}"] if duration is not None else []
            words += [f"--set={text}" for text in sets_of(set)]
            done = call(self._words("run", "--json", path, *words))
            if done.returncode not in ANSWERS or not os.path.exists(path):
                raise failure(done)
            return Result(load_result(path))

    def apply(self, file: PathName) -> str:
        """Adds, removes and re-cables devices so that the lab matches the file. Returns what changed."""
        said = must(["lab", "apply", *self._run_dir, "--", os.path.abspath(file)])
        self.file = os.path.abspath(file)
        return said

    def link(self, port: str) -> Link:
        """Returns the cable at a port such as s0:2."""
        return Link(self, port)

    def capture(
        self, *ports: str, out: PathName | None = None, **options: str | int | bool
    ) -> "Capture":
        """Captures ports such as s0:2 until the capture's stop(), the end of its 'with' block or the
        end of the lab. The options are those of 'weft lab capture', such as filter="icmp"."""
        words = self._words("capture", *options_of(options), "--", *ports)
        known = [str(link["port"]) for link in self.status()["links"]] if "all" in ports else ports
        started = Capture(words, known, out)
        self._captures.callback(started.stop)
        return started

    def _figures(self) -> dict[str, str]:
        figures = {"file": self.file}
        try:
            status = self.status()
        except Error as error:
            return {**figures, "state": str(error)}
        if "processes" not in status:
            return {**figures, "state": "down"}
        for what, key, good in (("processes", "processes", "running"), ("ports", "links", "up")):
            states = [one["state"] for one in status[key]]
            figures[what] = f"{states.count(good)} of {len(states)} {good}"
        return figures


class Capture:
    """A running capture of a lab's ports to the pcapng file 'path', by default a temporary one."""

    def __init__(self, words: list[str], ports: Sequence[str], out: PathName | None) -> None:
        self._own = tempfile.NamedTemporaryFile(suffix=".pcapng") if out is None else None
        self.path: str = self._own.name if self._own is not None else os.fspath(out or "")
        self._words, self._ended = words, False
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8")
        with open(self.path, "wb") as file:
            self._process = subprocess.Popen(
                [program(), *words],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=self._said,
                process_group=0,
            )
        try:
            while not self._has(ports) and self._process.poll() is None:
                time.sleep(LOOK_S)
        except BaseException:
            self.stop()
            raise
        if self._process.poll() is not None:
            self.stop()

    def _has(self, ports: Sequence[str]) -> bool:
        """Returns whether the file has an interface (option if_name) for each port."""
        with open(self.path, "rb") as file:
            found = file.read()
        names = [port.encode() for port in ports]
        return all(struct.pack("<HH", 2, len(name)) + name in found for name in names)

    def stop(self) -> None:
        """Ends the capture and completes its file. Raises the Error of a failed capture."""
        if self._ended:
            return
        self._ended = True
        self._process.send_signal(signal.SIGINT)
        code = self._process.wait()
        self._said.seek(0)
        with self._said as said:
            text = said.read()
        if code not in (Exit.DONE, Exit.INTERRUPTED):
            raise failure(subprocess.CompletedProcess(self._words, code, "", text))

    def __enter__(self) -> "Capture":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        state = "ended" if self._ended else "running"
        return f"Capture({self.path!r}, {state}, {os.path.getsize(self.path)} bytes)"


def lab(file: PathName, **up: str | int | bool) -> Lab:
    """Returns a lab for a 'with' block, in which it is up. It takes the options of 'weft lab up',
    such as dilation=20 and wait="30s"."""
    return Lab(file, **up)
