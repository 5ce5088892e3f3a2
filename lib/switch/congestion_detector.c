/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "congestion_detector.h"

#include <errno.h>
#include <stdlib.h>

#define WHOLE_PPM 1000000

static bool is_valid(const struct congestion_detector_config *config)
{
	if (config->ports - 1u >= PORT_SET_LIMIT || config->vcs == 0 ||
		config->vcs > FRAME_VCS_MAX || config->hcdth_ppm > WHOLE_PPM ||
		config->lcdth_ppm >= config->hcdth_ppm || config->fcth_ppm > WHOLE_PPM ||
		config->refresh_ps == 0)
		return false;
	for (unsigned port = 0; port < config->ports; port++)
		if (config->vc_blocks[port] == 0)
			return false;
	return true;
}

/* Above a threshold means more blocks than 'high'; below it means fewer than 'low'. */
static void set_thresholds(struct congestion_detector *detector)
{
	const struct congestion_detector_config *config = &detector->config;

	for (unsigned port = 0; port < config->ports; port++) {
		uint64_t blocks =
			(uint64_t)config->vc_blocks[port] * (config->by_vc ? 1 : config->vcs);

		detector->high[port] = (uint32_t)(blocks * config->hcdth_ppm / WHOLE_PPM);
		detector->low[port] =
			(uint32_t)((blocks * config->lcdth_ppm + WHOLE_PPM - 1) / WHOLE_PPM);
	}
}

struct congestion_detector *congestion_detector_create(
	const struct congestion_detector_config *config)
{
	struct congestion_detector *detector;

	if (!is_valid(config)) {
		errno = EINVAL;
		return NULL;
	}
	detector = calloc(1, sizeof(*detector));
	if (detector == NULL)
		return NULL;
	detector->config = *config;
	detector->cross = calloc((size_t)config->ports * config->ports, sizeof(*detector->cross));
	if (detector->cross == NULL) {
		free(detector);
		errno = ENOMEM;
		return NULL;
	}
	detector->crowded = config->by_vc ? PORT_SET_NONE : ~PORT_SET_NONE;
	detector->next_due = WEFT_TIME_NEVER;
	detector->watched = (uint16_t)((1u << config->vcs) - 1);
	if (!config->afc)
		detector->watched &= (uint16_t) ~(1u << (config->vcs - 1));
	set_thresholds(detector);
	return detector;
}

void congestion_detector_destroy(struct congestion_detector *detector)
{
	if (detector == NULL)
		return;
	free(detector->cross);
	free(detector);
}

static void set_due(struct congestion_detector *detector, unsigned output, weft_time due)
{
	detector->output[output].due = due;
	detector->timed |= port_set_of(output);
	if (due < detector->next_due)
		detector->next_due = due;
}

static void begin_suspicion(struct congestion_detector *detector, unsigned input, unsigned vc,
	unsigned output, weft_time now)
{
	struct congestion_detector_output *out = &detector->output[output];

	out->state = CONGESTION_SUSPECT;
	out->input = (uint8_t)input;
	out->vc = (uint8_t)vc;
	out->since = now;
	detector->suspicions++;
	set_due(detector, output, now + detector->config.crt_ps);
}

/* Ends the state suspect or root. */
static void end_suspicion(struct congestion_detector *detector, unsigned output)
{
	struct congestion_detector_output *out = &detector->output[output];

	out->state = out->passed > 0 ? CONGESTION_BRANCH : CONGESTION_NONE;
	detector->timed &= ~port_set_of(output);
}

uint32_t congestion_detector_report_above(const struct congestion_detector *detector)
{
	uint32_t min = detector->config.by_vc ? UINT32_MAX : 0;

	for (unsigned input = 0; input < detector->config.ports; input++)
		if (detector->high[input] < min)
			min = detector->high[input];
	return min;
}

static bool gets_away(const struct congestion_detector *detector, uint32_t free, uint32_t capacity)
{
	return (uint64_t)free * WHOLE_PPM > (uint64_t)capacity * detector->config.fcth_ppm;
}

/* Returns the bit index of a VOQ. Without by_vc all VOQs of a crosspoint share a bit. */
static unsigned bit_of(const struct congestion_detector *detector, unsigned vc)
{
	return detector->config.by_vc ? vc : 0;
}

/* Records that the VOQ is above HCDTh. Returns true if it has just exceeded it. */
static bool set_above(
	struct congestion_detector *detector, unsigned input, unsigned vc, unsigned output)
{
	struct congestion_detector_cross *cross =
		congestion_detector_cross(detector, output, input);
	uint16_t bit = (uint16_t)(1u << bit_of(detector, vc));
	bool first = (cross->passed & bit) == 0;

	cross->passed |= bit;
	cross->above |= bit;
	detector->output[output].above |= port_set_of(input);
	detector->output[output].passed += first;
	detector->crowded |= port_set_of(output);
	return first;
}

static bool is_the_suspect(
	const struct congestion_detector *detector, unsigned input, unsigned vc, unsigned output)
{
	const struct congestion_detector_output *out = &detector->output[output];

	return out->state == CONGESTION_SUSPECT && out->input == input &&
	       bit_of(detector, out->vc) == bit_of(detector, vc);
}

enum congestion_detector_change congestion_detector_above(struct congestion_detector *detector,
	unsigned input, unsigned vc, unsigned output, uint32_t free, uint32_t capacity,
	weft_time now)
{
	struct congestion_detector_output *out = &detector->output[output];
	enum congestion_detector_retest retest = detector->config.retest;
	bool first = set_above(detector, input, vc, output);

	if (out->state == CONGESTION_ROOT)
		return first && detector->config.all_voqs ? CONGESTION_ROOT_GROWS
							  : CONGESTION_NO_CHANGE;
	if (out->state == CONGESTION_SUSPECT) {
		if (retest == CONGESTION_RETEST_HOLDS &&
			is_the_suspect(detector, input, vc, output) &&
			!gets_away(detector, free, capacity))
			end_suspicion(detector, output);
		return CONGESTION_NO_CHANGE;
	}
	out->state = CONGESTION_BRANCH;
	if ((first || retest != CONGESTION_RETEST_NEVER) && gets_away(detector, free, capacity))
		begin_suspicion(detector, input, vc, output, now);
	return CONGESTION_NO_CHANGE;
}

void congestion_detector_shrunk(struct congestion_detector *detector, unsigned input, unsigned vc,
	unsigned output, uint32_t blocks)
{
	struct congestion_detector_cross *cross =
		congestion_detector_cross(detector, output, input);
	struct congestion_detector_output *out = &detector->output[output];
	uint16_t bit = (uint16_t)(1u << bit_of(detector, vc));

	if (blocks > detector->high[input])
		return;
	cross->above &= (uint16_t)~bit;
	if (cross->above == 0)
		out->above &= ~port_set_of(input);
	if (blocks >= detector->low[input] || (cross->passed & bit) == 0)
		return;
	cross->passed &= (uint16_t)~bit;
	out->passed--;
	/* A root ends with its last VOQ, a suspicion with the VOQ that caused it. */
	if (out->passed == 0 || is_the_suspect(detector, input, vc, output))
		end_suspicion(detector, output);
	if (out->passed == 0 && detector->config.by_vc)
		detector->crowded &= ~port_set_of(output);
}

int congestion_detector_poll(
	struct congestion_detector *detector, weft_time now, enum congestion_detector_state *what)
{
	weft_time next = WEFT_TIME_NEVER;

	if (now < detector->next_due)
		return -1;
	PORT_SET_EACH(set, detector->timed) {
		unsigned at = port_set_first(set);
		struct congestion_detector_output *out = &detector->output[at];

		if (now < out->due) {
			next = out->due < next ? out->due : next;
			continue;
		}
		*what = out->state;
		if (out->state == CONGESTION_ROOT)
			out->due = now + detector->config.refresh_ps;
		return (int)at;
	}
	detector->next_due = next;
	return -1;
}

bool congestion_detector_confirm(struct congestion_detector *detector, unsigned output,
	uint32_t free, uint32_t capacity, weft_time now)
{
	struct congestion_detector_output *out = &detector->output[output];
	const struct congestion_detector_cross *cross =
		congestion_detector_cross(detector, output, out->input);
	bool above = (cross->above >> bit_of(detector, out->vc) & 1) != 0;

	if (!above || !gets_away(detector, free, capacity)) {
		end_suspicion(detector, output);
		return false;
	}
	out->state = CONGESTION_ROOT;
	out->since = now;
	out->life++;
	detector->roots++;
	set_due(detector, output, now + detector->config.refresh_ps);
	return true;
}

port_set congestion_detector_notifiers(const struct congestion_detector *detector, unsigned output)
{
	const struct congestion_detector_output *out = &detector->output[output];

	return detector->config.all_voqs ? out->above : port_set_of(out->input);
}

uint16_t congestion_detector_speaking_vcs(
	const struct congestion_detector *detector, unsigned output, unsigned input)
{
	const struct congestion_detector_cross *cross =
		congestion_detector_cross(detector, output, input);

	if (!detector->config.by_vc)
		return (uint16_t)(1u << cross->recent);
	return detector->config.all_voqs ? cross->above
					 : (uint16_t)(1u << detector->output[output].vc);
}

static const char *check_output(const struct congestion_detector *detector, unsigned output)
{
	const struct congestion_detector_output *out = &detector->output[output];
	bool timed = port_set_has(detector->timed, output);
	port_set above = PORT_SET_NONE;
	unsigned passed = 0;

	for (unsigned input = 0; input < detector->config.ports; input++) {
		const struct congestion_detector_cross *cross =
			congestion_detector_cross(detector, output, input);

		if ((cross->above & ~cross->passed) != 0)
			return "a VOQ is above HCDTh but not recorded as such";
		passed += (unsigned)__builtin_popcount(cross->passed);
		above |= cross->above != 0 ? port_set_of(input) : PORT_SET_NONE;
	}
	if (passed != 0 && !port_set_has(detector->crowded, output))
		return "an output with VOQs that exceeded HCDTh does not report departures";
	if (passed != out->passed)
		return "an output's counter is not the number of its VOQs that exceeded HCDTh";
	if (!port_set_equal(above, out->above))
		return "an output's set of inputs does not match its VOQs above HCDTh";
	if ((out->state == CONGESTION_NONE) != (passed == 0))
		return "an output without VOQs above HCDTh has a state, or one with such VOQs has none";
	if (timed != (out->state == CONGESTION_SUSPECT || out->state == CONGESTION_ROOT))
		return "a timer runs without a suspicion, or a suspicion has no timer";
	if (timed && out->due < detector->next_due)
		return "an event is earlier than the next poll";
	return NULL;
}

const char *congestion_detector_check(const struct congestion_detector *detector)
{
	const char *wrong = NULL;

	for (unsigned output = 0; output < detector->config.ports && wrong == NULL; output++)
		wrong = check_output(detector, output);
	return wrong;
}
