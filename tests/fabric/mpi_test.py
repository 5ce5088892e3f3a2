#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Runs on several processes by MPI: the same bytes as on one, and clear errors.

usage: mpi_test.py WEFT WEFT-FABRIC MPI-FABRICS RANKS-ON-CPUS [TEST]...

WEFT_MPI_CASES: random fabrics on 2 and on 3 processes (default 3; the long form is 20).
"""
import json
import os
import pathlib
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

# What a caller such as nohup ignores stays ignored in the programs.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
WEFT, FABRIC, FABRICS, ON_CPUS = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
TOPO = pathlib.Path(__file__).resolve().parents[2] / "topo"
CASES = os.environ.get("WEFT_MPI_CASES", "3")
MPIRUN = ["mpirun", "--quiet", "--oversubscribe", "--bind-to", "none"]
if os.geteuid() == 0:
    MPIRUN.append("--allow-run-as-root")
# Hours, if nothing ends it.
ENDLESS = ("--set", "measure.duration=1000s", "--set", "measure.sample=100s")
# A short delay makes many rounds, in each of which the ranks wait for each other.
MANY_ROUNDS = ("--set", "link.delay=30ns")
RUN = """
weft: run/1
topology: "rlft:ports=4,stages=3"
clock: virtual
link: {rate: 100Gbps, delay: 500ns}
switch: {buffer: 64KiB, mtu: 2KiB}
nic: {mtu: 2KiB}
routing: {algorithm: dmodk, mode: table}
measure: {warmup: 5us, duration: 30us, sample: 10us}
traffic:
  - {pattern: uniform, from: all, load: 60%, message: 1000B}
"""


def call(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)


def children(pid):
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        yield from map(int, path.read_text().split())


def ranks_of(pid):
    """Processes of weft-fabric below a process, by rank."""
    ranks = {}
    for child in children(pid):
        if pathlib.Path(f"/proc/{child}/comm").read_text() == "weft-fabric-mpi\n":
            environment = pathlib.Path(f"/proc/{child}/environ").read_text().split("\0")
            ranks[int(dict(entry.split("=", 1) for entry in environment if "=" in entry)["OMPI_COMM_WORLD_RANK"])] = child
        ranks.update(ranks_of(child))
    return ranks


class Mpi(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-mpi-"))
        self.addCleanup(shutil.rmtree, self.dir)
        self.file = self.dir / "run.yaml"
        self.file.write_text(RUN)

    def result(self, *words, file=None):
        path = self.dir / "result.json"
        path.unlink(missing_ok=True)
        done = call(WEFT, "run", str(file or self.file), "-q", "--json", str(path), *words)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), words)
        document = json.loads(path.read_text())
        return document.pop("wall"), json.dumps(document)

    def test_random_fabrics_give_the_bytes_of_threads(self):
        for ranks, first in (("2", "1"), ("3", "4")):
            done = call(*MPIRUN, "-n", ranks, FABRICS, CASES, first)
            self.assertEqual((done.returncode, done.stdout), (0, f"{CASES} of {CASES} the same\n"), done.stderr)

    def test_any_number_of_processes_gives_the_bytes_of_one(self):
        one = self.result()[1]
        for words in (("--mpi", "1"), ("--mpi", "7"), ("--mpi", "3", "--workers", "2")):
            self.assertEqual(self.result(*words)[1], one, words)
        self.assertEqual(self.result(*MANY_ROUNDS, "--mpi=2")[1], self.result(*MANY_ROUNDS)[1])

    def test_run_files_of_the_tree_give_the_bytes_of_one(self):
        short = ("--set", "measure.duration=30us", "--set", "measure.warmup=10us", "--set", "measure.sample=10us")
        for name in ("fat-tree-432.yaml", "dragonfly-72.yaml", "booksim-torus.yaml"):
            one = self.result(*short, file=TOPO / name)[1]
            self.assertEqual(self.result(*short, "--mpi", "2", file=TOPO / name)[1], one, name)

    def test_events_give_the_bytes_of_one_process(self):
        words = ("--set", "measure.duration=600us", "--set", "measure.sample=20us", "--set", "faults={corrupt: 0.1%, credit-loss: 1%}",
                 "--set", "hello=100us", "--set", "mapper.after=50us",
                 "--set", "events=[{every: 20us, jitter: 50%, link: random, down: 15us}, {at: 100us, switch: s3, down: 350us},"
                          " {at: 200us, link: 's0:2', rate: 25Gbps, delay: 700ns}, {when: {counter: data_in, above: 5000}, host: h3, drain: 9Gbps}]")
        one = self.result(*words)[1]
        self.assertGreater(json.loads(one)["counters"]["link_frames_lost"], 500)
        self.assertEqual(self.result(*words, "--mpi", "3", "--workers", "2")[1], one)

    def test_routes_after_an_event_and_bridges_give_the_bytes_of_one_process(self):
        words = ("--set", "topology=irregular:switches=16,degree=4,hosts=2,seed=5", "--set", "seed=5", "--set", "hello=100us",
                 "--set", "routing={algorithm: ud, mode: source}", "--set", "traffic.0.load=10%", "--set", "nic.retry=100us",
                 "--set", "measure={duration: 500us, sample: 20us}", "--set", "events=[{at: 50us, link: random, down: forever}]",
                 "--set", "mapper.after=20us", "--set", "reconfigure.mode=itb")
        one = self.result(*words)[1]
        counters = json.loads(one)["counters"]
        self.assertGreater(min(counters[name] for name in ("reroutes_bridged", "reroutes_bridged_ns", "host_itb_absorbed")), 0)
        self.assertEqual(self.result(*words, "--mpi", "2")[1], one)

    def schedule(self, path, size):
        call(WEFT, "goal", "gen", "alltoall", "--ranks", "16", "--bytes", size, "--rounds", "2", "-o", str(path))
        return "--set", f"traffic=[{{pattern: goal, file: {path}, ranks-per-host: 3}}]", "--set", "measure.duration=5ms"

    def test_flows_have_the_times_of_one_process(self):
        flows = self.dir / "some.flows"
        flows.write_text("".join(f"{i} {(7 * i + 3) % 16} {i}us {1000 * i + 1}\n" for i in range(16)) + "3 5 1us 9 0\n")
        words = ("--set", f"traffic=[{{pattern: flows, file: {flows}}}]", "--set", "measure.duration=5ms")
        one = self.result(*words)[1]
        self.assertEqual(json.loads(one)["flows"]["completed"], 17)
        self.assertEqual(self.result(*words, "--mpi", "3", "--workers", "2")[1], one)

    def test_drawn_flows_are_the_same_in_every_process(self):
        words = ("--set", "traffic=[{pattern: flows, sizes: hadoop, load: 40%, stop: 100us}]", "--set", "measure.duration=50ms")
        one = self.result(*words)[1]
        self.assertGreater(json.loads(one)["flows"]["completed"], 20)
        self.assertEqual(self.result(*words, "--mpi", "2", "--workers", "3")[1], one)

    def test_packets_of_a_capture_are_the_same_in_every_process_and_worker(self):
        capture = self.dir / "some.pcap"
        with open(capture, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
            for i in range(500):
                ip = struct.pack(">BBH8xII", 0x45, 0, 60 + i, 0x0A000000 + i % 13, 0x0A000000 + (5 * i + 1) % 17)
                out.write(struct.pack("<IIII", 7, i, len(ip), 60 + i) + ip)
        words = ("--set", f"traffic=[{{pattern: pcap, file: {capture}, loop: 2, load: 60%}}]", "--set", "measure.duration=1ms")
        one = self.result(*words)[1]
        entry = json.loads(one)["traffic"][0]
        self.assertEqual(entry["messages"], dict.fromkeys(("generated", "delivered"), 2 * (500 - entry["packets"]["same_host"])))
        for more in (("--workers", "3"), ("--mpi", "3", "--workers", "2")):
            self.assertEqual(self.result(*words, *more)[1], one, more)

    def test_schedules_give_the_bytes_of_one(self):
        words = self.schedule(self.dir / "s.goal", "3000B")
        one = self.result(*words)[1]
        self.assertGreater(json.loads(one)["counters"]["goal_completion_ns"], 0)
        self.assertEqual(self.result(*words, "--mpi", "3", "--workers", "2")[1], one)

    def test_jobs_and_their_baselines_give_the_bytes_of_one(self):
        for name in ("one", "two"):
            self.schedule(self.dir / f"{name}.goal", "3000B")
        jobs = ", ".join(f"{{name: {name}, schedule: {self.dir}/{name}.goal, hosts: 6, ranks-per-host: 3, placement: random, start: {start}, "
                         "baseline: true}" for name, start in (("one", "0us"), ("two", "2us")))
        words = ("--set", "traffic=[]", "--set", "measure={duration: 5ms}", "--set", "host.rendezvous=1KiB", "--set",
                 f"jobs=[{jobs}, {{name: noise, traffic: {{pattern: uniform, load: 10%}}, hosts: 4, baseline: true}}]")
        one = self.result(*words)[1]
        self.assertGreater(json.loads(one)["jobs"][0]["alone"]["completion_ns"], 0)
        self.assertEqual(self.result(*words, "--mpi", "2")[1], one)

    def captures(self, *words):
        """Exit code, errors, and two captures: ports of two switches, and a host."""
        paths = [self.dir / name for name in ("port.pcapng", "host.pcapng")]
        done = call(WEFT, "run", str(self.file), "-q", *words, "--pcap", f"s0:0={paths[0]}", "--pcap", f"s7:1={paths[0]}",
                    "--pcap", f"h9:0={paths[1]}")
        return done.returncode, done.stderr, [path.read_bytes() for path in paths]

    def test_captures_have_the_bytes_of_one(self):
        for sets in ((), ("--set", "routing.mode=source", "--set", "switch.voq=false"),
                     ("--set", "measure.latencies=true", *MANY_ROUNDS)):
            one = self.captures(*sets)
            self.assertEqual(one[:2], (0, ""))
            self.assertGreater(min(len(bytes) for bytes in one[2]), 10000)
            self.assertEqual(self.captures(*sets, "--mpi", "3", "--workers", "2"), one, sets)

    def test_what_a_watchdog_discards_is_captured_as_in_one(self):
        files = []
        for words in ((), ("--mpi", "3")):
            path = self.dir / "all.pcapng"
            done = call(WEFT, "run", str(TOPO / "ring-deadlock.yaml"), "-q", "--set", "watchdog=100us", "--pcap",
                        f"all={path}", *words)
            files.append((done.returncode, done.stderr, path.read_bytes()))
        self.assertEqual(files[1], files[0])

    def test_a_capture_that_cannot_be_written_is_told_once(self):
        for path, code, text in (("/nowhere/x", 2, "/nowhere/x: cannot write a capture: No such file or directory"),
                                 ("/dev/full", 3, "/dev/full: the capture is incomplete: No space left on device")):
            self.refused(code, f"weft run: {text}\n", WEFT, "run", str(self.file), "-q", "--mpi", "2", "--pcap",
                         f"all={path}")
        self.run_refused("s99:0: no such port here", "--mpi", "2", "--pcap", f"s99:0={self.dir}/x.pcapng")

    def test_loads_of_links_in_each_sample_are_those_of_one(self):
        words = ("--set", "measure.link-series=true")
        one = self.result(*words)[1]
        self.assertGreater(max(max(link["series"]["utilisation"]) for link in json.loads(one)["links"]), 0.5)
        self.assertEqual(self.result(*words, "--mpi", "3", "--workers", "2")[1], one)

    def test_a_schedule_with_other_contents_is_refused(self):
        words = []
        for size in ("1000B", "2000B"):
            here = self.dir / size
            here.mkdir()
            self.schedule(here / "s.goal", size)
            words += [":", "-n", "1", "--wdir", str(here), FABRIC, str(self.file), "--set",
                      "traffic=[{pattern: goal, file: /proc/self/cwd/s.goal}]"]
        self.refused(2, "weft-fabric: rank 1: its /proc/self/cwd/s.goal differs from rank 0's, but must be the same in "
                     "all ranks\n", *MPIRUN, *words[1:])

    def test_a_deadlock_across_processes_is_found_and_told_as_in_one(self):
        one, three = (call(WEFT, "run", str(TOPO / "ring-deadlock.yaml"), "-q", *words)
                      for words in ((), ("--mpi", "3")))
        self.assertIn("6 channels wait for each other", one.stderr)
        self.assertEqual((three.returncode, three.stderr), (one.returncode, one.stderr))

    def test_each_worker_of_each_process_is_in_the_result(self):
        workers = self.result("--mpi", "2", "--workers", "2")[0]["workers"]
        self.assertEqual(len(workers), 4)
        self.assertTrue(all(worker["events"] > 0 for worker in workers))

    def test_only_one_process_prints_the_result(self):
        one, two = (call(WEFT, "run", str(self.file), *words).stdout for words in ((), ("--mpi", "2")))
        self.assertEqual([line for line in one.splitlines() if "wall time" not in line],
                         [line for line in two.splitlines() if "wall time" not in line])

    def test_the_programs_of_mpirun_find_each_other_without_an_option(self):
        done = call(*MPIRUN, "-n", "2", FABRIC, str(self.file), "--json", "-")
        self.assertEqual(len(json.loads(done.stdout)["wall"]["workers"]), 2)

    def refused(self, code, text, *words):
        done = call(*words)
        self.assertEqual((done.returncode, done.stdout), (code, ""), words)
        # libevent in mpirun may complain of connections to ranks that have ended.
        lines = [line for line in done.stderr.splitlines(True) if not line.startswith("[warn] Epoll")]
        self.assertEqual("".join(lines), text)

    def run_refused(self, text, *words):
        self.refused(2, f"weft run: {text}\n", WEFT, "run", str(self.file), *words)

    def test_numbers_of_processes_out_of_range_are_refused(self):
        for number in ("0", "257", "x", ""):
            self.refused(2, f"weft run: --mpi '{number}': expected a number of processes from 1 to 256\n",
                         WEFT, "run", str(self.file), "--mpi", number)
        self.run_refused("--mpi 7: must be 1 to 6 workers in total for a fabric with 6 switches", "--mpi", "7",
                         "--set", "topology=rlft:ports=4,stages=2")
        self.run_refused("--mpi 2 --workers 11: must be 1 to 20 workers in total for a fabric with 20 switches",
                         "--mpi", "2", "--workers", "11")

    def test_a_wrong_file_is_told_once(self):
        self.refused(2, "weft run: nowhere.yaml: No such file or directory\n",
                     WEFT, "run", "nowhere.yaml", "--mpi", "3")

    def test_a_caller_that_ignores_ends_of_children_gets_the_exit_code(self):
        done = subprocess.run([WEFT, "run", "nowhere.yaml", "--mpi", "2"], capture_output=True, timeout=240, check=False,
                              preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 2)

    def test_a_missing_program_is_named(self):
        alone = self.dir / "weft"
        shutil.copy(WEFT, alone)
        done = subprocess.run([alone, "run", str(self.file), "--mpi", "2"], capture_output=True, text=True, timeout=240,
                              check=False, env={**os.environ, "WEFT_PROGRAMS": str(self.dir)})
        self.assertEqual((done.returncode, done.stderr),
                         (3, "weft run: --mpi: cannot start weft-fabric: No such file or directory\n"))

    def test_a_rank_of_another_program_may_run_a_fabric_by_itself(self):
        done = subprocess.run([FABRIC, "nowhere.yaml"], capture_output=True, text=True, timeout=240, check=False,
                              env={**os.environ, "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2",
                                   "OMPI_COMMAND": "a.out"})
        self.assertEqual((done.returncode, done.stderr), (2, "weft-fabric: nowhere.yaml: No such file or directory\n"))

    def test_features_of_one_process_are_refused(self):
        self.run_refused("--mpi 2: workers are for the virtual clock only; on the real clock use --lcores",
                         "--mpi", "2", "--clock", "real")
        self.refused(2, "weft run: --web cannot be combined with --mpi; 'weft web RESULT.json' shows the result\n",
                     WEFT, "run", str(self.file), "--mpi", "2", "--web")
        self.run_refused("--mpi 2: a link without delay would connect two workers; 'delay' must be above 0ps", "--mpi", "2", "--set", "link.delay=0ns")

    def test_processes_that_would_run_something_else_are_refused(self):
        other = self.dir / "other.yaml"
        other.write_text(RUN.replace("60%", "50%"))
        for what, words in (("seed", (str(self.file), "--set", "seed=7")), ("configuration", (str(other),)),
                            ("number of --workers", (str(self.file), "--workers", "2"))):
            self.refused(2, f"weft-fabric: rank 1: its {what} differs from rank 0's, but must be the same in all ranks\n",
                         *MPIRUN, "-n", "1", FABRIC, str(self.file), ":", "-n", "1", FABRIC, *words)
        self.refused(2, "weft-fabric: rank 1: nowhere.yaml: No such file or directory\n",
                     *MPIRUN, "-n", "1", FABRIC, str(self.file), ":", "-n", "1", FABRIC, "nowhere.yaml")

    def test_a_topology_file_with_other_contents_is_refused(self):
        words = []
        for delay in ("30ns", "40ns"):
            here = self.dir / delay
            here.mkdir()
            call(WEFT, "topo", "gen", "rlft", "--ports", "4", "--stages", "2", "--delay", delay,
                 "-o", str(here / "t.yaml"))
            (here / "run.yaml").write_text(RUN.replace('"rlft:ports=4,stages=3"', "/proc/self/cwd/t.yaml")
                                           .replace("30ns", "9ns"))
            words += [":", "-n", "1", "--wdir", str(here), FABRIC, "run.yaml"]
        self.refused(2, "weft-fabric: rank 1: its topology differs from rank 0's, but must be the same in all ranks\n",
                     *MPIRUN, *words[1:])

    def start(self, *words):
        """A run that goes on and hears signals, and its two ranks."""
        # Rank 0 opens captures when all ranks catch signals, and has no frame of h2 to write.
        capture = self.dir / "capture"
        if not capture.exists():
            os.mkfifo(capture)
        process = subprocess.Popen([WEFT, "run", str(self.file), "-q", *words, "--mpi", "2", *ENDLESS, "--set",
                                    "traffic=[{pattern: uniform, from: [h0, h1], to: [h0, h1], load: 1%}]", "--pcap",
                                    f"h2:0={capture}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        reader = open(capture, "rb")
        self.addCleanup(reader.close)
        ranks = ranks_of(process.pid)
        self.assertEqual(set(ranks), {0, 1})
        return process, ranks

    @unittest.skipIf(min(os.sched_getaffinity(0)) != 0 or len(os.sched_getaffinity(0)) < 2, "not CPU 0 and another")
    def test_of_two_processes_on_one_cpu_the_second_leaves_it(self):
        allowed = sum(1 << cpu for cpu in os.sched_getaffinity(0) if cpu < 64)
        for cpus, moves in (("0,0", [allowed & ~1, allowed]), ("0,1", [])):
            log = self.dir / f"moves-{cpus}"
            environment = os.environ | {"LD_PRELOAD": ON_CPUS, "WEFT_RANKS_CPUS": cpus, "WEFT_RANKS_LOG": str(log)}
            done = subprocess.run([WEFT, "run", str(self.file), "-q", "--mpi", "2"],
                                  env=environment, capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), cpus)
            logs = [self.dir / f"moves-{cpus}.{rank}" for rank in range(2)]
            masks = [[int(mask, 16) for mask in path.read_text().split()] if path.exists() else [] for path in logs]
            self.assertEqual((masks[0], masks[1][:2]), ([], moves), cpus)

    def test_a_process_that_dies_ends_the_others(self):
        for which in (0, 1):
            process, ranks = self.start()
            ends = select.poll()
            other = os.pidfd_open(ranks[1 - which])
            self.addCleanup(os.close, other)
            ends.register(other, select.POLLIN)
            os.kill(ranks[which], signal.SIGKILL)
            errors = process.communicate(timeout=240)[1]
            self.assertEqual(process.returncode, 3)
            self.assertEqual(errors, "weft run: --mpi: signal 9 (Killed) ended a process, so mpirun ended the "
                             "remaining processes\n")
            self.assertEqual(len(ends.poll(240000)), 1, "the other process goes on")

    def test_a_signal_ends_the_run_and_its_result_is_written(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            path = self.dir / f"{number}.json"
            process, _ = self.start("--json", str(path))
            process.send_signal(number)
            errors = process.communicate(timeout=240)[1]
            self.assertEqual(process.returncode, 130)
            self.assertEqual(errors, "weft run: incomplete: a signal ended the run before its time\n")
            self.assertTrue(json.loads(path.read_text())["incomplete"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
