# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""iperf3 between two network namespaces, for the tests of edges."""
import json
import shutil
import subprocess
import time


def bytes_in_a_second(case, client, server, address):
    """Runs a TCP stream of one second from namespace CLIENT to ADDRESS in namespace SERVER.

    Returns the bytes that arrived; fails CASE where a side ends badly or does not end.
    """
    case.assertIsNotNone(shutil.which("iperf3"), "tools/check installs iperf3")
    listener = subprocess.Popen(["ip", "netns", "exec", server, "iperf3", "-s", "-1"],
                                stdout=subprocess.DEVNULL)
    case.addCleanup(listener.kill)
    for _ in range(100):
        run = subprocess.run(["ip", "netns", "exec", client, "iperf3", "-c", address, "-t", "1",
                              "--json"], capture_output=True, text=True, timeout=60, check=False)
        # With --json, iperf3 3.12 exits with 0 where nobody listens yet: only its answer tells.
        if "connection refused" not in (run.stdout + run.stderr).lower():
            break
        time.sleep(0.1)
    case.assertEqual(run.returncode, 0, run.stdout + run.stderr)
    answer = json.loads(run.stdout)
    case.assertNotIn("error", answer)
    try:
        case.assertEqual(listener.wait(30), 0)
    except subprocess.TimeoutExpired:
        sockets = subprocess.run(["ip", "netns", "exec", server, "ss", "-tn"],
                                 capture_output=True, text=True, check=False).stdout
        case.fail(f"the client has ended and the server has not:\n{run.stdout}\n{sockets}")
    return answer["end"]["sum_received"]["bytes"]
