/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Topologies in the formats of other programs. A format is one file that defines one struct
 * topology_format, format_NAME, and one word in TOPOLOGY_FORMATS. Weft's own format is handled by
 * topology_write() and topology_load(). */

#include "topology.h"

#define TOPOLOGY_FORMATS(X) X(ibnetdiscover) X(booksim) X(dot)

struct topology_format {
	const char *name;
	const char *help; /* one line */
	/* Writes a finished topology. 0, or -EINVAL with 'fault' if the format cannot express it;
	 * the caller checks 'out' for errors. */
	int (*write)(const struct topology *topology, FILE *out, struct fault *fault);
	/* Reads a topology; 'origin' is the file name for messages. NULL with FILE:LINE:COLUMN in
	 * 'fault' and errno EINVAL, or ENOMEM. The pointer is NULL for write-only formats. */
	struct topology *(*read)(
		const char *text, size_t length, const char *origin, struct fault *fault);
};

#define X(name) extern const struct topology_format format_##name;
TOPOLOGY_FORMATS(X)
#undef X

/* Format i of the list; NULL after the last. */
const struct topology_format *topology_format_at(unsigned i);
/* NULL if no format has this name. */
const struct topology_format *topology_format_find(const char *name);
