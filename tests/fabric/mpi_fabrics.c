/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Random fabrics on the ranks of mpirun, compared with as many threads of rank 0:
 *
 *     mpirun -n 2 mpi_fabrics CASES [FIRST-SEED]
 *
 * Prints the number of cases that gave the same bytes. */

#include "virtual_drawn.h"
#include "virtual_lab.h"

/* Returns true if both results agree, or if this is not rank 0. */
static bool is_same(struct ranks *ranks, unsigned seed)
{
	struct error error = {""}, other = {""};
	char *threads = NULL, *processes;
	struct drawn drawn;
	bool same;

	drawn_draw(seed, &drawn);
	processes = drawn_result(drawn_plain, &drawn, ranks, 1 + seed % 2, &error);
	if (ranks->own != 0)
		return true;
	threads = drawn_result(drawn_plain, &drawn, NULL, ranks->count, &other);
	same = processes != NULL && threads != NULL && strcmp(processes, threads) == 0;
	if (!same)
		fprintf(stderr, "case %u: '%s', '%s'\n", seed, error.text, other.text);
	free(processes);
	free(threads);
	return same;
}

int main(int argc, char **argv)
{
	unsigned cases = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	unsigned first = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1, good = 0;
	struct error error = {""};
	struct ranks *ranks;

	if (ranks_open(&ranks, &error) < 0 || ranks == NULL) {
		fprintf(stderr, "%s\n",
			error.text[0] == '\0' ? "run it with mpirun -n 2" : error.text);
		return EXIT_FAILURE;
	}
	for (unsigned i = 0; i < cases; i++)
		good += is_same(ranks, first + i);
	if (ranks->own == 0)
		printf("%u of %u the same\n", good, cases);
	ranks_close(ranks);
	return good == cases ? EXIT_SUCCESS : EXIT_FAILURE;
}
