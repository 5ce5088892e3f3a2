/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The frames of a network of mappers, in order of time. For mapper_network.c. */

#include "mapper_network.h"

/* A frame on a cable, or in the hands of an agent that will send it. */
struct mapper_flight {
	weft_time at;
	uint64_t number;           /* decides between equal times */
	struct topology_port port; /* where it arrives, or, 'leaving', where it leaves */
	bool leaving;
	uint32_t bytes;
	uint8_t *data; /* NULL: lost */
};

/* Takes over 'data'. If memory runs out, the network has failed. */
void mapper_flight_push(struct mapper_network *network, weft_time when, struct topology_port port,
	bool leaving, uint8_t *data, unsigned bytes);
/* The first one; there must be one. */
struct mapper_flight mapper_flight_pop(struct mapper_network *network);
/* When it arrives or leaves; WEFT_TIME_NEVER: there is none. */
weft_time mapper_flight_due(const struct mapper_network *network);
