/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "congestion.h"

#include <errno.h>
#include <stdlib.h>

#define WHOLE_PPM 1000000

static bool is_valid(const struct congestion_config *config)
{
	if (config->ports == 0 || config->ports > CONGESTION_PORTS_MAX || config->vcs == 0 ||
		config->vcs > FRAME_VCS_MAX || config->hcdth_ppm > WHOLE_PPM ||
		config->lcdth_ppm >= config->hcdth_ppm || config->fcth_ppm > WHOLE_PPM ||
		config->refresh_ps == 0)
		return false;
	for (unsigned port = 0; port < config->ports; port++)
		if (config->vc_blocks[port] == 0)
			return false;
	return true;
}

/* Above the share means more blocks than 'high', below it fewer than 'low'. */
static void set_thresholds(struct congestion *congestion)
{
	const struct congestion_config *config = &congestion->config;

	for (unsigned port = 0; port < config->ports; port++) {
		uint64_t blocks =
			(uint64_t)config->vc_blocks[port] * (config->by_vc ? 1 : config->vcs);

		congestion->high[port] = (uint32_t)(blocks * config->hcdth_ppm / WHOLE_PPM);
		congestion->low[port] =
			(uint32_t)((blocks * config->lcdth_ppm + WHOLE_PPM - 1) / WHOLE_PPM);
	}
}

struct congestion *congestion_create(const struct congestion_config *config)
{
	struct congestion *congestion;

	if (!is_valid(config)) {
		errno = EINVAL;
		return NULL;
	}
	congestion = calloc(1, sizeof(*congestion));
	if (congestion == NULL)
		return NULL;
	congestion->config = *config;
	congestion->cross =
		calloc((size_t)config->ports * config->ports, sizeof(*congestion->cross));
	if (congestion->cross == NULL) {
		free(congestion);
		errno = ENOMEM;
		return NULL;
	}
	congestion->next_due = WEFT_TIME_NEVER;
	congestion->watched = (uint16_t)((1u << config->vcs) - 1);
	if (!config->afc)
		congestion->watched &= (uint16_t) ~(1u << (config->vcs - 1));
	set_thresholds(congestion);
	return congestion;
}

void congestion_destroy(struct congestion *congestion)
{
	if (congestion == NULL)
		return;
	free(congestion->cross);
	free(congestion);
}

static void set_due(struct congestion *congestion, unsigned output, weft_time due)
{
	congestion->output[output].due = due;
	congestion->timed |= BIT64(output);
	if (due < congestion->next_due)
		congestion->next_due = due;
}

static void begin_suspicion(
	struct congestion *congestion, unsigned input, unsigned vc, unsigned output, weft_time now)
{
	struct congestion_output *out = &congestion->output[output];

	out->state = CONGESTION_SUSPECT;
	out->input = (uint8_t)input;
	out->vc = (uint8_t)vc;
	out->since = now;
	congestion->suspicions++;
	set_due(congestion, output, now + congestion->config.crt_ps);
}

/* Neither suspect nor root any more. */
static void end_suspicion(struct congestion *congestion, unsigned output)
{
	struct congestion_output *out = &congestion->output[output];

	out->state = out->passed > 0 ? CONGESTION_BRANCH : CONGESTION_NONE;
	congestion->timed &= ~BIT64(output);
}

static bool gets_away(const struct congestion *congestion, uint32_t free, uint32_t capacity)
{
	return (uint64_t)free * WHOLE_PPM > (uint64_t)capacity * congestion->config.fcth_ppm;
}

/* Where a VOQ has its bit: those that count together are one. */
static unsigned bit_of(const struct congestion *congestion, unsigned vc)
{
	return congestion->config.by_vc ? vc : 0;
}

/* Notes that the VOQ is above HCDTh; true if it was not since it was last below LCDTh. */
static bool note_above(struct congestion *congestion, unsigned input, unsigned vc, unsigned output)
{
	struct congestion_cross *cross = congestion_cross(congestion, output, input);
	uint16_t bit = (uint16_t)(1u << bit_of(congestion, vc));
	bool first = (cross->passed & bit) == 0;

	cross->passed |= bit;
	cross->above |= bit;
	congestion->output[output].above |= BIT64(input);
	congestion->output[output].passed += first;
	return first;
}

static bool is_the_suspect(
	const struct congestion *congestion, unsigned input, unsigned vc, unsigned output)
{
	const struct congestion_output *out = &congestion->output[output];

	return out->state == CONGESTION_SUSPECT && out->input == input &&
	       bit_of(congestion, out->vc) == bit_of(congestion, vc);
}

enum congestion_news congestion_above(struct congestion *congestion, unsigned input, unsigned vc,
	unsigned output, uint32_t free, uint32_t capacity, weft_time now)
{
	struct congestion_output *out = &congestion->output[output];
	enum congestion_retest retest = congestion->config.retest;
	bool first = note_above(congestion, input, vc, output);

	if (out->state == CONGESTION_ROOT)
		return first && congestion->config.all_voqs ? CONGESTION_ROOT_GROWS
							    : CONGESTION_NO_NEWS;
	if (out->state == CONGESTION_SUSPECT) {
		if (retest == CONGESTION_RETEST_HOLDS &&
			is_the_suspect(congestion, input, vc, output) &&
			!gets_away(congestion, free, capacity))
			end_suspicion(congestion, output);
		return CONGESTION_NO_NEWS;
	}
	out->state = CONGESTION_BRANCH;
	if ((first || retest != CONGESTION_RETEST_NEVER) && gets_away(congestion, free, capacity))
		begin_suspicion(congestion, input, vc, output, now);
	return CONGESTION_NO_NEWS;
}

void congestion_shrunk(struct congestion *congestion, unsigned input, unsigned vc, unsigned output,
	uint32_t blocks)
{
	struct congestion_cross *cross = congestion_cross(congestion, output, input);
	struct congestion_output *out = &congestion->output[output];
	uint16_t bit = (uint16_t)(1u << bit_of(congestion, vc));

	if (blocks > congestion->high[input])
		return;
	cross->above &= (uint16_t)~bit;
	if (cross->above == 0)
		out->above &= ~BIT64(input);
	if (blocks >= congestion->low[input] || (cross->passed & bit) == 0)
		return;
	cross->passed &= (uint16_t)~bit;
	out->passed--;
	/* A root stands as long as one of its VOQs does, a suspicion as long as its own. */
	if (out->passed == 0 || is_the_suspect(congestion, input, vc, output))
		end_suspicion(congestion, output);
}

int congestion_poll(struct congestion *congestion, weft_time now, enum congestion_state *what)
{
	weft_time next = WEFT_TIME_NEVER;

	if (now < congestion->next_due)
		return -1;
	for (uint64_t set = congestion->timed; set != 0; set &= set - 1) {
		unsigned at = (unsigned)__builtin_ctzll(set);
		struct congestion_output *out = &congestion->output[at];

		if (now < out->due) {
			next = out->due < next ? out->due : next;
			continue;
		}
		*what = out->state;
		if (out->state == CONGESTION_ROOT)
			out->due = now + congestion->config.refresh_ps;
		return (int)at;
	}
	congestion->next_due = next;
	return -1;
}

bool congestion_confirm(struct congestion *congestion, unsigned output, uint32_t free,
	uint32_t capacity, weft_time now)
{
	struct congestion_output *out = &congestion->output[output];
	const struct congestion_cross *cross = congestion_cross(congestion, output, out->input);
	bool above = (cross->above >> bit_of(congestion, out->vc) & 1) != 0;

	if (!above || !gets_away(congestion, free, capacity)) {
		end_suspicion(congestion, output);
		return false;
	}
	out->state = CONGESTION_ROOT;
	out->since = now;
	out->life++;
	congestion->roots++;
	set_due(congestion, output, now + congestion->config.refresh_ps);
	return true;
}

uint64_t congestion_speakers(const struct congestion *congestion, unsigned output)
{
	const struct congestion_output *out = &congestion->output[output];

	return congestion->config.all_voqs ? out->above : BIT64(out->input);
}

uint16_t congestion_speaking_vcs(
	const struct congestion *congestion, unsigned output, unsigned input)
{
	const struct congestion_cross *cross = congestion_cross(congestion, output, input);

	if (!congestion->config.by_vc)
		return (uint16_t)(1u << cross->recent);
	return congestion->config.all_voqs ? cross->above
					   : (uint16_t)(1u << congestion->output[output].vc);
}

void congestion_reset_output(struct congestion *congestion, unsigned output)
{
	struct congestion_output *out = &congestion->output[output];

	for (unsigned input = 0; input < congestion->config.ports; input++)
		*congestion_cross(congestion, output, input) = (struct congestion_cross){0};
	*out = (struct congestion_output){.life = out->life};
	congestion->timed &= ~BIT64(output);
}

static const char *check_output(const struct congestion *congestion, unsigned output)
{
	const struct congestion_output *out = &congestion->output[output];
	bool timed = (congestion->timed & BIT64(output)) != 0;
	uint64_t above = 0;
	unsigned passed = 0;

	for (unsigned input = 0; input < congestion->config.ports; input++) {
		const struct congestion_cross *cross = congestion_cross(congestion, output, input);

		if ((cross->above & ~cross->passed) != 0)
			return "a VOQ is above HCDTh and has not passed it";
		passed += (unsigned)__builtin_popcount(cross->passed);
		above |= cross->above != 0 ? BIT64(input) : 0;
	}
	if (passed != out->passed)
		return "an output's counter is not the number of its VOQs that passed HCDTh";
	if (above != out->above)
		return "an output's set of inputs is not that of its VOQs above HCDTh";
	if ((out->state == CONGESTION_NONE) != (passed == 0))
		return "an output without VOQs that passed HCDTh has a state, or one with them none";
	if (timed != (out->state == CONGESTION_SUSPECT || out->state == CONGESTION_ROOT))
		return "a time runs where nothing is suspected, or none where something is";
	if (timed && out->due < congestion->next_due)
		return "a time comes before the next one";
	return NULL;
}

const char *congestion_check(const struct congestion *congestion)
{
	const char *wrong = NULL;

	for (unsigned output = 0; output < congestion->config.ports && wrong == NULL; output++)
		wrong = check_output(congestion, output);
	return wrong;
}
