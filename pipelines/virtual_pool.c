/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Memory of a virtual fabric's packets and credit frames. */

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "virtual_devices.h"

/* Address space, not memory: 8 GiB at most. */
#define PACKETS_MAX ((uint64_t)1 << 26)

int virtual_pool_init(struct virtual_pool *pool, uint64_t packets)
{
	uint64_t size = packets < PACKETS_MAX ? packets : PACKETS_MAX;
	void *memory = mmap(NULL, size * sizeof(*pool->packet), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*pool = (struct virtual_pool){0};
	if (memory == MAP_FAILED)
		return -ENOMEM;
	madvise(memory, size * sizeof(*pool->packet), MADV_HUGEPAGE);
	pool->packet = memory;
	pool->size = (uint32_t)size;
	return 0;
}

void virtual_pool_fini(struct virtual_pool *pool)
{
	if (pool->packet != NULL)
		munmap(pool->packet, pool->size * sizeof(*pool->packet));
	*pool = (struct virtual_pool){0};
}
