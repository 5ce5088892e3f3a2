#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Several users on one machine: nobody's programs get into the way of another's, and nobody gets a program of
another to remove, follow or end what is not its own.

usage: users_test.py WEFT WEFT_SWITCH WEFT_BENCH_SWITCH [CASE...]"""
import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

import labs

WEFT = SWITCH = BENCH = None
LAB = "topology: full:switches=2,hosts=1\n"


class Users(unittest.TestCase):
    def setUp(self):
        # Users that this machine need not know and that no other test has.
        self.users = [200000 + 16 * os.getpid() + i for i in range(2)]
        self.folder = tempfile.mkdtemp(prefix="weft-users-")
        os.chmod(self.folder, 0o755)
        self.bases = [f"/tmp/weft-{user}" for user in self.users]
        self.addCleanup(self.remove)
        self.prefix = f"weft-users-{os.getpid()}"
        # Programs whose folders another user may not enter are of no use to him.
        self.switch = shutil.copy(BENCH, self.folder)

    def remove(self):
        for path in (self.folder, *self.bases):
            if os.path.islink(path):
                os.unlink(path)
            shutil.rmtree(path, ignore_errors=True)

    def argv(self, user, *argv):
        without = ["env", "-u", "RUNTIME_DIRECTORY", "-u", "XDG_RUNTIME_DIR"]
        return [*without, "setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups", *argv]

    def switch_argv(self, user):
        return self.argv(user, self.switch, "-m", "128", f"--file-prefix={self.prefix}", "--vdev", "net_ring0",
                         "--", "--mtu", "1KiB")

    def start(self, user, base):
        process = subprocess.Popen(self.switch_argv(user), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, cwd="/")
        self.addCleanup(lambda: process.poll() is None and process.kill())
        labs.wait_socket(f"{base}/dpdk/{self.prefix}/dpdk_telemetry.v2", process)
        return process

    def refused(self, argv, text, code=3):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=240, cwd="/", check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_two_users_run_programs_of_one_name_side_by_side(self):
        running = [self.start(user, base) for user, base in zip(self.users, self.bases)]
        for user, base in zip(self.users, self.bases):
            for path in (base, f"{base}/dpdk", f"{base}/dpdk/{self.prefix}"):
                found = os.lstat(path)
                self.assertEqual((found.st_uid, stat.S_IMODE(found.st_mode)), (user, 0o700), path)
        for process in running:
            process.send_signal(signal.SIGTERM)
            self.assertEqual((process.wait(240), process.stdout.close()), (0, None))
        for base in self.bases:
            self.assertEqual(os.listdir(f"{base}/dpdk"), [])

    def test_a_folder_that_another_user_made_is_refused_and_left_alone(self):
        os.mkdir(self.bases[0], 0o777)
        os.chmod(self.bases[0], 0o777)
        os.chown(self.bases[0], self.users[1], self.users[1])
        self.refused(self.switch_argv(self.users[0]), f"{self.bases[0]} belongs to user {self.users[1]}, but must belong to user {self.users[0]}")
        self.assertEqual(os.listdir(self.bases[0]), [])

        # So does a lab, which would have its own folders in it.
        weft = shutil.copy(WEFT, self.folder)
        lab, _ = self.foreign_lab(os.getpid(), 0)
        self.refused(self.argv(self.users[0], weft, "lab", "up", lab),
                     f"{self.bases[0]} belongs to user {self.users[1]}, but must belong to user {self.users[0]}")
        self.assertEqual(os.listdir(self.bases[0]), [])

    def test_a_lab_that_another_user_hides_is_not_said_to_be_down(self):
        weft = shutil.copy(WEFT, self.folder)
        lab, run_dir = self.foreign_lab(os.getpid(), 0)
        hidden = os.path.join(self.folder, "hidden")
        os.mkdir(hidden, 0o700)
        os.rename(run_dir, os.path.join(hidden, "run"))
        self.refused(self.argv(self.users[0], weft, "lab", "down", lab, "--run-dir", f"{hidden}/run"),
                     "run.lock: Permission denied")

    def test_a_link_in_the_place_of_the_folder_is_not_followed(self):
        target = os.path.join(self.folder, "target")
        os.mkdir(target, 0o777)
        os.chown(target, self.users[0], self.users[0])
        os.symlink(target, self.bases[0])
        self.refused(self.switch_argv(self.users[0]), f"{self.bases[0]} is a symbolic link, not a folder")
        self.assertEqual(os.listdir(target), [])

    def foreign_lab(self, pid, owner):
        """A run directory with the state of a lab of the process."""
        lab, run_dir = os.path.join(self.folder, "lab.yaml"), os.path.join(self.folder, "run")
        with open(lab, "w", encoding="utf-8") as file:
            file.write("weft: lab/1\nname: users\n" + LAB)
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            start = file.read().rsplit(")", 1)[1].split()[19]
        os.mkdir(run_dir, 0o755)
        with open(os.path.join(run_dir, "state"), "w", encoding="utf-8") as file:
            file.write(f"weft-lab-state/1\nprocess s0 weft-switch {self.prefix} {pid} {start}\n")
        os.chown(run_dir, owner, owner)
        return lab, run_dir

    def test_root_ends_no_process_that_the_lab_of_another_user_names(self):
        sleeper = subprocess.Popen(["sleep", "60"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        lab, run_dir = self.foreign_lab(sleeper.pid, self.users[0])
        for part in ("down", "status", "up"):
            self.refused([WEFT, "lab", part, lab, "--run-dir", run_dir],
                         f"run belongs to user {self.users[0]}, but must belong to user 0")
        self.assertIsNone(sleeper.poll())
        self.assertEqual(os.listdir(run_dir), ["state"])
        os.chown(run_dir, 0, 0) # the control: its own lab root ends
        done = subprocess.run([WEFT, "lab", "down", lab, "--run-dir", run_dir], check=False,
                              capture_output=True, text=True, timeout=240)
        self.assertEqual((done.returncode, sleeper.wait(240)), (0, -signal.SIGTERM), done.stderr)
        self.assertFalse(os.path.exists(run_dir))

    def test_the_lock_of_a_lab_does_not_follow_a_link(self):
        lab, run_dir = self.foreign_lab(os.getpid(), 0)
        target = os.path.join(self.folder, "target")
        with open(target, "w", encoding="utf-8") as file:
            file.write("precious")
        os.symlink(target, run_dir + ".lock")
        self.refused([WEFT, "lab", "down", lab, "--run-dir", run_dir], "run.lock: Too many levels of symbolic links")
        with open(target, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        os.unlink(run_dir + ".lock")
        os.link(target, run_dir + ".lock")
        self.refused([WEFT, "lab", "down", lab, "--run-dir", run_dir],
                     "run.lock: the file must belong to user 0 and have no hard links")
        with open(target, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")

    def test_a_run_directory_below_a_folder_of_another_user_is_refused(self):
        lab, run_dir = self.foreign_lab(os.getpid(), 0)
        os.chown(self.folder, self.users[0], self.users[0])
        self.refused([WEFT, "lab", "up", lab, "--run-dir", run_dir], f"belongs to user {self.users[0]}, but must belong to user 0")
        self.assertEqual(sorted(os.listdir(self.folder)), ["lab.yaml", "run", "weft-bench-switch"])

    def shared_lab(self):
        """A lab file that everybody may write into, and that makes DPDK load a plug-in."""
        lab = os.path.join(self.folder, "lab.yaml")
        with open(lab, "w", encoding="utf-8") as file:
            file.write(f"weft: lab/1\nname: u{os.getpid()}\n{LAB}eal: [-d, {self.folder}/none.so]\n")
        os.chmod(lab, 0o666)
        return lab

    def test_a_lab_file_that_others_can_change_runs_no_code_unless_it_is_trusted(self):
        lab = self.shared_lab()
        text = f"{lab}:4:6: 'eal' can make DPDK run code and write files, but {lab} is writable by other users"
        self.refused([WEFT, "lab", "up", lab], text, code=2)
        self.refused([SWITCH, "--", "--lab", lab, "--switch", "s0"], text, code=2)
        # The plug-in is missing, and DPDK is asked for it only by processes that got the word, too.
        done = subprocess.run([WEFT, "lab", "up", lab, "--trust", lab], capture_output=True, text=True, timeout=240,
                              check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("cannot start DPDK", done.stderr)
        self.assertNotIn("can make DPDK run code", done.stderr)
        with open(lab, encoding="utf-8") as file:
            text = file.read()
        with open(lab, "w", encoding="utf-8") as file:
            file.write(text[:text.index("eal")] + "eal: [--log-level=lib.telemetry:7]\n")
        self.addCleanup(subprocess.run, [WEFT, "lab", "down", lab], capture_output=True, check=False)
        done = subprocess.run([WEFT, "lab", "up", lab, "--trust", lab, "--wait", labs.UP_WAIT], capture_output=True,
                              text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_user_without_root_has_labs_and_is_told_what_they_cannot_do(self):
        for program in (WEFT, *(os.path.join(os.path.dirname(WEFT), f"../../apps/{name}/weft-{name}")
                                for name in ("switch", "nic"))):
            shutil.copy(program, self.folder)
        runtime, lab = os.path.join(self.folder, "runtime"), os.path.join(self.folder, "lab.yaml")
        os.mkdir(runtime, 0o700)
        os.chown(runtime, self.users[0], self.users[0])
        with open(lab, "w", encoding="utf-8") as file:
            file.write(f"weft: lab/1\nname: mine\nprocesses: each\n{LAB}mapper: {{routes: static}}\n")

        def weft(*part):
            argv = self.argv(self.users[0], "env", f"XDG_RUNTIME_DIR={runtime}", f"{self.folder}/weft", "lab", *part)
            return subprocess.run(argv, capture_output=True, text=True, timeout=240, cwd="/", check=False)
        self.addCleanup(weft, "down", "mine")
        done = weft("up", lab, "--wait", labs.UP_WAIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"logs and plan: {runtime}/weft/mine\nwithout root: no TAPs", done.stdout)
        with open(lab, "a", encoding="utf-8") as file:
            file.write("edges: [{host: h0, tap: t0}]\n")
        self.assertEqual(weft("down", "mine").returncode, 0)
        done = weft("up", lab)
        self.assertIn("TAP edges require root", done.stderr)
        self.assertEqual(done.returncode, 3)
        self.assertFalse(os.path.exists(f"{runtime}/weft/mine"))

    def processes_of(self, text):
        """A lab that is up with this file: {program: [status of each thread, as a dictionary]}."""
        lab = os.path.join(self.folder, "lab.yaml")
        with open(lab, "w", encoding="utf-8") as file:
            file.write(f"weft: lab/1\nname: c{os.getpid()}\n{LAB}dilation: 20\n{text}")
        self.addCleanup(subprocess.run, [WEFT, "lab", "down", lab], capture_output=True, check=False)
        done = subprocess.run([WEFT, "lab", "up", lab, "--wait", labs.UP_WAIT], capture_output=True, text=True, timeout=240,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        state = subprocess.run([WEFT, "lab", "status", "--json", lab], capture_output=True, text=True, timeout=240,
                               check=True)
        found = {}
        for process in json.loads(state.stdout)["processes"]:
            for thread in os.listdir(f"/proc/{process['pid']}/task"):
                with contextlib.suppress(FileNotFoundError, ProcessLookupError): # that answered 'status' ends now
                    found.setdefault(process["program"], []).append(self.fields_of(process["pid"], thread))
        return found

    @staticmethod
    def fields_of(process, thread):
        with open(f"/proc/{process}/task/{thread}/status", encoding="utf-8") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)

    def test_the_processes_of_a_lab_of_root_have_no_capabilities_and_are_in_a_sandbox(self):
        for program, threads in self.processes_of("").items():
            self.assertGreater(len(threads), 2, program)
            for thread in threads:
                self.assertEqual((thread["CapPrm"], thread["CapEff"], thread["NoNewPrivs"], thread["Seccomp"]),
                                 ("0" * 16, "0" * 16, "1", self.seccomp()), (program, thread["Name"]))

    def test_processes_keep_the_capabilities_that_their_ports_need(self):
        edge = f"edges: [{{host: h0, tap: c{os.getpid()}, namespace: c{os.getpid()}}}]\n"
        found = self.processes_of("links: veth\n" + edge)
        net, admin = 1 << 12 | 1 << 13, 1 << 21 # CAP_NET_ADMIN, CAP_NET_RAW; CAP_SYS_ADMIN
        for program, wanted in (("weft-switch", net), ("weft-nic", net | admin)):
            self.assertEqual({int(thread["CapPrm"], 16) for thread in found[program]}, {wanted}, program)

    def test_a_lab_file_can_do_without_the_sandbox(self):
        for threads in self.processes_of("security: {sandbox: false}\n").values():
            self.assertEqual({(thread["Seccomp"], thread["CapPrm"]) for thread in threads}, {("0", "0" * 16)})

    def seccomp(self):
        """A sanitizer's build has no sandbox."""
        return "0" if labs.has_sanitizer(SWITCH) else "2"


def main():
    global WEFT, SWITCH, BENCH
    if os.geteuid() != 0:
        labs.skip("other users need root")
    if shutil.which("setpriv") is None:
        labs.skip("setpriv is not installed")
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    WEFT, SWITCH, BENCH = (os.path.abspath(path) for path in sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)


if __name__ == "__main__":
    main()
