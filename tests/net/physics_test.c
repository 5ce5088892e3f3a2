/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * The links of the real clock keep to physics, whenever the loops look: drawn fabrics of
 * pipelines/real on an invented clock, whose devices are visited in drawn order, at drawn moments,
 * some after long pauses. The ports are watched: what a transmitter stamps, and when the far end
 * sees it. The virtual clock is the oracle of an idle network.
 */

#include <arpa/inet.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eal_tests.h"
#include "frame_check.h"
#include "real_private.h"
#include "synthetic.h"
#include "virtual_lab.h"

#define CASES     200
#define SETS      16
#define SET_BYTES 96
#define LINKS_MAX 256
#define HOSTS_MAX 64
#define SAMPLES   8192
#define BEGIN_PS                                                                        \
	(1000 * PS_PER_S) /* later than the fabric's own clock, by which it was created \
			   */
#define PATIENCE 10000    /* turns */

static const char base[] = "weft: run/1\n"
			   "topology: \"rlft:ports=4,stages=2\"\n"
			   "clock: real\n"
			   "routing: {algorithm: ud, mode: source}\n"
			   "traffic:\n"
			   "  - {pattern: uniform, from: all, load: 20%, message: 4KiB}\n"
			   "measure: {duration: 1s}\n";

struct drawn {
	char text[SETS][SET_BYTES];
	const char *set[SETS];
	unsigned sets;
	uint64_t rate_mbps;
	weft_time delay_ps, turn_ps;
	uint64_t pause_turns;
};

/* The wire from one end of a link. */
struct wire {
	port_tx_fn *tx;
	port_rx_fn *rx;
	weft_time free_at, due; /* of the last frame but the device's own control frames */
	weft_time first, last, taken, longest; /* all: from, until, busy time */
};

struct world {
	struct run_config *config;
	struct topology *topology;
	struct real_fabric *fabric;
	struct rng rng;
	weft_time now, turn_ps, delay_ps;
	uint64_t pause_turns; /* of the longest pause */
	uint64_t ps_per_byte;
	bool store_and_forward;
	uint32_t distance[HOSTS_MAX][HOSTS_MAX]; /* links */
	/* Findings. */
	uint64_t frames, early, unborn, overlapping, overtaken, unseen;
	weft_time latency[SAMPLES]; /* due, of data frames */
	unsigned samples;
};

static struct wire wire[2 * LINKS_MAX];
static struct world *world; /* that the ports report to */

static unsigned end_of(const struct port *port)
{
	const struct real_end *end =
		(const struct real_end *)((const char *)port - offsetof(struct real_end, port));

	return (unsigned)(end - world->fabric->end);
}

/* --- what the ports see --- */

static uint64_t wire_time(struct rte_mbuf *mbuf)
{
	return (rte_pktmbuf_data_len(mbuf) + FRAME_WIRE_OVERHEAD) * world->ps_per_byte;
}

/* The device's own control frames are not in the order of the others; together they take no more
 * time than there is. */
static void check_rate(struct wire *from, weft_time begin, weft_time takes)
{
	if (from->first == 0 || begin < from->first)
		from->first = begin;
	if (begin + takes > from->last)
		from->last = begin + takes;
	if (takes > from->longest)
		from->longest = takes;
	from->taken += takes;
	world->overlapping += from->taken > from->last - from->first + from->longest;
}

static bool is_own(const struct real_end *end, struct rte_mbuf *mbuf)
{
	const struct frame_header *header =
		frame_header_const(rte_pktmbuf_mtod(mbuf, const uint8_t *));

	return frame_link_local(header->kind) ||
	       (header->kind != FRAME_DATA && end->at.kind == DEVICE_HOST &&
		       ntohs(header->source_be) == end->at.device);
}

/* A transmission begins when the one before it has ended, so no window carries more than the rate.
 */
static void check_sent(struct wire *from, const struct real_end *end, struct rte_mbuf *mbuf)
{
	weft_time due = mbuf_packet(mbuf)->arrived_ps, takes = wire_time(mbuf);
	weft_time begin = due - end->timing.delay_ps - (end->timing.cut_through ? 0 : takes);

	world->frames++;
	check_rate(from, begin, takes);
	if (is_own(end, mbuf))
		return;
	world->overlapping += begin < from->free_at;
	world->overtaken += due < from->due;
	from->free_at = begin + takes;
	from->due = due;
}

static uint16_t watched_tx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	unsigned at = end_of(port);

	for (uint16_t i = 0; i < count; i++)
		check_sent(&wire[at], &world->fabric->end[at], mbufs[i]);
	assert_int_equal(wire[at].tx(port, mbufs, count, now), count);
	return count;
}

/* The minimum latency of a path, when it is empty. */
static weft_time bound_of(uint32_t links, weft_time takes)
{
	return links * world->delay_ps + (world->store_and_forward ? links : 1) * takes;
}

/* The first frame of a message names its generation: nothing leaves before it. */
static void check_injected(const struct frame_header *header, weft_time injected)
{
	const uint8_t *payload = (const uint8_t *)header + frame_payload_offset(header);
	struct synthetic synthetic = {.source = ntohs(header->source_be),
		.destination = ntohs(header->destination_be),
		.message = ntohl(header->message_be)};

	if (synthetic_open(&synthetic, payload, ntohs(header->payload_bytes_be)))
		world->unborn += injected + PS_PER_NS <= synthetic.generated_ns * PS_PER_NS;
}

/* Frames carry it modulo 2^32 ns. */
static weft_time injected_at(const struct frame_header *header, weft_time due)
{
	uint32_t before = (uint32_t)(due / PS_PER_NS) - ntohl(header->injected_ns_be);

	return (due / PS_PER_NS - before) * PS_PER_NS;
}

/* A data frame at its destination, or at a host that will re-inject it. */
static void check_arrival(struct rte_mbuf *mbuf, uint32_t host)
{
	const struct frame_header *header =
		frame_header_const(rte_pktmbuf_mtod(mbuf, const uint8_t *));
	weft_time due = mbuf_packet(mbuf)->arrived_ps;
	weft_time injected = injected_at(header, due);
	uint32_t links;

	if (header->kind != FRAME_DATA)
		return;
	links = world->distance[ntohs(header->source_be)][host];
	check_injected(header, injected);
	world->early += due < injected + bound_of(links, wire_time(mbuf));
	if (world->samples < SAMPLES)
		world->latency[world->samples++] = due - injected;
}

static uint16_t watched_rx(
	struct port *port, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	unsigned at = end_of(port);
	uint16_t received = wire[at].rx(port, mbufs, count, now);

	for (uint16_t i = 0; i < received; i++) {
		world->unseen += mbuf_packet(mbufs[i])->arrived_ps > now;
		if (world->fabric->end[at].at.kind == DEVICE_HOST)
			check_arrival(mbufs[i], world->fabric->end[at].at.device);
	}
	return received;
}

static void watch_ports(void)
{
	uint32_t ends = 2 * world->topology->links;

	assert_true(ends <= 2 * LINKS_MAX);
	memset(wire, 0, sizeof(wire));
	for (uint32_t i = 0; i < ends; i++) {
		struct port *port = &world->fabric->end[i].port;

		wire[i].tx = port->tx;
		wire[i].rx = port->rx;
		port->tx = watched_tx;
		port->rx = watched_rx;
	}
}

/* --- distances --- */

static uint32_t vertex_of(const struct topology_port *at)
{
	return at->kind == DEVICE_HOST ? at->device : HOSTS_MAX + at->device;
}

/* Links between host 'from' and all others, by relaxation: the networks are small. */
static void measure_distances(uint32_t from)
{
	static uint32_t far[HOSTS_MAX + LINKS_MAX];
	bool changed = true;

	memset(far, 0x3F, sizeof(far));
	far[from] = 0;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < world->topology->links; i++) {
			const struct topology_link *link = &world->topology->link_at[i];
			uint32_t *a = &far[vertex_of(&link->a)], *b = &far[vertex_of(&link->b)];

			changed |= *a > *b + 1 || *b > *a + 1;
			*a = *a > *b + 1 ? *b + 1 : *a;
			*b = *b > *a + 1 ? *a + 1 : *b;
		}
	}
	memcpy(world->distance[from], far, sizeof(world->distance[from]));
}

/* --- the fabric on an invented clock --- */

static bool links_are_up(void)
{
	for (unsigned i = 0; i < world->fabric->host_count; i++)
		if (!nic_link_up(world->fabric->hosts[i].poll->nic))
			return false;
	for (unsigned i = 0; i < world->fabric->switch_count; i++) {
		const struct poll_switch *ps = world->fabric->switches[i].poll;

		if ((ps->sw->linked & ps->present) != ps->present)
			return false;
	}
	return true;
}

static void visit(unsigned device)
{
	struct real_fabric *fabric = world->fabric;

	if (device < fabric->host_count)
		poll_nic_run(fabric->hosts[device].poll, world->now);
	else
		poll_switch_run(fabric->polled[device - fabric->host_count].poll, world->now);
}

/* Some of the devices, in drawn order, after a drawn time: a loop may be elsewhere for long. */
static void turn(void)
{
	unsigned devices = world->fabric->host_count + world->fabric->polled_count;
	unsigned first = (unsigned)rng_below(&world->rng, devices);

	world->now += 1 + rng_below(&world->rng, 2 * world->turn_ps);
	if (rng_below(&world->rng, 100) == 0)
		world->now += rng_below(&world->rng, world->pause_turns * world->turn_ps);
	for (unsigned i = 0; i < devices; i++)
		if (rng_below(&world->rng, 8) != 0)
			visit((first + i) % devices);
}

static void open_world(struct world *fresh, const struct drawn *drawn, unsigned seed)
{
	struct fault fault = {""};
	struct real_fabric_options options = {.name = "physics", .session = 1};

	memset(fresh, 0, sizeof(*fresh));
	world = fresh;
	rng_init(&world->rng, seed, 77, 0);
	world->config =
		run_config_parse(base, strlen(base), "physics", drawn->set, drawn->sets, &fault);
	if (world->config == NULL || run_config_supported(world->config, &fault) != 0 ||
		(world->topology = run_config_open_topology(world->config, &fault)) == NULL)
		fail_msg("case %u: %s", seed, fault.text);
	options.topology = world->topology;
	options.run = world->config;
	world->fabric = real_fabric_create(&options, &fault);
	if (world->fabric == NULL)
		fail_msg("case %u: %s", seed, fault.text);
	assert_true(world->topology->hosts <= HOSTS_MAX);
	world->now = BEGIN_PS;
	world->turn_ps = drawn->turn_ps;
	world->pause_turns = drawn->pause_turns;
	world->delay_ps = drawn->delay_ps;
	world->ps_per_byte = ps_per_byte(drawn->rate_mbps * 1000000);
	world->store_and_forward = world->config->sw.switching == RUN_SWITCHING_STORE_AND_FORWARD;
	for (uint32_t i = 0; i < world->topology->hosts; i++)
		measure_distances(i);
	watch_ports();
}

static void close_world(void)
{
	real_fabric_destroy(world->fabric);
	topology_destroy(world->topology);
	run_config_destroy(world->config);
}

static bool hosts_are_busy(void)
{
	for (unsigned i = 0; i < world->fabric->host_count; i++)
		if (poll_nic_busy(world->fabric->hosts[i].poll, world->now))
			return true;
	return false;
}

/* Traffic for 'turns' turns, then as many again: with long links and small buffers, not everything
 * arrives until then. */
static void carry(unsigned turns)
{
	struct real_fabric *fabric = world->fabric;
	struct fault fault = {""};
	uint64_t lost = 0;

	for (unsigned waits = 0; !links_are_up(); waits++) {
		assert_true(waits < PATIENCE);
		turn();
	}
	fabric->traffic_from = fabric->measure_from = world->now;
	fabric->traffic_until = WEFT_TIME_NEVER;
	for (unsigned i = 0; i < fabric->host_count; i++)
		if (real_host_start_traffic(fabric, &fabric->hosts[i], &fault) < 0)
			fail_msg("%s", fault.text);
	for (unsigned i = 0; i < turns; i++)
		turn();
	for (unsigned i = 0; i < fabric->host_count; i++)
		poll_nic_stop_traffic(fabric->hosts[i].poll, world->now);
	for (unsigned i = 0; i < turns && hosts_are_busy(); i++)
		turn();
	for (unsigned i = 0; i < fabric->host_count; i++) {
		const struct measure_sink *sink = fabric->hosts[i].poll->sink;

		lost += sink->lost + sink->altered + sink->duplicated + sink->out_of_order;
	}
	assert_int_equal(lost, 0);
}

/* --- drawing --- */

static void add_set(struct drawn *drawn, const char *format, ...)
{
	va_list arguments;

	assert_true(drawn->sets < SETS);
	va_start(arguments, format);
	vsnprintf(drawn->text[drawn->sets], SET_BYTES, format, arguments);
	va_end(arguments);
	drawn->set[drawn->sets] = drawn->text[drawn->sets];
	drawn->sets++;
}

/* Network, rate, delay and switching. */
static void draw_links(struct drawn *drawn, struct rng *rng)
{
	static const char *const networks[] = {"rlft:ports=4,stages=2", "full:switches=4,hosts=2",
		"irregular:switches=6,hosts=2,seed=3", "torus:dims=3x3,hosts=1"};
	static const uint64_t rates[] = {1000, 2500, 10000, 25000, 40000, 100000, 400000};
	static const uint64_t delays_ns[] = {30, 1000, 20000, 200000, 10000000};
	uint64_t delay_ns = delays_ns[rng_below(rng, 5)];

	drawn->rate_mbps = rates[rng_below(rng, 7)];
	drawn->delay_ps = delay_ns * PS_PER_NS;
	add_set(drawn, "topology=%s", networks[rng_below(rng, 4)]);
	add_set(drawn, "link.rate=%lluMbps", (unsigned long long)drawn->rate_mbps);
	add_set(drawn, "link.delay=%lluns", (unsigned long long)delay_ns);
	add_set(drawn, "switch.switching=%s",
		rng_below(rng, 2) ? "cut-through" : "store-and-forward");
	add_set(drawn, "seed=%u", 1 + (unsigned)rng_below(rng, 1000));
}

static void draw(struct drawn *drawn, unsigned seed)
{
	static const char *const messages[] = {"64B", "1KiB", "4KiB", "20KiB"};
	static const char *const buffers[] = {"16KiB", "128KiB", "1MiB"};
	static const char *const algorithms[] = {"ud", "ud-itb"};
	struct rng rng;

	memset(drawn, 0, sizeof(*drawn));
	rng_init(&rng, seed, 5, 5);
	draw_links(drawn, &rng);
	drawn->pause_turns = 300;
	add_set(drawn, "traffic.0.load=%u%%", 1 + (unsigned)rng_below(&rng, 100));
	add_set(drawn, "traffic.0.message=%s", messages[rng_below(&rng, 4)]);
	add_set(drawn, "switch.buffer=%s", buffers[rng_below(&rng, 3)]);
	add_set(drawn, "switch.credits=%s", rng_below(&rng, 2) ? "each" : "coalesced");
	add_set(drawn, "routing.algorithm=%s", algorithms[rng_below(&rng, 2)]);
	add_set(drawn, "switch.voq=%s", rng_below(&rng, 2) ? "true" : "false");
	/* Between a tenth of a frame's time and ten of them. */
	drawn->turn_ps = (1 + rng_below(&rng, 100)) * 420 * ps_per_byte(drawn->rate_mbps * 1000000);
	if (drawn->turn_ps < drawn->delay_ps / 50)
		drawn->turn_ps = drawn->delay_ps / 50;
}

/* --- claims --- */

static void no_frame_is_early_and_no_wire_faster_than_its_rate(void **state)
{
	static struct world fresh;
	uint64_t frames = 0, early = 0, unborn = 0, overlapping = 0, overtaken = 0, unseen = 0;

	for (unsigned seed = 1; seed <= CASES; seed++) {
		struct drawn drawn;

		draw(&drawn, seed);
		open_world(&fresh, &drawn, seed);
		carry(60);
		if ((world->early | world->unborn | world->overlapping | world->overtaken |
			    world->unseen) != 0)
			for (unsigned i = 0; i < drawn.sets; i++)
				print_message("case %u: %s\n", seed, drawn.set[i]);
		frames += world->frames;
		early += world->early;
		unborn += world->unborn;
		overlapping += world->overlapping;
		overtaken += world->overtaken;
		unseen += world->unseen;
		close_world();
	}
	print_message("%llu frames\n", (unsigned long long)frames);
	assert_true(frames > 100 * CASES);
	assert_int_equal(early, 0);
	assert_int_equal(unborn, 0);
	assert_int_equal(overlapping, 0);
	assert_int_equal(overtaken, 0);
	assert_int_equal(unseen, 0);
}

/* A load at which at most two frames are on a link at a time, in ppm. */
static uint64_t idle_load(const struct drawn *drawn, unsigned bytes)
{
	weft_time takes = bytes * ps_per_byte(drawn->rate_mbps * 1000000);
	uint64_t load = drawn->delay_ps > 0 ? 2 * takes * 1000000 / drawn->delay_ps : 10000;

	return load < 10000 ? load : 10000;
}

/* One host sends to one other, in frames that meet nothing. */
static void draw_idle(struct drawn *drawn, unsigned seed)
{
	static const unsigned messages[] = {64, 500, 1024, 4096};
	unsigned from, to, bytes;
	weft_time duration;
	struct rng rng;

	rng_init(&rng, seed, 6, 6);
	do {
		memset(drawn, 0, sizeof(*drawn));
		draw_links(drawn, &rng);
		bytes = messages[rng_below(&rng, 4)];
	} while (idle_load(drawn, bytes) < 10);
	drawn->pause_turns = 5;
	from = (unsigned)rng_below(&rng, 8);
	to = (from + 1 + (unsigned)rng_below(&rng, 7)) % 8;
	add_set(drawn, "traffic.0.from=[h%u]", from);
	add_set(drawn, "traffic.0.to=[h%u]", to);
	add_set(drawn, "traffic.0.load=%.4f%%", (double)idle_load(drawn, bytes) / 1e4);
	add_set(drawn, "traffic.0.message=%uB", bytes);
	drawn->turn_ps = 25 * bytes * ps_per_byte(drawn->rate_mbps * 1000000);
	if (drawn->turn_ps < drawn->delay_ps / 50)
		drawn->turn_ps = drawn->delay_ps / 50;
	duration = 40 * drawn->delay_ps + 1000 * drawn->turn_ps;
	add_set(drawn, "measure.duration=%lluns", (unsigned long long)(duration / PS_PER_NS));
	add_set(drawn, "measure.sample=%lluns", (unsigned long long)(duration / PS_PER_NS));
}

/* The latency on the virtual clock, the same for each frame. */
static uint64_t virtual_latency_ns(struct drawn *drawn)
{
	struct run_result result;
	uint64_t ns;

	add_set(drawn, "clock=virtual");
	result = virtual_lab_result(base, drawn->set, drawn->sets);
	assert_true(result.network_ns.count > 10);
	ns = result.network_ns.sum / result.network_ns.count;
	run_result_free(&result);
	return ns;
}

/* Frames leave at any picosecond and carry nanoseconds. Some meet a hello or a credit frame. */
static void due_latencies_of_an_idle_network_are_those_of_the_virtual_clock(void **state)
{
	static struct world fresh;

	for (unsigned seed = 1; seed <= CASES / 4; seed++) {
		struct drawn drawn;
		unsigned same = 0;
		uint64_t ns;

		draw_idle(&drawn, seed);
		open_world(&fresh, &drawn, seed);
		carry(1000);
		close_world();
		ns = virtual_latency_ns(&drawn);
		for (unsigned i = 0; i < world->samples; i++) {
			assert_true(world->latency[i] + PS_PER_NS >= ns * PS_PER_NS);
			same += world->latency[i] / PS_PER_NS <= ns + 1;
		}
		if (world->samples < 10 || same < world->samples * 9 / 10) {
			for (unsigned i = 0; i < drawn.sets; i++)
				print_message("case %u: %s\n", seed, drawn.set[i]);
			fail_msg("%u of %u frames took %llu ns", same, world->samples,
				(unsigned long long)ns);
		}
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(no_frame_is_early_and_no_wire_faster_than_its_rate),
	cmocka_unit_test(due_latencies_of_an_idle_network_are_those_of_the_virtual_clock),
};

int main(void)
{
	char name[] = "physics";

	return run_fabrics_with_eal(name, 1024, tests, sizeof(tests) / sizeof(tests[0]));
}
