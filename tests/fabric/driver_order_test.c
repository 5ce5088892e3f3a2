/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Checks that both clocks have the same data plane. Each switch of a virtual fabric is replayed
 * under the poll driver: it gets the same input in the same order. Every frame and every
 * notification must leave through the same port, in the same position, at the same time and with
 * the same headers. The cases are drawn from the run file keys that have a list of values, and use
 * each value at least once. The last cases show that a different arbiter or different credits would
 * be detected. */

#include <unistd.h>

#include <rte_mempool.h>

#include "base/rng.h"
#include "driver_replay.h"
#include "eal_tests.h"
#include "experiment/run/run_config_fields.h"
#include "switch/adaptive_routing.h"
#include "virtual/virtual_private.h"
#include "virtual/virtual_trace.h"
#include "virtual_lab.h"

#define SWITCHES    9
#define CHOICES_MAX 256
#define SETS_MAX    64
#define SET_BYTES   64
#define DRAWS       4000

static const char scenario[] = "weft: run/1\n"
			       "topology: \"rlft:ports=4,stages=2\"\n"
			       "clock: virtual\n"
			       "link: {rate: 10Gbps, delay: 30ns}\n"
			       "switch: {switching: cut-through, buffer: 1728B, mtu: 512B}\n"
			       "nic: {mtu: 512B}\n"
			       "routing: {algorithm: dmodk, mode: source}\n"
			       "detector: {crt: 1us, arn-ttl: 20us, arn-refresh: 2us}\n"
			       "measure: {warmup: 0ms, duration: 300us, sample: 300us}\n"
			       "traffic:\n"
			       "  - {pattern: uniform, from: all, load: 100%, message: 512B}\n";

static struct rte_mempool *pool;
static uint64_t frames, stalls, arns;

struct recording {
	struct replay_list at[SWITCHES];
	const struct topology *topology;
	uint64_t stalls, discards;
	struct virtual_lab lab; /* their routes are the packets' routes */
};

/* A frame that leaves keeps its wire busy for its transmission time on the link. */
static void record_sent(struct recording *recording, const struct virtual_trace_record *record)
{
	const struct topology_link *link = topology_link_at(recording->topology, record->at);
	struct replay_list *list = &recording->at[record->at.device];
	struct replay_event free_again = {.port = record->at.port, .kind = REPLAY_WIRE_FREE};

	replay_add_sent(list, record->now, record->at.port, record->packet, record->extension);
	free_again.at = record->now + bytes_ps(record->packet->bytes + FRAME_WIRE_OVERHEAD,
					      byte_time_of(link->rate_bps));
	replay_add_event(list, &free_again);
}

/* The fabric's virtual_trace_fn. */
static void record(void *ctx, const struct virtual_trace_record *record)
{
	struct recording *recording = ctx;
	struct replay_event event = {.at = record->now, .port = record->at.port};

	if (record->at.kind == DEVICE_HOST)
		return;
	if (record->out) {
		if (record->packet != NULL)
			record_sent(recording, record);
		else if (record->arn != NULL)
			replay_add_sent_arn(&recording->at[record->at.device], record->now,
				record->at.port, record->arn);
		return;
	}
	event.kind = record->packet != NULL ? REPLAY_ARRIVAL : REPLAY_CREDIT;
	if (record->extension != NULL)
		event.extension = *record->extension;
	if (record->packet != NULL)
		event.packet = *record->packet;
	else if (record->credit != NULL)
		event.credit = *record->credit;
	else
		event.arn = *record->arn;
	event.is_arn = record->arn != NULL;
	replay_add_event(&recording->at[record->at.device], &event);
}

/* Wires that become free after the end have no event in the record. */
static void cut_end(struct replay_list *list, weft_time end)
{
	while (list->events > 0 && list->event[list->events - 1].at >= end)
		list->events--;
}

static void make_recording(struct recording *recording, const char *const *set, unsigned sets)
{
	memset(recording, 0, sizeof(*recording));
	virtual_lab_open(&recording->lab, scenario, set, sets);
	recording->topology = recording->lab.topology;
	assert_true(recording->topology->switches <= SWITCHES);
	virtual_fabric_trace(recording->lab.fabric, record, recording);
	virtual_lab_run(&recording->lab);
	recording->stalls = result_counter(&recording->lab.result, "stall_credit");
	for (unsigned i = 0; i < recording->topology->switches; i++) {
		replay_sort(&recording->at[i]);
		cut_end(&recording->at[i], recording->lab.config->measure.duration_ps);
	}
}

static void free_recording(struct recording *recording)
{
	for (unsigned i = 0; i < SWITCHES; i++)
		replay_free(&recording->at[i]);
	virtual_lab_close(&recording->lab);
}

/* Sums over all switches of a replay. */
struct comparison {
	unsigned different; /* number of ports */
	char first[64];     /* name of the first one */
	uint64_t discards, frames, arns;
};

static struct comparison compare(
	const struct recording *recording, const struct replay_options *options)
{
	const struct replay_fabric fabric = {
		recording->lab.config, recording->topology, &recording->lab.fabric->routes};
	struct comparison result = {0};

	for (unsigned i = 0; i < recording->topology->switches; i++) {
		struct replay_list played = {0};

		result.discards += replay_run(&fabric, i, options, &recording->at[i], &played);
		result.frames += played.sents;
		for (unsigned port = 0; port < 2 * SWITCH_PORTS_MAX; port++) {
			int which = replay_difference(&recording->at[i], &played, port);

			if (which >= 0 && result.different++ == 0)
				snprintf(result.first, sizeof(result.first),
					"s%u:%u: %s %d is another one", i, port % SWITCH_PORTS_MAX,
					port < REPLAY_ARNS ? "frame" : "notification", which);
		}
		for (uint32_t sent = 0; sent < played.sents; sent++)
			result.arns += played.sent[sent].port >= REPLAY_ARNS;
		replay_free(&played);
	}
	return result;
}

static void assert_noticed(
	const struct replay_options *options, const char *const *set, unsigned sets)
{
	struct recording recording;

	make_recording(&recording, set, sets);
	assert_true(compare(&recording, options).different > 0);
	free_recording(&recording);
}

/* --- drawn cases --- */

/* The sections of a run file that define switches. */
static const char *const sections[] = {"switch", "queuing", "routing", "nic"};

/* A value of a key that has a list of values. */
struct choice {
	char key[40];
	const char *value;
};

static struct choice choice[CHOICES_MAX];
static unsigned choices;

static void add_choice(const char *key, const char *value)
{
	assert_true(choices < CHOICES_MAX);
	snprintf(choice[choices].key, sizeof(choice[choices].key), "%s", key);
	choice[choices++].value = value;
}

static void list_choices(const char *before, const struct yaml_field *fields)
{
	for (const struct yaml_field *field = fields; field->key != NULL; field++) {
		char key[sizeof(choice[0].key)], below[sizeof(key)];

		snprintf(key, sizeof(key), "%s%s", before, field->key);
		for (unsigned i = 0; field->choices != NULL && field->choices[i] != NULL; i++)
			add_choice(key, field->choices[i]);
		for (unsigned i = 0; field->words != NULL && i < field->words->count; i++)
			add_choice(key, name_table_name(field->words->entry[i]));
		if (field->type == YAML_FIELD_BOOL) {
			add_choice(key, "true");
			add_choice(key, "false");
		}
		snprintf(below, sizeof(below), "%.37s.", key);
		if (field->type == YAML_FIELD_SECTION)
			list_choices(below, field->fields);
	}
}

static void list_all_choices(void)
{
	choices = 0;
	for (const struct yaml_field *field = run_file_fields; field->key != NULL; field++)
		for (unsigned i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
			if (strcmp(field->key, sections[i]) == 0) {
				const struct yaml_field one[] = {*field, {NULL}};

				list_choices("", one);
			}
}

/* Wormhole switching, Ethernet, oracles and ITBs on contention exist on one clock only. The age of
 * a frame starts with its message on the virtual clock, and with its injection on the real one. */
static const char *const elsewhere[] = {"switch.switching=wormhole", "switch.flow-control=stop-go",
	"switch.routing-start=header", "switch.flow-control=pfc", "switch.flow-control=lossy",
	"nic.control=dcqcn", "nic.recovery=go-back-n", "routing.algorithm=df-ugal-g",
	"switch.arbitration=age", "routing.itb-absorb=contention", "routing.adaptive=reps"};

static bool is_elsewhere(const struct choice *one)
{
	char text[SET_BYTES];

	snprintf(text, sizeof(text), "%s=%s", one->key, one->value);
	for (unsigned i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (strcmp(text, elsewhere[i]) == 0)
			return true;
	return false;
}

/* Settings in addition to the choices. */
static void draw_rest(struct rng *rng, char set[][SET_BYTES], unsigned *sets)
{
	static const char *const networks[] = {"rlft:ports=4,stages=2", "torus:dims=3x3,hosts=1",
		"ring:switches=5,hosts=2", "irregular:switches=6,hosts=2", "mesh:dims=3x3,hosts=1",
		"full:switches=4,hosts=2", "hypercube:dims=3,hosts=1", "dragonfly:a=2,p=1,h=1"};
	static const char *const lines[] = {"switch.routing-delay=70ns", "traffic[0].message=700B",
		"switch.fecn=8", "switch.contention=2us", "routing.algorithm=ud+ud-itb",
		"routing.algorithm=ud+ud-itb+dfs"};
	/* Notifications need all of these. */
	static const char *const tree[] = {
		"topology=rlft:ports=4,stages=2", "routing.mode=table", "routing.adaptive=arn"};
	unsigned vcs = 1 + (unsigned)rng_below(rng, 8);
	bool notified = rng_below(rng, 4) == 0;

	snprintf(set[(*sets)++], SET_BYTES, "seed=%u", (unsigned)rng_below(rng, 1000));
	snprintf(set[(*sets)++], SET_BYTES, "topology=%s",
		networks[rng_below(rng, sizeof(networks) / sizeof(networks[0]))]);
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (rng_below(rng, 4) == 0)
			snprintf(set[(*sets)++], SET_BYTES, "%s", lines[i]);
	for (unsigned i = 0; notified && i < sizeof(tree) / sizeof(tree[0]); i++)
		snprintf(set[(*sets)++], SET_BYTES, "%s", tree[i]);
	snprintf(set[(*sets)++], SET_BYTES, "switch.vcs=%u", vcs);
	/* Each VC has space for three frames of 512 bytes and headers, or for more. */
	snprintf(set[(*sets)++], SET_BYTES, "switch.buffer=%uB",
		(27 + (unsigned)rng_below(rng, 30)) * 64 * vcs);
}

/* Adds the choice 'which', and some of the others. */
static unsigned draw(struct rng *rng, unsigned which, char set[][SET_BYTES])
{
	unsigned sets = 0, first, next;

	draw_rest(rng, set, &sets);
	for (first = 0; first < choices; first = next) {
		unsigned at;

		for (next = first; next < choices; next++)
			if (strcmp(choice[next].key, choice[first].key) != 0)
				break;
		at = first + (unsigned)rng_below(rng, next - first);
		if (which >= first && which < next)
			at = which;
		else if (rng_below(rng, 3) != 0 || is_elsewhere(&choice[at]))
			continue;
		assert_true(sets < SETS_MAX);
		snprintf(set[sets++], SET_BYTES, "%s=%s", choice[at].key, choice[at].value);
	}
	return sets;
}

/* Returns true if a fabric with these settings can be created and replayed. */
static bool is_possible(const char *const *set, unsigned sets)
{
	OWNED(virtual_lab) lab = {NULL};
	struct error error;
	bool possible;

	lab.config = run_config_parse(scenario, strlen(scenario), "test", set, sets, &error);
	possible = lab.config != NULL && run_config_supported(lab.config, &error) == 0 &&
		   lab.config->sw.switching != RUN_SWITCHING_WORMHOLE &&
		   !run_config_is_ethernet(lab.config) && !run_config_needs_oracle(lab.config) &&
		   lab.config->sw.arbitration.inputs != ARBITRATION_AGE &&
		   !lab.config->routing.adaptive->entropies &&
		   lab.config->routing.itb_absorb != RUN_ITB_ABSORB_CONTENTION &&
		   (lab.topology = run_config_open_topology(lab.config, &error)) != NULL &&
		   (lab.fabric = virtual_fabric_create(lab.topology, lab.config, &error)) != NULL;
	return possible;
}

static void assert_same_order(const char *const *set, unsigned sets)
{
	const struct replay_options options = {.pool = pool};
	struct comparison result;
	struct recording recording;

	make_recording(&recording, set, sets);
	result = compare(&recording, &options);
	if (result.different != 0 || result.discards != recording.discards || result.frames == 0) {
		for (unsigned i = 0; i < sets; i++)
			print_message("  %s\n", set[i]);
		fail_msg("%s, %llu discarded, %llu sent", result.first,
			(unsigned long long)result.discards, (unsigned long long)result.frames);
	}
	frames += result.frames;
	stalls += recording.stalls;
	arns += result.arns;
	free_recording(&recording);
}

static bool compare_a_case_with(unsigned which, struct rng *rng)
{
	char text[SETS_MAX][SET_BYTES];
	const char *set[SETS_MAX];

	for (unsigned i = 0; i < SETS_MAX; i++)
		set[i] = text[i];
	for (unsigned i = 0; i < DRAWS; i++) {
		unsigned sets = draw(rng, which, text);

		if (!is_possible(set, sets))
			continue;
		assert_same_order(set, sets);
		return true;
	}
	return false;
}

/* Uses each value of each key that has a list, together with drawn values of the others. */
UNIT_TEST(every_port_sends_the_same_frames_in_the_same_order_at_both_clocks)
{
	struct rng rng;

	rng_init(&rng, 46, 0, 0);
	list_all_choices();
	for (unsigned i = 0; i < choices; i++)
		if (!is_elsewhere(&choice[i]) && !compare_a_case_with(i, &rng))
			fail_msg("no case has %s=%s", choice[i].key, choice[i].value);
	assert_true(frames > 1000 * choices);
	assert_true(stalls > frames / 10); /* credits are tight */
	assert_true(arns > 1000);
}

/* Waiting times and contending flows are in the frames that are compared. */
#define CONTENTION_US 2

static struct contention_config contention_of(enum contention_scope scope)
{
	return (struct contention_config){.threshold_ps = CONTENTION_US * PS_PER_US,
		.flows = CN_FLOWS_MAX,
		.scope = scope,
		.in_frame = true,
		.extension = poll_switch_extension};
}

#define PR_DRB                                                                   \
	"nic.control=pr-drb", "routing.algorithm=msp", "routing.alternatives=2", \
		"switch.contention=2us", "switch.buffer=1920B"

/* Shows that the comparison can fail. */

UNIT_TEST(other_rules_of_contention_are_noticed)
{
	static const char *const set[] = {PR_DRB};
	struct contention_config wrong[4];

	for (unsigned i = 0; i < 4; i++)
		wrong[i] = contention_of(CONTENTION_OUTPUT);
	wrong[0].scope = CONTENTION_BUFFER;
	wrong[1].flows = 1;
	wrong[2].threshold_ps = 2 * CONTENTION_US * PS_PER_US;
	wrong[3].in_frame = false;
	for (unsigned i = 0; i < 4; i++) {
		const struct replay_options options = {.contention = &wrong[i], .pool = pool};

		assert_noticed(&options, set, sizeof(set) / sizeof(set[0]));
	}
}

UNIT_TEST(a_round_robin_that_goes_on_elsewhere_is_noticed)
{
	const struct replay_options options = {.moved_on = 2, .pool = pool};

	assert_noticed(&options, NULL, 0);
}

UNIT_TEST(credits_that_are_ignored_are_noticed)
{
	const struct replay_options options = {.ignore_credits = true, .pool = pool};

	assert_noticed(&options, NULL, 0);
}

UNIT_TEST(notifications_that_are_lost_are_noticed)
{
	static const char *const set[] = {
		"routing.mode=table", "routing.adaptive=arn", "switch.vcs=2", "switch.buffer=8KiB"};
	const struct replay_options options = {.ignore_arns = true, .pool = pool};

	assert_noticed(&options, set, sizeof(set) / sizeof(set[0]));
}

UNIT_TEST(a_single_queue_for_each_input_is_noticed)
{
	const struct replay_options options = {.one_queue = true, .pool = pool};

	assert_noticed(&options, NULL, 0);
}

int main(void)
{
	char name[] = "driver-order-test";

	return run_with_eal(name, 2047, &pool);
}
