/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic_control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "wire/latency.h"

#define FS_PER_NS 1000000u

static struct nic_sent *sent_at(const struct nic *nic, uint16_t peer, uint32_t sequence)
{
	uint32_t window = nic->config.window_frames;

	return &nic->control->sent[(size_t)peer * window + (sequence & (window - 1))];
}

static bool allocate(struct nic *nic, struct nic_control *control)
{
	const struct source_control_config *config = &nic->config.control;
	size_t hosts = nic->config.hosts;

	control->source = source_control_create(config);
	control->sent = calloc(hosts * nic->config.window_frames, sizeof(control->sent[0]));
	control->answer = calloc(NIC_ANSWERS_MAX, sizeof(control->answer[0]));
	control->paused_next = calloc(hosts, sizeof(control->paused_next[0]));
	control->since_ns = calloc(hosts, sizeof(control->since_ns[0]));
	return control->source != NULL && control->sent != NULL && control->answer != NULL &&
	       control->paused_next != NULL && control->since_ns != NULL &&
	       cn_generator_init(&control->answers, &nic->config.answers) == 0;
}

int nic_control_create(struct nic *nic)
{
	enum source_control_kind kind = nic->config.control.kind;
	struct nic_control *control;

	if (kind == SOURCE_CONTROL_NONE)
		return 0;
	control = nic->control = calloc(1, sizeof(*control));
	if (control == NULL || !allocate(nic, control))
		return -ENOMEM;
	id_fifo_init(&control->paused);
	for (unsigned peer = 0; peer < nic->config.hosts; peer++)
		control->since_ns[peer] = UINT64_MAX;
	control->due_ns = UINT64_MAX;
	control->measures = source_control_measures(kind);
	control->spreads = source_control_spreads(kind);
	control->throttles = source_control_throttles(kind);
	return 0;
}

void nic_control_destroy(struct nic *nic)
{
	struct nic_control *control = nic->control;

	if (control == NULL)
		return;
	source_control_destroy(control->source);
	cn_generator_fini(&control->answers);
	free(control->sent);
	free(control->answer);
	free(control->paused_next);
	free(control->since_ns);
	free(control);
}

/* --- paths --- */

static void begin(struct nic *nic, uint16_t peer)
{
	const struct nic_routes *routes = nic->config.routes;
	uint8_t switches[NIC_ROUTES_MAX], length;
	unsigned count = routes->to[peer].count;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *route = nic_routes_get(routes, peer, i, &length);

		switches[i] = (uint8_t)route_switches(route, length);
	}
	source_control_begin(nic->control->source, peer, count, switches);
}

unsigned nic_control_choose(struct nic *nic, uint16_t peer, weft_time now)
{
	if (!source_control_has_begun(nic->control->source, peer))
		begin(nic, peer);
	return source_control_choose(nic->control->source, peer, now / PS_PER_NS);
}

void nic_control_rerouted(struct nic *nic, uint16_t peer)
{
	if (nic_control_spreads(nic) && nic->config.routes->to[peer].count > 0 &&
		source_control_has_begun(nic->control->source, peer))
		begin(nic, peer);
}

/* --- pauses --- */

static void wait_until(struct nic_control *control, uint16_t peer, uint64_t ready_ns)
{
	id_fifo_push(&control->paused, control->paused_next, peer);
	if (ready_ns < control->due_ns)
		control->due_ns = ready_ns;
}

bool nic_control_pauses(struct nic *nic, uint16_t peer, weft_time now)
{
	struct nic_control *control = nic->control;
	uint64_t ready_ns, now_ns = now / PS_PER_NS;

	if (control == NULL || !control->throttles)
		return false;
	ready_ns = source_control_ready_ns(control->source, peer);
	if (ready_ns <= now_ns)
		return false;
	if (control->since_ns[peer] == UINT64_MAX) {
		control->since_ns[peer] = now_ns;
		wait_until(control, peer, ready_ns);
	}
	return true;
}

weft_time nic_control_ready_ps(const struct nic *nic, uint16_t peer)
{
	return nic->control == NULL || !nic->control->throttles
		       ? 0
		       : source_control_ready_ns(nic->control->source, peer) * PS_PER_NS;
}

static void end_pause(struct nic *nic, uint16_t peer, uint64_t now_ns)
{
	struct nic_control *control = nic->control;

	source_control_count_pause(control->source, peer, control->since_ns[peer], now_ns);
	control->since_ns[peer] = UINT64_MAX;
	flow_tx_place(nic, peer);
}

void nic_control_poll(struct nic *nic, weft_time now)
{
	struct nic_control *control = nic->control;
	uint64_t now_ns = now / PS_PER_NS;
	struct id_fifo paused;

	if (control == NULL || control->due_ns > now_ns)
		return;
	paused = control->paused;
	id_fifo_init(&control->paused);
	control->due_ns = UINT64_MAX;
	while (paused.head != ID_NONE) {
		uint16_t peer = id_fifo_pop(&paused, control->paused_next);
		uint64_t ready_ns = source_control_ready_ns(control->source, peer);

		if (ready_ns > now_ns)
			wait_until(control, peer, ready_ns);
		else
			end_pause(nic, peer, now_ns);
	}
}

void nic_control_sent(struct nic *nic, const struct message *message, uint32_t sequence,
	uint32_t wire_bytes, weft_time now)
{
	uint64_t frame_ns = wire_bytes * nic->choice.byte_fs / FS_PER_NS;

	if (nic->control == NULL)
		return;
	*sent_at(nic, message->destination, sequence) =
		(struct nic_sent){.number = message->number, .path = message->which, .awaited = 1};
	source_control_sent(nic->control->source, message->destination, frame_ns, now / PS_PER_NS);
}

/* --- answers --- */

/* Reads the frame's fields. Returns false if its extension is invalid. */
static bool read_frame(const struct weft_packet *packet, const uint8_t *frame, struct cn *cn)
{
	struct latency_extension extension;

	*cn = (struct cn){.message = packet->message,
		.sequence = packet->sequence,
		.path = CN_PATH_UNKNOWN,
		.flags = packet->flags & FRAME_F_FECN ? CN_F_FECN : 0};
	if ((packet->flags & FRAME_F_LATENCY) == 0)
		return true;
	memcpy(&extension, frame + FRAME_HEADER_BYTES + packet->route_length, sizeof(extension));
	return latency_check_ok(&extension) && latency_decode(cn, &extension);
}

void nic_control_answer(struct nic *nic, const struct weft_packet *packet, const uint8_t *frame)
{
	struct nic_control *control = nic->control;
	struct cn cn;

	if (!read_frame(packet, frame, &cn)) {
		nic->count[NIC_EXTENSION_BAD]++;
		return;
	}
	/* Sources that learn from latencies cannot use an answer without one. */
	if (control->measures && cn.path == CN_PATH_UNKNOWN)
		return;
	if (!cn_generator_take(&control->answers, packet->source,
		    (packet->flags & FRAME_F_TAIL) != 0, &cn, nic->due_ps))
		return;
	if (control->waiting == NIC_ANSWERS_MAX) {
		nic->count[NIC_CNS_LOST]++;
		return;
	}
	control->answer[(control->first + control->waiting++) % NIC_ANSWERS_MAX] =
		(struct nic_cn_generator){nic->due_ps, packet->source, cn};
}

const struct nic_cn_generator *nic_control_next(struct nic *nic)
{
	struct nic_control *control = nic->control;
	const struct nic_cn_generator *answer;

	if (control == NULL || control->waiting == 0)
		return NULL;
	answer = &control->answer[control->first];
	control->first = (control->first + 1) % NIC_ANSWERS_MAX;
	control->waiting--;
	return answer;
}

/* Returns NIC_CNS_RECEIVED and sets the path if the answered frame is outstanding. Otherwise
 * returns the counter to increment. */
static enum nic_counter judge(struct nic *nic, uint16_t peer, struct cn *cn)
{
	const struct flow_tx *tx = &nic->tx[peer];
	struct nic_sent *sent = sent_at(nic, peer, cn->sequence);

	if (tx->phase == FLOW_ASKING || cn->message >> 16 != tx->flow ||
		!sequence_before(cn->sequence, tx->high))
		return NIC_CNS_FOREIGN;
	if (sequence_before(cn->sequence, tx->acked))
		return NIC_CNS_STALE;
	if (sent->number != (uint16_t)cn->message ||
		(cn->path != sent->path && cn->path != CN_PATH_UNKNOWN))
		return NIC_CNS_FOREIGN;
	if (!sent->awaited)
		return NIC_CNS_STALE;
	sent->awaited = 0;
	cn->path = sent->path;
	return NIC_CNS_RECEIVED;
}

void nic_control_receive(struct nic *nic, const struct weft_packet *packet, const uint8_t *payload,
	unsigned bytes, weft_time now)
{
	enum nic_counter counter = NIC_CONTROL_BAD;
	struct cn cn;

	if (cn_decode(&cn, payload, bytes))
		counter = judge(nic, packet->source, &cn);
	nic->count[counter]++;
	if (counter == NIC_CNS_RECEIVED)
		source_control_on_notification(
			nic->control->source, packet->source, &cn, now / PS_PER_NS);
}

void nic_control_counters(const struct nic *nic, uint64_t *count)
{
	if (nic->control == NULL) {
		memset(count, 0, SOURCE_CONTROL_COUNTER_COUNT * sizeof(*count));
		return;
	}
	source_control_counters(nic->control->source, count);
	count[SOURCE_CONTROL_CN_SENT] = nic->control->answers.sent;
}
