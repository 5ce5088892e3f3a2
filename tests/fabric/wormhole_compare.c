/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Compares two outcomes. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wormhole_case.h"

/* A difference. The one in the earliest cycle is reported. */
struct finding {
	uint64_t cycle;
	char *text;
	size_t size;
};

#define find(finding, at, ...)                                                   \
	do {                                                                     \
		if ((at) < (finding)->cycle) {                                   \
			(finding)->cycle = (at);                                 \
			snprintf((finding)->text, (finding)->size, __VA_ARGS__); \
		}                                                                \
	} while (0)

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void compare_fate(struct finding *finding, uint32_t i, const struct wormhole_fate *flits,
	const struct wormhole_fate *trains)
{
	if (flits->left != trains->left)
		find(finding, earlier(flits->left, trains->left),
			"message %u leaves its source in %" PRId64 " flit by flit, in %" PRId64
			" as a train",
			i, (int64_t)flits->left, (int64_t)trains->left);
	if (flits->chosen != trains->chosen)
		find(finding, earlier(flits->chosen, trains->chosen),
			"message %u has the link in %" PRId64 " flit by flit, in %" PRId64
			" as a train",
			i, (int64_t)flits->chosen, (int64_t)trains->chosen);
	if (flits->sent != trains->sent)
		find(finding, earlier(flits->sent, trains->sent),
			"the tail of message %u leaves its source in %" PRId64
			" flit by flit, in %" PRId64 " as a train",
			i, (int64_t)flits->sent, (int64_t)trains->sent);
	if (flits->tail != trains->tail)
		find(finding, earlier(flits->tail, trains->tail),
			"the tail of message %u arrives in %" PRId64 " flit by flit, in %" PRId64
			" as a train",
			i, (int64_t)flits->tail, (int64_t)trains->tail);
	/* These have no cycle, so they are reported only if there is no other difference. */
	if (flits->itbs != trains->itbs)
		find(finding, FLIT_NEVER - 1, "message %u: %u ITBs flit by flit, %u as a train", i,
			flits->itbs, trains->itbs);
	if (flits->discarded != trains->discarded)
		find(finding, FLIT_NEVER - 2, "message %u: %s flit by flit, %s as a train", i,
			flits->discarded ? "discarded" : "kept",
			trains->discarded ? "discarded" : "kept");
}

static void mark_text(const struct wormhole_case *the_case, const struct wormhole_outcome *outcome,
	size_t i, char text[128])
{
	const struct flit_mark *mark = &outcome->mark[i];
	char port[TOPOLOGY_NAME_MAX + 16];

	if (i >= outcome->marks) {
		snprintf(text, 128, "no more");
		return;
	}
	topology_port_name(the_case->topology, mark->sender, port, sizeof(port));
	snprintf(text, 128, "%s to %s in %" PRIu64, mark->stop ? "STOP" : "GO", port, mark->cycle);
}

static bool same_mark(const struct flit_mark *a, const struct flit_mark *b)
{
	return a->cycle == b->cycle && a->stop == b->stop && a->sender.kind == b->sender.kind &&
	       a->sender.device == b->sender.device && a->sender.port == b->sender.port;
}

static void compare_marks(struct finding *finding, const struct wormhole_case *the_case,
	const struct wormhole_outcome *flits, const struct wormhole_outcome *trains)
{
	char left[128], right[128];
	size_t i = 0;
	uint64_t at;

	while (i < flits->marks && i < trains->marks &&
		same_mark(&flits->mark[i], &trains->mark[i]))
		i++;
	if (i == flits->marks && i == trains->marks)
		return;
	mark_text(the_case, flits, i, left);
	mark_text(the_case, trains, i, right);
	at = earlier(i < flits->marks ? flits->mark[i].cycle : FLIT_NEVER,
		i < trains->marks ? trains->mark[i].cycle : FLIT_NEVER);
	find(finding, at, "symbol %zu: %s flit by flit, %s as trains", i, left, right);
}

/* Stuck messages are stopped permanently. Each model ends slightly later than the last flit. */
static void compare_links(struct finding *finding, const struct wormhole_case *the_case,
	const struct wormhole_outcome *flits, const struct wormhole_outcome *trains)
{
	char port[TOPOLOGY_NAME_MAX + 16];

	for (uint32_t i = 0; i < 2 * the_case->topology->links; i++) {
		topology_port_name(
			the_case->topology, wormhole_case_sender(the_case, i), port, sizeof(port));
		if (flits->carried[i] != trains->carried[i])
			find(finding, FLIT_NEVER - 1,
				"%s carries %" PRIu64 " flits flit by flit, %" PRIu64 " as trains",
				port, flits->carried[i], trains->carried[i]);
		if (flits->stopped[i] != trains->stopped[i] &&
			(!flits->stuck || the_case->until != FLIT_NEVER))
			find(finding, FLIT_NEVER - 1,
				"%s is stopped for %" PRIu64 " cycles flit by flit, %" PRIu64
				" as trains",
				port, flits->stopped[i], trains->stopped[i]);
	}
}

bool wormhole_differ(const struct wormhole_case *the_case, const struct wormhole_outcome *flits,
	const struct wormhole_outcome *trains, char *text, size_t size)
{
	struct finding finding = {.cycle = FLIT_NEVER, .text = text, .size = size};

	text[0] = '\0';
	if (flits->broken[0] != '\0' || trains->broken[0] != '\0')
		find(&finding, 0, "%s", flits->broken[0] != '\0' ? flits->broken : trains->broken);
	for (uint32_t i = 0; i < the_case->messages; i++)
		compare_fate(&finding, i, &flits->fate[i], &trains->fate[i]);
	compare_marks(&finding, the_case, flits, trains);
	compare_links(&finding, the_case, flits, trains);
	/* Trains know it immediately. */
	if (flits->stuck != trains->stuck && the_case->until == FLIT_NEVER)
		find(&finding, FLIT_NEVER - 1, "%s flit by flit, %s as trains",
			flits->stuck ? "stuck" : "not stuck",
			trains->stuck ? "stuck" : "not stuck");
	if (flits->absorbed != trains->absorbed || flits->discards != trains->discards ||
		flits->pool_peak != trains->pool_peak)
		find(&finding, FLIT_NEVER - 1,
			"absorbed, discarded, most bytes in a pool: %" PRIu64 ", %" PRIu64
			", %" PRIu64 " flit by flit, %" PRIu64 ", %" PRIu64 ", %" PRIu64
			" as trains",
			flits->absorbed, flits->discards, flits->pool_peak, trains->absorbed,
			trains->discards, trains->pool_peak);
	return text[0] != '\0';
}

/* Returns how many messages ended, each at most once. */
static uint32_t ended(const struct wormhole_case *the_case, const struct wormhole_outcome *outcome)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < the_case->messages; i++) {
		const struct wormhole_fate *fate = &outcome->fate[i];

		if (fate->discarded && fate->tail != FLIT_NEVER)
			return UINT32_MAX;
		count += fate->discarded || fate->tail != FLIT_NEVER;
	}
	return count;
}

/* The symbols of one buffer alternate, starting with STOP. A buffer that became empty has sent as
 * many of both. */
static const char *judge_marks(
	const struct wormhole_case *the_case, const struct wormhole_outcome *outcome, bool empty)
{
	size_t senders = (size_t)(the_case->topology->switches + 1) * TOPOLOGY_PORTS_MAX +
			 the_case->topology->hosts;
	bool *stopped = calloc(senders, sizeof(*stopped));
	const char *wrong = stopped == NULL ? "out of memory" : NULL;

	for (size_t i = 0; i < outcome->marks && wrong == NULL; i++) {
		struct topology_port port = outcome->mark[i].sender;
		size_t sender = (size_t)port.device * TOPOLOGY_PORTS_MAX + port.port;

		if (port.kind == DEVICE_HOST)
			sender = senders - 1 - port.device;
		if (stopped[sender] == outcome->mark[i].stop)
			wrong = "two STOP or two GO in turn";
		stopped[sender] = outcome->mark[i].stop;
	}
	for (size_t i = 0; i < senders && wrong == NULL && empty; i++)
		if (stopped[i])
			wrong = "an empty network with a sender that was never let go";
	free(stopped);
	return wrong;
}

const char *wormhole_check(
	const struct wormhole_case *the_case, const struct wormhole_outcome *outcome)
{
	uint32_t done = ended(the_case, outcome);

	if (outcome->broken[0] != '\0')
		return outcome->broken;
	if (done == UINT32_MAX)
		return "a message both delivered and discarded";
	if (the_case->until == FLIT_NEVER && outcome->stuck != (done < the_case->messages))
		return "stuck with all messages at their end, or not stuck with some left";
	for (uint32_t i = 0; i < the_case->messages; i++) {
		const struct wormhole_fate *fate = &outcome->fate[i];
		const struct flit_message *message = &the_case->message[i];

		if (fate->left != FLIT_NEVER && fate->left < message->cycle)
			return "a message that leaves before it is there";
		if (fate->tail != FLIT_NEVER && fate->tail < fate->left + message->bytes)
			return "a message that is faster than its flits";
	}
	return judge_marks(the_case, outcome, done == the_case->messages);
}
