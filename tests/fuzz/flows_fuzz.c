/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads lists of flows. Refused input gives a one-line reason that starts with the file name. Each
 * accepted flow is a send of the schedule built from the list. */

#include <stdlib.h>
#include <string.h>

#include "experiment/workload/run_flows.h"
#include "fuzz.h"

static void check(const struct run_flows *flows, const struct goal *goal)
{
	for (uint32_t i = 0; i < flows->count; i++) {
		const struct run_flow_request *flow = &flows->at[i];

		REQUIRE(flow->op < goal->ops && goal->op[flow->op].kind == GOAL_SEND);
		REQUIRE(goal->op[flow->op].amount == flow->bytes);
		REQUIRE(goal->op[flow->op].peer == flow->to && flow->from < goal->ranks);
	}
	REQUIRE(goal->ops == 3 * flows->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct topology *topology = topology_generate("full:switches=2,hosts=4", NULL);
	char *text = calloc(1, size + 1);
	struct run_flows flows = {NULL, 0};
	struct error error = {""};
	struct goal *goal;

	REQUIRE(topology != NULL && text != NULL);
	memcpy(text, data, size);
	if (run_flows_parse(text, size, "fuzz", topology, &flows, &goal, &error) == 0)
		check(&flows, goal);
	else
		REQUIRE(strncmp(error.text, "fuzz:", 5) == 0 && strchr(error.text, '\n') == NULL);
	goal_destroy(goal);
	free(flows.at);
	free(text);
	topology_destroy(topology);
	return 0;
}
