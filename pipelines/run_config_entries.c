/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The lists of a run file: traffic and edges. */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run_config_fields.h"

#define X(id, text) text,
static const char *const pattern_choices[] = {RUN_PATTERNS(X) NULL};
static const char *const host_set_texts[] = {RUN_HOST_SETS(X) NULL};
#undef X

const char *run_pattern_name(enum run_pattern pattern)
{
	return pattern_choices[pattern];
}

static int refuse_memory(const struct yaml_tree_node *node, struct fault *fault)
{
	return fault_set(fault, ENOMEM, "%s: no memory", node->origin);
}

static struct run_config_place place_of(const struct yaml_tree_node *node)
{
	return (struct run_config_place){node->line, node->column};
}

/* all, rest, 10% or [h1, h2] */

static int read_host_list(
	const struct yaml_tree_node *node, struct run_config_hosts *hosts, struct fault *fault)
{
	int result = 0;

	if (node->count == 0 || node->count > RUN_NAMES_MAX)
		return yaml_tree_refuse(
			node, fault, "'%s': 1 to %u hosts were expected", node->key, RUN_NAMES_MAX);
	hosts->name = calloc(node->count, sizeof(*hosts->name));
	if (hosts->name == NULL)
		return refuse_memory(node, fault);
	hosts->kind = RUN_HOSTS_LIST;
	for (const struct yaml_tree_node *name = node->first; name != NULL && result == 0;
		name = name->next)
		result = yaml_read_name(
			name, hosts->name[hosts->count++], sizeof(*hosts->name), fault);
	return result;
}

static int read_hosts(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	struct run_config_hosts *hosts = member;
	uint64_t share;

	hosts->place = place_of(node);
	if (node->kind == YAML_TREE_SEQUENCE)
		return read_host_list(node, hosts, fault);
	if (node->kind == YAML_TREE_SCALAR && strcmp(node->text, "all") == 0)
		hosts->kind = RUN_HOSTS_ALL;
	else if (node->kind == YAML_TREE_SCALAR && strcmp(node->text, "rest") == 0)
		hosts->kind = RUN_HOSTS_REST;
	else if (node->kind == YAML_TREE_SCALAR &&
		 quantity_parse(QUANTITY_SHARE, node->text, &share) == 0 && share > 0 &&
		 share <= QUANTITY_WHOLE_PPM) {
		hosts->kind = RUN_HOSTS_SHARE;
		hosts->share_ppm = (uint32_t)share;
	} else
		return yaml_tree_refuse(node, fault,
			"'%s: %s': all, rest, a percentage such as 10%% or a list of hosts such as "
			"[h4] was expected",
			node->key, node->kind == YAML_TREE_SCALAR ? node->text : "{...}");
	return 0;
}

static void write_hosts(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_hosts *hosts = member;
	char share[QUANTITY_TEXT];

	fputc(' ', out);
	if (hosts->kind == RUN_HOSTS_SHARE) {
		quantity_format(QUANTITY_SHARE, hosts->share_ppm, share);
		fputs(share, out);
	} else if (hosts->kind == RUN_HOSTS_LIST) {
		for (uint32_t i = 0; i < hosts->count; i++)
			fprintf(out, "%s%s", i == 0 ? "[" : ", ", hosts->name[i]);
		fputc(']', out);
	} else {
		fputs(host_set_texts[hosts->kind], out);
	}
}

static bool hosts_present(const void *member)
{
	return ((const struct run_config_hosts *)member)->kind != RUN_HOSTS_UNSET;
}

/* A time, or a word that stands for never. */

static int read_time_or(
	const char *never, const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	uint64_t value;
	int result;

	if (node->kind == YAML_TREE_SCALAR && strcmp(node->text, never) == 0) {
		*(weft_time *)member = WEFT_TIME_NEVER;
		return 0;
	}
	result = yaml_read_quantity(node, QUANTITY_TIME, 1, 0, &value, fault);
	if (result == 0)
		*(weft_time *)member = value;
	return result;
}

static void write_time_or(const char *never, const void *member, FILE *out)
{
	weft_time value = *(const weft_time *)member;
	char text[QUANTITY_TEXT];

	quantity_format(QUANTITY_TIME, value, text);
	fprintf(out, " %s", value == WEFT_TIME_NEVER ? never : text);
}

int run_read_watchdog(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	return read_time_or("off", node, member, fault);
}

void run_write_watchdog(const void *member, FILE *out, unsigned indent)
{
	write_time_or("off", member, out);
}

static int read_stop(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	return read_time_or("end", node, member, fault);
}

static void write_stop(const void *member, FILE *out, unsigned indent)
{
	write_time_or("end", member, out);
}

static int read_path(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	char text[RUN_PATH_MAX];
	int result = yaml_read_text(node, text, sizeof(text), fault);

	if (result < 0)
		return result;
	*(char **)member = run_resolve_path(node, text);
	return *(char **)member == NULL ? refuse_memory(node, fault) : 0;
}

static void write_path(const void *member, FILE *out, unsigned indent)
{
	fputc(' ', out);
	yaml_tree_write_text(*(char *const *)member, out);
}

static bool path_present(const void *member)
{
	return *(char *const *)member != NULL;
}

#define S struct run_config_traffic
static const struct yaml_field traffic_fields[] = {
	{"pattern", YAML_FIELD_CHOICE, true, YAML_MEMBER(S, pattern), .choices = pattern_choices},
	{"from", YAML_FIELD_CUSTOM, YAML_MEMBER(S, from), .read = read_hosts, .write = write_hosts,
		.present = hosts_present},
	{"to", YAML_FIELD_CUSTOM, YAML_MEMBER(S, to), .read = read_hosts, .write = write_hosts,
		.present = hosts_present},
	{"load", YAML_FIELD_SHARE, YAML_MEMBER(S, load_ppm), .min = 1, .max = QUANTITY_WHOLE_PPM},
	{"message", YAML_FIELD_BYTES, YAML_MEMBER(S, message_bytes), .min = RUN_MESSAGE_MIN,
		.max = RUN_MESSAGE_MAX},
	{"start", YAML_FIELD_TIME, YAML_MEMBER(S, start_ps)},
	{"stop", YAML_FIELD_CUSTOM, YAML_MEMBER(S, stop_ps), .read = read_stop,
		.write = write_stop},
	{"file", YAML_FIELD_CUSTOM, YAML_MEMBER(S, file), .read = read_path, .write = write_path,
		.present = path_present},
	{NULL},
};
#undef S

/* A permutation has its pairs from the file, or from the seed; the other patterns have sources and
 * destinations. */
static int complete_permutation(const struct run_config_traffic *traffic,
	const struct yaml_tree_node *node, struct fault *fault)
{
	if (traffic->from.kind != RUN_HOSTS_UNSET || traffic->to.kind != RUN_HOSTS_UNSET)
		return yaml_tree_refuse(node, fault,
			"pattern permutation: 'file' or the seed says who sends to whom, 'from' and "
			"'to' cannot");
	return 0;
}

static int complete_traffic(
	struct run_config_traffic *traffic, const struct yaml_tree_node *node, struct fault *fault)
{
	const char *pattern = run_pattern_name(traffic->pattern);

	if (traffic->stop_ps <= traffic->start_ps)
		return yaml_tree_refuse(node, fault, "'stop' is not after 'start'");
	if (traffic->pattern == RUN_PATTERN_PERMUTATION)
		return complete_permutation(traffic, node, fault);
	if (traffic->file != NULL && traffic->pattern != RUN_PATTERN_TRACE)
		return yaml_tree_refuse(node, fault, "pattern %s has no 'file'", pattern);
	if (traffic->from.kind == RUN_HOSTS_UNSET)
		traffic->from.kind = RUN_HOSTS_REST;
	if (traffic->to.kind == RUN_HOSTS_UNSET && traffic->pattern == RUN_PATTERN_HOTSPOT)
		return yaml_tree_refuse(
			node, fault, "pattern hotspot: 'to' is missing, such as [h4]");
	if (traffic->to.kind == RUN_HOSTS_UNSET)
		traffic->to.kind = RUN_HOSTS_ALL;
	return 0;
}

static const struct run_config_traffic traffic_default = {
	.load_ppm = QUANTITY_WHOLE_PPM,
	.message_bytes = 4096,
	.stop_ps = WEFT_TIME_NEVER,
};

/* A list of at most 'max' rows; allocates 'size' bytes for each. */
static int read_rows(const struct yaml_tree_node *node, uint32_t max, size_t size, void **rows,
	struct fault *fault)
{
	int result = yaml_tree_expect(node, YAML_TREE_SEQUENCE, fault);

	if (result < 0)
		return result;
	if (node->count > max)
		return yaml_tree_refuse(node, fault, "'%s': %u entries, at most %u are possible",
			node->key, node->count, max);
	*rows = calloc((size_t)node->count + 1, size);
	return *rows == NULL ? refuse_memory(node, fault) : 0;
}

int run_read_traffic(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	struct run_config_traffic_list *list = member;
	void *rows;
	int result = read_rows(node, RUN_TRAFFIC_MAX, sizeof(*list->at), &rows, fault);

	if (result < 0)
		return result;
	list->at = rows;
	for (const struct yaml_tree_node *row = node->first; row != NULL && result == 0;
		row = row->next) {
		struct run_config_traffic *traffic = &list->at[list->count++];

		*traffic = traffic_default;
		traffic->place = place_of(row);
		traffic->from.place = traffic->to.place = traffic->place;
		result = yaml_fields_read(traffic_fields, row, traffic, fault);
		if (result == 0)
			result = complete_traffic(traffic, row, fault);
	}
	return result;
}

void run_write_traffic(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_traffic_list *list = member;

	if (list->count == 0)
		fputs(" []", out);
	for (uint32_t i = 0; i < list->count; i++) {
		fprintf(out, "\n%*s- ", (int)indent, "");
		yaml_fields_write_row(traffic_fields, &list->at[i], out);
	}
}

/* Edges */

/* "10.87.0.1/24" */
static bool address_is_valid(const char *text)
{
	char address[RUN_ADDRESS_MAX];
	const char *slash = strchr(text, '/');
	struct in_addr parsed;
	char *end;

	if (slash == NULL || slash[1] < '0' || slash[1] > '9' ||
		(size_t)(slash - text) >= sizeof(address) || strlen(slash) > 3)
		return false;
	memcpy(address, text, (size_t)(slash - text));
	address[slash - text] = '\0';
	return inet_pton(AF_INET, address, &parsed) == 1 && strtoul(slash + 1, &end, 10) <= 32 &&
	       *end == '\0';
}

static int read_address(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	int result = yaml_read_text(node, member, RUN_ADDRESS_MAX, fault);

	if (result == 0 && !address_is_valid(member))
		return yaml_tree_refuse(node, fault,
			"'address: %s': an IPv4 address with its prefix was expected, such as "
			"10.87.0.1/24",
			node->text);
	return result;
}

static void write_address(const void *member, FILE *out, unsigned indent)
{
	fprintf(out, " %s", (const char *)member);
}

static bool address_present(const void *member)
{
	return *(const char *)member != '\0';
}

#define S struct run_config_edge
static const struct yaml_field edge_fields[] = {
	{"host", YAML_FIELD_NAME, true, YAML_MEMBER(S, host)},
	{"tap", YAML_FIELD_NAME, true, YAML_MEMBER(S, tap)},
	{"namespace", YAML_FIELD_NAME, YAML_MEMBER(S, netns)},
	{"address", YAML_FIELD_CUSTOM, YAML_MEMBER(S, address), .read = read_address,
		.write = write_address, .present = address_present},
	{NULL},
};
#undef S

static int check_edge(const struct run_config_edge_list *list, const struct yaml_tree_node *row,
	struct fault *fault)
{
	const struct run_config_edge *edge = &list->at[list->count - 1];

	for (uint32_t i = 0; i + 1 < list->count; i++) {
		const struct run_config_edge *other = &list->at[i];

		if (strcmp(other->host, edge->host) == 0)
			return yaml_tree_refuse(row, fault,
				"a second edge of host %s, the first one is in line %u", edge->host,
				other->place.line);
		if (strcmp(other->tap, edge->tap) == 0 && strcmp(other->netns, edge->netns) == 0)
			return yaml_tree_refuse(row, fault,
				"a second interface %s in the same namespace, the first one is in "
				"line %u",
				edge->tap, other->place.line);
		if (edge->address[0] != '\0' &&
			strcspn(edge->address, "/") == strcspn(other->address, "/") &&
			strncmp(edge->address, other->address, strcspn(edge->address, "/")) == 0)
			return yaml_tree_refuse(row, fault,
				"address %s is that of the edge in line %u too", edge->address,
				other->place.line);
	}
	return 0;
}

int run_read_edges(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	struct run_config_edge_list *list = member;
	void *rows;
	int result = read_rows(node, RUN_EDGES_MAX, sizeof(*list->at), &rows, fault);

	if (result < 0)
		return result;
	list->at = rows;
	for (const struct yaml_tree_node *row = node->first; row != NULL && result == 0;
		row = row->next) {
		list->at[list->count].place = place_of(row);
		result = yaml_fields_read(edge_fields, row, &list->at[list->count++], fault);
		if (result == 0)
			result = check_edge(list, row, fault);
	}
	return result;
}

void run_write_edges(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_edge_list *list = member;

	if (list->count == 0)
		fputs(" []", out);
	for (uint32_t i = 0; i < list->count; i++) {
		fprintf(out, "\n%*s- ", (int)indent, "");
		yaml_fields_write_row(edge_fields, &list->at[i], out);
	}
}
