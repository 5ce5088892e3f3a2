/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The summary of the processes' answers about the mapper that 'weft lab' creates. */

#include "unit.h"

#include "lab/lab_mapping.h"

static json_t *add_mapper(json_t *mapping, const char *host, const char *state, int switches)
{
	json_t *mapper = json_pack("{s:s, s:s, s:s, s:i}", "host", host, "state", state, "fault",
		"", "switches", switches);

	assert_non_null(mapper);
	json_array_append_new(json_object_get(mapping, "mappers"), mapper);
	return mapper;
}

static json_t *add_agent(json_t *mapping, const char *device, const char *follows)
{
	json_t *agent = json_pack("{s:s, s:s, s:i, s:b, s:b}", "device", device, "follows", follows,
		"epoch", 3, "paused", 0, "tables_refused", 0);

	assert_non_null(agent);
	json_array_append_new(json_object_get(mapping, "agents"), agent);
	return agent;
}

/* h1 leads and is followed. */
static json_t *whole(json_t **mapper, json_t **agent)
{
	json_t *mapping = lab_mapping_create();

	assert_non_null(mapping);
	*mapper = add_mapper(mapping, "h1", "leading", 2);
	add_mapper(mapping, "h2", "standing-by", 0);
	add_agent(mapping, "h1", "h1");
	*agent = add_agent(mapping, "s0", "h1");
	return mapping;
}

/* Changes one value of a device. The reason must name it. */
static void expect_not_done(const char *key, json_t *value, const char *reason)
{
	json_t *mapper, *agent, *mapping = whole(&mapper, &agent);
	struct error why = {""};

	assert_true(lab_mapping_done(mapping, true, 1, &why));
	json_object_set_new(agent, key, value);
	assert_false(lab_mapping_done(mapping, true, 1, &why));
	assert_non_null(strstr(why.text, "s0"));
	assert_non_null(strstr(why.text, reason));
	json_decref(mapping);
}

UNIT_TEST(a_device_that_does_not_use_its_tables_is_named)
{
	expect_not_done("follows", json_string("h2"), "does not follow h1");
	expect_not_done("paused", json_true(), "paused");
	expect_not_done("epoch", json_integer(0), "no tables");
	expect_not_done("tables_refused", json_true(), "cannot use its latest tables");
}

UNIT_TEST(a_mapper_leads_from_its_first_probe_on)
{
	static const char *const names[] = {
		"listening", "standing-by", "mapping", "distributing", "leading"};
	json_t *mapper, *agent, *mapping = whole(&mapper, &agent);

	for (unsigned i = 0; i < 5; i++) {
		json_object_set_new(mapper, "state", json_string(names[i]));
		assert_int_equal(lab_mapping_leads(mapper), i >= 2);
		assert_int_equal(lab_mapping_done(mapping, true, 1, &(struct error){""}), i == 4);
	}
	/* The meaning of a state that this version does not know is unknown. */
	json_object_set_new(mapper, "state", json_string("dreaming"));
	assert_false(lab_mapping_leads(mapper));
	json_decref(mapping);
}

UNIT_TEST(a_mapper_that_is_about_to_change_routes_is_not_done)
{
	json_t *mapper, *agent, *mapping = whole(&mapper, &agent);
	struct error why = {""};

	json_object_set_new(mapper, "changing", json_true());
	assert_false(lab_mapping_done(mapping, true, 1, &why));
	assert_string_equal(why.text, "mapper h1 is still changing routes");
	json_object_set_new(mapper, "changing", json_false());
	assert_true(lab_mapping_done(mapping, true, 1, &why));
	json_decref(mapping);
}

UNIT_TEST(of_two_who_lead_the_greater_part_has_the_mapper)
{
	json_t *mapper, *agent, *mapping = whole(&mapper, &agent);
	struct error why = {""};

	add_mapper(mapping, "h5", "leading", 7);
	assert_int_equal(lab_mapping_leaders(mapping), 2);
	assert_string_equal(
		json_string_value(json_object_get(lab_mapping_leader(mapping), "host")), "h5");
	assert_false(lab_mapping_done(mapping, true, 1, &why));
	assert_non_null(strstr(why.text, "into parts"));
	json_decref(mapping);
}

UNIT_TEST(each_plane_has_a_mapper_that_leads)
{
	json_t *mapper, *agent, *mapping = whole(&mapper, &agent), *other;
	struct error why = {""};

	other = add_mapper(mapping, "h1:1", "leading", 2);
	add_agent(mapping, "s1", "h1:1");
	assert_true(lab_mapping_done(mapping, true, 2, &why));
	assert_string_equal(lab_text(lab_mapping_leader_of(mapping, "s1"), "host"), "h1:1");
	assert_string_equal(lab_text(lab_mapping_leader_of(mapping, "s0"), "host"), "h1");
	json_object_set_new(other, "state", json_string("mapping"));
	assert_false(lab_mapping_done(mapping, true, 2, &why));
	json_object_set_new(other, "state", json_string("listening"));
	assert_false(lab_mapping_done(mapping, true, 2, &why));
	assert_string_equal(why.text, "s1 does not follow h1");
	json_decref(mapping);
}

UNIT_TEST(where_the_mapper_is_elsewhere_all_here_follow_one)
{
	json_t *mapping = lab_mapping_create();
	struct error why = {""};

	add_agent(mapping, "s0", "h9");
	add_agent(mapping, "s1", "h9");
	assert_true(lab_mapping_done(mapping, false, 1, &why));
	assert_false(lab_mapping_done(mapping, true, 1, &why));
	add_agent(mapping, "s2", "h8");
	assert_false(lab_mapping_done(mapping, false, 1, &why));
	assert_non_null(strstr(why.text, "s2"));
	json_decref(mapping);
}

UNIT_TEST(a_mapper_elsewhere_is_known_by_those_who_follow_it)
{
	json_t *mapping = lab_mapping_create(), *elsewhere = json_pack("[s, s]", "s2", "h9");
	json_t *first = add_agent(mapping, "s0", "h9");
	json_t *second = add_agent(mapping, "s1", "h9");
	struct error why = {""};
	struct lab_lead lead;

	add_mapper(mapping, "h1", "standing-by", 0);
	json_object_set_new(first, "heard_ns", json_integer(700000000));
	json_object_set_new(first, "silent", json_true());
	json_object_set_new(second, "heard_ns", json_integer(900000000));
	lead = lab_mapping_lead(mapping, elsewhere);
	assert_string_equal(lead.host, "h9");
	assert_true(lead.elsewhere && !lead.silent);
	assert_int_equal(lead.epoch, 3);
	assert_int_equal(lead.heard_ns, 700000000);
	assert_true(lab_lead_lives(&lead, &why));
	/* No process here receives its heartbeats any longer. */
	json_object_set_new(second, "silent", json_true());
	lead = lab_mapping_lead(mapping, elsewhere);
	assert_string_equal(lead.host, "h9");
	assert_false(lab_lead_lives(&lead, &why));
	assert_string_equal(why.text,
		"mapper h9 on another machine was last heard from 0.7 s ago; is it running, and is there a "
		"path to it?");
	json_decref(elsewhere);
	json_decref(mapping);
}

UNIT_TEST(a_mapper_here_that_is_gone_is_not_elsewhere)
{
	json_t *mapping = lab_mapping_create(), *elsewhere = json_pack("[s]", "h9");
	struct error why = {""};
	struct lab_lead lead;

	add_agent(mapping, "s0", "h1");
	lead = lab_mapping_lead(mapping, elsewhere);
	assert_null(lead.host);
	assert_false(lead.elsewhere);
	assert_false(lab_lead_lives(&lead, &why));
	assert_string_equal(why.text, "no mapper leads");
	json_decref(elsewhere);
	json_decref(mapping);
}

UNIT_TEST(a_mapper_here_leads_whatever_others_follow)
{
	json_t *mapper, *agent, *mapping = whole(&mapper, &agent);
	json_t *elsewhere = json_pack("[s]", "h9");
	struct lab_lead lead;

	json_object_set_new(agent, "follows", json_string("h9"));
	json_object_set_new(mapper, "epoch", json_integer(8));
	lead = lab_mapping_lead(mapping, elsewhere);
	assert_string_equal(lead.host, "h1");
	assert_false(lead.elsewhere);
	assert_int_equal(lead.epoch, 8);
	json_decref(elsewhere);
	json_decref(mapping);
}

UNIT_TEST(devices_that_follow_nobody_have_no_mapper_anywhere)
{
	json_t *mapping = lab_mapping_create();
	struct error why = {""};

	add_agent(mapping, "s0", "");
	assert_false(lab_mapping_done(mapping, false, 1, &why));
	assert_string_equal(
		why.text, "no mapper leads here, and none on another machine was detected");
	json_decref(mapping);
}

UNIT_TEST(a_host_without_routes_to_all_others_is_named)
{
	OWNED(topology) *four = topology_generate("rlft:ports=4,stages=1", NULL);
	OWNED(topology) *rails = topology_generate("rail:rails=2,ports=4,stages=1", NULL);
	json_t *mapping = lab_mapping_create(), *host;
	struct error why = {""};

	json_object_set_new(add_agent(mapping, "s0", "h9"), "reached", json_null());
	host = add_agent(mapping, "h1", "h9");
	json_object_set_new(host, "reached", json_integer(3));
	assert_true(lab_mapping_reaches(mapping, four, &why));
	json_object_set_new(host, "reached", json_integer(1));
	assert_false(lab_mapping_reaches(mapping, four, &why));
	assert_string_equal(why.text, "h1 has routes to 1 of 3 other hosts");
	/* Eight ports, four in each plane. */
	json_object_set_new(host, "device", json_string("h1:1"));
	assert_false(lab_mapping_reaches(mapping, rails, &why));
	json_object_set_new(host, "reached", json_integer(3));
	assert_true(lab_mapping_reaches(mapping, rails, &why));
	json_decref(mapping);
}
