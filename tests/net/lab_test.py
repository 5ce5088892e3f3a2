#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Labs of several processes, and what is refused of a lab. Needs root, for namespaces and TAPs; says
so and exits 77 where that is not allowed.

usage: lab_test.py WEFT [CASE...]
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import subprocess

import iperf3
import lab_cases
import labs
from lab_cases import TOPOLOGY, LabCase

WEFT = None


class OnOneLab(LabCase):
    """What leaves a lab as it was."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.common = lab_cases.Lab("E")
        cls.addClassCleanup(cls.common.remove)
        cls.common.up()

    def test_a_result_that_cannot_be_written_is_refused_before_the_run(self):
        lab = self.common
        before = lab.delivered()
        done = lab.weft("run", "--duration", "1s", "--json", "/nonexist/a.json")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "weft lab run: /nonexist/a.json: No such file or directory\n")
        self.assertEqual((done.stdout, lab.delivered()), ("", before))
        # The old result stays until the new one is complete.
        path = os.path.join(lab.folder, "result.json")
        with open(path, "w") as file:
            file.write("former")
        with labs.Program([WEFT, "lab", "run", lab.file, "--duration", "60s", "--json", path],
                          stdout=subprocess.DEVNULL) as run:
            lab.wait(lambda: lab.delivered() > before, "no traffic flows")
            with open(path) as file:
                self.assertEqual(file.read(), "former")
            run.send_signal(signal.SIGINT)
        with open(path) as file:
            self.assertTrue(json.load(file)["incomplete"])

    def test_of_two_runs_at_a_time_the_second_is_refused(self):
        lab = self.common
        traffic = labs.Traffic(lab, "60s")
        traffic.wait_flow()
        second = lab.weft("run", "--duration", "5ms")
        self.assertEqual((second.returncode, second.stdout), (2, ""), second.stderr)
        self.assertIn(f"this lab is being sent traffic by process {traffic.run.pid}", second.stderr)
        traffic.stop()
        code, result, said = traffic.finish()
        self.assertEqual(code, 130, said)
        self.assertEqual([result["checks"][key] for key in labs.CHECKS], [0, 0, 0], said)
        self.assert_whole(lab.run())

    def test_a_map_says_what_of_it_was_not_found(self):
        lab = self.common
        path = os.path.join(lab.folder, "found.yaml")
        lab.must("map", "-o", path)
        with open(path) as file:
            self.assertEqual(file.readline(), f"# Discovered by the mapper of lab {lab.name}. Rates and delays "
                             "cannot be discovered, so these are the defaults.\n")
        self.assertEqual(labs.shown(WEFT, path)["name"], lab.name)

    def test_a_run_of_too_many_samples_is_refused(self):
        lab = self.common
        done = lab.weft("run", "--duration", "86400s")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("measure.sample: 2ms gives 43200000 samples in a run of 86400s; at most 1000000 are "
                      "allowed", done.stderr)

    def test_a_lab_that_is_being_brought_up_is_not_taken_down(self):
        lab = self.common
        with open(f"{lab.run_dir}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write("brought up by process 1")
            lock.flush()
            for part in (["down"], ["up"], ["up", "--process", "spine"]):
                done = lab.weft(*part)
                self.assertEqual(done.returncode, 2, part)
                self.assertIn("this lab is being brought up by process 1\n", done.stderr)
        lab.assert_up()

    def test_the_processes_of_a_lab_share_the_session_of_up(self):
        # Among sessions the kernel shares out CPUs first, where it has autogroups; loops would starve.
        lab = self.common
        self.assertEqual({os.getsid(pid) for pid in lab.pids.values()}, {os.getsid(0)})
        self.assertEqual([os.getpgid(pid) for pid in lab.pids.values()], list(lab.pids.values()))

    def test_the_processes_of_a_lab_ignore_signals_of_a_terminal(self):
        lab = self.common
        for pid in lab.pids.values():
            ignored = int(re.search(r"SigIgn:\s*(\w+)", labs.read(f"/proc/{pid}/status"))[1], 16)
            for number in (signal.SIGHUP, signal.SIGTTOU):
                self.assertTrue(ignored & 1 << number - 1, number)


class Shared(LabCase):
    def test_status_shows_a_process_that_was_killed(self):
        lab = self.lab("g")
        lab.up()
        os.kill(lab.pids["spine"], signal.SIGKILL)
        # A killed process is silent until the kernel has taken its memory back.
        labs.wait_ends([lab.pids["spine"]])
        lab.wait_links(lambda links: (links.get("leaf0:2"), links.get("leaf1:2")) == ("down", "down"))
        self.assertTrue(lab.is_gone("spine"))
        self.assertEqual(lab.weft("status").returncode, 1)
        self.assertFalse(lab.status()["up"])
        self.assertEqual(lab.weft("down").returncode, 0)
        self.assertEqual(lab.leftovers(), [])

    def test_a_fabric_that_is_not_as_expected_is_up_with_a_warning(self):
        lab = self.lab("J", topology="swapped.yaml", mapper=f"expect: topology.yaml, {labs.MAPPER}")
        with open(os.path.join(lab.folder, "swapped.yaml"), "w") as file:
            file.write(TOPOLOGY.replace("h1:0, b: leaf0:1", "h1:0, b: leaf1:0").replace(
                "h2:0, b: leaf1:0", "h2:0, b: leaf0:1"))
        done = lab.weft("up")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("differs from the expected one: 2 differences; run", done.stderr)
        self.assertIn("h1:0 leads to leaf1:0", lab.weft("map").stderr)

    def test_a_map_of_what_a_dead_switch_leaves_is_a_topology(self):
        lab = self.lab("I")
        lab.up()
        lab.kill("leaf1")
        lab.wait_parts([(2, 2), (0, 1), (0, 1)])
        path = os.path.join(lab.folder, "found.yaml")
        done = lab.weft("map", "-o", path)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("switch leaf1: not found\n", done.stderr)
        found = labs.by_identity(labs.shown(WEFT, path))
        self.assertEqual((found[1], len(found[2])), ({"h0", "h1"}, 3))
        # The mappers that stay behind reach nobody.
        lab.kill("leaf0")
        lab.wait_parts(4 * [(0, 1)])
        done = lab.weft("map", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["topology"]["hosts"]), 1)
        refused = lab.weft("map", "--json", "--dot")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))

    def run_without(self, letter, groups, host, hosts):
        """The output and exit code of a run when that process is gone and so many hosts are left."""
        lab = self.lab(letter, f"groups: {{{groups}}}\n")
        lab.up()
        lab.kill(host)
        lab.wait_parts([(3, hosts)])
        done = lab.weft("run")
        self.assertIn("0 lost, 0 duplicated, 0 out of order", done.stdout)
        self.assertIn(" messages were not sent because ", done.stderr)
        return done

    def test_a_run_of_which_nothing_could_be_sent_is_no_answer(self):
        done = self.run_without("K", "left: [h0], right: [h1, h2, h3]", "h1", 1)
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_messages_that_were_not_sent_are_no_loss_but_the_lab_is_not_whole(self):
        done = self.run_without("N", "left: [h0, h1], right: [h2, h3]", "h2", 2)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("incomplete: h2 is gone, and its counts are lost\n", done.stderr)

    def test_of_two_commands_that_bring_one_lab_up_one_does(self):
        lab = self.lab("z")
        both = [subprocess.Popen([WEFT, "lab", "up", lab.file, "--wait", labs.UP_WAIT], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
        said = [up.communicate(timeout=labs.HANG_SECONDS)[1] for up in both]
        self.assertEqual(sorted(up.returncode for up in both), [0, 2], said)
        # The second may have come after the first was done.
        self.assertRegex("".join(said), "this lab is being brought up by process|is already up")
        self.assertNotIn("removing what", "".join(said))
        lab.note_pids()
        lab.assert_up()

    @staticmethod
    def workers(lab, device):
        """Loops of the process of that device beside the main one."""
        tasks = f"/proc/{lab.pids[device]}/task"
        names = [pathlib.Path(tasks, task, "comm").read_text() for task in os.listdir(tasks)]
        return sum("rte-worker" in name for name in names)

    def test_switches_of_two_lcores_are_mapped_and_lose_nothing(self):
        lab = self.lab("Q", "lcores: 2\n")
        lab.up()
        self.assert_whole(lab.run())
        # A cable of the second part of a switch: the agent is at the first one.
        lab.must("link", "leaf0:1", "down")
        lab.wait_parts([(3, 3), (0, 1)])
        lab.must("link", "leaf0:1", "up")
        lab.wait_parts([(3, 4)])
        lab.wait_up()
        self.assert_whole(lab.run())
        self.assertEqual(self.workers(lab, "spine"), 1)

    def test_loops_of_a_process_share_out_its_hosts(self):
        lab = self.lab("U", "lcores: 3\ngroups: {left: [h0, h1], right: [h2], other: [h3]}\n")
        lab.up()
        self.assertEqual([self.workers(lab, host) for host in ("h0", "h2")], [1, 0])
        self.assert_whole(lab.run())

    def test_static_routes_and_two_lcores_lose_nothing(self):
        lab = self.lab("R", "lcores: 2\n", mapper="routes: static")
        lab.up()
        self.assert_whole(lab.run())

    def test_grouped_devices_share_a_process(self):
        lab = self.lab("l", "groups: {fabric: [leaf0, leaf1, spine], left: [h0, h1], right: [h2, h3]}\n")
        lab.up()
        self.assertEqual(sorted(lab.pids), ["h0", "h2", "leaf0"])
        # Sources and sinks are in different processes: the parts of the result come together.
        self.assert_whole(lab.run())

    def test_detours_around_a_cut_link_of_a_dragonfly_lose_nothing(self):
        # s0 and s5 are the only link between two groups: afterwards their packets have detours alone.
        lab = self.lab("G", "switch: {vcs: 3}\nrouting: {algorithm: df-ugal-l}\n"
                       "groups: {fabric: [s0, s1, s2, s3, s4, s5], hosts: [h0, h1, h2, h3, h4, h5]}\n",
                       topology='"dragonfly:a=2,p=1,h=1"', dilation=50)
        lab.up()
        traffic = labs.Traffic(lab, "100ms")
        traffic.wait_flow()
        lab.cut("s0:1")
        traffic.wait_flow()
        self.assert_whole(traffic.finish()[1])
        lab.wait_parts([(6, 6)])
        self.assert_whole(lab.run())

    def test_cores_and_eal_words_reach_every_process(self):
        lab = self.lab("u", "cores: 1\neal: [--log-level=lib.telemetry:7]\n")
        lab.up()
        for pid in lab.pids.values():
            self.assertEqual(len(os.sched_getaffinity(pid)), 1)
            with open(f"{lab.run_dir}/{[n for n, p in lab.pids.items() if p == pid][0]}.log") as log:
                self.assertIn("TELEMETRY", log.read())


class Memif(LabCase):
    def test_a_killed_process_is_refused_before_it_is_started(self):
        lab = self.lab("B", "links: memif\n")
        done = lab.weft("up", "--wait", labs.UP_WAIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("links: memif: if a process is killed, its neighbours can crash", done.stderr)
        lab.note_pids()
        self.assert_whole(lab.run())
        os.kill(lab.pids["h0"], signal.SIGKILL)
        labs.wait_ends([lab.pids["h0"]])
        with open(f"{lab.run_dir}/h0.log") as log:
            before = log.read()
        done = lab.weft("up", "--process", "h0")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Aweft lab up: cannot restart only h0: its memif links to leaf\d, which is "
                         r"running, would not survive; restart the whole lab, .*'links: shared'\n\Z")
        with open(f"{lab.run_dir}/h0.log") as log:
            self.assertEqual(log.read(), before)


class Edges(LabCase):
    def test_a_namespace_that_was_there_before_stays(self):
        lab, names = self.edge_lab("x")
        subprocess.run(["ip", "netns", "add", names[0]], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "del", names[0]])
        lab.up()
        self.assertEqual(lab.weft("down").returncode, 0)
        self.assertEqual([name for name in names if os.path.exists(f"/run/netns/{name}")], names[:1])

    def test_programs_reach_each_other_and_namespaces_of_killed_processes_are_removed(self):
        lab, names = self.edge_lab("m")
        lab.up()
        labs.ping(self, ["ip", "netns", "exec", names[0]], "10.87.0.4")
        lab.kill("h0")
        self.assertEqual(lab.weft("down").returncode, 0)
        self.assertEqual([name for name in names if os.path.exists(f"/run/netns/{name}")], [])
        self.assertEqual(lab.leftovers(), [])

    def test_ping_and_iperf3_pass_a_host_that_re_injects(self):
        # Round a ring of five switches with s0 as the root, h3 stands between h2 and h4: s3 is
        # reached going down and left going up, either way. A mapper whose first map lacks s0 would
        # keep another root.
        names = [f"wt{os.getpid()}y{side}" for side in "ab"]
        edges = "\n".join(f"  - {{host: {host}, tap: wt{i}, namespace: {name}, address: 10.87.0.{i}/24}}"
                          for host, i, name in (("h2", 3, names[0]), ("h4", 5, names[1])))
        lab = self.lab("y", f"routing: {{algorithm: ud-itb}}\nedges:\n{edges}\n",
                       topology="\"ring:switches=5,hosts=1\"", traffic="", mapper="routes: static")
        lab.up()
        labs.ping(self, ["ip", "netns", "exec", names[0]], "10.87.0.5")
        self.assertGreater(iperf3.bytes_in_a_second(self, *names, "10.87.0.5"), 100000)
        nics = lab.status()["nics"]
        self.assertGreater(nics["h3"]["itb_reinjected"], 100)
        self.assertEqual(nics["h3"]["itb_reinjected"], nics["h2"]["frames_injected"] +
                         nics["h2"]["frames_retransmitted"] + nics["h4"]["frames_injected"] +
                         nics["h4"]["frames_retransmitted"])
        self.assertEqual(lab.weft("down").returncode, 0)


class Veth(LabCase):
    def test_tcpdump_sees_weft_frames_on_a_veth(self):
        lab = self.lab("n", "links: veth\n")
        lab.up()
        lab.assert_up()
        dump = subprocess.run(["timeout", "200", "ip", "netns", "exec", f"weft-{lab.name}",
                               "tcpdump", "-c", "20", "-e", "-n", "-i", "wl4a"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        frames = [line for line in dump.stdout.splitlines() if "ethertype" in line]
        self.assertEqual(len(frames), 20, dump.stderr)
        self.assertTrue(all("(0x88b5)" in frame for frame in frames), frames)
        self.assert_whole(lab.run())
        self.assertEqual(lab.weft("down").returncode, 0)
        self.assertEqual(lab.leftovers(), [])

    def test_ctrl_c_while_the_links_are_made_is_said_and_leaves_nothing(self):
        lab = self.lab("r", "links: veth\n")
        # Ctrl-C reaches the programs that 'up' calls, too.
        ip = os.path.join(lab.folder, "ip")
        with open(ip, "w") as file:
            file.write("#!/bin/sh\nkill -INT 0\nexit 1\n")
        os.chmod(ip, 0o755)
        done = subprocess.run([WEFT, "lab", "up", lab.file], capture_output=True, text=True,
                              timeout=labs.HANG_SECONDS, check=False, start_new_session=True,
                              env={**os.environ, "PATH": f"{lab.folder}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stderr), (130, "weft lab up: interrupted\n"))
        self.assertEqual(lab.leftovers(), [])
        lab.up()

    def test_a_lab_survives_the_terminal_in_which_it_was_brought_up(self):
        lab = self.lab("T")
        shell, terminal = pty.fork()
        if shell == 0:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup leaves it ignored
            os.execv("/bin/sh", ["sh", "-c", f"'{WEFT}' lab up '{lab.file}' && echo and waits && while :; do read line; done"])
        said = b""
        while b"and waits" not in said:
            said += os.read(terminal, 4096)
        os.close(terminal) # hangs up
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(shell, 0)[1]), -signal.SIGHUP)
        self.assert_whole(lab.run())

    def test_a_killed_process_is_started_again_beside_the_others(self):
        lab = self.lab("q", "links: veth\n")
        lab.up()
        before = dict(lab.pids)
        os.kill(lab.pids["spine"], signal.SIGKILL)
        # Its socket may still be there, or refuse, or close: the end that lives is cut and joined.
        for word, said in (("down", "cut"), ("up", "joined")):
            self.assertEqual(lab.must("link", "leaf0:2", word), f"leaf0:2 - spine:0 is {said}\n")
        lab.wait_links(lambda links: links.get("leaf0:2") == "down")
        refused = lab.weft("up", "--process", "leaf0")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("is already up", refused.stderr)
        lab.start_again("spine")
        lab.wait_links(lambda links: set(links.values()) == {"up"})
        self.assertNotEqual(lab.pids.pop("spine"), before.pop("spine"))
        self.assertEqual(lab.pids, before)
        self.assert_whole(lab.run())
        self.assertEqual(lab.weft("down").returncode, 0)
        self.assertEqual(lab.leftovers(), [])


class Machines(LabCase):
    """Two machines, played by two network namespaces with a cable (a veth pair) between them."""

    def machine(self, name):
        subprocess.run(["ip", "netns", "add", name], check=True)
        self.addCleanup(subprocess.run, ["ip", "netns", "del", name], stderr=subprocess.DEVNULL)

    def test_a_lab_spans_machines_by_the_ports_of_its_file(self):
        # The run of a part goes on for four seconds of the lab's time: rare hellos and a clock that is less slow.
        lab = self.lab("t", "groups: {far: [leaf1, spine], left: [h0, h1], right: [h2, h3]}\nhello: 200ms\n", dilation=3,
                       mapper="key: fabric.key", traffic="{pattern: uniform, from: all, load: 0.05%, message: 1KiB}")
        left, right = f"{lab.name}-left", f"{lab.name}-right"
        self.machine(left)
        self.machine(right)
        subprocess.run(["ip", "link", "add", "cable", "mtu", "5000", "netns", left, "type", "veth",
                        "peer", "name", "cable", "mtu", "5000", "netns", right], check=True)
        for name in (left, right):
            subprocess.run(["ip", "-n", name, "link", "set", "cable", "up"], check=True)
        with open(os.path.join(lab.folder, "topology.yaml"), "a") as file:
            device = "net_af_packet0,iface=cable"
            file.write("ports:\n" + "".join(f"  - {{port: {port}, dpdk: \"{device}\"}}\n"
                                            for port in ("leaf0:2", "spine:0")))

        def weft(side, part, *more):
            return subprocess.Popen(["ip", "netns", "exec", side, WEFT, "lab", part, lab.file,
                                     "--run-dir", f"/run/weft/{side}", *more], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

        def both(part, left_more=(), right_more=()):
            sides = [weft(left, part, *left_more), weft(right, part, *right_more)]
            said = [side.communicate(timeout=labs.HANG_SECONDS)[0] for side in sides]
            self.assertEqual([side.returncode for side in sides], [0, 0], said)
            return said

        self.addCleanup(both, "down")
        both("up", ["--process", "leaf0", "--process", "h0", "--wait", labs.UP_WAIT],
             ["--process", "spine", "--process", "h2", "--wait", labs.UP_WAIT])
        both("status")
        results = [os.path.join(lab.folder, side) for side in ("left.json", "right.json")]
        both("run", ["--duration", "200ms", "--json", results[0]], ["--duration", "200ms", "--json", results[1]])
        for path in results:
            with open(path) as file:
                result = json.load(file)
            self.assertEqual([result["checks"][check] for check in
                              labs.CHECKS], [0, 0, 0])
        # The two runs did not begin at the same moment; the counters of both machines know all.
        sums = {}

        def all_arrived():
            sides = [json.loads(text) for text in both("status", ["--json"], ["--json"])]
            for key in ("messages_injected", "messages_delivered"):
                sums[key] = sum(nic[key] for side in sides for nic in side["nics"].values())
            return len(set(sums.values())) == 1
        labs.wait_until(all_arrived, "messages are missing")
        self.assertGreater(sums["messages_delivered"], 100)


class Refusals(LabCase):
    def refused(self, tag, more, text, code=2, form="each"):
        lab = self.lab(tag, more, form=form)
        done = lab.weft("up")
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual(lab.leftovers(), [])

    def test_a_group_of_switches_and_hosts_is_refused(self):
        self.refused("o", "groups: {mixed: [leaf0, h0]}\n", "only switches or only hosts")

    def test_groups_of_one_process_are_refused_with_their_place(self):
        self.refused("O", "groups: {fabric: [leaf0, spine]}\n", "lab.yaml:10:18: groups: "
                     "'processes: one' runs all devices in one process", form="one")

    def test_other_links_of_one_process_are_refused(self):
        self.refused("Q", "links: veth\n", "links: 'processes: one' has no links between", form="one")

    def test_a_group_with_an_unknown_device_is_refused_with_its_place(self):
        self.refused("p", "groups: {fabric: [leaf0, laef1]}\n", "no device 'laef1', nearest is 'leaf1'")

    def test_real_links_without_devices_are_refused(self):
        self.refused("q", "links: dpdk\n", "have none")

    def test_a_receive_ring_too_small_for_a_frame_in_each_vc_is_refused(self):
        self.refused("u", "links: veth\nswitch: {vcs: 16}\n",
                     "its receive ring of 1024 slots allows 1024 blocks, but 1056 are needed for 16 VCs",
                     code=3)

    def test_links_that_find_no_room_in_memory_are_refused(self):
        lab = self.lab("w")
        # Three of the six files fit.
        done = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=1600k tmpfs /dev/shm && exec \"$@\"",
                               "sh", WEFT, "lab", "up", lab.file], capture_output=True, text=True, timeout=labs.HANG_SECONDS,
                              check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"/memory/l-\S+\.ring: cannot reserve 516 KiB: No space left on device")
        self.assertEqual(lab.leftovers(), [])

    def test_a_device_that_is_not_there_takes_all_down_again(self):
        lab = self.lab("r", "links: dpdk\n")
        ports = "ports:\n" + "".join(
            f"  - {{port: {port}, dpdk: \"0000:ff:{i:02x}.0\"}}\n" for i, port in enumerate(
                ("h0:0", "h1:0", "h2:0", "h3:0", "leaf0:0", "leaf0:1", "leaf0:2", "leaf1:0",
                 "leaf1:1", "leaf1:2", "spine:0", "spine:1")))
        with open(os.path.join(lab.folder, "topology.yaml"), "a") as file:
            file.write(ports)
        done = lab.weft("up")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("0000:ff:", done.stderr)
        self.assertEqual(lab.leftovers(), [])

    def test_a_bad_fabric_key_or_expectation_is_refused_before_anything_is_started(self):
        lab = self.lab("L")
        key = os.path.join(lab.folder, "fabric.key")
        with open(lab.file) as file:
            text = file.read()

        def refused(mapper, code, said):
            with open(lab.file, "w") as file:
                file.write(text.replace("key: fabric.key", mapper))
            done = lab.weft("up")
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertTrue(done.stderr.startswith("weft lab up: "), done.stderr)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertFalse(os.path.exists(lab.run_dir))
        os.chmod(key, 0o640)
        refused("key: fabric.key", 3, "other users can access")
        os.chmod(key, 0o600)
        with open(key, "w") as file:
            file.write(31 * "5e" + "\n")
        refused("key: fabric.key", 2, "must contain 64 hexadecimal digits")
        refused("key: nowhere.key", 2, "nowhere.key: No such file")
        refused("expect: nowhere.yaml", 2, "nowhere.yaml: No such file")
        refused("expect: 'full:switches=none'", 2, "switches=none")

    def nic(self, lab, *args):
        nic = os.path.join(os.path.dirname(WEFT), "..", "..", "apps", "nic", "weft-nic")
        hosts = [word for name in ("h0", "h1", "h2", "h3") for word in ("--host", name)]
        done = subprocess.run([nic, "--lab", lab.file, "--run-dir", lab.folder, *hosts, *args],
                              capture_output=True, text=True, timeout=labs.HANG_SECONDS, check=False)
        self.assertIn(done.returncode, (2, 3), done.stderr)
        return done.stderr

    def test_what_weft_nic_is_told_of_the_mapper_is_judged_at_once(self):
        lab = self.lab("t")
        for args, text in ((("--mapper", "sometimes"), "expected auto, always or never"),
                           (("--expect", "full:switches=none"), "switches"),
                           (("--fabric-key", "/nowhere/key"), "/nowhere/key"),
                           (("--fabric-key", lab.file), "other users can access")):
            self.assertIn(text, self.nic(lab, *args))
        with open(lab.file) as file:
            text = file.read()
        with open(lab.file, "w") as file:
            file.write(text.replace("key: fabric.key", "routes: static"))
        self.assertIn("routes are static", self.nic(lab, "--mapper", "never"))

    def test_parts_of_a_lab_that_is_not_up_say_so(self):
        lab = self.lab("s")
        for part, more in (("status", []), ("run", []), ("capture", ["leaf0:0"])):
            done = lab.weft(part, *more)
            self.assertEqual(done.returncode, 1, part)
            self.assertIn("is not up", done.stderr)


if __name__ == "__main__":
    labs.main(__doc__, ("tcpdump", "ping", "ip"))
