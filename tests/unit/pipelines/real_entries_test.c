/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real/real_private.h"

#include "unit.h"

#define HOSTS 3
#define LOOPS 2

/* Three hosts on two loops, and one entry that ends. */
struct bed {
	struct run_config run;
	struct topology topology;
	struct real_fabric fabric;
	struct poll_nic poll[HOSTS];
	struct real_host host[HOSTS];
	struct measure_entry entry;
	struct measure_flow flow[HOSTS];
};

static void open_bed(struct bed *bed)
{
	*bed = (struct bed){.topology = {.hosts = HOSTS}, .entry = {.flow = bed->flow}};
	bed->fabric = (struct real_fabric){
		.options = {.topology = &bed->topology, .run = &bed->run},
		.hosts = bed->host,
		.host_count = HOSTS,
		.loops = LOOPS,
		.given.window = {.topology = &bed->topology, .entry = &bed->entry, .entries = 1},
	};
	bed->fabric.work = &bed->fabric.given;
	for (unsigned i = 0; i < HOSTS; i++) {
		bed->poll[i].sink = measure_sink_create((uint16_t)i, HOSTS);
		assert_non_null(bed->poll[i].sink);
		bed->host[i] = (struct real_host){.number = i, .poll = &bed->poll[i]};
	}
	assert_int_equal(real_entries_create(&bed->fabric), 0);
}

static void close_bed(struct bed *bed)
{
	for (unsigned i = 0; i < HOSTS; i++)
		measure_sink_destroy(bed->poll[i].sink);
	free(bed->fabric.given.flows);
}
#define bed_out_of_scope close_bed

UNIT_TEST(rows_of_another_work_take_their_place_when_its_traffic_begins)
{
	struct real_traffic other = {.run = NULL};
	OWNED(bed) bed;

	open_bed(&bed);
	other.window = bed.fabric.given.window;
	assert_int_equal(real_flows_create(&bed.fabric, &other), 0);
	bed.fabric.work = &other;
	for (unsigned i = 0; i < LOOPS; i++)
		real_flows_begin(&bed.fabric, i);
	assert_ptr_equal(bed.poll[0].sink->entry[0].flow, other.flows);
	free(other.flows);
}

/* A message of host 1 has arrived. */
static void arrive(struct bed *bed, unsigned host, weft_time at_ps)
{
	struct measure_sink_entry *entry = &bed->poll[host].sink->entry[0];

	entry->messages++;
	entry->flow[1].messages++;
	entry->flow[1].last_ps = at_ps;
}

UNIT_TEST(totals_are_read_without_the_flows)
{
	OWNED(bed) bed;

	open_bed(&bed);
	arrive(&bed, 2, 500);
	bed.flow[1].delivered = 77;
	real_entries_read(&bed.fabric, false);
	assert_int_equal(bed.entry.now.messages, 1);
	assert_int_equal(bed.flow[1].delivered, 77);
}

UNIT_TEST(flows_are_summed_over_the_loops)
{
	OWNED(bed) bed;

	open_bed(&bed);
	bed.fabric.traffic_from = 100;
	arrive(&bed, 0, 900);
	arrive(&bed, 2, 500);
	bed.flow[0].delivered = 77;
	real_flows_read(&bed.fabric);
	assert_int_equal(bed.flow[0].delivered, 0);
	assert_int_equal(bed.flow[1].delivered, 2);
	assert_int_equal(bed.flow[1].last_ps, 800);
}

UNIT_TEST(hosts_of_a_loop_share_a_row_and_loops_share_none)
{
	const struct measure_sink_flow *row[HOSTS];
	OWNED(bed) bed;

	open_bed(&bed);
	for (unsigned i = 0; i < HOSTS; i++)
		row[i] = bed.poll[i].sink->entry[0].flow;
	assert_non_null(row[0]);
	assert_ptr_equal(row[1], row[2]);
	assert_true(row[1] >= row[0] + HOSTS || row[0] >= row[1] + HOSTS);
}

UNIT_TEST(a_loop_clears_its_own_rows_alone)
{
	OWNED(bed) bed;

	open_bed(&bed);
	arrive(&bed, 0, 900);
	arrive(&bed, 2, 500);
	real_flows_begin(&bed.fabric, 0);
	real_flows_read(&bed.fabric);
	assert_int_equal(bed.flow[1].delivered, 1);
	assert_int_equal(bed.flow[1].last_ps, 500);
}
