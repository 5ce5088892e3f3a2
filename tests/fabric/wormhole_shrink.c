/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reduces a case that shows a difference until it can be computed by hand. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wire/frame.h"
#include "wormhole_case.h"

/* Number of tries. The longest take a second. */
#define TRIES_MAX 4000

struct shrinker {
	wormhole_bad_fn *bad;
	unsigned tries;
};

/* Returns the same case with other messages. The caller frees these. */
static struct wormhole_case with_room(const struct wormhole_case *the_case)
{
	struct wormhole_case copy = *the_case;

	copy.message = malloc((the_case->messages + 1) * sizeof(*copy.message));
	if (copy.message == NULL)
		abort();
	memcpy(copy.message, the_case->message, the_case->messages * sizeof(*copy.message));
	return copy;
}

/* Replaces the case with 'changed' if that is also bad. */
static bool adopt(
	struct wormhole_case *the_case, struct wormhole_case *changed, struct shrinker *shrinker)
{
	if (shrinker->tries++ >= TRIES_MAX || !shrinker->bad(changed)) {
		free(changed->message);
		return false;
	}
	free(the_case->message);
	*the_case = *changed;
	return true;
}

/* Removes 'count' messages, starting with 'first'. */
static bool take_away(
	struct wormhole_case *the_case, uint32_t first, uint32_t count, struct shrinker *shrinker)
{
	struct wormhole_case changed = with_room(the_case);

	if (count > changed.messages - first)
		count = changed.messages - first;
	memmove(&changed.message[first], &changed.message[first + count],
		(changed.messages - first - count) * sizeof(*changed.message));
	changed.messages -= count;
	return adopt(the_case, &changed, shrinker);
}

static bool fewer_messages(struct wormhole_case *the_case, struct shrinker *shrinker)
{
	bool any = false;

	for (uint32_t count = the_case->messages / 2 + 1; count > 0; count /= 2)
		for (uint32_t first = 0; first < the_case->messages;)
			if (take_away(the_case, first, count, shrinker))
				any = true;
			else
				first += count;
	return any;
}

static bool change_message(struct wormhole_case *the_case, uint32_t i, uint32_t bytes,
	uint64_t cycle, struct shrinker *shrinker)
{
	struct wormhole_case changed = with_room(the_case);

	changed.message[i].bytes = bytes;
	changed.message[i].cycle = cycle;
	return adopt(the_case, &changed, shrinker);
}

static bool smaller_messages(struct wormhole_case *the_case, struct shrinker *shrinker)
{
	bool any = false;

	for (uint32_t i = 0; i < the_case->messages; i++) {
		for (uint32_t cut = the_case->message[i].bytes - 1; cut > 0; cut /= 2)
			while (the_case->message[i].bytes > cut &&
				change_message(the_case, i, the_case->message[i].bytes - cut,
					the_case->message[i].cycle, shrinker))
				any = true;
		for (uint64_t cut = the_case->message[i].cycle; cut > 0; cut /= 2)
			while (the_case->message[i].cycle >= cut &&
				change_message(the_case, i, the_case->message[i].bytes,
					the_case->message[i].cycle - cut, shrinker))
				any = true;
	}
	return any;
}

void wormhole_case_shrink(struct wormhole_case *the_case, wormhole_bad_fn *bad)
{
	struct shrinker shrinker = {.bad = bad};
	bool smaller = bad(the_case);

	while (smaller) {
		smaller = fewer_messages(the_case, &shrinker);
		smaller = smaller_messages(the_case, &shrinker) || smaller;
	}
}

/* Writes a path as the ports through which it leaves hosts and switches. */
static void print_route(
	const struct wormhole_case *the_case, const struct flit_message *message, FILE *out)
{
	const struct topology *topology = the_case->topology;
	struct topology_port at = {DEVICE_HOST, message->source, 0}, next;
	char name[TOPOLOGY_NAME_MAX + 16];

	for (unsigned i = 0;; i++) {
		const struct topology_link *link = topology_link_at(topology, at);

		topology_port_name(topology, at, name, sizeof(name));
		fprintf(out, " %s", name);
		if (link == NULL || !topology_peer(topology, at, &next))
			return;
		fprintf(out, " -%" PRIu64 "-",
			(link->delay_ps + the_case->parameters.cycle_ps - 1) /
				the_case->parameters.cycle_ps);
		if (next.kind == DEVICE_HOST && message->route[i] == ROUTE_TYPE_ITB) {
			at = next;
			continue;
		}
		topology_port_name(topology, next, name, sizeof(name));
		fprintf(out, " %s", name);
		if (next.kind == DEVICE_HOST)
			return;
		at = next;
		at.port = message->route[i] & ROUTE_PORT_MASK;
	}
}

void wormhole_case_print(const struct wormhole_case *the_case, FILE *out)
{
	const struct flit_parameters *parameters = &the_case->parameters;

	fprintf(out, "seed %" PRIu64 ": %s\n", the_case->seed, the_case->name);
	fprintf(out,
		"routing %u %s the grant, buffers %u, STOP above %u, GO below %u, detection %u, programming %u, "
		"pool %" PRIu64 "\n",
		parameters->routing, parameters->routed_before_grant ? "before" : "from",
		parameters->slots, parameters->stop, parameters->go, parameters->detection,
		parameters->programming, parameters->pool);
	if (the_case->until != FLIT_NEVER)
		fprintf(out, "until cycle %" PRIu64 "\n", the_case->until);
	for (uint32_t i = 0; i < the_case->messages; i++) {
		const struct flit_message *message = &the_case->message[i];

		fprintf(out, "message %u: cycle %" PRIu64 ", %u flits:", i, message->cycle,
			message->bytes);
		print_route(the_case, message, out);
		fputc('\n', out);
	}
}
