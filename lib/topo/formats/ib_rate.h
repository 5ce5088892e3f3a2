/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The rates of InfiniBand links as ibnetdiscover writes them: lanes and speed, such as 4xEDR. In
 * bits per second we take the round number that the speed is known by: 10Gbps for 4xSDR, 20 DDR, 40
 * QDR and FDR10, 56 FDR, 100 EDR, 200 HDR, 400 NDR, 800 XDR. (What is left of it for data depends
 * on the coding, 8b/10b up to QDR.)
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IB_RATE_TEXT 16

/* Of "4xEDR"; false if the text is none. */
bool ib_rate_parse(const char *text, size_t length, uint64_t *rate_bps);
/* The fastest link that is not faster, SDR to NDR, four lanes if possible; 1xSDR below that. True
 * if it has exactly this rate. */
bool ib_rate_format(uint64_t rate_bps, char text[IB_RATE_TEXT]);
