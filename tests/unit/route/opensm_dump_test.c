/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Checks the files for ibdmchk line by line. tests/tools/ibdmchk_test checks that ibdmchk reads
 * them. */

#include "route/formats/opensm_tables.h"
#include "route/route_algorithm.h"

#include "networks.h"

/* h0 at s0 and h1 at s1. s0 and s1 are linked by port 0 of each. */
static struct topology *two_switches(void)
{
	struct network network;

	network_begin(&network, 2, 2);
	network_link(&network, 0, 1);
	network_host(&network, 0, 0);
	network_host(&network, 1, 1);
	return network_end(&network);
}

static struct route_table *compute(const struct topology *topology)
{
	struct route_options options = {0};
	struct route_table *table =
		route_compute_table(topology, &route_up_down, &options, NULL, NULL);

	assert_non_null(table);
	return table;
}

/* Returns the written text. The caller frees it. */
static char *subnet_text(const struct topology *topology)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(0, opensm_dump_subnet(topology, out, NULL));
	fclose(out);
	return text;
}

static char *tables_text(const struct topology *topology, const struct route_table *table)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(0, opensm_dump_tables(topology, table, out, NULL));
	fclose(out);
	return text;
}

UNIT_TEST(ports_are_counted_from_one_and_lids_from_the_hosts_on)
{
	OWNED(topology) *topology = two_switches();
	OWNED(route_table) *table = compute(topology);
	char *text = tables_text(topology, table);

	assert_string_equal(text, "dump_ucast_routes: Switch 0x0200000000010000\nLID    : Port\n"
				  "0x0001 : 002\n0x0002 : 001\n0x0003 : 000\n\n"
				  "dump_ucast_routes: Switch 0x0200000000010001\nLID    : Port\n"
				  "0x0001 : 001\n0x0002 : 002\n0x0004 : 000\n\n");
	free(text);
}

UNIT_TEST(both_directions_of_a_link_have_a_line)
{
	static const char there[] =
		"{ SW Ports:20 SystemGUID:0200000000010001 NodeGUID:0200000000010001 "
		"PortGUID:0200000000010001 VenID:000000 DevID:0000 Rev:00000000 {s1} LID:0004 "
		"PN:02 } { CA Ports:01 SystemGUID:0200000100000002 NodeGUID:0200000100000002 "
		"PortGUID:0200000100000003 VenID:000000 DevID:0000 Rev:00000000 {h1} LID:0002 "
		"PN:01 } PHY=4x LOG=ACT SPD=2.5\n";
	OWNED(topology) *topology = two_switches();
	char *text = subnet_text(topology);
	unsigned lines = 0;

	for (const char *c = text; *c != '\0'; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 2 * topology->links);
	assert_non_null(strstr(text, there));
	free(text);
}

UNIT_TEST(what_cannot_be_reached_has_no_line)
{
	OWNED(topology) *topology = two_switches();
	OWNED(route_table) *table = compute(topology);
	char *text;

	route_table_row(table, 0)[1] = ROUTE_TABLE_NONE;
	text = tables_text(topology, table);
	assert_non_null(strstr(text, "0x0001 : 002\n0x0003 : 000\n"));
	free(text);
}

UNIT_TEST(tables_of_another_topology_are_refused)
{
	OWNED(topology) *topology = two_switches();
	OWNED(route_table) *table = route_table_create(2, 3);
	struct error error;

	assert_int_equal(opensm_dump_tables(topology, table, stdout, &error), -EINVAL);
	assert_string_equal(error.text, "tables of 2 switches and 3 hosts, but net has 2 and 2");
}

UNIT_TEST(more_devices_than_lids_are_refused)
{
	OWNED(topology) *topology = topology_create("big", 1000, 48152);
	struct error error;

	assert_int_equal(opensm_dump_subnet(topology, stdout, &error), -EINVAL);
	assert_string_equal(error.text,
		"big: there are 49152 hosts and switches; at most 49151 are allowed, the number "
		"of InfiniBand LIDs");
}
