/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Input as a series of records: a command, a length (2 bytes) and that many bytes. Seed writers
 * write them; targets read any mutation of them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FUZZ_RECORD_HEADER_BYTES 3
#define FUZZ_RECORD_MAX          UINT16_MAX

struct fuzz_record {
	uint8_t command;
	unsigned bytes;
	const uint8_t *payload; /* in the input */
};

/* Takes the next record from the input; false if there is none. It has at most 'max' bytes, and at
 * most the rest of the input. */
static inline bool fuzz_record_next(
	const uint8_t **data, size_t *size, unsigned max, struct fuzz_record *record)
{
	const uint8_t *at = *data;

	if (*size < FUZZ_RECORD_HEADER_BYTES)
		return false;
	*data += FUZZ_RECORD_HEADER_BYTES;
	*size -= FUZZ_RECORD_HEADER_BYTES;
	*record = (struct fuzz_record){
		.command = at[0], .bytes = (unsigned)(at[1] << 8 | at[2]), .payload = *data};
	if (record->bytes > *size)
		record->bytes = (unsigned)*size;
	if (record->bytes > max)
		record->bytes = max;
	*data += record->bytes;
	*size -= record->bytes;
	return true;
}

static inline void fuzz_record_write(
	FILE *out, uint8_t command, const uint8_t *payload, unsigned bytes)
{
	fputc(command, out);
	fputc((int)(bytes >> 8), out);
	fputc((int)(bytes & 0xFF), out);
	fwrite(payload, 1, bytes, out);
}
