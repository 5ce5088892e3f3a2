#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A lab on three machines, brought up, used and taken down from one console over ssh. The machines are
network namespaces with an sshd each (ssh_machines.py), in a ring of veth pairs. Needs root and
openssh-server; says so and exits 77 otherwise.

usage: lab_ssh_test.py WEFT
"""
import json
import os
import signal
import subprocess
import sys
import unittest

import labs
import ssh_machines

WEFT = None
NAMES = "abc"

TOPOLOGY = """  weft: topology/1
  name: ring
  link: {rate: 10Gbps, delay: 30ns}
  switches: [{name: s0, ports: 3}, {name: s1, ports: 3}, {name: s2, ports: 3}]
  hosts: [{name: h0}, {name: h1}, {name: h2}]
  links: [{a: h0, b: s0:0}, {a: h1, b: s1:0}, {a: h2, b: s2:0},
          {a: s0:1, b: s1:2}, {a: s1:1, b: s2:2}, {a: s2:1, b: s0:2}]
"""


def device(number):
    return f"net_af_packet{number},iface=p{number}"


def machine(number, weft=None):
    name = NAMES[number]
    ports = ", ".join(f'{{port: s{number}:{port}, dpdk: "{device(port)}"}}' for port in (1, 2))
    return f"  - {{name: {name}, ssh: {name}, weft: {weft or WEFT}, devices: [s{number}, h{number}], ports: [{ports}]}}\n"


def lab_text(machines, load="0.05%"):
    # One core: the machines share this one's, and more loops than cores rest longer.
    return (f"weft: lab/1\nname: bench\nprocesses: each\ntopology:\n{TOPOLOGY}machines:\n{machines}"
            "dilation: 10\ncores: 1\nhello: 40ms\nnic: {retry: 50ms}\n"
            f"mapper: {{key: fabric.key, hosts: [h0, h1], {labs.MAPPER.replace('60ms', '150ms').replace('80ms', '200ms')}}}\n"
            f"traffic: [{{pattern: uniform, from: all, to: all, load: {load}, message: 1KiB}}]\n"
            "measure: {duration: 100ms}\n")

# URL METHOD PATH: the answer. URL events CONDITION: the first event of which that is true.
ASK = """
import http.client, json, sys
url, method, what = sys.argv[1:]
port, token = int(url.split(":")[2].split("/")[0]), url.split("#token=")[1]
connection = http.client.HTTPConnection("127.0.0.1", port, timeout=240)
if method != "events":
    connection.request(method, what, headers={"Weft-Token": token})
    print(connection.getresponse().read().decode())
    sys.exit()
connection.request("GET", "/events")
for line in connection.getresponse():
    if line.startswith(b"data: "):
        event = json.loads(line[6:])
        if eval(what, event):
            event.pop("__builtins__", None)
            print(json.dumps(event))
            break
"""


class Console(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bench = ssh_machines.Bench(NAMES, [("a", "p1", "b", "p2"), ("b", "p1", "c", "p2"), ("c", "p1", "a", "p2")])
        cls.addClassCleanup(cls.bench.remove)
        cls.file = cls.write("lab.yaml", lab_text("".join(map(machine, range(3)))))
        cls.write("fabric.key", 32 * "5e" + "\n")

    @classmethod
    def write(cls, name, text):
        with open(cls.bench.path(name), "w") as file:
            file.write(text)
        os.chmod(cls.bench.path(name), 0o600)
        return cls.bench.path(name)

    def start(self, *words, **more):
        return subprocess.Popen(self.bench.console(WEFT, "lab", *words), text=True, env=self.bench.environment() | more,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def weft(self, *words, **more):
        run = self.start(*words, **more)
        said = run.communicate(timeout=240)
        return run.returncode, *said

    def must(self, *words):
        code, out, err = self.weft(*words)
        self.assertEqual(code, 0, f"{words}: {out}{err}")
        return out

    @staticmethod
    def contents(path):
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError:
            return b""

    def status(self):
        return json.loads(self.weft("status", "bench", "--json")[1])

    def wait(self, condition, what):
        """Until condition(status) is true, which is looked at with each line of 'weft lab top'; the status."""
        look = lambda: condition(status := self.status()) and status
        if status := look():
            return status
        with self.start("top", "bench", "--json-lines", "--interval", "100ms") as top:
            try:
                return labs.wait_until(lambda: (top.stdout.readline(), look())[1], what)
            finally:
                top.kill()


class OneLab(Console):
    """The life of a lab, in order."""

    def test_1_up_starts_each_machines_part_and_waits_for_the_whole(self):
        said = self.must("up", self.file, "--wait", labs.UP_WAIT)
        self.assertRegex(said, r"\Alab bench is up on 3 of 3 machines after \d+ ms: 6 processes, 3 switches, 3 hosts, "
                         r"6 links\n")
        self.assertRegex(said, r"\n  b +b +s1, h1\n")

    def test_2_status_has_the_processes_of_all_machines(self):
        status = self.wait(lambda status: status["up"], "not up")
        self.assertEqual({(p["name"], p["machine"], p["state"]) for p in status["processes"]},
                         {(f"{kind}{i}", name, "running") for i, name in enumerate(NAMES) for kind in "sh"})
        self.assertEqual((len(status["links"]), status["elsewhere"]), (12, []))
        self.assertEqual(set(status["nics"]), {"h0", "h1", "h2"})
        self.assertIn(status["mapping"]["mapper"], ("h0", "h1"))

    def test_3_run_sends_on_all_machines_and_adds_up(self):
        path = self.bench.path("result.json")
        self.must("run", "bench", "--json", path)
        with open(path) as file:
            result = json.load(file)
        self.assertEqual([result["checks"][check] for check in ("lost", "duplicated", "out_of_order")], [0, 0, 0])
        self.assertGreater(result["messages"]["delivered"], 20)
        self.assertEqual(result["messages"]["delivered"], result["messages"]["injected"])
        self.assertEqual(result["elsewhere"], [])

    def test_4_a_capture_joins_the_ports_of_all_machines(self):
        path = self.bench.path("ports.pcapng")
        capture = self.start("capture", "bench", "s0:1", "s1:2", "h2:0", "-o", path)
        labs.wait_file(path, lambda path: all(name in self.contents(path) for name in (b"s0:1", b"s1:2", b"h2:0")), capture)
        capture.send_signal(signal.SIGINT)
        out, err = capture.communicate(timeout=240)
        self.assertEqual((capture.returncode, out), (0, ""), err)
        for port in ("s0:1", "s1:2", "h2:0"):
            self.assertRegex(err, rf"weft lab capture: {port}: \d+ frames captured, \d+ dropped\n")

    def test_5_link_cuts_both_ends_of_a_cable_between_machines(self):
        self.assertEqual(self.must("link", "bench", "s0:1", "down"), "s0:1 - s1:2 is cut\n")
        states = {link["port"]: link["state"] for link in self.status()["links"]}
        self.assertEqual((states["s0:1"], states["s1:2"], states["s2:0"]), ("cut", "cut", "up"))
        self.assertEqual(self.must("link", "bench", "s0:1", "up"), "s0:1 - s1:2 is joined\n")
        self.wait(lambda status: status["up"], "not up again")

    def test_6_set_and_route_and_map_reach_the_process_that_knows(self):
        self.assertRegex(self.must("set", "bench", "s0:1", "corrupt=1%"), r"(?m)^s1:2: .*\bcorrupt=1%( |$)")
        self.must("set", "bench", "s0:1", "reset")
        self.assertIn("h0 to h2: ", self.must("route", "bench", "h0", "h2"))
        document = json.loads(self.must("map", "bench", "--json"))
        self.assertEqual(document["differences"], [])

    def test_7_doctor_sends_full_size_frames_over_the_links_of_all_machines(self):
        document = json.loads(self.must("doctor", "bench", "--json"))
        results = {check["subject"]: check["result"] for check in document["checks"] if check["check"] == "path MTU"}
        self.assertEqual(results, {f"{port}": "ok" for i in range(3) for port in (f"h{i}:0", *(f"s{i}:{n}" for n in range(3)))})
        self.assertEqual([check["result"] for check in document["checks"] if check["check"] == "machines"], ["unknown"])

    def test_7_metrics_are_those_of_all_machines(self):
        said = self.must("metrics", "bench", "--once")
        for host in ("h0", "h1", "h2"):
            self.assertIn(f'host="{host}"', said)

    def start_web(self, *words, **more):
        """The page's address with its token."""
        web = self.start("web", *words, "--listen", "127.0.0.1:0", **more)
        self.addCleanup(web.communicate)
        self.addCleanup(web.terminate)
        return web.stdout.readline().strip()

    def ask(self, *words):
        """A request on the console, by ASK."""
        done = subprocess.run(self.bench.console(sys.executable, "-c", ASK, *words), text=True, timeout=240, check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        return json.loads(done.stdout)

    def test_7_top_shows_links_and_processes_of_all_machines(self):
        top = json.loads(self.must("top", "bench", "--once", "--json-lines"))
        self.assertTrue(top["up"])
        self.assertEqual(len(top["links"]), 12)
        self.assertEqual({process["name"] for process in top["processes"] if process["state"] == "running"},
                         {f"{kind}{i}" for i in range(3) for kind in "sh"})
        # An idle process may have used none since the last look.
        self.assertGreaterEqual(min(process["cpu"] for process in top["processes"]), 0)
        self.assertGreater(min(process["cpu_ns"] for process in self.status()["processes"]), 0)
        said = self.must("top", "bench", "--once")
        self.assertRegex(said, r"\Alab bench up  processes 6/6  link ends 12/12 ")

    def test_7_what_one_console_does_another_one_sees(self):
        os.makedirs(self.bench.path("run-second"), 0o700, exist_ok=True)
        second = {"RUNTIME_DIRECTORY": self.bench.path("run-second")}
        one, other = self.start_web("bench"), self.start_web(self.file, **second)
        number = 2 * next(i for i, link in enumerate(self.ask(one, "GET", "/topology")["links"]) if "s0:1" in str(link))
        self.assertEqual(self.ask(other, "events", f"all(str({number} + i) not in state for i in (0, 1))")["up"], True)
        self.assertEqual(self.ask(one, "POST", "/cable?port=s0:1&state=down"), {"port": "s0:1", "state": "cut"})
        cut = self.ask(other, "events", f"all(state.get(str({number} + i)) == 'cut' for i in (0, 1))")
        self.assertEqual((cut["up"], len(cut["processes"])), (False, 6))
        self.assertEqual({link["state"] for link in json.loads(
            self.must("top", "bench", "--once", "--json-lines"))["links"]}, {"cut", "up"})
        self.assertEqual(self.ask(other, "POST", "/cable?port=s0:1&state=up"), {"port": "s0:1", "state": "up"})
        self.ask(one, "events", "not state")
        self.wait(lambda status: status["up"], "not up again")
        run = self.start("run", self.file, "--duration", "60s", **second)
        # Runs of this console before it would keep the other one from its beginning.
        for machine in "abc":
            labs.wait_file(self.bench.path(f"run-{machine}/weft/bench/run.lock"),
                           lambda lock: os.path.exists(lock) and os.path.getsize(lock) > 0, run)
        said = self.weft("run", "bench", "--duration", "1ms")
        run.terminate()
        run.communicate(timeout=240)
        self.assertEqual(said[0], 2)
        self.assertRegex(said[2], r"\Aweft lab run: machine [abc]: .*: this lab is being sent traffic by process \d+\n")

    def test_7_logs_and_list_know_it(self):
        said = self.must("logs", "bench", "s0", "h2")
        self.assertEqual({line.split(":")[0] for line in said.splitlines()}, {"s0", "h2"})
        self.assertRegex(self.must("list"), rf"\nbench +elsewhere +10 +{self.file}\n\Z")
        code, out, err = self.weft("logs", "bench", "s9")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("weft lab logs: s9: no such switch or host in ", err)

    def on(self, machine, part, *words):
        """A command for its part of the lab, on that machine."""
        done = subprocess.run(["ip", "netns", "exec", self.bench.netns(machine), WEFT, "lab", part, "bench", *words], text=True,
                              env=os.environ | {"RUNTIME_DIRECTORY": self.bench.runtime(machine)}, timeout=240,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout, done.stderr

    def pids(self):
        return {process["name"]: process["pid"] for process in self.status()["processes"]}

    def test_7_restart_on_a_machine_restarts_its_process_and_no_other(self):
        for words in ((), ("--machine", "b")):
            before = self.pids()
            code, out, err = self.on("b", "restart", "s1", *words)
            self.assertEqual(code, 0, err)
            self.assertRegex(out, r"\Alab bench: ended processes are running again after \d+ ms\n\Z")
            after = self.pids()
            self.assertEqual({name for name in before if before[name] != after[name]}, {"s1"})
            self.wait(lambda status: status["up"], "not up again")
        path = self.bench.path("restarted.json")
        self.must("run", "bench", "--duration", "50ms", "--json", path)
        with open(path) as file:
            self.assertEqual(json.load(file)["changes"]["restarts"], [{"process": "s1", "times": 2}])

    def test_7_clear_on_a_machine_clears_its_counters_and_no_others(self):
        self.must("run", "bench", "--duration", "50ms")
        received = lambda status: {host: nic["messages_delivered"] for host, nic in status["nics"].items()}
        self.assertEqual(self.on("b", "clear", "--machine", "b"), (0, "bench: counters reset to 0\n", ""))
        here = json.loads(self.on("b", "status", "--machine", "b", "--json")[1])
        self.assertEqual(received(here), {"h1": 0})
        others = json.loads(self.on("c", "status", "--machine", "c", "--json")[1])
        self.assertGreater(received(others)["h2"], 0)

    def test_7_restart_and_clear_refuse_what_is_not_on_this_machine(self):
        before = self.pids()
        for part, words in (("restart", ["s1"]), ("clear", [])):
            code, out, err = self.weft(part, "bench", *words)
            self.assertEqual((code, out), (2, ""))
            self.assertIn("runs on several machines; run this command on one of them, with --machine NAME\n", err)
        for words, why in ((("s0",), "s0 is not running on this machine"), (("s1", "h9"), "h9: no such switch or host")):
            code, out, err = self.on("b", "restart", *words, "--machine", "b")
            self.assertEqual((code, out), (2, ""))
            self.assertIn(why, err)
        self.assertEqual(self.pids(), before)

    def test_8_a_file_that_has_changed_is_refused(self):
        code, out, err = self.weft("up", self.write("lab2.yaml", lab_text("".join(map(machine, range(3))), "0.1%")))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("lab bench was started with a different file: traffic.0.load", err)

    def test_9_a_machine_that_dies_is_said_and_up_brings_it_back(self):
        self.bench.die("c")
        status = self.wait(lambda status: {p["machine"]: p["state"] for p in status["processes"]}["c"] != "running",
                           "nobody misses it")
        self.assertEqual({p["name"] for p in status["processes"] if p["state"] != "running"}, {"s2", "h2"})
        self.assertEqual({p["state"] for p in status["processes"] if p["machine"] == "c"}, {"unreachable"})
        code, out, err = self.weft("up", self.file)
        self.assertEqual(code, 3, err)
        self.assertRegex(out, r"\Alab bench is up on 2 of 3 machines ")
        self.assertRegex(err, r"weft lab up: machine c \(c\): .*: .*\?.*\n")
        self.bench.start("c")
        said = self.must("up", self.file, "--wait", labs.UP_WAIT)
        self.assertRegex(said, r"\Alab bench is up on 3 of 3 machines ")

    def test_a_down_leaves_nothing(self):
        self.assertEqual(self.must("down", "--all"), "bench down on 3 of 3 machines\n")
        self.assertEqual(self.bench.left(), [])
        self.assertEqual(self.weft("status", self.file)[0], 1)
        for name in NAMES:
            commands = {self.contents(f"/proc/{pid}/comm").strip() for pid in self.bench.processes(name)}
            self.assertEqual(commands - {b"sshd", b""}, set())


class FullDisk(Console):
    def test_commands_name_the_machine_whose_disk_is_full_and_work_when_there_is_space_again(self):
        place = self.bench.runtime("b")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m,mode=700", "full", place], check=True)
        self.addCleanup(self.bench.restart, "b")
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=True)
        self.bench.restart("b")
        # Only a mapper on b: another one would answer 'map'.
        text = lab_text("".join(map(machine, range(3)))).replace("hosts: [h0, h1]", "hosts: [h1]")
        self.must("up", self.write("mapped-by-b.yaml", text), "--wait", labs.UP_WAIT)
        self.addCleanup(self.must, "down", "bench")
        path = os.path.join(place, "filler")
        with open(path, "wb", buffering=0) as file, self.assertRaisesRegex(OSError, "No space left"):
            while True:
                file.write(bytes(1 << 16))
        for words in (("run", "bench"), ("map", "bench"), ("route", "bench", "h1", "h2")):
            code, out, err = self.weft(*words)
            self.assertEqual((code, out), (3, ""), err)
            self.assertRegex(err, rf"(?m)^weft lab {words[0]}: machine b: no space left in {place}/\S+ for the answer of \S+ "
                             r"to 'mapper status'$")
        for words in (("status", "bench"), ("logs", "bench"), ("set", "bench", "s0:1", "corrupt=1%"), ("link", "bench", "s0:1", "down"),
                      ("link", "bench", "s0:1", "up"), ("set", "bench", "s0:1", "reset")):
            code, out, err = self.weft(*words)
            self.assertEqual((code, err), (1 if words[0] == "status" else 0, ""), words)
            self.assertEqual("no space left" in out, words[0] == "status", out)
        os.unlink(path)
        self.wait(lambda status: status["up"], "not up")
        self.must("run", "bench")


class Refused(Console):
    """One line, what to do, exit 2 or 3."""

    def refused(self, text, code, pattern, **more):
        got, out, err = self.weft("up", self.write("bad.yaml", text), **more)
        self.assertEqual((got, out), (code, ""), err)
        self.assertRegex(err.splitlines()[0], pattern)
        self.assertEqual(self.bench.left(), [])

    def test_a_machine_without_weft(self):
        text = lab_text("".join(machine(i, "/no/such/weft") for i in range(3)))
        self.refused(text, 3, r"\Aweft lab up: machine a \(a\): cannot run '/no/such/weft' there; install the package")

    def test_a_host_key_that_is_not_known(self):
        self.bench.configure(known=[])
        self.addCleanup(self.bench.configure)
        self.refused(lab_text("".join(map(machine, range(3)))), 3,
                     r"\Aweft lab up: machine a \(a\): the host key is unknown here: log in once by hand")

    def test_a_host_key_that_is_another_one(self):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.bench.path("other")], check=True)
        key = " ".join(self.contents(self.bench.path("other.pub")).decode().split()[:2])
        self.write("known", "".join(f"{name} {key}\n" for name in NAMES))
        self.addCleanup(self.bench.configure)
        self.refused(lab_text("".join(map(machine, range(3)))), 3,
                     r"\Aweft lab up: machine a \(a\): the host key has changed: .*'ssh-keygen -R ADDRESS'")

    def test_a_users_key_that_is_refused(self):
        keys = self.contents(self.bench.path("authorized")).decode()
        self.write("authorized", "")
        self.addCleanup(self.write, "authorized", keys)
        self.refused(lab_text("".join(map(machine, range(3)))), 3,
                     r"\Aweft lab up: machine a \(a\): the machine refused this user's keys: install a key with 'ssh-copy-id'")

    def test_an_address_that_nobody_has(self):
        text = lab_text("".join(machine(i).replace(f"ssh: {name},", f"ssh: root@{name}.invalid,")
                                for i, name in enumerate(NAMES)))
        self.refused(text, 3, r"\Aweft lab up: machine a \(root@a\.invalid\): the name cannot be resolved: is the address correct\?")

    def test_a_machine_whose_disk_is_full(self):
        place = self.bench.runtime("b")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k,mode=700", "full", place], check=True)
        self.addCleanup(self.bench.restart, "b")
        self.addCleanup(subprocess.run, ["umount", place], check=True)
        self.bench.restart("b")
        got, out, err = self.weft("up", self.write("bad.yaml", lab_text("".join(map(machine, range(3))))), "--wait", "2s")
        self.must("down", "bench")
        self.assertEqual(got, 3, err)
        self.assertRegex(err, r"(?m)^weft lab up: machine b: .*: No space left on device$")

    def test_a_machine_that_has_another_version(self):
        old = self.write("old-weft", "#!/bin/sh\nread line\necho '{\"error\": \"weft is version 0.0.1 there and 0.1.0 here: install the same version on both\", \"errno\": 95}'\n")
        os.chmod(old, 0o700)
        self.refused(lab_text("".join(machine(i, old) for i in range(3))), 3,
                     r"\Aweft lab up: machine a \(a\): weft is version 0\.0\.1 there")

    def test_an_unknown_machine(self):
        code, out, err = self.weft("up", self.file, "--machine", "z")
        self.assertEqual((code, out), (2, ""))
        self.assertRegex(err, r"\Aweft lab up: --machine z: no such machine in .*lab.yaml\n\Z")

    def test_processes_are_not_chosen_over_ssh(self):
        code, _, err = self.weft("up", self.file, "--process", "s0")
        self.assertEqual(code, 2)
        self.assertRegex(err, "the lab file has 'machines'; use --machine NAME with --process")


if __name__ == "__main__":
    labs.main(__doc__, need=ssh_machines.need_machines)
