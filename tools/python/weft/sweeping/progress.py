# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The progress of a sweep on standard error: on a terminal a line that is redrawn, with errors above
it; in a notebook a bar by tqdm if it is installed; otherwise a line for each point."""
from __future__ import annotations

import shutil
import sys
import time
from typing import Any, TextIO

from ..error import printable
from .table import is_bad

BAR_MIN, BAR_MAX = 4, 40


def _notebook_bar(points: int, had: int) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=points, initial=had, unit="point")


def _time_left(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    if hours:
        return f"{hours}:{rest // 60:02}:{rest % 60:02}"
    return f"{rest // 60}:{rest % 60:02}"


class Progress:
    """'points' in all, 'had' of them there before."""

    def __init__(self, points: int, had: int, out: TextIO | None = None) -> None:
        self.out = out if out is not None else sys.stderr
        self.terminal = self.out.isatty()
        self.notebook = _notebook_bar(points, had) if "ipykernel" in sys.modules else None
        self.points, self.had, self.done = points, had, had
        self.failed_points = self.running = 0
        self.started = self.last_ended = time.monotonic()

    def _left(self) -> str:
        """Estimated from the points so far."""
        ended = self.done - self.had + self.failed_points
        left = self.points - self.done - self.failed_points
        if ended == 0 or left == 0:
            return ""
        return f", {_time_left(int((self.last_ended - self.started) * left / ended + 0.5))} left"

    def bar(self, width: int) -> str:
        """ "[####....] 3/20 points, 2 running, 1 failed, 1:05 left" in 'width' columns."""
        ended = self.done + self.failed_points
        failed = f", {self.failed_points} failed" if self.failed_points else ""
        text = f"{ended}/{self.points} points, {self.running} running{failed}{self._left()}"
        room = min(width - len(text) - 3, BAR_MAX)
        if room < BAR_MIN:
            return text[:width]
        full = room * ended // self.points if self.points else room
        return f"[{'#' * full}{'.' * (room - full)}] {text}"

    def draw(self) -> None:
        """Redraws the bar, if there is one."""
        if self.notebook is not None:
            self.notebook.total = self.points
            self.notebook.update(self.done + self.failed_points - self.notebook.n)
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            self.out.write(f"\r\033[K{self.bar(width)}")
            self.out.flush()

    def end(self) -> None:
        """Clears the bar of a terminal; one in a notebook stays."""
        self.draw()
        if self.terminal:
            self.out.write("\r\033[K")
        if self.notebook is not None:
            self.notebook.close()
        self.out.flush()

    def line(self, text: str) -> None:
        """A line with the count first, so that the texts are aligned."""
        ended, digits = self.done + self.failed_points, len(str(self.points))
        clear = "\r\033[K" if self.terminal else ""
        self.out.write(f"{clear}[{ended:{digits}}/{self.points}] {printable(text)}\n")
        self.out.flush()

    def finished(self, label: str, result: dict[str, Any], seconds: float) -> None:
        """A point has a result after so many seconds."""
        self.done += 1
        self.last_ended = time.monotonic()
        nothing, bad = result.get("nothing_measured"), is_bad(result)
        quiet = self.terminal or self.notebook is not None
        if quiet and not bad and nothing is None:
            return
        if nothing is not None:
            self.line(f"{label}: nothing was measured: {nothing} ({seconds:.1f} s)")
            return
        throughput = result["throughput"]
        mean = ((result.get("latency_ns") or {}).get("total") or {}).get("mean")
        latency = f"{mean / 1e3:.1f} us" if mean is not None else "-"
        more = "; packets lost, duplicated, out of order or in deadlock" if bad else ""
        self.line(
            f"{label}: offered {100 * (throughput.get('offered') or 0):.1f} %, "
            f"accepted {100 * (throughput.get('accepted') or 0):.1f} %, "
            f"total latency {latency}{more} ({seconds:.1f} s)"
        )

    def failed(self, label: str, why: str) -> None:
        """A point has failed."""
        self.failed_points += 1
        self.last_ended = time.monotonic()
        self.line(f"{label}: failed: {why}")

    def skipped(self, label: str, why: str) -> None:
        """A point proves to be invalid: there is one less."""
        self.points -= 1
        self.last_ended = time.monotonic()
        self.line(f"{label}: skipped: {why}")
