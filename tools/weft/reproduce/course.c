/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "course.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define PPM      1e6
#define LAST     0.1 /* share of the hot spot whose samples are its end */
#define SLACK_NS 1.0

/* Shares of the hosts' links, each host counting 1, before they are divided by the hosts. */
struct demand {
	double others;         /* of hosts that send to everybody */
	double hot;            /* of hosts that send to hot hosts */
	unsigned destinations; /* hot hosts */
};

static void add_entry(struct demand *demand, const struct run_config_traffic *traffic,
	const struct run_hosts_entry *hosts)
{
	double share = traffic->load_ppm / PPM * hosts->from_count;

	if (traffic->pattern != RUN_PATTERN_HOTSPOT) {
		demand->others += share;
		return;
	}
	demand->hot += share * (traffic->share_ppm / PPM);
	demand->others += share * (1 - traffic->share_ppm / PPM);
	demand->destinations += hosts->to_count;
}

/* Hot hosts take what their links carry; of the rest all can be accepted. */
static double deliverable(const struct demand *demand, uint32_t hosts)
{
	double to_hot = demand->others * demand->destinations / hosts + demand->hot;
	double elsewhere = demand->others * (hosts - demand->destinations) / hosts;

	return (elsewhere + fmin(to_hot, demand->destinations)) / hosts;
}

static void note_times(struct course *course, const struct run_config *config)
{
	double end = (double)config->measure.duration_ps / PS_PER_NS;

	course->start_ns = end;
	course->stop_ns = end;
	for (uint32_t i = 0; i < config->traffic.count; i++) {
		const struct run_config_traffic *traffic = &config->traffic.at[i];

		if (traffic->pattern != RUN_PATTERN_HOTSPOT)
			continue;
		course->start_ns = fmin(end, (double)traffic->start_ps / PS_PER_NS);
		course->stop_ns = fmin(end, (double)traffic->stop_ps / PS_PER_NS);
	}
}

int course_begin(struct course *course, const struct run_config *config,
	const struct topology *topology, struct fault *fault)
{
	struct run_hosts *hosts = run_config_resolve(config, topology, fault);
	struct demand demand = {.others = 0};

	*course = (struct course){.sample = NULL};
	if (hosts == NULL)
		return -errno;
	for (uint32_t i = 0; i < hosts->entries; i++)
		add_entry(&demand, &config->traffic.at[i], &hosts->entry[i]);
	run_hosts_destroy(hosts);
	course->deliverable = deliverable(&demand, topology->hosts);
	note_times(course, config);
	return 0;
}

int course_take(struct course *course, const json_t *result)
{
	const json_t *series = json_object_get(result, "series"), *sample;
	size_t count = json_array_size(series), i;

	if (count == 0)
		return -EINVAL;
	free(course->sample);
	course->samples = 0;
	course->sample = calloc(count, sizeof(*course->sample));
	if (course->sample == NULL)
		return -ENOMEM;
	json_array_foreach(series, i, sample)
	{
		course->sample[course->samples++] = (struct course_sample){
			.t_ns = json_number_value(json_object_get(sample, "t_ns")),
			.accepted = json_number_value(json_object_get(sample, "accepted"))};
	}
	return 0;
}

void course_fini(struct course *course)
{
	free(course->sample);
	course->sample = NULL;
	course->samples = 0;
}

/* Over samples that end after 'from' and by 'to'. */
static double mean_between(const struct course *course, double from, double to)
{
	double sum = 0;
	unsigned count = 0;

	for (unsigned i = 0; i < course->samples; i++) {
		const struct course_sample *sample = &course->sample[i];

		if (sample->t_ns <= from + SLACK_NS || sample->t_ns > to + SLACK_NS)
			continue;
		sum += sample->accepted;
		count++;
	}
	return count > 0 ? sum / count : NAN;
}

static bool has_hot_spot(const struct course *course)
{
	return course->start_ns < course->stop_ns;
}

double course_before(const struct course *course)
{
	return mean_between(course, course->start_ns / 2, course->start_ns);
}

double course_minimum(const struct course *course)
{
	double from = has_hot_spot(course) ? course->start_ns : course->stop_ns / 2;
	double least = NAN;

	for (unsigned i = 0; i < course->samples; i++)
		if (course->sample[i].t_ns > from + SLACK_NS &&
			course->sample[i].t_ns <= course->stop_ns + SLACK_NS)
			least = fmin(least, course->sample[i].accepted);
	return least;
}

double course_at(const struct course *course, double after_ns)
{
	double at = course->start_ns + after_ns;

	for (unsigned i = 0; i < course->samples && at <= course->stop_ns + SLACK_NS; i++)
		if (course->sample[i].t_ns >= at - SLACK_NS)
			return course->sample[i].accepted;
	return NAN;
}

double course_end(const struct course *course)
{
	double from = has_hot_spot(course) ? course->start_ns : 0;
	double last = course->samples > 0 ? course->sample[0].t_ns : 0; /* a sample's length */

	last = fmax(last, LAST * (course->stop_ns - from));
	return mean_between(course, course->stop_ns - last, course->stop_ns);
}

double course_back_ns(const struct course *course)
{
	double back = 0;
	bool below = false;

	for (unsigned i = 0; i < course->samples; i++) {
		const struct course_sample *sample = &course->sample[i];

		if (sample->t_ns <= course->start_ns + SLACK_NS ||
			sample->t_ns > course->stop_ns + SLACK_NS)
			continue;
		below = sample->accepted < COURSE_BACK_SHARE * course->deliverable;
		if (below)
			back = sample->t_ns - course->start_ns;
	}
	return below ? INFINITY : back;
}
