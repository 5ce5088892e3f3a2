/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Short run files on the virtual clock, for tests: any error fails the test. */

#include "experiment/run/run_config.h"
#include "result_counter.h"
#include "virtual/virtual_fabric.h"

struct virtual_lab {
	struct run_config *config;
	struct topology *topology;
	struct virtual_fabric *fabric;
	struct run_result result; /* result of virtual_lab_run() */
};

/* The values of 'set', of type const char *const[], and their count. */
#define VIRTUAL_LAB_SET(...)                \
	(const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)

/* Opens the run in 'text' with additional 'KEY=VALUE' lines. */
static inline void virtual_lab_open(
	struct virtual_lab *lab, const char *text, const char *const *set, unsigned sets)
{
	struct error error = {""};

	memset(lab, 0, sizeof(*lab));
	lab->config = run_config_parse(text, strlen(text), "test", set, sets, &error);
	if (lab->config == NULL || run_config_supported(lab->config, &error) != 0 ||
		(lab->topology = run_config_open_topology(lab->config, &error)) == NULL ||
		(lab->fabric = virtual_fabric_create(lab->topology, lab->config, &error)) == NULL)
		fail_msg("%s", error.text);
}

/* Runs to the end, after which everything must be accounted for. */
static inline void virtual_lab_run(struct virtual_lab *lab)
{
	struct error error = {""};
	const char *wrong;

	if (virtual_fabric_run(lab->fabric, NULL, NULL, NULL, &error) != 0 ||
		virtual_fabric_result(lab->fabric, &lab->result, &error) != 0)
		fail_msg("%s", error.text);
	wrong = virtual_fabric_check(lab->fabric);
	if (wrong != NULL)
		fail_msg("%s", wrong);
}

static inline void virtual_lab_close(struct virtual_lab *lab)
{
	run_result_free(&lab->result);
	virtual_fabric_destroy(lab->fabric);
	topology_destroy(lab->topology);
	run_config_destroy(lab->config);
}

/* Opens and runs it; virtual_lab_close() is the caller's. */
static inline struct virtual_lab virtual_lab_ran(
	const char *text, const char *const *set, unsigned sets)
{
	struct virtual_lab lab;

	virtual_lab_open(&lab, text, set, sets);
	virtual_lab_run(&lab);
	return lab;
}

/* Expects that no frame was dropped, lost, duplicated or out of order, and that nothing is
 * stuck. */
static inline void virtual_lab_expect_whole(const struct virtual_lab *lab)
{
	const struct run_result *result = &lab->result;

	assert_int_equal(result->packets.dropped, 0);
	assert_int_equal(result->lost | result->duplicated | result->out_of_order, 0);
	assert_false(result->deadlock);
}

/* Does all three steps, and returns the result, for which the caller calls run_result_free(). */
static inline struct run_result virtual_lab_result(
	const char *text, const char *const *set, unsigned sets)
{
	OWNED(virtual_lab) lab = virtual_lab_ran(text, set, sets);
	struct run_result result = lab.result;

	memset(&lab.result, 0, sizeof(lab.result));
	return result;
}

/* Expects that a valid run file has a network that cannot be built, for this reason. */
static inline void virtual_lab_assert_refused(
	const char *text, const char *const *set, unsigned sets, const char *why)
{
	struct error error = {""};
	OWNED(run_config) *config = run_config_parse(text, strlen(text), "test", set, sets, &error);
	OWNED(topology) *topology = run_config_open_topology(config, &error);

	assert_null(virtual_fabric_create(topology, config, &error));
	assert_string_equal(error.text, why);
}
