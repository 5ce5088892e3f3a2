#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The page of 'weft run --web' in a real browser while the run goes on, on both clocks.

usage: run_page_test.py WEFT [CASE...]"""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import termios
import unittest
import unittest.mock

import browser
import labs
import pages

# What a caller such as nohup ignores stays ignored in the programs.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
WEFT = None
RUN = """weft: run/1
topology: {{name: small, link: {{rate: {rate}, delay: 100ns}},
  switches: [{{name: s0, ports: 4, stage: 1}}, {{name: s1, ports: 4, stage: 1}}, {{name: s2, ports: 2, stage: 2}}],
  hosts: [{{name: h0}}, {{name: h1}}, {{name: h2}}, {{name: h3}}],
  links: [{{a: "h0:0", b: "s0:0"}}, {{a: "h1:0", b: "s0:1"}}, {{a: "h2:0", b: "s1:0"}}, {{a: "h3:0", b: "s1:1"}},
    {{a: "s0:2", b: "s2:0"}}, {{a: "s1:2", b: "s2:1"}}]}}
clock: {clock}
seed: 1
traffic: [{{pattern: uniform, from: [h0, h1], to: [h3], load: 30%, message: 1KiB}}]
measure: {{duration: {duration}, sample: {sample}}}
"""
# Longer than any test: they end when they are told to.
ENDLESS = {"virtual": RUN.format(clock="virtual", rate="10Gbps", duration="600s", sample="50ms"),
           "real": RUN.format(clock="real\ndilation: 20", rate="1Gbps", duration="60s", sample="5ms")}
SHORT = RUN.format(clock="virtual", rate="10Gbps", duration="400us", sample="50us")
WORMHOLE = """weft: run/1
topology: "irregular:switches=64,degree=4,hosts=4,ports=8,seed=1"
clock: virtual
switch: {{switching: wormhole}}
traffic: [{{pattern: uniform, load: 6%, message: 512B, arrivals: uniform}}]
measure: {{messages: {messages}, sample: 1us}}
"""
RIGHT = "\ue014" # the key
STATE = "return document.getElementById('state').textContent"


class RunPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="weft-page-")
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, text, *more, start=()):
        run = pages.Run(WEFT, self.folder, text, *more, start=start)
        self.addCleanup(run.end)
        self.assertRegex(run.url, r"^http://127\.0\.0\.1:\d+/$")
        return run

    def open(self, run):
        self.browser.open("about:blank")
        self.browser.complaints()
        self.browser.open(run.url)
        self.browser.wait("return window.weft && weft.events > 0")

    def leave(self, run, number=signal.SIGINT):
        """Ends the page, and the command with it; SIGTERM also ends a run that goes on."""
        self.assertEqual(self.browser.complaints(), [])
        self.browser.open("about:blank") # a page complains if its server goes away
        run.process.send_signal(number)
        run.said = run.process.communicate(timeout=labs.HANG_SECONDS)[1]
        return run.process.returncode

    def follow_and_end(self, clock):
        run = self.start(ENDLESS[clock])
        self.open(run)
        self.browser.wait("return weft.run.series.length >= 3 && weft.run.shown >= 2")
        self.browser.wait(f"{STATE} === 'running'")
        count = self.browser.run("return weft.run.series.length")
        self.browser.wait("return weft.run.series.length > arguments[0] && weft.run.shown > arguments[0] - 1", count)
        self.browser.run("document.getElementById('scrub').focus()")
        self.browser.press("\ue011") # home
        self.browser.press(RIGHT)
        self.browser.wait("return weft.run.shown === 1")
        drawn = pages.drawn(self.browser)
        loads = self.browser.run("return weft.fabric.sample.utilisation")
        series = self.browser.run("return weft.run.series[1]")
        self.assertFalse(os.path.exists(run.json), "the run has ended")

        run.process.send_signal(signal.SIGINT)
        self.browser.wait("return weft.run.run.state === 'result' && weft.run.known === 'result'")
        self.browser.wait(f"{STATE} === 'incomplete result'")
        result = run.result()
        self.assertEqual(result["incomplete_reasons"][0], "a signal ended the run before its time")
        self.assertEqual(self.browser.run("return weft.run.series.length"), len(result["series"]))
        self.browser.wait("return weft.run.shown === 1")
        self.assertEqual(drawn, pages.drawn_of_sample(self.browser, result, 1))
        self.assertEqual(drawn, pages.drawn(self.browser))
        ways = self.browser.run("return Object.fromEntries(weft.fabric.wayFrom)")
        for link in result["links"]:
            self.assertEqual(loads[ways[link["from"]]], link["series"]["utilisation"][1], link["from"])
        self.assertGreater(max(loads), 0)
        self.assertEqual(series["t_ns"], result["series"][1]["t_ns"])
        self.assertAlmostEqual(series["accepted"], result["series"][1]["accepted"], 9)
        self.assertIsNone(run.process.poll())
        self.assertEqual(self.leave(run), 130)

    def test_a_run_of_virtual_time_shows_its_samples_and_then_its_result(self):
        self.follow_and_end("virtual")

    def test_a_link_that_is_chosen_asks_for_new_samples_alone(self):
        run = self.start(ENDLESS["virtual"])
        self.open(run)
        self.browser.run("weft.choose(0)")
        self.browser.wait("return weft.fabric.told?.link === 0 && weft.fabric.told.at >= 2")
        self.browser.run("""window.asked = []; const fetched = window.fetch;
            window.fetch = (path) => { window.asked.push([path, weft.fabric.told?.at]); return fetched(path); }""")
        before = self.browser.run("return weft.fabric.told.at")
        self.browser.wait("return weft.fabric.told.at > arguments[0] + 1", before)
        asked = self.browser.run("return window.asked.filter(([path]) => path.startsWith('/link'))")
        self.assertGreater(len(asked), 0)
        self.assertEqual([path for path, _ in asked], [f"/link?number=0&from={at}" for _, at in asked])
        run.process.send_signal(signal.SIGINT)
        self.browser.wait("return weft.run.known === 'result' && weft.fabric.told?.at === weft.run.series.length")
        link = run.result()["links"][0]
        self.assertEqual(self.browser.run("return weft.fabric.series('load', weft.fabric.wayFrom.get(arguments[0]))",
                                          link["from"]), link["series"]["utilisation"])
        self.assertEqual(self.leave(run), 130)

    def test_a_run_of_real_time_shows_its_samples_and_then_its_result(self):
        self.follow_and_end("real")

    def files_of(self, pid):
        files = f"/proc/{pid}/fd"
        return [os.path.realpath(f"{files}/{number}") for number in os.listdir(files)]

    def test_a_run_does_not_wait_for_its_page(self):
        run = self.start(RUN.format(clock="virtual", rate="10Gbps", duration="200ms", sample="20us"))
        run.process.send_signal(signal.SIGSTOP)
        labs.wait_file(run.json) # the run does not wait for the process that shows it
        run.process.send_signal(signal.SIGCONT)
        self.open(run)
        self.browser.wait("return weft.run.known === 'result' && weft.run.series.length === 10000")
        self.assertEqual([name for name in self.files_of(run.process.pid) if "weft-samples" in name], [])
        self.assertEqual(self.leave(run), 0)

    def test_the_page_does_not_change_the_result(self):
        run = self.start(SHORT)
        self.open(run)
        self.browser.wait("return weft.run.known === 'result'")
        self.assertEqual(self.leave(run), 0)
        shown, other = run.result(), os.path.join(self.folder, "other.json")
        subprocess.run([WEFT, "run", f"{self.folder}/run.yaml", "--quiet", "--set", "measure.link-series=true", "--json",
                        other], check=True)
        with open(other) as file:
            alone = json.load(file)
        del shown["wall"], alone["wall"]
        self.assertEqual(shown, alone)

    def test_the_page_does_not_shorten_a_run_that_counts_messages(self):
        text = WORMHOLE.format(messages=20000)
        run = self.start(text)
        self.open(run)
        self.browser.wait("return weft.run.known === 'result' && weft.run.shown !== null")
        shown, other = run.result(), os.path.join(self.folder, "other.json")
        subprocess.run([WEFT, "run", f"{self.folder}/run.yaml", "--quiet", "--json", other], check=True)
        with open(other) as file:
            alone = json.load(file)
        most = len(shown["links"][0]["series"]["utilisation"])
        self.assertGreater(len(alone["series"]), most, "there is room for all samples of links")
        self.browser.run("const scrub = document.getElementById('scrub'); scrub.value = arguments[0];"
                         "scrub.dispatchEvent(new Event('input'))", most)
        self.browser.wait("return weft.run.shown === arguments[0]", most)
        self.assertEqual(set(pages.drawn(self.browser)), {"unknown"})
        self.browser.wait("return document.getElementById('scrubbed').textContent.includes('earlier samples only')")
        self.browser.run("document.getElementById('scrub').focus()")
        self.browser.press("\ue012") # left
        self.browser.wait("return weft.run.shown === arguments[0]", most - 1)
        self.assertEqual(pages.drawn(self.browser), pages.drawn_of_sample(self.browser, shown, most - 1))
        self.assertEqual(self.leave(run), 0)
        for result in (shown, alone):
            for name in ("wall", "links", "config"):
                result.pop(name, None)
        self.assertEqual(shown, alone)

    def test_before_the_first_sample_nothing_can_be_chosen(self):
        run = self.start(ENDLESS["virtual"], "--set", "measure.sample=600s")
        self.open(run)
        self.assertTrue(self.browser.run("return document.getElementById('scrub').disabled"))
        self.assertEqual(self.leave(run, signal.SIGTERM), 130)

    def test_without_values_of_links_the_newest_sample_can_be_followed_again(self):
        run = self.start(RUN.format(clock="virtual", rate="10Gbps", duration="3600s", sample="10ms"))
        self.open(run)
        newest = "return Number(document.getElementById('scrub').value) === weft.run.series.length - 1"
        self.browser.wait("return weft.run.series.length >= 3")
        self.browser.run("document.getElementById('scrub').focus()")
        self.browser.press("\ue011") # home
        self.browser.wait(f"{newest.replace('return ', 'return !(')})")
        self.browser.run("document.getElementById('follow').focus()")
        self.browser.press(" ") # only what is shown has the focus
        self.browser.wait(newest)
        self.assertTrue(self.browser.run("return document.getElementById('follow').checked"))
        self.assertEqual(self.leave(run, signal.SIGTERM), 130)

    def figures(self):
        return self.browser.run("return document.getElementById('figures').textContent")

    def test_a_run_that_counts_messages_says_how_many(self):
        run = self.start(WORMHOLE.format(messages=1000000000), "--set", "measure.warmup-messages=1000",
                         "--set", "measure.sample=1ms")
        self.open(run)
        self.assertIn("measures1000000000 messages, after 1000", self.figures())
        run.process.send_signal(signal.SIGINT)
        self.browser.wait("return weft.run.known === 'result'")
        span = run.result()["measured_ns"]
        said = self.browser.run("return (await import('/run.js')).time(arguments[0])", span["from"])
        self.assertIn(f"measured{said} to ", self.figures())
        self.assertEqual(self.leave(run), 130)

    def test_a_page_without_a_result_file_leaves_none_behind_even_if_it_is_killed(self):
        with open(f"{self.folder}/run.yaml", "w") as file:
            file.write(ENDLESS["virtual"])
        process = subprocess.Popen([WEFT, "run", "--web=127.0.0.1:0", f"{self.folder}/run.yaml", "--quiet"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.browser.open(process.stdout.readline().strip())
        self.browser.wait("return window.weft && weft.run.series.length >= 1")
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            child = file.read().strip()
        with open(f"/proc/{child}/cmdline") as file:
            path = re.search("--json=([^\0]*)", file.read()).group(1)
        path = path.replace("/proc/self/", f"/proc/{child}/")
        self.assertEqual(os.stat(path).st_nlink, 0)
        process.send_signal(signal.SIGINT)
        self.browser.wait("return weft.run.known === 'result'")
        self.browser.open("about:blank") # a page complains if its server goes away

    def test_a_second_kind_of_signal_ends_run_and_page(self):
        run = self.start(ENDLESS["virtual"])
        self.open(run)
        self.browser.wait("return weft.run.series.length >= 1") # before that there is nothing for a result
        self.browser.open("about:blank") # a page complains if its server goes away
        run.process.send_signal(signal.SIGTERM)
        self.assertEqual(run.process.wait(timeout=labs.HANG_SECONDS), 130)
        self.assertTrue(run.result()["incomplete"])

    def test_a_run_that_is_killed_is_said_even_if_the_caller_ignores_the_end_of_children(self):
        run = self.start(ENDLESS["virtual"], start=["env", "--ignore-signal=CHLD"])
        with open(f"/proc/{run.process.pid}/task/{run.process.pid}/children") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        said = run.process.communicate(timeout=labs.HANG_SECONDS)[1]
        self.assertEqual((run.process.returncode, said), (3, "weft run: weft-fabric was ended by signal 9\n"))

    def test_a_hangup_that_is_ignored_ends_nothing(self):
        run = self.start(ENDLESS["virtual"], start=["nohup"])
        self.open(run)
        self.browser.wait("return weft.run.series.length >= 1") # before that a signal would end run and page
        run.process.send_signal(signal.SIGHUP)
        run.process.send_signal(signal.SIGINT) # comes after it, and leaves the page with the result
        self.browser.wait("return weft.run.known === 'result'")
        self.assertEqual(self.leave(run), 130)

    def start_on_terminal(self, text):
        """The run, the terminal and the path of the result. A terminal that nobody else has open."""
        with open(f"{self.folder}/run.yaml", "w") as file:
            file.write(text)
        result = f"{self.folder}/result.json"
        master, slave = pty.openpty()
        modes = termios.tcgetattr(slave)
        modes[3] |= termios.TOSTOP
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        process = subprocess.Popen(["setsid", "--ctty", WEFT, "run", "--web=127.0.0.1:0", f"{self.folder}/run.yaml",
                                    "--json", result], stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, master, result

    def read_until(self, master, wanted):
        said = b""
        while wanted not in said:
            self.assertTrue(select.select([master], [], [], labs.HANG_SECONDS)[0], said)
            said += os.read(master, 65536)
        return said

    def test_a_terminal_that_hangs_up_ends_run_and_page(self):
        process, master, result = self.start_on_terminal(ENDLESS["virtual"])
        self.read_until(master, b"http://")
        os.close(master)
        self.assertEqual(process.wait(timeout=labs.HANG_SECONDS), 130)
        with open(result) as file:
            self.assertTrue(json.load(file)["incomplete"])

    def test_a_terminal_that_stops_other_groups_does_not_stop_the_run(self):
        process, master, result = self.start_on_terminal(SHORT)
        self.addCleanup(os.close, master)
        said = self.read_until(master, b"the page shows the result")
        self.assertTrue(os.path.exists(result))
        self.assertRegex(said, rb"\r\033\[Khttp://127\.0\.0\.1:\d+/\r\n")
        os.write(master, b"\x03")
        self.assertEqual(process.wait(timeout=labs.HANG_SECONDS), 0)

    def test_of_too_many_samples_the_page_shows_the_means(self):
        run = self.start(RUN.format(clock="virtual", rate="10Gbps", duration="3600s", sample="10ms"))
        self.open(run)
        self.browser.wait("return weft.run.series.length > 0")
        self.assertEqual(set(pages.drawn(self.browser)), {"unknown"})
        run.process.send_signal(signal.SIGINT)
        self.browser.wait("return weft.run.known === 'result' && weft.run.shown === 'mean'")
        result = run.result()
        self.assertFalse(result["config"]["measure"]["link-series"])
        self.assertNotIn("links", result)
        self.assertEqual(self.leave(run), 130)
        self.assertIn("links are drawn only after the run", run.said)

    def refuse(self, *words):
        done = subprocess.run([WEFT, "run", "--web=127.0.0.1:0", f"{self.folder}/run.yaml", *words], capture_output=True,
                              text=True, check=False, timeout=labs.HANG_SECONDS)
        self.assertEqual(done.stdout, "")
        return done.returncode, done.stderr

    def test_what_cannot_run_is_refused_without_a_page(self):
        with open(f"{self.folder}/run.yaml", "w") as file:
            file.write(SHORT)
        code, said = self.refuse("--set", "measure.sample=1")
        self.assertEqual(code, 2)
        self.assertIn("measure.sample", said)
        code, said = self.refuse("--web=0.0.0.0:0")
        self.assertEqual(code, 2)
        self.assertIn("weft run: --web 0.0.0.0:0: expected a loopback address", said)
        code, said = self.refuse("--json", "-")
        self.assertEqual((code, "--web requires a file after --json" in said), (2, True), said)
        code, said = self.refuse("--set", "measure.link-series=true", "--set", "measure.duration=900ms", "--set",
                                 "measure.sample=1us")
        self.assertEqual(code, 2)
        self.assertRegex(said, r"measure\.link-series: 900000 samples of 6 links have 54000000 values; at most "
                               r"4000000 are allowed, so use a measure\.sample of \S+ or more")

    def test_samples_that_cannot_be_read_are_said(self):
        with open(f"{self.folder}/run.yaml", "w") as file:
            file.write(SHORT)
        fabric = f"{self.folder}/weft-fabric"
        for rubbish in (4096, 0):
            with open(fabric, "w") as file:
                file.write("#!/usr/bin/env python3\nimport os, sys\n"
                           "live = [word for word in sys.argv if word.startswith('--live=')][0]\n"
                           f"os.write(int(live[7:]), b'x' * {rubbish})\n")
            os.chmod(fabric, 0o755)
            with unittest.mock.patch.dict(os.environ, WEFT_PROGRAMS=self.folder):
                code, said = self.refuse()
            self.assertEqual(code, 3, rubbish)
            self.assertIn("cannot read the samples from weft-fabric", said)

    def test_a_program_that_is_not_there_is_said(self):
        with open(f"{self.folder}/run.yaml", "w") as file:
            file.write(SHORT)
        alone = shutil.copy(WEFT, self.folder)
        done = subprocess.run([alone, "run", "--web=127.0.0.1:0", f"{self.folder}/run.yaml"], capture_output=True,
                              text=True, check=False, timeout=labs.HANG_SECONDS, env={"PATH": self.folder})
        self.assertEqual((done.returncode, done.stderr),
                         (3, "weft run: cannot start weft-fabric: No such file or directory\n"))


if __name__ == "__main__":
    browser.main(__doc__)
