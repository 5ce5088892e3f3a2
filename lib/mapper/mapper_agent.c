/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper_agent.h"

#include <stdlib.h>
#include <string.h>

#include "table_image.h"

void mapper_agent_init(
	struct mapper_agent *agent, const struct mapper_agent_config *config, uint64_t counter)
{
	*agent = (struct mapper_agent){
		.config = *config,
		.speaker = {.key = config->key,
			.fabric = config->fabric,
			.id = config->id,
			.counter = counter},
		.rank = MAPPER_RANK_NONE,
		.number = config->number,
		.idle = true,
	};
}

void mapper_agent_fini(struct mapper_agent *agent)
{
	free(agent->image);
	free(agent->staged);
	free(agent->senders);
	agent->image = agent->staged = NULL;
	agent->senders = NULL;
	agent->sender_count = agent->sender_room = 0;
}

static void drop_staged(struct mapper_agent *agent)
{
	free(agent->staged);
	agent->staged = NULL;
	agent->staged_epoch = agent->staged_bytes = agent->staged_total = 0;
	agent->stage = MAPPER_STAGE_NONE;
}

/* Returns the index of this sender, or the index at which to insert it. */
static unsigned place_of(const struct mapper_agent *agent, uint64_t sender)
{
	unsigned low = 0, high = agent->sender_count;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (agent->senders[middle].id < sender)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t senders_max(const struct mapper_agent *agent)
{
	return agent->config.senders_max > 0 ? agent->config.senders_max : MAPPER_AGENT_SENDERS;
}

/* Returns the sender to replace first, or sender_count if none may be replaced. */
static unsigned find_min(const struct mapper_agent *agent, weft_time now)
{
	unsigned min = agent->sender_count;
	bool min_unconfirmed = false;

	for (unsigned i = 0; i < agent->sender_count; i++) {
		const struct mapper_agent_sender *sender = &agent->senders[i];
		/* It sent only one message, or none within the lease. */
		bool unconfirmed = (sender->window.seen & (sender->window.seen - 1)) == 0 ||
				   now - sender->heard_at > agent->config.lease_ps;

		if (sender->id == agent->followed || (min_unconfirmed && !unconfirmed))
			continue;
		if (min < agent->sender_count && unconfirmed == min_unconfirmed &&
			sender->heard_at >= agent->senders[min].heard_at)
			continue;
		min = i;
		min_unconfirmed = unconfirmed;
	}
	return min;
}

static bool forget_min(struct mapper_agent *agent, weft_time now)
{
	unsigned min = find_min(agent, now);

	if (agent->config.key != NULL || min == agent->sender_count)
		return false;
	agent->sender_count--;
	memmove(&agent->senders[min], &agent->senders[min + 1],
		(agent->sender_count - min) * sizeof(*agent->senders));
	return true;
}

static bool make_room(struct mapper_agent *agent, weft_time now)
{
	unsigned room = agent->sender_room == 0 ? 4 : 2 * agent->sender_room;
	struct mapper_agent_sender *senders;

	if (agent->sender_count >= senders_max(agent))
		return forget_min(agent, now);
	if (agent->sender_count < agent->sender_room)
		return true;
	if (room > senders_max(agent))
		room = senders_max(agent);
	senders = realloc(agent->senders, room * sizeof(*senders));
	if (senders == NULL)
		return false;
	agent->senders = senders;
	agent->sender_room = room;
	return true;
}

/* Returns NULL if there is no room. Only called for authenticated messages. */
static struct mapper_agent_sender *find_sender(
	struct mapper_agent *agent, uint64_t sender, weft_time now)
{
	unsigned at = place_of(agent, sender);

	if (at < agent->sender_count && agent->senders[at].id == sender)
		return &agent->senders[at];
	if (!make_room(agent, now))
		return NULL;
	at = place_of(agent, sender);
	memmove(&agent->senders[at + 1], &agent->senders[at],
		(agent->sender_count - at) * sizeof(*agent->senders));
	agent->senders[at] = (struct mapper_agent_sender){.id = sender};
	agent->sender_count++;
	return &agent->senders[at];
}

/* Admits messages that are authentic, new, and meant for this device's current session. */
static enum mapper_refusal admit(struct mapper_agent *agent, weft_time now, uint8_t port,
	const uint8_t *data, unsigned bytes, struct mapper_message *message)
{
	enum mapper_refusal refusal = mapper_frame_open(agent->config.key, data, bytes, message);
	struct mapper_agent_sender *sender;

	if (refusal != MAPPER_REFUSED_NONE)
		return refusal;
	if (!mapper_type_is_command(message->type) ||
		(message->sender == agent->config.id) != (port == MAPPER_PORT_LOCAL))
		return MAPPER_REFUSED_NOT_FOR_US;
	if (message->target != agent->config.id &&
		(message->target != 0 || message->type != MAPPER_PROBE))
		return MAPPER_REFUSED_NOT_FOR_US;
	if (message->target != 0 && message->target_session != agent->config.session)
		return MAPPER_REFUSED_STALE;
	sender = find_sender(agent, message->sender, now);
	if (sender == NULL)
		return MAPPER_REFUSED_NO_ROOM;
	if (!replay_admit(&sender->window, message->counter, agent->config.key != NULL))
		return MAPPER_REFUSED_REPLAYED;
	sender->heard_at = now;
	return MAPPER_REFUSED_NONE;
}

static bool is_obeyed(
	const struct mapper_agent *agent, const struct mapper_message *message, weft_time now)
{
	if (agent->followed == 0 || message->sender == agent->followed)
		return true;
	if (mapper_greater(message->command.priority, message->sender, agent->followed_priority,
		    agent->followed))
		return true;
	return !agent->leading && now - agent->heard_at > agent->config.lease_ps;
}

static void record_told(struct mapper_agent *agent)
{
	agent->told &= ~((uint64_t)1 << agent->report_port);
	agent->told |= (uint64_t)agent->report_up << agent->report_port;
}

/* Marks all ports as unreported, because a new mapper may lack its predecessor's information. After
 * a probe this is unnecessary, because the answer contains the state of all ports. */
static void forget_told(struct mapper_agent *agent)
{
	uint64_t ports = UINT64_MAX >> (64 - agent->config.ports);

	agent->told = ~agent->linked & ports;
	agent->reporting = false;
}

static void follow(struct mapper_agent *agent, const struct mapper_message *message, weft_time now,
	uint8_t port)
{
	const struct mapper_command *command = &message->command;

	if (message->sender != agent->followed || command->session != agent->followed_session) {
		agent->rank = MAPPER_RANK_NONE;
		drop_staged(agent);
		forget_told(agent);
	}
	agent->followed = message->sender;
	agent->followed_priority = command->priority;
	agent->followed_session = command->session;
	agent->heard_at = now;
	agent->obeyed++;
	if (port == MAPPER_PORT_LOCAL)
		return;
	agent->leading = false;
	agent->way_port = port;
	agent->way_length = command->back_length;
	memcpy(agent->way, command->back, command->back_length);
}

uint8_t mapper_agent_age(const struct mapper_agent *agent, weft_time now)
{
	uint64_t age_us = (uint64_t)(now - agent->committed_at) / PS_PER_US;

	return age_us == 0 ? 0 : (uint8_t)(64 - __builtin_clzll(age_us));
}

static void fill_reply(const struct mapper_agent *agent, const struct mapper_message *question,
	weft_time now, uint8_t port, struct mapper_reply *reply)
{
	const struct mapper_agent_config *config = &agent->config;

	*reply = (struct mapper_reply){
		.probe = question->probe.number,
		.kind = config->kind,
		.ports = config->ports,
		.entry = port,
		.flags = (uint8_t)((config->candidate ? MAPPER_REPLY_CANDIDATE : 0) |
				   (agent->paused ? MAPPER_REPLY_PAUSED : 0)),
		.session = config->session,
		.epoch = agent->epoch,
		.followed = agent->followed,
		.followed_priority = agent->followed_priority,
		.priority = config->priority,
		.number = agent->number,
		.age = mapper_agent_age(agent, now),
		.version = config->version,
		.linked = agent->linked,
		.digest = agent->digest,
		.name_length = (uint8_t)strnlen(config->name, MAPPER_NAME_MAX),
	};
	memcpy(reply->name, config->name, reply->name_length);
}

static void fill_status(const struct mapper_agent *agent, uint32_t epoch, uint16_t round,
	struct mapper_status *status)
{
	bool staged = epoch == agent->staged_epoch;

	*status = (struct mapper_status){
		.epoch = epoch,
		.staged_bytes = staged ? agent->staged_bytes : 0,
		.committed = agent->epoch,
		.stage = staged ? agent->stage : MAPPER_STAGE_NONE,
		.flags = (uint8_t)((agent->paused ? MAPPER_STATUS_PAUSED : 0) |
				   (agent->idle ? MAPPER_STATUS_IDLE : 0)),
		.round = round,
		.session = agent->config.session,
		.followed = agent->followed,
		.followed_priority = agent->followed_priority,
	};
}

/* Returns true for late parts, whose epoch is in use or earlier. Without a key, the epoch in use
 * may be forged, so it blocks lower epochs only for a lease after its commit. */
static bool is_over(
	const struct mapper_agent *agent, const struct mapper_table *part, weft_time now)
{
	if (part->epoch == agent->epoch)
		return true;
	return part->epoch < agent->epoch &&
	       (agent->config.key != NULL || now - agent->committed_at <= agent->config.lease_ps);
}

/* Stages a part that continues the previous one. Duplicates and early parts are only answered. */
static void stage_part(struct mapper_agent *agent, const struct mapper_table *part, weft_time now)
{
	/* Parts of an epoch before the staged one are late. However, if no part of the staged image
	 * arrives for a lease, its epoch may be forged, and it no longer blocks other images. */
	if (is_over(agent, part, now) || (part->epoch < agent->staged_epoch &&
						 now - agent->staged_at <= agent->config.lease_ps))
		return;
	agent->staged_at = now;
	if (part->epoch != agent->staged_epoch) {
		drop_staged(agent);
		agent->staged_epoch = part->epoch;
		agent->staged_total = part->total;
		agent->stage = MAPPER_STAGE_REFUSED;
		if (part->total > agent->config.image_bytes_max)
			return;
		agent->staged = malloc(part->total);
		if (agent->staged == NULL)
			return;
		agent->stage = MAPPER_STAGE_PARTS;
	}
	if (agent->stage != MAPPER_STAGE_PARTS || part->total != agent->staged_total ||
		part->offset != agent->staged_bytes)
		return;
	memcpy(agent->staged + part->offset, part->data, part->bytes);
	agent->staged_bytes += part->bytes;
	if (agent->staged_bytes < agent->staged_total)
		return;
	agent->stage = table_image_check(agent->staged, agent->staged_total, agent->config.kind,
			       agent->config.ports)
			       ? MAPPER_STAGE_READY
			       : MAPPER_STAGE_REFUSED;
}

static unsigned commit(struct mapper_agent *agent, const struct mapper_phase *phase, weft_time now)
{
	if (phase->epoch != agent->staged_epoch || agent->stage != MAPPER_STAGE_READY)
		return 0;
	free(agent->image);
	agent->image = agent->staged;
	agent->image_bytes = agent->staged_total;
	agent->digest = table_image_digest(agent->image, agent->image_bytes);
	agent->number = table_image_number(agent->image);
	agent->epoch = phase->epoch;
	agent->committed_at = now;
	agent->staged = NULL;
	drop_staged(agent);
	return MAPPER_AGENT_COMMIT;
}

static unsigned pause(struct mapper_agent *agent, bool paused)
{
	if (agent->paused == paused)
		return 0;
	agent->paused = paused;
	return paused ? MAPPER_AGENT_PAUSE : MAPPER_AGENT_RESUME;
}

static unsigned obey_phase(
	struct mapper_agent *agent, const struct mapper_phase *phase, weft_time now)
{
	switch (phase->command) {
	case MAPPER_PAUSE:
		return pause(agent, true) |
		       (phase->flags & MAPPER_PHASE_PURGE ? MAPPER_AGENT_PURGE : 0);
	case MAPPER_COMMIT:
		return commit(agent, phase, now);
	case MAPPER_RESUME:
		return pause(agent, false);
	default:
		if (phase->epoch == agent->staged_epoch)
			drop_staged(agent);
		return 0;
	}
}

static unsigned obey(
	struct mapper_agent *agent, const struct mapper_message *message, weft_time now)
{
	switch (message->type) {
	case MAPPER_TABLE:
		stage_part(agent, &message->table, now);
		return 0;
	case MAPPER_PHASE:
		return obey_phase(agent, &message->phase, now);
	case MAPPER_HEARTBEAT:
		agent->rank = message->heartbeat.rank;
		return 0;
	case MAPPER_ACKNOWLEDGE:
		if (!agent->reporting || message->acknowledge.sequence != agent->report_sequence)
			return 0;
		agent->reporting = false;
		record_told(agent);
		return 0;
	default:
		return 0;
	}
}

static void fill_image(const struct mapper_agent *agent, const struct mapper_read *read,
	struct mapper_image_part *part)
{
	uint32_t offset = read->offset < agent->image_bytes ? read->offset : 0;
	uint32_t left = agent->image_bytes - offset;

	*part = (struct mapper_image_part){
		.epoch = agent->epoch,
		.total = agent->image_bytes,
		.offset = offset,
		.digest = agent->digest,
		.bytes = (uint16_t)(left < read->bytes ? left : read->bytes),
		.data = agent->image_bytes == 0 ? NULL : agent->image + offset,
	};
}

/* Answers through the port on which the question arrived, using the question's return route. */
static unsigned answer_question(struct mapper_agent *agent, const struct mapper_message *question,
	weft_time now, uint8_t port, struct mapper_frame *answer)
{
	struct mapper_message message;

	memset(&message, 0, sizeof(message));
	message.target = question->sender;
	message.target_session = question->command.session;
	if (question->type == MAPPER_PROBE) {
		message.type = MAPPER_REPLY;
		fill_reply(agent, question, now, port, &message.reply);
	} else if (question->type == MAPPER_READ) {
		message.type = MAPPER_IMAGE;
		fill_image(agent, &question->read, &message.image);
	} else if (question->type == MAPPER_TABLE || question->type == MAPPER_PHASE) {
		message.type = MAPPER_STATUS;
		if (question->type == MAPPER_TABLE)
			fill_status(agent, question->table.epoch, 0, &message.status);
		else
			fill_status(agent, question->phase.epoch, question->phase.round,
				&message.status);
	} else {
		return 0;
	}
	mapper_frame_build(&agent->speaker, &message, question->command.back,
		question->command.back_length, answer);
	answer->port = port;
	return MAPPER_AGENT_ANSWER;
}

unsigned mapper_agent_receive(struct mapper_agent *agent, weft_time now, uint8_t port,
	const uint8_t *data, unsigned bytes, struct mapper_frame *answer)
{
	struct mapper_message message;
	enum mapper_refusal refusal = admit(agent, now, port, data, bytes, &message);
	unsigned orders = 0;

	if (refusal != MAPPER_REFUSED_NONE) {
		agent->refused[refusal]++;
		return 0;
	}
	if (is_obeyed(agent, &message, now)) {
		follow(agent, &message, now, port);
		orders = obey(agent, &message, now);
	} else {
		agent->refused[MAPPER_REFUSED_LESSER]++;
	}
	orders |= answer_question(agent, &message, now, port, answer);
	/* The answer contains all links. */
	if (message.type == MAPPER_PROBE && message.sender == agent->followed) {
		agent->told = agent->linked;
		agent->reporting = false;
	}
	return orders;
}

void mapper_agent_set_link(struct mapper_agent *agent, uint8_t port, bool up)
{
	agent->linked &= ~((uint64_t)1 << port);
	agent->linked |= (uint64_t)up << port;
}

/* Returns when a pause ends unless a mapper ends it. A leading mapper ends its own pause. */
static weft_time pause_until(const struct mapper_agent *agent)
{
	return agent->paused && !agent->leading && agent->config.pause_ps > 0
		       ? agent->heard_at + agent->config.pause_ps
		       : WEFT_TIME_NEVER;
}

unsigned mapper_agent_wait(struct mapper_agent *agent, weft_time now)
{
	if (now < pause_until(agent))
		return 0;
	agent->pauses_left++;
	return pause(agent, false);
}

static void choose_report(struct mapper_agent *agent, weft_time now)
{
	uint64_t changed;

	if (agent->reporting) {
		if ((agent->linked >> agent->report_port & 1) == (uint64_t)agent->report_up)
			return;
		/* The report is obsolete and is not repeated. However, it may have arrived, so the
		 * link's return to its former state must be reported. */
		record_told(agent);
	}
	changed = agent->linked ^ agent->told;
	agent->reporting = changed != 0;
	if (changed == 0)
		return;
	agent->report_port = (uint8_t)__builtin_ctzll(changed);
	agent->report_up = agent->linked >> agent->report_port & 1;
	agent->report_sequence++;
	agent->report_due = now;
}

bool mapper_agent_poll(struct mapper_agent *agent, weft_time now, struct mapper_frame *report)
{
	struct mapper_message message;

	if (agent->leading || agent->way_length == 0)
		return false;
	choose_report(agent, now);
	if (!agent->reporting || now < agent->report_due)
		return false;
	memset(&message, 0, sizeof(message));
	message.type = MAPPER_REPORT;
	message.target = agent->followed;
	message.target_session = agent->followed_session;
	message.report = (struct mapper_report){.sequence = agent->report_sequence,
		.session = agent->config.session,
		.port = agent->report_port,
		.up = agent->report_up};
	mapper_frame_build(&agent->speaker, &message, agent->way, agent->way_length, report);
	report->port = agent->way_port;
	agent->report_due = now + agent->config.report_retry_ps;
	return true;
}

weft_time mapper_agent_due(const struct mapper_agent *agent)
{
	weft_time wait = pause_until(agent), report = agent->reporting ? agent->report_due : 0;

	if (agent->leading || agent->way_length == 0 ||
		(agent->linked == agent->told && !agent->reporting))
		return wait;
	return wait < report ? wait : report;
}

void mapper_agent_lead(struct mapper_agent *agent, uint32_t session, weft_time now)
{
	/* Parts from another mapper do not belong to this mapper's image, whatever their epoch. */
	drop_staged(agent);
	agent->rank = MAPPER_RANK_NONE;
	agent->leading = true;
	agent->followed = agent->config.id;
	agent->followed_priority = agent->config.priority;
	agent->followed_session = session;
	agent->heard_at = now;
	agent->way_length = 0;
}

void mapper_agent_stand_by(struct mapper_agent *agent)
{
	agent->leading = false;
	if (agent->followed == agent->config.id)
		agent->followed = 0;
}
