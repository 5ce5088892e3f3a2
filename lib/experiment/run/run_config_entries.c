/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Helpers for the values and lists of a run file. */

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "run_config_fields.h"

#define DECIMAL_MAX   16 /* maximum characters of a number */
#define FACTOR_MAX    1000000u
#define FACTOR_DIGITS 3

int run_refuse_memory(const struct yaml_tree_node *node, struct error *error)
{
	return error_set(error, ENOMEM, "%s: out of memory", node->origin);
}

int run_read_later(const struct yaml_tree_node *node, void *member, struct error *error)
{
	return 0;
}

bool run_present_never(const void *member)
{
	return false;
}

bool run_config_says(
	const struct yaml_tree_node *root, const char *section, const char *key, const char *value)
{
	const struct yaml_tree_node *in = yaml_tree_get(root, section);
	const struct yaml_tree_node *at = in != NULL ? yaml_tree_get(in, key) : NULL;

	return at != NULL && (value == NULL || (at->text != NULL && strcmp(at->text, value) == 0));
}

const struct yaml_tree_node *run_config_nearest(
	const struct yaml_tree_node *root, const char *section, const char *key)
{
	const struct yaml_tree_node *in = yaml_tree_get(root, section);
	const struct yaml_tree_node *at = in != NULL ? yaml_tree_get(in, key) : NULL;

	return at != NULL ? at : in != NULL ? in : root;
}

/* Returns the directory that the paths of this node are relative to: its file's directory, or the
 * working directory if the node is from the command line. The caller frees it. */
static char *base_folder(const struct yaml_tree_node *node)
{
	char *copy = strdup(node->line != 0 ? node->origin : "./x"), *folder, *absolute;

	if (copy == NULL)
		return NULL;
	folder = dirname(copy);
	absolute = realpath(folder, NULL);
	/* The directory may not exist, because the text need not be from a file. */
	if (absolute == NULL)
		absolute = strdup(folder);
	free(copy);
	return absolute;
}

int run_resolve_path(
	const struct yaml_tree_node *node, const char *text, char **path, struct error *error)
{
	char *folder = text[0] == '/' ? strdup("") : base_folder(node), *whole = NULL;
	int length = -1;

	if (folder != NULL)
		length = asprintf(&whole, "%s%s%s", folder, text[0] == '/' ? "" : "/", text);
	free(folder);
	if (length < 0)
		return run_refuse_memory(node, error);
	if (length >= RUN_PATH_MAX) {
		free(whole);
		return yaml_tree_refuse(node, error,
			"'%s': with its folder the path has %d bytes; at most %d are allowed",
			node->key, length, RUN_PATH_MAX - 1);
	}
	*path = whole;
	return 0;
}

int run_read_host(const struct yaml_tree_node *node, char *name, size_t size, struct error *error)
{
	const char *colon = node->kind == YAML_TREE_SCALAR ? strchr(node->text, ':') : NULL;
	char host[TOPOLOGY_NAME_MAX];
	struct yaml_tree_node alone = *node;
	int result;

	if (colon == NULL || colon - node->text >= TOPOLOGY_NAME_MAX)
		return yaml_read_name(node, name, size, error);
	snprintf(host, sizeof(host), "%.*s", (int)(colon - node->text), node->text);
	alone.text = host;
	result = yaml_read_name(&alone, name, size, error);
	if (result < 0)
		return result;
	if (colon[1] < '0' || colon[1] >= '0' + TOPOLOGY_HOST_PORTS_MAX || colon[2] != '\0')
		return yaml_tree_refuse(node, error,
			"'%s': expected a host, or one of its ports such as %s:1", node->text,
			host);
	return yaml_read_text(node, name, size, error);
}

int run_read_names(const struct yaml_tree_node *node, char (**names)[TOPOLOGY_NAME_MAX],
	uint32_t *count, struct error *error)
{
	int result = 0;

	*names = calloc(node->count, sizeof(**names));
	if (*names == NULL)
		return run_refuse_memory(node, error);
	for (const struct yaml_tree_node *name = node->first; name != NULL && result == 0;
		name = name->next)
		result = run_read_host(name, (*names)[(*count)++], sizeof(**names), error);
	return result;
}

void run_write_names(char (*const names)[TOPOLOGY_NAME_MAX], uint32_t count, FILE *out)
{
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i == 0 ? "[" : ", ", names[i]);
	fputc(']', out);
}

struct run_config_place run_place_of(const struct yaml_tree_node *node)
{
	struct run_config_place place = {node->line, node->column, ""};

	if (node->line == 0)
		snprintf(place.option, sizeof(place.option), "%s", node->origin);
	return place;
}

int run_config_refuse(const struct run_config *config, const struct run_config_place *place,
	struct error *error, const char *format, ...)
{
	va_list args;
	int result;

	va_start(args, format);
	result = error_at_va(error, place->option[0] != '\0' ? place->option : config->origin,
		place->line, place->column, format, args);
	va_end(args);
	return result;
}

const char *run_place_text(const struct run_config_place *place, char text[RUN_OPTION_MAX])
{
	if (place->option[0] != '\0')
		return place->option;
	snprintf(text, RUN_OPTION_MAX, "line %u", place->line);
	return text;
}

int run_read_time_or(
	const char *never, const struct yaml_tree_node *node, void *member, struct error *error)
{
	uint64_t value;
	int result;

	if (node->kind == YAML_TREE_SCALAR && strcmp(node->text, never) == 0) {
		*(weft_time *)member = WEFT_TIME_NEVER;
		return 0;
	}
	if (node->kind == YAML_TREE_SCALAR &&
		quantity_parse(QUANTITY_TIME, node->text, &value) == -EINVAL)
		return yaml_tree_refuse(node, error, "'%s: %s': expected %s, or %s", node->key,
			node->text, quantity_expected(QUANTITY_TIME), never);
	result = yaml_read_quantity(node, QUANTITY_TIME, 1, 0, &value, error);
	if (result == 0)
		*(weft_time *)member = value;
	return result;
}

void run_write_time_or(const char *never, const void *member, FILE *out)
{
	weft_time value = *(const weft_time *)member;
	char text[QUANTITY_TEXT];

	quantity_format(QUANTITY_TIME, value, text);
	fprintf(out, " %s", value == WEFT_TIME_NEVER ? never : text);
}

int run_read_time_or_off(const struct yaml_tree_node *node, void *member, struct error *error)
{
	int result = run_read_time_or("off", node, member, error);

	/* The watchdog checks 16 times per interval, and no loop polls more often than that. */
	if (result == 0 && *(weft_time *)member < PS_PER_US)
		return yaml_tree_refuse(node, error, "'%s: %s': expected off, or 1us or more",
			node->key, node->text);
	return result;
}

void run_write_time_or_off(const void *member, FILE *out, unsigned indent)
{
	run_write_time_or("off", member, out);
}

int run_read_rows(const struct yaml_tree_node *node, uint32_t max, size_t size, void **rows,
	struct error *error)
{
	int result = yaml_tree_expect(node, YAML_TREE_SEQUENCE, error);

	if (result < 0)
		return result;
	if (node->count > max)
		return yaml_tree_refuse(node, error,
			"'%s' has %u entries; at most %u are "
			"allowed",
			node->key, node->count, max);
	*rows = calloc((size_t)node->count + 1, size);
	return *rows == NULL ? run_refuse_memory(node, error) : 0;
}

void run_write_rows(const struct yaml_field *fields, const void *rows, size_t size, uint32_t count,
	FILE *out, unsigned indent)
{
	if (count == 0)
		fputs(" []", out);
	for (uint32_t i = 0; i < count; i++) {
		fprintf(out, "\n%*s- ", (int)indent, "");
		yaml_fields_write_row(fields, (const char *)rows + i * size, out);
	}
}

/* Paths are stored as char *; NULL: not in the file. */

int run_read_path(const struct yaml_tree_node *node, void *member, struct error *error)
{
	char text[RUN_PATH_MAX];
	int result = yaml_read_text(node, text, sizeof(text), error);

	if (result < 0)
		return result;
	return run_resolve_path(node, text, member, error);
}

void run_write_path(const void *member, FILE *out, unsigned indent)
{
	fputc(' ', out);
	yaml_tree_write_text(*(char *const *)member, out);
}

/* Parses a number with up to three decimals, in thousandths. Returns false for any other text. */
static bool parse_thousandths(const char *text, uint32_t *value)
{
	uint64_t whole = 0;
	int digits = -1; /* decimals so far; -1: no point */

	if (*text < '0' || *text > '9')
		return false;
	for (; *text != '\0'; text++) {
		if (*text == '.' && digits < 0) {
			digits = 0;
			continue;
		}
		if (*text < '0' || *text > '9' || digits == FACTOR_DIGITS)
			return false;
		whole = whole * 10 + (unsigned)(*text - '0');
		digits += digits >= 0;
	}
	if (digits == 0)
		return false;
	for (digits = digits < 0 ? 0 : digits; digits < FACTOR_DIGITS; digits++)
		whole *= 10;
	if (whole > FACTOR_MAX)
		return false;
	*value = (uint32_t)whole;
	return true;
}

int run_read_factor(const struct yaml_tree_node *node, void *member, struct error *error)
{
	char text[DECIMAL_MAX];
	int result = yaml_read_text(node, text, sizeof(text), error);

	if (result == 0 && !parse_thousandths(text, member))
		result = yaml_tree_refuse(node, error,
			"'%s: %s': expected a number from 0 to %u, such as 0.1 (at most three "
			"digits after the point)",
			node->key, text, FACTOR_MAX / 1000);
	return result;
}

void run_write_factor(const void *member, FILE *out, unsigned indent)
{
	uint32_t value = *(const uint32_t *)member, rest = value % 1000;
	int digits = FACTOR_DIGITS;

	fprintf(out, " %u", value / 1000);
	if (rest == 0)
		return;
	for (; rest % 10 == 0; rest /= 10)
		digits--;
	fprintf(out, ".%0*u", digits, rest);
}
