/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "opensm_cc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file_text.h"
#include "run_config_fields.h"

#define LEVELS        16u /* service levels */
#define CREDIT_BYTES  64u
#define TIMER_UNIT_PS UINT64_C(1024000)
#define INDEX_MAX     (CC_TABLE_ENTRIES - 1)
#define BLANKS        " \t\r"

#define SWITCH_MAP_VICTIMS   0x01u
#define SWITCH_MAP_THRESHOLD 0x04u
#define SWITCH_MAP_RATE      0x10u
#define SWITCH_MAP_STARVING  0x0Au /* credit mask, starvation threshold */
#define SWITCH_MAP_ALL       0x1Fu

/* A number per service level. */
struct leveled {
	uint32_t value[LEVELS];
	unsigned line[LEVELS]; /* 0: not set */
};

struct reader {
	const char *origin;
	unsigned line;
	const char *key;
	char *value;
	struct error *error;
	struct opensm_cc *out;
	uint32_t switch_map, level_map;
	struct leveled timer, increase, min;
};

static int refuse(const struct reader *reader, const char *expected)
{
	return error_set(reader->error, EINVAL, "%s:%u: %s: expected %s, found '%.40s'",
		reader->origin, reader->line, reader->key, expected, reader->value);
}

/* Parses a number up to 'max', followed by a space or the end, and moves '*text' behind it. */
static bool take_number(char **text, uint64_t max, uint32_t *number)
{
	char *from = *text + strspn(*text, BLANKS);
	unsigned long long value;

	if (*from < '0' || *from > '9')
		return false;
	errno = 0;
	value = strtoull(from, text, 0);
	if (errno != 0 || value > max || strcspn(*text, BLANKS) != 0)
		return false;
	*number = (uint32_t)value;
	return true;
}

static bool is_at_end(const char *text)
{
	return text[strspn(text, BLANKS)] == '\0';
}

static int read_number(struct reader *reader, uint32_t max, uint32_t *number)
{
	char *text = reader->value, expected[32];

	if (take_number(&text, max, number) && is_at_end(text))
		return 0;
	snprintf(expected, sizeof(expected), "0 to %u", max);
	return refuse(reader, expected);
}

/* Parses "SL VALUE". */
static int read_level(struct reader *reader, struct leveled *setting, uint32_t max)
{
	char *text = reader->value, expected[80];
	uint32_t level, value;

	if (take_number(&text, LEVELS - 1, &level) && take_number(&text, max, &value) &&
		is_at_end(text)) {
		setting->value[level] = value;
		setting->line[level] = reader->line;
		return 0;
	}
	snprintf(expected, sizeof(expected),
		"a service level from 0 to %u and a value from 0 to "
		"%u",
		LEVELS - 1, max);
	return refuse(reader, expected);
}

static int read_enabled(struct reader *reader)
{
	if (strcasecmp(reader->value, "TRUE") == 0)
		return 0;
	return refuse(reader, "TRUE, because OpenSM configures nothing otherwise");
}

static int read_switch_map(struct reader *reader)
{
	int result = read_number(reader, SWITCH_MAP_ALL, &reader->switch_map);

	if (result == 0 && (reader->switch_map & SWITCH_MAP_STARVING) != 0)
		return refuse(reader, "bits 1 and 3 unset, because credit starvation is not "
				      "modelled");
	return result;
}

static int read_level_map(struct reader *reader)
{
	return read_number(reader, UINT16_MAX, &reader->level_map);
}

/* Accepts any number of hexadecimal digits. */
static int read_victims(struct reader *reader)
{
	const char *text = reader->value;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	if (*text == '\0' || text[strspn(text, "0123456789abcdefABCDEF")] != '\0')
		return refuse(reader, "a port mask such as 0x00fe");
	reader->out->victims = text[strspn(text, "0")] != '\0';
	reader->out->has_victims = true;
	return 0;
}

static int read_threshold(struct reader *reader)
{
	reader->out->has_threshold = true;
	return read_number(reader, 15, &reader->out->threshold);
}

static int read_packet_size(struct reader *reader)
{
	int result = read_number(reader, UINT8_MAX, &reader->out->packet_bytes);

	reader->out->packet_bytes *= CREDIT_BYTES;
	reader->out->has_packet_size = true;
	return result;
}

static int read_marking_rate(struct reader *reader)
{
	reader->out->has_marking_rate = true;
	return read_number(reader, UINT16_MAX, &reader->out->marking_rate);
}

static int read_port_control(struct reader *reader)
{
	uint32_t control = 0;
	int result = read_number(reader, 1, &control);

	reader->out->per_host = control == 1;
	reader->out->has_per_host = true;
	return result;
}

static int read_timer(struct reader *reader)
{
	return read_level(reader, &reader->timer, UINT16_MAX);
}

static int read_increase(struct reader *reader)
{
	return read_level(reader, &reader->increase, INDEX_MAX);
}

static int read_min(struct reader *reader)
{
	return read_level(reader, &reader->min, INDEX_MAX);
}

/* Parses "3:5", and moves '*text' behind it. */
static bool take_entry(char **text, struct cc_table *table)
{
	unsigned long shift, multiplier;

	if (**text < '0' || **text > '9')
		return false;
	shift = strtoul(*text, text, 10);
	if (**text != ':' || (*text)[1] < '0' || (*text)[1] > '9')
		return false;
	multiplier = strtoul(*text + 1, text, 10);
	return shift <= CC_TABLE_SHIFT_MAX && multiplier <= CC_TABLE_MULTIPLIER_MAX &&
	       cc_table_add(table, (unsigned)shift, (unsigned)multiplier);
}

static int read_table(struct reader *reader)
{
	struct cc_table *table = &reader->out->table;
	char *text = reader->value;
	bool good;

	if (strcmp(text, "(null)") == 0)
		return 0;
	*table = (struct cc_table){.count = 0};
	while ((good = take_entry(&text, table)) && *text == ',')
		text++;
	reader->out->has_table = true;
	if (good && is_at_end(text))
		return 0;
	return refuse(reader,
		"up to 128 entries SHIFT:MULTIPLIER separated by commas, up to 3 and 16383");
}

/* Ignores keys for management, and for credit starvation, which the control map enables. */
static int pass(struct reader *reader)
{
	return 0;
}

static const struct {
	const char *key;
	int (*read)(struct reader *reader);
} keys[] = {
	{"congestion_control", read_enabled},
	{"cc_key", pass},
	{"cc_max_outstanding_mads", pass},
	{"cc_sw_cong_setting_control_map", read_switch_map},
	{"cc_sw_cong_setting_victim_mask", read_victims},
	{"cc_sw_cong_setting_credit_mask", pass},
	{"cc_sw_cong_setting_threshold", read_threshold},
	{"cc_sw_cong_setting_packet_size", read_packet_size},
	{"cc_sw_cong_setting_credit_starvation_threshold", pass},
	{"cc_sw_cong_setting_credit_starvation_return_delay", pass},
	{"cc_sw_cong_setting_marking_rate", read_marking_rate},
	{"cc_ca_cong_setting_port_control", read_port_control},
	{"cc_ca_cong_setting_control_map", read_level_map},
	{"cc_ca_cong_setting_ccti_timer", read_timer},
	{"cc_ca_cong_setting_ccti_increase", read_increase},
	{"cc_ca_cong_setting_trigger_threshold", pass},
	{"cc_ca_cong_setting_ccti_min", read_min},
	{"cc_cct", read_table},
};

/* Parses and modifies a line without its newline. */
static int read_line(struct reader *reader, char *line)
{
	size_t length;

	line += strspn(line, BLANKS);
	length = strcspn(line, BLANKS);
	reader->value = line + length + strspn(line + length, BLANKS);
	line[length] = '\0';
	if (strncmp(line, "cc_", 3) != 0 && strcmp(line, keys[0].key) != 0)
		return 0;
	reader->key = line;
	length = strlen(reader->value);
	while (length > 0 && strchr(BLANKS, reader->value[length - 1]) != NULL)
		reader->value[--length] = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(reader->key, keys[i].key) == 0)
			return keys[i].read(reader);
	return error_set(reader->error, EINVAL,
		"%s:%u: %.60s: expected a key of OpenSM's congestion control", reader->origin,
		reader->line, reader->key);
}

/* Sets the common value of all service levels that are used; these must be equal. */
static int merge(const struct reader *reader, const char *name, const struct leveled *setting,
	uint32_t *value, bool *has)
{
	unsigned first = LEVELS;

	for (unsigned level = 0; level < LEVELS; level++) {
		if (setting->line[level] == 0 || (reader->level_map & 1u << level) == 0)
			continue;
		if (first == LEVELS)
			first = level;
		else if (setting->value[level] != setting->value[first])
			return error_set(reader->error, EINVAL,
				"%s:%u: cc_ca_cong_setting_%s: the value must be the same as for "
				"service level %u, which is %u, because Weft has one setting for "
				"all levels",
				reader->origin, setting->line[level], name, first,
				setting->value[first]);
	}
	*has = first < LEVELS;
	if (*has)
		*value = setting->value[first];
	return 0;
}

/* Fails if a timer that is used is 0. OpenSM writes 0 for service levels that its map excludes. */
static int check_timer(const struct reader *reader, uint32_t units)
{
	unsigned line = UINT32_MAX;

	if (!reader->out->has_timer || units > 0)
		return 0;
	for (unsigned level = 0; level < LEVELS; level++)
		if ((reader->level_map & 1u << level) != 0 && reader->timer.line[level] != 0 &&
			reader->timer.line[level] < line)
			line = reader->timer.line[level];
	return error_set(reader->error, EINVAL,
		"%s:%u: cc_ca_cong_setting_ccti_timer must be from 1 to %u, not '0'",
		reader->origin, line, UINT16_MAX);
}

static int finish(struct reader *reader)
{
	struct opensm_cc *out = reader->out;
	uint32_t units = 0;
	int result = merge(reader, "ccti_timer", &reader->timer, &units, &out->has_timer);

	out->timer_ps = units * TIMER_UNIT_PS;
	if (result == 0)
		result = check_timer(reader, units);
	if (result == 0)
		result = merge(reader, "ccti_increase", &reader->increase, &out->increase,
			&out->has_increase);
	if (result == 0)
		result = merge(reader, "ccti_min", &reader->min, &out->min, &out->has_min);
	out->has_victims &= (reader->switch_map & SWITCH_MAP_VICTIMS) != 0;
	out->has_threshold &= (reader->switch_map & SWITCH_MAP_THRESHOLD) != 0;
	out->has_packet_size &= (reader->switch_map & SWITCH_MAP_THRESHOLD) != 0;
	out->has_marking_rate &= (reader->switch_map & SWITCH_MAP_RATE) != 0;
	return result;
}

/* Parses all lines of a text that ends with a 0 byte, and modifies it. */
static int read_lines(struct reader *reader, char *text)
{
	int result = 0;

	while (text != NULL && result == 0) {
		char *end = strchr(text, '\n');

		if (end != NULL)
			*end = '\0';
		reader->line++;
		result = read_line(reader, text);
		text = end == NULL ? NULL : end + 1;
	}
	return result == 0 ? finish(reader) : result;
}

int opensm_cc_parse(const char *text, size_t length, const char *origin, struct opensm_cc *out,
	struct error *error)
{
	struct reader reader = {.origin = origin,
		.error = error,
		.out = out,
		.switch_map = SWITCH_MAP_ALL,
		.level_map = UINT16_MAX};
	char *copy;
	int result;

	*out = (struct opensm_cc){.has_timer = false};
	if (memchr(text, '\0', length) != NULL)
		return error_set(error, EINVAL,
			"%s: contains a zero byte; a text file is "
			"required",
			origin);
	copy = strndup(text, length);
	if (copy == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", origin);
	result = read_lines(&reader, copy);
	free(copy);
	return result;
}

/* Like opensm_cc_parse(), for a file. Also returns -errno if the file cannot be read or exceeds
 * OPENSM_CC_BYTES_MAX. */
static int opensm_cc_load(const char *path, struct opensm_cc *out, struct error *error)
{
	size_t length;
	char *text = file_text_read(path, OPENSM_CC_BYTES_MAX, &length, error);
	int result;

	if (text == NULL)
		return -errno;
	result = opensm_cc_parse(text, length, path, out, error);
	free(text);
	return result;
}

/* 'nic.iba-cc.opensm', and the run file whose keys it supplies. */

struct request {
	const struct yaml_tree_node *root, *file;
	const struct yaml_tree_node *nic; /* its section iba-cc */
};

static const struct yaml_tree_node *get(const struct yaml_tree_node *map, const char *key)
{
	return map == NULL || map->kind != YAML_TREE_MAP ? NULL : yaml_tree_get(map, key);
}

/* Returns true if the section has the key, and its value takes precedence. This applies to a key on
 * the command line, and to a key of a run file that itself names OpenSM's file. */
static bool keeps(
	const struct request *request, const struct yaml_tree_node *section, const char *key)
{
	const struct yaml_tree_node *node = get(section, key);

	return node != NULL && (node->line == 0 || request->file->line != 0);
}

static void take_switch(
	const struct request *request, const struct opensm_cc *from, struct run_config_switch *to)
{
	const struct yaml_tree_node *section = get(request->root, "switch");

	if (from->has_threshold && !keeps(request, section, "fecn"))
		to->fecn = from->threshold;
	if (from->has_marking_rate && !keeps(request, section, "marking-rate"))
		to->marking_rate = from->marking_rate;
	if (from->has_packet_size && !keeps(request, section, "packet-size"))
		to->mark_bytes = from->packet_bytes;
	if (from->has_victims && !keeps(request, section, "victim-mask"))
		to->victim_mask = from->victims;
}

static void take_source(
	const struct request *request, const struct opensm_cc *from, struct run_config_iba_cc *to)
{
	const struct yaml_tree_node *section = request->nic;

	if (from->has_timer && !keeps(request, section, "timer"))
		to->timer_ps = from->timer_ps;
	if (from->has_increase && !keeps(request, section, "increase"))
		to->increase = from->increase;
	if (from->has_min && !keeps(request, section, "min"))
		to->min = from->min;
	if (from->has_per_host && !keeps(request, section, "per"))
		to->per = from->per_host ? RUN_CC_PER_HOST : RUN_CC_PER_DESTINATION;
	if (!from->has_table)
		return;
	if (!keeps(request, section, "limit"))
		to->limit = from->table.count - 1u;
	if (keeps(request, section, "table"))
		return;
	to->table_kind = CC_TABLE_LIST;
	to->table = from->table;
}

int run_config_take_opensm(
	struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	struct request request = {.root = root, .nic = get(get(root, "nic"), "iba-cc")};
	struct opensm_cc settings;
	struct error why;

	request.file = get(request.nic, "opensm");
	if (request.file == NULL || config->nic.iba_cc.opensm == NULL)
		return 0;
	if (opensm_cc_load(config->nic.iba_cc.opensm, &settings, &why) < 0)
		return yaml_tree_refuse(request.file, error, "nic.iba-cc.opensm: %s", why.text);
	take_switch(&request, &settings, &config->sw);
	take_source(&request, &settings, &config->nic.iba_cc);
	return 0;
}
