#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The schemas that the program prints and those of docs/schemas against the files of the tree, the
documentation, and results of runs.

usage: schemas_test.py WEFT [TEST]...
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing} (python3-jsonschema, python3-yaml)")
    sys.exit(77)

WEFT = sys.argv.pop(1) if len(sys.argv) > 1 else ""
TOP = pathlib.Path(__file__).resolve().parents[2]
FILES = ("run", "lab", "topology")


def printed(name):
    done = subprocess.run([WEFT, "complete", "schema", name], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


SCHEMAS = {path.name: json.loads(path.read_text()) for path in (TOP / "docs/schemas").glob("*.schema.json")}
SCHEMAS.update({f"{name}.schema.json": printed(name) for name in FILES})
RUN = """
weft: run/1
topology: "rlft:ports=4,stages=2"
clock: virtual
link: {rate: 10Gbps, delay: 30ns}
routing: {algorithm: dmodk, mode: table}
measure: {warmup: 20us, duration: 220us, sample: 100us, links: true, link-series: true, latencies: true}
traffic:
  - {pattern: hotspot, from: [h2, h4], to: [h0], load: 100%, message: 1KiB, stop: 50us}
  - {pattern: uniform, from: rest, load: 10%, message: 1KiB}
"""


class Yaml12(yaml.SafeLoader):
    """Only true and false are booleans: 'on' is a key of traffic."""


Yaml12.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in list_of if tag != "tag:yaml.org,2002:bool"]
    for first, list_of in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Yaml12.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))


def closed(schema):
    """A schema that allows no field that it does not name."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if "properties" in schema and schema.get("type") == "object":
            schema.setdefault("additionalProperties", False)
    elif isinstance(schema, list):
        schema = [closed(value) for value in schema]
    return schema


def local(schema, name):
    """The schema with references within one document that has all files as definitions."""
    if isinstance(schema, list):
        return [local(value, name) for value in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: local(value, name) for key, value in schema.items() if key != "$id"}
    if "$ref" in schema:
        file, _, pointer = schema["$ref"].partition("#")
        schema["$ref"] = f"#/$defs/{file or name}{pointer}"
    return schema


WHOLE = {name: local(closed(schema), name) for name, schema in SCHEMAS.items()}


def errors(name, document):
    validator = jsonschema.Draft202012Validator({"$defs": WHOLE, "$ref": f"#/$defs/{name}"})
    return [f"{'.'.join(map(str, e.absolute_path))}: {e.message[:300]}" for e in validator.iter_errors(document)]


def kind_of(document):
    return str(document.get("weft", "")).split("/", maxsplit=1)[0] if isinstance(document, dict) else ""


def keys(schema, before=""):
    """(key, schema) of each key below, in any of the forms of a value."""
    for key, value in schema.get("properties", {}).items():
        yield before + key, value
        yield from keys(value, f"{before}{key}.")
    if isinstance(schema.get("items"), dict):
        yield from keys(schema["items"], before[:-1] + "[].")
    for form in schema.get("anyOf", []):
        yield from keys(form, before)


class Schemas(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-schemas-"))
        self.addCleanup(shutil.rmtree, self.dir)
        (self.dir / "run.yaml").write_text(RUN)

    def measure(self, *args, file=None):
        done = subprocess.run([WEFT, "run", str(file or self.dir / "run.yaml"), "--json", "-", *args],
                              capture_output=True, text=True, timeout=240, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def test_the_schemas_are_schemas(self):
        for schema in SCHEMAS.values():
            jsonschema.Draft202012Validator.check_schema(schema)

    def test_every_file_of_topo_is_valid(self):
        seen = set()
        for path in sorted((TOP / "topo").rglob("*.yaml")):
            document = yaml.load(path.read_text(), Yaml12)
            kind = kind_of(document)
            if f"{kind}.schema.json" in SCHEMAS:
                seen.add(kind)
                self.assertEqual(errors(f"{kind}.schema.json", document), [], path)
        self.assertEqual(seen, {"run", "lab", "topology"})

    def test_every_whole_file_in_the_documentation_is_valid(self):
        count = 0
        for path in sorted((TOP / "docs").rglob("*.md")):
            for block in re.findall(r"^```yaml\n(.*?)^```", path.read_text(), re.M | re.S):
                if not block.startswith("weft: "):
                    continue
                document = yaml.load(block, Yaml12)
                if f"{kind_of(document)}.schema.json" not in SCHEMAS:
                    continue  # written by 'weft reproduce'
                count += 1
                self.assertEqual(errors(f"{kind_of(document)}.schema.json", document), [], f"{path}:\n{block}")
        self.assertGreaterEqual(count, 3)

    def test_the_schemas_have_every_key_with_its_words_and_its_description(self):
        lines = subprocess.run([WEFT, "complete", "keys"], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertGreater(len(lines), 150)
        words = {tuple(line.split()[:2]): line.split()[2:] for line in lines}
        for file in FILES:
            described = dict(keys(SCHEMAS[f"{file}.schema.json"]))
            described = {key: value for key, value in described.items() if not key.startswith("topology.")}
            self.assertEqual({key for name, key in words if name == file}, set(described))
            for key, value in described.items():
                self.assertRegex(value["description"], r"^[A-Z`0-9].*\.$", f"{file}: {key}")
                if words[file, key]:
                    forms = [form for form in value.get("anyOf", [value]) if "enum" in form]
                    self.assertEqual([form["enum"] for form in forms], [words[file, key]], f"{file}: {key}")

    def test_the_schemas_refuse_what_the_programs_refuse(self):
        run = yaml.load(RUN, Yaml12)
        lab = {"weft": "lab/1", "topology": "ring:switches=3"}
        port = {"port": "s0:1"}
        machine = {"name": "a", "devices": ["s0"]}
        for good in ({**run, "dilation": "auto"}, {**run, "watchdog": "off"}, {**run, "edges": {"hosts": "all", "network": "10.9.0.0/16"}},
                     {**run, "routing": {"algorithm": "ud+ud-itb"}}, {**run, "nic": {"selection": {"k": 1.5}}}):
            self.assertEqual(errors("run.schema.json", good), [])
        for wrong in ({**run, "dilation": 0}, {**run, "watchdog": "on"}, {**run, "edges": {"hosts": "all"}}, {**run, "switch": {"vcs": 17}},
                      {**run, "routing": {"algorithm": "up"}}, {**run, "traffic": [{"load": "1%"}]}, {**run, "weft": "lab/1"},
                      {**run, "nic": {"selection": {"k": "high"}}}, {key: run[key] for key in ("weft", "clock")}):
            self.assertNotEqual(errors("run.schema.json", wrong), [], wrong)
        with_ports = lambda *ports: errors("lab.schema.json", {**lab, "machines": [{**machine, "ports": list(ports)}]})
        udp = {"local": "192.0.2.1:1", "remote": "192.0.2.2:1"}
        self.assertEqual(with_ports({**port, "dpdk": "0000:01:00.0"}, {**port, "udp": udp}), [])
        for wrong in (port, {**port, "dpdk": "x", "udp": udp}, {**port, "udp": {"local": "a"}}, {"port": "s0:x", "udp": udp}):
            self.assertNotEqual(with_ports(wrong), [], wrong)
        for groups in ([["s0", "s1"]], {"left": ["s0"]}):
            self.assertEqual(errors("lab.schema.json", {**lab, "groups": groups}), [])
        self.assertNotEqual(errors("lab.schema.json", {**lab, "groups": ["s0"]}), [])

    def test_an_unknown_key_a_missing_unit_and_a_wrong_word_are_errors(self):
        run = yaml.load(RUN, Yaml12)
        self.assertEqual(errors("run.schema.json", run), [])
        for change in ({"colour": "red"}, {"hello": 10}, {"queuing": "2q"}, {"clock": None}):
            self.assertNotEqual(errors("run.schema.json", {**run, **change}), [], change)

    def test_cases_without_a_name_with_a_list_or_with_a_seed_are_errors(self):
        case = {"name": "a", "set": {"switch.buffer": "64KiB", "switch.vcs": 2}}
        of = lambda *cases: errors("cases.schema.json", {"weft": "cases/1", "cases": list(cases)})
        self.assertEqual(of(case), [])
        for wrong in ({"set": {}}, {**case, "set": {"traffic.0.to": ["h4"]}}, {**case, "set": {"seed": 1}},
                      {**case, "colour": "red"}):
            self.assertNotEqual(of(wrong), [], wrong)
        self.assertNotEqual(of(), [])

    def test_results_of_each_engine_are_valid(self):
        wormhole = self.measure("--set", "measure.warmup-messages=100", "--set", "measure.messages=500",
                                file=TOP / "topo/wormhole-64.yaml")
        deadlock = self.measure(file=TOP / "topo/ring-deadlock.yaml")
        self.assertTrue(deadlock["checks"]["deadlock"])
        for result in (self.measure(), wormhole, deadlock):
            self.assertEqual(errors("result.schema.json", result), [])
            # What the programs write they read.
            (self.dir / "result.json").write_text(json.dumps(result))
            drawn = subprocess.run([WEFT, "plot", str(self.dir / "result.json"), "--kind", "throughput-load", "-o",
                                    str(self.dir / "x.svg")], capture_output=True, text=True, timeout=240, check=False)
            self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))
        real = subprocess.run([WEFT, "run", str(self.dir / "run.yaml"), "--clock", "real", "--json", "-", "--set",
                               "link.rate=100Mbps", "--set", "measure.duration=50ms"],
                              capture_output=True, text=True, timeout=240, check=False)
        if real.returncode == 3:
            self.skipTest(real.stderr)
        self.assertEqual(errors("result.schema.json", json.loads(real.stdout)), [])

    def test_what_a_sweep_writes_is_valid(self):
        out = self.dir / "sweep"
        subprocess.run([WEFT, "sweep", str(self.dir / "run.yaml"), "--vary", "traffic.1.load=10%,20%", "--seeds", "1:2",
                        "-o", str(out)], capture_output=True, text=True, timeout=240, check=True)
        sweep = json.loads((out / "sweep.json").read_text())
        self.assertEqual(errors("sweep.schema.json", sweep), [])
        for rows, key, wrong in (("points", "accepted", "a"), ("points", "saturated", 7), ("points", "seed", None),
                                 ("points", "traffic.1.load_text", 0.1), ("means", "seeds", 0),
                                 ("means", "total_ns_p99", "fast")):
            with self.subTest(key):
                row = {**sweep[rows][0], key: wrong}
                self.assertNotEqual(errors("sweep.schema.json", {**sweep, rows: [row]}), [])
        self.assertNotEqual(errors("sweep.schema.json", {**sweep, "points": [{}]}), [])
        self.assertEqual(errors("sweep-manifest.schema.json", json.loads((out / "manifest.json").read_text())), [])

    def test_victims_are_told_apart_from_those_that_make_a_hot_spot(self):
        result = self.measure("--set", "traffic.0.stop=end", "--set", "measure.duration=5ms")
        hot, victims = result["traffic"]
        self.assertEqual((hot["senders"], victims["senders"]), (2, 6))
        self.assertAlmostEqual(hot["throughput"]["accepted"], 0.47, delta=0.03)
        self.assertAlmostEqual(victims["throughput"]["accepted"], 0.1, delta=0.02)
        self.assertGreater(hot["latency_ns"]["total"]["p50"], 10 * victims["latency_ns"]["total"]["p50"])
        parts = sum(entry["throughput"]["accepted"] * entry["senders"] for entry in result["traffic"]) / 8
        self.assertAlmostEqual(parts, result["throughput"]["accepted"], places=9)
        self.assertEqual(sum(entry["messages"]["delivered"] for entry in result["traffic"]),
                         result["messages"]["delivered"])
        self.assertEqual((hot["saturated"], victims["saturated"], result["saturated"]), (True, False, True))

    def test_a_run_below_saturation_is_not_saturated(self):
        result = self.measure("--set", "traffic.0.load=45%", "--set", "traffic.0.stop=end")
        self.assertFalse(result["saturated"])

    def test_an_entry_that_stops_is_complete_with_its_last_message(self):
        hot, victims = self.measure()["traffic"]
        self.assertNotIn("flows", victims)
        self.assertEqual([flow["from"] for flow in hot["flows"]], ["h2", "h4"])
        # 50 us of twice what the link to h0 carries take 100 us, and the others send some to h0.
        self.assertAlmostEqual(hot["completion_ns"], 110000, delta=10000)
        self.assertEqual(hot["completion_ns"], max(flow["completion_ns"] for flow in hot["flows"]))
        early = self.measure("--set", "measure.duration=80us", "--set", "measure.sample=20us")["traffic"][0]
        self.assertIsNone(early["completion_ns"])

    def test_the_histograms_have_what_was_counted(self):
        result = self.measure()
        for entry in result["traffic"]:
            steps = entry["latency_ns"]["total"]["histogram"]
            self.assertEqual(steps[-1][0], entry["latency_ns"]["total"]["max"])
        for kind in ("network", "total"):
            whole = sum(count for _, count in result["latency_ns"][kind]["histogram"])
            self.assertEqual(whole, sum(count for entry in result["traffic"]
                                        for _, count in entry["latency_ns"][kind]["histogram"]))

    def test_a_result_says_where_it_comes_from(self):
        wall = self.measure("--set", "seed=9")["wall"]
        self.assertEqual(wall["command"][0], "weft-fabric")
        self.assertEqual(wall["command"][-2:], ["--set", "seed=9"])
        version = subprocess.run([WEFT, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(f"weft {wall['version']}\n", version)

    def text(self, *args):
        done = subprocess.run([WEFT, "run", str(self.dir / "run.yaml"), *args], capture_output=True, text=True,
                              timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_the_table_tells_the_routing_and_both_times(self):
        out = self.text().stdout
        self.assertRegex(out, r"(?m)^  routing +dmodk$")
        self.assertRegex(out, r"(?m)^  measured +from 20 us to 220 us of virtual time, computed in [\d.]+ s of wall time$")

    def test_the_table_tells_saturation_only_where_it_is(self):
        self.assertRegex(self.text("--set", "traffic.0.stop=end", "--set", "measure.duration=5ms").stdout,
                         r"(?m)^  saturated +traffic\[0\]: latency grows with the run$")
        self.assertNotIn("latency grows", self.text().stdout)

    def test_the_table_tells_when_a_schedule_was_completed(self):
        goal = self.dir / "two.goal"
        goal.write_text("num_ranks 2\nrank 0 {\nsend 1024b to 1\n}\nrank 1 {\nl1: recv 1024b from 0\n"
                        "l2: calc 2000000\nl2 requires l1\n}\n")
        result = self.text("--set", f"traffic=[{{pattern: goal, file: {goal}}}]", "--set", "measure.duration=10ms",
                           "--set", "measure.warmup=0s")
        self.assertRegex(result.stdout, r"(?m)^  schedule +completed in 2\.00\d ms$")

    def test_ud_on_a_dragonfly_is_warned_of(self):
        even = ["--set", "topology=dragonfly:a=4,p=2,h=2", "--set", "routing={algorithm: ud}", "--set",
                "traffic=[{pattern: uniform, from: all, load: 60%}]", "--set", "measure.duration=2ms"]
        self.assertRegex(self.text(*even).stderr, r"warning: routing.algorithm ud on dragonfly-.*; try df-min with switch.vcs: 2, or df-ugal-l")
        self.assertEqual(self.text(*even, "--quiet").stderr, "")
        self.assertEqual(self.text(*even, "--set", "traffic.0.load=5%").stderr, "")
        self.assertEqual(self.text(*even, "--set", "routing.algorithm=smart").stderr, "")


if __name__ == "__main__":
    unittest.main()
