/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_config.h"

#include "os/atomic_file.h"

struct walk {
	run_file_fn *take;
	void *ctx;
	struct error *error;
};

static int visit(const struct walk *walk, const char *path)
{
	return path != NULL && path[0] == '/' ? walk->take(walk->ctx, path, walk->error) : 0;
}

int run_files_each(
	const struct run_config *config, run_file_fn *take, void *ctx, struct error *error)
{
	const struct walk walk = {take, ctx, error};
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

static int refuse(void *ctx, const char *path, struct error *error)
{
	return same_file_refuse(ctx, path, error);
}

int run_files_refuse(const struct run_config *config, const char *output, struct error *error)
{
	int result = same_file_refuse(output, config->origin, error);

	return result == 0 && output != NULL ? run_files_each(config, refuse, (void *)output, error)
					     : result;
}
