/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The known name that is nearest to a misspelt one, for messages: offer every known name, then ask.
 * Distance is Levenshtein's, a swap of neighbours counting one.
 */

struct did_you_mean {
	const char *text;  /* as written */
	const char *best;  /* of the names offered so far; NULL if none is near */
	unsigned distance; /* of 'best' */
};

void did_you_mean_init(struct did_you_mean *nearest, const char *text);
/* 'name' must live as long as 'nearest'. Of equally near names the first stays. */
void did_you_mean_offer(struct did_you_mean *nearest, const char *name);

/* Insertions, deletions, changes and swaps between the two; UINT_MAX for names over 63 bytes. */
unsigned did_you_mean_distance(const char *a, const char *b);
