/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Records of captured packets, private to the files that explain them. */

#include "why.h"

#define WHY_NONE    UINT32_MAX
#define WHY_UNKNOWN UINT32_MAX

/* A data frame captured at a port. */
struct why_event {
	uint64_t time_ns, number;
	uint32_t file, way;
	uint32_t next; /* index of the packet's next record; WHY_NONE */
	uint32_t message, sequence;
	uint32_t credits;   /* remaining after it was sent; WHY_UNKNOWN */
	uint32_t waited_ns; /* time at its source */
	uint16_t source, destination, bytes;
	uint8_t vc, flags; /* flags of the frame */
	bool out, gone, followed;
};

/* A limit received in a credit frame. */
struct why_limit {
	uint64_t time_ns;
	uint32_t way, limit;
	uint8_t vc;
};

struct why_port {
	uint32_t device;
	bool host;
	bool slow;  /* its link is slower than most of its kind */
	bool whole; /* all ports of the device are captured */
	uint64_t byte_time, delay_ns;
	uint32_t in, ins, out,
		outs;           /* first index and number of arrivals and departures in 'by_port' */
	uint32_t limit, limits; /* first index and number in why.limit */
};

struct why_life {
	uint32_t first,
		last; /* records of the first departure from the source and of the delivery */
	uint64_t start_ns;
};

struct why {
	struct audit_rules rules;
	struct why_port *port; /* [ways] */
	uint32_t ways, devices;
	struct why_event *event;
	uint32_t events, event_room;
	struct why_limit *limit;
	uint32_t limits, limit_room;
	uint32_t *by_port; /* event indices by port and direction, in time order */
	struct why_life *life;
	uint32_t lives;
};

static inline uint64_t why_wire_ps(const struct why_port *port, uint32_t bytes)
{
	return bytes_ps(bytes + FRAME_WIRE_OVERHEAD, port->byte_time);
}
