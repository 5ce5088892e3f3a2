/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "crc.h"

#ifdef __SSE4_2__
#include <immintrin.h>

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
/* A frame of 4 KiB holds four groups of three parts. The weights for skipping n bytes (one part,
 * two parts) are x^(8n-33) modulo the polynomial, bit-reflected. */
#define PART      336
#define ONE_PART  0xa60ce07b
#define TWO_PARTS 0xcec3662e

/* Returns the CRC extended by the zero bytes that the weight represents. */
static uint64_t followed_by(uint64_t crc, long long weight)
{
	__m128i product = _mm_clmulepi64_si128(
		_mm_cvtsi64_si128((long long)crc), _mm_cvtsi64_si128(weight), 0);

	return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/* Processes three parts in parallel: the CRC instruction takes three cycles, but one can start per
 * cycle. */
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

#if defined(__SSE4_2__) && !defined(CRC_PARTS)
/* Carry-less products of 64 bytes, where the CPU supports them. */
#define WIDE       __attribute__((target("avx512f,vpclmulqdq")))
#define WIDE_BYTES 256

/* Returns 'next' plus the contribution of 'from' n bytes later. The weights of the halves of each
 * 16 bytes are x^(8n+31) and x^(8n-33) modulo the polynomial, bit-reflected. */
static inline WIDE __m512i move(__m512i from, __m512i weights, __m512i next)
{
	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(from, weights, 0x00),
		_mm512_clmulepi64_epi128(from, weights, 0x11), next, 0x96);
}

/* 'bytes' must be a nonzero multiple of WIDE_BYTES. */
static WIDE uint64_t crc32c_wide(uint64_t crc, const uint8_t *at, size_t bytes)
{
	const __m512i by_all = _mm512_set4_epi64(0xb9e02b86, 0xdcb17aa4, 0xb9e02b86, 0xdcb17aa4);
	const __m512i by_one = _mm512_set4_epi64(0x9e4addf8, 0x740eef02, 0x9e4addf8, 0x740eef02);
	__m512i part[4];
	uint64_t word[8];

	for (unsigned i = 0; i < 4; i++)
		part[i] = _mm512_loadu_si512(at + 64 * i);
	part[0] = _mm512_xor_si512(
		part[0], _mm512_zextsi128_si512(_mm_cvtsi64_si128((long long)crc)));
	while ((bytes -= WIDE_BYTES) > 0) {
		at += WIDE_BYTES;
		for (unsigned i = 0; i < 4; i++)
			part[i] = move(part[i], by_all, _mm512_loadu_si512(at + 64 * i));
	}
	for (unsigned i = 1; i < 4; i++)
		part[i] = move(part[i - 1], by_one, part[i]);
	_mm512_storeu_si512(word, part[3]);
	crc = 0;
	for (unsigned i = 0; i < 8; i++)
		crc = _mm_crc32_u64(crc, word[i]);
	return crc;
}
#endif

uint32_t crc32c(const void *data, size_t bytes)
{
	const uint8_t *at = data;
	uint64_t crc = UINT32_MAX;

#ifdef WIDE
	if (bytes >= 2 * WIDE_BYTES && __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("vpclmulqdq")) {
		size_t wide = bytes & ~(size_t)(WIDE_BYTES - 1);

		crc = crc32c_wide(crc, at, wide);
		at += wide;
		bytes -= wide;
	}
#endif
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
