/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The queuing scheme in a host's image: its number and the leaves of all hosts, from which the host
 * computes the same service levels as every other host. Only table_image.c includes this and its
 * byte helpers. */

#include <stdint.h>

#include "queuing.h"

static inline uint8_t *image_put(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	return at + bytes;
}

static inline uint64_t image_get(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

/* Writes scheme and leaves; only counts if 'at' is NULL. Returns the bytes, 0 without a scheme. */
uint32_t image_queuing_put(uint8_t *at, const struct queuing *queuing);
/* The bytes of scheme and leaves; 0 if they are invalid. */
uint32_t image_queuing_check(const uint8_t *at, uint32_t left, uint32_t hosts, unsigned queues);
/* The bytes of a checked scheme. */
uint32_t image_queuing_length(const uint8_t *at);
/* Reads a checked scheme. NULL with errno ENOMEM. */
struct queuing *image_queuing_read(const uint8_t *at, uint32_t hosts, unsigned queues);
