/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The saturation of a network (productivity in Flich's thesis, section 4.2): the greatest
 * traffic that it accepts. Searched on a grid of loads, each 2.5 % above the one before, for the
 * greatest load of which at least 97 % are accepted: away from the first guess in growing
 * strides until one accepted load and one refused load are known, then by bisection. */

#include <stdbool.h>
#include <stdint.h>

#include "saturation_limit.h"

#define SATURATION_STEP  1.025
#define SATURATION_LEAST 0.001 /* load of step 0, a share of the hosts' links */

struct saturation {
	int at;        /* step to be tried next */
	int low, high; /* greatest step that was accepted, least one that was not; -1: not known */
	int stride;
	int last;       /* greatest step: 100 % */
	double traffic; /* accepted at 'low', as given to saturation_take() */
	bool done;
};

/* load: a first guess, a share of the hosts' links above 0. */
void saturation_begin(struct saturation *search, double load);
/* Restarts with strides of one step at the answer of another search, for example one with
 * shorter runs. */
void saturation_verify(struct saturation *search);
/* The load of a step. */
double saturation_load(int step);
/* Takes the result of the load of search->at; 'traffic' in the unit of the answer. */
void saturation_take(struct saturation *search, double offered, double accepted, double traffic);
/* The answer is step search->low and traffic search->traffic; low -1: not even the least load is
 * accepted. */
