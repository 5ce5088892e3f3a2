/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The frames of a network of mappers, in time order. For mapper_network.c. */

#include "mapper_network.h"

/* A frame on a cable, or one that an agent is about to send. */
struct mapper_flight {
	weft_time at;
	uint64_t number;           /* breaks ties between equal times */
	struct topology_port port; /* port where it arrives or, if 'leaving', is sent */
	bool leaving;
	uint32_t bytes;
	uint8_t *data; /* NULL: the frame was lost */
};

/* Takes ownership of 'data'. If out of memory, frees it and marks the network as failed. */
void mapper_flight_push(struct mapper_network *network, weft_time when, struct topology_port port,
	bool leaving, uint8_t *data, unsigned bytes);
/* Removes and returns the first frame; there must be one. */
struct mapper_flight mapper_flight_pop(struct mapper_network *network);
/* Returns the time of the first frame; WEFT_TIME_NEVER: there is none. */
weft_time mapper_flight_due(const struct mapper_network *network);
