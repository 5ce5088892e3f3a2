/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads size distributions and flow matrices. Refused input gives a one-line reason that starts
 * with the file name. Every size drawn from an accepted distribution is within it. */

#include <stdlib.h>
#include <string.h>

#include "experiment/workload/run_flows.h"
#include "fuzz.h"

static void require_reason(const struct error *error)
{
	REQUIRE(strncmp(error->text, "fuzz:", 5) == 0 && strchr(error->text, '\n') == NULL);
}

static void check_sizes(char *text, size_t size)
{
	struct error error = {""};
	struct flow_size_point *at;
	struct flow_sizes sizes;
	struct rng rng;

	if (flow_sizes_parse(text, size, "fuzz", &at, &sizes, &error) == 0) {
		rng_init(&rng, 1, 2, 3);
		for (unsigned i = 0; i < 8; i++) {
			uint64_t bytes = flow_sizes_draw(&sizes, &rng);

			REQUIRE(bytes >= 1 && bytes <= sizes.at[sizes.count - 1].bytes + 1);
		}
	} else {
		require_reason(&error);
	}
	free(at);
}

static void check_matrix(char *text, size_t size)
{
	struct topology *topology = topology_generate("full:switches=2,hosts=4", NULL);
	struct flow_matrix matrix;
	struct error error = {""};

	REQUIRE(topology != NULL);
	if (flow_matrix_parse(text, size, "fuzz", topology, &matrix, &error) == 0) {
		for (uint32_t i = 1; i < matrix.count; i++)
			REQUIRE(matrix.at[i].from > matrix.at[i - 1].from ||
				matrix.at[i].weight > matrix.at[i - 1].weight);
	} else {
		require_reason(&error);
	}
	free(matrix.at);
	topology_destroy(topology);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void (*const check[])(char *, size_t) = {check_sizes, check_matrix};

	for (unsigned i = 0; i < 2; i++) {
		char *text = calloc(1, size + 1);

		REQUIRE(text != NULL);
		memcpy(text, data, size);
		check[i](text, size);
		free(text);
	}
	return 0;
}
