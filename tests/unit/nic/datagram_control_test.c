/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/datagram/datagram_control.h"

#include "unit.h"

#define HOSTS 4
#define MTU   1000
#define US    PS_PER_US

static struct datagram nic;
static struct source_control_config control;

/* A byte takes 1 ns, and a mark pauses a flow for an eighth of a frame. */
static void start(bool per_host)
{
	struct link_end_config link = {.vcs = 2, .vc_blocks = 1 << 16, .open = true};
	struct datagram_config config = {
		.host = 0, .hosts = HOSTS, .mtu_bytes = MTU, .vcs = 2, .queue = 4};

	source_control_config_default(&control);
	control.kind = SOURCE_CONTROL_IBA_CC;
	control.hosts = HOSTS;
	control.iba.per_host = per_host;
	config.control = &control;
	config.selection.rate_bps = 8000000000u;
	assert_int_equal(0, datagram_init(&nic, &config, &link));
}

static int end(void **state)
{
	assert_null(datagram_control_check(&nic));
	datagram_fini(&nic);
	return 0;
}

static void mark(uint16_t destination, unsigned times)
{
	const struct cn cn = {.flags = CN_F_FECN | CN_F_BECN};

	while (times-- > 0)
		datagram_on_cn(&nic, destination, &cn, 0);
}

static void queue(uint16_t destination, uint32_t bytes)
{
	const struct datagram_message message = {.destination = destination, .bytes = bytes};

	assert_true(datagram_has_room(&nic, &message));
	datagram_send(&nic, &message);
}

/* Returns the destination of the frame that leaves, or HOSTS. */
static unsigned inject(weft_time now)
{
	struct datagram_origin origin;
	struct weft_packet packet;

	link_end_renew_open(&nic.link);
	if (!datagram_inject(&nic, now, &packet, &origin))
		return HOSTS;
	return packet.destination;
}

#define TEST(name) UNIT_WITH(name, NULL, end)

TEST(messages_to_others_pass_a_flow_that_pauses)
{
	start(false);
	mark(1, 80); /* ten frames' time */
	queue(1, 100);
	queue(1, 100);
	queue(2, 100);
	assert_int_equal(1, inject(0));
	assert_int_equal(2, inject(1 * US));
	assert_int_equal(HOSTS, inject(1 * US));
	assert_int_equal(1, datagram_control_held(&nic));
}

TEST(the_pause_ends_after_the_delay_of_the_table)
{
	weft_time due;

	start(false);
	mark(1, 80);
	queue(1, 1000);
	queue(1, 100);
	assert_int_equal(1, inject(0));
	assert_int_equal(HOSTS, inject(1 * US));
	due = datagram_control_due(&nic, 1 * US);
	/* Eleven times 1000 bytes and the overhead of a frame. */
	assert_in_range(due, 11 * US, 12 * US);
	assert_int_equal(HOSTS, inject(due - PS_PER_NS));
	assert_int_equal(1, inject(due));
	assert_true(nic.control->source->throttled_ns > 9000);
}

TEST(messages_of_a_flow_stay_in_order)
{
	weft_time now = 0;

	start(false);
	mark(1, 8);
	for (uint16_t i = 0; i < 4; i++)
		queue(1, 100u + i);
	for (uint16_t i = 0; i < 4; i++) {
		struct datagram_origin origin;
		struct weft_packet packet;

		while (!datagram_inject(&nic, now, &packet, &origin))
			now += PS_PER_US / 10;
		assert_int_equal(100 + i, origin.payload_bytes);
	}
}

TEST(the_rest_of_a_message_pauses_and_comes_first)
{
	struct datagram_origin origin;
	struct weft_packet packet;
	weft_time now = 0;
	unsigned bytes[] = {MTU, 500, 100};

	start(false);
	mark(1, 8);
	queue(1, MTU + 500);
	queue(1, 100);
	for (unsigned i = 0; i < 3; i++) {
		while (!datagram_inject(&nic, now, &packet, &origin))
			now += PS_PER_US / 10;
		assert_int_equal(bytes[i], origin.payload_bytes);
		assert_int_equal(i > 0, (packet.flags & FRAME_F_TAIL) != 0);
	}
	assert_int_equal(2, nic.messages_sent);
}

TEST(a_host_that_pauses_sends_nothing)
{
	start(true);
	mark(1, 80);
	queue(1, 100);
	queue(2, 100);
	assert_int_equal(1, inject(0));
	assert_int_equal(HOSTS, inject(1 * US));
	assert_true(datagram_control_due(&nic, 1 * US) > 1 * US);
	assert_true(datagram_control_due(&nic, 1 * US) < WEFT_TIME_NEVER);
	assert_int_equal(2, inject(20 * US));
}

TEST(without_marks_nothing_pauses)
{
	start(false);
	queue(1, 100);
	queue(1, 100);
	assert_int_equal(1, inject(0));
	assert_int_equal(1, inject(1 * US));
	assert_int_equal(WEFT_TIME_NEVER, datagram_control_due(&nic, 1 * US));
}

TEST(a_full_queue_of_others_does_not_starve_a_flow_that_paused)
{
	unsigned sent = 0;

	start(false);
	mark(1, 8);
	queue(1, 100);
	queue(1, 100);
	for (weft_time now = 0; now < 20 * US; now += US) {
		const struct datagram_message message = {.destination = 2, .bytes = 100};

		while (datagram_has_room(&nic, &message))
			datagram_send(&nic, &message);
		sent += inject(now) == 1;
	}
	assert_int_equal(2, sent);
}

TEST(many_flows_pause_and_end_in_the_order_of_their_times)
{
	start(false);
	mark(1, 80);
	mark(2, 40);
	mark(3, 60);
	for (uint16_t to = 1; to <= 3; to++) {
		queue(to, 100);
		assert_int_equal(to, inject(0));
		queue(to, 100);
		assert_int_equal(HOSTS, inject(0));
	}
	assert_int_equal(3, datagram_control_held(&nic));
	assert_int_equal(2, inject(100 * US));
	assert_int_equal(3, inject(100 * US));
	assert_int_equal(1, inject(100 * US));
}
