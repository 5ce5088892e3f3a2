/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A session with a machine of a lab: 'weft lab part' runs there, as a child of this program or over
 * ssh, and answers requests. A request and its answer are JSON objects, one per line; an answer
 * {"error": TEXT, "errno": N} reports a failure there. The end of the session's input asks the
 * machine to stop what it is doing.
 *
 * A broken session stays broken: every further call fails immediately with the same reason. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/weft_error.h"

/* The command line that reaches a machine of a lab: OpenSSH's client, or this program itself if the
 * machine has no address. The request is never part of it: requests are sent through standard input
 * (below), so nothing needs quoting for the remote shell. */

#define LAB_SSH_WORDS_MAX   40
#define LAB_SSH_WHY_MAX     400
#define LAB_SSH_CONTROL_MAX 64

struct lab_ssh_target {
	const char *name; /* name of the machine */
	const char *ssh;  /* its address; "": this machine */
	const char *weft; /* the program on that machine; "": weft */
	/* From lab_ssh_control(); "": connections are not shared. */
	char control[LAB_SSH_CONTROL_MAX];
};

struct lab_ssh_command {
	char *word[LAB_SSH_WORDS_MAX + 1]; /* NULL behind the last */
	unsigned words;
	char text[8][512]; /* words that are built here */
	unsigned texts;
};

/* Chooses the path prefix for the sockets of shared connections, for a console's folder 'dir': this
 * folder if ssh can use it for sockets (a short path of plain characters), otherwise
 * "/tmp/weft-UID/NUMBERS-", whose folder is created. Returns 0, or -errno, 'control' "" and fault:
 * 'dir' is gone, or another user owns the folder. */
int lab_ssh_control(const char *dir, char control[LAB_SSH_CONTROL_MAX], struct error *error);

/* 'self' is the path of this program. The environment variable WEFT_SSH_CONFIG names a
 * configuration file for ssh. */
void lab_ssh_command(
	const struct lab_ssh_target *target, const char *self, struct lab_ssh_command *command);
/* Like lab_ssh_command(), for ending a shared connection: "ssh … -O exit ADDRESS". */
void lab_ssh_end_command(const struct lab_ssh_target *target, struct lab_ssh_command *command);

/* Explains in one line, with a remedy, why the connection ended, based on waitpid()'s status and
 * the text on standard error. */
void lab_ssh_explain(const struct lab_ssh_target *target, int status, const char *said,
	char why[LAB_SSH_WHY_MAX]);

#define LAB_REMOTE_CALL_MS  15000 /* timeout for an answer, of which a process there may use 3 s */
#define LAB_REMOTE_GREET_MS 60000 /* with the login */

struct lab_remote {
	struct lab_ssh_target target; /* its texts belong to the lab */
	const char *lab;              /* name */
	pid_t pid;
	int fd;   /* input and output of the session; -1: broken */
	int said; /* its standard error */
	char *bytes;
	size_t used, room;
	char why[LAB_SSH_WHY_MAX + 64]; /* it has broken */
	char dir[256];                  /* run directory of the lab there */
	bool up;                        /* the lab is up there or has remains */
	json_t *alive; /* lab_record_alive(): the last answer, and the time of its arrival */
	uint64_t alive_ms;
	bool greeting; /* the session was restarted and has not answered yet */
};

/* Starts the session and sends the greeting; does not wait. Only the pointers 'target' and 'lab'
 * are copied. On failure the session is broken. */
void lab_remote_start(
	struct lab_remote *remote, const struct lab_ssh_target *target, const char *lab);
/* Waits for the answer to the greeting: {"up": …, "dir": …, "processes": […]}. Returns NULL with
 * error set on failure. A signal ends the wait (lab_wait.h). */
json_t *lab_remote_greeted(struct lab_remote *remote, int timeout_ms, struct error *error);

/* Returns true if the session is broken, or restarted but not answering yet. */
bool lab_remote_is_broken(const struct lab_remote *remote);
/* For commands that poll: restarts a broken session once, without waiting; a later call checks for
 * its answer, and returns the greeting, the caller's reference, or NULL if there is none yet. */
json_t *lab_remote_retry(struct lab_remote *remote);

/* Sends a request, and takes its reference. Returns 0, or -errno with error set. A session that
 * accepts no input is broken off after LAB_REMOTE_CALL_MS or a signal. */
int lab_remote_send(struct lab_remote *remote, json_t *request, struct error *error);
/* Waits for the next answer, and returns it as the caller's reference. Returns NULL with error set
 * after an error there, with its errno in 'code' (may be NULL), or if the session is broken
 * (-EHOSTUNREACH). */
json_t *lab_remote_receive(
	struct lab_remote *remote, int timeout_ms, int *code, struct error *error);
/* Waits at most this long. Returns whether there is input, or the session has ended. */
bool lab_remote_wait(struct lab_remote *remote, int timeout_ms);
/* Sends and receives. */
json_t *lab_remote_call(struct lab_remote *remote, json_t *request, int *code, struct error *error);
/* Like lab_remote_call(), for a request that may take longer than LAB_REMOTE_CALL_MS. */
json_t *lab_remote_call_for(
	struct lab_remote *remote, json_t *request, int timeout_ms, int *code, struct error *error);

/* Ends the input, so that the machine stops its current command and answers. */
void lab_remote_interrupt(struct lab_remote *remote);
/* Waits for a while for the session to end, then kills it. Returns its exit code, and what it wrote
 * to standard error. */
#define LAB_REMOTE_SAID 4096
int lab_remote_finish(struct lab_remote *remote, char said[LAB_REMOTE_SAID]);
/* Ends the session. */
void lab_remote_close(struct lab_remote *remote);
