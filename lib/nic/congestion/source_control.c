/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "source_control.h"

#include <errno.h>
#include <stdlib.h>

#define STREAM_SOURCE_CONTROL 0x6e02 /* stream of a host's random numbers */

#define X(id, name) #name,
static const char *const counter_names[] = {SOURCE_CONTROL_COUNTERS(X)};
#undef X

const char *source_control_counter_name(unsigned counter)
{
	return counter_names[counter];
}

void source_control_config_default(struct source_control_config *config)
{
	*config = (struct source_control_config){.kind = SOURCE_CONTROL_NONE, .pr.improve = true};
	iba_cc_config_default(&config->iba);
	metapath_rules_default(&config->paths);
	solutions_config_default(&config->solutions);
}

/* Returns 0, -EINVAL or -ENOMEM. */
static int allocate(struct source_control *control)
{
	const struct source_control_config *config = &control->config;
	enum source_control_kind kind = config->kind;
	size_t hosts = config->hosts;
	int result = 0;

	if (kind == SOURCE_CONTROL_DCQCN)
		result = dcqcn_init(&control->dcqcn, &config->dcqcn, config->hosts);
	else if (source_control_throttles(kind))
		result = iba_cc_init(&control->cc, &config->iba, config->hosts);
	if (result == 0 && kind == SOURCE_CONTROL_PR_DRB)
		result = solutions_init(&control->pr.base, &config->solutions);
	if (kind == SOURCE_CONTROL_DRB_CN)
		control->marked = calloc(hosts, sizeof(control->marked[0]));
	if (source_control_measures(kind))
		control->path = calloc(hosts, sizeof(control->path[0]));
	if (kind == SOURCE_CONTROL_PR_DRB)
		control->episode = calloc(hosts, sizeof(control->episode[0]));
	if (kind == SOURCE_CONTROL_DRB_CC)
		control->end = calloc(hosts, sizeof(control->end[0]));
	if ((kind == SOURCE_CONTROL_DRB_CN && control->marked == NULL) ||
		(source_control_measures(kind) && control->path == NULL) ||
		(kind == SOURCE_CONTROL_PR_DRB && control->episode == NULL) ||
		(kind == SOURCE_CONTROL_DRB_CC && control->end == NULL))
		return -ENOMEM;
	return result;
}

struct source_control *source_control_create(const struct source_control_config *config)
{
	struct source_control *control = calloc(1, sizeof(*control));
	int result;

	if (control == NULL)
		return NULL;
	control->config = *config;
	control->pr.rules = config->pr;
	control->pr.paths = config->paths;
	rng_init(&control->rng, config->seed, config->host, STREAM_SOURCE_CONTROL);
	result = (config->hosts > 0 && config->paths.smoothing > 0 &&
			 config->paths.low <= config->paths.high && config->iba.timer_ns > 0)
			 ? allocate(control)
			 : -EINVAL;
	if (result == 0)
		return control;
	source_control_destroy(control);
	errno = -result;
	return NULL;
}

void source_control_destroy(struct source_control *control)
{
	if (control == NULL)
		return;
	iba_cc_fini(&control->cc);
	dcqcn_fini(&control->dcqcn);
	solutions_fini(&control->pr.base);
	free(control->marked);
	free(control->path);
	free(control->episode);
	free(control->end);
	free(control);
}

void source_control_begin(struct source_control *control, uint16_t destination, unsigned count,
	const uint8_t *switches)
{
	uint32_t zero_ns[METAPATH_PATHS_MAX];

	if (count > METAPATH_PATHS_MAX)
		count = METAPATH_PATHS_MAX;
	for (unsigned i = 0; i < count; i++) {
		uint64_t zero = control->config.frame_ns + switches[i] * control->config.hop_ns;

		zero_ns[i] = zero < UINT32_MAX ? (uint32_t)zero : UINT32_MAX;
	}
	if (control->marked != NULL)
		marked_paths_init(&control->marked[destination], count);
	if (control->path != NULL)
		metapath_init(&control->path[destination], count, zero_ns);
	if (control->episode != NULL)
		control->episode[destination] = (struct episode){.applied = false};
	if (control->end != NULL)
		control->end[destination] = (struct drb_cc_pair){.incast = 0};
}

unsigned source_control_choose(
	struct source_control *control, uint16_t destination, uint64_t now_ns)
{
	struct metapath *path;

	if (!source_control_spreads(control->config.kind))
		return 0;
	control->sum.messages++;
	if (control->marked != NULL) {
		control->count[SOURCE_CONTROL_PATHS_CLOSED] += marked_paths_expire(
			&control->marked[destination], control->config.iba.timer_ns, now_ns);
		control->sum.open_paths += control->marked[destination].open;
		return marked_paths_choose(&control->marked[destination], &control->rng);
	}
	path = &control->path[destination];
	control->count[SOURCE_CONTROL_PATHS_CLOSED] +=
		metapath_close_idle(path, &control->config.paths, now_ns);
	control->sum.open_paths += path->open;
	return metapath_choose(path, &control->rng);
}

static void count_change(struct source_control *control, int more)
{
	control->count[SOURCE_CONTROL_PATHS_OPENED] += more > 0 ? (unsigned)more : 0;
	control->count[SOURCE_CONTROL_PATHS_CLOSED] += more < 0 ? (unsigned)-more : 0;
}

static void hear_marked(struct source_control *control, struct marked_paths *paths,
	const struct cn *cn, uint64_t now_ns)
{
	uint64_t timer = control->config.iba.timer_ns;

	if (!(cn->flags & CN_F_BECN) || cn->path >= paths->count)
		return;
	count_change(control, -(int)marked_paths_expire(paths, timer, now_ns));
	marked_paths_start(paths, timer, now_ns);
	count_change(control, marked_paths_mark(paths, cn->path));
}

static void hear_latency(
	struct source_control *control, uint16_t destination, const struct cn *cn, uint64_t now_ns)
{
	const struct metapath_rules *rules = &control->config.paths;
	struct metapath *path = &control->path[destination];

	if (cn->path >= path->count)
		return;
	count_change(control, -(int)metapath_close_idle(path, rules, now_ns));
	if (control->episode != NULL)
		pr_drb_on_notification(&control->pr, path, &control->episode[destination],
			destination, cn, now_ns);
	else if (control->end != NULL)
		count_change(control, drb_cc_on_notification(&control->end[destination], path,
					      rules, &control->cc, destination, cn, now_ns));
	else
		count_change(control,
			metapath_on_notification(path, rules, cn->path, cn->waiting_ns, now_ns));
}

void source_control_on_notification(
	struct source_control *control, uint16_t destination, const struct cn *cn, uint64_t now_ns)
{
	if (destination >= control->config.hosts || cn->flows > CN_FLOWS_MAX)
		return;
	control->count[SOURCE_CONTROL_CN_RECEIVED]++;
	control->sum.notices++;
	control->sum.waiting_ns += cn->waiting_ns;
	if (control->marked != NULL)
		hear_marked(control, &control->marked[destination], cn, now_ns);
	else if (control->path != NULL)
		hear_latency(control, destination, cn, now_ns);
	else if (control->cc.flow != NULL && (cn->flags & CN_F_BECN))
		iba_cc_mark(&control->cc, destination, now_ns);
	else if (control->dcqcn.flow != NULL && (cn->flags & CN_F_BECN))
		dcqcn_notify(&control->dcqcn, destination, now_ns);
}

void source_control_count_pause(
	struct source_control *control, uint16_t destination, uint64_t since_ns, uint64_t now_ns)
{
	uint64_t ready = source_control_ready_ns(control, destination);
	uint64_t until = ready < now_ns ? ready : now_ns;

	if (until > since_ns)
		control->throttled_ns += until - since_ns;
}

void source_control_sent(
	struct source_control *control, uint16_t destination, uint64_t frame_ns, uint64_t now_ns)
{
	if (control->dcqcn.flow != NULL)
		dcqcn_sent(&control->dcqcn, destination, frame_ns, now_ns);
	if (control->cc.flow == NULL)
		return;
	control->sum.packets++;
	control->sum.ccti += iba_cc_index(&control->cc, destination, now_ns);
	iba_cc_sent(&control->cc, destination, frame_ns, now_ns);
}

void source_control_add_sums(const struct source_control *control, struct source_control_sums *sum)
{
	sum->messages += control->sum.messages;
	sum->open_paths += control->sum.open_paths;
	sum->notices += control->sum.notices;
	sum->waiting_ns += control->sum.waiting_ns;
	sum->packets += control->sum.packets;
	sum->ccti += control->sum.ccti;
}

void source_control_counters(const struct source_control *control, uint64_t *count)
{
	const struct pr_drb *pr = &control->pr;

	for (unsigned i = 0; i < SOURCE_CONTROL_COUNTER_COUNT; i++)
		count[i] = control->count[i];
	count[SOURCE_CONTROL_PATHS_OPENED] += pr->count.opened;
	count[SOURCE_CONTROL_PATHS_CLOSED] += pr->count.closed;
	count[SOURCE_CONTROL_SOLUTIONS_APPLIED] = pr->count.applied;
	count[SOURCE_CONTROL_SOLUTIONS_MISSED] = pr->count.missed;
	count[SOURCE_CONTROL_SOLUTIONS_SAVED] = pr->count.saved;
	count[SOURCE_CONTROL_SOLUTIONS_STORED] = pr->base.stored;
	count[SOURCE_CONTROL_THROTTLED_NS] = control->throttled_ns;
}
