/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "fabric_map.h"
#include "mapper_private.h"

#define HOLD_MIN_PS PS_PER_MS

unsigned mapper_tries(weft_time retry_ps, weft_time down_ps)
{
	weft_time tries = (3 * down_ps + retry_ps - 1) / retry_ps;

	tries = tries < UINT16_MAX ? tries : UINT16_MAX;
	return tries > MAPPER_TRIES_MIN ? (unsigned)tries : MAPPER_TRIES_MIN;
}

static int init_map(struct mapper *mapper)
{
	const struct mapper_agent_config *own = &mapper->agent->config;
	struct mapper_reply facts = {.kind = own->kind,
		.ports = own->ports,
		.flags = MAPPER_REPLY_CANDIDATE,
		.session = own->session,
		.priority = own->priority,
		.number = own->number,
		.version = own->version,
		.linked = mapper->agent->linked};
	int result = fabric_map_init(&mapper->map);

	if (result < 0)
		return result;
	facts.name_length = (uint8_t)strnlen(own->name, MAPPER_NAME_MAX);
	memcpy(facts.name, own->name, facts.name_length);
	if (fabric_map_add(&mapper->map, own->id, &facts) == MAP_NONE)
		return -ENOMEM;
	mapper->map.device[0].present = true;
	return 0;
}

int mapper_init(struct mapper *mapper, const struct mapper_config *config,
	struct mapper_agent *agent, uint64_t counter, weft_time now)
{
	struct discovery_config discovery = config->discovery;
	struct distribution_config distribution = config->distribution;
	int result;

	*mapper = (struct mapper){.config = *config,
		.agent = agent,
		.speaker = {.key = agent->config.key,
			.fabric = agent->config.fabric,
			.id = agent->config.id,
			.counter = counter},
		.state = MAPPER_LISTENING,
		.state_since = now,
		.root = config->options.root,
		.read_at = UINT64_MAX};
	discovery.priority = distribution.priority = agent->config.priority;
	discovery.session = distribution.session = config->session;
	discovery.hold_ps = config->gather_ps > HOLD_MIN_PS ? config->gather_ps : HOLD_MIN_PS;
	result = init_map(mapper);
	if (result == 0)
		result = discovery_init(
			&mapper->discovery, &discovery, &mapper->map, &mapper->speaker);
	if (result == 0)
		result = distribution_init(
			&mapper->distribution, &distribution, &mapper->map, &mapper->speaker);
	image_reading_init(&mapper->reading, &distribution, &mapper->map, &mapper->speaker);
	if (result < 0)
		mapper_fini(mapper);
	return result;
}

void mapper_fini(struct mapper *mapper)
{
	mapper_plan_forget(mapper);
	image_reading_fini(&mapper->reading);
	distribution_fini(&mapper->distribution);
	discovery_fini(&mapper->discovery);
	fabric_map_fini(&mapper->map);
	free(mapper->candidate);
	mapper->candidate = NULL;
}

const struct mapper_generation *mapper_current(const struct mapper *mapper)
{
	for (unsigned i = mapper->generations; i-- > 0;)
		if (!mapper->generation[i].found)
			return &mapper->generation[i];
	return NULL;
}

bool mapper_is_settled(const struct mapper *mapper)
{
	return mapper->state == MAPPER_LEADING && mapper_current(mapper) != NULL &&
	       mapper->map.changes == mapper->computed && !mapper->stale;
}

uint32_t mapper_host_epoch(const struct mapper *mapper, uint32_t host)
{
	const struct mapper_generation *current = mapper_current(mapper);

	for (uint32_t i = 0; current != NULL && i < mapper->map.devices; i++) {
		const struct map_device *device = &mapper->map.device[i];

		if (device->present && device->facts.kind == DEVICE_HOST && device->number == host)
			return device->known_in == current->number ? device->facts.epoch : 0;
	}
	return 0;
}

static void enter_state(struct mapper *mapper, enum mapper_state state, weft_time now)
{
	mapper->state = state;
	mapper->state_since = now;
}

static void update_self(struct mapper *mapper, weft_time now)
{
	struct map_device *self = &mapper->map.device[0];

	self->facts.linked = mapper->agent->linked;
	self->facts.epoch = mapper->agent->epoch;
	self->facts.digest = mapper->agent->digest;
	self->facts.age = mapper_agent_age(mapper->agent, now);
	self->facts.flags = (uint8_t)(MAPPER_REPLY_CANDIDATE |
				      (mapper->agent->paused ? MAPPER_REPLY_PAUSED : 0));
	if (self->number == MAPPER_NUMBER_NONE)
		self->facts.number = mapper->agent->number;
}

/* Restarts the map from the local port, keeping numbers and identities. */
static void restart_map(struct mapper *mapper)
{
	fabric_map_cut(&mapper->map, 0, 0, MAP_UNKNOWN);
	fabric_map_find_ways(&mapper->map);
	discovery_reset(&mapper->discovery);
	mapper->discovery.epoch = mapper->epoch;
	mapper->stale = true;
	if (mapper->agent->linked != 0)
		discovery_ask(&mapper->discovery, 0, 0, true);
}

static void take_lead(struct mapper *mapper, weft_time now)
{
	mapper->counters.led++;
	mapper_agent_lead(mapper->agent, mapper->config.session, now);
	mapper->lesser_seen = mapper->agent->refused[MAPPER_REFUSED_LESSER];
	mapper->acknowledgements = 0;
	mapper->candidates = mapper->beat = mapper->beats = 0;
	/* Without a link the mapper waits, as in link_changed(). */
	mapper->not_before = mapper->agent->linked == 0 ? now + mapper->config.takeover_ps : 0;
	mapper->sweep_at = now + mapper->config.sweep_ps;
	update_self(mapper, now);
	restart_map(mapper);
	enter_state(mapper, MAPPER_MAPPING, now);
}

static void step_down(struct mapper *mapper, weft_time now)
{
	mapper->counters.stepped_down++;
	mapper_agent_stand_by(mapper->agent);
	distribution_stop(&mapper->distribution);
	discovery_reset(&mapper->discovery);
	mapper_plan_forget(mapper);
	enter_state(mapper, MAPPER_STANDING_BY, now);
}

static weft_time listen_until(const struct mapper *mapper)
{
	/* Start times are staggered, so later candidates find a leading mapper. */
	uint64_t part = rng_mix(mapper->speaker.id) & 0xFFFF;

	return mapper->state_since + mapper->config.listen_ps +
	       mapper->config.listen_ps / 2 * part / 0x10000;
}

static weft_time stand_by_until(const struct mapper *mapper)
{
	const struct mapper_agent *agent = mapper->agent;
	weft_time heard = agent->followed != 0 && agent->heard_at > mapper->state_since
				  ? agent->heard_at
				  : mapper->state_since;

	/* One period more than candidates without a rank, and two more than the last ranked one,
	 * because this candidate's last message may be up to half a lease older. */
	if (agent->rank == MAPPER_RANK_OTHER)
		return heard + mapper->config.takeover_ps * (2 + mapper->config.standbys);
	if (agent->rank == MAPPER_RANK_NONE || agent->followed == 0)
		return heard + mapper->config.takeover_ps * (1 + mapper->config.standbys);
	return heard + mapper->config.takeover_ps * (1 + agent->rank);
}

static bool has_priority(const struct mapper *mapper)
{
	return mapper->agent->followed != 0 &&
	       mapper->agent->config.priority > mapper->agent->followed_priority;
}

void mapper_absent(struct mapper *mapper, weft_time away_ps, weft_time now)
{
	if (away_ps <= mapper->agent->config.lease_ps || !mapper_leads(mapper))
		return;
	step_down(mapper, now);
	take_lead(mapper, now);
}

static void poll_election(struct mapper *mapper, weft_time now)
{
	if (mapper_leads(mapper)) {
		if (!mapper->agent->leading || mapper->discovery.greater != 0 ||
			mapper->distribution.greater != 0)
			step_down(mapper, now);
		return;
	}
	if (has_priority(mapper)) {
		take_lead(mapper, now);
	} else if (mapper->state == MAPPER_STANDING_BY) {
		if (now >= stand_by_until(mapper))
			take_lead(mapper, now);
	} else if (mapper->agent->followed != 0) {
		enter_state(mapper, MAPPER_STANDING_BY, now);
	} else if (now >= listen_until(mapper)) {
		take_lead(mapper, now);
	}
}

/* Handles a link that went down. No step waits for devices beyond it, which may be unreachable. */
static void link_down(struct mapper *mapper, uint32_t device, uint8_t port, weft_time now)
{
	fabric_map_cut(&mapper->map, device, port, MAP_EMPTY);
	fabric_map_find_ways(&mapper->map);
	distribution_call_off(&mapper->distribution, now);
	for (uint32_t i = 1; i < mapper->map.devices; i++)
		if (!mapper->map.device[i].present)
			distribution_lose(&mapper->distribution, i, now);
}

/* Handles a link change. If its own link is down, a mapper cannot tell which devices are gone. Its
 * host keeps its routes until another mapper may have taken over the other devices. */
static void link_changed(struct mapper *mapper, uint32_t at, uint8_t port, bool up, weft_time now)
{
	struct map_device *device = &mapper->map.device[at];

	device->facts.linked &= ~((uint64_t)1 << port);
	device->facts.linked |= (uint64_t)up << port;
	link_damping_record(&mapper->discovery.hold, &device->port[port], up, now);
	if (at == 0 && up)
		mapper->not_before = device->port[port].held_until;
	if (up) {
		/* Probes even a known neighbour, because this report may have overtaken the report
		 * that the link went down. */
		discovery_ask(&mapper->discovery, at, port, true);
	} else if (device->port[port].state == MAP_LINKED) {
		link_down(mapper, at, port, now);
		mapper->not_before =
			now + (at == 0 ? mapper->config.takeover_ps : mapper->config.gather_ps);
	} else {
		device->port[port].state = MAP_EMPTY;
		if (at == 0)
			mapper->not_before = now + mapper->config.takeover_ps;
	}
}

static void on_report(
	struct mapper *mapper, uint32_t at, const struct mapper_message *message, weft_time now)
{
	const struct mapper_report *report = &message->report;

	if (report->session != mapper->map.device[at].facts.session ||
		report->port >= mapper->map.device[at].facts.ports)
		return;
	mapper->counters.reports++;
	if (mapper->acknowledgements < MAPPER_ACKNOWLEDGE_MAX)
		mapper->acknowledgement[mapper->acknowledgements++] =
			(struct mapper_acknowledgement){at, report->sequence};
	/* A repeated report, whose acknowledgement was lost. */
	if ((mapper->map.device[at].facts.linked >> report->port & 1) == (uint64_t)report->up)
		return;
	link_changed(mapper, at, report->port, report->up, now);
}

/* Checks sender and session of a message. Replies to probes may come from unknown devices. */
static enum mapper_refusal admit(
	struct mapper *mapper, const struct mapper_message *message, uint32_t *at)
{
	if (mapper_type_is_command(message->type) || message->target != mapper->speaker.id)
		return MAPPER_REFUSED_NOT_FOR_US;
	if (message->target_session != mapper->config.session || !mapper_leads(mapper))
		return MAPPER_REFUSED_STALE;
	*at = fabric_map_find(&mapper->map, message->sender);
	if (message->type == MAPPER_REPLY)
		return MAPPER_REFUSED_NONE;
	if (*at == MAP_NONE || !mapper->map.device[*at].present)
		return MAPPER_REFUSED_STALE;
	/* A leading mapper's own agent sends no reports, so the sender is a different device. */
	if (*at == 0 && message->type == MAPPER_REPORT)
		return MAPPER_REFUSED_STALE;
	return replay_admit(&mapper->map.device[*at].window, message->counter,
		       mapper->speaker.key != NULL)
		       ? MAPPER_REFUSED_NONE
		       : MAPPER_REFUSED_REPLAYED;
}

/* Plans to end a pause. A device that is paused outside a distribution is waiting for this mapper:
 * its resume was lost, or another mapper, now standing by, started the pause. */
static void plan_end_of_pause(struct mapper *mapper, uint32_t at)
{
	const struct map_device *device = &mapper->map.device[at];

	if (mapper->state != MAPPER_DISTRIBUTING && device->present &&
		(device->facts.flags & MAPPER_REPLY_PAUSED) != 0)
		mapper->stale = true;
}

/* Returns the table generation that a device is known to use; 0: none. */
static uint32_t known_tables(const struct mapper *mapper, uint64_t id)
{
	uint32_t at = fabric_map_find(&mapper->map, id);

	return at != MAP_NONE ? mapper->map.device[at].known_in : 0;
}

static enum mapper_refusal on_reply(
	struct mapper *mapper, const struct mapper_message *message, weft_time now)
{
	uint32_t before = known_tables(mapper, message->sender);
	enum mapper_refusal refusal = discovery_on_reply(&mapper->discovery, message, now);
	uint32_t at = fabric_map_find(&mapper->map, message->sender);

	if (refusal != MAPPER_REFUSED_NONE || at == MAP_NONE)
		return refusal;
	plan_end_of_pause(mapper, at);
	/* Another mapper replaced the device's tables, so they must be sent again. */
	mapper->stale |= before != 0 && mapper->map.device[at].known_in == 0;
	return refusal;
}

static void on_status(
	struct mapper *mapper, uint32_t at, const struct mapper_status *status, weft_time now)
{
	struct mapper_reply *facts = &mapper->map.device[at].facts;

	if (status->session == facts->session) {
		facts->flags &= (uint8_t)~MAPPER_REPLY_PAUSED;
		if ((status->flags & MAPPER_STATUS_PAUSED) != 0)
			facts->flags |= MAPPER_REPLY_PAUSED;
		plan_end_of_pause(mapper, at);
	}
	distribution_on_status(&mapper->distribution, at, status, now);
}

void mapper_receive(struct mapper *mapper, weft_time now, const uint8_t *data, unsigned bytes)
{
	struct mapper_message message;
	uint32_t at = MAP_NONE;
	enum mapper_refusal refusal = mapper_frame_open(mapper->speaker.key, data, bytes, &message);

	if (refusal == MAPPER_REFUSED_NONE)
		refusal = admit(mapper, &message, &at);
	if (refusal == MAPPER_REFUSED_NONE) {
		if (message.type == MAPPER_REPLY)
			refusal = on_reply(mapper, &message, now);
		else if (message.type == MAPPER_STATUS)
			on_status(mapper, at, &message.status, now);
		else if (message.type == MAPPER_IMAGE)
			image_reading_on_part(&mapper->reading, at, &message.image, now);
		else
			on_report(mapper, at, &message, now);
	}
	mapper->counters.refused[refusal]++;
}

/* Returns true if a lower-ranking mapper has sent commands to the local agent since all devices
 * were last probed. Further commands have no effect until the current probes are done. */
static bool has_to_reclaim(const struct mapper *mapper)
{
	return mapper->agent->refused[MAPPER_REFUSED_LESSER] != mapper->lesser_seen &&
	       discovery_done(&mapper->discovery);
}

/* Probes all devices, because a lower-ranking mapper is active, and devices that have received
 * nothing from this mapper for a long time follow that one. */
static void reclaim(struct mapper *mapper)
{
	mapper->lesser_seen = mapper->agent->refused[MAPPER_REFUSED_LESSER];
	for (uint32_t i = 1; i < mapper->map.devices; i++) {
		const struct map_device *device = &mapper->map.device[i];

		if (device->present)
			discovery_ask(
				&mapper->discovery, device->parent, device->parent_port, true);
	}
}

/* Counts down the sweeps of left-out devices, which may accept their tables afterwards. */
static void remember_left_out(struct mapper *mapper)
{
	for (uint32_t i = 0; i < mapper->map.devices; i++) {
		struct map_device *device = &mapper->map.device[i];

		if (device->left_out == 0)
			continue;
		if (--device->left_out == 0)
			mapper->stale = true;
		else
			discovery_find(&mapper->discovery, DISCOVERY_NO_TABLES, i, 0);
	}
}

/* Probes everything again in the course of several sweeps, because a broken path may have lost a
 * probe or a device's report. */
static void sweep(struct mapper *mapper, weft_time now)
{
	const struct map_device *device;

	mapper->sweep_at = now + mapper->config.sweep_ps;
	mapper->stale |= mapper->no_memory;
	discovery_forget_findings(&mapper->discovery);
	remember_left_out(mapper);
	for (uint32_t i = 0; i < mapper->map.devices; i++) {
		device = &mapper->map.device[i];
		if (!device->present || (device->facts.kind != 0 && i != 0))
			continue;
		for (unsigned p = 0; p < device->facts.ports; p++)
			if ((device->facts.linked >> p & 1) != 0 &&
				device->port[p].state != MAP_LINKED)
				discovery_ask(&mapper->discovery, i, (uint8_t)p, false);
	}
	mapper->sweep = (mapper->sweep + 1) % mapper->map.devices;
	device = &mapper->map.device[mapper->sweep];
	if (device->present && mapper->sweep != 0)
		discovery_ask(&mapper->discovery, device->parent, device->parent_port, true);
}

static void watch_self(struct mapper *mapper, weft_time now)
{
	uint32_t device;
	uint8_t port;

	if (mapper->agent->linked != mapper->map.device[0].facts.linked)
		link_changed(mapper, 0, 0, mapper->agent->linked != 0, now);
	if (has_to_reclaim(mapper))
		reclaim(mapper);
	while (link_damping_next(&mapper->discovery.hold, &mapper->map, now, &device, &port))
		discovery_ask(&mapper->discovery, device, port, false);
	if (mapper->state == MAPPER_LEADING && now >= mapper->sweep_at &&
		discovery_done(&mapper->discovery))
		sweep(mapper, now);
}

static bool wants_routes(const struct mapper *mapper)
{
	return discovery_done(&mapper->discovery) &&
	       (mapper->stale || mapper->map.changes != mapper->computed);
}

static void poll_work(struct mapper *mapper, weft_time now)
{
	if (mapper->state == MAPPER_DISTRIBUTING) {
		if (!distribution_done(&mapper->distribution))
			return;
		mapper_plan_done(mapper, now);
		enter_state(mapper, MAPPER_LEADING, now);
		for (uint32_t i = 0; i < mapper->map.devices; i++)
			plan_end_of_pause(mapper, i);
	}
	if (mapper->reads && image_reading_done(&mapper->reading))
		mapper_plan_found(mapper, now);
	if (!wants_routes(mapper) || now < mapper->not_before)
		return;
	update_self(mapper, now);
	/* The delay prevents an immediate repetition of a failed attempt. */
	mapper->not_before = now + mapper->config.gather_ps;
	if (fabric_map_find_ways(&mapper->map) < 0)
		return;
	if (mapper_plan(mapper, now))
		enter_state(mapper, MAPPER_DISTRIBUTING, now);
	else
		enter_state(mapper, mapper->reads ? MAPPER_MAPPING : MAPPER_LEADING, now);
}

bool mapper_poll(struct mapper *mapper, weft_time now, struct mapper_frame *frame)
{
	poll_election(mapper, now);
	if (!mapper_leads(mapper))
		return false;
	watch_self(mapper, now);
	if (mapper_poll_acknowledgements(mapper, frame) ||
		mapper_poll_heartbeats(mapper, now, frame) ||
		discovery_poll(&mapper->discovery, now, frame) ||
		distribution_poll(&mapper->distribution, now, frame) ||
		image_reading_poll(&mapper->reading, now, frame))
		return true;
	poll_work(mapper, now);
	/* Handles changes that waited for the end of a distribution. */
	watch_self(mapper, now);
	return distribution_poll(&mapper->distribution, now, frame) ||
	       image_reading_poll(&mapper->reading, now, frame) ||
	       discovery_poll(&mapper->discovery, now, frame);
}

weft_time mapper_due(const struct mapper *mapper, weft_time now)
{
	weft_time due;

	if (!mapper_leads(mapper))
		return mapper->state == MAPPER_LISTENING ? listen_until(mapper)
							 : stand_by_until(mapper);
	if (mapper->acknowledgements > 0 || mapper->beat < mapper->beats ||
		has_to_reclaim(mapper) || (mapper->reads && image_reading_done(&mapper->reading)) ||
		(mapper->state == MAPPER_DISTRIBUTING && distribution_done(&mapper->distribution)))
		return now;
	due = weft_time_min(mapper->beat_at, discovery_due(&mapper->discovery));
	due = weft_time_min(due, mapper->discovery.hold.next);
	if (mapper->state == MAPPER_LEADING && discovery_done(&mapper->discovery))
		due = weft_time_min(due, mapper->sweep_at);
	due = weft_time_min(due, distribution_due(&mapper->distribution, now));
	due = weft_time_min(due, image_reading_due(&mapper->reading, now));
	if (mapper->state != MAPPER_DISTRIBUTING && wants_routes(mapper))
		due = weft_time_min(due, mapper->not_before);
	return due;
}
