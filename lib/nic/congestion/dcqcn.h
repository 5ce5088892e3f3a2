/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The reaction point of DCQCN (Zhu, Eran, Firestone, Guo, Lipshteyn, Liron, Padhye, Raindel, Yahia,
 * Zhang, "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1). A
 * notification reduces a flow's rate by half of alpha, the congestion estimate. A timer and a byte
 * counter raise the rate again, first to the former rate, then further. A flow is a destination.
 *
 * Rates and alpha are integers in billionths; rates are fractions of the link rate. Timers are
 * evaluated when a flow is next accessed, so they need no events. Times are arguments in ns. No
 * allocation after dcqcn_init(). Single-threaded. */

#include <stdbool.h>
#include <stdint.h>

#define DCQCN_ONE 1000000000u

struct dcqcn_config {
	uint64_t alpha_timer_ns, rate_timer_ns; /* 1 or more */
	uint64_t rate_bytes_ns;                 /* byte counter, as transmission time on the link */
	uint32_t gain;                          /* alpha changes by 1/gain */
	uint32_t fast;                          /* number of fast-recovery steps (F) */
	uint32_t additive, hyper, min;          /* rates in billionths */
};

struct dcqcn_flow {
	uint64_t ready_ns; /* earliest departure of the next packet */
	uint64_t alpha_at_ns, rate_at_ns;
	uint64_t sent_ns; /* transmission time since the byte counter's last step */
	uint32_t below; /* link rate minus current rate, so that a zeroed flow has the full rate */
	uint32_t target_below; /* link rate minus target rate */
	uint32_t alpha;        /* DCQCN_ONE before the first notification */
	uint16_t timers,
		counts; /* timer and byte-counter steps since the last notification (T and BC) */
	bool notified;
};

struct dcqcn {
	struct dcqcn_config config;
	struct dcqcn_flow *flow; /* [hosts]; NULL: not used */
	uint64_t notifications;
};

/* Returns 0, -EINVAL or -ENOMEM. */
int dcqcn_init(struct dcqcn *dcqcn, const struct dcqcn_config *config, uint32_t hosts);
void dcqcn_fini(struct dcqcn *dcqcn);

/* Handles a notification from the destination. */
void dcqcn_notify(struct dcqcn *dcqcn, uint16_t destination, uint64_t now_ns);

/* Call when a packet to the destination starts to be sent. 'packet_ns' is its transmission time. */
void dcqcn_sent(struct dcqcn *dcqcn, uint16_t destination, uint64_t packet_ns, uint64_t now_ns);

/* Returns the flow's current rate, in billionths of the link rate. */
uint32_t dcqcn_rate(struct dcqcn *dcqcn, uint16_t destination, uint64_t now_ns);
