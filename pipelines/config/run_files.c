/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_files.h"

#include "atomic_file.h"

struct walk {
	run_file_fn *take;
	void *ctx;
	struct fault *fault;
};

static int visit(const struct walk *walk, const char *path)
{
	return path != NULL && path[0] == '/' ? walk->take(walk->ctx, path, walk->fault) : 0;
}

int run_files_each(
	const struct run_config *config, run_file_fn *take, void *ctx, struct fault *fault)
{
	const struct walk walk = {take, ctx, fault};
	int result = visit(&walk, config->topology.spec);

	if (result == 0)
		result = visit(&walk, config->routing.file);
	if (result == 0)
		result = visit(&walk, config->mapper.expect);
	for (uint32_t i = 0; i < config->traffic.count && result == 0; i++) {
		const char *path[RUN_TRAFFIC_FILES];

		run_traffic_files(&config->traffic.at[i], path);
		for (unsigned j = 0; j < RUN_TRAFFIC_FILES && result == 0; j++)
			result = visit(&walk, path[j]);
	}
	return result;
}

static int refuse(void *ctx, const char *path, struct fault *fault)
{
	return same_file_refuse(ctx, path, fault);
}

int run_files_refuse(const struct run_config *config, const char *output, struct fault *fault)
{
	int result = same_file_refuse(output, config->origin, fault);

	return result == 0 && output != NULL ? run_files_each(config, refuse, (void *)output, fault)
					     : result;
}
