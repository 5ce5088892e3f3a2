# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A machine that runs parts of a lab: what tests may ask of it, be it a guest or this machine itself."""
import os
import shlex
import signal
import subprocess
import threading


def until_file(path, word=""):
    """The command that ends when the machine has the file, with the word in it."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wait_file.py")
    return shlex.join(("python3", script, path, word))


class Broken(Exception):
    """A machine does not do what any machine does: no claim about Weft."""


class Done:
    """A command that has ended."""

    def __init__(self, command, code, out, err):
        self.command, self.code, self.raw = command, code, out
        self.out, self.err = out.decode(errors="replace"), err.decode(errors="replace")

    def said(self):
        return f"{self.command}: exit {self.code}\n{self.out}{self.err}".rstrip()


class Running:
    """A command that runs."""

    def __init__(self, command):
        self.command = command

    def finish(self):
        raise NotImplementedError

    def is_over(self):
        raise NotImplementedError

    def signal(self, number):
        raise NotImplementedError


class Machine:
    def __init__(self, name):
        self.name = name

    def start(self, command, data=b"", seconds=60):
        """Runs the command in a shell and returns at once; it is killed after so many seconds."""
        raise NotImplementedError

    def run(self, command, data=b"", seconds=60):
        return self.start(command, data, seconds).finish()

    def must(self, command, data=b"", seconds=60):
        done = self.run(command, data, seconds)
        if done.code != 0:
            raise Broken(f"{self.name}: {done.said()}")
        return done.out

    def put(self, path, data):
        self.must(f"cat > {shlex.quote(path)}", data)

    def get(self, path):
        done = self.run(f"cat {shlex.quote(path)}")
        if done.code != 0:
            raise Broken(f"{self.name}: {done.err.strip()}")
        return done.raw

    def end(self):
        pass


class LocalRunning(Running):
    def __init__(self, command, data, seconds):
        super().__init__(command)
        self.process = subprocess.Popen(["/bin/bash", "-c", command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.seconds, self.out, self.err = seconds, b"", b""
        self.thread = threading.Thread(target=self.wait, args=(data,), daemon=True)
        self.thread.start()

    def wait(self, data):
        try:
            self.out, self.err = self.process.communicate(data, self.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.err = f"no end after {self.seconds} s".encode()

    def finish(self):
        self.thread.join()
        return Done(self.command, self.process.returncode, self.out, self.err)

    def is_over(self):
        return not self.thread.is_alive()

    def signal(self, number):
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)


class Local(Machine):
    """This machine itself."""

    def start(self, command, data=b"", seconds=60):
        return LocalRunning(command, data, seconds)
