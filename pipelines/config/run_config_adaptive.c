/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Checks the keys of adaptive routing and congestion for contradictions. */

#include "run_config_private.h"

#include "adaptive_routing.h"
#include "frame.h"
#include "route_algorithm.h"

bool run_config_is_adaptive(const struct run_config *config)
{
	return config->routing.adaptive != &adaptive_none;
}

static int check_detector(
	const struct run_config *config, const struct yaml_tree_node *root, struct fault *fault)
{
	int result = 0;

	if (result == 0 && config->detector.lcdth_ppm >= config->detector.hcdth_ppm)
		result = yaml_tree_refuse(run_config_nearest(root, "detector", "lcdth"), fault,
			"detector.lcdth: expected less than detector.hcdth");
	if (result == 0 && config->detector.arn_ttl_ps <= config->detector.arn_refresh_ps)
		result = yaml_tree_refuse(run_config_nearest(root, "detector", "arn-ttl"), fault,
			"detector.arn-ttl: expected longer than detector.arn-refresh, or what is "
			"known goes before it is told again");
	return result;
}

/* Rejects settings that adaptive routing cannot work with. */
static int check_needs(
	const struct run_config *config, const struct yaml_tree_node *root, struct fault *fault)
{
	const char *name = config->routing.adaptive->name;

	if (config->routing.mode == RUN_ROUTING_SOURCE)
		return yaml_tree_refuse(run_config_nearest(root, "routing", "mode"), fault,
			"routing.mode: source routes leave the switches nothing to choose: "
			"expected 'table' with 'adaptive: %s'",
			name);
	if (config->routing.algorithm->vc_classes)
		return yaml_tree_refuse(run_config_nearest(root, "routing", "algorithm"), fault,
			"routing.algorithm: %s's VC classes count on its own ways: expected "
			"another one with 'adaptive: %s'",
			config->routing.algorithm->name, name);
	if (config->routing.adaptive->notified && !config->sw.voq)
		return yaml_tree_refuse(run_config_nearest(root, "switch", "voq"), fault,
			"switch.voq: the detector looks at VOQs: expected 'true' with 'adaptive: "
			"%s'",
			name);
	return 0;
}

static int check_afi(
	const struct run_config *config, const struct yaml_tree_node *root, struct fault *fault)
{
	if (!run_config_is_adaptive(config))
		return yaml_tree_refuse(run_config_nearest(root, "routing", "afi"), fault,
			"routing.afi: there is nothing to isolate: expected an 'adaptive' other "
			"than 'none' with it");
	if (run_config_vcs(config) > FRAME_VCS_MAX)
		return yaml_tree_refuse(run_config_nearest(root, "switch", "vcs"), fault,
			"switch.vcs: with the adapted-flow channel of routing.afi there would be "
			"%u: expected at most %u",
			run_config_vcs(config), FRAME_VCS_MAX - 1);
	return 0;
}

int run_config_check_adaptive(
	const struct run_config *config, const struct yaml_tree_node *root, struct fault *fault)
{
	int result = check_detector(config, root, fault);

	if (result == 0 && run_config_is_adaptive(config))
		result = check_needs(config, root, fault);
	if (result == 0 && config->routing.afi)
		result = check_afi(config, root, fault);
	return result;
}
