#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""meson install: what is installed, and that it works from there.

usage: install_test.py BUILD [TEST]...
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build")
TOP = pathlib.Path(__file__).resolve().parents[2]


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.root)
        # 'ninja uninstall' reads this file; it stays that of the user's own installation.
        log = BUILD / "meson-logs/install-log.txt"
        before = log.read_text() if log.exists() else None
        done = subprocess.run(["meson", "install", "-C", str(BUILD), "--no-rebuild", "--quiet", "--destdir", str(cls.root)],
                              capture_output=True, text=True, check=False)
        if before is None:
            log.unlink(missing_ok=True)
        else:
            log.write_text(before)
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
        cls.files = {str(path.relative_to(cls.root)) for path in cls.root.rglob("*") if path.is_file()}

    def one(self, ending):
        found = [name for name in self.files if name.endswith(ending)]
        self.assertEqual(len(found), 1, f"{ending}: {found}")
        return self.root / found[0]

    def test_programs_pages_and_data_are_there(self):
        for ending in ("bin/weft", "bin/weft-fabric", "bin/weft-switch", "bin/weft-nic", "wireshark/plugins/weft.lua",
                       "weft/topo/quickstart.yaml", "weft/schemas/lab.schema.json", "weft/reproduce/lugones-2007.csv",
                       "man5/weft-run.5", "man5/weft-lab.5", "man5/weft-topology.5", "systemd/system/weft-lab@.service"):
            self.one(ending)

    def test_a_build_with_mpi_installs_its_program_where_weft_fabric_finds_it(self):
        if not (BUILD / "apps/fabric/weft-fabric-mpi").exists():
            self.skipTest("this build has no MPI: libopenmpi-dev is missing")
        self.one("libexec/weft/weft-fabric-mpi")
        # Not started by mpirun it is the only process, and speaks MPI nevertheless.
        done = subprocess.run([str(self.one("bin/weft-fabric")), "--mpi", "-q", str(TOP / "topo/ring-deadlock.yaml")],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertIn("6 channels wait for each other", done.stderr)
        (self.root / "hidden").mkdir()
        hidden = shutil.copy(self.one("bin/weft-fabric"), self.root / "hidden")
        done = subprocess.run([hidden, "--mpi", "-q", str(TOP / "topo/ring-deadlock.yaml")],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (3, "weft-fabric: --mpi: this build of Weft does not support MPI; install the package weft-mpi, or install libopenmpi-dev and rebuild with -Dmpi=enabled\n"))

    def test_the_debian_package_is_built_with_all_libraries_that_the_build_needs(self):
        installed = re.search(r"^weft_packages='(.*?)'", (TOP / "tools/packages.sh").read_text(), re.M | re.S)[1].split()
        needed = (TOP / "debian/control").read_text().split("\nPackage:")[0]
        for package in installed:
            if package.endswith("-dev") and package != "libc6-dev":
                self.assertIn(f" {package}", needed)
        self.assertIn(" libopenmpi-dev", needed)

    def test_every_page_of_the_manual_is_there(self):
        for page in (TOP / "docs/man").iterdir():
            self.one(f"man{page.suffix[1:]}/{page.name}")

    def test_no_page_names_one_that_is_missing(self):
        pages = {pathlib.Path(name).name for name in self.files if "/man/" in name}
        for name in self.files:
            if "/man/" not in name:
                continue
            for page, section in re.findall(r"^\.BR (weft[a-z\\-]*) \((\d)\)", (self.root / name).read_text(), re.M):
                self.assertIn(f"{page}.{section}".replace("\\", ""), pages, name)

    def test_completion_finds_its_engine(self):
        engine = str(self.one("weft/complete"))[len(str(self.root)):]
        self.assertTrue(os.access(self.one("weft/complete"), os.X_OK))
        self.assertIn(f"sh '{engine}'", self.one("completions/weft").read_text())
        self.assertIn(f"sh '{engine}'", self.one("/_weft").read_text())

    def test_the_unit_starts_the_installed_program(self):
        unit = self.one("weft-lab@.service").read_text()
        program = str(self.one("bin/weft"))[len(str(self.root)):]
        self.assertIn(f"ExecStart={program} lab up ", unit)
        self.assertIn(f"ExecStop={program} lab down ", unit)
        self.assertNotIn("@BIN@", unit)

    def test_a_run_works_from_there(self):
        done = subprocess.run([self.one("bin/weft"), "run", self.one("weft/topo/dragonfly-72.yaml"), "--set",
                               "measure={duration: 50us, sample: 50us}", "--quiet", "--json", "-"], capture_output=True, text=True,
                              timeout=240, check=False, env={k: v for k, v in os.environ.items() if k != "WEFT_PROGRAMS"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"fingerprint"', done.stdout)


if __name__ == "__main__":
    unittest.main()
