#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A console and its machines without a network: a stand-in for ssh runs the command here, with a runtime folder for
each machine. lab_ssh_test.py has real machines.

usage: lab_console_test.py WEFT [CASE...]"""
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import unittest

import labs

WEFT = None
# With the file NAME.off the machine cannot be reached, with NAME.hangs it tells NAME.asked and does not answer, with NAME.slow the end of its
# captures comes in pieces, for sixteen seconds (SLOW); 'log' has the requests.
SSH = """#!/bin/sh
while [ "$1" != -- ]; do
    [ "$1" = -O ] && exit 0
    shift
done
name=$2 folder=FOLDER
shift 2
if [ -e $folder/$name.off ]; then
    echo "ssh: connect to host $name port 22: Connection refused" >&2
    exit 255
fi
[ -e $folder/$name.hangs ] && echo > $folder/$name.asked && exec cat > /dev/null
export RUNTIME_DIRECTORY=$folder/run-$name
if [ -e $folder/$name.slow ]; then
    "$@" | python3 $folder/slow.py
    exit
fi
[ -e $folder/log ] && tee -a $folder/log | "$@" || exec "$@"
"""
LAB = """weft: lab/1
name: far
processes: one
topology: "full:switches=2,hosts=1"
machines: [{name: a, ssh: a, weft: MACHINE, devices: [s0, s1, h0, h1]}]
mapper: {routes: ROUTES, mode: never}
hello: 100ms
traffic: [{pattern: uniform, load: 2%}]
measure: {duration: 20ms}
"""
SLOW = """import os, time
held = b""
capture = False
while more := os.read(0, 65536):
    capture = capture or more.startswith(b"\\n\\r\\r\\n")
    held += more
    sent = len(held) - 60 * capture
    os.write(1, held[:max(sent, 0)])
    held = held[max(sent, 0):]
while held:
    time.sleep(4)
    os.write(1, held[:15])
    held = held[15:]
"""
TWO = """weft: lab/1
name: far
processes: each
topology: "full:switches=2,hosts=1"
machines:
  - {name: a, ssh: a, weft: MACHINE, devices: [s0, h0], ports: [{port: "s0:0", udp: {local: "NEAR", remote: "FAR"}}]}
  - {name: b, ssh: b, weft: MACHINE, devices: [s1, h1], ports: [{port: "s1:0", udp: {local: "FAR", remote: "NEAR"}}]}
mapper: {routes: static, mode: never}
"""


class Console(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="weft-console-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        for name in ("run", "run-a", "run-b"):
            os.mkdir(self.path(name), 0o700)
        self.write("slow.py", SLOW)
        self.program("ssh", SSH.replace("FOLDER", self.folder))
        self.environment = dict(os.environ, RUNTIME_DIRECTORY=self.path("run"),
                                PATH=f"{self.folder}:{os.environ['PATH']}")
        self.addCleanup(self.end)
        self.file = self.write("far.yaml", self.text())

    @staticmethod
    def text(routes="static"):
        return LAB.replace("ROUTES", routes).replace("MACHINE", WEFT)

    def two(self):
        """The machines are joined by UDP, on an address of this process's own."""
        address = f"127.{os.getpid() >> 16 & 255}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
        return TWO.replace("MACHINE", WEFT).replace("NEAR", f"{address}:4000").replace("FAR", f"{address}:4001")

    def end(self):
        with contextlib.suppress(OSError):
            os.unlink(self.path("log"))
        self.weft("down", self.file)
        for name in "ab":
            subprocess.run([WEFT, "lab", "down", "--all"], env=self.machine(name), stdout=subprocess.DEVNULL, check=False)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def program(self, name, text):
        os.chmod(self.write(name, text), 0o700)
        return self.path(name)

    def machine(self, name):
        return dict(os.environ, RUNTIME_DIRECTORY=self.path(f"run-{name}"))

    def start(self, *words):
        return subprocess.Popen([WEFT, *words], text=True, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def weft(self, *words, group="lab"):
        run = self.start(group, *words)
        said = run.communicate(timeout=240)
        return run.returncode, *said

    def must(self, *words, group="lab"):
        code, out, err = self.weft(*words, group=group)
        self.assertEqual(code, 0, f"{words}: {out}{err}")
        return out

    def processes(self, name="a"):
        """Ids of the lab's processes on the machine; none if it is not up there."""
        with contextlib.suppress(OSError), open(self.path(f"run-{name}", "weft", "far", "state")) as file:
            return [int(line.split()[4]) for line in file if line.startswith("process ")]
        return []

    def stop(self, pid):
        os.kill(pid, signal.SIGSTOP)

        def go_on():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)
        self.addCleanup(go_on)

    def interrupt_while_waiting(self):
        """Ctrl-C while 'up' waits for the whole lab, of which all parts have been started."""
        os.mkfifo(self.path("log"))
        log = open(os.open(self.path("log"), os.O_RDWR), "rb", buffering=0)  # does not end with a request
        self.addCleanup(log.close)
        up = self.start("lab", "up", self.file, "--wait", labs.UP_WAIT)
        requests = b""
        while b'"collect"' not in requests:
            requests += log.read(4096)
        return up

    def test_up_that_reaches_nobody_does_not_forget_a_lab_that_is_up(self):
        self.must("up", self.file)
        self.write("a.off", "")
        self.assertEqual(self.weft("up", self.file)[0], 3)
        os.unlink(self.path("a.off"))
        self.assertEqual(self.must("down", "far"), "far down on 1 of 1 machines\n")
        self.assertEqual(self.processes(), [])

    def test_up_of_a_new_lab_that_reaches_nobody_leaves_nothing(self):
        self.write("a.off", "")
        self.assertEqual(self.weft("up", self.file)[0], 3)
        self.assertEqual(os.listdir(self.path("run")), [])

    def test_down_of_a_lab_with_a_folder_of_its_own_takes_it_down(self):
        self.must("up", self.file, "--run-dir", self.path("own"))
        self.assertEqual(self.must("down", self.file, "--run-dir", self.path("own")), "far down on 1 of 1 machines\n")
        self.assertEqual(self.processes(), [])
        self.assertFalse(os.path.exists(self.path("own")))

    def shift_clock(self, seconds):
        """Shifts the machine's clock, as its weft reports it."""
        program = self.program("shifted", f"#!/bin/sh\n{WEFT} \"$@\" | while read -r line; do\n"
                               f"printf '%s\\n' \"$line\" | sed \"s/\\\"time_ns\\\": *[0-9]*/"
                               f"\\\"time_ns\\\": $(($(date +%s%N) + {seconds}000000000))/\"\ndone\n")
        self.write("far.yaml", self.text().replace(f"weft: {WEFT}", f"weft: {program}"))

    def test_up_refuses_a_machine_whose_time_of_day_is_far_from_the_consoles(self):
        for shift, said in ((5000, "ahead of"), (-5000, "behind")):
            self.shift_clock(shift)
            code, _, err = self.weft("up", self.file)
            self.assertEqual(code, 3, err)
            self.assertRegex(err, rf"^weft lab up: machine a: the clock is (4999|5000|5001)\.\d s {said} the "
                             r"console's, and captures use the clock of each machine; synchronise the clocks with NTP \(apt install "
                             r"chrony\), or add --any-clock\n$")
            self.assertEqual(self.processes(), [])
            self.assertEqual(os.listdir(self.path("run")), [])

    def test_a_refused_restart_leaves_a_lab_that_is_up_as_it_was(self):
        self.must("up", self.file)
        before = self.processes()
        self.shift_clock(5000)
        self.assertEqual(self.weft("up", self.file, "--restart")[0], 3)
        self.assertEqual(self.processes(), before)
        self.assertIn("lab far is up", self.must("status", "far"))

    def test_a_machine_whose_part_runs_is_not_refused(self):
        self.shift_clock(5000)
        self.must("up", self.file, "--any-clock")
        self.must("up", self.file)

    def test_up_with_any_clock_goes_on(self):
        self.shift_clock(5000)
        self.assertIn("is up on 1 of 1 machines", self.must("up", self.file, "--any-clock"))

    def test_a_lab_of_this_machine_is_no_console_whatever_its_folder_is_called(self):
        near = "".join(line + "\n" for line in self.text().splitlines() if not line.startswith("machines"))
        self.write("near.yaml", near.replace("name: far", "name: near"))
        folder = self.path("near.console")
        self.addCleanup(self.weft, "down", self.path("near.yaml"), "--run-dir", folder)
        self.must("up", self.path("near.yaml"), "--run-dir", folder)
        self.assertIn("lab near is up", self.must("status", "near", "--run-dir", folder))
        self.assertIn("down: 1 process ended", self.must("down", "near", "--run-dir", folder))

    def test_lists_and_words_know_it(self):
        self.must("up", self.file)
        lab, = json.loads(self.must("list", "--json"))
        self.assertEqual(lab, {"lab": "far", "run_dir": self.path("run", "weft", "far.console"), "file": self.file,
                               "dilation": 1, "processes": None, "running": None})
        self.assertEqual(self.must("labs", group="complete"), "far\n")
        self.assertEqual(self.must("hosts", "far", group="complete"), "h0\nh1\n")

    def test_files_of_a_machine_are_touched_only_under_its_lock(self):
        kept = self.path("run-a", "weft", "far.files")
        os.makedirs(kept, 0o700)
        self.write(os.path.join(kept, "lab.yaml"), "of another console")
        with open(self.path("run-a", "weft", "far.lock"), "w") as lock:
            os.chmod(lock.name, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write("brought up by a test")
            lock.flush()
            code, _, err = self.weft("up", self.file)
        self.assertEqual(code, 2, err)
        self.assertIn("this lab is being brought up by a test", err)
        with open(os.path.join(kept, "lab.yaml")) as file:
            self.assertEqual(file.read(), "of another console")

    def test_ctrl_c_ends_only_what_this_up_has_started(self):
        self.must("up", self.file)
        pid, = self.processes()
        self.stop(pid)
        up = self.interrupt_while_waiting()
        up.send_signal(signal.SIGINT)
        _, err = up.communicate(timeout=240)
        self.assertEqual(up.returncode, 130, err)
        self.assertTrue(labs.own_kind_of_process(pid))
        os.kill(pid, signal.SIGCONT)
        self.assertEqual(json.loads(self.must("list", "--json"))[0]["lab"], "far")
        self.must("status", "far")

    def test_ctrl_c_leaves_nothing_of_a_new_lab_however_long_that_takes(self):
        self.write("far.yaml", self.text("mapper"))
        up = self.interrupt_while_waiting()
        pid, = self.processes()
        self.stop(pid)  # so that it is killed only after some seconds
        up.send_signal(signal.SIGINT)
        out, err = up.communicate(timeout=240)
        self.assertEqual((up.returncode, out), (130, "far down on 1 of 1 machines\n"), err)
        self.assertFalse(labs.own_kind_of_process(pid))
        self.assertEqual(os.listdir(self.path("run")), [])

    def test_ctrl_c_while_a_machine_hangs_leaves_a_lab_that_is_to_be_restarted(self):
        self.must("up", self.file)
        pid, = self.processes()
        with open(self.path("run", "weft", "far.console", "lab.yaml")) as file:
            kept = file.read()
        self.write("far.yaml", self.two())
        self.write("b.hangs", "")
        os.mkfifo(self.path("b.asked"))
        up = self.start("lab", "up", self.file, "--restart")
        labs.read(self.path("b.asked"))
        up.send_signal(signal.SIGINT)
        out, err = up.communicate(timeout=240)
        self.assertEqual((up.returncode, out), (130, ""), err)
        self.assertTrue(labs.own_kind_of_process(pid))
        with open(self.path("run", "weft", "far.console", "lab.yaml")) as file:
            self.assertEqual(file.read(), kept)

    def up_on_two(self):
        two = self.write("two.yaml", self.two())
        self.must("up", two, "--wait", labs.UP_WAIT)
        self.assertEqual((len(self.processes("a")), len(self.processes("b"))), (2, 2))

    def test_a_restart_ends_the_lab_on_machines_that_the_file_no_longer_has(self):
        self.up_on_two()
        self.assertIn("lab far is down on machine b, which is no longer in the file\n",
                      self.must("up", self.file, "--restart"))
        self.assertEqual(self.processes("b"), [])
        self.assertEqual(len(self.processes("a")), 1)

    def test_a_restart_says_which_machine_it_could_not_end(self):
        self.up_on_two()
        self.write("b.off", "")
        code, _, err = self.weft("up", self.file, "--restart")
        self.assertEqual(code, 0, err)
        self.assertIn("weft lab up: machine b is no longer in the file, and lab far may still be up there; "
                      "run 'weft lab down far' on that machine\n", err)

    def capture(self):
        """Starts a capture and returns when its beginning was written."""
        self.must("up", self.file)
        capture = subprocess.Popen([WEFT, "lab", "capture", "far", "s0:0"], env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: capture.poll() is None and capture.kill())
        capture.stdout.read(1)
        return capture

    def assert_ends(self, capture, code, pattern):
        err = capture.communicate(timeout=240)[1].decode()
        self.assertEqual(capture.returncode, code, err)
        self.assertRegex(err, pattern)

    def test_a_capture_of_a_machine_that_does_not_end_it_ends(self):
        capture = self.capture()
        for pid in self.parts():
            self.stop(pid)
        capture.send_signal(signal.SIGINT)
        self.assert_ends(capture, 3, "machine a stopped capturing early")

    def test_a_second_ctrl_c_ends_a_capture_of_a_machine_that_does_not_hear_the_first(self):
        capture = self.capture()
        for pid in self.parts(["weft\n"]):
            self.stop(pid)
        ends = os.pidfd_open(capture.pid)
        self.addCleanup(os.close, ends)
        while not select.select([ends], [], [], 0.01)[0]:
            capture.send_signal(signal.SIGINT)
        self.assert_ends(capture, 3, "machine a stopped capturing early")

    def test_a_capture_of_a_slow_machine_is_copied_to_the_end(self):
        self.write("a.slow", "")
        capture = self.capture()
        capture.send_signal(signal.SIGINT)
        self.assert_ends(capture, 0, r"s0:0: \d+ frames captured, 0 dropped")

    def parts(self, names=("weft\n", "exe\n")):
        """Ids of 'weft lab part' and what it has started as /proc/self/exe, on the machine."""
        marker = f"RUNTIME_DIRECTORY={self.path('run-a')}".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/environ", "rb") as file:
                    mine = marker in file.read().split(b"\0")
                with open(f"/proc/{pid}/comm") as file:
                    if mine and file.read() in names:
                        yield int(pid)


if __name__ == "__main__":
    labs.main(__doc__)
