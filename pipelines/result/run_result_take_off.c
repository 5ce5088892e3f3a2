/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_result.h"

static void take_off_traffic(struct run_traffic *traffic, const struct run_traffic *before)
{
	traffic->injected = run_result_minus(traffic->injected, before->injected);
	traffic->delivered = run_result_minus(traffic->delivered, before->delivered);
	traffic->dropped = run_result_minus(traffic->dropped, before->dropped);
	traffic->retransmitted = run_result_minus(traffic->retransmitted, before->retransmitted);
}

/* Of programs, by the counts of their TAPs (add_tap() of the real-clock fabric). */
static uint64_t tap_messages(const struct run_result *result)
{
	static const char *const counters[] = {"tap_messages_out", "tap_drop_unreachable",
		"tap_drop_silent", "tap_drop_too_long", "tap_drop_queue"};
	uint64_t messages = 0;

	for (unsigned i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		messages += run_result_counter(result, counters[i]);
	return messages;
}

void run_result_take_off(struct run_result *result, const struct run_result *before)
{
	take_off_traffic(&result->packets, &before->packets);
	take_off_traffic(&result->messages, &before->messages);
	result->packets.generated = result->packets.injected;
	result->messages.generated =
		run_result_minus(result->messages.generated, tap_messages(before));
	result->behind = run_result_minus(result->behind, before->behind);
	result->wall.cut_ends += before->wall.cut_ends;
	run_result_count_pending(result);
	result->lost = run_result_minus(result->lost, before->lost);
	result->duplicated = run_result_minus(result->duplicated, before->duplicated);
	result->out_of_order = run_result_minus(result->out_of_order, before->out_of_order);
	result->wall.packet_hops =
		run_result_minus(result->wall.packet_hops, before->wall.packet_hops);
	if (result->wall.seconds > 0)
		result->wall.packet_hops_per_second =
			(double)result->wall.packet_hops / result->wall.seconds;
	for (unsigned i = 0; i < result->counters; i++)
		result->counter[i].value = run_result_minus(result->counter[i].value,
			run_result_counter(before, result->counter[i].name));
}
