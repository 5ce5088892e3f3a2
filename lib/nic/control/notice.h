/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A congestion notification as the source's state machines read it: the answer to a data frame or
 * message (a frame of its own, 'cn', on the wire; section 3 of the DRB and PR-DRB papers calls it
 * the acknowledgement). Facts only; nothing here decides.
 */

#include <stdbool.h>
#include <stdint.h>

#define NOTICE_FLOWS_MAX 8

/* A pair of hosts. */
struct notice_flow {
	uint16_t source, destination;
};

struct notice {
	uint32_t message;    /* its number, the source's */
	uint32_t waiting_ns; /* in switches, of the frame or the worst frame of the message */
	uint8_t path;        /* index of the route that the message took */
	uint8_t flow_count;
	bool marked;     /* BECN: the frame had a FECN mark */
	bool predictive; /* a switch has written contending flows */
	struct notice_flow flow[NOTICE_FLOWS_MAX];
};
