/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "adaptive_routing.h"
#include "arbiter.h"
#include "base/name_table.h"
#include "forward.h"
#include "switch_congestion.h"
#include "switch_shard.h"

const char *switch_counter_name(unsigned counter)
{
	static const char *const name[] = {SWITCH_COUNTERS(WORD_TEXT)};

	return counter < SWITCH_COUNTER_COUNT ? name[counter] : NULL;
}

/* Returns a port's buffer size in blocks: at most the number of frames that the receive ring holds
 * while the core is busy elsewhere, because a frame may be as small as one block. */
static uint32_t port_blocks(const struct switch_config *config, unsigned port)
{
	uint32_t slots = config->port_slots[port];

	return slots != 0 && slots < config->buffer_blocks ? slots : config->buffer_blocks;
}

static void init_ports(struct weft_switch *sw, const struct switch_config *config, weft_time now)
{
	for (unsigned port = 0; port < sw->ports; port++) {
		const struct link_end_config link = {
			.device = config->device,
			.port = (uint8_t)port,
			.device_kind = 0,
			.vcs = sw->vcs,
			.open = port_set_has(config->open_ports, port),
			.each = config->credits_each,
			.vc_blocks = port_blocks(config, port) / sw->vcs,
			.session = config->session,
			.hello_ps = config->hello_ps,
			.refresh_ps = config->credit_refresh_ps,
		};

		link_end_init(&sw->port[port].link, &link, now);
	}
}

/* With this table, one comparison detects hosts beyond the table, even if there is none. */
static const uint8_t no_table[] = {SWITCH_PORT_NONE};

void switch_set_table(
	struct weft_switch *sw, const uint8_t *port, const uint16_t *block, uint32_t hosts)
{
	const bool is_table = port != NULL && hosts > 0;

	sw->table_port = is_table ? port : no_table;
	sw->table_block = is_table ? block : NULL;
	sw->table_last = is_table ? (uint16_t)(hosts - 1) : 0;
}

uint32_t switch_table_hosts(const struct weft_switch *sw)
{
	return sw->table_port != no_table ? sw->table_last + 1u : 0;
}

static bool config_valid(const struct switch_config *config)
{
	if (config->ports - 1u >= SWITCH_PORTS_MAX || config->vcs == 0 ||
		config->vcs > FRAME_VCS_MAX || config->session == 0 ||
		(config->table_port != NULL && config->table_hosts > SWITCH_HOSTS_MAX))
		return false;
	for (unsigned sl = 0; sl < 16; sl++)
		if (config->sl_to_vc[sl] >= config->vcs)
			return false;
	if (config->vc_rule != NULL && (config->vc_rule->classes > config->vcs ||
					       config->vc_rule_at >= config->vc_rule->switches))
		return false;
	if (arbitration_is_needed(&config->arbitration) && !config->voq)
		return false;
	for (unsigned port = 0; port < config->ports; port++)
		if (port_blocks(config, port) / config->vcs == 0)
			return false;
	return true;
}

/* Offsets of a switch's parts in its memory, all aligned to cache lines. */
struct layout {
	size_t cross, queue, rules, end;
};

static size_t lines(size_t count, size_t size)
{
	return (count * size + 63) & ~(size_t)63;
}

static struct layout lay_out(const struct switch_config *config)
{
	size_t ports = config->ports, queues = ports * config->vcs * (config->voq ? ports : 1);
	struct layout at;

	at.cross = sizeof(struct weft_switch) + lines(ports, sizeof(struct switch_port));
	at.queue = at.cross + lines(ports * ports, sizeof(struct crosspoint));
	at.rules = at.end = at.queue + lines(queues, sizeof(struct voq));
	if (arbitration_is_needed(&config->arbitration))
		at.end += lines(1, sizeof(struct arbitration)) +
			  lines(ports, sizeof(struct arbitration_output)) +
			  lines(ports * ports, sizeof(struct arbitration_input));
	return at;
}

size_t switch_bytes(const struct switch_config *config)
{
	return config_valid(config) ? lay_out(config).end : 0;
}

#define DETOUR_STREAM 2 /* random stream for detours */

static void configure(struct weft_switch *sw, const struct switch_config *config, weft_time now)
{
	sw->ports = config->ports;
	sw->vcs = config->vcs;
	sw->voq = config->voq ? SWITCH_VOQS : 0;
	memcpy(sw->sl_to_vc, config->sl_to_vc, sizeof(sw->sl_to_vc));
	sw->vc_rule = config->vc_rule;
	sw->vc_rule_at = config->vc_rule_at;
	sw->report_above_blocks = UINT32_MAX;
	switch_congestion_note_plain(sw);
	sw->control_reserve = config->control_reserve;
	sw->watchdog_ps = config->watchdog_ps;
	sw->watchdog_due = now;
	sw->absent = config->absent_ports;
	sw->usable = ~config->absent_ports & port_set_all(config->ports);
	sw->idle = sw->usable;
	switch_set_table(sw, config->table_port, config->table_block, config->table_hosts);
	sw->table_alternatives = config->table_alternatives;
	sw->detour.config = config->detour;
	rng_init(&sw->detour.rng, config->detour.seed, config->device, DETOUR_STREAM);
}

static void set_rules(
	struct weft_switch *sw, const struct arbitration_config *config, uint8_t *memory)
{
	struct arbitration *rules = (struct arbitration *)(void *)memory;

	memory += lines(1, sizeof(*rules));
	rules->config = *config;
	rules->output = (struct arbitration_output *)(void *)memory;
	memory += lines(sw->ports, sizeof(*rules->output));
	rules->input = (struct arbitration_input *)(void *)memory;
	sw->arbitration = rules;
	sw->voq = SWITCH_RULES;
}

struct weft_switch *switch_place(void *memory, const struct switch_config *config, weft_time now)
{
	struct weft_switch *sw = memory;
	uint8_t *begin = memory;
	struct layout at;

	if (!config_valid(config)) {
		errno = EINVAL;
		return NULL;
	}
	at = lay_out(config);
	configure(sw, config, now);
	sw->cross = (struct crosspoint *)(void *)(begin + at.cross);
	sw->queue = (struct voq *)(void *)(begin + at.queue);
	if (arbitration_is_needed(&config->arbitration))
		set_rules(sw, &config->arbitration, begin + at.rules);
	init_ports(sw, config, now);
	return sw;
}

struct weft_switch *switch_create(const struct switch_config *config, weft_time now)
{
	size_t bytes = switch_bytes(config);
	void *memory;

	if (bytes == 0) {
		errno = EINVAL;
		return NULL;
	}
	memory = aligned_alloc(64, bytes);
	if (memory == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	memset(memory, 0, bytes);
	return switch_place(memory, config, now);
}

void switch_destroy(struct weft_switch *sw)
{
	if (sw != NULL)
		switch_congestion_end(sw);
	free(sw);
}

struct weft_packet *switch_take_discards(struct weft_switch *sw)
{
	struct weft_packet *first = sw->discarded;

	sw->discarded = NULL;
	return first;
}

struct weft_packet *switch_take_for_agent(struct weft_switch *sw)
{
	struct weft_packet *first = sw->for_agent;

	sw->for_agent = NULL;
	return first;
}

bool switch_is_empty(const struct weft_switch *sw)
{
	if (port_set_equal(sw->idle, sw->usable))
		return true;
	for (unsigned output = 0; output < sw->ports; output++)
		if (!port_set_is_empty(
			    sw->port[output].output.ready | sw->port[output].output.stalled))
			return false;
	return true;
}

/* Discards the packets for 'output' from a queue whose head is for a different output. */
static void discard_behind_head(
	struct weft_switch *sw, struct voq *queue, unsigned output, enum switch_counter reason)
{
	struct weft_packet *before = queue->head;

	while (before != NULL && before->next != NULL) {
		struct weft_packet *packet = before->next;

		if (packet->out_port != output) {
			before = packet;
			continue;
		}
		before->next = packet->next;
		queue->blocks -= packet->blocks;
		discard_stored(sw, packet, reason);
	}
	queue->tail = before;
}

/* Empties the queues of 'output'. The packets are counted as 'reason' at their inputs. */
static void discard_data(struct weft_switch *sw, unsigned output, enum switch_counter reason)
{
	struct switch_output *out = &sw->port[output].output;

	arbiter_retry(sw, output);
	while (!port_set_is_empty(out->ready)) {
		unsigned input = port_set_first(out->ready);
		unsigned vc = (unsigned)__builtin_ctz(switch_ready_vcs(sw, output, input));

		discard_stored(sw, arbiter_remove(sw, input, vc, output), reason);
	}
	/* Without VOQs, packets for this output may also wait behind heads for other outputs. */
	for (unsigned i = 0; !sw->voq && i < (unsigned)sw->ports * sw->vcs; i++)
		discard_behind_head(sw, &sw->queue[i], output, reason);
	arbiter_update(sw, output);
}

static void discard_waiting_control(struct weft_switch *sw, unsigned output)
{
	struct switch_output *out = &sw->port[output].output;

	while (out->control_head != NULL) {
		struct weft_packet *packet = out->control_head;

		out->control_head = packet->next;
		out->control_waiting--;
		discard_frame(sw, packet, SWITCH_CONTROL_DISCARD_DOWN);
	}
	arbiter_update(sw, output);
}

static void discard_all_data(struct weft_switch *sw, enum switch_counter reason)
{
	/* Without VOQs a removal may expose a head for an output that was already emptied. */
	while (!switch_is_empty(sw))
		for (unsigned output = 0; output < sw->ports; output++)
			if (sw->shard == NULL || !switch_shard_is_foreign(sw->shard, output))
				discard_data(sw, output, reason);
}

void switch_drain(struct weft_switch *sw)
{
	discard_all_data(sw, SWITCH_DISCARD_LINK_DOWN);
	for (unsigned output = 0; output < sw->ports; output++)
		if (sw->shard == NULL || !switch_shard_is_foreign(sw->shard, output))
			discard_waiting_control(sw, output);
}

void switch_purge(struct weft_switch *sw)
{
	discard_all_data(sw, SWITCH_DISCARD_PURGED);
}

static void link_is_up(struct weft_switch *sw, unsigned port)
{
	sw->usable |= port_set_of(port);
	sw->linked |= port_set_of(port);
	arbiter_retry(sw, port);
}

unsigned switch_poll_link(struct weft_switch *sw, unsigned port, weft_time now)
{
	struct link_end *link = &sw->port[port].link;
	unsigned due;

	if (port_set_has(sw->absent, port))
		return 0;
	if (link->config.open) {
		link_end_renew_open(link);
		if (!port_set_is_empty(sw->port[port].output.stalled))
			arbiter_retry(sw, port);
		return 0;
	}
	due = link_end_poll(link, now);
	if (due & LINK_WENT_DOWN) {
		sw->usable &= ~port_set_of(port);
		sw->idle &= ~port_set_of(port);
		if (sw->peer_buffers != NULL)
			peer_buffer_forget(&sw->peer_buffers[port]);
		sw->linked &= ~port_set_of(port);
		discard_data(sw, port, SWITCH_DISCARD_LINK_DOWN);
		discard_waiting_control(sw, port);
	}
	return due;
}

/* Forgets the size of the neighbour's buffer if the neighbour has restarted. */
static void reset_peer_state(struct weft_switch *sw, unsigned port, uint64_t sessions_before)
{
	if (sw->peer_buffers != NULL && sw->port[port].link.sessions_seen != sessions_before)
		peer_buffer_forget(&sw->peer_buffers[port]);
}

void switch_on_credit(
	struct weft_switch *sw, unsigned port, const struct control_credit *credit, weft_time now)
{
	struct link_end *link = &sw->port[port].link;
	uint64_t sessions = link->sessions_seen;
	bool more = link_end_on_credit(link, credit, now);

	if (__builtin_expect(sw->peer_buffers != NULL, 0)) {
		reset_peer_state(sw, port, sessions);
		if (link_end_accepts(link, credit))
			peer_buffer_told(&sw->peer_buffers[port], sw->vcs);
	}
	if (more)
		link_is_up(sw, port);
}

void switch_on_hello(
	struct weft_switch *sw, unsigned port, const struct control_hello *hello, weft_time now)
{
	uint64_t sessions = sw->port[port].link.sessions_seen;
	bool more = link_end_on_hello(&sw->port[port].link, hello, now);

	reset_peer_state(sw, port, sessions);
	if (more)
		link_is_up(sw, port);
}

/* Discards the stalled heads of one output that have waited too long. */
static void watch_output(struct weft_switch *sw, unsigned output, weft_time now)
{
	bool discarded = false;

	PORT_SET_EACH(inputs, sw->port[output].output.stalled) {
		unsigned input = port_set_first(inputs);
		uint16_t vcs = switch_stalled_vcs(sw, output, input);

		for (; vcs != 0; vcs &= (uint16_t)(vcs - 1)) {
			unsigned vc = (unsigned)__builtin_ctz(vcs);

			if (now < switch_queues(sw, output, input)[vc].stalled_at + sw->watchdog_ps)
				continue;
			discard_stored(
				sw, arbiter_remove(sw, input, vc, output), SWITCH_DISCARD_WATCHDOG);
			discarded = true;
		}
	}
	/* The next heads have not been waiting yet. */
	if (discarded)
		arbiter_retry(sw, output);
}

void switch_poll_watchdog(struct weft_switch *sw, weft_time now)
{
	if (now < sw->watchdog_due || sw->watchdog_ps == WEFT_TIME_NEVER)
		return;
	/* Checking every sixteenth of the period is precise enough for a watchdog. */
	sw->watchdog_due = now + sw->watchdog_ps / 16;
	for (unsigned output = 0; output < sw->ports; output++)
		watch_output(sw, output, now);
}
