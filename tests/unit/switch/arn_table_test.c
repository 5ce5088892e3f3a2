/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch/arn_table.h"

#include "base/rng.h"
#include "paper_detector.h"
#include "unit.h"

#define HOSTS       432
#define ALTERNATIVE 9
#define DOWN        4 /* the port through which the packets leave */
#define IN          2 /* the port through which they arrive */

/* A switch in the view of its table. */
struct place {
	struct arn_table *table;
	unsigned asked; /* for alternatives */
	bool stuck;     /* there are none */
};

static unsigned choose(void *ctx, uint16_t destination, uint8_t vc, uint8_t port)
{
	struct place *place = ctx;

	place->asked++;
	assert_int_equal(port, DOWN);
	return place->stuck ? ARN_NO_ALTERNATIVE : ALTERNATIVE;
}

static struct arn_table_config config(struct place *place, uint8_t stage)
{
	struct arn_table_config config = paper_table();

	config.hosts = HOSTS;
	config.stage = stage;
	config.alternative = choose;
	config.ctx = place;
	config.down_roots_to_hosts = true;
	return config;
}

static void start_with(struct place *place, const struct arn_table_config *from)
{
	*place = (struct place){.table = arn_table_create(from)};
	assert_non_null(place->table);
}

static void start(struct place *place, uint8_t stage)
{
	const struct arn_table_config from = config(place, stage);

	start_with(place, &from);
}

static void stop(struct place *place)
{
	assert_null(arn_table_check(place->table));
	arn_table_destroy(place->table);
}
#define place_out_of_scope stop

/* A notification about root 'id' for packets to host 1 of VC 0, for the switches of a stage. */
static void notify(struct place *place, uint32_t id, uint8_t root_info, weft_time now)
{
	const struct control_arn arn = {
		.id = id, .destination = 1, .vc = 0, .root_info = root_info};

	arn_table_process(place->table, &arn, DOWN, false, now);
	assert_null(arn_table_check(place->table));
}

static enum arn_verdict match(struct place *place, bool adapted, unsigned input, weft_time now)
{
	const struct arn_entry *entry;

	return arn_table_match(place->table, 1, 0, adapted, input, now, &entry);
}

UNIT_TEST(a_root_is_named_with_the_stage_that_can_go_around_it)
{
	struct place place;
	struct arn_table_config from = config(&place, 3);
	struct control_arn arn;

	from.down_roots_to_hosts = false;
	start_with(&place, &from);
	arn = arn_table_root(place.table, true, 77, 5, 2);
	assert_int_equal(arn.root_info, 3);
	assert_int_equal(arn.id, 77);
	assert_int_equal(arn.destination, 5);
	assert_int_equal(arn.vc, 2);
	assert_int_equal(arn_table_root(place.table, false, 77, 5, 2).root_info, 2);
	stop(&place);
	from.down_roots_to_hosts = true;
	start_with(&place, &from);
	assert_int_equal(arn_table_root(place.table, false, 77, 5, 2).root_info, 0);
	assert_int_equal(arn_table_root(place.table, true, 77, 5, 2).root_info, 3);
	stop(&place);
}

UNIT_TEST(the_stage_that_is_meant_consumes_and_others_pass_on)
{
	const struct arn_entry *entry;
	struct place place;

	start(&place, 2);
	notify(&place, 7, 2, 0);
	assert_int_equal(arn_table_match(place.table, 1, 0, false, IN, 0, &entry), ARN_ALTERNATIVE);
	assert_true(entry->consumed);
	assert_int_equal(entry->alternative, ALTERNATIVE);
	assert_int_equal(entry->port, DOWN);
	stop(&place);
	start(&place, 3);
	notify(&place, 7, 2, 0);
	assert_int_equal(arn_table_match(place.table, 1, 0, false, IN, 0, &entry), ARN_SEND_BACK);
	assert_false(entry->consumed);
	assert_int_equal(entry->arn.id, 7);
	assert_int_equal(entry->arn.root_info, 2);
	assert_int_equal(place.asked, 0);
	stop(&place);
}

UNIT_TEST(a_switch_without_a_stage_consumes_nothing)
{
	OWNED(place) place;

	start(&place, 0);
	notify(&place, 7, 0, 0);
	assert_int_equal(match(&place, false, IN, 0), ARN_SEND_BACK);
}

UNIT_TEST(a_switch_without_another_way_passes_on)
{
	OWNED(place) place;

	start(&place, 2);
	place.stuck = true;
	notify(&place, 7, 2, 0);
	assert_int_equal(match(&place, false, IN, 0), ARN_SEND_BACK);
}

UNIT_TEST(only_packets_of_the_destination_and_vc_are_concerned)
{
	const struct arn_entry *entry;
	OWNED(place) place;

	start(&place, 2);
	assert_false(arn_table_concerns(place.table, 1));
	notify(&place, 7, 2, 0);
	assert_true(arn_table_concerns(place.table, 1));
	assert_false(arn_table_concerns(place.table, 0));
	assert_false(arn_table_concerns(place.table, 65));
	assert_false(arn_table_concerns(place.table, 1 + ARN_BUCKETS));
	assert_false(arn_table_concerns(place.table, FRAME_HOST_NONE));
	assert_int_equal(arn_table_match(place.table, 1, 1, false, IN, 0, &entry), ARN_IGNORE);
	assert_int_equal(
		arn_table_match(place.table, 1 + ARN_BUCKETS, 0, false, IN, 0, &entry), ARN_IGNORE);
}

UNIT_TEST(a_notification_that_is_known_only_starts_the_timer_again)
{
	OWNED(place) place;

	start(&place, 2);
	notify(&place, 7, 2, 0);
	notify(&place, 7, 2, TTL - 1);
	assert_int_equal(place.asked, 1);
	assert_int_equal(place.table->count, 1);
	assert_int_equal(place.table->counters.refreshed, 1);
	assert_int_equal(match(&place, false, IN, 2 * TTL - 2), ARN_ALTERNATIVE);
	assert_int_equal(match(&place, false, IN, 2 * TTL - 1), ARN_IGNORE);
}

UNIT_TEST(an_entry_that_is_not_refreshed_disappears)
{
	OWNED(place) place;

	start(&place, 2);
	notify(&place, 7, 2, 5);
	assert_int_equal(arn_table_next_due(place.table), 5 + TTL);
	arn_table_expire(place.table, 4 + TTL);
	assert_true(arn_table_concerns(place.table, 1));
	arn_table_expire(place.table, 5 + TTL);
	assert_false(arn_table_concerns(place.table, 1));
	assert_int_equal(place.table->counters.expired, 1);
	assert_int_equal(arn_table_next_due(place.table), WEFT_TIME_NEVER);
}

UNIT_TEST(another_root_at_the_same_port_replaces_the_one_before)
{
	const struct arn_entry *entry;
	OWNED(place) place;
	const struct control_arn other = {.id = 8, .destination = 1, .vc = 0, .root_info = 3};

	start(&place, 2);
	notify(&place, 7, 2, 0);
	notify(&place, 8, 3, 0);
	assert_int_equal(place.table->count, 1);
	assert_int_equal(place.table->counters.replaced, 1);
	assert_int_equal(arn_table_match(place.table, 1, 0, false, IN, 0, &entry), ARN_SEND_BACK);
	assert_int_equal(entry->arn.id, 8);
	/* An entry for another port or VC is separate. */
	arn_table_process(place.table, &other, DOWN + 1, false, 0);
	assert_int_equal(place.table->count, 2);
}

UNIT_TEST(an_adapted_packet_responsible_makes_no_entry_but_keeps_and_removes)
{
	const struct control_arn arn = {.id = 7, .destination = 1, .vc = 0, .root_info = 0};
	const struct control_arn moved = {.id = 8, .destination = 1, .vc = 0, .root_info = 0};
	OWNED(place) place;
	struct arn_table_config from = config(&place, 1);

	from.adapted_roots = false;
	start_with(&place, &from);
	arn_table_process(place.table, &arn, DOWN, true, 0);
	assert_int_equal(place.table->count, 0);
	arn_table_process(place.table, &arn, DOWN, false, 0);
	arn_table_process(place.table, &arn, DOWN, true, TTL - 1);
	assert_int_equal(place.table->counters.refreshed, 1);
	assert_int_equal(match(&place, false, IN, TTL), ARN_SEND_BACK);
	arn_table_process(place.table, &moved, DOWN, true, TTL);
	assert_int_equal(place.table->count, 0);
}

/* Only adapted packets remain in a tree that hosts avoid, and they would stop. */
UNIT_TEST(a_root_of_adapted_packets_goes_on_telling_hosts)
{
	const struct control_arn arn = {.id = 7, .destination = 1, .vc = 0, .root_info = 0};
	const struct control_arn again = {.id = 8, .destination = 1, .vc = 0, .root_info = 0};
	const struct arn_entry *entry;
	OWNED(place) place;

	start(&place, 1);
	arn_table_process(place.table, &arn, DOWN, false, 0);
	arn_table_process(place.table, &again, DOWN, true, 1);
	assert_int_equal(arn_table_match(place.table, 1, 0, true, IN, 1, &entry), ARN_SEND_BACK);
	assert_int_equal(entry->arn.id, 8);
	/* Also if the entry expired long ago. */
	arn_table_process(place.table, &again, DOWN, true, 2 * TTL);
	assert_int_equal(match(&place, true, IN, 2 * TTL), ARN_SEND_BACK);
}

/* A switch could not send them along a different path, because they are already adapted. */
UNIT_TEST(a_root_of_adapted_packets_is_none_for_switches)
{
	const struct control_arn arn = {.id = 7, .destination = 1, .vc = 0, .root_info = 1};
	OWNED(place) place;

	start(&place, 1);
	arn_table_process(place.table, &arn, DOWN, true, 0);
	assert_int_equal(place.table->count, 0);
}

UNIT_TEST(adapted_packets_are_not_rerouted_and_notify_or_not)
{
	for (unsigned notify_too = 0; notify_too < 2; notify_too++) {
		OWNED(place) place;
		struct arn_table_config from = config(&place, 2);

		from.adapted_notify = notify_too;
		start_with(&place, &from);
		notify(&place, 7, 2, 0);
		assert_int_equal(match(&place, true, IN, 0), ARN_IGNORE);
		notify(&place, 8, 1, 0);
		assert_int_equal(
			match(&place, true, IN, 0), notify_too ? ARN_SEND_BACK : ARN_IGNORE);
	}
}

UNIT_TEST(of_a_consumed_and_a_waiting_entry_one_counts)
{
	for (unsigned waiting = 0; waiting < 2; waiting++) {
		const struct control_arn beyond = {.id = 8, .destination = 1, .root_info = 1};
		OWNED(place) place;
		struct arn_table_config from = config(&place, 2);

		from.waiting_first = waiting;
		start_with(&place, &from);
		notify(&place, 7, 2, 0);
		arn_table_process(place.table, &beyond, DOWN + 1, false, 0);
		assert_int_equal(
			match(&place, false, IN, 0), waiting ? ARN_SEND_BACK : ARN_ALTERNATIVE);
		/* The path is also unchanged if the port was already notified. */
		assert_int_equal(
			match(&place, false, IN, 0), waiting ? ARN_IGNORE : ARN_ALTERNATIVE);
	}
}

UNIT_TEST(each_port_is_told_once_in_each_interval)
{
	OWNED(place) place;

	start(&place, 3);
	notify(&place, 7, 1, 0);
	assert_int_equal(match(&place, false, IN, 0), ARN_SEND_BACK);
	assert_int_equal(match(&place, false, IN, REFRESH - 1), ARN_IGNORE);
	assert_int_equal(match(&place, false, IN + 1, REFRESH - 1), ARN_SEND_BACK);
	assert_int_equal(match(&place, false, 63, REFRESH - 1), ARN_SEND_BACK);
	assert_int_equal(match(&place, false, IN, REFRESH), ARN_SEND_BACK);
	assert_int_equal(match(&place, false, IN, REFRESH), ARN_IGNORE);
	assert_int_equal(place.table->counters.sent_back, 4);
}

UNIT_TEST(a_full_table_forgets_what_is_new_and_counts)
{
	OWNED(place) place;

	start(&place, 1);
	for (uint16_t host = 0; host < 70; host++) {
		const struct control_arn arn = {.id = 1, .destination = host, .root_info = 0};

		arn_table_process(place.table, &arn, (uint8_t)(host % 64), false, 0);
	}
	assert_int_equal(place.table->count, 64);
	assert_int_equal(place.table->counters.no_room, 6);
	assert_null(arn_table_check(place.table));
	arn_table_expire(place.table, TTL);
	assert_int_equal(place.table->count, 0);
	notify(&place, 7, 1, TTL);
	assert_int_equal(place.table->count, 1);
}

/* The neighbour at one port sends at full rate. Those at two others have ten entries each. */
UNIT_TEST(a_port_that_floods_takes_no_room_of_others)
{
	OWNED(place) place;
	struct control_arn arn = {.id = 1};

	start(&place, 1);
	for (unsigned port = 2; port <= 3; port++)
		for (arn.destination = 0; arn.destination < 5; arn.destination++)
			arn_table_process(place.table, &arn, (uint8_t)port, false, 0);
	for (unsigned i = 0; i < 100000; i++) {
		const struct control_arn flood = {.id = i, .destination = (uint16_t)(i % 70)};

		arn_table_process(place.table, &flood, 1, false, 0);
	}
	assert_int_equal(place.table->by_port[1], 27); /* half of what the others left */
	for (unsigned port = 2; port <= 3; port++) {
		for (arn.destination = 5; arn.destination < 10; arn.destination++)
			arn_table_process(place.table, &arn, (uint8_t)port, false, 0);
		assert_int_equal(place.table->by_port[port], 10);
	}
	assert_null(arn_table_check(place.table));
}

UNIT_TEST(a_host_that_there_is_not_is_ignored)
{
	const struct control_arn arn = {.destination = HOSTS};
	OWNED(place) place;

	start(&place, 1);
	arn_table_process(place.table, &arn, DOWN, false, 0);
	assert_int_equal(place.table->count, 0);
}

/* Figure 1: a packet goes up from its source to stage 3 and down to its destination. A root is
 * somewhere on the way down. Each packet carries the notification one link back. */
#define WAY   5
#define ACTOR 5 /* the source */

static unsigned who_acts(unsigned root, bool literal)
{
	static const uint8_t stage[WAY] = {1, 2, 3, 2, 1};
	struct place way[WAY];
	struct control_arn arn;
	unsigned actor = WAY + 1;

	for (unsigned i = 0; i < WAY; i++) {
		struct arn_table_config from = config(&way[i], stage[i]);

		from.down_roots_to_hosts = !literal;
		start_with(&way[i], &from);
	}
	arn = arn_table_root(way[root].table, false, 0x20301, 1, 0);
	arn_table_process(way[root].table, &arn, DOWN, false, 0);
	for (unsigned packet = 0; packet < 10 && actor == WAY + 1; packet++)
		for (unsigned i = 0; i < WAY; i++) {
			const struct arn_entry *entry;
			enum arn_verdict verdict = arn_table_match(
				way[i].table, 1, 0, false, IN, packet * REFRESH, &entry);

			if (verdict == ARN_ALTERNATIVE)
				actor = i;
			if (verdict == ARN_SEND_BACK && i == 0)
				actor = ACTOR;
			else if (verdict == ARN_SEND_BACK)
				arn_table_process(way[i - 1].table, &entry->arn, DOWN, false,
					packet * REFRESH);
		}
	for (unsigned i = 0; i < WAY; i++)
		stop(&way[i]);
	return actor;
}

UNIT_TEST(figure_1_of_the_arn_paper)
{
	/* A: between stages 3 and 2. The switch of stage 2 on the way up consumes the
	 * notification. */
	assert_int_equal(who_acts(2, true), 1);
	/* B: between stages 2 and 1. The switch of stage 1 does. */
	assert_int_equal(who_acts(3, true), 0);
	/* C: between stage 1 and the destination. The source does. */
	assert_int_equal(who_acts(4, true), ACTOR);
	/* The default interpretation: on the way down, it is always the source. */
	assert_int_equal(who_acts(2, false), ACTOR);
	assert_int_equal(who_acts(3, false), ACTOR);
	assert_int_equal(who_acts(4, false), ACTOR);
}

/* Figure 4, event by event. A is the switch that can avoid the root, and B has the root. */
UNIT_TEST(figure_4_of_the_arn_paper)
{
	const struct arn_entry *entry;
	struct control_arn arn;
	OWNED(place) a, b;
	struct arn_table_config from;
	weft_time now = PS_PER_MS;

	from = config(&a, 1);
	start_with(&a, &from);
	from = config(&b, 2);
	from.down_roots_to_hosts = false;
	start_with(&b, &from);
	/* 1: packets from A's input to destination 1 through B. */
	assert_false(arn_table_concerns(a.table, 1));
	/* 2, 3: a root at B's output. An entry for destination 1, that port, VC 0. */
	arn = arn_table_root(b.table, false, 0x20201, 1, 0);
	arn_table_process(b.table, &arn, DOWN, false, now);
	assert_int_equal(b.table->count, 1);
	/* 4: a matching packet causes a notification upstream, with destination and VC. */
	assert_int_equal(arn_table_match(b.table, 1, 0, false, 0, now, &entry), ARN_SEND_BACK);
	assert_int_equal(entry->arn.destination, 1);
	assert_int_equal(entry->arn.vc, 0);
	/* 5, 6: A consumes it. */
	arn_table_process(a.table, &entry->arn, DOWN, false, now);
	/* 7: from then on, its packets use the alternative. Packets of other VCs do not. */
	assert_int_equal(arn_table_match(a.table, 1, 0, false, 0, now, &entry), ARN_ALTERNATIVE);
	assert_int_equal(entry->alternative, ALTERNATIVE);
	assert_int_equal(arn_table_match(a.table, 1, 1, false, 0, now, &entry), ARN_IGNORE);
	/* 8, 9: adapted, they pass B's peers on their deterministic path. */
	assert_int_equal(arn_table_match(a.table, 1, 0, true, 0, now, &entry), ARN_IGNORE);
	/* 10: the root ends, no notification refreshes the entries, and both forget. */
	assert_int_equal(arn_table_match(a.table, 1, 0, false, 0, now + TTL, &entry), ARN_IGNORE);
	assert_int_equal(arn_table_match(b.table, 1, 0, false, 0, now + TTL, &entry), ARN_IGNORE);
	assert_false(arn_table_concerns(a.table, 1));
}

/* The table without its lists: the last notification of each (destination, VC, port), and its
 * time. */
#define MODEL_HOSTS 8
#define MODEL_VCS   2
#define MODEL_PORTS 2

struct told {
	uint32_t id;
	weft_time at;
	bool there;
};

struct model {
	struct told told[MODEL_HOSTS][MODEL_VCS][MODEL_PORTS];
};

static void model_notify(struct told *told, uint32_t id, bool makes, weft_time now)
{
	if (!told->there || told->id != id)
		*told = (struct told){.id = id, .there = makes};
	told->at = now;
}

static void model_expire(struct model *model, weft_time now)
{
	struct told *told = &model->told[0][0][0];

	for (unsigned i = 0; i < MODEL_HOSTS * MODEL_VCS * MODEL_PORTS; i++)
		told[i].there = told[i].there && now - told[i].at < TTL;
}

UNIT_TEST(random_notifications_leave_what_the_rules_say)
{
	struct model model = {0};
	OWNED(place) place;
	weft_time now = 0;
	struct rng rng;

	start(&place, 1);
	rng_init(&rng, 8, 8, 8);
	for (unsigned i = 0; i < 20000; i++) {
		const struct control_arn arn = {.id = (uint32_t)rng_below(&rng, 3),
			.destination = (uint16_t)rng_below(&rng, MODEL_HOSTS),
			.vc = (uint8_t)rng_below(&rng, MODEL_VCS),
			.root_info = rng_below(&rng, 2) == 0 ? 0 : 2};
		unsigned port = (unsigned)rng_below(&rng, MODEL_PORTS);
		bool adapted = rng_below(&rng, 4) == 0;

		now += rng_below(&rng, TTL / 8);
		model_expire(&model, now);
		model_notify(&model.told[arn.destination][arn.vc][port], arn.id,
			!adapted || arn.root_info == 0, now);
		arn_table_process(place.table, &arn, (uint8_t)port, adapted, now);
		assert_null(arn_table_check(place.table));
		for (unsigned k = 0; k < MODEL_HOSTS * MODEL_VCS; k++) {
			const struct told *told = model.told[k / MODEL_VCS][k % MODEL_VCS];
			const struct arn_entry *entry;
			enum arn_verdict verdict =
				arn_table_match(place.table, (uint16_t)(k / MODEL_VCS),
					k % MODEL_VCS, false, i % 64, now, &entry);

			assert_int_equal(verdict == ARN_SEND_BACK, told[0].there || told[1].there);
		}
	}
	assert_true(place.table->counters.expired > 100);
}

UNIT_TEST(what_makes_no_sense_is_refused)
{
	struct place place;
	struct arn_table_config from = config(&place, 1);

	from.alternative = NULL;
	assert_null(arn_table_create(&from));
	from = config(&place, 1);
	from.entries = ARN_ENTRIES_MAX + 1;
	assert_null(arn_table_create(&from));
	from = config(&place, 1);
	from.ttl_ps = 0;
	assert_null(arn_table_create(&from));
}
