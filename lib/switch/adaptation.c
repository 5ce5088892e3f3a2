/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "adaptation.h"

#include <errno.h>
#include <stdlib.h>

#define STREAM_TIES 0x5a01 /* random numbers of a switch */

/* selectAlternativeOport(), pseudo-code 3. */
static unsigned choose_alternative(void *ctx, uint16_t destination, uint8_t vc, uint8_t port)
{
	struct adaptation *adaptation = ctx;
	uint64_t set = 0;

	if (destination < adaptation->hosts)
		set = adaptation->alternatives[destination] & *adaptation->usable & ~BIT64(port);
	if (set == 0)
		return ARN_NO_ALTERNATIVE;
	return adaptive_most_credits(
		&adaptation->adaptive, set, adaptive_vc(&adaptation->adaptive, vc));
}

static bool is_valid(const struct adaptation_config *config)
{
	if (config->vcs == 0 || config->vcs > FRAME_VCS_MAX || (config->afi && config->vcs < 2) ||
		config->mode == NULL || config->output == NULL || config->usable == NULL)
		return false;
	return (config->detector == NULL) == (config->table == NULL) &&
	       (config->detector == NULL || config->head != NULL);
}

static void note_alert(struct adaptation *adaptation)
{
	uint8_t *alert = adaptation->config.alert;

	if (alert == NULL)
		return;
	*alert &= (uint8_t)~ADAPTATION_ALERT;
	if (adaptation->chooses || adaptation->entries != 0 || adaptation->crowded != 0 ||
		adaptation->due != WEFT_TIME_NEVER)
		*alert |= ADAPTATION_ALERT;
}

/* VOQs that count together are told of at each step. */
static void set_quiet(struct adaptation *adaptation)
{
	const struct congestion *detector = adaptation->detector;

	adaptation->quiet_blocks = 0;
	adaptation->crowded = UINT64_MAX;
	if (!detector->config.by_vc)
		return;
	adaptation->crowded = 0;
	adaptation->quiet_blocks = UINT32_MAX;
	for (unsigned input = 0; input < detector->config.ports; input++)
		if (detector->high[input] < adaptation->quiet_blocks)
			adaptation->quiet_blocks = detector->high[input];
}

static int add_notifications(struct adaptation *adaptation)
{
	struct congestion_config detector = *adaptation->config.detector;
	struct arn_table_config table = *adaptation->config.table;

	detector.vcs = adaptation->config.vcs;
	/* Without AFI the last VC is one like the others. */
	detector.afc = detector.afc || !adaptation->config.afi;
	table.hosts = adaptation->config.hosts;
	table.stage = adaptation->config.stage;
	table.alternative = choose_alternative;
	table.ctx = adaptation;
	adaptation->detector = congestion_create(&detector);
	if (adaptation->detector == NULL)
		return -errno;
	adaptation->table = arn_table_create(&table);
	if (adaptation->table == NULL)
		return -errno;
	set_quiet(adaptation);
	return 0;
}

struct adaptation *adaptation_create(const struct adaptation_config *config)
{
	struct adaptation *adaptation;
	int result = 0;

	if (!is_valid(config)) {
		errno = EINVAL;
		return NULL;
	}
	adaptation = aligned_alloc(64, sizeof(*adaptation));
	if (adaptation == NULL)
		return NULL;
	*adaptation = (struct adaptation){.config = *config,
		.alternatives = config->alternatives,
		.hosts = config->alternatives != NULL ? config->hosts : 0,
		.usable = config->usable,
		.due = WEFT_TIME_NEVER,
		.quiet_blocks = UINT32_MAX,
		.chooses = config->mode != &adaptive_none,
		.afi = config->afi,
		.channel = afi_channel(config->vcs)};
	adaptation->adaptive = (struct adaptive){.mode = config->mode,
		.output = config->output,
		.threshold_ppm = config->threshold_ppm,
		.afi = config->afi,
		.channel = afi_channel(config->vcs)};
	rng_init(&adaptation->adaptive.rng, config->seed, config->device, STREAM_TIES);
	if (config->detector != NULL)
		result = add_notifications(adaptation);
	adaptation->config.detector = NULL;
	adaptation->config.table = NULL;
	if (result == 0) {
		note_alert(adaptation);
		return adaptation;
	}
	adaptation_destroy(adaptation);
	errno = -result;
	return NULL;
}

void adaptation_destroy(struct adaptation *adaptation)
{
	if (adaptation == NULL)
		return;
	congestion_destroy(adaptation->detector);
	arn_table_destroy(adaptation->table);
	free(adaptation);
}

/* What every packet looks at follows what has happened. */
static void note(struct adaptation *adaptation)
{
	weft_time detector = congestion_next_due(adaptation->detector);
	weft_time table = arn_table_next_due(adaptation->table);

	adaptation->due = detector < table ? detector : table;
	adaptation->entries = adaptation->table->count;
	note_alert(adaptation);
}

void adaptation_set_tables(
	struct adaptation *adaptation, const uint64_t *alternatives, uint32_t hosts, uint8_t stage)
{
	adaptation->alternatives = adaptation->config.alternatives = alternatives;
	adaptation->hosts = hosts;
	adaptation->config.stage = stage;
	if (adaptation->table == NULL)
		return;
	arn_table_forget(adaptation->table, stage);
	note(adaptation);
}

static void send_back(struct adaptation *adaptation, unsigned port, const struct control_arn *arn)
{
	uint32_t at = adaptation->out_first + adaptation->out_count;

	if (adaptation->out_count == ADAPTATION_OUTBOX) {
		adaptation->out_overflow++;
		return;
	}
	adaptation->out[at % ADAPTATION_OUTBOX] =
		(struct adaptation_arn){.arn = *arn, .port = (uint8_t)port};
	adaptation->out_count++;
}

bool adaptation_take_arn(struct adaptation *adaptation, struct adaptation_arn *out)
{
	if (adaptation->out_count == 0)
		return false;
	*out = adaptation->out[adaptation->out_first];
	adaptation->out_first = (adaptation->out_first + 1) % ADAPTATION_OUTBOX;
	adaptation->out_count--;
	return true;
}

bool adaptation_consult(struct adaptation *adaptation, const struct weft_packet *packet,
	unsigned *output, weft_time now)
{
	const struct arn_entry *entry;
	enum arn_verdict verdict =
		arn_table_match(adaptation->table, packet->destination, packet->vc_original,
			adaptation->afi && afi_is_adapted(packet), packet->in_port, now, &entry);

	note(adaptation);
	switch (verdict) {
	case ARN_ALTERNATIVE:
		/* A link that has gone down since: as if there were no entry. */
		if ((*adaptation->usable & BIT64(entry->alternative)) == 0)
			return false;
		*output = entry->alternative;
		return true;
	case ARN_SEND_BACK:
		send_back(adaptation, packet->in_port, &entry->arn);
		return false;
	default:
		return false;
	}
}

unsigned adaptation_foresee(const struct adaptation *adaptation, const struct weft_packet *packet,
	unsigned primary, unsigned vc, weft_time now)
{
	bool adapted = adaptation->adaptive.afi && afi_is_adapted(packet);
	uint64_t usable = *adaptation->usable;
	struct adaptive copy = adaptation->adaptive; /* whose numbers may be drawn */
	const struct arn_entry *entry = NULL;

	if (adaptation->table != NULL && arn_table_concerns(adaptation->table, packet->destination))
		entry = arn_table_foresee(
			adaptation->table, packet->destination, packet->vc_original, adapted, now);
	if (entry != NULL && (usable & BIT64(entry->alternative)) != 0)
		return entry->alternative;
	return adaptive_route(&copy, primary,
		adaptation->alternatives[packet->destination] & usable, vc, adapted);
}

void adaptation_on_arn(
	struct adaptation *adaptation, unsigned port, const struct control_arn *arn, weft_time now)
{
	if (adaptation->table == NULL)
		return;
	arn_table_process(adaptation->table, arn, (uint8_t)port, false, now);
	note(adaptation);
}

/* congestionRootDetected(), pseudo-code 1, for one packet responsible. */
static void tell_of_root(struct adaptation *adaptation, unsigned output,
	const struct weft_packet *head, weft_time now)
{
	bool up = (adaptation->config.up_ports & BIT64(output)) != 0;
	uint32_t id = congestion_root_id(adaptation->detector, adaptation->config.device, output);
	struct control_arn arn =
		arn_table_root(adaptation->table, up, id, head->destination, head->vc_original);

	arn_table_process(adaptation->table, &arn, (uint8_t)output,
		adaptation->adaptive.afi && afi_is_adapted(head), now);
}

/* Of the VOQs of a root. */
static void tell_of_all(struct adaptation *adaptation, unsigned output, weft_time now)
{
	uint64_t inputs = congestion_speakers(adaptation->detector, output);

	for (; inputs != 0; inputs &= inputs - 1) {
		unsigned input = (unsigned)__builtin_ctzll(inputs);
		uint16_t vcs = congestion_speaking_vcs(adaptation->detector, output, input);

		for (; vcs != 0; vcs &= (uint16_t)(vcs - 1)) {
			const struct weft_packet *head =
				adaptation->config.head(adaptation->config.ctx, input,
					(unsigned)__builtin_ctz(vcs), output);

			if (head != NULL)
				tell_of_root(adaptation, output, head, now);
		}
	}
}

/* Credits left for a packet in the next device, and its VC's size there. */
static uint32_t credits_for(const struct adaptation *adaptation, unsigned output,
	const struct weft_packet *packet, uint32_t *capacity)
{
	*capacity = adaptation->config.output[output].vc_blocks;
	return packet == NULL ? 0
			      : adaptive_credits(&adaptation->adaptive, output, packet->vc_next);
}

static void above(struct adaptation *adaptation, unsigned input, unsigned vc, unsigned output,
	const struct weft_packet *head, weft_time now)
{
	uint32_t capacity, left = credits_for(adaptation, output, head, &capacity);

	if (congestion_above(adaptation->detector, input, vc, output, left, capacity, now) ==
		CONGESTION_ROOT_GROWS)
		tell_of_root(adaptation, output, head, now);
	adaptation->crowded |= BIT64(output);
	note(adaptation);
}

void adaptation_grown(struct adaptation *adaptation, const struct weft_packet *packet,
	unsigned output, const struct voq *queue, weft_time now)
{
	unsigned input = packet->in_port, vc = packet->vc;
	uint32_t counted = congestion_grown(
		adaptation->detector, input, vc, output, queue->blocks, packet->blocks);

	if (congestion_is_above(adaptation->detector, input, vc, counted))
		above(adaptation, input, vc, output, queue->head, now);
}

void adaptation_shrunk(struct adaptation *adaptation, const struct weft_packet *packet,
	unsigned output, const struct voq *queue)
{
	struct congestion *detector = adaptation->detector;

	congestion_depart(
		detector, packet->in_port, packet->vc, output, queue->blocks, packet->blocks);
	if (detector->config.by_vc && detector->output[output].passed == 0) {
		adaptation->crowded &= ~BIT64(output);
		note_alert(adaptation);
	}
}

/* CRT has passed. */
static void confirm(struct adaptation *adaptation, unsigned output, weft_time now)
{
	const struct congestion_output *out = &adaptation->detector->output[output];
	const struct weft_packet *head =
		adaptation->config.head(adaptation->config.ctx, out->input, out->vc, output);
	uint32_t capacity, left = credits_for(adaptation, output, head, &capacity);

	if (congestion_confirm(adaptation->detector, output, left, capacity, now))
		tell_of_all(adaptation, output, now);
}

static void count_notifications(
	const struct adaptation *adaptation, adaptation_count_fn count, void *ctx)
{
	const struct arn_table_counters *table = &adaptation->table->counters;

	count(ctx, "congestion_suspicions", adaptation->detector->suspicions);
	count(ctx, "congestion_roots", adaptation->detector->roots);
	count(ctx, "arn_entries_created", table->created);
	count(ctx, "arn_entries_refreshed", table->refreshed);
	count(ctx, "arn_entries_expired", table->expired);
	count(ctx, "arn_entries_replaced", table->replaced);
	count(ctx, "arn_entries_without_room", table->no_room);
	count(ctx, "arn_entries_forgotten", table->forgotten);
	count(ctx, "arn_packets_adapted", table->adapted);
	count(ctx, "arn_sent", table->sent_back - adaptation->out_overflow);
	count(ctx, "arn_not_sent", adaptation->out_overflow);
}

void adaptation_counters(const struct adaptation *adaptation, adaptation_count_fn count, void *ctx)
{
	count(ctx, "packets_adapted", adaptation->adapted);
	if (adaptation->detector != NULL)
		count_notifications(adaptation, count, ctx);
}

void adaptation_poll(struct adaptation *adaptation, weft_time now)
{
	enum congestion_state what;
	int output;

	if (adaptation->detector == NULL)
		return;
	while ((output = congestion_poll(adaptation->detector, now, &what)) >= 0) {
		if (what == CONGESTION_SUSPECT)
			confirm(adaptation, (unsigned)output, now);
		else
			tell_of_all(adaptation, (unsigned)output, now);
	}
	arn_table_expire(adaptation->table, now);
	note(adaptation);
}
