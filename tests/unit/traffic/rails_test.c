/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The port of a message between hosts with several ports. */

#include "traffic/rails.h"

#include "unit.h"

static struct rng rng;

static struct rails *rails_of(const struct topology *topology)
{
	struct rails *rails;

	assert_int_equal(rails_create(topology, &rails), 0);
	rng_init(&rng, 1, 0, 0);
	return rails;
}

static struct topology *parse(const char *text)
{
	struct error error = {""};
	struct topology *topology = topology_parse(text, strlen(text), "t", &error);

	assert_string_equal(error.text, "");
	return topology;
}

/* Both hosts have two ports in one plane, and the store has one. w has a port in another plane. */
static const char joined[] =
	"weft: topology/1\nswitches: [{name: s, ports: 8}, {name: t, ports: 4}]\n"
	"hosts: [{name: x, ports: 2}, {name: y, ports: 2}, {name: store}, {name: w, ports: 2}]\n"
	"links:\n  - {a: x:0, b: s:0}\n  - {a: x:1, b: s:1}\n  - {a: y:0, b: s:2}\n"
	"  - {a: y:1, b: s:3}\n  - {a: store, b: s:4}\n  - {a: w:0, b: t:0}\n"
	"  - {a: w:1, b: s:5}\n";

enum { X, Y, STORE, W }; /* hosts, and the entries of their first ports */

static uint32_t entry(const struct topology *topology, const char *name)
{
	return (uint32_t)topology_find_host(topology, name);
}

UNIT_TEST(one_port_per_host_needs_no_rails)
{
	OWNED(topology) *topology = topology_generate("rlft:ports=4,stages=2", NULL);

	assert_null(rails_of(topology));
}

UNIT_TEST(same_rail_keeps_the_number_of_the_port)
{
	OWNED(topology) *topology = parse(joined);
	OWNED(rails) *rails = rails_of(topology);

	assert_int_equal(rails_port(rails, RAIL_SAME, entry(topology, "x:0"), Y, &rng),
		entry(topology, "y:0"));
	assert_int_equal(rails_port(rails, RAIL_UNSET, entry(topology, "x:1"), Y, &rng),
		entry(topology, "y:1"));
	/* Modulo the number of ports, or the first in the plane if that one is in another plane. */
	assert_int_equal(rails_port(rails, RAIL_SAME, entry(topology, "x:1"), STORE, &rng),
		entry(topology, "store"));
	assert_int_equal(rails_port(rails, RAIL_SAME, entry(topology, "x:0"), W, &rng),
		entry(topology, "w:1"));
	assert_int_equal(rails_port(rails, RAIL_SAME, entry(topology, "w:0"), X, &rng), RAILS_NONE);
}

UNIT_TEST(spread_draws_among_the_ports_in_the_plane)
{
	OWNED(topology) *topology = parse(joined);
	OWNED(rails) *rails = rails_of(topology);
	unsigned first = 0;

	for (unsigned i = 0; i < 1000; i++) {
		uint32_t to = rails_port(rails, RAIL_SPREAD, entry(topology, "x:0"), Y, &rng);

		assert_true(to == entry(topology, "y:0") || to == entry(topology, "y:1"));
		first += to == entry(topology, "y:0");
		assert_int_equal(rails_port(rails, RAIL_SPREAD, entry(topology, "x:0"), W, &rng),
			entry(topology, "w:1"));
	}
	assert_true(first > 400 && first < 600);
	assert_int_equal(
		rails_port(rails, RAIL_SPREAD, entry(topology, "w:0"), X, &rng), RAILS_NONE);
}

UNIT_TEST(a_destination_has_one_port_and_one_port_sends_there)
{
	OWNED(topology) *topology = parse(joined);
	OWNED(rails) *rails = rails_of(topology);

	/* y is host 1, and w is host 3. */
	assert_int_equal(rails_port(rails, RAIL_DESTINATION, entry(topology, "x:1"), Y, &rng),
		entry(topology, "y:1"));
	assert_int_equal(
		rails_port(rails, RAIL_DESTINATION, entry(topology, "x:0"), Y, &rng), RAILS_NONE);
	assert_int_equal(rails_port(rails, RAIL_DESTINATION, entry(topology, "y:0"), X, &rng),
		entry(topology, "x:0"));
	assert_int_equal(rails_port(rails, RAIL_DESTINATION, entry(topology, "x:0"), STORE, &rng),
		entry(topology, "store"));
	assert_int_equal(rails_port(rails, RAIL_DESTINATION, entry(topology, "w:1"), STORE, &rng),
		entry(topology, "store"));
}

/* On separate planes, each pair of hosts has a path. */
UNIT_TEST(rules_serve_all_pairs_on_planes)
{
	OWNED(topology) *topology = topology_generate("rail:rails=3,ports=4,stages=2", NULL);
	OWNED(rails) *rails = rails_of(topology);

	for (unsigned rule = RAIL_SAME; rule < RAIL_UNSET; rule++)
		for (uint32_t from = 0; from < rails->hosts; from++)
			for (uint32_t to = 0; to < rails->hosts; to++) {
				unsigned senders = 0;

				for (unsigned rail = 0; rail < 3; rail++) {
					uint32_t by = rails->port[rails->first[from] + rail];
					uint32_t at = rails_port(
						rails, (enum rail_rule)rule, by, to, &rng);

					senders += at != RAILS_NONE;
					assert_true(at == RAILS_NONE ||
						    at == (uint32_t)topology_host_port(
								  topology, to, rail));
				}
				assert_int_equal(senders, rule == RAIL_DESTINATION ? 1 : 3);
			}
}

UNIT_TEST(flows_take_the_ports_in_turn)
{
	OWNED(topology) *topology = parse(joined);
	OWNED(rails) *rails = rails_of(topology);

	for (uint32_t turn = 0; turn < 4; turn++) {
		uint16_t from = X, to = Y;

		assert_true(rails_flow(rails, RAIL_SAME, turn, &rng, &from, &to));
		assert_string_equal(topology->host_at[from].name, turn % 2 == 0 ? "x:0" : "x:1");
		assert_string_equal(topology->host_at[to].name, turn % 2 == 0 ? "y:0" : "y:1");
		from = W;
		to = X;
		assert_true(rails_flow(rails, RAIL_SAME, turn, &rng, &from, &to));
		assert_string_equal(topology->host_at[from].name, "w:1");
	}
}
