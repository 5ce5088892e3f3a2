/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "yaml_fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX  128
#define FORM_MAX 160
#define NAME     "^[A-Za-z0-9_][A-Za-z0-9_.-]*$"
#define HOST     "^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[0-7])?$"
#define QUANTITY "^[0-9]+(\\.[0-9]+)?"

/* --- forms --- */

/* Returns the forms of a field's values. */
static const char *form_of(const struct yaml_field *field)
{
	static const char *const forms[] = {
		[YAML_FIELD_TEXT] = "<text>",
		[YAML_FIELD_NAME] = "<name>",
		[YAML_FIELD_NUMBER] = "<number>",
		[YAML_FIELD_BOOL] = "<bool>",
		[YAML_FIELD_RATE] = "<rate>",
		[YAML_FIELD_TIME] = "<time>",
		[YAML_FIELD_BYTES] = "<size>",
		[YAML_FIELD_SHARE] = "<share>",
		[YAML_FIELD_CHOICE] = "<word>",
		[YAML_FIELD_WORD] = "<word>",
		[YAML_FIELD_SECTION] = "",
		[YAML_FIELD_CUSTOM] = "",
	};

	return field->form != NULL ? field->form : forms[field->type];
}

/* Takes the next alternative of a form. A pattern is always the last one. */
static bool next_form(const char **form, char one[FORM_MAX])
{
	size_t length = **form == '^' ? strlen(*form) : strcspn(*form, "|");

	if (length == 0)
		return false;
	snprintf(one, FORM_MAX, "%.*s", (int)length, *form);
	*form += length;
	*form += **form == '|';
	return true;
}

static const char *word_at(const struct yaml_field *field, unsigned i)
{
	const void *entry = field->words != NULL ? name_table_at(field->words, i) : NULL;

	if (field->choices != NULL)
		return field->choices[i];
	return entry != NULL ? name_table_name(entry) : NULL;
}

/* --- list --- */

static void list_fields(
	const struct yaml_field *fields, const char *file, const char *before, FILE *out)
{
	for (const struct yaml_field *field = fields; field->key != NULL; field++) {
		bool rows = field->type == YAML_FIELD_CUSTOM;
		char key[KEY_MAX];

		fprintf(out, "%s %s%s", file, before, field->key);
		for (unsigned i = 0; word_at(field, i) != NULL; i++)
			fprintf(out, " %s", word_at(field, i));
		fputc('\n', out);
		snprintf(key, sizeof(key), "%s%s%s", before, field->key, rows ? "[]." : ".");
		if (field->fields != NULL)
			list_fields(field->fields, file, key, out);
		snprintf(key, sizeof(key), "%s%s.", before, field->key);
		/* The keys of an inline topology are listed with topology files. */
		if (field->map != NULL && field->form == NULL)
			list_fields(field->map, file, key, out);
	}
}

void yaml_docs_list(const struct yaml_field *fields, const char *file, FILE *out)
{
	list_fields(fields, file, "", out);
}

/* --- table --- */

static bool field_range(
	const struct yaml_field *field, char min[QUANTITY_TEXT], char max[QUANTITY_TEXT])
{
	static const int quantity[] = {
		[YAML_FIELD_RATE] = QUANTITY_RATE,
		[YAML_FIELD_TIME] = QUANTITY_TIME,
		[YAML_FIELD_BYTES] = QUANTITY_SIZE,
		[YAML_FIELD_SHARE] = QUANTITY_SHARE,
		[YAML_FIELD_CUSTOM] = -1,
	};
	bool number = strstr(form_of(field), "<number>") != NULL;

	if (field->max == 0 ||
		(field->type == YAML_FIELD_SHARE && field->max == QUANTITY_WHOLE_PPM))
		return false;
	if (number) {
		snprintf(min, QUANTITY_TEXT, "%" PRIu64, field->min);
		snprintf(max, QUANTITY_TEXT, "%" PRIu64, field->max);
	} else {
		quantity_format((enum quantity_kind)quantity[field->type], field->min, min);
		quantity_format((enum quantity_kind)quantity[field->type], field->max, max);
	}
	return true;
}

static void print_form(const struct yaml_field *field, const char *one, FILE *out)
{
	char min[QUANTITY_TEXT], max[QUANTITY_TEXT];
	bool ranged;

	if (strcmp(one, "<word>") == 0) {
		for (unsigned i = 0; word_at(field, i) != NULL; i++)
			fprintf(out, "%s`%s`", i > 0 ? ", " : "", word_at(field, i));
	} else if (strcmp(one, "<bool>") == 0) {
		fputs("`true`, `false`", out);
	} else if (one[0] == '^') {
		fputs("text", out);
	} else if (one[0] != '<') {
		fprintf(out, "`%s`", one);
	} else if (strcmp(one, "<names>") == 0) {
		fputs("list of names", out);
	} else {
		ranged = field_range(field, min, max);
		if (!ranged || strcmp(one, "<number>") != 0)
			fprintf(out, "%.*s%s", (int)strlen(one) - 2, one + 1, ranged ? ", " : "");
		if (ranged)
			fprintf(out, "%s to %s", min, max);
	}
}

static void print_value(const struct yaml_field *field, FILE *out)
{
	const char *form = form_of(field), *between = "";
	char one[FORM_MAX];

	while (next_form(&form, one)) {
		fputs(between, out);
		print_form(field, one, out);
		between = ", ";
	}
	if (field->fields != NULL && field->type == YAML_FIELD_CUSTOM) {
		fprintf(out, "%slist", between);
		between = ", ";
	}
	if (field->map != NULL || field->type == YAML_FIELD_SECTION)
		fprintf(out, "%ssection", between);
}

/* Writes "key: value" to memory and prints the value. */
static void print_default(const struct yaml_field *field, const void *object, FILE *out)
{
	struct yaml_field one[] = {*field, {NULL}};
	bool scalar = field->fields == NULL && field->map == NULL;
	uint64_t initial = field->initial;
	char *text = NULL;
	size_t length = 0;
	FILE *memory = NULL;

	if (field->required)
		fputs("required", out);
	else if ((object != NULL || initial != 0) && scalar)
		memory = open_memstream(&text, &length);
	if (memory == NULL)
		return;
	if (initial != 0) {
		one->offset = 0;
		one->size = sizeof(initial);
		object = &initial;
	}
	yaml_fields_write(one, object, memory, 0);
	fclose(memory);
	if (length > strlen(field->key) + 3)
		fprintf(out, "`%.*s`", (int)(length - strlen(field->key) - 3),
			text + strlen(field->key) + 2);
	free(text);
}

static void print_row(
	const struct yaml_field *field, const char *before, const void *object, FILE *out)
{
	fprintf(out, "| `%s%s` | ", before, field->key);
	print_value(field, out);
	fputs(" | ", out);
	print_default(field, object, out);
	fprintf(out, " | %s |\n", field->doc);
}

/* Prints the keys of a section, of a list's rows, or of both forms (list and map). */
static void print_below(
	const struct yaml_field *field, const char *before, const void *object, FILE *out)
{
	const void *member = object != NULL ? (const char *)object + field->offset : NULL;
	const struct {
		const struct yaml_field *fields;
		const char *end;
		const void *object;
	} forms[] = {
		{field->type == YAML_FIELD_SECTION ? field->fields : NULL, ".", member},
		{field->type == YAML_FIELD_CUSTOM ? field->fields : NULL, "[].",
			field->row != NULL && member != NULL ? field->row(member) : NULL},
		{field->map, ".", NULL},
	};
	char key[KEY_MAX];

	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(key, sizeof(key), "%s%s%s", before, field->key, forms[i].end);
		for (const struct yaml_field *at = forms[i].fields; at != NULL && at->key != NULL;
			at++) {
			if (at->fields == NULL && at->map == NULL)
				print_row(at, key, forms[i].object, out);
			print_below(at, key, forms[i].object, out);
		}
	}
}

static void print_words(const struct yaml_field *field, const char *path, FILE *out)
{
	fprintf(out, "| `%s` | |\n|---|---|\n", path);
	for (unsigned i = 0; i < field->words->count; i++)
		fprintf(out, "| `%s` | %s |\n", name_table_name(field->words->entry[i]),
			name_table_summary(field->words->entry[i]));
}

/* Returns the field at a path such as "nic.selector", or NULL. */
static const struct yaml_field *find_path(const struct yaml_field *fields, const char *path)
{
	size_t length = strcspn(path, ".");

	for (; fields != NULL && fields->key != NULL; fields++)
		if (strncmp(fields->key, path, length) == 0 && fields->key[length] == '\0')
			return path[length] == '\0' ? fields
						    : find_path(fields->fields, path + length + 1);
	return NULL;
}

static bool has_key(const struct yaml_field *fields, const char *key)
{
	for (; fields != NULL && fields->key != NULL; fields++)
		if (strcmp(fields->key, key) == 0)
			return true;
	return false;
}

bool yaml_docs_table(const struct yaml_field *fields, const char *section, const void *object,
	const struct yaml_field *elsewhere, FILE *out)
{
	const struct yaml_field *at = find_path(fields, section);

	if (at != NULL && at->words != NULL) {
		print_words(at, section, out);
		return true;
	}
	if (section[0] != '\0' && !has_key(fields, section))
		return false;
	fputs("| key | value | default | |\n|---|---|---|---|\n", out);
	for (const struct yaml_field *field = fields; field->key != NULL; field++)
		if (section[0] == '\0' && !has_key(elsewhere, field->key))
			print_row(field, "", object, out);
		else if (strcmp(field->key, section) == 0)
			print_below(field, "", object, out);
	return true;
}

/* --- schema --- */

static json_t *object_schema(const struct yaml_field *fields, const char *also_required);

static json_t *words_schema(const struct yaml_field *field)
{
	json_t *words = json_array();

	for (unsigned i = 0; word_at(field, i) != NULL; i++)
		json_array_append_new(words, json_string(word_at(field, i)));
	return json_pack("{so}", "enum", words);
}

static json_t *number_schema(const struct yaml_field *field)
{
	json_t *number = json_pack("{sssI}", "type", "integer", "minimum", (json_int_t)field->min);

	if (field->max > 0)
		json_object_set_new(number, "maximum", json_integer((json_int_t)field->max));
	return number;
}

static json_t *name_schema(void)
{
	return json_pack("{s[ss]ss}", "type", "string", "integer", "pattern", NAME);
}

static json_t *names_schema(void)
{
	return json_pack("{sssis{s[ss]ss}}", "type", "array", "minItems", 1, "items", "type",
		"string", "integer", "pattern", HOST);
}

static json_t *kind_schema(const struct yaml_field *field, const char *kind)
{
	static const struct {
		const char *kind, *pattern;
	} quantities[] = {
		{"<rate>", QUANTITY "(bps|kbps|Mbps|Gbps)$"},
		{"<time>", QUANTITY "(ps|ns|us|ms|s)$"},
		{"<size>", QUANTITY "(B|[KMGT]iB)$"},
		{"<share>", QUANTITY "%$"},
	};

	for (unsigned i = 0; i < sizeof(quantities) / sizeof(quantities[0]); i++)
		if (strcmp(kind, quantities[i].kind) == 0)
			return json_pack(
				"{ssss}", "type", "string", "pattern", quantities[i].pattern);
	if (kind[0] == '^')
		return json_pack("{ssss}", "type", "string", "pattern", kind);
	if (strcmp(kind, "<word>") == 0)
		return words_schema(field);
	if (strcmp(kind, "<number>") == 0)
		return number_schema(field);
	if (strcmp(kind, "<bool>") == 0)
		return json_pack("{ss}", "type", "boolean");
	if (strcmp(kind, "<name>") == 0)
		return name_schema();
	if (strcmp(kind, "<host>") == 0)
		return json_pack("{ssss}", "type", "string", "pattern", HOST);
	if (strcmp(kind, "<names>") == 0)
		return names_schema();
	if (strcmp(kind, "<lists>") == 0)
		return json_pack("{ssso}", "type", "array", "items", names_schema());
	if (strcmp(kind, "<named lists>") == 0)
		return json_pack(
			"{ssso}", "type", "object", "additionalProperties", names_schema());
	if (strcmp(kind, "<texts>") == 0 || strcmp(kind, "<list>") == 0)
		return json_pack(
			"{sss{s[ss]}}", "type", "array", "items", "type", "string", "integer");
	/* In results, a factor is text. */
	if (strcmp(kind, "<factor>") == 0)
		return json_pack("{s[{sssi}{ssss}]}", "anyOf", "type", "number", "minimum", 0,
			"type", "string", "pattern", "^[0-9]+\\.[0-9]{1,3}$");
	return json_pack("{sssi}", "type", "string", "minLength", 1);
}

static json_t *field_schema(const struct yaml_field *field)
{
	json_t *forms = json_array(), *words = json_array(), *schema;
	const char *form = form_of(field);
	char one[FORM_MAX];

	while (next_form(&form, one))
		if (one[0] == '<' || one[0] == '^')
			json_array_append_new(forms, kind_schema(field, one));
		else
			json_array_append_new(words, json_string(one));
	if (json_array_size(words) > 0)
		json_array_append_new(forms, json_pack("{sO}", "enum", words));
	json_decref(words);
	if (field->fields != NULL && field->type == YAML_FIELD_CUSTOM)
		json_array_append_new(forms, json_pack("{ssso}", "type", "array", "items",
						     object_schema(field->fields, NULL)));
	else if (field->fields != NULL)
		json_array_append_new(forms, object_schema(field->fields, NULL));
	if (field->map != NULL)
		json_array_append_new(forms, object_schema(field->map, NULL));
	schema = json_array_size(forms) == 1 ? json_incref(json_array_get(forms, 0))
					     : json_pack("{sO}", "anyOf", forms);
	json_decref(forms);
	json_object_set_new(schema, "description", json_string(field->doc));
	return schema;
}

static json_t *object_schema(const struct yaml_field *fields, const char *also_required)
{
	json_t *keys = json_object(), *required = json_array(), *schema;

	schema = json_pack("{sssbsosO}", "type", "object", "additionalProperties", 0, "properties",
		keys, "required", required);
	for (; fields->key != NULL; fields++) {
		json_object_set_new(keys, fields->key, field_schema(fields));
		if (fields->required ||
			(also_required != NULL && strcmp(fields->key, also_required) == 0))
			json_array_append_new(required, json_string(fields->key));
		if (fields->instead != NULL)
			json_object_set_new(schema, "oneOf",
				json_pack("[{s[s]}{s[s]}]", "required", fields->key, "required",
					fields->instead));
	}
	json_decref(required);
	return schema;
}

json_t *yaml_docs_schema(const struct yaml_field *fields, const char *name)
{
	json_t *schema = json_pack("{ssss+}", "$schema",
		"https://json-schema.org/draft/2020-12/schema", "$id", name, ".schema.json");
	json_t *root = object_schema(fields, "weft");

	json_object_update(schema, root);
	json_decref(root);
	return schema;
}
