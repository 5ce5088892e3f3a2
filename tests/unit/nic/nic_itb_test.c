/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* In-transit buffers in the interface. Host 1 is on the path between host 0 and host 2, in both
 * directions. */

#include "nic_pair.h"

#define PORT(n)   (ROUTE_PORT_BIT | (n))
#define BOXES_MAX 256

/* Two switches before the host on the path, and one after it. */
static const uint8_t route[] = {PORT(1), PORT(2), ROUTE_TYPE_ITB, PORT(3), ROUTE_TYPE_HOST};

struct way {
	struct end source, middle, sink;
	struct box box[BOXES_MAX];
	unsigned boxes;
};

static void way_begin(struct end *end, uint16_t host, struct nic_config *config)
{
	nic_routes_destroy(end->routes);
	end->routes = nic_routes_create(PAIR_HOSTS);
	for (uint16_t to = 0; to < PAIR_HOSTS; to++)
		if (to + host == 2)
			assert_int_equal(nic_routes_add(end->routes, to, route, sizeof(route)), 0);
		else
			assert_int_equal(nic_routes_by_table(end->routes, to), 0);
	config->routes = end->routes;
	end_begin(end, config);
}

/* 'pool' is the size of the pool at the host on the path, in bytes. */
static struct way *way_start_with(uint64_t pool, uint32_t messages)
{
	struct way *way = calloc(1, sizeof(*way));
	struct nic_config source, middle, sink;

	assert_non_null(way);
	source = end_config(&way->source, 0, 1);
	middle = end_config(&way->middle, 1, 2);
	sink = end_config(&way->sink, 2, 3);
	source.messages = 2 * messages; /* one peer alone gets half */
	middle.messages = messages;
	source.window_frames = middle.window_frames = 256;
	sink.window_frames = 256;
	middle.itb.pool_bytes = pool;
	middle.itb.pause_ps = PS_PER_MS;
	way_begin(&way->source, 0, &source);
	way_begin(&way->middle, 1, &middle);
	way_begin(&way->sink, 2, &sink);
	return way;
}

static struct way *way_start(void)
{
	return way_start_with(ITB_POOL_BYTES_DEFAULT, 32);
}

static void way_stop(struct way *way)
{
	end_stop(&way->source);
	end_stop(&way->middle);
	end_stop(&way->sink);
	for (unsigned i = 0; i < BOXES_MAX; i++)
		assert_false(way->box[i].held);
	free(way);
}

OWNED_POINTER_BY(way, way_stop)

static void way_wait(struct way *way, weft_time ps)
{
	end_wait(&way->source, ps);
	end_wait(&way->middle, ps);
	end_wait(&way->sink, ps);
}

static struct box *free_box(struct way *way)
{
	for (unsigned i = 0; i < BOXES_MAX; i++)
		if (!way->box[i].held)
			return &way->box[i];
	fail_msg("all boxes are held");
	return NULL;
}

/* Through the switches to the next interface. */
static void cross(struct box *box)
{
	const struct frame_header *header = frame_header_const(box->frame);
	uint8_t cursor = header->cursor;

	while (cursor < header->route_length &&
		(box->frame[FRAME_HEADER_BYTES + cursor] & ROUTE_PORT_BIT) != 0)
		cursor++;
	frame_update_mutable(box->frame,
		frame_mutable_word(header->vc, header->vc_original, cursor, header->flags));
}

/* Returns the next frame that the interface sends, its own or one in transit, at the next
 * interface, or NULL. The link is not asked to renew its credits. */
static struct box *take(struct way *way, struct end *end)
{
	struct box *box = free_box(way);
	struct weft_packet *next = nic_inject(end->nic, end->now, &box->packet);

	if (next == NULL)
		return NULL;
	if (next == &box->packet) {
		nic_frame_build(end->nic, next, box->frame, end->now);
	} else {
		box = (struct box *)next;
		assert_true(box->held);
		box->held = false;
		frame_update_mutable(box->frame, next->mutable_word);
	}
	assert_int_equal(frame_check(box->frame, box->packet.bytes), FRAME_FAULT_OK);
	cross(box);
	return box;
}

static struct end *next_end(struct way *way, const struct box *box)
{
	const struct frame_header *header = frame_header_const(box->frame);

	if (box->frame[FRAME_HEADER_BYTES + header->cursor] == ROUTE_TYPE_ITB &&
		header->route_length != 0)
		return &way->middle;
	return ntohs(header->destination_be) == 0   ? &way->source
	       : ntohs(header->destination_be) == 1 ? &way->middle
						    : &way->sink;
}

/* Carries frames until none of the three has any left to send. */
static void way_exchange(struct way *way)
{
	struct end *ends[] = {&way->source, &way->middle, &way->sink};
	bool more = true;

	while (more) {
		more = false;
		for (unsigned i = 0; i < 3; i++) {
			struct box *box;

			nic_poll(ends[i]->nic, ends[i]->now);
			while ((box = take(way, ends[i])) != NULL) {
				end_give(next_end(way, box), box);
				more = true;
			}
		}
	}
}

/* 'count' messages of one frame from the source to the host on the path. */
static void absorb(struct way *way, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(end_send(&way->source, 2, 0, PAIR_MTU), 0);
	for (unsigned i = 0; i < count; i++) {
		struct box *box = take(way, &way->source);

		assert_non_null(box);
		assert_false(end_give(&way->middle, box));
	}
}

UNIT_TEST(a_frame_in_transit_goes_on_as_it_came_past_its_mark)
{
	OWNED(way) *way = way_start();
	uint8_t before[FRAME_HEADER_BYTES + sizeof(route) + PAIR_MTU];
	struct box *box;

	assert_int_equal(end_send(&way->source, 2, 0, PAIR_MTU), 0);
	box = take(way, &way->source);
	memcpy(before, box->frame, sizeof(before));
	assert_false(end_give(&way->middle, box));
	assert_ptr_equal(take(way, &way->middle), box);
	assert_int_equal(frame_header_const(box->frame)->cursor, 4);
	assert_memory_equal(before, box->frame, FRAME_HEADER_OFFSET + 26);
	assert_memory_equal(before + FRAME_HEADER_BYTES, box->frame + FRAME_HEADER_BYTES,
		sizeof(route) + PAIR_MTU);
	assert_true(end_give(&way->sink, box));
	assert_int_equal(way->sink.delivered, 1);
	assert_int_equal(end_count(&way->middle, NIC_ITB_ABSORBED), 1);
	assert_int_equal(end_count(&way->middle, NIC_ITB_REINJECTED), 1);
	assert_int_equal(end_count(&way->middle, NIC_ITB_MESSAGES), 1);
	assert_int_equal(way->middle.delivered, 0);
}

UNIT_TEST(messages_and_their_acknowledgements_pass_the_host_on_the_way)
{
	OWNED(way) *way = way_start();

	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(end_send(&way->source, 2, 0, 3 * PAIR_MTU), 0);
	way_exchange(way);
	way_wait(way, PS_PER_MS);
	way_exchange(way);
	assert_int_equal(way->source.acked, 8);
	assert_int_equal(way->sink.delivered, 24);
	for (unsigned i = 0; i < 24; i++)
		assert_int_equal(way->sink.sequence[i], i);
	assert_int_equal(end_count(&way->source, NIC_FRAMES_RETRANSMITTED), 0);
	assert_true(end_count(&way->middle, NIC_ITB_CONTROL) > 0);
	assert_int_equal(end_count(&way->middle, NIC_ITB_REINJECTED), 24);
}

/* If the output is stopped permanently, the input continues. */
UNIT_TEST(input_credits_return_at_once_whatever_the_output_does)
{
	OWNED(way) *way = way_start();
	struct link_end *link = nic_link(way->middle.nic);
	uint32_t granted = credit_limit(&link->rx[0]);

	way->middle.nic->config.link.open = false; /* nothing renews its credits */
	link->tx[0].limit = link->tx[0].sent;
	absorb(way, 20);
	assert_int_equal(credit_stored(&link->rx[0]), 0);
	assert_int_equal(credit_limit(&link->rx[0]), granted + 20 * 2);
	assert_null(take(way, &way->middle));
	assert_int_equal(end_count(&way->middle, NIC_STALL_CREDIT), 1);
	link->tx[0].limit = link->tx[0].sent + 3;
	assert_non_null(take(way, &way->middle));
	assert_null(take(way, &way->middle));
}

/* Expects 'o' for own frames and 'i' for frames in transit, in the order in which they leave. */
static void expect_turns(struct way *way, const char *wanted)
{
	for (const char *at = wanted; *at != '\0'; at++) {
		struct box *box = take(way, &way->middle);

		assert_non_null(box);
		assert_int_equal(
			ntohs(frame_header_const(box->frame)->source_be) == 1 ? 'o' : 'i', *at);
	}
}

static void queue_own(struct way *way, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(end_send(&way->middle, 3, 0, PAIR_MTU), 0);
}

UNIT_TEST(in_transit_goes_first_and_after_four_an_own_one)
{
	OWNED(way) *way = way_start_with(ITB_POOL_BYTES_DEFAULT, 256);

	absorb(way, 20);
	queue_own(way, 10);
	expect_turns(way, "iiiioiiiioiiiioiiiioiiiio");
}

UNIT_TEST(the_more_own_ones_wait_the_more_often_they_go)
{
	OWNED(way) *way = way_start_with(ITB_POOL_BYTES_DEFAULT, 256);

	absorb(way, 120);
	queue_own(way, 102);
	expect_turns(way, "ioio");   /* 102 and 101 wait */
	expect_turns(way, "iioiio"); /* 100 and 99 */
	for (unsigned i = 0; i < 47; i++)
		expect_turns(way, i == 0 ? "ii" : "oii");
	expect_turns(way, "oiio");      /* 52 and 51 */
	expect_turns(way, "iiiioiiii"); /* 50, and 49 */
}

UNIT_TEST(own_ones_go_when_nothing_is_in_transit)
{
	OWNED(way) *way = way_start();

	queue_own(way, 3);
	expect_turns(way, "ooo");
	absorb(way, 5);
	queue_own(way, 1);
	expect_turns(way, "iiiioi");
}

UNIT_TEST(who_cannot_go_holds_up_nobody)
{
	OWNED(way) *way = way_start();

	absorb(way, 8);
	expect_turns(way, "iiii");
	assert_null(nic_check(way->middle.nic));
	expect_turns(way, "iiii"); /* no own frames, so their turn is not waited for */
	assert_null(take(way, &way->middle));
}

UNIT_TEST(what_the_full_pool_discards_comes_again_in_order)
{
	OWNED(way) *way = way_start_with(8 * 1024, 256);
	unsigned rounds = 0;

	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(end_send(&way->source, 2, 0, 2 * PAIR_MTU), 0);
	/* All of them arrive before any leaves. */
	for (struct box *box; (box = take(way, &way->source)) != NULL;)
		end_give(&way->middle, box);
	assert_int_equal(end_count(&way->middle, NIC_ITB_ABSORBED), 71);
	assert_int_equal(end_count(&way->middle, NIC_ITB_DISCARDED), 129);
	assert_true(way->middle.nic->itb->pool.used <= 8 * 1024);
	while (way->source.acked < 100 && rounds++ < 100) {
		way_exchange(way);
		way_wait(way, 5 * PS_PER_MS);
	}
	assert_int_equal(way->source.acked, 100);
	assert_int_equal(way->sink.delivered, 200);
	assert_int_equal(way->sink.tails, 100);
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(way->sink.sequence[i], i);
}

/* Carries the frames of one message, one by one, to the end of the path. */
static void carry(struct way *way, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct box *box = take(way, &way->source);

		assert_non_null(box);
		assert_false(end_give(&way->middle, box));
		assert_ptr_equal(take(way, &way->middle), box);
		end_give(&way->sink, box);
	}
}

UNIT_TEST(a_message_overtaken_by_its_reinjection_is_refused_and_comes_again)
{
	OWNED(way) *way = way_start();

	assert_int_equal(end_send(&way->source, 2, 0, 3 * PAIR_MTU), 0);
	carry(way, 2);
	way_wait(way, 2 * PS_PER_MS);
	carry(way, 1);
	assert_int_equal(end_count(&way->middle, NIC_ITB_OVERTAKEN), 1);
	assert_int_equal(end_count(&way->sink, NIC_DISCARD_END_MARK), 1);
	assert_int_equal(way->sink.tails, 0);
	/* It was requested immediately, without a timer. */
	way_exchange(way);
	assert_int_equal(way->sink.tails, 1);
	assert_int_equal(end_count(&way->source, NIC_FRAMES_RETRANSMITTED), 1);
	assert_int_equal(end_count(&way->source, NIC_RETRY_TIMEOUTS), 0);
	way_wait(way, PS_PER_MS);
	way_exchange(way);
	assert_int_equal(way->source.acked, 1);
}

UNIT_TEST(a_message_that_comes_slowly_but_steadily_is_not_refused)
{
	OWNED(way) *way = way_start();

	assert_int_equal(end_send(&way->source, 2, 0, 3 * PAIR_MTU), 0);
	for (unsigned i = 0; i < 3; i++) {
		carry(way, 1);
		way_wait(way, PS_PER_MS / 2);
	}
	assert_int_equal(way->sink.tails, 1);
	assert_int_equal(end_count(&way->sink, NIC_DISCARD_END_MARK), 0);
}

UNIT_TEST(without_a_pool_a_frame_in_transit_is_a_routing_error)
{
	OWNED(way) *way = way_start_with(0, 32);

	assert_int_equal(end_send(&way->source, 2, 0, PAIR_MTU), 0);
	assert_true(end_give(&way->middle, take(way, &way->source)));
	assert_int_equal(end_count(&way->middle, NIC_DISCARD_ROUTING_ERROR), 1);
}

UNIT_TEST(a_link_that_goes_down_takes_what_is_in_transit_with_it)
{
	OWNED(way) *way = way_start();

	absorb(way, 3);
	way->middle.nic->config.link.open = way->middle.nic->link.config.open = false;
	end_miss_hellos(&way->middle);
	assert_false(nic_link_up(way->middle.nic));
	assert_int_equal(end_count(&way->middle, NIC_ITB_ABANDONED), 3);
	assert_int_equal(way->middle.nic->itb->pool.used, 0);
}

UNIT_TEST(frames_in_transit_need_no_memory_to_leave)
{
	OWNED(way) *way = way_start();
	struct weft_packet *next;

	absorb(way, 1);
	queue_own(way, 1);
	next = nic_inject(way->middle.nic, way->middle.now, NULL);
	assert_non_null(next);
	((struct box *)next)->held = false;
	assert_null(nic_inject(way->middle.nic, way->middle.now, NULL));
}
