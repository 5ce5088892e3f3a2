/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_algorithm.h"

#include <stdio.h>
#include <string.h>

int route_merge_find(
	const char *names, const struct route_algorithm *algorithms[ROUTE_MERGE_MAX], char *unknown)
{
	int count = 0;

	for (const char *name = names; name != NULL; count++) {
		const char *plus = strchr(name, '+');
		int length = plus == NULL ? (int)strlen(name) : (int)(plus - name);

		if (count == ROUTE_MERGE_MAX)
			return -E2BIG;
		snprintf(unknown, ROUTE_LABEL_MAX, "%.*s", length, name);
		algorithms[count] = route_algorithm_find(unknown);
		if (algorithms[count] == NULL)
			return -ENOENT;
		name = plus == NULL ? NULL : plus + 1;
	}
	return count;
}

/* Returns the index of a route among the pair's routes, or their count if it is absent. */
static unsigned find_route(const struct route_set *set, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length)
{
	const uint8_t *other;
	unsigned other_length, i;

	for (i = 0; (other = route_set_get(set, source, destination, i, &other_length)) != NULL;
		i++)
		if (other_length == length && memcmp(other, route, length) == 0)
			break;
	return i;
}

static int merge_pair(struct route_set *set, const struct route_set *more, unsigned part,
	uint32_t source, uint32_t destination)
{
	const uint8_t *route;
	unsigned length;
	int result = 0;

	for (unsigned i = 0; result == 0 &&
			     (route = route_set_get(more, source, destination, i, &length)) != NULL;
		i++) {
		unsigned at = find_route(set, source, destination, route, length);

		if (at == route_set_count(set, source, destination))
			result = route_set_add(set, source, destination, route, length);
		if (result == 0)
			result = route_set_mark_parts(
				set, source, destination, at, (uint8_t)(1u << part));
	}
	return result;
}

static int merge_rule(struct route_set *set, const struct route_set *more)
{
	const struct vc_rule *own = route_set_vc_rule(set), *other = route_set_vc_rule(more);
	struct vc_rule *copy;

	if (other == NULL || own != NULL)
		return other == NULL || vc_rule_equal(own, other) ? 0 : -EINVAL;
	copy = vc_rule_copy(other);
	if (copy == NULL)
		return -ENOMEM;
	route_set_use_vc_rule(set, copy);
	return 0;
}

static int merge(const struct topology *topology, struct route_set *set,
	const struct route_set *more, unsigned part, struct error *error)
{
	int result = merge_rule(set, more);

	if (result == -EINVAL)
		return error_set(error, EINVAL,
			"%s: the algorithms need different VC classes and cannot be combined",
			topology->name);
	for (uint32_t to = 0; to < topology->hosts && result == 0; to++)
		for (uint32_t source = 0; source < topology->hosts && result == 0; source++)
			result = merge_pair(set, more, part, source, to);
	if (result == -ENOSPC)
		return error_set(error, EINVAL,
			"%s: there are more than %u routes per pair in total; use fewer "
			"alternatives",
			topology->name, ROUTE_ALTERNATIVES_MAX);
	if (result < 0)
		return error_set(
			error, ENOMEM, "%s: not enough memory for the routes", topology->name);
	return 0;
}

static int mark_first(struct route_set *set)
{
	uint32_t hosts = route_set_hosts(set);
	int result = 0;

	for (uint32_t source = 0; source < hosts && result == 0; source++)
		for (uint32_t to = 0; to < hosts && result == 0; to++)
			for (unsigned i = 0; i < route_set_count(set, source, to) && result == 0;
				i++)
				result = route_set_mark_parts(set, source, to, i, 1);
	return result;
}

static int merge_origin(struct route_origin *origin, const struct route_origin *more)
{
	size_t length = strlen(origin->algorithm);

	if (length + 1 + strlen(more->algorithm) >= sizeof(origin->algorithm))
		return -EINVAL;
	origin->algorithm[length] = '+';
	strcpy(origin->algorithm + length + 1, more->algorithm);
	if (origin->root[0] == '\0')
		strcpy(origin->root, more->root);
	return 0;
}

struct route_set *route_merge_compute(const struct topology *topology,
	const struct route_algorithm *const *algorithms, unsigned count,
	const struct route_options *options, int *result, struct error *error)
{
	int code;
	struct route_set *set = route_compute(topology, algorithms[0], options, &code, error);

	if (set != NULL && count > 1 && mark_first(set) < 0) {
		code = error_set(
			error, ENOMEM, "%s: not enough memory for the routes", topology->name);
		route_set_destroy(set);
		set = NULL;
	}
	for (unsigned i = 1; i < count && set != NULL; i++) {
		struct route_set *more =
			route_compute(topology, algorithms[i], options, &code, error);

		if (more != NULL)
			code = merge(topology, set, more, i, error);
		if (code == 0 &&
			merge_origin(route_set_origin(set), route_set_origin_const(more)) < 0)
			code = error_set(error, EINVAL, "the algorithms' names are too long");
		route_set_destroy(more);
		if (code == 0)
			continue;
		route_set_destroy(set);
		set = NULL;
	}
	if (result != NULL)
		*result = code;
	return set;
}
