/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Payloads that need no memory: they are generated from (source, destination, message, offset) when
 * a frame is built, and compared with the same bytes when it arrives. The first frame starts with
 * 16 bytes, all big-endian: when the message was generated (ns), its length, and a check value of
 * the flow. The message's entry of the run's traffic is combined with each byte of the check value
 * by exclusive or. The rest is a pattern of 64-bit words that depends on all of these, so that a
 * frame from another message, or from another place in this one, is detected.
 *
 * The first byte is 0 for the first two years of a run's clock, which an IP packet never starts
 * with. The host uses it to distinguish the two (measure_sink.h). */

#include <stdbool.h>
#include <stdint.h>

#define SYNTHETIC_PREFIX_BYTES 16

struct synthetic {
	uint16_t source, destination;
	uint32_t message; /* flow and number, as in the frame */
	uint32_t message_bytes;
	uint8_t entry; /* index in the run's traffic */
	uint64_t generated_ns;
};

/* Writes 'bytes' bytes of the message from 'offset' on. */
void synthetic_fill(const struct synthetic *message, uint32_t offset, uint8_t *out, uint32_t bytes);

/* Reads the prefix of a first frame; 'source', 'destination' and 'message' are given. Returns false
 * if the check value is wrong or there are too few bytes. Any of the 256 entries is accepted: the
 * caller knows how many exist. */
bool synthetic_open(struct synthetic *message, const uint8_t *payload, uint32_t bytes);

/* True if these are the bytes of the message from 'offset' on, without the prefix. */
bool synthetic_matches(
	const struct synthetic *message, uint32_t offset, const uint8_t *payload, uint32_t bytes);

/* True if the payload of a first frame is synthetic, not a program's. */
static inline bool synthetic_is(const uint8_t *payload, uint32_t bytes)
{
	return bytes >= SYNTHETIC_PREFIX_BYTES && payload[0] == 0;
}
