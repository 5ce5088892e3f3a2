/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Payloads that need no memory: they are generated from (source, destination, message, offset) when
 * a frame is built, and compared with the same bytes when it arrives. The first frame starts with
 * 16 bytes, all big-endian: the message's generation time (ns), its length, and a check value of
 * the flow. Each byte of the check value is XORed with the message's traffic entry. The rest is a
 * pattern of 64-bit words that depends on all of these, so a frame from a different message, or a
 * different position in this one, is detected.
 *
 * The first byte is 0 for the first two years of a run's clock, and no IP packet starts with 0. The
 * host uses it to distinguish the two (measure_sink.h). */

#include <stdbool.h>
#include <stdint.h>

#define SYNTHETIC_PREFIX_BYTES 16

struct synthetic {
	uint16_t source, destination;
	uint32_t message; /* flow and number, as in the frame header */
	uint32_t message_bytes;
	uint8_t entry; /* index in the run's traffic */
	uint64_t generated_ns;
};

/* Writes 'bytes' bytes of the message, starting at 'offset'. */
void synthetic_fill(const struct synthetic *message, uint32_t offset, uint8_t *out, uint32_t bytes);

/* Reads the prefix of a first frame; 'source', 'destination' and 'message' must be set. Returns
 * false if the check value is wrong or there are too few bytes. All 256 entries are accepted; the
 * caller checks how many exist. */
bool synthetic_open(struct synthetic *message, const uint8_t *payload, uint32_t bytes);

/* Returns true if these are the message's bytes from 'offset' on. Ignores the prefix. */
bool synthetic_matches(
	const struct synthetic *message, uint32_t offset, const uint8_t *payload, uint32_t bytes);

/* Returns true if the payload of a first frame is synthetic rather than a program's. */
static inline bool synthetic_is(const uint8_t *payload, uint32_t bytes)
{
	return bytes >= SYNTHETIC_PREFIX_BYTES && payload[0] == 0;
}
