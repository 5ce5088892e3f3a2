#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The Python package: its start by the command weft, its doctests and its types.

usage: python_package_test.py WEFT [TEST]...
"""
import doctest
import importlib
import os
import pathlib
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "tools/python"
sys.path.insert(0, str(PACKAGE))


class Start(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="weft-python-")
        self.addCleanup(shutil.rmtree, self.dir)

    def weft(self, *words, **environment):
        return subprocess.run([WEFT, *words], capture_output=True, text=True, timeout=240, check=False, cwd=self.dir,
                              env={**os.environ, **environment})

    def test_help_has_the_same_text_however_it_is_asked_for(self):
        texts = {self.weft(*words).stdout for words in (("sweep", "--help"), ("sweep", "-h"), ("help", "sweep"))}
        self.assertEqual(len(texts), 1)
        self.assertIn("usage: weft sweep RUN.yaml", texts.pop())

    def test_modules_of_the_working_directory_and_of_pythonpath_are_not_imported(self):
        for name in ("json", "getopt", "weft"):
            pathlib.Path(self.dir, f"{name}.py").write_text("raise SystemExit(9)\n")
        for environment in ({}, {"PYTHONPATH": self.dir}):
            self.assertEqual(self.weft("sweep", "--help", **environment).returncode, 0)

    def test_another_python_that_comes_first_in_path_is_not_used(self):
        other = pathlib.Path(self.dir, "python3")
        other.write_text("#!/bin/sh\nexit 9\n")
        other.chmod(0o755)
        self.assertEqual(self.weft("sweep", "--help", PATH=f"{self.dir}:{os.environ['PATH']}").returncode, 0)

    def test_without_python_it_says_so(self):
        done = self.weft("sweep", "--help", WEFT_PYTHON="/no/such/python3")
        self.assertEqual((done.returncode, done.stderr),
                         (3, "weft sweep: cannot start /no/such/python3: No such file or directory\n"))

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([WEFT, "sweep", "--help"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=240,
                                  check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (3, "weft sweep: standard output: cannot be written: No space left on device\n"))

    def test_control_characters_in_messages_are_written_out(self):
        self.assertEqual(self.weft("sweep", "\x1b[2J", "-o", "x", "--seeds", "1:2").stderr,
                         "weft sweep: \\x1b[2J: No such file or directory\n")


class Package(unittest.TestCase):
    def test_examples_of_docstrings(self):
        import weft

        tried = 0
        for module in pkgutil.walk_packages(weft.__path__, "weft."):
            if module.name.endswith("__main__"):
                continue
            with self.subTest(module=module.name):
                result = doctest.testmod(importlib.import_module(module.name))
                self.assertEqual(result.failed, 0)
                tried += result.attempted
        self.assertGreater(tried, 10)

    def test_the_start_of_a_sweep_imports_no_large_module(self):
        done = subprocess.run([sys.executable, "-I", "-c", f"""
import sys
sys.path.insert(0, {str(PACKAGE)!r})
from weft.sweeping import command
print([name for name in ("numpy", "pandas", "scipy", "matplotlib", "yaml") if name in sys.modules])
"""], capture_output=True, text=True, timeout=240, check=True)
        self.assertEqual(done.stdout, "[]\n")

    def test_types(self):
        if shutil.which("mypy") is None:
            self.skipTest("mypy is not installed")
        done = subprocess.run(["mypy", "--config-file", str(PACKAGE / "pyproject.toml"), "--cache-dir",
                               tempfile.gettempdir() + "/weft-mypy", str(PACKAGE / "weft")],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
