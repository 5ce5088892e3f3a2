/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The definition of a figure or table of a paper (docs/results/reproduction.md): a base run file;
 * the changes for each network, each case (traffic, for example) and each algorithm; the measure;
 * and the file of the published numbers. One file each in topo/reproduce. In the changes, {n}
 * stands for the number of the network's instance, from 1, {n*47} for 47 times that, and {here} for
 * the folder of the definition. A definition with 'members' is a group: it runs those. */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "fault.h"

#define EXPERIMENT_NAME     48
#define EXPERIMENT_TEXT     256
#define EXPERIMENT_SETS_MAX 12u
#define EXPERIMENT_LIST_MAX 32u
#define EXPERIMENT_COPIES   100u
#define EXPERIMENT_MESSAGES 100000000u /* of a run, at most */

/* The measures, each a part of the results. */
#define EXPERIMENT_MEASURES(X)                                                                \
	X(SATURATION, "productivity") /* greatest accepted traffic, flits/ns/switch */        \
	X(LATENCY, "latency")         /* mean network latency at a load, ns */                \
	X(WAITING, "waiting")         /* own messages at the host with most, in the end */    \
	X(LINKS, "links")             /* utilisation of switch-to-switch channels */          \
	X(BLOCKED, "blocked")         /* share of time for which STOP holds such a channel */ \
	X(SETTLING, "settling")       /* mean latency so far against that of the whole run */ \
	X(EFFICIENCY, "efficiency")   /* accepted over time, around a hot spot */             \
	X(THROUGHPUT, "throughput")   /* accepted at each of several loads */                 \
	X(COMPLETION, "completion")   /* time that a schedule takes, ms */                    \
	/* The rest are of one run as its file says. */                                       \
	X(ACCEPTED, "accepted")           /* share of the hosts' links */                     \
	X(TOTAL_LATENCY, "total-latency") /* mean, from generation, us */                     \
	X(WORST_SWITCH, "worst-switch")   /* greatest mean waiting time of a switch, us */    \
	X(WORST_LINK, "worst-link")       /* greatest utilisation between switches */         \
	X(FIRST_BURST, "first-burst")     /* mean network latency of the first sample, us */  \
	X(LATER_BURSTS, "later-bursts")   /* the same of each other sample after it, us */    \
	X(LATENCY_TIME, "latency-time")   /* mean network latency, us; drawn over time */

enum experiment_measure {
#define X(id, name) EXPERIMENT_##id,
	EXPERIMENT_MEASURES(X)
#undef X
		EXPERIMENT_MEASURE_COUNT
};

/* In what a picture counts loads. */
enum experiment_axis { EXPERIMENT_AXIS_SHARE, EXPERIMENT_AXIS_BITS };

/* A network, case or algorithm: its changes of the run file. */
struct experiment_choice {
	char name[EXPERIMENT_NAME];
	char *set[EXPERIMENT_SETS_MAX]; /* "KEY=VALUE" */
	unsigned sets;
	unsigned copies;   /* of a network: instances; else 1 */
	uint32_t load_ppm; /* instead of the experiment's, the case's before the network's; or 0 */
	double traffic;    /* of a case: the same in flits/ns/switch; 0: not said */
};

struct experiment_list {
	struct experiment_choice *at;
	unsigned count;
};

struct experiment_quick {
	struct experiment_choice also;  /* what it changes in every run file */
	char networks[EXPERIMENT_TEXT]; /* "A,B"; "": all */
	char algorithms[EXPERIMENT_TEXT];
	char cases[EXPERIMENT_TEXT];
	uint32_t copies; /* at most so many of a network */
	uint32_t loads;
	uint64_t unit_ps;
	uint64_t warmup_messages, messages;
	uint32_t tolerance_ppm;
};

/* A GOAL schedule that is generated before the runs (goal_generate.h); the first entry of
 * traffic replays it. */
struct experiment_schedule {
	char kind[EXPERIMENT_NAME];
	uint32_t ranks, rounds;
	uint64_t bytes, calc_ps;
	char path[PATH_MAX]; /* where it is, once it was made; "" before */
};

struct experiment {
	char name[EXPERIMENT_NAME]; /* of its file */
	char origin[PATH_MAX];
	char paper[EXPERIMENT_TEXT]; /* "Flich 2001" */
	char place[EXPERIMENT_TEXT]; /* "table 6" */
	char title[EXPERIMENT_TEXT];
	char missing[EXPERIMENT_TEXT]; /* why it cannot be run: nothing below is set; "": it can */
	/* Definitions that are run one after the other in place of this one, which then is a group
	 * and has only times besides. */
	char (*member)[EXPERIMENT_NAME];
	unsigned members;                                        /* 0: it is none */
	char time[EXPERIMENT_NAME], quick_time[EXPERIMENT_NAME]; /* for people */
	enum experiment_measure measure;
	enum experiment_axis axis;
	bool means;   /* tables in Markdown have means over instances, no line for each */
	bool latency; /* of a throughput: a picture of the latency against the load, too */
	bool curves;  /* latency against traffic, one picture for each network and case */
	char run_file[PATH_MAX], published[PATH_MAX];
	uint32_t load_ppm;      /* where the search begins, or the load */
	uint32_t loads;         /* of a throughput: that many, evenly spaced, up to 100 % */
	uint64_t unit_ps;       /* of an efficiency: what stands for a ms of the paper */
	uint32_t tolerance_ppm; /* for means, as a share of the published */
	uint32_t order_ppm;     /* published means closer than this have no order */
	uint64_t warmup_messages, messages;
	/* The greatest mean network latency of a network that is not saturated; 0: any. */
	uint64_t latency_limit_ps;
	uint64_t defined_warmup, defined_messages, defined_latency_limit_ps; /* those of the file */
	unsigned instances; /* that experiment_set_instances() set; 0: as the file says */
	struct experiment_list networks, cases, algorithms;
	struct experiment_quick quick;
	bool reduced;                        /* experiment_reduce() was called */
	struct experiment_schedule schedule; /* ranks 0: none */
};

/* Reads a definition. NULL, fault and errno. */
struct experiment *experiment_load(const char *path, struct fault *fault);
void experiment_destroy(struct experiment *experiment);
void experiment_choice_fini(struct experiment_choice *choice);

/* Keeps only the parts that --quick uses. -EINVAL: it names an unknown part. */
int experiment_reduce(struct experiment *experiment, struct fault *fault);
/* Whether "A,B" has this name. */
bool experiment_names(const char *words, const char *name);
/* The number of names in it. */
unsigned experiment_count_words(const char *words);
/* Whether {n} is part of it. */
bool experiment_has_instances(const struct experiment *experiment);
/* So many instances of each network that has any: of which {n} is part. -EINVAL: there is none. */
int experiment_set_instances(struct experiment *experiment, unsigned count, struct fault *fault);
/* So many messages in place of the definition's. -EINVAL and fault: its runs do not count messages,
 * or begin with the first one (a warm-up of more than 0). */
int experiment_set_warmup(struct experiment *experiment, uint64_t messages, struct fault *fault);
int experiment_set_messages(struct experiment *experiment, uint64_t messages, struct fault *fault);
/* For a search: a network with a greater mean latency counts as saturated. 0: any latency. -EINVAL
 * and fault: the definition searches nothing. */
int experiment_set_latency_limit(
	struct experiment *experiment, uint64_t limit_ps, struct fault *fault);
/* Keeps the networks, cases and algorithms of "A,B"; a list that has none of them is kept whole.
 * -EINVAL: a word is no name. */
int experiment_select(struct experiment *experiment, const char *words, struct fault *fault);

/* Whether the measure is one of each channel between switches. */
static inline bool experiment_measures_links(enum experiment_measure measure)
{
	return measure == EXPERIMENT_LINKS || measure == EXPERIMENT_BLOCKED;
}

/* Whether every curve is measured, and not only those that published numbers name. */
static inline bool experiment_wants_all(const struct experiment *experiment)
{
	return experiment->measure >= EXPERIMENT_EFFICIENCY;
}

/* Whether it is one number of a run as its file says; drawn as bars. */
static inline bool experiment_measures_run(enum experiment_measure measure)
{
	return measure >= EXPERIMENT_COMPLETION;
}

/* Whether a run lasts for so many messages, and not as long as its file says. */
static inline bool experiment_counts_messages(const struct experiment *experiment)
{
	return experiment->measure < EXPERIMENT_EFFICIENCY;
}

const char *experiment_measure_name(enum experiment_measure measure);
/* Its name for the axis of a picture: "Time of the schedule [ms]". */
const char *experiment_measure_title(enum experiment_measure measure);
/* Its number in the list; the count if it is not there. */
unsigned experiment_find(const struct experiment_list *list, const char *name);
/* 'text' with what {n} stands for; the caller frees it. NULL without memory. */
char *experiment_expand(const char *text, unsigned n);
