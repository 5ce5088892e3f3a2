/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arn_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

void arn_marks_init(struct arn_marks *marks, weft_time ttl_ps)
{
	memset(marks, 0, sizeof(*marks));
	marks->ttl_ps = ttl_ps;
}

int arn_marks_create(struct arn_marks **marks, weft_time ttl_ps)
{
	*marks = NULL;
	if (ttl_ps == 0)
		return 0;
	*marks = malloc(sizeof(**marks));
	if (*marks == NULL)
		return -ENOMEM;
	arn_marks_init(*marks, ttl_ps);
	return 0;
}

/* The first place of a mark; the others follow cyclically. */
static unsigned first_place(uint16_t destination, uint8_t vc)
{
	return (unsigned)(rng_mix((uint64_t)destination << 8 | vc) & (ARN_MARKS - 1));
}

static bool is_of(const struct arn_mark *mark, uint16_t destination, uint8_t vc)
{
	return mark->until_ps != 0 && mark->destination == destination && mark->vc == vc;
}

/* Uses its own place, or evicts the mark that ends first. */
void arn_marks_set(struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now)
{
	unsigned first = first_place(destination, vc);
	struct arn_mark *best = &marks->mark[first];

	for (unsigned i = 0; i < ARN_MARK_PLACES; i++) {
		struct arn_mark *mark = &marks->mark[(first + i) & (ARN_MARKS - 1)];

		if (is_of(mark, destination, vc)) {
			best = mark;
			break;
		}
		if (mark->until_ps < best->until_ps)
			best = mark;
	}
	marks->forgotten += !is_of(best, destination, vc) && best->until_ps > now;
	*best = (struct arn_mark){
		.until_ps = now + marks->ttl_ps, .destination = destination, .vc = vc};
	marks->until_ps = best->until_ps;
}

bool arn_marks_find(const struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now)
{
	unsigned first = first_place(destination, vc);

	for (unsigned i = 0; i < ARN_MARK_PLACES; i++) {
		const struct arn_mark *mark = &marks->mark[(first + i) & (ARN_MARKS - 1)];

		if (is_of(mark, destination, vc))
			return now < mark->until_ps;
	}
	return false;
}
