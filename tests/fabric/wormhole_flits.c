/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Runs a case with the reference model. */

#include <stdlib.h>
#include <string.h>

#include "wormhole_case.h"

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (memory == NULL)
		abort();
	return memory;
}

void wormhole_outcome_begin(const struct wormhole_case *the_case, struct wormhole_outcome *outcome)
{
	uint32_t links = the_case->topology->links;

	memset(outcome, 0, sizeof(*outcome));
	outcome->fate = allocate(the_case->messages, sizeof(*outcome->fate));
	outcome->carried = allocate(2 * (size_t)links, sizeof(*outcome->carried));
	outcome->stopped = allocate(2 * (size_t)links, sizeof(*outcome->stopped));
	for (uint32_t i = 0; i < the_case->messages; i++)
		outcome->fate[i] =
			(struct wormhole_fate){FLIT_NEVER, FLIT_NEVER, FLIT_NEVER, FLIT_NEVER};
}

void wormhole_outcome_free(struct wormhole_outcome *outcome)
{
	free(outcome->fate);
	free(outcome->mark);
	free(outcome->carried);
	free(outcome->stopped);
}

static void copy_fates(struct wormhole_outcome *outcome, const struct wormhole_case *the_case,
	const struct flit_model *model)
{
	for (uint32_t i = 0; i < the_case->messages; i++) {
		const struct flit_fate *fate = flit_model_fate(model, i);

		outcome->fate[i] = (struct wormhole_fate){
			.chosen = fate->sent == FLIT_NEVER ? FLIT_NEVER : fate->chosen,
			.left = fate->left,
			.sent = fate->sent,
			.tail = fate->tail,
			.itbs = fate->itbs,
			.discarded = fate->discarded != FLIT_NEVER};
		outcome->absorbed += fate->itbs;
		outcome->discards += fate->discarded != FLIT_NEVER;
		/* Nothing stops a host: after its header, a message arrives without gaps. */
		if (fate->tail != FLIT_NEVER &&
			fate->tail - fate->first + 1 != the_case->message[i].bytes)
			snprintf(outcome->broken, sizeof(outcome->broken),
				"message %u came with gaps", i);
	}
}

/* Runs to the end, or to 'until' even if nothing moves any more. Checking the accounts from time to
 * time shows when they became wrong. */
static void run(const struct wormhole_case *the_case, struct flit_model *model)
{
	bool going = true;

	while (going && flit_model_broken(model) == NULL)
		for (unsigned i = 0; i < 1000 && going; i++) {
			going = flit_model_cycle(model) < the_case->until;
			if (the_case->until == FLIT_NEVER)
				going = !flit_model_over(model) && !flit_model_stuck(model);
			if (going)
				flit_model_step(model);
		}
}

void wormhole_run_flits(const struct wormhole_case *the_case, struct wormhole_outcome *outcome)
{
	struct flit_model *model = flit_model_create(
		the_case->topology, &the_case->parameters, the_case->message, the_case->messages);
	const struct flit_mark *mark;

	if (model == NULL)
		abort();
	wormhole_outcome_begin(the_case, outcome);
	run(the_case, model);
	if (flit_model_broken(model) != NULL)
		snprintf(outcome->broken, sizeof(outcome->broken), "in cycle %llu: %s",
			(unsigned long long)flit_model_cycle(model), flit_model_broken(model));
	copy_fates(outcome, the_case, model);
	outcome->stuck = flit_model_stuck(model);
	outcome->pool_peak = flit_model_pool_peak(model);
	for (uint32_t i = 0; i < 2 * the_case->topology->links; i++) {
		struct topology_port sender = wormhole_case_sender(the_case, i);

		outcome->carried[i] = flit_model_carried(model, sender);
		outcome->stopped[i] = flit_model_stopped(model, sender);
	}
	outcome->marks = flit_model_marks(model, &mark);
	outcome->mark = allocate(outcome->marks, sizeof(*mark));
	if (outcome->marks > 0)
		memcpy(outcome->mark, mark, outcome->marks * sizeof(*mark));
	flit_model_destroy(model);
}
