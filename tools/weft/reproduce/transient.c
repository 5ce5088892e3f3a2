/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "transient.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "run_hosts.h"
#include "traffic_pattern.h"

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

	if (traffic->pattern != &traffic_hotspot) {
		demand->others += share;
		return;
	}
	demand->hot += share * (traffic->share_ppm / PPM);
	demand->others += share * (1 - traffic->share_ppm / PPM);
	demand->destinations += hosts->to_count;
}

/* Hot hosts accept the capacity of their links; all other traffic can be accepted. */
static double deliverable(const struct demand *demand, uint32_t hosts)
{
	double to_hot = demand->others * demand->destinations / hosts + demand->hot;
	double elsewhere = demand->others * (hosts - demand->destinations) / hosts;

	return (elsewhere + fmin(to_hot, demand->destinations)) / hosts;
}

static void note_times(struct transient *transient, const struct run_config *config)
{
	double end = (double)config->measure.duration_ps / PS_PER_NS;

	transient->start_ns = end;
	transient->stop_ns = end;
	for (uint32_t i = 0; i < config->traffic.count; i++) {
		const struct run_config_traffic *traffic = &config->traffic.at[i];

		if (traffic->pattern != &traffic_hotspot)
			continue;
		transient->start_ns = fmin(end, (double)traffic->start_ps / PS_PER_NS);
		transient->stop_ns = fmin(end, (double)traffic->stop_ps / PS_PER_NS);
	}
}

int transient_begin(struct transient *transient, const struct run_config *config,
	const struct topology *topology, struct fault *fault)
{
	struct run_hosts *hosts = run_config_resolve(config, topology, fault);
	struct demand demand = {.others = 0};

	*transient = (struct transient){.sample = NULL};
	if (hosts == NULL)
		return -errno;
	for (uint32_t i = 0; i < hosts->entries; i++)
		add_entry(&demand, &config->traffic.at[i], &hosts->entry[i]);
	run_hosts_destroy(hosts);
	transient->deliverable = deliverable(&demand, topology->hosts);
	note_times(transient, config);
	return 0;
}

int transient_take(struct transient *transient, const json_t *result)
{
	const json_t *series = json_object_get(result, "series"), *sample;
	size_t count = json_array_size(series), i;

	if (count == 0)
		return -EINVAL;
	free(transient->sample);
	transient->samples = 0;
	transient->sample = calloc(count, sizeof(*transient->sample));
	if (transient->sample == NULL)
		return -ENOMEM;
	json_array_foreach(series, i, sample)
	{
		transient->sample[transient->samples++] = (struct transient_sample){
			.t_ns = json_number_value(json_object_get(sample, "t_ns")),
			.accepted = json_number_value(json_object_get(sample, "released"))};
	}
	return 0;
}

void transient_fini(struct transient *transient)
{
	free(transient->sample);
	transient->sample = NULL;
	transient->samples = 0;
}

/* Over samples that end after 'from' and by 'to'. */
static double mean_between(const struct transient *transient, double from, double to)
{
	double sum = 0;
	unsigned count = 0;

	for (unsigned i = 0; i < transient->samples; i++) {
		const struct transient_sample *sample = &transient->sample[i];

		if (sample->t_ns <= from + SLACK_NS || sample->t_ns > to + SLACK_NS)
			continue;
		sum += sample->accepted;
		count++;
	}
	return count > 0 ? sum / count : NAN;
}

static bool has_hot_spot(const struct transient *transient)
{
	return transient->start_ns < transient->stop_ns;
}

double transient_before(const struct transient *transient)
{
	return mean_between(transient, transient->start_ns / 2, transient->start_ns);
}

double transient_minimum(const struct transient *transient)
{
	double from = has_hot_spot(transient) ? transient->start_ns : transient->stop_ns / 2;
	double min = NAN;

	for (unsigned i = 0; i < transient->samples; i++)
		if (transient->sample[i].t_ns > from + SLACK_NS &&
			transient->sample[i].t_ns <= transient->stop_ns + SLACK_NS)
			min = fmin(min, transient->sample[i].accepted);
	return min;
}

double transient_at(const struct transient *transient, double after_ns)
{
	double at = transient->start_ns + after_ns;

	for (unsigned i = 0; i < transient->samples && at <= transient->stop_ns + SLACK_NS; i++)
		if (transient->sample[i].t_ns >= at - SLACK_NS)
			return transient->sample[i].accepted;
	return NAN;
}

double transient_end(const struct transient *transient)
{
	double from = has_hot_spot(transient) ? transient->start_ns : 0;
	double last =
		transient->samples > 0 ? transient->sample[0].t_ns : 0; /* a sample's length */

	last = fmax(last, LAST * (transient->stop_ns - from));
	return mean_between(transient, transient->stop_ns - last, transient->stop_ns);
}

double transient_back_ns(const struct transient *transient)
{
	double back = 0;
	bool below = false;

	for (unsigned i = 0; i < transient->samples; i++) {
		const struct transient_sample *sample = &transient->sample[i];

		if (sample->t_ns <= transient->start_ns + SLACK_NS ||
			sample->t_ns > transient->stop_ns + SLACK_NS)
			continue;
		below = sample->accepted < TRANSIENT_BACK_SHARE * transient->deliverable;
		if (below)
			back = sample->t_ns - transient->start_ns;
	}
	return below ? INFINITY : back;
}
