/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The examples on the pages about files are valid. */

#include "unit.h"

#include "base/file_text.h"
#include "experiment/lab/lab_config.h"
#include "experiment/workload/run_hosts.h"

#define FENCE "```yaml\n"

/* The example on this file's page that begins with "weft: KIND/1". */
static char *example(const char *kind)
{
	char path[256], start[64], *page, *found, *end;
	struct error error;
	size_t length;

	snprintf(path, sizeof(path), SOURCE_ROOT "/docs/reference/%s-file.md", kind);
	page = file_text_read(path, 1 << 20, &length, &error);
	assert_non_null(page);
	snprintf(start, sizeof(start), FENCE "weft: %s/1\n", kind);
	found = strstr(page, start);
	assert_non_null(found);
	found += strlen(FENCE);
	end = strstr(found, "```");
	assert_non_null(end);
	found = strndup(found, (size_t)(end - found));
	free(page);
	return found;
}

UNIT_TEST(the_topology_is_whole)
{
	struct error error = {""};
	char *text = example("topology");
	OWNED(topology) *topology = topology_parse(text, strlen(text), "page", &error);

	assert_string_equal(error.text, "");
	assert_int_equal(topology_check_connected(topology, "page", &error), 0);
	free(text);
}

static struct run_config *parse_run(const char *text)
{
	struct error error = {""};
	struct run_config *config = run_config_parse(text, strlen(text), "page", NULL, 0, &error);

	assert_string_equal(error.text, "");
	return config;
}

UNIT_TEST(the_run_is_supported)
{
	struct error error = {""};
	char *text = example("run");
	OWNED(run_config) *config = parse_run(text);
	OWNED(topology) *topology;

	assert_int_equal(run_config_supported(config, &error), 0);
	topology = run_config_open_topology(config, &error);
	run_hosts_destroy(run_config_resolve(config, topology, &error));
	assert_string_equal(error.text, "");
	free(text);
}

UNIT_TEST(the_lab_is_supported)
{
	struct error error = {""};
	char *text = example("lab");
	OWNED(lab_config) *config = lab_config_parse(text, strlen(text), "page", NULL, 0, &error);
	OWNED(topology) *topology;

	assert_string_equal(error.text, "");
	assert_int_equal(lab_config_supported(config, &error), 0);
	topology = run_config_open_topology(&config->run, &error);
	lab_config_groups_free(lab_config_groups(config, topology, &error), config->groups.count);
	assert_string_equal(error.text, "");
	free(text);
}
