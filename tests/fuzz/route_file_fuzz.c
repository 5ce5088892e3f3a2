/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Route files: what is accepted can be judged, and written and read again without change; what is
 * refused has a reason that names the place. */

#include "route_file.h"

#include <stdlib.h>
#include <string.h>

#include "route_verify.h"

#define REQUIRE(condition)        \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct route_set *read_bytes(const struct topology *topology, const void *bytes, size_t size)
{
	FILE *in = fmemopen((void *)(uintptr_t)bytes, size, "r");
	struct fault fault = {""};
	struct route_set *set;
	int result;

	REQUIRE(in != NULL);
	set = route_file_read(topology, in, "fuzz", &result, &fault);
	fclose(in);
	REQUIRE((set != NULL) == (result == 0));
	REQUIRE(set != NULL || strncmp(fault.text, "fuzz:", 5) == 0);
	return set;
}

static char *write_bytes(const struct topology *topology, const struct route_set *set, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	REQUIRE(out != NULL);
	REQUIRE(route_file_write(topology, set, out, NULL) == 0);
	fclose(out);
	return text;
}

static void try_set(const struct topology *topology, const struct route_set *set)
{
	struct route_report report;
	size_t first_size, second_size;
	char *first = write_bytes(topology, set, &first_size), *second;
	struct route_set *again = read_bytes(topology, first, first_size);

	REQUIRE(again != NULL);
	second = write_bytes(topology, again, &second_size);
	REQUIRE(first_size == second_size && memcmp(first, second, first_size) == 0);
	REQUIRE(route_verify_set(topology, set, &report, NULL) == 0);
	REQUIRE(report.invalid == 0);
	route_report_free(&report);
	route_set_destroy(again);
	free(first);
	free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct topology *topology;
	struct route_set *set;

	if (size == 0 || size > 65536)
		return 0;
	topology = topology_generate("ring:switches=4,hosts=1", NULL);
	REQUIRE(topology != NULL);
	set = read_bytes(topology, data, size);
	if (set != NULL)
		try_set(topology, set);
	route_set_destroy(set);
	topology_destroy(topology);
	return 0;
}
