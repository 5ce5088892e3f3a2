/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Checks wormhole switching to the cycle against formulas (docs/explanation/wormhole.md).
 * wormhole_property_test compares trains with flits that are moved one by one. */

#include <errno.h>

#include "base/rng.h"
#include "unit.h"
#include "wire/frame.h"
#include "wormhole/wormhole_net.h"

#define LETTERS_MAX   6000
#define SIGNALS_MAX   64
#define HOSTS_MAX     64
#define ELEMENTS_MAX  32
#define PORT_DOWN     0 /* port to the previous switch */
#define PORT_UP       1 /* port to the next switch */
#define PORT_HOST     2 /* port to the first host */
#define PERIOD(bytes) ((bytes)-1 + 1 + 24)

struct letter {
	uint64_t ready, started, delivered; /* WORMHOLE_NEVER: not so */
	uint32_t from, to, bytes;
	unsigned itbs;
	bool discarded;
	uint8_t route[ELEMENTS_MAX], length;
};

struct signal {
	uint64_t at;
	struct topology_port sender;
	bool stop;
};

/* A row of switches with hosts. Host h is at switch h / per_switch. */
struct row {
	struct topology *topology;
	struct wormhole_net *net;
	uint32_t switches, per_switch;
	struct letter letter[LETTERS_MAX];
	uint32_t letters, next[HOSTS_MAX]; /* by host: letters before this index have been sent */
	struct signal signal[SIGNALS_MAX];
	unsigned signals;
	uint64_t waited_max; /* own messages at one host */
};

/* Returns the host's first letter that has not been taken. Letters are in order of time. */
static struct letter *first_of(struct row *row, uint32_t host)
{
	uint32_t *next = &row->next[host];

	while (*next < row->letters && row->letter[*next].from != host)
		(*next)++;
	return *next < row->letters ? &row->letter[*next] : NULL;
}

static uint64_t on_due(void *ctx, uint32_t host, uint64_t now)
{
	const struct letter *letter = first_of(ctx, host);

	return letter != NULL ? letter->ready : WORMHOLE_NEVER;
}

static uint32_t on_waiting(void *ctx, uint32_t host, uint64_t now)
{
	struct row *row = ctx;
	uint32_t count = 0;

	for (uint32_t i = row->next[host]; i < row->letters; i++)
		count += row->letter[i].from == host && row->letter[i].ready <= now;
	if (count > row->waited_max)
		row->waited_max = count;
	return count;
}

static bool on_take(void *ctx, uint32_t host, uint64_t now, struct wormhole_offer *offer)
{
	struct row *row = ctx;
	struct letter *letter = first_of(row, host);

	assert_true(letter->ready <= now);
	*offer = (struct wormhole_offer){.route = letter->route,
		.tag = row->next[host]++,
		.bytes = letter->bytes,
		.destination = (uint16_t)letter->to};
	return true;
}

static void on_delivered(void *ctx, const struct wormhole_message *message, uint64_t at)
{
	struct letter *letter = &((struct row *)ctx)->letter[message->tag];

	assert_int_equal(letter->delivered, WORMHOLE_NEVER);
	letter->started = message->started;
	letter->itbs = message->itbs;
	letter->delivered = at;
}

static void on_discarded(void *ctx, const struct wormhole_message *message, uint64_t now)
{
	((struct row *)ctx)->letter[message->tag].discarded = true;
}

static void on_signal(void *ctx, uint64_t now, struct topology_port sender, bool stop)
{
	struct row *row = ctx;

	if (row->signals < SIGNALS_MAX)
		row->signal[row->signals++] = (struct signal){now, sender, stop};
}

static const struct wormhole_ops ops = {
	.due = on_due,
	.waiting = on_waiting,
	.take = on_take,
	.delivered = on_delivered,
	.discarded = on_discarded,
	.signal = on_signal,
};

static void link_them(struct row *row, struct topology_port a, struct topology_port b)
{
	assert_int_equal(topology_add_link(row->topology, a, b, 1280000000, 49200, 0), 0);
}

static const struct wormhole_parameters parameters_default = WORMHOLE_PARAMETERS_DEFAULT;

/* 'ring': the last switch is linked with the first. */
static struct row *row_create(uint32_t switches, uint32_t per_switch, bool ring,
	const struct wormhole_parameters *parameters)
{
	struct row *row = calloc(1, sizeof(*row));
	struct error error;

	row->switches = switches;
	row->per_switch = per_switch;
	row->topology = topology_create("row", switches, switches * per_switch);
	for (uint32_t i = 0; i < switches; i++) {
		for (uint32_t k = 0; k < per_switch; k++)
			link_them(row, (struct topology_port){DEVICE_HOST, i * per_switch + k, 0},
				(struct topology_port){DEVICE_SWITCH, i, (uint8_t)(PORT_HOST + k)});
		if (i + 1 < switches || ring)
			link_them(row, (struct topology_port){DEVICE_SWITCH, i, PORT_UP},
				(struct topology_port){
					DEVICE_SWITCH, (i + 1) % switches, PORT_DOWN});
	}
	assert_int_equal(topology_finish(row->topology, "row", &error), 0);
	row->net = wormhole_net_create(row->topology, parameters, &ops, row, &error);
	if (row->net == NULL)
		fail_msg("%s", error.text);
	return row;
}

static void row_destroy(struct row *row)
{
	assert_ptr_equal(wormhole_net_check(row->net), NULL);
	wormhole_net_destroy(row->net);
	topology_destroy(row->topology);
	free(row);
}

static void go(struct letter *letter, uint8_t element)
{
	assert_true(letter->length < ELEMENTS_MAX);
	letter->route[letter->length++] = element;
}

/* From switch to switch along the row, and then to the host. */
static void go_to(struct row *row, struct letter *letter, uint32_t *at, uint32_t host)
{
	uint32_t goal = host / row->per_switch;

	for (; *at != goal; *at += *at < goal ? 1u : (uint32_t)-1)
		go(letter, ROUTE_PORT_BIT | (*at < goal ? PORT_UP : PORT_DOWN));
	go(letter, (uint8_t)(ROUTE_PORT_BIT | (PORT_HOST + host % row->per_switch)));
}

/* Through the hosts in 'via' (ITBs), the last of which is the destination. */
static struct letter *post(struct row *row, uint64_t ready, uint32_t from, uint32_t bytes,
	const uint32_t *via, unsigned stations)
{
	struct letter *letter = &row->letter[row->letters++];
	uint32_t at = from / row->per_switch;
	struct error error;

	assert_true(row->letters <= LETTERS_MAX);
	*letter = (struct letter){.ready = ready,
		.started = WORMHOLE_NEVER,
		.delivered = WORMHOLE_NEVER,
		.from = from,
		.to = via[stations - 1],
		.bytes = bytes};
	for (unsigned i = 0; i < stations; i++) {
		go_to(row, letter, &at, via[i]);
		go(letter, i + 1 < stations ? ROUTE_TYPE_ITB : ROUTE_TYPE_HOST);
	}
	if (wormhole_net_check_route(
		    row->net, from, letter->to, letter->route, letter->length, &error) != 0)
		fail_msg("%s", error.text);
	return letter;
}

#define POST(row, ready, from, bytes, ...)                             \
	post(row, ready, from, bytes, (const uint32_t[]){__VA_ARGS__}, \
		sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* Ports through which a message leaves switches. */
static uint64_t crossed(const struct letter *letter)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < letter->length; i++)
		count += (letter->route[i] & ROUTE_PORT_BIT) != 0;
	return count;
}

static void expect_zero_load(uint32_t switches, const uint32_t *via, unsigned stations)
{
	static const uint32_t lengths[] = {1, 2, 8, 9, 24, 25, 32, 57, 80, 512};

	for (unsigned i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		struct row *row = row_create(switches, 2, false, &parameters_default);
		struct letter *letter = post(row, 1000, 0, lengths[i], via, stations);

		wormhole_net_run(row->net, 100000);
		assert_int_equal(letter->started, 1000);
		assert_int_equal(letter->itbs, stations - 1);
		assert_int_equal(letter->delivered - letter->started,
			8 + 32 * crossed(letter) + lengths[i] + 84 * (stations - 1));
		assert_int_equal(wormhole_net_under_way(row->net), 0);
		row_destroy(row);
	}
}

UNIT_TEST(a_message_takes_8_and_32_a_switch_and_its_length)
{
	for (uint32_t switches = 1; switches <= 9; switches++)
		expect_zero_load(switches, (const uint32_t[]){2 * switches - 1}, 1);
}

UNIT_TEST(an_in_transit_buffer_costs_84_and_the_switch_twice)
{
	expect_zero_load(2, (const uint32_t[]){1, 3}, 2);
	expect_zero_load(3, (const uint32_t[]){2, 5}, 2);
	expect_zero_load(5, (const uint32_t[]){4, 9}, 2);
	expect_zero_load(5, (const uint32_t[]){3, 6, 9}, 3);
	expect_zero_load(5, (const uint32_t[]){8, 5}, 2);
}

UNIT_TEST(a_saturated_channel_carries_a_message_in_513_and_23_cycles)
{
	struct row *row = row_create(2, 2, false, &parameters_default);
	uint64_t last;

	for (unsigned i = 0; i < 100; i++) {
		POST(row, 0, 0, 512, 2);
		POST(row, 0, 1, 512, 3);
	}
	wormhole_net_run(row->net, 1000000);
	last = row->letter[199].delivered;
	/* The channel between the switches carries 199 messages after the first. */
	assert_int_equal(last - row->letter[0].delivered, 199 * PERIOD(512));
	assert_int_equal(PERIOD(512), 513 + 23);
	/* 0.1528 flits/ns */
	assert_float_equal(512 / (PERIOD(512) * 6.25), 0.1528, 0.00005);
	row_destroy(row);
}

/* Two hosts want the same output and get it alternately. */
UNIT_TEST(an_output_is_held_until_the_tail_and_then_goes_round)
{
	struct row *row = row_create(1, 4, false, &parameters_default);
	struct letter *letter[6];

	for (unsigned i = 0; i < 6; i++)
		letter[i] = POST(row, 0, i % 3, 100, 3);
	wormhole_net_run(row->net, 100000);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(letter[i]->delivered, 8 + 32 + 100 + i * PERIOD(100));
	row_destroy(row);
}

/* The header waits. STOP is sent with the 57th flit, and GO when the 39th from the end remains. */
UNIT_TEST(stop_and_go_leave_at_the_marks)
{
	struct row *row = row_create(1, 3, false, &parameters_default);
	struct letter *first = POST(row, 0, 0, 500, 2), *second = POST(row, 0, 1, 500, 2);
	uint64_t granted;

	wormhole_net_run(row->net, 100000);
	assert_int_equal(row->signals, 2);
	/* Both 57th flits arrive in cycle 8 + 56. The first message's buffer has started to
	 * empty. */
	assert_true(row->signal[0].stop);
	assert_int_equal(row->signal[0].sender.device, 1);
	assert_int_equal(row->signal[0].at, 8 + 56);
	/* 56 + 1 + 15 flits when all have arrived. The flit that leaves 33 cycles later lowers the
	 * level to 39. */
	granted = 8 + 24 + 500;
	assert_false(row->signal[1].stop);
	assert_int_equal(row->signal[1].at, granted + 24 + 72 - 39 - 1);
	assert_int_equal(first->delivered, 8 + 32 + 500);
	assert_int_equal(second->delivered, 8 + 32 + 500 + PERIOD(500));
	row_destroy(row);
}

UNIT_TEST(what_the_marks_cannot_serve_is_refused)
{
	struct wormhole_parameters low = parameters_default, small = parameters_default;
	struct row *row = row_create(2, 1, false, &parameters_default);
	struct error error;

	low.marks.go = 17;
	assert_int_equal(wormhole_net_check_links(row->topology, &low, &error), -EINVAL);
	assert_non_null(strstr(error.text, "run empty"));
	low.marks.go = 18;
	assert_int_equal(wormhole_net_check_links(row->topology, &low, &error), 0);
	small.marks.slack = 71;
	assert_int_equal(wormhole_net_check_links(row->topology, &small, &error), -EINVAL);
	assert_non_null(strstr(error.text, "overflow"));
	small.marks.slack = 72;
	assert_int_equal(wormhole_net_check_links(row->topology, &small, &error), 0);
	row_destroy(row);
}

static uint64_t sum_delivered(const struct row *row, uint64_t *discarded)
{
	uint64_t count = 0;

	*discarded = 0;
	for (uint32_t i = 0; i < row->letters; i++) {
		count += row->letter[i].delivered != WORMHOLE_NEVER;
		*discarded += row->letter[i].discarded;
	}
	return count;
}

/* A host absorbs much and can send little. Flits that do not fit are counted, and nothing else is
 * lost. */
UNIT_TEST(what_finds_the_pool_full_is_discarded_and_counted)
{
	struct wormhole_parameters parameters = parameters_default;
	struct row *row;
	struct wormhole_counters count;
	uint64_t discarded, delivered;

	parameters.itb_pool_bytes = 8192;
	row = row_create(3, 3, false, &parameters);
	for (unsigned i = 0; i < 200; i++) {
		POST(row, 10 * i, 0, 512, 3, 6);
		POST(row, 10 * i, 1, 512, 3, 7);
		POST(row, 10 * i, 4, 512, 6);
		POST(row, 10 * i, 5, 512, 7);
	}
	while (wormhole_net_run(row->net, wormhole_net_now(row->net) + 1000))
		assert_ptr_equal(wormhole_net_check(row->net), NULL);
	delivered = sum_delivered(row, &discarded);
	count = wormhole_net_counters(row->net);
	assert_true(discarded > 10);
	assert_int_equal(count.discarded, discarded);
	assert_int_equal(delivered + discarded, row->letters);
	assert_int_equal(count.delivered, delivered);
	assert_int_equal(count.pool_peak_bytes, 8192);
	row_destroy(row);
}

/* Figure 96: a host that re-injects all the time still sends its own messages. */
UNIT_TEST(own_messages_are_never_starved)
{
	struct row *row = row_create(3, 2, false, &parameters_default);
	uint64_t between = 0, last = 0, discarded;

	/* Host 2 has more in transit than it can forward, and messages of its own. */
	for (unsigned i = 0; i < 400; i++) {
		POST(row, 500 * i, 0, 512, 2, 4);
		if (i % 10 == 0)
			POST(row, 500 * i, 2, 512, 5);
	}
	wormhole_net_run(row->net, 10000000);
	assert_int_equal(sum_delivered(row, &discarded), row->letters);
	for (unsigned i = 0; i < row->letters; i++) {
		const struct letter *letter = &row->letter[i];

		if (letter->from != 2)
			continue;
		/* At most four messages in transit are sent first, each with its programming. */
		if (letter->started - letter->ready > between)
			between = letter->started - letter->ready;
		assert_true(letter->started >= last);
		last = letter->started;
	}
	assert_true(between > 0);
	assert_true(between <= 5 * (PERIOD(512) + 32));
	row_destroy(row);
}

UNIT_TEST(messages_that_wait_in_a_circle_are_found_in_the_buffers)
{
	struct row *row = row_create(4, 1, true, &parameters_default);
	struct topology_port cycle[8];
	struct letter *letter;

	/* Each message goes halfway around the ring, always up. */
	for (uint32_t i = 0; i < 4; i++) {
		letter = POST(row, 0, i, 512, i);
		letter->length = 0;
		letter->to = (i + 2) % 4;
		go(letter, ROUTE_PORT_BIT | PORT_UP);
		go(letter, ROUTE_PORT_BIT | PORT_UP);
		go(letter, ROUTE_PORT_BIT | PORT_HOST);
		go(letter, ROUTE_TYPE_HOST);
	}
	assert_int_equal(wormhole_net_deadlock(row->net, cycle, 8), 0);
	assert_false(wormhole_net_run(row->net, 100000));
	assert_int_equal(wormhole_net_under_way(row->net), 4);
	assert_int_equal(wormhole_net_deadlock(row->net, cycle, 8), 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(cycle[i].kind, DEVICE_SWITCH);
		assert_int_equal(cycle[i].port, PORT_UP);
		assert_int_equal(cycle[(i + 1) % 4].device, (cycle[i].device + 1) % 4);
	}
	row_destroy(row);
}

UNIT_TEST(nothing_is_lost_under_random_load)
{
	struct wormhole_parameters parameters = parameters_default;
	struct row *row;
	struct rng rng;
	uint64_t discarded, ready = 0;

	parameters.itb_pool_bytes = 2048;
	row = row_create(6, 3, false, &parameters);
	rng_init(&rng, 1, 0, 0);
	while (row->letters < LETTERS_MAX) {
		uint32_t from = (uint32_t)rng_below(&rng, 18), to = (uint32_t)rng_below(&rng, 18);
		uint32_t via = (uint32_t)rng_below(&rng, 18);
		uint32_t bytes = 1 + (uint32_t)rng_below(&rng, rng_below(&rng, 2) ? 512 : 8);

		ready += rng_below(&rng, 30);
		if (from == to || via == from || via == to)
			continue;
		if (rng_below(&rng, 2) != 0)
			POST(row, ready, from, bytes, to);
		else
			POST(row, ready, from, bytes, via, to);
	}
	while (wormhole_net_run(row->net, wormhole_net_now(row->net) + 997))
		assert_ptr_equal(wormhole_net_check(row->net), NULL);
	assert_int_equal(sum_delivered(row, &discarded) + discarded, LETTERS_MAX);
	assert_true(discarded > 0);
	assert_true(row->signals == SIGNALS_MAX);
	row_destroy(row);
}

UNIT_TEST(routes_that_lead_nowhere_are_refused)
{
	static const uint8_t no_port[] = {0x80 | 9, 1}, short_one[] = {0x81}, no_itb[] = {0x82, 1};
	static const uint8_t step[] = {ROUTE_TYPE_STEP, 0x82, 1};
	struct row *row = row_create(2, 1, false, &parameters_default);
	struct error error;

	assert_int_equal(wormhole_net_check_route(row->net, 0, 1, no_port, sizeof(no_port), &error),
		-EINVAL);
	assert_int_equal(
		wormhole_net_check_route(row->net, 0, 1, short_one, sizeof(short_one), &error),
		-EINVAL);
	assert_int_equal(
		wormhole_net_check_route(row->net, 0, 1, no_itb, sizeof(no_itb), &error), -EINVAL);
	assert_int_equal(
		wormhole_net_check_route(row->net, 0, 1, step, sizeof(step), &error), -EINVAL);
	assert_non_null(strstr(error.text, "wormhole switches do not support 'next step'"));
	row_destroy(row);
}
