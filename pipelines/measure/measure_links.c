/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "measure_window.h"

#include <errno.h>
#include <stdlib.h>

#include "experiment/result/run_result.h"
#include "link/credit.h"
#include "switch/congestion_control.h"

/* run_config_check_link_series() computes the size from these counts. */
_Static_assert(RUN_LINK_VALUES == RUN_LINK_FILL, "values of a way beside those of its VCs");

int measure_links_open(struct measure_links *links, const struct topology *topology,
	const struct run_config *run, measure_link_fn read, const void *ctx)
{
	*links = (struct measure_links){.topology = topology};
	if (!run->measure.link_series)
		return 0;
	links->series =
		(struct run_link_series){.ways = 2 * topology->links, .vcs = run_config_vcs(run)};
	links->vc_blocks = run_config_vc_blocks(run);
	links->before = calloc(links->series.ways + 1u, sizeof(*links->before));
	links->ctx = ctx;
	links->read = read;
	return links->before != NULL ? 0 : -ENOMEM;
}

void measure_links_close(struct measure_links *links)
{
	run_link_series_free(&links->series);
	free(links->before);
	*links = (struct measure_links){.read = NULL};
}

static struct measure_link_use use_of(const struct measure_links *links, uint32_t way)
{
	const struct topology_link *link = &links->topology->link_at[way / 2];
	struct measure_link_use use = {.busy_ps = 0};

	if (way % 2 == 0)
		links->read(links->ctx, link->a, link->b, &use);
	else
		links->read(links->ctx, link->b, link->a, &use);
	return use;
}

static void keep(struct measure_link_before *before, const struct measure_link_use *use)
{
	*before = (struct measure_link_before){use->busy_ps, use->blocked_ps, use->stalls};
}

void measure_links_begin(struct measure_links *links)
{
	if (links->read == NULL)
		return;
	links->series.samples = 0;
	for (uint32_t way = 0; way < links->series.ways; way++) {
		struct measure_link_use use = use_of(links, way);

		keep(&links->before[way], &use);
	}
}

static void fill_values(const struct measure_links *links, const struct measure_link_use *use,
	const struct measure_link_before *before, uint64_t time_ps, uint32_t *value)
{
	uint64_t busy_ps = run_result_minus(use->busy_ps, before->busy_ps);
	uint64_t blocked_ps = run_result_minus(use->blocked_ps, before->blocked_ps);
	uint64_t stalls = run_result_minus(use->stalls, before->stalls);

	value[RUN_LINK_UTILISATION] = run_link_share((double)busy_ps, (double)time_ps);
	value[RUN_LINK_BLOCKED] = run_link_share((double)blocked_ps, (double)time_ps);
	value[RUN_LINK_STALLS] = stalls < UINT32_MAX ? (uint32_t)stalls : UINT32_MAX;
	value[RUN_LINK_ROOT] = use->root;
	for (unsigned vc = 0; vc < links->series.vcs; vc++)
		value[RUN_LINK_FILL + vc] =
			run_link_share((double)use->stored[vc], (double)links->vc_blocks);
}

int measure_links_sample(struct measure_links *links, uint64_t time_ps, const uint32_t **values)
{
	size_t width = run_link_series_width(&links->series);
	uint32_t *value;

	*values = NULL;
	if (links->read == NULL || run_link_series_is_full(&links->series, links->series.samples))
		return 0;
	value = run_link_series_add(&links->series);
	if (value == NULL)
		return -ENOMEM;
	for (uint32_t way = 0; way < links->series.ways; way++) {
		struct measure_link_use use = use_of(links, way);

		fill_values(links, &use, &links->before[way], time_ps, value + way * width);
		keep(&links->before[way], &use);
	}
	if (links->sum != NULL)
		links->sum(links->ctx, value, run_link_series_values(&links->series));
	*values = value;
	return 0;
}

void measure_links_read_switches(const struct weft_switch *from, unsigned output,
	const struct weft_switch *to, unsigned input, struct measure_link_use *use)
{
	if (from != NULL) {
		use->stalls = from->port[output].count[SWITCH_STALL_CREDIT];
		use->root = congestion_control_is_root(from->congestion, output);
	}
	if (to == NULL)
		return;
	for (unsigned vc = 0; vc < to->port[input].link.config.vcs; vc++)
		use->stored[vc] = credit_stored(&to->port[input].link.rx[vc]);
}
