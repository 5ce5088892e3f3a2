/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The figures of an experiment on the axes of the original: latency against accepted traffic in
 * flits/ns/switch, efficiency against time, or normalised throughput against load; a picture for
 * each network and case, of its first instance. */

#include "trial.h"

/* Draws NAME-NETWORK-CASE.png into a folder, which is made if it is not there, and names them on
 * 'out'. */
int reproduce_plot(const struct experiment *experiment, const struct trial *trial, unsigned trials,
	const char *folder, FILE *out, struct fault *fault);
