# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Processes of weft-fabric, and the signals that end them."""
from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Optional

from .error import Error, Exit, os_error

PDEATHSIG = 1  # prctl
LOOK_S = 0.25  # between two looks of a waiting program
PATIENCE_S = 15  # after which a child that was asked to end is killed
SRUN = "exec srun --quiet --ntasks=1 --job-name=weft-reproduce"
LIBC = ctypes.CDLL(None)


def _become(parent: int) -> Callable[[], None]:
    """In the child: a group of its own, which ends when its parent does."""

    def become() -> None:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # 'stty tostop' stops other groups
        LIBC.prctl(PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it may have ended before
            os._exit(Exit.NOT_ABLE)

    return become


class Child:
    """A run of weft-fabric that writes its result to 'part' and its messages to 'log'. 'srun': the
    further arguments of srun, as a shell reads them; the run is a job of Slurm."""

    def __init__(
        self,
        fabric: str,
        run_file: str,
        sets: Sequence[str],
        part: str,
        log: str,
        srun: Optional[str] = None,
    ) -> None:
        words = ["weft-fabric", run_file, "--quiet", "--json", part]
        for text in sets:
            words += ["--set", text]
        if srun is not None:
            words = ["/bin/sh", "-c", f'{SRUN} {srun} "$0" "$@"', fabric, *words[1:]]
        self.part, self.log = part, log
        self.started = time.monotonic()
        try:
            out = open(log, "wb")
        except OSError as error:
            raise os_error(error, log) from error
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
                os.unlink(log)
                raise Error(f"cannot start {fabric}: {error.strerror}", Exit.NOT_ABLE) from error
        self.pidfd = os.pidfd_open(self._process.pid)
        self.status = 0
        self.cpu_s = 0.0

    def ended(self) -> bool:
        """Whether it has ended; then 'status' (of waitpid) and 'cpu_s' are set, once."""
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if pid == 0:
            return False
        os.close(self.pidfd)
        self.status, self.cpu_s = status, usage.ru_utime + usage.ru_stime
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return True

    def exit_code(self) -> int:
        """Negative: a signal."""
        return os.waitstatus_to_exitcode(self.status)

    def signal(self, number: int) -> None:
        """To all of its group."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass

    def failure(self) -> str:
        """Why there is no result: the exit code and the last line of the log."""
        line = last_line(self.log)
        more = f": {line}" if line else ""
        code = self.exit_code()
        if code < 0:
            return f"ended by signal {-code} ({signal.strsignal(-code)}){more}"
        return ("no whole result" if code <= Exit.BAD_ANSWER else f"exit code {code}") + more


def last_line(path: str) -> str:
    """The last line of a log that is not empty."""
    try:
        with open(path, encoding="utf-8", errors="replace") as text:
            lines = [line.rstrip("\n") for line in text]
    except OSError:
        return ""
    return next((line[:255] for line in reversed(lines) if line), "")


class Watch:
    """Ctrl-C, SIGTERM and SIGHUP while children run: the first one asks them to end, the second one
    kills them. Other threads than the main one get no signals."""

    def __init__(self, signal_all: Callable[[int], None]) -> None:
        self.interrupted = False
        self._signal_all = signal_all
        self._kill_at = 0.0
        self._before: dict[int, signal.Handlers | Callable[..., object] | int | None] = {}

    def __enter__(self) -> Watch:
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

    def _note(self, number: int, frame: FrameType | None) -> None:
        os.write(self._pipe[1], b"\0")

    def _interrupt(self) -> None:
        self._signal_all(signal.SIGKILL if self.interrupted else signal.SIGINT)
        if not self.interrupted:
            self._kill_at = time.monotonic() + PATIENCE_S
        self.interrupted = True

    def wait(self, children: Iterable[Child]) -> None:
        """Until a child ends or a signal comes, at most LOOK_S."""
        poll = select.poll()
        for fd in (self._pipe[0], *(child.pidfd for child in children)):
            poll.register(fd, select.POLLIN)
        ready = [fd for fd, _ in poll.poll(LOOK_S * 1000)]
        if self._pipe[0] in ready:
            for _ in os.read(self._pipe[0], 64):
                self._interrupt()
        if self.interrupted and time.monotonic() >= self._kill_at:
            self._signal_all(signal.SIGKILL)
