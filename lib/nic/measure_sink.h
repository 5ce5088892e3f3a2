/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A host that measures: takes synthetic messages, records how long they took and
 * judges what delivery promises: nothing lost, doubled, out of order or altered. The three counters
 * of 'checks' in a result come from here; they do not believe the interface but count themselves.
 *
 * Network latency: from the injection of a frame's header to its arrival, one sample a frame. Total
 * latency: from the generation of a message to the arrival of its last frame, one sample a message.
 * Both ends' clocks must have one origin: of a source with another clock, on another machine,
 * neither can be known, and the histograms have no sample of it. Nothing that arrives before
 * 'measure_from' is recorded in them.
 */

#include "histogram.h"
#include "nic.h"

struct measure_source {
	uint64_t seen; /* of the last 64 frames before 'next', bit 0 the latest */
	uint32_t next; /* frame expected */
	uint32_t message;
	uint32_t message_bytes;
	uint64_t generated_ns;
	uint16_t flow;
	bool known, open; /* 'open': the prefix of 'message' was good */
	bool other_clock; /* its time stamps mean nothing here */
};

struct measure_sink {
	uint16_t host, hosts;
	weft_time measure_from;
	struct measure_source *source; /* [hosts] */
	struct histogram network_ns, total_ns;
	uint64_t frames, messages, bytes;
	uint64_t measured_messages, measured_bytes; /* from measure_from on */
	uint64_t lost, duplicated, out_of_order;    /* frames; 0 if delivery keeps its promise */
	uint64_t altered; /* frames whose bytes are not those that were sent */
};

/* NULL with errno ENOMEM. */
struct measure_sink *measure_sink_create(uint16_t host, uint16_t hosts);
void measure_sink_destroy(struct measure_sink *sink);

/* Times that 'source' writes into its frames mean nothing here. Before the first frame. */
void measure_sink_set_other_clock(struct measure_sink *sink, uint16_t source);

/* Order and number: of every frame that the interface delivers, synthetic or not. */
void measure_sink_watch(struct measure_sink *sink, const struct nic_delivery *delivery);
/* Content and latency: of the frames of synthetic messages. */
void measure_sink_take(struct measure_sink *sink, const struct nic_delivery *delivery);

/* Forgets the measurements, not what is expected next. */
void measure_sink_reset(struct measure_sink *sink, weft_time measure_from);
