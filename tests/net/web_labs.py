# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""A small lab and its 'weft lab web', for tests."""
import http.client
import json
import subprocess

import labs

LAB = """topology: topology.yaml
groups: {switches: [s0, s1]}
seed: 1
dilation: 20
mapper: {key: fabric.key, """ + labs.MAPPER + """}
traffic: [{pattern: uniform, from: all, load: 20%, message: 1KiB}]
measure: {duration: 50ms, sample: 5ms}
"""


def make_lab(weft, tag):
    return labs.Lab(weft, tag, LAB, labs.two_switches())


class Web:
    """The server of a lab's page."""

    def __init__(self, weft, lab, *more):
        self.process = subprocess.Popen([weft, "lab", "web", lab.file, "--listen", "127.0.0.1:0", *more],
                                        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.url = self.process.stdout.readline().strip()
        if not self.url.startswith("http://127.0.0.1:"):
            raise AssertionError(self.url + self.process.communicate()[1])
        self.port = int(self.url.split(":")[2].split("/")[0])
        self.token = self.url.split("#token=")[1]

    def ask(self, method, path, **headers):
        """Returns status, headers and text of the answer. '_' in a header's name means '-'; Host None: no Host."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=labs.HANG_SECONDS)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        host = headers.pop("Host", f"127.0.0.1:{self.port}")
        connection.putrequest(method, path, skip_host=True)
        if host is not None:
            connection.putheader("Host", host)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def events(self):
        """Yields (number, document) of each event, endlessly."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=labs.HANG_SECONDS)
        connection.request("GET", "/events")
        answer = connection.getresponse()
        if answer.status != 200 or answer.headers["Content-Type"] != "text/event-stream":
            raise AssertionError(f"events: {answer.status}")
        try:
            number = None
            for line in answer:
                if line.startswith(b"id: "):
                    number = int(line[4:])
                elif line.startswith(b"data: "):
                    yield number, json.loads(line[6:])
        finally:
            connection.close()

    def end(self):
        """Returns the exit code after SIGTERM, or after the server's own end."""
        self.process.terminate()
        self.said = self.process.communicate(timeout=labs.HANG_SECONDS)[1]
        return self.process.returncode
