#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The library of 'weft lab mpirun --record', in ranks that mpirun starts on this machine.

usage: record_test.py WEFT WEFT-RECORD.SO [TEST]...
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

WEFT, LIBRARY = (os.path.abspath(sys.argv.pop(1)) for _ in range(2)) if len(sys.argv) > 2 else ("", "")
PROGRAM = r"""
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static char out[200000], in[200000];
static int rank, size, counts[64], at[64];

static void run(const char *mode)
{
	MPI_Request request[2];
	MPI_Status status;
	MPI_Comm half;
	int flag = 0;

	if (strcmp(mode, "any") == 0) { /* a ring with wildcards and requests */
		MPI_Irecv(in, 90000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[0]);
		MPI_Isend(out, 70000, MPI_CHAR, (rank + 1) % size, 7, MPI_COMM_WORLD, &request[1]);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	} else if (strcmp(mode, "late") == 0 && rank == 0) { /* any message, when only one rank is left to send it */
		MPI_Recv(in, 60000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	} else if (strcmp(mode, "late") == 0 && rank == size - 1) {
		for (int i = 0; i < 20000; i++)
			MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
		MPI_Send(out, 60000, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
	} else if (strcmp(mode, "poll") == 0 && rank == 0) {
		MPI_Send(out, 9, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
	} else if (strcmp(mode, "poll") == 0 && rank == 1) {
		for (MPI_Irecv(in, 9, MPI_CHAR, 0, 4, MPI_COMM_WORLD, request); !flag;)
			MPI_Test(request, &flag, &status);
	} else if (strcmp(mode, "half") == 0) { /* ranks of a communicator are not those of the world */
		int of_half, half_size;

		MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
		MPI_Comm_rank(half, &of_half);
		MPI_Comm_size(half, &half_size);
		MPI_Sendrecv(out, 500, MPI_CHAR, (of_half + 1) % half_size, 3, in, 500, MPI_CHAR,
			(of_half + half_size - 1) % half_size, 3, half, MPI_STATUS_IGNORE);
	} else if (strcmp(mode, "bcast") == 0) {
		MPI_Bcast(out, 90, MPI_INT, 1, MPI_COMM_WORLD);
	} else if (strcmp(mode, "allreduce") == 0) {
		MPI_Allreduce(out, in, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	} else if (strcmp(mode, "gather") == 0) {
		MPI_Gather(out, 11, MPI_INT, in, 11, MPI_INT, 0, MPI_COMM_WORLD);
	} else if (strcmp(mode, "allgather") == 0) {
		MPI_Allgather(out, 12, MPI_INT, in, 12, MPI_INT, MPI_COMM_WORLD);
	} else if (strcmp(mode, "alltoallv") == 0) {
		MPI_Alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT, MPI_COMM_WORLD);
	} else if (strcmp(mode, "memory") == 0) { /* there is none for a while */
		struct rlimit none = {1 << 20, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};

		setrlimit(RLIMIT_AS, &none);
		for (int i = 0; i < 20000; i++)
			MPI_Sendrecv(out, 1, MPI_CHAR, 0, 3, in, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		setrlimit(RLIMIT_AS, &all);
	} else if (strcmp(mode, "scan") == 0) {
		MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < size; i++)
		counts[i] = 10, at[i] = 10 * i;
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	MPI_Finalize();
	return 0;
}
"""
# Bytes of each message and their number on n ranks, an odd number: with an even one the halves of two would be alone.
EXPECTED = {
    "any": (70000, lambda n: n),
    "poll": (9, lambda n: 1),
    "half": (500, lambda n: n),
    "bcast": (360, lambda n: n - 1),
    "allreduce": (400, lambda n: 2 * (n - 1)),
    "gather": (44, lambda n: n - 1),
    "allgather": (48, lambda n: n * (n - 1)),
    "alltoallv": (40, lambda n: n * (n - 1)),
    "late": (60000, lambda n: 1),  # the last one: the schedule's own messages follow
}
# All modes in one mpirun, whose start costs most; ranks that wait leave their CPU to the others.
MPIRUN = ["mpirun", "--quiet", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "tcp,self",
          "--mca", "mpi_yield_when_idle", "1"]


class Record(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-record-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        (cls.dir / "program.c").write_text(PROGRAM)
        subprocess.run(["mpicc", "-o", cls.dir / "program", cls.dir / "program.c"], check=True, timeout=240)
        cls.recorded, cls.said = cls.record("all", 5, *EXPECTED)
        cls.sends = collections.Counter(map(int, re.findall(r": send (\d+)b", cls.recorded.read_text())))

    @classmethod
    def record(cls, name, ranks, *modes, code=0):
        path = cls.dir / f"{name}.goal"
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        done = subprocess.run([*MPIRUN, *root, "-np", str(ranks), "-x", f"LD_PRELOAD={LIBRARY}", "-x", f"WEFT_RECORD={path}",
                               str(cls.dir / "program"), *modes], capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == code, done.stderr
        return path, done.stderr

    def test_each_way_to_send_has_its_messages(self):
        self.assertEqual((self.said, self.sends), ("", {size: count(5) for size, count in EXPECTED.values()}))

    def test_the_schedule_runs_on_a_fabric(self):
        (self.dir / "run.yaml").write_text("weft: run/1\ntopology: 'full:switches=2,hosts=3'\nclock: virtual\n"
                                           f"traffic: [{{pattern: goal, file: {self.recorded}}}]\n")
        subprocess.run([WEFT, "run", "-q", "--json", self.dir / "r.json", self.dir / "run.yaml"], check=True, timeout=240)
        result = json.loads((self.dir / "r.json").read_text())
        self.assertEqual((result["messages"]["delivered"], result["counters"]["goal_unfinished"]),
                         (sum(self.sends.values()), 0))

    def test_a_schedule_with_a_gap_is_an_error(self):
        path, said = self.record("memory", 1, "memory", code=3)
        self.assertIn("rank 0: not enough memory for the schedule", said)
        self.assertFalse(path.exists())

    def test_what_is_not_recorded_is_named(self):
        _, said = self.record("scan", 2, "scan")
        for rank in range(2):
            self.assertIn(f"rank {rank}: MPI_Scan is not recorded; its messages are missing from the schedule", said)


if __name__ == "__main__":
    for program in ("mpirun", "mpicc"):
        if shutil.which(program) is None:
            print(f"{program} is not installed (openmpi-bin, libopenmpi-dev)")
            sys.exit(77)
    unittest.main(verbosity=2)
