/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Prints the keys that the programs know, from the tables by which they read files: a line for
 * each, "FILE KEY [WORD]...", such as "run traffic[].pattern uniform hotspot". For the test that
 * the schemas know them, too. */

#include <stdio.h>

#include "run_config_private.h"
#include "topology_file.h"

static void print_words(const struct yaml_field *field)
{
	for (unsigned i = 0; field->choices != NULL && field->choices[i] != NULL; i++)
		printf(" %s", field->choices[i]);
	for (unsigned i = 0; field->words != NULL && i < field->words->count; i++)
		printf(" %s", word_list_name(field->words->entry[i]));
	putchar('\n');
}

static void print_keys(const char *file, const char *before, const struct yaml_field *fields)
{
	for (const struct yaml_field *field = fields; field->key != NULL; field++) {
		char key[256];

		snprintf(key, sizeof(key), "%s%s", before, field->key);
		printf("%s %s", file, key);
		print_words(field);
		if (field->fields == NULL)
			continue;
		snprintf(key, sizeof(key), "%s%s%s", before, field->key,
			field->type == YAML_FIELD_CUSTOM ? "[]." : ".");
		print_keys(file, key, field->fields);
	}
}

int main(void)
{
	print_keys("run", "", run_file_fields);
	print_keys("lab", "", lab_file_fields);
	print_keys("topology", "", topology_file_fields);
	return 0;
}
