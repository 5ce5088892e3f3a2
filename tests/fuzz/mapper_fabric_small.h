/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The smallest fabric in which a mapper has a choice: three switches in a triangle, a host at each;
 * the mapper is beside host 0. Frames arrive at once and are answered at once, or lost. Shared by
 * mapper_fuzz and its seed writer. */

#include <stdbool.h>
#include <stdint.h>

#define SMALL_SWITCHES 3
#define SMALL_DEVICES  6 /* switches, then hosts */
#define SMALL_PORTS    4 /* switch ports: to the next, to the previous, to its host, unused */
#define SMALL_SELF     SMALL_SWITCHES /* the mapper's host */

#define SMALL_MAPPER_SESSION 900

static inline bool small_is_host(unsigned device)
{
	return device >= SMALL_SWITCHES;
}

static inline uint64_t small_id(unsigned device)
{
	return 10 + device;
}

static inline uint32_t small_session(unsigned device)
{
	return 100 + device;
}

struct small_end {
	unsigned device;
	uint8_t port;
};

/* Finds the far end of a cable; false if there is none. */
static inline bool small_peer(struct small_end from, struct small_end *peer)
{
	if (small_is_host(from.device)) {
		*peer = (struct small_end){from.device - SMALL_SWITCHES, 2};
		return from.port == 0;
	}
	if (from.port == 2)
		*peer = (struct small_end){SMALL_SWITCHES + from.device, 0};
	else
		*peer = (struct small_end){
			(from.device + (from.port == 0 ? 1 : 2)) % SMALL_SWITCHES,
			1 - from.port % 2};
	return from.port < 3;
}
