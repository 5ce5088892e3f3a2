/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "detour.h"

#include "switch.h"

static uint32_t used_blocks(const struct weft_switch *sw, unsigned output, unsigned vc)
{
	const struct link_end *link = &sw->port[output].link;
	uint32_t left = credit_available(&link->tx[vc]), blocks = link->rx[vc].capacity;

	/* Buffers at both ends of a link between switches have the same size. */
	return left < blocks ? blocks - left : 0;
}

static inline __attribute__((always_inline)) uint32_t queue_of(
	const struct weft_switch *sw, unsigned output, unsigned vc, bool all)
{
	uint32_t used = 0;

	if (!all)
		return used_blocks(sw, output, vc);
	for (unsigned i = 0; i < sw->vcs; i++)
		used += used_blocks(sw, output, i);
	return used;
}

static unsigned next_vc(const struct weft_switch *sw, const struct vc_ladder *ladder,
	const struct weft_packet *packet, unsigned output, enum vc_turn turn)
{
	return vc_ladder_next(
		sw->vc_rule, ladder, sw->vc_rule_at, packet->in_port, packet->vc, output, turn);
}

static unsigned next_vc_in_halves(const struct weft_switch *sw, const struct weft_packet *packet,
	unsigned output, enum vc_turn turn)
{
	return vc_rule_next_of_steps(
		sw->vc_rule, sw->vc_rule_at, packet->in_port, packet->vc, output, turn);
}

static inline __attribute__((always_inline)) bool is_minimal_shorter(const struct weft_switch *sw,
	unsigned primary, unsigned minimal, unsigned other, unsigned detour)
{
	const struct detour_config *config = &sw->detour.config;
	bool all = config->queues == DETOUR_PORT ||
		   (config->queues == DETOUR_HYBRID && primary != other);

	return queue_of(sw, primary, minimal, all) <=
	       2 * queue_of(sw, other, detour, all) + config->bias_blocks;
}

/* Draws one of the group's global links: one of this switch's, or one of a switch that is reached
 * through a local port. Each switch has the same number. */
static unsigned draw(struct weft_switch *sw, port_set ports)
{
	port_set all = port_set_from(sw->vc_rule->dateline[sw->vc_rule_at], 0);
	port_set global = ports & all, local = ports & ~all;
	uint32_t own = port_set_count(global);
	uint32_t each = port_set_is_empty(all) ? 1 : port_set_count(all);
	uint32_t links = own + each * port_set_count(local);

	return port_set_draw(
		rng_below(&sw->detour.rng, links) < own ? global : local, &sw->detour.rng);
}

/* Returns the port with the smallest weight in a HyperX. 'minimal': the ports of minimal paths. */
static unsigned find_lightest(struct weft_switch *sw, const struct vc_ladder *ladder,
	const struct weft_packet *packet, port_set ports, uint64_t minimal)
{
	const struct detour_config *config = &sw->detour.config;
	unsigned links = (unsigned)__builtin_popcountll(
		vc_ladder_rows(sw->vc_rule, sw->vc_rule_at, minimal));
	unsigned vc = next_vc(sw, ladder, packet, port_set_first(ports), VC_NEXT_STEP);
	port_set lightest = PORT_SET_NONE;
	uint64_t smallest = UINT64_MAX;

	PORT_SET_EACH(left, ports) {
		unsigned output = port_set_first(left);
		uint64_t blocks = queue_of(sw, output, vc, config->queues != DETOUR_VC);
		bool detour = (minimal >> output & 1) == 0;
		uint64_t weight = (blocks + packet->blocks) * (links + detour) +
				  (detour ? config->bias_blocks : 0);

		if (weight < smallest)
			lightest = PORT_SET_NONE;
		if (weight <= smallest) {
			smallest = weight;
			lightest |= port_set_of(output);
		}
	}
	return port_set_draw(lightest, &sw->detour.rng);
}

static bool takes_primary(struct weft_switch *sw, const struct vc_ladder *ladder,
	const struct weft_packet *packet, enum vc_ladder_move move, unsigned primary,
	unsigned other, port_set ports)
{
	if (primary >= sw->ports || !port_set_has(sw->usable, primary) ||
		move == VC_LADDER_GLOBAL || ladder->rows)
		return false;
	/* The detour may also lead to this switch. */
	if (move == VC_LADDER_LOCAL)
		return rng_below(&sw->detour.rng, port_set_count(ports) + 1u) == 0;
	if (ladder->choice == VC_LADDER_ORACLE)
		return sw->detour.oracle(sw->detour.oracle_ctx, sw, packet, primary, VC_GO_ON) <=
		       2 * sw->detour.oracle(
				   sw->detour.oracle_ctx, sw, packet, other, VC_NEXT_STEP) +
			       sw->detour.config.bias_blocks;
	return ladder->choice == VC_LADDER_QUEUES &&
	       is_minimal_shorter(sw, primary, next_vc(sw, ladder, packet, primary, VC_GO_ON),
		       other, next_vc(sw, ladder, packet, other, VC_NEXT_STEP));
}

/* With halves, for a packet from a host: compares queue x links. Both paths may start at the same
 * port. The halves of the VCs then share its link, so only the lengths count. */
static bool starts_minimal(const struct weft_switch *sw, const struct weft_packet *packet,
	unsigned primary, unsigned other)
{
	const struct detour_config *config = &sw->detour.config;
	const struct route_lengths *lengths = config->lengths;
	const uint32_t host = detour_draw_host(config->seed, packet, sw->table_last + 1u);
	const bool all = config->queues != DETOUR_VC;
	unsigned minimal = next_vc_in_halves(sw, packet, primary, VC_NEXT_STEP);
	unsigned detour = next_vc_in_halves(sw, packet, other, VC_GO_ON), links[2] = {1, 2};

	if (lengths != NULL && host < lengths->hosts) {
		links[0] = route_lengths_to(lengths, config->at, packet->destination);
		links[1] =
			route_lengths_to(lengths, config->at, host) +
			route_lengths_to(lengths, lengths->host_switch[host], packet->destination);
	}
	return queue_of(sw, primary, minimal, all) * links[0] <=
	       queue_of(sw, other, detour, all) * links[1] + config->bias_blocks;
}

/* With halves: the second half of the VCs leads to the destination. In the first half the packet
 * travels towards the drawn host, until it passes that host's switch or the destination's. */
static unsigned route_in_halves(const struct weft_switch *sw, const struct weft_packet *packet,
	port_set set, unsigned primary, enum vc_turn *turn)
{
	const struct vc_rule *rule = sw->vc_rule;
	const uint32_t at = sw->vc_rule_at;
	unsigned other = port_set_is_empty(set) ? SWITCH_PORT_NONE : port_set_first(set);
	bool from_host = vc_rule_ring(rule, at, packet->in_port) == VC_RULE_NO_RING;

	if (!from_host && packet->vc >= rule->classes / 2)
		return primary;
	*turn = VC_NEXT_STEP;
	if (primary >= sw->ports || vc_rule_ring(rule, at, primary) == VC_RULE_NO_RING)
		return primary;
	if (other >= sw->ports || !port_set_has(sw->usable, other) ||
		vc_rule_ring(rule, at, other) == VC_RULE_NO_RING)
		return primary;
	if (from_host && port_set_has(sw->usable, primary) &&
		starts_minimal(sw, packet, primary, other))
		return primary;
	*turn = VC_GO_ON;
	return other;
}

unsigned detour_route(struct weft_switch *sw, const struct weft_packet *packet, port_set set,
	unsigned primary, enum vc_turn *turn)
{
	const struct vc_ladder *ladder = vc_ladder_find(sw->vc_rule->steps);
	uint64_t starts = port_set_word(set, 0);
	enum vc_ladder_move move;
	port_set ports;
	unsigned other;
	bool drawn;

	if (ladder->halves)
		return route_in_halves(sw, packet, set, primary, turn);
	move = vc_ladder_move(
		sw->vc_rule, ladder, sw->vc_rule_at, packet->in_port, packet->vc, &starts);
	ports = port_set_from(vc_ladder_ports(sw->vc_rule, sw->vc_rule_at, move, starts), 0) &
		sw->usable & ~port_set_of(packet->in_port);
	drawn = ladder->choice == VC_LADDER_ORACLE && move == VC_LADDER_GLOBAL;
	other = port_set_is_empty(ports) ? primary
		: drawn                  ? detour_draw_for(sw->detour.config.seed, packet, ports)
		: ladder->rows           ? find_lightest(sw, ladder, packet, ports, starts)
					 : draw(sw, ports);

	if (!port_set_is_empty(ports) &&
		!takes_primary(sw, ladder, packet, move, primary, other, ports)) {
		*turn = VC_NEXT_STEP;
		return other;
	}
	if (primary < sw->ports && vc_ladder_allows(sw->vc_rule, ladder, sw->vc_rule_at,
					   packet->in_port, packet->vc, primary, VC_GO_ON))
		return primary;
	return SWITCH_PORT_NONE;
}
