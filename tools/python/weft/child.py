# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs weft-fabric in several concurrent processes, and handles the signals that end them."""
import ctypes
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .asker import Asker, Refused
from .error import Error, Exit, naming
from .files import remove

PDEATHSIG = 1  # prctl
LOOK_S = 0.25  # seconds between two checks while waiting
PATIENCE_S = 15  # seconds after which a child that was asked to end is killed
SRUN = "exec srun --quiet --ntasks=1 --job-name=weft-reproduce"
LIBC = ctypes.CDLL(None)


def _become(parent: int) -> Callable[[], None]:
    """Runs in the child: makes it a separate process group that ends with its parent."""

    def become() -> None:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # 'stty tostop' stops other groups
        LIBC.prctl(PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # the parent may already have ended
            os._exit(Exit.NOT_ABLE)

    return become


class Child:
    """A run of weft-fabric that writes its result to 'part' and its messages to 'log'. 'srun':
    further arguments of srun, in shell syntax; the run is then a Slurm job."""

    def __init__(
        self, fabric: str, run_file: str, sets: Sequence[str], stem: str, srun: str | None = None
    ) -> None:
        self.part, self.log = f"{stem}.part", f"{stem}.log"
        words = ["weft-fabric", run_file, "--quiet", "--json", self.part]
        words += [word for text in sets for word in ("--set", text)]
        if srun is not None:
            words = ["/bin/sh", "-c", f'{SRUN} {srun} "$0" "$@"', fabric, *words[1:]]
        self.started = time.monotonic()
        self.code = 0  # negative: a signal
        self.cpu_s = 0.0
        with naming(self.log):
            out = open(self.log, "wb")
        with out:
            try:
                self._process = subprocess.Popen(
                    words,
                    executable=fabric if srun is None else words[0],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    preexec_fn=_become(os.getpid()),
                )
            except OSError as error:
                os.unlink(self.log)
                raise Error(f"cannot start {fabric}: {error.strerror}", Exit.NOT_ABLE) from error
        self.pidfd = os.pidfd_open(self._process.pid)

    def ended(self) -> bool:
        """Returns whether the process has ended; sets 'code' and 'cpu_s' the first time."""
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if pid == 0:
            return False
        os.close(self.pidfd)
        self.code = self._process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = usage.ru_utime + usage.ru_stime
        return True

    def signal(self, number: int) -> None:
        """Signals the whole process group."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass

    def failure(self) -> str:
        """Explains why there is no result: the exit code and the last line of the log."""
        line = last_line(self.log)
        more = f": {line}" if line else ""
        if self.code < 0:
            return f"ended by signal {-self.code} ({signal.strsignal(-self.code)}){more}"
        whole = self.code <= Exit.BAD_ANSWER
        return ("no complete result" if whole else f"exit code {self.code}") + more

    def result(self, asker: Asker, cut_short: bool, seal: bool) -> dict[str, Any]:
        """Returns the complete result in 'part'. Raises an Error if there is none."""
        why = None
        if 0 <= self.code <= Exit.BAD_ANSWER:
            try:
                found = asker.whole_result(self.part, cut_short, seal)
                if found is not None:
                    return found
            except Refused as error:
                why = str(error) if error.code == Exit.NOT_ABLE else None
        raise Error(why or self.failure())


def last_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as text:
            lines = [line.rstrip("\n") for line in text]
    except OSError:
        return ""
    return next((line[:255] for line in reversed(lines) if line), "")


class Watch:
    """Ctrl-C, SIGTERM and SIGHUP while children run: the first one asks them to end, the second one
    kills them. Only the main thread gets signals."""

    def __init__(self, signal_all: Callable[[int], object]) -> None:
        self.interrupted = False
        self._signal_all = signal_all
        self._kill_at = 0.0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Watch":
        self._pipe = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                ignored = signal.getsignal(number) == signal.SIG_IGN
                if number != signal.SIGHUP or not ignored:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        for end in self._pipe:
            os.close(end)

    def _note(self, *_: object) -> None:
        os.write(self._pipe[1], b"\0")

    def interrupt(self) -> None:
        self._signal_all(signal.SIGKILL if self.interrupted else signal.SIGINT)
        if not self.interrupted:
            self._kill_at = time.monotonic() + PATIENCE_S
        self.interrupted = True

    def wait(self, children: Iterable[Child]) -> None:
        """Waits until a child ends or a signal arrives, at most LOOK_S."""
        poll = select.poll()
        for fd in (self._pipe[0], *(child.pidfd for child in children)):
            poll.register(fd, select.POLLIN)
        if self._pipe[0] in (fd for fd, _ in poll.poll(LOOK_S * 1000)):
            for _ in os.read(self._pipe[0], 64):
                self.interrupt()
        if self.interrupted and time.monotonic() >= self._kill_at:
            self._signal_all(signal.SIGKILL)


def run_all(
    jobs: int,
    begin: Callable[[], Child | None],
    end: Callable[[Child, bool], object],
    draw: Callable[[int], object] = bool,
) -> bool:
    """Runs at most 'jobs' children at a time until 'begin' starts no more and all have ended. Calls
    'end' with each child and whether the children were interrupted, which is also returned, and
    'draw' with their number. An Error of a callback interrupts the running children, and is raised
    once they have ended."""
    children: list[Child] = []
    failure: Error | None = None

    def signal_all(number: int) -> None:
        for child in children:
            child.signal(number)

    with Watch(signal_all) as watch:
        while True:
            try:
                while not watch.interrupted and len(children) < jobs:
                    child = begin()
                    if child is None:
                        break
                    children.append(child)
                draw(len(children))
                if not children:
                    break
                watch.wait(children)
                for child in [*children]:
                    if child.ended():
                        children.remove(child)
                        end(child, watch.interrupted)
            except Error as error:
                failure = failure or error
                if not watch.interrupted:
                    watch.interrupt()
    if failure is not None:
        raise failure
    return watch.interrupted


def run_one(fabric: str, run_file: str, sets: Sequence[str], folder: str) -> Child:
    """Runs weft-fabric to its end, with a result in the folder. Raises an Error if there is none."""
    remove(f"{folder}/run.part")
    child = Child(fabric, run_file, sets, f"{folder}/run")
    left = [child]
    if run_all(1, lambda: left.pop() if left else None, lambda *_: None):
        raise KeyboardInterrupt
    if child.code == Exit.BAD_REQUEST:
        raise Error(last_line(child.log).removeprefix("weft-fabric: "))
    if not 0 <= child.code <= Exit.BAD_ANSWER or not os.path.exists(child.part):
        raise Error(child.failure(), Exit.NOT_ABLE)
    return child
