/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Small hand-written cases for the flit model: a row of switches with hosts, messages with their
 * routes, and the model. */

#include "flit_model.h"
#include "networks.h"
#include "route/route_set.h"
#include "wire/frame.h"

#define BED_MESSAGES 512

struct flit_bed {
	struct flit_parameters parameters;
	struct topology *topology;
	uint32_t messages;
	struct flit_message message[BED_MESSAGES];
	uint8_t route[BED_MESSAGES][ROUTE_ELEMENTS_MAX];
	struct flit_model *model;
};

/* 'switches' in a row with 'each' hosts each: ports 0 .. each - 1 lead to hosts, 'each' to the
 * switch on the right, 'each' + 1 to the one on the left. */
static inline void flit_bed_row(struct flit_bed *bed, uint32_t switches, uint32_t each)
{
	struct topology *row = topology_create("row", switches, switches * each);
	struct error error;

	memset(bed, 0, sizeof(*bed));
	bed->parameters = FLIT_PARAMETERS_THESIS;
	assert_non_null(row);
	for (uint32_t i = 0; i < switches * each; i++) {
		snprintf(row->host_at[i].name, TOPOLOGY_NAME_MAX, "h%u", i);
		topology_add_link(row, network_port(DEVICE_HOST, i, 0),
			network_port(DEVICE_SWITCH, i / each, (uint8_t)(i % each)),
			FLIT_RATE_THESIS_BPS, FLIT_DELAY_THESIS_PS, 0);
	}
	for (uint32_t i = 0; i < switches; i++) {
		snprintf(row->switch_at[i].name, TOPOLOGY_NAME_MAX, "s%u", i);
		row->switch_at[i].ports = (uint8_t)(each + 2);
		if (i + 1 < switches)
			topology_add_link(row, network_port(DEVICE_SWITCH, i, (uint8_t)each),
				network_port(DEVICE_SWITCH, i + 1, (uint8_t)(each + 1)),
				FLIT_RATE_THESIS_BPS, FLIT_DELAY_THESIS_PS, 0);
	}
	if (topology_finish(row, "test", &error) != 0)
		fail_msg("%s", error.text);
	bed->topology = row;
}

/* Adds a message with a route of 'ports', one character each: a digit, or 'i' for a host in
 * transit. Returns its number. */
static inline uint32_t flit_bed_add(struct flit_bed *bed, uint64_t cycle, uint32_t source,
	uint32_t destination, uint32_t bytes, const char *ports)
{
	struct flit_message *message = &bed->message[bed->messages];
	uint8_t *route = bed->route[bed->messages];
	unsigned length = 0;

	assert_true(bed->messages < BED_MESSAGES);
	for (; *ports != '\0'; ports++)
		route[length++] =
			*ports == 'i' ? ROUTE_TYPE_ITB : (uint8_t)(ROUTE_PORT_BIT | (*ports - '0'));
	route[length++] = ROUTE_TYPE_HOST;
	*message = (struct flit_message){
		.source = source,
		.destination = destination,
		.bytes = bytes,
		.cycle = cycle,
		.route = route,
		.route_length = length,
	};
	return bed->messages++;
}

static inline void flit_bed_check(const struct flit_bed *bed)
{
	const char *broken = flit_model_broken(bed->model);

	if (broken != NULL)
		fail_msg(
			"cycle %llu: %s", (unsigned long long)flit_model_cycle(bed->model), broken);
	assert_true(flit_model_fullest(bed->model) <= bed->parameters.slots);
}

static inline void flit_bed_start(struct flit_bed *bed)
{
	bed->model =
		flit_model_create(bed->topology, &bed->parameters, bed->message, bed->messages);
	assert_non_null(bed->model);
}

/* Runs all messages to their end. */
static inline void flit_bed_run(struct flit_bed *bed)
{
	flit_bed_start(bed);
	assert_true(flit_model_run(bed->model, 1000000));
	flit_bed_check(bed);
	assert_int_equal(flit_model_inside(bed->model), 0);
}

static inline const struct flit_fate *flit_bed_fate(const struct flit_bed *bed, uint32_t message)
{
	return flit_model_fate(bed->model, message);
}

static inline void flit_bed_end(struct flit_bed *bed)
{
	flit_model_destroy(bed->model);
	topology_destroy(bed->topology);
}
