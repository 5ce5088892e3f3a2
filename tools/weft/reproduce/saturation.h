/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The productivity of a network (Flich's thesis, section 4.2): the greatest traffic that it
 * accepts. Searched on a grid of loads, each 2.5 % above the one before, for the greatest load of
 * which at least 97 % are accepted: away from the first guess in growing strides until a load that
 * is accepted and one that is not are known, then by bisection between the two.
 */

#include <stdbool.h>
#include <stdint.h>

#define PRODUCTIVITY_STEP     1.025
#define PRODUCTIVITY_ACCEPTED 0.97
#define PRODUCTIVITY_LEAST    0.001 /* load of step 0, a share of the hosts' links */

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
/* Begins anew with strides of one step where another search, of shorter runs, say, has ended. */
void saturation_verify(struct saturation *search);
/* The load of a step. */
double saturation_load(int step);
/* What the load of search->at came to; 'traffic' in whatever unit the answer is wanted in. */
void saturation_take(struct saturation *search, double offered, double accepted, double traffic);
/* Step and traffic of the answer are search->low and search->traffic; low -1: not even the least
 * load is accepted. */
