/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Finds the known name closest to a misspelt one, for messages: offer every known name, then read
 * 'best'. Distance is Levenshtein's, where a swap of neighbouring letters counts one. */

#define DID_YOU_MEAN_KNOWN 384

struct did_you_mean {
	const char *text;               /* as written */
	const char *best;               /* of the names offered so far; NULL if none is close */
	unsigned distance;              /* of 'best' */
	char known[DID_YOU_MEAN_KNOWN]; /* the names offered so far: "a, b, c", cut if too long */
	unsigned used;                  /* bytes of 'known' */
};

void did_you_mean_init(struct did_you_mean *nearest, const char *text);
/* 'name' must live as long as 'nearest'. Of equally close names the first is kept. */
void did_you_mean_offer(struct did_you_mean *nearest, const char *name);

/* Insertions, deletions, substitutions and swaps between 'a' and 'b'; UINT_MAX over 63 bytes. */
unsigned did_you_mean_distance(const char *a, const char *b);
