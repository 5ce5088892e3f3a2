/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* cmocka with what it wants included before it. The cases of a program need neither a list nor
 * a main(), and run in the order of the file:
 *
 *     UNIT_TEST(a_full_ring_takes_no_more)
 *     {
 *     } */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct unit_case {
	struct CMUnitTest test;
	int line;
	struct unit_case *next;
};

void unit_add(struct unit_case *one);

/* A case with its own 'set_up' and 'tear_down', defined above it; NULL: none. */
#define UNIT_WITH(function, set_up, tear_down)                                           \
	static void function(void **state);                                              \
	static void __attribute__((constructor)) add_##function(void)                    \
	{                                                                                \
		static struct unit_case one = {                                          \
			{#function, function, set_up, tear_down, NULL}, __LINE__, NULL}; \
                                                                                         \
		unit_add(&one);                                                          \
	}                                                                                \
	static void function(void **state)
#define UNIT_TEST(function) UNIT_WITH(function, NULL, NULL)

/* The same; 'bed' declares what 'set_up' stored in '*state': struct bench *bench. */
#define UNIT_BED(function, set_up, tear_down, bed) \
	static void on_bed_##function(bed);        \
	UNIT_WITH(function, set_up, tear_down)     \
	{                                          \
		on_bed_##function(*state);         \
	}                                          \
	static void on_bed_##function(bed)

/* Runs all cases between the program's 'set_up' and 'tear_down'. */
int unit_run(CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* The whole has a 'set_up' and a 'tear_down'. */
#define UNIT_MAIN(set_up, tear_down)                \
	int main(void)                              \
	{                                           \
		return unit_run(set_up, tear_down); \
	}

/* A variable freed at the end of its block, later ones first: OWNED(topology) *topology. A failing
 * test keeps its variables. Types without a line here are freed by hand. */
#define OWNED(type) __attribute__((cleanup(type##_out_of_scope))) struct type

#define OWNED_POINTER_BY(type, function)                         \
	static inline void type##_out_of_scope(struct type **it) \
	{                                                        \
		function(*it);                                   \
	}
#define OWNED_POINTER(type)                   \
	struct type;                          \
	void type##_destroy(struct type *it); \
	OWNED_POINTER_BY(type, type##_destroy)

OWNED_POINTER(topology)
OWNED_POINTER(route_set)
OWNED_POINTER(run_config)
OWNED_POINTER(route_table)
OWNED_POINTER(goal)
OWNED_POINTER(traffic)
OWNED_POINTER(nic_routes)
OWNED_POINTER(queuing)
OWNED_POINTER(route_graph)
OWNED_POINTER(event_queue)
OWNED_POINTER(lab_config)
OWNED_POINTER(edge)
OWNED_POINTER(itb)
OWNED_POINTER(goal_replay)
OWNED_POINTER(lab_plan)
OWNED_POINTER(rails)
OWNED_POINTER(route_blocks)
OWNED_POINTER(yaml_tree)
OWNED_POINTER(run_hosts)
#define virtual_lab_out_of_scope    virtual_lab_close
#define run_result_out_of_scope     run_result_free
#define route_report_out_of_scope   route_report_free
#define end_out_of_scope            end_stop
#define goal_loop_out_of_scope      goal_loop_fini
#define datagram_out_of_scope       datagram_fini
#define route_choice_out_of_scope   route_choice_fini
#define smart_paths_out_of_scope    smart_paths_fini
#define pair_numbers_out_of_scope   pair_numbers_fini
#define lab_out_of_scope            lab_close
#define route_file_out_of_scope     route_file_close
#define message_pool_out_of_scope   message_pool_fini
#define measure_window_out_of_scope measure_window_close
