#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The server of 'weft lab web': events, orders, and whom it refuses.

usage: lab_web_test.py WEFT [CASE...]"""
import json
import contextlib
import os
import re
import socket
import subprocess
import unittest

import labs
import web_labs

WEFT = None
WIRE_OVERHEAD = 24 # bytes a frame takes on the wire beside its own


class Case(unittest.TestCase):
    """One lab for all cases: they put back what they change."""

    @classmethod
    def setUpClass(cls):
        cls.lab = web_labs.make_lab(WEFT, "web")
        cls.addClassCleanup(cls.lab.remove)
        cls.lab.up()

    def web(self, *more):
        web = web_labs.Web(WEFT, self.lab, *more)
        self.addCleanup(web.end)
        return web

    def topology(self, web):
        return web_labs.json.loads(web.ask("GET", "/topology")[2])


class Refusing(Case):
    def test_every_answer_forbids_foreign_contents(self):
        web = self.web()
        for path in ("/", "/page.js", "/page.css", "/topology", "/nothing"):
            policy = web.ask("GET", path)[1]["Content-Security-Policy"]
            self.assertTrue(policy.startswith("default-src 'none';"), path)
            self.assertNotIn("unsafe", policy)

    def test_the_page_has_the_packets_of_a_file_of_weft_why_or_none(self):
        self.assertEqual(self.web().ask("GET", "/why")[2], "null")
        why = {"weft": "why/1", "packets": [{"source": "h0", "parts": []}], "causes": []}
        path = os.path.join(self.lab.folder, "why.json")
        with open(path, "w") as file:
            json.dump(why, file)
        self.assertEqual(json.loads(self.web("--why", path).ask("GET", "/why")[2]), why)

    def test_the_page_loads_only_files_that_the_server_has(self):
        web = self.web()
        seen, wanted = set(), {"/"}
        while wanted - seen:
            path = (wanted - seen).pop()
            seen.add(path)
            status, _, text = web.ask("GET", path)
            self.assertEqual(status, 200, path)
            self.assertNotRegex(text.replace("http://www.w3.org/2000/svg", ""), r"https?://|src=\"//|url\(")
            wanted |= {"/" + name for name in re.findall(r'(?:src|href)="([^"]+)"|from "\./([^"]+)"', text)
                       for name in name if name}
        self.assertIn("/draw.js", seen)

    def test_a_foreign_host_is_refused_everywhere(self):
        web = self.web()
        for host in ("evil.example", f"evil.example:{web.port}", "127.0.0.1", f"127.0.0.1:{web.port}.evil.example",
                     "", None):
            for path in ("/", "/topology", "/events"):
                self.assertEqual(web.ask("GET", path, Host=host)[0], 403, host)
        self.assertEqual(web.ask("GET", "/", Host=f"localhost:{web.port}")[0], 200)

    def test_a_foreign_origin_is_refused_everywhere(self):
        web = self.web()
        for origin in ("http://evil.example", f"https://127.0.0.1:{web.port}", "null",
                       f"http://127.0.0.1:{web.port}.evil.example"):
            for path in ("/", "/topology", "/events"):
                self.assertEqual(web.ask("GET", path, Origin=origin)[0], 403, origin)
            self.assertEqual(web.ask("POST", "/cable?port=s0:2&state=down", Origin=origin, Weft_Token=web.token)[0],
                             403, origin)
        self.assertEqual(self.lab.links()["s0:2"], "up")
        self.assertEqual(web.ask("GET", "/", Origin=f"http://127.0.0.1:{web.port}")[0], 200)

    def test_a_change_without_the_token_is_refused(self):
        web = self.web()
        wrong = web.token[:-1] + ("0" if web.token[-1] != "0" else "1")
        for headers in ({}, {"Weft_Token": ""}, {"Weft_Token": wrong}, {"Weft_Token": web.token[:-1]}):
            self.assertEqual(web.ask("POST", "/cable?port=s0:2&state=down", **headers)[0], 403, headers)
        self.assertEqual(web.ask("GET", "/cable?port=s0:2&state=down", Weft_Token=web.token)[0], 404)
        self.assertEqual(self.lab.links()["s0:2"], "up")

    def test_each_server_has_another_token(self):
        self.assertNotEqual(self.web().token, self.web().token)

    def test_a_wrong_order_is_refused_with_the_reason(self):
        web = self.web()
        status, _, text = web.ask("POST", "/cable?port=s9:2&state=down", Weft_Token=web.token)
        self.assertEqual(status, 400)
        self.assertIn("s9:2: no such cable", text)
        for question in ("", "?port=s0:2", "?port=s0:2&state=cut", "?state=down"):
            self.assertEqual(web.ask("POST", "/cable" + question, Weft_Token=web.token)[0], 400, question)

    def test_only_addresses_of_this_machine_are_accepted(self):
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:9465", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536", ":1"):
            done = self.lab.weft("web", "--listen", address)
            self.assertEqual(done.returncode, 2, address)
            self.assertIn(f"--listen {address}: expected a loopback address and a port", done.stderr)

    def test_a_port_in_use_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            address = f"127.0.0.1:{other.getsockname()[1]}"
            done = self.lab.weft("web", "--listen", address)
        self.assertEqual((done.returncode, done.stderr),
                         (3, f"weft lab web: --listen {address}: Address already in use\n"))


class Events(Case):
    def states(self, topology, event):
        """{port: state} of an event; None: unknown."""
        return {link[side]: None if event["utilisation"][2 * i + side] is None
                else event["state"].get(str(2 * i + side), "up")
                for i, link in enumerate(topology["links"]) for side in (0, 1)}

    def wait_event(self, events, condition):
        for _ in range(100):
            if condition(event := next(events)[1]):
                return event
        raise AssertionError("not so in 100 events")

    def test_events_agree_with_status(self):
        web = self.web()
        topology = self.topology(web)
        events = web.events()
        self.lab.cut("s0:3")
        try:
            event = self.wait_event(events, lambda e: self.states(topology, e)["s0:3"] == "cut" and e["mapper"]["done"])
            status = self.lab.status()
            self.assertEqual(self.states(topology, event), {link["port"]: link["state"] for link in status["links"]})
            self.assertEqual(event["up"], status["up"])
            self.assertEqual(event["mapper"]["host"], status["mapping"]["mapper"])
            self.assertEqual(event["mapper"]["epoch"], status["mapping"]["mapper_epoch"])
            self.assertEqual({p["name"]: p["state"] for p in event["processes"]},
                             {p["name"]: p["state"] for p in status["processes"]})
        finally:
            self.lab.join("s0:3")
        self.wait_event(events, lambda e: self.states(topology, e)["s0:3"] == "up" and e["up"])

    def sent_in_run(self, topology, events, port):
        """Bytes on the wire that the events of one run tell of, and the growth of the port's counters."""
        way = next(2 * i + link.index(port) for i, link in enumerate(topology["links"]) if port in link)
        first = last = next(events)[0]
        read = 0
        before = self.lab.status()["ports"][port]
        run = subprocess.Popen([WEFT, "lab", "run", self.lab.file], stdout=subprocess.DEVNULL)
        self.addCleanup(run.wait)
        sent, quiet = 0, 0
        while run.poll() is None or quiet < 3:
            last, event = next(events)
            read += 1
            rate = event["utilisation"][way] * topology["links"][way // 2][2]
            sent += rate * event["seconds"] / 8
            quiet = quiet + 1 if run.poll() is not None and rate == 0 else 0
        after = self.lab.status()["ports"][port]
        self.assertEqual(last - first, read)  # a viewer that is late would miss some
        return sent, {name: after[name] - before[name] for name in ("bytes_out", "data_out")}

    def test_rates_add_up_to_the_counters_of_ports(self):
        web = self.web("--interval", "500ms")
        sent, grown = self.sent_in_run(self.topology(web), web.events(), "s0:2")
        self.assertGreater(grown["data_out"], 10)
        expected = grown["bytes_out"] + grown["data_out"] * WIRE_OVERHEAD
        self.assertAlmostEqual(sent, expected, delta=0.001 * expected)

    def test_a_cut_by_post_shows_in_the_events(self):
        web = self.web()
        topology = self.topology(web)
        events = web.events()
        next(events)
        for state, shown in (("down", "cut"), ("up", "up")):
            status, _, text = web.ask("POST", f"/cable?port=s0:3&state={state}", Weft_Token=web.token,
                                      Origin=f"http://127.0.0.1:{web.port}")
            self.assertEqual((status, text), (200, f'{{"port":"s0:3","state":"{shown}"}}'))
            event = self.wait_event(events, lambda e, shown=shown: self.states(topology, e)["s0:3"] == shown
                                    and self.states(topology, e)["s1:3"] == shown)
            self.assertEqual(event["up"] and shown == "cut", False)
            if shown == "cut":
                self.assertEqual(self.lab.links()["s0:3"], "cut")
        self.lab.wait(lambda: self.lab.status()["up"], "the lab is not whole again")

    def test_who_stops_reading_or_asks_too_slowly_is_dropped_and_delays_nobody(self):
        web = self.web("--interval", "100ms")
        folder = f"/proc/{web.process.pid}/fd"
        sockets = lambda: sum(os.readlink(f"{folder}/{fd}").startswith("socket:") for fd in os.listdir(folder)
                              if os.path.islink(f"{folder}/{fd}"))
        events = web.events()
        last = next(events)[0]
        before = self.count(sockets)
        with socket.socket() as lazy:
            lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            lazy.connect(("127.0.0.1", web.port))
            lazy.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\n\r\n".encode())
            slow = socket.create_connection(("127.0.0.1", web.port))
            self.addCleanup(slow.close)
            self.read_until(events, lambda: self.count(sockets) > before + 1)
            number = self.read_until(events, lambda: self.write_on(slow) and self.count(sockets) == before)
        self.assertGreater(number, last)

    def write_on(self, slow):
        """A byte more of the request's first line; always true."""
        with contextlib.suppress(ConnectionError):
            slow.send(b"G")
        return True

    def count(self, sockets):
        """The minimum of a few looks, because telemetry connections come and go."""
        return min(self.try_count(sockets) for _ in range(20))

    def try_count(self, sockets):
        try:
            return sockets()
        except OSError:
            return 1 << 30

    def read_until(self, events, condition):
        """Every event comes; the number of the last."""
        last = None
        for number, _ in events:
            self.assertTrue(last is None or number == last + 1, f"{number} after {last}")
            last = number
            if condition():
                return number
        raise AssertionError("the events have ended")


class Ending(Case):
    def test_a_signal_ends_it_with_viewers_connected(self):
        web = self.web()
        events = [web.events() for _ in range(3)]
        for stream in events:
            next(stream)
        self.assertEqual((web.end(), web.said), (0, ""))
        for stream in events:
            self.assertLess(sum(1 for _ in stream), 5)

    def test_it_ends_with_the_lab(self):
        lab = web_labs.make_lab(WEFT, "end")
        self.addCleanup(lab.remove)
        lab.up()
        web = web_labs.Web(WEFT, lab)
        events = web.events()
        next(events)
        lab.must("down")
        for _ in events:
            pass
        self.assertEqual(web.process.wait(timeout=240), 1)
        self.assertEqual(web.end(), 1)
        self.assertEqual(web.said, f"weft lab web: lab {lab.name} is no longer up\n")


if __name__ == "__main__":
    labs.main(__doc__)
