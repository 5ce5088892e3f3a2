# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Claims about a lab on real NICs: a function for each claim, which returns its figures in a line, or
raises Wrong. They are called in their order, with a lab that is up and whole."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

import cables
import lab as labs
import machine
import traffic
from lab import Wrong

HERE = os.path.dirname(os.path.abspath(__file__))
DISSECTOR = os.path.join(HERE, "../../tools/wireshark/weft.lua")
FRAMES = 100_000
FRAMES_AFTER_A_KILL = 2_000
TRAFFIC_SECONDS = 20 # in the lab's time
STREAM_BYTES_MAX = 2 << 20
STREAM_BYTES_PER_FRAME = 128 # frames that have to arrive: a short run has a short stream
PINGS = 10


class Unable(Exception):
    """This bench or this machine cannot show it."""


def all_links_come_up(lab):
    began = time.monotonic()
    for done in lab.check_ports():
        if done.code != 0:
            raise Wrong(f"before: {done.said()}")
    lab.up()
    lab.wait(lab.all_up, "links are not up")
    return f"{2 * lab.bench.hosts} ends of links up; {time.monotonic() - began:.1f} s"


def the_mapper_finds_the_fabric_of_the_file(lab):
    began = time.monotonic()
    lab.wait(lambda: lab.differences() == [], "the map is not the file's fabric")
    found = lab.map()["topology"]
    return (f"{len(found['switches'])} switch, {len(found['hosts'])} hosts, {len(found['links'])} cables, no "
            f"difference; {time.monotonic() - began:.1f} s")


def ports_pass_frames_of_full_size(lab):
    """To their neighbours, while the lab is up."""
    told = [line for done in lab.check_ports() for line in done.out.splitlines() if line.startswith("ok")]
    if len(told) != len(lab.bench.ports) or not all(" reach " in line for line in told):
        raise Wrong("; ".join(done.said() for done in lab.check_ports()))
    return f"{len(told)} ports"


def frames_arrive_once_and_in_order(lab):
    return traffic.until(lab, lab.frames, 1)


def ping_passes(lab):
    near, far = lab.bench.edges
    done = lab.bench.site_of_host(near).machine.run(
        f"ip netns exec {lab.namespace(near)} ping -c {PINGS} -i 0.2 -W 5 {labs.address(far)}", seconds=60)
    if done.code != 0 or " 0% packet loss" not in done.out:
        raise Wrong(f"{near} to {far}: {done.said()}")
    return f"{near} to {far}: {done.out.strip().splitlines()[-1]}"


def a_stream_of_tcp_passes_unaltered(lab):
    near, far = lab.bench.edges
    bytes_sent = min(STREAM_BYTES_MAX, STREAM_BYTES_PER_FRAME * lab.frames)
    program = f"python3 {HERE}/transfer.py"
    machine = lab.bench.site_of_host(far).machine
    fifo = f"/tmp/weft-transfer-{far}"
    machine.must(f"rm -f {fifo} && mkfifo {fifo}")
    receiver = machine.start(
        f"ip netns exec {lab.namespace(far)} {program} receive {labs.address(far)} {fifo}", seconds=120)
    machine.must(f"cat {fifo}; rm {fifo}")
    began = time.monotonic()
    sent = lab.bench.site_of_host(near).machine.run(
        f"ip netns exec {lab.namespace(near)} {program} send {labs.address(far)} {bytes_sent}", seconds=90)
    if sent.code != 0:
        receiver.signal(signal.SIGKILL)
    got = receiver.finish()
    if sent.code != 0 or got.code != 0 or sent.out != got.out:
        raise Wrong(f"sent {sent.out.strip() or sent.err.strip()[-200:]}, received "
                    f"{got.out.strip() or got.err.strip()[-200:]}")
    return (f"{near} to {far}: {bytes_sent} bytes, same SHA-256; "
            f"{time.monotonic() - began:.1f} s")


def has_tshark():
    return shutil.which("tshark") is not None


def a_capture_is_read_by_tshark(lab):
    if not has_tshark():
        raise Unable("tshark is not installed")
    switch = lab.bench.site_of("s0").machine
    near, far = lab.bench.edges
    path = f"{lab.folder}/capture.pcapng"
    capture = switch.start(lab.command("capture", "s0:0", "-o", path), seconds=60)
    switch.run(machine.until_file(path, "s0:0"))
    ping = lab.bench.site_of_host(near).machine.run(
        f"ip netns exec {lab.namespace(near)} ping -c {PINGS} -i 0.2 -W 5 -s 400 {labs.address(far)}", seconds=60)
    capture.signal(signal.SIGINT)
    done = capture.finish()
    if done.code != 0 or " 0 dropped" not in done.err:
        raise Wrong(f"capture: {done.said()}")
    counts = read_capture(switch.get(path), ("s0:0",))
    if min(counts.get(("1", way), 0) for way in "12") < PINGS or counts.get(("2", "2"), 0) == 0:
        raise Wrong(f"tshark finds frames by (kind, direction): {counts}; {ping.out.strip()[-60:]}")
    return f"{sum(counts.values())} frames of s0:0: " + ", ".join(
        f"{counts[key]} {word}" for key, word in ((("1", "1"), "data in"), (("1", "2"), "data out"),
                                                  (("2", "1"), "credits in"), (("2", "2"), "credits out"))
        if key in counts)


def read_capture(data, ports):
    """How many frames there are of each (kind, direction), all of them of these ports."""
    with tempfile.NamedTemporaryFile(suffix=".pcapng") as file:
        file.write(data)
        file.flush()
        read = subprocess.run(["tshark", "-X", f"lua_script:{DISSECTOR}", "-r", file.name, "-T", "fields", "-e",
                               "weft.kind", "-e", "frame.packet_flags_direction", "-e", "frame.interface_name",
                               "-Y", "weft"], capture_output=True, text=True, timeout=120, check=False)
    if read.returncode != 0:
        raise Wrong(f"tshark: {read.stderr.strip()[-200:]}")
    counts = {}
    for line in read.stdout.splitlines():
        kind, direction, interface = line.split("\t")
        if interface not in ports:
            raise Wrong(f"a frame of {interface} is in the capture of {', '.join(ports)}")
        way = {"0x00000001": "1", "0x00000002": "2"}.get(direction, direction)
        counts[kind, way] = counts.get((kind, way), 0) + 1
    return counts


def nothing_is_lost_if_a_cable_is_pulled_under_traffic(lab):
    """It is put back before the run ends, or while messages wait for it."""
    port = pulled_port(lab)

    before = traffic.Counted(lab)

    def cut_and_heal():
        lab.wait(lambda: traffic.Counted(lab, before).delivered > 0, "no message arrives")
        try:
            lab.bench.cables[port].carrier(False)
            lab.wait(lambda: lab.links()[port] == "no carrier", f"{port} has carrier")
        finally:
            lab.bench.cables[port].carrier(True)
        lab.wait(lab.all_up, "links are not up")

    traffic.one_run(lab, TRAFFIC_SECONDS, cut_and_heal)
    got = lab.wait(lambda: traffic.all_arrived(lab, before), "messages are still under way")
    return (f"{port} was cut and joined: {got.delivered} frames of {lab.mtu}, {got.repeated} sent twice; 0 lost, 0 "
            "duplicated, 0 out of order")


def pulled_port(lab):
    port = "s0:0" if "s0:2" not in lab.bench.cables else "s0:2"
    if port not in lab.bench.cables:
        raise Unable("nobody pulls cables of this machine")
    return port


def carrier_loss_is_link_down_at_once(lab):
    """Both ends get it from their NICs: an end to which three hellos do not come has another state."""
    port = pulled_port(lab)
    ends = (port, f"h{port[3:]}:0")
    seen = []

    def are_dark():
        links = lab.links()
        seen.append(tuple(links.get(end, "") for end in ends))
        return seen[-1] == ("no carrier", "no carrier")

    try:
        lab.bench.cables[port].carrier(False)
        lab.wait(are_dark, f"{', '.join(ends)} are not both without carrier")
    finally:
        lab.bench.cables[port].carrier(True)
    others = {state for states in seen for state in states} - {"up", "no carrier"}
    if others:
        raise Wrong(f"{port} or {ends[1]} was {', '.join(sorted(others))} before it knew of the carrier")
    lab.wait_whole()
    return f"{' and '.join(ends)} without carrier after the cut, and up when it was joined"


def swapped_cables_are_on_the_map(lab):
    if len(lab.bench.cables) < 3:
        raise Unable("there are no two cables to exchange")
    first, second = (lab.bench.cables[f"s0:{i}"] for i in (1, 2))
    if isinstance(first.a, cables.BridgePort):
        raise Unable("a bridge has no cables to exchange: frames find the port of their address")
    began = time.monotonic()
    cables.swap(first, second)
    try:
        shown = lab.wait(lambda: exchanged(lab), "the map does not show the exchanged cables")
        took = time.monotonic() - began
    finally:
        back = time.monotonic()
        cables.swap(first, second)
    lab.wait_whole()
    return f"'{shown}' after {took:.1f} s; swapped back, no difference after {time.monotonic() - back:.1f} s"


def exchanged(lab):
    """The first difference of a map on which h1 leads to s0:2 and h2 to s0:1; None: it is another map."""
    lines = lab.differences() or []
    for host, port in (("h1:0", "s0:2"), ("h2:0", "s0:1")):
        if not any(f"{host} leads to {port}" in line for line in lines):
            return None
    return lines[0]


def kill_and_restart(lab, process):
    site = lab.bench.site_of(process)
    site.machine.must(f"kill -9 {lab.pid(process)}")
    began = time.monotonic()
    lab.wait(lambda: is_gone(lab, site, process), f"{process} is not gone")
    done = lab.on(site, "up", "--process", process, "--wait", "60s", seconds=120)
    if done.code != 0:
        raise Wrong(done.said())
    lab.wait_whole()
    took = time.monotonic() - began
    return f"up again after {took:.1f} s; " + traffic.until(lab, FRAMES_AFTER_A_KILL, 3)


def is_gone(lab, site, process):
    status = json.loads(lab.on(site, "status", "--json").out)
    return {p["name"]: p["state"] for p in status["processes"]}[process] == "gone"


def a_killed_switch_comes_back_on_its_nics(lab):
    return kill_and_restart(lab, "s0")


def killed_hosts_come_back_on_their_nics(lab):
    return kill_and_restart(lab, "h0")


def down_leaves_nothing(lab):
    began = time.monotonic()
    left = lab.down()
    if left:
        raise Wrong(f"{len(left)} things are left: {'; '.join(left[:5])}")
    return f"no process, file, namespace, interface or hugepage; {time.monotonic() - began:.1f} s"


ALL = (all_links_come_up, the_mapper_finds_the_fabric_of_the_file, ports_pass_frames_of_full_size,
       frames_arrive_once_and_in_order, nothing_is_lost_if_a_cable_is_pulled_under_traffic, ping_passes,
       a_stream_of_tcp_passes_unaltered, a_capture_is_read_by_tshark, carrier_loss_is_link_down_at_once,
       swapped_cables_are_on_the_map, a_killed_switch_comes_back_on_its_nics,
       killed_hosts_come_back_on_their_nics, down_leaves_nothing)
SHORT = (all_links_come_up, the_mapper_finds_the_fabric_of_the_file, frames_arrive_once_and_in_order, ping_passes,
         down_leaves_nothing)
