/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads run and lab files, with an override in the first line if that starts with '#set '. An
 * accepted file explains itself as a file that reads back to the same configuration. Refused input
 * gives a one-line reason. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/lab/lab_config.h"
#include "experiment/workload/run_hosts.h"
#include "fuzz.h"

struct text {
	char *bytes;
	size_t length;
};

static struct text explain_run(const struct run_config *config)
{
	struct text text = {NULL, 0};
	FILE *out = open_memstream(&text.bytes, &text.length);

	REQUIRE(out != NULL);
	REQUIRE(run_config_explain(config, out) == 0);
	fclose(out);
	return text;
}

static struct text explain_lab(const struct lab_config *config)
{
	struct text text = {NULL, 0};
	FILE *out = open_memstream(&text.bytes, &text.length);

	REQUIRE(out != NULL);
	REQUIRE(lab_config_explain(config, out) == 0);
	fclose(out);
	return text;
}

static void require_same(struct text first, struct text second)
{
	REQUIRE(first.length == second.length);
	REQUIRE(memcmp(first.bytes, second.bytes, first.length) == 0);
	free(first.bytes);
	free(second.bytes);
}

static void require_reason(const struct error *error)
{
	REQUIRE(error->text[0] != '\0' && strchr(error->text, '\n') == NULL);
}

/* Resolves senders and destinations in a small network. Large networks and files are left out. */
static void try_hosts(const struct run_config *config)
{
	struct topology *topology = topology_generate("ring:switches=5,hosts=2", NULL);
	struct error error = {""};
	struct run_hosts *hosts;

	REQUIRE(topology != NULL);
	for (uint32_t i = 0; i < config->traffic.count; i++)
		if (config->traffic.at[i].file != NULL) {
			topology_destroy(topology);
			return;
		}
	hosts = run_config_resolve(config, topology, &error);
	REQUIRE(hosts != NULL || error.text[0] != '\0');
	run_hosts_destroy(hosts);
	topology_destroy(topology);
}

static void try_run(const char *text, size_t length, const char *const *set, unsigned sets)
{
	struct error error = {""};
	struct run_config *config = run_config_parse(text, length, "fuzz", set, sets, &error);
	struct run_config *again;
	struct text first;

	if (config == NULL) {
		require_reason(&error);
		return;
	}
	first = explain_run(config);
	again = run_config_parse(first.bytes, first.length, "again", NULL, 0, &error);
	REQUIRE(again != NULL);
	require_same(first, explain_run(again));
	run_config_supported(config, &error);
	try_hosts(config);
	run_config_destroy(config);
	run_config_destroy(again);
}

static void try_lab(const char *text, size_t length, const char *const *set, unsigned sets)
{
	struct error error = {""};
	struct lab_config *config = lab_config_parse(text, length, "fuzz", set, sets, &error);
	struct lab_config *again;
	struct text first;

	if (config == NULL) {
		require_reason(&error);
		return;
	}
	first = explain_lab(config);
	again = lab_config_parse(first.bytes, first.length, "fuzz", NULL, 0, &error);
	REQUIRE(again != NULL);
	require_same(first, explain_lab(again));
	lab_config_supported(config, &error);
	lab_config_destroy(config);
	lab_config_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char mark[] = "#set ";
	const char *text = (const char *)data, *set = NULL;
	const char *line_end = memchr(text, '\n', size);
	char override[256];

	if (line_end != NULL && size > strlen(mark) && memcmp(text, mark, strlen(mark)) == 0 &&
		(size_t)(line_end - text) < sizeof(override)) {
		snprintf(override, sizeof(override), "%.*s",
			(int)((size_t)(line_end - text) - strlen(mark)), text + strlen(mark));
		set = override;
	}
	try_run(text, size, &set, set != NULL);
	try_lab(text, size, &set, set != NULL);
	return 0;
}
