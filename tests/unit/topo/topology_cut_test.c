/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Dividing topologies into parts. */

#include "unit.h"

#include "topo/topology.h"

struct cut {
	struct topology *topology;
	uint16_t *part;
};

static struct cut cut_of(const char *spec, unsigned parts)
{
	struct error error = {""};
	struct cut cut = {.topology = topology_generate(spec, &error)};

	if (cut.topology == NULL)
		fail_msg("%s", error.text);
	cut.part = calloc(cut.topology->switches + cut.topology->hosts, sizeof(*cut.part));
	assert_non_null(cut.part);
	assert_int_equal(topology_cut(cut.topology, parts, cut.part), 0);
	return cut;
}

static void close_cut(struct cut *cut)
{
	topology_destroy(cut->topology);
	free(cut->part);
}
#define cut_out_of_scope close_cut

UNIT_TEST(a_host_is_in_the_part_of_its_switch)
{
	OWNED(cut) cut = cut_of("rlft:ports=8,stages=3", 3);

	for (uint32_t host = 0; host < cut.topology->hosts; host++) {
		struct topology_port at;

		assert_true(topology_host_switch(cut.topology, host, &at));
		assert_int_equal(cut.part[cut.topology->switches + host], cut.part[at.device]);
	}
}

UNIT_TEST(parts_have_about_the_same_number_of_hosts)
{
	static const unsigned parts[] = {2, 3, 4, 8};

	for (unsigned i = 0; i < 4; i++) {
		OWNED(cut) cut = cut_of("rlft:ports=12,stages=3", parts[i]);
		unsigned count[8] = {0};

		for (uint32_t host = 0; host < cut.topology->hosts; host++)
			count[cut.part[cut.topology->switches + host]]++;
		for (unsigned k = 0; k < parts[i]; k++) {
			assert_true(count[k] * parts[i] > cut.topology->hosts * 6 / 10);
			assert_true(count[k] * parts[i] < cut.topology->hosts * 14 / 10);
		}
	}
}

UNIT_TEST(few_links_of_a_ring_are_cut)
{
	OWNED(cut) cut = cut_of("ring:switches=16,hosts=2", 4);
	unsigned between = 0;

	for (uint32_t i = 0; i < cut.topology->links; i++) {
		const struct topology_link *link = &cut.topology->link_at[i];

		if (link->a.kind == DEVICE_SWITCH && link->b.kind == DEVICE_SWITCH)
			between += cut.part[link->a.device] != cut.part[link->b.device];
	}
	assert_int_equal(between, 4);
}

UNIT_TEST(the_delay_is_the_least_of_the_links_that_are_cut)
{
	OWNED(cut) cut = cut_of("ring:switches=4,hosts=1,delay=50ns", 1);
	struct topology *topology = cut.topology;

	assert_true(topology_cut_delay(topology, cut.part) == WEFT_TIME_NEVER);
	cut.part[2] = cut.part[topology->switches + 2] = 1;
	assert_true(topology_cut_delay(topology, cut.part) == 50 * PS_PER_NS);
	for (uint32_t i = 0; i < topology->links; i++) {
		struct topology_link *link = &topology->link_at[i];
		bool cuts = link->a.kind == DEVICE_SWITCH && link->b.kind == DEVICE_SWITCH &&
			    (link->a.device == 2 || link->b.device == 2);

		link->delay_ps = cuts ? (40 + link->a.device) * PS_PER_NS : PS_PER_NS;
	}
	assert_true(topology_cut_delay(topology, cut.part) < 43 * PS_PER_NS);
	assert_true(topology_cut_delay(topology, cut.part) >= 40 * PS_PER_NS);
}
