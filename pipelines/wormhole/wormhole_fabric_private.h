/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Parts of a wormhole fabric; private to its files (wormhole_*.c). */

#include "measure/measure_window.h"
#include "measure/starvation.h"
#include "nic/selectors/route_choice.h"
#include "setup/fabric_routes.h"
#include "stats/histogram.h"
#include "traffic/traffic.h"
#include "wormhole/wormhole_net.h"
#include "wormhole_fabric.h"

struct wormhole_source {
	struct traffic **source;
	uint32_t sources;
	uint32_t taken;       /* number of messages sent, used to number them */
	uint64_t unreachable; /* messages without a route */
	/* Counts from the start of the run until halfway through the measurement. */
	uint64_t stopped; /* cycles for which the host's channel was stopped */
	struct starvation_transit middle;
	struct route_choice choice;
};

/* Deliveries of a traffic entry. */
struct wormhole_entry {
	uint64_t messages, bytes;
	struct histogram network_ns, total_ns; /* recorded while measuring */
};

struct wormhole_fabric {
	const struct topology *topology;
	const struct run_config *run;
	struct run_hosts *traffic;
	struct fabric_routes routes;
	struct wormhole_source *host;
	struct wormhole_net *net;
	weft_time cycle_ps;
	/* Measurements. */
	struct measure_totals now;
	struct measure_window window;
	bool measuring;
	bool warming, known;                   /* with measure.until (measure_window.h) */
	uint64_t middle_at;                    /* cycle of the midpoint; 0: not reached */
	uint64_t last_at;                      /* cycle of the last measured message */
	uint64_t network_sum_ps, total_sum_ps; /* sums over measured messages */
	struct wormhole_entry *entry;          /* same indices as window.entry */
	uint32_t *newest; /* [source][destination]: 1 + number of the last message that arrived */
	uint64_t overtaken;
	uint64_t fingerprint;
	double wall_seconds;
	bool failed, deadlock, stopped;
	bool wanting; /* fewer messages than requested were measured */
};

/* wormhole_traffic.c */
extern const struct wormhole_ops wormhole_fabric_ops;
int wormhole_create_sources(struct wormhole_fabric *fabric, struct error *error);
void wormhole_destroy_sources(struct wormhole_fabric *fabric);

/* wormhole_measure.c */
/* Records a delivered message and ends the run after the last requested one. */
void wormhole_measure_message(
	struct wormhole_fabric *fabric, const struct wormhole_message *message, uint64_t at);
/* Starts measuring: messages that arrive in this cycle or later are measured. */
void wormhole_measure_begin(struct wormhole_fabric *fabric, uint64_t cycle);
/* Restarts measuring after the warm-up, discarding previous measurements. */
void wormhole_measure_again(struct wormhole_fabric *fabric, uint64_t cycle);
/* Ends a batch at the start of this cycle. */
void wormhole_take_batch(struct wormhole_fabric *fabric, uint64_t cycle);
/* Ends measuring with the last requested message, or now. Sources generate no more messages. */
void wormhole_measure_end(struct wormhole_fabric *fabric);
/* Reads a link's counters (measure_window.h). */
void wormhole_read_link(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use);
void wormhole_take_sample(struct wormhole_fabric *fabric, uint64_t cycle);
