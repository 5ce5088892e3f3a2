/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "discovery.h"

#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/name_table.h"
#include "mapper_agent.h"

const char *discovery_finding_name(enum discovery_finding_kind kind)
{
	static const char *const names[] = {DISCOVERY_FINDINGS(WORD_TEXT)};

	return names[kind];
}

int discovery_init(struct discovery *discovery, const struct discovery_config *config,
	struct fabric_map *map, struct mapper_speaker *speaker)
{
	*discovery = (struct discovery){.config = *config,
		.map = map,
		.speaker = speaker,
		.hold = {config->hold_ps, WEFT_TIME_NEVER},
		.room = 256,
		.next_number = 1};
	discovery->queue = calloc(discovery->room, sizeof(*discovery->queue));
	return discovery->queue == NULL ? -ENOMEM : 0;
}

void discovery_fini(struct discovery *discovery)
{
	free(discovery->queue);
	discovery->queue = NULL;
}

void discovery_reset(struct discovery *discovery)
{
	discovery->head = discovery->tail = 0;
	for (unsigned i = 0; i < DISCOVERY_OUTSTANDING_MAX; i++)
		discovery->probe[i].used = false;
	discovery->outstanding = 0;
	discovery->failed = false;
	discovery->greater = 0;
	discovery->greater_priority = 0;
	discovery_forget_findings(discovery);
}

void discovery_forget_findings(struct discovery *discovery)
{
	discovery->findings = 0;
	for (uint32_t i = 0; i < discovery->map->devices; i++) {
		discovery->map->device[i].lives = 0;
		discovery->map->device[i].former = 0;
	}
}

void discovery_find(struct discovery *discovery, enum discovery_finding_kind kind, uint32_t device,
	uint8_t port)
{
	if (discovery->findings < DISCOVERY_FINDINGS_MAX)
		discovery->finding[discovery->findings++] =
			(struct discovery_finding){kind, device, port};
}

static bool is_asked(const struct discovery *discovery, uint32_t device, uint8_t port)
{
	for (unsigned i = 0; i < DISCOVERY_OUTSTANDING_MAX && discovery->outstanding > 0; i++)
		if (discovery->probe[i].used && discovery->probe[i].device == device &&
			discovery->probe[i].port == port)
			return true;
	return false;
}

void discovery_ask(struct discovery *discovery, uint32_t device, uint8_t port, bool again)
{
	if (discovery->tail == discovery->room && discovery->head >= discovery->room / 2) {
		discovery->tail -= discovery->head;
		memmove(discovery->queue, discovery->queue + discovery->head,
			discovery->tail * sizeof(*discovery->queue));
		discovery->head = 0;
	}
	if (!array_reserve(&discovery->queue, &discovery->room, discovery->tail + 1u,
		    sizeof(*discovery->queue))) {
		discovery->failed = true;
		return;
	}
	discovery->queue[discovery->tail++] = (struct discovery_place){device, port, again};
}

bool discovery_done(const struct discovery *discovery)
{
	return discovery->head == discovery->tail && discovery->outstanding == 0;
}

static void build_probe(
	struct discovery *discovery, struct discovery_probe *probe, struct mapper_frame *frame)
{
	const struct fabric_map *map = discovery->map;
	uint8_t route[MAPPER_BACK_MAX];
	unsigned length = map->device[probe->device].depth;
	struct mapper_message message;

	memset(&message, 0, sizeof(message));
	message.type = MAPPER_PROBE;
	message.command.priority = discovery->config.priority;
	message.command.session = discovery->config.session;
	message.command.back_length =
		(uint8_t)fabric_map_back(map, probe->device, message.command.back);
	message.probe = (struct mapper_probe){probe->number, discovery->epoch};
	fabric_map_way(map, probe->device, route);
	if (probe->device != 0)
		route[length++] = (uint8_t)(ROUTE_PORT_BIT | probe->port);
	route[length++] = ROUTE_TYPE_AGENT;
	mapper_frame_build(discovery->speaker, &message, route, length, frame);
	frame->port = 0;
	discovery->sent++;
}

/* Returns true if a probe is obsolete: a device on its path is lost (its ports are probed again
 * once it is found), or the link is down (it is probed when it comes up). */
static bool is_void(const struct discovery *discovery, const struct discovery_probe *probe)
{
	const struct map_device *device = &discovery->map->device[probe->device];

	return !device->present ||
	       (probe->device != 0 && (device->facts.linked >> probe->port & 1) == 0);
}

static bool poll_retries(struct discovery *discovery, weft_time now, struct mapper_frame *frame)
{
	for (unsigned i = 0, left = discovery->outstanding; left > 0; i++) {
		struct discovery_probe *probe = &discovery->probe[i];

		if (!probe->used)
			continue;
		left--;
		if (is_void(discovery, probe)) {
			probe->used = false;
			discovery->outstanding--;
			continue;
		}
		if (now < probe->due)
			continue;
		if (probe->tries == discovery->config.tries) {
			probe->used = false;
			discovery->outstanding--;
			fabric_map_cut(discovery->map, probe->device, probe->port, MAP_SILENT);
			discovery_find(discovery, DISCOVERY_SILENT, probe->device, probe->port);
			continue;
		}
		probe->tries++;
		probe->due = now + discovery->config.retry_ps;
		discovery->retried++;
		build_probe(discovery, probe, frame);
		return true;
	}
	return false;
}

/* Returns true if a port should be probed now: its device is present and close enough, no probe is
 * pending, and the link is not held down. */
static bool is_worthwhile(struct discovery *discovery, struct discovery_place place, weft_time now)
{
	const struct map_device *device = &discovery->map->device[place.device];

	if (!device->present || is_asked(discovery, place.device, place.port))
		return false;
	/* Hosts do not forward. */
	if (device->facts.kind != 0 && place.device != 0)
		return false;
	if (!place.again && device->port[place.port].state == MAP_LINKED)
		return false;
	if (link_is_held(&device->port[place.port], now))
		return false;
	/* The route needs space for its ports, the next port and the final element, in both
	 * directions. */
	if (device->depth + 2 <= MAPPER_BACK_MAX)
		return true;
	discovery_find(discovery, DISCOVERY_TOO_FAR, place.device, place.port);
	return false;
}

static struct discovery_probe *free_probe(struct discovery *discovery)
{
	for (unsigned i = 0; i < discovery->config.outstanding; i++)
		if (!discovery->probe[i].used)
			return &discovery->probe[i];
	return NULL;
}

static bool poll_queue(struct discovery *discovery, weft_time now, struct mapper_frame *frame)
{
	while (discovery->head < discovery->tail &&
		discovery->outstanding < discovery->config.outstanding) {
		struct discovery_place place = discovery->queue[discovery->head++];
		struct discovery_probe *probe;

		if (!is_worthwhile(discovery, place, now))
			continue;
		probe = free_probe(discovery);
		*probe = (struct discovery_probe){.device = place.device,
			.port = place.port,
			.tries = 1,
			.used = true,
			.number = discovery->next_number++,
			.due = now + discovery->config.retry_ps};
		discovery->outstanding++;
		build_probe(discovery, probe, frame);
		return true;
	}
	return false;
}

bool discovery_poll(struct discovery *discovery, weft_time now, struct mapper_frame *frame)
{
	return poll_retries(discovery, now, frame) || poll_queue(discovery, now, frame);
}

weft_time discovery_due(const struct discovery *discovery)
{
	weft_time due = WEFT_TIME_NEVER;

	if (discovery->head < discovery->tail &&
		discovery->outstanding < discovery->config.outstanding)
		return 0;
	for (unsigned i = 0, left = discovery->outstanding; left > 0; i++) {
		if (!discovery->probe[i].used)
			continue;
		left--;
		if (discovery->probe[i].due < due)
			due = discovery->probe[i].due;
	}
	return due;
}

static struct discovery_probe *probe_numbered(struct discovery *discovery, uint32_t number)
{
	for (unsigned i = 0, left = discovery->outstanding; left > 0; i++) {
		if (!discovery->probe[i].used)
			continue;
		left--;
		if (discovery->probe[i].number == number)
			return &discovery->probe[i];
	}
	return NULL;
}

/* Probes all linked ports of a device except the one through which it was found. */
static void probe_ports(struct discovery *discovery, uint32_t at)
{
	struct map_device *device = &discovery->map->device[at];

	for (unsigned p = 0; p < device->facts.ports; p++) {
		if (device->port[p].state == MAP_LINKED)
			continue;
		device->port[p].state = MAP_EMPTY;
		if ((device->facts.linked >> p & 1) == 0)
			continue;
		device->port[p].state = MAP_UNKNOWN;
		if (device->facts.kind == 0 && p != device->entry)
			discovery_ask(discovery, at, (uint8_t)p, false);
	}
}

/* Handles a link change since the device's last reply; this reply overtook the report, or the
 * report was lost. */
static void update_link(struct discovery *discovery, uint32_t at, uint8_t port, bool up)
{
	if (!up)
		fabric_map_cut(discovery->map, at, port, MAP_EMPTY);
	else if (discovery->map->device[at].facts.kind == 0)
		discovery_ask(discovery, at, port, true);
}

/* Applies link changes in a known device's reply. 'entered': all its ports are probed anyway. */
static void update_links(
	struct discovery *discovery, uint32_t at, uint64_t before, bool entered, weft_time now)
{
	struct map_device *device = &discovery->map->device[at];
	uint64_t changed = device->facts.linked ^ before;

	for (; changed != 0; changed &= changed - 1) {
		uint8_t port = (uint8_t)__builtin_ctzll(changed);
		bool up = (device->facts.linked >> port & 1) != 0;

		link_damping_record(&discovery->hold, &device->port[port], up, now);
		if (!entered)
			update_link(discovery, at, port, up);
	}
}

static void enter(struct discovery *discovery, uint32_t at, struct discovery_place from)
{
	struct map_device *device = &discovery->map->device[at];
	const struct map_device *parent = &discovery->map->device[from.device];

	device->present = true;
	device->parent = from.device;
	device->parent_port = from.port;
	device->entry = device->facts.entry;
	device->depth = (uint8_t)(parent->depth + (from.device != 0));
}

/* Handles a restarted device: its known cables are void and are probed again. The route to it is
 * kept, because the newly found route may lead through the device itself. */
static void restart(struct discovery *discovery, uint32_t at)
{
	struct map_device *device = &discovery->map->device[at];

	for (unsigned p = 0; p < device->facts.ports; p++) {
		struct map_port old = device->port[p];

		if (old.state != MAP_LINKED || p == device->entry)
			continue;
		fabric_map_cut(discovery->map, at, (uint8_t)p, MAP_UNKNOWN);
		discovery_ask(discovery, old.peer, old.peer_port, false);
	}
	discovery_ask(discovery, device->parent, device->parent_port, true);
	discovery->map->changes++;
}

/* Returns the device that answered, or MAP_NONE if it cannot be added. */
static uint32_t identify(struct discovery *discovery, const struct mapper_message *message,
	struct discovery_place from, bool *entered)
{
	struct fabric_map *map = discovery->map;
	uint32_t at = fabric_map_find(map, message->sender);
	struct map_device *device;

	*entered = true;
	if (at == MAP_NONE) {
		at = fabric_map_add(map, message->sender, &message->reply);
		discovery->failed |= at == MAP_NONE;
		return at;
	}
	device = &map->device[at];
	/* Another mapper replaced the device's tables, or the device lost them. */
	if (device->facts.digest != message->reply.digest ||
		device->facts.session != message->reply.session)
		device->known_in = 0;
	if (device->facts.ports != message->reply.ports ||
		device->facts.kind != message->reply.kind) {
		discovery_find(discovery, DISCOVERY_CHANGED, at, 0);
		return MAP_NONE;
	}
	if (device->facts.session != message->reply.session) {
		/* The device restarted, or two devices with one identity answer alternately. */
		if (device->lives == DISCOVERY_RESTARTS_MAX ||
			device->former == message->reply.session) {
			discovery_find(discovery, DISCOVERY_TWO_SESSIONS, at, message->reply.entry);
			return MAP_NONE;
		}
		device->lives++;
		device->refusals = device->left_out = 0;
		device->former = device->facts.session;
		device->window = (struct replay_window){0};
	} else {
		*entered = !device->present;
	}
	device->facts = message->reply;
	return at;
}

/* A port has only one cable: the first one found is kept. */
static void connect(struct discovery *discovery, struct discovery_place from, uint32_t at)
{
	struct fabric_map *map = discovery->map;
	uint8_t entry = map->device[at].facts.entry;
	const struct map_port *near = &map->device[from.device].port[from.port];
	const struct map_port *far = &map->device[at].port[entry];

	if (at == from.device) {
		discovery_find(discovery, DISCOVERY_LOOP, at, from.port);
		fabric_map_cut(map, from.device, from.port, MAP_SILENT);
		return;
	}
	if (far->state == MAP_LINKED && (far->peer != from.device || far->peer_port != from.port)) {
		discovery_find(discovery, DISCOVERY_TWO_CABLES, at, entry);
		fabric_map_cut(map, from.device, from.port, MAP_SILENT);
		return;
	}
	/* The port was probed again, and a different device is there now. */
	if (near->state == MAP_LINKED && (near->peer != at || near->peer_port != entry))
		fabric_map_cut(map, from.device, from.port, MAP_UNKNOWN);
	fabric_map_connect(map, from.device, from.port, at, entry);
	map->device[at].moved = false;
}

static void record_greater(struct discovery *discovery, const struct mapper_reply *reply)
{
	if (reply->followed == 0 || !mapper_greater(reply->followed_priority, reply->followed,
					    discovery->config.priority, discovery->speaker->id))
		return;
	if (discovery->greater != 0 && !mapper_greater(reply->followed_priority, reply->followed,
					       discovery->greater_priority, discovery->greater))
		return;
	discovery->greater = reply->followed;
	discovery->greater_priority = reply->followed_priority;
}

enum mapper_refusal discovery_on_reply(
	struct discovery *discovery, const struct mapper_message *message, weft_time now)
{
	struct discovery_probe *probe = probe_numbered(discovery, message->reply.probe);
	struct discovery_place from;
	uint64_t linked;
	bool known, entered;
	uint32_t at;

	/* A mapper's own agent also refuses that mapper's probes from a cable. */
	if (probe == NULL || message->sender == discovery->speaker->id) {
		discovery->unasked++;
		return MAPPER_REFUSED_STALE;
	}
	from = (struct discovery_place){probe->device, probe->port, false};
	probe->used = false;
	discovery->outstanding--;
	/* The route to the neighbour leads through a lost device. */
	if (!discovery->map->device[from.device].present)
		return MAPPER_REFUSED_STALE;
	discovery->replies++;
	record_greater(discovery, &message->reply);
	at = fabric_map_find(discovery->map, message->sender);
	known = at != MAP_NONE;
	linked = known ? discovery->map->device[at].facts.linked : 0;
	at = identify(discovery, message, from, &entered);
	if (at == MAP_NONE) {
		fabric_map_cut(discovery->map, from.device, from.port, MAP_SILENT);
		return MAPPER_REFUSED_NONE;
	}
	/* The reply left through this port, which may have come up after the agent's check. */
	discovery->map->device[at].facts.linked |= (uint64_t)1 << message->reply.entry;
	replay_admit(&discovery->map->device[at].window, message->counter,
		discovery->speaker->key != NULL);
	if (entered && !discovery->map->device[at].present)
		enter(discovery, at, from);
	else if (entered)
		restart(discovery, at);
	connect(discovery, from, at);
	if (entered)
		probe_ports(discovery, at);
	if (known)
		update_links(discovery, at, linked, entered, now);
	return MAPPER_REFUSED_NONE;
}

/* --- link damping --- */

static void note_down(const struct link_damping *hold, struct map_port *port, weft_time now)
{
	if (port->downs > 0 && now - port->down_at > hold->shortest_ps * LINK_HOLD_FORGET)
		port->downs = 0;
	if (port->downs < LINK_HOLD_DOWNS_MAX)
		port->downs++;
	port->down_at = now;
	port->held_until = 0;
}

void link_damping_record(struct link_damping *hold, struct map_port *port, bool up, weft_time now)
{
	if (!up) {
		note_down(hold, port, now);
		return;
	}
	if (port->downs < 2)
		return;
	port->held_until = now + (hold->shortest_ps << (port->downs - 2));
	if (port->held_until < hold->next)
		hold->next = port->held_until;
}

bool link_damping_next(struct link_damping *hold, struct fabric_map *map, weft_time now,
	uint32_t *device, uint8_t *port)
{
	if (now < hold->next)
		return false;
	hold->next = WEFT_TIME_NEVER;
	for (*device = 0; *device < map->devices; ++*device)
		for (*port = 0; *port < map->device[*device].facts.ports; ++*port) {
			struct map_port *at = &map->device[*device].port[*port];

			if (at->held_until == 0)
				continue;
			if (now >= at->held_until) {
				at->held_until = 0;
				hold->next = 0; /* there may be more */
				return true;
			}
			if (at->held_until < hold->next)
				hold->next = at->held_until;
		}
	return false;
}
