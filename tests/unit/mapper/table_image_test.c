/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A device's tables as bytes. Decoding returns what was encoded, and other bytes are not accepted
 * as tables. */

#include "mapper/table_image.h"

#include "random_network.h"
#include "route/route_algorithm.h"

struct reading {
	const struct route_set *set;
	const struct route_table *table;
	uint32_t host, seen;
};

static void compare_route(void *context, const struct table_image_route *route)
{
	struct reading *reading = context;
	const uint8_t *expected, *parts;
	unsigned length;

	reading->seen++;
	if (reading->set == NULL) {
		assert_int_equal(route->length, 0);
		return;
	}
	expected = route_set_get(
		reading->set, reading->host, route->destination, route->which, &length);
	assert_int_equal(route->length, length);
	assert_memory_equal(route->elements, expected, length);
	parts = route_set_parts(reading->set, reading->host);
	assert_int_equal(route->parts,
		parts == NULL ? 0
			      : parts[(size_t)route->destination * ROUTE_ALTERNATIVES_MAX +
					route->which]);
}

/* Odd seeds have routes of two algorithms in one set, and the image records which algorithm has
 * which. */
static struct route_set *compute_set(const struct topology *topology, uint64_t seed)
{
	const struct route_algorithm *all[] = {
		route_algorithm_find("ud-random"), route_algorithm_find("ud-itb")};
	struct route_options options = {.alternatives = 3};

	return route_merge_compute(
		topology, all, seed % 2 == 0 ? 1 : 2, &options, NULL, &(struct error){0});
}

UNIT_TEST(a_hosts_routes_survive)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		OWNED(topology) *topology = random_network(seed, 20);
		OWNED(route_set) *set = compute_set(topology, seed);
		uint32_t host = (uint32_t)(seed % topology->hosts), routes = 0;
		struct reading reading = {.set = set, .host = host};
		struct table_image image;

		assert_non_null(set);
		assert_int_equal(table_image_of_host(&image,
					 &(struct table_image_source){topology, .set = set}, host),
			0);
		assert_true(table_image_check(image.bytes, image.length, 1, 1));
		assert_false(table_image_check(image.bytes, image.length, 0, 1));
		assert_int_equal(table_image_number(image.bytes), host);
		table_image_each_route(image.bytes, compare_route, &reading);
		for (uint32_t to = 0; to < topology->hosts; to++)
			routes += to == host ? 0 : route_set_count(set, host, to);
		assert_int_equal(reading.seen, routes);
		free(image.bytes);
	}
}

UNIT_TEST(a_host_in_a_fabric_of_tables_has_a_short_image)
{
	OWNED(topology) *topology = network_fat_tree(4, 2);
	OWNED(route_table) *table = route_compute_table(
		topology, route_algorithm_find("ud"), &(struct route_options){0}, NULL, NULL);
	struct reading reading = {.table = table};
	struct table_image image;

	assert_non_null(table);
	assert_int_equal(table_image_of_host(
				 &image, &(struct table_image_source){topology, .table = table}, 5),
		0);
	assert_true(table_image_check(image.bytes, image.length, 1, 1));
	assert_int_equal(image.length, 8 + 3 + 1 + 3);
	table_image_each_route(image.bytes, compare_route, &reading);
	assert_int_equal(reading.seen, topology->hosts - 1);
	free(image.bytes);
}

UNIT_TEST(a_switchs_tables_survive)
{
	struct error error;
	OWNED(topology) *topology = topology_generate("torus:dims=4x4,hosts=2", &error);
	OWNED(route_table) *table = route_compute_table(
		topology, route_algorithm_find("dor"), &(struct route_options){0}, NULL, &error);
	uint64_t alternatives[32];

	assert_non_null(table);
	table->alternatives = calloc((size_t)16 * 32, sizeof(*table->alternatives));
	for (uint32_t i = 0; i < 16 * 32; i++)
		table->alternatives[i] = i % 7 < 3 ? 0x15 : 0x3;
	for (uint32_t at = 0; at < 16; at++) {
		unsigned ports = topology->switch_at[at].ports;
		struct table_image_switch tables;
		struct table_image image;

		assert_int_equal(
			table_image_of_switch(
				&image, &(struct table_image_source){topology, .table = table}, at),
			0);
		assert_true(table_image_check(image.bytes, image.length, 0, ports));
		table_image_read_switch(image.bytes, ports, &tables, alternatives);
		assert_memory_equal(tables.primary, route_table_row(table, at), 32);
		assert_memory_equal(
			alternatives, route_table_alternatives(table, at), sizeof(alternatives));
		assert_int_equal(tables.vc_classes, table->vc_rule->classes);
		assert_memory_equal(tables.ring, &table->vc_rule->ring[at * VC_RULE_PORTS], ports);
		assert_true(tables.dateline == table->vc_rule->dateline[at]);
		free(image.bytes);
	}
}

/* The layout of steps is stored next to the classes. A layout that cannot divide them is
 * refused. */
UNIT_TEST(the_classes_of_steps_survive)
{
	OWNED(topology) *topology = topology_generate("torus:dims=4x4,hosts=1", &(struct error){0});
	OWNED(route_set) *set = route_compute(topology, route_algorithm_find("msp"),
		&(struct route_options){0}, NULL, &(struct error){0});
	unsigned ports = topology->switch_at[3].ports;
	struct table_image_switch tables;
	struct table_image image;
	uint8_t *classes;

	assert_non_null(set);
	assert_int_equal(table_image_of_switch(
				 &image, &(struct table_image_source){topology, .set = set}, 3),
		0);
	assert_true(table_image_check(image.bytes, image.length, 0, ports));
	table_image_read_switch(image.bytes, ports, &tables, NULL);
	assert_int_equal(tables.vc_classes, 4);
	assert_int_equal(tables.vc_steps, VC_STEPS_LINKS);
	classes = image.bytes + image.length - 8 - ports - 1;
	assert_int_equal(*classes, 0x14);
	for (unsigned byte = 1; byte < 256; byte++) {
		bool good =
			(byte & 15) <= VC_RULE_CLASSES_MAX && vc_steps_fit(byte >> 4, byte & 15);

		*classes = (uint8_t)byte;
		assert_true(table_image_check(image.bytes, image.length, 0, ports) == good);
	}
	free(image.bytes);
}

/* The service levels of all pairs, from the image of each source. */
static void compare_levels(const struct topology *topology, const struct queuing *queuing)
{
	for (uint32_t host = 0; host < topology->hosts; host++) {
		struct table_image image;
		struct queuing *own;

		assert_int_equal(
			table_image_of_host(&image,
				&(struct table_image_source){topology, .queuing = queuing}, host),
			0);
		assert_true(table_image_check(image.bytes, image.length, 1, 1));
		assert_int_equal(table_image_queues(image.bytes), queuing->queues);
		assert_int_equal(table_image_queuing(image.bytes, &own), 0);
		for (uint32_t to = 0; to < topology->hosts; to++)
			assert_int_equal(queuing_sl(own, host, to), queuing_sl(queuing, host, to));
		queuing_destroy(own);
		free(image.bytes);
	}
}

static void cut_off(struct topology *topology, uint32_t host)
{
	topology->link_at[topology->host_link[host]] = topology->link_at[--topology->links];
	topology->host_at[host].cut_off = true;
	assert_int_equal(topology_finish(topology, "test", NULL), 0);
}

/* Some hosts are cut off, so the numbers of leaves have gaps. */
UNIT_TEST(service_levels_survive_with_every_scheme)
{
	const struct queuing_scheme *scheme;
	struct error error;

	for (uint64_t seed = 0; seed < 10; seed++) {
		OWNED(topology) *topology = random_network(seed, 24);

		for (uint32_t i = 0; i < topology->hosts; i += 5)
			cut_off(topology, i);
		for (unsigned i = 0; (scheme = queuing_scheme_at(i)) != NULL; i++)
			for (uint32_t queues = 1; queues <= 16; queues += 3) {
				struct queuing *queuing =
					queuing_create(topology, scheme, queues, &error);

				if (queuing != NULL)
					compare_levels(topology, queuing);
				queuing_destroy(queuing);
			}
	}
}

/* Consecutive hosts on consecutive leaves form one run, whatever their number. */
UNIT_TEST(the_leaves_of_a_fat_tree_take_nine_bytes)
{
	struct error error;
	OWNED(topology) *topology = topology_generate("rlft:ports=12,stages=3", &error);
	OWNED(queuing) *queuing = queuing_create(topology, &queuing_vftree, 4, &error);
	OWNED(route_table) *table = route_compute_table(
		topology, route_algorithm_find("dmodk"), &(struct route_options){0}, NULL, &error);
	struct table_image image;

	assert_int_equal(table_image_of_host(&image,
				 &(struct table_image_source){topology, NULL, table, queuing}, 0),
		0);
	assert_int_equal(image.length, 8 + 9 + 1 + 3);
	free(image.bytes);
	assert_int_equal(table_image_of_switch(&image,
				 &(struct table_image_source){topology, NULL, table, queuing}, 0),
		0);
	assert_int_equal(table_image_queues(image.bytes), 4);
	free(image.bytes);
}

static void count_routes(void *context, const struct table_image_route *route)
{
	*(uint32_t *)context += 1;
}

/* In memory of exactly its size, so that a sanitizer detects a read beyond it. */
static void try_image(const uint8_t *bytes, uint32_t length, unsigned kind, unsigned ports)
{
	uint8_t *copy = malloc(length + (length == 0));
	struct table_image_switch tables;
	struct queuing *queuing;
	uint32_t routes = 0;
	uint64_t *sets;

	memcpy(copy, bytes, length);
	if (table_image_check(copy, length, kind, ports)) {
		if (kind == 1) {
			table_image_each_route(copy, count_routes, &routes);
			assert_int_equal(table_image_queuing(copy, &queuing), 0);
			for (uint32_t to = 0; to < table_image_hosts(copy); to++)
				assert_true(queuing_sl(queuing, 0, to) < FRAME_VCS_MAX);
			queuing_destroy(queuing);
		} else {
			sets = calloc(table_image_hosts(copy) + 1u, sizeof(*sets));
			table_image_read_switch(copy, ports, &tables, sets);
			free(sets);
		}
	}
	free(copy);
}

UNIT_TEST(no_other_length_and_no_damage_does_harm)
{
	OWNED(topology) *topology = random_network(3, 20);
	struct route_options options = {0};
	struct error error;
	OWNED(route_set) *set = compute_set(topology, 1);
	OWNED(queuing) *queuing = queuing_create(topology, &queuing_vftree, 3, &error);
	OWNED(route_table) *table =
		route_compute_table(topology, route_algorithm_find("ud"), &options, NULL, NULL);
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned kind = 0; kind < 2; kind++) {
		unsigned ports = kind == 1 ? 1 : topology->switch_at[0].ports;
		const struct table_image_source source = {
			topology, kind == 1 ? set : NULL, kind == 1 ? NULL : table, queuing};
		struct table_image image;

		assert_int_equal(kind == 1 ? table_image_of_host(&image, &source, 1)
					   : table_image_of_switch(&image, &source, 0),
			0);
		for (uint32_t length = 0; length < image.length; length++) {
			assert_false(table_image_check(image.bytes, length, kind, ports));
			try_image(image.bytes, length, kind, ports);
		}
		for (unsigned i = 0; i < 20000; i++) {
			uint8_t *one = &image.bytes[rng_below(&rng, image.length)], was = *one;
			uint8_t *two = &image.bytes[rng_below(&rng, image.length)], had = *two;

			*one = (uint8_t)rng_next(&rng);
			*two = (uint8_t)rng_next(&rng);
			try_image(image.bytes, image.length, kind, ports);
			*two = had;
			*one = was;
		}
		free(image.bytes);
	}
}
