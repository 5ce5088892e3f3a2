/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The reaction point of DCQCN (Zhu, Eran, Firestone, Guo, Lipshteyn, Liron, Padhye, Raindel, Yahia,
 * Zhang, "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1): a
 * notification cuts the rate of a flow by half of alpha, the estimate of congestion; a timer and a
 * byte counter raise it again, first back to the former rate, then beyond. A flow is a destination.
 *
 * Rates and alpha are integers in billionths, rates as fractions of the link's. Timers are computed
 * when a flow is next looked at, so they need no events. Times are arguments in ns. No allocation
 * after dcqcn_init(). One thread. */

#include <stdbool.h>
#include <stdint.h>

#define DCQCN_ONE 1000000000u

struct dcqcn_config {
	uint64_t alpha_timer_ns, rate_timer_ns; /* 1 or more */
	uint64_t rate_bytes_ns;                 /* the byte counter, as time on the link */
	uint32_t gain;                          /* alpha moves by 1/gain */
	uint32_t fast;                          /* steps of fast recovery: F */
	uint32_t additive, hyper, min;          /* rates, in billionths */
};

struct dcqcn_flow {
	uint64_t ready_ns; /* earliest departure of its next packet */
	uint64_t alpha_at_ns, rate_at_ns;
	uint64_t sent_ns; /* since the byte counter's last step */
	uint32_t below; /* the link's rate minus the flow's, so that a zeroed flow has the full rate
			 */
	uint32_t target_below;   /* likewise, of the target rate */
	uint32_t alpha;          /* DCQCN_ONE before the first notification */
	uint16_t timers, counts; /* steps since the last notification: T and BC */
	bool notified;
};

struct dcqcn {
	struct dcqcn_config config;
	struct dcqcn_flow *flow; /* [hosts]; NULL: not in use */
	uint64_t notifications;
};

/* Returns 0, -EINVAL or -ENOMEM. */
int dcqcn_init(struct dcqcn *dcqcn, const struct dcqcn_config *config, uint32_t hosts);
void dcqcn_fini(struct dcqcn *dcqcn);

/* A notification from the destination. */
void dcqcn_notify(struct dcqcn *dcqcn, uint16_t destination, uint64_t now_ns);

/* A packet to the destination starts to leave, which takes 'packet_ns' at the link's rate. */
void dcqcn_sent(struct dcqcn *dcqcn, uint16_t destination, uint64_t packet_ns, uint64_t now_ns);

/* The flow's rate now, in billionths of the link's. */
uint32_t dcqcn_rate(struct dcqcn *dcqcn, uint16_t destination, uint64_t now_ns);
