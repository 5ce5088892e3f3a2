#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A lab is what was started: its name will do, and a file that has changed since is refused.

usage: lab_names_test.py WEFT [CASE...]"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

import labs

WEFT = None
LAB = """weft: lab/1
name: {name}
topology: {topology}
dilation: 20
mapper: {{routes: static}}
traffic: [{{pattern: uniform, load: {load}}}]
measure: {{duration: 5ms, sample: 1ms}}
"""


class Names(unittest.TestCase):
    """Each test has a folder of labs of its own: '--all' must end nobody else's."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="weft-names-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.environment = dict(os.environ, RUNTIME_DIRECTORY=os.path.join(self.folder, "run"))
        os.mkdir(self.environment["RUNTIME_DIRECTORY"], 0o700)
        self.addCleanup(self.weft, "down", "--all")
        generated = subprocess.run([WEFT, "topo", "gen", "full:switches=2,hosts=1"], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout
        self.topology = self.path("pair.yaml")
        self.write(self.topology, generated)

    def path(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def write(path, text):
        with open(path, "w") as file:
            file.write(text)

    def file(self, name, load="2%", topology="pair.yaml"):
        path = self.path(f"{name}.yaml")
        self.write(path, LAB.format(name=name, load=load, topology=topology))
        return path

    def weft(self, part, *more, folder=None):
        return subprocess.run([WEFT, "lab", part, *more], text=True, timeout=labs.HANG_SECONDS, env=self.environment, cwd=folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def must(self, part, *more, code=0, folder=None):
        done = self.weft(part, *more, folder=folder)
        self.assertEqual(done.returncode, code, f"{part} {more}: {done.stdout}{done.stderr}")
        return done

    def labs(self):
        return {lab["lab"]: lab for lab in json.loads(self.must("list", "--json").stdout)}

    def test_every_part_takes_the_name_of_a_lab_whose_files_are_gone(self):
        path = self.file("gone")
        self.must("up", path)
        os.unlink(path)
        os.unlink(self.topology)
        self.assertIn("lab gone is up: 3 of 3 processes,", self.must("status", "gone").stdout)
        self.assertIn("0 lost, 0 duplicated", self.must("run", "gone").stdout)
        self.must("link", "gone", "s0:0", "down")
        self.must("link", "gone", "s0:0", "up")
        self.must("down", "gone")
        self.assertEqual(self.labs(), {})

    def test_the_path_of_a_file_that_is_gone_means_the_lab_that_was_started_from_it(self):
        path = self.file("path")
        self.must("up", path)
        os.unlink(path)
        self.must("down", path)
        self.assertEqual(self.labs(), {})

    def test_a_file_that_has_changed_is_refused_with_the_first_difference(self):
        path = self.file("changed")
        self.must("up", path)
        self.file("changed", load="6%")
        for part, more in (("run", ()), ("status", ()), ("link", ("s0:0", "down"))):
            said = self.must(part, path, *more, code=2).stderr
            self.assertIn("traffic.0.load: 6% in the file, 2% in the lab", said)
            self.assertIn(f"weft lab up --restart {path}", said)
        self.must("run", "changed")

    def test_a_changed_file_takes_its_lab_down_and_another_file_of_the_same_name_does_not(self):
        path, other = self.file("mine"), self.path("other.yaml")
        self.must("up", path)
        self.write(other, LAB.format(name="mine", load="6%", topology="pair.yaml"))
        for part in ("up", "down"):
            self.assertIn(f"started from {path};", self.must(part, other, code=2).stderr)
        kept = os.path.join(self.environment["RUNTIME_DIRECTORY"], "weft", "mine", "lab.yaml")
        os.rename(kept, kept + ".hidden")
        self.assertRegex(self.must("up", other, code=2).stderr, r"process \d+\); 'weft lab down mine' ends it")
        os.rename(kept + ".hidden", kept)
        self.assertIn("3 of 3 processes", self.must("status", "mine").stdout)
        self.file("mine", load="6%")
        self.must("down", path)
        self.assertEqual(self.labs(), {})

    def test_a_topology_that_has_changed_is_a_change_of_the_lab(self):
        path = self.file("wider")
        self.must("up", path)
        with open(self.topology) as file:
            text = file.read()
        self.write(self.topology, text.replace("10Gbps", "5Gbps"))
        self.assertIn("5Gbps in the file, 10Gbps in the lab", self.must("run", path, code=2).stderr)

    def test_a_comment_is_no_change(self):
        path = self.file("comment")
        self.must("up", path)
        with open(path, "a") as file:
            file.write("# a comment\n")
        self.must("run", path)

    def test_restart_applies_the_file(self):
        path = self.file("again")
        self.must("up", path)
        self.file("again", load="6%")
        self.must("up", path, code=2)
        self.must("up", "--restart", path)
        self.must("run", path)

    def test_restart_of_a_lab_that_is_down_brings_it_up(self):
        self.must("up", "--restart", self.file("fresh"))
        self.assertEqual(list(self.labs()), ["fresh"])

    def test_list_shows_each_lab_with_its_processes_and_its_file(self):
        paths = [self.file(name) for name in ("one", "two")]
        for path in paths:
            self.must("up", path)
        found = self.labs()
        self.assertEqual([lab["file"] for lab in found.values()], paths)
        self.assertEqual([(lab["processes"], lab["running"]) for lab in found.values()], [(3, 3)] * 2)
        self.assertIn(paths[1], self.must("list").stdout)

    def test_list_counts_the_running_processes_as_status_does(self):
        self.must("up", self.file("stopped"))
        process = json.loads(self.must("status", "stopped", "--json").stdout)["processes"][0]
        os.kill(process["pid"], signal.SIGSTOP)
        self.addCleanup(os.kill, process["pid"], signal.SIGCONT)
        self.assertEqual((self.labs()["stopped"]["processes"], self.labs()["stopped"]["running"]), (3, 2))
        self.assertIn("2 of 3 processes", self.must("status", "stopped", code=1).stdout)
        os.kill(process["pid"], signal.SIGCONT)
        self.assertEqual(self.labs()["stopped"]["running"], 3)

    def test_the_columns_of_list_hold_the_longest_name(self):
        self.must("up", self.file("n" * 23))
        title, line = self.must("list").stdout.splitlines()
        self.assertEqual(line.index("3/3"), title.index("processes") + 3)

    def test_down_all_takes_down_every_lab(self):
        for name in ("one", "two"):
            self.must("up", self.file(name))
        said = self.must("down", "--all").stdout
        self.assertEqual(said, "one down: 3 processes ended\ntwo down: 3 processes ended\n")
        self.assertEqual(self.must("list").stdout, "no lab is up\n")

    def test_a_generator_is_still_a_lab(self):
        self.must("up", "full:switches=2,hosts=1")
        # Its clock is not slow: links may fall on a busy machine, which is not the claim.
        self.assertIn("3 of 3 processes", self.weft("status", "full:switches=2,hosts=1").stdout)
        self.must("down", "full:switches=2,hosts=1")
        self.assertEqual(self.labs(), {})

    def test_a_lab_may_have_the_name_of_a_kind_of_topologies(self):
        self.must("up", self.file("torus"))
        self.assertIn("lab torus is up", self.must("status", "torus").stdout)
        self.must("down", "torus")
        self.assertEqual(self.labs(), {})

    def test_a_folder_of_the_name_of_a_lab_is_not_its_file(self):
        self.must("up", self.file("folder"))
        os.mkdir(self.path("folder"))
        self.must("status", "folder", folder=self.folder)
        self.must("down", "folder", folder=self.folder)
        self.assertEqual(self.labs(), {})

    def test_names_too_long_for_a_socket_are_refused_before_anything_starts(self):
        path, device = self.file("n" * 23), "leaf-of-" + 50 * "x"
        with open(self.topology) as file:
            text = file.read()
        self.write(self.topology, text.replace("s0", device))
        said = self.must("up", path, code=2).stderr
        self.assertIn(f"{path}: device {device}: the socket", said)
        self.assertIn("at most 107 are allowed", said)
        self.assertEqual(self.labs(), {})

    def test_the_columns_of_status_stay_below_their_titles_with_long_names(self):
        host = "host-" + 30 * "x"
        with open(self.topology) as file:
            text = file.read()
        self.write(self.topology, text.replace("h0", host))
        self.must("up", self.file("long"))
        lines = self.must("status", "long").stdout.splitlines()
        title = next(line for line in lines if line.startswith("HOST "))
        self.assertEqual(len(lines[lines.index(host) + 1]), len(title))

    def test_a_name_that_is_not_up_is_an_error_except_for_down(self):
        self.assertIn("no lab with that name is up", self.must("status", "none", code=2).stderr)
        self.assertIn("weft lab down: none is not up", self.must("down", "none", code=2).stderr)
        self.assertEqual(self.must("down", "--if-up", "none").stdout, "not up: none\n")
        self.must("down", "none.yaml", code=2)

    def test_what_list_and_down_take_is_said(self):
        self.assertIn("usage: weft lab list", self.must("list", "one", code=2).stderr)
        self.assertIn("usage: weft lab down", self.must("down", code=2).stderr)
        self.assertIn("usage: weft lab down", self.must("down", "--all", "one", code=2).stderr)


if __name__ == "__main__":
    labs.main(__doc__)
