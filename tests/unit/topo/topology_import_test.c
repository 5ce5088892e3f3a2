/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Importable formats: output of other programs, round trips, and damaged texts. */

#include "import_notes.h"
#include "topology_walk.h"

#include "base/rng.h"
#include "topo/formats/topology_format.h"
#include "topo/topology_levels.h"

/* Printed by infiniband-diags 44 and OpenSM 3.3.23 in ibsim, for two switches and two hosts
 * (4xSDR), one of which has a second port. */
static const char links[] =
	"CA: h1 HCA-1:\n"
	"      0x0200000100000003      4    1[  ] ==( 4X           2.5 Gbps Active/  LinkUp)==>  "
	"     3    1[  ] \"s1\" (Could be 12X Could be 10.0 Gbps)\n"
	"Switch: 0x0200000000010001 s1:\n"
	"           3    1[  ] ==( 4X           2.5 Gbps Active/  LinkUp)==>       4    1[  ] \"h1 "
	"HCA-1\" (Could be 12X Could be 10.0 Gbps)\n"
	"           3    2[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>       2    2[  ] \"s0\" "
	"( )\n"
	"           3    3[  ] ==(                Down/ Polling)==>             [  ] \"\" ( )\n"
	"Switch: 0x0200000000010000 s0:\n"
	"           2    1[  ] ==( 4X           2.5 Gbps Active/  LinkUp)==>       1    1[  ] \"h0\" "
	"( )\n"
	"           2    2[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>       3    2[  ] \"s1\" "
	"( )\n"
	"CA: h0:\n"
	"      0x0200000100000001      1    1[  ] ==( 4X           2.5 Gbps Active/  LinkUp)==>  "
	"     2    1[  ] \"s0\" ( )\n";

static const char ports[] =
	"CA     4  1 0x0200000100000003 4x SDR - SW     3  1 0x0200000000010001 ( 'h1 HCA-1' - 's1' "
	")\n"
	"SW     3  1 0x0200000000010001 4x SDR - CA     4  1 0x0200000100000003 ( 's1' - 'h1 HCA-1' "
	")\n"
	"SW     3  2 0x0200000000010001 4x EDR - SW     2  2 0x0200000000010000 ( 's1' - 's0' )\n"
	"SW     3  3 0x0200000000010001 4x SDR                                    's1'\n"
	"SW     2  1 0x0200000000010000 4x SDR - CA     1  1 0x0200000100000001 ( 's0' - 'h0' )\n"
	"SW     2  2 0x0200000000010000 4x EDR - SW     3  2 0x0200000000010001 ( 's0' - 's1' )\n"
	"CA     1  1 0x0200000100000001 4x SDR - SW     2  1 0x0200000000010000 ( 'h0' - 's0' )\n";

#define SUBNET_SWITCH(number, port)                                                            \
	"{ SW Ports:03 SystemGUID:020000000001000" number " NodeGUID:020000000001000" number   \
	" PortGUID:020000000001000" number " VenID:00000000 DevID:0000 Rev:000000A1 {s" number \
	"} LID:0002 PN:" port " }"
#define SUBNET_HOST(number, name)                                                            \
	"{ CA Ports:02 SystemGUID:020000010000000" number " NodeGUID:020000010000000" number \
	" PortGUID:020000010000000" number " VenID:00000000 DevID:0000 Rev:000000A1 {" name  \
	"} LID:0001 PN:01 }"

static const char subnet[] = SUBNET_HOST("0", "h0") " " SUBNET_SWITCH(
	"0", "01") " PHY=4x LOG=ACT SPD=2.5\n" SUBNET_SWITCH("0", "02") " " SUBNET_SWITCH("1",
	"02") " PHY=4x LOG=ACT SPD=25\n" SUBNET_SWITCH("1", "02") " " SUBNET_SWITCH("0",
	"02") " PHY=4x LOG=ACT SPD=25\n" SUBNET_SWITCH("1", "01") " " SUBNET_HOST("2",
	"h1 HCA-1") " PHY=4x LOG=ACT SPD=2.5\n";

static struct topology *import_text(
	const char *format, const char *text, size_t length, bool strict, struct error *error)
{
	struct topology_import import = {.strict = strict};

	return topology_format_find(format)->read(text, length, "net", &import, error);
}

static struct topology *must_import(const char *format, const char *text)
{
	struct error error = {""};
	struct topology *topology = import_text(format, text, strlen(text), true, &error);

	if (topology == NULL)
		fail_msg("%s: %s", format, error.text);
	return topology;
}

static uint64_t rate_at(const struct topology *topology, const char *port)
{
	struct topology_port at;

	assert_int_equal(topology_find_port(topology, port, &at), 0);
	return topology_link_at(topology, at)->rate_bps;
}

UNIT_TEST(infiniband_listings_are_the_same_network)
{
	static const struct {
		const char *format, *text;
	} listings[] = {{"iblinkinfo", links}, {"ibnetdiscover-p", ports}, {"opensm", subnet}};

	for (unsigned i = 0; i < sizeof(listings) / sizeof(listings[0]); i++) {
		OWNED(topology) *topology = must_import(listings[i].format, listings[i].text);
		struct topology_port peer;

		assert_int_equal(topology->switches, 2);
		assert_int_equal(topology->hosts, 2);
		assert_int_equal(topology->links, 3);
		assert_int_equal(rate_at(topology, "s0:1"), 100000000000);
		assert_int_equal(rate_at(topology, "s1:0"), 10000000000);
		assert_true(topology_host_switch(
			topology, (uint32_t)topology_find_host(topology, "h1_HCA-1"), &peer));
		assert_int_equal(peer.device, topology_find_switch(topology, "s1"));
	}
}

static char *export_as(const char *format, const struct topology *topology)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct error error = {""};

	if (topology_format_find(format)->write(topology, out, &error) != 0)
		fail_msg("%s: %s", format, error.text);
	fclose(out);
	return text;
}

/* Levels are also restored. */
UNIT_TEST(export_and_import_change_nothing)
{
	static const char *const formats[] = {"ibnetdiscover", "slurm", "ns3", "booksim", "htsim"};
	static const char *const specs[] = {"rlft:ports=4,stages=2", "rlft:ports=4,stages=3",
		"rlft:ports=8,stages=2,rate=100Gbps,delay=45ns"};

	for (unsigned i = 0; i < 15; i++) {
		OWNED(topology) *tree = walk_generate(specs[i % 3]);
		struct topology *again;
		char *first = export_as(formats[i / 3], tree), *second;
		struct error why = {""};

		again = must_import(formats[i / 3], first);
		assert_int_equal(topology_levels_find(again, &why), 0);
		assert_int_equal(again->switches, tree->switches);
		assert_int_equal(again->hosts, tree->hosts);
		for (uint32_t s = 0; s < tree->switches; s++)
			assert_int_equal(again->switch_at[s].stage, tree->switch_at[s].stage);
		memcpy(again->name, tree->name, sizeof(again->name)); /* else the file's */
		second = export_as(formats[i / 3], again);
		assert_string_equal(first, second);
		free(first);
		free(second);
		topology_destroy(again);
	}
}

UNIT_TEST(slurm_lists_are_expanded)
{
	OWNED(topology) *topology =
		must_import("slurm", "# a comment\n"
				     "SwitchName=leaf1 Nodes=n[08-10,12]x,login\n"
				     "switchname=leaf2 nodes=m1\n"
				     "SwitchName=top Switches=leaf[1-2] LinkSpeed=100\n");

	assert_int_equal(topology->switches, 3);
	assert_int_equal(topology->hosts, 6);
	assert_true(topology_find_host(topology, "n08x") >= 0);
	assert_true(topology_find_host(topology, "n10x") >= 0);
	assert_true(topology_find_host(topology, "n12x") >= 0);
	assert_true(topology_find_host(topology, "login") >= 0);
}

/* Four GPUs, two NVSwitches for two each, and a network of NICs. The larger part is kept. */
UNIT_TEST(servers_have_a_port_in_the_network_of_the_nics_and_one_at_their_nvswitch)
{
	static const char text[] = "9 2 2 3 10 H100\n4 5 6 7 8\n"
				   "0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 0.000025ms 0\n"
				   "2 5 2880Gbps 0.000025ms 0\n3 5 2880Gbps 0.000025ms 0\n"
				   "0 6 400Gbps 0.0005ms 0\n2 6 400Gbps 0.0005ms 0\n"
				   "1 7 400Gbps 0.0005ms 0\n3 7 400Gbps 0.0005ms 0\n"
				   "6 8 400Gbps 0.0005ms 0\n7 8 1.6Gbps 0.0005ms 0\n";
	struct error error = {""};
	OWNED(topology) *topology = import_text("ns3", text, strlen(text), false, &error);

	assert_string_equal(error.text, "");
	assert_int_equal(topology->switches, 5);
	assert_int_equal(topology->nodes, 4);
	assert_int_equal(topology->hosts, 8);
	assert_int_equal(topology->links, 10);
	assert_int_equal(topology->link_at[0].rate_bps, 2880 * UINT64_C(1000000000));
	assert_int_equal(topology->link_at[9].delay_ps, 500 * PS_PER_NS);
	assert_int_equal(topology_check_connected(topology, "net", &error), 0);
}

UNIT_TEST(wrong_lines_name_their_place)
{
	static const struct {
		const char *format, *text, *expected;
	} cases[] = {
		{"ns3", "3 1\n", "net:1:4: expected the numbers of nodes, switches and links"},
		{"ns3", "3 1 2\n2\n0 2 10 1us 0\n",
			"net:3:5: '10': expected a rate with its unit, such as 10Gbps (bps, kbps, "
			"Mbps, Gbps), 1kbps to 100000Gbps"},
		{"ns3", "3 1 2\n7\n", "net:2:1: expected a number up to 2, found '7'"},
		{"slurm", "SwitchName=a Nodes=n[3-1]\n",
			"net:1:26: expected a range, found 3 to 1"},
		{"slurm", "Nodes=a\n", "net:1:8: expected SwitchName="},
		{"slurm", "SwitchName=a Node=n\n",
			"net:1:14: expected SwitchName=, Nodes=, Switches= or LinkSpeed=, found "
			"'Node=n'"},
		{"slurm", "BlockName=b1 Nodes=n[1-4]\n",
			"net:1:1: Slurm's topology/block has no cables; use a topology.conf "
			"with SwitchName= (topology/tree)"},
		{"htsim", "Nodes 8\nTiers 2\nPodsize 8\n",
			"net:3:1: tier 0 has no Downlink_speed_Gbps"},
		{"htsim", "Nodes 8\nRadix_Down 2\n",
			"net:2:1: expected an htsim key such as Nodes, found 'Radix_Down'"},
		{"booksim", "node 1\n", "net:1:7: expected 'router' at the start of the line"},
		{"iblinkinfo", "  3  1[  ] ==(\n",
			"net:1:3: expected 'Switch:' or 'CA:' before this line"},
		{"ibnetdiscover-p", "Ca\t : 0x2 ports 1\n", "net:1:1: expected SW, CA or RT"},
		{"opensm", "SW\n", "net:1:1: expected '{' before a node"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error error = {""};

		assert_null(import_text(
			cases[i].format, cases[i].text, strlen(cases[i].text), true, &error));
		assert_string_equal(error.text, cases[i].expected);
	}
}

enum damage { LOST, DOUBLED, CUT, SWAPPED, REPLACED, DAMAGES };

/* Each line has a fault of this kind with probability 1/8. With DAMAGES, the kind is drawn for each
 * line. */
static size_t mutate(const char *text, enum damage kind, struct rng *rng, char *out)
{
	const char *line[256], *mine;
	size_t lines = 0, used = 0;

	for (const char *at = text; *at != '\0' && lines < 256; at = strchr(at, '\n') + 1)
		line[lines++] = at;
	for (size_t i = 0; i < lines; i++) {
		enum damage damage = kind < DAMAGES ? kind : (enum damage)rng_below(rng, DAMAGES);
		size_t later = i + rng_below(rng, lines - i), length;
		bool hit = rng_below(rng, 8) == 0;

		mine = line[i];
		if (hit && damage >= SWAPPED)
			line[i] = line[damage == SWAPPED ? later : rng_below(rng, lines)];
		if (hit && damage == SWAPPED)
			line[later] = mine;
		length = (size_t)(strchr(line[i], '\n') - line[i]);
		length = hit && damage == CUT ? rng_below(rng, length + 1) : length;
		for (int copies = !hit             ? 1
				  : damage == LOST ? 0
						   : 1 + (damage == DOUBLED);
			copies > 0; copies--) {
			memcpy(out + used, line[i], length);
			used += length;
			out[used++] = '\n';
		}
	}
	return used;
}

/* How many cables connect the devices with these names. */
static unsigned cables_between(const struct topology *topology, const char *one, const char *other)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < topology->links; i++) {
		const char *a = topology_device_name(topology, topology->link_at[i].a);
		const char *b = topology_device_name(topology, topology->link_at[i].b);

		count += (strcmp(a, one) == 0 && strcmp(b, other) == 0) ||
			 (strcmp(a, other) == 0 && strcmp(b, one) == 0);
	}
	return count;
}

/* Returns true if every cable is also in the whole network. */
static bool is_part(const struct topology *damaged, const struct topology *whole)
{
	for (uint32_t i = 0; i < damaged->links; i++) {
		const char *a = topology_device_name(damaged, damaged->link_at[i].a);
		const char *b = topology_device_name(damaged, damaged->link_at[i].b);

		if (cables_between(damaged, a, b) > cables_between(whole, a, b))
			return false;
	}
	return true;
}

static bool has_cable(const struct topology *topology, const char *from, const char *to)
{
	char name[TOPOLOGY_NAME_MAX + 8];
	struct topology_port at, peer;

	if (topology_find_port(topology, from, &at) != 0 || !topology_peer(topology, at, &peer))
		return false;
	topology_port_name(topology, peer, name, sizeof(name));
	return strcmp(name, to) == 0;
}

/* Each cable that is not in the whole network has a note that begins with its line. */
static void check_wrong_cables_are_noted(
	const struct topology *damaged, const struct topology *whole, const struct notes *notes)
{
	for (uint32_t i = 0; i < damaged->links; i++) {
		const struct topology_link *link = &damaged->link_at[i];
		char a[TOPOLOGY_NAME_MAX + 8], b[TOPOLOGY_NAME_MAX + 8], place[32];

		topology_port_name(damaged, link->a, a, sizeof(a));
		topology_port_name(damaged, link->b, b, sizeof(b));
		snprintf(place, sizeof(place), "net:%u:", link->line);
		if (has_cable(whole, a, b) || strstr(notes->text, place) != NULL)
			continue;
		fail_msg("%s - %s of line %u is wrong without a note in\n%s", a, b, link->line,
			notes->text);
	}
}

/* If a cable has a line at both ends, a different cable has a note with its position. In other
 * formats, a truncated name is a different name, and a repeated line may be a parallel cable. */
UNIT_TEST(damaged_listings_give_no_wrong_cable_without_a_note)
{
	struct topology *tree = walk_generate("rlft:ports=4,stages=2");
	const char *const exported[] = {"ibnetdiscover", "ns3", "slurm", "booksim", "htsim"};
	struct {
		const char *format;
		char *text;
	} listings[8] = {{"iblinkinfo", strdup(links)}, {"ibnetdiscover-p", strdup(ports)},
		{"opensm", strdup(subnet)}};
	unsigned accepted = 0;

	for (unsigned i = 0; i < 5; i++) {
		listings[3 + i].format = exported[i];
		listings[3 + i].text = export_as(exported[i], tree);
	}
	for (uint64_t draw = 0; draw < 120 * 8; draw++) {
		unsigned which = (unsigned)(draw % 8);
		enum damage kind = (enum damage)(draw / 8 % 6);
		OWNED(topology) *whole = must_import(listings[which].format, listings[which].text);
		OWNED(topology) *damaged;
		struct notes notes = {""};
		struct topology_import import = {.note = keep_note, .context = &notes};
		struct error error = {""};
		char text[16384];
		struct rng rng;
		size_t length;

		rng_init(&rng, draw / 8, 0, 0);
		length = mutate(listings[which].text, kind, &rng, text);
		damaged = topology_format_find(listings[which].format)
				  ->read(text, length, "net", &import, &error);
		if (damaged == NULL) {
			assert_true(strncmp(error.text, "net:", 4) == 0);
			continue;
		}
		accepted++;
		assert_int_equal(topology_check_connected(damaged, "net", &error), 0);
		if (which < 4)
			check_wrong_cables_are_noted(damaged, whole, &notes);
		else
			assert_true(is_part(damaged, whole) || import.notes > 0 || kind == CUT ||
				    kind >= REPLACED);
	}
	assert_true(accepted > 500);
	for (unsigned i = 0; i < 8; i++)
		free(listings[i].text);
	topology_destroy(tree);
}
