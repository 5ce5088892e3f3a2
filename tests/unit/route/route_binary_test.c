/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The binary route file. The content is read back unchanged, and damage is refused with its
 * position. */

#include "route/formats/route_binary.h"

#include "networks.h"
#include "route/route_algorithm.h"

/* Offsets in a file. */
#define HEADER_AT 12
#define FIRST_AT  (HEADER_AT + ROUTE_BINARY_HEADER + 4) /* the first section after it */

struct bytes {
	char *at;
	size_t size;
};

static struct bytes write_file(const struct topology *topology, const struct route_file *file)
{
	struct bytes bytes;
	FILE *out = open_memstream(&bytes.at, &bytes.size);
	struct error error;

	assert_non_null(out);
	if (route_binary_write(topology, file, out, &error) != 0)
		fail_msg("%s", error.text);
	fclose(out);
	return bytes;
}

static int read_file(const struct topology *topology, const struct bytes *bytes,
	struct route_file *file, struct error *error)
{
	FILE *in = fmemopen(bytes->at, bytes->size, "r");
	int result;

	assert_non_null(in);
	result = route_file_read(topology, in, "FILE", file, error);
	fclose(in);
	return result;
}

static struct route_set *some_routes(const struct topology *topology, uint64_t seed)
{
	struct route_options options = {.seed = seed, .alternatives = 1 + (unsigned)seed % 4};
	struct route_set *set = route_compute(topology, &route_up_down, &options, NULL, NULL);

	assert_non_null(set);
	return set;
}

static struct route_table *some_table(const struct topology *topology, uint64_t seed)
{
	struct route_options options = {.seed = seed};
	struct route_table *table =
		route_compute_table(topology, &route_up_down, &options, NULL, NULL);

	assert_non_null(table);
	return table;
}

/* Writes, reads and writes again. */
static void assert_round_trip(const struct topology *topology, struct route_file *file)
{
	struct bytes first = write_file(topology, file), second;
	struct error error = {""};
	OWNED(route_file) again;

	assert_int_equal(0, read_file(topology, &first, &again, &error));
	second = write_file(topology, &again);
	assert_int_equal(first.size, second.size);
	assert_memory_equal(first.at, second.at, first.size);
	free(first.at);
	free(second.at);
	route_file_close(file);
}

UNIT_TEST(routes_are_read_back_the_same)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		OWNED(topology) *topology = network_random(seed, seed % 2 == 0);
		struct route_file file = {.set = some_routes(topology, seed)};

		assert_round_trip(topology, &file);
	}
}

UNIT_TEST(each_route_is_the_same_as_in_memory)
{
	OWNED(topology) *topology = network_torus(4, 2);
	OWNED(route_file) file = {.set = some_routes(topology, 7)}, again;
	struct bytes bytes = write_file(topology, &file);

	assert_int_equal(0, read_file(topology, &bytes, &again, NULL));
	assert_string_equal(route_set_origin(again.set)->algorithm, "ud");
	assert_string_equal(route_set_origin(again.set)->root, "s0");
	assert_int_equal(route_set_origin(again.set)->seed, 7);
	for (uint32_t pair = 0; pair < topology->hosts * topology->hosts; pair++) {
		uint32_t source = pair / topology->hosts, to = pair % topology->hosts;
		unsigned count = route_set_count(file.set, source, to), length, other;

		assert_int_equal(count, route_set_count(again.set, source, to));
		for (unsigned i = 0; i < count; i++) {
			const uint8_t *a = route_set_get(file.set, source, to, i, &length);
			const uint8_t *b = route_set_get(again.set, source, to, i, &other);

			assert_int_equal(length, other);
			assert_memory_equal(a, b, length);
		}
	}
	free(bytes.at);
}

UNIT_TEST(tables_with_alternatives_are_read_back_the_same)
{
	for (unsigned adaptive = 0; adaptive < 2; adaptive++) {
		OWNED(topology) *topology = network_torus(4, 2);
		struct route_file file = {.table = some_table(topology, 3)};
		size_t entries = (size_t)topology->switches * topology->hosts;

		if (adaptive != 0) {
			file.table->alternatives = calloc(entries, sizeof(uint64_t));
			assert_non_null(file.table->alternatives);
			for (size_t i = 0; i < entries; i++)
				file.table->alternatives[i] = i % 16;
		}
		assert_round_trip(topology, &file);
	}
}

UNIT_TEST(vc_classes_are_read_back_the_same)
{
	OWNED(topology) *topology = network_ring(5);
	struct route_file file = {.set = some_routes(topology, 1)};
	struct vc_rule *rule = vc_rule_create(5, 2);

	assert_non_null(rule);
	rule->ring[3 * VC_RULE_PORTS + 1] = 4;
	rule->dateline[4] = UINT64_C(1) << 63 | 1;
	route_set_use_vc_rule(file.set, rule);
	assert_round_trip(topology, &file);
}

UNIT_TEST(steps_and_their_layout_are_read_back_the_same)
{
	static const uint8_t route[] = {0x80, ROUTE_TYPE_STEP, 0x80, 0x82, ROUTE_TYPE_HOST};
	OWNED(topology) *topology = network_ring(5);
	struct route_file file = {.set = route_set_create(5)}, again;
	struct vc_rule *rule = vc_rule_create(5, 6);
	struct bytes bytes;

	assert_non_null(rule);
	rule->steps = VC_STEPS_EQUAL;
	route_set_use_vc_rule(file.set, rule);
	assert_int_equal(0, route_set_add(file.set, 0, 2, route, sizeof(route)));
	bytes = write_file(topology, &file);
	assert_int_equal(0, read_file(topology, &bytes, &again, NULL));
	assert_true(vc_rule_equal(route_set_vc_rule(again.set), rule));
	route_file_close(&again);
	free(bytes.at);
	assert_round_trip(topology, &file);
}

UNIT_TEST(every_file_that_ends_too_early_is_refused)
{
	OWNED(topology) *topology = network_ring(4);
	OWNED(route_file) file = {.set = some_routes(topology, 1)};
	struct route_file again;
	struct bytes bytes = write_file(topology, &file);
	struct error error;

	for (struct bytes part = {bytes.at, bytes.size - 1}; part.size > 0; part.size--) {
		assert_int_equal(-EINVAL, read_file(topology, &part, &again, &error));
		assert_null(again.set);
		assert_memory_equal(error.text, "FILE: byte ", 11);
	}
	free(bytes.at);
}

UNIT_TEST(every_flipped_bit_is_refused)
{
	OWNED(topology) *topology = network_ring(4);
	OWNED(route_file) file = {.set = some_routes(topology, 1)};
	struct route_file again;
	struct bytes bytes = write_file(topology, &file);
	struct error error;

	for (size_t bit = 8; bit < 8 * bytes.size;
		bit++) { /* the first byte distinguishes binary from text */
		bytes.at[bit / 8] ^= (char)(1 << bit % 8);
		assert_int_equal(-EINVAL, read_file(topology, &bytes, &again, &error));
		bytes.at[bit / 8] ^= (char)(1 << bit % 8);
	}
	free(bytes.at);
}

static void refuse(const struct topology *topology, const struct bytes *bytes, const char *text)
{
	struct route_file again;
	struct error error = {""};

	assert_int_equal(-EINVAL, read_file(topology, bytes, &again, &error));
	assert_string_equal(error.text, text);
}

UNIT_TEST(a_layout_that_cannot_divide_the_classes_is_refused)
{
	OWNED(topology) *topology = network_ring(5);
	OWNED(route_file) file = {.set = some_routes(topology, 1)};
	struct vc_rule *rule = vc_rule_create(5, 4);
	struct bytes bytes;

	assert_non_null(rule);
	rule->steps = VC_STEPS_EQUAL;
	route_set_use_vc_rule(file.set, rule);
	bytes = write_file(topology, &file);
	refuse(topology, &bytes,
		"FILE: byte 26: step layout 2 with 4 VC classes; expected 0 none, 1 links (3 "
		"and more), 2 equal (3 or 6), the ladder of a Dragonfly, 10 halves (2 to 8), 11 "
		"layers, 12 omni-war, 13 dal or 14 ugal (2 to 8)");
	free(bytes.at);
}

UNIT_TEST(bytes_after_the_end_are_refused)
{
	OWNED(topology) *topology = network_ring(4);
	OWNED(route_file) file = {.set = some_routes(topology, 1)};
	struct bytes bytes = write_file(topology, &file);
	char text[100];

	bytes.at = realloc(bytes.at, bytes.size + 1);
	assert_non_null(bytes.at);
	bytes.at[bytes.size++] = 0;
	snprintf(text, sizeof(text), "FILE: byte %zu: extra bytes after the end", bytes.size - 1);
	refuse(topology, &bytes, text);
	free(bytes.at);
}

UNIT_TEST(routes_of_another_topology_are_refused)
{
	OWNED(topology) *ring = network_ring(4), *larger = network_ring(5);
	OWNED(route_file) file = {.set = some_routes(ring, 1)};
	struct bytes bytes = write_file(ring, &file);

	refuse(larger, &bytes, "FILE: byte 16: 4 switches and 4 hosts; expected 5 and 5");
	strcpy(ring->name, "other");
	refuse(ring, &bytes, "FILE: byte 36: routes of topology 'ring'; expected 'other'");
	free(bytes.at);
}

/* A set may contain anything, but routes that are read must lead to a destination. */
UNIT_TEST(a_route_that_does_not_lead_there_is_refused)
{
	static const struct {
		uint8_t route[4];
		const char *text;
	} bad[] = {
		{{0x80, 0x80, 0x82, 0x00}, "does not end there"},
		{{0x80, 0xBF, 0x82, 0x00}, "leaves through a port without a link"},
		{{0xC0, 0x80, 0x82, 0x00}, "lets a switch replace a hop"},
		{{0x80, 0x00, 0x82, 0x00}, "has an interface element at a switch"},
		{{0x82, 0x80, 0x82, 0x00}, "continues at a host without an ITB"},
		{{0x04, 0x80, 0x82, 0x01},
			"has too many steps, a step that is not between two ports, or a layer that is not the first element"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		OWNED(topology) *topology = network_ring(4);
		OWNED(route_file) file = {.set = route_set_create(4)};
		struct bytes bytes;
		char text[200];

		assert_non_null(file.set);
		assert_int_equal(0, route_set_add(file.set, 0, 1, bad[i].route, 4));
		bytes = write_file(topology, &file);
		/* The first section, to h0, is empty: 4 bytes of counts. */
		snprintf(text, sizeof(text), "FILE: byte %d: route 0 from h0 to h1 %s",
			FIRST_AT + 4 + 4 + 4 + 4, bad[i].text);
		refuse(topology, &bytes, text);
		free(bytes.at);
	}
}

UNIT_TEST(a_table_with_a_port_without_a_link_is_refused)
{
	OWNED(topology) *topology = network_ring(4);
	OWNED(route_file) file = {.table = some_table(topology, 1)};
	struct bytes bytes;

	route_table_row(file.table, 0)[2] = 9;
	bytes = write_file(topology, &file);
	refuse(topology, &bytes,
		"FILE: byte 238: s0 forwards frames for h2 to a port without a link");
	free(bytes.at);
}
