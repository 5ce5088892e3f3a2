#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Completion of command lines, help and the prefix of errors.

usage: completion_test.py WEFT PROGRAM... [TEST]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = [sys.argv.pop(1) for _ in range(4)]
WEFT = PROGRAMS[0]
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tools/completion"


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)


def weft(*words):
    return run(WEFT, *words).stdout


def candidates(*words):
    return run("sh", str(FOLDER / "complete"), WEFT, *words).stdout.split()


def usage_parts(command):
    return {word for words in re.findall(rf"(?m)^(?:usage:|      ) weft {command} ([a-z|]+)(?: |$)", weft("help", command))
            for word in words.split("|")}


class Engine(unittest.TestCase):
    def test_every_command_and_every_part_is_a_candidate(self):
        commands = re.findall(r"(?m)^  ([a-z]+) ", weft("help"))
        self.assertGreaterEqual(len(commands), 9)
        self.assertEqual(set(candidates("")), set(commands) | {"help"})
        for command in commands:
            if usage_parts(command):
                self.assertEqual(set(candidates(command, "")), usage_parts(command), command)
        self.assertLessEqual({"up", "status", "link", "down"}, set(candidates("lab", "")))

    def test_kinds_algorithms_and_schedules_come_from_their_lists(self):
        kinds = weft("complete", "kinds").split()
        self.assertIn("dragonfly", kinds)
        self.assertEqual(set(candidates("topo", "gen", "")), set(kinds))
        self.assertEqual(set(candidates("route", "compute", "")), {f"{kind}:" for kind in kinds} | {":files"})
        self.assertEqual(set(candidates("route", "compute", "t.yaml", "--algorithm", "")),
                         set(weft("complete", "algorithms").split()))
        self.assertIn("allreduce", candidates("goal", "gen", ""))

    def test_keys_and_their_words_follow_set_and_vary(self):
        self.assertIn("traffic[0].load=", candidates("run", "r.yaml", "--set", "traffic[0]."))
        self.assertIn("routing.algorithm=dmodk", candidates("sweep", "--vary", "routing.algorithm=d"))
        self.assertNotIn("routing.algorithm=ud", candidates("sweep", "--vary", "routing.algorithm=d"))

    def test_options_are_those_of_the_help(self):
        self.assertLessEqual({"--wait", "--process", "--restart"}, set(candidates("lab", "up", "--")))
        self.assertNotIn("--wait", candidates("lab", "down", "--"))
        self.assertIn("--dims", candidates("topo", "gen", "torus", "--d"))

    def test_ports_and_hosts_are_those_of_the_labs_that_are_up(self):
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            os.chmod(folder, 0o700)
            lab = pathlib.Path(folder, "weft/two")
            lab.parent.mkdir(mode=0o700)
            lab.mkdir(mode=0o700)
            (lab / "lab.yaml").write_text("weft: lab/1\nname: two\ntopology: \"full:switches=2,hosts=1\"\n")
            (lab / "state").write_text("weft-lab-state/1\n")
            environment = {**os.environ, "RUNTIME_DIRECTORY": folder}
            complete = lambda *words: subprocess.run(["sh", str(FOLDER / "complete"), WEFT, *words], text=True,
                                                     capture_output=True, env=environment, check=False).stdout.split()
            self.assertEqual(complete("lab", "status", ""), [":files", "two"])
            self.assertEqual(complete("lab", "link", "two", ""), ["h0:0", "h1:0", "s0:0", "s0:1", "s1:0", "s1:1"])
            self.assertEqual(complete("lab", "link", "two", "s0:1", "d"), ["down"])


class Shells(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        for name in ("weft.bash", "_weft"):
            (self.dir / name).write_text((FOLDER / name).read_text().replace("@DATA@", str(FOLDER)))

    def bash(self, *words):
        library = "/usr/share/bash-completion/bash_completion"
        if not os.path.exists(library):
            self.skipTest("no bash-completion")
        line = re.sub(" ([=:]) ", r"\1", " ".join(words))
        script = (f". {library}; . {self.dir}/weft.bash; compopt() {{ :; }}; COMP_WORDS=({' '.join(words)}); "
                  f"COMP_LINE='{line}'; COMP_POINT={len(line)}; COMP_CWORD={len(words) - 1}; _weft; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return run("bash", "-c", script).stdout.split()

    def zsh(self, *words):
        if shutil.which("zsh") is None:
            self.skipTest("no zsh")
        script = (f"compadd() {{ shift ${{argv[(i)--]}}; print -l -- $@; }}; _files() {{ print :files; }}; "
                  f"words=({' '.join(words)}); CURRENT={len(words)}; f() {{ {(self.dir / '_weft').read_text()} }}; f")
        return run("zsh", "-f", "-c", script).stdout.split()

    def test_bash_completes_a_part(self):
        self.assertEqual(self.bash(WEFT, "topo", "sh"), ["show"])

    def test_bash_completes_what_comes_after_the_equals_sign(self):
        self.assertEqual(self.bash(WEFT, "run", "--set", "routing.algorithm", "=", "dm"), ["dmodk"])

    def test_zsh_completes_a_part(self):
        self.assertEqual(self.zsh(WEFT, "topo", "sh"), ["show"])
        self.assertEqual(self.zsh(WEFT, "run", "--set", "routing.algorithm=dm"), ["routing.algorithm=dmodk"])


class Help(unittest.TestCase):
    def test_help_of_a_command_is_the_same_in_all_its_forms(self):
        for words in (["topo"], ["lab", "up"], ["route", "compute"], ["run"], ["sweep"], ["topo", "gen", "ring"], ["complete"]):
            long = run(WEFT, *words, "--help")
            self.assertEqual((long.returncode, long.stderr), (0, ""), words)
            self.assertNotEqual(long.stdout, "")
            self.assertEqual(run(WEFT, "help", *words).stdout, long.stdout, words)
            self.assertEqual(run(WEFT, *words, "-h").stdout, long.stdout, words)

    def test_every_help_has_the_exit_codes_and_fits_in_a_terminal(self):
        for command in re.findall(r"(?m)^  ([a-z]+) ", weft("help")):
            for words in ([command], *([command, part] for part in usage_parts(command))):
                text = weft(*words, "--help")
                self.assertRegex(text, r"(?m)^Exit: ", words)
                self.assertEqual([line for line in text.splitlines() if len(line) > 80], [], words)

    def test_every_topic_that_is_listed_has_a_text(self):
        topics = re.findall(r"(?m)^    ([a-z]+) ", weft("help"))
        self.assertGreaterEqual(len(topics), 5)
        for topic in topics:
            self.assertGreater(weft("help", topic).count("\n"), 5, topic)

    def test_every_program_knows_h_help_and_version(self):
        for program in PROGRAMS:
            long = run(program, "--help")
            self.assertEqual((long.returncode, run(program, "-h").stdout), (0, long.stdout), program)
            self.assertRegex(run(program, "--version").stdout, rf"^{os.path.basename(program)} \d+\.\d+\.\d+\n$")

    def test_an_error_begins_with_the_command(self):
        for words in (["bad"], ["topo", "bad"], ["goal", "gen", "--bad"], ["route", "compute", "--bad"], ["lab", "up", "--bad"],
                      ["run", "--explain", "--bad"], ["run", "--bad"], ["demo", "--bad"], ["sweep", "--bad"], ["plot", "--bad"], ["reproduce", "--bad"], ["complete", "bad"]):
            done = run(WEFT, *words)
            self.assertEqual(done.returncode, 2, words)
            known = [word for word in words if word != "bad" and not word.startswith("-")]
            self.assertEqual(done.stderr.split(":")[0], " ".join(["weft", *known]), done.stderr)
        for command in ("lab", "port"):
            for part in usage_parts(command):
                # Each is refused: a word that is none, or words too many.
                done = run(WEFT, command, part, *["/no/such/file"] * 9)
                self.assertTrue(done.stderr.startswith(f"weft {command} {part}: "), (part, done.stderr))
        for program in PROGRAMS[1:]:
            self.assertTrue(run(program, "--", "--bad").stderr.startswith(f"{os.path.basename(program)}: "), program)


if __name__ == "__main__":
    unittest.main()
