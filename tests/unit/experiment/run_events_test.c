/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "experiment/run/run_events.h"

#include <errno.h>

#include "experiment/result/run_result_jobs.h"
#include "unit.h"

#define RUN                                     \
	"weft: run/1\n"                         \
	"topology: \"rlft:ports=4,stages=2\"\n" \
	"clock: virtual\n"                      \
	"measure: {duration: 20ms}\n"           \
	"events:\n  - "

struct planned {
	struct run_config *config;
	struct topology *topology;
	struct run_event_plan plan;
	struct error error;
	int result;
};

static struct planned make_plan(const char *event, uint64_t seed)
{
	struct planned planned = {.result = -1};
	char text[1024], set[32];
	const char *sets[] = {set};

	snprintf(text, sizeof(text), RUN "%s\n", event);
	snprintf(set, sizeof(set), "seed=%d", (int)seed);
	planned.config = run_config_parse(text, strlen(text), "run.yaml", sets, 1, &planned.error);
	if (planned.config != NULL)
		planned.topology = run_config_open_topology(planned.config, &planned.error);
	if (planned.topology != NULL)
		planned.result = run_event_plan_init(&planned.plan, planned.config,
			planned.topology, planned.config->measure.duration_ps, &planned.error);
	return planned;
}

static void drop_plan(struct planned *planned)
{
	run_event_plan_fini(&planned->plan);
	topology_destroy(planned->topology);
	run_config_destroy(planned->config);
}
#define planned_out_of_scope drop_plan

static void expect_refused(const char *event, const char *why)
{
	OWNED(planned) planned = make_plan(event, 1);

	assert_int_not_equal(planned.result, 0);
	if (strstr(planned.error.text, why) == NULL)
		fail_msg("%s: %s", event, planned.error.text);
	assert_true(strncmp(planned.error.text, "run.yaml:6:5: ", 14) == 0);
}

UNIT_TEST(an_event_needs_a_target_an_effect_and_a_time)
{
	expect_refused("{at: 1ms, down: 1us}",
		"an event requires exactly one of 'link', 'switch' and 'host'");
	expect_refused("{at: 1ms, link: h0, host: h0, down: 1us}",
		"an event requires exactly one of 'link', 'switch' and 'host'");
	expect_refused("{at: 1ms, link: h0}", "no effect");
	expect_refused("{link: h0, down: 1us}", "an event requires 'at', 'every' or 'when'");
	expect_refused("{at: 1ms, jitter: 5%, link: h0, down: 1us}", "'jitter' requires 'every'");
	expect_refused("{at: 1ms, link: h0, drain: 1Gbps}", "'drain' requires 'host'");
	expect_refused("{at: 1ms, switch: s0, rate: 1Gbps}", "'switch' requires 'down'");
	expect_refused("{at: 1ms, host: h0, rate: 1Gbps}", "'host' requires 'drain' or 'down'");
	expect_refused("{at: 1ms, link: h0, down: 1us, rate: 1Gbps}", "cannot be combined");
	expect_refused("{at: 1ms, when: {counter: data_in, above: 1}, link: h0, down: 1us}",
		"'when' cannot be combined");
	expect_refused(
		"{when: {counter: datum, above: 1}, link: h0, down: 1us}", "a switch counter");
}

UNIT_TEST(a_device_that_the_topology_does_not_have_is_refused_at_its_place)
{
	expect_refused("{at: 1ms, link: 's0:9', down: 1us}", "has no cable at 's0:9'");
	expect_refused("{at: 1ms, switch: s9, down: 1us}", "has no switch 's9'");
	expect_refused("{at: 1ms, host: h9, drain: 1Gbps}", "has no host 'h9'");
}

UNIT_TEST(too_many_repetitions_are_refused)
{
	OWNED(planned) planned = make_plan("{every: 1us, link: h0, down: 1us}", 1);

	assert_int_equal(planned.result, 0);
	assert_int_equal(planned.plan.occurrences, 19999);
	planned.config->measure.duration_ps = 2 * PS_PER_S;
	run_event_plan_fini(&planned.plan);
	assert_int_equal(run_event_plan_init(&planned.plan, planned.config, planned.topology,
				 2 * PS_PER_S, &planned.error),
		-EINVAL);
	assert_non_null(strstr(planned.error.text, "more than 1000000 would occur"));
}

UNIT_TEST(an_event_beyond_the_end_of_time_does_not_occur_before)
{
	/* 2^63 ps, whose double is 0, and the maximum. */
	static const char *const rows[] = {
		"{at: 9223372036854775808ps, every: 9223372036854775808ps, link: h0, down: 1us}",
		"{every: 18446744073709551614ps, jitter: 50%, link: h0, down: 1us}"};

	for (unsigned i = 0; i < 2; i++) {
		OWNED(planned) planned = make_plan(rows[i], 1);

		assert_int_equal(planned.result, 0);
		assert_int_equal(planned.plan.occurrences, 0);
	}
}

UNIT_TEST(acts_come_in_the_order_of_time_and_each_cut_is_joined)
{
	struct planned planned =
		make_plan("{every: 100us, jitter: 50%, link: random, down: 70us}", 3);
	uint32_t cut[64] = {0}, joined = 0;
	struct run_event_act act;
	weft_time before = 0;

	assert_int_equal(planned.result, 0);
	while (run_event_plan_take(&planned.plan, WEFT_TIME_NEVER - 1, &act)) {
		assert_true(act.at_ps >= before);
		before = act.at_ps;
		assert_true(act.ends ? cut[act.target]-- > 0 : ++cut[act.target] > 0);
		joined += act.ends;
		assert_int_equal(planned.topology->link_at[act.target].a.kind |
					 planned.topology->link_at[act.target].b.kind,
			DEVICE_SWITCH);
	}
	assert_int_equal(joined, planned.plan.occurrences);
	assert_true(joined > 150);
	assert_int_equal(run_event_plan_due(&planned.plan), WEFT_TIME_NEVER);
	drop_plan(&planned);
}

static void note_warning(void *ctx, const char *text)
{
	strcat(ctx, text);
	strcat(ctx, "; ");
}

UNIT_TEST(an_event_that_was_not_taken_before_the_end_is_named)
{
	char warnings[256] = "";
	struct run_event_act act;
	OWNED(planned) planned = make_plan(
		"{at: 1us, link: s0:2, down: 1us}\n  - {at: 100s, link: s0:2, down: forever}", 1);

	assert_int_equal(planned.result, 0);
	while (run_event_plan_take(&planned.plan, WEFT_TIME_NEVER - 1, &act))
		;
	run_event_plan_warn(&planned.plan, note_warning, warnings);
	assert_string_equal(warnings, "events[1] did not occur before the end; ");
}

UNIT_TEST(the_seed_alone_decides_what_is_drawn)
{
	static const char text[] = "{every: 100us, jitter: 50%, link: random, down: 7us}";
	struct planned one = make_plan(text, 3), same = make_plan(text, 3),
		       other = make_plan(text, 4);
	size_t bytes = one.plan.acts * sizeof(*one.plan.act);

	assert_int_equal(one.plan.acts, same.plan.acts);
	assert_memory_equal(one.plan.act, same.plan.act, bytes);
	assert_true(one.plan.acts != other.plan.acts ||
		    memcmp(one.plan.act, other.plan.act, bytes) != 0);
	drop_plan(&one);
	drop_plan(&same);
	drop_plan(&other);
}

UNIT_TEST(an_event_that_was_triggered_ends_among_planned_acts)
{
	struct planned planned =
		make_plan("{when: {counter: data_in, above: 9}, link: h0, down: 2ms}\n"
			  "  - {every: 1ms, link: h1, down: 1us}",
			1);
	weft_time before = 0;
	struct run_event_act act;
	unsigned acts = 0;

	assert_true(run_event_plan_waits(&planned.plan, 0));
	assert_false(run_event_plan_waits(&planned.plan, 1));
	while (run_event_plan_take(&planned.plan, 5 * PS_PER_MS, &act))
		acts++;
	assert_int_equal(run_event_plan_trigger(&planned.plan, 0, 5 * PS_PER_MS), 0);
	assert_false(run_event_plan_waits(&planned.plan, 0));
	while (run_event_plan_take(&planned.plan, PS_PER_S, &act)) {
		assert_true(act.at_ps >= before);
		before = act.at_ps;
		acts++;
	}
	assert_int_equal(acts, 2 * 19 + 2);
	drop_plan(&planned);
}

/* --- results --- */

static void add_samples(struct run_result *result, const double *accepted, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct run_sample *sample = run_result_add_sample(result);

		sample->t_ns = 1000 * (i + 1);
		sample->accepted = accepted[i];
	}
}

UNIT_TEST(recovery_is_the_end_of_the_first_sample_with_the_throughput_of_before)
{
	static const double accepted[] = {0.5, 0.5, 0.2, 0.6, 0.4, 0.6, 0.6};
	OWNED(run_result) result = {.seed = 1};
	struct run_result_event *event = run_result_add_event(&result);

	event->at_ps = 2 * PS_PER_US;
	add_samples(&result, accepted, 7);
	assert_int_equal(run_result_event_recovery(&result, 0), 2 * PS_PER_US);
	/* The next event is earlier, and no sample lies between the two. */
	event = run_result_add_event(&result);
	event->at_ps = 3 * PS_PER_US;
	assert_int_equal(run_result_event_recovery(&result, 0), WEFT_TIME_NEVER);
	assert_int_equal(run_result_event_recovery(&result, 1), WEFT_TIME_NEVER);
	result.event[1].at_ps = 4 * PS_PER_US;
	assert_int_equal(run_result_event_recovery(&result, 0), 2 * PS_PER_US);
	assert_int_equal(run_result_event_recovery(&result, 1), 2 * PS_PER_US);
}

/* A burst of other traffic hides the loss. */
UNIT_TEST(throughput_does_not_recover_before_a_cut_is_detected)
{
	static const double accepted[] = {0.5, 0.5, 0.2, 0.6, 0.4, 0.6, 0.6};
	OWNED(run_result) result = {.seed = 1};
	struct run_result_event *event = run_result_add_event(&result);

	event->at_ps = 2 * PS_PER_US;
	event->detect_ps = 2500 * PS_PER_NS;
	add_samples(&result, accepted, 7);
	assert_int_equal(run_result_event_recovery(&result, 0), 4 * PS_PER_US);
}

UNIT_TEST(recovery_without_a_sample_before_the_event_is_unknown)
{
	static const double accepted[] = {0.5, 0.5};
	OWNED(run_result) result = {.seed = 1};

	run_result_add_event(&result)->at_ps = 500 * PS_PER_NS;
	add_samples(&result, accepted, 2);
	assert_int_equal(run_result_event_recovery(&result, 0), WEFT_TIME_NEVER);
}
