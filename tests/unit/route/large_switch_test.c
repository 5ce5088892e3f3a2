/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Switches with more than 64 ports, up to 255: routes, their files, the verifier. */

#include "route/formats/route_binary.h"
#include "route/formats/route_file.h"
#include "route/verify/route_verify.h"
#include "topo/topology.h"

#include "route_bench.h"

static const char *const specs[] = {"full:switches=80,hosts=1", "irregular:switches=6,hosts=70",
	"irregular:switches=4,degree=3,hosts=120,seed=2", "torus:dims=3x3,hosts=66",
	"full:switches=2,hosts=254"};

#define SPECS (sizeof(specs) / sizeof(specs[0]))

static bool verify(const struct topology *topology, const struct route_set *set,
	const struct route_table *table)
{
	const struct route_subject subject = {set, table};
	OWNED(route_report) report;
	bool good;

	assert_int_equal(0, route_verify(topology, &subject, 1, &report, NULL));
	good = route_report_good(&report);
	return good;
}

static unsigned highest_port(const struct route_set *set)
{
	unsigned highest = 0, length;

	for (uint32_t from = 0; from < route_set_hosts(set); from++)
		for (uint32_t to = 0; to < route_set_hosts(set); to++) {
			const uint8_t *route = route_set_get(set, from, to, 0, &length);

			for (unsigned i = 0; from != to && i + 1 < length; i++)
				if ((route[i] & ROUTE_PORT_BIT) != 0 || route_is_high(route[i])) {
					unsigned port = route_port(route, &i);

					highest = port > highest ? port : highest;
				}
		}
	return highest;
}

/* Writes and reads the routes, which must be unchanged. */
static void expect_round_trip(const struct topology *topology, struct route_set *set, bool binary)
{
	struct route_file file = {set, NULL}, read;
	struct error error = {""};
	char *text;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	assert_non_null(stream);
	assert_int_equal(0, binary ? route_binary_write(topology, &file, stream, &error)
				   : route_file_write(topology, set, stream, &error));
	fclose(stream);
	stream = fmemopen(text, bytes, "r");
	assert_non_null(stream);
	if (route_file_read(topology, stream, "test", &read, &error) < 0)
		fail_msg("%s", error.text);
	fclose(stream);
	assert_true(bench_same_routes(set, read.set));
	route_file_close(&read);
	free(text);
}

UNIT_TEST(routes_through_high_ports_verify_and_survive_files)
{
	static const char *const names[] = {"ud", "dfs", "bmin-itb", "disjoint", "ud-itb"};

	for (unsigned i = 0; i < SPECS; i++) {
		OWNED(topology) *topology = bench_generate(specs[i]);

		assert_true(topology_max_ports(topology) > TOPOLOGY_PORTS_RUN);
		for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
			struct route_options options = {.seed = i, .alternatives = 1};
			OWNED(route_set) *set = bench_compute(topology, names[n], &options);

			assert_true(verify(topology, set, NULL));
			assert_in_range(highest_port(set), 64, topology_max_ports(topology) - 1u);
			if (n % 2 == 0)
				expect_round_trip(topology, set, i % 2 == 0);
		}
	}
}

static uint32_t home(const struct topology *topology, uint32_t host)
{
	struct topology_port at;

	assert_true(topology_host_switch(topology, host, &at));
	return at.device;
}

UNIT_TEST(tables_of_switches_with_many_ports_verify)
{
	for (unsigned i = 0; i < SPECS; i++) {
		OWNED(topology) *topology = bench_generate(specs[i]);
		struct route_options options = {.seed = i};
		uint8_t *row;
		struct error error = {""};
		OWNED(route_table) *table = route_compute_table(
			topology, route_algorithm_find("ud"), &options, NULL, &error);

		if (table == NULL)
			fail_msg("%s", error.text);
		assert_true(verify(topology, NULL, table));
		/* The switch of host 0 sends the packets for it to a different port. */
		row = route_table_row(table, home(topology, 0));
		row[0] = row[0] > 0 ? row[0] - 1 : 1;
		assert_false(verify(topology, NULL, table));
	}
}

/* Minimal routes around a ring of large switches close a cycle, which the verifier finds. */
UNIT_TEST(a_cycle_through_high_ports_is_found)
{
	OWNED(topology) *topology = topology_create("net", 5, 5 * 64 + 5);
	struct route_options options = {.seed = 1, .alternatives = 1};
	struct route_set *set;
	struct error error = {""};

	for (uint32_t i = 0; i < 5; i++) {
		const struct topology_port clockwise = {DEVICE_SWITCH, i, 100},
					   back = {DEVICE_SWITCH, (i + 1) % 5, 200};

		snprintf(topology->switch_at[i].name, TOPOLOGY_NAME_MAX, "s%u", i);
		topology->switch_at[i].ports = TOPOLOGY_PORTS_MAX;
		assert_int_equal(0, topology_add_link(topology, clockwise, back, 0, 0, 0));
	}
	for (uint32_t i = 0; i < topology->hosts; i++) {
		const struct topology_port host = {DEVICE_HOST, i, 0},
					   at = {DEVICE_SWITCH, i % 5, (uint8_t)(i / 5)};

		snprintf(topology->host_at[i].name, TOPOLOGY_NAME_MAX, "h%u", i);
		assert_int_equal(0, topology_add_link(topology, host, at, 0, 0, 0));
	}
	if (topology_finish(topology, "test", &error) < 0)
		fail_msg("%s", error.text);
	set = bench_compute(topology, "minhop", &options);
	assert_false(verify(topology, set, NULL));
	route_set_destroy(set);
	set = bench_compute(topology, "random-itb", &options);
	assert_true(verify(topology, set, NULL));
	route_set_destroy(set);
}

UNIT_TEST(what_keeps_sets_of_64_ports_refuses_more)
{
	struct topology *topology = bench_generate("torus:dims=3x3,hosts=66");
	struct error error = {""};

	bench_expect_refused(
		topology, "dor", "s0 has 70 ports; expected at most 64 for dimension order");
	assert_int_equal(
		-EINVAL, topology_check_ports(topology, TOPOLOGY_PORTS_RUN, "a run", &error));
	assert_non_null(strstr(error.text, "s0 has 70 ports; expected at most 64 for a run"));
	topology_destroy(topology);
}

UNIT_TEST(tables_of_dmodk_have_sets_of_ports_above_63)
{
	struct topology *topology = bench_generate("rlft:ports=70,stages=1");
	struct route_options options = {.seed = 1};
	struct route_table *table =
		route_compute_table(topology, &route_dmodk, &options, NULL, NULL);

	assert_non_null(table);
	assert_int_equal(table->words, 4);
	for (unsigned port = 0; port < 70; port++) {
		uint32_t host = 0;

		while (route_table_row(table, 0)[host] != port)
			host++;
		for (unsigned word = 0; word < 4; word++)
			assert_int_equal(route_table_alternatives(table, 0)[4 * host + word],
				word == port / 64 ? (uint64_t)1 << port % 64 : 0);
	}
	route_table_destroy(table);
	topology_destroy(topology);
}
