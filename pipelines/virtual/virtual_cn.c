/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_control.h"

#include <errno.h>
#include <stdlib.h>

#include "nic/datagram/datagram_control.h"
#include "partition_message.h"
#include "setup/congestion_setup.h"
#include "virtual_links.h"
#include "virtual_partitions.h"
#include "virtual_send.h"

/* A notification in flight to a host; virtual_control.next is the one that arrives there next. */
struct virtual_cn {
	struct virtual_answer answer;
	weft_time at;
};

#define CNS 64 /* initial number of records */

static struct latency_extension *extension_of(void *ctx, const struct weft_packet *packet)
{
	const struct virtual_fabric *fabric = ctx;

	return &fabric->extension[virtual_item_of(fabric, packet)];
}

int virtual_cn_open_switches(struct virtual_fabric *fabric)
{
	const struct contention_config driver = {.extension = extension_of, .ctx = fabric};

	if (!source_control_measures(fabric->run->nic.control) && !fabric->run->measure.switches)
		return 0;
	fabric->contention =
		arena_get(&fabric->arena, fabric->switches * sizeof(*fabric->contention));
	fabric->waited = calloc(fabric->switches + 1u, sizeof(*fabric->waited));
	if (fabric->contention == NULL || fabric->waited == NULL)
		return -ENOMEM;
	for (uint32_t at = 0; at < fabric->switches; at++)
		congestion_setup_contention(fabric->sw[at], &fabric->contention[at],
			fabric->topology, at, fabric->run, &driver);
	return 0;
}

int virtual_cn_open(struct virtual_fabric *fabric)
{
	if (!fabric->answers || fabric->routes.set != NULL)
		return 0;
	fabric->hops = calloc((size_t)fabric->hosts * fabric->hosts + 1, 1);
	return fabric->hops != NULL ? 0 : -ENOMEM;
}

int virtual_cn_open_own(struct virtual_fabric *fabric)
{
	if (source_control_wants_flows(fabric->run->nic.control)) {
		fabric->extension =
			arena_get(&fabric->arena, fabric->pool.size * sizeof(*fabric->extension));
		if (fabric->extension == NULL)
			return -ENOMEM;
	}
	return fabric->answers ? virtual_control_init(&fabric->cns, sizeof(struct virtual_cn), CNS)
			       : 0;
}

void virtual_cn_close_own(struct virtual_fabric *fabric)
{
	virtual_control_fini(&fabric->cns);
}

void virtual_cn_move_switch(struct virtual_fabric *partition, uint32_t at)
{
	if (partition->contention != NULL)
		partition->contention[at].config.ctx = partition;
}

int virtual_cn_open_host(struct virtual_fabric *fabric, uint32_t number)
{
	struct cn_generator_config config;

	if (!fabric->answers)
		return 0;
	fabric->host[number].first_cn = VIRTUAL_CONTROL_NONE;
	control_setup_cn_generator(fabric->run, fabric->hosts, &config);
	return cn_generator_init(&fabric->host[number].answers, &config);
}

void virtual_cn_close(struct virtual_fabric *fabric)
{
	for (uint32_t i = 0; fabric->host != NULL && i < fabric->hosts; i++)
		cn_generator_fini(&fabric->host[i].answers);
	free(fabric->hops);
	free(fabric->waited);
}

/* --- the return path --- */

static weft_time way_back(
	const struct virtual_fabric *fabric, uint32_t number, const struct weft_packet *packet)
{
	weft_time link = virtual_tx_cold(fabric, virtual_host_channel(fabric, number))->delay_ps;
	unsigned switches = packet->route_length != 0
				    ? route_switches(packet->route, packet->route_length)
				    : virtual_links_between(fabric, packet->source, number);

	return (switches + 1) * link + switches * fabric->routing_delay_ps;
}

/* --- answers --- */

static void add_flows(
	struct virtual_fabric *fabric, const struct weft_packet *packet, struct cn *cn)
{
	struct latency_extension *extension = &fabric->extension[virtual_item_of(fabric, packet)];

	if (!latency_is_predictive(extension))
		return;
	cn->flags |= CN_F_PREDICTIVE;
	latency_flows(cn, extension);
	virtual_forget_flows(fabric, packet);
}

void virtual_cn_answer(struct virtual_fabric *fabric, uint32_t number,
	const struct weft_packet *packet, weft_time now)
{
	struct virtual_answer answer = {.from = (uint16_t)number};
	struct partition_crossing_control *crossing;
	weft_time at;
	struct cn *cn = &answer.cn;

	cn->message = packet->message;
	cn->sequence = packet->sequence;
	cn->waiting_ns = packet->latency_ns;
	cn->path = virtual_origin_of(fabric, packet)->path;
	cn->flags = packet->flags & FRAME_F_FECN ? CN_F_FECN : 0;
	if (fabric->extension != NULL)
		add_flows(fabric, packet, cn);
	if (!cn_generator_take(&fabric->host[number].answers, packet->source,
		    (packet->flags & FRAME_F_TAIL) != 0, cn, now))
		return;
	at = now + way_back(fabric, number, packet);
	if (!virtual_is_elsewhere(fabric, fabric->switches + packet->source)) {
		virtual_cn_push(fabric, packet->source, &answer, at);
		return;
	}
	crossing = partition_send_control(fabric, VIRTUAL_CROSSING_ANSWER, NULL,
		virtual_host_order(fabric, packet->source, VIRTUAL_CREDIT), at);
	if (crossing != NULL)
		crossing->answer = answer;
}

/* Orders notifications with equal times by contents, not by the order in which hosts answered. */
static bool is_before(const struct virtual_cn *a, const struct virtual_cn *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	if (a->answer.from != b->answer.from)
		return a->answer.from < b->answer.from;
	if (a->answer.cn.message != b->answer.cn.message)
		return a->answer.cn.message < b->answer.cn.message;
	return a->answer.cn.sequence < b->answer.cn.sequence;
}

void virtual_cn_push(struct virtual_fabric *fabric, uint32_t number,
	const struct virtual_answer *answer, weft_time at)
{
	uint32_t *link = &fabric->host[number].first_cn;
	uint32_t item = virtual_control_take(fabric, &fabric->cns);
	struct virtual_cn *record = fabric->cns.record;

	if (item == VIRTUAL_CONTROL_NONE)
		return;
	record[item] = (struct virtual_cn){*answer, at};
	while (*link != VIRTUAL_CONTROL_NONE && is_before(&record[*link], &record[item]))
		link = &fabric->cns.next[*link];
	fabric->cns.next[item] = *link;
	*link = item;
	event_queue_push(fabric->events,
		(struct sim_event){at, virtual_host_order(fabric, number, VIRTUAL_CREDIT),
			item + 2 * (uint32_t)fabric->items});
}

void virtual_cn_arrive(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct virtual_host *host = &fabric->host[number];
	const struct virtual_cn *record = fabric->cns.record;
	uint32_t item = host->first_cn;

	host->first_cn = fabric->cns.next[item];
	datagram_on_cn(&host->nic, record[item].answer.from, &record[item].answer.cn, now);
	virtual_control_give(&fabric->cns, item);
}

/* --- results --- */

void virtual_cn_sums(const struct virtual_fabric *fabric, struct source_control_sums *sum)
{
	*sum = (struct source_control_sums){0};
	for (uint32_t i = 0; virtual_is_controlled(fabric) && i < fabric->hosts; i++)
		source_control_add_sums(fabric->host[i].nic.control->source, sum);
}

/* Returns how long the switch's packets have waited so far. */
static struct virtual_waited waited_of(const struct virtual_fabric *fabric, uint32_t at)
{
	struct virtual_waited waited = {.waited_ps = fabric->contention[at].waited_ps};

	for (unsigned port = 0; port < fabric->sw[at]->ports; port++)
		waited.packets += fabric->sw[at]->port[port].count[SWITCH_DATA_OUT];
	return waited;
}

void virtual_cn_mark(struct virtual_fabric *fabric)
{
	for (uint32_t at = 0; fabric->contention != NULL && at < fabric->switches; at++)
		fabric->waited[at] = waited_of(fabric, at);
}

int virtual_cn_switches(const struct virtual_fabric *fabric, struct run_result *result)
{
	for (uint32_t at = 0; fabric->contention != NULL && at < fabric->switches; at++) {
		const struct virtual_waited now = waited_of(fabric, at);
		const struct virtual_waited *warm = &fabric->waited[at];
		uint64_t packets = now.packets - warm->packets;
		struct run_switch *sw =
			run_result_add_switch(result, fabric->topology->switch_at[at].name);

		if (sw == NULL)
			return -ENOMEM;
		sw->packets = packets;
		if (packets > 0)
			sw->waiting_ns = (double)(now.waited_ps - warm->waited_ps) /
					 (double)PS_PER_NS / (double)packets;
	}
	return 0;
}

void virtual_cn_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	for (uint32_t i = 0; i < fabric->hosts; i++)
		if (fabric->host[i].nic.reps != NULL) {
			run_result_count(
				result, "entropies_recycled", fabric->host[i].nic.reps->recycled);
			run_result_count(
				result, "entropies_drawn", fabric->host[i].nic.reps->drawn);
		}
	for (uint32_t i = 0; virtual_is_controlled(fabric) && i < fabric->hosts; i++) {
		uint64_t count[SOURCE_CONTROL_COUNTER_COUNT];

		source_control_counters(fabric->host[i].nic.control->source, count);
		count[SOURCE_CONTROL_CN_SENT] = fabric->host[i].answers.sent;
		for (unsigned k = 0; k < SOURCE_CONTROL_COUNTER_COUNT; k++)
			run_result_count(result, source_control_counter_name(k), count[k]);
	}
}

const char *virtual_cn_check(const struct virtual_fabric *fabric)
{
	const char *wrong = NULL;

	for (uint32_t i = 0; i < fabric->hosts && wrong == NULL; i++)
		if (virtual_is_ours(fabric, fabric->switches + i))
			wrong = datagram_control_check(&fabric->host[i].nic);
	return wrong;
}
