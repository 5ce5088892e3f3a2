/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads captures from any source. A refused capture gives a one-line reason that starts with the
 * file name. An accepted one can be audited and explained, whatever its frames, times and comments
 * are. */

#include <string.h>

#include "audit/audit.h"
#include "audit/why.h"
#include "fuzz.h"

#define LINKS_MAX 64

/* The parts of each packet add up to its time. */
static void explain_all(struct why *why, bool exact)
{
	uint32_t list[16], count;

	REQUIRE(why_end(why) == 0);
	count = why_slowest(why, 16, list);
	for (uint32_t i = 0; i < count; i++) {
		static struct why_packet packet;
		uint64_t sum = 0;

		why_explain(why, list[i], &packet);
		for (unsigned j = 0; j < packet.pieces; j++)
			sum += packet.piece[j].ns;
		REQUIRE(!exact || sum == packet.ns);
		REQUIRE(why_find_frame(why, packet.file, packet.number) != UINT32_MAX);
	}
	why_critical_path(why, 16, list);
}

/* Interfaces are assigned to ports in turn. */
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
	struct why *why;
	uint64_t before = 0;

	memset(captured, true, sizeof(captured));
	audit = audit_create(&rules, captured);
	why = why_create(&rules, captured);
	REQUIRE(order != NULL && audit != NULL && why != NULL);
	while (capture_order_next(order, &next) > 0) {
		const struct audit_frame_at frame =
			audit_frame_of(&next, next.packet.interface % (2 * topology->links));

		REQUIRE(frame.time_ns >= before);
		before = frame.time_ns;
		REQUIRE(audit_add(audit, &frame) == 0);
		REQUIRE(why_add(why, &frame) == 0);
	}
	explain_all(why, exact);
	why_destroy(why);
	audit_end(audit);
	REQUIRE(audit_counts(audit)->frames == reader->packets);
	audit_destroy(audit);
	capture_order_destroy(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct topology *topology;
	struct capture_reader reader;
	struct error error = {""};

	if (topology == NULL)
		topology = topology_generate("rlft:ports=4,stages=2", &error);
	REQUIRE(topology != NULL && topology->links <= LINKS_MAX);
	if (capture_reader_open(&reader, "fuzz", data, size, &error) < 0) {
		REQUIRE(strncmp(error.text, "fuzz: ", 6) == 0 && strchr(error.text, '\n') == NULL);
		return 0;
	}
	audit_all(topology, &reader, true);
	capture_reader_rewind(&reader);
	audit_all(topology, &reader, false);
	capture_reader_close(&reader);
	return 0;
}
