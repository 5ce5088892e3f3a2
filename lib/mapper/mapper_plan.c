/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper_private.h"

#include <errno.h>
#include <stdlib.h>

#include "route/verify/route_verify.h"

static void free_generation(struct mapper_generation *generation)
{
	topology_destroy(generation->topology);
	route_set_destroy(generation->set);
	route_table_destroy(generation->table);
	queuing_destroy(generation->queuing);
	*generation = (struct mapper_generation){0};
}

static void drop_oldest(struct mapper *mapper)
{
	free_generation(&mapper->generation[0]);
	mapper->generations--;
	for (unsigned i = 0; i < mapper->generations; i++)
		mapper->generation[i] = mapper->generation[i + 1];
	mapper->generation[mapper->generations] = (struct mapper_generation){0};
}

void mapper_plan_forget(struct mapper *mapper)
{
	while (mapper->generations > 0)
		drop_oldest(mapper);
	free_generation(&mapper->next);
	image_reading_clear(&mapper->reading);
	mapper->reads = false;
	mapper->read_at = UINT64_MAX;
	for (uint32_t i = 0; i < mapper->map.devices; i++)
		mapper->map.device[i].known_in = 0;
}

/* Consecutive refused images after which a device is left out, for one sweep at first, then for
 * twice as many each time. */
#define REFUSALS     2
#define REFUSALS_MAX 8

static bool is_present(const struct mapper *mapper, uint32_t at)
{
	for (uint32_t i = 0; i < mapper->map.devices; i++) {
		const struct map_device *device = &mapper->map.device[i];

		if (device->present && device->left_out == 0 && device->facts.kind == 0 &&
			device->number == at)
			return true;
	}
	return false;
}

static uint32_t min_switch(const struct mapper *mapper)
{
	uint32_t min = UINT32_MAX;

	for (uint32_t i = 0; i < mapper->map.devices; i++) {
		const struct map_device *device = &mapper->map.device[i];

		if (device->present && device->left_out == 0 && device->facts.kind == 0 &&
			device->number < min)
			min = device->number;
	}
	return min == UINT32_MAX ? 0 : min;
}

/* Chooses the root as configured. A random choice of a number without a switch is repeated. */
static int ask_for_root(struct mapper *mapper)
{
	const struct mapper_config *config = &mapper->config;
	int result;

	for (uint64_t draw = 0;; draw++) {
		result = route_root_choose(mapper->next.topology, config->algorithm,
			config->root_choice, config->options.seed + draw, &mapper->root,
			&mapper->error);
		if (result < 0 || config->root_choice != ROUTE_ROOT_RANDOM ||
			is_present(mapper, mapper->root))
			return result;
	}
}

/* Chooses the root of trees, which stays the same while its switch is present. */
static int choose_root(struct mapper *mapper)
{
	const struct mapper_config *config = &mapper->config;
	bool asks = config->choose_root && config->algorithm->label != NULL;
	uint32_t min = min_switch(mapper);
	int result = 0;

	if (is_present(mapper, mapper->root) && (!asks || mapper->root_chosen))
		return 0;
	if (asks && is_present(mapper, min))
		result = ask_for_root(mapper);
	else
		mapper->root = min;
	mapper->root_chosen = true;
	return result;
}

/* Verifies the routes. Only pairs that are not connected may lack a route. */
static int verify(const struct mapper_generation *next, bool may_deadlock, struct error *error)
{
	const struct route_subject subject = {next->set, next->table};
	struct route_report report;
	int result = route_verify(next->topology, &subject, 1, &report, error);

	if (result < 0)
		return result;
	if ((!report.deadlock_free && !may_deadlock) || report.invalid > 0 ||
		report.unconnected != report.unreachable)
		result = error_set(error, EINVAL, "the routes cannot be used: %s",
			report.evidence[0] != '\0' ? report.evidence : "they have a cycle");
	route_report_free(&report);
	return result;
}

static int compute_routes(struct mapper *mapper, const struct route_algorithm *algorithm)
{
	const struct mapper_config *config = &mapper->config;
	const struct route_algorithm *all[ROUTE_MERGE_MAX] = {algorithm};
	struct mapper_generation *next = &mapper->next;
	struct route_options options = config->options;
	unsigned count = 1;
	int result = 0;

	options.root = mapper->root;
	/* A ladder may use all VCs. */
	if (algorithm->ladder != VC_STEPS_NONE)
		options.classes = config->vcs;
	if (algorithm->tables != NULL && (config->tables || algorithm->routes == NULL)) {
		next->table = route_compute_table(
			next->topology, algorithm, &options, &result, &mapper->error);
		return next->table == NULL ? result : 0;
	}
	for (; algorithm == config->algorithm && count <= config->others; count++)
		all[count] = config->other[count - 1];
	next->set =
		route_merge_compute(next->topology, all, count, &options, &result, &mapper->error);
	return next->set == NULL ? result : 0;
}

/* Refuses a VC rule together with a queuing scheme, because both determine a packet's VC. */
static int check_vcs(struct mapper *mapper)
{
	const struct mapper_generation *next = &mapper->next;
	const struct vc_rule *rule =
		next->table != NULL ? next->table->vc_rule : route_set_vc_rule(next->set);
	uint32_t vcs = mapper->config.vcs;

	if (rule != NULL && next->queuing != NULL)
		return error_set(&mapper->error, EINVAL,
			"queuing %s cannot be combined with routes that use VC classes",
			next->queuing->scheme->name);
	if (rule != NULL && vcs > 0 && rule->classes > vcs)
		return error_set(&mapper->error, EINVAL,
			"the routes need %u VC classes, but the fabric has %u VCs", rule->classes,
			vcs);
	return 0;
}

/* Refuses routes that are too long for the ports of devices waiting for a mapper. */
static int check_lengths(struct mapper *mapper)
{
	unsigned longest = mapper->next.set != NULL ? route_set_longest(mapper->next.set) : 0;

	if (longest <= FRAME_ROUTE_USUAL)
		return 0;
	return error_set(&mapper->error, EINVAL,
		"the longest route has %u elements; at most %u are allowed with a mapper", longest,
		FRAME_ROUTE_USUAL);
}

static int compute_with(struct mapper *mapper, const struct route_algorithm *algorithm)
{
	int result = compute_routes(mapper, algorithm);

	if (result == 0)
		result = check_vcs(mapper);
	if (result == 0)
		result = check_lengths(mapper);
	if (result == 0)
		result = verify(&mapper->next, mapper->config.may_deadlock, &mapper->error);
	if (result < 0) {
		route_table_destroy(mapper->next.table);
		route_set_destroy(mapper->next.set);
		mapper->next.table = NULL;
		mapper->next.set = NULL;
	}
	return result;
}

static int compute_queuing(struct mapper *mapper)
{
	const struct mapper_config *config = &mapper->config;

	if (config->queuing == NULL)
		return 0;
	mapper->next.queuing =
		queuing_create(mapper->next.topology, config->queuing, config->vcs, &mapper->error);
	return mapper->next.queuing == NULL ? -errno : 0;
}

static int compute(struct mapper *mapper)
{
	int result;

	free_generation(&mapper->next);
	mapper->error.text[0] = '\0';
	result = fabric_map_number(&mapper->map);
	if (result < 0)
		return error_set(&mapper->error, ENOMEM, "not enough memory for a map");
	mapper->next.topology = fabric_map_topology(&mapper->map, &mapper->error);
	if (mapper->next.topology == NULL)
		return -ENOMEM;
	result = choose_root(mapper);
	if (result == 0)
		result = compute_queuing(mapper);
	if (result < 0)
		return result;
	result = compute_with(mapper, mapper->config.algorithm);
	mapper->instead.text[0] = '\0';
	if (result < 0 && mapper->config.fallback != NULL) {
		mapper->instead = mapper->error;
		result = compute_with(mapper, mapper->config.fallback);
	}
	if (result == 0)
		mapper->error.text[0] = '\0';
	mapper->next.number = mapper->generation_number + 1;
	mapper->next.until = WEFT_TIME_NEVER;
	mapper->counters.maps++;
	return result;
}

static int make_image(const struct mapper *mapper, uint32_t at, struct table_image *image)
{
	const struct map_device *device = &mapper->map.device[at];
	const struct mapper_generation *next = &mapper->next;
	const struct table_image_source source = {
		next->topology, next->set, next->table, next->queuing};

	if (device->facts.kind == 0)
		return table_image_of_switch(image, &source, device->number);
	return table_image_of_host(image, &source, device->number);
}

static bool knows_generation(const struct mapper *mapper, uint32_t number)
{
	for (unsigned i = 0; i < mapper->generations; i++)
		if (mapper->generation[i].number == number)
			return true;
	return false;
}

struct outlook {
	bool changed; /* some tables change */
	bool known;   /* the current tables of all devices that change are known */
	bool paused;  /* some devices are paused */
};

static int add_target(struct mapper *mapper, uint32_t at, bool with_image, struct outlook *outlook)
{
	const struct map_device *device = &mapper->map.device[at];
	struct table_image image = {0};
	int result = with_image && device->left_out == 0 ? make_image(mapper, at, &image) : 0;

	if (result < 0)
		return result;
	outlook->paused |= (device->facts.flags & MAPPER_REPLY_PAUSED) != 0;
	if (device->facts.epoch != 0 && image.bytes != NULL &&
		device->facts.digest == table_image_digest(image.bytes, image.length)) {
		free(image.bytes);
		image = (struct table_image){0};
	}
	if (image.bytes != NULL) {
		outlook->changed = true;
		outlook->known &=
			device->facts.epoch == 0 || knows_generation(mapper, device->known_in);
	}
	/* A new epoch exceeds the epochs that devices use. However, an epoch higher than a mapper's
	 * changes can reach is forged, and the numbers above it would soon be exhausted. */
	if (device->facts.epoch > mapper->epoch && device->facts.epoch <= MAPPER_EPOCH_TRUE_MAX)
		mapper->epoch = device->facts.epoch;
	result = distribution_add(&mapper->distribution, at, &image);
	if (result < 0)
		free(image.bytes);
	return result;
}

/* Adds a target for every present device. If there are routes, targets whose tables change get an
 * image. */
static int add_targets(struct mapper *mapper, bool have_routes, struct outlook *outlook)
{
	int result = distribution_clear(&mapper->distribution);

	*outlook = (struct outlook){.known = true};
	for (uint32_t i = 0; i < mapper->map.devices && result == 0; i++)
		if (mapper->map.device[i].present)
			result = add_target(mapper, i, have_routes, outlook);
	return result;
}

/* Checks the new routes together with all generations that may still be in the fabric. */
static bool may_go_live(struct mapper *mapper, bool known, weft_time now)
{
	struct live_generation mixture[LIVE_GENERATIONS_MAX];
	struct error reason;
	unsigned count = 0;
	bool live;

	if (!known || now < mapper->live_from || mapper->generations == LIVE_GENERATIONS_MAX)
		return false;
	for (; count < mapper->generations; count++)
		mixture[count] = (struct live_generation){mapper->generation[count].topology,
			mapper->generation[count].set, mapper->generation[count].table};
	mixture[count++] = (struct live_generation){
		mapper->next.topology, mapper->next.set, mapper->next.table};
	return transition_check(mixture, count, &live, &reason) == 0 && live;
}

static void rank_candidates(struct mapper *mapper)
{
	const struct map_device *device = mapper->map.device;
	uint32_t *candidate =
		realloc(mapper->candidate, (mapper->map.devices + 1u) * sizeof(*mapper->candidate));

	mapper->candidates = mapper->beat = mapper->beats = 0;
	if (candidate == NULL)
		return;
	mapper->candidate = candidate;
	for (uint32_t i = 1; i < mapper->map.devices; i++) {
		uint32_t at = mapper->candidates;

		if (!device[i].present || (device[i].facts.flags & MAPPER_REPLY_CANDIDATE) == 0)
			continue;
		for (; at > 0 && mapper_greater(device[i].facts.priority, device[i].id,
					 device[candidate[at - 1]].facts.priority,
					 device[candidate[at - 1]].id);
			at--)
			candidate[at] = candidate[at - 1];
		candidate[at] = i;
		mapper->candidates++;
	}
}

/* Probes devices whose route to the mapper has changed, unless a frame of this distribution reaches
 * them. */
static void refresh_ways(struct mapper *mapper, bool all_are_asked)
{
	for (uint32_t i = 1; i < mapper->map.devices; i++) {
		struct map_device *device = &mapper->map.device[i];
		uint32_t target = mapper->distribution.target_of[i];
		bool asked = all_are_asked ||
			     (target != MAP_NONE &&
				     mapper->distribution.target[target].image.bytes != NULL);

		if (!device->present || !device->moved)
			continue;
		device->moved = false;
		if (!asked)
			discovery_ask(
				&mapper->discovery, device->parent, device->parent_port, true);
	}
}

/* Adopts a generation whose tables all present devices already use. */
static void adopt(struct mapper *mapper, weft_time now)
{
	mapper->counters.unchanged++;
	/* Replace the last generation, whose routes are the same. */
	if (mapper->generations > 0 && !mapper->generation[mapper->generations - 1].found)
		free_generation(&mapper->generation[--mapper->generations]);
	/* The result of the last distribution is also obsolete. */
	mapper->distribution.failed = mapper->distribution.incomplete = false;
	mapper->distribution.pause = mapper->distribution.drained = false;
	mapper_plan_done(mapper, now);
}

static bool is_unknown(const struct mapper *mapper, uint32_t at)
{
	const struct map_device *device = &mapper->map.device[at];

	return device->present && device->facts.epoch != 0 &&
	       !knows_generation(mapper, device->known_in);
}

/* Returns true if packets with routes from the device's previous tables may still be in flight. */
static bool is_young(const struct mapper *mapper, uint32_t at)
{
	uint8_t age = mapper->map.device[at].facts.age;

	return age == 0 || (uint64_t)mapper->config.linger_ps / PS_PER_US >= (uint64_t)1
										     << (age - 1);
}

static bool is_replaced(const struct mapper *mapper, uint32_t at)
{
	const struct distribution *distribution = &mapper->distribution;

	return distribution->target[distribution->target_of[at]].image.bytes != NULL;
}

/* Starts to read unknown tables, once per map. If that fails, the change needs a pause. */
static bool read_unknown(struct mapper *mapper)
{
	if (mapper->read_at == mapper->computed || mapper->generations == LIVE_GENERATIONS_MAX)
		return false;
	mapper->read_at = mapper->computed;
	for (uint32_t i = 0; i < mapper->map.devices; i++)
		if (is_unknown(mapper, i) && is_young(mapper, i))
			return false;
	for (uint32_t i = 0; i < mapper->map.devices; i++)
		if (is_unknown(mapper, i) && is_replaced(mapper, i) &&
			image_reading_add(&mapper->reading, i) < 0) {
			image_reading_clear(&mapper->reading);
			return false;
		}
	mapper->reads = true;
	return true;
}

void mapper_plan_found(struct mapper *mapper, weft_time now)
{
	struct mapper_generation found = {
		.number = ++mapper->generation_number, .found = true, .until = WEFT_TIME_NEVER};

	mapper->reads = false;
	mapper->stale = true;
	mapper->not_before = now;
	if (installed_tables_make(&found, &mapper->reading, &mapper->next) < 0) {
		free_generation(&found);
		return;
	}
	for (uint32_t i = 0; i < mapper->reading.reads; i++)
		mapper->map.device[mapper->reading.read[i].device].known_in = found.number;
	mapper->generation[mapper->generations++] = found;
	mapper->counters.found++;
}

bool mapper_plan(struct mapper *mapper, weft_time now)
{
	struct outlook outlook;
	int result;
	bool live;

	mapper->computed = mapper->map.changes;
	mapper->stale = mapper->reads = false;
	image_reading_clear(&mapper->reading);
	result = compute(mapper);
	mapper->no_memory = result == -ENOMEM;
	if (result < 0)
		free_generation(&mapper->next);
	while (mapper->generations > 0 && mapper->generation[0].until <= now)
		drop_oldest(mapper);
	rank_candidates(mapper);
	if (add_targets(mapper, result == 0, &outlook) < 0) {
		error_set(&mapper->error, ENOMEM, "not enough memory for the tables");
		distribution_clear(&mapper->distribution);
		mapper->stale = true;
		return false;
	}
	if (!outlook.changed && !outlook.paused) {
		refresh_ways(mapper, false);
		if (result == 0)
			adopt(mapper, now);
		return false;
	}
	if (!outlook.paused && !outlook.known && read_unknown(mapper))
		return false;
	live = !outlook.paused && may_go_live(mapper, outlook.known, now);
	refresh_ways(mapper, !live);
	*(live ? &mapper->counters.live : &mapper->counters.paused) += 1;
	distribution_start(&mapper->distribution, ++mapper->epoch, !live, now);
	return true;
}

static void ask_again(struct mapper *mapper, uint32_t at)
{
	const struct map_device *device = &mapper->map.device[at];

	if (at != 0 && device->present)
		discovery_ask(&mapper->discovery, device->parent, device->parent_port, true);
}

static void note_tables(struct mapper *mapper, const struct distribution_target *target)
{
	struct map_device *device = &mapper->map.device[target->device];

	if (target->failed) {
		ask_again(mapper, target->device);
		return;
	}
	if (mapper->next.number == 0 || device->left_out > 0)
		return;
	device->refusals = 0;
	device->known_in = mapper->next.number;
	if (target->image.bytes == NULL)
		return;
	device->facts.epoch = mapper->epoch;
	device->facts.digest = table_image_digest(target->image.bytes, target->image.length);
}

/* Counts a refusal. The fabric waits for the device once, and then proceeds without it. */
static void count_refusal(struct mapper *mapper, uint32_t at)
{
	struct map_device *device = &mapper->map.device[at];

	if (!device->present)
		return;
	if (device->refusals < REFUSALS_MAX)
		device->refusals++;
	if (device->refusals < REFUSALS)
		return;
	device->left_out = (uint8_t)(1u << (device->refusals - REFUSALS));
	discovery_find(&mapper->discovery, DISCOVERY_NO_TABLES, at, 0);
}

void mapper_plan_done(struct mapper *mapper, weft_time now)
{
	struct distribution *distribution = &mapper->distribution;

	if (distribution->failed) {
		mapper->counters.called_off++;
		mapper->stale = true;
		for (uint32_t i = 0; i < distribution->targets; i++) {
			const struct distribution_target *target = &distribution->target[i];

			if (target->failed)
				ask_again(mapper, target->device);
			if (target->failed && target->refused)
				count_refusal(mapper, target->device);
		}
		free_generation(&mapper->next);
		return;
	}
	for (uint32_t i = 0; i < distribution->targets; i++)
		note_tables(mapper, &distribution->target[i]);
	mapper->stale |= distribution->incomplete;
	/* After a complete pause, no old packet is in flight; otherwise, unknown ones may be. */
	if (distribution->pause && !distribution->drained)
		mapper->live_from = now + mapper->config.linger_ps;
	/* Without routes, the distribution only ended a pause. */
	if (mapper->next.number == 0)
		return;
	while (distribution->pause && mapper->generations > 0)
		drop_oldest(mapper);
	for (unsigned i = 0; i < mapper->generations; i++)
		if (mapper->generation[i].until == WEFT_TIME_NEVER)
			mapper->generation[i].until = now + mapper->config.linger_ps;
	mapper->generation_number = mapper->next.number;
	if (mapper->generations == LIVE_GENERATIONS_MAX) {
		/* This occurs only if nothing was sent. The next change reads tables again, or
		 * takes a pause. */
		free_generation(&mapper->next);
		return;
	}
	mapper->generation[mapper->generations++] = mapper->next;
	mapper->next = (struct mapper_generation){0};
}
