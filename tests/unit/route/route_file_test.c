/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route/formats/route_file.h"

#include "route/formats/route_binary.h"
#include "route/route_algorithm.h"

#include "networks.h"

#define CLASSES   "# weft routes/1 topology=ring vcs=2\n"
#define ANNOUNCED "# weft routes/1 topology=ring algorithm=by-hand seed=7 routes=1\n"
#define HEADER    "# weft routes/1 topology=ring algorithm=by-hand seed=7\n"

static struct route_set *read_text(
	const struct topology *topology, const char *text, size_t bytes, struct error *error)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, bytes, "r");
	struct route_file file;
	int result;

	assert_non_null(in);
	result = route_file_read(topology, in, "FILE", &file, error);
	fclose(in);
	assert_int_equal(result, file.set != NULL ? 0 : -EINVAL);
	assert_null(file.table);
	return file.set;
}

/* Returns the text of all routes. The caller frees it. */
static char *write_text(const struct topology *topology, const struct route_set *set)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_int_equal(0, route_file_write(topology, set, out, NULL));
	fclose(out);
	return text;
}

UNIT_TEST(what_is_written_is_read_back_the_same)
{
	for (uint64_t seed = 0; seed < 50; seed++) {
		OWNED(topology) *topology = network_random(seed, seed % 2 == 0);
		struct route_options options = {.seed = seed, .alternatives = 4};
		struct route_set *set =
			route_compute(topology, &route_up_down, &options, NULL, NULL);
		OWNED(route_set) *again;
		struct error error = {""};
		char *first, *second;

		assert_non_null(set);
		first = write_text(topology, set);
		again = read_text(topology, first, strlen(first), &error);
		assert_string_equal(error.text, "");
		second = write_text(topology, again);
		assert_string_equal(first, second);
		for (uint32_t source = 0; source < topology->hosts; source++)
			for (uint32_t to = 0; to < topology->hosts; to++)
				assert_int_equal(route_set_count(set, source, to),
					route_set_count(again, source, to));
		free(first);
		free(second);
		route_set_destroy(set);
	}
}

UNIT_TEST(the_header_says_where_the_routes_come_from)
{
	OWNED(topology) *topology = network_ring(4);
	struct route_options options = {.seed = 42, .root = 2};
	OWNED(route_set) *set = route_compute(topology, &route_up_down, &options, NULL, NULL);
	char *text = write_text(topology, set);

	assert_int_equal(
		0, strncmp(text,
			   "# weft routes/1 topology=ring algorithm=ud seed=42 root=s2 routes=12\n",
			   69));
	free(text);
}

/* If the file is cut after any line, it is incomplete. With all lines, it is complete. */
UNIT_TEST(a_file_that_is_cut_between_lines_is_refused)
{
	OWNED(topology) *topology = network_ring(4);
	struct route_options options = {.seed = 42};
	OWNED(route_set) *set = route_compute(topology, &route_up_down, &options, NULL, NULL);
	char *text = write_text(topology, set);
	unsigned refused = 0;

	for (size_t bytes = 1; bytes < strlen(text); bytes++) {
		struct error error = {""};

		if (text[bytes - 1] != '\n')
			continue;
		assert_null(read_text(topology, text, bytes, &error));
		assert_non_null(strstr(error.text, "but the header announces 12"));
		refused++;
	}
	assert_int_equal(refused, 12);
	free(text);
}

/* The one route of 'text', from host 0 to 'destination' of a ring, has the elements 'wanted' and is
 * written as it was read. Returns how the route set derives VCs. */
static enum vc_steps expect_route(unsigned ring, const char *text, uint16_t destination,
	const uint8_t *wanted, unsigned elements)
{
	OWNED(topology) *topology = network_ring(ring);
	struct error error = {""};
	OWNED(route_set) *set = read_text(topology, text, strlen(text), &error);
	enum vc_steps steps = VC_STEPS_NONE;
	const struct vc_rule *rule;
	const uint8_t *route;
	unsigned length;
	char *again;

	assert_string_equal(error.text, "");
	route = route_set_get(set, 0, destination, 0, &length);
	assert_int_equal(length, elements);
	assert_memory_equal(route, wanted, elements);
	rule = route_set_vc_rule(set);
	if (rule != NULL)
		steps = rule->steps;
	again = write_text(topology, set);
	assert_string_equal(again, text);
	free(again);
	return steps;
}

UNIT_TEST(a_route_reads_as_the_elements_of_the_frame)
{
	const uint8_t wanted[] = {0x80, 0x82, ROUTE_TYPE_ITB, 0x80, 0x82, ROUTE_TYPE_HOST};

	expect_route(4, ANNOUNCED "h0 h2 s0:0 s1:2 !h1 s1:0 s2:2\n", 2, wanted, sizeof(wanted));
}

UNIT_TEST(a_step_reads_as_the_element_before_its_first_hop)
{
	const uint8_t wanted[] = {
		0x80, ROUTE_TYPE_STEP, 0x80, 0x80, ROUTE_TYPE_STEP, 0x80, 0x82, ROUTE_TYPE_HOST};
	const char text[] = "# weft routes/1 topology=ring seed=0 vcs=3 steps=links routes=1\n"
			    "h0 h4 s0:0 ^s1:0 s2:0 ^s3:0 s4:2\n";

	assert_int_equal(expect_route(5, text, 4, wanted, sizeof(wanted)), VC_STEPS_LINKS);
}

UNIT_TEST(lines_of_a_pair_keep_their_order_and_comments_are_passed_over)
{
	const char text[] = HEADER "\n# a comment\nh0 h2 s0:1 s3:1 s2:2\n"
				   "h1 h0 s1:1 s0:2\nh0 h2 s0:0 s1:0 s2:2";
	OWNED(topology) *topology = network_ring(4);
	struct error error = {""};
	OWNED(route_set) *set = read_text(topology, text, strlen(text), &error);
	unsigned length;

	assert_string_equal(error.text, "");
	assert_int_equal(route_set_count(set, 0, 2), 2);
	assert_int_equal(route_set_get(set, 0, 2, 0, &length)[0], 0x81);
	assert_int_equal(route_set_get(set, 0, 2, 1, &length)[0], 0x80);
}

struct bad {
	const char *text, *error;
};

static const struct bad bad[] = {
	{"hello\n", "FILE:1:1: not a Weft route file; expected '# weft routes/1 topology=…'"},
	{"# weft routes/12 topology=ring\n",
		"FILE:1:1: not a Weft route file; expected '# weft routes/1 topology=…'"},
	{"# weft routes/1 seed=1\n", "FILE:1:1: no topology in the header; expected topology=ring"},
	{"# weft routes/1 topology=torus\n",
		"FILE:1:26: routes of topology 'torus'; expected 'ring'"},
	{"# weft routes/1 topology=ring seed=x\n", "FILE:1:36: seed 'x'; expected a 64-bit number"},
	{"# weft routes/1 topology=ring seed=-1\n",
		"FILE:1:36: seed '-1'; expected a 64-bit number"},
	{"# weft routes/1 topology=ring seed=99999999999999999999\n",
		"FILE:1:36: seed '99999999999999999999'; expected a 64-bit number"},
	{"# weft routes/1 topology=ring algorithm=u\027d\n",
		"FILE:1:42: the name contains a control character"},
	{"# weft routes/1 topology=ring what=1\n", "FILE:1:31: unknown key 'what' in the header; "
						   "expected topology, algorithm, seed, root, vcs, "
						   "steps or routes"},
	{"# weft routes/1 topology=ring vcs=3 steps=some\n",
		"FILE:1:43: steps 'some'; expected links, equal, halves or layers"},
	{"# weft routes/1 topology=ring steps=links vcs=2\n",
		"FILE:1:1: steps=links with vcs=2 in the header; expected vcs=3 or more"},
	{"# weft routes/1 topology=ring vcs=4 steps=equal\n",
		"FILE:1:1: steps=equal with vcs=4 in the header; expected vcs=3 or more, a "
		"multiple of 3"},
	{HEADER "h0 h1 +8 s0:0 s1:2\n", "FILE:2:7: '+8'; expected a layer from +1 to +7"},
	{HEADER "h0 h1 ^s0:0 s1:2\n",
		"FILE:2:7: '^s0:0' begins a step; expected at most 2 steps, none at the first hop or after a host"},
	{HEADER "h0 h3 s0:0 ^s1:0 ^s2:0 ^s3:2\n",
		"FILE:2:24: '^s3:2' begins a step; expected at most 2 steps, none at the first hop or after a host"},
	{HEADER "h0 h2 s0:0 s1:2 !h1 ^s1:0 s2:2\n",
		"FILE:2:21: '^s1:0' begins a step; expected at most 2 steps, none at the first hop or after a host"},
	{HEADER "h0 h1 s0:0 ^s0:2\n",
		"FILE:2:13: 's0:2'; expected 's1:PORT': the message is at s1"},
	{HEADER "h0 h1 s0:0 s1:2 ^h1\n",
		"FILE:2:17: '^h1'; expected the end of the route or '!h1': the message is at h1"},
	{"# weft routes/1 topology=ring vcs=9\n", "FILE:1:35: vcs '9'; expected 1 to 8 VC classes"},
	{HEADER "# vc s0:1 ring=0\n", "FILE:2:6: a VC class needs vcs= in the header"},
	{CLASSES "# vc h0:0 ring=0\n", "FILE:2:6: 'h0:0'; expected a switch port"},
	{CLASSES "# vc \n", "FILE:2:6: ''; expected a switch port"},
	{CLASSES "# vc s0:1\n", "FILE:2:6: ''; expected ring=NUMBER"},
	{CLASSES "# vc s0:1 ring=255\n", "FILE:2:11: 'ring=255'; expected a ring from 0 to 254"},
	{CLASSES "# vc s0:1 ring=0 date\n", "FILE:2:18: 'date'; expected dateline or nothing"},
	{"# weft routes/1 ring\n", "FILE:1:17: 'ring' in the header; expected KEY=VALUE"},
	{HEADER "h9 h1 s0:0\n", "FILE:2:1: no host 'h9' in topology ring"},
	{HEADER "h0 h9 s0:0\n", "FILE:2:4: no host 'h9' in topology ring"},
	{HEADER "h0\n", "FILE:2:1: the destination is missing; expected SOURCE DESTINATION HOP..."},
	{HEADER "h0 h0 s0:2\n", "FILE:2:4: a route must not lead from h0 to itself"},
	{HEADER "\nh0 h1\n", "FILE:3:1: the route ends at s0; expected h1"},
	{HEADER "h0 h1 s0:0\n", "FILE:2:1: the route ends at s1; expected h1"},
	{HEADER "h0 h1 s0:0 s1:0 s2:2\n", "FILE:2:1: the route ends at h2; expected h1"},
	{HEADER "h0 h1 s1:2\n", "FILE:2:7: 's1:2'; expected 's0:PORT': the message is at s0"},
	{HEADER "h0 h1 s0:0 s0:2\n", "FILE:2:12: 's0:2'; expected 's1:PORT': the message is at s1"},
	{HEADER "h0 h1 s0:\n", "FILE:2:7: 's0:'; expected 's0:PORT': the message is at s0"},
	{HEADER "h0 h1 s0\n", "FILE:2:7: 's0'; expected 's0:PORT': the message is at s0"},
	{HEADER "h0 h1 s0:255\n", "FILE:2:7: 's0:255'; expected a port from 0 to 254"},
	{HEADER "h0 h1 s0:0x\n", "FILE:2:7: 's0:0x'; expected a port from 0 to 254"},
	{HEADER "h0 h1 s0:9\n", "FILE:2:7: 's0:9' has no link"},
	{HEADER "h0 h1 s0:0 !h1\n", "FILE:2:12: '!h1'; expected 's1:PORT': the message is at s1"},
	{HEADER "h0 h2 s0:0 s1:2 !h2 s1:0 s2:2\n",
		"FILE:2:17: '!h2'; expected the end of the route or '!h1': the message is at h1"},
};

UNIT_TEST(vc_classes_are_read_back_the_same)
{
	const char text[] = "# weft routes/1 topology=ring seed=0 vcs=2 routes=1\n"
			    "# vc s0:0 ring=3 dateline\n# vc s1:1 ring=0\n"
			    "h0 h1 s0:0 s1:2\n";
	OWNED(topology) *topology = network_ring(4);
	struct error error = {""};
	OWNED(route_set) *set = read_text(topology, text, strlen(text), &error);
	char *again;

	assert_string_equal(error.text, "");
	again = write_text(topology, set);
	assert_string_equal(again, text);
	free(again);
}

UNIT_TEST(a_bad_file_is_refused_where_it_is_bad)
{
	OWNED(topology) *topology = network_ring(4);

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};

		assert_null(read_text(topology, bad[i].text, strlen(bad[i].text), &error));
		assert_string_equal(error.text, bad[i].error);
	}
}

UNIT_TEST(an_empty_file_is_refused)
{
	OWNED(topology) *topology = network_ring(4);
	FILE *in = fopen("/dev/null", "r");
	struct route_file file;
	struct error error;

	assert_int_equal(-EINVAL, route_file_read(topology, in, "FILE", &file, &error));
	assert_string_equal(
		error.text, "FILE:1:1: an empty file; expected '# weft routes/1 topology=…'");
	fclose(in);
}

UNIT_TEST(a_nul_byte_is_refused)
{
	const char text[] = HEADER "h0 h1\0s0:0 s1:2\n";
	OWNED(topology) *topology = network_ring(4);
	struct error error;

	assert_null(read_text(topology, text, sizeof(text) - 1, &error));
	assert_string_equal(
		error.text, "FILE:2:6: the file contains a NUL byte; a text file is required");
}

UNIT_TEST(too_many_routes_of_a_pair_are_refused)
{
	OWNED(topology) *topology = network_ring(4);
	char text[1000] = HEADER;
	struct error error;

	for (unsigned i = 0; i <= ROUTE_ALTERNATIVES_MAX; i++)
		strcat(text, "h0 h1 s0:0 s1:2\n");
	assert_null(read_text(topology, text, strlen(text), &error));
	assert_string_equal(error.text,
		"FILE:12:1: there are too many routes from h0 to h1; at most 10 are allowed");
}

UNIT_TEST(a_route_of_too_many_elements_is_refused)
{
	OWNED(topology) *topology = network_ring(4);
	char text[1000] = HEADER "h0 h1";
	struct error error;

	for (unsigned i = 0; i < ROUTE_ELEMENTS_MAX + 1; i++)
		sprintf(text + strlen(text), " s%u:0", i % 4);
	assert_null(read_text(topology, text, strlen(text), &error));
	assert_non_null(
		strstr(error.text, "there are too many route elements; at most 64 are allowed"));
}

UNIT_TEST(a_file_that_is_not_there_is_named)
{
	OWNED(topology) *topology = network_ring(4);
	struct route_file file;
	struct error error;

	assert_int_equal(-ENOENT, route_file_load(topology, "/nowhere/routes", &file, &error));
	assert_string_equal(
		error.text, "/nowhere/routes: No such file or directory; use a route file");
}

/* Reads it without a topology. Returns "" or the error. */
static struct error read_header(const char *text, size_t bytes, struct route_file_header *header)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, bytes, "r");
	struct error error = {""};
	int result;

	assert_non_null(in);
	result = route_file_read_header(in, "FILE", header, &error);
	fclose(in);
	assert_int_equal(result, error.text[0] == '\0' ? 0 : -EINVAL);
	return error;
}

UNIT_TEST(a_header_of_text_is_read_without_a_topology)
{
	static const char text[] = CLASSES "# vc not read\nnor this\n";
	struct route_file_header header;

	assert_string_equal(read_header(text, strlen(text), &header).text, "");
	assert_string_equal(header.origin.topology, "ring");
	assert_string_equal(read_header(HEADER, strlen(HEADER), &header).text, "");
	assert_string_equal(header.origin.algorithm, "by-hand");
	assert_false(header.tables);
}

UNIT_TEST(a_binary_header_says_whether_tables_follow)
{
	OWNED(topology) *topology = network_ring(4);
	struct route_options options = {.seed = 42};
	OWNED(route_file) file = {
		.table = route_compute_table(topology, &route_up_down, &options, NULL, NULL)};
	struct route_file_header header;
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	assert_non_null(out);
	assert_int_equal(route_binary_write(topology, &file, out, NULL), 0);
	fclose(out);
	assert_string_equal(read_header(bytes, size, &header).text, "");
	assert_true(header.tables);
	assert_string_equal(header.origin.algorithm, "ud");
	free(bytes);
}

UNIT_TEST(a_bad_header_is_refused_where_it_is_bad)
{
	struct route_file_header header;

	assert_string_equal(read_header("0 1\n", 4, &header).text,
		"FILE:1:1: not a Weft route file; expected '# weft routes/1 topology=…'");
	assert_string_equal(read_header("WEFTRT1\n", 8, &header).text,
		"FILE: byte 8: the file is truncated; expected 4 more bytes");
}

UNIT_TEST(a_line_without_an_end_takes_no_memory)
{
	OWNED(topology) *topology = network_ring(4);
	char *text = malloc(100000);
	struct error error = {""};

	assert_non_null(text);
	memset(text, ' ', 100000);
	memcpy(text, HEADER, strlen(HEADER));
	assert_null(read_text(topology, text, 100000, &error));
	assert_string_equal(error.text, "FILE:2:1: the line has more than 8191 characters");
	free(text);
}
