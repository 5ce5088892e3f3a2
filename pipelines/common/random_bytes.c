/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "random_bytes.h"

#include <errno.h>
#include <stdint.h>
#include <sys/random.h>

int random_bytes(void *out, size_t bytes)
{
	uint8_t *at = out;

	while (bytes > 0) {
		ssize_t got = getrandom(at, bytes, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		at += got;
		bytes -= (size_t)got;
	}
	return 0;
}
