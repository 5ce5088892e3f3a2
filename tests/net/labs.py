# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Labs of real processes, for tests: up, query, cut, kill, run, down. Their clocks are slow ('dilation'), so that
links go down only if a test causes it, however busy the machine is. Nothing sleeps: a wait ends with an event, or
polls the lab until a condition holds. HANG_SECONDS ends waits for events that never come; no test result depends on
it."""
import contextlib
import ctypes
import glob
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest


class TextResult(unittest.TextTestResult):
    """Prints a failure when it happens, so that a test reports it even if its timeout ends it."""

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.stream.writeln(self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.stream.writeln(self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            kind = self.failures if issubclass(err[0], test.failureException) else self.errors
            self.stream.writeln(kind[-1][1])

    def printErrors(self):
        self.stream.writeln()


unittest.TextTestRunner.resultclass = TextResult  # for every test that imports this file


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def has_sanitizer(program):
    """Returns whether it was built with AddressSanitizer."""
    with open(program, "rb") as file:
        return b"__asan_init" in file.read()


def need_lab(programs=("ip",)):
    """Ends the test with 77 if this machine does not allow labs with veth pairs."""
    if os.geteuid() != 0:
        skip("labs with namespaces and TAPs need root")
    if not os.path.exists("/dev/net/tun"):
        skip("there is no /dev/net/tun here")
    if subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        skip("network namespaces are not allowed here")
    for program in programs:
        if shutil.which(program) is None:
            skip(f"{program} is not installed")


def main(usage, programs=("ip",), names=("WEFT",), need=None):
    """Runs a test program: its first words are 'weft' and other files, which its cases find under these names;
    further words select cases. 'need' replaces the check for lab requirements."""
    if len(sys.argv) <= len(names):
        sys.exit(usage)
    for name in names:
        path = os.path.abspath(sys.argv.pop(1))
        for module in {"__main__", "lab_cases"} & set(sys.modules):
            setattr(sys.modules[module], name, path)
    if need is None:
        need_lab(programs)
    else:
        need()
    unittest.main(verbosity=2)


def own_kind_of_process(pid):
    """Excludes zombies: the test machine's init may be slow to reap them."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


HANG_SECONDS = 240
LONG = os.environ.get("WEFT_LONG", "") not in ("", "0")  # as long as nobody waits for
UP_WAIT = "200s"  # for 'weft lab up', which reports what is missing before HANG_SECONDS are over
CHECKS = ("lost", "duplicated", "out_of_order")
# A lab that is slow for its links need not be slow for its mapper: a fifth of the defaults.
MAPPER = "listen: 4ms, heartbeat: 10ms, takeover: 80ms, lease: 60ms, linger: 100ms, sweep: 200ms, retry: 10ms, drain: 40ms"


def wait_until(condition, what):
    """Polls until condition(), which itself takes time, is true; returns its value."""
    deadline = time.monotonic() + HANG_SECONDS
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} after {HANG_SECONDS} s")
    return value


def wait_ends(pids):
    """Waits until these processes have ended."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            process = os.pidfd_open(pid)
            try:
                if not select.select([process], [], [], HANG_SECONDS)[0]:
                    raise AssertionError(f"process {pid} goes on after {HANG_SECONDS} s")
            finally:
                os.close(process)


def wait_file(path, good=os.path.exists, process=None):
    """Waits until good(path), called again whenever a file in its folder changes. 'process': its end is an error.
    Raises FileNotFoundError if the folder does not exist, or is removed."""
    events = ctypes.CDLL(None, use_errno=True)
    folder = os.open(os.path.dirname(path), os.O_PATH)
    notices, ended = events.inotify_init1(os.O_CLOEXEC), os.pidfd_open(process.pid) if process else -1
    try:
        changed = 0x2 | 0x8 | 0x80 | 0x100  # IN_MODIFY, IN_CLOSE_WRITE, IN_MOVED_TO, IN_CREATE
        if events.inotify_add_watch(notices, b"/proc/self/fd/%d" % folder, changed) < 0:
            raise OSError(ctypes.get_errno(), f"inotify of {path}")
        while not good(path):
            if os.fstat(folder).st_nlink == 0:
                raise FileNotFoundError(f"the folder of {path} was removed")
            ready = select.select([notices] + [ended] * (ended >= 0), [], [], HANG_SECONDS)[0]
            if notices not in ready and not good(path):
                raise AssertionError(f"{path}: not so, and " + ("its process has ended" if ready else "no change"))
            if notices in ready:
                os.read(notices, 65536)
    finally:
        for file in (folder, notices, ended):
            if file >= 0:
                os.close(file)


def ping(case, enter, address, times=3):
    """Sends each request after the previous answer: 'ping -c 3' waits for the last one for two round trips only."""
    for _ in range(times):
        done = subprocess.run([*enter, "ping", "-n", "-c", "1", "-W", str(HANG_SECONDS), address], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        case.assertEqual(done.returncode, 0, done.stdout)


TWO_SWITCHES = """weft: topology/1
link: {rate: RATE, delay: 100ns}
switches: [{name: s0, ports: 4, stage: 1}, {name: s1, ports: 4, stage: 1}]
hosts: [{name: h0}, {name: h1}, {name: h2}, {name: h3}]
links:
  - {a: h0:0, b: s0:0}
  - {a: h1:0, b: s0:1}
  - {a: h2:0, b: s1:0}
  - {a: h3:0, b: s1:1}
  - {a: s0:2, b: s1:2}
  - {a: s0:3, b: s1:3}
"""


def two_switches(rate="1Gbps"):
    """Returns the files of a lab with two switches, two cables between them, two hosts each, and a fabric key."""
    return {"topology.yaml": TWO_SWITCHES.replace("RATE", rate), "fabric.key": 32 * "5e" + "\n"}


def wait_path(path, process):
    """Waits until the process has created the file and its folders. The end of another lab may remove /run/weft before
    the process is in it."""
    while not os.path.exists(path):
        with contextlib.suppress(FileNotFoundError):
            for part in (*reversed(pathlib.Path(path).parents), path):
                wait_file(str(part), process=process)


def wait_socket(path, process):
    """Waits until the process listens on that socket."""
    wait_path(path, process)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        # It is bound before it listens.
        wait_until(lambda: client.connect_ex(path) == 0, f"nothing listens at {path}")


@contextlib.contextmanager
def held(up, run_dir, processes):
    """In the block 'weft lab up', which has started so many processes, is stopped. The time of its '--wait' passes, but
    it looks at the lab for the last time after the block, however slowly the lab gets there. Each process waits until
    'up' has written it down, and then begins with its log."""
    wait_path(f"{run_dir}/state", up)
    wait_file(f"{run_dir}/log", lambda path: len(glob.glob(f"{run_dir}/*.log")) >= processes, up)
    up.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        up.send_signal(signal.SIGCONT)


class Program(subprocess.Popen):
    """A program, killed if its block fails; Popen would wait for its end for ever."""

    def __exit__(self, kind, value, traceback):
        if kind is not None:
            self.kill()
        super().__exit__(kind, value, traceback)


class Traffic:
    """'weft lab run' in the background; finish() returns its result."""

    def __init__(self, lab, duration):
        self.path = os.path.join(lab.folder, "traffic.json")
        self.lab, self.before = lab, lab.delivered()
        self.run = subprocess.Popen(
            [lab.weft_tool, "lab", "run", lab.file, "--duration", duration, "--json", self.path],
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lab.runs.append(self.run)

    def wait_flow(self, more=100):
        """Waits until that many more messages have arrived."""
        before = self.lab.delivered()
        self.lab.wait(lambda: self.lab.delivered() >= before + more or self.run.poll() is not None, "no traffic flows")
        if self.run.poll() is not None:
            raise AssertionError(f"the run has ended: {self.run.communicate()[0]}")

    def finish(self, timeout=HANG_SECONDS):
        said = self.run.communicate(timeout=timeout)[0]
        if self.run.returncode not in (0, 1, 130):
            raise AssertionError(f"run: {self.run.returncode}\n{said}")
        with open(self.path) as file:
            return self.run.returncode, json.load(file), said

    def stop(self):
        """Stops early: messages under way still arrive."""
        self.run.send_signal(signal.SIGINT)


RUNTIME = os.environ.get("RUNTIME_DIRECTORY", "/run")


class Lab:
    """A lab with its own folder and name. 'text' is the lab file without its name, 'files' are further files in the
    folder, 'form' is 'one' process or 'each': their number must not depend on the machine's CPUs."""

    def __init__(self, weft_tool, tag, text, files=None, form="each"):
        self.weft_tool = weft_tool
        self.name = f"t{os.getpid()}{tag}"
        self.run_dir = f"{RUNTIME}/weft/{self.name}"
        self.folder = tempfile.mkdtemp(prefix="weft-lab-")
        self.file = os.path.join(self.folder, "lab.yaml")
        for name, contents in (files or {}).items():
            path = os.path.join(self.folder, name)
            with open(path, "w") as file:
                file.write(contents)
            if name.endswith(".key"):
                os.chmod(path, 0o600)
        with open(self.file, "w") as file:
            file.write(f"weft: lab/1\nname: {self.name}\nprocesses: {form}\n{text}")
        self.pids, self.runs = {}, []
        self.memory = ""  # the folder of its links, if that is not in its run directory

    def weft(self, part, *more, timeout=HANG_SECONDS):
        return subprocess.run([self.weft_tool, "lab", part, self.file, *more], text=True,
                              timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)

    def must(self, part, *more, **kind):
        done = self.weft(part, *more, **kind)
        if done.returncode != 0:
            raise AssertionError(
                f"{part} {' '.join(more)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def up(self):
        said = self.must("up", "--wait", UP_WAIT)
        self.note_pids()
        return said

    def note_pids(self):
        self.pids = {p["name"]: p["pid"] for p in self.status()["processes"]}
        with contextlib.suppress(OSError):
            self.memory = os.readlink(f"{self.run_dir}/memory")

    def status(self):
        done = self.weft("status", "--json")
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError:
            raise AssertionError(f"status: {done.returncode}\n{done.stdout}{done.stderr}") from None

    def wait(self, condition, what):
        """Polls until condition(), which queries the lab, is true; returns its value. It is called for each line of
        'weft lab top'."""
        if value := condition():
            return value
        with subprocess.Popen([self.weft_tool, "lab", "top", self.file, "--json-lines", "--interval", "100ms"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as top:
            try:
                return wait_until(lambda: (top.stdout.readline(), condition())[1], what)
            except AssertionError as fault:
                raise AssertionError(f"{fault}\n{self.summary()}") from None
            finally:
                top.kill()

    def summary(self):
        """Summarises the differences from a good state in a few lines."""
        status = self.status()
        mapping = status.get("mapping") or {"mappers": [], "agents": [], "why": ""}
        lines = [f"{p['name']}: {p['state']} {p['fault']}" for p in status["processes"]
                 if p["state"] != "running"]
        lines.append("links: " + " ".join(f"{link['port']} {link['state']}"
                                          for link in status["links"] if link["state"] != "up"))
        lines += [" ".join(f"{key} {m[key]}" for key in
                           ("host", "state", "epoch", "switches", "hosts", "cables", "fault",
                            "findings", "counters"))
                  for m in mapping["mappers"] if m["state"] not in ("listening", "standing-by")]
        followers = {}
        for agent in mapping["agents"]:
            followers.setdefault((agent["follows"], agent["epoch"], agent["paused"]), []).append(
                agent["device"])
        lines += [f"follow {key[0]}, epoch {key[1]}{', paused' if key[2] else ''}: "
                  + " ".join(devices) for key, devices in followers.items()]
        return "\n".join(lines + [mapping["why"]])

    def is_up(self):
        return self.status()["up"] and self.weft("status").returncode == 0

    def assert_up(self):
        if not self.is_up():
            raise AssertionError(f"the lab is not up\n{self.summary()}")

    def links(self):
        return {link["port"]: link["state"] for link in self.status()["links"]}

    def wait_links(self, condition):
        """Waits until the condition is true for {port: state}."""
        self.wait(lambda: condition(self.links()), "links are not so")

    def wait_up(self):
        """After this test has rejoined cables: waits until routes are as before."""
        self.wait(self.is_up, "the lab is not up again")

    def wait_parts(self, parts):
        """Waits until leading mappers have found that many switches and hosts."""
        def found():
            mappers = [m for m in self.status()["mapping"]["mappers"] if m["state"] == "leading"]
            return sorted((m["switches"], m["hosts"]) for m in mappers) == sorted(parts) and \
                not any(m["changing"] for m in mappers)
        self.wait(found, f"no mappers of {parts}")

    def delivered(self):
        return sum(nic["messages_delivered"] for nic in self.status()["nics"].values())

    def downs(self):
        """Returns how often each port's link has gone down."""
        return {link["port"]: link["link_downs"] for link in self.status()["links"]}

    def cut(self, *ports):
        for port in ports:
            self.must("link", port, "down")

    def join(self, *ports):
        for port in ports:
            self.must("link", port, "up")

    def pid_of(self, device):
        """Returns the id of the process that runs the device."""
        return self.pids.get(device) or next(iter(self.pids.values()))

    def kill(self, process):
        """Kills a process that runs one device and has its name."""
        os.kill(self.pids[process], signal.SIGKILL)

    def is_gone(self, process):
        return {p["name"]: p["state"] for p in self.status()["processes"]}[process] == "gone"

    def start_again(self, process):
        """Restarts a killed process, which may take a moment to end. The others must be the same as before; those
        that have also ended are not restarted."""
        others = {name: pid for name, pid in self.pids.items() if name != process}
        wait_ends([self.pids[process]])
        states = {p["name"]: p["state"] for p in self.status()["processes"]}
        gone = [name for name, state in states.items() if state == "gone"]
        self.must("up", "--wait", UP_WAIT, *([] if gone == [process] else ["--process", process]))
        self.note_pids()
        now = {name: pid for name, pid in self.pids.items() if name != process}
        alive = [pid for name, pid in now.items() if name not in gone]
        if now != others or not all(map(own_kind_of_process, alive)):
            raise AssertionError(f"beside {process}: {others} before, now {now}")

    def run(self, *more):
        """Returns the result."""
        path = os.path.join(self.folder, "result.json")
        self.must("run", "--json", path, *more)
        return json.loads(read(path))

    @contextlib.contextmanager
    def capture(self, path, ports, *words):
        """Starts 'weft lab capture' of the ports: its new file has an interface for each."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

        def has_interfaces(path):
            with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
                contents = file.read()
                return all(port.encode() in contents for port in ports)

        with Program([self.weft_tool, "lab", "capture", self.name, *(words or ports), "-o", path],
                     stderr=subprocess.PIPE, text=True) as program:
            wait_file(path, has_interfaces, program)
            yield program
        self.audit(path)

    def audit(self, *paths):
        """Checks that the lab kept its rules, as far as the captured ports can show."""
        done = subprocess.run([self.weft_tool, "audit", *paths, "--lab", self.name, "--partial"],
                              capture_output=True, text=True, timeout=HANG_SECONDS)
        if done.returncode != 0:
            raise AssertionError(f"audit of {paths}: {done.stdout}{done.stderr}")

    def leftovers(self):
        """Returns the remains of a lab on this machine that was not taken down cleanly."""
        left = [f"process {name}" for name, pid in self.pids.items() if own_kind_of_process(pid)]
        left += [path for path in (self.run_dir, f"{self.run_dir}.lock", self.memory) if os.path.exists(path)]
        for folder, prefix in (("/run/netns", f"weft-{self.name}"),
                               (f"{RUNTIME}/dpdk", f"weft-{self.name}-")):
            if os.path.isdir(folder):
                left += [f"{folder}/{n}" for n in os.listdir(folder) if n.startswith(prefix)]
        return left + self.sockets()

    def sockets(self):
        """Includes sockets of dead processes until the kernel has freed the descriptors passed over them, which it
        does not report."""
        deadline = time.monotonic() + HANG_SECONDS
        while (sockets := [line.split()[-1] for line in read("/proc/net/unix").splitlines() if self.run_dir in line]) \
                and time.monotonic() < deadline and not any(map(own_kind_of_process, self.pids.values())):
            os.sched_yield()
        return sockets

    def remove(self):
        for run in self.runs:
            if run.poll() is None:
                run.kill()
                run.wait()
        self.weft("down")
        shutil.rmtree(self.folder, ignore_errors=True)


class MappedTorus(Lab):
    """16 switches, 32 hosts, 64 cables: a torus of 4x4. Switch i has hosts 2i and 2i + 1. Six
    processes for two cores: 'upper' has the switches of rows 0 and 1, 'lower' those of rows 2 and 3
    but s15, which is alone in 's15'; their hosts are in 'uphosts' and 'lowhosts', but h1, which is the
    mapper before all others, is alone in 'h1'."""

    TOPOLOGY = "torus:dims=4x4,hosts=2"
    UPPER, LOWER = range(0, 16), range(16, 32)
    # Between row 1 and row 2, and between row 3 and row 0.
    SEAM = [f"s{s}:2" for s in (4, 5, 6, 7, 12, 13, 14, 15)]

    def __init__(self, weft_tool, tag, links, traffic, more=""):
        hosts = [f"h{i}" for i in range(32) if i != 1]
        groups = {"upper": [f"s{i}" for i in range(8)],
                  "lower": [f"s{i}" for i in range(8, 15)], "last": ["s15"],
                  "uphosts": hosts[:15], "lowhosts": hosts[15:], "mapper": ["h1"]}
        super().__init__(weft_tool, tag, f"""topology: "{self.TOPOLOGY}"
links: {links}
groups: {{{', '.join(f"{name}: [{', '.join(devices)}]" for name, devices in groups.items())}}}
seed: 1
dilation: 20
hello: 20ms
routing: {{algorithm: ud}}
nic: {{give-up: 60s}}
mapper: {{routes: mapper, mode: always, hosts: [h1], {MAPPER}}}
traffic: [{traffic}]
measure: {{duration: 2s}}
{more}""")
        self.processes = {"upper": "s0", "lower": "s8", "last": "s15", "uphosts": "h0",
                          "lowhosts": "h16", "mapper": "h1"}

    @staticmethod
    def traffic(*groups, load="0.1%"):
        """Returns uniform traffic within each group of host numbers."""
        lists = ["[" + ", ".join(f"h{i}" for i in group) + "]" for group in groups]
        return ", ".join(f"{{pattern: uniform, from: {names}, to: {names}, load: {load}, "
                         "message: 1KiB}" for names in lists)

    def mapping(self):
        return self.status()["mapping"]

    def leaders(self, mapping=None):
        mapping = mapping or self.mapping()
        return [m for m in mapping["mappers"] if m["state"] not in ("listening", "standing-by")]

    def leader(self):
        """Returns the mapper that leads the largest part, once it has finished; else None. Unconnected hosts lead
        themselves."""
        mapping = self.mapping()
        leader = max(self.leaders(mapping), key=lambda m: m["switches"], default=None)
        if leader is None or leader["state"] != "leading" or leader["changing"] or leader["fault"]:
            return None
        agents = [a for a in mapping["agents"] if a["follows"] == leader["host"]]
        done = len(agents) == leader["switches"] + leader["hosts"] and all(
            a["epoch"] > 0 and not a["paused"] and not a["tables_refused"] for a in agents)
        return leader if done else None

    def mapped(self, switches=16, hosts=32, cables=64, maps=0):
        """Returns the leading mapper if it has found that many devices, has computed routes more than 'maps' times,
        and all devices use them; else None."""
        leader = self.leader()
        found = leader and (leader["switches"], leader["hosts"], leader["cables"])
        return leader if found == (switches, hosts, cables) and \
            leader["counters"]["maps"] > maps else None

    def wait_map(self, switches=16, hosts=32, cables=64, maps=0):
        """Waits until mapped() is true."""
        return self.wait(lambda: self.mapped(switches, hosts, cables, maps),
                         f"no map of {switches} switches, {hosts} hosts, {cables} cables")

    def discovered(self):
        """Returns the output of 'weft lab map' in the format of 'weft topo show --json'."""
        path = os.path.join(self.folder, "map.yaml")
        done = self.weft("map", "-o", path)
        return shown(self.weft_tool, path), done


def shown(weft_tool, topology):
    done = subprocess.run([weft_tool, "topo", "show", topology, "--json"], text=True,
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def by_identity(topology):
    """A topology as sets of devices with their ports and of cables between named ports: equal if the two are
    isomorphic with the same names."""
    return ({(s["name"], s["ports"]) for s in topology["switches"]},
            {h["name"] for h in topology["hosts"]},
            {frozenset((link["a"], link["b"])) for link in topology["links"]})
