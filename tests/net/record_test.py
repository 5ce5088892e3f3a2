#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The library of 'weft lab mpirun --record', in ranks that mpirun starts on this machine.

usage: record_test.py WEFT WEFT-RECORD.SO [TEST]...
"""
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

int main(int argc, char **argv)
{
	int rank, size, flag = 0, counts[64], at[64];
	const char *mode = argv[1];
	MPI_Request request[2];
	MPI_Status status;
	MPI_Comm half;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < size; i++)
		counts[i] = 10, at[i] = 10 * i;
	if (strcmp(mode, "any") == 0) { /* a ring with wildcards and requests */
		MPI_Irecv(in, 90000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[0]);
		MPI_Isend(out, 70000, MPI_CHAR, (rank + 1) % size, 7, MPI_COMM_WORLD, &request[1]);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	} else if (strcmp(mode, "late") == 0 && rank == 0) { /* any message, when only one rank is left to send it */
		MPI_Recv(in, 70000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	} else if (strcmp(mode, "late") == 0 && rank == size - 1) {
		for (int i = 0; i < 20000; i++)
			MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
		MPI_Send(out, 70000, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
	} else if (strcmp(mode, "poll") == 0 && rank == 0) {
		MPI_Send(out, 9, MPI_CHAR, 1, 4, MPI_COMM_WORLD);
	} else if (strcmp(mode, "poll") == 0 && rank == 1) {
		for (MPI_Irecv(in, 9, MPI_CHAR, 0, 4, MPI_COMM_WORLD, request); !flag;)
			MPI_Test(request, &flag, &status);
	} else if (strcmp(mode, "half") == 0) { /* ranks of a communicator are not those of the world */
		MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
		MPI_Comm_rank(half, &rank);
		MPI_Comm_size(half, &size);
		MPI_Sendrecv(out, 500, MPI_CHAR, (rank + 1) % size, 3, in, 500, MPI_CHAR, (rank + size - 1) % size, 3,
			half, MPI_STATUS_IGNORE);
	} else if (strcmp(mode, "bcast") == 0) {
		MPI_Bcast(out, 100, MPI_INT, 1, MPI_COMM_WORLD);
	} else if (strcmp(mode, "allreduce") == 0) {
		MPI_Allreduce(out, in, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	} else if (strcmp(mode, "gather") == 0) {
		MPI_Gather(out, 10, MPI_INT, in, 10, MPI_INT, 0, MPI_COMM_WORLD);
	} else if (strcmp(mode, "allgather") == 0) {
		MPI_Allgather(out, 10, MPI_INT, in, 10, MPI_INT, MPI_COMM_WORLD);
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
	MPI_Finalize();
	return 0;
}
"""
# Sends and bytes on n ranks, an odd number: with an even one the halves of two would be alone.
EXPECTED = {
    "any": lambda n: (n, 70000 * n),
    "late": lambda n: (1, 70000),
    "poll": lambda n: (1, 9),
    "half": lambda n: (n, 500 * n),
    "bcast": lambda n: (n - 1, 400 * (n - 1)),
    "allreduce": lambda n: (2 * (n - 1), 800 * (n - 1)),
    "gather": lambda n: (n - 1, 40 * (n - 1)),
    "allgather": lambda n: (n * (n - 1), 40 * n * (n - 1)),
    "alltoallv": lambda n: (n * (n - 1), 40 * n * (n - 1)),
}
MPIRUN = ["mpirun", "--quiet", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "tcp,self"]


class Record(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="weft-record-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        (cls.dir / "program.c").write_text(PROGRAM)
        subprocess.run(["mpicc", "-o", cls.dir / "program", cls.dir / "program.c"], check=True, timeout=240)

    def record(self, ranks, mode, code=0):
        path = self.dir / f"{mode}.goal"
        path.unlink(missing_ok=True)
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        done = subprocess.run([*MPIRUN, *root, "-np", str(ranks), "-x", f"LD_PRELOAD={LIBRARY}", "-x", f"WEFT_RECORD={path}",
                               str(self.dir / "program"), mode], capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return path, done.stderr

    def check(self, path):
        done = subprocess.run([WEFT, "goal", "check", str(path)], capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return tuple(map(int, re.search(r"(\d+) sends? of (\d+) bytes? in all", done.stdout).groups()))

    def test_each_way_to_send_has_its_messages(self):
        for mode, expected in EXPECTED.items():
            path, said = self.record(5, mode)
            self.assertEqual((mode, said, self.check(path)), (mode, "", expected(5)))

    def test_the_schedule_runs_on_a_fabric(self):
        path, _ = self.record(4, "any")
        (self.dir / "run.yaml").write_text("weft: run/1\ntopology: 'full:switches=2,hosts=2'\nclock: virtual\n"
                                           f"traffic: [{{pattern: goal, file: {path}}}]\n")
        subprocess.run([WEFT, "run", "-q", "--json", self.dir / "r.json", self.dir / "run.yaml"], check=True, timeout=240)
        result = json.loads((self.dir / "r.json").read_text())
        self.assertEqual((result["messages"]["delivered"], result["counters"]["goal_unfinished"]), (4, 0))

    def test_a_schedule_with_a_gap_is_an_error(self):
        path, said = self.record(1, "memory", code=3)
        self.assertIn("rank 0: no memory for the schedule", said)
        self.assertFalse(path.exists())

    def test_what_is_not_recorded_is_named(self):
        _, said = self.record(2, "scan")
        for rank in range(2):
            self.assertIn(f"rank {rank}: MPI_Scan is not recorded, the schedule lacks its messages", said)


if __name__ == "__main__":
    for program in ("mpirun", "mpicc"):
        if shutil.which(program) is None:
            print(f"{program} is not installed (openmpi-bin, libopenmpi-dev)")
            sys.exit(77)
    unittest.main(verbosity=2)
