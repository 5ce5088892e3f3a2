/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "setup/congestion_setup.h"

static void count_switches(struct real_fabric *fabric)
{
	const bool *here = fabric->options.switch_here;

	for (uint32_t i = 0; i < fabric->options.topology->switches; i++)
		if (here == NULL || here[i])
			fabric->switch_count++;
}

/* Sets how many frames the ports' receive rings hold. */
static void fill_slots(struct real_fabric *fabric, uint32_t number, struct switch_config *config)
{
	for (unsigned port = 0; port < config->ports; port++) {
		const struct topology_port at = {DEVICE_SWITCH, number, (uint8_t)port};
		const struct real_end *end = real_end_at(fabric, at);

		if (end != NULL)
			config->port_slots[port] = end->port.slots;
	}
}

static void attach_ports(struct real_fabric *fabric, struct real_switch *device)
{
	for (unsigned port = 0; port < device->sw->ports; port++) {
		const struct topology_port at = {DEVICE_SWITCH, device->number, (uint8_t)port};
		struct poll_switch *ps = real_switch_loop(device, port);
		struct real_end *end = real_end_at(fabric, at);
		struct port_auth_plan plan;

		if (end == NULL)
			continue;
		plan = real_end_plan(fabric, end);
		poll_switch_attach(ps, port, &end->port, end->timed ? &end->timing : NULL,
			real_end_impairment(end));
		poll_switch_guard(ps, port, fabric->options.fabric, real_end_key(fabric, end));
		port_auth_expect(&ps->port[port].guard, &plan, &ps->sw->port[port].link);
		if (!end->open)
			poll_switch_unplug(ps, port);
	}
}

/* With static routes, the topology determines the host behind a port; with a mapper, hellos do. */
static void check_sources(struct real_fabric *fabric, struct real_switch *device)
{
	const struct topology *topology = fabric->options.topology;

	if (fabric->control != NULL) {
		for (unsigned port = 0; port < device->sw->ports; port++)
			poll_switch_learn_hosts(
				real_switch_loop(device, port), fabric->routes.itbs);
		return;
	}
	for (unsigned port = 0; port < device->sw->ports; port++) {
		const struct topology_port at = {DEVICE_SWITCH, device->number, (uint8_t)port};
		struct topology_port peer;

		if (real_end_at(fabric, at) != NULL && topology_peer(topology, at, &peer) &&
			peer.kind == DEVICE_HOST)
			poll_switch_set_host(real_switch_loop(device, port), port,
				(uint16_t)peer.device, fabric->routes.itbs);
	}
}

/* Sets up marking, waiting times and adaptive routing. */
static int add_decisions(
	struct real_fabric *fabric, struct real_switch *device, struct error *error)
{
	const struct run_config *run = fabric->options.run;

	const struct contention_config contention = {
		.in_frame = true, .extension = poll_switch_extension};

	congestion_setup_marks(device->sw, &device->fecn, run);
	congestion_setup_contention(device->sw, &device->contention, fabric->options.topology,
		device->number, run, &contention);
	return congestion_setup_switch(
		device->sw, fabric->options.topology, device->number, run, error);
}

static int create_whole(struct real_fabric *fabric, struct real_switch *device,
	const struct switch_config *config, struct error *error)
{
	const char *name = fabric->options.topology->switch_at[device->number].name;
	const struct device_config from = real_device_config(fabric);
	const struct arn_policer_config guard = congestion_setup_guard(from.run, from.topology);
	int result = 0;

	device->sw = switch_create(config, clock_now(&fabric->clock));
	if (device->sw == NULL && errno == EINVAL)
		return device_config_refuse(name, config, error);
	if (device->sw != NULL)
		result = add_decisions(fabric, device, error);
	if (result < 0)
		return result;
	if (device->sw != NULL)
		device->poll = poll_switch_create(device->sw, fabric->control_pool);
	if (device->poll == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", name);
	poll_switch_set_control(device->poll,
		real_control_of(fabric, DEVICE_SWITCH, device->number), fabric->data_pool);
	poll_switch_limit_arns(device->poll, &guard);
	return 0;
}

/* Returns the number of shards of a switch. */
static unsigned count_parts(const struct real_fabric *fabric, unsigned ports)
{
	unsigned shards = fabric->options.divides ? fabric->loops / fabric->switch_count : 1;

	shards = shards < SWITCH_SHARDS_MAX ? shards : SWITCH_SHARDS_MAX;
	shards = shards < ports ? shards : ports;
	return shards > 0 ? shards : 1;
}

static int create_parts(struct real_fabric *fabric, struct real_switch *device,
	const struct switch_config *config, unsigned shards, struct error *error)
{
	const char *name = fabric->options.topology->switch_at[device->number].name;
	int port_socket[SWITCH_PORTS_MAX], part_socket[SWITCH_SHARDS_MAX];
	uint8_t owner[SWITCH_PORTS_MAX];
	const char *key = run_config_needs_one_lcore(fabric->options.run);
	int result = 0;

	if (key != NULL)
		return error_set(error, EINVAL, "%s: %s requires one lcore; remove --lcores %u",
			fabric->options.run->origin, key, fabric->loops);
	memset(port_socket, 0xFF, sizeof(port_socket));
	memset(part_socket, 0xFF, sizeof(part_socket));
	poll_division_deal(owner, port_socket, config->ports, part_socket, shards);
	device->division = poll_division_create(config, owner, shards);
	if (device->division == NULL && errno == EINVAL)
		return device_config_refuse(name, config, error);
	for (unsigned shard = 0; device->division != NULL && shard < shards && result == 0; shard++)
		result = poll_division_place(
			device->division, shard, fabric->control_pool, clock_now(&fabric->clock));
	if (device->division == NULL || result < 0)
		return error_set(error, ENOMEM, "%s: out of memory", name);
	poll_division_connect(device->division);
	poll_division_set_control(device->division,
		real_control_of(fabric, DEVICE_SWITCH, device->number), fabric->data_pool);
	device->poll = device->division->shard[0];
	device->sw = device->poll->sw;
	return 0;
}

static int create_switch(
	struct real_fabric *fabric, struct real_switch *device, struct error *error)
{
	const struct device_config from = real_device_config(fabric);
	struct switch_config config;
	unsigned shards;
	int result;

	device_config_switch(&from, device->number, &config);
	fill_slots(fabric, device->number, &config);
	shards = count_parts(fabric, config.ports);
	result = shards > 1 ? create_parts(fabric, device, &config, shards, error)
			    : create_whole(fabric, device, &config, error);
	if (result < 0)
		return result;
	attach_ports(fabric, device);
	check_sources(fabric, device);
	return 0;
}

/* Lists switches and shards in order, because loops poll ranges: devices with consecutive numbers
 * are neighbours in the network. */
static int list_polled(struct real_fabric *fabric, struct error *error)
{
	unsigned room = fabric->switch_count * SWITCH_SHARDS_MAX, count = 0;

	fabric->polled = calloc(room + 1, sizeof(*fabric->polled));
	if (fabric->polled == NULL)
		return error_set(
			error, ENOMEM, "not enough memory for %u switches", fabric->switch_count);
	for (unsigned i = 0; i < fabric->switch_count; i++) {
		struct real_switch *device = &fabric->switches[i];
		unsigned shards = device->division == NULL ? 1 : device->division->division->shards;

		for (unsigned shard = 0; shard < shards; shard++)
			fabric->polled[count++] = (struct real_polled){.device = device,
				.poll = device->division == NULL ? device->poll
								 : device->division->shard[shard]};
	}
	fabric->polled_count = count;
	return 0;
}

int real_switches_create(struct real_fabric *fabric, struct error *error)
{
	const bool *here = fabric->options.switch_here;
	unsigned next = 0;
	int result = 0;

	count_switches(fabric);
	fabric->switches = calloc(fabric->switch_count, sizeof(*fabric->switches));
	if (fabric->switches == NULL && fabric->switch_count > 0)
		return error_set(
			error, ENOMEM, "not enough memory for %u switches", fabric->switch_count);
	for (uint32_t i = 0; i < fabric->options.topology->switches && result == 0; i++) {
		if (here != NULL && !here[i])
			continue;
		fabric->switches[next].number = i;
		result = create_switch(fabric, &fabric->switches[next++], error);
	}
	if (result == 0)
		result = list_polled(fabric, error);
	return result == 0 ? real_deadlock_open(fabric, error) : result;
}

void real_switches_destroy(struct real_fabric *fabric)
{
	if (fabric->switches == NULL)
		return;
	for (unsigned i = 0; i < fabric->switch_count; i++) {
		if (fabric->switches[i].division == NULL) {
			poll_switch_destroy(fabric->switches[i].poll);
			switch_destroy(fabric->switches[i].sw);
		}
		poll_division_destroy(fabric->switches[i].division);
	}
	free(fabric->polled);
	free(fabric->switches);
	real_deadlock_close(fabric);
}
