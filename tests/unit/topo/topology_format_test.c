/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The formats for other programs. */

#include "topology_walk.h"

#include "topo/formats/ib_listing.h"
#include "topo/formats/topology_format.h"

/* A switch with a free port for a second host, and links with two delays. */
static const char small[] =
	"weft: topology/1\n"
	"name: small\n"
	"link: {rate: 100Gbps, delay: 30ns}\n"
	"switches: [{name: s0, ports: 4}, {name: s1, ports: 2}, {name: s2, ports: 3}]\n"
	"hosts: [{name: h0}, {name: h1}]\n"
	"links:\n"
	"  - {a: h0, b: s0:0}\n"
	"  - {a: h1, b: s1:0}\n"
	"  - {a: s0:2, b: s1:1, rate: 3Gbps}\n"
	"  - {a: s0:3, b: s2:1, delay: 75ns}\n";

static char *write_as(
	const char *format, const struct topology *topology, int expected, struct error *error)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(topology_format_find(format)->write(topology, out, error), expected);
	fclose(out);
	return text;
}

static void assert_written(const char *format, const char *expected)
{
	struct error error = {""};
	OWNED(topology) *topology = topology_parse(small, strlen(small), "small", &error);
	char *text;

	assert_string_equal(error.text, "");
	text = write_as(format, topology, 0, &error);
	assert_string_equal(text, expected);
	free(text);
}

UNIT_TEST(every_format_is_found_by_its_name)
{
	const struct topology_format *format;

	for (unsigned i = 0; (format = topology_format_at(i)) != NULL; i++)
		assert_ptr_equal(topology_format_find(format->name), format);
	assert_null(topology_format_find("visio"));
}

UNIT_TEST(booksim_gets_latencies_in_units_of_the_shortest)
{
	assert_written("booksim", "router 0 node 0 router 1 1 router 2 3\n"
				  "router 1 node 1 router 0 1\n"
				  "router 2 router 0 3\n");
}

UNIT_TEST(links_without_delay_take_booksim_a_cycle)
{
	OWNED(topology) *topology = walk_generate("ring:switches=2,delay=0ns");
	char *text = write_as("booksim", topology, 0, NULL);

	assert_string_equal(text, "router 0 node 0 router 1 1\nrouter 1 node 1 router 0 1\n");
	free(text);
}

UNIT_TEST(parallel_links_are_not_for_booksim)
{
	OWNED(topology) *topology = walk_generate("rlft:ports=2,stages=2");
	OWNED(topology) *tree = walk_generate("ring:switches=2,hosts=0");
	struct error error = {""};

	free(write_as("booksim", topology, 0, &error));
	tree->switch_at[0].ports = tree->switch_at[1].ports = 6;
	topology_add_link(tree, walk_switch(0, 5), walk_switch(1, 5), 0, 0, 0);
	assert_int_equal(topology_finish(tree, "t", &error), 0);
	free(write_as("booksim", tree, -EINVAL, &error));
	assert_string_equal(error.text, "ring-2-0: switches s0 and s1 have more than one link; "
					"BookSim supports one between two switches");
}

UNIT_TEST(dot_names_the_ports_at_the_ends)
{
	assert_written("dot", "graph \"small\" {\n"
			      "\tgraph [overlap=false];\n"
			      "\tnode [shape=box];\n"
			      "\t\"h0\" [shape=ellipse];\n"
			      "\t\"h1\" [shape=ellipse];\n"
			      "\t\"h0\" -- \"s0\" [taillabel=\"0\", headlabel=\"0\"];\n"
			      "\t\"h1\" -- \"s1\" [taillabel=\"0\", headlabel=\"0\"];\n"
			      "\t\"s0\" -- \"s1\" [taillabel=\"2\", headlabel=\"1\"];\n"
			      "\t\"s0\" -- \"s2\" [taillabel=\"3\", headlabel=\"1\"];\n"
			      "}\n");
}

#define IDS(kind, guid) "\nvendid=0x0\ndevid=0x0\nsysimgguid=0x" guid "\n" kind "guid=0x" guid

UNIT_TEST(infiniband_counts_ports_from_one)
{
	assert_written("ibnetdiscover",
		"#\n# Topology file: small, from weft\n#\n" IDS("switch",
			"200000000010000") "(200000000010000)\n"
					   "Switch\t4 \"S-0200000000010000\"\t\t# \"s0\" base port 0 lid 0 lmc 0\n"
					   "[1]\t\"H-0200000100000000\"[1](200000100000001) \t\t# \"h0\" lid 0 4xEDR\n"
					   "[3]\t\"S-0200000000010001\"[2]\t\t# \"s1\" lid 0 1xSDR\n"
					   "[4]\t\"S-0200000000010002\"[2]\t\t# \"s2\" lid 0 4xEDR\n" IDS(
						   "switch",
						   "200000000010001") "(200000000010001)\n"
								      "Switch\t2 \"S-0200000000010001\"\t\t# \"s1\" base port 0 lid 0 lmc 0\n"
								      "[1]\t\"H-0200000100000002\"[1](200000100000003) \t\t# \"h1\" lid 0 4xEDR\n"
								      "[2]\t\"S-0200000000010000\"[3]\t\t# \"s0\" lid 0 1xSDR\n" IDS(
									      "switch",
									      "200000000010002") "(200000000010002)\n"
												 "Switch\t3 \"S-0200000000010002\"\t\t# \"s2\" base port 0 lid 0 lmc 0\n"
												 "[2]\t\"S-0200000000010000\"[4]\t\t# \"s0\" lid 0 4xEDR\n" IDS(
													 "ca",
													 "200000100000000") "\n"
															    "Ca\t1 \"H-0200000100000000\"\t\t# \"h0\"\n"
															    "[1](200000100000001) \t\"S-0200000000010000\"[1]\t\t# lid 0 lmc 0 \"s0\" lid 0 4xEDR\n" IDS(
																    "ca",
																    "200000100000002") "\n"
																		       "Ca\t1 \"H-0200000100000002\"\t\t# \"h1\"\n"
																		       "[1](200000100000003) \t\"S-0200000000010001\"[1]\t\t# lid 0 lmc 0 \"s1\" lid 0 4xEDR\n");
}

UNIT_TEST(infiniband_rates_are_the_round_numbers)
{
	static const struct {
		const char *text;
		uint64_t gbps;
	} rates[] = {{"4xSDR", 10}, {"4xDDR", 20}, {"4xQDR", 40}, {"4xFDR10", 40}, {"4xFDR", 56},
		{"4xEDR", 100}, {"4xHDR", 200}, {"4xNDR", 400}, {"4xXDR", 800}, {"1xDDR", 5},
		{"12xQDR", 120}, {"2xHDR", 100}, {"8xSDR", 20}};
	static const char *const none[] = {"4x???", "??QDR", "3xQDR", "4xQDRs", "xQDR", "4x", ""};
	uint64_t rate;

	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		assert_true(ib_rate_parse(rates[i].text, strlen(rates[i].text), &rate));
		assert_int_equal(rate, rates[i].gbps * 1000 * 1000 * 1000);
	}
	for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_false(ib_rate_parse(none[i], strlen(none[i]), &rate));
}

UNIT_TEST(other_rates_are_rounded_down)
{
	static const struct {
		uint64_t mbps;
		const char *text;
		bool exact;
	} rates[] = {{10000, "4xSDR", true}, {40000, "4xQDR", true}, {100000, "4xEDR", true},
		{400000, "4xNDR", true}, {800000, "8xNDR", true}, {25000, "1xEDR", true},
		{2500, "1xSDR", true}, {1000, "1xSDR", false}, {99999, "8xQDR", false},
		{1000000, "8xNDR", false}};
	char text[IB_RATE_TEXT];

	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		bool exact = ib_rate_format(rates[i].mbps * 1000 * 1000, text);
		uint64_t rate;

		assert_int_equal(exact, rates[i].exact);
		assert_true(ib_rate_parse(text, strlen(text), &rate));
		if (exact)
			assert_int_equal(rate, rates[i].mbps * 1000 * 1000);
		assert_string_equal(text, rates[i].text);
	}
}
