/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The virtual clock creates an event for the end of a transmission only if it is needed. Here, the
 * same runs are repeated with an event for each end, and with hosts that send through their FIFOs.
 * Every frame must arrive at the same time. */

#include "base/rng.h"
#include "virtual/virtual_private.h"
#include "virtual_lab.h"
#include "wire/frame.h"

#define RUNS 25

static const char tree[] = "weft: run/1\n"
			   "topology: \"rlft:ports=8,stages=2\"\n"
			   "clock: virtual\n"
			   "link: {rate: 100Gbps, delay: 30ns}\n"
			   "switch: {switching: cut-through, buffer: 64KiB, mtu: 4KiB}\n"
			   "nic: {mtu: 4KiB}\n"
			   "routing: {algorithm: dmodk, mode: table}\n"
			   "measure: {warmup: 15us, duration: 80us, sample: 20us, links: true}\n"
			   "traffic:\n"
			   "  - {pattern: uniform, from: all, load: 50%, message: 1000B}\n";

static const char *pick(struct rng *rng, const char *const *from, unsigned count)
{
	return from[rng_below(rng, count)];
}

#define PICK(rng, ...)                                \
	pick(rng, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

#define PICKS 9

/* Buffers from a few packets, where each end matters, to many. */
static void draw(struct rng *rng, const char *set[PICKS])
{
	set[0] = PICK(rng, "switch.voq=true", "switch.voq=false");
	set[1] = PICK(rng, "switch.buffer=18KiB", "switch.buffer=30KiB", "switch.buffer=80KiB",
		"switch.buffer=344KiB");
	set[2] = PICK(rng, "switch.vcs=1", "switch.vcs=2");
	set[3] = PICK(rng, "traffic[0].load=20%", "traffic[0].load=60%", "traffic[0].load=100%");
	set[4] = PICK(rng, "traffic[0].message=100B", "traffic[0].message=4KiB",
		"traffic[0].message=9000B");
	set[5] = PICK(rng, "traffic[0].arrivals=constant", "traffic[0].arrivals=poisson");
	set[6] = PICK(rng, "switch.routing-delay=0ns", "switch.routing-delay=100ns");
	set[7] = PICK(rng, "switch.switching=cut-through", "switch.switching=store-and-forward");
	set[8] = PICK(rng, "switch.credits=coalesced", "switch.credits=each");
}

static void run(struct virtual_lab *lab, const char *const set[PICKS], bool every_end)
{
	virtual_lab_open(lab, tree, set, PICKS);
	if (every_end) {
		lab->fabric->every_end = true;
		lab->fabric->foretells = false;
	}
	virtual_lab_run(lab);
}

static void expect_same_links(const struct run_result *a, const struct run_result *b)
{
	assert_int_equal(a->links, b->links);
	for (unsigned i = 0; i < a->links; i++) {
		assert_true(a->link[i].utilisation == b->link[i].utilisation);
		assert_true(a->link[i].blocked == b->link[i].blocked);
		assert_int_equal(a->link[i].stalls, b->link[i].stalls);
	}
}

UNIT_TEST(ends_without_an_event_change_no_delivery_and_no_link)
{
	struct rng rng;

	rng_init(&rng, 7, 0, 0);
	for (unsigned i = 0; i < RUNS; i++) {
		const char *set[PICKS];
		OWNED(virtual_lab) lazy, eager;

		draw(&rng, set);
		run(&lazy, set, false);
		run(&eager, set, true);
		if (lazy.result.fingerprint != eager.result.fingerprint)
			for (unsigned pick = 0; pick < PICKS; pick++)
				print_message("%s\n", set[pick]);
		assert_int_equal(lazy.result.fingerprint, eager.result.fingerprint);
		assert_int_equal(lazy.result.packets.delivered, eager.result.packets.delivered);
		assert_int_equal(lazy.result.packets.injected, eager.result.packets.injected);
		assert_int_equal(lazy.result.messages.generated, eager.result.messages.generated);
		assert_true(lazy.result.offered == eager.result.offered);
		assert_true(lazy.result.packets.delivered > 0);
		expect_same_links(&lazy.result, &eager.result);
	}
}

/* Hosts leave their streams when the first notification arrives, at any point. */
UNIT_TEST(leaving_the_stream_changes_no_delivery)
{
	static const char *const message[] = {
		"traffic[0].message=700B", "traffic[0].message=4KiB", "traffic[0].message=9000B"};
	unsigned streams = 0, left = 0;
	uint64_t diverted = 0;

	for (unsigned i = 0; i < 6; i++) {
		const char *set[PICKS] = {"routing.adaptive=arn", "routing.afi=true",
			"traffic[0].pattern=hotspot", "traffic[0].to=[h3]",
			i % 2 == 0 ? "traffic[0].share=40%" : "traffic[0].share=15%",
			message[i / 2], "detector.crt=5us", "measure.duration=150us",
			i < 3 ? "switch.credits=coalesced" : "switch.credits=each"};
		OWNED(virtual_lab) lazy, eager;

		run(&lazy, set, false);
		run(&eager, set, true);
		assert_int_equal(lazy.result.fingerprint, eager.result.fingerprint);
		assert_int_equal(lazy.result.messages.generated, eager.result.messages.generated);
		assert_int_equal(lazy.result.packets.injected, eager.result.packets.injected);
		assert_true(lazy.result.offered == eager.result.offered);
		assert_int_equal(result_counter(&lazy.result, "host_messages_diverted"),
			result_counter(&eager.result, "host_messages_diverted"));
		diverted += result_counter(&lazy.result, "host_messages_diverted");
		expect_same_links(&lazy.result, &eager.result);
		for (uint32_t host = 0; host < lazy.fabric->hosts; host++) {
			streams += lazy.fabric->host[host].stream != NULL;
			left += lazy.fabric->host[host].stream == NULL;
		}
	}
	assert_true(streams > 0);
	assert_true(left > 0);
	assert_true(diverted > 100);
}

/* A separate account of a switch's buffers, derived from its frames. The space of a packet is free
 * when its tail has left, not before, and a credit frame is sent exactly when it becomes due. */
#define PORTS       8
#define LEAVING     64
#define PS_PER_BYTE 80

struct leaving {
	weft_time tail;
	uint32_t blocks;
	unsigned input, output;
};

struct account {
	struct credit_rx rx[PORTS];
	struct leaving leaving[LEAVING];
	unsigned count;
	uint64_t frames; /* credit frames */
};

static void leave(struct account *account, unsigned which)
{
	struct leaving gone = account->leaving[which];

	account->leaving[which] = account->leaving[--account->count];
	credit_release(&account->rx[gone.input], gone.blocks);
}

/* Returns the earliest tail, by time and output, that left before a packet arrives at 'port' at
 * 'now', or -1. */
static int next_gone(const struct account *account, weft_time now, unsigned port)
{
	int first = -1;

	for (unsigned i = 0; i < account->count; i++) {
		const struct leaving *one = &account->leaving[i],
				     *best = &account->leaving[first < 0 ? 0 : first];

		if (one->tail > now || (one->tail == now && one->output > port))
			continue;
		if (first < 0 || one->tail < best->tail ||
			(one->tail == best->tail && one->output < best->output))
			first = (int)i;
	}
	return first;
}

/* The packets that have left by then made no credit frame due; otherwise it would have been
 * sent. */
static void pass_time(struct account *account, weft_time now, unsigned port)
{
	for (int gone; (gone = next_gone(account, now, port)) >= 0;) {
		unsigned input = account->leaving[gone].input;

		leave(account, (unsigned)gone);
		assert_false(credit_grant_due(&account->rx[input]));
	}
}

static void see_credit(struct account *account, const struct virtual_trace_record *record)
{
	struct credit_rx *rx = &account->rx[record->at.port];

	/* Tails at exactly this time are processed in output order. */
	for (unsigned output = 0; output < PORTS; output++)
		for (unsigned i = account->count; i-- > 0;)
			if (account->leaving[i].input == record->at.port &&
				account->leaving[i].output == output &&
				account->leaving[i].tail == record->now &&
				credit_limit(rx) != record->credit->limit[0])
				leave(account, i);
	assert_int_equal(record->credit->limit[0], credit_limit(rx));
	assert_true(credit_grant_due(rx));
	rx->granted = record->credit->limit[0];
	account->frames++;
}

/* A virtual_trace_fn. */
static void see(void *ctx, const struct virtual_trace_record *record)
{
	const struct weft_packet *packet = record->packet;
	struct account *account = ctx;

	if (record->at.kind != DEVICE_SWITCH || record->at.device != 0)
		return;
	pass_time(account, record->now - 1, PORTS);
	if (packet == NULL && record->out) {
		see_credit(account, record);
	} else if (packet != NULL && !record->out) {
		pass_time(account, record->now, record->at.port);
		credit_arrive(&account->rx[record->at.port], packet->blocks);
	} else if (packet != NULL) {
		assert_true(account->count < LEAVING);
		account->leaving[account->count++] =
			(struct leaving){record->now + (packet->bytes + FRAME_WIRE_OVERHEAD) *
							       (weft_time)PS_PER_BYTE,
				packet->blocks, packet->in_port, record->at.port};
	}
}

static uint64_t keep_account(const char *buffer, unsigned seed)
{
	struct account account = {.count = 0};
	OWNED(virtual_lab) lab;
	char seed_text[32];
	/* Long and short packets, so that the tails of an input leave in a different order from the
	 * heads. */
	const char *set[] = {buffer, seed_text, "traffic[0].load=90%", "traffic[0].message=3999B",
		"traffic[0].other-message=131B", "traffic[0].other-share=50%",
		"traffic[0].arrivals=poisson", "measure.duration=200us"};

	snprintf(seed_text, sizeof(seed_text), "seed=%u", seed);
	virtual_lab_open(&lab, tree, set, 8);
	for (unsigned port = 0; port < PORTS; port++)
		account.rx[port] = lab.fabric->sw[0]->port[port].link.rx[0];
	virtual_fabric_trace(lab.fabric, see, &account);
	virtual_lab_run(&lab);
	return account.frames;
}

static void see_host(void *ctx, const struct virtual_trace_record *record)
{
	const struct weft_packet *packet = record->packet;
	uint64_t *seen = ctx;

	if (record->at.kind != DEVICE_HOST || record->out || packet == NULL)
		return;
	assert_int_equal(packet->in_port, 0);
	assert_int_equal(packet->vc, packet->header_vc);
	(*seen)++;
}

UNIT_TEST(a_packet_at_a_host_is_shown_by_the_hosts_own_port_and_vc)
{
	const char *set[] = {"traffic[0].load=50%", "measure.duration=100us"};
	struct virtual_lab lab;
	uint64_t seen = 0;

	virtual_lab_open(&lab, tree, set, 2);
	virtual_fabric_trace(lab.fabric, see_host, &seen);
	virtual_lab_run(&lab);
	virtual_lab_close(&lab);
	assert_true(seen > 0);
}

UNIT_TEST(a_credit_frame_speaks_of_what_has_left_as_soon_as_it_is_due)
{
	static const char *const buffer[] = {
		"switch.buffer=18KiB", "switch.buffer=40KiB", "switch.buffer=100KiB"};

	for (unsigned i = 0; i < 3; i++)
		for (unsigned seed = 1; seed <= 3; seed++)
			assert_true(keep_account(buffer[i], seed) > 50);
}
