/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "dcqcn.h"

#include <errno.h>
#include <stdlib.h>

int dcqcn_init(struct dcqcn *dcqcn, const struct dcqcn_config *config, uint32_t hosts)
{
	*dcqcn = (struct dcqcn){.config = *config};
	if (config->alpha_timer_ns == 0 || config->rate_timer_ns == 0 ||
		config->rate_bytes_ns == 0 || config->gain < 2 || config->min == 0 ||
		config->min > DCQCN_ONE)
		return -EINVAL;
	dcqcn->flow = calloc(hosts > 0 ? hosts : 1, sizeof(*dcqcn->flow));
	return dcqcn->flow != NULL ? 0 : -ENOMEM;
}

void dcqcn_fini(struct dcqcn *dcqcn)
{
	free(dcqcn->flow);
	dcqcn->flow = NULL;
}

static bool is_throttled(const struct dcqcn_flow *flow)
{
	return flow->below != 0 || flow->target_below != 0;
}

/* Performs a step of the timer or the byte counter (figure 7 of the paper). */
static void raise(const struct dcqcn_config *config, struct dcqcn_flow *flow)
{
	uint32_t less = flow->timers < flow->counts ? flow->timers : flow->counts;
	uint32_t more = flow->timers < flow->counts ? flow->counts : flow->timers;
	uint64_t step = 0;

	if (less > config->fast)
		step = (uint64_t)config->hyper * (less - config->fast);
	else if (more >= config->fast)
		step = config->additive;
	flow->target_below -= step < flow->target_below ? (uint32_t)step : flow->target_below;
	flow->below = (flow->below + flow->target_below) / 2;
}

/* Applies all timer steps of the flow up to now. */
static void advance(const struct dcqcn_config *config, struct dcqcn_flow *flow, uint64_t now_ns)
{
	for (; flow->alpha_at_ns <= now_ns && flow->alpha >= config->gain;
		flow->alpha_at_ns += config->alpha_timer_ns)
		flow->alpha -= flow->alpha / config->gain;
	for (; flow->rate_at_ns <= now_ns && is_throttled(flow);
		flow->rate_at_ns += config->rate_timer_ns) {
		flow->timers += flow->timers < UINT16_MAX;
		raise(config, flow);
	}
}

void dcqcn_notify(struct dcqcn *dcqcn, uint16_t destination, uint64_t now_ns)
{
	const struct dcqcn_config *config = &dcqcn->config;
	struct dcqcn_flow *flow = &dcqcn->flow[destination];
	uint64_t rate;

	advance(config, flow, now_ns);
	if (!flow->notified)
		flow->alpha = DCQCN_ONE;
	flow->notified = true;
	flow->target_below = flow->below;
	rate = DCQCN_ONE - flow->below;
	rate -= rate * flow->alpha / (2 * (uint64_t)DCQCN_ONE);
	flow->below = DCQCN_ONE - (uint32_t)(rate > config->min ? rate : config->min);
	flow->alpha += (DCQCN_ONE - flow->alpha) / config->gain;
	flow->timers = flow->counts = 0;
	flow->sent_ns = 0;
	flow->alpha_at_ns = now_ns + config->alpha_timer_ns;
	flow->rate_at_ns = now_ns + config->rate_timer_ns;
	dcqcn->notifications++;
}

void dcqcn_sent(struct dcqcn *dcqcn, uint16_t destination, uint64_t packet_ns, uint64_t now_ns)
{
	const struct dcqcn_config *config = &dcqcn->config;
	struct dcqcn_flow *flow = &dcqcn->flow[destination];

	advance(config, flow, now_ns);
	if (!is_throttled(flow))
		return;
	flow->sent_ns += packet_ns;
	if (flow->sent_ns >= config->rate_bytes_ns) {
		flow->sent_ns -= config->rate_bytes_ns;
		flow->counts += flow->counts < UINT16_MAX;
		raise(config, flow);
	}
	flow->ready_ns = now_ns + packet_ns * DCQCN_ONE / (DCQCN_ONE - flow->below);
}

uint32_t dcqcn_rate(struct dcqcn *dcqcn, uint16_t destination, uint64_t now_ns)
{
	advance(&dcqcn->config, &dcqcn->flow[destination], now_ns);
	return DCQCN_ONE - dcqcn->flow[destination].below;
}
