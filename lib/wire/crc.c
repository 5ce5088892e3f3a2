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

#if defined(__SSE4_2__) && defined(__PCLMUL__)
/* A frame of 4 KiB has four times three parts. The weights for n bytes of one and of two parts are
 * x^(8n-33) modulo the polynomial, bit-reflected. */
#define PART      336
#define ONE_PART  0xa60ce07b
#define TWO_PARTS 0xcec3662e

/* The CRC as zeros of the weight's length change it. */
static uint64_t followed_by(uint64_t crc, long long weight)
{
	__m128i product = _mm_clmulepi64_si128(
		_mm_cvtsi64_si128((long long)crc), _mm_cvtsi64_si128(weight), 0);

	return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/* Three parts side by side: the instruction takes three cycles, but one can start in each. */
static uint64_t crc32c_parts(uint64_t crc, const uint8_t *at)
{
	uint64_t second = 0, third = 0;

	for (unsigned i = 0; i < PART; i += 8) {
		crc = crc32c_word(crc, at + i);
		second = crc32c_word(second, at + PART + i);
		third = crc32c_word(third, at + 2 * PART + i);
	}
	return followed_by(crc, TWO_PARTS) ^ followed_by(second, ONE_PART) ^ third;
}
#endif

uint32_t crc32c(const void *data, size_t bytes)
{
	const uint8_t *at = data;
	uint64_t crc = UINT32_MAX;

#ifdef PART
	for (; bytes >= 3 * PART; bytes -= 3 * PART, at += 3 * PART)
		crc = crc32c_parts(crc, at);
#endif
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
