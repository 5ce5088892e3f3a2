/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "standalone.h"

#include <errno.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "capture_reason.h"
#include "congestion_setup.h"
#include "device_config.h"
#include "frame_fit.h"
#include "frame_room.h"
#include "poll_yield.h"
#include "port_ethdev.h"
#include "real_pools.h"
#include "switch.h"

#define MEMORY_MIB_ALL 1024 /* where the command line does not say which NICs are ports */

/* The options of a switch without a lab in a run file's terms, so that it is configured by the same
 * code (device_config.h, congestion_setup.h). */

/* Keys without an option keep their defaults, the values of the papers. With --adaptive, except
 * 'none', and more than one VC, the last VC is the adapted-flow channel. */
static struct run_config standalone_run_config(const struct switch_options *options)
{
	struct run_config run;

	run_config_default(&run);
	if (options->adaptive != NULL)
		run.routing.adaptive = options->adaptive;
	run.sw.credits = run_credits_of_mode(run.routing.adaptive);
	run.routing.afi = run_config_is_adaptive(&run) && options->vcs > 1;
	run.sw.vcs = options->vcs - run.routing.afi;
	run.sw.voq = options->voq;
	run.sw.buffer_bytes = options->buffer_bytes;
	run.nic.mtu_bytes = options->mtu_bytes;
	run.hello_ps = options->hello_ps;
	run.watchdog_ps = options->watchdog_ps;
	return run;
}

/* With --adaptive, except 'none', which is for measurements (what it costs a packet), each port
 * leads to all destinations: their sets of ports, the caller's to free. NULL: no memory. */
static uint64_t *standalone_alternatives(uint32_t hosts, unsigned ports)
{
	uint64_t *set = calloc(hosts, sizeof(*set));

	for (uint32_t host = 0; set != NULL && host < hosts; host++)
		set[host] = UINT64_MAX >> (SWITCH_PORTS_MAX - ports);
	return set;
}

/* --- building --- */

static struct port_ethdev_config ethdev_config(const struct switch_options *options)
{
	return (struct port_ethdev_config){
		.frame_bytes = frame_longest(options->mtu_bytes),
		.rx_descriptors = options->descriptors,
		.tx_descriptors = options->descriptors,
	};
}

/* All but what the drivers of its ports want. Each port can fill its buffer, where the smallest
 * frame takes a block, and the rings of two neighbours. */
static struct real_pool_request request_pools(const struct switch_options *options, unsigned ports)
{
	return (struct real_pool_request){
		.ends = ports,
		.stored = 2u * options->descriptors + options->buffer_bytes / FRAME_BLOCK_BYTES,
		.mtu_bytes = options->mtu_bytes,
		.lcores = options->lcores,
	};
}

unsigned standalone_memory_mib(const struct switch_options *options, int argc, char **argv)
{
	const struct port_ethdev_config config = ethdev_config(options);
	struct real_pool_request request = request_pools(options, asked_devices_count(argc, argv));
	struct real_pool_sizes sizes;
	struct port_ethdev_needs needs;

	if (asked_devices_all(argc, argv))
		return MEMORY_MIB_ALL;
	/* As of a NIC. */
	port_ethdev_needs_most("", &config, &needs);
	for (unsigned at = 0; at < request.ends; at++)
		real_pool_add(&request, &needs);
	real_pool_sizes(&request, &sizes);
	return real_pool_memory_mib(&request, &sizes);
}

static int make_pools(struct standalone *standalone, struct fault *fault)
{
	const struct switch_options *options = standalone->options;
	const struct port_ethdev_config config = ethdev_config(options);
	struct real_pool_request request = request_pools(options, standalone->ports);
	struct real_pool_sizes sizes;

	for (unsigned at = 0; at < standalone->ports; at++) {
		struct port_ethdev_needs needs;
		int result;

		port_ethdev_needs(&standalone->port[at], &config, &needs);
		result = frame_fit_check(
			&standalone->port[at], &needs, options->mtu_bytes, 0, "--mtu", fault);
		if (result < 0)
			return result;
		real_pool_add(&request, &needs);
	}
	real_pool_sizes(&request, &sizes);
	standalone->pool =
		port_pool_create("frames", sizes.data_mbufs, sizes.data_bytes, sizes.socket, fault);
	if (standalone->pool == NULL)
		return -ENOMEM;
	standalone->control_pool = port_pool_create(
		"control", sizes.control_mbufs, sizes.control_bytes, sizes.socket, fault);
	return standalone->control_pool != NULL ? 0 : -ENOMEM;
}

static void find_devices(struct standalone *standalone)
{
	uint16_t ethdev;

	RTE_ETH_FOREACH_DEV(ethdev)
		rte_eth_dev_get_name_by_port(ethdev, standalone->device[standalone->ports++]);
}

static int attach_ports(struct standalone *standalone, struct fault *fault)
{
	int result = asked_devices_check(standalone->argc, standalone->argv, fault);

	find_devices(standalone);
	if (result == 0 && standalone->ports == 0)
		result = fault_set(fault, ENODEV,
			"no DPDK port: expected at least one before '--', such as --vdev "
			"net_memif0,… or -a 0000:3b:00.0");
	for (unsigned at = 0; at < standalone->ports && result == 0; at++) {
		char name[sizeof(standalone->port[at].name)];

		snprintf(name, sizeof(name), "%s:%u", standalone->options->name, at);
		result = port_attach_ethdev(
			&standalone->port[at], name, standalone->device[at], fault);
	}
	return result;
}

static int open_ports(struct standalone *standalone, struct fault *fault)
{
	const struct port_ethdev_config config = ethdev_config(standalone->options);
	int result = attach_ports(standalone, fault);

	if (result == 0)
		result = make_pools(standalone, fault);
	for (unsigned at = 0; at < standalone->ports && result == 0; at++)
		result = port_start_ethdev(&standalone->port[at], &config, standalone->pool, fault);
	for (unsigned at = 0; at < standalone->ports && result == 0; at++)
		port_watch_ethdev(&standalone->port[at]);
	return result;
}

/* The same in each life of the switch. */
static uint64_t device_identity(const char *name)
{
	uint64_t identity = 0;

	for (; *name != '\0'; name++)
		identity = rng_mix(identity ^ (uint8_t)*name);
	return identity;
}

static uint32_t new_session(void)
{
	uint32_t session = 0;

	while (session == 0)
		if (getrandom(&session, sizeof(session), 0) != sizeof(session))
			session = (uint32_t)rte_rdtsc();
	return session;
}

static void configure(const struct standalone *standalone, struct switch_config *config)
{
	const struct switch_options *options = standalone->options;
	const struct device_config from = {.run = &standalone->run, .session = new_session()};

	device_config_switch(&from, 0, config);
	config->device = device_identity(options->name);
	config->ports = (uint8_t)standalone->ports;
	config->open_ports = options->open_ports;
	config->table_port = standalone->table.port;
	config->table_alternatives = standalone->alternatives;
	config->table_hosts = standalone->table.hosts;
	config->vc_rule = standalone->table.vc_rule;
	config->vc_rule_at = standalone->table.vc_rule_at;
	/* An open peer is promised nothing, so its ring promises nothing either. */
	for (unsigned at = 0; at < standalone->ports; at++)
		if ((options->open_ports & BIT64(at)) == 0)
			config->port_slots[at] = standalone->port[at].slots;
}

static int check_rings(const struct standalone *standalone, struct fault *fault)
{
	const struct switch_options *options = standalone->options;
	int result = 0;

	for (unsigned at = 0; at < standalone->ports && result == 0; at++)
		if ((options->open_ports & BIT64(at)) == 0)
			result = port_check_room(&standalone->port[at], options->vcs,
				frame_longest(options->mtu_bytes), fault);
	return result;
}

static int add_congestion(struct standalone *standalone, struct fault *fault)
{
	int result = congestion_setup_alone(standalone->sw, NULL, 0, &standalone->run);

	if (result == -EINVAL)
		return fault_set(fault, EINVAL,
			"--adaptive %s: it goes with VOQs; expected no --no-voq",
			standalone->options->adaptive->name);
	return result == 0 ? 0 : fault_set(fault, -result, "no memory for adaptive routing");
}

static int create_switch(
	struct standalone *standalone, const struct switch_config *config, struct fault *fault)
{
	struct arn_guard_config guard;
	int result = 0;

	standalone->sw = switch_create(config, clock_now(&standalone->clock));
	if (standalone->sw != NULL)
		result = add_congestion(standalone, fault);
	if (result < 0)
		return result;
	if (standalone->sw != NULL)
		standalone->ps = poll_switch_create(standalone->sw, standalone->control_pool);
	if (standalone->ps == NULL)
		return fault_set(fault, ENOMEM, "%s: no memory for a switch of %u ports",
			standalone->options->name, standalone->ports);
	guard = congestion_setup_guard(&standalone->run, NULL);
	poll_switch_limit_arns(standalone->ps, &guard);
	return 0;
}

static int build_switch(struct standalone *standalone, struct fault *fault)
{
	struct switch_config config;
	int result = check_rings(standalone, fault);

	if (result < 0)
		return result;
	standalone->run = standalone_run_config(standalone->options);
	if (congestion_setup_is_needed(&standalone->run))
		standalone->alternatives =
			standalone_alternatives(standalone->table.hosts, standalone->ports);
	configure(standalone, &config);
	result = standalone->options->lcores == 1 ? create_switch(standalone, &config, fault)
						  : standalone_divide(standalone, &config, fault);
	for (unsigned at = 0; at < standalone->ports && result == 0; at++) {
		struct port *port = &standalone->port[at];

		port_profile_init(&standalone->profile[at], port);
		if (standalone->options->profile)
			port = &standalone->profile[at].port;
		poll_switch_attach(standalone_owner(standalone, at), at, port, NULL, NULL);
	}
	return result;
}

static int start_captures(struct standalone *standalone, struct fault *fault)
{
	const struct switch_options *options = standalone->options;
	int result = 0;

	for (unsigned at = 0; at < standalone->ports && result == 0; at++)
		result = capture_manager_add_port(
			standalone->captures, standalone_owner(standalone, at)->port[at].port);
	if (result < 0)
		return fault_set(fault, -result, "no memory for captures");
	for (unsigned i = 0; i < options->pcaps && result == 0; i++) {
		const char *equals = strchr(options->pcap[i], '=');
		char port[64];

		snprintf(port, sizeof(port), "%.*s", (int)(equals - options->pcap[i]),
			options->pcap[i]);
		result = capture_start(standalone->captures, port, equals + 1, fault);
	}
	return result;
}

static int show(struct standalone *standalone, struct fault *fault)
{
	const struct capture_options captures = {
		.epoch_ns = clock_unix_origin_ns(&standalone->clock),
		.reason = capture_reason_text,
	};
	int result;

	standalone->captures = capture_manager_create(&captures, fault);
	if (standalone->captures == NULL)
		return -ENOMEM;
	result = start_captures(standalone, fault);
	if (result < 0)
		return result;
	standalone->telemetry = telemetry_create(standalone->captures, fault);
	if (standalone->telemetry == NULL)
		return -errno;
	return switch_metrics_show(&standalone->shown, standalone->telemetry,
		standalone->options->name, standalone->ps, fault);
}

static int load_table(struct standalone *standalone, struct fault *fault)
{
	const struct switch_options *options = standalone->options;
	const struct forwarding_request request = {
		.from = options->table,
		.topology = options->topology,
		.name = options->name,
		.ports = standalone->ports,
		.vcs = options->vcs,
	};

	return forwarding_table_load(&standalone->table, &request, fault);
}

struct standalone *standalone_create(
	const struct switch_options *options, int argc, char **argv, struct fault *fault)
{
	struct standalone *standalone = calloc(1, sizeof(*standalone));
	int result;

	if (standalone == NULL) {
		errno = -fault_set(fault, ENOMEM, "no memory");
		return NULL;
	}
	standalone->options = options;
	standalone->argc = argc;
	standalone->argv = argv;
	clock_start(&standalone->clock, 1);
	result = open_ports(standalone, fault);
	if (result == 0)
		result = load_table(standalone, fault);
	if (result == 0)
		result = build_switch(standalone, fault);
	if (result == 0)
		result = show(standalone, fault);
	if (result == 0)
		return standalone;
	standalone_destroy(standalone);
	errno = -result;
	return NULL;
}

void standalone_destroy(struct standalone *standalone)
{
	if (standalone == NULL)
		return;
	telemetry_destroy(standalone->telemetry);
	capture_manager_destroy(standalone->captures);
	if (standalone->division == NULL) {
		poll_switch_destroy(standalone->ps);
		switch_destroy(standalone->sw);
	}
	poll_division_destroy(standalone->division);
	forwarding_table_free(&standalone->table);
	free(standalone->alternatives);
	for (unsigned at = 0; at < standalone->ports; at++)
		port_unwatch_ethdev(&standalone->port[at]);
	for (unsigned at = 0; at < standalone->ports; at++)
		port_close(&standalone->port[at]);
	rte_mempool_free(standalone->pool);
	rte_mempool_free(standalone->control_pool);
	free(standalone);
}

/* --- running --- */

static double thread_cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void poll_until(struct standalone *standalone, weft_time end, const atomic_bool *stop)
{
	const uint64_t frames = standalone->options->frames;
	struct poll_switch *ps = standalone->ps;
	struct standalone_wall *wall = &standalone->wall[0];
	struct poll_yield yield;
	uint64_t total = 0;
	weft_time now;

	poll_yield_init(&yield, standalone->options->yield, 1, poll_yield_cpus());
	do {
		unsigned moved;

		now = clock_now(&standalone->clock);
		moved = poll_switch_run(ps, now);
		wall->turns++;
		wall->idle_turns += moved == 0;
		total += moved;
		poll_yield_update(&yield, ps->carried);
	} while (now < end && total < frames && !atomic_load_explicit(stop, memory_order_relaxed));
}

static void run_one(
	struct standalone *standalone, weft_time start, weft_time end, const atomic_bool *stop)
{
	struct standalone_wall *wall = &standalone->wall[0];
	uint64_t tsc;

	wall->cpu_seconds = -thread_cpu_seconds();
	tsc = rte_rdtsc();
	poll_until(standalone, end, stop);
	wall->tsc_cycles = rte_rdtsc() - tsc;
	wall->cpu_seconds += thread_cpu_seconds();
	wall->seconds = (double)(clock_now(&standalone->clock) - start) / (double)PS_PER_S;
}

int standalone_run(struct standalone *standalone, const atomic_bool *stop, struct fault *fault)
{
	const struct switch_options *options = standalone->options;
	weft_time start, end = WEFT_TIME_NEVER;
	int result = 0;

	if (options->seed_frames > 0)
		result = seed_ports(
			standalone, options->seed_frames, options->frame_bytes, stop, fault);
	if (result < 0)
		return result;
	start = clock_now(&standalone->clock);
	if (options->duration_ps != WEFT_TIME_NEVER)
		end = start + options->duration_ps;
	if (standalone->division != NULL)
		standalone_run_lcores(standalone, end, stop);
	else
		run_one(standalone, start, end, stop);
	return 0;
}
