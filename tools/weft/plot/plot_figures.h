/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Figures of papers that only 'weft reproduce' draws, as gnuplot's commands. */

#include "plot_look.h"

/* A bar of each curve in every group, with its interval. */
void plot_write_bars(struct plot_writer *writer);
/* A map for each curve, side by side, all in the colours of one scale. */
void plot_write_maps(struct plot_writer *writer);
/* Total latency against the offered load; a logarithmic axis if values are far apart. */
void plot_write_latency_load(struct plot_writer *writer);
/* Latency of each sample over time. */
void plot_write_latency_time(struct plot_writer *writer);
