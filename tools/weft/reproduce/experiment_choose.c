/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The parts of a definition that a user asks for: --quick, --only, --instances, messages, and {n}.
 */

#include "experiment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned experiment_find(const struct experiment_list *list, const char *name)
{
	unsigned i = 0;

	while (i < list->count && strcmp(list->at[i].name, name) != 0)
		i++;
	return i;
}

bool experiment_names(const char *words, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = words; (at = strstr(at, name)) != NULL; at += length)
		if ((at == words || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
			return true;
	return false;
}

/* Keeps those that the words name; all if there are none. */
static int keep(struct experiment_list *list, const char *words,
	const struct experiment *experiment, struct fault *fault)
{
	unsigned kept = 0;

	if (words[0] == '\0')
		return 0;
	for (unsigned i = 0; i < list->count; i++) {
		if (experiment_names(words, list->at[i].name)) {
			struct experiment_choice choice = list->at[i];

			list->at[i] = list->at[kept];
			list->at[kept++] = choice;
		}
	}
	for (unsigned i = kept; i < list->count; i++)
		experiment_choice_fini(&list->at[i]);
	list->count = kept;
	if (kept > 0)
		return 0;
	return fault_set(fault, EINVAL, "%s: quick: '%s' names nothing that is there",
		experiment->origin, words);
}

int experiment_reduce(struct experiment *experiment, struct fault *fault)
{
	const struct experiment_quick *quick = &experiment->quick;
	int result = keep(&experiment->networks, quick->networks, experiment, fault);

	if (result == 0)
		result = keep(&experiment->cases, quick->cases, experiment, fault);
	if (result == 0)
		result = keep(&experiment->algorithms, quick->algorithms, experiment, fault);
	for (unsigned i = 0; i < experiment->networks.count; i++)
		if (experiment->networks.at[i].copies > quick->copies)
			experiment->networks.at[i].copies = quick->copies;
	experiment->warmup_messages = quick->warmup_messages;
	experiment->messages = quick->messages;
	experiment->loads = quick->loads;
	experiment->unit_ps = quick->unit_ps;
	experiment->reduced = true;
	experiment->tolerance_ppm = quick->tolerance_ppm;
	experiment->order_ppm = quick->tolerance_ppm;
	return result;
}

static bool varies(const struct experiment_list *list, unsigned at)
{
	bool found = false;

	for (unsigned i = 0; i < list->at[at].sets; i++)
		found = found || strstr(list->at[at].set[i], "{n") != NULL;
	return found;
}

static bool any_varies(const struct experiment_list *list)
{
	bool found = false;

	for (unsigned i = 0; i < list->count; i++)
		found = found || varies(list, i);
	return found;
}

bool experiment_has_instances(const struct experiment *experiment)
{
	return any_varies(&experiment->networks) || any_varies(&experiment->cases) ||
	       any_varies(&experiment->algorithms);
}

int experiment_set_instances(struct experiment *experiment, unsigned count, struct fault *fault)
{
	bool all = any_varies(&experiment->cases) || any_varies(&experiment->algorithms);
	bool found = false;

	for (unsigned i = 0; i < experiment->networks.count; i++) {
		if (!all && !varies(&experiment->networks, i))
			continue;
		experiment->networks.at[i].copies = count;
		found = true;
	}
	experiment->instances = found ? count : 0;
	if (found)
		return 0;
	return fault_set(fault, EINVAL,
		"%s: --instances: expected a definition with {n}, found none", experiment->origin);
}

/* 0, or -EINVAL if the runs last as long as their file says. */
static int expect_messages(
	const struct experiment *experiment, const char *option, struct fault *fault)
{
	if (experiment_counts_messages(experiment))
		return 0;
	return fault_set(fault, EINVAL,
		"%s: %s: expected a definition whose runs count messages, found the measure '%s', "
		"whose runs last as long as %s says",
		experiment->origin, option, experiment_measure_name(experiment->measure),
		experiment->run_file);
}

int experiment_set_warmup(struct experiment *experiment, uint64_t messages, struct fault *fault)
{
	int result = expect_messages(experiment, "--warmup", fault);

	if (result == 0 && messages > 0 && experiment->measure == EXPERIMENT_SETTLING)
		result = fault_set(fault, EINVAL,
			"%s: --warmup: expected 0, found %" PRIu64
			": the measure 'settling' begins with the first message",
			experiment->origin, messages);
	if (result == 0)
		experiment->warmup_messages = messages;
	return result;
}

int experiment_set_latency_limit(
	struct experiment *experiment, uint64_t limit_ps, struct fault *fault)
{
	if (experiment->measure != EXPERIMENT_SATURATION)
		return fault_set(fault, EINVAL,
			"%s: --latency-limit: expected a definition that measures productivity, found "
			"the measure '%s'",
			experiment->origin, experiment_measure_name(experiment->measure));
	experiment->latency_limit_ps = limit_ps;
	return 0;
}

int experiment_set_messages(struct experiment *experiment, uint64_t messages, struct fault *fault)
{
	int result = expect_messages(experiment, "--messages", fault);

	if (result == 0)
		experiment->messages = messages;
	return result;
}

/* The words that are in the list, joined by commas. */
static int words_of(const struct experiment_list *list, const char *words,
	char out[EXPERIMENT_TEXT], unsigned *known)
{
	size_t used = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < list->count; i++) {
		if (list->at[i].name[0] == '\0' || !experiment_names(words, list->at[i].name))
			continue;
		used += (size_t)snprintf(out + used, EXPERIMENT_TEXT - used, "%s%s",
			used > 0 ? "," : "", list->at[i].name);
		if (used >= EXPERIMENT_TEXT)
			return -EINVAL;
		(*known)++;
	}
	return 0;
}

unsigned experiment_count_words(const char *words)
{
	unsigned count = 1;

	for (; *words != '\0'; words++)
		count += *words == ',';
	return count;
}

int experiment_select(struct experiment *experiment, const char *words, struct fault *fault)
{
	struct experiment_list *lists[] = {
		&experiment->networks, &experiment->cases, &experiment->algorithms};
	unsigned known = 0;
	int result = 0;

	for (unsigned i = 0; i < 3 && result == 0; i++) {
		char some[EXPERIMENT_TEXT];

		result = words_of(lists[i], words, some, &known);
		if (result == 0)
			result = keep(lists[i], some, experiment, fault);
	}
	if (result == 0 && known < experiment_count_words(words))
		result = -EINVAL;
	if (result == 0)
		return 0;
	return fault_set(fault, EINVAL,
		"%s: '%s' has a word that is no network, case or algorithm of it", experiment->name,
		words);
}

/* "{n}" or "{n*FACTOR}" at the beginning of a text: its length, 0 if there is none. */
static int read_mark(const char *text, unsigned *factor)
{
	int length = 0;

	*factor = 1;
	if (strncmp(text, "{n}", 3) == 0)
		return 3;
	if (sscanf(text, "{n*%4u}%n", factor, &length) == 1)
		return length;
	return 0;
}

char *experiment_expand(const char *text, unsigned n)
{
	char *out = malloc(strlen(text) * 4 + 16), *to = out;

	while (out != NULL && *text != '\0') {
		unsigned factor;
		int mark = read_mark(text, &factor);

		if (mark > 0)
			to += sprintf(to, "%u", n * factor);
		else
			*to++ = *text;
		text += mark > 0 ? mark : 1;
	}
	if (out != NULL)
		*to = '\0';
	return out;
}
