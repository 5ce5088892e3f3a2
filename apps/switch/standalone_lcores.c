/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "standalone.h"

#include <errno.h>
#include <time.h>

#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "poll_yield.h"

/* The work of one lcore. */
struct lcore_work {
	struct standalone *standalone;
	unsigned part;
	weft_time end;
	const atomic_bool *stop;
};

/* --- building --- */

static void list_lcores(unsigned *lcore, unsigned parts)
{
	unsigned next = 1, worker;

	lcore[0] = rte_get_main_lcore();
	RTE_LCORE_FOREACH_WORKER(worker)
	if (next < parts)
		lcore[next++] = worker;
}

static int check_lcores(const struct standalone *standalone, struct fault *fault)
{
	unsigned lcores = standalone->options->lcores;

	if (lcores > rte_lcore_count())
		return fault_set(fault, EINVAL,
			"--lcores %u: EAL's options give %u, expected at least as many", lcores,
			rte_lcore_count());
	if (lcores > standalone->ports)
		return fault_set(fault, EINVAL,
			"--lcores %u: the switch has %u ports, expected one for each lcore at "
			"least",
			lcores, standalone->ports);
	return 0;
}

static void deal_ports(const struct standalone *standalone, const unsigned *lcore, uint8_t *owner)
{
	int port_socket[RTE_MAX_ETHPORTS], part_socket[SWITCH_PARTS_MAX];
	unsigned parts = standalone->options->lcores;

	for (unsigned port = 0; port < standalone->ports; port++)
		port_socket[port] = rte_eth_dev_socket_id(standalone->port[port].ethdev);
	for (unsigned part = 0; part < parts; part++)
		part_socket[part] = (int)rte_lcore_to_socket_id(lcore[part]);
	poll_division_deal(owner, port_socket, standalone->ports, part_socket, parts);
}

/* On its lcore, so that the kernel takes memory of that socket. */
static int place(void *ctx)
{
	struct lcore_work *work = ctx;
	struct standalone *standalone = work->standalone;

	return poll_division_place(standalone->division, work->part, standalone->control_pool,
		clock_now(&standalone->clock));
}

static int place_all(struct standalone *standalone, const unsigned *lcore)
{
	unsigned parts = standalone->options->lcores;
	struct lcore_work work[SWITCH_PARTS_MAX];
	int result;

	for (unsigned part = 0; part < parts; part++)
		work[part] = (struct lcore_work){.standalone = standalone, .part = part};
	for (unsigned part = 1; part < parts; part++)
		rte_eal_remote_launch(place, &work[part], lcore[part]);
	result = place(&work[0]);
	for (unsigned part = 1; part < parts; part++) {
		int placed = rte_eal_wait_lcore(lcore[part]);

		result = result == 0 ? placed : result;
	}
	return result;
}

int standalone_divide(
	struct standalone *standalone, const struct switch_config *config, struct fault *fault)
{
	unsigned parts = standalone->options->lcores, lcore[SWITCH_PARTS_MAX];
	uint8_t owner[RTE_MAX_ETHPORTS];
	int result = check_lcores(standalone, fault);

	if (result < 0)
		return result;
	list_lcores(lcore, parts);
	deal_ports(standalone, lcore, owner);
	standalone->division = poll_division_create(config, owner, parts);
	if (standalone->division == NULL || place_all(standalone, lcore) < 0)
		return fault_set(fault, ENOMEM, "%s: no memory for a switch of %u ports",
			standalone->options->name, standalone->ports);
	poll_division_connect(standalone->division);
	standalone->ps = standalone->division->part[0];
	standalone->sw = standalone->ps->sw;
	return 0;
}

/* --- running --- */

static double thread_cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* All loops add up what they move, if there is a limit. */
static bool is_enough(struct standalone *standalone, unsigned moved)
{
	uint64_t frames = standalone->options->frames;

	return frames != UINT64_MAX &&
	       atomic_fetch_add_explicit(&standalone->moved, moved, memory_order_relaxed) + moved >=
		       frames;
}

static void poll_part(const struct lcore_work *work, struct standalone_wall *wall)
{
	struct standalone *standalone = work->standalone;
	struct poll_switch *ps = standalone->division->part[work->part];
	struct poll_yield yield;

	poll_yield_init(
		&yield, standalone->options->yield, standalone->options->lcores, poll_yield_cpus());
	while (!atomic_load_explicit(&standalone->halt, memory_order_relaxed)) {
		weft_time now = clock_now(&standalone->clock);
		unsigned moved = poll_switch_run(ps, now);

		wall->turns++;
		wall->idle_turns += moved == 0;
		if (now >= work->end || is_enough(standalone, moved) ||
			atomic_load_explicit(work->stop, memory_order_relaxed))
			atomic_store_explicit(&standalone->halt, true, memory_order_relaxed);
		poll_yield_update(&yield, ps->carried);
	}
}

static int run_part(void *ctx)
{
	const struct lcore_work *work = ctx;
	struct standalone_wall *wall = &work->standalone->wall[work->part];
	weft_time start = clock_now(&work->standalone->clock);
	uint64_t tsc = rte_rdtsc();

	wall->cpu_seconds = -thread_cpu_seconds();
	poll_part(work, wall);
	wall->tsc_cycles = rte_rdtsc() - tsc;
	wall->cpu_seconds += thread_cpu_seconds();
	wall->seconds = (double)(clock_now(&work->standalone->clock) - start) / (double)PS_PER_S;
	return 0;
}

void standalone_run_lcores(struct standalone *standalone, weft_time end, const atomic_bool *stop)
{
	unsigned parts = standalone->options->lcores, lcore[SWITCH_PARTS_MAX];
	struct lcore_work work[SWITCH_PARTS_MAX];

	list_lcores(lcore, parts);
	for (unsigned part = 0; part < parts; part++)
		work[part] = (struct lcore_work){
			.standalone = standalone, .part = part, .end = end, .stop = stop};
	for (unsigned part = 1; part < parts; part++)
		rte_eal_remote_launch(run_part, &work[part], lcore[part]);
	run_part(&work[0]);
	rte_eal_mp_wait_lcore();
}

/* --- both --- */

void standalone_poll_all(struct standalone *standalone, weft_time now)
{
	if (standalone->division == NULL)
		poll_switch_run(standalone->ps, now);
	for (unsigned part = 0; standalone->division != NULL && part < standalone->options->lcores;
		part++)
		poll_switch_run(standalone->division->part[part], now);
}

const char *standalone_check(const struct standalone *standalone)
{
	return standalone->division == NULL ? switch_check(standalone->sw)
					    : switch_division_check(standalone->division->division);
}

uint64_t standalone_stored(const struct standalone *standalone)
{
	return standalone->division == NULL
		       ? switch_stored_packets(standalone->sw)
		       : switch_division_stored(standalone->division->division);
}
