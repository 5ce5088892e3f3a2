/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Starts and ends the pacing of a port. Called outside the poll loop. */

#include <errno.h>
#include <stdlib.h>

#include "tx_queue.h"

int tx_queue_pace(
	struct tx_queue *tx, uint64_t rate_bps, weft_time delay_ps, bool jitter, unsigned frames)
{
	bool paced = (rate_bps | delay_ps) != 0 || jitter;
	struct delay_line *line = __atomic_load_n(&tx->line, __ATOMIC_ACQUIRE);

	if (line == NULL && paced) {
		line = calloc(1, sizeof(*line) + frames * sizeof(line->frame[0]));
		if (line == NULL)
			return -ENOMEM;
		line->frames = frames;
		__atomic_store_n(&tx->line, line, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&tx->pacer.byte_time, byte_time_of(rate_bps), __ATOMIC_RELAXED);
	__atomic_store_n(&tx->delay_ps, delay_ps, __ATOMIC_RELAXED);
	__atomic_store_n(&tx->paced, paced, __ATOMIC_RELEASE);
	return 0;
}

void tx_queue_fini(struct tx_queue *tx)
{
	tx_queue_drain(tx);
	free(tx->line);
	tx->line = NULL;
}
