/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The command line that reaches a machine of a lab: OpenSSH's client, or this program itself if the
 * machine has no address. The request is never part of it: requests are sent through standard input
 * (lab_remote.h), so nothing has to be quoted for the shell at the other end. */

#include <stddef.h>

#include "base/weft_error.h"

#define LAB_SSH_WORDS_MAX   40
#define LAB_SSH_WHY_MAX     400
#define LAB_SSH_CONTROL_MAX 64

struct lab_ssh_target {
	const char *name; /* name of the machine */
	const char *ssh;  /* its address; "": this machine */
	const char *weft; /* the program there; "": weft */
	/* From lab_ssh_control(); "": connections are not shared. */
	char control[LAB_SSH_CONTROL_MAX];
};

struct lab_ssh_command {
	char *word[LAB_SSH_WORDS_MAX + 1]; /* NULL behind the last */
	unsigned words;
	char text[8][512]; /* words that are built here */
	unsigned texts;
};

/* Chooses the path prefix for the sockets of shared connections, for a console's folder 'dir': the
 * folder itself if ssh can use it for sockets (a short path with only plain characters), else
 * "/tmp/weft-UID/NUMBERS-", whose folder is created. Returns 0, or -errno, 'control' "" and fault:
 * 'dir' is gone, or another user owns the folder. */
int lab_ssh_control(const char *dir, char control[LAB_SSH_CONTROL_MAX], struct error *error);

/* 'self' is the path of this program. The environment variable WEFT_SSH_CONFIG names a
 * configuration file for ssh. */
void lab_ssh_command(
	const struct lab_ssh_target *target, const char *self, struct lab_ssh_command *command);
/* The same, for ending a shared connection: "ssh … -O exit ADDRESS". */
void lab_ssh_end_command(const struct lab_ssh_target *target, struct lab_ssh_command *command);

/* Why the connection ended, in one line with a remedy, based on waitpid()'s status and the text on
 * standard error. */
void lab_ssh_explain(const struct lab_ssh_target *target, int status, const char *said,
	char why[LAB_SSH_WHY_MAX]);
