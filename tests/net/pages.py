# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""What the page of a run draws, and what it should draw for a result, for tests."""
import json
import subprocess


def style(load):
    """Returns the style in the page's legend; None: unknown."""
    return "unknown" if load is None else "idle" if load < 0.01 else f"load{min(int(load * 5), 4) + 1}"


def drawn(browser):
    """Returns the style of each direction as drawn now."""
    return browser.run("weft.drawing.draw(weft.view, -1); return weft.drawing.drawn")


def drawn_of_sample(browser, result, number):
    """The same for a sample of a result."""
    ways = browser.run("return Object.fromEntries(weft.fabric.wayFrom)")
    styles = ["unknown"] * len(ways)
    for link in result["links"]:
        styles[ways[link["from"]]] = style(link["series"]["utilisation"][number])
    return styles


class Run:
    """'weft run --web' with a run file's text; 'start': words before the command."""

    def __init__(self, weft, folder, text, *more, start=()):
        self.json = f"{folder}/result.json"
        path = f"{folder}/run.yaml"
        with open(path, "w") as file:
            file.write(text)
        self.process = subprocess.Popen([*start, weft, "run", "--web=127.0.0.1:0", path, "--quiet", "--json", self.json, *more],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def result(self):
        with open(self.json) as file:
            return json.load(file)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
