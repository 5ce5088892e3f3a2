/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "distribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "mapper_agent.h"

int distribution_init(struct distribution *distribution, const struct distribution_config *config,
	const struct fabric_map *map, struct mapper_speaker *speaker)
{
	*distribution = (struct distribution){
		.config = *config, .map = map, .speaker = speaker, .room = 64};
	distribution->target = calloc(distribution->room, sizeof(*distribution->target));
	return distribution->target == NULL ? -ENOMEM : 0;
}

static void free_images(struct distribution *distribution)
{
	for (uint32_t i = 0; i < distribution->targets; i++)
		free(distribution->target[i].image.bytes);
	distribution->targets = 0;
}

void distribution_fini(struct distribution *distribution)
{
	free_images(distribution);
	free(distribution->target);
	free(distribution->target_of);
	distribution->target = NULL;
	distribution->target_of = NULL;
}

int distribution_clear(struct distribution *distribution)
{
	uint32_t devices = distribution->map->devices;
	uint32_t *target_of = realloc(distribution->target_of, (devices + 1u) * sizeof(*target_of));

	if (target_of == NULL)
		return -ENOMEM;
	free_images(distribution);
	distribution->target_of = target_of;
	distribution->known = devices;
	memset(target_of, 0xFF, devices * sizeof(*target_of));
	distribution->step = DISTRIBUTION_IDLE;
	return 0;
}

int distribution_add(
	struct distribution *distribution, uint32_t device, const struct table_image *image)
{
	if (!array_reserve(&distribution->target, &distribution->room, distribution->targets + 1u,
		    sizeof(*distribution->target)))
		return -ENOMEM;
	distribution->target_of[device] = distribution->targets;
	distribution->target[distribution->targets++] =
		(struct distribution_target){.device = device, .image = *image};
	return 0;
}

static bool concerns(enum distribution_step step, const struct distribution_target *target)
{
	if (step == DISTRIBUTION_PREPARE || step == DISTRIBUTION_COMMIT)
		return target->image.bytes != NULL;
	return true;
}

/* Starts a step. Devices that failed in an earlier step are skipped. */
static void begin(struct distribution *distribution, enum distribution_step step)
{
	distribution->step = step;
	distribution->next = distribution->open = 0;
	distribution->outstanding = 0;
	distribution->round_idle = true;
	distribution->round++;
	for (uint32_t i = 0; i < distribution->targets; i++) {
		struct distribution_target *target = &distribution->target[i];

		target->asked = false;
		target->tries = 0;
		target->done = target->failed || !concerns(step, target);
		distribution->open += !target->done;
	}
}

static void begin_round(struct distribution *distribution, weft_time now)
{
	begin(distribution, DISTRIBUTION_DRAIN);
	distribution->round_at = now + distribution->config.settle_ps;
}

static void end_round(struct distribution *distribution, weft_time now)
{
	distribution->idle_rounds = distribution->round_idle ? distribution->idle_rounds + 1 : 0;
	distribution->drained = distribution->idle_rounds == 2;
	if (!distribution->drained && now < distribution->drain_until) {
		begin_round(distribution, now);
	} else if (distribution->drained || distribution->purge) {
		begin(distribution, DISTRIBUTION_COMMIT);
	} else {
		distribution->purge = true;
		distribution->purges++;
		begin(distribution, DISTRIBUTION_PURGE);
	}
}

static void advance(struct distribution *distribution, weft_time now)
{
	switch (distribution->step) {
	case DISTRIBUTION_PREPARE:
		begin(distribution, distribution->pause ? DISTRIBUTION_PAUSE : DISTRIBUTION_COMMIT);
		break;
	case DISTRIBUTION_PAUSE:
	case DISTRIBUTION_PURGE:
		/* A purged device may still receive packets from a neighbour that is not yet
		 * purged, so draining is checked again after a purge. */
		distribution->idle_rounds = 0;
		distribution->drain_until = now + distribution->config.drain_ps;
		begin_round(distribution, now);
		break;
	case DISTRIBUTION_DRAIN:
		end_round(distribution, now);
		break;
	case DISTRIBUTION_COMMIT:
		distribution->changes++;
		if (distribution->pause)
			begin(distribution, DISTRIBUTION_RESUME);
		else
			distribution->step = DISTRIBUTION_IDLE;
		break;
	case DISTRIBUTION_ABORT:
		if (distribution->pause)
			begin(distribution, DISTRIBUTION_RESUME);
		else
			distribution->step = DISTRIBUTION_IDLE;
		break;
	default:
		distribution->step = DISTRIBUTION_IDLE;
	}
}

/* Completes steps that involve no device immediately. */
static void advance_while_complete(struct distribution *distribution, weft_time now)
{
	while (distribution->step != DISTRIBUTION_IDLE && distribution->open == 0)
		advance(distribution, now);
}

void distribution_start(
	struct distribution *distribution, uint32_t epoch, bool pause, weft_time now)
{
	distribution->epoch = epoch;
	distribution->pause = pause;
	distribution->pauses += pause;
	distribution->purge = distribution->drained = false;
	distribution->failed = distribution->incomplete = false;
	distribution->greater = 0;
	distribution->greater_priority = 0;
	for (uint32_t i = 0; i < distribution->targets; i++)
		distribution->target[i].staged = 0;
	begin(distribution, DISTRIBUTION_PREPARE);
	advance_while_complete(distribution, now);
}

void distribution_stop(struct distribution *distribution)
{
	distribution->step = DISTRIBUTION_IDLE;
	/* The higher mapper may be gone when this one leads again. */
	distribution->greater = 0;
	distribution->greater_priority = 0;
}

static void finish_target(struct distribution *distribution, struct distribution_target *target)
{
	if (target->asked)
		distribution->outstanding--;
	target->asked = false;
	target->done = true;
	distribution->open--;
}

static bool is_before_commit(const struct distribution *distribution)
{
	return distribution->step == DISTRIBUTION_PREPARE ||
	       distribution->step == DISTRIBUTION_PAUSE ||
	       distribution->step == DISTRIBUTION_DRAIN || distribution->step == DISTRIBUTION_PURGE;
}

/* Also fails other devices that were asked equally often without success and had time to answer,
 * because a loss on the path to one device affects all devices beyond it. */
static void refuse_silent(struct distribution *distribution, weft_time now)
{
	weft_time late = now + distribution->config.retry_ps / 2;

	for (uint32_t i = 0; i < distribution->targets; i++) {
		struct distribution_target *target = &distribution->target[i];

		if (target->asked && target->tries == distribution->config.tries &&
			target->due <= late)
			target->failed = target->refused = true;
	}
}

/* Handles a device that does not answer, or refuses. Before the first commit, this cancels the
 * distribution; afterwards, the device keeps its current tables. */
static void fail_target(
	struct distribution *distribution, struct distribution_target *target, weft_time now)
{
	finish_target(distribution, target);
	target->failed = true;
	if (distribution->step == DISTRIBUTION_PREPARE) {
		target->refused = true;
		refuse_silent(distribution, now);
	}
	if (is_before_commit(distribution)) {
		distribution->failed = true;
		begin(distribution, DISTRIBUTION_ABORT);
	} else if (distribution->step == DISTRIBUTION_COMMIT) {
		distribution->incomplete = true;
	}
	advance_while_complete(distribution, now);
}

void distribution_call_off(struct distribution *distribution, weft_time now)
{
	if (!is_before_commit(distribution))
		return;
	distribution->failed = true;
	begin(distribution, DISTRIBUTION_ABORT);
	advance_while_complete(distribution, now);
}

void distribution_lose(struct distribution *distribution, uint32_t device, weft_time now)
{
	struct distribution_target *target;

	if (distribution->step == DISTRIBUTION_IDLE || device >= distribution->known ||
		distribution->target_of[device] == MAP_NONE)
		return;
	target = &distribution->target[distribution->target_of[device]];
	if (!target->failed && !target->done)
		fail_target(distribution, target, now);
	target->failed = true;
	target->refused = false;
}

static void fill_question(const struct distribution *distribution,
	const struct distribution_target *target, struct mapper_message *message)
{
	static const uint8_t phases[] = {[DISTRIBUTION_PAUSE] = MAPPER_PAUSE,
		[DISTRIBUTION_DRAIN] = MAPPER_PAUSE,
		[DISTRIBUTION_PURGE] = MAPPER_PAUSE,
		[DISTRIBUTION_COMMIT] = MAPPER_COMMIT,
		[DISTRIBUTION_RESUME] = MAPPER_RESUME,
		[DISTRIBUTION_ABORT] = MAPPER_ABORT};
	uint32_t left = target->image.length - target->staged;

	if (distribution->step != DISTRIBUTION_PREPARE) {
		message->type = MAPPER_PHASE;
		message->phase = (struct mapper_phase){.epoch = distribution->epoch,
			.command = phases[distribution->step],
			.round = distribution->round};
		if (distribution->step == DISTRIBUTION_PURGE)
			message->phase.flags = MAPPER_PHASE_PURGE;
		return;
	}
	message->type = MAPPER_TABLE;
	message->table = (struct mapper_table){.epoch = distribution->epoch,
		.total = target->image.length,
		.offset = target->staged,
		.bytes = (uint16_t)(left < distribution->config.part_bytes
					    ? left
					    : distribution->config.part_bytes),
		.data = target->image.bytes + target->staged};
}

static void build_question(struct distribution *distribution, struct distribution_target *target,
	weft_time now, struct mapper_frame *frame)
{
	struct mapper_message message;

	memset(&message, 0, sizeof(message));
	fill_question(distribution, target, &message);
	message.command.priority = distribution->config.priority;
	message.command.session = distribution->config.session;
	map_command_build(
		distribution->map, target->device, distribution->speaker, &message, frame);
	target->due = now + distribution->config.retry_ps;
	target->tries++;
	distribution->sent++;
}

static struct distribution_target *late_target(struct distribution *distribution, weft_time now)
{
	for (uint32_t i = 0, left = distribution->outstanding; left > 0; i++) {
		struct distribution_target *target = &distribution->target[i];

		if (!target->asked)
			continue;
		left--;
		if (now >= target->due)
			return target;
	}
	return NULL;
}

static struct distribution_target *next_target(struct distribution *distribution)
{
	while (distribution->next < distribution->targets) {
		struct distribution_target *target = &distribution->target[distribution->next];

		if (!target->done && !target->asked)
			return target;
		distribution->next++;
	}
	return NULL;
}

bool distribution_poll(struct distribution *distribution, weft_time now, struct mapper_frame *frame)
{
	struct distribution_target *target;

	while (distribution->step != DISTRIBUTION_IDLE &&
		(target = late_target(distribution, now)) != NULL) {
		if (target->tries == distribution->config.tries) {
			fail_target(distribution, target, now);
			continue;
		}
		distribution->retried += target->tries > 0;
		build_question(distribution, target, now, frame);
		return true;
	}
	if (distribution->step == DISTRIBUTION_IDLE ||
		distribution->outstanding >= distribution->config.outstanding ||
		(distribution->step == DISTRIBUTION_DRAIN && now < distribution->round_at))
		return false;
	target = next_target(distribution);
	if (target == NULL)
		return false;
	target->asked = true;
	distribution->outstanding++;
	build_question(distribution, target, now, frame);
	return true;
}

weft_time distribution_due(const struct distribution *distribution, weft_time now)
{
	weft_time due = WEFT_TIME_NEVER;

	if (distribution->step == DISTRIBUTION_IDLE)
		return due;
	if (distribution->step == DISTRIBUTION_DRAIN && now < distribution->round_at)
		return distribution->round_at;
	/* Some devices have not been asked yet and may be asked now. */
	if (distribution->open > distribution->outstanding &&
		distribution->outstanding < distribution->config.outstanding)
		return now;
	for (uint32_t i = 0, left = distribution->outstanding; left > 0; i++) {
		if (!distribution->target[i].asked)
			continue;
		left--;
		if (distribution->target[i].due < due)
			due = distribution->target[i].due;
	}
	return due;
}

/* Effect of a status on the step: the device is done, is asked again, or refuses. */
enum verdict { SATISFIED, AGAIN, UNWILLING };

static enum verdict evaluate(struct distribution *distribution, struct distribution_target *target,
	const struct mapper_status *status)
{
	bool paused = (status->flags & MAPPER_STATUS_PAUSED) != 0;

	switch (distribution->step) {
	case DISTRIBUTION_PREPARE:
		if (status->stage == MAPPER_STAGE_READY)
			return SATISFIED;
		if (status->stage == MAPPER_STAGE_REFUSED ||
			status->staged_bytes > target->image.length)
			return UNWILLING;
		if (status->staged_bytes > target->staged)
			target->tries = 0;
		target->staged = status->staged_bytes;
		return AGAIN;
	case DISTRIBUTION_PAUSE:
	case DISTRIBUTION_PURGE:
		return paused ? SATISFIED : AGAIN;
	case DISTRIBUTION_DRAIN:
		if (!paused || (status->flags & MAPPER_STATUS_IDLE) == 0)
			distribution->round_idle = false;
		return SATISFIED;
	case DISTRIBUTION_COMMIT:
		return status->committed == distribution->epoch ? SATISFIED : AGAIN;
	case DISTRIBUTION_RESUME:
		return paused ? AGAIN : SATISFIED;
	default:
		return SATISFIED;
	}
}

static void record_greater(struct distribution *distribution, const struct mapper_status *status)
{
	if (status->followed == 0 ||
		!mapper_greater(status->followed_priority, status->followed,
			distribution->config.priority, distribution->speaker->id))
		return;
	distribution->greater = status->followed;
	distribution->greater_priority = status->followed_priority;
}

void distribution_on_status(struct distribution *distribution, uint32_t device,
	const struct mapper_status *status, weft_time now)
{
	struct distribution_target *target;

	if (distribution->step == DISTRIBUTION_IDLE || device >= distribution->known ||
		distribution->target_of[device] == MAP_NONE ||
		status->epoch != distribution->epoch ||
		(distribution->step != DISTRIBUTION_PREPARE &&
			status->round != distribution->round))
		return;
	target = &distribution->target[distribution->target_of[device]];
	record_greater(distribution, status);
	if (!target->asked || distribution->greater != 0)
		return;
	switch (evaluate(distribution, target, status)) {
	case SATISFIED:
		finish_target(distribution, target);
		advance_while_complete(distribution, now);
		break;
	case AGAIN:
		/* Asks immediately if the device has made progress, otherwise at the next retry. */
		if (target->tries == 0)
			target->due = now;
		break;
	default:
		fail_target(distribution, target, now);
	}
}
