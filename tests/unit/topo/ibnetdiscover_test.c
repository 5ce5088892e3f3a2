/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reading the output of ibnetdiscover. */

#include "import_notes.h"
#include "topology_walk.h"

#include <errno.h>

#include "topo/formats/ib_listing.h"
#include "topo/formats/topology_format.h"

static struct topology *parse(const char *text, struct error *error)
{
	struct topology_import strict = {.strict = true};

	return format_ibnetdiscover.read(text, strlen(text), "net.txt", &strict, error);
}

/* Read like files of ibsim, in which a cable may have one line. */
static struct topology *import_leniently(
	const char *text, const regex_t *only, const regex_t *exclude, struct notes *notes)
{
	struct topology_import import = {
		.only = only, .exclude = exclude, .note = keep_note, .context = notes};

	notes->text[0] = '\0';
	return format_ibsim.read(text, strlen(text), "net.txt", &import, NULL);
}

static struct topology *import(const char *text)
{
	struct error error = {""};
	struct topology *topology = parse(text, &error);

	assert_string_equal(error.text, "");
	assert_non_null(topology);
	return topology;
}

static void assert_peer(const struct topology *topology, const char *port, const char *peer)
{
	struct topology_port near, far;
	char name[TOPOLOGY_NAME_MAX + 8];

	assert_int_equal(topology_find_port(topology, port, &near), 0);
	assert_true(topology_peer(topology, near, &far));
	topology_port_name(topology, far, name, sizeof(name));
	assert_string_equal(name, peer);
}

/* Two switches, an adapter with two connected ports, one with one, one with none, and a router. As
 * printed by ibnetdiscover -g. */
static const char cluster[] =
	"#\n"
	"# Topology file: generated on Sat Nov 21 11:15:14 2026\n"
	"#\n"
	"# Initiated from node 0002c9030001f2e4 port 0002c9030001f2e5\n"
	"\n"
	"Chassis 1 (guid 0x2c90200404780)\n"
	"\n"
	"# Spine Nodes\n"
	"vendid=0x2c9\n"
	"devid=0xbd36\n"
	"sysimgguid=0x2c90200404783\t\t# Chassis 1\n"
	"switchguid=0x2c90200404780(2c90200404780)\t# Spine 1 Chip 1\n"
	"Switch\t36 \"S-0002c90200404780\"\t\t# \"MF0;core:IS5200/S01/U1\" enhanced port 0 lid 3 "
	"lmc 0\n"
	"[1]\t\"S-0002c90200404790\"[36]\t\t# \"leaf 1\" lid 4 4xFDR10\n"
	"[2][ext 12]\t\"S-0002c90200404790\"[35][ext 3]\t\t# \"leaf 1\" lid 4 1xDDR s=2 w=1 v=4\n"
	"\n"
	"Non-Chassis Nodes\n"
	"\n"
	"Switch\t36 \"S-0002c90200404790\"\t\t# \"leaf 1\" base port 0 lid 4 lmc 0\n"
	"[36]\t\"S-0002c90200404780\"[1]\t\t# \"MF0;core:IS5200/S01/U1\" lid 3 4xFDR10\n"
	"[35]\t\"S-0002c90200404780\"[2]\t\t# \"MF0;core:IS5200/S01/U1\" lid 3 1xDDR\n"
	"[1]\t\"H-0002c903000a1b2c\"[1](2c903000a1b2d) \t\t# \"node1 HCA-1\" lid 7 4xQDR\n"
	"[2]\t\"H-0002c903000a1b2c\"[2](2c903000a1b2e) \t\t# \"node1 HCA-1\" lid 8 4xQDR\n"
	"[3]\t\"H-0002c903000a1b3c\"[2](2c903000a1b3e) \t\t# \"node2 \"big\" HCA-1\" lid 9 4x???\n"
	"[4]\t\"R-0002c903000a1b5c\"[1](2c903000a1b5d) \t\t# \"out\" lid 11 4xEDR\n"
	"\n"
	"caguid=0x2c903000a1b2c\n"
	"Ca\t2 \"H-0002c903000a1b2c\"\t\t# \"node1 HCA-1\"\n"
	"[1](2c903000a1b2d) \t\"S-0002c90200404790\"[1]\t\t# lid 7 lmc 0 \"leaf 1\" lid 4 4xQDR\n"
	"[2](2c903000a1b2e) \t\"S-0002c90200404790\"[2]\t\t# lid 8 lmc 0 \"leaf 1\" lid 4 4xQDR\n"
	"\n"
	"Ca\t2 \"H-0002c903000a1b3c\"\t\t# \"node2 \"big\" HCA-1\"\n"
	"[2](2c903000a1b3e) \t\"S-0002c90200404790\"[3]\t\t# lid 9 lmc 0 \"leaf 1\" lid 4 4x???\n"
	"\n"
	"Ca\t2 \"H-0002c903000a1b4c\"\t\t# \"idle\"\n"
	"\n"
	"Rt\t1 \"R-0002c903000a1b5c\"\t\t# \"out\"\n"
	"[1](2c903000a1b5d) \t\"S-0002c90200404790\"[4]\t\t# lid 11 lmc 0 \"leaf 1\" lid 4 4xEDR\n";

UNIT_TEST(a_cluster_is_read_in_full)
{
	OWNED(topology) *topology = import(cluster);

	assert_string_equal(topology->name, "net");
	assert_int_equal(topology->switches, 2);
	assert_int_equal(topology->hosts, 4);
	assert_int_equal(topology->links, 6);
	assert_int_equal(topology->switch_at[0].ports, 36);
	assert_int_equal(topology->switch_at[0].line, 13);
	assert_int_equal(topology_check_connected(topology, "net", NULL), 0);
}

UNIT_TEST(ports_count_from_zero)
{
	OWNED(topology) *topology = import(cluster);

	assert_peer(topology, "leaf_1:35", "MF0_core_IS5200_S01_U1:0");
	assert_peer(topology, "MF0_core_IS5200_S01_U1:1", "leaf_1:34");
	assert_peer(topology, "leaf_1:2", "node2_big_HCA-1:0");
}

UNIT_TEST(every_connected_port_of_an_adapter_is_one_of_a_host)
{
	OWNED(topology) *topology = import(cluster);

	assert_peer(topology, "node1_HCA-1:0", "leaf_1:0");
	assert_peer(topology, "node1_HCA-1:1", "leaf_1:1");
	assert_peer(topology, "out", "leaf_1:3");
	assert_int_equal(topology_find_host(topology, "idle"), -1);
}

UNIT_TEST(rates_are_read_and_what_is_unknown_is_as_the_first)
{
	OWNED(topology) *topology = import(cluster);

	assert_int_equal(topology->default_rate_bps, 40000000000);
	assert_int_equal(topology_link_at(topology, walk_switch(0, 0))->rate_bps, 40000000000);
	assert_int_equal(topology_link_at(topology, walk_switch(0, 1))->rate_bps, 5000000000);
	assert_int_equal(topology_link_at(topology, walk_switch(1, 2))->rate_bps, 40000000000);
	assert_int_equal(topology_link_at(topology, walk_switch(1, 3))->rate_bps, 100000000000);
	assert_int_equal(topology->link_at[0].delay_ps, TOPOLOGY_DELAY_PS);
}

/* ibsim's own format: names as ids, no comments. Port 1 and one end of a cable may be omitted. */
UNIT_TEST(what_people_write_for_ibsim_is_read_too)
{
	OWNED(topology) *topology = import("Switch 8 \"a\"\r\n[1] \"x\"\r\n[2]\t\"b\"[7]\r\n\r\n"
					   "Switch 8 \"b\"\n# nothing yet\n[3] \"y\"[1]\n\n"
					   "Hca 2 \"x\"\nHca 2 \"y\"");

	assert_int_equal(topology->hosts, 2);
	assert_peer(topology, "a:0", "x:0");
	assert_peer(topology, "b:6", "a:1");
	assert_peer(topology, "y", "b:2");
	assert_int_equal(topology->link_at[0].rate_bps, TOPOLOGY_RATE_BPS);
}

UNIT_TEST(equal_descriptions_get_numbers_in_the_order_of_the_file)
{
	OWNED(topology) *topology = import("Switch 4 \"a\" # \"SwitchX -  Mellanox\"\n"
					   "[1] \"b\"[1]\n"
					   "Switch 4 \"b\" # \"SwitchX -  Mellanox\"\n"
					   "Switch 4 \"c\" # \"SwitchX_-_Mellanox-2\"\n"
					   "Switch 4 \"d\" # \"SwitchX_-_Mellanox\"\n");

	assert_string_equal(topology->switch_at[0].name, "SwitchX_-_Mellanox");
	assert_string_equal(topology->switch_at[1].name, "SwitchX_-_Mellanox-2");
	assert_string_equal(topology->switch_at[2].name, "SwitchX_-_Mellanox-2-2");
	assert_string_equal(topology->switch_at[3].name, "SwitchX_-_Mellanox-3");
}

UNIT_TEST(any_text_becomes_a_name)
{
	static const char *const cases[][3] = {
		{"h0", "", "h0"},
		{"a.b-c_D9", "", "a.b-c_D9"},
		{"", "", "_"},
		{" ;; ", "", "_"},
		{"-x", "", "_x"},
		{".x", "-p2", "_x-p2"},
		{"caf\xc3\xa9 1", "", "caf_1"},
		{"x (y)", "-2", "x_y-2"},
		{"0123456789012345678901234567890123456789012345678901234567890123456789", "-p1",
			"012345678901234567890123456789012345678901234567890123456789-p1"},
	};
	char name[TOPOLOGY_NAME_MAX];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unique_names_spell(cases[i][0], strlen(cases[i][0]), cases[i][1], name);
		assert_string_equal(name, cases[i][2]);
	}
}

UNIT_TEST(names_that_are_cut_stay_different)
{
	struct unique_names *names = unique_names_create();
	char text[201], name[3][TOPOLOGY_NAME_MAX];

	memset(text, 'x', 200);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(unique_names_add(names, text, 200 - i, "", name[i]), 0);
	assert_int_equal(strlen(name[0]), TOPOLOGY_NAME_MAX - 1);
	assert_string_equal(name[1] + 61, "-2");
	assert_string_equal(name[2] + 61, "-3");
	unique_names_destroy(names);
}

UNIT_TEST(what_is_wrong_is_said_with_line_and_column)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"Swich 8 \"a\"\n",
			"net.txt:1:1: expected a node (Switch, Ca, Rt), a port such as [1] or a comment, found 'Swich 8 \"a\"'"},
		{"\n[1] \"b\"[1]\n", "net.txt:2:1: a port without a node above it"},
		{"Switch 8 \"a\"\n\n[1] \"b\"[1]\n", "net.txt:3:1: a port without a node above it"},
		{"Switch \"a\"\n",
			"net.txt:1:8: expected a number of ports from 1 to 254, found '\"a\"'"},
		{"Switch\t255 \"a\"\n",
			"net.txt:1:8: expected a number of ports from 1 to 254, found '255 \"a\"'"},
		{"Ca 255 \"a\"\n",
			"net.txt:1:4: expected a number of ports from 1 to 254, found '255 \"a\"'"},
		{"Switch 8 a\n", "net.txt:1:10: expected a node in quotes, found 'a'"},
		{"Switch 8 \"a\n", "net.txt:1:10: the closing quote is missing"},
		{"Switch 8 \"\"\n", "net.txt:1:10: a node without a name"},
		{"Switch 8 \"a\" leaf\n",
			"net.txt:1:14: expected '#' or the end of the line, found 'leaf'"},
		{"Switch 8 \"a\"\n[9] \"b\"[1]\n",
			"net.txt:2:2: expected a port from 1 to 8, found '9] \"b\"[1]'"},
		{"Switch 8 \"a\"\n[0] \"b\"[1]\n",
			"net.txt:2:2: expected a port from 1 to 8, found '0] \"b\"[1]'"},
		{"Switch 8 \"a\"\n[1 \"b\"[1]\n", "net.txt:2:3: expected ']', found ' \"b\"[1]'"},
		{"Switch 8 \"a\"\n[1](12 \"b\"[1]\n", "net.txt:2:4: the closing ')' is missing"},
		{"Switch 8 \"a\"\n[1] \"b\"[x]\n",
			"net.txt:2:9: expected a port from 1 to 254, found 'x]'"},
		{"Switch 8 \"a\"\n[1] \"b\"[1] v=4\n",
			"net.txt:2:12: expected w= or s=, found 'v=4'"},
		{"Switch 8 \"a\"\n[1] \"b\"[1] w=32\n",
			"net.txt:2:14: expected widths as bits from 1 to 31, found '32'"},
		{"speed=0\n", "net.txt:1:7: expected speeds as bits from 1 to 7, found '0'"},
		{"module=\"x\"\n", "net.txt:1: ibsim modules and aliases are not supported"},
		{"include \"missing.net\"\n",
			"net.txt:1: include: missing.net: No such file or directory"},
		{"Switch 8 \"a\" # \"leaf\n",
			"net.txt:1:16: the closing quote of the description is missing"},
		{"Switch 8 \"a\"\n[1] \"b\"[1] # \"b\" lid 3 4xABC\n",
			"net.txt:2:24: '4xABC' is not a rate such as 4xEDR"},
		{"Switch 8 \"a\"\n[1] \"b\"[1]\n",
			"net.txt:2:5: there is no node \"b\" in the file"},
		{"Ca 2 \"a\"\n", "net.txt: contains neither switches nor connected nodes"},
		{"Switch 8 \"a\"\n[1] \"b\"[5]\n\nSwitch 4 \"b\"\n",
			"net.txt:2:5: \"b\" has no port 5; its last port is 4"},
		{"Switch 8 \"a\"\nSwitch 8 \"b\"\nSwitch 8 \"a\"\n",
			"net.txt:3:10: \"a\" is already in line 1"},
		{"Switch 8 \"a\"\n[1] \"b\"[2]\n[1] \"b\"[3]\nSwitch 8 \"b\"\n",
			"net.txt:3:5: port 1 is already in line 2"},
		{"Switch 8 \"a\"\n[1] \"b\"[2]\nSwitch 8 \"b\"\n[2] \"a\"[3]\n",
			"net.txt:2:5: \"b\"[2] has a different far end in line 4"},
		{"Switch 8 \"a\"\n[1] \"c\"[1]\n[2] \"c\"[1]\nSwitch 8 \"c\"\n",
			"net.txt:3:5: a second cable at \"c\"[1], which already has the cable in line 2"},
		{"Switch 8 \"a\"\n[1] \"a\"[2]\n",
			"net.txt:2:5: the cable leads from the node to itself"},
		{"Switch 8 \"a\"\n[1] \"a\"[1]\n",
			"net.txt:2:5: the cable leads from the node to itself"},
		{"Ca 1 \"x\"\n[1] \"y\"[1]\nCa 1 \"y\"\n[1] \"x\"[1]\n",
			"net.txt:2:5: the cable links two adapters; one end must be a switch"},

	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};

		assert_null(parse(bad[i].text, &error));
		assert_int_equal(error_exit_code(-errno), EXIT_BAD_REQUEST);
		assert_string_equal(error.text, bad[i].message);
	}
}

static char *export(const struct topology *topology)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(format_ibnetdiscover.write(topology, out, NULL), 0);
	fclose(out);
	return text;
}

static void assert_same_cables(const struct topology *a, const struct topology *b)
{
	assert_int_equal(a->switches, b->switches);
	assert_int_equal(a->hosts, b->hosts);
	assert_int_equal(a->links, b->links);
	for (uint32_t h = 0; h < a->hosts; h++)
		assert_string_equal(a->host_at[h].name, b->host_at[h].name);
	for (uint32_t s = 0; s < a->switches; s++) {
		assert_string_equal(a->switch_at[s].name, b->switch_at[s].name);
		assert_int_equal(a->switch_at[s].ports, b->switch_at[s].ports);
		for (unsigned port = 0; port < a->switch_at[s].ports; port++) {
			struct topology_port x, y;
			bool linked = topology_peer(a, walk_switch(s, port), &x);

			assert_int_equal(topology_peer(b, walk_switch(s, port), &y), linked);
			if (!linked)
				continue;
			assert_int_equal(x.kind, y.kind);
			assert_int_equal(x.device, y.device);
			assert_int_equal(x.port, y.port);
			assert_int_equal(topology_link_at(a, walk_switch(s, port))->rate_bps,
				topology_link_at(b, walk_switch(s, port))->rate_bps);
		}
	}
}

UNIT_TEST(exporting_and_importing_keeps_cables_and_names)
{
	static const char *const specs[] = {"rlft:ports=8,stages=3", "torus:dims=4x3,hosts=2",
		"torus-express:dims=5x4,rate=56Gbps", "hypercube:dims=4,hosts=3,rate=2.5Gbps",
		"dragonfly:a=4,p=2,h=2,rate=100Gbps", "cplant", "irregular:switches=32,ports=12",
		"full:switches=33,hosts=32", "ring:switches=1,hosts=2", "mesh:dims=2x2,hosts=0"};

	for (unsigned i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct topology *topology = walk_generate(specs[i]), *again;
		char *text = export(topology);

		again = import(text);
		assert_same_cables(topology, again);
		free(text);
		topology_destroy(topology);
		topology_destroy(again);
	}
}

UNIT_TEST(parallel_links_and_chosen_names_survive)
{
	static const char text[] =
		"weft: topology/1\n"
		"switches: [{name: core.1, ports: 64}, {name: 7th, ports: 9}]\n"
		"hosts: [{name: node-12}]\n"
		"links: [{a: node-12, b: 7th:8}, {a: core.1:63, b: 7th:0, rate: 400Gbps}, "
		"{a: core.1:0, b: 7th:1}]\n";
	OWNED(topology) *topology = topology_parse(text, strlen(text), "t", NULL), *again;
	char *exported = export(topology);

	again = import(exported);
	assert_same_cables(topology, again);
	free(exported);
}

/* --- lenient: the default of 'weft topo import' --- */

UNIT_TEST(what_does_not_belong_is_noted_and_left_out)
{
	static const struct {
		const char *text, *note;
		unsigned links;
	} odd[] = {
		{"\xef\xbb\xbf"
		 "Switch 4 \"a\"\n[1] \"x\"[1]\nCa 1 \"x\"\n",
			"", 1},
		{"$ sudo ibnetdiscover\nSwitch 4 \"a\"\n[1] \"x\"[1]\nCa 1 \"x\"\n",
			"net.txt:1:1: expected a node (Switch, Ca, Rt), a port such as [1] or a comment, "
			"found '$ sudo ibnetdiscover'; the line is left out\n",
			1},
		{"Switch 4 \"a\"\nibwarn: [4] timeout\n[1] \"x\"[1]\nCa 1 \"x\"\n",
			"net.txt:2:1: expected a node (Switch, Ca, Rt), a port such as [1] or a comment, "
			"found 'ibwarn: [4] timeout'; the line is left out\n",
			1},
		{"Switch 4 \"a\"\n[1] \"x\"[1]\n[2] \"a\"[3]\nCa 1 \"x\"\n",
			"net.txt:3:5: the cable leads from the node to itself; it is left out\n",
			1},
		{"Switch 4 \"a\"\n[1] \"x\"[1]\n[2] \"gone\"[3]\nCa 1 \"x\"\n",
			"net.txt:3:5: there is no node \"gone\" in the file; the line is left out\n",
			1},
		{"Switch 4 \"a\"\n[1] \"x\"[1]\n[2] \"x\"[1]\nCa 1 \"x\"\n[1] \"a\"[1]\n",
			"net.txt:3:5: \"x\"[1] has a different far end in line 5; the line is "
			"left out\n",
			1},
		{"Switch 4 \"a\"\n[1] \"x\"[1]\nSwitch 4 \"a\"\n[2] \"y\"[1]\nCa 1 \"x\"\nCa 1 \"y\"\n",
			"net.txt:3:10: \"a\" is already in line 1; its ports are added to that node\n",
			2},
		{"Switch 4 \"a\"\n[1] \"x\"[1] # 4xEDR\nCa 1 \"x\"\n[1] \"a\"[1] # 4xHDR\n",
			"net.txt:2:5: the two ends have different rates; the slower rate is used\n",
			1},
		{"Switch 4 \"a\"\n[1] \"x\"[1]\nCa 1 \"x\"\nSwitch 9 \"b\"\n[1] \"x\"[2]\n"
		 "Ca 2 \"x\"\n",
			"net.txt:6:6: \"x\" is already in line 3; its ports are added to that node\n"
			"net.txt:5:5: \"x\" has no port 2; its last port is 1; the line is left out\n"
			"net.txt:4:10: \"b\" is not connected to the largest part of the network: 1 "
			"switches and 0 adapter ports are left out\n",
			1},
	};

	for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct notes notes;
		OWNED(topology) *topology = import_leniently(odd[i].text, NULL, NULL, &notes);

		assert_string_equal(notes.text, odd[i].note);
		assert_non_null(topology);
		assert_int_equal(topology->links, odd[i].links);
	}
}

UNIT_TEST(cables_that_one_end_lists_are_noted_with_their_places)
{
	static const char text[] = "Switch 4 \"a\"\n[1] \"x\"[1]\n[2] \"y\"[1]\n[3] \"z\"[1]\n"
				   "Ca 1 \"x\"\n[1] \"a\"[1]\nCa 1 \"y\"\nCa 1 \"z\"\n";
	struct notes notes = {""};
	struct topology_import import = {.note = keep_note, .context = &notes};
	OWNED(topology) *topology =
		format_ibnetdiscover.read(text, strlen(text), "net.txt", &import, NULL);

	assert_int_equal(topology->links, 3);
	assert_string_equal(notes.text, "net.txt:3:5: the far end does not list this cable; "
					"the cable is kept\n"
					"net.txt:4:5: the far end does not list this cable; "
					"the cable is kept\n");
}

static const char special[] =
	"devid=0xd2f0\nSwitch 41 \"S-1\" # \"leaf\"\n"
	"[1] \"H-1\"[1] # \"node1 HCA-1\" lid 1 4xHDR\n[2] \"H-2\"[1] # \"ufm-1 HCA-1\" lid 2 4xHDR\n"
	"[3] \"R-1\"[1] # \"out\" lid 3 4xHDR\n[4] \"H-4\"[1] # \"node2 HCA-1\" lid 4 4xHDR\n"
	"[41] \"H-3\"[1] # \"Mellanox Technologies Aggregation Node\" lid 5 4xHDR\n\n"
	"devid=0x101b\nCa 1 \"H-1\" # \"node1 HCA-1\"\n\ndevid=0x101b\nCa 1 \"H-2\" # \"ufm-1 HCA-1\"\n\n"
	"devid=0xcf09\nCa 1 \"H-3\" # \"Mellanox Technologies Aggregation Node\"\n\n"
	"devid=0x101b\nCa 1 \"H-4\" # \"node2 HCA-1\"\n\nRt 1 \"R-1\" # \"out\"\n";

UNIT_TEST(nodes_without_traffic_of_their_own_are_left_out)
{
	struct notes notes;
	OWNED(topology) *topology = import_leniently(special, NULL, NULL, &notes);

	assert_int_equal(topology->hosts, 2);
	assert_peer(topology, "node1_HCA-1", "leaf:0");
	assert_peer(topology, "node2_HCA-1", "leaf:3");
	assert_string_equal(notes.text,
		"net.txt:13:6: \"ufm-1 HCA-1\": management servers are left out (1)\n"
		"net.txt:16:6: \"Mellanox Technologies Aggregation Node\": aggregation nodes are left "
		"out (1)\n"
		"net.txt:21:6: \"out\": routers are left out (1)\n");
}

UNIT_TEST(only_and_exclude_choose_by_description)
{
	regex_t only, exclude;
	struct notes notes;
	struct topology *topology;

	assert_int_equal(regcomp(&only, "^(node|out)", REG_EXTENDED), 0);
	assert_int_equal(regcomp(&exclude, "node2", REG_EXTENDED), 0);
	topology = import_leniently(special, &only, &exclude, &notes);
	assert_int_equal(topology->hosts, 2);
	assert_peer(topology, "node1_HCA-1", "leaf:0");
	assert_peer(topology, "out", "leaf:2");
	topology_destroy(topology);
	regfree(&only);
	regfree(&exclude);
}

/* A switch that reports 'ports' ports and has hosts at the first 'cabled' odd ones. */
static char *large_switch(unsigned ports, unsigned cabled)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fprintf(out, "Switch %u \"a\"\n", ports);
	for (unsigned i = 0; i < cabled; i++)
		fprintf(out, "[%u] \"x%u\"[1]\n", 2 * i + 1, i);
	for (unsigned i = 0; i < cabled; i++)
		fprintf(out, "\nCa 1 \"x%u\"\n", i);
	fclose(out);
	return text;
}

UNIT_TEST(ports_without_cables_do_not_count)
{
	char *few = large_switch(65, 32), *spread = large_switch(145, 64),
	     *many = large_switch(145, 65);
	struct notes notes;
	struct topology *topology = import_leniently(few, NULL, NULL, &notes);

	assert_string_equal(notes.text, "");
	assert_int_equal(topology->switch_at[0].ports, 64);
	assert_peer(topology, "x31", "a:62");
	topology_destroy(topology);
	topology = import_leniently(spread, NULL, NULL, &notes);
	assert_string_equal(notes.text,
		"net.txt:1:12: \"a\" has a cable in port 127; cables in ports above 64 get the numbers "
		"of ports without one\n");
	assert_peer(topology, "x63", "a:63");
	topology_destroy(topology);
	topology = import_leniently(many, NULL, NULL, &notes);
	assert_string_equal(notes.text, "");
	assert_int_equal(topology->switch_at[0].ports, 145);
	assert_peer(topology, "x64", "a:128");
	topology_destroy(topology);
	free(few);
	free(spread);
	free(many);
}

/* ibsim: the capabilities of a port, as bits of PortInfo. What both ends support counts. */
UNIT_TEST(widths_and_speeds_of_ibsim_make_rates)
{
	struct notes notes;
	OWNED(topology) *topology = import_leniently(
		"width=3\nspeed=7\nSwitch 8 \"s\"\n[1] \"a\"[1] w=1\n[2] \"b\"[1] s=2\n[3] \"c\"[1]\n\n"
		"Hca 1 \"a\"\n[1] \"s\"[1]\nHca 1 \"b\"\n[1] \"s\"[2]\nHca 1 \"c\"\n[1] \"s\"[3]\n",
		NULL, NULL, &notes);

	assert_string_equal(notes.text, "");
	assert_int_equal(topology_link_at(topology, walk_switch(0, 0))->rate_bps, 10000000000);
	assert_int_equal(topology_link_at(topology, walk_switch(0, 1))->rate_bps, 20000000000);
	assert_int_equal(topology_link_at(topology, walk_switch(0, 2))->rate_bps, 40000000000);
}

static bool same_end(const struct topology *a, const struct topology *b, struct topology_port x,
	struct topology_port y)
{
	char name[2][TOPOLOGY_NAME_MAX + 8];

	topology_port_name(a, x, name[0], sizeof(name[0]));
	topology_port_name(b, y, name[1], sizeof(name[1]));
	return strcmp(name[0], name[1]) == 0;
}

/* The same devices, cables and rates. Numbers may differ. */
static bool same_network(const struct topology *a, const struct topology *b)
{
	if (a->switches != b->switches || a->hosts != b->hosts || a->links != b->links)
		return false;
	for (uint32_t s = 0; s < a->switches; s++) {
		int32_t other = topology_find_switch(b, a->switch_at[s].name);

		for (unsigned port = 0; other >= 0 && port < a->switch_at[s].ports; port++) {
			struct topology_port x, y;
			bool linked = topology_peer(a, walk_switch(s, port), &x);

			if (topology_peer(b, walk_switch((uint32_t)other, port), &y) != linked)
				return false;
			if (linked &&
				(!same_end(a, b, x, y) || topology_link_at(a, x)->rate_bps !=
								  topology_link_at(b, y)->rate_bps))
				return false;
		}
		if (other < 0)
			return false;
	}
	return true;
}

static uint32_t draw(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)(*state >> 8) * below) >> 24);
}

/* Copies 'text' with one line deleted, duplicated, truncated or exchanged with another. */
static char *mutate(const char *text, uint32_t *state)
{
	const char *line[2000];
	size_t length[2000];
	uint32_t lines = 0, at, other, kind = draw(state, 4);
	char *out = calloc(1, 2 * strlen(text) + 1), *end = out;

	for (const char *next; *text != '\0'; text = next + 1, lines++) {
		next = strchr(text, '\n');
		line[lines] = text;
		length[lines] = (size_t)(next - text);
	}
	at = draw(state, lines);
	other = draw(state, lines);
	for (uint32_t i = 0; i < lines; i++) {
		uint32_t from = kind == 3 && i == at ? other : kind == 3 && i == other ? at : i;
		uint32_t times = i == at && kind == 0 ? 0 : i == at && kind == 1 ? 2 : 1;
		size_t cut = i == at && kind == 2 && length[i] > 0
				     ? draw(state, (uint32_t)length[i])
				     : length[from];

		for (; times > 0; times--)
			end += sprintf(end, "%.*s\n", (int)cut, line[from]);
	}
	return out;
}

/* A listing with a fault gives the same network, or a note. */
UNIT_TEST(no_mutation_of_a_listing_changes_the_network_in_silence)
{
	static const char *const specs[] = {"rlft:ports=8,stages=2,rate=100Gbps",
		"torus:dims=3x3,hosts=2,rate=400Gbps", "dragonfly:a=2,p=2,h=1",
		"full:switches=4,hosts=2"};
	uint32_t drawn = 20261129, changed = 0;

	for (unsigned i = 0; i < 1200; i++) {
		struct topology *topology = walk_generate(specs[i % 4]), *again;
		char *text = export(topology), *mutated = mutate(text, &drawn);
		struct notes notes;

		again = import_leniently(mutated, NULL, NULL, &notes);
		if (again != NULL && !same_network(topology, again)) {
			changed++;
			if (notes.text[0] == '\0')
				print_message("%s\n", mutated);
			assert_string_not_equal(notes.text, "");
		}
		if (again != NULL)
			assert_int_equal(topology_check_connected(again, "again", NULL), 0);
		topology_destroy(topology);
		if (again != NULL)
			topology_destroy(again);
		free(text);
		free(mutated);
	}
	assert_true(changed > 50);
}
