/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "experiment.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "goal.h"
#include "weft_time.h"
#include "yaml_fields.h"

#define FORMAT    "reproduce/1"
#define LOADS_MAX 100u
#define SET_TEXT  2048 /* a list of hosts may be long */

static const char *const measures[] = {
#define X(id, name) name,
	EXPERIMENT_MEASURES(X)
#undef X
		NULL};

static const char *const axes[] = {
	[EXPERIMENT_AXIS_SHARE] = "share", [EXPERIMENT_AXIS_BITS] = "bits/us", NULL};

const char *experiment_measure_title(enum experiment_measure measure)
{
	static const char *const titles[EXPERIMENT_MEASURE_COUNT] = {
		[EXPERIMENT_WAITING] = "Messages waiting at the host with most",
		[EXPERIMENT_COMPLETION] = "Time of the schedule [ms]",
		[EXPERIMENT_ACCEPTED] = "Accepted, share of the hosts' links",
		[EXPERIMENT_TOTAL_LATENCY] = "Mean latency from generation [us]",
		[EXPERIMENT_WORST_SWITCH] = "Mean waiting time of the worst switch [us]",
		[EXPERIMENT_WORST_LINK] = "Utilisation of the worst link",
		[EXPERIMENT_FIRST_BURST] = "Mean latency of the first burst [us]",
		[EXPERIMENT_LATER_BURSTS] = "Mean latency of the later bursts [us]",
		[EXPERIMENT_LATENCY_TIME] = "Mean network latency [us]",
	};

	return titles[measure] != NULL ? titles[measure] : measures[measure];
}

const char *experiment_measure_name(enum experiment_measure measure)
{
	return measures[measure];
}

/* The text with the folder of the definition for its first {here}. NULL without memory. */
static char *place(const char *text, const char *definition)
{
	const char *mark = strstr(text, "{here}");
	char folder[PATH_MAX], *out = NULL;

	if (mark == NULL)
		return strdup(text);
	snprintf(folder, sizeof(folder), "%s", definition);
	if (asprintf(&out, "%.*s%s%s", (int)(mark - text), text, dirname(folder),
		    mark + strlen("{here}")) < 0)
		return NULL;
	return out;
}

/* Any number of "KEY=VALUE". */
static int read_sets(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	struct experiment_choice *choice = member;
	int result = yaml_tree_expect(node, YAML_TREE_SEQUENCE, fault);

	for (const struct yaml_tree_node *row = node->first; row != NULL && result == 0;
		row = row->next) {
		char text[SET_TEXT];

		if (choice->sets == EXPERIMENT_SETS_MAX)
			return yaml_tree_refuse(
				row, fault, "expected at most %u of them", EXPERIMENT_SETS_MAX);
		result = yaml_read_text(row, text, sizeof(text), fault);
		if (result == 0 && strchr(text, '=') == NULL)
			result = yaml_tree_refuse(row, fault, "expected KEY=VALUE");
		if (result < 0)
			break;
		choice->set[choice->sets] = place(text, node->origin);
		if (choice->set[choice->sets++] == NULL)
			result = fault_set(fault, ENOMEM, "%s: no memory", node->origin);
	}
	return result;
}

/* Flits per ns and switch: "0.0123". */
static int read_traffic(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	char text[EXPERIMENT_NAME], *end;
	double *traffic = member;
	int result = yaml_read_text(node, text, sizeof(text), fault);

	if (result < 0)
		return result;
	*traffic = strtod(text, &end);
	if (end == text || *end != '\0' || !(*traffic > 0 && *traffic < 1000))
		return yaml_tree_refuse(node, fault, "expected flits/ns/switch, such as 0.015");
	return 0;
}

#define S struct experiment_choice
static const struct yaml_field choice_fields[] = {
	{"name", YAML_FIELD_TEXT, true, YAML_MEMBER(S, name)},
	{"set", YAML_FIELD_CUSTOM, .offset = 0, .size = sizeof(S), .read = read_sets},
	{"n", YAML_FIELD_NUMBER, YAML_MEMBER(S, copies), .min = 1, .max = EXPERIMENT_COPIES},
	{"load", YAML_FIELD_SHARE, YAML_MEMBER(S, load_ppm), .max = QUANTITY_WHOLE_PPM},
	{"traffic", YAML_FIELD_CUSTOM, YAML_MEMBER(S, traffic), .read = read_traffic},
	{NULL},
};
#undef S

/* Members of a sequence, each of 'size' bytes. */
struct rows {
	void *at;
	size_t size;
	unsigned count;
};

/* Reads each member into a row of zeroes. 0, or -errno and fault. The caller frees 'at'. */
static int read_rows(const struct yaml_tree_node *node, struct rows *rows,
	int (*read)(const struct yaml_tree_node *node, void *row, struct fault *fault),
	struct fault *fault)
{
	int result = yaml_tree_expect(node, YAML_TREE_SEQUENCE, fault);

	if (result < 0)
		return result;
	if (node->count == 0 || node->count > EXPERIMENT_LIST_MAX)
		return yaml_tree_refuse(
			node, fault, "expected 1 to %u of them", EXPERIMENT_LIST_MAX);
	rows->at = calloc(node->count, rows->size);
	if (rows->at == NULL)
		return fault_set(fault, ENOMEM, "%s: no memory", node->origin);
	for (const struct yaml_tree_node *row = node->first; row != NULL && result == 0;
		row = row->next)
		result = read(row, (char *)rows->at + rows->count++ * rows->size, fault);
	return result;
}

static int read_choice(const struct yaml_tree_node *node, void *row, struct fault *fault)
{
	struct experiment_choice *choice = row;

	choice->copies = 1;
	return yaml_fields_read(choice_fields, node, choice, fault);
}

static int read_choices(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	struct experiment_list *list = member;
	struct rows rows = {.size = sizeof(list->at[0])};
	int result = read_rows(node, &rows, read_choice, fault);

	list->at = rows.at;
	list->count = rows.count;
	return result;
}

#define S struct experiment_quick
static const struct yaml_field quick_fields[] = {
	{"networks", YAML_FIELD_TEXT, YAML_MEMBER(S, networks)},
	{"cases", YAML_FIELD_TEXT, YAML_MEMBER(S, cases)},
	{"algorithms", YAML_FIELD_TEXT, YAML_MEMBER(S, algorithms)},
	{"n", YAML_FIELD_NUMBER, YAML_MEMBER(S, copies), .min = 1, .max = EXPERIMENT_COPIES},
	{"loads", YAML_FIELD_NUMBER, YAML_MEMBER(S, loads), .min = 1, .max = LOADS_MAX},
	{"unit", YAML_FIELD_TIME, YAML_MEMBER(S, unit_ps), .min = PS_PER_US},
	{"warmup", YAML_FIELD_NUMBER, YAML_MEMBER(S, warmup_messages), .max = EXPERIMENT_MESSAGES},
	{"messages", YAML_FIELD_NUMBER, YAML_MEMBER(S, messages), .min = 1,
		.max = EXPERIMENT_MESSAGES},
	{"tolerance", YAML_FIELD_SHARE, YAML_MEMBER(S, tolerance_ppm)},
	{"set", YAML_FIELD_CUSTOM, YAML_MEMBER(S, also), .read = read_sets},
	{NULL},
};
#undef S

#define S struct experiment_schedule
static const struct yaml_field schedule_fields[] = {
	{"kind", YAML_FIELD_TEXT, true, YAML_MEMBER(S, kind)},
	{"ranks", YAML_FIELD_NUMBER, true, YAML_MEMBER(S, ranks), .min = 2, .max = GOAL_RANKS_MAX},
	{"rounds", YAML_FIELD_NUMBER, YAML_MEMBER(S, rounds), .min = 1, .max = EXPERIMENT_MESSAGES},
	{"bytes", YAML_FIELD_BYTES, true, YAML_MEMBER(S, bytes), .max = GOAL_BYTES_MAX},
	{"calc", YAML_FIELD_TIME, YAML_MEMBER(S, calc_ps)},
	{NULL},
};
#undef S

/* The format was checked before. */
static int skip(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	return 0;
}

#define S struct experiment
/* Also of a group, and of a result that cannot be run. */
#define FIELDS_OF_ALL                                                    \
	{"weft", YAML_FIELD_CUSTOM, .read = skip},                       \
		{"paper", YAML_FIELD_TEXT, true, YAML_MEMBER(S, paper)}, \
		{"place", YAML_FIELD_TEXT, true, YAML_MEMBER(S, place)}, \
	{                                                                \
		"title", YAML_FIELD_TEXT, true, YAML_MEMBER(S, title)    \
	}

static const struct yaml_field experiment_fields[] = {
	FIELDS_OF_ALL,
	{"time", YAML_FIELD_TEXT, true, YAML_MEMBER(S, time)},
	{"quick-time", YAML_FIELD_TEXT, YAML_MEMBER(S, quick_time)},
	{"measure", YAML_FIELD_CHOICE, true, YAML_MEMBER(S, measure), .choices = measures},
	{"axis", YAML_FIELD_CHOICE, YAML_MEMBER(S, axis), .choices = axes},
	{"latency", YAML_FIELD_BOOL, YAML_MEMBER(S, latency)},
	{"means", YAML_FIELD_BOOL, YAML_MEMBER(S, means)},
	{"curves", YAML_FIELD_BOOL, YAML_MEMBER(S, curves)},
	{"run", YAML_FIELD_TEXT, true, YAML_MEMBER(S, run_file)},
	{"published", YAML_FIELD_TEXT, true, YAML_MEMBER(S, published)},
	{"load", YAML_FIELD_SHARE, YAML_MEMBER(S, load_ppm), .min = 1, .max = QUANTITY_WHOLE_PPM},
	{"loads", YAML_FIELD_NUMBER, YAML_MEMBER(S, loads), .min = 1, .max = LOADS_MAX},
	{"unit", YAML_FIELD_TIME, YAML_MEMBER(S, unit_ps), .min = PS_PER_US},
	{"schedule", YAML_FIELD_SECTION, YAML_MEMBER(S, schedule), .fields = schedule_fields},
	{"tolerance", YAML_FIELD_SHARE, YAML_MEMBER(S, tolerance_ppm)},
	{"order", YAML_FIELD_SHARE, YAML_MEMBER(S, order_ppm)},
	{"warmup", YAML_FIELD_NUMBER, YAML_MEMBER(S, warmup_messages), .max = EXPERIMENT_MESSAGES},
	{"messages", YAML_FIELD_NUMBER, YAML_MEMBER(S, messages), .min = 1,
		.max = EXPERIMENT_MESSAGES},
	{"latency-limit", YAML_FIELD_TIME, YAML_MEMBER(S, latency_limit_ps)},
	{"networks", YAML_FIELD_CUSTOM, true, YAML_MEMBER(S, networks), .read = read_choices},
	{"cases", YAML_FIELD_CUSTOM, YAML_MEMBER(S, cases), .read = read_choices},
	{"algorithms", YAML_FIELD_CUSTOM, true, YAML_MEMBER(S, algorithms), .read = read_choices},
	{"quick", YAML_FIELD_SECTION, YAML_MEMBER(S, quick), .fields = quick_fields},
	{NULL},
};
#undef S

/* Of a result that is listed and cannot be run. */
#define S struct experiment
static const struct yaml_field missing_fields[] = {
	FIELDS_OF_ALL,
	{"missing", YAML_FIELD_TEXT, true, YAML_MEMBER(S, missing)},
	{NULL},
};
#undef S

static int read_member(const struct yaml_tree_node *node, void *row, struct fault *fault)
{
	return yaml_read_text(node, row, EXPERIMENT_NAME, fault);
}

static int read_members(const struct yaml_tree_node *node, void *member, struct fault *fault)
{
	struct experiment *experiment = member;
	struct rows rows = {.size = sizeof(experiment->member[0])};
	int result = read_rows(node, &rows, read_member, fault);

	experiment->member = rows.at;
	experiment->members = rows.count;
	return result;
}

/* Of a group of definitions. */
#define S struct experiment
static const struct yaml_field group_fields[] = {
	FIELDS_OF_ALL,
	{"time", YAML_FIELD_TEXT, true, YAML_MEMBER(S, time)},
	{"quick-time", YAML_FIELD_TEXT, YAML_MEMBER(S, quick_time)},
	{"members", YAML_FIELD_CUSTOM, true, .offset = 0, .size = sizeof(S), .read = read_members},
	{NULL},
};
#undef S

/* The thesis' methods (its section 4.6), and what fits a test. */
static const struct experiment defaults = {
	.load_ppm = 100000,
	.tolerance_ppm = 100000,
	.order_ppm = 20000,
	.warmup_messages = 200000,
	.messages = 200000,
	.loads = 10,
	.unit_ps = PS_PER_MS,
	.schedule = {.rounds = 1},
	.quick = {.copies = 2,
		.loads = 4,
		.unit_ps = PS_PER_MS,
		.warmup_messages = 20000,
		.messages = 20000,
		.tolerance_ppm = 400000},
};

/* A file beside the definition. */
static void beside(const char *definition, char path[PATH_MAX])
{
	char folder[PATH_MAX], name[PATH_MAX];

	if (path[0] == '/')
		return;
	snprintf(folder, sizeof(folder), "%s", definition);
	snprintf(name, sizeof(name), "%s", path);
	snprintf(path, PATH_MAX, "%.2000s/%.2000s", dirname(folder), name);
}

static void name_after(struct experiment *experiment, const char *path)
{
	char copy[PATH_MAX], *name, *end;

	snprintf(copy, sizeof(copy), "%s", path);
	name = basename(copy);
	end = strrchr(name, '.');
	if (end != NULL)
		*end = '\0';
	snprintf(experiment->name, sizeof(experiment->name), "%s", name);
	snprintf(experiment->origin, sizeof(experiment->origin), "%s", path);
}

/* Without a list of cases there is one without a name. */
static int one_case(struct experiment *experiment)
{
	if (experiment->cases.count > 0)
		return 0;
	experiment->cases.at = calloc(1, sizeof(experiment->cases.at[0]));
	if (experiment->cases.at == NULL)
		return -ENOMEM;
	experiment->cases.at[0].copies = 1;
	experiment->cases.count = 1;
	return 0;
}

/* No warm-up, unless the section names one, which is refused. */
static int expect_no_warmup(
	const struct yaml_tree_node *section, uint64_t *messages, struct fault *fault)
{
	const struct yaml_tree_node *warmup =
		section == NULL ? NULL : yaml_tree_get(section, "warmup");

	if (warmup != NULL && *messages > 0)
		return yaml_tree_refuse(warmup, fault,
			"expected 0: the measure 'settling' begins with the first message");
	*messages = 0;
	return 0;
}

static int settle_warmup(
	struct experiment *experiment, const struct yaml_tree_node *root, struct fault *fault)
{
	int result;

	if (experiment->measure != EXPERIMENT_SETTLING)
		return 0;
	result = expect_no_warmup(root, &experiment->warmup_messages, fault);
	return result < 0 ? result
			  : expect_no_warmup(yaml_tree_get(root, "quick"),
				    &experiment->quick.warmup_messages, fault);
}

static int read_root(
	struct experiment *experiment, const struct yaml_tree_node *root, struct fault *fault)
{
	int result = yaml_tree_expect_format(root, FORMAT, fault);

	if (result == 0 && yaml_tree_get(root, "missing") != NULL)
		return yaml_fields_read(missing_fields, root, experiment, fault);
	if (result == 0 && yaml_tree_get(root, "members") != NULL)
		return yaml_fields_read(group_fields, root, experiment, fault);
	if (result == 0)
		result = yaml_fields_read(experiment_fields, root, experiment, fault);
	if (result == 0)
		result = settle_warmup(experiment, root, fault);
	if (result == 0 && one_case(experiment) < 0)
		result = fault_set(fault, ENOMEM, "no memory");
	return result;
}

struct experiment *experiment_load(const char *path, struct fault *fault)
{
	struct yaml_tree *tree = yaml_tree_load(path, fault);
	struct experiment *experiment = tree == NULL ? NULL : malloc(sizeof(*experiment));
	int result;

	if (experiment == NULL) {
		yaml_tree_destroy(tree);
		return NULL;
	}
	*experiment = defaults;
	name_after(experiment, path);
	result = read_root(experiment, yaml_tree_root(tree), fault);
	yaml_tree_destroy(tree);
	if (result < 0) {
		experiment_destroy(experiment);
		errno = -result;
		return NULL;
	}
	experiment->defined_warmup = experiment->warmup_messages;
	experiment->defined_messages = experiment->messages;
	experiment->defined_latency_limit_ps = experiment->latency_limit_ps;
	beside(path, experiment->run_file);
	beside(path, experiment->published);
	return experiment;
}

void experiment_choice_fini(struct experiment_choice *choice)
{
	for (unsigned i = 0; i < choice->sets; i++)
		free(choice->set[i]);
}

static void list_fini(struct experiment_list *list)
{
	for (unsigned i = 0; i < list->count; i++)
		experiment_choice_fini(&list->at[i]);
	free(list->at);
}

void experiment_destroy(struct experiment *experiment)
{
	if (experiment == NULL)
		return;
	list_fini(&experiment->networks);
	list_fini(&experiment->cases);
	list_fini(&experiment->algorithms);
	experiment_choice_fini(&experiment->quick.also);
	free(experiment->member);
	free(experiment);
}
