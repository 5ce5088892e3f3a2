/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "config_keys.h"

#include <errno.h>
#include <string.h>

#include "experiment/run/run_config_fields.h"
#include "lab_config.h"
#include "topo/topology_file.h"
#include "yaml/yaml_fields.h"

/* Minimal valid files, in which all other keys have their defaults. */
#define RUN "weft: run/1\ntopology: ring:switches=3\ntraffic: [{pattern: uniform}]\n"
#define LAB "weft: lab/1\ntopology: ring:switches=3\n"

static const struct {
	const char *name;
	const struct yaml_field *fields;
} files[] = {
	{"run", run_file_fields},
	{"lab", lab_file_fields},
	{"topology", topology_file_fields},
};

static const struct yaml_field *find_file(const char *name)
{
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (strcmp(name, files[i].name) == 0)
			return files[i].fields;
	return NULL;
}

void config_keys_print(FILE *out)
{
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		yaml_docs_list(files[i].fields, files[i].name, out);
}

int config_keys_table(const char *file, const char *section, FILE *out, struct error *error)
{
	const struct yaml_field *fields = find_file(file), *elsewhere = NULL;
	struct run_config *run = NULL;
	struct lab_config *lab = NULL;
	const void *defaults = NULL;
	bool found;

	if (fields == run_file_fields) {
		defaults = run = run_config_parse(RUN, strlen(RUN), file, NULL, 0, error);
	} else if (fields == lab_file_fields) {
		defaults = lab = lab_config_parse(LAB, strlen(LAB), file, NULL, 0, error);
		elsewhere = run_file_fields;
		if (lab != NULL)
			lab->name[0] = '\0'; /* the default depends on the file name */
	}
	if (fields != NULL && fields != topology_file_fields && defaults == NULL)
		return -errno;
	found = fields != NULL && yaml_docs_table(fields, section, defaults, elsewhere, out);
	run_config_destroy(run);
	lab_config_destroy(lab);
	return found ? 0
		     : error_set(error, EINVAL, "%s.%s: no such file or section", file, section);
}

json_t *config_keys_schema(const char *file)
{
	const struct yaml_field *fields = find_file(file);

	return fields != NULL ? yaml_docs_schema(fields, file) : NULL;
}
