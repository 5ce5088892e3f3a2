/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "config_files.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

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

#define PRIME 0x100000001b3u

uint64_t content_hash(uint64_t hash, const void *bytes, size_t length)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ byte[i]) * PRIME;
	return hash;
}

int content_hash_file(uint64_t *hash, const char *path)
{
	FILE *in = fopen(path, "re");
	uint64_t sum = *hash;
	uint8_t bytes[4096];
	size_t length;
	int result;

	if (in == NULL)
		return -errno;
	while ((length = fread(bytes, 1, sizeof(bytes), in)) > 0)
		sum = content_hash(sum, bytes, length);
	result = ferror(in) ? -EIO : 0;
	fclose(in);
	if (result == 0)
		*hash = sum;
	return result;
}

int run_sets_own(struct run_sets *sets, char *text)
{
	if (text == NULL)
		return -ENOMEM;
	sets->own[sets->owned++] = text;
	sets->set[sets->count++] = text;
	return 0;
}

int run_sets_add(struct run_sets *sets, const char *format, ...)
{
	char *text;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	return run_sets_own(sets, length < 0 ? NULL : text);
}

void run_sets_fini(struct run_sets *sets)
{
	for (unsigned i = 0; i < sets->owned; i++)
		free(sets->own[i]);
	sets->owned = sets->count = 0;
}
