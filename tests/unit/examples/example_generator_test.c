/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The example of docs/developer/extending.md, example_generator.c, generates what the page
 * claims. */

#include "topo/generator.h"
#include "topology_walk.h"

extern const struct generator generator_star;

static struct topology *star(const char *spec, struct error *error)
{
	struct topology *topology = NULL;

	generator_run_kind(&generator_star, spec, NULL, &topology, error);
	return topology;
}

UNIT_TEST(leaves_with_hosts_stand_around_a_switch_without)
{
	struct error error = {""};
	OWNED(topology) *topology = star("star:leaves=5,hosts=3", &error);

	assert_string_equal(error.text, "");
	assert_string_equal(topology->name, "star-5-3");
	assert_int_equal(topology->switches, 6);
	assert_int_equal(topology->hosts, 15);
	assert_int_equal(walk_degree(topology, 0, DEVICE_SWITCH), 5);
	assert_int_equal(walk_degree(topology, 0, DEVICE_HOST), 0);
	for (uint32_t leaf = 1; leaf < 6; leaf++) {
		assert_int_equal(walk_links(topology, 0, leaf), 1);
		assert_int_equal(walk_degree(topology, leaf, DEVICE_HOST), 3);
	}
	assert_int_equal(0, topology_check_connected(topology, "test", NULL));
}

UNIT_TEST(port_i_of_the_middle_leads_to_leaf_i_plus_1)
{
	OWNED(topology) *topology = star("star:leaves=64", NULL);

	assert_non_null(topology);
	for (uint8_t i = 0; i < 64; i++) {
		struct topology_port peer;

		assert_true(topology_peer(
			topology, (struct topology_port){DEVICE_SWITCH, 0, i}, &peer));
		assert_int_equal(peer.device, i + 1);
		assert_int_equal(peer.port, 0);
	}
}

UNIT_TEST(what_cannot_be_built_is_refused)
{
	struct error error = {""};

	assert_null(star("star:hosts=2", &error));
	assert_string_equal(error.text, "star:hosts=2: option 'leaves' is missing (leaf switches)");
	assert_null(star("star:leaves=2,hosts=255", &error));
	assert_string_equal(error.text,
		"star:leaves=2,hosts=255: needs 256 ports per switch; the maximum is 255");
}
