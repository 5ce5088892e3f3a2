/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pr_drb.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES    64
#define WHOLE_PPM  1000000u
#define SIMILARITY 800000u

void solutions_config_default(struct solutions_config *config)
{
	*config = (struct solutions_config){.entries = ENTRIES, .similarity_ppm = SIMILARITY};
}

int solutions_init(struct solutions *base, const struct solutions_config *config)
{
	memset(base, 0, sizeof(*base));
	if (config->entries == 0 || config->similarity_ppm > WHOLE_PPM)
		return -EINVAL;
	base->config = *config;
	base->changes = 1;
	base->entry = calloc(config->entries, sizeof(base->entry[0]));
	return base->entry == NULL ? -ENOMEM : 0;
}

void solutions_fini(struct solutions *base)
{
	free(base->entry);
	base->entry = NULL;
}

static bool contains(const struct flow_pattern *pattern, struct cn_flow flow)
{
	for (unsigned i = 0; i < pattern->count; i++)
		if (pattern->flow[i].source == flow.source &&
			pattern->flow[i].destination == flow.destination)
			return true;
	return false;
}

bool flow_pattern_add(struct flow_pattern *pattern, struct cn_flow flow)
{
	if (pattern->count == SOLUTION_FLOWS_MAX || contains(pattern, flow))
		return false;
	pattern->flow[pattern->count++] = flow;
	pattern->found_at = 0;
	return true;
}

/* Returns the similarity in parts per million. */
static uint32_t similarity(
	const struct solutions *base, const struct flow_pattern *seen, const struct solution *entry)
{
	unsigned shared = 0, all;

	for (unsigned i = 0; i < seen->count; i++)
		shared += contains(&entry->pattern, seen->flow[i]);
	all = base->config.of_union ? seen->count + entry->pattern.count - shared : seen->count;
	return shared * WHOLE_PPM / all;
}

static struct solution *search(
	struct solutions *base, uint16_t destination, const struct flow_pattern *pattern)
{
	struct solution *best = NULL;
	uint32_t max = 0;

	for (uint32_t i = 0; i < base->stored; i++) {
		struct solution *entry = &base->entry[i];
		uint32_t like;

		if (entry->destination != destination)
			continue;
		like = similarity(base, pattern, entry);
		if (like < base->config.similarity_ppm || (best != NULL && like <= max))
			continue;
		best = entry;
		max = like;
	}
	return best;
}

static struct solution *match(
	struct solutions *base, uint16_t destination, struct flow_pattern *pattern)
{
	if (pattern->count == 0)
		return NULL;
	if (pattern->found_at != base->changes) {
		pattern->found = search(base, destination, pattern);
		pattern->found_at = base->changes;
	}
	return pattern->found;
}

struct solution *solutions_find(
	struct solutions *base, uint16_t destination, struct flow_pattern *pattern)
{
	struct solution *found = match(base, destination, pattern);

	if (found != NULL)
		found->used = ++base->uses;
	return found;
}

/* Returns an unused entry, or the one unused for longest. */
static struct solution *place(struct solutions *base)
{
	struct solution *oldest = &base->entry[0];

	if (base->stored < base->config.entries)
		return &base->entry[base->stored++];
	for (uint32_t i = 1; i < base->stored; i++)
		if (base->entry[i].used < oldest->used)
			oldest = &base->entry[i];
	return oldest;
}

bool solutions_save(struct solutions *base, uint16_t destination, struct flow_pattern *pattern,
	const struct metapath *path, uint64_t best)
{
	struct solution *entry = match(base, destination, pattern);

	if (pattern->count == 0)
		return false;
	if (entry != NULL && best >= entry->best && path->open <= entry->open)
		return false;
	if (entry == NULL)
		entry = place(base);
	entry->pattern = *pattern;
	base->changes++;
	entry->destination = destination;
	entry->open = path->open;
	entry->best = best;
	entry->used = ++base->uses;
	memcpy(entry->latency_ns, path->latency_ns, sizeof(entry->latency_ns));
	return true;
}

static void collect(struct episode *episode, const struct cn *cn)
{
	if (cn->path != 0)
		return;
	for (unsigned i = 0; i < cn->flows; i++)
		if (flow_pattern_add(&episode->pattern, cn->flow[i]))
			episode->looked = false;
}

/* Returns true if a solution was found and applied. */
static bool apply(struct pr_drb *control, struct metapath *path, struct episode *episode,
	uint16_t destination, uint64_t now_ns)
{
	const struct solution *found;
	unsigned before = path->open, open;

	if (episode->applied || episode->looked || episode->pattern.count == 0)
		return false;
	episode->looked = true;
	found = solutions_find(&control->base, destination, &episode->pattern);
	if (found == NULL) {
		control->count.missed++;
		return false;
	}
	episode->applied = true;
	control->count.applied++;
	open = found->open < path->count ? found->open : path->count;
	metapath_replace(path, &control->paths, open, found->latency_ns, now_ns);
	control->count.opened += open > before ? open - before : 0;
	control->count.closed += before > open ? before - open : 0;
	return true;
}

static void save(struct pr_drb *control, const struct metapath *path, struct episode *episode,
	uint16_t destination)
{
	uint64_t best = metapath_latency(path, &control->paths);

	if (path->open > 1)
		control->count.saved +=
			solutions_save(&control->base, destination, &episode->pattern, path, best);
}

static void hear_high(struct pr_drb *control, struct metapath *path, struct episode *episode,
	uint16_t destination, uint64_t now_ns)
{
	if (apply(control, path, episode, destination, now_ns))
		return;
	if (episode->applied && !control->rules.improve)
		return;
	control->count.opened += metapath_open_next(path, &control->paths, now_ns);
}

static void hear_low(
	struct pr_drb *control, struct metapath *path, struct episode *episode, uint64_t now_ns)
{
	control->count.closed += metapath_close_last(path, &control->paths, now_ns);
	if (path->open == 1)
		*episode = (struct episode){.applied = false};
}

void pr_drb_on_notification(struct pr_drb *control, struct metapath *path, struct episode *episode,
	uint16_t destination, const struct cn *cn, uint64_t now_ns)
{
	enum metapath_zone zone;

	metapath_measure(path, &control->paths, cn->path, cn->waiting_ns, now_ns);
	collect(episode, cn);
	zone = metapath_zone(path, &control->paths);
	if (zone == (control->rules.save_below ? METAPATH_LOW : METAPATH_MIDDLE))
		save(control, path, episode, destination);
	if (zone == METAPATH_HIGH)
		hear_high(control, path, episode, destination, now_ns);
	else if (zone == METAPATH_LOW)
		hear_low(control, path, episode, now_ns);
}
