/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pr_drb.h"

#include <stddef.h>

static void collect(struct episode *episode, const struct cn *cn)
{
	if (cn->path != 0)
		return;
	for (unsigned i = 0; i < cn->flows; i++)
		if (flow_pattern_add(&episode->pattern, cn->flow[i]))
			episode->looked = false;
}

/* True: a solution has been found and applied. */
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
