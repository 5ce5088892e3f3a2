/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "vc_rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vc_ladder.h"

struct vc_rule *vc_rule_create(uint32_t switches, uint8_t classes)
{
	struct vc_rule *rule = calloc(1, sizeof(*rule));
	size_t ports = (size_t)switches * VC_RULE_PORTS;

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
	copy->steps = rule->steps;
	memcpy(copy->ring, rule->ring, (size_t)rule->switches * VC_RULE_PORTS);
	memcpy(copy->dateline, rule->dateline, rule->switches * sizeof(*rule->dateline));
	return copy;
}

bool vc_rule_equal(const struct vc_rule *a, const struct vc_rule *b)
{
	return a->switches == b->switches && a->classes == b->classes && a->steps == b->steps &&
	       memcmp(a->ring, b->ring, (size_t)a->switches * VC_RULE_PORTS) == 0 &&
	       memcmp(a->dateline, b->dateline, a->switches * sizeof(*a->dateline)) == 0;
}

static unsigned steps_of(const struct vc_rule *rule)
{
	return rule->steps == VC_STEPS_HALVES || rule->steps == VC_STEPS_UGAL ? 2 : 3;
}

static const char *const steps_name[VC_STEPS_COUNT] = {
	[VC_STEPS_LINKS] = "links",
	[VC_STEPS_EQUAL] = "equal",
	[VC_STEPS_HALVES] = "halves",
	[VC_STEPS_LAYERS] = "layers",
};

bool vc_steps_fit(unsigned steps, unsigned classes)
{
	if (steps == VC_STEPS_LAYERS || steps == VC_STEPS_OMNI_WAR || steps == VC_STEPS_DAL)
		return classes >= 1;
	if (steps == VC_STEPS_HALVES || steps == VC_STEPS_UGAL)
		return classes >= 2 && classes % 2 == 0;
	if (vc_steps_is_ladder(steps))
		return classes == vc_ladder_classes(vc_ladder_find(steps));
	if (steps == VC_STEPS_LINKS)
		return classes >= 3;
	if (steps == VC_STEPS_EQUAL)
		return classes >= 3 && classes % 3 == 0;
	return steps == VC_STEPS_NONE;
}

const char *vc_steps_name(unsigned steps)
{
	return steps < VC_STEPS_COUNT ? steps_name[steps] : NULL;
}

unsigned vc_steps_find(const char *name)
{
	for (unsigned i = 0; i < VC_STEPS_COUNT; i++)
		if (steps_name[i] != NULL && strcmp(steps_name[i], name) == 0)
			return i;
	return VC_STEPS_COUNT;
}

static unsigned first_of_step(const struct vc_rule *rule, unsigned step)
{
	if (rule->steps != VC_STEPS_LINKS)
		return step * (rule->classes / steps_of(rule));
	return step < steps_of(rule) - 1 ? step : rule->classes - 1u;
}

static unsigned classes_of_step(const struct vc_rule *rule, unsigned step)
{
	if (rule->steps != VC_STEPS_LINKS)
		return rule->classes / steps_of(rule);
	return step == 1 ? rule->classes - 2u : 1;
}

static unsigned step_of(const struct vc_rule *rule, unsigned class)
{
	unsigned step = steps_of(rule) - 1;

	while (step > 0 && class < first_of_step(rule, step))
		step--;
	return step;
}

uint8_t vc_rule_next_of_steps(const struct vc_rule *rule, uint32_t at, unsigned input, uint8_t from,
	unsigned output, enum vc_turn turn)
{
	uint8_t entered = vc_rule_ring(rule, at, input);
	unsigned step, class = 0, last;

	if (rule->steps == VC_STEPS_LAYERS) {
		class = entered == VC_RULE_NO_RING ? (unsigned)turn : from;
		return (uint8_t)(class < rule->classes ? class : rule->classes - 1u);
	}
	if (vc_steps_is_ladder(rule->steps) && rule->steps != VC_STEPS_UGAL)
		return vc_ladder_next(
			rule, vc_ladder_find(rule->steps), at, input, from, output, turn);
	if (entered == VC_RULE_NO_RING)
		step = rule->steps == VC_STEPS_LINKS && turn == VC_GO_ON;
	else
		step = step_of(rule, from);
	if (turn == VC_NEXT_STEP && step < steps_of(rule) - 1)
		step++;
	else if (entered == vc_rule_ring(rule, at, output))
		class = from - first_of_step(rule, step);
	class += rule->dateline[at] >> output & 1;
	last = classes_of_step(rule, step) - 1;
	return (uint8_t)(first_of_step(rule, step) + (class < last ? class : last));
}
