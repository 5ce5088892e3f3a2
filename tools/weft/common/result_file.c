/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "result_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/crc.h"

#define FORMAT   "result/1"
#define SUM      "sum"
#define SUM_TEXT 16
#define PATH     160 /* path of a value in a document, truncated */

struct reader {
	const char *file;
	struct error *error;
};

static int refuse(
	const struct reader *reader, const char *at, const json_t *value, const char *expected)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	error_set(reader->error, EINVAL, "%s: %s: %.60s: expected %s", reader->file, at,
		text != NULL ? text : "…", expected);
	free(text);
	return -EINVAL;
}

/* Results contain no negative numbers. With 'figures', values are limited to numbers, true, false
 * and null, except in lists, which may contain port and host names. */
static int check_value(
	const struct reader *reader, const char *at, const json_t *value, bool figures)
{
	char deeper[PATH];
	const char *key;
	json_t *inner;
	int result = 0;

	if (json_is_number(value) && json_number_value(value) < 0)
		return refuse(reader, at, value, "0 or more");
	if (figures && json_is_string(value))
		return refuse(reader, at, value, "a number");
	for (size_t index = 0; (inner = json_array_get((json_t *)value, index)) != NULL; index++) {
		snprintf(deeper, sizeof(deeper), "%s[%zu]", at, index);
		result = check_value(reader, deeper, inner, false);
		if (result < 0)
			return result;
	}
	json_object_foreach((json_t *)value, key, inner) {
		snprintf(deeper, sizeof(deeper), "%s%s%s", at, at[0] != '\0' ? "." : "", key);
		result = check_value(reader, deeper, inner, figures);
		if (result < 0)
			return result;
	}
	return 0;
}

/* Checks the sections whose values other commands use. */
static int check_sections(const struct reader *reader, const json_t *result)
{
	static const struct {
		const char *key;
		json_type type;
		bool required;
	} sections[] = {{"throughput", JSON_OBJECT, true}, {"checks", JSON_OBJECT, true},
		{"latency_ns", JSON_OBJECT, false}, {"packets", JSON_OBJECT, false},
		{"messages", JSON_OBJECT, false}, {"counters", JSON_OBJECT, false}};
	int code = 0;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && code == 0; i++) {
		const json_t *section = json_object_get(result, sections[i].key);

		if (section == NULL && sections[i].required)
			return error_set(reader->error, EINVAL,
				"%s: '%s' is missing, so the file is not a result of 'weft run'",
				reader->file, sections[i].key);
		if (section != NULL && json_typeof(section) != sections[i].type)
			return refuse(reader, sections[i].key, section, "an object");
		if (section != NULL)
			code = check_value(reader, sections[i].key, section, true);
	}
	if (code == 0 && json_object_get(result, "series") != NULL &&
		!json_is_array(json_object_get(result, "series")))
		return refuse(reader, "series", json_object_get(result, "series"), "a list");
	return code == 0 ? check_value(reader, "", result, false) : code;
}

static int check(const struct reader *reader, const json_t *result)
{
	const json_t *format = json_object_get(result, "weft");

	if (format == NULL)
		return error_set(reader->error, EINVAL,
			"%s: not a result of 'weft run': expected 'weft: " FORMAT "'",
			reader->file);
	if (!json_is_string(format) || strcmp(json_string_value(format), FORMAT) != 0)
		return refuse(reader, "weft", format, "\"" FORMAT "\"");
	return check_sections(reader, result);
}

static void sum_of(const json_t *result, char sum[SUM_TEXT])
{
	json_t *computed = json_copy((json_t *)result);
	char *text;

	json_object_del(computed, SUM);
	json_object_del(computed, "wall");
	text = json_dumps(computed, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
	snprintf(sum, SUM_TEXT, "%08" PRIx32, text != NULL ? crc32c(text, strlen(text)) : 0);
	free(text);
	json_decref(computed);
}

static int check_sum(const struct reader *reader, const json_t *result)
{
	const json_t *sealed = json_object_get(result, SUM);
	char sum[SUM_TEXT];

	if (sealed == NULL)
		return 0;
	sum_of(result, sum);
	if (json_is_string(sealed) && strcmp(json_string_value(sealed), sum) == 0)
		return 0;
	return error_set(reader->error, EBADMSG,
		"%s: the file was changed after the run: its values do not match the checksum in '" SUM
		"'",
		reader->file);
}

json_t *result_file_load(const char *path, struct error *error)
{
	const struct reader reader = {path, error};
	json_error_t json_error;
	json_t *result = NULL;
	FILE *file = fopen(path, "re");
	int code;

	if (file == NULL) {
		errno = -error_set(error, errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	result = json_loadf(file, JSON_REJECT_DUPLICATES, &json_error);
	fclose(file);
	if (result == NULL)
		code = error_at(error, path, (uint32_t)(json_error.line > 0 ? json_error.line : 0),
			(uint32_t)(json_error.column > 0 ? json_error.column : 0),
			"not a result of 'weft run': %.200s", json_error.text);
	else
		code = check(&reader, result);
	if (code == 0)
		code = check_sum(&reader, result);
	if (code == 0)
		return result;
	json_decref(result);
	errno = -code;
	return NULL;
}

/* Returns the position of the last '}' in the file. */
static long last_brace(FILE *file)
{
	long at;

	if (fseek(file, 0, SEEK_END) != 0)
		return -1;
	for (at = ftell(file) - 1; at >= 0; at--)
		if (fseek(file, at, SEEK_SET) != 0 || getc(file) == '}')
			break;
	return at;
}

int result_file_seal(const char *path, const json_t *result, struct error *error)
{
	FILE *file = fopen(path, "r+e");
	char sum[SUM_TEXT];
	long at = file != NULL ? last_brace(file) : -1;
	bool good = at > 0 && fseek(file, at, SEEK_SET) == 0;

	sum_of(result, sum);
	good = good && fprintf(file, ",\n  \"" SUM "\": \"%s\"\n}\n", sum) > 0;
	if (file != NULL && fclose(file) != 0)
		good = false;
	return good ? 0
		    : error_set(error, errno != 0 ? errno : EIO, "%s: cannot be written: %s", path,
			      strerror(errno != 0 ? errno : EIO));
}
