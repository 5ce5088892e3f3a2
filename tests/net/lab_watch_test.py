#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A lab as people and programs see it: status, top, metrics.

usage: lab_watch_test.py WEFT DASHBOARD [CASE...]"""
import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import labs

WEFT = DASHBOARD = None
LAB = """topology: topology.yaml
seed: 1
dilation: 20
mapper: {key: fabric.key, """ + labs.MAPPER + """}
traffic: [{pattern: uniform, from: all, load: 10%, message: 1KiB}]
measure: {duration: 20ms, sample: 2ms}
"""


def text_of(done):
    return done.stdout + done.stderr


class Case(unittest.TestCase):
    """One lab of each form for all cases: they only look at it, or put back what they change."""
    form = "each"
    up = {}

    @classmethod
    def setUpClass(cls):
        if cls.form not in cls.up:
            cls.up[cls.form] = labs.Lab(WEFT, f"w{cls.form}", LAB, labs.two_switches(), cls.form)
            unittest.addModuleCleanup(cls.up[cls.form].remove)
            cls.up[cls.form].up()
            cls.up[cls.form].must("run")
        cls.lab = cls.up[cls.form]

    def cut(self, port):
        self.lab.cut(port)
        self.addCleanup(self.lab.wait_links, lambda links: set(links.values()) == {"up"})
        self.addCleanup(self.lab.join, port)

    def assert_fits(self, text):
        self.assertEqual([line for line in text.splitlines() if len(line) > 80], [])
        self.assertGreater(len(text.splitlines()), 5)


class Status(Case):
    def test_it_fits_80_columns_and_names_what_is_wrong_first(self):
        self.cut("s0:2")
        self.lab.wait_links(lambda links: links["s1:2"] == "cut")
        said = self.lab.weft("status").stdout
        self.assert_fits(said)
        lines = said.splitlines()
        self.assertRegex(lines[0], rf"^lab {self.lab.name} is not all up: 3 of 3 processes, "
                         r"\d+ of 12 link ends$")
        self.assertIn("  link s0:2 - s1:2 is cut", lines[1:5])

    def test_a_process_without_cpu_is_named_when_links_go_down(self):
        stopped = self.lab.pid_of("s1")
        self.addCleanup(self.lab.wait_links, lambda links: set(links.values()) == {"up"})
        self.addCleanup(os.kill, stopped, signal.SIGCONT)
        os.kill(stopped, signal.SIGSTOP)
        self.lab.wait_links(lambda links: links["s0:2"] == "down")
        os.kill(stopped, signal.SIGCONT)
        self.lab.wait_links(lambda links: set(links.values()) == {"up"})
        said = self.lab.weft("status").stdout
        self.assert_fits(said)
        self.assertRegex(said, r"(?m)^  CPU starved: s1's loop stalled for \d+ ms, ")
        self.assertRegex(self.lab.must("top", "--once"), r"(?m)^CPU starved: s1's loop stalled for \d+ ms; ")

    def test_deadlock_is_an_empty_list_if_there_is_none_and_null_if_it_is_not_known(self):
        self.assertEqual(self.lab.status()["deadlock"], [])
        self.cut("s0:2")
        self.lab.wait_links(lambda links: links["s1:2"] == "cut")
        self.assertIsNone(self.lab.status()["deadlock"])

    def test_wide_has_every_counter_that_is_not_zero(self):
        said, status = self.lab.weft("status", "--wide").stdout, self.lab.status()
        for sort in ("switches", "nics"):
            for device, counters in status[sort].items():
                line = re.search(rf"^{device}: (.*)$", said, re.M).group(1)
                self.assertEqual([name for name, value in counters.items() if value and f"{name} " not in line],
                                 [], device)


class Whole(Case):
    form = "one"

    def starve(self):
        process = self.lab.pid_of("s0")
        os.kill(process, signal.SIGSTOP)
        try:
            self.lab.status() # waits for an answer, longer than three hellos
        finally:
            os.kill(process, signal.SIGCONT)

    def assert_not_blamed(self):
        status = self.lab.status()
        ends = {link["port"]: (link["link_downs"], link["link_downs_ordered"]) for link in status["links"]}
        self.assertGreater(ends["s0:2"][1], 0)
        self.assertEqual(status["starved"], "", ends)

    def wait_down(self, *ends):
        """Both: one that is joined before it has noticed falls by itself."""
        downs = self.lab.downs()
        self.cut(ends[0])
        self.lab.wait(lambda: all(self.lab.downs()[end] > downs[end] for end in ends), "it does not go down")

    def test_a_run_does_not_blame_want_of_cpu_for_a_cable_that_was_cut(self):
        traffic = labs.Traffic(self.lab, "100s")
        traffic.wait_flow()
        self.starve()
        self.wait_down("s0:2", "s1:2")
        self.lab.join("s0:2")
        self.lab.wait_links(lambda links: set(links.values()) == {"up"})
        traffic.stop()
        _, result, said = traffic.finish()
        counters = result["counters"]
        self.assertGreater(result["wall"]["stall_ns"], 100e6)
        self.assertGreater(counters["link_downs_ordered"], 0)
        self.assertNotIn("CPU starved", said)

    def test_want_of_cpu_is_not_blamed_for_a_cable_that_is_cut(self):
        self.starve()
        away = max(loop["loop_stall_ns"] for loop in self.lab.status()["loops"].values())
        self.assertGreater(away, 100e6)
        self.wait_down("s0:2", "s1:2")
        self.lab.wait_links(lambda links: links["s1:2"] == "cut")
        self.assert_not_blamed()

    def test_want_of_cpu_is_not_blamed_for_a_cable_that_was_cut(self):
        self.starve()
        self.wait_down("s0:2", "s1:2")
        self.lab.join("s0:2")
        self.lab.wait_links(lambda links: set(links.values()) == {"up"})
        self.assert_not_blamed()


class Top(Case):
    def line(self):
        return json.loads(self.lab.must("top", "--once", "--json-lines"))

    def test_it_shows_the_rates_of_links_and_hosts_in_80_columns(self):
        traffic = labs.Traffic(self.lab, "60s")
        traffic.wait_flow()
        said = self.lab.must("top", "--once")
        line = self.line()
        traffic.stop()
        traffic.finish()
        self.assert_fits(said)
        self.assertNotIn("\033", said)
        self.assertRegex(said, r"(?m)^h0:0 > s0:0 +\d+ [kM]bps +\d")
        links = {link["from"]: link for link in line["links"]}
        self.assertEqual(len(links), 12)
        # 2 % of 1 Gbps, and what a frame has beside its payload.
        self.assertGreater(links["h0:0"]["utilisation"], 0.001)
        self.assertAlmostEqual(links["h0:0"]["rate_bps"] / 1e9, links["h0:0"]["utilisation"])
        self.assertIsNone(links["h0:0"]["blocked"])
        self.assertEqual({0 <= links[port]["vc_fill"] <= 1 for port in ("h0:0", "s0:2", "s0:3")}, {True})
        self.assertGreater(sum(host["received_per_s"] for host in line["hosts"]), 0)
        self.assertGreater(sum(process["cpu"] for process in line["processes"]), 0)
        self.assertGreater(line["processes"][0]["stall_ns"], 0)
        self.assertTrue(line["mapper"]["done"])

    def test_ctrl_c_ends_it_when_its_reader_does_not_read(self):
        ours, its = os.pipe()
        self.addCleanup(os.close, ours)
        room = fcntl.fcntl(its, fcntl.F_SETPIPE_SZ, 4096)
        with labs.Program([WEFT, "lab", "top", self.lab.name, "--json-lines", "--interval", "100ms"], stdout=its) as top:
            os.set_blocking(its, False)
            os.write(its, room * b" ")
            os.set_blocking(its, True)
            os.close(its)
            self.lab.wait(lambda: self.is_writing(top.pid), "it does not write")
            self.lab.wait(lambda: top.send_signal(signal.SIGINT) or top.poll() is not None, "it does not end")
        self.assertEqual(top.returncode, 0)

    @staticmethod
    def is_writing(pid):
        with open(f"/proc/{pid}/wchan") as file:
            return "pipe_write" in file.read()

    def test_a_link_that_is_cut_stands_before_the_others(self):
        self.cut("s1:3")
        self.lab.wait_links(lambda links: links["s0:3"] == "cut")
        first = self.line()["links"][:2]
        self.assertEqual({(link["from"], link["state"]) for link in first}, {("s0:3", "cut"), ("s1:3", "cut")})

    def test_colours_are_for_terminals_and_the_screen_is_put_back(self):
        master, slave = pty.openpty()
        with labs.Program([WEFT, "lab", "top", self.lab.name, "--interval", "100ms"],
                          stdin=slave, stdout=slave, stderr=slave) as top:
            os.close(slave)
            said = b""
            while said.count(b"PROCESS") < 2:
                said += os.read(master, 65536)
            top.terminate()
            try:
                while more := os.read(master, 65536):
                    said += more
            except OSError:
                pass
        os.close(master)
        self.assertEqual(top.returncode, 0)
        self.assertEqual(said[:8], b"\033[?1049h")
        self.assertIn(b"\033[1mLINK", said)
        self.assertTrue(said.endswith(b"\033[?1049l"))


class Outputs(Case):
    def test_a_full_disk_behind_standard_output_is_said_at_once(self):
        for words in (("top", "--once"), ("top", "--json-lines"), ("status",), ("metrics", "--once"),
                      ("metrics", "--listen", "127.0.0.1:0"), ("web", "--listen", "127.0.0.1:0")):
            with open("/dev/full", "w") as full:
                done = subprocess.run([WEFT, "lab", words[0], self.lab.name, *words[1:]], stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=labs.HANG_SECONDS)
            self.assertEqual(done.returncode, 3, words)
            self.assertRegex(done.stderr, r"\Aweft lab.*: standard output: cannot be written", words)


class Metrics(Case):
    def serve(self):
        server = subprocess.Popen([WEFT, "lab", "metrics", self.lab.name, "--listen", "127.0.0.1:0"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(server.communicate)
        self.addCleanup(server.terminate)
        return server, server.stdout.readline().strip()

    def test_promtool_finds_nothing_to_complain_of(self):
        if shutil.which("promtool") is None:
            self.skipTest("promtool is not installed (prometheus)")
        metrics = self.lab.must("metrics", "--once", "--text")
        done = subprocess.run(["promtool", "check", "metrics"], input=metrics, text=True, capture_output=True)
        self.assertEqual((done.returncode, text_of(done)), (0, ""))

    def test_every_family_has_help_type_and_the_unit_of_its_name(self):
        metrics = self.lab.must("metrics", "--once")
        self.assertTrue(metrics.endswith("\n# EOF\n"))
        types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", metrics, re.M))
        self.assertEqual(sorted(types), sorted(re.findall(r"^# HELP (\S+) \S", metrics, re.M)))
        self.assertEqual(len(types), metrics.count("# TYPE"))
        for family, unit in re.findall(r"^# UNIT (\S+) (\S+)$", metrics, re.M):
            self.assertTrue(family.endswith(f"_{unit}"), family)
        of, last, closed = None, None, set()
        for line in metrics.splitlines():
            if line.startswith("# TYPE"):
                closed.add(last)
                last = of = line.split()[2]
                self.assertNotIn(of, closed)
            elif not line.startswith("#"):
                self.assertEqual(line.split("{")[0], of + ("_total" if types[of] == "counter" else ""))

    def test_values_are_those_of_status(self):
        status, metrics = self.lab.status(), self.lab.must("metrics", "--once")
        values = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if not line.startswith("#"))
        peers = {link["port"]: link["peer"] for link in status["links"]}
        for port, counters in status["ports"].items():
            labels = f'lab="{self.lab.name}",port="{port}",device="{port.split(":")[0]}",peer="{peers[port]}"'
            self.assertEqual(int(values[f"weft_port_data_out_frames_total{{{labels}}}"]), counters["data_out"])
            self.assertIn(f'weft_port_stored_vc_blocks{{{labels},vc="0"}}', values)
            self.assertEqual(float(values[f"weft_link_rate_bytes_per_second{{{labels}}}"]), 125e6)
        for host, counters in status["nics"].items():
            labels = f'lab="{self.lab.name}",host="{host}"'
            self.assertGreater(counters["messages_delivered"], 0)
            self.assertEqual(int(values[f"weft_host_delivered_messages_total{{{labels}}}"]),
                             counters["messages_delivered"])
            self.assertAlmostEqual(float(values[f"weft_host_network_latency_p50_seconds{{{labels}}}"]),
                                   counters["network_latency_p50_ns"] / 1e9)

    def test_a_prometheus_scrapes_them(self):
        if shutil.which("prometheus") is None:
            self.skipTest("prometheus is not installed")
        _, url = self.serve()
        folder = tempfile.mkdtemp(prefix="weft-prometheus-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(f"{folder}/prometheus.yml", "w") as file:
            file.write(f"scrape_configs: [{{job_name: weft, scrape_interval: 1s, scrape_timeout: 1s, "
                       f"static_configs: [{{targets: ['{url.split('/')[2]}']}}]}}]\n")
        with open(f"{folder}/log", "w") as log:
            prometheus = subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
        self.addCleanup(prometheus.wait)
        self.addCleanup(prometheus.terminate)

        def ask(query):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{query}", timeout=labs.HANG_SECONDS) as reply:
                    return json.load(reply)["data"]
            except OSError:
                return {}
        found = self.lab.wait(lambda: ask("query?query=weft_port_data_out_frames_total").get("result"),
                              "Prometheus has scraped nothing")
        self.assertEqual({int(sample["value"][1]) for sample in found},
                         {counters["data_out"] for counters in self.lab.status()["ports"].values()})
        # A busy machine may not answer one scrape in time.
        self.lab.wait(lambda: ask("targets").get("activeTargets", [{}])[0].get("health") == "up", "not up")
        # The unit is known only if it was scraped as OpenMetrics.
        self.assertEqual(ask("metadata?metric=weft_port_out_bytes")["weft_port_out_bytes"][0]["unit"], "bytes")

    def test_another_user_with_many_slow_requests_does_not_stop_scrapes(self):
        _, url = self.serve()
        host, port = url.split("/")[2].split(":")
        os.seteuid(65534)
        try:
            slow = [socket.socket() for _ in range(100)]
        finally:
            os.seteuid(0)
        for connection in slow:
            self.addCleanup(connection.close)
            connection.connect((host, int(port)))
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"G")
        with urllib.request.urlopen(url, timeout=labs.HANG_SECONDS) as reply:
            self.assertIn(b"weft_lab_up", reply.read())

    def test_another_name_is_refused(self):
        _, url = self.serve()
        with self.assertRaises(urllib.error.HTTPError) as seen:
            urllib.request.urlopen(urllib.request.Request(url, headers={"Host": "example.com"}), timeout=labs.HANG_SECONDS)
        self.assertEqual(seen.exception.code, 403)
        seen.exception.close()

    def test_only_gets_of_metrics_are_answered(self):
        _, url = self.serve()
        for request, code in ((urllib.request.Request(url, data=b"x"), 405),
                              (urllib.request.Request(url + "x"), 404)):
            with self.assertRaises(urllib.error.HTTPError) as seen:
                urllib.request.urlopen(request, timeout=labs.HANG_SECONDS)
            self.assertEqual(seen.exception.code, code)
            seen.exception.close()

    def test_an_address_that_is_none_is_refused(self):
        for address in ("9464", "nowhere.invalid:9464", "127.0.0.1:"):
            done = self.lab.weft("metrics", "--listen", address)
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"weft lab metrics: --listen {address}: expected ADDRESS:PORT, such as "
                                 "127.0.0.1:9464\n"))

    def test_the_dashboard_asks_only_for_metrics_that_there_are(self):
        with open(DASHBOARD) as file:
            dashboard = json.load(file)
        metrics = self.lab.must("metrics", "--once")
        names = set(re.findall(r"^(weft_\w+)\{", metrics, re.M))
        asked = set()
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                found = re.findall(r"\b(weft_\w+)\{", target["expr"])
                asked.update(found)
                for pattern in re.findall(r'__name__=~"([^"]*)"', target["expr"]):
                    self.assertTrue(any(re.fullmatch(pattern, name) for name in names), pattern)
                    found.append(pattern)
                self.assertNotEqual(found, [], target["expr"])
        self.assertEqual(sorted(asked - names), [])

    def test_it_ends_when_another_lab_takes_the_name_and_with_the_lab(self):
        lab = labs.Lab(WEFT, "v", LAB, labs.two_switches())
        self.addCleanup(lab.remove)
        lab.up()
        for part, *more in (("up", "--restart"), ("down",)):
            with labs.Program([WEFT, "lab", "metrics", lab.name, "--listen", "127.0.0.1:0"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
                server.stdout.readline()
                lab.must(part, *more)
                said = server.communicate(timeout=labs.HANG_SECONDS)[1]
            self.assertEqual((server.returncode, said), (1, f"weft lab metrics: lab {lab.name} is no longer up\n"), part)


if __name__ == "__main__":
    labs.main(__doc__, names=("WEFT", "DASHBOARD"))
