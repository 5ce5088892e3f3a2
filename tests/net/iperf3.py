# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""iperf3 between two network namespaces, for the tests of edges."""
import json
import shutil
import subprocess


def bytes_in_a_second(case, client, server, address):
    """Runs a TCP stream of one second from namespace CLIENT to ADDRESS in namespace SERVER.

    Returns the bytes that arrived; fails CASE if a side fails or does not end.
    """
    case.assertIsNotNone(shutil.which("iperf3"), "tools/check installs iperf3")
    listener = subprocess.Popen(["ip", "netns", "exec", server, "iperf3", "-s", "-1", "--forceflush"],
                                stdout=subprocess.PIPE, text=True)
    case.addCleanup(listener.communicate)
    case.addCleanup(listener.kill)
    while "listening" not in listener.stdout.readline():
        case.assertIsNone(listener.poll(), "iperf3 listens nowhere")
    run = subprocess.run(["ip", "netns", "exec", client, "iperf3", "-c", address, "-t", "1", "--json"],
                         capture_output=True, text=True, timeout=240, check=False)
    case.assertEqual(run.returncode, 0, run.stdout + run.stderr)
    answer = json.loads(run.stdout)
    case.assertNotIn("error", answer)
    try:
        listener.communicate(timeout=240)
        case.assertEqual(listener.returncode, 0)
    except subprocess.TimeoutExpired:
        sockets = subprocess.run(["ip", "netns", "exec", server, "ss", "-tn"],
                                 capture_output=True, text=True, check=False).stdout
        case.fail(f"the client has ended and the server has not:\n{run.stdout}\n{sockets}")
    return answer["end"]["sum_received"]["bytes"]
