/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The rates of InfiniBand links as ibnetdiscover writes them: lanes and speed, such as 4xEDR. In
 * bits per second they are the nominal rates: 10Gbps for 4xSDR, 20 DDR, 40 QDR and FDR10, 56 FDR,
 * 100 EDR, 200 HDR, 400 NDR, 800 XDR. (The data rate is lower by the coding, 8b/10b up to QDR.)
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IB_RATE_TEXT 16

/* Parses a text such as "4xEDR"; false if it is not a rate. */
bool ib_rate_parse(const char *text, size_t length, uint64_t *rate_bps);
/* The fastest link of at most 'rate_bps', SDR to NDR, four lanes if possible; 1xSDR if none. True
 * if the rate is exact. */
bool ib_rate_format(uint64_t rate_bps, char text[IB_RATE_TEXT]);
