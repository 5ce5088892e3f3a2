/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The points that 'weft sweep' makes from --vary and --seeds. */

#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "sweep_plan.h"

/* The values of one --vary, joined by blanks. */
static void assert_values(const char *text, const char *values)
{
	struct sweep_vary vary;
	struct fault fault;
	char joined[512] = "";

	assert_int_equal(sweep_vary_parse(&vary, text, &fault), 0);
	for (unsigned i = 0; i < vary.count; i++) {
		strcat(joined, i > 0 ? " " : "");
		strcat(joined, vary.value[i]);
	}
	assert_string_equal(joined, values);
	sweep_vary_fini(&vary);
}

static void assert_refused(const char *text, const char *message)
{
	struct sweep_vary vary;
	struct fault fault;

	assert_int_equal(sweep_vary_parse(&vary, text, &fault), -EINVAL);
	assert_string_equal(fault.text, message);
	sweep_vary_fini(&vary);
}

UNIT_TEST(a_list_is_taken_as_it_stands)
{
	assert_values("routing.algorithm=ud,dmodk", "ud dmodk");
	assert_values("switch.voq=true", "true");
	assert_values("a=10%,5%,7.5%", "10% 5% 7.5%");
}

UNIT_TEST(a_range_counts_with_its_unit)
{
	assert_values("a=10%:50%:20%", "10% 30% 50%");
	assert_values("a=2.5%:10%:2.5%", "2.5% 5% 7.5% 10%");
	assert_values("a=1:4:1", "1 2 3 4");
	assert_values("a=512KiB:1536KiB:0.5MiB", "512KiB 1MiB 1.5MiB");
	assert_values("a=500ns:2us:500ns", "500ns 1us 1.5us 2us");
}

UNIT_TEST(a_range_ends_at_or_below_its_end)
{
	assert_values("a=10%:55%:20%", "10% 30% 50%");
	assert_values("a=5:5:1", "5");
	assert_values("a=18446744073709551614:18446744073709551615:1",
		"18446744073709551614 18446744073709551615");
}

UNIT_TEST(values_and_ranges_stand_in_one_list)
{
	assert_values("a=1%,10%:30%:10%,95%", "1% 10% 20% 30% 95%");
}

UNIT_TEST(commas_inside_a_value_do_not_separate)
{
	assert_values("traffic[0].to=[h1,h2],[h3]", "[h1,h2] [h3]");
	assert_values("a=\"x,y\",'u,v'", "\"x,y\" 'u,v'");
	assert_values("topology=rlft:ports=4,stages=2,torus:dims=4x4,hosts=2,cplant,t.yaml",
		"rlft:ports=4,stages=2 torus:dims=4x4,hosts=2 cplant t.yaml");
}

UNIT_TEST(a_bad_vary_says_what_was_expected)
{
	assert_refused("load", "--vary load: expected KEY=A,B,C or KEY=LO:HI:STEP");
	assert_refused("=1", "--vary =1: expected KEY=A,B,C or KEY=LO:HI:STEP");
	assert_refused("a=", "--vary a: an empty value");
	assert_refused("a=1,,2", "--vary a: an empty value");
	assert_refused("a=1,2,1", "--vary a: '1' stands there twice");
	assert_refused("a=1:3:0", "--vary a: '1:3:0': counts up from LO to HI by a STEP above 0");
	assert_refused("a=3:1:1", "--vary a: '3:1:1': counts up from LO to HI by a STEP above 0");
	assert_refused("a=0:1000000:1", "--vary a: more than 10000 values");
	for (unsigned i = 0; i < 4; i++) {
		static const char *const bad[] = {"1:3", "1%:3:1", "1%:3ns:1%", "1:3:1:1"};
		char text[64], message[256];

		snprintf(text, sizeof(text), "a=%s", bad[i]);
		snprintf(message, sizeof(message),
			"--vary a: '%s': expected LO:HI:STEP, three numbers with the same kind of "
			"unit or none, such as 10%%:100%%:10%%",
			bad[i]);
		assert_refused(text, message);
	}
}

UNIT_TEST(seeds_are_a_range_or_one)
{
	struct fault fault;
	uint64_t first;
	unsigned count;

	assert_int_equal(sweep_seeds_parse("3:7", &first, &count, &fault), 0);
	assert_int_equal(first, 3);
	assert_int_equal(count, 5);
	assert_int_equal(sweep_seeds_parse("42", &first, &count, &fault), 0);
	assert_int_equal(first, 42);
	assert_int_equal(count, 1);
	assert_int_equal(sweep_seeds_parse("7:3", &first, &count, &fault), -EINVAL);
	assert_int_equal(sweep_seeds_parse("a:3", &first, &count, &fault), -EINVAL);
	assert_int_equal(sweep_seeds_parse("1:", &first, &count, &fault), -EINVAL);
	assert_int_equal(sweep_seeds_parse("1:3:1", &first, &count, &fault), -EINVAL);
}

static void make(struct sweep_plan *plan, const char *a, const char *b, unsigned seeds)
{
	struct fault fault;

	*plan = (struct sweep_plan){.first_seed = 5, .seeds = seeds};
	assert_int_equal(sweep_plan_add(plan, a, &fault), 0);
	if (b != NULL)
		assert_int_equal(sweep_plan_add(plan, b, &fault), 0);
	assert_int_equal(sweep_plan_finish(plan, &fault), 0);
}

UNIT_TEST(the_product_counts_like_digits_and_seeds_last)
{
	static const char *const order[] = {"voq=true, load=10%, seed=5",
		"voq=true, load=10%, seed=6", "voq=true, load=20%, seed=5",
		"voq=true, load=20%, seed=6", "voq=true, load=30%, seed=5",
		"voq=true, load=30%, seed=6", "voq=false, load=10%, seed=5",
		"voq=false, load=10%, seed=6", "voq=false, load=20%, seed=5",
		"voq=false, load=20%, seed=6", "voq=false, load=30%, seed=5",
		"voq=false, load=30%, seed=6"};
	char label[SWEEP_LABEL_MAX];
	struct sweep_plan plan;

	make(&plan, "switch.voq=true,false", "traffic[0].load=10%:30%:10%", 2);
	assert_int_equal(plan.points, 12);
	for (unsigned i = 0; i < plan.points; i++) {
		sweep_plan_label(&plan, i, label);
		assert_string_equal(label, order[i]);
	}
	sweep_plan_fini(&plan);
}

UNIT_TEST(names_of_points_are_plain_short_and_unlike)
{
	char name[SWEEP_NAME_MAX], text[700] = "traffic.0.to=";
	struct sweep_plan plan;

	make(&plan, "traffic.0.load=5%:60%:5%", "traffic.1.load=1%", 0);
	sweep_plan_name(&plan, 2, name);
	assert_string_equal(name, "02_traffic.0.load=15%_traffic.1.load=1%");
	sweep_plan_fini(&plan);
	memset(text + 13, 'h', 600);
	strcpy(text + 613, ",[h/1 h2]");
	make(&plan, text, NULL, 0);
	sweep_plan_name(&plan, 0, name);
	assert_true(strlen(name) + strlen(".json.part") < SWEEP_NAME_MAX);
	sweep_plan_name(&plan, 1, name);
	assert_string_equal(name, "1_to=-h-1-h2-");
	sweep_plan_fini(&plan);
}

UNIT_TEST(one_key_has_one_name)
{
	struct sweep_plan plan = {.varies = 0};
	struct fault fault;

	assert_int_equal(sweep_plan_add(&plan, "traffic[0].load=10%", &fault), 0);
	assert_int_equal(sweep_plan_add(&plan, "traffic.0.load=20%", &fault), -EINVAL);
	assert_string_equal(fault.text,
		"--vary traffic.0.load: that key is varied already; put all "
		"its values into one --vary");
	sweep_plan_fini(&plan);
}

UNIT_TEST(too_many_points_are_refused_before_they_overflow)
{
	struct sweep_plan plan = {.varies = 0};
	struct fault fault;
	char text[32];

	for (unsigned i = 0; i < SWEEP_KEYS_MAX; i++) {
		snprintf(text, sizeof(text), "k%u=1:10000:1", i);
		assert_int_equal(sweep_plan_add(&plan, text, &fault), 0);
	}
	assert_int_equal(sweep_plan_finish(&plan, &fault), -EINVAL);
	assert_string_equal(fault.text, "more than 100000 points are too many");
	assert_int_equal(sweep_plan_add(&plan, "k=1", &fault), -EINVAL);
	sweep_plan_fini(&plan);
}

UNIT_MAIN(NULL, NULL)
