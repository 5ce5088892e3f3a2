/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Replays source routes element by element, as switches and interfaces would. */

#include <string.h>

#include "verify_private.h"
#include "wire/frame.h"

/* A message in flight, which arrived on 'node' at the device at the end of that channel. */
struct replay {
	struct verifier *verifier;
	uint32_t node;
	unsigned links; /* between switches */
	unsigned itbs;
	unsigned high;     /* high bits of the next port, from a prefix element */
	double demand;     /* share of its pair's uniform traffic */
	enum vc_turn turn; /* step instruction of the route for the next hop */
	bool arrived;
};

static struct topology_port replay_at(const struct replay *replay)
{
	const struct channel_graph *channels = replay->verifier->channels;

	return channels->to[channel_graph_channel(channels, replay->node)];
}

/* Sends from a host, where every message starts in class 0. */
static void replay_inject(struct replay *replay, uint32_t host)
{
	struct channel_graph *channels = replay->verifier->channels;

	replay->node = channel_graph_node(channels, channels->host_out[host], 0);
	replay->verifier->demand[channels->host_out[host]] += replay->demand;
}

/* Forwards from switch 'at'. Returns an error text, or NULL. */
static inline const char *replay_port(
	struct replay *replay, uint32_t at, unsigned port, bool adaptive)
{
	struct channel_graph *channels = replay->verifier->channels;
	uint32_t out = channel_graph_out(channels, at, port);

	if (out == CHANNEL_NONE)
		return "it leaves through a port without a link";
	if (adaptive)
		return "it lets a switch replace a hop, which cannot be verified,";
	channel_graph_depend(channels, replay->node, port, replay->turn);
	replay->verifier->load[out]++;
	replay->verifier->demand[out] += replay->demand;
	replay->links += channels->to[out].kind == DEVICE_SWITCH;
	replay->node = channel_graph_follow(channels, replay->node, port, replay->turn);
	replay->turn = VC_GO_ON;
	return NULL;
}

static const char *replay_host(
	struct replay *replay, uint32_t host, uint8_t type, uint32_t destination)
{
	if (type == ROUTE_TYPE_ITB) {
		replay->itbs++;
		replay_inject(replay, host);
		return NULL;
	}
	if (type != ROUTE_TYPE_HOST)
		return "it has an element of an unknown type";
	if (host != destination)
		return "it ends";
	replay->arrived = true;
	return NULL;
}

static bool has_layer(const struct replay *replay, unsigned layer)
{
	const struct vc_rule *rule = replay->verifier->channels->rule;

	return rule != NULL && rule->steps == VC_STEPS_LAYERS && layer < rule->classes;
}

static inline const char *replay_element(
	struct replay *replay, uint8_t element, uint32_t destination)
{
	struct topology_port at = replay_at(replay);

	if (replay->arrived)
		return "it continues after its end";
	if ((element & ROUTE_PORT_BIT) != 0) {
		unsigned port = replay->high + (element & ROUTE_PORT_MASK);

		replay->high = 0;
		return at.kind == DEVICE_SWITCH ? replay_port(replay, at.device, port,
							  (element & ROUTE_ADAPTIVE) != 0)
						: "it has a port element";
	}
	if (route_is_high(element) && at.kind == DEVICE_SWITCH) {
		replay->high = 64u * (element & ROUTE_HIGH_MASK);
		return NULL;
	}
	if (vc_turn_of(element) != VC_GO_ON && at.kind == DEVICE_SWITCH) {
		replay->turn = vc_turn_of(element);
		return route_is_layer(element) && !has_layer(replay, replay->turn)
			       ? "it is in a layer that does not exist"
			       : NULL;
	}
	return at.kind == DEVICE_SWITCH ? "it has an interface element"
					: replay_host(replay, at.device, element, destination);
}

static bool replay_route(struct replay *replay, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length)
{
	const char *wrong = NULL;

	replay_inject(replay, source);
	if (!frame_steps_ok(route, length))
		wrong = memchr(route, ROUTE_TYPE_STEP, length) != NULL
				? "it has too many 'next step', or one that is not between two ports,"
				: "it has a layer that is not its first element, or a high prefix without a port,";
	for (unsigned i = 0; i < length && wrong == NULL; i++) {
		if (i + 1 < length && route[i + 1] == ROUTE_TYPE_STEP)
			replay->turn = replay->turn == VC_GO_ON ? VC_STEP_AHEAD : replay->turn;
		wrong = replay_element(replay, route[i], destination);
	}
	if (wrong == NULL && !replay->arrived)
		wrong = "it has no end";
	if (wrong == NULL)
		return true;
	verify_report_invalid(replay->verifier, source, destination, wrong, replay_at(replay));
	return false;
}

void verify_routes(struct verifier *verifier, const struct route_set *set, uint32_t destination)
{
	for (uint32_t source = 0; source < verifier->topology->hosts; source++) {
		unsigned count = route_set_count(set, source, destination), length;
		uint32_t at = count == 0 ? VERIFY_NO_WAY : verify_host_switch(verifier, source);

		if (at == VERIFY_NO_WAY)
			continue;
		for (unsigned i = 0; i < count; i++) {
			const uint8_t *route = route_set_get(set, source, destination, i, &length);
			struct replay replay = {.verifier = verifier,
				.demand = verify_host_rate(verifier, source) / count};

			if (!replay_route(&replay, source, destination, route, length))
				continue;
			verifier->answered[source] = true;
			verify_count(verifier, at, replay.links, replay.itbs);
		}
	}
}
