/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* What 'weft lab' makes of what the processes say about the mapper. */

#include "unit.h"

#include <string.h>

#include "lab_mapping.h"

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

/* With one thing of a device changed, which the reason names. */
static void expect_not_done(const char *key, json_t *value, const char *reason)
{
	json_t *mapper, *agent, *mapping = whole(&mapper, &agent);
	struct fault why = {""};

	assert_true(lab_mapping_done(mapping, true, &why));
	json_object_set_new(agent, key, value);
	assert_false(lab_mapping_done(mapping, true, &why));
	assert_non_null(strstr(why.text, "s0"));
	assert_non_null(strstr(why.text, reason));
	json_decref(mapping);
}

static void a_device_that_does_not_use_its_tables_is_named(void **state)
{
	expect_not_done("follows", json_string("h2"), "does not follow h1");
	expect_not_done("paused", json_true(), "paused");
	expect_not_done("epoch", json_integer(0), "no tables");
	expect_not_done("tables_refused", json_true(), "cannot use its last tables");
}

static void a_mapper_leads_from_its_first_probe_on(void **state)
{
	static const char *const names[] = {
		"listening", "standing-by", "mapping", "distributing", "leading"};
	json_t *mapper, *agent, *mapping = whole(&mapper, &agent);

	for (unsigned i = 0; i < 5; i++) {
		json_object_set_new(mapper, "state", json_string(names[i]));
		assert_int_equal(lab_mapping_leads(mapper), i >= 2);
		assert_int_equal(lab_mapping_done(mapping, true, &(struct fault){""}), i == 4);
	}
	/* Nobody can say what a state means that is not known here. */
	json_object_set_new(mapper, "state", json_string("dreaming"));
	assert_false(lab_mapping_leads(mapper));
	json_decref(mapping);
}

static void a_mapper_that_is_about_to_change_routes_is_not_done(void **state)
{
	json_t *mapper, *agent, *mapping = whole(&mapper, &agent);
	struct fault why = {""};

	json_object_set_new(mapper, "changing", json_true());
	assert_false(lab_mapping_done(mapping, true, &why));
	assert_string_equal(why.text, "mapper h1 has routes to change");
	json_object_set_new(mapper, "changing", json_false());
	assert_true(lab_mapping_done(mapping, true, &why));
	json_decref(mapping);
}

static void of_two_who_lead_the_greater_part_has_the_mapper(void **state)
{
	json_t *mapper, *agent, *mapping = whole(&mapper, &agent);
	struct fault why = {""};

	add_mapper(mapping, "h5", "leading", 7);
	assert_int_equal(lab_mapping_leaders(mapping), 2);
	assert_string_equal(
		json_string_value(json_object_get(lab_mapping_leader(mapping), "host")), "h5");
	assert_false(lab_mapping_done(mapping, true, &why));
	assert_non_null(strstr(why.text, "in parts"));
	json_decref(mapping);
}

static void where_the_mapper_is_elsewhere_all_here_follow_one(void **state)
{
	json_t *mapping = lab_mapping_create();
	struct fault why = {""};

	add_agent(mapping, "s0", "h9");
	add_agent(mapping, "s1", "h9");
	assert_true(lab_mapping_done(mapping, false, &why));
	assert_false(lab_mapping_done(mapping, true, &why));
	add_agent(mapping, "s2", "h8");
	assert_false(lab_mapping_done(mapping, false, &why));
	assert_non_null(strstr(why.text, "s2"));
	json_decref(mapping);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_does_not_use_its_tables_is_named),
		cmocka_unit_test(a_mapper_leads_from_its_first_probe_on),
		cmocka_unit_test(a_mapper_that_is_about_to_change_routes_is_not_done),
		cmocka_unit_test(of_two_who_lead_the_greater_part_has_the_mapper),
		cmocka_unit_test(where_the_mapper_is_elsewhere_all_here_follow_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
