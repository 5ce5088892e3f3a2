/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Input and output of a switch of a virtual fabric, and the same switch under the poll driver: it
 * gets the same arrivals and credits in the same order, as frames, and its frames are recorded.
 * Link ends and clock are those recorded. For tests: errors fail the test. */

#include "experiment/run/run_config.h"
#include "poll/poll_switch.h"
#include "setup/fabric_routes.h"
#include "switch/contention.h"
#include "switch/switch.h"
#include "topo/topology.h"

/* Kinds, in order for events of the same time and port (virtual_private.h). */
enum replay_kind { REPLAY_CREDIT, REPLAY_WIRE_FREE, REPLAY_ARRIVAL };

struct replay_event {
	weft_time at;
	uint32_t number; /* the how-manieth of its switch */
	uint8_t port;
	enum replay_kind kind;
	bool is_arn; /* with REPLAY_CREDIT: a notification instead of a credit frame */
	struct weft_packet packet;
	struct latency_extension extension; /* packets with FRAME_F_LATENCY only */
	struct control_credit credit;
	struct control_arn arn;
};

/* Notifications that leave a port are a separate list, because the poll driver sends them after the
 * data frames of its turn. */
#define REPLAY_ARNS SWITCH_PORTS_MAX

/* A sent data frame or notification: time, port, and headers or contents. */
struct replay_sent {
	weft_time at;
	uint8_t port; /* + REPLAY_ARNS: a notification */
	uint8_t header_bytes;
	/* With the latency extension, if there is one. */
	uint8_t header[FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + FRAME_LATENCY_BYTES];
};

struct replay_list {
	struct replay_event *event;
	struct replay_sent *sent;
	uint32_t events, sents, event_room, sent_room;
};

void replay_add_event(struct replay_list *list, const struct replay_event *event);
/* The headers that the packet has on the wire. 'extension': only for packets with FRAME_F_LATENCY.
 */
void replay_add_sent(struct replay_list *list, weft_time at, uint8_t port,
	const struct weft_packet *packet, const struct latency_extension *extension);
void replay_add_sent_arn(
	struct replay_list *list, weft_time at, uint8_t port, const struct control_arn *arn);
void replay_free(struct replay_list *list);

/* Sorts the events of a record in the order of the virtual clock. */
void replay_sort(struct replay_list *list);

/* The fabric of the record, from which switches are configured as on the real clock. */
struct replay_fabric {
	const struct run_config *run;
	const struct topology *topology;
	const struct fabric_routes *routes;
};

/* Differences of the poll driver's switch from its configuration. */
struct replay_options {
	unsigned moved_on;   /* inputs that each round robin skips half-way */
	bool ignore_credits; /* far ends without bounds */
	bool ignore_arns;    /* notifications that come in are lost */
	bool one_queue;      /* at each input */
	const struct contention_config *contention;
	struct rte_mempool *pool;
};

/* Plays the events of 'record' to switch 'number' under the poll driver; its output goes to
 * 'played'. Returns the number of discarded frames. */
uint64_t replay_run(const struct replay_fabric *fabric, uint32_t number,
	const struct replay_options *options, const struct replay_list *record,
	struct replay_list *played);

/* Returns the number of the first frame of 'port' that differs, also in time; -1: none. */
int replay_difference(const struct replay_list *a, const struct replay_list *b, unsigned port);
