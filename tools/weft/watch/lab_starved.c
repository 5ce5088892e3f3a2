/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_starved.h"

#include <string.h>

#include "json_values.h"
#include "link_end.h"

static uint64_t sum(const json_t *all, const char *class, const char *counter)
{
	json_t *devices = json_object_get(all, class), *counters;
	const char *device;
	uint64_t total = 0;

	json_object_foreach(devices, device, counters) total += json_count_of(counters, counter);
	return total;
}

/* What a process that does not run in time causes at others. */
static bool suffers(const json_t *all)
{
	return sum(all, "ports", "link_downs") + sum(all, "nics", "link_downs") +
		       sum(all, "nics", "messages_unreachable") +
		       sum(all, "nics", "messages_silent") >
	       0;
}

json_t *lab_starved(const json_t *all, weft_time hello_ps)
{
	json_t *loops = json_object_get(all, "loops"), *loop;
	const char *name, *who = "";
	uint64_t away_ns = 0;

	/* A loop's name is PROCESS/NUMBER. */
	json_object_foreach(loops, name, loop)
	{
		if (json_count_of(loop, "loop_away_ns") <= away_ns)
			continue;
		away_ns = json_count_of(loop, "loop_away_ns");
		who = name;
	}
	if (away_ns <= LINK_HELLOS_MISSED * hello_ps / PS_PER_NS || !suffers(all))
		return json_string("");
	return json_sprintf(
		"%.*s's loop was away %.0f ms", (int)strcspn(who, "/"), who, (double)away_ns / 1e6);
}
