# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Claims about a lab on three guests that one console reaches over ssh: the life of a lab, in its order. A
function for each claim, which returns its figures in a line, or raises Wrong."""
import json
import re
import time

import cases
import clock_truth
from console import HUGEPAGES, LAB, NAMES
from lab import Wrong
from traffic import CHECKS

RUN_SECONDS = 3
RUN_SECONDS_MAX = 300
CAPTURE_SECONDS = 120
AWAY = "m2" # the guest that is reset: h2, on it, may be the mapper
WAIT_SECONDS = 180
CLOCK_SECONDS = 60 # traffic; longer for more samples
CLOCK_SAMPLES_A_SECOND = 5


def expect(holds, what):
    if not holds:
        raise Wrong(what)


def wait_up(console):
    """The status of a lab that is up."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (status := console.status())["up"]:
        expect(time.monotonic() < deadline, f"the lab is not up after {WAIT_SECONDS} s: {status['mapping']['why']} "
               + ", ".join(f"{link['port']} {link['state']}" for link in status["links"] if link["state"] != "up"))
    return status


def states(status, machine):
    return {process["state"] for process in status["processes"] if process["machine"] == machine}


def process_ids(status):
    """Processes in the guests that are not reset."""
    return {process["name"]: process["pid"] for process in status["processes"] if process["machine"] != AWAY}


def words_of_counts(counts):
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def ansible_prepares_the_guests(console):
    began = time.monotonic()
    changed = console.playbook.run()
    expect(set(changed) == set(NAMES) and min(changed.values()) > 0, f"changed: {changed}")
    took = time.monotonic() - began
    for name in NAMES:
        for address in console.addresses[name]:
            driver = console.on(name, f"basename $(readlink /sys/bus/pci/devices/{address}/driver)").strip()
            expect(driver == console.guests.driver.kernel_driver, f"{name}: {address} is bound to {driver}")
        expect(f"HugePages_Total: {HUGEPAGES:7}" in console.on(name, "cat /proc/meminfo"), f"{name} has no hugepages")
        said = console.on(name, "systemctl is-active weft-ports; systemctl is-enabled weft-ports").split()
        expect(said == ["active", "enabled"], f"{name}: weft-ports is {said}")
    return f"changes on {words_of_counts(changed)}; ports bound, {HUGEPAGES} hugepages on each; {took:.0f} s"


def a_second_run_of_ansible_changes_nothing(console):
    began = time.monotonic()
    for words in ((), ("--check",)):
        changed = console.playbook.run(*words)
        expect(changed == {name: 0 for name in NAMES}, f"changed: {changed}")
    console.note_remains()
    return f"changes on {words_of_counts(changed)}, and with --check; {time.monotonic() - began:.0f} s"


def up_brings_the_lab_up_on_three_guests(console):
    began = time.monotonic()
    said = console.up().splitlines()
    expect(re.fullmatch(r"lab bench is up on 3 of 3 machines after \d+ ms: 6 processes, 3 switches, 3 hosts, 6 links",
                        said[0]), said[0])
    return f"{said[0]}; {time.monotonic() - began:.1f} s"


def status_has_the_processes_and_links_of_all_guests(console):
    status = wait_up(console)
    found = {(p["name"], p["machine"], p["state"]) for p in status["processes"]}
    expect(found == {(f"{kind}{i}", name, "running") for i, name in enumerate(NAMES) for kind in "sh"}, str(found))
    expect(len(status["links"]) == 12 and status["elsewhere"] == [], str(status["links"]))
    return (f"{len(found)} processes run, {len(status['links'])} ends of links, "
            f"the mapper is {status['mapping']['mapper']}")


def judge(result):
    """Messages that have arrived, all of them once and in their order."""
    for check in CHECKS:
        expect(result["checks"][check] == 0, f"{result['checks'][check]} {check.replace('_', ' ')}")
    expect(result["messages"]["delivered"] > 0, "nothing has arrived")
    return result["messages"]["delivered"]


def counted(result):
    """What a run counted that is no plain success: reasons, packets, and events at links and interfaces."""
    words = ("down", "retransmitted", "discard", "lost", "failed", "silent", "unreachable", "stall")
    events = {name: value for name, value in result["counters"].items()
              if value and any(word in name for word in words)}
    return (f"{result['messages']}, {result['packets']}, {events}, {result['incomplete_reasons']}, "
            f"loops away for up to {result['wall'].get('away_ns', 0) / 1e6:.0f} ms")


def one_run(console, seconds):
    result = console.run(seconds)
    delivered, injected = judge(result), result["messages"]["injected"]
    expect(delivered == injected, f"{injected} messages were sent and {delivered} have arrived: {counted(result)}")
    return delivered


def frames_arrive_once_and_in_order(console):
    delivered = runs = sent_seconds = 0
    seconds, began = RUN_SECONDS, time.monotonic()
    while delivered < console.frames:
        delivered += one_run(console, seconds)
        runs, sent_seconds = runs + 1, sent_seconds + seconds
        print(f"     {delivered} frames after {runs} runs and {time.monotonic() - began:.0f} s", flush=True)
        rest = 1.1 * (console.frames - delivered) * sent_seconds / delivered
        seconds = min(max(RUN_SECONDS, round(rest)), RUN_SECONDS_MAX)
    return (f"{delivered} frames of {console.mtu} in {runs} runs; 0 lost, 0 duplicated, 0 out of order; "
            f"{time.monotonic() - began:.0f} s")


def collect_clocks(console, seconds):
    """What hosts on all guests learn of clocks while traffic runs."""
    processes = [process for process in wait_up(console)["processes"] if process["program"] == "weft-nic"]
    run = console.start("run", LAB, "--duration", f"{seconds}s", "--json", "-")
    orders = [console.start_clock_samples(process["machine"], process["prefix"],
                                          -(-console.samples // len(processes)), seconds) for process in processes]
    done = [order.finish() for order in orders]
    console.interrupt(run)
    for each in done:
        expect(each.code == 0, each.said())
    return [json.loads(line) for each in done for line in each.out.splitlines()]


def clocks_are_known_within_their_bound(console):
    truth, machine_of = console.truth(), {f"h{i}": name for i, name in enumerate(NAMES)}
    samples = collect_clocks(console, CLOCK_SECONDS + console.samples // CLOCK_SAMPLES_A_SECOND)
    expect(len(samples) >= console.samples, f"only {len(samples)} samples of {console.samples}")
    worst, doubts = 0, []
    for clock in samples:
        at, of = machine_of[clock["at"]], machine_of[clock["of"]]
        doubts.append(truth.doubt_ns(at, of))
        error = abs(clock["remote_ns"] - truth.remote_ns(at, of, clock["local_ns"])) + doubts[-1]
        expect(error <= clock["bound_ns"] and clock["steps"] == 0, f"{float(error):.0f} ns away: {clock}")
        worst = max(worst, error / clock["bound_ns"])
    bounds = sorted(clock["bound_ns"] for clock in samples)
    for name, guest in console.guests.guests.items():
        again = clock_truth.measure(guest, console.probe)
        expect(again.low <= console.counters[name].high and again.high >= console.counters[name].low,
               f"{name}: its counter has moved: the test has a fault")
    return (f"{len(samples)} of {len(samples)} samples within: bound p50 {bounds[len(bounds) // 2] / 1e3:.1f} us, max "
            f"{bounds[-1] / 1e3:.1f} us; error at most {float(worst):.2f} of its bound; the truth is known within "
            f"{float(max(doubts)) / 1e3:.1f} us")


def a_capture_joins_ports_of_two_guests(console):
    ports = ("s0:1", "s1:2")
    began = time.monotonic()
    capture = console.start("capture", LAB, *ports, "-o", console.path("ports.pcapng"))
    while not all(port.encode() in console.read("ports.pcapng") for port in ports):
        expect(capture.poll() is None and time.monotonic() < began + CAPTURE_SECONDS, "the capture does not begin")
        time.sleep(0.1)
    console.run(RUN_SECONDS)
    code, _, err = console.interrupt(capture)
    expect(code == 0, f"capture: exit {code}: {err}")
    counts = {port: re.search(rf"{port}: (\d+) frames captured, (\d+) dropped", err) for port in ports}
    expect(all(counts.values()) and all(int(found[1]) > 0 for found in counts.values()), err)
    figures = ", ".join(f"{port} {found[1]} frames, {found[2]} dropped" for port, found in counts.items())
    if cases.has_tshark():
        read = cases.read_capture(console.read("ports.pcapng"), ports)
        expect(min(read.get(("1", way), 0) for way in "12") > 0, f"tshark finds frames by (kind, direction): {read}")
        figures += f"; tshark reads {sum(read.values())}"
    return figures


def link_cuts_and_joins_a_cable_between_guests(console):
    expect(console.must("link", LAB, "s0:1", "down") == "s0:1 - s1:2 is cut\n", "s0:1 is not cut")
    found = {link["port"]: link["state"] for link in console.status()["links"]}
    expect((found["s0:1"], found["s1:2"], found["s2:1"]) == ("cut", "cut", "up"), str(found))
    delivered = one_run(console, RUN_SECONDS)
    expect(console.must("link", LAB, "s0:1", "up") == "s0:1 - s1:2 is joined\n", "s0:1 is not joined")
    wait_up(console)
    return f"{delivered} frames arrived the other way round; joined, the lab is up"


def a_reset_guest_comes_back_and_the_others_go_on(console):
    before = process_ids(wait_up(console))
    began = time.monotonic()
    console.guests.guests[AWAY].reset()
    without = judge(console.run(RUN_SECONDS))
    console.boot_again(AWAY)
    back = time.monotonic() - began
    status = console.status()
    expect(states(status, AWAY) == {"gone"}, f"{AWAY} has lost its processes, but {states(status, AWAY)}")
    expect(process_ids(status) == before, f"{before} before the reset, {process_ids(status)} after it")
    said = console.up().splitlines()[0]
    expect("is up on 3 of 3 machines" in said, said)
    expect(process_ids(wait_up(console)) == before, "up has started more than what was missing")
    return (f"{without} frames arrived between the others; the guest obeyed after {back:.0f} s, the lab is whole "
            f"after {time.monotonic() - began:.0f} s")


def frames_arrive_after_the_reset(console):
    delivered = one_run(console, RUN_SECONDS)
    return f"{delivered} frames; 0 lost, 0 duplicated, 0 out of order"


def down_leaves_nothing(console):
    said = console.must("down", LAB)
    expect(said == "bench down on 3 of 3 machines\n", said)
    for name in NAMES:
        left = console.remains(name) ^ console.before[name]
        expect(not left, f"{name}: {'; '.join(sorted(left))}")
    expect(not console.remains_here(), f"the console: {console.remains_here()}")
    return "no process, file, namespace, interface or hugepage on any guest, no file on the console"


ALL = (ansible_prepares_the_guests, a_second_run_of_ansible_changes_nothing, up_brings_the_lab_up_on_three_guests,
       status_has_the_processes_and_links_of_all_guests,
       frames_arrive_once_and_in_order, clocks_are_known_within_their_bound, a_capture_joins_ports_of_two_guests,
       link_cuts_and_joins_a_cable_between_guests, a_reset_guest_comes_back_and_the_others_go_on,
       frames_arrive_after_the_reset, down_leaves_nothing)


def run(report, label, console):
    """In their order; after one that failed, only the last one, for whatever that one has left."""
    for number, case in enumerate(ALL):
        if not report.case(f"{label}_{case.__name__}", lambda case=case: case(console)):
            left = ALL[number + 1:]
            for other in left[:-1]:
                report.fail(f"{label}_{other.__name__}", "not tried")
            if left:
                report.case(f"{label}_{left[-1].__name__}", lambda: left[-1](console))
            return
