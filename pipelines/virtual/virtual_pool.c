/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Memory of a virtual fabric's packets and credit frames. */

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "virtual_private.h"

/* Address space, not memory: 6 GiB at most. */
#define PACKETS_MAX ((uint64_t)1 << 26)

static void *reserve(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

int virtual_pool_init(struct virtual_pool *pool, uint64_t packets)
{
	uint64_t size = packets < PACKETS_MAX ? packets : PACKETS_MAX;

	*pool = (struct virtual_pool){
		.packet = reserve(size * sizeof(*pool->packet)),
		.origin = reserve(size * sizeof(*pool->origin)),
		.size = (uint32_t)size,
	};
	return pool->packet != NULL && pool->origin != NULL ? 0 : -ENOMEM;
}

void virtual_pool_fini(struct virtual_pool *pool)
{
	if (pool->packet != NULL)
		munmap(pool->packet, pool->size * sizeof(*pool->packet));
	if (pool->origin != NULL)
		munmap(pool->origin, pool->size * sizeof(*pool->origin));
	*pool = (struct virtual_pool){0};
}
