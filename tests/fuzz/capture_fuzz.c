/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Captures of any origin: a refused one has a reason in one line that begins with the file; what an
 * accepted one holds can be audited, whatever its frames, times and comments are. */

#include <string.h>

#include "audit.h"
#include "capture_order.h"
#include "fuzz.h"

#define LINKS_MAX 64

/* Interfaces are ports in turn. */
static void audit_all(const struct topology *topology, struct capture_reader *reader, bool exact)
{
	const struct audit_rules rules = {.topology = topology,
		.vcs_known = exact,
		.vcs = 2,
		.voq = exact,
		.vc_blocks = 64,
		.exact = exact};
	bool captured[2 * LINKS_MAX];
	struct capture_order *order = capture_order_create(reader, 1, !exact);
	struct capture_ordered next;
	struct audit *audit;
	uint64_t before = 0;

	memset(captured, true, sizeof(captured));
	audit = audit_create(&rules, captured);
	REQUIRE(order != NULL && audit != NULL);
	while (capture_order_next(order, &next) > 0) {
		const struct capture_packet *packet = &next.packet;

		REQUIRE(packet->time_ns >= before);
		before = packet->time_ns;
		REQUIRE(audit_add(audit, &(struct audit_frame_at){
						 .way = packet->interface % (2 * topology->links),
						 .out = packet->direction == CAPTURE_OUT,
						 .gone = packet->direction == CAPTURE_BOTH,
						 .time_ns = packet->time_ns,
						 .number = packet->number,
						 .bytes = packet->bytes,
						 .captured_bytes = packet->captured_bytes,
						 .frame_bytes = packet->frame_bytes,
						 .comment = packet->comment,
						 .comment_bytes = packet->comment_bytes,
					 }) == 0);
	}
	audit_end(audit);
	REQUIRE(audit_counts(audit)->frames == reader->packets);
	audit_destroy(audit);
	capture_order_destroy(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct topology *topology;
	struct capture_reader reader;
	struct fault fault = {""};

	if (topology == NULL)
		topology = topology_generate("rlft:ports=4,stages=2", &fault);
	REQUIRE(topology != NULL && topology->links <= LINKS_MAX);
	if (capture_reader_open(&reader, "fuzz", data, size, &fault) < 0) {
		REQUIRE(strncmp(fault.text, "fuzz: ", 6) == 0 && strchr(fault.text, '\n') == NULL);
		return 0;
	}
	audit_all(topology, &reader, true);
	capture_reader_rewind(&reader);
	audit_all(topology, &reader, false);
	capture_reader_close(&reader);
	return 0;
}
