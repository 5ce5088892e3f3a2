# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A running DPDK program: its packet counters and the CPU time of its forwarding thread.

A program is held (SIGSTOP) while it is not its turn, so that several can take turns on one core in
slices much shorter than the noise of the machine."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time


class BenchError(Exception):
    """Says in one line what this machine could not do."""


class Telemetry:
    """DPDK's telemetry socket, kept open."""

    def __init__(self, prefix):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(5)
        self.socket.connect(f"/var/run/dpdk/{prefix}/dpdk_telemetry.v2")
        self.socket.recv(1024)

    def ask(self, command):
        self.socket.send(command.encode())
        return next(iter(json.loads(self.socket.recv(65536)).values()))

    def close(self):
        self.socket.close()


class Program:
    """One program under test. 'argv' has its EAL prefix in it already; what it prints goes to 'log'."""

    def __init__(self, name, argv, prefix, log, ports=4, keyboard=None, env=None):
        self.name, self.argv, self.prefix, self.log = name, argv, prefix, log
        self.ports, self.keyboard, self.env = ports, keyboard, env
        self.process = self.telemetry = self.tid = None

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        """Starts it and returns when it forwards."""
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=log,
                                            stderr=subprocess.STDOUT, env=self.env)
        if self.keyboard is not None:
            self.process.stdin.write(self.keyboard.encode())
            self.process.stdin.flush()
        self.wait_until_forwarding()

    def wait_until_forwarding(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if self.process is not None and self.process.poll() is not None:
                break
            try:
                self.telemetry = self.telemetry or Telemetry(self.prefix)
                if self.packets() > 100000:
                    self.tid = self.busiest_thread()
                    return
            except (OSError, KeyError, TypeError, ValueError):
                if self.telemetry is not None:
                    self.telemetry.close()
                self.telemetry = None
            time.sleep(0.05)
        raise BenchError(f"{self.name} does not forward: {self.last_words()}")

    def last_words(self):
        with open(self.log, errors="replace") as log:
            lines = [line.strip() for line in log if line.strip()] or ["it said nothing"]
        wrong = [line for line in lines if re.search(r"\b(ERR|EMER|error|[Cc]annot|FATAL)", line)]
        return (wrong or lines)[-1]

    def packets(self):
        return sum(self.telemetry.ask(f"/ethdev/stats,{port}")["opackets"]
                   for port in range(self.ports))

    def busiest_thread(self):
        """The one that has run most in the last 50 ms: the poll loop."""
        before = self.thread_times()
        time.sleep(0.05)
        after = self.thread_times()
        return max(after, key=lambda tid: after[tid] - before.get(tid, 0))

    def thread_times(self):
        tids = os.listdir(f"/proc/{self.pid}/task")
        return {tid: self.cpu_ns(tid) for tid in tids}

    def cpu_ns(self, tid=None):
        with open(f"/proc/{self.pid}/task/{tid or self.tid}/schedstat") as stat:
            return int(stat.read().split()[0])

    def hold(self):
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.pid, signal.SIGCONT)

    def slice(self, seconds):
        """Lets it run; returns (packets, CPU seconds) of the time after its caches are warm."""
        try:
            return self.measure(seconds)
        except OSError as error:
            raise BenchError(f"{self.name} is gone ({error}): {self.last_words()}") from error

    def measure(self, seconds):
        self.resume()
        time.sleep(0.02)
        packets, cpu = self.packets(), self.cpu_ns()
        time.sleep(seconds)
        packets, cpu = self.packets() - packets, self.cpu_ns() - cpu
        self.hold()
        return packets, cpu * 1e-9

    def stop(self):
        if self.telemetry is not None:
            self.telemetry.close()
        if self.process is None or self.process.poll() is not None:
            return
        self.resume()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        # DPDK's own programs leave it behind.
        shutil.rmtree(f"/var/run/dpdk/{self.prefix}", ignore_errors=True)
