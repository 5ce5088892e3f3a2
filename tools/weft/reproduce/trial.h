/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* One algorithm in one case on one instance of a network, and the points that measure it: one
 * after the other, because the result of a point decides where a search continues. No processes
 * here. */

#include <jansson.h>

#include "config_files.h"
#include "experiment.h"
#include "saturation.h"
#include "transient.h"

/* The mean latency of a run from its first message on, as a function of the messages that have
 * arrived (figures 63 to 66 of Flich's thesis, section 4.6.1): how long it takes to settle. */

struct settling_sample {
	double share;   /* of all messages of the run that have arrived by its end */
	double mean_ns; /* latency of all of them */
};

struct settling {
	struct settling_sample *sample;
	unsigned samples;
};

/* Takes the samples of a result; messages of one length. -EINVAL: it has none, or nothing has
 * arrived; -ENOMEM. */
int settling_take(struct settling *settling, const json_t *result);
void settling_fini(struct settling *settling);

/* The greatest difference between the mean after this share of the messages or more and the mean of
 * all, in per cent of the latter. NAN: no samples. */
double settling_deviation(const struct settling *settling, double share);

#define TRIAL_ENTRIES_MAX 4u /* of traffic, of which each point sets the load */

/* The result of a run. */
struct trial_point {
	double load;                       /* asked for, a share of the hosts' links */
	double offered, accepted, traffic; /* traffic: accepted in flits/ns/switch */
	double network_ns, total_ns;
	double completion_ms; /* of a schedule; NAN: it did not end */
	double figure;        /* of the switches, links or samples; NAN: the measure has none */
	uint64_t dropped;     /* messages */
	uint64_t waiting;     /* messages at the host that has most of them, in the end */
	bool deadlock;
	bool ended_early; /* by the deadlock: nothing counts as accepted */
};

enum trial_stage { TRIAL_MEASURE, TRIAL_CURVE, TRIAL_DONE, TRIAL_FAILED };

struct trial {
	const struct experiment *experiment;
	unsigned case_at, network, copy, algorithm; /* copy from 0 */
	enum trial_stage stage;
	uint32_t hosts, switches, entries; /* entries: of traffic */
	double bytes_per_s;                /* of a host's link */
	double message_bytes;              /* mean */
	struct saturation search;
	bool scouting; /* the search is one of short runs, which only says where to look */
	unsigned curve_step;
	double load;               /* of the next point */
	double value;              /* the measure; NAN: there is none */
	struct trial_point *point; /* without those of short runs */
	unsigned points;
	json_t *result; /* of a run as its file says: lists that pictures show; else NULL */
	json_t *links;  /* of a result, where the measure wants them */
	struct transient transient; /* where the measure is an efficiency */
	struct settling settling;   /* where it is that */
	struct fault fault;
};

/* 0, or -errno and fault: a network, case or algorithm makes a bad run file. trial_fini() in any
 * case. */
int trial_init(struct trial *trial, const struct experiment *experiment, unsigned case_at,
	unsigned network, unsigned copy, unsigned algorithm, struct fault *fault);
void trial_fini(struct trial *trial);

/* "UD_ITB, 16 switches 3, uniform". */
void trial_label(const struct trial *trial, char out[EXPERIMENT_TEXT]);

/* 0 or -ENOMEM; run_sets_fini() in any case. */
int trial_sets_init(struct run_sets *sets, const struct trial *trial);
/* A name for the next point: equal if the same program ('program') would run the same. It is a
 * hash of the whole configuration and of the files that it names. 0 and fault if the run file is
 * bad or a file cannot be read. */
uint64_t trial_key(const struct trial *trial, const struct run_sets *sets, uint64_t program,
	struct fault *fault);

/* Whether a point accepts less than offered (saturation.h), or its mean latency exceeds the
 * experiment's limit. */
bool trial_point_accepts_less(const struct trial *trial, const struct trial_point *point);
/* Whether a link of a result is between switches; papers show only those. */
bool trial_link_counts(const json_t *link);
/* Its utilisation or, where the measure is that, the share of time for which it was blocked. */
double trial_link_value(const struct trial *trial, const json_t *link);

/* Takes the result of the next point, a document of a run. -EINVAL: a needed value is missing. */
int trial_take(struct trial *trial, const json_t *result);

/* Runs trials, one point of each at a time as a process of weft-fabric, several trials in
 * parallel. A result is stored in a folder under a hash of its whole configuration and of the
 * program. Another experiment that needs the same point takes it from there; a new build runs it
 * again. */

struct trial_runner {
	struct trial *trial;
	unsigned trials;
	const char *cache; /* folder; made if it is not there */
	unsigned jobs;
	const char *srun; /* as in child_run */
	bool again;       /* results that are there do not count */
	/* Filled: */
	unsigned ran, had; /* points */
	bool interrupted;
};

/* 0, or -errno and fault if no point can be started. */
int trial_run(struct trial_runner *runner, struct fault *fault);

/* The GOAL schedule of an experiment, generated into the folder of results. Its name has its
 * parameters and a hash of its contents, so another generator's schedule is another file. */

/* Generates it and fills schedule->path. Does nothing without ranks. 0, or -errno and fault. */
int schedule_make(struct experiment_schedule *schedule, const char *folder, struct fault *fault);
