/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* One switch on EAL's ethdevs, without a lab, for benchmarks and for tests of the poll driver on
 * DPDK's ports: port i is the i-th ethdev, and destination d leaves by port d modulo the ports.
 * Frames circulate on ports that lead back to themselves (net_ring), or come from files (net_pcap).
 * The result is one JSON document. EAL's options precede '--', its own follow it.
 *
 * The main lcore runs the switch or its first part, the other lcores run the other parts. */

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_mempool.h>
#include <rte_pause.h>

#include "base/option_key.h"
#include "base/quantity.h"
#include "capture/capture.h"
#include "capture/capture_filter.h"
#include "measure/capture_reason.h"
#include "poll/poll_division.h"
#include "poll/switch_metrics.h"
#include "port/eal.h"
#include "port/port_ethdev.h"
#include "port/tsc_clock.h"
#include "port_profile.h"
#include "process/program.h"
#include "real/real_pools.h"
#include "setup/congestion_setup.h"
#include "setup/device_config.h"
#include "wire/frame.h"

#define NAME            "s0"
#define BUFFER_BYTES    (128 * 1024)
#define DESCRIPTORS     1024
#define LINK_TIMEOUT_PS PS_PER_S

struct options {
	const char *vcs, *hosts, *mtu, *hello, *watchdog, *duration, *frames, *seeds, *bytes;
	const char *lcores, *capture, *captured, *filter, *where;
	bool adaptive, open, profile;
};

struct wall {
	uint64_t turns, tsc_cycles;
	double seconds, cpu_seconds;
};

struct bench {
	struct options options;
	struct run_config run;
	uint64_t hosts, frames, seeds, bytes, lcores;
	weft_time duration;
	struct clock clock;
	unsigned ports;
	struct port port[SWITCH_PORTS_MAX];
	struct port_profile profile[SWITCH_PORTS_MAX];
	uint8_t *table;
	uint64_t *alternatives;
	struct rte_mempool *pool, *control_pool;
	struct poll_division *division; /* NULL: one core */
	struct weft_switch *sw;         /* or that of its first part, as 'ps' */
	struct poll_switch *ps;
	struct capture_manager *captures;
	struct capture_filter filter;
	struct telemetry *telemetry;
	struct switch_metrics_shown shown;
	struct wall wall[SWITCH_SHARDS_MAX];
	_Atomic uint64_t moved;
	atomic_bool halt;
	weft_time end;
	const atomic_bool *stop;
};

/* --- the command line --- */

#define S struct options
static const struct argp_option list[] = {
	{"vcs", OPTION_TEXT(S, vcs), "N", 0, "Virtual channels (1); SL i goes to VC i mod N", 0},
	{"hosts", OPTION_TEXT(S, hosts), "N", 0, "Destinations (0: source routes only)", 0},
	{"adaptive", OPTION_SET(S, adaptive), NULL, 0,
		"Mode arn, each port leads to all destinations; one more VC for adapted flows", 0},
	{"open", OPTION_SET(S, open), NULL, 0, "Nothing that keeps credits is connected", 0},
	{"mtu", OPTION_TEXT(S, mtu), "SIZE", 0, "Maximum payload of a frame (4KiB)", 0},
	{"hello", OPTION_TEXT(S, hello), "TIME", 0, "Interval of hellos (60s)", 0},
	{"watchdog", OPTION_TEXT(S, watchdog), "TIME", 0, "Discards after this time (60s)", 0},
	{"duration", OPTION_TEXT(S, duration), "TIME", 0, "Ends after this time (3600s)", 0},
	{"frames", OPTION_TEXT(S, frames), "N", 0, "Ends after about this many frames", 0},
	{"seed-frames", OPTION_TEXT(S, seeds), "N", 0, "Sends N frames into each port first", 0},
	{"frame-bytes", OPTION_TEXT(S, bytes), "B", 0, "Their length without FCS (60)", 0},
	{"lcores", OPTION_TEXT(S, lcores), "N", 0, "Cores that share the ports (1)", 0},
	{"capture", OPTION_TEXT(S, capture), "FILE", 0, "Captures ports (pcapng)", 0},
	{"capture-port", OPTION_TEXT(S, captured), "PORT", 0, "Only this one (all)", 0},
	{"filter", OPTION_TEXT(S, filter), "EXPRESSION", 0, "Only such packets of a TAP", 0},
	{"where", OPTION_TEXT(S, where), "WORDS", 0, "Only frames of vc= and kind=", 0},
	{"profile", OPTION_SET(S, profile), NULL, 0, "Reports how the loop's time is spent", 0},
	{0},
};
#undef S

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	return option_key_store(state->input, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
}

static uint64_t number(const char *text, uint64_t otherwise)
{
	return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static uint64_t quantity(enum quantity_kind kind, const char *text, uint64_t otherwise)
{
	uint64_t value = otherwise;

	if (text != NULL && quantity_parse(kind, text, &value) < 0) {
		fprintf(stderr, "%s: expected %s\n", text, quantity_expected(kind));
		exit(EXIT_BAD_REQUEST);
	}
	return value;
}

static void parse(struct bench *bench, int argc, char **argv)
{
	static const struct argp argp = {.options = list,
		.parser = parse_option,
		.doc = "One switch on DPDK's ports, for measurements: EAL_OPTION... -- OPTION..."};
	const struct options *options = &bench->options;
	struct run_config *run = &bench->run;

	program_parse(&argp, 0, argc, argv, &bench->options);
	run_config_default(run);
	if (options->adaptive)
		run->routing.adaptive = adaptive_mode_find("arn");
	run->sw.credits = run_credits_of_mode(run->routing.adaptive);
	run->routing.afi = options->adaptive;
	run->sw.vcs = (uint32_t)number(options->vcs, 1);
	run->sw.buffer_bytes = BUFFER_BYTES;
	run->nic.mtu_bytes = (uint32_t)quantity(QUANTITY_SIZE, options->mtu, 4096);
	run->hello_ps = quantity(QUANTITY_TIME, options->hello, 60 * PS_PER_S);
	run->watchdog_ps = quantity(QUANTITY_TIME, options->watchdog, 60 * PS_PER_S);
	bench->duration = quantity(QUANTITY_TIME, options->duration, 3600 * PS_PER_S);
	bench->hosts = number(options->hosts, 0);
	bench->frames = number(options->frames, UINT64_MAX);
	bench->seeds = number(options->seeds, 0);
	bench->bytes = number(options->bytes, FRAME_BYTES_MIN);
	bench->lcores = number(options->lcores, 1);
}

/* --- building --- */

static int open_ports(struct bench *bench, struct error *error)
{
	const struct port_ethdev_config config = {
		.frame_bytes = frame_longest(bench->run.nic.mtu_bytes),
		.rx_descriptors = DESCRIPTORS,
		.tx_descriptors = DESCRIPTORS,
	};
	struct real_pool_request request = {
		.mtu_bytes = bench->run.nic.mtu_bytes, .lcores = (unsigned)bench->lcores};
	struct real_pool_sizes sizes;
	uint16_t ethdev;
	int result = 0;

	RTE_ETH_FOREACH_DEV(ethdev) {
		struct port *port = &bench->port[request.ends];
		struct port_ethdev_needs needs;
		char name[RTE_ETH_NAME_MAX_LEN], label[sizeof(port->name)];

		rte_eth_dev_get_name_by_port(ethdev, name);
		snprintf(label, sizeof(label), NAME ":%u", request.ends);
		result = port_attach_ethdev(port, label, name, error);
		if (result < 0)
			return result;
		port_ethdev_needs(port, &config, &needs);
		real_pool_add(&request, &needs);
		bench->ports = ++request.ends;
	}
	real_pool_sizes(&request, &sizes);
	/* Each port can fill its buffer, where the smallest frame takes a block. */
	sizes.data_mbufs += bench->ports * (2 * DESCRIPTORS + BUFFER_BYTES / FRAME_BLOCK_BYTES);
	bench->pool = port_pool_create("frames", sizes.data_mbufs, sizes.data_bytes, -1, error);
	bench->control_pool =
		port_pool_create("control", sizes.control_mbufs, sizes.control_bytes, -1, error);
	if (bench->pool == NULL || bench->control_pool == NULL)
		return -ENOMEM;
	for (unsigned at = 0; at < bench->ports && result == 0; at++)
		result = port_start_ethdev(&bench->port[at], &config, bench->pool, error);
	return result;
}

static void configure(struct bench *bench, struct switch_config *config)
{
	const struct device_config from = {.run = &bench->run, .session = 1};

	device_config_switch(&from, 0, config);
	config->device = 1;
	config->ports = (uint8_t)bench->ports;
	config->open_ports = bench->options.open ? UINT64_MAX : 0;
	config->table_port = bench->table;
	config->table_alternatives = bench->options.adaptive ? bench->alternatives : NULL;
	config->table_hosts = (uint32_t)bench->hosts;
	for (uint32_t host = 0; host < bench->hosts; host++) {
		bench->table[host] = (uint8_t)(host % bench->ports);
		bench->alternatives[host] = UINT64_MAX >> (SWITCH_PORTS_MAX - bench->ports);
	}
	for (unsigned at = 0; at < bench->ports && !bench->options.open; at++)
		config->port_slots[at] = bench->port[at].slots;
}

static int divide(struct bench *bench, const struct switch_config *config)
{
	int socket[SWITCH_PORTS_MAX] = {0};
	uint8_t owner[SWITCH_PORTS_MAX];
	int result = 0;

	poll_division_deal(owner, socket, bench->ports, socket, (unsigned)bench->lcores);
	bench->division = poll_division_create(config, owner, (unsigned)bench->lcores);
	if (bench->division == NULL)
		return -errno;
	for (unsigned shard = 0; shard < bench->lcores && result == 0; shard++)
		result = poll_division_place(
			bench->division, shard, bench->control_pool, clock_now(&bench->clock));
	if (result < 0)
		return result;
	poll_division_connect(bench->division);
	bench->ps = bench->division->shard[0];
	bench->sw = bench->ps->sw;
	return 0;
}

static int build_whole(struct bench *bench, const struct switch_config *config)
{
	bench->sw = switch_create(config, clock_now(&bench->clock));
	if (bench->sw == NULL)
		return -errno;
	bench->ps = poll_switch_create(bench->sw, bench->control_pool);
	return bench->ps == NULL ? -ENOMEM
				 : congestion_setup_alone(bench->sw, NULL, 0, &bench->run);
}

static struct poll_switch *owner_of(const struct bench *bench, unsigned port)
{
	return bench->division == NULL ? bench->ps : poll_division_owner(bench->division, port);
}

static int build(struct bench *bench, struct error *error)
{
	struct switch_config config;
	int result;

	bench->table = calloc(bench->hosts + 1, sizeof(*bench->table));
	bench->alternatives = calloc(bench->hosts + 1, sizeof(*bench->alternatives));
	if (bench->table == NULL || bench->alternatives == NULL)
		return error_set(error, ENOMEM, "out of memory");
	configure(bench, &config);
	result = bench->lcores == 1 ? build_whole(bench, &config) : divide(bench, &config);
	if (result < 0)
		return error_set(error, -result, "a switch of %u ports on %u lcores: %s",
			bench->ports, (unsigned)bench->lcores, strerror(-result));
	for (unsigned at = 0; at < bench->ports; at++) {
		struct port *port = &bench->port[at];

		port_profile_init(&bench->profile[at], port);
		if (bench->options.profile)
			port = &bench->profile[at].port;
		poll_switch_attach(owner_of(bench, at), at, port, NULL, NULL);
	}
	return 0;
}

static int show(struct bench *bench, struct error *error)
{
	const struct capture_options captures = {
		.reason = capture_reason_text, .drops = capture_reason_drops};
	bool filtered = bench->options.filter != NULL || bench->options.where != NULL;
	int result = capture_expression_parse(
		&bench->filter, bench->options.filter, bench->options.where, NULL, error);

	if (result < 0)
		return result;
	bench->captures = capture_manager_create(&captures, error);
	if (bench->captures == NULL)
		return -ENOMEM;
	for (unsigned at = 0; at < bench->ports && result == 0; at++)
		result = capture_manager_add_port(
			bench->captures, owner_of(bench, at)->port[at].port);
	if (result == 0 && bench->options.capture != NULL)
		result = capture_start(bench->captures,
			bench->options.captured != NULL ? bench->options.captured : "all",
			bench->options.capture, filtered ? &bench->filter : NULL, error);
	if (result < 0)
		return result;
	bench->telemetry = telemetry_create(bench->captures, error);
	return bench->telemetry == NULL ? -errno
					: switch_metrics_show(&bench->shown, bench->telemetry, NAME,
						  bench->ps, error);
}

/* --- the first frames --- */

static void poll_all(struct bench *bench)
{
	weft_time now = clock_now(&bench->clock);

	for (unsigned shard = 0; shard < bench->lcores; shard++)
		poll_switch_run(
			bench->division == NULL ? bench->ps : bench->division->shard[shard], now);
}

/* They take credits like any other frame and are received like frames from outside. */
static int seed_port(struct bench *bench, unsigned at, struct error *error)
{
	struct poll_switch *ps = owner_of(bench, at);
	weft_time start = clock_now(&bench->clock);

	while ((ps->sw->usable & BIT64(at)) == 0 ||
		credit_available(&ps->sw->port[at].link.tx[0]) <= 0) {
		poll_all(bench);
		if (clock_now(&bench->clock) - start > LINK_TIMEOUT_PS)
			return error_set(error, ETIMEDOUT,
				"%s: no credits from the far end after 1 s",
				ps->port[at].port->name);
	}
	for (unsigned i = 0; i < bench->seeds; i++) {
		uint8_t vc = bench->sw->sl_to_vc[i % 16];
		struct credit_tx *credit = &ps->sw->port[at].link.tx[vc];
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(bench->pool);
		const struct frame_fields fields = {.kind = FRAME_DATA,
			.source = (uint16_t)i,
			.destination = (uint16_t)((at + i) % bench->hosts),
			.sequence = i,
			.sl = i % 16,
			.vc = vc,
			.vc_original = vc,
			.payload_bytes = (uint16_t)(bench->bytes - FRAME_HEADER_BYTES)};

		if (mbuf == NULL || !credit_suffices(credit, frame_blocks((uint32_t)bench->bytes)))
			return error_set(error, EINVAL, "%s: mbufs or credits for %u frames only",
				ps->port[at].port->name, i);
		memset(rte_pktmbuf_mtod(mbuf, uint8_t *), 0, bench->bytes);
		rte_pktmbuf_data_len(mbuf) =
			(uint16_t)frame_build(rte_pktmbuf_mtod(mbuf, uint8_t *), &fields);
		rte_pktmbuf_pkt_len(mbuf) = rte_pktmbuf_data_len(mbuf);
		credit_take(credit, frame_blocks((uint32_t)bench->bytes));
		if (port_tx(ps->port[at].port, &mbuf, 1, clock_now(&bench->clock)) != 1)
			return error_set(error, EIO, "%s: its ring takes %u frames",
				ps->port[at].port->name, i);
	}
	return 0;
}

/* --- the loops --- */

static double thread_cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* All loops add up what they move, if there is a limit. */
static bool is_enough(struct bench *bench, unsigned moved)
{
	return bench->frames != UINT64_MAX &&
	       atomic_fetch_add_explicit(&bench->moved, moved, memory_order_relaxed) + moved >=
		       bench->frames;
}

static void poll_part(struct bench *bench, struct poll_switch *ps, struct wall *wall)
{
	while (!atomic_load_explicit(&bench->halt, memory_order_relaxed)) {
		weft_time now = clock_now(&bench->clock);
		unsigned moved = poll_switch_run(ps, now);

		wall->turns++;
		if (now >= bench->end || is_enough(bench, moved) ||
			atomic_load_explicit(bench->stop, memory_order_relaxed))
			atomic_store_explicit(&bench->halt, true, memory_order_relaxed);
		if (ps->carried == 0)
			rte_pause();
	}
}

struct work {
	struct bench *bench;
	unsigned shard;
};

static int run_part(void *ctx)
{
	struct work *work = ctx;
	struct bench *bench = work->bench;
	struct wall *wall = &bench->wall[work->shard];
	weft_time start = clock_now(&bench->clock);
	uint64_t tsc = rte_rdtsc();

	wall->cpu_seconds = -thread_cpu_seconds();
	poll_part(bench, bench->division == NULL ? bench->ps : bench->division->shard[work->shard],
		wall);
	wall->tsc_cycles = rte_rdtsc() - tsc;
	wall->cpu_seconds += thread_cpu_seconds();
	wall->seconds = (double)(clock_now(&bench->clock) - start) / (double)PS_PER_S;
	return 0;
}

static int run(struct bench *bench, struct error *error)
{
	struct work work[SWITCH_SHARDS_MAX];
	unsigned lcore, shard = 1;

	for (unsigned at = 0; at < bench->ports && bench->seeds > 0; at++) {
		int result = seed_port(bench, at, error);

		if (result < 0)
			return result;
	}
	bench->end = clock_now(&bench->clock) + bench->duration;
	RTE_LCORE_FOREACH_WORKER(lcore)
	{
		if (shard >= bench->lcores)
			break;
		work[shard] = (struct work){bench, shard};
		rte_eal_remote_launch(run_part, &work[shard], lcore);
		shard++;
	}
	work[0] = (struct work){bench, 0};
	run_part(&work[0]);
	rte_eal_mp_wait_lcore();
	return 0;
}

/* --- the result --- */

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

static struct wall wall_sum(const struct bench *bench)
{
	struct wall sum = bench->wall[0];

	for (unsigned i = 1; i < bench->lcores; i++) {
		sum.turns += bench->wall[i].turns;
		sum.tsc_cycles += bench->wall[i].tsc_cycles;
		sum.cpu_seconds += bench->wall[i].cpu_seconds;
	}
	return sum;
}

static json_t *profile_json(const struct bench *bench, double packets)
{
	uint64_t rx = 0, empty = 0, tx = 0, rx_frames = 0, rx_bursts = 0, tx_frames = 0;
	uint64_t tx_bursts = 0;

	for (unsigned at = 0; at < bench->ports; at++) {
		const struct port_profile *profile = &bench->profile[at];

		rx += profile->rx_cycles;
		empty += profile->rx_empty_cycles;
		tx += profile->tx_cycles;
		rx_frames += profile->rx_frames;
		rx_bursts += profile->rx_bursts;
		tx_frames += profile->tx_frames;
		tx_bursts += profile->tx_bursts;
	}
	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "receive_cycles_per_packet",
		ratio((double)rx, packets), "receive_empty_cycles_per_packet",
		ratio((double)empty, packets), "transmit_cycles_per_packet",
		ratio((double)tx, packets), "switch_cycles_per_packet",
		ratio((double)(wall_sum(bench).tsc_cycles - rx - empty - tx), packets),
		"receive_burst", ratio((double)rx_frames, (double)rx_bursts), "transmit_burst",
		ratio((double)tx_frames, (double)tx_bursts));
}

static int report(const struct bench *bench)
{
	const char *wrong = bench->division == NULL
				    ? switch_check(bench->sw)
				    : switch_division_check(bench->division->division);
	const struct wall wall = wall_sum(bench);
	uint64_t value[SWITCH_METRIC_COUNT];
	json_t *counters = json_object(), *document;
	double packets;

	switch_metrics_sum(bench->ps, value);
	packets = (double)value[SWITCH_DATA_OUT];
	for (unsigned i = 0; i < switch_metrics_of(bench->sw->vcs); i++)
		json_object_set_new(
			counters, switch_metric_name(i), json_integer((json_int_t)value[i]));
	document = json_pack("{s:o, s:s, s:{s:i, s:f, s:f, s:f, s:I, s:I}}", "counters", counters,
		"check", wrong != NULL ? wrong : "ok", "wall", "lcores", (int)bench->lcores,
		"seconds", wall.seconds, "cpu_seconds", wall.cpu_seconds, "tsc_cycles_per_packet",
		ratio((double)wall.tsc_cycles, packets), "turns", (json_int_t)wall.turns, "tsc_hz",
		(json_int_t)bench->clock.hz);
	if (bench->options.profile)
		json_object_set_new(document, "profile", profile_json(bench, packets));
	json_dumpf(document, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(document);
	return wrong == NULL ? EXIT_DONE : EXIT_BAD_ANSWER;
}

static void finish(struct bench *bench)
{
	telemetry_destroy(bench->telemetry);
	capture_manager_destroy(bench->captures);
	if (bench->division == NULL) {
		poll_switch_destroy(bench->ps);
		switch_destroy(bench->sw);
	}
	poll_division_destroy(bench->division);
	free(bench->table);
	free(bench->alternatives);
	for (unsigned at = 0; at < bench->ports; at++)
		port_close(&bench->port[at]);
	rte_mempool_free(bench->pool);
	rte_mempool_free(bench->control_pool);
	eal_stop();
}

int main(int argc, char **argv)
{
	static struct bench bench;
	struct eal_options eal;
	struct error error;
	int result;

	parse(&bench, argc, argv);
	bench.stop = program_catch_signals();
	eal = (struct eal_options){.lcores = (unsigned)bench.lcores};
	result = eal_start(argc, argv, &eal, &error);
	if (result < 0) {
		fprintf(stderr, "weft-bench-switch: %s\n", error.text);
		return error_exit_code(result);
	}
	clock_start(&bench.clock, 1);
	result = open_ports(&bench, &error);
	if (result == 0)
		result = build(&bench, &error);
	if (result == 0)
		result = show(&bench, &error);
	if (result == 0)
		result = run(&bench, &error);
	if (result < 0)
		fprintf(stderr, "weft-bench-switch: %s\n", error.text);
	result = result < 0 ? (int)error_exit_code(result) : report(&bench);
	finish(&bench);
	return result;
}
