/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "console_orders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lab_query.h"
#include "lab_remote.h"
#include "lab_signals.h"

#define FAR_NS INT64_C(1000000000) /* more than NTP leaves, and than an answer takes */

static int64_t time_of_day_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* How far its clock is ahead of this one, at least (behind: below 0); 0 if the time that the answer
 * takes could explain it all. */
static int64_t least_ahead_ns(struct lab_remote *remote)
{
	int64_t before = time_of_day_ns(), there, after;
	struct fault ignored;
	json_t *answer = lab_remote_call(remote, json_pack("{s:s}", "op", "state"), NULL, &ignored);

	after = time_of_day_ns();
	there = (int64_t)json_integer_value(json_object_get(answer, "time_ns"));
	json_decref(answer);
	if (there == 0)
		return 0;
	return there > after ? there - after : there < before ? there - before : 0;
}

int console_check_clocks(const struct lab_state *state, const bool *spare, struct fault *fault)
{
	const struct lab_remote *first = NULL;
	int64_t first_ahead = 0;
	unsigned count = 0;
	char more[48] = "";

	for (unsigned i = 0; i < state->remotes && !lab_interrupted(); i++) {
		struct lab_remote *remote = &state->remote[i];
		int64_t ahead = spare[i] ? 0 : least_ahead_ns(remote);

		if (ahead <= FAR_NS && ahead >= -FAR_NS)
			continue;
		if (count++ == 0) {
			first = remote;
			first_ahead = ahead;
		}
	}
	if (count == 0)
		return 0;
	if (count > 1)
		snprintf(more, sizeof(more), " (and so is that of %u more)", count - 1);
	return fault_set(fault, ETIME,
		"machine %s: its time of day is %.1f s %s that of this console%s, and captures "
		"have the time of each machine: let NTP set both (apt install chrony), or add "
		"--any-clock",
		first->target.name, (double)llabs(first_ahead) / 1e9,
		first_ahead > 0 ? "ahead of" : "behind", more);
}
