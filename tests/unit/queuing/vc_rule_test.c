/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The class in which a packet continues, with and without steps. */

#include "queuing/vc_rule.h"

#include "unit.h"

/* Ports 0 and 1 belong to ring 0, 2 and 3 to ring 1. Ports 1 and 3 lead over datelines, and 4 is a
 * host's. */
#define HOST 4

static struct vc_rule *rule(unsigned classes, enum vc_steps steps)
{
	struct vc_rule *made = vc_rule_create(1, (uint8_t)classes);

	assert_non_null(made);
	made->steps = steps;
	for (unsigned port = 0; port < 4; port++)
		made->ring[port] = (uint8_t)(port / 2);
	made->dateline[0] = 1 << 1 | 1 << 3;
	return made;
}

struct step {
	unsigned input, from, output;
	enum vc_turn turn;
	unsigned next;
};

static void check(unsigned classes, enum vc_steps steps, const struct step *step, unsigned count)
{
	struct vc_rule *made = rule(classes, steps);

	for (unsigned i = 0; i < count; i++)
		if (vc_rule_next(made, 0, step[i].input, (uint8_t)step[i].from, step[i].output,
			    step[i].turn) != step[i].next)
			fail_msg("row %u: class %u, expected %u", i,
				vc_rule_next(made, 0, step[i].input, (uint8_t)step[i].from,
					step[i].output, step[i].turn),
				step[i].next);
	vc_rule_destroy(made);
}

#define CHECK(classes, steps, rows) check(classes, steps, rows, sizeof(rows) / sizeof((rows)[0]))

UNIT_TEST(without_steps_a_dateline_leads_to_the_next_class_and_a_ring_to_the_first)
{
	static const struct step rows[] = {
		{HOST, 0, 0, VC_GO_ON, 0},
		{HOST, 0, 1, VC_GO_ON, 1},
		{0, 0, 0, VC_GO_ON, 0},
		{0, 1, 0, VC_GO_ON, 1},
		{0, 1, 2, VC_GO_ON, 0},
		{0, 1, 3, VC_GO_ON, 1},
		{0, 1, 1, VC_GO_ON, 1},
		{0, 1, HOST, VC_GO_ON, 0},
	};

	CHECK(2, VC_STEPS_NONE, rows);
}

UNIT_TEST(without_a_layout_next_step_changes_nothing)
{
	static const struct step rows[] = {
		{HOST, 0, 0, VC_STEP_AHEAD, 0},
		{0, 1, 0, VC_NEXT_STEP, 1},
		{0, 1, 2, VC_NEXT_STEP, 0},
	};

	CHECK(2, VC_STEPS_NONE, rows);
}

UNIT_TEST(a_first_link_has_class_0_and_any_other_path_begins_in_the_middle)
{
	static const struct step rows[] = {
		{HOST, 0, 0, VC_STEP_AHEAD, 0},
		{HOST, 0, 1, VC_STEP_AHEAD, 0}, /* a dateline does not matter there */
		{HOST, 0, 0, VC_GO_ON, 1},
		{HOST, 0, 1, VC_GO_ON, 2},
		{HOST, 0, HOST, VC_GO_ON, 0},
	};

	CHECK(4, VC_STEPS_LINKS, rows);
}

UNIT_TEST(after_a_first_link_the_middle_step_begins_and_after_that_the_last)
{
	static const struct step rows[] = {
		{0, 0, 0, VC_NEXT_STEP, 1},
		{0, 0, 2, VC_NEXT_STEP, 1},
		{0, 0, 3, VC_NEXT_STEP, 2},
		{0, 1, 0, VC_NEXT_STEP, 3},
		{0, 2, 0, VC_NEXT_STEP, 3},
		{0, 2, 3, VC_NEXT_STEP, 3}, /* one class, also over a dateline */
		{0, 3, 2, VC_GO_ON, 3},
		{0, 3, 2, VC_NEXT_STEP, 3},
	};

	CHECK(4, VC_STEPS_LINKS, rows);
}

UNIT_TEST(within_the_middle_step_rings_and_datelines_count)
{
	static const struct step rows[] = {
		{0, 1, 0, VC_GO_ON, 1}, {0, 1, 1, VC_GO_ON, 2}, {0, 2, 0, VC_GO_ON, 2},
		{0, 2, 2, VC_GO_ON, 1}, {0, 2, 3, VC_GO_ON, 2},
		{0, 1, 0, VC_STEP_AHEAD, 1}, /* only a host's switch looks ahead */
	};

	CHECK(4, VC_STEPS_LINKS, rows);
}

UNIT_TEST(a_mesh_has_a_class_for_each_step)
{
	static const struct step rows[] = {
		{HOST, 0, 0, VC_GO_ON, 1},
		{HOST, 0, 0, VC_STEP_AHEAD, 0},
		{0, 0, 0, VC_NEXT_STEP, 1},
		{0, 1, 2, VC_GO_ON, 1},
		{0, 1, 2, VC_NEXT_STEP, 2},
	};

	CHECK(3, VC_STEPS_LINKS, rows);
}

UNIT_TEST(equal_steps_have_as_many_classes_each_and_begin_in_the_first)
{
	static const struct step rows[] = {
		{HOST, 0, 0, VC_GO_ON, 0},
		{HOST, 0, 1, VC_STEP_AHEAD, 1},
		{0, 1, 0, VC_GO_ON, 1},
		{0, 1, 2, VC_GO_ON, 0},
		{0, 1, 0, VC_NEXT_STEP, 2},
		{0, 0, 3, VC_NEXT_STEP, 3},
		{0, 3, 0, VC_GO_ON, 3},
		{0, 3, 2, VC_GO_ON, 2},
		{0, 3, 1, VC_NEXT_STEP, 5},
		{0, 5, 0, VC_GO_ON, 5},
		{0, 5, 0, VC_NEXT_STEP, 5},
		{0, 5, 2, VC_GO_ON, 4},
	};

	CHECK(6, VC_STEPS_EQUAL, rows);
}

/* From a neighbour that does not follow the rule. */
UNIT_TEST(whatever_class_comes_in_a_class_of_the_rule_goes_out)
{
	static const unsigned classes[VC_STEPS_COUNT] = {
		2, 4, 6, 2, 3, 4, 3, 4, 3, 4, 4, 5, 3, 4, 4};

	for (unsigned steps = 0; steps < VC_STEPS_COUNT; steps++) {
		struct vc_rule *made = rule(classes[steps], steps);

		for (unsigned input = 0; input <= HOST; input++)
			for (unsigned output = 0; output <= HOST; output++)
				for (unsigned from = 0; from < 16; from++)
					for (unsigned turn = 0; turn < VC_RULE_CLASSES_MAX; turn++)
						assert_true(
							vc_rule_next(made, 0, input, (uint8_t)from,
								output, turn) < made->classes);
		vc_rule_destroy(made);
	}
}

UNIT_TEST(a_packet_stays_in_the_layer_of_its_first_hop)
{
	struct vc_rule *made = rule(4, VC_STEPS_LAYERS);

	for (uint8_t layer = 0; layer < 4; layer++) {
		assert_int_equal(layer,
			vc_rule_next(made, 0, HOST, 0, 0, vc_turn_of(ROUTE_TYPE_LAYER + layer)));
		assert_int_equal(layer, vc_rule_next(made, 0, 0, layer, 1, VC_GO_ON));
	}
	vc_rule_destroy(made);
}

UNIT_TEST(a_layout_fits_a_number_of_classes_that_it_can_divide)
{
	for (unsigned classes = 0; classes <= VC_RULE_CLASSES_MAX; classes++) {
		assert_true(vc_steps_fit(VC_STEPS_NONE, classes));
		assert_true(vc_steps_fit(VC_STEPS_LINKS, classes) == (classes >= 3));
		assert_true(
			vc_steps_fit(VC_STEPS_EQUAL, classes) == (classes == 3 || classes == 6));
	}
	assert_false(vc_steps_fit(VC_STEPS_COUNT, 6));
	assert_true(vc_steps_fit(VC_STEPS_DF_MIN, 2));
	assert_false(vc_steps_fit(VC_STEPS_DF_MIN, 1));
	assert_true(vc_steps_fit(VC_STEPS_DF_PAR, 4));
	assert_true(vc_steps_fit(VC_STEPS_OMNI_WAR, 1));
	assert_false(vc_steps_fit(VC_STEPS_OMNI_WAR, 0));
	assert_true(vc_steps_fit(VC_STEPS_DAL, 3));
	assert_true(vc_steps_fit(VC_STEPS_UGAL, 2));
	assert_false(vc_steps_fit(VC_STEPS_UGAL, 3));
}

UNIT_TEST(a_copy_has_the_same_steps_and_a_rule_with_others_differs)
{
	struct vc_rule *made = rule(3, VC_STEPS_LINKS), *copy = vc_rule_copy(made);

	assert_true(vc_rule_equal(made, copy));
	copy->steps = VC_STEPS_EQUAL;
	assert_false(vc_rule_equal(made, copy));
	vc_rule_destroy(copy);
	vc_rule_destroy(made);
}
