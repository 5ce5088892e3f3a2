/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "yaml_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const enum quantity_kind field_quantity[] = {
	[YAML_FIELD_RATE] = QUANTITY_RATE,
	[YAML_FIELD_TIME] = QUANTITY_TIME,
	[YAML_FIELD_BYTES] = QUANTITY_SIZE,
	[YAML_FIELD_SHARE] = QUANTITY_SHARE,
};

static const char *node_name(const struct yaml_tree_node *node)
{
	return node->key != NULL ? node->key : "element";
}

static int expect_scalar(const struct yaml_tree_node *node, struct error *error)
{
	int result = yaml_tree_expect(node, YAML_TREE_SCALAR, error);

	if (result == 0 && node->text[0] == '\0')
		return yaml_tree_refuse(node, error, "'%s' has no value", node_name(node));
	return result;
}

int yaml_read_text(const struct yaml_tree_node *node, char *text, size_t size, struct error *error)
{
	int result = expect_scalar(node, error);

	if (result < 0)
		return result;
	if (strlen(node->text) >= size)
		return yaml_tree_refuse(node, error,
			"'%s' is %zu characters long; at most %zu are allowed", node_name(node),
			strlen(node->text), size - 1);
	strcpy(text, node->text);
	return 0;
}

static bool name_letter(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

int yaml_read_name(const struct yaml_tree_node *node, char *name, size_t size, struct error *error)
{
	int result = expect_scalar(node, error);

	if (result < 0)
		return result;
	for (const char *c = node->text; *c != '\0'; c++)
		if (!name_letter(*c) && (c == node->text || (*c != '.' && *c != '-')))
			return yaml_tree_refuse(node, error,
				"'%s' is not a name; use letters, digits, '_', '.' and '-', "
				"beginning with a letter, digit or '_'",
				node->text);
	return yaml_read_text(node, name, size, error);
}

static bool number_parse(const char *text, uint64_t *number)
{
	*number = 0;
	for (const char *c = text; *c != '\0'; c++)
		if (*c < '0' || *c > '9' || __builtin_mul_overflow(*number, 10, number) ||
			__builtin_add_overflow(*number, (uint64_t)(*c - '0'), number))
			return false;
	return true;
}

static int yaml_read_number(const struct yaml_tree_node *node, uint64_t min, uint64_t max,
	uint64_t *number, struct error *error)
{
	int result = expect_scalar(node, error);
	uint64_t value;

	if (result < 0)
		return result;
	if (!number_parse(node->text, &value) || value < min || value > max)
		return yaml_tree_refuse(node, error,
			"'%s: %s': expected a whole number from %" PRIu64 " to %" PRIu64,
			node_name(node), node->text, min, max);
	*number = value;
	return 0;
}

int yaml_read_quantity(const struct yaml_tree_node *node, enum quantity_kind kind, uint64_t min,
	uint64_t max, uint64_t *value, struct error *error)
{
	char from[QUANTITY_TEXT], to[QUANTITY_TEXT];
	int result = expect_scalar(node, error);
	uint64_t parsed = 0;

	if (result < 0)
		return result;
	result = quantity_parse(kind, node->text, &parsed);
	if (result == -EDOM)
		return yaml_tree_refuse(node, error,
			"'%s: %s' is too precise to be represented: %s", node_name(node),
			node->text, quantity_expected(kind));
	if (result == -EINVAL)
		return yaml_tree_refuse(node, error, "'%s: %s': expected %s", node_name(node),
			node->text, quantity_expected(kind));
	if (max == 0)
		max = UINT64_MAX - 1;
	if (result < 0 || parsed < min || parsed > max) {
		quantity_format(kind, min, from);
		quantity_format(kind, max, to);
		return yaml_tree_refuse(node, error, "'%s: %s': the value must be from %s to %s",
			node_name(node), node->text, from, to);
	}
	*value = parsed;
	return 0;
}

static int yaml_read_choice(const struct yaml_tree_node *node, const char *const *choices,
	unsigned *choice, struct error *error)
{
	int result = expect_scalar(node, error);
	struct did_you_mean nearest;
	char hint[DID_YOU_MEAN_HINT];

	if (result < 0)
		return result;
	for (unsigned i = 0; choices[i] != NULL; i++)
		if (strcmp(choices[i], node->text) == 0) {
			*choice = i;
			return 0;
		}
	did_you_mean_init(&nearest, node->text);
	for (unsigned i = 0; choices[i] != NULL; i++)
		did_you_mean_offer(&nearest, choices[i]);
	return yaml_tree_refuse(node, error, "'%s: %s': expected one of %s%s", node_name(node),
		node->text, nearest.known, did_you_mean_hint(&nearest, "; ", hint));
}

int yaml_read_word(const struct yaml_tree_node *node, const struct name_table *words,
	const void **entry, struct error *error)
{
	const char *names[WORD_LIST_MAX + 1];
	unsigned choice = 0;
	int result;

	name_table_names(words, names);
	result = yaml_read_choice(node, names, &choice, error);
	if (result == 0)
		*entry = words->entry[choice];
	return result;
}

/* All pointers to structs have the same representation; the member's type is not known here. */
static int read_word(const struct yaml_field *field, const struct yaml_tree_node *node,
	void *member, struct error *error)
{
	const void *entry = NULL;
	int result = yaml_read_word(node, field->words, &entry, error);

	if (result == 0)
		memcpy(member, &entry, sizeof(entry));
	return result;
}

static const void *load_word(const void *member)
{
	const void *entry;

	memcpy(&entry, member, sizeof(entry));
	return entry;
}

static int read_bool(const struct yaml_tree_node *node, bool *member, struct error *error)
{
	static const char *const choices[] = {"false", "true", NULL};
	unsigned choice;
	int result = yaml_read_choice(node, choices, &choice, error);

	if (result == 0)
		*member = choice == 1;
	return result;
}

static uint64_t member_max(size_t size)
{
	return size == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * size)) - 1;
}

static void member_store(void *member, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*(uint8_t *)member = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)member = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)member = (uint32_t)value;
		break;
	default:
		*(uint64_t *)member = value;
	}
}

static uint64_t member_load(const void *member, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)member;
	case 2:
		return *(const uint16_t *)member;
	case 4:
		return *(const uint32_t *)member;
	default:
		return *(const uint64_t *)member;
	}
}

/* Numbers, quantities and choices are stored as numbers. */
static int read_integer(const struct yaml_field *field, const struct yaml_tree_node *node,
	void *member, struct error *error)
{
	uint64_t max = field->max, value = 0;
	unsigned choice = 0;
	int result;

	if (max == 0 && field->size < 8)
		max = member_max(field->size);
	switch (field->type) {
	case YAML_FIELD_NUMBER:
		result = yaml_read_number(
			node, field->min, max == 0 ? UINT64_MAX : max, &value, error);
		break;
	case YAML_FIELD_CHOICE:
		result = yaml_read_choice(node, field->choices, &choice, error);
		value = choice;
		break;
	default:
		result = yaml_read_quantity(
			node, field_quantity[field->type], field->min, max, &value, error);
	}
	if (result == 0)
		member_store(member, field->size, value);
	return result;
}

static int read_field(const struct yaml_field *field, const struct yaml_tree_node *node,
	void *object, struct error *error)
{
	void *member = (char *)object + field->offset;

	switch (field->type) {
	case YAML_FIELD_TEXT:
		return yaml_read_text(node, member, field->size, error);
	case YAML_FIELD_NAME:
		return yaml_read_name(node, member, field->size, error);
	case YAML_FIELD_BOOL:
		return read_bool(node, member, error);
	case YAML_FIELD_WORD:
		return read_word(field, node, member, error);
	case YAML_FIELD_SECTION:
		return yaml_fields_read(field->fields, node, member, error);
	case YAML_FIELD_CUSTOM:
		return field->read(node, member, error);
	default:
		return read_integer(field, node, member, error);
	}
}

static int refuse_key(const struct yaml_field *fields, const struct yaml_tree_node *map,
	const struct yaml_tree_node *node, struct error *error)
{
	struct did_you_mean nearest;

	did_you_mean_init(&nearest, node->key);
	for (unsigned i = 0; fields[i].key != NULL; i++)
		did_you_mean_offer(&nearest, fields[i].key);
	return yaml_tree_refuse_key(node, error, "unknown key '%.64s'%s%s%s%s%s; known keys: %s",
		node->key, map->key != NULL ? " in '" : "", map->key != NULL ? map->key : "",
		map->key != NULL ? "'" : "", nearest.best != NULL ? ", nearest is " : "",
		nearest.best != NULL ? nearest.best : "", nearest.known);
}

static const struct yaml_field *field_find(const struct yaml_field *fields, const char *key)
{
	for (; fields->key != NULL; fields++)
		if (strcmp(fields->key, key) == 0 ||
			(fields->former != NULL && strcmp(fields->former, key) == 0))
			return fields;
	return NULL;
}

static int read_key(const struct yaml_field *field, const struct yaml_tree_node *map,
	const struct yaml_tree_node *node, void *object, struct error *error)
{
	if (strcmp(field->key, node->key) != 0 && yaml_tree_get(map, field->key) != NULL)
		return yaml_tree_refuse(node, error,
			"key '%s' is the former name of '%s', which is also set", node->key,
			field->key);
	return read_field(field, node, object, error);
}

int yaml_fields_read(const struct yaml_field *fields, const struct yaml_tree_node *map,
	void *object, struct error *error)
{
	int result = yaml_tree_expect(map, YAML_TREE_MAP, error);
	const struct yaml_field *field;

	for (const struct yaml_tree_node *node = map->first; node != NULL && result == 0;
		node = node->next) {
		field = field_find(fields, node->key);
		result = field == NULL ? refuse_key(fields, map, node, error)
				       : read_key(field, map, node, object, error);
	}
	for (field = fields; field->key != NULL && result == 0; field++)
		if (field->required && yaml_tree_get(map, field->key) == NULL)
			result = yaml_tree_refuse(map, error, "key '%s' is missing%s%s%s",
				field->key, map->key != NULL ? " in '" : "",
				map->key != NULL ? map->key : "", map->key != NULL ? "'" : "");
	return result;
}

bool yaml_field_is_present(const struct yaml_field *field, const void *object)
{
	const char *member = (const char *)object + field->offset;
	size_t zeros = 0;

	if (field->present != NULL)
		return field->present(member);
	if (field->type == YAML_FIELD_TEXT || field->type == YAML_FIELD_NAME)
		return member[0] != '\0';
	if (field->unset != 0)
		return member_load(member, field->size) != field->unset;
	while (zeros < field->size && member[zeros] == 0)
		zeros++;
	return zeros < field->size || (!field->optional && field->type != YAML_FIELD_WORD);
}

void yaml_fields_complete(const struct yaml_field *fields, unsigned tags, void *object)
{
	for (; fields->key != NULL; fields++)
		if (fields->initial != 0 && (fields->tag & tags) != 0 &&
			!yaml_field_is_present(fields, object))
			member_store(
				(char *)object + fields->offset, fields->size, fields->initial);
}

static void write_value(
	const struct yaml_field *field, const void *member, FILE *out, unsigned indent)
{
	char text[QUANTITY_TEXT];

	if (field->type != YAML_FIELD_CUSTOM)
		fputc(' ', out);
	switch (field->type) {
	case YAML_FIELD_TEXT:
	case YAML_FIELD_NAME:
		yaml_tree_write_text(member, out);
		break;
	case YAML_FIELD_BOOL:
		fputs(*(const bool *)member ? "true" : "false", out);
		break;
	case YAML_FIELD_NUMBER:
		fprintf(out, "%" PRIu64, member_load(member, field->size));
		break;
	case YAML_FIELD_CHOICE:
		fputs(field->choices[member_load(member, field->size)], out);
		break;
	case YAML_FIELD_WORD:
		fputs(name_table_name(load_word(member)), out);
		break;
	case YAML_FIELD_SECTION:
		yaml_fields_write_row(field->fields, member, out);
		break;
	case YAML_FIELD_CUSTOM:
		field->write(member, out, indent);
		break;
	default:
		quantity_format(
			field_quantity[field->type], member_load(member, field->size), text);
		fputs(text, out);
	}
}

void yaml_fields_write_row(const struct yaml_field *fields, const void *object, FILE *out)
{
	const char *before = "{";

	for (const struct yaml_field *field = fields; field->key != NULL; field++) {
		const void *member = (const char *)object + field->offset;

		if (!yaml_field_is_present(field, object))
			continue;
		fprintf(out, "%s%s:", before, field->key);
		write_value(field, member, out, 0);
		before = ", ";
	}
	fputs(before[0] == '{' ? "{}" : "}", out);
}

void yaml_fields_write(
	const struct yaml_field *fields, const void *object, FILE *out, unsigned indent)
{
	for (const struct yaml_field *field = fields; field->key != NULL; field++) {
		const void *member = (const char *)object + field->offset;

		if (!yaml_field_is_present(field, object))
			continue;
		fprintf(out, "%*s%s:", (int)indent, "", field->key);
		write_value(field, member, out, indent + 2);
		fputc('\n', out);
	}
}
