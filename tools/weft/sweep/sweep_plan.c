/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END_MAX 16 /* room for ".json" and the like */

int sweep_plan_add(struct sweep_plan *plan, const char *text, struct fault *fault)
{
	struct sweep_vary *vary = &plan->vary[plan->varies];
	int result;

	if (plan->varies == SWEEP_KEYS_MAX)
		return fault_set(fault, EINVAL, "--vary: at most %u keys", SWEEP_KEYS_MAX);
	plan->varies++;
	result = sweep_vary_parse(vary, text, fault);
	for (unsigned i = 0; i + 1 < plan->varies && result == 0; i++)
		if (strcmp(plan->vary[i].key, vary->key) == 0)
			result = fault_set(fault, EINVAL,
				"--vary %s: that key is varied already; put all its values into "
				"one "
				"--vary",
				vary->key);
	return result;
}

int sweep_plan_add_names(struct sweep_plan *plan, const char *key, sweep_plan_name_fn *name,
	const void *ctx, struct fault *fault)
{
	struct sweep_vary *vary = &plan->vary[plan->varies];
	unsigned count = 0;

	if (plan->varies == SWEEP_KEYS_MAX)
		return fault_set(fault, EINVAL, "--vary: at most %u keys", SWEEP_KEYS_MAX);
	while (name(ctx, count) != NULL)
		count++;
	plan->varies++;
	*vary = (struct sweep_vary){
		.key = strdup(key), .value = calloc(count + 1, sizeof(*vary->value))};
	for (unsigned i = 0; i < count && vary->value != NULL; i++) {
		vary->value[i] = strdup(name(ctx, i));
		if (vary->value[i] == NULL)
			break;
		vary->count++;
	}
	return vary->key == NULL || vary->count < count
		       ? fault_set(fault, ENOMEM, "sweep: no memory")
		       : 0;
}

int sweep_plan_finish(struct sweep_plan *plan, struct fault *fault)
{
	uint64_t points = plan->seeds > 0 ? plan->seeds : 1;

	for (unsigned i = 0; i < plan->varies; i++) {
		if (strcmp(plan->vary[i].key, "seed") == 0)
			return fault_set(fault, EINVAL, "--vary seed: expected --seeds LO:HI");
		points *= plan->vary[i].count;
		if (points > SWEEP_POINTS_MAX)
			return fault_set(fault, EINVAL, "more than %u points are too many",
				SWEEP_POINTS_MAX);
	}
	plan->points = (unsigned)points;
	return 0;
}

void sweep_plan_fini(struct sweep_plan *plan)
{
	for (unsigned i = 0; i < plan->varies; i++)
		sweep_vary_fini(&plan->vary[i]);
	plan->varies = 0;
}

unsigned sweep_plan_repeats(const struct sweep_plan *plan)
{
	return plan->seeds > 0 ? plan->seeds : 1;
}

const char *sweep_plan_value(const struct sweep_plan *plan, unsigned point, unsigned key)
{
	unsigned index = point / sweep_plan_repeats(plan);

	for (unsigned i = plan->varies; i-- > key + 1;)
		index /= plan->vary[i].count;
	return plan->vary[key].value[index % plan->vary[key].count];
}

uint64_t sweep_plan_seed(const struct sweep_plan *plan, unsigned point)
{
	return plan->first_seed + point % sweep_plan_repeats(plan);
}

bool sweep_plan_number_name(const struct sweep_plan *plan, unsigned key, char *out, size_t size)
{
	const struct sweep_vary *vary = &plan->vary[key];
	struct sweep_number first = {SWEEP_NUMBER_NONE, 0}, number;

	for (unsigned i = 0; i < vary->count; i++) {
		if (!sweep_number_parse(vary->value[i], &number))
			return false;
		if (i == 0)
			first = number;
		if (number.kind != first.kind)
			return false;
	}
	snprintf(out, size, "%s%s", vary->key, sweep_number_suffix(first.kind));
	return first.kind != SWEEP_NUMBER_NONE;
}

static const char *last_part(const char *key)
{
	const char *point = strrchr(key, '.');

	return point != NULL ? point + 1 : key;
}

const char *sweep_plan_short_key(const struct sweep_plan *plan, unsigned key)
{
	const char *part = last_part(plan->vary[key].key);

	for (unsigned i = 0; i < plan->varies; i++)
		if (i != key && strcmp(last_part(plan->vary[i].key), part) == 0)
			return plan->vary[key].key;
	return part;
}

/* Appends to a text, truncated at the end. */
static void append(char *out, size_t size, const char *between, const char *key, const char *value)
{
	size_t length = strlen(out);

	snprintf(out + length, size - length, "%s%s=%s", length > 0 ? between : "", key, value);
}

static void describe(
	const struct sweep_plan *plan, unsigned point, const char *between, char *out, size_t size)
{
	char seed[24];

	for (unsigned i = 0; i < plan->varies; i++)
		append(out, size, between, sweep_plan_short_key(plan, i),
			sweep_plan_value(plan, point, i));
	snprintf(
		seed, sizeof(seed), "%" PRIu64, plan->seeds > 0 ? sweep_plan_seed(plan, point) : 0);
	if (plan->seeds > 0)
		append(out, size, between, "seed", seed);
}

void sweep_plan_label(const struct sweep_plan *plan, unsigned point, char out[SWEEP_LABEL_MAX])
{
	out[0] = '\0';
	describe(plan, point, ", ", out, SWEEP_LABEL_MAX);
	if (out[0] == '\0')
		strcpy(out, "the run file as it is");
}

void sweep_plan_name(const struct sweep_plan *plan, unsigned point, char out[SWEEP_NAME_MAX])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._%+=-";
	int digits = snprintf(NULL, 0, "%u", plan->points - 1);
	size_t start = (size_t)snprintf(out, SWEEP_NAME_MAX, "%0*u_", digits, point);

	out[start] = '\0';
	describe(plan, point, "_", out + start, SWEEP_NAME_MAX - END_MAX - start);
	if (out[start] == '\0')
		strcpy(out + start, "run");
	for (char *at = out + start; *at != '\0'; at++)
		if (strchr(plain, *at) == NULL)
			*at = '-';
}
