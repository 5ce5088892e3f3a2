/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Integers in network byte order, at any alignment. Writers return the position after the value. */

#include <stdint.h>

static inline uint8_t *put16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

static inline uint8_t *put32(uint8_t *at, uint32_t value)
{
	return put16(put16(at, (uint16_t)(value >> 16)), (uint16_t)value);
}

static inline uint8_t *put64(uint8_t *at, uint64_t value)
{
	return put32(put32(at, (uint32_t)(value >> 32)), (uint32_t)value);
}

static inline uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t get32(const uint8_t *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

static inline uint64_t get64(const uint8_t *at)
{
	return (uint64_t)get32(at) << 32 | get32(at + 4);
}
