/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads route files. Accepted routes can be judged, and written and read again without a change.
 * Refused input gives a reason with the position. */

#include "route/formats/route_binary.h"
#include "route/formats/route_file.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "route/verify/route_verify.h"
#include "wire/crc.h"

/* A header that is part of a good file is also good alone, and has the same contents. */
static void try_header(const void *bytes, size_t size, const struct route_file *whole)
{
	bool good = whole->set != NULL || whole->table != NULL;
	FILE *in = fmemopen((void *)(uintptr_t)bytes, size, "r");
	struct route_file_header header;
	struct error error = {""};
	int result;

	REQUIRE(in != NULL);
	result = route_file_read_header(in, "fuzz", &header, &error);
	fclose(in);
	REQUIRE(result == 0 || (!good && strncmp(error.text, "fuzz:", 5) == 0));
	if (!good)
		return;
	REQUIRE(header.tables == (whole->table != NULL));
	REQUIRE(strcmp(header.origin.algorithm, route_file_origin(whole)->algorithm) == 0);
}

static struct route_file read_bytes(const struct topology *topology, const void *bytes, size_t size)
{
	FILE *in = fmemopen((void *)(uintptr_t)bytes, size, "r");
	struct error error = {""};
	struct route_file file;
	int result;

	REQUIRE(in != NULL);
	result = route_file_read(topology, in, "fuzz", &file, &error);
	fclose(in);
	REQUIRE((result == 0) == (file.set != NULL || file.table != NULL));
	REQUIRE(result == 0 || strncmp(error.text, "fuzz:", 5) == 0);
	try_header(bytes, size, &file);
	return file;
}

static char *write_bytes(
	const struct topology *topology, const struct route_file *file, bool text, size_t *size)
{
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, size);

	REQUIRE(out != NULL);
	if (text)
		REQUIRE(route_file_write(topology, file->set, out, NULL) == 0);
	else
		REQUIRE(route_binary_write(topology, file, out, NULL) == 0);
	fclose(out);
	return bytes;
}

static void try_round_trip(
	const struct topology *topology, const struct route_file *file, bool text)
{
	size_t first_size, second_size;
	char *first = write_bytes(topology, file, text, &first_size), *second;
	struct route_file again = read_bytes(topology, first, first_size);

	REQUIRE(again.set != NULL || again.table != NULL);
	second = write_bytes(topology, &again, text, &second_size);
	REQUIRE(first_size == second_size && memcmp(first, second, first_size) == 0);
	route_file_close(&again);
	free(first);
	free(second);
}

static void try_file(const struct topology *topology, const struct route_file *file)
{
	const struct route_subject subject = {.set = file->set, .table = file->table};
	struct route_report report;

	if (file->set != NULL)
		try_round_trip(topology, file, true);
	try_round_trip(topology, file, false);
	REQUIRE(route_verify(topology, &subject, 1, &report, NULL) == 0);
	REQUIRE(report.invalid == 0 || file->table != NULL);
	route_report_free(&report);
}

/* Corrects the checksums of a binary file, which would hide all other errors. */
static void repair(uint8_t *bytes, size_t size)
{
	size_t at = strlen(ROUTE_BINARY_MAGIC);
	uint32_t length, sum;

	while (size >= at + sizeof(length)) {
		memcpy(&length, bytes + at, sizeof(length));
		at += sizeof(length);
		length = le32toh(length);
		if (length > size - at || size - at - length < sizeof(sum))
			return;
		sum = htole32(crc32c(bytes + at, length));
		memcpy(bytes + at + length, &sum, sizeof(sum));
		at += length + sizeof(sum);
	}
}

static void try_bytes(const struct topology *topology, const uint8_t *bytes, size_t size)
{
	struct route_file file = read_bytes(topology, bytes, size);

	if (file.set != NULL || file.table != NULL)
		try_file(topology, &file);
	route_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct topology *topology;
	uint8_t *copy;

	if (size == 0 || size > 65536)
		return 0;
	topology = topology_generate("ring:switches=4,hosts=1", NULL);
	copy = malloc(size);
	REQUIRE(topology != NULL && copy != NULL);
	try_bytes(topology, data, size);
	memcpy(copy, data, size);
	repair(copy, size);
	if (data[0] == ROUTE_BINARY_MAGIC[0])
		try_bytes(topology, copy, size);
	free(copy);
	topology_destroy(topology);
	return 0;
}
