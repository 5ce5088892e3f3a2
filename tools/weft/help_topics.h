/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The topics of 'weft help TOPIC': what a newcomer needs before the first manual page. */

struct help_topic {
	const char *name;
	const char *title; /* a few words, for the list of topics */
	const char *text;  /* ends with a new line */
};

/* Ends with an entry without a name. */
extern const struct help_topic help_topics[];

/* NULL: no topic has this name. */
const struct help_topic *help_topic_find(const char *name);
