/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology_format.h"

#include <string.h>

static const struct topology_format *const formats[] = {
#define X(name) &format_##name,
	TOPOLOGY_FORMATS(X)
#undef X
};

#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

const struct topology_format *topology_format_at(unsigned i)
{
	return i < FORMAT_COUNT ? formats[i] : NULL;
}

const struct topology_format *topology_format_find(const char *name)
{
	for (unsigned i = 0; i < FORMAT_COUNT; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}
