/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "resequencer.h"

#include <errno.h>
#include <stdlib.h>

int resequencer_init(struct resequencer *resequencer, uint16_t windows, uint32_t frames)
{
	*resequencer = (struct resequencer){.windows = windows, .mask = frames - 1};
	resequencer->slot = calloc((size_t)windows * frames, sizeof(resequencer->slot[0]));
	resequencer->held = calloc(windows, sizeof(resequencer->held[0]));
	resequencer->free_stack = calloc(windows, sizeof(resequencer->free_stack[0]));
	if (resequencer->slot == NULL || resequencer->held == NULL ||
		resequencer->free_stack == NULL) {
		resequencer_fini(resequencer);
		return -ENOMEM;
	}
	for (uint16_t i = 0; i < windows; i++)
		resequencer->free_stack[resequencer->free_count++] = (uint16_t)(windows - 1 - i);
	return 0;
}

void resequencer_fini(struct resequencer *resequencer)
{
	free(resequencer->slot);
	free(resequencer->held);
	free(resequencer->free_stack);
	resequencer->slot = NULL;
	resequencer->held = NULL;
	resequencer->free_stack = NULL;
}

uint16_t resequencer_open(struct resequencer *resequencer)
{
	if (resequencer->free_count == 0)
		return RESEQUENCER_NONE;
	return resequencer->free_stack[--resequencer->free_count];
}

void resequencer_close(struct resequencer *resequencer, uint16_t window)
{
	resequencer->free_stack[resequencer->free_count++] = window;
}
