#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Processes of a lab are killed, stopped and taken down while traffic flows: exit code, text and JSON
of 'weft lab run' agree with what was lost, and undisturbed runs beside them end with 0.

usage: chaos_test.py WEFT [--long]
--long takes 10 minutes: every kind of process, stopped for 3 and 30 s, each also beside busy programs.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

import labs

WEFT = None
LONG = False
RUN = "50ms"

LAB = """topology: "full:switches=2,hosts=1"
links: {links}
groups: {{left: [s0], right: [s1], mapper: [h0], sender: [h1]}}
seed: 1
dilation: 5
hello: 100ms
nic: {{give-up: 300s}}
mapper: {{routes: mapper, mode: always, hosts: [h0]}}
traffic: [{{pattern: uniform, from: all, load: 1%, message: 1KiB}}]
"""
KINDS = {"a switch": "s0", "the host of the mapper": "h0", "a host": "h1"}


@contextlib.contextmanager
def busy_machine(busy=True):
    """Two programs for each core that never wait."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
               for _ in range(2 * os.cpu_count() if busy else 0)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


class Chaos(unittest.TestCase):
    running = {}

    def lab(self, links):
        """One for all tests, until one of them spoils it."""
        if links not in self.running:
            self.running[links] = labs.Lab(WEFT, f"x{links[0]}", LAB.format(links=links))
            self.running[links].up()
        lab = self.running[links]
        lab.wait(lambda: lab.status()["up"], "the lab is not up")
        return lab

    @classmethod
    def spoil(cls, links):
        cls.running.pop(links).remove()

    @classmethod
    def tearDownClass(cls):
        for links in list(cls.running):
            cls.spoil(links)

    def disturbed(self, lab, disturb):
        """Outcome of a run in whose midst that happens: a signal ends it."""
        traffic = labs.Traffic(lab, "9999s")
        traffic.wait_flow(20)
        disturb()
        traffic.stop()
        return traffic.finish()

    def assert_whole(self, lab):
        """Figures add up, and nothing is complained about."""
        lab.wait(lambda: lab.status()["up"], "the lab is not up")
        outcome = labs.Traffic(lab, RUN).finish()
        code, result, said = outcome
        messages = result["messages"]
        self.assertEqual((code, result["incomplete"], result["incomplete_reasons"]), (0, False, []), said)
        self.assertNotIn("incomplete", said)
        self.assertEqual((result["topology"]["switches"], result["topology"]["hosts"]), (2, 2))
        self.assertGreater(messages["delivered"], 20)
        self.assertEqual(messages["injected"], messages["delivered"], said)
        self.assertEqual(messages["generated"],
                         messages["delivered"] + messages["dropped"] + messages["pending"], said)
        return result["wall"]["stall_ns"]

    def assert_incomplete(self, outcome, *about):
        """Exit code, text and JSON say it, and of whom."""
        code, result, said = outcome
        self.assertEqual((code, result["incomplete"]), (1, True), said)
        for reason in result["incomplete_reasons"]:
            self.assertIn(f"weft lab run: incomplete: {reason}\n", said)
            self.assertIn(f"  incomplete             {reason}\n", said)
        for words in about:
            self.assertTrue(any(words in reason for reason in result["incomplete_reasons"]), said)
        return result["incomplete_reasons"]

    def stop(self, lab, process, times):
        """It is away for so many times as a command waits for its answer, or does not answer at the end, and nobody
        else is accused."""
        def pause():
            os.kill(lab.pids[process], signal.SIGSTOP)
            for _ in range(times):
                lab.status()
            os.kill(lab.pids[process], signal.SIGCONT)
        reasons = self.assert_incomplete(self.disturbed(lab, pause), process)
        named = {reason.split(":")[0].split()[0] for reason in reasons}
        self.assertLessEqual(named & {"s0", "s1", "h0", "h1"}, {process}, reasons)
        lab.wait(lambda: lab.status()["up"], "the lab is not up again")

    def kill(self, links, process):
        """The run is incomplete; the process comes back, and the others have noticed no more than a cut."""
        lab = self.lab(links)
        outcome = self.disturbed(lab, lambda: os.kill(lab.pids[process], signal.SIGKILL))
        reasons = self.assert_incomplete(outcome, f"{process} is gone")
        self.assertEqual([reason for reason in reasons if " is gone" in reason],
                         [f"{process} is gone, and its counts are lost"])
        checks = outcome[1]["checks"]
        self.assertEqual([checks[check] for check in labs.CHECKS], [0, 0, 0], outcome[2])
        self.assertEqual(outcome[1]["changes"]["unknown"], [process], outcome[2])
        lab.start_again(process)
        self.assert_whole(lab)

    def stops(self, links, times, kinds=KINDS, busy=False):
        lab = self.lab(links)
        with busy_machine(busy):
            away = [self.assert_whole(lab)]
            for process in kinds.values():
                for pause in times:
                    self.stop(lab, process, pause)
            away.append(self.assert_whole(lab))
        print(f"MEASURED {links}, {'busy' if busy else 'idle'}: loops of undisturbed runs away for at most "
              f"{max(away) / 1e6:.1f} ms")

    def test_a_process_that_was_stopped_makes_the_run_incomplete(self):
        if not LONG:
            self.stops("shared", [1])
            self.stops("veth", [1], {"a host": "h1"})
            return
        for links in ("shared", "veth"):
            for busy in (False, True):
                self.stops(links, [1, 10], busy=busy)

    def test_a_process_that_does_not_answer_at_the_end_makes_the_run_incomplete(self):
        lab = self.lab("veth")
        traffic = labs.Traffic(lab, "1s")
        traffic.wait_flow(1)
        os.kill(lab.pids["h1"], signal.SIGSTOP)
        outcome = traffic.finish()
        os.kill(lab.pids["h1"], signal.SIGCONT)
        self.assert_incomplete(outcome, "h1 does not report, and its counts are missing: ")
        self.assertEqual(outcome[1]["changes"]["unknown"], ["h1"], outcome[2])

    def test_a_killed_process_makes_the_run_incomplete_and_comes_back(self):
        for links, kinds in {"shared": list(KINDS.values()) if LONG else ["s0", "h1"],
                             "veth": list(KINDS.values()) if LONG else ["s0"]}.items():
            for process in kinds:
                with self.subTest(f"{links} {process}"):
                    self.kill(links, process)

    def test_a_lab_that_is_taken_down_ends_its_run_at_once(self):
        lab = self.lab("shared")
        traffic = labs.Traffic(lab, "60s")
        traffic.wait_flow(20)
        lab.must("down")
        outcome = traffic.finish()
        self.spoil("shared")
        self.assert_incomplete(outcome, "the lab was taken down", *(f"{name} is gone" for name in lab.pids))

    def test_a_signal_is_no_bad_answer(self):
        lab = self.lab("shared")
        traffic = labs.Traffic(lab, "60s")
        traffic.wait_flow(20)
        traffic.stop()
        code, result, said = traffic.finish()
        self.assertEqual((code, result["incomplete_reasons"]),
                         (130, ["a signal ended the run before its time"]), said)

    def test_a_fabric_in_one_process_that_was_stopped_is_incomplete(self):
        with tempfile.TemporaryDirectory() as folder:
            path, capture, file = (os.path.join(folder, name) for name in ("run.json", "h0.pcapng", "run.yaml"))
            with open(file, "w") as out:
                out.write("weft: run/1\nclock: real\ntopology: 'full:switches=2,hosts=1'\n"
                          "traffic: [{pattern: uniform, from: all, load: 0.1%, message: 1KiB}]\n"
                          "measure: {duration: 9999s, sample: 1s}\n")
            run = subprocess.Popen([WEFT, "run", file, "--json", path, "--pcap", f"h0:0={capture}"],
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(run.kill)
            # It is in the middle of the traffic.
            labs.wait_file(capture, lambda path: os.path.exists(path) and os.path.getsize(path) > 10000, run)
            os.kill(run.pid, signal.SIGSTOP)
            # Another run takes a second of real time.
            subprocess.run([WEFT, "run", file, "--quiet", "--set", "measure.duration=1s"], stderr=subprocess.DEVNULL,
                           check=False, timeout=labs.HANG_SECONDS)
            os.kill(run.pid, signal.SIGCONT)
            run.send_signal(signal.SIGINT)
            said, errors = run.communicate(timeout=labs.HANG_SECONDS)
            self.assertEqual(run.returncode, 1, said + errors)
            with open(path) as file:
                result = json.load(file)
        self.assertTrue(result["incomplete"])
        self.assertRegex(errors, r"weft run: incomplete: the loop was stopped or had no CPU for \d")
        self.assertIn("  incomplete             the loop was stopped or had no CPU for ", said)


if __name__ == "__main__":
    LONG = "--long" in sys.argv
    WEFT = sys.argv[1]
    labs.need_lab()
    unittest.main(argv=[sys.argv[0]] + [word for word in sys.argv[2:] if word != "--long"], verbosity=2)
