# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A console and three guests that it reaches over ssh, as docs/how-to/bench-of-servers.md has them: each guest is a switch and a
host, and three cables between their PCI NICs make a ring. The console is this machine; its keys, its
configuration of ssh and its runtime folder are in the folder of the guests."""
import glob
import json
import os
import signal
import stat
import subprocess
import tempfile
import time

import bench
import cables
import clock_truth
import machine
import playbook
from guest import LOGIN_ADDRESS
from lab import HELLO_MS, Wrong

NAMES = ("m0", "m1", "m2")
SSHD = "/usr/sbin/sshd"
SYSTEMD = "/lib/systemd/systemd"
PROGRAMS = (SSHD, SYSTEMD, "ssh", "ssh-keygen", playbook.PROGRAM)
HUGEPAGES = 256
CLOCK_SAMPLES = 1000
CLOCK_SECONDS = 0.3 # that the time of day of a guest may be away
CLOCK_TRIES = 10
FOLDER = "/run/weft-login" # for the sshd in a guest
UP_SECONDS = 600
COMMAND_SECONDS = 900
FRAMES = 2000
LAB = "bench"
TOPOLOGY = """  weft: topology/1
  name: ring
  link: {rate: 10Gbps, delay: 30ns}
  switches: [{name: s0, ports: 3}, {name: s1, ports: 3}, {name: s2, ports: 3}]
  hosts: [{name: h0}, {name: h1}, {name: h2}]
  links: [{a: h0, b: s0:0}, {a: h1, b: s1:0}, {a: h2, b: s2:0},
          {a: s0:1, b: s1:2}, {a: s1:1, b: s2:2}, {a: s2:1, b: s0:2}]
"""
# All that a lab may leave, a line for each.
REMAINS = r"""
ps -eo comm= | grep '^weft' | sed 's/^/process /'
find /run/weft /run/dpdk /run/netns /dev/shm /dev/hugepages ! -type d 2>/dev/null
ls /run/netns /sys/class/net
ls -d /run/weft/* /run/dpdk/* /dev/shm/* 2>/dev/null
grep HugePages_Free /proc/meminfo
true
"""


def lab_text(weft, addresses, mtu, load, eal):
    machines = "".join(
        f"  - {{name: {name}, ssh: {name}, weft: {json.dumps(weft)}, devices: [s{i}, h{i}], ports: ["
        f'{{port: s{i}:1, dpdk: "{addresses[name][0]}"}}, {{port: s{i}:2, dpdk: "{addresses[name][1]}"}}]}}\n'
        for i, name in enumerate(NAMES))
    return (f"weft: lab/1\nname: {LAB}\ntopology:\n{TOPOLOGY}machines:\n{machines}"
            f"hello: {HELLO_MS}ms\nswitch: {{mtu: {mtu}}}\nnic: {{mtu: {mtu}, retry: 1s, give-up: 60s}}\n"
            f"mapper: {{key: fabric.key}}\neal: {json.dumps(eal)}\n"
            f"traffic: [{{pattern: uniform, from: all, to: all, load: {load}, message: {mtu}}}]\n"
            "measure: {duration: 10s}\n")


class Guests(bench.Guests):
    def __init__(self, driver, weft):
        super().__init__(driver, weft, {name: 2 for name in NAMES}, login=True)
        # A short name: commands share a connection only if the path of its socket is short enough, and a login takes a
        # guest half a minute while programs poll there.
        self.login_folder = tempfile.TemporaryDirectory(prefix="wm-")
        self.opened = None

    def console(self, options):
        ends = [self.plugs[name] for name in NAMES]
        for i, near in enumerate(ends): # port 1 of each leads to port 2 of the next
            cables.Cable(near[0], ends[(i + 1) % len(ends)][1])
        for each in self.guests.values():
            each.wait_boot()
        self.opened = Console(self, options)
        return self.opened

    def __exit__(self, *words):
        if self.opened is not None:
            self.opened.end_logins()
        super().__exit__(*words)
        self.login_folder.cleanup()


class Console:
    def __init__(self, guests, options):
        self.guests, self.weft, self.mtu = guests, options.weft, (options.mtu or ["1KiB"])[0]
        self.frames, self.samples, self.before = options.frames, options.clock_samples, {}
        self.probe = clock_truth.probe_path(options.build)
        self.addresses = {name: each.nic_addresses(guests.counts[name]) for name, each in guests.guests.items()}
        self.folder = guests.login_folder.name
        os.mkdir(self.path("run"), 0o700)
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(key)], check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.configure()
        self.file = self.write("bench.yaml", lab_text(self.weft, self.addresses, self.mtu, options.load,
                                                      guests.driver.eal + options.eal))
        self.write("fabric.key", 32 * "5e" + "\n")
        self.playbook = playbook.Playbook(self.weft, self.file, self.environment(), {
            "weft_package": "none", "weft_hugepages": HUGEPAGES, "weft_port_driver": guests.driver.kernel_driver,
            "weft_kernel_arguments": ""}) # QEMU is the guests' boot loader
        # While nothing else runs, which is when it is exact.
        self.counters = {name: clock_truth.measure(each, self.probe) for name, each in guests.guests.items()}
        for name in NAMES:
            self.open_login(name)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(self.path(name), 0o600)
        return self.path(name)

    def read(self, name):
        try:
            with open(self.path(name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    # --- the login ---

    def configure(self):
        """ssh's configuration: machines by their names."""
        key = " ".join(self.read("host.pub").decode().split()[:2])
        self.write("known", "".join(f"{name} {key}\n" for name in NAMES))
        hosts = "".join(f"Host {name}\n  Port {self.guests.guests[name].login_port()}\n  HostKeyAlias {name}\n"
                        for name in NAMES)
        self.write("ssh_config", f"{hosts}Host *\n  HostName 127.0.0.1\n  User root\n"
                   f"  IdentityFile {self.path('user')}\n  IdentitiesOnly yes\n"
                   f"  UserKnownHostsFile {self.path('known')}\n  GlobalKnownHostsFile /dev/null\n"
                   "  StrictHostKeyChecking yes\n  UpdateHostKeys no\n  KexAlgorithms curve25519-sha256\n")

    def open_login(self, name):
        """What a server does when it boots: its network, and sshd."""
        guest = self.guests.guests[name]
        guest.must(f"mkdir -p -m 700 {FOLDER} && mkdir -p -m 755 /run/sshd && ln -sf {self.weft} /usr/local/bin/weft")
        for file, data in (("host", self.read("host")), ("authorized", self.read("user.pub")), ("config", (
                f"HostKey {FOLDER}/host\nAuthorizedKeysFile {FOLDER}/authorized\nPidFile {FOLDER}/pid\nStrictModes no\n"
                "UsePAM yes\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nUseDNS no\n").encode())):
            guest.put(f"{FOLDER}/{file}", data)
        guest.must(f"chmod 600 {FOLDER}/* && ip address add {LOGIN_ADDRESS}/24 dev eth0 && ip link set eth0 up && "
                   # It goes to the background before it listens, and then writes this file.
                   f"{SSHD} -f {FOLDER}/config && {machine.until_file(f'{FOLDER}/pid')}")

    def boot_again(self, name):
        """After a reset. A guest has no disk: what Ansible wrote is gone, too."""
        self.guests.guests[name].wait_back()
        self.guests.guests[name].must(f"sysctl -q -w vm.nr_hugepages={HUGEPAGES}")
        self.guests.bind(name)
        self.open_login(name)

    def on(self, name, command, seconds=COMMAND_SECONDS):
        """The output of a command on a machine, over ssh."""
        done = subprocess.run(["ssh", "-F", self.path("ssh_config"), name, command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=seconds, check=False)
        if done.returncode != 0:
            raise Wrong(f"ssh {name}: exit {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def prefer_logins(self):
        """A guest has one emulated CPU, for which programs that poll and whoever logs in compete."""
        for guest in self.guests.guests.values():
            guest.must("for pid in $(pgrep '^weft-(switch|nic)$'); do renice -n 15 -p $pid; done; "
                       "for pid in $(pgrep '^sshd$'); do renice -n -10 -p $pid; done", seconds=120)

    def end_logins(self):
        """Connections that commands share outlive them for a minute."""
        folder = self.path("run/weft/bench.console")
        for socket in glob.glob(f"{folder}/*"):
            if stat.S_ISSOCK(os.stat(socket).st_mode):
                subprocess.run(["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "any"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    def note_remains(self):
        """What there is before a lab."""
        self.before = {name: self.remains(name) for name in NAMES}

    def remains(self, name):
        return set(self.on(name, REMAINS).splitlines())

    def remains_here(self):
        return [name for _, _, names in os.walk(self.path("run")) for name in names]

    # --- clocks ---

    def truth(self):
        """What the clocks of a lab that is up really show."""
        return clock_truth.Truth(self.counters, {
            name: clock_truth.parse_scale(each.must(f"cat /run/weft/{LAB}/clock"))
            for name, each in self.guests.guests.items()})

    def start_clock_samples(self, name, prefix, count, seconds):
        """An order that prints what the process with this prefix learns of clocks."""
        return self.guests.guests[name].start(
            f"python3 {bench.HERE}/clock_samples.py /run/dpdk/{prefix}/dpdk_telemetry.v2 {count} {seconds}",
            seconds=seconds + 120)

    # --- weft lab ---

    def environment(self):
        return os.environ | {"WEFT_SSH_CONFIG": self.path("ssh_config"), "RUNTIME_DIRECTORY": self.path("run")}

    def start(self, *words):
        return subprocess.Popen([self.weft, "lab", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.environment())

    @staticmethod
    def finish(process):
        """Its exit code, output and messages."""
        try:
            out, err = process.communicate(timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Wrong(f"{' '.join(process.args)}: no end after {COMMAND_SECONDS} s") from None
        return process.returncode, out, err

    def ask(self, *words):
        return self.finish(self.start(*words))

    def must(self, *words):
        code, out, err = self.ask(*words)
        if code != 0:
            raise Wrong(f"weft lab {' '.join(words)}: exit {code}\n{out}{err}")
        return out

    def set_clocks(self):
        """What NTP does on servers."""
        for name, guest in self.guests.guests.items():
            for _ in range(CLOCK_TRIES):
                if abs(guest.clock_ahead()) < CLOCK_SECONDS:
                    break
                guest.must(f"date -s @{time.time():.3f}")
            else:
                raise Wrong(f"{name}: its time of day cannot be set")

    def up(self):
        self.set_clocks()
        said = self.must("up", self.file, "--wait", f"{UP_SECONDS}s")
        self.prefer_logins()
        return said

    def status(self):
        _, out, err = self.ask("status", LAB, "--json")
        try:
            return json.loads(out)
        except json.JSONDecodeError:
            raise Wrong(f"status: {out}{err}") from None

    def run(self, seconds):
        """The result of 'run' on all machines."""
        code, out, err = self.ask("run", LAB, "--duration", f"{seconds}s", "--json", "-")
        if code not in (0, 1):
            raise Wrong(f"run: exit {code}\n{out}{err}")
        return json.loads(out)

    def interrupt(self, process):
        process.send_signal(signal.SIGINT)
        return self.finish(process)
