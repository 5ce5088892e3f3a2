/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The two checks of the wire format.
 *
 * CRC-16: polynomial x^16+x^12+x^5+1 (0x1021), bits of each byte least significant first, start
 * value 0, result inverted. It covers 64 bytes: the route, zero-padded to 32 bytes, and the fixed
 * header of 32 bytes with its CRC field left out (zero). With start value 0 zero words add
 * nothing, so a table-routed frame costs four words; every byte has a fixed place, so a change of
 * one byte changes the CRC by a value that depends on that byte alone (crc_header_delta).
 *
 * CRC-32C (Castagnoli), start value and final inversion all ones, as in iSCSI and SCTP.
 *
 * Where the compiler may use PCLMULQDQ and SSE4.2 they are used; else tables. Both forms are in the
 * tests against a bitwise reference.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __PCLMUL__
#include <immintrin.h>
#endif

#define CRC_HEADER_WORDS 8 /* 4 of route, 4 of fixed header */

/* Made by tools/gen-crc-tables at build time. */
extern const uint16_t crc_header_byte_table[256];
/* Difference of the CRC field, as it lies in memory, for a difference of byte i of the mutable
 * word, as it lies in memory. */
extern const uint16_t crc_header_delta_table[4][256];

extern const uint32_t crc32c_byte_table[256];

/* What to xor to the CRC field in memory when the mutable word in memory changes by difference. */
static inline uint16_t crc_header_delta(uint32_t difference)
{
	return crc_header_delta_table[0][difference & 0xFF] ^
	       crc_header_delta_table[1][(difference >> 8) & 0xFF] ^
	       crc_header_delta_table[2][(difference >> 16) & 0xFF] ^
	       crc_header_delta_table[3][difference >> 24];
}

/* Weights of the eight words: x^(64*(7-i)+15) mod P, bit-reflected into the top 16 bits. */
#define CRC_WEIGHTS                                                                    \
	{                                                                              \
		0x47e3000000000000u, 0x4d7a000000000000u, 0x0e3a000000000000u,         \
			0x7762000000000000u, 0x5b44000000000000u, 0x8e10000000000000u, \
			0x81bf000000000000u, 0x0001000000000000u                       \
	}
#define CRC_FOLD_64      0x042b000000000000u /* x^63 mod P, reflected likewise */
#define CRC_POLY         0x10811u            /* P, reflected, 17 bits */
#define CRC_POLY_INVERSE 0x859b040b1c581911u /* 1 / CRC_POLY as a power series, 64 bits */
/* Top 16 bits of 0xFFFF << 48 times CRC_POLY_INVERSE: what inverting the CRC does to a quotient. */
#define CRC_INVERTED_QUOTIENT 0xf70fu

#ifdef __PCLMUL__
/* The sum of all words times their weights, folded into the upper 64 bits: modulo P it is the CRC
 * times x^48 (in reflected order: the CRC stands in the top 16 bits). 'high' is the second half of
 * the fixed header without the CRC field. */
static inline __attribute__((always_inline)) __m128i crc_header_sum(
	const uint64_t *route, unsigned words, const void *fixed, __m128i high)
{
	static const uint64_t weight[CRC_HEADER_WORDS] __attribute__((aligned(16))) = CRC_WEIGHTS;
	const __m128i *weights = (const __m128i *)weight;
	__m128i low = _mm_loadu_si128((const __m128i *)fixed);
	__m128i sum;

	/* A 64-bit word times its 16-bit weight: 80 bits, congruent to its part of the CRC. */
	sum = _mm_xor_si128(_mm_clmulepi64_si128(low, weights[2], 0x00),
		_mm_clmulepi64_si128(low, weights[2], 0x11));
	sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(high, weights[3], 0x00));
	sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(high, weights[3], 0x11));
	for (unsigned i = 0; i < words; i++)
		sum = _mm_xor_si128(
			sum, _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)route[i]),
				     _mm_loadl_epi64((const __m128i *)&weight[i]), 0));
	/* The 16 bits above x^63 (in reflected order: the low half) are folded once. */
	return _mm_xor_si128(
		sum, _mm_clmulepi64_si128(sum, _mm_cvtsi64_si128((long long)CRC_FOLD_64), 0));
}

static inline __m128i crc_header_high(const void *fixed)
{
	return _mm_loadu_si128((const __m128i *)fixed + 1);
}

static inline __m128i crc_header_without_field(__m128i high)
{
	return _mm_and_si128(high, _mm_set_epi64x((long long)(UINT64_MAX >> 16), -1));
}

/*
 * The header CRC of the fixed header, whose last two bytes, the CRC field, are left out, and of up
 * to 'words' (0..4) words of route, zero-padded. Host order; on the wire it is big-endian. 'words'
 * is best a constant: then there is no branch, and independent calls overlap in the pipeline.
 */
static inline __attribute__((always_inline)) uint16_t crc_header(
	const uint64_t *route, unsigned words, const void *fixed)
{
	__m128i high = crc_header_without_field(crc_header_high(fixed));
	__m128i sum = crc_header_sum(route, words, fixed, high), quotient;

	/* Barrett's division: in reflected order a product with the inverse power series. */
	quotient = _mm_clmulepi64_si128(sum, _mm_cvtsi64_si128((long long)CRC_POLY_INVERSE), 1);
	quotient = _mm_and_si128(quotient, _mm_cvtsi64_si128((long long)0xFFFFFFFFFFFF));
	quotient = _mm_clmulepi64_si128(quotient, _mm_cvtsi64_si128((long long)CRC_POLY), 0);
	return (uint16_t) ~(
		((uint64_t)_mm_extract_epi64(sum, 1) ^ (uint64_t)_mm_cvtsi128_si64(quotient)) >>
		48);
}

/*
 * Whether the CRC field at the end of the fixed header is right. With the CRC in its place the sum
 * is a multiple of P, and a multiple of P times the inverse series of P is a polynomial that ends:
 * one product and a look at the bits where it would go on, instead of a division.
 */
static inline __attribute__((always_inline)) bool crc_header_matches(
	const uint64_t *route, unsigned words, const void *fixed)
{
	__m128i whole = crc_header_high(fixed);
	__m128i sum = crc_header_sum(route, words, fixed, crc_header_without_field(whole));
	/* The field, big-endian, as the top 16 bits. */
	__m128i field = _mm_shuffle_epi8(whole,
		_mm_set_epi8(14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
	__m128i quotient = _mm_clmulepi64_si128(
		_mm_xor_si128(sum, field), _mm_cvtsi64_si128((long long)CRC_POLY_INVERSE), 1);

	return (uint64_t)_mm_cvtsi128_si64(quotient) >> 48 == CRC_INVERTED_QUOTIENT;
}
#else
static inline uint16_t crc_header(const uint64_t *route, unsigned words, const void *fixed)
{
	uint8_t bytes[8 * CRC_HEADER_WORDS] = {0};
	uint16_t crc = 0;

	if (words > 0)
		memcpy(bytes, route, 8 * words);
	memcpy(bytes + 32, fixed, 30);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		crc = (uint16_t)((crc >> 8) ^ crc_header_byte_table[(crc ^ bytes[i]) & 0xFF]);
	return (uint16_t)~crc;
}

static inline bool crc_header_matches(const uint64_t *route, unsigned words, const void *fixed)
{
	const uint8_t *field = (const uint8_t *)fixed + 30;

	return crc_header(route, words, fixed) == (uint16_t)(field[0] << 8 | field[1]);
}
#endif

/* CRC-32C of 'bytes' bytes; of nothing it is 0. */
uint32_t crc32c(const void *data, size_t bytes);
