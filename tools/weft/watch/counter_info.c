/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "metrics_text.h"

#include <stdlib.h>
#include <string.h>

#define VC_COUNTER "stored_blocks_vc"

static const struct counter_info counters[] = {
#include "counter_list.h"
};

#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

static int compare(const void *key, const void *entry)
{
	return strcmp(key, ((const struct counter_info *)entry)->name);
}

int counter_info_vc(const char *name)
{
	size_t length = strlen(VC_COUNTER);

	if (strncmp(name, VC_COUNTER, length) != 0 || name[length] == '\0')
		return -1;
	return atoi(name + length);
}

bool counter_info_vc_prefix(const char *name)
{
	return strcmp(name, VC_COUNTER) == 0;
}

const struct counter_info *counter_info_find(const char *name)
{
	if (counter_info_vc(name) >= 0)
		name = VC_COUNTER;
	return bsearch(name, counters, COUNTERS, sizeof(counters[0]), compare);
}

const struct counter_info *counter_info_at(size_t i)
{
	return i < COUNTERS ? &counters[i] : NULL;
}
