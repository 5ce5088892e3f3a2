#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""'weft lab up' and 'down' are killed before each call that changes something (kill_at.c). The next 'down' or 'up'
removes what is left.

usage: lab_kill_test.py WEFT KILL_AT.SO [CASE...]      WEFT_LONG=1: also 300 kills after drawn times"""
import contextlib
import ctypes
import glob
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import labs

WEFT = KILL_AT = None
PROGRAMS = ("weft-switch", "weft-nic", "weft-fabric")
LAB = """topology: "full:switches=1,hosts=2"
dilation: 20
mapper: {routes: static}
"""
EDGES = "edges: {hosts: all, network: 10.86.0.0/24}\n"
FORMS = {"veth": ("each", LAB + EDGES + "links: veth\n"), "shared": ("each", LAB + EDGES), "one": ("one", LAB + EDGES),
         "uplink": ("one", LAB + EDGES + "uplink: {edge: h0, nat: lo}\n")}
# Two machines, which are this one with a runtime folder each; nothing joins them, and 'up' does not wait for that.
SSH = """#!/bin/sh
while [ "$1" != -- ]; do
    [ "$1" = -O ] && exit 0
    shift
done
export RUNTIME_DIRECTORY=FOLDER/run-$2
shift 2
exec "$@"
"""
FAR = """weft: lab/1
name: NAME
processes: one
topology: "full:switches=2,hosts=1"
machines: [{name: a, ssh: a, weft: WEFT, devices: [s0, s1, h0, h1]}]
mapper: {routes: static, mode: never}
"""


def processes_of(name):
    """{id: program} of processes that name the lab in their words."""
    found = {}
    for path in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError):
            if name in labs.read(f"{path}/cmdline") and labs.own_kind_of_process(os.path.basename(path)):
                found[int(os.path.basename(path))] = os.path.basename(os.readlink(f"{path}/exe"))
    return found


def leftovers(name, runtime="/run"):
    """What there is of the lab, but the children of killed commands, which end by themselves."""
    labs.wait_ends(pid for pid, program in processes_of(name).items() if program not in PROGRAMS)
    return [f"process {pid}: {program}" for pid, program in processes_of(name).items()] + [
        path for place in (f"{runtime}/weft/*", "/run/netns/*", f"{runtime}/dpdk/*") for path in glob.glob(place)
        if name in path]


class Kills(unittest.TestCase):
    """Commands run in a network namespace, in which an uplink leads to the loopback interface."""

    @classmethod
    def setUpClass(cls):
        cls.netns = f"w{os.getpid()}"
        cls.inside("ip", "netns", "add", cls.netns, enter=())
        cls.addClassCleanup(cls.inside, "ip", "netns", "del", cls.netns, enter=())
        cls.inside("sh", "-c", "echo 1 > /proc/sys/net/ipv4/conf/lo/forwarding")
        cls.file = os.open(f"/run/netns/{cls.netns}", os.O_RDONLY)
        cls.addClassCleanup(os.close, cls.file)

    @classmethod
    def inside(cls, *words, enter=None):
        enter = ("ip", "netns", "exec", cls.netns) if enter is None else enter
        return subprocess.run([*enter, *words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout

    @classmethod
    def enter(cls):
        if ctypes.CDLL(None, use_errno=True).setns(cls.file, 0) != 0:
            raise OSError(ctypes.get_errno(), "setns")

    def weft(self, *words, at=None, env=None, **kind):
        """'at': the call before which it is killed."""
        env = dict(env or os.environ)
        if at is not None:
            env.update(LD_PRELOAD=KILL_AT, WEFT_KILL_AT=str(at))
        return subprocess.run([WEFT, "lab", *words], text=True, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, preexec_fn=self.enter, **kind)

    def must(self, *words, codes=(0,), env=None):
        done = self.weft(*words, env=env)
        self.assertIn(done.returncode, codes, f"{words}: {done.stdout}{done.stderr}")

    def lab(self, form):
        processes, text = FORMS[form]
        lab = labs.Lab(WEFT, form[0], text, form=processes)
        self.addCleanup(lab.remove)
        return lab

    def nothing_is_left(self, lab, what):
        self.assertEqual(leftovers(lab.name), [], what)
        self.assertFalse(os.path.exists(lab.memory), what)
        self.assertEqual(self.inside("nft", "list", "ruleset") + self.inside("ip", "-br", "link", "show", "type", "veth"), "",
                         what)

    def heal(self, lab, step):
        """By name, by file, or with an 'up'. A lab that had no folder yet is not up, which 'down' reports with 2."""
        with contextlib.suppress(OSError):
            lab.memory = os.readlink(f"{lab.run_dir}/memory")
        if step % 5 == 4:
            done = self.weft("up", "--wait", labs.UP_WAIT, lab.file)
            # The lab was complete.
            self.assertTrue(done.returncode == 0 or "is already up" in done.stderr, done.stdout + done.stderr)
            self.must("down", lab.name)
        else:
            self.must("down", lab.name if step % 2 else lab.file, codes=(0, 2))

    def killed_at_each_step(self, lab, words, prepare=lambda: None):
        for step in itertools.count(1):
            prepare()
            done = self.weft(*words, at=step)
            if done.returncode == 0:
                break
            self.assertEqual(done.returncode, -9, f"step {step}: {done.stdout}{done.stderr}")
            self.heal(lab, step)
            self.nothing_is_left(lab, f"{words[0]}, killed at step {step}")
        self.heal(lab, 0)
        self.assertGreater(step, 10)
        print(f"{words[0]}: {step - 1} steps", file=sys.stderr)

    def test_up_of_veth_pairs_and_namespaces_can_be_killed_at_each_step(self):
        lab = self.lab("veth")
        self.killed_at_each_step(lab, ["up", "--wait", labs.UP_WAIT, lab.file])

    def test_up_of_one_process_with_an_uplink_can_be_killed_at_each_step(self):
        lab = self.lab("uplink")
        self.killed_at_each_step(lab, ["up", "--wait", labs.UP_WAIT, lab.file])

    def test_down_can_be_killed_at_each_step(self):
        lab = self.lab("uplink")
        self.killed_at_each_step(lab, ["down", lab.name], lambda: self.must("up", "--wait", labs.UP_WAIT, lab.file))

    def test_up_of_a_console_can_be_killed_at_each_step(self):
        name, folder = f"t{os.getpid()}c", tempfile.mkdtemp(prefix="weft-kill-")
        self.addCleanup(shutil.rmtree, folder, True)
        file, ssh = os.path.join(folder, f"{name}.yaml"), os.path.join(folder, "ssh")
        for path, text in ((file, FAR.replace("NAME", name).replace("WEFT", WEFT)), (ssh, SSH.replace("FOLDER", folder))):
            with open(path, "w") as out:
                out.write(text)
        os.chmod(ssh, 0o700)
        for run in ("run", "run-a"):
            os.mkdir(os.path.join(folder, run), 0o700)
        env = dict(os.environ, RUNTIME_DIRECTORY=os.path.join(folder, "run"), PATH=f"{folder}:{os.environ['PATH']}")
        for step in itertools.count(1):
            done = self.weft("up", "--wait", labs.UP_WAIT, file, at=step, env=env)
            # The machine takes back what it has started when it hears no more of the console.
            labs.wait_ends(pid for pid, program in processes_of(folder).items() if program not in PROGRAMS)
            labs.wait_ends(pid for pid, program in processes_of(f"lab\0part").items() if program not in PROGRAMS)
            self.must("down", name if step % 2 else file, codes=(0, 2), env=env)
            for run in ("run", "run-a"):
                self.assertEqual(leftovers(name, os.path.join(folder, run)), [], f"killed at step {step}")
            if done.returncode == 0:
                break
            self.assertEqual(done.returncode, -9, f"step {step}: {done.stdout}{done.stderr}")
        self.assertGreater(step, 10)
        print(f"up of a console: {step - 1} steps", file=sys.stderr)

    if labs.LONG:
        def test_up_can_be_killed_at_any_time(self):
            rng = random.Random(47)
            for number in range(300):
                lab = self.lab(rng.choice(sorted(FORMS)))
                time = rng.uniform(0, 0.7)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.weft("up", "--wait", labs.UP_WAIT, lab.file, timeout=time)  # kills it
                self.heal(lab, rng.randrange(5))
                self.nothing_is_left(lab, f"kill {number}, after {time:.3f} s")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        KILL_AT = os.path.abspath(sys.argv.pop(2))
    labs.main(__doc__, ("ip", "nft"))
