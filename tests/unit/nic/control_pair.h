/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Interfaces with congestion management, for tests that carry their frames (nic_pair.h): each has
 * three routes to every host, each one switch longer than the previous. */

#include "nic/nic_control.h"
#include "nic_pair.h"
#include "wire/latency.h"

#define PATHS 3

/* Routes over 'first' switches and one more each. */
static inline void add_routes(struct nic_routes *routes, uint16_t to, unsigned first)
{
	uint8_t route[FRAME_ROUTE_MAX];

	for (unsigned path = 0; path < PATHS; path++) {
		unsigned length = first + path;

		memset(route, ROUTE_PORT_BIT | 1, length);
		route[length] = ROUTE_TYPE_HOST;
		assert_int_equal(nic_routes_add(routes, to, route, length + 1), 0);
	}
}

static inline struct source_control_config control_config(
	enum source_control_kind kind, uint16_t host)
{
	struct source_control_config config;

	source_control_config_default(&config);
	config.kind = kind;
	config.host = host;
	config.hosts = PAIR_HOSTS;
	config.frame_ns = 1000;
	config.hop_ns = 100;
	return config;
}

static inline void start(struct end *end, uint16_t host, enum source_control_kind kind)
{
	struct nic_config config = end_config(end, host, PAIR_SESSION(host));

	nic_routes_destroy(end->routes);
	end->routes = nic_routes_create(PAIR_HOSTS);
	for (uint16_t to = 0; to < PAIR_HOSTS; to++)
		add_routes(end->routes, to, 2);
	config.routes = end->routes;
	config.control = control_config(kind, host);
	config.answers = (struct cn_generator_config){
		.all = source_control_measures(kind), .hosts = PAIR_HOSTS};
	end_begin(end, &config);
}

static inline void start_pair(struct end *ends, enum source_control_kind kind)
{
	start(&ends[0], 0, kind);
	start(&ends[1], 1, kind);
}

static inline void stop_pair(struct end *ends)
{
	end_stop(&ends[0]);
	end_stop(&ends[1]);
}

/* All hops of its route are used: it has arrived at its host. */
static inline void carry(struct box *box, uint8_t flags)
{
	struct frame_header *header = frame_header(box->frame);

	frame_update_mutable(
		box->frame, frame_mutable_word(header->vc, header->vc_original,
				    header->route_length != 0 ? header->route_length - 1 : 0,
				    header->flags | flags));
}

static inline struct latency_extension *extension_of(struct box *box)
{
	return latency_of_frame(box->frame);
}

/* The frame has waited in a switch, after one flow. */
static inline void delay(struct box *box, uint32_t waited_ns)
{
	const struct cn_flow flow = {2, 3};

	latency_add(extension_of(box), waited_ns);
	latency_record(extension_of(box), &flow, 1);
	latency_seal(extension_of(box));
}

static inline struct cn box_cn(const struct box *box)
{
	const struct frame_header *header = frame_header_const(box->frame);
	struct cn cn;

	assert_int_equal(header->kind, FRAME_CN);
	assert_true(cn_decode(
		&cn, box->frame + frame_payload_offset(header), ntohs(header->payload_bytes_be)));
	return cn;
}
