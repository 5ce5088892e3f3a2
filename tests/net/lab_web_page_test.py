#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The page of 'weft lab web' in a real browser: what it draws is what telemetry says.

usage: lab_web_page_test.py WEFT [CASE...]"""
import subprocess
import tempfile
import unittest

import browser
import labs
import web_labs

WEFT = None
RUN = """weft: run/1
topology: "full:switches=2,hosts=2"
clock: virtual
seed: 1
traffic: [{pattern: uniform, from: all, load: 10%, message: 1KiB}]
measure: {duration: 100us, sample: 10us, links: true}
"""
# The drawing and the sample that it shows, at one moment.
DRAWN = "weft.drawing.draw(weft.view, weft.selected); return [weft.drawing.drawn, weft.fabric.sample]"
# How far the colour of the canvas at a share of a way is from one of the page.
PIXEL = """weft.drawing.draw(weft.view, -1);
const canvas = weft.drawing.canvas, ratio = devicePixelRatio;
const point = weft.drawing.along(arguments[0], arguments[1]).map((value) => Math.round(value * ratio));
const [r, g, b] = canvas.getContext("2d").getImageData(point[0], point[1], 1, 1).data;
const wanted = getComputedStyle(canvas).getPropertyValue(arguments[2]).trim();
const colour = [1, 3, 5].map((at) => parseInt(wanted.slice(at, at + 2), 16));
return Math.max(Math.abs(r - colour[0]), Math.abs(g - colour[1]), Math.abs(b - colour[2]));"""
NEAR = 32 # out of 255, for the edges of lines; the colours of the page are farther from each other


def style(state, load):
    """As the legend of the page says."""
    if state != "up":
        return "cut" if state == "cut" else "down"
    return "idle" if load < 0.01 else f"load{min(int(load * 5), 4) + 1}"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = web_labs.make_lab(WEFT, "page")
        cls.addClassCleanup(cls.lab.remove)
        cls.lab.up()
        cls.web = web_labs.Web(WEFT, cls.lab)
        cls.addClassCleanup(cls.web.end)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self, url=None):
        self.browser.open("about:blank")
        self.browser.open(url or self.web.url)
        self.browser.wait("return window.weft && weft.events > 0")

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def way(self, port):
        return self.browser.run("return weft.fabric.wayFrom.get(arguments[0])", port)

    def wait_style(self, port, wanted):
        self.browser.wait("return weft.drawing.drawn[arguments[0]] === arguments[1]", self.way(port), wanted)

    def assert_drawn_as_told(self):
        """All ways are drawn as 'weft lab status' says of their links, and of the load as the sample does."""
        drawn, sample = self.browser.run(DRAWN)
        states = self.lab.links()
        for port, state in states.items():
            way = self.way(port)
            self.assertEqual(drawn[way], style(state, sample["utilisation"][way]), port)
        self.assertEqual(len(drawn), len(states))

    def test_a_click_cuts_a_cable_and_a_key_joins_it(self):
        self.open()
        self.assert_drawn_as_told()
        x, y = self.browser.run("""const box = weft.drawing.canvas.getBoundingClientRect();
            weft.drawing.draw(weft.view, -1);
            const [x, y] = weft.drawing.along(arguments[0], 0.5); return [box.x + x, box.y + y]""", self.way("h3:0"))
        self.browser.click(x, y)
        self.assertEqual(self.browser.run("return document.getElementById('link-name').textContent"), "h3:0 – s1:1: up")
        self.browser.run("weft.choose(weft.fabric.wayFrom.get('s0:3') >> 1)")
        self.browser.run("document.getElementById('cable').click()")
        self.wait_style("s0:3", "cut")
        self.assert_drawn_as_told()
        self.assertEqual(self.lab.links()["s0:3"], "cut")
        self.assertLess(self.browser.run(PIXEL, self.way("s0:3"), 0.5, "--cut"), NEAR)
        self.browser.run("document.getElementById('map').focus()")
        self.browser.press("x")
        self.wait_style("s0:3", "idle")
        self.assertEqual(self.lab.links()["s0:3"], "up")

    def test_cables_between_the_same_switches_are_drawn_apart(self):
        self.open()
        self.browser.run("weft.drawing.draw(weft.view, -1)")
        (ax, ay), (bx, by) = [self.browser.run("return weft.drawing.along(arguments[0], 0.5)", self.way(port))
                              for port in ("s0:2", "s0:3")]
        self.assertGreater(abs(ax - bx) + abs(ay - by), 8)

    def test_links_have_the_colour_of_their_load(self):
        self.open()
        run = subprocess.Popen([WEFT, "lab", "run", self.lab.file, "--duration", "30s"], stdout=subprocess.DEVNULL)
        try:
            self.browser.wait("return weft.drawing.drawn.some((name) => name.startsWith('load'))")
            drawn, sample = self.browser.run(DRAWN)
            self.assertEqual(drawn, [style("up", load) for load in sample["utilisation"]])
            way = next(way for way, name in enumerate(drawn) if name.startswith("load"))
            self.browser.run("weft.take = () => {}") # the drawing stays as it is
            colour = "--" + self.browser.run(DRAWN)[0][way]
            self.assertLess(self.browser.run(PIXEL, way, 0.3, colour), NEAR)
        finally:
            run.terminate()
            run.wait()

    def test_without_the_token_nothing_can_be_cut(self):
        self.open(self.web.url.split("#")[0])
        self.browser.run("weft.choose(0)")
        self.assertTrue(self.browser.run("return document.getElementById('cable').disabled"))

    def test_the_keyboard_reaches_every_link(self):
        self.open()
        self.browser.run("document.getElementById('map').focus()")
        seen = []
        for _ in range(6):
            self.browser.press("n")
            seen.append(self.browser.run("return weft.selected"))
        self.assertEqual(seen, [0, 1, 2, 3, 4, 5])
        self.browser.press("\ue00c") # Escape
        self.assertEqual(self.browser.run("return weft.selected"), -1)

    def test_a_page_shows_the_run_that_has_its_address_now(self):
        web = web_labs.Web(WEFT, self.lab)
        self.addCleanup(web.end)
        self.open(web.url)
        web.end()
        self.browser.wait("return document.getElementById('state').textContent === 'no connection'")
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/run.yaml", "w") as file:
                file.write(RUN)
            subprocess.run([WEFT, "run", f"{folder}/run.yaml", "--quiet", "--json", f"{folder}/run.json"], check=True)
            shown = subprocess.Popen([WEFT, "web", f"{folder}/run.json", "--listen", f"127.0.0.1:{web.port}"],
                                     stdout=subprocess.PIPE, text=True)
            self.addCleanup(shown.communicate)
            self.addCleanup(shown.kill)
            self.browser.wait_reloaded("return document.getElementById('lab')?.textContent === 'run.json'")
        self.browser.open("about:blank") # a page complains if its server goes away
        self.browser.complaints()

    def test_a_narrow_page_need_not_be_moved_sideways(self):
        self.browser.narrow(400, 800)
        self.addCleanup(self.browser.widen)
        self.open()
        # Longer than the names of this lab.
        self.browser.run("document.getElementById('summary').textContent = 'dragonfly '.repeat(40)")
        self.browser.run("weft.choose(0)")
        for part in ("document.documentElement", "document.querySelector('main')"):
            self.assertEqual(self.browser.run(f"return {part}.scrollWidth"), 400, part)


if __name__ == "__main__":
    labs.main(__doc__, ("ip", "chromium", "chromedriver"))
