/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "resequencer.h"

#include <errno.h>

int resequencer_init(struct resequencer *resequencer, uint16_t windows, uint32_t frames)
{
	*resequencer = (struct resequencer){.windows = windows, .mask = frames - 1};
	ARRAYS_ADD(resequencer, slot, (size_t)windows * frames);
	ARRAYS_ADD(resequencer, held, windows);
	ARRAYS_ADD(resequencer, free_stack, windows);
	if (resequencer->arrays.failed) {
		resequencer_fini(resequencer);
		return -ENOMEM;
	}
	for (uint16_t i = 0; i < windows; i++)
		resequencer->free_stack[resequencer->free_count++] = (uint16_t)(windows - 1 - i);
	return 0;
}

void resequencer_fini(struct resequencer *resequencer)
{
	arrays_free(&resequencer->arrays);
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
