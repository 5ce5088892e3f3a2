/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The route sets of a run file, and the choice between them. */

#include <string.h>

#include "queuing/vc_ladder.h"
#include "route/route_algorithm.h"
#include "run_config_fields.h"
#include "switch/adaptive_routing.h"
#include "wire/frame.h"

void run_routing_name(const struct run_config_routing *routing, char out[RUN_ROUTING_NAME])
{
	int used = snprintf(out, RUN_ROUTING_NAME, "%s", routing->algorithm->name);

	for (uint32_t i = 0; i < routing->others; i++)
		used += snprintf(out + used, RUN_ROUTING_NAME - (size_t)used, "+%s",
			routing->other[i]->name);
}

const char *run_routing_origin(
	const struct run_config_routing *routing, char out[RUN_ROUTING_ORIGIN])
{
	char name[RUN_ROUTING_NAME];

	run_routing_name(routing, name);
	if (routing->file != NULL)
		snprintf(out, RUN_ROUTING_ORIGIN, "routing.file");
	else
		snprintf(out, RUN_ROUTING_ORIGIN, "routing.algorithm %s", name);
	return out;
}

/* Reads "ud" or "ud+ud-itb". Each part is parsed as a word, with the position of the whole text. */
int run_read_algorithms(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_routing *routing = member;
	char text[RUN_ROUTING_NAME];
	int result = yaml_read_text(node, text, sizeof(text), error);
	char *rest = text;

	for (uint32_t i = 0; result == 0 && rest != NULL; i++) {
		struct yaml_tree_node part = *node;
		const void *algorithm;

		part.text = strsep(&rest, "+");
		if (i > RUN_ALGORITHMS_MORE)
			return yaml_tree_refuse(node, error,
				"routing.algorithm must name at most %u algorithms",
				RUN_ALGORITHMS_MORE + 1);
		result = yaml_read_word(&part, &route_algorithms, &algorithm, error);
		if (result == 0 && i == 0)
			routing->algorithm = algorithm;
		else if (result == 0)
			routing->other[i - 1] = algorithm;
		if (result == 0)
			routing->others = i;
	}
	return result;
}

bool run_algorithms_present(const void *member)
{
	return ((const struct run_config_routing *)member)->file == NULL;
}

void run_write_algorithms(const void *member, FILE *out, unsigned indent)
{
	char text[RUN_ROUTING_NAME];

	run_routing_name(member, text);
	fprintf(out, " %s", text);
}

#define S struct run_config_selection
const struct yaml_field run_selection_fields[] = {
	{"forget", YAML_FIELD_CUSTOM, YAML_MEMBER(S, forget), .read = run_read_factor,
		.write = run_write_factor, .form = "<factor>",
		.doc = "How much the coefficients of other routes decrease with each message."},
	{"k", YAML_FIELD_CUSTOM, YAML_MEMBER(S, k), .read = run_read_factor,
		.write = run_write_factor, .form = "<factor>",
		.doc = "Threshold of the first set, above 1."},
	{"k2", YAML_FIELD_CUSTOM, YAML_MEMBER(S, k2), .read = run_read_factor,
		.write = run_write_factor, .form = "<factor>",
		.doc = "Threshold of the second set, above 1."},
	{"short", YAML_FIELD_BYTES, YAML_MEMBER(S, short_bytes), .max = RUN_MESSAGE_MAX,
		.doc = "Messages up to this length are short."},
	{"first-set", YAML_FIELD_SHARE, YAML_MEMBER(S, first_set_ppm), .max = QUANTITY_WHOLE_PPM,
		.doc = "Share of the messages that `fraction` sends over the first set."},
	{NULL},
};
#undef S

/* Checks for contradictions among the keys of adaptive routing and congestion control. */

bool run_config_is_adaptive(const struct run_config *config)
{
	return config->routing.adaptive != &adaptive_none;
}

const struct vc_ladder *run_config_ladder(const struct run_config *config)
{
	const struct route_algorithm *algorithm = config->routing.file == NULL
							  ? config->routing.algorithm
							  : config->routing.file_algorithm;
	const struct vc_ladder *ladder =
		algorithm == NULL ? NULL : vc_ladder_find(algorithm->ladder);

	return ladder != NULL && ladder->choice != VC_LADDER_NEVER ? ladder : NULL;
}

bool run_config_needs_oracle(const struct run_config *config)
{
	const struct vc_ladder *ladder = run_config_ladder(config);

	return ladder != NULL && ladder->choice == VC_LADDER_ORACLE;
}

static int check_detector(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	int result = 0;

	if (result == 0 && config->detector.lcdth_ppm >= config->detector.hcdth_ppm)
		result = yaml_tree_refuse(run_config_nearest(root, "detector", "lcdth"), error,
			"detector.lcdth must be less than detector.hcdth");
	if (result == 0 && config->detector.arn_ttl_ps <= config->detector.arn_refresh_ps)
		result = yaml_tree_refuse(run_config_nearest(root, "detector", "arn-ttl"), error,
			"detector.arn-ttl must be longer than detector.arn-refresh, or entries "
			"would expire before they are refreshed");
	return result;
}

/* Refuses settings that adaptive routing does not work with. */
static int check_needs(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	const char *name = config->routing.adaptive->name;

	if (config->routing.mode == RUN_ROUTING_SOURCE)
		return yaml_tree_refuse(run_config_nearest(root, "routing", "mode"), error,
			"routing.mode: must be 'table' with 'adaptive: %s', because source "
			"routes leave switches no choice",
			name);
	if (config->routing.algorithm->vc_classes)
		return yaml_tree_refuse(run_config_nearest(root, "routing", "algorithm"), error,
			"routing.algorithm: %s's VC classes only work with its own paths; use a "
			"different algorithm with 'adaptive: %s'",
			config->routing.algorithm->name, name);
	if (config->routing.adaptive->notified && !config->sw.voq)
		return yaml_tree_refuse(run_config_nearest(root, "switch", "voq"), error,
			"switch.voq: must be 'true' with 'adaptive: %s', because the detector "
			"uses VOQs",
			name);
	return 0;
}

static int check_afi(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	if (!run_config_is_adaptive(config))
		return yaml_tree_refuse(run_config_nearest(root, "routing", "afi"), error,
			"routing.afi requires adaptive routing; set 'adaptive' to a value other "
			"than 'none'");
	if (run_config_vcs(config) > FRAME_VCS_MAX)
		return yaml_tree_refuse(run_config_nearest(root, "switch", "vcs"), error,
			"switch.vcs: with the adapted-flow channel of routing.afi there would be "
			"%u VCs; set at most %u",
			run_config_vcs(config), FRAME_VCS_MAX - 1);
	return 0;
}

int run_config_check_adaptive(
	const struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	int result = check_detector(config, root, error);

	if (result == 0 && run_config_is_adaptive(config))
		result = check_needs(config, root, error);
	if (result == 0 && config->routing.afi)
		result = check_afi(config, root, error);
	return result;
}
