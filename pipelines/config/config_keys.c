/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_config_private.h"
#include "topology_file.h"

static void print_keys(
	const char *file, const char *before, const struct yaml_field *fields, FILE *out)
{
	for (const struct yaml_field *field = fields; field->key != NULL; field++) {
		char key[256];

		snprintf(key, sizeof(key), "%s%s", before, field->key);
		fprintf(out, "%s %s", file, key);
		for (unsigned i = 0; field->choices != NULL && field->choices[i] != NULL; i++)
			fprintf(out, " %s", field->choices[i]);
		for (unsigned i = 0; field->words != NULL && i < field->words->count; i++)
			fprintf(out, " %s", word_list_name(field->words->entry[i]));
		fputc('\n', out);
		if (field->fields == NULL)
			continue;
		snprintf(key, sizeof(key), "%s%s%s", before, field->key,
			field->type == YAML_FIELD_CUSTOM ? "[]." : ".");
		print_keys(file, key, field->fields, out);
	}
}

void config_keys_print(FILE *out)
{
	print_keys("run", "", run_file_fields, out);
	print_keys("lab", "", lab_file_fields, out);
	print_keys("run", "edges.", run_edge_network_fields, out);
	print_keys("lab", "edges.", run_edge_network_fields, out);
	print_keys("topology", "", topology_file_fields, out);
}
