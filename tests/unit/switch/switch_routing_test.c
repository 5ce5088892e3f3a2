/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Tables that are exchanged while packets are stored (docs/explanation/the-mapper.md,
 * 'Distribution'). Stored packets keep their output, later packets use the new tables, and the old
 * tables are never read again. Each exchange here overwrites the old ones, so reading them would be
 * noticed. */

#include <errno.h>

#include "paper_detector.h"
#include "switch/adaptive_routing.h"
#include "switch/switch_congestion.h"
#include "switch_bench.h"

#define PORTS 8
#define VCS   3
#define UPS   (BIT64(4) | BIT64(5) | BIT64(6) | BIT64(7))

/* All objects are on the heap, as in the control thread. */
struct tables {
	uint8_t *port;
	uint64_t *alternatives;
	struct vc_rule *rule; /* NULL: none */
	uint8_t *sl_to_vc;    /* likewise */
	uint8_t stage;
};

/* Every host is behind 'port', or behind any of 'alternatives'. */
static struct tables make_tables(uint8_t port, uint64_t alternatives)
{
	struct tables tables = {.port = malloc(BENCH_HOSTS),
		.alternatives = malloc(BENCH_HOSTS * sizeof(uint64_t)),
		.stage = 1};

	assert_true(tables.port != NULL && tables.alternatives != NULL);
	memset(tables.port, port, BENCH_HOSTS);
	for (unsigned host = 0; host < BENCH_HOSTS; host++)
		tables.alternatives[host] = alternatives;
	return tables;
}

static int set_tables(struct bench *bench, const struct tables *tables)
{
	return switch_set_routing(bench->sw, &(struct switch_routing){.port = tables->port,
						     .alternatives = tables->alternatives,
						     .hosts = BENCH_HOSTS,
						     .vc_rule = tables->rule,
						     .sl_to_vc = tables->sl_to_vc,
						     .stage = tables->stage});
}

/* Reading them from now on gives wrong results, and the sanitizers detect it. */
static void spoil(struct tables *tables)
{
	memset(tables->port, PORTS - 1, BENCH_HOSTS);
	for (unsigned host = 0; host < BENCH_HOSTS; host++)
		tables->alternatives[host] = BIT64(PORTS - 1);
	if (tables->rule != NULL) {
		memset(tables->rule->ring, 1, VC_RULE_PORTS);
		tables->rule->dateline[0] = UINT64_MAX;
	}
	vc_rule_destroy(tables->rule);
	free(tables->port);
	free(tables->alternatives);
	free(tables->sl_to_vc);
	*tables = (struct tables){0};
}

/* Replaces 'now' with 'next'. */
static void exchange(struct bench *bench, struct tables *now, struct tables next)
{
	assert_int_equal(set_tables(bench, &next), 0);
	spoil(now);
	*now = next;
	bench_check(bench);
}

static struct bench *make(bool voq)
{
	struct switch_config config = bench_config(PORTS, VCS);
	struct bench *bench;

	config.voq = voq;
	bench = bench_create(&config);
	memset(bench->table, PORTS - 1, sizeof(bench->table)); /* not read here */
	return bench;
}

static void finish(struct bench *bench, struct tables *tables)
{
	switch_set_routing(bench->sw, &(struct switch_routing){0});
	spoil(tables);
	bench_destroy(bench);
}

static const struct weft_packet *arrive(struct bench *bench, unsigned input, uint16_t destination)
{
	const struct bench_packet what = {.destination = destination};

	return &bench->packet[bench_arrive(bench, input, &what)];
}

UNIT_TEST(what_arrives_after_an_exchange_goes_by_the_new_table)
{
	struct tables tables = make_tables(1, 0);
	struct bench *bench = make(true);

	assert_int_equal(set_tables(bench, &tables), 0);
	assert_int_equal(arrive(bench, 0, 3)->out_port, 1);
	exchange(bench, &tables, make_tables(2, 0));
	assert_int_equal(arrive(bench, 0, 3)->out_port, 2);
	finish(bench, &tables);
}

UNIT_TEST(what_goes_past_the_queues_goes_by_the_new_table_too)
{
	struct tables tables = make_tables(1, 0);
	struct bench *bench = make(true);
	struct weft_packet packet = {.blocks = 1, .destination = 3};

	assert_int_equal(set_tables(bench, &tables), 0);
	bench_grant_all(bench);
	exchange(bench, &tables, make_tables(2, 0));
	assert_int_equal(bench_pass_queues(bench, 0, &packet, UINT64_MAX), 2);
	finish(bench, &tables);
}

UNIT_TEST(a_table_in_blocks_is_read_by_their_numbers_until_the_next_table)
{
	/* Hosts 0 to 63 are behind port 3, and 64 to 127 and 128 to 149 behind port 5. */
	static const uint16_t block[] = {2, 0, 0};
	struct tables tables = make_tables(1, 0);
	uint8_t port[3 * SWITCH_TABLE_BLOCK];
	struct bench *bench = make(true);

	memset(port, 5, SWITCH_TABLE_BLOCK);
	memset(port + SWITCH_TABLE_BLOCK, 7, SWITCH_TABLE_BLOCK);
	memset(port + 2 * SWITCH_TABLE_BLOCK, 3, SWITCH_TABLE_BLOCK);
	switch_set_table(bench->sw, port, block, 150);
	assert_int_equal(arrive(bench, 0, 0)->out_port, 3);
	assert_int_equal(arrive(bench, 0, 63)->out_port, 3);
	assert_int_equal(arrive(bench, 0, 64)->out_port, 5);
	assert_int_equal(arrive(bench, 0, 149)->out_port, 5);
	assert_int_equal(arrive(bench, 0, 150)->discard, SWITCH_DISCARD_NO_ROUTE);
	assert_int_equal(set_tables(bench, &tables), 0);
	assert_int_equal(arrive(bench, 0, 63)->out_port, 1);
	switch_take_discards(bench->sw);
	finish(bench, &tables);
}

static void stored_before_goes_where_it_was_routed(bool voq)
{
	struct tables tables = make_tables(1, 0);
	struct bench *bench = make(voq);
	unsigned before, after;

	assert_int_equal(set_tables(bench, &tables), 0);
	before = arrive(bench, 0, 3)->sequence;
	exchange(bench, &tables, make_tables(2, 0));
	after = arrive(bench, 0, 3)->sequence;
	bench_grant_all(bench);
	assert_int_equal(bench_leave(bench, 1), before);
	assert_int_equal(bench_leave(bench, 2), after);
	assert_int_equal(bench_leave(bench, 1), -1);
	finish(bench, &tables);
}

UNIT_TEST(what_is_stored_goes_where_the_old_table_sent_it)
{
	stored_before_goes_where_it_was_routed(true);
	stored_before_goes_where_it_was_routed(false);
}

UNIT_TEST(a_way_around_a_link_that_is_down_is_one_of_the_new_tables)
{
	struct tables tables = make_tables(1, BIT64(1) | BIT64(2));
	struct bench *bench = make(true);

	assert_int_equal(set_tables(bench, &tables), 0);
	bench_pass(bench, 4 * BENCH_HELLO_PS, BIT64(1));
	assert_int_equal(arrive(bench, 0, 3)->out_port, 2);
	exchange(bench, &tables, make_tables(1, BIT64(1) | BIT64(3)));
	assert_int_equal(arrive(bench, 0, 3)->out_port, 3);
	finish(bench, &tables);
}

UNIT_TEST(a_table_of_fewer_hosts_ends_earlier)
{
	struct tables tables = make_tables(1, 0);
	struct bench *bench = make(true);

	assert_int_equal(set_tables(bench, &tables), 0);
	switch_set_routing(bench->sw, &(struct switch_routing){.port = tables.port, .hosts = 3});
	assert_int_equal(arrive(bench, 0, 2)->out_port, 1);
	arrive(bench, 0, 3);
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_NO_ROUTE), 1);
	finish(bench, &tables);
}

/* Input 0 and output 1 are in one ring, whose dateline is at output 1. */
static struct tables make_ring(void)
{
	struct tables tables = make_tables(1, 0);

	tables.rule = vc_rule_create(1, 2);
	assert_non_null(tables.rule);
	tables.rule->ring[0] = tables.rule->ring[1] = 0;
	tables.rule->dateline[0] = BIT64(1);
	return tables;
}

UNIT_TEST(a_vc_rule_comes_and_goes_with_the_tables)
{
	struct tables tables = make_tables(1, 0);
	struct weft_packet packet = {.blocks = 1};
	struct bench *bench = make(true);

	assert_int_equal(set_tables(bench, &tables), 0);
	bench_grant_all(bench);
	assert_int_equal(arrive(bench, 0, 3)->header_vc, 0);
	assert_true(bench_leave(bench, 1) >= 0);
	exchange(bench, &tables, make_ring());
	assert_int_equal(arrive(bench, 0, 3)->header_vc, 1);
	assert_true(bench_leave(bench, 1) >= 0);
	/* A class must be chosen, so no packet may bypass the queues. */
	assert_int_equal(bench_pass_queues(bench, 0, &packet, UINT64_MAX), SWITCH_PORT_NONE);
	exchange(bench, &tables, make_tables(1, 0));
	assert_int_equal(arrive(bench, 0, 3)->header_vc, 0);
	finish(bench, &tables);
}

UNIT_TEST(what_is_stored_keeps_the_class_that_the_old_rule_gave_it)
{
	struct tables tables = make_ring();
	struct bench *bench = make(true);
	int number;

	assert_int_equal(set_tables(bench, &tables), 0);
	arrive(bench, 0, 3);
	exchange(bench, &tables, make_tables(1, 0));
	bench_grant_all(bench);
	number = bench_leave(bench, 1);
	assert_true(number >= 0);
	assert_int_equal(bench->packet[number].vc_next, 1);
	finish(bench, &tables);
}

UNIT_TEST(service_levels_are_mapped_anew)
{
	const struct bench_packet what = {.destination = 3, .sl = 5};
	struct tables tables = make_tables(1, 0), next = make_tables(1, 0);
	struct bench *bench = make(true);

	next.sl_to_vc = calloc(16, 1);
	assert_non_null(next.sl_to_vc);
	next.sl_to_vc[5] = 1;
	assert_int_equal(set_tables(bench, &tables), 0);
	assert_int_equal(bench->packet[bench_arrive(bench, 0, &what)].header_vc, 5 % VCS);
	exchange(bench, &tables, next);
	assert_int_equal(bench->packet[bench_arrive(bench, 0, &what)].header_vc, 1);
	exchange(bench, &tables, make_tables(1, 0)); /* does not mention it */
	assert_int_equal(bench->packet[bench_arrive(bench, 0, &what)].header_vc, 1);
	finish(bench, &tables);
}

/* It changes nothing, either. */
static void expect_refusal(struct bench *bench, const struct switch_routing *routing)
{
	const struct weft_switch before = *bench->sw;

	assert_int_equal(switch_set_routing(bench->sw, routing), -EINVAL);
	assert_memory_equal(&before, bench->sw, sizeof(before));
}

UNIT_TEST(tables_that_do_not_fit_are_refused_and_change_nothing)
{
	struct tables tables = make_tables(1, 0);
	struct vc_rule *rule = vc_rule_create(1, VCS + 1);
	struct switch_routing routing = {
		.port = tables.port, .alternatives = tables.alternatives, .hosts = BENCH_HOSTS};
	struct bench *bench = make(true);
	uint8_t sl_to_vc[16] = {0};

	assert_non_null(rule);
	routing.vc_rule = rule;
	expect_refusal(bench, &routing);
	rule->classes = VCS;
	routing.vc_rule_at = 1;
	expect_refusal(bench, &routing);
	routing.vc_rule = NULL;
	sl_to_vc[15] = VCS;
	routing.sl_to_vc = sl_to_vc;
	expect_refusal(bench, &routing);
	sl_to_vc[15] = VCS - 1;
	assert_int_equal(switch_set_routing(bench->sw, &routing), 0);
	finish(bench, &tables);
	vc_rule_destroy(rule);
}

/* ---- With an adaptation. Ports 4 to 7 go up, the others are for hosts. The stage is 1. */

static struct congestion_detector_config detector;
static struct arn_table_config notifications;

static struct switch_congestion_config adapt_config(const char *mode)
{
	detector = paper_detector();
	notifications = paper_table();
	return (struct switch_congestion_config){.seed = 1,
		.mode = adaptive_mode_find(mode),
		.stage = 1,
		.up_ports = UPS,
		.hosts = BENCH_HOSTS,
		.detector = &detector,
		.table = &notifications};
}

/* A switch that adapts and knows no host yet. */
static struct bench *make_adaptive(const char *mode)
{
	const struct switch_congestion_config config = adapt_config(mode);
	struct bench *bench = make(true);

	assert_int_equal(switch_set_routing(bench->sw, &(struct switch_routing){0}), 0);
	assert_int_equal(switch_congestion(bench->sw, &config), 0);
	bench_grant_all(bench);
	return bench;
}

/* A neighbour above notifies about a root on the path of packets for 'destination'. */
static void tell(struct bench *bench, unsigned port, uint16_t destination, uint8_t stage)
{
	const struct control_arn arn = {
		.id = 77, .destination = destination, .root_info = stage, .vc = 0};

	congestion_control_on_arn(bench->sw->congestion, port, &arn, bench->now, bench->now);
}

UNIT_TEST(an_adaptation_chooses_among_the_new_alternatives)
{
	struct tables tables = make_tables(4, BIT64(4) | BIT64(5));
	struct bench *bench = make_adaptive("oblivious");
	uint64_t seen = 0;

	assert_int_equal(set_tables(bench, &tables), 0);
	exchange(bench, &tables, make_tables(4, BIT64(4) | BIT64(6)));
	for (unsigned i = 0; i < 50; i++)
		seen |= BIT64(arrive(bench, 0, 3)->out_port);
	assert_int_equal(seen, BIT64(4) | BIT64(6));
	finish(bench, &tables);
}

UNIT_TEST(an_alternative_of_the_old_tables_is_taken_no_more)
{
	struct tables tables = make_tables(4, BIT64(4) | BIT64(5));
	struct bench *bench = make_adaptive("none");

	assert_int_equal(set_tables(bench, &tables), 0);
	tell(bench, 4, 3, 1);
	assert_int_equal(arrive(bench, 0, 3)->out_port, 5);
	exchange(bench, &tables, make_tables(4, BIT64(4) | BIT64(6)));
	assert_int_equal(arrive(bench, 0, 3)->out_port, 4); /* not notified */
	tell(bench, 4, 3, 1);
	assert_int_equal(arrive(bench, 0, 3)->out_port, 6);
	assert_int_equal(bench->sw->congestion->table->counters.forgotten, 1);
	finish(bench, &tables);
}

UNIT_TEST(a_switch_acts_at_the_stage_that_its_tables_give_it)
{
	struct tables tables = make_tables(4, BIT64(4) | BIT64(5));
	struct tables next = make_tables(4, BIT64(4) | BIT64(5));
	struct bench *bench = make_adaptive("none");

	assert_int_equal(set_tables(bench, &tables), 0);
	next.stage = 2;
	exchange(bench, &tables, next);
	tell(bench, 4, 3, 1);
	assert_int_equal(arrive(bench, 0, 3)->out_port, 4); /* others are meant */
	tell(bench, 4, 2, 2);
	assert_int_equal(arrive(bench, 0, 2)->out_port, 5);
	finish(bench, &tables);
}

UNIT_TEST(an_adaptation_may_come_before_the_first_tables)
{
	struct tables tables = make_tables(4, BIT64(4) | BIT64(5));
	struct bench *bench = make_adaptive("none");

	tell(bench, 4, 3, 1);
	arrive(bench, 0, 3);
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_NO_ROUTE), 1);
	bench_check(bench);
	assert_int_equal(set_tables(bench, &tables), 0);
	assert_int_equal(arrive(bench, 0, 3)->out_port, 4);
	finish(bench, &tables);
}

UNIT_TEST(tables_that_do_not_fit_an_adaptation_are_refused)
{
	struct tables tables = make_ring();
	struct switch_routing routing = {.port = tables.port,
		.alternatives = tables.alternatives,
		.hosts = BENCH_HOSTS,
		.vc_rule = tables.rule};
	struct bench *bench = make_adaptive("none");

	expect_refusal(bench, &routing);
	routing.vc_rule = NULL;
	routing.alternatives = NULL;
	expect_refusal(bench, &routing);
	routing.alternatives = tables.alternatives;
	routing.hosts = BENCH_HOSTS + 1;
	expect_refusal(bench, &routing);
	routing.hosts = BENCH_HOSTS;
	assert_int_equal(switch_set_routing(bench->sw, &routing), 0);
	finish(bench, &tables);
}

UNIT_TEST(service_levels_stay_out_of_the_afc)
{
	struct switch_congestion_config config = adapt_config("none");
	struct tables tables = make_tables(1, 0);
	struct switch_config own = bench_config(PORTS, VCS);
	uint8_t sl_to_vc[16] = {0};
	struct switch_routing routing = {.port = tables.port,
		.alternatives = tables.alternatives,
		.hosts = BENCH_HOSTS,
		.sl_to_vc = sl_to_vc};
	struct bench *bench;

	memset(own.sl_to_vc, 0, sizeof(own.sl_to_vc));
	bench = bench_create(&own);
	config.afi = true;
	assert_int_equal(switch_congestion(bench->sw, &config), 0);
	sl_to_vc[7] = VCS - 1;
	expect_refusal(bench, &routing);
	sl_to_vc[7] = VCS - 2;
	assert_int_equal(switch_set_routing(bench->sw, &routing), 0);
	finish(bench, &tables);
}

/* ---- Under load: every packet leaves according to the tables at its arrival. */

struct load {
	struct bench *bench;
	struct tables tables;
	struct rng rng;
	uint64_t allowed[BENCH_PACKETS]; /* outputs, by packet */
	unsigned left, generations;
};

static struct tables draw_tables(struct rng *rng)
{
	struct tables tables = make_tables(0, 0);

	for (unsigned host = 0; host < BENCH_HOSTS; host++) {
		tables.port[host] = (uint8_t)rng_below(rng, PORTS - 1);
		tables.alternatives[host] = BIT64(tables.port[host]) |
					    BIT64(rng_below(rng, PORTS - 1)) |
					    BIT64(rng_below(rng, PORTS - 1));
	}
	return tables;
}

static void load_arrive(struct load *load, bool adapts)
{
	unsigned vc = (unsigned)rng_below(&load->rng, VCS);
	uint16_t destination = (uint16_t)rng_below(&load->rng, BENCH_HOSTS);
	const struct bench_packet what = {.destination = destination,
		.vc = (uint8_t)vc,
		.vc_original = (uint8_t)vc,
		.sl = (uint8_t)vc};
	unsigned input = (unsigned)rng_below(&load->rng, PORTS);
	unsigned number = bench_arrive(load->bench, input, &what);

	load->allowed[number] = adapts ? load->tables.alternatives[destination]
				       : BIT64(load->tables.port[destination]);
	bench_told(load->bench, input);
}

static void load_leave(struct load *load)
{
	unsigned output = (unsigned)rng_below(&load->rng, PORTS);
	int number = bench_leave(load->bench, output);

	if (number < 0)
		return;
	assert_true((load->allowed[number] & BIT64(output)) != 0);
	load->left++;
}

static void load_step(struct load *load, bool adapts)
{
	unsigned port = (unsigned)rng_below(&load->rng, PORTS);

	switch (rng_below(&load->rng, 10)) {
	case 0:
		bench_grant(load->bench, port, (unsigned)rng_below(&load->rng, VCS), 4);
		break;
	case 1:
		if (adapts)
			tell(load->bench, port, (uint16_t)rng_below(&load->rng, BENCH_HOSTS), 1);
		break;
	case 2:
	case 3:
	case 4:
		if (load->bench->packets < BENCH_PACKETS)
			load_arrive(load, adapts);
		break;
	default:
		load_leave(load);
	}
}

static void run_load(const char *mode, bool voq)
{
	struct load load = {.bench = mode != NULL ? make_adaptive(mode) : make(voq)};

	rng_init(&load.rng, 11, 1, 2);
	load.tables = draw_tables(&load.rng);
	assert_int_equal(set_tables(load.bench, &load.tables), 0);
	for (unsigned i = 0; i < 12000; i++) {
		load.bench->now += PS_PER_US;
		load_step(&load, mode != NULL);
		if (i % 37 != 0)
			continue;
		exchange(load.bench, &load.tables, draw_tables(&load.rng));
		load.generations++;
	}
	assert_true(load.left > 1000 && load.generations > 300);
	finish(load.bench, &load.tables);
}

UNIT_TEST(every_packet_leaves_by_what_was_in_use_when_it_came)
{
	run_load(NULL, true);
	run_load(NULL, false);
	run_load("oblivious", true);
	run_load("none", true);
}
