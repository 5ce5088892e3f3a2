/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "deadline_queue.h"

#include <errno.h>
#include <stdlib.h>

int deadline_queue_init(struct deadline_queue *queue, unsigned ids, weft_time delay_ps)
{
	queue->delay_ps = delay_ps;
	queue->head = queue->tail = DEADLINE_NONE;
	queue->node = calloc(ids, sizeof(queue->node[0]));
	return queue->node != NULL ? 0 : -ENOMEM;
}

void deadline_queue_fini(struct deadline_queue *queue)
{
	free(queue->node);
	queue->node = NULL;
}
