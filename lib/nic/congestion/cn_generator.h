/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The destination's part: which frames are answered with a notification, and what it contains
 * (section 'Acknowledgements' of docs/explanation/source-control.md). Sources that learn from marks
 * get an answer to each marked frame. Sources that learn from latencies get one to each frame
 * ('ack: frame'), or to the last frame of each message ('ack: message', the DRB papers' word) with
 * the longest waiting time of its frames; waiting times below a threshold get no answer. DCQCN
 * answers a source's marks only at intervals.
 *
 * A plain state machine; no allocation after cn_generator_init(). One thread. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"
#include "wire/cn.h"

#define ANSWERS_PATHS 16 /* CN_PATH_MAX + 1 */

struct cn_generator_config {
	bool all; /* also frames without a mark */
	bool by_message;
	/* Waiting time above which a frame is answered; a marked frame always is. */
	uint32_t threshold_ns;
	uint32_t hosts;
	weft_time gap_ps; /* minimum time between two answers to marks of a source */
};

struct answers {
	struct cn_generator_config config;
	struct cn *worst; /* [hosts][ANSWERS_PATHS] of the present message; by_message */
	weft_time *next;  /* [hosts] when the next mark may be answered; only with a gap */
	uint64_t sent;    /* cn_sent */
};

/* Returns 0 or -ENOMEM. */
int cn_generator_init(struct answers *answers, const struct cn_generator_config *config);
void cn_generator_fini(struct answers *answers);

/* A frame from 'source' arrived. '*cn' describes it, with CN_F_FECN if it was marked; 'tail': it is
 * the last of its message. Returns true if '*cn' is a notification to send. */
bool cn_generator_take(
	struct answers *answers, uint16_t source, bool tail, struct cn *cn, weft_time now);
