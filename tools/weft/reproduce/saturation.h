/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The saturation of a network (productivity in Flich's thesis). Section 4.2 calls it the greatest
 * traffic that the network accepts, and says that the accepted rate is the offered one unless the
 * network is saturated. Here it is the greatest traffic that a network accepts before it accepts
 * less than offered; an experiment may also limit the latency (trial.h). The
 * search tries loads on a grid, each 2.5 % above the one before: away from the first guess in
 * growing strides until one load that is accepted and one that is not are known, then by
 * bisection. */

#include <stdbool.h>
#include <stdint.h>

#define SATURATION_STEP 1.025
#define SATURATION_MIN  0.001 /* load of step 0, a share of the hosts' links */

struct saturation {
	int at;        /* step to be tried next */
	int low, high; /* greatest step that was accepted, least one that was not; -1: not known */
	int stride;
	uint64_t messages; /* measured in each run */
	int last;          /* greatest step: 100 % */
	double traffic;    /* accepted at 'low', as given to saturation_take() */
	bool done;
};

/* load: a first guess, a share of the hosts' links above 0. messages: measured in each run, at
 * least 1. */
void saturation_begin(struct saturation *search, double load, uint64_t messages);
/* Restarts with strides of one step at the answer of another search, for example one with
 * shorter runs. messages: measured in each run from now on. */
void saturation_verify(struct saturation *search, uint64_t messages);
/* The load of a step. */
double saturation_load(int step);
/* Takes the result of the load of search->at; 'traffic' in the unit of the answer. */
void saturation_take(struct saturation *search, double offered, double accepted, double traffic);
/* The answer is step search->low and traffic search->traffic; low -1: not even the least load is
 * accepted. */

/* Criteria of reproductions, which differ from the saturation of results
 * (docs/reference/result-file.md, 'Steady and saturated'). */

/* A network accepts less than offered if it accepts less than this share. The value is Weft's:
 * sources with random intervals offer a few percent more or less than their load in a short run. */
#define ACCEPTS_LESS 0.97

/* The same for a search, which knows how many messages a run measured: the network accepts less
 * than offered by more than 1 / sqrt(messages), or by more than ACCEPTS_LESS allows. The threshold
 * is Weft's: short runs end with a larger part of their messages in flight. Accepting more than
 * offered, while a backlog drains, shows nothing. */
bool accepts_less(double offered, double accepted, uint64_t messages);
