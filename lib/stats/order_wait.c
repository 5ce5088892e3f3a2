/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "order_wait.h"

#define HISTOGRAMS (sizeof(struct order_wait) / sizeof(struct histogram))

/* A histogram without values is not touched: it may have no memory yet. */
void order_wait_merge(struct order_wait *into, const struct order_wait *from)
{
	const struct histogram *const each[HISTOGRAMS] = {&from->network_arrived_ns,
		&from->network_released_ns, &from->total_arrived_ns, &from->total_released_ns,
		&from->waited_ns};
	struct histogram *const to[HISTOGRAMS] = {&into->network_arrived_ns,
		&into->network_released_ns, &into->total_arrived_ns, &into->total_released_ns,
		&into->waited_ns};

	for (unsigned i = 0; i < HISTOGRAMS; i++)
		if (each[i]->count > 0)
			histogram_merge(to[i], each[i]);
}

void order_wait_reset(struct order_wait *wait)
{
	struct histogram *const each[HISTOGRAMS] = {&wait->network_arrived_ns,
		&wait->network_released_ns, &wait->total_arrived_ns, &wait->total_released_ns,
		&wait->waited_ns};

	for (unsigned i = 0; i < HISTOGRAMS; i++)
		if (each[i]->count > 0)
			histogram_reset(each[i]);
}

void order_wait_release(const struct histogram *all, const struct histogram *arrived,
	const struct histogram *released, struct histogram *out)
{
	*out = *all;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		out->bucket[i] -= arrived->bucket[i];
	out->count -= arrived->count;
	out->sum -= arrived->sum;
	histogram_merge(out, released);
}
