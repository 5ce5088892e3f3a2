/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Programs, libweft, endpoints and interfaces together. */

#include "endpoint_bed.h"

#include <poll.h>

#include "host/weft_client_private.h"

#define STEPS_MAX 400000

static struct weft *opened[PAIR_HOSTS * BED_ENDPOINTS];
static const struct weft *idle; /* that does not poll */

/* NULL: none is free. */
static struct weft *try_open(const char *host)
{
	unsigned at = 0;

	while (opened[at] != NULL)
		at++;
	return weft_open(host, &opened[at]) == 0 ? opened[at] : NULL;
}

static struct weft *open_at(const char *host)
{
	struct weft *weft = try_open(host);

	assert_non_null(weft);
	return weft;
}

static void close_one(struct weft *weft)
{
	for (unsigned i = 0; i < PAIR_HOSTS * BED_ENDPOINTS; i++)
		if (opened[i] == weft)
			opened[i] = NULL;
	weft_close(weft);
}

static void close_all(void)
{
	for (unsigned i = 0; i < PAIR_HOSTS * BED_ENDPOINTS; i++)
		if (opened[i] != NULL)
			close_one(opened[i]);
	idle = NULL;
}

static void stop_all(void)
{
	close_all();
	bed_stop();
}

/* Moves the data of all programs except the one that does not poll. */
static void turn(const struct weft *without)
{
	for (unsigned i = 0; i < PAIR_HOSTS * BED_ENDPOINTS; i++)
		if (opened[i] != NULL && opened[i] != without)
			weft_poll(opened[i], NULL, 0);
	bed_step();
}

static struct weft_address address_of(const struct weft *weft)
{
	return weft_address(weft);
}

/* Returns the next event of the program. The clock advances until there is one. */
static struct weft_event event_of(struct weft *weft)
{
	struct weft_event event;

	for (unsigned i = 0; i < STEPS_MAX; i++) {
		if (weft_poll(weft, &event, 1) == 1)
			return event;
		turn(idle);
	}
	fail_msg("no event");
	return (struct weft_event){.error = -ETIME};
}

static bool has_event(struct weft *weft, unsigned steps)
{
	struct weft_event event;

	for (unsigned i = 0; i < steps; i++) {
		if (weft_poll(weft, &event, 1) == 1)
			return true;
		bed_step();
	}
	return false;
}

/* Opens programs on h0 and h1. Returns the address of the second one. */
static struct weft_address start_two(struct weft **a, struct weft **b)
{
	bed_start(1);
	*a = open_at("h0");
	*b = open_at("h1");
	return address_of(*b);
}

static void fill(uint8_t *data, uint64_t bytes, uint64_t seed)
{
	for (uint64_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)rng_mix(seed + i);
}

/* --- messages of drawn sizes between drawn programs --- */

#define PROGRAMS 5
#define MESSAGES 300
#define LONGEST  6000

struct exchange {
	struct weft *weft[PROGRAMS];
	struct message_record {
		unsigned from, to;
		uint64_t bytes;
		uint8_t sent[LONGEST], received[LONGEST];
	} * message;
	unsigned events;
};

/* Sends on even contexts, and receives on odd ones. */
static void note(struct exchange *exchange, unsigned program, const struct weft_event *event)
{
	unsigned number = (unsigned)((uintptr_t)event->context / 2);
	const struct message_record *message = &exchange->message[number];

	assert_int_equal(event->error, 0);
	exchange->events++;
	if (event->kind == WEFT_SENT) {
		assert_int_equal(message->from, program);
		return;
	}
	assert_int_equal(message->to, program);
	assert_int_equal(event->bytes, message->bytes);
	assert_int_equal(event->tag, number);
	assert_int_equal(event->from.life, address_of(exchange->weft[message->from]).life);
	assert_memory_equal(message->received, message->sent, message->bytes);
}

static void look(struct exchange *exchange)
{
	struct weft_event event;

	for (unsigned i = 0; i < PROGRAMS; i++)
		while (rng_below(&bed.rng, 4) > 0 && weft_poll(exchange->weft[i], &event, 1) == 1)
			note(exchange, i, &event);
}

static void post(struct exchange *exchange, unsigned number, bool send)
{
	struct message_record *message = &exchange->message[number];
	struct weft_address from = address_of(exchange->weft[message->from]);
	struct weft_address to = address_of(exchange->weft[message->to]);
	void *context = (void *)(uintptr_t)(2 * number + !send);

	if (send)
		assert_int_equal(weft_send(exchange->weft[message->from], &to, number,
					 message->sent, message->bytes, context),
			0);
	else
		assert_int_equal(weft_recv(exchange->weft[message->to], number % 2 ? &from : NULL,
					 number, UINT64_MAX, message->received, LONGEST, context),
			0);
}

/* 'stored': this much of unexpected messages is stored. */
static void run_exchange(uint64_t seed, uint32_t loss_ppm, int64_t stored)
{
	static const char *const host[PROGRAMS] = {"h0", "h1", "h1", "h2", "h3"};
	struct exchange exchange = {.message = calloc(MESSAGES, sizeof(*exchange.message))};
	unsigned next[2] = {0, 0}; /* receive, send */

	bed_start(seed);
	bed.loss_ppm = loss_ppm;
	for (unsigned i = 0; i < PROGRAMS; i++)
		(exchange.weft[i] = open_at(host[i]))->stored_left = stored;
	for (unsigned i = 0; i < MESSAGES; i++) {
		struct message_record *message = &exchange.message[i];

		message->from = (unsigned)rng_below(&bed.rng, PROGRAMS);
		message->to = (unsigned)rng_below(&bed.rng, PROGRAMS);
		message->bytes = rng_below(&bed.rng, i % 3 ? 200 : LONGEST);
		fill(message->sent, message->bytes, i);
	}
	for (unsigned i = 0; exchange.events < 2 * MESSAGES; i++) {
		unsigned what = (unsigned)rng_below(&bed.rng, 2);

		assert_true(i < STEPS_MAX);
		if (next[what] < MESSAGES)
			post(&exchange, next[what]++, what == 1);
		if (rng_below(&bed.rng, 2) == 0)
			bed_step();
		look(&exchange);
	}
	for (unsigned i = 0; i < PROGRAMS; i++)
		close_one(exchange.weft[i]);
	bed_stop();
	free(exchange.message);
}

UNIT_TEST(messages_of_all_sizes_arrive_once)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		run_exchange(seed, 0, 1 << 20);
}

UNIT_TEST(messages_arrive_once_where_little_is_stored)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		run_exchange(seed, 0, 2000);
}

UNIT_TEST(messages_survive_lost_frames)
{
	for (uint64_t seed = 1; seed <= 4; seed++)
		run_exchange(seed, 30000, 2000);
}

UNIT_TEST(messages_of_a_sender_match_in_order)
{
	struct weft *a, *b;
	struct weft_address to;
	uint32_t number[40], got[40];

	to = start_two(&a, &b);
	for (uint32_t i = 0; i < 40; i++) {
		number[i] = i;
		assert_int_equal(weft_send(a, &to, 7, &number[i], sizeof(number[i]), NULL), 0);
	}
	for (unsigned i = 0; i < 100; i++) {
		bed_step();
		weft_poll(b, NULL, 0);
	}
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(weft_recv(b, NULL, 0, 0, &got[i], sizeof(got[i]), &got[i]), 0);
	for (uint32_t i = 0; i < 40; i++) {
		assert_ptr_equal(event_of(b).context, &got[i]);
		assert_int_equal(got[i], i);
	}
	stop_all();
}

UNIT_TEST(a_message_longer_than_the_buffer_is_cut_with_an_error)
{
	static const uint64_t sizes[] = {100, 5000};
	uint8_t sent[5000], got[64] = {0};
	struct weft *a, *b;
	struct weft_address to;

	to = start_two(&a, &b);
	fill(sent, sizeof(sent), 3);
	for (unsigned i = 0; i < 2; i++) {
		struct weft_event event;

		assert_int_equal(weft_recv(b, NULL, 0, 0, got, 50, NULL), 0);
		assert_int_equal(weft_send(a, &to, 0, sent, sizes[i], NULL), 0);
		event = event_of(b);
		assert_int_equal(event.error, -EMSGSIZE);
		assert_int_equal(event.bytes, sizes[i]);
		assert_memory_equal(got, sent, 50);
		assert_int_equal(got[50], 0);
		assert_int_equal(event_of(a).error, 0);
	}
	stop_all();
}

/* Buffers that end before, at and after the first piece. Receives that are posted before the
 * message arrives, while it arrives, and afterwards. With and without space to store that piece. */
UNIT_TEST(a_long_message_is_cut_to_any_buffer_whenever_it_is_received)
{
	static uint8_t sent[5000], got[2001];
	const uint32_t piece = endpoint_piece_bytes(BED_MTU);
	const uint64_t room[] = {0, 1, 50, piece - 1, piece, piece + 1, 2000};
	struct weft *a, *b;
	struct weft_address to = start_two(&a, &b);

	fill(sent, sizeof(sent), 5);
	for (unsigned i = 0; i < 2 * 12 * 7; i++) {
		uint64_t bytes = room[i / 12 % 7];
		struct weft_event event;

		memset(got, 0, sizeof(got));
		b->stored_left = i < 12 * 7 ? 1 << 20 : 0;
		assert_int_equal(weft_send(a, &to, 0, sent, sizeof(sent), NULL), 0);
		for (unsigned turns = i % 12; turns > 0; turns--)
			turn(NULL);
		assert_int_equal(weft_recv(b, NULL, 0, 0, got, bytes, NULL), 0);
		event = event_of(b);
		assert_int_equal(event.error, -EMSGSIZE);
		assert_int_equal(event.bytes, sizeof(sent));
		assert_memory_equal(got, sent, bytes);
		assert_int_equal(got[bytes], 0);
		assert_int_equal(event_of(a).error, 0);
	}
	stop_all();
}

UNIT_TEST(the_first_piece_of_a_long_message_does_not_wait_for_the_receiver)
{
	static uint8_t data[2000];
	const uint32_t piece = endpoint_piece_bytes(BED_MTU);
	struct weft *a, *b;
	struct weft_address to = start_two(&a, &b);

	assert_int_equal(weft_send(a, &to, 0, data, piece + 1, NULL), 0);
	assert_int_equal(weft_recv(b, NULL, 0, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(event_of(b).error, 0);
	assert_int_equal(event_of(a).error, 0);
	assert_int_equal(endpoint_set_counters(bed.node[0].set)[ENDPOINT_PIECES_SENT], 2);
	stop_all();
}

/* One piece can be stored, but not two. */
UNIT_TEST(what_is_not_stored_of_a_long_message_is_sent_again)
{
	static uint8_t sent[3000], got[3000];
	const uint32_t piece = endpoint_piece_bytes(BED_MTU);
	struct weft *a, *b;
	struct weft_address to = start_two(&a, &b);

	fill(sent, sizeof(sent), 5);
	b->stored_left = piece + 1;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(weft_send(a, &to, i, sent, sizeof(sent), NULL), 0);
	for (unsigned i = 0; i < 100; i++)
		turn(NULL);
	assert_int_equal(b->unexpected->bytes, piece);
	assert_int_equal(b->unexpected->next->bytes, 0);
	for (unsigned i = 0; i < 2; i++) {
		memset(got, 0, sizeof(got));
		assert_int_equal(weft_recv(b, NULL, i, 1, got, sizeof(got), NULL), 0);
		assert_int_equal(event_of(b).error, 0);
		assert_memory_equal(got, sent, sizeof(sent));
		assert_int_equal(event_of(a).error, 0);
	}
	assert_int_equal(b->stored_left, piece + 1);
	stop_all();
}

/* Received before it is sent, or afterwards. */
UNIT_TEST(a_message_with_fewer_bytes_than_it_says_fails)
{
	uint8_t data[100] = {0};
	struct weft *a, *b;
	struct weft_address to = start_two(&a, &b);

	for (unsigned early = 0; early < 2; early++) {
		if (early)
			assert_int_equal(weft_recv(b, NULL, 0, 0, data, sizeof(data), NULL), 0);
		assert_int_equal(weft_send(a, &to, 0, data, sizeof(data), NULL), 0);
		a->orders[early].bytes = 50;
		for (unsigned i = 0; i < 10; i++)
			turn(NULL);
		if (!early)
			assert_int_equal(weft_recv(b, NULL, 0, 0, data, sizeof(data), NULL), 0);
		assert_int_equal(event_of(b).error, -EPROTO);
	}
	stop_all();
}

/* A long message of 'a' has its grant, which 'a' has not read. 'a' has polled 'polls' times. */
static void start_granted(
	struct weft **a, struct weft **b, uint8_t *data, uint64_t bytes, unsigned polls)
{
	struct weft_address to = start_two(a, b);

	assert_int_equal(weft_recv(*b, NULL, 0, 0, data, bytes, NULL), 0);
	assert_int_equal(weft_send(*a, &to, 0, data, bytes, NULL), 0);
	while (polls-- > 0)
		weft_poll(*a, NULL, 0);
	for (unsigned i = 0; i < 100; i++)
		turn(*a);
}

/* The grant of a long message arrives, and more pieces are due than one call sends. */
UNIT_TEST(a_program_with_pieces_to_send_is_not_told_to_sleep)
{
	static uint8_t data[200000];
	struct weft *a, *b;

	start_granted(&a, &b, data, sizeof(data), 100);
	assert_int_equal(weft_poll(a, NULL, 0), 0);
	assert_int_equal(weft_arm(a), 0);
	stop_all();
}

/* Pieces that one call sends. */
static unsigned pieces_of_a_call(struct weft *weft)
{
	uint32_t before = weft->ordered;

	weft_poll(weft, NULL, 0);
	return weft->ordered - before;
}

UNIT_TEST(a_program_that_computes_between_calls_fills_all_slots)
{
	static uint8_t data[200000];
	struct weft *a, *b;

	start_granted(&a, &b, data, sizeof(data), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(pieces_of_a_call(a), i == 0 ? ENDPOINT_SEND_SLOTS : 80);
		for (unsigned turns = 0; turns < 400; turns++)
			turn(a);
	}
	stop_all();
}

UNIT_TEST(a_program_that_waits_sends_a_window_and_then_lets_the_interface_run)
{
	static uint8_t data[200000];
	struct weft *a, *b;

	start_granted(&a, &b, data, sizeof(data), 100);
	assert_int_equal(pieces_of_a_call(a), 8);
	stop_all();
}

UNIT_TEST(a_program_that_sleeps_sends_a_window_and_then_lets_the_interface_run)
{
	static uint8_t data[200000];
	struct weft *a, *b;
	struct weft_address to = start_two(&a, &b);

	assert_int_equal(weft_recv(b, NULL, 0, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(weft_send(a, &to, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(weft_arm(a), 1);
	for (unsigned i = 0; i < 100; i++)
		turn(a);
	assert_int_equal(pieces_of_a_call(a), 8);
	stop_all();
}

static struct weft *waiting;

/* The interface is as fast as the program. */
static void carry_all(void)
{
	bed.looked = NULL;
	while (atomic_load(&waiting->marks->completed) != waiting->ordered)
		turn(waiting);
	bed.looked = carry_all;
}

UNIT_TEST(a_program_that_keeps_sending_waits_no_longer_than_it_wants)
{
	static uint8_t data[64 << 20];
	struct weft *b;

	start_granted(&waiting, &b, data, sizeof(data), 0);
	bed.looked = carry_all;
	assert_int_equal(weft_wait(waiting, 1), 0);
	bed.looked = NULL;
	stop_all();
}

/* --- sleep --- */

UNIT_TEST(an_interface_that_sleeps_is_rung_once)
{
	static uint8_t data[1000];
	struct weft *a, *b;
	struct weft_address to = start_two(&a, &b);
	eventfd_t rung;

	assert_true(endpoint_set_rest(bed.node[0].set, true));
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(weft_send(a, &to, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(eventfd_read(bed.node[0].program[0].door, &rung), 0);
	assert_int_equal(rung, 1);
	stop_all();
}

/* --- slow and absent programs --- */

UNIT_TEST(a_program_that_does_not_look_stops_only_what_is_for_it)
{
	struct weft *a, *slow, *other;
	struct weft_address to_slow, to_other;
	uint8_t data[100] = {1}, got[100];
	unsigned arrived = 0;

	bed_start(1);
	a = open_at("h0");
	idle = slow = open_at("h1");
	other = open_at("h1");
	to_slow = address_of(slow);
	to_other = address_of(other);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(weft_send(a, &to_slow, 0, data, sizeof(data), NULL), 0);
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(weft_send(a, &to_other, 0, data, sizeof(data), NULL), 0);
		assert_int_equal(weft_recv(other, NULL, 0, 0, got, sizeof(got), NULL), 0);
		assert_int_equal(event_of(other).error, 0);
	}
	for (unsigned i = 0; i < 2000; i++)
		bed_step();
	assert_true(endpoint_set_counters(bed.node[0].set)[ENDPOINT_PIECES_SENT] < 100);
	assert_int_equal(endpoint_set_counters(bed.node[1].set)[ENDPOINT_OVERRUN], 0);
	idle = NULL;
	for (; arrived < 100; arrived++) {
		assert_int_equal(weft_recv(slow, NULL, 0, 0, got, sizeof(got), NULL), 0);
		assert_int_equal(event_of(slow).error, 0);
	}
	close_one(a);
	close_one(slow);
	close_one(other);
	bed_stop();
}

UNIT_TEST(a_message_to_nobody_fails_and_the_next_program_can_be_reached)
{
	struct weft *a, *b;
	struct weft_address to;
	uint8_t data[10] = {1}, got[10];

	bed_start(1);
	a = open_at("h0");
	assert_int_equal(weft_find(a, "h1", 0, &to), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(weft_send(a, &to, 0, data, sizeof(data), NULL), 0);
		assert_int_equal(event_of(a).error, -ECONNRESET);
	}
	b = open_at("h1");
	assert_int_equal(weft_recv(b, NULL, 0, 0, got, sizeof(got), NULL), 0);
	assert_int_equal(weft_send(a, &to, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(event_of(b).error, 0);
	assert_int_equal(event_of(a).error, 0);
	stop_all();
}

UNIT_TEST(only_an_early_event_leaves_the_fate_of_a_message_open)
{
	struct weft *a;
	uint8_t data[10] = {1};
	struct weft_message message = {.buffer = data, .bytes = sizeof(data)};

	bed_start(1);
	a = open_at("h0");
	assert_int_equal(weft_find(a, "h1", 0, &message.to), 0);
	for (unsigned immediate = 0; immediate <= WEFT_IMMEDIATE; immediate += WEFT_IMMEDIATE) {
		message.flags = immediate;
		assert_int_equal(weft_post_send(a, &message), 0);
		assert_int_equal(event_of(a).error, -ECONNRESET);
		message.flags = immediate | WEFT_EARLY;
		assert_int_equal(weft_post_send(a, &message), 0);
		assert_int_equal(event_of(a).error, 0);
	}
	close_one(a);
	bed_stop();
}

/* The program learns from a message that the other program now exists. */
UNIT_TEST(a_program_that_was_not_there_can_be_reached_by_its_life)
{
	struct weft *a, *b;
	struct weft_address to, life;
	uint8_t data[10] = {1}, got[10];

	bed_start(1);
	a = open_at("h0");
	assert_int_equal(weft_find(a, "h1", 0, &to), 0);
	assert_int_equal(weft_send(a, &to, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(event_of(a).error, -ECONNRESET);
	b = open_at("h1");
	life = address_of(b);
	assert_int_equal(weft_send(a, &life, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(event_of(a).error, 0);
	assert_int_equal(weft_recv(b, NULL, 0, 0, got, sizeof(got), NULL), 0);
	assert_int_equal(event_of(b).error, 0);
	stop_all();
}

/* It ends before its interface has sent anything. */
UNIT_TEST(a_message_that_was_received_has_not_failed)
{
	struct weft *a, *b;
	struct weft_address to;
	uint8_t data[10] = {1}, got[10];

	to = start_two(&a, &b);
	assert_int_equal(weft_recv(b, NULL, 0, 0, got, sizeof(got), NULL), 0);
	assert_int_equal(weft_send(a, &to, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(event_of(b).error, 0);
	close_one(b);
	assert_int_equal(event_of(a).error, 0);
	stop_all();
}

UNIT_TEST(peers_of_a_program_that_ends_get_errors)
{
	static uint8_t big[20000], got[20000];

	for (unsigned long_one = 0; long_one < 2; long_one++) {
		struct weft *a, *b;
		struct weft_address to_a, to_b;
		unsigned errors = 0;

		bed_start(long_one);
		a = open_at("h0");
		b = open_at("h1");
		to_a = address_of(a);
		to_b = address_of(b);
		assert_int_equal(weft_recv(b, &to_a, 1, UINT64_MAX, got, 1, NULL), 0);
		assert_int_equal(weft_send(a, &to_b, 1, big, 1, NULL), 0);
		assert_int_equal(event_of(a).error, 0);
		/* A receive, a send that requests a flow, and a send that fills the window. */
		assert_int_equal(weft_recv(a, &to_b, 2, UINT64_MAX, got, sizeof(got), NULL), 0);
		assert_int_equal(weft_send(a, &to_b, 2, big, long_one ? sizeof(big) : 10, NULL), 0);
		for (unsigned i = 0; i < 80; i++)
			assert_int_equal(weft_send(a, &to_b, 3, big, 100, NULL), 0);
		for (unsigned i = 0; i < 50; i++)
			bed_step();
		close_one(b);
		for (unsigned i = 0; i < 82; i++)
			errors += event_of(a).error == -ECONNRESET;
		assert_true(errors >= 17);
		assert_int_equal(weft_send(a, &to_b, 3, big, 100, NULL), 0);
		assert_int_equal(event_of(a).error, -ECONNRESET);
		assert_false(has_event(a, 100));
		close_one(a);
		for (unsigned i = 0; i < 200; i++)
			bed_step();
		assert_null(bed.node[0].program[0].endpoint);
		assert_null(bed.node[1].program[0].endpoint);
		bed_stop();
	}
}

/* More than a window, so the receiver must first poll. */
UNIT_TEST(messages_that_a_program_sent_before_it_ended_arrive)
{
	static uint8_t data[100][40], got[100][40];
	struct weft *a, *b;
	struct weft_address to, from;

	to = start_two(&a, &b);
	from = address_of(a);
	for (unsigned i = 0; i < 100; i++) {
		fill(data[i], sizeof(data[i]), i);
		assert_int_equal(weft_send(a, &to, 0, data[i], sizeof(data[i]), NULL), 0);
		assert_int_equal(
			weft_recv(b, NULL, 0, UINT64_MAX, got[i], sizeof(got[i]), NULL), 0);
	}
	assert_int_equal(weft_recv(b, &from, 9, UINT64_MAX, NULL, 0, NULL), 0);
	close_one(a);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(event_of(b).error, 0);
	assert_int_equal(event_of(b).error, -ECONNRESET);
	assert_memory_equal(got, data, sizeof(got));
	stop_all();
}

UNIT_TEST(a_peer_that_cannot_be_reached_ends_in_an_error)
{
	static uint8_t data[100];
	struct weft *a, *b;
	struct weft_address to;

	to = start_two(&a, &b);
	bed.cut[1] = true;
	assert_int_equal(weft_send(a, &to, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(event_of(a).error, -ETIMEDOUT);
	assert_int_equal(weft_send(a, &to, 0, data, sizeof(data), NULL), 0);
	assert_int_equal(event_of(a).error, -ETIMEDOUT);
	stop_all();
}

/* They wait because the peer does not poll. The interface has no outstanding piece of them. */
UNIT_TEST(messages_behind_a_closed_window_fail_when_the_peer_is_cut_off)
{
	static uint8_t data[50]; /* a frame */
	struct weft *a;
	struct weft_address to;

	bed_start(1);
	a = open_at("h0");
	idle = open_at("h1");
	to = address_of(idle);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(weft_send(a, &to, 0, data, sizeof(data), NULL), 0);
	for (unsigned i = 0; i < 500; i++)
		turn(idle);
	bed.cut[1] = true;
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(event_of(a).error, i < 64 ? 0 : -ETIMEDOUT);
	stop_all();
}

UNIT_TEST(programs_that_come_and_go_leave_slots_for_others)
{
	static uint8_t data[100], got[100];
	struct weft_address to;
	struct weft *slow, *last;

	bed_start(1);
	idle = slow = open_at("h1");
	to = address_of(idle);
	for (unsigned life = 0; life < 400; life++) {
		struct weft *guest = open_at("h0");

		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(weft_send(guest, &to, 0, data, sizeof(data), NULL), 0);
		for (unsigned i = 0; i < 20; i++)
			turn(idle);
		close_one(guest);
		for (unsigned i = 0; i < 20; i++)
			turn(idle);
	}
	last = open_at("h2");
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(weft_send(last, &to, 7, data, sizeof(data), NULL), 0);
	for (unsigned i = 0; i < 100; i++)
		turn(idle);
	idle = NULL;
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(weft_recv(slow, NULL, 7, UINT64_MAX, got, sizeof(got), NULL), 0);
		assert_int_equal(event_of(slow).error, 0);
		assert_int_equal(event_of(last).error, 0);
	}
	stop_all();
}

/* Addresses of programs that exist, that have ended, and that never existed. Hosts that are cut off
 * for less and for more than the time after which their peers give up. */
struct wandering {
	struct weft *weft[3]; /* NULL: it has ended */
	int waiting[3];       /* sends without an event */
	struct weft_address address[8];
};

/* False: it has ended, and its host has no free endpoint yet. */
static bool come_and_go(struct wandering *all, unsigned who)
{
	static const char *const host[] = {"h0", "h1", "h2"};
	struct weft_address *address = &all->address[rng_below(&bed.rng, 8)];

	if (rng_below(&bed.rng, 50) == 0 && all->weft[who] != NULL) {
		close_one(all->weft[who]);
		all->weft[who] = NULL;
		all->waiting[who] = 0;
	}
	if (rng_below(&bed.rng, 10) == 0)
		*address = (struct weft_address){(uint16_t)rng_below(&bed.rng, PAIR_HOSTS),
			(uint16_t)rng_below(&bed.rng, BED_ENDPOINTS), 0};
	if (all->weft[who] != NULL)
		return true;
	all->weft[who] = try_open(host[who]);
	if (all->weft[who] != NULL)
		*address = address_of(all->weft[who]);
	return all->weft[who] != NULL;
}

static void send_anywhere(struct wandering *all)
{
	static uint8_t data[100];
	unsigned who = (unsigned)rng_below(&bed.rng, 3);
	struct weft_event event;

	if (rng_below(&bed.rng, 200) == 0)
		bed.cut[who] = !bed.cut[who];
	if (come_and_go(all, who)) {
		assert_int_equal(weft_send(all->weft[who], &all->address[rng_below(&bed.rng, 8)], 0,
					 data, rng_below(&bed.rng, 100), NULL),
			0);
		all->waiting[who]++;
	}
	idle = all->weft[rng_below(&bed.rng, 3)];
	for (uint64_t steps = rng_below(&bed.rng, rng_below(&bed.rng, 300) ? 3 : 5000);
		steps-- > 0;)
		bed_step();
	for (unsigned i = 0; i < 3; i++)
		while (all->weft[i] != NULL && all->weft[i] != idle &&
			weft_poll(all->weft[i], &event, 1) == 1)
			all->waiting[i]--;
}

UNIT_TEST(each_send_ends_wherever_it_goes)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct wandering all = {.waiting = {0}};

		bed_start(seed);
		for (unsigned i = 0; i < 3000; i++)
			send_anywhere(&all);
		idle = NULL;
		for (unsigned i = 0; i < 3; i++)
			while (all.waiting[i]-- > 0)
				event_of(all.weft[i]);
		close_all();
		bed_stop();
	}
}

UNIT_TEST(everything_fails_when_the_process_of_the_lab_has_ended)
{
	static uint8_t data[100];
	struct weft *a;
	struct weft_address to = {1, 0, 0};

	bed_start(1);
	a = open_at("h0");
	assert_int_equal(weft_recv(a, NULL, 0, 0, data, sizeof(data), NULL), 0);
	bed_end_process();
	assert_int_equal(event_of(a).error, -ENETDOWN);
	assert_int_equal(weft_send(a, &to, 0, data, sizeof(data), NULL), -ENETDOWN);
	assert_int_equal(weft_wait(a, -1), -ENETDOWN);
	assert_int_equal(weft_poll(a, NULL, 0), -ENETDOWN);
	stop_all();
}

/* Without a pending operation there is no event, so the error itself must arrive. */
UNIT_TEST(the_end_of_the_process_of_the_lab_wakes_a_program_that_waits)
{
	struct weft_event event;
	struct pollfd watched;
	struct weft *a;

	bed_start(1);
	a = open_at("h0");
	watched = (struct pollfd){weft_fd(a), POLLIN, 0};
	assert_int_equal(weft_poll(a, &event, 1), 0);
	assert_int_equal(weft_arm(a), 1);
	assert_int_equal(poll(&watched, 1, 0), 0);
	bed_end_process();
	assert_int_equal(poll(&watched, 1, 0), 1);
	assert_int_equal(weft_arm(a), 0);
	assert_int_equal(weft_poll(a, &event, 1), -ENETDOWN);
	assert_int_equal(weft_wait(a, 1000), -ENETDOWN);
	stop_all();
}

UNIT_TEST(a_number_of_no_endpoint_opens_none)
{
	static const int number[] = {-2, ENDPOINTS_MAX, UINT16_MAX, 65536, 65537};
	struct weft *a;

	bed_start(1);
	for (unsigned i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		assert_int_equal(weft_open_endpoint("h0", number[i], &a), -ENOENT);
	bed_stop();
}

UNIT_TEST(bytes_without_a_buffer_are_refused)
{
	struct weft_address to;
	struct weft *a;

	bed_start(1);
	a = open_at("h0");
	to = address_of(a);
	assert_int_equal(weft_send(a, &to, 0, NULL, 1, NULL), -EINVAL);
	assert_int_equal(weft_recv(a, NULL, 0, 0, NULL, 1, NULL), -EINVAL);
	assert_int_equal(weft_send(a, &to, 0, NULL, 0, NULL), 0);
	assert_int_equal(event_of(a).error, 0);
	stop_all();
}

UNIT_TEST(a_receive_can_be_cancelled)
{
	uint8_t data[4];
	struct weft *a;

	bed_start(1);
	a = open_at("h0");
	assert_int_equal(weft_recv(a, NULL, 0, 0, data, sizeof(data), data), 0);
	assert_int_equal(weft_cancel(a, &a), -ENOENT);
	assert_int_equal(weft_cancel(a, data), 0);
	assert_int_equal(event_of(a).error, -ECANCELED);
	stop_all();
}

UNIT_TEST(a_message_can_be_looked_at_before_it_is_received)
{
	struct weft_receive receive = {.tag = 9, .mask = UINT64_MAX};
	uint8_t data[40] = {5};
	struct weft_event event;
	struct weft *a;
	struct weft_address self;

	bed_start(1);
	a = open_at("h0");
	self = address_of(a);
	assert_int_equal(weft_peek(a, &receive, &event), -EAGAIN);
	assert_int_equal(weft_send(a, &self, 9, data, sizeof(data), NULL), 0);
	assert_int_equal(event_of(a).kind, WEFT_SENT);
	assert_int_equal(weft_peek(a, &receive, &event), 0);
	bed_step();
	assert_int_equal(endpoint_set_counters(bed.node[0].set)[ENDPOINT_UNEXPECTED], 1);
	assert_int_equal(event.bytes, sizeof(data));
	assert_int_equal(event.from.life, self.life);
	stop_all();
}

/* --- a program that writes anything --- */

/* Positions near the correct one, existing orders and slots, and bytes at any position. */
static void scribble(struct program *program)
{
	const struct endpoint_layout *layout = program->memory;
	uint64_t marks = layout->marks, at;
	uint32_t word = (uint32_t)rng_below(&bed.rng, UINT32_MAX);

	switch (rng_below(&bed.rng, 5)) {
	case 0:
		at = marks + 128 * rng_below(&bed.rng, 3);
		*(uint32_t *)((uint8_t *)program->memory + at) += word % 5;
		return;
	case 1:
		at = marks + 4 * rng_below(&bed.rng, sizeof(struct endpoint_marks) / 4);
		break;
	case 2:
		at = layout->orders +
		     4 * rng_below(
				 &bed.rng, ENDPOINT_SEND_SLOTS * sizeof(struct endpoint_order) / 4);
		word &= rng_below(&bed.rng, 2) ? UINT32_MAX : 0x10001;
		break;
	case 3:
		at = layout->returns + 4 * rng_below(&bed.rng, layout->receive_slots);
		word %= layout->receive_slots + 3;
		break;
	default:
		at = marks + 4 * rng_below(&bed.rng, (layout->send - marks) / 4);
	}
	memcpy((uint8_t *)program->memory + at, &word, sizeof(word));
}

UNIT_TEST(a_program_that_scribbles_over_its_memory_harms_only_itself)
{
	/* WEFT_LONG: a million words. */
	const unsigned rounds = getenv("WEFT_LONG") != NULL ? 50000 : 2000, each = 20;
	struct weft *good[2];
	struct weft_address to;
	uint32_t number = 0, got = 0;

	bed_start(5);
	good[0] = open_at("h0");
	good[1] = open_at("h1");
	close(bed_attach(0, 1)); /* without libweft, which would read the written values */
	to = address_of(good[1]);
	for (unsigned i = 0; i < rounds; i++) {
		struct weft_event event;

		for (unsigned k = 0; k < each; k++)
			scribble(&bed.node[0].program[1]);
		number = i;
		assert_int_equal(
			weft_recv(good[1], NULL, 77, UINT64_MAX, &got, sizeof(got), NULL), 0);
		assert_int_equal(weft_send(good[0], &to, 77, &number, sizeof(number), NULL), 0);
		assert_int_equal(event_of(good[0]).error, 0);
		event = event_of(good[1]);
		assert_int_equal(event.error, 0);
		/* The faulty program may also send with this tag. */
		if (event.from.endpoint == 0)
			assert_int_equal(got, i);
	}
	assert_true(endpoint_set_counters(bed.node[0].set)[ENDPOINT_BAD_ORDERS] > 0);
	close_one(good[0]);
	close_one(good[1]);
	bed_stop();
}

UNIT_TEST(names_of_all_counters_are_there)
{
	for (unsigned i = 0; i < ENDPOINT_COUNTER_COUNT; i++)
		assert_non_null(endpoint_counter_name(i));
	assert_null(endpoint_counter_name(ENDPOINT_COUNTER_COUNT));
}
