/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared only by the subcommands of 'weft lab'. */

#include <stdbool.h>

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "common/commands.h"
#include "experiment/lab/lab.h"
#include "experiment/lab/lab_plan.h"
#include "experiment/lab/lab_security.h"
#include "lab_lock.h"
#include "lab_query.h"
#include "lab_state.h"
#include "measure/deadlock.h"
#include "setup/credit_cover.h"

#define LAB_ONLY_MAX 64
#define LAB_SETS_MAX 64

/* Options of 'replay' that are keys of a traffic entry; each may be given only once. */
#define LAB_REPLAY_OPTIONS(X)                                                            \
	X(host, 'H', "HOST", "this host sends all packets")                              \
	X(by, 'b', "FILE",                                                               \
		"lines of ADDRESS HOST (default: the lab's addresses keep their hosts, " \
		"the others are assigned round robin)")                                  \
	X(to, 'y', "HOST,...", "hosts that receive packets to addresses without a host") \
	X(speed, 'x', "N", "replay N times as fast as captured (1)")                     \
	X(load, 'P', "SHARE",                                                            \
		"instead of --speed: the mean load of the senders' links, such as 30%")  \
	X(loop, 'k', "N", "send the capture N times (1)")
#define LAB_REPLAYS_MAX 16

struct lab_arguments {
	const char *file;  /* file, or name of a lab that is up */
	char *const *word; /* further arguments, ending with NULL */
	unsigned words;
	const char *run_dir;            /* NULL: /run/weft/NAME */
	const char *output;             /* NULL: standard output */
	const char *only[LAB_ONLY_MAX]; /* up: processes, each named by one of its devices */
	unsigned only_count;
	struct lab_trust trust;        /* up */
	const char *set[LAB_SETS_MAX]; /* run */
	unsigned sets;
	struct {
		const char *key, *value;
	} replay[LAB_REPLAYS_MAX]; /* as in LAB_REPLAY_OPTIONS */
	unsigned replays;
	const char *filter, *where, *snaplen, *rotate; /* capture; NULL: not given */
	uint64_t count;                                /* capture; 0: any number of frames */
	const char *machine;  /* use only this machine's part; NULL: the whole lab */
	const char *dilation; /* up; NULL: the file's */
	bool alone;           /* up: with 'machine', do not wait for the others */
	weft_time wait_ps, duration_ps;
	bool json;
	bool dot;              /* map */
	bool explain;          /* up */
	bool restart;          /* up */
	bool again;            /* up: first end the processes of 'only' */
	bool any_clock;        /* up */
	bool dry_run;          /* apply */
	bool all, if_up;       /* down */
	bool wide;             /* status */
	bool joined;           /* exec */
	bool no_faketime;      /* exec, shell, mpirun */
	const char *fabric;    /* mpirun: tcp or weft; NULL: weft if possible */
	const char *record;    /* mpirun; NULL: no schedule is written */
	bool once;             /* top, metrics */
	bool json_lines;       /* top */
	bool text;             /* metrics */
	bool containerlab;     /* export */
	const char *listen;    /* metrics, web; NULL: the default */
	const char *why;       /* web */
	weft_time interval_ps; /* top, web */
};

/* Searches the heads of all processes for a circular wait, which may span several of them. Returns
 * false if a process did not answer, so the result is unknown. */
bool lab_circle_find(
	const struct lab *lab, const struct lab_state *state, struct deadlock_circle *circle);

enum weft_exit cmd_lab_up(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_down(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_logs(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_inventory(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_export(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_list(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_status(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_route(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_set(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_exec(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_shell(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_hosts(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_mpirun(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_replay(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_metrics(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_top(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_web(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_run(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_capture(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_map(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_link(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_clear(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_doctor(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_apply(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_restart(const struct lab_arguments *arguments);
/* Not for users: the other end of a console's session (lab_remote.h). */
enum weft_exit cmd_lab_part(void);

/* 'up' and 'down' on the console, for a lab whose file has machines. 'lab' is open, and its run
 * directory is the console's folder. */
enum weft_exit console_up(const struct lab_arguments *arguments, struct lab *lab);
enum weft_exit console_down(const struct lab *lab);
/* Takes the lab down, except on the machines in 'spare' ([machine of the lab]; NULL: none). The
 * console's folder remains. */
enum weft_exit console_end(const struct lab *lab, const bool *spare);
/* Removes the console's folder, and closes the connections whose sockets are in it. */
void console_forget(const struct lab *lab);

/* Ends the processes, removes namespace and run directory, and frees 'state'. Returns how many
 * processes had to be killed, or -errno with error set. */
int lab_take_down(struct lab_state *state, struct error *error);

/* Takes down the lab in the run directory, with its lock held, and sets 'processes' to the
 * number of its processes. Returns like lab_take_down(); -ENOENT: it is not up. */
int lab_down(const char *dir, unsigned *processes, struct error *error);

/* Opens the lab and the state of the running one. Prints errors. Returns EXIT_BAD_ANSWER if the lab
 * is not up, EXIT_BAD_REQUEST if it was started from another file. Call lab_close() and
 * lab_state_free() after EXIT_DONE. */
enum weft_exit lab_open_running(const struct lab_arguments *arguments, const char *command,
	struct lab *lab, struct lab_state *state);

typedef enum weft_exit lab_running_fn(const struct lab_arguments *arguments, const struct lab *lab,
	const struct lab_state *state);
/* Opens the running lab, calls 'work', and closes the lab. */
enum weft_exit lab_with_running(
	const struct lab_arguments *arguments, const char *command, lab_running_fn *work);

/* Returns -EINVAL with error set if the lab runs on several machines, for commands that only
 * support one. */
int lab_expect_one_machine(
	const struct lab *lab, const struct lab_state *state, struct error *error);

/* Returns the process that runs 'device', or NULL if it is not on this machine. */
const struct lab_record *lab_record_of(
	const struct lab *lab, const struct lab_state *state, const char *device);

/* State of waiting for a lab's mapper. */

struct lab_mapper {
	char host[TOPOLOGY_NAME_MAX]; /* "": no mapper is known */
	bool elsewhere;               /* on another machine */
	unsigned miscabled;           /* differences from the expected topology */
	/* on several machines: a host here that lacks routes to another host, or "" */
	struct error short_of;
};

/* Asks the live processes of the lab until lab_mapping_done() is true; returns at once if routes
 * are static. With several machines it also waits for routes to all other hosts, unless 'lenient',
 * but succeeds without them: other machines may not be up yet. 'lenient': processes that have
 * ended, or stop answering because they are ending, are left out; otherwise they are an error, and
 * a mapper on another machine must still be sending. 'leader' is the last mapper that led, also on
 * failure. Returns 0, or -ETIMEDOUT, -EINTR or another -errno with error set. */
int lab_wait_mapped(const struct lab *lab, const struct lab_state *state, bool lenient,
	uint64_t patience_ms, struct lab_mapper *leader, struct error *error);

/* The veth pairs of a lab, in their own network namespace: names cannot clash, and everything
 * disappears with the namespace. 'ip netns exec weft-LAB tcpdump -i wl3a' captures on them. */

/* Creates the namespace and a pair for each VETH link. The interfaces are up, have no IPv6 (the
 * kernel must not send anything itself), and have an MTU for frames of 'frame_bytes'. The caller
 * must have recorded the namespace, and must remove it on failure. */
int lab_veth_create(const struct lab_plan *plan, uint32_t frame_bytes, struct error *error);
/* It is not an error if the namespace does not exist. */
int lab_veth_remove(const char *netns, struct error *error);

/* Removes an uplink, or the remains of it; "": there is none. Returns 0, or -errno with error
 * set. */
int lab_uplink_remove(const char *name, struct error *error);

/* weft lab run --set: the traffic of a single run, which differs from that in the lab's file. */

/* Applies "KEY=VALUE" to the opened lab, and writes the file that the processes will load ('traffic
 * load'). Returns 0, or -EINVAL with error set: a key that cannot change while the lab is up, or a
 * value that the lab does not support; or another -errno. */
int lab_run_set(struct lab *lab, const char *const *set, unsigned sets, struct error *error);

/* Credits and windows of a lab compared with round trips (credit_cover.h). */

/* Only for links that Weft times; other links between processes are as fast as their device. */
void lab_cover_report(const struct lab *lab, credit_cover_fn *tell, void *ctx);

/* The user's labs in the lab folder: those that are up, and remains of others. Labs started with
 * --run-dir elsewhere are not found. */

/* Returns 0 to continue, or -errno with error set to stop. 'state' is NULL for a console. */
typedef int (*lab_list_visit)(void *context, const char *name, const char *dir,
	const struct lab_state *state, struct error *error);

/* Visits the labs in order of their names. With 'consoles', also visits labs on several
 * machines that were brought up from here, if the console's folder exists. Returns 0, or the return
 * value of 'visit'. */
int lab_list_each(bool consoles, lab_list_visit visit, void *context, struct error *error);
