/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <errno.h>

#include "topo/generator.h"
#include "topo/topology.h"

#define SWITCH(n, p) ((struct topology_port){DEVICE_SWITCH, n, (uint8_t)(p)})
#define HOST(n)      ((struct topology_port){DEVICE_HOST, n, 0})

static struct topology *generate(const char *spec)
{
	struct error error = {""};
	struct topology *topology = topology_generate(spec, &error);

	assert_string_equal(error.text, "");
	assert_non_null(topology);
	return topology;
}

UNIT_TEST(every_kind_has_the_size_that_its_options_say)
{
	static const struct {
		const char *spec;
		uint32_t switches, hosts, links;
	} sizes[] = {
		{"rlft:ports=4,stages=1", 1, 4, 4},
		{"rlft:ports=4,stages=2", 6, 8, 8 + 8},
		{"rlft:ports=2,stages=3", 5, 2, 2 + 4},
		{"rlft:ports=12,stages=3", 180, 432, 3 * 432},
		{"rlft:ports=24,stages=3", 720, 3456, 3 * 3456},
		{"rlft:ports=36,stages=3", 1620, 11664, 3 * 11664},
		{"torus:dims=8x8,hosts=8", 64, 512, 512 + 128},
		{"torus:dims=2x2", 4, 4, 4 + 4},
		{"torus:dims=4x1x3,hosts=2", 12, 24, 24 + 12 + 12},
		{"mesh:dims=4x4,hosts=1", 16, 16, 16 + 24},
		{"mesh:dims=5", 5, 5, 5 + 4},
		{"ring:switches=5,hosts=2", 5, 10, 10 + 5},
		{"ring:switches=2", 2, 2, 2 + 1},
		{"ring:switches=1,hosts=3", 1, 3, 3},
		{"torus-express:dims=8x8,hosts=8", 64, 512, 512 + 256},
		{"hypercube:dims=4,hosts=2", 16, 32, 32 + 32},
		{"dragonfly:a=4,p=2,h=2", 36, 72, 72 + 9 * 6 + 36},
		{"cplant", 50, 400, 400 + 6 * 16 + 8 * 9 + 7},
		{"irregular:switches=64", 64, 256, 256 + 128},
		{"full:switches=6,hosts=3", 6, 18, 18 + 15},
		{"full:switches=1,hosts=2", 1, 2, 2},
	};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		OWNED(topology) *topology = generate(sizes[i].spec);

		assert_int_equal(topology->switches, sizes[i].switches);
		assert_int_equal(topology->hosts, sizes[i].hosts);
		assert_int_equal(topology->links, sizes[i].links);
	}
}

static const char *const samples[] = {"rlft:ports=4,stages=1", "rlft:ports=8,stages=2",
	"rlft:ports=6,stages=4", "rail:rails=3,ports=4,stages=2", "rlft:ports=2,stages=4",
	"torus:dims=4x3x2,hosts=2", "torus:dims=2x2x2", "mesh:dims=3x4,hosts=3", "ring:switches=7",
	"ring:switches=2,hosts=0", "full:switches=5,hosts=2", "full:switches=65,hosts=0",
	"torus-express:dims=4x5,hosts=2", "hypercube:dims=3", "dragonfly:a=3,p=1,h=2", "cplant",
	"irregular:switches=10,degree=3,hosts=2,ports=7,seed=18446744073709551615",
	"clos:ports=4,stages=3,over=3:1", "hyperx:shape=3x4,width=2,hosts=2", "slimfly:q=4",
	"polarfly:q=4", "dragonfly-plus:l=2,s=2,p=2,h=2", "jellyfish:switches=10,degree=3,hosts=1",
	"torus:dims=3x3,rate=2.5Gbps,delay=15ns"};

#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

UNIT_TEST(every_topology_is_connected)
{
	for (unsigned i = 0; i < SAMPLES; i++) {
		OWNED(topology) *topology = generate(samples[i]);

		assert_int_equal(topology_check_connected(topology, samples[i], NULL), 0);
	}
}

static void assert_same(const struct topology *a, const struct topology *b)
{
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->default_rate_bps, b->default_rate_bps);
	assert_int_equal(a->default_delay_ps, b->default_delay_ps);
	assert_int_equal(a->switches, b->switches);
	assert_int_equal(a->hosts, b->hosts);
	assert_int_equal(a->links, b->links);
	for (uint32_t s = 0; s < a->switches; s++) {
		assert_string_equal(a->switch_at[s].name, b->switch_at[s].name);
		assert_int_equal(a->switch_at[s].ports, b->switch_at[s].ports);
		assert_int_equal(a->switch_at[s].stage, b->switch_at[s].stage);
	}
	for (uint32_t h = 0; h < a->hosts; h++)
		assert_string_equal(a->host_at[h].name, b->host_at[h].name);
	for (uint32_t i = 0; i < a->links; i++) {
		const struct topology_link *x = &a->link_at[i], *y = &b->link_at[i];

		assert_int_equal(x->a.kind, y->a.kind);
		assert_int_equal(x->a.device, y->a.device);
		assert_int_equal(x->a.port, y->a.port);
		assert_int_equal(x->b.kind, y->b.kind);
		assert_int_equal(x->b.device, y->b.device);
		assert_int_equal(x->b.port, y->b.port);
		assert_int_equal(x->rate_bps, y->rate_bps);
		assert_int_equal(x->delay_ps, y->delay_ps);
	}
}

UNIT_TEST(every_topology_survives_writing_and_reading)
{
	for (unsigned i = 0; i < SAMPLES; i++) {
		struct topology *topology = generate(samples[i]), *again;
		struct error error = {""};
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		assert_int_equal(topology_write(topology, out), 0);
		fclose(out);
		again = topology_parse(text, length, "again", &error);
		assert_string_equal(error.text, "");
		assert_same(topology, again);
		free(text);
		topology_destroy(topology);
		topology_destroy(again);
	}
}

static struct topology_port far_end(const struct topology *topology, struct topology_port port)
{
	struct topology_port peer = {0};

	assert_true(topology_peer(topology, port, &peer));
	return peer;
}

/* Ports 0..K-1 go down and K..2K-1 up. At the top, all 2K go down. Stage 1 is next to the hosts. */
UNIT_TEST(rlft_ports_go_down_below_k_and_up_above)
{
	OWNED(topology) *topology = generate("rlft:ports=6,stages=3");

	for (uint32_t s = 0; s < topology->switches; s++) {
		unsigned stage = topology->switch_at[s].stage;

		for (unsigned port = 0; port < 6; port++) {
			struct topology_port peer = far_end(topology, SWITCH(s, port));
			bool up = stage < 3 && port >= 3;

			if (stage == 1 && !up)
				assert_int_equal(peer.kind, DEVICE_HOST);
			else
				assert_int_equal(topology->switch_at[peer.device].stage,
					up ? stage + 1 : stage - 1);
		}
	}
}

UNIT_TEST(host_i_hangs_on_leaf_i_by_hosts_per_leaf)
{
	OWNED(topology) *topology = generate("rlft:ports=6,stages=3");

	for (uint32_t host = 0; host < topology->hosts; host++) {
		struct topology_port leaf = far_end(topology, HOST(host));

		assert_int_equal(leaf.device, host / 3);
		assert_int_equal(leaf.port, host % 3);
		assert_int_equal(topology->switch_at[leaf.device].stage, 1);
	}
}

/* Returns whether the host is below the device, going only down. */
static bool is_below(
	const struct topology *topology, struct topology_port at, uint32_t host, unsigned arity)
{
	unsigned stage, down;

	if (at.kind == DEVICE_HOST)
		return at.device == host;
	stage = topology->switch_at[at.device].stage;
	down = stage == topology->switch_at[topology->switches - 1].stage ? 2 * arity : arity;
	for (unsigned port = 0; port < down; port++)
		if (is_below(topology, far_end(topology, SWITCH(at.device, port)), host, arity))
			return true;
	return false;
}

/* Returns the only down port behind which the host is. */
static unsigned down_port(
	const struct topology *topology, uint32_t at, uint32_t host, unsigned arity, unsigned top)
{
	unsigned down = topology->switch_at[at].stage == top ? 2 * arity : arity, found = 99;

	for (unsigned port = 0; port < down; port++)
		if (is_below(topology, far_end(topology, SWITCH(at, port)), host, arity)) {
			assert_int_equal(found, 99);
			found = port;
		}
	return found;
}

/* D-mod-K: at level l, go up through port K + (D / K^l mod K) until D is below, then down on the
 * only path. If all paths go all the way up, they meet in one top switch. */
static void walk_d_mod_k(const struct topology *topology, uint32_t source, uint32_t destination,
	unsigned arity, unsigned top)
{
	struct topology_port at = far_end(topology, HOST(source));
	uint32_t digits = destination;
	unsigned hops = 0;

	for (; !is_below(topology, at, destination, arity); digits /= arity, hops++)
		at = far_end(topology, SWITCH(at.device, arity + digits % arity));
	while (at.kind == DEVICE_SWITCH && hops++ < 2 * top)
		at = far_end(topology,
			SWITCH(at.device, down_port(topology, at.device, destination, arity, top)));
	assert_int_equal(at.kind, DEVICE_HOST);
	assert_int_equal(at.device, destination);
}

UNIT_TEST(d_mod_k_reaches_every_host_of_a_fat_tree)
{
	static const struct {
		const char *spec;
		unsigned arity, stages;
	} trees[] = {{"rlft:ports=4,stages=2", 2, 2}, {"rlft:ports=6,stages=2", 3, 2},
		{"rlft:ports=4,stages=3", 2, 3}, {"rlft:ports=4,stages=4", 2, 4},
		{"rlft:ports=2,stages=3", 1, 3}};

	for (unsigned i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		OWNED(topology) *topology = generate(trees[i].spec);

		for (uint32_t source = 0; source < topology->hosts; source++)
			for (uint32_t destination = 0; destination < topology->hosts; destination++)
				if (source != destination)
					walk_d_mod_k(topology, source, destination, trees[i].arity,
						trees[i].stages);
	}
}

UNIT_TEST(d_mod_k_leads_all_sources_to_the_same_top_switch)
{
	OWNED(topology) *topology = generate("rlft:ports=6,stages=3");

	for (uint32_t destination = 0; destination < topology->hosts; destination++) {
		uint32_t top = UINT32_MAX;

		for (uint32_t source = 0; source < topology->hosts; source++) {
			struct topology_port at = far_end(topology, HOST(source));

			at = far_end(topology, SWITCH(at.device, 3 + destination % 3));
			at = far_end(topology, SWITCH(at.device, 3 + destination / 3 % 3));
			assert_int_equal(topology->switch_at[at.device].stage, 3);
			assert_true(top == UINT32_MAX || top == at.device);
			top = at.device;
		}
	}
}

/* Port 2i leads to the next switch of dimension i, and 2i + 1 to the previous one. Hosts follow. */
UNIT_TEST(torus_ports_tell_the_direction)
{
	OWNED(topology) *topology = generate("torus:dims=4x3,hosts=2");

	for (uint32_t s = 0; s < topology->switches; s++) {
		uint32_t x = s % 4, y = s / 4;

		assert_int_equal(far_end(topology, SWITCH(s, 0)).device, y * 4 + (x + 1) % 4);
		assert_int_equal(far_end(topology, SWITCH(s, 1)).device, y * 4 + (x + 3) % 4);
		assert_int_equal(far_end(topology, SWITCH(s, 2)).device, (y + 1) % 3 * 4 + x);
		assert_int_equal(far_end(topology, SWITCH(s, 3)).device, (y + 2) % 3 * 4 + x);
		assert_int_equal(far_end(topology, SWITCH(s, 4)).kind, DEVICE_HOST);
		assert_int_equal(far_end(topology, SWITCH(s, 5)).device, 2 * s + 1);
	}
}

UNIT_TEST(a_dimension_of_two_has_one_link)
{
	OWNED(topology) *topology = generate("torus:dims=2x3");

	assert_int_equal(far_end(topology, SWITCH(0, 0)).device, 1);
	assert_null(topology_link_at(topology, SWITCH(0, 1)));
	assert_null(topology_link_at(topology, SWITCH(1, 0)));
	assert_int_equal(far_end(topology, SWITCH(1, 1)).device, 0);
}

UNIT_TEST(a_mesh_is_open_at_its_rim)
{
	OWNED(topology) *topology = generate("mesh:dims=3x3");

	assert_null(topology_link_at(topology, SWITCH(0, 1)));
	assert_null(topology_link_at(topology, SWITCH(2, 0)));
	assert_null(topology_link_at(topology, SWITCH(0, 3)));
	assert_int_equal(far_end(topology, SWITCH(0, 0)).device, 1);
	assert_int_equal(far_end(topology, SWITCH(0, 2)).device, 3);
}

UNIT_TEST(full_links_every_pair_once)
{
	OWNED(topology) *topology = generate("full:switches=7,hosts=1");

	for (uint32_t a = 0; a < 7; a++)
		for (uint32_t b = 0; b < 7; b++)
			if (a != b)
				assert_int_equal(
					far_end(topology, SWITCH(a, b < a ? b : b - 1)).device, b);
}

UNIT_TEST(bad_texts_are_refused_in_one_line)
{
	static const struct {
		const char *spec, *message;
	} bad[] = {
		{"tours:dims=4x4",
			"tours:dims=4x4: unknown topology kind 'tours'; expected rlft, rail, clos, "
			"torus, mesh, torus-express, ring, hypercube, full, hyperx, dragonfly, "
			"dragonfly-plus, slimfly, polarfly, cplant, irregular, jellyfish; nearest is 'torus'"},
		{"ring", "ring: option 'switches' is missing (switches)"},
		{"cplant:groups=7",
			"cplant:groups=7: unknown option 'groups'; cplant takes rate, delay"},
		{"hypercube:dims=16",
			"hypercube:dims=16: dims=16: expected a whole number from 0 to 15"},
		{"hypercube:dims=15,hosts=3",
			"hypercube:dims=15,hosts=3: needs 98304 hosts; the maximum is 65536"},
		{"dragonfly:a=99,p=99,h=99",
			"dragonfly:a=99,p=99,h=99: needs 296 ports per switch; the maximum is 255"},
		{"dragonfly:a=20,p=20,h=20",
			"dragonfly:a=20,p=20,h=20: needs 160400 hosts; the maximum is 65536"},
		{"torus-express:dims=8x8,hosts=248",
			"torus-express:dims=8x8,hosts=248: needs 256 ports per switch; the maximum is 255"},
		{"rlft:", "rlft:: option 'ports' is missing (ports per switch, 2K)"},
		{"rlft:ports=4", "rlft:ports=4: option 'stages' is missing (stages of switches)"},
		{"rlft:ports=5,stages=2",
			"rlft:ports=5,stages=2: ports must be even, because half of them go up"},
		{"rlft:ports=256,stages=2",
			"rlft:ports=256,stages=2: ports=256: expected a whole number from 2 to 254"},
		{"rlft:ports=64,stages=12",
			"rlft:ports=64,stages=12: needs 2305843009213693952 hosts; the maximum is 65536"},
		{"rlft:ports=4,stage=2", "rlft:ports=4,stage=2: unknown option 'stage', nearest is "
					 "'stages'; rlft takes ports, stages, rate, delay"},
		{"rlft:ports=4,ports=4,stages=2",
			"rlft:ports=4,ports=4,stages=2: 'ports' is set twice"},
		{"rlft:ports=4,stages", "rlft:ports=4,stages: 'stages': expected KEY=VALUE"},
		{"rlft:ports=4,,stages=2",
			"rlft:ports=4,,stages=2: expected KEY=VALUE at ',stages=2'"},
		{"torus:dims=4x",
			"torus:dims=4x: dims=4x: expected sizes such as 4x4, 1 to 8 of them, each 1 to 65535"},
		{"torus:dims=0x4",
			"torus:dims=0x4: dims=0x4: expected sizes such as 4x4, 1 to 8 of them, each 1 to 65535"},
		{"torus:dims=2x2x2x2x2x2x2x2x2",
			"torus:dims=2x2x2x2x2x2x2x2x2: dims=2x2x2x2x2x2x2x2x2: expected sizes such as 4x4, 1 to 8 of them, each 1 to 65535"},
		{"torus:dims=60000x60000",
			"torus:dims=60000x60000: needs more than 65535 switches"},
		{"torus:dims=8x8,hosts=252",
			"torus:dims=8x8,hosts=252: needs 256 ports per switch; the maximum is 255"},
		{"torus:dims=256x256,hosts=1",
			"torus:dims=256x256,hosts=1: needs more than 65535 switches"},
		{"torus:dims=255x257,hosts=2",
			"torus:dims=255x257,hosts=2: needs 131070 hosts; the maximum is 65536"},
		{"full:switches=256,hosts=1",
			"full:switches=256,hosts=1: needs 256 ports per switch; the maximum is 255"},
		{"ring:switches=3,rate=10",
			"ring:switches=3,rate=10: rate=10: expected a rate with its unit, such as 10Gbps (bps, kbps, Mbps, Gbps)"},
		{"ring:switches=3,rate=1bps",
			"ring:switches=3,rate=1bps: rate=1bps: expected a rate from 1kbps to 100000Gbps"},
		{"ring:switches=3,delay=11s",
			"ring:switches=3,delay=11s: delay=11s: expected a delay from 0ps to 10s"},
		{"ring:switches=99999999999999999999",
			"ring:switches=99999999999999999999: switches=99999999999999999999: expected a whole number from 1 to 65535"},
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error error = {""};

		assert_null(topology_open(bad[i].spec, &error));
		assert_int_equal(errno, EINVAL);
		assert_string_equal(error.text, bad[i].message);
	}
}

UNIT_TEST(a_kind_alone_is_no_file)
{
	assert_true(topology_is_generated("cplant"));
	assert_true(topology_is_generated("cplant:"));
	assert_false(topology_is_generated("./cplant"));
	assert_false(topology_is_generated("cplant.yaml"));
}

UNIT_TEST(the_name_tells_what_was_asked_for)
{
	static const char *const names[][2] = {{"cplant", "cplant"},
		{"torus-express:dims=4x5,hosts=2", "torus-express-4x5-2"},
		{"irregular:switches=16,seed=7", "irregular-16-4-4-7"},
		{"irregular:switches=16,seed=7,ports=9", "irregular-16-4-4-9-7"},
		{"dragonfly:a=2,p=1,h=1", "dragonfly-2-1-1"},
		{"dragonfly:a=2,p=1,h=1,wiring=absolute", "dragonfly-2-1-1-absolute"},
		{"clos:ports=8,stages=2,over=3:1", "clos-8-2-3x1"}};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		OWNED(topology) *topology = generate(names[i][0]);

		assert_string_equal(topology->name, names[i][1]);
	}
}
