/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "config_files.h"

#include <stddef.h>

struct walk {
	config_file_fn *take;
	void *ctx;
	struct fault *fault;
};

static int visit(const struct walk *walk, const char *path)
{
	return path != NULL && path[0] == '/' ? walk->take(walk->ctx, path, walk->fault) : 0;
}

int config_files_each(
	const struct run_config *config, config_file_fn *take, void *ctx, struct fault *fault)
{
	const struct walk walk = {take, ctx, fault};
	int result = visit(&walk, config->topology.spec);

	if (result == 0)
		result = visit(&walk, config->routing.file);
	if (result == 0)
		result = visit(&walk, config->mapper.expect);
	for (uint32_t i = 0; i < config->traffic.count && result == 0; i++) {
		result = visit(&walk, config->traffic.at[i].file);
		if (result == 0)
			result = visit(&walk, config->traffic.at[i].ranks);
	}
	return result;
}
