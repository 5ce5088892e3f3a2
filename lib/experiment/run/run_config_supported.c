/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Refuses keys and combinations that this version does not support. */

#include <errno.h>
#include <string.h>

#include "nic/congestion/source_control.h"
#include "nic/selectors/route_choice.h"
#include "queuing/queuing.h"
#include "queuing/vc_ladder.h"
#include "route/route_algorithm.h"
#include "run_config_fields.h"
#include "run_events.h"
#include "switch/adaptive_routing.h"
#include "traffic/traffic_pattern.h"

bool run_config_has_classes(const struct run_config *config)
{
	bool classes = config->sw.sl_to_vc.count > 0;

	for (uint32_t i = 0; i < config->traffic.count; i++)
		classes |= config->traffic.at[i].class != 0;
	return classes;
}

struct rule {
	bool broken;
	const char *text;
};

/* Reports the first rule that is broken. */
static int check_rules(const struct run_config *config, const char *key, const struct rule *rule,
	size_t rules, struct error *error)
{
	for (size_t i = 0; i < rules; i++)
		if (rule[i].broken)
			return error_set(
				error, EINVAL, "%s: %s%s", config->origin, key, rule[i].text);
	return 0;
}

#define CHECK_RULES(config, key, rules, error) \
	check_rules(config, key, rules, sizeof(rules) / sizeof((rules)[0]), error)

const char *run_config_needs_one_lcore(const struct run_config *config)
{
	if (!config->sw.voq)
		return "switch.voq: false";
	if (run_config_is_adaptive(config))
		return "routing.adaptive";
	if (run_config_ladder(config) != NULL)
		return "routing.algorithm";
	if (arbitration_is_needed(&config->sw.arbitration))
		return "switch.arbitration";
	if (run_config_marks(config))
		return config->sw.fecn != 0 ? "switch.fecn" : "switch.ecn";
	if (source_control_measures(config->nic.control))
		return "nic.control";
	return config->measure.switches ? "measure.switches" : NULL;
}

static int check_real(const struct run_config *config, struct error *error)
{
	const struct rule rules[] = {
		{run_config_needs_oracle(config),
			"routing.algorithm df-ugal-g reads the queues of other switches, which is "
			"not supported on the real clock; use df-ugal-l"},
		{run_events_wait(config),
			"'events[].when' is not supported on the real clock; use clock: virtual"},
	};

	return CHECK_RULES(config, "", rules, error);
}

/* Edges and dilation require the real clock. */
static int check_virtual(const struct run_config *config, struct error *error)
{
	const struct rule rules[] = {
		{config->edges.count > 0 || config->edges.all,
			"'edges' is not supported on the virtual clock; use clock: real"},
		{config->dilation != 1,
			"'dilation' is not supported on the virtual clock; use dilation: 1"},
	};

	return config->clock == RUN_CLOCK_REAL ? check_real(config, error)
					       : CHECK_RULES(config, "", rules, error);
}

/* The mechanisms of wormhole switches are fixed, as in the thesis. */
static int check_wormhole(const struct run_config *config, struct error *error)
{
	const struct rule rules[] = {
		{config->clock == RUN_CLOCK_REAL, "requires 'clock: virtual'"},
		{config->sw.flow_control != RUN_FLOW_CONTROL_STOP_GO,
			"requires 'flow-control: stop-go'"},
		{config->sw.vcs != 1 || config->sw.voq || config->queuing != &queuing_1q,
			"has one queue per input, so it requires 'vcs: 1', 'voq: false' and "
			"'queuing: 1q'"},
		{arbitration_is_needed(&config->sw.arbitration) || run_config_has_classes(config),
			"serves its inputs round robin and cannot be combined with "
			"'arbitration', 'vc-service' or classes"},
		{run_config_marks(config), "does not support marks; use 'fecn: 0' and remove "
					   "'ecn'"},
		{run_config_is_adaptive(config),
			"has no credits for adaptive routing; use 'routing.adaptive: none'"},
		{config->routing.mode != RUN_ROUTING_SOURCE, "requires 'routing.mode: source'"},
		{config->nic.control != SOURCE_CONTROL_NONE,
			"has no notifications; use 'nic.control: none'"},
		{config->events.count > 0 || config->faults.credit_loss_ppm != 0 ||
				config->faults.corrupt_ppm != 0,
			"does not support lost frames or failing links; remove 'events' and "
			"'faults'"},
	};

	return CHECK_RULES(config, "switch.switching: wormhole ", rules, error);
}

/* Ethernet has no credits with which to compare ports. */
static int check_ethernet(const struct run_config *config, struct error *error)
{
	const struct vc_ladder *ladder = run_config_ladder(config);
	const struct rule rules[] = {
		{config->clock == RUN_CLOCK_REAL, "requires 'clock: virtual'"},
		{!config->sw.voq, "requires 'switch.voq: true'"},
		{config->routing.adaptive->compares || config->routing.adaptive->notified ||
				(ladder != NULL && ladder->choice == VC_LADDER_QUEUES),
			"has no credits for adaptive routing; use another 'routing.adaptive' or "
			"'routing.algorithm'"},
		{config->events.count > 0 || config->faults.credit_loss_ppm != 0 ||
				config->faults.corrupt_ppm != 0,
			"cannot be combined with 'events' and 'faults'"},
	};

	if (!run_config_is_ethernet(config))
		return 0;
	return CHECK_RULES(config,
		config->sw.flow_control == RUN_FLOW_CONTROL_PFC ? "switch.flow-control: pfc "
								: "switch.flow-control: lossy ",
		rules, error);
}

static int check_switch(const struct run_config *config, struct error *error)
{
	bool real = config->clock == RUN_CLOCK_REAL;
	const struct rule rules[] = {
		{config->sw.flow_control == RUN_FLOW_CONTROL_STOP_GO,
			"switch.flow-control: stop-go requires 'switching: wormhole'"},
		{config->sw.routing_start != RUN_ROUTING_STARTS_GRANT,
			"switch.routing-start: header requires 'switching: wormhole'"},
		{config->nic.recovery != RUN_RECOVERY_SELECTIVE &&
				config->sw.flow_control != RUN_FLOW_CONTROL_LOSSY,
			"nic.recovery: go-back-n requires 'switch.flow-control: lossy'"},
		{config->sw.ecn.kmax_bytes != 0 && !config->sw.voq,
			"switch.ecn requires 'switch.voq: true'"},
		{config->nic.control == SOURCE_CONTROL_DCQCN && real,
			"nic.control: dcqcn requires 'clock: virtual'"},
		{arbitration_is_needed(&config->sw.arbitration) && !config->sw.voq,
			"switch.arbitration and switch.vc-service require 'switch.voq: true'"},
		{config->routing.adaptive->entropies && real,
			"routing.adaptive: reps requires 'clock: virtual'"},
		{run_config_has_classes(config) && config->queuing != &queuing_1q,
			"traffic.class and switch.sl-to-vc require 'queuing: 1q'"},
		{config->measure.hosts, "measure.hosts requires 'switching: wormhole'"},
		{config->measure.messages != 0 || config->measure.warmup_messages != 0,
			"measure.messages requires 'switching: wormhole'; use "
			"measure.duration"},
		{config->sw.routing_delay_ps != 0 && real,
			"switch.routing-delay is not supported on the real clock; use 0ns"},
	};
	int result;

	if (config->sw.switching == RUN_SWITCHING_WORMHOLE)
		return check_wormhole(config, error);
	result = CHECK_RULES(config, "", rules, error);
	if (result == 0)
		result = check_ethernet(config, error);
	if (result == 0 && config->queuing->reference && real)
		result = error_set(error, EINVAL,
			"%s: queuing %s is not supported on the real clock; use clock: virtual",
			config->origin, config->queuing->name);
	return result;
}

/* A key that nothing reads would let a user compare runs that are the same. Written configurations
 * contain all keys, so a key counts as set if its value is not the default. */
static int check_unread(
	const struct run_config *config, const struct run_config *unset, struct error *error)
{
	const struct run_config_routing *routing = &config->routing;
	const struct run_config_switch *sw = &config->sw;
	const struct vc_ladder *ladder = run_config_ladder(config);
	bool oracle = run_config_needs_oracle(config);
	/* The algorithm of a route file may be unknown. */
	bool compares = (ladder != NULL && ladder->choice == VC_LADDER_QUEUES) ||
			(routing->file != NULL && routing->file_algorithm == NULL);
	const struct rule rules[] = {
		{routing->ugal_queues != unset->routing.ugal_queues && !compares,
			"routing.ugal-queues requires a routing.algorithm that compares queues, such as 'df-ugal-l'"},
		{routing->ugal_bias_bytes != unset->routing.ugal_bias_bytes && !compares && !oracle,
			"routing.ugal-bias requires a routing.algorithm that compares queues, such as 'df-ugal-l'"},
		{routing->flowlet_gap_ps != unset->routing.flowlet_gap_ps &&
				!routing->adaptive->flowlets,
			"routing.flowlet-gap requires 'routing.adaptive: flowlet'"},
		{routing->threshold_ppm != unset->routing.threshold_ppm &&
				routing->adaptive != &adaptive_threshold,
			"routing.threshold requires 'routing.adaptive: adaptive-th'"},
		{(sw->pfc.xoff_bytes != 0 || sw->pfc.xon_bytes != 0) &&
				sw->flow_control != RUN_FLOW_CONTROL_PFC,
			"switch.pfc requires 'switch.flow-control: pfc'"},
		{sw->ecn.pmax_ppm != unset->sw.ecn.pmax_ppm && sw->ecn.kmax_bytes == 0,
			"switch.ecn.pmax requires switch.ecn.kmax"},
		{sw->arbitration.vcs != VC_SERVICE_WEIGHTED &&
				memcmp(sw->arbitration.weight, unset->sw.arbitration.weight,
					sizeof(sw->arbitration.weight)) != 0,
			"switch.vc-weights requires 'switch.vc-service: weighted'"},
	};

	return CHECK_RULES(config, "", rules, error);
}

static int check_algorithm(const struct run_config *config, const struct route_algorithm *algorithm,
	struct error *error)
{
	if (config->routing.mode == RUN_ROUTING_TABLE && algorithm->tables == NULL)
		return error_set(error, EINVAL,
			"%s: routing.algorithm %s has no tables; use 'mode: source'",
			config->origin, algorithm->name);
	if (config->routing.mode == RUN_ROUTING_SOURCE && algorithm->routes == NULL)
		return error_set(error, EINVAL,
			"%s: routing.algorithm %s only has tables; use 'mode: table'",
			config->origin, algorithm->name);
	return 0;
}

/* Several route sets require source routing, and their number must match the selector. */
static int check_sets(const struct run_config *config, struct error *error)
{
	const struct route_choice_ops *choice = config->nic.selector;

	if (config->routing.others > 0 && config->routing.mode == RUN_ROUTING_TABLE)
		return error_set(error, EINVAL,
			"%s: routing.algorithm: multiple route sets require 'mode: source'",
			config->origin);
	if (choice->sets > config->routing.others + 1 && config->routing.file != NULL)
		return error_set(error, EINVAL,
			"%s: nic.selector %s chooses between %u route sets, which a route file does not distinguish; use routing.algorithm instead of routing.file",
			config->origin, choice->name, choice->sets);
	if (choice->sets > config->routing.others + 1)
		return error_set(error, EINVAL,
			"%s: nic.selector %s chooses between %u route sets; use 'routing.algorithm: %s'",
			config->origin, choice->name, choice->sets,
			choice->sets > 2 ? "ud+ud-mitb+ud-itb" : "ud+ud-itb");
	return 0;
}

static bool has_root(const struct run_config_routing *routing)
{
	bool has = routing->algorithm->label != NULL;

	for (uint32_t i = 0; i < routing->others; i++)
		has |= routing->other[i]->label != NULL;
	return has;
}

static int check_routing(const struct run_config *config, struct error *error)
{
	int result = 0;

	if (config->routing.file == NULL)
		result = check_algorithm(config, config->routing.algorithm, error);
	for (uint32_t i = 0; i < config->routing.others && result == 0; i++)
		result = check_algorithm(config, config->routing.other[i], error);
	if (result == 0 && config->routing.radius != 0 && !run_routing_has_steps(&config->routing))
		return error_set(error, EINVAL,
			"%s: routing.radius requires 'routing.algorithm: msp'", config->origin);
	if (result == 0 && config->routing.steps != RUN_STEPS_UNSET &&
		!run_routing_has_steps(&config->routing))
		return error_set(error, EINVAL,
			"%s: routing.steps requires 'routing.algorithm: msp'", config->origin);
	if (result == 0 && config->routing.ties != RUN_TIES_UNSET &&
		!run_routing_has_ties(&config->routing))
		return error_set(error, EINVAL,
			"%s: routing.ties requires 'routing.algorithm: dor' or 'msp'",
			config->origin);
	if (result == 0 && config->routing.root[0] != '\0' && !has_root(&config->routing))
		return error_set(error, EINVAL,
			"%s: routing.root requires an algorithm with a tree, such as 'ud'",
			config->origin);
	return result == 0 ? check_sets(config, error) : result;
}

static bool may_deadlock(const struct run_config_routing *routing)
{
	bool may = !routing->algorithm->deadlock_free;

	for (uint32_t i = 0; i < routing->others; i++)
		may |= !routing->other[i]->deadlock_free;
	return may;
}

/* Refuses routes that a mapper cannot compute or distribute. */
static int check_mapper(const struct run_config *config, struct error *error)
{
	const struct rule rules[] = {
		{config->clock == RUN_CLOCK_VIRTUAL,
			"requires 'clock: real'; with 'static' the file's routes are used"},
		{may_deadlock(&config->routing) && !config->routing.may_deadlock,
			"does not use routes that may deadlock; use another routing.algorithm, "
			"or routing.may-deadlock: true"},
	};

	return config->mapper.routes == RUN_ROUTES_STATIC
		       ? 0
		       : CHECK_RULES(config, "mapper.routes: mapper ", rules, error);
}

/* New routes after a failure, on the virtual clock. */
static int check_new_routes(const struct run_config *config, struct error *error)
{
	const bool mapped = config->mapper.after_ps == RUN_AFTER_MAPPER;
	const struct rule rules[] = {
		{config->clock == RUN_CLOCK_REAL,
			"requires 'clock: virtual'; the mapper is on the real clock"},
		{config->routing.file != NULL,
			"requires 'routing.algorithm', which computes the new routes"},
		{config->nic.control != SOURCE_CONTROL_NONE,
			"requires 'nic.control: none', because sources keep the paths of each "
			"pair"},
		{run_config_is_adaptive(config) && config->routing.afi,
			"requires 'routing.afi: false'"},
		{mapped && config->routing.others > 0, "requires one routing.algorithm"},
		{mapped && run_config_needs_oracle(config),
			"requires an algorithm whose tables contain everything that a switch needs; df-ugal-g "
			"does not"},
		{mapped && may_deadlock(&config->routing) && !config->routing.may_deadlock,
			"requires routes that cannot deadlock, or routing.may-deadlock: true"},
		{mapped && config->reconfigure.mode != RUN_RECONFIGURE_AUTO,
			"requires 'reconfigure.mode: auto', because the mapper decides"},
	};

	return config->mapper.after_ps == WEFT_TIME_NEVER
		       ? 0
		       : CHECK_RULES(config, "mapper.after ", rules, error);
}

static int check_transit(const struct run_config *config, struct error *error)
{
	enum run_reconfigure mode = config->reconfigure.mode;
	const struct rule rules[] = {
		{config->mapper.after_ps == WEFT_TIME_NEVER && mode != RUN_RECONFIGURE_AUTO,
			"reconfigure.mode requires mapper.after, the time until there are new routes, such as 10ms"},
		{config->routing.mode != RUN_ROUTING_SOURCE && mode == RUN_RECONFIGURE_ITB,
			"reconfigure.mode itb requires 'routing.mode: source'"},
		{config->routing.itb_absorb == RUN_ITB_ABSORB_CONTENTION &&
				(config->clock == RUN_CLOCK_REAL ||
					config->sw.switching == RUN_SWITCHING_WORMHOLE ||
					!config->sw.voq),
			"routing.itb-absorb: contention requires 'clock: virtual' and switches with VOQs"},
		{config->routing.itb_hosts != RUN_ITB_HOSTS_RANDOM && config->routing.others > 0,
			"routing.itb-hosts requires one routing.algorithm"},
	};

	return CHECK_RULES(config, "", rules, error);
}

static bool sends_beside(const struct run_config *config)
{
	bool beside = false;

	for (uint32_t i = 0; i < config->traffic.count; i++)
		beside |= !config->traffic.at[i].pattern->schedule;
	return beside;
}

static const char *why_no_goal(const struct run_config *config)
{
	if (config->sw.switching == RUN_SWITCHING_WORMHOLE)
		return "is not supported with 'switching: wormhole'; use cut-through";
	if (config->clock == RUN_CLOCK_REAL && sends_beside(config))
		return "alongside other traffic is not supported on the real clock; use it alone";
	if (config->clock == RUN_CLOCK_VIRTUAL &&
		(config->routing.file != NULL ||
			config->routing.alternatives + config->routing.others > 1) &&
		!config->nic.selector->fixed && config->nic.control < SOURCE_CONTROL_DRB_CN)
		return "on the virtual clock requires messages in order; use 'nic.selector: first'";
	return NULL;
}

/* Returns true if all traffic lasts for the whole run, as values that converge to a mean require.
 */
static bool goes_on(const struct run_config *config)
{
	bool on = true;

	for (uint32_t i = 0; i < config->traffic.count; i++)
		on = on && config->traffic.at[i].start_ps == 0 &&
		     config->traffic.at[i].stop_ps == WEFT_TIME_NEVER &&
		     !config->traffic.at[i].pattern->schedule &&
		     !config->traffic.at[i].pattern->packets;
	return on;
}

static int check_until(const struct run_config *config, struct error *error)
{
	const struct run_config_measure *measure = &config->measure;
	const struct rule rules[] = {
		{measure->max_ps == 0, "requires measure.at-most, the maximum duration"},
		{measure->duration_ps != measure->max_ps,
			"cannot be combined with measure.duration; use measure.at-most"},
		{measure->messages != 0 || measure->warmup_messages != 0,
			"cannot be combined with measure.messages"},
		{!goes_on(config),
			"requires traffic without start and stop, no schedule and no capture"},
	};

	if (measure->until.interval_ppm == 0 && measure->max_ps > 0)
		return error_set(error, EINVAL, "%s: measure.at-most requires measure.until",
			config->origin);
	return measure->until.interval_ppm == 0
		       ? 0
		       : CHECK_RULES(config, "measure.until: ", rules, error);
}

/* Only their order identifies the messages of a schedule, so two schedules cannot share hosts. */
static int check_traffic(const struct run_config *config, struct error *error)
{
	const struct run_config_traffic *first = NULL;
	const char *why = why_no_goal(config);
	bool wormhole = config->sw.switching == RUN_SWITCHING_WORMHOLE;
	char where[RUN_OPTION_MAX];

	for (uint32_t i = 0; i < config->traffic.count; i++) {
		const struct run_config_traffic *traffic = &config->traffic.at[i];

		if (traffic->job != 0 && wormhole)
			return run_config_refuse(config, &traffic->place, error,
				"jobs are not supported with 'switching: wormhole'; use "
				"cut-through");
		if (!traffic->pattern->schedule)
			continue;
		if (why != NULL)
			return run_config_refuse(config, &traffic->place, error, "pattern %s %s",
				traffic->pattern->name, why);
		if (first != NULL && (first->job == 0 || traffic->job == 0))
			return run_config_refuse(config, &traffic->place, error,
				"pattern %s: only one schedule is allowed, and the first one is "
				"in %s; use 'jobs' for several",
				traffic->pattern->name, run_place_text(&first->place, where));
		first = traffic;
	}
	return 0;
}

int run_config_supported(const struct run_config *config, struct error *error)
{
	int result = check_virtual(config, error);
	struct run_config unset;

	run_config_default(&unset);
	if (result == 0)
		result = check_switch(config, error);
	if (result == 0)
		result = check_unread(config, &unset, error);
	if (result == 0)
		result = check_routing(config, error);
	if (result == 0)
		result = check_transit(config, error);
	if (result == 0)
		result = check_new_routes(config, error);
	if (result == 0)
		result = check_mapper(config, error);
	if (result == 0)
		result = check_until(config, error);
	return result == 0 ? check_traffic(config, error) : result;
}
