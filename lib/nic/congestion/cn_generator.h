/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The destination's part: decides which frames are answered with a notification, and what the
 * notification contains (docs/explanation/source-control.md, 'Acknowledgements'). Sources that
 * react to marks get an answer to each marked frame. Sources that react to latencies get an answer
 * to each frame ('ack: frame') or to the last frame of each message ('ack: message', the term of
 * the DRB papers), with the longest waiting time of the message's frames; waiting times below a
 * threshold are not answered. With DCQCN, a source's marks are answered at intervals.
 *
 * A state machine; no allocation after cn_generator_init(). Single-threaded. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"
#include "wire/cn.h"

#define ANSWERS_PATHS 16 /* CN_PATH_MAX + 1 */

struct cn_generator_config {
	bool all; /* also answer frames without a mark */
	bool by_message;
	/* Waiting time from which an unmarked frame is answered. */
	uint32_t threshold_ns;
	uint32_t hosts;
	weft_time gap_ps; /* minimum interval between answers to a source's marks */
};

struct answers {
	struct cn_generator_config config;
	struct cn *worst; /* [hosts][ANSWERS_PATHS] of the current message, with by_message */
	weft_time *next;  /* [hosts] when the next mark may be answered, with gap_ps */
	uint64_t sent;    /* number of notifications */
};

/* Returns 0 or -ENOMEM. */
int cn_generator_init(struct answers *answers, const struct cn_generator_config *config);
void cn_generator_fini(struct answers *answers);

/* Handles a frame from 'source'. '*cn' describes the frame, with CN_F_FECN if it was marked.
 * 'tail': last frame of its message. Returns true if '*cn' must be sent as a notification. */
bool cn_generator_take(
	struct answers *answers, uint16_t source, bool tail, struct cn *cn, weft_time now);
