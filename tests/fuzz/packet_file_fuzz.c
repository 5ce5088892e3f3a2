/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads captures from other programs, and their packets with other addresses. What is refused has a
 * reason in one line that starts with the file. Times of packets do not fall, and offsets lie
 * within what was captured. */

#include <string.h>

#include "experiment/workload/packet_file.h"
#include "fuzz.h"

static void check(const struct packet *packet, weft_time before)
{
	static uint8_t out[PACKET_IPV4_MAX];
	volatile uint8_t last = 0;

	REQUIRE(packet->at_ps >= before);
	REQUIRE(packet->ip <= packet->captured && packet->captured <= packet->bytes);
	if (packet->captured > 0)
		last = packet->data[packet->captured - 1];
	REQUIRE(packet->ip == packet->captured || packet->source[0].kind != PACKET_ADDRESS_NONE);
	(void)last;
	REQUIRE(packet_rewrite(packet, 1, 2, out) <= PACKET_IPV4_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *in = size > 0 ? fmemopen((void *)data, size, "r") : NULL;
	struct packet packet = {0};
	struct error error = {""};
	struct packet_file *file;
	weft_time before = 0;
	int result = 1;

	if (in == NULL)
		return 0;
	file = packet_file_of(in, "fuzz", &error);
	while (file != NULL && result == 1) {
		result = packet_file_next(file, &packet, &error);
		if (result != 1)
			break;
		check(&packet, before);
		before = packet.at_ps;
	}
	if (file == NULL || result < 0)
		REQUIRE(strncmp(error.text, "fuzz:", 5) == 0 && strchr(error.text, '\n') == NULL);
	packet_file_close(file);
	return 0;
}
