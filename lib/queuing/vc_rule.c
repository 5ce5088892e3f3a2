/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "vc_rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct vc_rule *vc_rule_create(uint32_t switches, uint8_t classes)
{
	struct vc_rule *rule = calloc(1, sizeof(*rule));
	size_t ports = (size_t)switches * TOPOLOGY_PORTS_MAX;

	if (rule == NULL)
		return NULL;
	rule->switches = switches;
	rule->classes = classes;
	rule->ring = malloc(ports + 1);
	rule->dateline = calloc(switches + 1u, sizeof(*rule->dateline));
	if (rule->ring == NULL || rule->dateline == NULL) {
		vc_rule_destroy(rule);
		errno = ENOMEM;
		return NULL;
	}
	memset(rule->ring, VC_RULE_NO_RING, ports);
	return rule;
}

void vc_rule_destroy(struct vc_rule *rule)
{
	if (rule == NULL)
		return;
	free(rule->ring);
	free(rule->dateline);
	free(rule);
}

struct vc_rule *vc_rule_copy(const struct vc_rule *rule)
{
	struct vc_rule *copy = vc_rule_create(rule->switches, rule->classes);

	if (copy == NULL)
		return NULL;
	memcpy(copy->ring, rule->ring, (size_t)rule->switches * TOPOLOGY_PORTS_MAX);
	memcpy(copy->dateline, rule->dateline, rule->switches * sizeof(*rule->dateline));
	return copy;
}

bool vc_rule_equal(const struct vc_rule *a, const struct vc_rule *b)
{
	return a->switches == b->switches && a->classes == b->classes &&
	       memcmp(a->ring, b->ring, (size_t)a->switches * TOPOLOGY_PORTS_MAX) == 0 &&
	       memcmp(a->dateline, b->dateline, a->switches * sizeof(*a->dateline)) == 0;
}
