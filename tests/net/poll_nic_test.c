/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Two interfaces at the two ends of a link. A pair of connected sockets that keep message
 * boundaries replaces a TAP: each read() and write() is one frame. */

#include "nic_neighbours.h"
#include "poll/poll_nic_endpoints.h"
#include "wire/frame.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

UNIT_TEST(traffic_crosses_both_ways_without_loss)
{
	OWNED(bench) bench;

	start(&bench);
	for (unsigned i = 0; i < 2; i++)
		add_traffic(&bench.side[i], 500000, bench.now, bench.now + 20 * PS_PER_MS);
	run_for(&bench, 20 * PS_PER_MS);
	settle(&bench);
	check_traffic(&bench);
	assert_int_equal(count_of(&bench.side[0])[NIC_FRAMES_RETRANSMITTED], 0);
}

/* A header, a route and a gap also take time: at most 1024 of 1024 + 46 + 24 bytes are payload, and
 * acknowledgements of the other direction and credits take a few percent of the rest. */
UNIT_TEST(a_full_link_carries_what_it_can_and_not_more)
{
	struct measure_sink *sink;
	double share;
	OWNED(bench) bench;

	start(&bench);
	add_traffic(&bench.side[0], 1000000, bench.now, WEFT_TIME_NEVER);
	run_for(&bench, 5 * PS_PER_MS);
	sink = bench.side[1].pn->sink;
	measure_sink_reset(sink, bench.now);
	run_for(&bench, 20 * PS_PER_MS);
	share = (double)sink->measured_bytes * 8 / (RATE_BPS * 20e-3);
	assert_true(share > 0.85 && share < 1024.0 / (1024 + 46 + 24));
	poll_nic_stop_traffic(bench.side[0].pn, bench.now);
	settle(&bench);
	assert_int_equal(sink->messages, poll_nic_traffic(bench.side[0].pn).accepted_messages);
}

#define HOLD_PS (500 * PS_PER_US)

struct fidelity {
	struct histogram late_ns, due_ns;
	uint64_t within_tenth;
};

/* Sparse traffic to a receiver whose loop is held back for 'hold_ps' in each millisecond. */
static void receive_held_back(weft_time hold_ps, struct fidelity *fidelity)
{
	struct lateness late = {.total = &fidelity->late_ns};
	OWNED(bench) bench;

	start(&bench);
	run_for(&bench, 10 * PS_PER_MS); /* the link comes up */
	bench.side[1].port.late = &late;
	add_traffic(&bench.side[0], 10000, bench.now, bench.now + 40 * PS_PER_MS);
	for (weft_time begin = bench.now; bench.now < begin + 40 * PS_PER_MS;) {
		bench.now += STEP_PS;
		poll_nic_run(bench.side[0].pn, bench.now);
		if ((bench.now - begin) % PS_PER_MS >= hold_ps)
			poll_nic_run(bench.side[1].pn, bench.now);
	}
	settle(&bench);
	fidelity->due_ns = bench.side[1].pn->sink->network_due_ns;
	fidelity->within_tenth = bench.side[1].pn->sink->within_tenth;
	assert_int_equal(bench.side[1].pn->sink->lost, 0);
}

/* A loop that is held back changes the lateness of arrivals, but not when they were due. */
UNIT_TEST(arrivals_are_late_by_as_long_as_their_loop_is_held_back)
{
	static struct fidelity free, held;

	receive_held_back(0, &free);
	receive_held_back(HOLD_PS, &held);
	assert_in_range(free.late_ns.count, 400, 2000);
	/* One iteration until the frame is sent, and one until it is received. */
	assert_true(free.late_ns.max <= 2 * STEP_PS / PS_PER_NS);
	assert_in_range(held.late_ns.max, (HOLD_PS - 50 * PS_PER_US) / PS_PER_NS,
		(HOLD_PS + 2 * STEP_PS) / PS_PER_NS);
	/* Half of the frames arrive while the loop is held back, and are late by half of that time
	 * on average. */
	assert_in_range(
		lateness_within_ppm(&held.late_ns, 2 * STEP_PS / PS_PER_NS), 400000, 600000);
	assert_in_range(histogram_mean(&held.late_ns), HOLD_PS / 5000, HOLD_PS / 3000);
	/* Control frames from other times may delay a frame. */
	assert_int_equal(held.due_ns.count, free.due_ns.count);
	assert_in_range(
		held.due_ns.sum, free.due_ns.sum * 999 / 1000, free.due_ns.sum * 1001 / 1000);
	assert_true(held.within_tenth < free.within_tenth);
}

static unsigned ack_frames_of(struct bench *bench, uint32_t window)
{
	struct poll_nic_config config = side_config(&bench->side[0], 0);
	struct error error = {""};
	struct poll_nic *pn;
	unsigned frames;

	config.nic.window_frames = window;
	pn = poll_nic_create(&config, bench->now, &error);
	assert_non_null(pn);
	frames = nic_config(pn->nic)->ack_frames;
	poll_nic_destroy(pn);
	return frames;
}

UNIT_TEST(a_quarter_of_the_window_is_acknowledged_at_once_or_48_frames)
{
	const uint64_t *receiver;
	OWNED(bench) bench;

	start(&bench); /* the window is 256 */
	add_traffic(&bench.side[0], 1000000, bench.now, bench.now + 10 * PS_PER_MS);
	run_for(&bench, 10 * PS_PER_MS);
	settle(&bench);
	receiver = count_of(&bench.side[1]);
	assert_in_range(receiver[NIC_ACKS_SENT], receiver[NIC_FRAMES_DELIVERED] / 50,
		receiver[NIC_FRAMES_DELIVERED] / 40);
	assert_int_equal(ack_frames_of(&bench, 128), 32);
	assert_int_equal(ack_frames_of(&bench, 64), 16);
	assert_int_equal(ack_frames_of(&bench, 16), 16);
}

UNIT_TEST(damage_and_lost_credits_cost_time_and_nothing_else)
{
	OWNED(bench) bench;

	start(&bench);
	for (unsigned i = 0; i < 2; i++) {
		bench.side[i].impairment.credit_loss_ppm = 100000;
		bench.side[i].impairment.corrupt_ppm = 10000;
		add_traffic(&bench.side[i], 300000, bench.now, bench.now + 20 * PS_PER_MS);
	}
	run_for(&bench, 20 * PS_PER_MS);
	settle(&bench);
	check_traffic(&bench);
	assert_true(bench.side[0].impairment.frames_corrupted > 10);
	assert_true(bench.side[0].impairment.credits_lost > 10);
	assert_true(count_of(&bench.side[0])[NIC_FRAMES_RETRANSMITTED] > 10);
}

UNIT_TEST(an_idle_interface_says_so)
{
	OWNED(bench) bench;
	unsigned busy = 0;

	start(&bench);
	run_for(&bench, 10 * PS_PER_MS);
	for (unsigned i = 0; i < 1000; i++)
		busy += step(&bench) != 0;
	assert_in_range(busy, 1, 200); /* credits and hellos only */
}

static unsigned carried_in(struct bench *bench, unsigned which, unsigned iterations)
{
	unsigned carried = 0;

	for (unsigned i = 0; i < iterations; i++) {
		step(bench);
		carried += bench->side[which].pn->carried;
	}
	return carried;
}

UNIT_TEST(credits_and_hellos_alone_are_not_carried)
{
	OWNED(bench) bench;

	start(&bench);
	run_for(&bench, 10 * PS_PER_MS);
	assert_int_equal(carried_in(&bench, 0, 1000), 0);
}

UNIT_TEST(a_padded_hello_is_answered_and_at_most_one_of_three_is_padded)
{
	struct port_auth *asks, *answers;
	OWNED(bench) bench;

	start(&bench);
	settle(&bench);
	asks = &bench.side[0].pn->guard;
	answers = &bench.side[1].pn->guard;
	asks->plan.full_pool = answers->plan.full_pool = pool;
	asks->plan.full_bytes = answers->plan.full_bytes = frame_longest(MTU);
	for (unsigned i = 0; i < 30; i++) {
		asks->full_due = PORT_AUTH_FULL_ASK;
		run_for(&bench, PS_PER_MS);
	}
	assert_in_range(asks->full_sent, 9, 11);
	asks->full_due = PORT_AUTH_FULL_NONE;
	run_for(&bench, 5 * PS_PER_MS);
	assert_int_equal(answers->full_received, asks->full_sent);
	assert_in_range(answers->full_sent, asks->full_sent - 1, asks->full_sent);
	assert_int_equal(asks->full_received, answers->full_sent);
}

UNIT_TEST(frames_are_carried_by_their_sender_and_their_receiver)
{
	OWNED(bench) bench;

	start(&bench);
	add_traffic(&bench.side[0], 500000, bench.now, WEFT_TIME_NEVER);
	run_for(&bench, 10 * PS_PER_MS);
	assert_true(carried_in(&bench, 0, 1000) > 0);
	assert_true(carried_in(&bench, 1, 1000) > 0);
	poll_nic_stop_traffic(bench.side[0].pn, bench.now);
	settle(&bench);
}

#define OFFLOAD_BYTES sizeof(struct virtio_net_hdr)

static void open_tap(struct side *side)
{
	struct error error = {""};

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, side->tap), 0);
	if (poll_nic_attach_tap(side->pn, side->tap[1], NULL, &error) < 0)
		fail_msg("%s", error.text);
}

static void close_tap(struct side *side)
{
	close(side->tap[0]);
	close(side->tap[1]);
}

/* Writes an Ethernet frame after the space for the kernel's offload header. */
static size_t make_packet(uint8_t *frame, uint16_t to, uint16_t bytes, uint8_t fill)
{
	memset(frame, 0, OFFLOAD_BYTES);
	frame += OFFLOAD_BYTES;
	memset(frame, fill, EDGE_ETHERNET_BYTES + bytes);
	frame_host_mac(to, frame);
	frame_host_mac((uint16_t)(1 - to), frame + 6);
	frame[12] = 0x08;
	frame[13] = 0x00;
	frame[14] = 0x45;
	frame[16] = (uint8_t)(bytes >> 8);
	frame[17] = (uint8_t)bytes;
	return OFFLOAD_BYTES + EDGE_ETHERNET_BYTES + bytes;
}

/* The loop of its host did not run in the meantime. */
UNIT_TEST(a_program_that_comes_sends_and_goes_between_two_iterations_has_sent)
{
	const struct endpoint_config config = {
		.hosts = 2, .endpoints = 1, .life = 1, .mtu_bytes = MTU};
	struct endpoint_layout *layout = calloc(1, endpoint_memory_bytes(&config));
	struct endpoint *endpoint;
	OWNED(bench) bench;

	start(&bench);
	assert_int_equal(poll_nic_set_endpoints(bench.side[0].pn, 1, -1), 0);
	endpoint = endpoint_create(&config, layout);
	assert_non_null(endpoint);
	run_for(&bench, 5 * PS_PER_MS);
	poll_nic_endpoint_attach(bench.side[0].pn, 0, endpoint, -1);
	*(struct endpoint_order *)((uint8_t *)layout + layout->orders) =
		(struct endpoint_order){.host = 1, .bytes = 10};
	((struct endpoint_marks *)((uint8_t *)layout + layout->marks))->ordered = 1;
	poll_nic_endpoint_detach(bench.side[0].pn, 0);
	run_for(&bench, 5 * PS_PER_MS);
	assert_int_equal(
		endpoint_set_counters(bench.side[0].pn->endpoints->set)[ENDPOINT_PIECES_SENT], 1);
	settle(&bench);
	endpoint_destroy(endpoint);
	free(layout);
}

UNIT_TEST(packets_cross_from_tap_to_tap)
{
	static const uint16_t lengths[] = {20, 84, MTU, MTU + 1, 1500, IP_MTU};
	OWNED(bench) bench;

	start(&bench);
	open_tap(&bench.side[0]);
	open_tap(&bench.side[1]);
	for (unsigned i = 0; i < 6; i++) {
		uint8_t sent[4000], got[4000];
		size_t bytes = make_packet(sent, 1, lengths[i], (uint8_t)(i + 1));

		assert_int_equal(write(bench.side[0].tap[0], sent, bytes), bytes);
		run_for(&bench, 200 * PS_PER_US);
		assert_int_equal(read(bench.side[1].tap[0], got, sizeof(got)), bytes);
		assert_memory_equal(got, sent, bytes);
	}
	assert_int_equal(bench.side[1].pn->sink->lost, 0);
	close_tap(&bench.side[0]);
	close_tap(&bench.side[1]);
}

UNIT_TEST(arp_is_answered_without_crossing_the_fabric)
{
	uint8_t frame[OFFLOAD_BYTES + EDGE_ARP_BYTES] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF,
		0xFF, 0xFF, 0xFF, 0xFF, 2, 0x57, 0x46, 0x54, 0, 0, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2,
		0x57, 0x46, 0x54, 0, 0, 10, 87, 0, 1, 0, 0, 0, 0, 0, 0, 10, 87, 0, 2};
	uint8_t got[100], mac[6];
	OWNED(bench) bench;

	start(&bench);
	open_tap(&bench.side[0]);
	assert_int_equal(write(bench.side[0].tap[0], frame, sizeof(frame)), sizeof(frame));
	bench.now += PS_PER_US;
	poll_nic_run(bench.side[0].pn, bench.now);
	assert_int_equal(read(bench.side[0].tap[0], got, sizeof(got)), sizeof(frame));
	frame_host_mac(1, mac);
	assert_memory_equal(got + OFFLOAD_BYTES + 22, mac, 6);
	close_tap(&bench.side[0]);
}

/* An empty read costs real time, so the pause after it is real. Otherwise, programs on a slow clock
 * would see long round trips. */
UNIT_TEST(the_pause_after_an_empty_read_of_a_tap_is_real_time)
{
	static const uint32_t dilations[] = {1, 10, 1000, 100000};

	for (unsigned i = 0; i < 4; i++) {
		struct clock clock = {.dilation = dilations[i]};
		const weft_time pause = 20 * PS_PER_US / dilations[i];
		uint8_t frame[200];
		size_t bytes = make_packet(frame, 1, 100, 1);
		OWNED(bench) bench;

		start(&bench);
		run_for(&bench, 10 * PS_PER_MS);
		bench.side[0].pn->clock = &clock;
		open_tap(&bench.side[0]);
		poll_nic_run(bench.side[0].pn, bench.now);
		assert_int_equal(write(bench.side[0].tap[0], frame, bytes), bytes);
		poll_nic_run(bench.side[0].pn, bench.now + pause - 1);
		assert_int_equal(edge_counters(bench.side[0].pn->tap.edge)[EDGE_FROM_TAP], 0);
		poll_nic_run(bench.side[0].pn, bench.now + pause);
		assert_int_equal(edge_counters(bench.side[0].pn->tap.edge)[EDGE_FROM_TAP], 1);
		close_tap(&bench.side[0]);
	}
}

UNIT_TEST(a_tap_waits_while_the_interface_is_full)
{
	uint8_t frame[2000];
	OWNED(bench) bench;
	unsigned sent = 0, received = 0;

	start(&bench);
	open_tap(&bench.side[0]);
	open_tap(&bench.side[1]);
	/* The far side does not run: 64 payloads, and one frame is kept. */
	for (unsigned i = 0; i < 100; i++) {
		size_t bytes = make_packet(frame, 1, 1000, 1);

		if (write(bench.side[0].tap[0], frame, bytes) == (ssize_t)bytes)
			sent++;
		bench.now += STEP_PS;
		poll_nic_run(bench.side[0].pn, bench.now);
	}
	assert_int_equal(edge_counters(bench.side[0].pn->tap.edge)[EDGE_MESSAGES_OUT], 64);
	assert_true(bench.side[0].pn->tap.held);
	for (unsigned i = 0; i < 5000; i++) {
		step(&bench);
		while (read(bench.side[1].tap[0], frame, sizeof(frame)) > 0)
			received++;
	}
	assert_int_equal(received, sent);
	close_tap(&bench.side[0]);
	close_tap(&bench.side[1]);
}

/* The far side receives frames but has no route back, so it acknowledges nothing. Returns its
 * former routes. */
static struct nic_routes *silence(struct side *side, struct bench *bench)
{
	struct nic_routes *none = nic_routes_create(2);

	assert_non_null(none);
	assert_int_equal(nic_set_routes(side->pn->nic, none, bench->now), 0);
	return none;
}

UNIT_TEST(a_source_passes_over_a_host_that_is_silent)
{
	OWNED(nic_routes) *none;
	OWNED(bench) bench;
	struct traffic_counters sent;
	uint64_t silent;

	start(&bench);
	none = silence(&bench.side[1], &bench);
	add_traffic(&bench.side[0], 1000000, bench.now, WEFT_TIME_NEVER);
	run_for(&bench, 300 * PS_PER_MS);
	assert_true(nic_is_silent(bench.side[0].pn->nic, 1));
	sent = poll_nic_traffic(bench.side[0].pn);
	silent = count_of(&bench.side[0])[NIC_MESSAGES_SILENT];
	assert_true(silent > 1000);
	assert_int_equal(sent.generated_messages, sent.accepted_messages + silent);
	assert_int_equal(sent.accepted_messages, 2048); /* its share: half of all records */
	poll_nic_stop_traffic(bench.side[0].pn, bench.now);
	nic_set_routes(bench.side[1].pn->nic, bench.side[1].routes, bench.now);
	settle(&bench);
}

UNIT_TEST(a_tap_drops_what_is_for_a_host_that_is_silent)
{
	OWNED(nic_routes) *none;
	uint8_t frame[2000];
	OWNED(bench) bench;
	size_t bytes = make_packet(frame, 1, 1000, 1);

	start(&bench);
	none = silence(&bench.side[1], &bench);
	open_tap(&bench.side[0]);
	for (unsigned i = 0; i < 300; i++) {
		(void)!write(bench.side[0].tap[0], frame, bytes);
		run_for(&bench, PS_PER_MS);
	}
	assert_int_equal(edge_counters(bench.side[0].pn->tap.edge)[EDGE_MESSAGES_OUT], 64);
	assert_true(edge_counters(bench.side[0].pn->tap.edge)[EDGE_DROP_SILENT] > 100);
	assert_false(bench.side[0].pn->tap.held);
	nic_set_routes(bench.side[1].pn->nic, bench.side[1].routes, bench.now);
	settle(&bench);
	close_tap(&bench.side[0]);
}

UNIT_TEST(packets_and_synthetic_messages_share_a_host)
{
	uint8_t frame[2000];
	OWNED(bench) bench;
	unsigned received = 0, sent = 0;

	start(&bench);
	open_tap(&bench.side[0]);
	open_tap(&bench.side[1]);
	for (unsigned i = 0; i < 2; i++)
		add_traffic(&bench.side[i], 300000, bench.now, bench.now + 5 * PS_PER_MS);
	for (unsigned i = 0; i < 5000; i++) {
		if (i % 10 == 0 &&
			write(bench.side[0].tap[0], frame, make_packet(frame, 1, 1500, 9)) > 0)
			sent++;
		step(&bench);
		while (read(bench.side[1].tap[0], frame, sizeof(frame)) > 0)
			received++;
	}
	settle(&bench);
	assert_int_equal(received, sent);
	assert_int_equal(bench.side[1].pn->sink->messages,
		poll_nic_traffic(bench.side[0].pn).accepted_messages);
	assert_int_equal(bench.side[1].pn->sink->lost + bench.side[1].pn->sink->altered, 0);
	close_tap(&bench.side[0]);
	close_tap(&bench.side[1]);
}

UNIT_TEST(bad_frames_are_counted_by_reason)
{
	struct rte_mbuf *mbuf;
	OWNED(bench) bench;

	start(&bench);
	mbuf = rte_pktmbuf_alloc(pool);
	memset(rte_pktmbuf_append(mbuf, 60), 0, 60);
	mbuf_packet(mbuf)->arrived_ps = 0;
	assert_int_equal(port_tx(&bench.side[1].port, &mbuf, 1, bench.now), 1);
	run_for(&bench, PS_PER_US);
	assert_int_equal(bench.side[0].pn->faults[FRAME_FAULT_ETHERTYPE], 1);
}

UNIT_TEST(what_cannot_be_built_is_refused_with_a_reason)
{
	struct poll_nic_config config;
	struct error error = {""};
	OWNED(bench) bench;

	start(&bench);
	config = side_config(&bench.side[0], 0);
	config.nic.mtu_bytes = 4096; /* the pool's buffers hold 2048 */
	assert_null(poll_nic_create(&config, 0, &error));
	assert_non_null(strstr(error.text, "h0:0"));
	config = side_config(&bench.side[0], 0);
	config.nic.window_frames = 7;
	assert_null(poll_nic_create(&config, 0, &error));
}

/* The loop's time is older than the arrivals, so the bound would be wrong. */
UNIT_TEST(without_a_clock_to_read_no_clocks_are_compared)
{
	const bool same[] = {true, false};
	struct poll_nic_config config;
	struct clock clock;
	struct error error = {""};
	struct poll_nic *pn;
	OWNED(bench) bench;

	start(&bench);
	assert_int_equal(poll_nic_set_clocks(bench.side[0].pn, same, 7), -EINVAL);
	assert_null(nic_clock_of(bench.side[0].pn->nic, 1));
	config = side_config(&bench.side[0], 0);
	clock_start(&clock, 1);
	config.clock = &clock;
	pn = poll_nic_create(&config, bench.now, &error);
	assert_non_null(pn);
	assert_int_equal(poll_nic_set_clocks(pn, same, 7), 0);
	assert_non_null(nic_clock_of(pn->nic, 1));
	assert_ptr_equal(pn->sink->source[1].clock, nic_clock_of(pn->nic, 1));
	assert_null(pn->sink->source[0].clock);
	poll_nic_destroy(pn);
}

int main(void)
{
	char name[] = "poll-nic-test";

	return run_with_eal(name, POOL_MBUFS, &pool);
}
