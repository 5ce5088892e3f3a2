/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "crc.h"

#ifdef __SSE4_2__
#include <nmmintrin.h>

static uint64_t crc32c_word(uint64_t crc, const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return _mm_crc32_u64(crc, word);
}

static uint32_t crc32c_byte(uint32_t crc, uint8_t byte)
{
	return _mm_crc32_u8(crc, byte);
}
#else
static uint32_t crc32c_byte(uint32_t crc, uint8_t byte)
{
	return (crc >> 8) ^ crc32c_byte_table[(crc ^ byte) & 0xFF];
}

static uint64_t crc32c_word(uint64_t crc, const uint8_t *at)
{
	for (unsigned i = 0; i < 8; i++)
		crc = crc32c_byte((uint32_t)crc, at[i]);
	return crc;
}
#endif

uint32_t crc32c(const void *data, size_t bytes)
{
	const uint8_t *at = data;
	uint64_t crc = UINT32_MAX;

	for (; bytes >= 8; bytes -= 8, at += 8)
		crc = crc32c_word(crc, at);
	for (; bytes > 0; bytes--, at++)
		crc = crc32c_byte((uint32_t)crc, *at);
	return (uint32_t)~crc;
}

uint16_t crc16(const void *data, size_t bytes)
{
	const uint8_t *byte = data;
	uint16_t crc = 0;

	for (size_t i = 0; i < bytes; i++)
		crc = (uint16_t)((crc >> 8) ^ crc_header_byte_table[(crc ^ byte[i]) & 0xFF]);
	return (uint16_t)~crc;
}
