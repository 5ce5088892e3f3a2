/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Configuration keys for congestion control at the source: nic.control, iba-cc, dcqcn, drb, pr-drb.
 */

#include <stdlib.h>
#include <string.h>

#include "nic/selectors/route_choice.h"
#include "route/route_algorithm.h"
#include "run_config_fields.h"

#define TABLE_TEXT      (12 * CC_TABLE_ENTRIES)
#define SMOOTHING_MAX   1000
#define ENTRIES_MAX     65536
#define CC_INDEX_MAX    (CC_TABLE_ENTRIES - 1)
#define MULTIPLIER_BITS 14

const char *const run_control_choices[] = {SOURCE_CONTROLS(WORD_TEXT) NULL};

/* Parses "3:5" or "5". Sets '*rest' to the end of the entry. */
static bool parse_entry(const char *text, char **rest, struct cc_table *table)
{
	unsigned long first = strtoul(text, rest, 10), second;

	if (*rest == text || *text < '0' || *text > '9')
		return false;
	if (**rest != ':')
		return cc_table_add(table, 0, (unsigned)(first <= UINT16_MAX ? first : UINT16_MAX));
	text = *rest + 1;
	if (*text < '0' || *text > '9')
		return false;
	second = strtoul(text, rest, 10);
	return first <= CC_TABLE_SHIFT_MAX && second <= CC_TABLE_MULTIPLIER_MAX &&
	       cc_table_add(table, (unsigned)first, (unsigned)second);
}

/* Parses entries separated by spaces or commas. */
static bool parse_table(const char *text, struct cc_table *table)
{
	char *rest;

	table->count = 0;
	while (*text != '\0') {
		if (*text == ' ' || *text == ',') {
			text++;
			continue;
		}
		if (!parse_entry(text, &rest, table))
			return false;
		text = rest;
	}
	return table->count > 0;
}

static int read_table(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_iba_cc *iba = member;
	char text[TABLE_TEXT];
	int result = yaml_read_text(node, text, sizeof(text), error);

	if (result < 0)
		return result;
	if (strcmp(text, "linear") == 0)
		iba->table_kind = CC_TABLE_LINEAR;
	else if (strcmp(text, "llnl") == 0)
		iba->table_kind = CC_TABLE_LLNL;
	else if (parse_table(text, &iba->table))
		iba->table_kind = CC_TABLE_LIST;
	else
		return yaml_tree_refuse(node, error,
			"'%s': expected linear, llnl, or up to %d entries SHIFT:MULTIPLIER (up "
			"to %d and %d), such as '3:0 3:1 2:5'",
			node->key, CC_TABLE_ENTRIES, CC_TABLE_SHIFT_MAX, CC_TABLE_MULTIPLIER_MAX);
	return 0;
}

static void write_table(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_iba_cc *iba = member;

	if (iba->table_kind != CC_TABLE_LIST) {
		fputs(iba->table_kind == CC_TABLE_LLNL ? " llnl" : " linear", out);
		return;
	}
	fputs(" '", out);
	for (unsigned i = 0; i < iba->table.count; i++)
		fprintf(out, "%s%u:%u", i > 0 ? " " : "", iba->table.entry[i] >> MULTIPLIER_BITS,
			iba->table.entry[i] & CC_TABLE_MULTIPLIER_MAX);
	fputs("'", out);
}

#define S struct run_config_iba_cc
const struct yaml_field run_iba_cc_fields[] = {
	{"timer", YAML_FIELD_TIME, YAML_MEMBER(S, timer_ps), .min = PS_PER_US, .max = PS_PER_S,
		.doc = "Interval at which each index falls by one."},
	{"increase", YAML_FIELD_NUMBER, YAML_MEMBER(S, increase), .max = CC_INDEX_MAX,
		.doc = "How much a notification raises the index of a flow."},
	{"min", YAML_FIELD_NUMBER, YAML_MEMBER(S, min), .max = CC_INDEX_MAX,
		.doc = "Minimum of the index."},
	{"limit", YAML_FIELD_NUMBER, YAML_MEMBER(S, limit), .max = CC_INDEX_MAX,
		.doc = "Maximum of the index."},
	{"table", YAML_FIELD_CUSTOM, .offset = 0, .size = sizeof(S), .read = read_table,
		.write = write_table, .form = "<text>",
		.doc = "Pause after a packet, depending on the index: `linear`, `llnl`, or up to 128 entries `SHIFT:MULTIPLIER`."},
	{"per", YAML_FIELD_CHOICE, YAML_MEMBER(S, per), .choices = YAML_CHOICES(RUN_CC_PERS),
		.doc = "Whether a flow is a destination or the whole host."},
	{"opensm", YAML_FIELD_CUSTOM, YAML_MEMBER(S, opensm), .read = run_read_path,
		.present = run_present_never, .form = "<path>",
		.doc = "An OpenSM options file whose congestion control settings are used."},
	{NULL},
};
#undef S

#define RATE(key, member, text)                                                   \
	{                                                                         \
		key, YAML_FIELD_RATE, YAML_MEMBER(S, member),                     \
			.min = 1000000, .max = TOPOLOGY_RATE_MAX_BPS, .doc = text \
	}

#define S struct run_config_dcqcn
const struct yaml_field run_dcqcn_fields[] = {
	{"cnp-gap", YAML_FIELD_TIME, YAML_MEMBER(S, cnp_gap_ps), .max = PS_PER_S,
		.doc = "Minimum time between two notifications of a receiver to the same source."},
	{"alpha-timer", YAML_FIELD_TIME, YAML_MEMBER(S, alpha_timer_ps), .min = PS_PER_US,
		.max = PS_PER_S,
		.doc = "Time without a notification after which the estimate of congestion decays."},
	{"gain", YAML_FIELD_NUMBER, YAML_MEMBER(S, gain), .min = 2, .max = 65536,
		.doc = "Each update moves the estimate by 1/`gain`. `gain` is 1/g of the paper."},
	{"rate-timer", YAML_FIELD_TIME, YAML_MEMBER(S, rate_timer_ps), .min = PS_PER_US,
		.max = PS_PER_S, .doc = "Interval after which the rate rises by one step."},
	{"rate-bytes", YAML_FIELD_BYTES, YAML_MEMBER(S, rate_bytes), .min = 1024,
		.max = (uint64_t)1 << 32,
		.doc = "Bytes of a flow after which its rate also rises by one step."},
	{"fast-steps", YAML_FIELD_NUMBER, YAML_MEMBER(S, fast), .max = 1000,
		.doc = "Steps that return to the former rate before the rate rises further."},
	RATE("additive", additive_bps, "Later steps raise the target rate by this much."),
	RATE("hyper", hyper_bps,
		"The increase once both timer and bytes have passed `fast-steps`, multiplied by the steps since then."),
	RATE("min", min_bps, "Minimum rate of a flow."),
	{NULL},
};
#undef S
#undef RATE

#define S struct run_config_drb
const struct yaml_field run_drb_fields[] = {
	{"high", YAML_FIELD_CUSTOM, YAML_MEMBER(S, high), .read = run_read_factor,
		.write = run_write_factor, .form = "<factor>",
		.doc = "Latency above which a pair opens a path, as a multiple of the latency without load."},
	{"low", YAML_FIELD_CUSTOM, YAML_MEMBER(S, low), .read = run_read_factor,
		.write = run_write_factor, .form = "<factor>",
		.doc = "Latency below which a pair closes a path."},
	{"open-gap", YAML_FIELD_TIME, YAML_MEMBER(S, open_gap_ps), .max = PS_PER_S,
		.doc = "Minimum time since the last opening before a pair opens another path."},
	{"close-gap", YAML_FIELD_TIME, YAML_MEMBER(S, close_gap_ps), .max = PS_PER_S,
		.doc = "Minimum time since the last change before a pair closes a path."},
	{"idle", YAML_FIELD_TIME, YAML_MEMBER(S, idle_ps), .max = PS_PER_S,
		.doc = "Closes the paths of pairs without notifications for this time. 0s switches it off."},
	{"ack", YAML_FIELD_CHOICE, YAML_MEMBER(S, ack), .choices = YAML_CHOICES(RUN_DRB_ACKS),
		.doc = "Whether each frame or the last one of a message is acknowledged."},
	{"ack-threshold", YAML_FIELD_TIME, YAML_MEMBER(S, ack_threshold_ps), .max = PS_PER_S,
		.doc = "Shorter waits are not reported."},
	{"smoothing", YAML_FIELD_NUMBER, YAML_MEMBER(S, smoothing), .min = 1, .max = SMOOTHING_MAX,
		.doc = "Each new value has weight 1/`smoothing` in the moving average."},
	{"measure", YAML_FIELD_CHOICE, YAML_MEMBER(S, measure),
		.choices = YAML_CHOICES(RUN_DRB_MEASURES),
		.doc = "Whether the latency of the metapath or the mean over a message counts."},
	{"new-path", YAML_FIELD_CHOICE, YAML_MEMBER(S, new_path),
		.choices = YAML_CHOICES(RUN_DRB_NEW_PATHS),
		.doc = "Whether a new path starts with the latency of the others or without load."},
	{NULL},
};
#undef S

#define S struct run_config_pr_drb
const struct yaml_field run_pr_drb_fields[] = {
	{"similarity", YAML_FIELD_SHARE, YAML_MEMBER(S, similarity_ppm), .max = QUANTITY_WHOLE_PPM,
		.doc = "Share of the flows that must agree for a stored solution to match."},
	{"similarity-of", YAML_FIELD_CHOICE, YAML_MEMBER(S, similarity_of),
		.choices = YAML_CHOICES(RUN_SIMILARITIES),
		.doc = "The flows that this share refers to: those seen, or the union of both sets."},
	{"entries", YAML_FIELD_NUMBER, YAML_MEMBER(S, entries), .min = 1, .max = ENTRIES_MAX,
		.doc = "Maximum number of stored solutions. The solution unused for the longest time is replaced."},
	{"save", YAML_FIELD_CHOICE, YAML_MEMBER(S, save), .choices = YAML_CHOICES(RUN_PR_DRB_SAVES),
		.doc = "When solutions are stored: once stable, or only in the low zone."},
	{"improve", YAML_FIELD_BOOL, YAML_MEMBER(S, improve),
		.doc = "Whether an applied solution may be changed."},
	{NULL},
};
#undef S

static bool spreads(const struct run_config *config)
{
	return config->nic.control >= SOURCE_CONTROL_DRB_CN;
}

static bool learns_by_marks(const struct run_config *config)
{
	return config->nic.control == SOURCE_CONTROL_IBA_CC ||
	       config->nic.control == SOURCE_CONTROL_DCQCN ||
	       config->nic.control == SOURCE_CONTROL_DRB_CN;
}

/* Returns true if the selector is not the algorithm's default, which also works with one route. */
static bool selects(const struct run_config *config)
{
	const char *own = config->routing.algorithm->selector;

	return !config->nic.selector->fixed &&
	       (own == NULL || strcmp(own, config->nic.selector->name) != 0);
}

bool run_config_chooses_routes(const struct run_config *config)
{
	return config->routing.mode == RUN_ROUTING_SOURCE && (spreads(config) || selects(config));
}

const char *run_config_chooser(const struct run_config *config)
{
	return spreads(config) ? run_control_choices[config->nic.control]
			       : config->nic.selector->name;
}

int run_config_check_control(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	const struct yaml_tree_node *control = run_config_nearest(root, "nic", "control");
	const char *name = run_control_choices[config->nic.control];

	if (config->nic.drb.low > config->nic.drb.high)
		return yaml_tree_refuse(run_config_nearest(root, "nic", "drb"), error,
			"nic.drb.low must be at most nic.drb.high");
	if (config->nic.iba_cc.min > config->nic.iba_cc.limit)
		return yaml_tree_refuse(run_config_nearest(root, "nic", "iba-cc"), error,
			"nic.iba-cc.min must be at most nic.iba-cc.limit");
	if (learns_by_marks(config) && !run_config_marks(config))
		return yaml_tree_refuse(control, error,
			"nic.control: %s reacts to marks; set switch.fecn to 1 to 15, or set "
			"switch.ecn.kmax",
			name);
	if (config->sw.ecn.kmin_bytes > config->sw.ecn.kmax_bytes)
		return yaml_tree_refuse(run_config_nearest(root, "switch", "ecn"), error,
			"switch.ecn.kmin must be at most switch.ecn.kmax");
	if (spreads(config) && config->routing.mode != RUN_ROUTING_SOURCE)
		return yaml_tree_refuse(control, error,
			"nic.control: %s opens source routes, so it requires 'routing.mode: "
			"source'",
			name);
	if (spreads(config) && config->routing.file == NULL && config->routing.others == 0 &&
		config->routing.alternatives == 1)
		return yaml_tree_refuse(control, error,
			"nic.control: %s has nothing to choose from, because routing.algorithm "
			"%s has one route per pair; set routing.alternatives to 2 or more, or "
			"use another algorithm such as msp or disjoint",
			name, config->routing.algorithm->name);
	return 0;
}
