/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* main() for test programs with EAL and a pool of mbufs. */

#include <unistd.h>

#include <rte_mempool.h>

#include "port/eal.h"
#include "port/port_ethdev.h"
#include "unit.h"

/* Runs the cases with EAL under a name unique to this process, for fabrics that create their own
 * pools; 0 if all passed. */
static inline int run_fabrics_with_eal(char *name, unsigned lcores, unsigned memory_mib)
{
	char prefix[EAL_PREFIX_MAX], *argv[] = {name, NULL};
	const struct eal_options options = {
		.prefix = prefix, .lcores = lcores, .memory_mib = memory_mib};
	struct error error = {""};
	int failed;

	snprintf(prefix, sizeof(prefix), "weft-%s-%d", name, (int)getpid());
	if (eal_start(1, argv, &options, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	failed = unit_run(NULL, NULL);
	eal_stop();
	return failed;
}

/* Runs the cases with EAL under a name of this process's own and '*pool' filled; 0 if
 * all have passed. */
static inline int run_with_eal(char *name, unsigned mbufs, struct rte_mempool **pool)
{
	char prefix[EAL_PREFIX_MAX], *argv[] = {name, NULL};
	struct eal_options options = {.prefix = prefix};
	struct error error = {""};
	int failed;

	snprintf(prefix, sizeof(prefix), "weft-%s-%d", name, (int)getpid());
	if (eal_start(1, argv, &options, &error) < 0 ||
		(*pool = port_pool_create("pool", mbufs, 2048, SOCKET_ID_ANY, &error)) == NULL) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	failed = unit_run(NULL, NULL);
	rte_mempool_free(*pool);
	eal_stop();
	return failed;
}
