/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "congestion_control.h"

#include <errno.h>
#include <stdlib.h>

#define STREAM_TIES 0x5a01 /* random stream for breaking ties */

/* selectAlternativeOport(), pseudo-code 3. */
static unsigned choose_alternative(void *ctx, uint16_t destination, uint8_t vc, uint8_t port)
{
	struct congestion_control *congestion = ctx;
	port_set set = PORT_SET_NONE;

	if (destination < congestion->hosts)
		set = congestion->alternatives[destination] & *congestion->usable &
		      ~port_set_of(port);
	if (port_set_is_empty(set))
		return ARN_NO_ALTERNATIVE;
	return adaptive_max_free(
		&congestion->adaptive, set, adaptive_vc(&congestion->adaptive, vc));
}

static bool is_valid(const struct congestion_control_config *config)
{
	if (config->vcs == 0 || config->vcs > FRAME_VCS_MAX || (config->afi && config->vcs < 2) ||
		config->mode == NULL || config->output == NULL || config->usable == NULL ||
		config->signal == NULL)
		return false;
	return (config->detector == NULL) == (config->table == NULL) &&
	       (config->detector == NULL || config->head != NULL);
}

/* Updates which packets are plain, and whether the switch must poll and report departures. */
static void set_signal(struct congestion_control *congestion)
{
	const struct congestion_detector *detector = congestion->detector;
	bool counts = detector != NULL &&
		      (!port_set_is_empty(detector->crowded) || congestion->due != WEFT_TIME_NEVER);
	bool decides = adaptive_chooses(&congestion->adaptive) ||
		       (congestion->table != NULL && congestion->table->count != 0);

	congestion->signal->plain_vcs = decides ? 0 : congestion->calm_vcs;
	congestion->signal->alert =
		(uint8_t)((congestion->signal->alert & CONGESTION_DRIVER) | counts);
	congestion->signal->departures =
		(uint8_t)((congestion->signal->departures & CONGESTION_TIMED) |
			  (counts ? CONGESTION_LEFT : 0));
}

void congestion_control_set_calm(struct congestion_control *congestion, uint8_t vcs)
{
	const struct adaptive *adaptive = &congestion->adaptive;

	congestion->calm_vcs = adaptive->afi && vcs > adaptive->channel ? adaptive->channel : vcs;
	set_signal(congestion);
}

static int add_notifications(
	struct congestion_control *congestion, const struct congestion_control_config *config)
{
	struct congestion_detector_config detector = *config->detector;
	struct arn_table_config table = *config->table;

	detector.vcs = config->vcs;
	/* Without AFI the last VC is an ordinary VC. */
	detector.afc = detector.afc || !config->afi;
	table.hosts = config->hosts;
	table.stage = config->stage;
	table.alternative = choose_alternative;
	table.ctx = congestion;
	congestion->detector = congestion_detector_create(&detector);
	if (congestion->detector == NULL)
		return -errno;
	congestion->table = arn_table_create(&table);
	if (congestion->table == NULL)
		return -errno;
	return 0;
}

struct congestion_control *congestion_control_create(const struct congestion_control_config *config)
{
	struct congestion_control *congestion;
	int result = 0;

	if (!is_valid(config)) {
		errno = EINVAL;
		return NULL;
	}
	congestion = aligned_alloc(64, sizeof(*congestion));
	if (congestion == NULL)
		return NULL;
	*congestion = (struct congestion_control){.alternatives = config->alternatives,
		.hosts = config->alternatives != NULL ? config->hosts : 0,
		.hosts_max = config->hosts,
		.usable = config->usable,
		.due = WEFT_TIME_NEVER,
		.adaptive = {.mode = config->mode,
			.output = config->output,
			.threshold_ppm = config->threshold_ppm,
			.flowlet_gap_ps = config->flowlet_gap_ps,
			.afi = config->afi,
			.channel = afi_channel(config->vcs)},
		.signal = config->signal,
		.device = config->device,
		.up_ports = config->up_ports,
		.head = config->head,
		.ctx = config->ctx};
	rng_init(&congestion->adaptive.rng, config->seed, config->device, STREAM_TIES);
	if (config->mode->flowlets) {
		congestion->adaptive.flowlet =
			calloc(ADAPTIVE_FLOWLETS, sizeof(*congestion->adaptive.flowlet));
		result = congestion->adaptive.flowlet != NULL ? 0 : -ENOMEM;
	}
	if (config->detector != NULL && result == 0)
		result = add_notifications(congestion, config);
	if (result == 0) {
		congestion_control_set_calm(congestion, config->vcs);
		return congestion;
	}
	congestion_control_destroy(congestion);
	errno = -result;
	return NULL;
}

void congestion_control_destroy(struct congestion_control *congestion)
{
	if (congestion == NULL)
		return;
	congestion_detector_destroy(congestion->detector);
	arn_table_destroy(congestion->table);
	free(congestion->adaptive.flowlet);
	free(congestion);
}

/* Called after each event in the detector or the table. */
static void update(struct congestion_control *congestion)
{
	weft_time detector = congestion_detector_next_due(congestion->detector);
	weft_time table = arn_table_next_due(congestion->table);

	congestion->due = detector < table ? detector : table;
	set_signal(congestion);
}

void congestion_control_set_tables(struct congestion_control *congestion,
	const port_set *alternatives, uint32_t hosts, uint8_t stage)
{
	congestion->alternatives = alternatives;
	congestion->hosts = hosts;
	if (congestion->table == NULL)
		return;
	arn_table_forget(congestion->table, stage);
	update(congestion);
}

static void send_back(
	struct congestion_control *congestion, unsigned port, const struct control_arn *arn)
{
	uint32_t at = congestion->out_first + congestion->out_count;

	if (congestion->out_count == CONGESTION_CONTROL_OUTBOX) {
		congestion->out_overflow++;
		return;
	}
	congestion->out[at % CONGESTION_CONTROL_OUTBOX] =
		(struct congestion_control_arn){.arn = *arn, .port = (uint8_t)port};
	congestion->out_count++;
}

bool congestion_control_take_arn(
	struct congestion_control *congestion, struct congestion_control_arn *out)
{
	if (congestion->out_count == 0)
		return false;
	*out = congestion->out[congestion->out_first];
	congestion->out_first = (congestion->out_first + 1) % CONGESTION_CONTROL_OUTBOX;
	congestion->out_count--;
	return true;
}

bool congestion_control_consult(struct congestion_control *congestion, struct weft_packet *packet,
	unsigned *output, weft_time now)
{
	const struct arn_entry *entry;
	enum arn_verdict verdict = arn_table_match(congestion->table, packet->destination,
		packet->vc_original, congestion->adaptive.afi && afi_is_adapted(packet),
		packet->in_port, now, &entry);

	update(congestion);
	switch (verdict) {
	case ARN_ALTERNATIVE:
		/* The entry has no effect if that link has gone down since. */
		if (!port_set_has(*congestion->usable, entry->alternative))
			return false;
		if (packet->arrived_ps < entry->since_ps)
			packet->arrived_ps = entry->since_ps;
		*output = entry->alternative;
		return true;
	case ARN_SEND_BACK:
		send_back(congestion, packet->in_port, &entry->arn);
		return false;
	default:
		return false;
	}
}

void congestion_control_on_arn(struct congestion_control *congestion, unsigned port,
	const struct control_arn *arn, weft_time due, weft_time now)
{
	struct arn_entry *entry;

	if (congestion->table == NULL)
		return;
	entry = arn_table_process(congestion->table, arn, (uint8_t)port, false, now);
	if (entry != NULL)
		entry->since_ps = due;
	update(congestion);
}

/* congestionRootDetected(), pseudo-code 1, for one responsible packet. */
static void process_root(struct congestion_control *congestion, unsigned output,
	const struct weft_packet *head, weft_time now)
{
	bool up = port_set_has(congestion->up_ports, output);
	uint32_t id = congestion_detector_root_id(congestion->detector, congestion->device, output);
	struct control_arn arn =
		arn_table_root(congestion->table, up, id, head->destination, head->vc_original);

	arn_table_process(congestion->table, &arn, (uint8_t)output,
		congestion->adaptive.afi && afi_is_adapted(head), now);
}

/* Notifies for the VOQs of a root. */
static void process_all_voqs(struct congestion_control *congestion, unsigned output, weft_time now)
{
	PORT_SET_EACH(inputs, congestion_detector_notifiers(congestion->detector, output)) {
		unsigned input = port_set_first(inputs);
		uint16_t vcs =
			congestion_detector_speaking_vcs(congestion->detector, output, input);

		for (; vcs != 0; vcs &= (uint16_t)(vcs - 1)) {
			const struct weft_packet *head = congestion->head(
				congestion->ctx, input, (unsigned)__builtin_ctz(vcs), output);

			if (head != NULL)
				process_root(congestion, output, head, now);
		}
	}
}

/* Returns the free space in the packet's next VC, and the size of that VC in '*capacity'. */
static uint32_t space_for(const struct congestion_control *congestion, unsigned output,
	const struct weft_packet *packet, uint32_t *capacity)
{
	*capacity = congestion->adaptive.output[output].vc_blocks;
	return packet == NULL ? 0 : adaptive_free(&congestion->adaptive, output, packet->vc_next);
}

static void above(struct congestion_control *congestion, unsigned input, unsigned vc,
	unsigned output, const struct weft_packet *head, weft_time now)
{
	uint32_t capacity, free = space_for(congestion, output, head, &capacity);

	if (congestion_detector_above(congestion->detector, input, vc, output, free, capacity,
		    now) == CONGESTION_ROOT_GROWS)
		process_root(congestion, output, head, now);
	update(congestion);
}

void congestion_control_grown(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue, weft_time now)
{
	unsigned input = packet->in_port, vc = packet->vc;
	uint32_t counted = congestion_detector_grown(
		congestion->detector, input, vc, output, queue->blocks, packet->blocks);

	if (congestion_detector_is_above(congestion->detector, input, vc, counted))
		above(congestion, input, vc, output, queue->head, now);
}

void congestion_control_shrunk(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue)
{
	struct congestion_detector *detector = congestion->detector;

	congestion_detector_depart(
		detector, packet->in_port, packet->vc, output, queue->blocks, packet->blocks);
	if (!port_set_has(detector->crowded, output))
		set_signal(congestion);
}

/* Handles the end of CRT. */
static void confirm(struct congestion_control *congestion, unsigned output, weft_time now)
{
	const struct congestion_detector_output *out = &congestion->detector->output[output];
	const struct weft_packet *head =
		congestion->head(congestion->ctx, out->input, out->vc, output);
	uint32_t capacity, free = space_for(congestion, output, head, &capacity);

	if (congestion_detector_confirm(congestion->detector, output, free, capacity, now))
		process_all_voqs(congestion, output, now);
}

static void count_notifications(
	const struct congestion_control *congestion, congestion_control_count_fn count, void *ctx)
{
	const struct arn_table_counters *table = &congestion->table->counters;

	count(ctx, "congestion_suspicions", congestion->detector->suspicions);
	count(ctx, "congestion_roots", congestion->detector->roots);
	count(ctx, "arn_entries_created", table->created);
	count(ctx, "arn_entries_refreshed", table->refreshed);
	count(ctx, "arn_entries_expired", table->expired);
	count(ctx, "arn_entries_replaced", table->replaced);
	count(ctx, "arn_entries_without_room", table->no_room);
	count(ctx, "arn_entries_forgotten", table->forgotten);
	count(ctx, "arn_packets_adapted", table->adapted);
	count(ctx, "arn_sent", table->sent_back - congestion->out_overflow);
	count(ctx, "arn_not_sent", congestion->out_overflow);
}

void congestion_control_counters(
	const struct congestion_control *congestion, congestion_control_count_fn count, void *ctx)
{
	count(ctx, "packets_adapted", congestion->adapted);
	if (congestion->detector != NULL)
		count_notifications(congestion, count, ctx);
}

void congestion_control_poll(struct congestion_control *congestion, weft_time now)
{
	enum congestion_detector_state what;
	int output;

	if (congestion->detector == NULL)
		return;
	while ((output = congestion_detector_poll(congestion->detector, now, &what)) >= 0) {
		if (what == CONGESTION_SUSPECT)
			confirm(congestion, (unsigned)output, now);
		else
			process_all_voqs(congestion, (unsigned)output, now);
	}
	arn_table_expire(congestion->table, now);
	update(congestion);
}

const char *congestion_control_check(const struct congestion_control *congestion)
{
	const struct congestion_detector *detector = congestion->detector;
	const struct arn_table *table = congestion->table;
	const char *wrong;

	if (detector == NULL)
		return NULL;
	wrong = congestion_detector_check(detector);
	if (wrong == NULL)
		wrong = arn_table_check(table);
	if (wrong == NULL && (congestion->due > congestion_detector_next_due(detector) ||
				     congestion->due > arn_table_next_due(table)))
		wrong = "an event is earlier than the next poll";
	if (wrong == NULL && congestion->signal->plain_vcs != 0 && table->count != 0)
		wrong = "there are entries, but packets bypass them";
	if (wrong == NULL && !congestion->signal->alert &&
		(!port_set_is_empty(detector->crowded) || congestion->due != WEFT_TIME_NEVER))
		wrong = "departures are counted or a timer runs, but there is no alert";
	return wrong;
}
