/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_config_private.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/run/run_config_fields.h"

static const char *const agreed[] = {"dilation", "switch", "queuing", "routing", "detector", "nic",
	"hello", "watchdog", "mapper"};

static bool is_agreed(const char *key)
{
	for (size_t i = 0; i < sizeof(agreed) / sizeof(agreed[0]); i++)
		if (strcmp(key, agreed[i]) == 0)
			return true;
	return false;
}

static void write_keys(const struct lab_config *config, FILE *out)
{
	struct lab_config shared = *config;

	/* Files, which may be elsewhere on each machine. */
	shared.run.routing.file = NULL;
	shared.run.mapper.key = shared.run.mapper.expect = NULL;
	/* Each process may override it with --mapper. */
	shared.run.mapper.mode = RUN_MAPPER_AUTO;
	shared.run.mapper.hosts = (struct run_config_mapper_hosts){0};
	for (const struct yaml_field *field = lab_file_fields; field->key != NULL; field++) {
		const struct yaml_field one[] = {*field, {NULL}};

		if (is_agreed(field->key))
			yaml_fields_write(one, &shared, out, 0);
	}
	fprintf(out, "data: %d\n", config->run.security.data);
}

/* In their order, which gives hosts their addresses. */
static void write_devices(const struct topology *topology, FILE *out)
{
	for (uint32_t i = 0; i < topology->switches; i++)
		fprintf(out, "switch %s %u\n", topology->switch_at[i].name,
			topology->switch_at[i].ports);
	for (uint32_t i = 0; i < topology->hosts; i++)
		fprintf(out, "host %s\n", topology->host_at[i].name);
}

static void write_cables(const struct topology *topology, FILE *out)
{
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		char a[TOPOLOGY_NAME_MAX + 8], b[TOPOLOGY_NAME_MAX + 8];

		topology_port_name(topology, link->a, a, sizeof(a));
		topology_port_name(topology, link->b, b, sizeof(b));
		fprintf(out, "cable %s %s\n", a, b);
	}
}

char *lab_identity(const struct lab *lab)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	fprintf(out, "%s\n", lab->config->name);
	write_keys(lab->config, out);
	write_devices(lab->topology, out);
	write_cables(lab->topology, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
