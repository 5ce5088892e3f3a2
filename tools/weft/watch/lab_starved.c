/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_collect.h"

#include <string.h>

#include "lab_query.h"
#include "link_end.h"

static uint64_t sum_refused(const json_t *all)
{
	json_t *nics = json_object_get(all, "nics"), *nic;
	const char *host;
	uint64_t refused = 0;

	json_object_foreach(nics, host, nic) refused +=
		json_count_of(nic, "messages_unreachable") + json_count_of(nic, "messages_silent");
	return refused;
}

/* Links went down by themselves, or messages were refused. If a cable was ever cut, the cut may be
 * the cause of the messages. */
static bool suffers(const json_t *all)
{
	bool cut = false;
	json_t *link;
	size_t index;

	json_array_foreach(json_object_get(all, "links"), index, link)
	{
		uint64_t ordered = json_count_of(link, "link_downs_ordered");

		if (json_count_of(link, "link_downs") > ordered)
			return true;
		cut = cut || ordered > 0 || strcmp(lab_text(link, "state"), "cut") == 0;
	}
	return !cut && sum_refused(all) > 0;
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
