/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads counters of InfiniBand ports. Accepted ports are in range, and a known counter is not at
 * its maximum. For refused or omitted input, there is a one-line reason that starts with the file
 * name. */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "topo/formats/ib_counters.h"

static void check_note(void *context, const char *text)
{
	(void)context;
	REQUIRE(strncmp(text, "fuzz:", 5) == 0 && strchr(text, '\n') == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct topology_import import = {.note = check_note};
	struct ib_counters counters = {0};
	struct error error = {""};
	int result = ib_counters_read(&counters, (const char *)data, size, "fuzz", &import, &error);

	if (result < 0)
		check_note(NULL, error.text);
	for (uint32_t i = 0; result == 0 && i < counters.count; i++) {
		REQUIRE(counters.at[i].port < 255 && counters.at[i].lid <= UINT16_MAX);
		REQUIRE(!counters.at[i].known || counters.at[i].words != UINT32_MAX);
	}
	free(counters.at);
	return 0;
}
