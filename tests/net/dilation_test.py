#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Labs whose clock runs slower, and programs in their hosts. Each claim is about times of the slow clock, or bounds
real time from below: a busy machine changes neither.

usage: dilation_test.py WEFT DISSECTOR.lua [CASE...]"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import captures
import labs

WEFT = None
DISSECTOR = None
DILATION = 10
LAB = """topology: topology.yaml
dilation: 10
mapper: {key: fabric.key}
edges: {hosts: [h0, h3], network: 10.99.0.0/24}
traffic: [{pattern: uniform, from: [h1], to: [h2], load: 20%, message: 1KiB}]
measure: {sample: 10ms}
"""
# Each call that waits, for 0.05 s: what both clocks showed at its beginning and its end.
WAITS = r"""
import queue, select, signal, socket, struct, subprocess, sys, threading, time
def real():
    with open("/proc/uptime") as file:
        return float(file.read().split()[0])
signal.signal(signal.SIGALRM, lambda *_: None)
near, far = socket.socketpair()
def time_out(wait):
    try: wait()
    except (OSError, queue.Empty): pass
def receive():
    near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 50000))
    near.recv(1)
def by_timer():
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    signal.pause()
waits = {"sleep": lambda: time.sleep(0.05), "select": lambda: select.select([], [], [], 0.05),
         "poll": lambda: select.poll().poll(50), "epoll": lambda: select.epoll().poll(0.05),
         "event": lambda: threading.Event().wait(0.05), "queue": lambda: queue.Queue().get(timeout=0.05),
         "lock": lambda: (lock := threading.Lock(), lock.acquire(), lock.acquire(timeout=0.05)),
         "signal": lambda: signal.sigtimedwait([signal.SIGUSR1], 0.05), "timer": by_timer, "socket": receive,
         "child": lambda: subprocess.run(["sleep", "0.05"])}
for name, wait in waits.items():
    began, slow, day = real(), time.monotonic(), time.time()
    time_out(wait)
    print(name, real() - began, time.monotonic() - slow, time.time() - day, flush=True)
"""
# The same of C++, whose conditions wait by another clock.
CONDITION = r"""
#include <chrono>
#include <condition_variable>
#include <cstdio>
int main()
{
	std::mutex mutex;
	std::condition_variable condition;
	std::unique_lock<std::mutex> lock(mutex);
	auto began = std::chrono::steady_clock::now();
	condition.wait_for(lock, std::chrono::milliseconds(50));
	printf("%f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
}
"""


def clock_name(lab):
    """Name of the shared memory from which programs in the lab's hosts read the time."""
    return "weft-time-" + labs.read(f"{lab.run_dir}/clock").split()[1]


def one_cable():
    """Between the switches, as fast as those of the hosts."""
    files = labs.two_switches("100Mbps")
    files["topology.yaml"] = files["topology.yaml"].replace("  - {a: s0:3, b: s1:3}\n", "")
    return files


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = labs.Lab(WEFT, "d", LAB, one_cable(), form="one")
        cls.addClassCleanup(cls.lab.remove)
        cls.lab.up()
        with open(f"{cls.lab.run_dir}/clock") as file:
            cls.origin = int(file.read().split()[1]) / 1e9

    def run_in(self, host, *command):
        return self.lab.must("exec", host, "--", *command, timeout=240)

    def real_date(self, host):
        return subprocess.run([WEFT, "lab", "exec", "--no-faketime", self.lab.name, host, "--", "date", "+%s.%N"],
                              capture_output=True, text=True, timeout=240, check=True).stdout

    def slow(self, day):
        """What the lab's clock shows at that time of day."""
        return self.origin + (day - self.origin) / DILATION

    def test_every_wait_takes_as_many_times_longer(self):
        for line in self.run_in("h0", sys.executable, "-c", WAITS).splitlines():
            name, real, slow, day = line.split()
            self.assertGreaterEqual(float(slow), 0.0499, line)
            self.assertGreaterEqual(float(day), 0.0499, line)
            # /proc/uptime has hundredths.
            self.assertGreaterEqual(float(real), 0.05 * DILATION - 0.02, line)

    def test_a_condition_of_cpp_ends_when_the_slow_clock_says(self):
        program = f"{self.lab.folder}/condition"
        pathlib.Path(f"{program}.cc").write_text(CONDITION)
        subprocess.run(["g++", "-o", program, f"{program}.cc"], check=True, timeout=240)
        self.assertGreaterEqual(float(self.run_in("h0", program)), 0.0499)

    def test_programs_of_all_hosts_show_the_lab_s_time_of_day(self):
        for host in ("h0", "h3"):
            before = time.time()
            shown = float(self.run_in(host, "sh", "-c", "sleep 0.1; date +%s.%N"))
            self.assertLessEqual(self.slow(before) + 0.1 - 1e-3, shown)
            self.assertLessEqual(shown, self.slow(time.time()) + 1e-3)

    def test_a_program_without_faketime_shows_the_machine_s(self):
        before = time.time()
        shown = float(self.real_date("h0"))
        self.assertTrue(before - 1e-3 <= shown <= time.time() + 1e-3, shown)
        # Also if a program in slow time starts it.
        shown = float(self.run_in("h0", WEFT, "lab", "exec", "--no-faketime", self.lab.name, "h3", "--", "date", "+%s.%N"))
        self.assertTrue(before - 1e-3 <= shown <= time.time() + 1e-3, shown)

    def test_captures_and_programs_have_the_same_time(self):
        path = f"{self.lab.folder}/ping.pcapng"
        with self.lab.capture(path, ["h0:0"]) as capture:
            said = self.run_in("h0", "sh", "-c", "date +%s.%N; ping -c 3 -i 0.01 h3 >/dev/null; date +%s.%N")
            before, after = map(float, said.split())
            capture.terminate()
            capture.wait(240)
        times = [float(time_of) for (time_of,) in captures.fields(
            DISSECTOR, path, ["frame.time_epoch"], kinds={captures.DATA})]
        self.assertGreaterEqual(len(times), 6)
        self.assertGreaterEqual(min(times), before - 1e-3)
        self.assertLessEqual(max(times), after + 1e-3)

    def test_ping_measures_the_delay_of_the_cable(self):
        self.lab.must("set", "s0:2", "delay=5ms")
        self.addCleanup(self.lab.must, "set", "s0:2", "reset")
        times = [float(ms) for ms in re.findall(r"time=([0-9.]+) ms", self.run_in("h0", "ping", "-c", "5", "-i", "0.1", "h3"))]
        self.assertEqual(len(times), 5)
        self.assertGreaterEqual(min(times), 10)

    def test_ranks_of_mpi_run_in_slow_time(self):
        before = time.time()
        said = self.lab.must("mpirun", "-np", "2", "date", "+%s.%N", timeout=240).split()
        self.assertEqual(len(said), 2)
        for shown in map(float, said):
            self.assertTrue(self.slow(before) - 1e-3 <= shown <= self.slow(time.time()) + 1e-3, said)

    def test_without_libfaketime_a_program_is_refused_and_real_time_is_not(self):
        hide = "for f in /usr/lib/*/faketime; do mount -t tmpfs none $f || exit 9; done; exec \"$@\""
        run = lambda *words: subprocess.run(["unshare", "-m", "sh", "-c", hide, "sh", WEFT, "lab", "exec", *words],
                                            capture_output=True, text=True, timeout=240, check=False)
        done = run(self.lab.name, "h0", "--", "true")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("'apt install faketime', or use --no-faketime", done.stderr)
        self.assertEqual(run("--no-faketime", self.lab.name, "h0", "--", "true").returncode, 0)

    def test_a_run_is_in_the_lab_s_time_and_has_the_wall_time(self):
        path = f"{self.lab.folder}/result.json"
        began = time.monotonic()
        said = self.lab.must("run", "--duration", "100ms", "--json", path)
        self.assertGreaterEqual(time.monotonic() - began, 0.1 * DILATION)
        result = json.loads(labs.read(path))
        self.assertEqual(result["dilation"], DILATION)
        self.assertGreaterEqual(result["wall"]["seconds"], 0.1 * DILATION)
        self.assertAlmostEqual(result["throughput"]["offered"], 0.2 / 4, delta=0.005)
        self.assertRegex(said, r"real time, dilated by 10, computed in \d+\.\d s of wall time")

    def test_the_dilation_is_shown_wherever_the_lab_is(self):
        self.assertEqual(self.lab.must("status").splitlines()[1], "  dilated by 10")
        self.assertIn("  1/10 speed", self.lab.must("top", "--once").splitlines()[0])
        self.assertIn("weft_lab_dilation{", metrics := self.lab.must("metrics", "--once"))
        self.assertRegex(metrics, r"(?m)^weft_lab_dilation\{.*\} 10$")
        listed = json.loads(subprocess.run([WEFT, "lab", "list", "--json"], capture_output=True, text=True, check=True).stdout)
        self.assertEqual([lab["dilation"] for lab in listed if lab["lab"] == self.lab.name], [DILATION])
        self.assertEqual(self.lab.status()["dilation"], DILATION)


class Rate(unittest.TestCase):
    def test_iperf3_measures_the_rate_of_the_link(self):
        # So slow that its window lasts longer than a busy machine keeps a loop off its CPU. The kernel's timers do not
        # know that: they would take what is under way for lost.
        lab = labs.Lab(WEFT, "r", LAB.replace("dilation: 10", "dilation: 500"), one_cable(), form="one")
        self.addCleanup(lab.remove)
        lab.up()
        for host in ("h0", "h3"):
            route = lab.must("exec", host, "--", "ip", "route", "show", "10.99.0.0/24").split()
            lab.must("exec", host, "--", "ip", "route", "change", *route, "rto_min", "60s")
        server = subprocess.Popen([WEFT, "lab", "exec", lab.name, "h3", "--", "iperf3", "-s", "-1", "--forceflush"],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        self.assertIn("---", server.stdout.readline())
        done = json.loads(lab.must("exec", "h0", "--", "iperf3", "-c", "h3", "-n", "300K", "-w", "64K", "--json", timeout=600))
        self.assertNotIn("error", done)
        server.wait(240)
        # Overhead on the wire: preamble and gap, header and route, IP and TCP.
        self.assertAlmostEqual(done["end"]["sum_received"]["bits_per_second"] / 100e6, 0.93, delta=0.93 * 0.05)


RUN = """weft: run/1
topology: "full:switches=2,hosts=1"
clock: real
link: {rate: 100Mbps}
traffic: [{pattern: uniform, load: 20%, message: 1KiB}]
measure: {duration: 5ms, sample: 1ms}
"""


class Auto(unittest.TestCase):
    def chosen(self, said, late=None, share=None):
        """The factor: 1, or one step more than the first that met the demand twice. Without a demand that is a lateness
        of 20 % of the latency."""
        if late is None:
            trials = [(int(factor), -float(share_late or "inf")) for factor, share_late in re.findall(
                r"(?m)^dilation (\d+): \d+ arrivals, (?:late by ([0-9.]+) % of the latency in total|too late or too few to compare), ", said)]
            share = -20
        else:
            trials = [(int(factor), float(met)) for factor, met in re.findall(
                rf"(?m)^dilation (\d+): ([0-9.]+) % of \d+ arrivals late by at most {late}, ", said)]
        factors = [digit * 10**power for power in range(5) for digit in (1, 2, 5)] + [100000]
        found = trials[-1][0]
        self.assertEqual(sorted({factor for factor, _ in trials}), factors[:factors.index(found) + 1], said)
        for factor in factors[:factors.index(found) + 1]:
            met = [met >= share for of, met in trials if of == factor]
            self.assertIn(met, ([True, True],) if factor == found else ([False], [True, False]), said)
        margin = re.findall(r"(?m)^dilation (\d+): one step higher, as a margin$", said)
        if found in (1, 100000):
            self.assertEqual(margin, [], said)
            return found
        self.assertEqual(margin, [str(factors[factors.index(found) + 1])], said)
        return int(margin[0])

    def run_file(self, text, *more):
        folder = tempfile.TemporaryDirectory(prefix="weft-auto-")
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name)
        (path / "run.yaml").write_text(text)
        done = subprocess.run([WEFT, "run", str(path / "run.yaml"), "--dilation", "auto", "--quiet", "--json",
                               str(path / "result.json"), *more], capture_output=True, text=True, timeout=240, check=False)
        return done, path / "result.json"

    def test_a_run_chooses_a_step_more_than_the_smallest_factor_that_meets_its_demand(self):
        for demand, late, share in (("", None, None), ("fidelity: {late: 1ms, share: 90%}\n", "1ms", 90)):
            done, path = self.run_file(RUN + demand)
            found = self.chosen(done.stderr, late, share)
            result = json.loads(path.read_text())
            self.assertEqual((result["dilation"], result["config"]["dilation"]), (found, found))

    def test_without_traffic_there_is_nothing_to_choose_by(self):
        done, _ = self.run_file(RUN.replace("[{pattern: uniform, load: 20%, message: 1KiB}]", "[]"))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("dilation: auto is measured with the file's traffic, but there is none; use a number", done.stderr)

    def test_without_a_frame_nothing_is_chosen(self):
        late = RUN.replace("message: 1KiB", "message: 1KiB, start: 50s").replace("duration: 5ms", "duration: 60s")
        for demand in ("", "fidelity: {late: 1ms, share: 90%}\n"):
            done, path = self.run_file(late + demand)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("dilation: auto: no data frame arrived within 2 s with dilation 1; use a number, or more traffic",
                          done.stderr)
            self.assertFalse(path.exists() and path.stat().st_size)

    def test_a_lab_keeps_what_was_chosen_when_it_came_up(self):
        lab = labs.Lab(WEFT, "a", LAB.replace("dilation: 10", "dilation: auto"), one_cable(), form="one")
        self.addCleanup(lab.remove)
        done = lab.weft("up", "--wait", labs.UP_WAIT, timeout=240)
        found = self.chosen(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(lab.status()["dilation"], found)
        self.assertEqual(lab.must("exec", "h0", "--", "sh", "-c", "echo ${WEFT_DILATION-1}"), f"{found}\n")

    def test_several_processes_need_a_number(self):
        lab = labs.Lab(WEFT, "s", LAB.replace("dilation: 10", "dilation: auto"), one_cable())
        self.addCleanup(lab.remove)
        done = lab.weft("up")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("dilation: auto requires a lab with a single process; use a number", done.stderr)


class Override(unittest.TestCase):
    def test_an_option_replaces_the_file_s_until_the_lab_is_down(self):
        lab = labs.Lab(WEFT, "o", LAB, labs.two_switches(), form="one")
        self.addCleanup(lab.remove)
        self.assertIn(", dilated by 20\n", lab.must("up", "--dilation", "20"))
        clocks = [clock_name(lab)]
        self.assertEqual(lab.status()["dilation"], 20)
        lab.note_pids()
        cpus = len(os.sched_getaffinity(0))
        loops = [pid for pid in os.listdir(f"/proc/{lab.pid_of('s0')}/task") if "lcore" in labs.read(f"/proc/{pid}/comm")]
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, lab.pid_of("s0")), -10 if cpus > 1 else os.getpriority(os.PRIO_PROCESS, 0))
        self.assertEqual(len(loops), min(max(cpus - 1, 1), 64) - 1, "loops beside the main thread, which leave a CPU to programs")
        self.assertEqual(lab.must("exec", "h0", "--", "printenv", "WEFT_DILATION"), "20\n")
        lab.must("up", "--restart", "--dilation", "2")
        lab.must("exec", "h0", "--", "true")
        clocks.append(clock_name(lab))
        self.assertEqual(lab.status()["dilation"], 2)
        text = labs.read(lab.file)
        pathlib.Path(lab.file).write_text(text.replace("load: 20%", "load: 30%"))
        self.assertIn("was started with a different file: traffic", lab.weft("status").stderr)
        pathlib.Path(lab.file).write_text(text)
        self.assertIn(clocks[1], os.listdir("/dev/shm"))
        lab.must("down")
        left = [name for name in os.listdir("/dev/shm") if any(clock in name for clock in clocks)]
        self.assertEqual(left, [], "the clock of programs is left")
        done = lab.weft("up", "--dilation", "0")
        self.assertEqual((done.returncode, done.stderr.strip()),
                         (2, "weft lab up: --dilation 0: expected auto, or a whole number from 1 to 100000"))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    DISSECTOR = os.path.abspath(sys.argv.pop(2))
    labs.main(__doc__, programs=("ip", "faketime", "iperf3", "ping", "tshark", "mpirun"))
