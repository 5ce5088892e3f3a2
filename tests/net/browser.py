# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A headless browser, driven over WebDriver: Debian's chromium and chromium-driver."""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import labs


def main(usage):
    """Runs a test program of pages: the first word is 'weft', which its cases find as WEFT."""
    if len(sys.argv) < 2:
        sys.exit(usage)
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            print(f"SKIP: {program} is not installed")
            sys.exit(77)
    sys.modules["__main__"].WEFT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)


class Browser:
    def __init__(self, size=(1280, 800), dark=False):
        self.folder = tempfile.mkdtemp(prefix="weft-browser-")
        self.address = f"http://127.0.0.1:{self.start_driver()}/session"
        arguments = ["--headless=new", f"--window-size={size[0]},{size[1]}", "--disable-gpu", "--hide-scrollbars",
                     "--disable-background-networking", "--no-first-run", f"--user-data-dir={self.folder}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox") # chromium refuses to run as root with one
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments},
                  "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            made = self.ask("", {"capabilities": {"alwaysMatch": wanted}})
        except BaseException:
            self.stop()
            raise
        self.address += "/" + made["sessionId"]
        self.ask("/timeouts", {"script": labs.HANG_SECONDS * 1000})

    def start_driver(self, tries=5):
        """Returns the port of a new driver. A driver may end at once, because it loses its port to
        another program: then another is started."""
        said = os.path.join(self.folder, "driver.log")
        for _ in range(tries):
            with open(said, "a") as log:
                self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=log,
                                               text=True)
            lines = []
            for line in self.driver.stdout:
                lines.append(line)
                if found := re.search(r"successfully on port (\d+)", line):
                    return int(found[1])
            self.driver.wait()
            self.driver.stdout.close()
        with open(said) as log:
            why = "".join(lines) + log.read()
        shutil.rmtree(self.folder, True)
        raise AssertionError(f"chromedriver ended {tries} times before it listened: {why}")

    def ask(self, path, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=labs.HANG_SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from None

    def open(self, url):
        self.ask("/url", {"url": url})

    def run(self, script, *arguments):
        """Returns the value of a function's body."""
        return self.ask("/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments):
        """Waits until the value is true, and returns it. The page itself polls."""
        look = f"""const value = function() {{ {script} }}, given = arguments[0], end = Date.now() + arguments[1] * 1000;
            const done = arguments[2];
            const look = () => {{
                let found;
                try {{ found = value(...given); }} catch (error) {{ return done({{error: String(error)}}); }}
                if (found || Date.now() > end) done({{found}}); else setTimeout(look, 10);
            }};
            look();"""
        answer = self.ask("/execute/async", {"script": look, "args": [list(arguments), labs.HANG_SECONDS / 2]})
        if not answer.get("found"):
            raise AssertionError(f"not so: {script}\n{answer.get('error')}\n{self.complaints()}")
        return answer["found"]

    def wait_reloaded(self, script):
        """Like wait(), for a page that reloads meanwhile, which ends scripts in it."""
        return labs.wait_until(lambda: self.run(script), script)

    def click(self, x, y):
        """Clicks on a point of the window."""
        pointer = {"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0}]}
        self.ask("/actions", {"actions": [pointer]})

    def press(self, keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def narrow(self, width, height):
        """Emulates a screen smaller than chromium's windows."""
        self.command("setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1,
                                                  "mobile": False})

    def widen(self):
        self.command("clearDeviceMetricsOverride", {})

    def command(self, name, parameters):
        self.ask("/goog/cdp/execute", {"cmd": "Emulation." + name, "params": parameters})

    def complaints(self):
        """Returns the page's console output: errors and violations of its policy."""
        return [entry["message"] for entry in self.ask("/se/log", {"type": "browser"})]

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("/screenshot")))

    def close(self):
        try:
            self.ask("", method="DELETE")
        finally:
            self.stop()

    def stop(self):
        self.driver.kill()
        self.driver.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
