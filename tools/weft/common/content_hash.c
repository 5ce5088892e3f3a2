/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "content_hash.h"

#include <errno.h>
#include <stdio.h>

#define PRIME 0x100000001b3u

uint64_t content_hash(uint64_t hash, const void *bytes, size_t length)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ byte[i]) * PRIME;
	return hash;
}

int content_hash_file(uint64_t *hash, const char *path)
{
	FILE *in = fopen(path, "re");
	uint64_t sum = *hash;
	uint8_t bytes[4096];
	size_t length;
	int result;

	if (in == NULL)
		return -errno;
	while ((length = fread(bytes, 1, sizeof(bytes), in)) > 0)
		sum = content_hash(sum, bytes, length);
	result = ferror(in) ? -EIO : 0;
	fclose(in);
	if (result == 0)
		*hash = sum;
	return result;
}
