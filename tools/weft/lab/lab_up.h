/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared only by the files of 'weft lab up' (cmd_lab_up.c, lab_up_*.c) and 'weft lab apply'. */

#include "cmd_lab.h"
#include "common/kernel_view.h"

struct lab_up {
	const struct lab_arguments *arguments;
	struct lab lab;
	struct lab_state state;
	bool *ready; /* [process of the state]: all its links are up */
	bool again;  /* the lab is up, except for processes that ended */
	/* [process of the plan]: to be restarted, if 'again' is set without --process; otherwise
	 * NULL. */
	bool *ended;
	struct lab_mapper mapper;
	uint64_t mapped_ms;    /* time until mapping was complete, after the links were up */
	json_t *elsewhere;     /* devices on other machines (lab_state.h), from the start */
	bool exhausted;        /* up but unusable, because a pool ran dry */
	bool nothing;          /* --alone: everything on this machine already runs */
	struct held_taps taps; /* 'restart': TAPs of the processes that it ended */
};

/* Returns whether the process of the plan must be started: --process names it or, without
 * --process, the lab is not up or this process has ended. */
bool lab_up_wants(const struct lab_up *up, unsigned process);
bool lab_up_wants_edge(const struct lab_up *up, const struct run_config_edge *edge);
/* Returns the process that listens, for a memif link. */
unsigned lab_up_server(const struct lab_plan_link *link);

/* lab_up_check.c: detects errors before anything is started, in the files that the lab file names,
 * and in the whole request. */
int lab_up_check_files(const struct lab *lab, struct error *error);
int lab_up_check_request(const struct lab_up *up, struct error *error);
/* Refuses edges whose interface or network already exists. Call while no process of the lab is
 * running. */
int lab_up_check_edges(const struct lab_up *up, struct error *error);
/* Refuses a lab that is up, unless its ended processes are to be restarted; removes the remains of
 * an earlier lab. Fills in 'again' and then 'state'. */
int lab_up_check_not_up(struct lab_up *up, struct error *error);

/* Ends the processes of a running lab that --process names, and keeps their TAPs. Refuses processes
 * that could not start again. */
int lab_up_end_wanted(struct lab_up *up, struct error *error);

/* Writes the listing of processes and links into the run directory. */
int lab_up_write_plan(const struct lab_up *up, struct error *error);

/* lab_up_start.c: records the processes of this machine, and starts the wanted ones. */
int lab_up_start(struct lab_up *up, struct error *error);

/* Replaces 'dilation: auto' with the factor measured by the lab's program, which takes seconds and
 * prints the trials. Call it before the lab is started. */
int lab_up_choose_dilation(struct lab_up *up, struct error *error);

/* lab_interfaces.c: if the edge's host is going to be started, checks whether this machine can have
 * the uplink, and records it in 'state'. Call before anything starts. */
int lab_uplink_prepare(struct lab_up *up, struct error *error);
/* Creates the uplink if its edge is new, and default routes in the namespaces of new edges. Call
 * after the processes have opened their edges. */
int lab_uplink_make(const struct lab_up *up, struct error *error);

/* lab_up_wait.c: the first waits until all links are up, the second until there are also routes;
 * for at most --wait. */
int lab_up_wait_links(struct lab_up *up, struct error *error);
int lab_up_wait_whole(struct lab_up *up, struct error *error);
