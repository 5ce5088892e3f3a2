# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Machines that a console reaches over ssh, for tests: network namespaces with an sshd each, veth pairs as cables,
and one pair to the console's namespace. Keys, configuration and runtime folders are in a temporary folder; ~/.ssh is
not touched. The runtime folder is the home of logins, so that no test depends on this user's ~/.bashrc or waits for
it."""
import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import tempfile

import labs

SSHD = "/usr/sbin/sshd"


def need_machines():
    labs.need_lab(("ip", "ssh", "ssh-keygen"))
    if not os.path.exists(SSHD):
        labs.skip("openssh-server is not installed")


def must(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


class Bench:
    """Machines with these cables: (machine, interface, machine, interface)."""

    def __init__(self, machines, cables, own_etc=False, path=""):
        """'path': folders at the start of the machines' PATH, each followed by ':'."""
        self.folder = tempfile.mkdtemp(prefix="weft-bench-")
        self.tag = f"t{os.getpid()}"
        self.machines, self.daemons, self.own_etc, self.first = list(machines), {}, own_etc, path
        try:
            self.build(cables)
        except BaseException:
            self.remove()
            raise

    def build(self, cables):
        os.makedirs("/run/sshd", exist_ok=True)
        for key in ("host", "user"):
            must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(key))
        shutil.copy(self.path("user.pub"), self.path("authorized"))
        must("ip", "netns", "add", self.netns("console"))
        must("ip", "-n", self.netns("console"), "link", "set", "lo", "up")
        for number, machine in enumerate(self.machines):
            self.add(machine, number)
        for a, a_name, b, b_name in cables:
            self.join(a, a_name, b, b_name)
            for machine, name in ((a, a_name), (b, b_name)):
                must("ip", "-n", self.netns(machine), "link", "set", name, "up")
        self.configure()

    def path(self, name):
        return os.path.join(self.folder, name)

    def netns(self, machine):
        return f"{self.tag}-{machine}"

    def runtime(self, machine):
        return self.path(f"run-{machine}")

    def join(self, a, a_name, b, b_name):
        must("ip", "link", "add", a_name, "mtu", "5000", "netns", self.netns(a), "type", "veth", "peer", "name",
             b_name, "mtu", "5000", "netns", self.netns(b))

    def add(self, machine, number):
        netns = self.netns(machine)
        must("ip", "netns", "add", netns)
        self.join("console", f"to{number}", machine, "login")
        for at, name, end in ((self.netns("console"), f"to{number}", 1), (netns, "login", 2)):
            must("ip", "-n", at, "addr", "add", f"10.99.{number}.{end}/24", "dev", name)
            must("ip", "-n", at, "link", "set", name, "up")
        os.mkdir(self.runtime(machine), 0o700)
        with open(self.path(f"sshd-{machine}"), "w") as file:
            file.write(f"HostKey {self.path('host')}\nAuthorizedKeysFile {self.path('authorized')}\n"
                       f"PidFile none\nStrictModes no\nUsePAM yes\nPasswordAuthentication no\n"
                       f"PermitRootLogin prohibit-password\nSetEnv RUNTIME_DIRECTORY={self.runtime(machine)} "
                       f"HOME={self.runtime(machine)}{' PATH=' + self.first + os.environ['PATH'] if self.first else ''}\n")
        self.start(machine)

    def start(self, machine):
        self.daemons[machine] = subprocess.Popen(
            ["ip", "netns", "exec", self.netns(machine), *self.etc(machine), SSHD, "-D", "-e", "-f",
             self.path(f"sshd-{machine}")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.daemons[machine].stderr:
            if "listening" in line:
                return
        raise AssertionError(f"the sshd of {machine} does not start")

    def etc(self, machine):
        """Returns words before a program that give it a copy of /etc, the folder etc-MACHINE."""
        if not self.own_etc:
            return []
        copy = self.path(f"etc-{machine}")
        shutil.copytree("/etc", copy, symlinks=True, dirs_exist_ok=True)
        return ["unshare", "-m", "sh", "-c", f'mount --bind {copy} /etc && exec "$@"', "sh"]

    def configure(self, known=None):
        """Writes ssh's configuration: machines by name; 'known': machines with known host keys."""
        with open(self.path("host.pub")) as file:
            key = " ".join(file.read().split()[:2])
        known = self.machines if known is None else known
        with open(self.path("known"), "w") as file:
            file.writelines(f"{machine} {key}\n" for machine in known)
        with open(self.path("ssh_config"), "w") as file:
            for number, machine in enumerate(self.machines):
                file.write(f"Host {machine}\n  HostName 10.99.{number}.2\n  HostKeyAlias {machine}\n")
            file.write(f"Host *\n  User root\n  IdentityFile {self.path('user')}\n  IdentitiesOnly yes\n"
                       f"  UserKnownHostsFile {self.path('known')}\n  GlobalKnownHostsFile /dev/null\n"
                       f"  StrictHostKeyChecking yes\n  UpdateHostKeys no\n")

    def environment(self):
        console = self.runtime("console")
        os.makedirs(console, 0o700, exist_ok=True)
        return os.environ | {"WEFT_SSH_CONFIG": self.path("ssh_config"), "RUNTIME_DIRECTORY": console}

    def console(self, *words):
        """Returns the command line that runs these words on the console."""
        return ["ip", "netns", "exec", self.netns("console"), *words]

    def processes(self, machine):
        """Returns process ids in the machine; none if it does not exist yet."""
        if not os.path.exists(f"/run/netns/{self.netns(machine)}"):
            return []
        said = subprocess.run(["ip", "netns", "pids", self.netns(machine)], text=True, check=True,
                              stdout=subprocess.PIPE).stdout
        return [int(pid) for pid in said.split() if labs.own_kind_of_process(pid)]

    def restart(self, machine):
        """Restarts its sshd, which then sees new mounts."""
        self.daemons[machine].kill()
        self.daemons.pop(machine).communicate()
        self.start(machine)

    def die(self, machine):
        """Ends all its processes and its sshd at once; its files in /run are gone, as after a reset."""
        for pid in self.processes(machine):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.daemons.pop(machine).communicate()
        labs.wait_until(lambda: not self.processes(machine), f"{machine} has processes")
        shutil.rmtree(self.runtime(machine))
        os.mkdir(self.runtime(machine), 0o700)

    def left(self):
        """Returns lab files left on the machines and the console."""
        return [os.path.join(folder, name) for machine in [*self.machines, "console"]
                for folder, _, names in os.walk(self.runtime(machine)) for name in names]

    def remove(self):
        for machine in itertools.chain(list(self.daemons), ["console"]):
            for pid in self.processes(machine):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for daemon in self.daemons.values():
            daemon.communicate()
        for machine in [*self.machines, "console"]:
            if os.path.exists(f"/run/netns/{self.netns(machine)}"):
                subprocess.run(["ip", "netns", "del", self.netns(machine)], check=False)
        shutil.rmtree(self.folder)
