/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_ready.h"

#include <stdio.h>
#include <string.h>

#include "lab_elsewhere.h"
#include "lab_query.h"

static const char *text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value != NULL ? value : "";
}

/* "nothing was heard from spine, which runs on another machine: …" */
static void say_unheard(const char *peer, const json_t *elsewhere, char *out, size_t size)
{
	char device[TOPOLOGY_NAME_MAX];

	snprintf(device, sizeof(device), "%.*s", (int)strcspn(peer, ":"), peer);
	if (lab_elsewhere_has(elsewhere, device))
		snprintf(out, size,
			"nothing was heard from %s, which runs on another machine: its part of the "
			"lab must be up there, and the cable be in these two ports",
			device);
	else
		snprintf(out, size, "nothing was heard from the other end");
}

/* Links are up when they have heard the other end, and down from the third hello on that is
 * missing: those of which that never came, too. */
static void explain(const json_t *link, const json_t *elsewhere, char why[LAB_READY_TEXT])
{
	const char *port = text(link, "port"), *peer = text(link, "peer");
	const char *state = text(link, "state");
	char reason[200] = "the other end is heard no more";

	if (strcmp(state, "cut") == 0)
		snprintf(reason, sizeof(reason), "'weft lab link' joins it");
	else if (strcmp(state, "no carrier") == 0) {
		state = "without carrier";
		snprintf(reason, sizeof(reason), "is the cable in, and the other end on?");
	} else if (json_integer_value(json_object_get(link, "sessions_seen")) == 0) {
		state = "waiting";
		say_unheard(peer, elsewhere, reason, sizeof(reason));
	}
	snprintf(why, LAB_READY_TEXT, "link %s - %s is %s: %s", port, peer, state, reason);
}

void lab_ready_judge(json_t *links, const json_t *elsewhere, struct lab_ready *ready)
{
	json_t *link;
	size_t index;

	*ready = (struct lab_ready){.answers = true, .links = json_array_size(links)};
	json_array_foreach(links, index, link)
	{
		if (strcmp(text(link, "state"), "up") == 0)
			ready->up++;
		else if (ready->why[0] == '\0')
			explain(link, elsewhere, ready->why);
	}
}

void lab_ready_ask(
	const struct lab_record *record, const json_t *elsewhere, struct lab_ready *ready)
{
	struct lab_connection connection;
	struct fault fault;
	json_t *links;

	*ready = (struct lab_ready){.answers = false};
	if (lab_connect(&connection, record->prefix, &fault) < 0)
		return;
	ready->answers = true;
	links = lab_ask_links(&connection, &fault);
	if (links != NULL)
		lab_ready_judge(links, elsewhere, ready);
	json_decref(links);
	lab_disconnect(&connection);
}
