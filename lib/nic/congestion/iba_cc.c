/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "iba_cc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TIMER_NS UINT64_C(150000)
#define LIMIT    127

void iba_cc_config_default(struct iba_cc_config *config)
{
	*config = (struct iba_cc_config){.timer_ns = TIMER_NS, .increase = 1, .limit = LIMIT};
	cc_table_fill(&config->table, CC_TABLE_LINEAR);
}

int iba_cc_init(struct iba_cc *cc, const struct iba_cc_config *config, uint32_t hosts)
{
	memset(cc, 0, sizeof(*cc));
	if (config->timer_ns == 0 || config->limit >= CC_TABLE_ENTRIES ||
		config->min > config->limit || config->table.count == 0)
		return -EINVAL;
	cc->config = *config;
	cc->flow = calloc(config->per_host || hosts == 0 ? 1 : hosts, sizeof(cc->flow[0]));
	return cc->flow == NULL ? -ENOMEM : 0;
}

void iba_cc_fini(struct iba_cc *cc)
{
	free(cc->flow);
	cc->flow = NULL;
}

/* Returns the flow, with all timer expiries up to now applied. */
static struct iba_cc_flow *flow_at(struct iba_cc *cc, uint16_t destination, uint64_t now_ns)
{
	struct iba_cc_flow *flow = &cc->flow[cc->config.per_host ? 0 : destination];
	uint32_t expiries = (uint32_t)(now_ns / cc->config.timer_ns);
	uint32_t fresh = expiries - flow->expiries;

	flow->ccti = (uint16_t)(fresh < flow->ccti ? flow->ccti - fresh : 0);
	flow->expiries = expiries;
	return flow;
}

void iba_cc_mark(struct iba_cc *cc, uint16_t destination, uint64_t now_ns)
{
	struct iba_cc_flow *flow = flow_at(cc, destination, now_ns);
	uint32_t max = (uint32_t)cc->config.limit - cc->config.min;
	uint32_t raised = (uint32_t)flow->ccti + cc->config.increase;

	flow->ccti = (uint16_t)(raised < max ? raised : max);
}

void iba_cc_raise(struct iba_cc *cc, uint16_t destination, unsigned packets, uint64_t now_ns)
{
	const uint64_t unit = 1u << CC_TABLE_SHIFT_MAX; /* large enough that no shift loses bits */
	struct iba_cc_flow *flow = flow_at(cc, destination, now_ns);
	unsigned index = flow->ccti + (unsigned)cc->config.min;

	while (index < cc->config.limit &&
		cc_table_delay(&cc->config.table, index, unit) < packets * unit)
		index++;
	flow->ccti = (uint16_t)(index - cc->config.min);
}

unsigned iba_cc_index(struct iba_cc *cc, uint16_t destination, uint64_t now_ns)
{
	return flow_at(cc, destination, now_ns)->ccti + (unsigned)cc->config.min;
}

void iba_cc_sent(struct iba_cc *cc, uint16_t destination, uint64_t packet_ns, uint64_t now_ns)
{
	struct iba_cc_flow *flow = flow_at(cc, destination, now_ns);
	unsigned index = flow->ccti + (unsigned)cc->config.min;

	flow->ready_ns = now_ns + packet_ns + cc_table_delay(&cc->config.table, index, packet_ns);
}

/* --- congestion control table --- */

#define SHIFT 3

/* Returns floor(i^2 * 7 / 106^2 / 0.408), in integer arithmetic. */
static unsigned llnl(unsigned i)
{
	return i * i * 7000u / (106u * 106u * 408u);
}

void cc_table_fill(struct cc_table *table, enum cc_table_kind kind)
{
	table->count = 0;
	for (unsigned i = 0; i < CC_TABLE_ENTRIES; i++)
		cc_table_add(table, SHIFT, kind == CC_TABLE_LLNL ? llnl(i) : i);
}

bool cc_table_add(struct cc_table *table, unsigned shift, unsigned multiplier)
{
	if (shift > CC_TABLE_SHIFT_MAX || multiplier > CC_TABLE_MULTIPLIER_MAX ||
		table->count == CC_TABLE_ENTRIES)
		return false;
	table->entry[table->count++] = (uint16_t)(shift << 14 | multiplier);
	return true;
}
