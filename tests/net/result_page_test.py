#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The page of the result of 'weft run --web' in a real browser: what it draws and says is what the result says.

usage: result_page_test.py WEFT [CASE...]"""
import copy
import http.client
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import unittest
import urllib.request

import browser
import pages

WEFT = None
RUN = """weft: run/1
topology: {name: small, link: {rate: 10Gbps, delay: 100ns},
  switches: [{name: s0, ports: 4, stage: 1}, {name: s1, ports: 4, stage: 1}, {name: s2, ports: 2, stage: 2}],
  hosts: [{name: h0}, {name: h1}, {name: h2}, {name: h3}],
  links: [{a: "h0:0", b: "s0:0"}, {a: "h1:0", b: "s0:1"}, {a: "h2:0", b: "s1:0"}, {a: "h3:0", b: "s1:1"},
    {a: "s0:2", b: "s2:0"}, {a: "s1:2", b: "s2:1"}]}
clock: virtual
switch: {buffer: 16KiB}
seed: 1
traffic: [{pattern: uniform, from: [h0, h1], to: [h3], load: 45%, message: 1KiB},
  {pattern: uniform, from: [h2], to: [h3], load: 90%, message: 1KiB, stop: 200us}]
measure: {duration: 400us, sample: 100us, links: true, switches: true}
"""
RIGHT = "\ue014" # the key


class ResultPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="weft-page-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.file = os.path.join(cls.folder, "result.json")
        run = os.path.join(cls.folder, "run.yaml")
        with open(run, "w") as file:
            file.write(RUN)
        cls.process = subprocess.Popen([WEFT, "run", "--web=127.0.0.1:0", run, "--quiet", "--json", cls.file],
                                       stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.end)
        cls.url = cls.process.stdout.readline().strip()
        cls.address = cls.url.removeprefix("http://").rstrip("/")
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)
        # The address is printed when the run begins, and the page says when it has ended.
        cls.browser.open(cls.url)
        cls.browser.wait("return document.getElementById('state')?.textContent === 'result'")
        with open(cls.file) as file:
            cls.result = json.load(file)

    @classmethod
    def end(cls):
        cls.process.kill()
        cls.process.communicate()

    def setUp(self):
        self.browser.open("about:blank")
        self.browser.open(self.url)
        self.browser.wait("return window.weft && weft.events > 0")

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def text(self, identifier):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", identifier)

    def test_links_have_the_load_of_the_result(self):
        for link in self.result["links"]:
            load = self.browser.run("return weft.fabric.loadOf(weft.fabric.wayFrom.get(arguments[0]))", link["from"])
            self.assertAlmostEqual(load, link["utilisation"], 9, link)
        self.assertGreater(max(link["utilisation"] for link in self.result["links"]), 0.5)

    def test_figures_are_those_of_the_result(self):
        said = self.text("figures")
        for part in (f"{self.result['messages']['delivered']} of {self.result['messages']['generated']} messages",
                     "0 ns to 400 µs", "0, doubled 0, out of order 0"):
            self.assertIn(part, said)

    def test_the_scrubber_goes_through_the_samples(self):
        self.assertEqual(self.browser.run("return Number(document.getElementById('scrub').max)"),
                         len(self.result["series"]) - 1)
        self.browser.run("document.getElementById('scrub').focus()")
        for sample in self.result["series"][1:3]:
            self.browser.press(RIGHT)
            self.assertIn(f"accepted {100 * sample['accepted']:.1f} %", self.text("scrubbed"))

    def test_links_follow_the_scrubber(self):
        self.browser.run("document.getElementById('scrub').focus()")
        drawn = []
        for number in range(1, len(self.result["series"])):
            self.browser.press(RIGHT)
            self.browser.wait("return weft.run.shown === arguments[0]", number)
            drawn.append(pages.drawn(self.browser))
            self.assertEqual(drawn[-1], pages.drawn_of_sample(self.browser, self.result, number))
        self.assertNotEqual(drawn[0], drawn[-1], "the load has ended, and the colours have not changed")
        self.browser.run("document.getElementById('follow').click()")
        self.browser.wait("return weft.run.shown === 'mean'")
        link = self.result["links"][0]
        load = self.browser.run("return weft.fabric.loadOf(weft.fabric.wayFrom.get(arguments[0]))", link["from"])
        self.assertAlmostEqual(load, link["utilisation"], 9)

    def test_a_sample_has_the_stalls_and_buffers_of_the_result(self):
        self.browser.run("document.getElementById('scrub').focus()")
        self.browser.press(RIGHT)
        self.browser.wait("return weft.run.shown === 1")
        seen = {"blocked": 0, "stalls": 0, "fill": 0}
        for link in self.result["links"]:
            series = link["series"]
            said = self.browser.run("""const way = weft.fabric.wayFrom.get(arguments[0]);
                return [weft.fabric.value("blocked", way), weft.fabric.value("stalls", way), weft.fabric.fillOf(way)]""",
                                    link["from"])
            fill = [vc[1] for vc in series["fill"]] if "fill" in series else []
            wanted = [series["blocked"][1], series["stalls"][1], fill if any(fill) else []]
            self.assertEqual(said, wanted, link["from"])
            for name, value in zip(seen, (said[0], said[1], sum(said[2]))):
                seen[name] += value
        self.assertTrue(all(value > 0 for value in seen.values()), seen)

    def test_a_chosen_link_has_the_series_of_the_result(self):
        link = max(self.result["links"], key=lambda link: link["utilisation"])
        way = self.browser.run("""const way = weft.fabric.wayFrom.get(arguments[0]);
            weft.choose(way >> 1); return way""", link["from"])
        self.browser.wait("return weft.fabric.told?.link === arguments[0]", way >> 1)
        for name, said in (("utilisation", "load"), ("blocked", "blocked")):
            self.assertEqual(self.browser.run("return weft.fabric.series(arguments[0], arguments[1])", said, way),
                             link["series"][name])

    def test_the_map_has_the_waiting_time_of_each_switch(self):
        self.browser.run("document.getElementById('map').focus()")
        self.browser.press("m")
        most = max(entry["waiting_ns"] for entry in self.result["switches"])
        self.assertGreater(most, 0)
        for entry in self.result["switches"]:
            heat = self.browser.run("return weft.run.heatOf(weft.fabric.number.get(arguments[0]))", entry["switch"])
            self.assertAlmostEqual(heat, entry["waiting_ns"] / most, 9, entry)

    def test_nothing_can_be_changed_and_no_other_page_can_ask(self):
        connection = http.client.HTTPConnection(self.address, timeout=240)
        for method, path, headers, status in (("POST", "/cable?port=s0:2&state=down", {}, 404),
                                              ("GET", "/topology", {"Host": "example.com"}, 403),
                                              ("GET", "/sample?number=0", {"Host": "example.com"}, 403),
                                              ("GET", "/series", {"Origin": "http://example.com"}, 403),
                                              ("GET", "/topology", {"Origin": "http://example.com"}, 403)):
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, status, path)
        self.assertTrue(self.browser.run("return document.getElementById('cable').parentElement.hidden"))

    def test_a_connection_that_is_back_is_said(self):
        self.browser.run("weft.source.dispatchEvent(new Event('error'))")
        self.browser.wait("return document.getElementById('state').textContent === 'result'")

    def show(self, path, listen):
        shown = subprocess.Popen([WEFT, "web", path, "--listen", listen], stdout=subprocess.PIPE, text=True)
        self.addCleanup(shown.communicate)
        self.addCleanup(shown.kill)
        return shown, shown.stdout.readline().strip()

    def test_a_page_shows_the_other_run_that_has_its_address_now(self):
        other = os.path.join(self.folder, "other.json")
        shutil.copy(self.file, other)
        shown, url = self.show(self.file, "127.0.0.1:0")
        self.browser.open(url)
        self.browser.wait("return window.weft && weft.events > 0")
        shown.kill()
        shown.wait()
        self.browser.wait("return document.getElementById('state').textContent === 'no connection'")
        self.show(other, url.removeprefix("http://").rstrip("/"))
        self.browser.wait_reloaded("return document.getElementById('lab')?.textContent === 'other.json'")
        self.browser.open("about:blank") # a page complains if its server goes away
        self.browser.complaints()

    def test_weft_web_shows_the_file_until_a_signal(self):
        shown, url = self.show(self.file, "127.0.0.1:0")
        self.browser.open(url)
        self.browser.wait("return window.weft && weft.events > 0")
        self.assertEqual(self.text("lab"), "result.json")
        self.browser.open("about:blank") # a page complains if its server goes away
        shown.send_signal(signal.SIGINT)
        self.assertEqual(shown.communicate(timeout=240)[0], "")
        self.assertEqual(shown.returncode, 0)

    def mean_of(self, result):
        """The document of the page of a changed result."""
        path = os.path.join(self.folder, "changed.json")
        with open(path, "w") as file:
            json.dump(result, file)
        _, address = self.show(path, "127.0.0.1:0")
        with urllib.request.urlopen(address + "mean", timeout=240) as answer:
            mean = json.load(answer)
        with urllib.request.urlopen(address + "topology", timeout=240) as answer:
            ports = [port for link in json.load(answer)["links"] for port in link[:2]]
        return mean, {port: way for way, port in enumerate(ports)}

    def test_means_of_the_real_clock_are_of_the_measured_time_alone(self):
        changed = copy.deepcopy(self.result)
        changed["config"]["clock"] = "real"
        for link in changed["links"]: # from the start of the run on
            link.update(utilisation=0.123, blocked=4567.0, stalls=89)
        mean, ways = self.mean_of(changed)
        for link in changed["links"]:
            way, series = ways[link["from"]], link["series"]
            self.assertAlmostEqual(mean["utilisation"][way], statistics.mean(series["utilisation"]), 9, link["from"])
            self.assertAlmostEqual(mean["blocked"].get(str(way), 0), statistics.mean(series["blocked"]), 9)
            self.assertEqual(mean["stalls"].get(str(way), 0), sum(series["stalls"]))

    def test_what_is_no_result_is_refused(self):
        for text, said in (("{}", "not a result of 'weft run'"), ("no", "expected")):
            path = os.path.join(self.folder, "none.json")
            with open(path, "w") as file:
                file.write(text)
            done = subprocess.run([WEFT, "web", path], capture_output=True, text=True, check=False, timeout=240)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(path, done.stderr)
            self.assertIn(said, done.stderr)


class WhyPage(unittest.TestCase):
    """The page of a result with the packets of 'weft why'."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="weft-page-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = {name: os.path.join(self.folder, name) for name in ("run.yaml", "run.pcapng", "result.json", "why.json")}
        with open(self.path["run.yaml"], "w") as file:
            file.write(RUN)
        subprocess.run([WEFT, "run", self.path["run.yaml"], "-q", "--json", self.path["result.json"], "--pcap", f"all={self.path['run.pcapng']}"],
                       check=True)
        why = [WEFT, "why", self.path["run.pcapng"], "--run", self.path["run.yaml"], "--slowest", "3", "--json"]
        with open(self.path["why.json"], "w") as file:
            subprocess.run(why, stdout=file, check=True)

    def test_packets_have_a_bar_for_each_part_and_lead_to_its_link(self):
        with open(self.path["why.json"]) as file:
            packets = json.load(file)["packets"]
        process = subprocess.Popen([WEFT, "web", self.path["result.json"], "--why", self.path["why.json"], "--listen=127.0.0.1:0"],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        page = browser.Browser()
        self.addCleanup(page.close)
        page.open(process.stdout.readline().strip())
        page.wait("return document.querySelectorAll('#why-rows li').length > 0")
        for number, packet in enumerate(packets):
            page.run("""const choice = document.getElementById('why-packet');
                choice.value = arguments[0];
                choice.dispatchEvent(new Event('change'));""", number)
            rows = page.run("""return [...document.querySelectorAll('#why-rows button')].map((row) =>
                [row.children[0].textContent, row.children[1].textContent, parseFloat(row.querySelector('.part').style.width)])""")
            self.assertEqual([row[:2] for row in rows], [[part["port"], part["part"]] for part in packet["parts"]])
            self.assertAlmostEqual(sum(row[2] for row in rows), 100, 3)
        page.run("document.querySelector('#why-rows button').click()")
        port = packets[-1]["parts"][0]["port"]
        self.assertIn(port, page.run("return document.getElementById('link-name').textContent"))
        self.assertEqual(page.complaints(), [])

    def test_another_document_is_refused(self):
        for file, said in (("result.json", "not a document of 'weft why --json'"), ("none.json", "No such file or directory")):
            done = subprocess.run([WEFT, "web", self.path["result.json"], "--why", os.path.join(self.folder, file)], text=True, capture_output=True,
                                  timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    browser.main(__doc__)
