/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Searches per watchdog timeout, or per the watchdog's default timeout if that is shorter. */
#define LOOKS       16
#define PATIENCE_PS (50 * PS_PER_MS)
/* With several loops, the switches' heads are collected less often. */
#define LOOPS_LOOK 3

int real_deadlock_open(struct real_fabric *fabric, struct error *error)
{
	weft_time watchdog = fabric->options.run->watchdog_ps;

	fabric->deadlock_period = (watchdog < PATIENCE_PS ? watchdog : PATIENCE_PS) / LOOKS;
	fabric->sw = calloc(real_switches_max(fabric) + 1u, sizeof(struct weft_switch *));
	if (fabric->sw == NULL)
		return error_set(
			error, ENOMEM, "not enough memory for %u switches", fabric->switch_count);
	/* Divided switches are not searched: their shards have separate queues. */
	for (unsigned i = 0; i < fabric->switch_count; i++)
		if (fabric->switches[i].division == NULL)
			fabric->sw[fabric->switches[i].number] = fabric->switches[i].sw;
	return 0;
}

void real_deadlock_close(struct real_fabric *fabric)
{
	free(fabric->sw);
	deadlock_heads_free(&fabric->starved);
	deadlock_heads_free(&fabric->looked);
	for (unsigned i = 0; i < REAL_LOOPS_MAX; i++)
		deadlock_heads_free(&fabric->worker[i].heads);
}

void real_deadlock_begin(struct real_fabric *fabric, weft_time measured_ps)
{
	fabric->starved.count = 0;
	fabric->circle.channels = 0;
	for (unsigned i = 0; i < fabric->host_count; i++)
		fabric->hosts[i].middle.taken = false;
	fabric->starved_after =
		starvation_patience(fabric->options.topology, fabric->options.run, measured_ps);
}

/* A host's frame occupies at least one block. */
static int collect_hosts(const struct real_fabric *fabric, const struct deadlock_view *view,
	weft_time age_ps, struct deadlock_heads *heads)
{
	int result = 0;

	for (unsigned i = 0; i < fabric->host_count && result == 0; i++) {
		const struct real_host *host = &fabric->hosts[i];
		weft_time since;
		uint32_t vcs = nic_stalled(host->poll->nic, &since);

		if (vcs != 0 && since < view->now && view->now - since >= age_ps)
			result = deadlock_collect_host(view, host->number, vcs, 1, since, heads);
	}
	return result;
}

void real_deadlock_look(struct real_fabric *fabric, weft_time now, weft_time age_ps)
{
	const struct deadlock_view view = {fabric->options.topology, fabric->sw, now};
	const bool alone = fabric->loops == 1 || atomic_load(&fabric->halt);
	struct deadlock_heads heads = {0};
	struct deadlock_circle circle;
	int channels = -ENOMEM;

	if ((!alone || deadlock_collect(&view, age_ps, &heads) == 0) &&
		collect_hosts(fabric, &view, age_ps, &heads) == 0)
		channels = deadlock_search(&heads, view.topology, circle.port, DEADLOCK_CIRCLE_MAX);
	if (channels >= 0)
		starvation_keep(&fabric->starved, &heads,
			run_result_minus(now, fabric->measure_from), fabric->starved_after);
	circle.channels = channels > 0 ? (unsigned)channels : 0;
	if (fabric->circle.channels == 0)
		fabric->circle = circle;
	deadlock_heads_free(&heads);
}

bool real_deadlock_check(struct real_fabric *fabric, weft_time now)
{
	if (now < fabric->deadlock_due || fabric->phase == REAL_IDLE ||
		fabric->phase == REAL_WAITING)
		return false;
	fabric->deadlock_due = now + fabric->deadlock_period;
	real_deadlock_look(fabric, now, 2 * fabric->deadlock_period);
	if (fabric->loops > 1)
		fabric->deadlock_due += LOOPS_LOOK * fabric->deadlock_period;
	return fabric->loops > 1;
}

void real_deadlock_collect(struct real_worker *worker, weft_time now)
{
	const struct real_fabric *fabric = worker->fabric;
	const struct deadlock_view view = {fabric->options.topology, fabric->sw, now};

	worker->heads.count = 0;
	for (unsigned i = worker->first_polled; i < worker->last_polled; i++)
		if (deadlock_collect_switch(&view, fabric->polled[i].device->number,
			    fabric->polled[i].poll->sw, 0, &worker->heads) < 0)
			worker->heads.count = 0;
}

static void write_waiting(const struct real_fabric *fabric, const struct deadlock_heads *heads)
{
	char part[TELEMETRY_CONTROL_MAX + 8];
	json_t *list = deadlock_heads_json(heads);

	snprintf(part, sizeof(part), "%s.part", fabric->waiting);
	if (list == NULL || json_dump_file(list, part, JSON_COMPACT) != 0 ||
		rename(part, fabric->waiting) != 0)
		remove(part);
	json_decref(list);
}

void real_deadlock_looked(struct real_fabric *fabric)
{
	struct deadlock_heads now = {0}, before = fabric->looked;
	struct deadlock_circle circle;
	int channels;

	for (unsigned i = 0; i < fabric->loops; i++) {
		const struct deadlock_heads *heads = &fabric->worker[i].heads;

		if (deadlock_heads_reserve(&now, now.count + heads->count) < 0)
			continue;
		if (heads->count > 0)
			memcpy(&now.head[now.count], heads->head,
				heads->count * sizeof(*heads->head));
		now.count += heads->count;
	}
	if (fabric->waiting[0] != '\0')
		write_waiting(fabric, &now);
	fabric->waiting[0] = '\0';
	deadlock_keep_common(&before, &now);
	channels = deadlock_search(
		&before, fabric->options.topology, circle.port, DEADLOCK_CIRCLE_MAX);
	circle.channels = channels > 0 ? (unsigned)channels : 0;
	if (fabric->circle.channels == 0)
		fabric->circle = circle;
	deadlock_heads_free(&before);
	fabric->looked = now;
}

static struct starvation_transit transit_of(const struct real_host *host)
{
	const uint64_t *count = nic_counters(host->poll->nic);

	return (struct starvation_transit){count[NIC_ITB_ABSORBED] + count[NIC_ITB_DISCARDED],
		count[NIC_ITB_REINJECTED], true};
}

void real_deadlock_middle(struct real_fabric *fabric)
{
	for (unsigned i = 0; i < fabric->host_count; i++)
		fabric->hosts[i].middle = transit_of(&fabric->hosts[i]);
}

/* Minimum wait of starved heads: a loop without a CPU delays everything that it polls. */
static weft_time patience_of(const struct real_fabric *fabric)
{
	weft_time patience = fabric->starved_after;

	for (unsigned i = 0; i < fabric->loops; i++) {
		weft_time away = loop_stall_load(&fabric->worker[i].stall.longest);

		patience = 2 * away > patience ? 2 * away : patience;
	}
	return patience;
}

int real_deadlock_result(const struct real_fabric *fabric, struct run_result *result)
{
	const struct topology *topology = fabric->options.topology;
	weft_time measured = run_result_minus(fabric->ended_at, fabric->measure_from);
	int code = deadlock_result(&fabric->circle, topology, result);

	if (code == 0)
		code = starvation_result(
			&fabric->starved, topology, patience_of(fabric), measured, result);
	for (unsigned i = 0; i < fabric->host_count && code == 0; i++) {
		const struct real_host *host = &fabric->hosts[i];
		const struct starvation_transit end = transit_of(host);

		code = starvation_judge_transit(
			topology->host_at[host->number].name, &host->middle, &end, result);
	}
	return code;
}
