/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The ranks of a run: processes on one or several machines, each of which executes part of the run.
 * All ranks execute the same sequence of exchanges. In an exchange, each rank sends a message to
 * each other rank and receives theirs. Sums, maxima and agreement on errors are built from
 * exchanges.
 *
 * The transport is behind the ops; ranks_open() provides MPI. Ranks trust each other's data, as
 * threads do, but not the length of a message. Call from one thread.
 *
 * Once a rank is lost, every exchange fails. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"

/* A message to or from a rank. The buffer grows as needed. */
struct ranks_message {
	uint8_t *bytes;
	size_t used, room;
};

struct ranks;

struct ranks_ops {
	/* Sends ranks->out and fills ranks->in. Returns 0, or -EIO with error set. */
	int (*exchange)(struct ranks *ranks, struct error *error);
	/* Terminates all ranks, including this one, with this exit code. */
	void (*end_all)(struct ranks *ranks, int code) __attribute__((noreturn));
	void (*close)(struct ranks *ranks);
};

struct ranks {
	const struct ranks_ops *ops;
	unsigned count, own;            /* number of ranks; index of this rank */
	struct ranks_message *out, *in; /* [count]; the element of this rank is unused */
	bool failed;                    /* an exchange failed; no more will succeed */
	struct error error;             /* reason for the failure */
	void *ctx;                      /* private to the ops */
};

/* Returns true if Open MPI's mpirun started 'program' as one of several ranks. */
bool ranks_were_started(const char *program);
/* Returns the rank from the environment, before ranks_open(); 0 if not set. */
unsigned ranks_of_environment(void);

/* Joins the other ranks; sets *ranks to NULL if there are none. Returns 0 or -EIO. Call once per
 * process. Defined in ranks_mpi.c, for programs linked with MPI. */
int ranks_open(struct ranks **ranks, struct error *error);
/* Disconnects; all ranks must call this. NULL is allowed. */
void ranks_close(struct ranks *ranks);
/* Terminates all ranks with this exit code. */
void ranks_end_all(struct ranks *ranks, int code) __attribute__((noreturn));

/* For ops: initializes messages for 'count' ranks; this rank is 'own'. Returns 0 or -ENOMEM. */
int ranks_init(struct ranks *ranks, unsigned count, unsigned own);
void ranks_fini(struct ranks *ranks);

/* Appends 'bytes' bytes to a message and returns them, to be filled in; NULL: out of memory. */
void *ranks_append(struct ranks_message *message, size_t bytes);
/* Reserves space for a message of 'bytes' bytes, preserving its contents. Returns 0 or -ENOMEM. */
int ranks_reserve(struct ranks_message *message, size_t bytes);

/* Reads a message sequentially. */
struct ranks_reader {
	const uint8_t *at;
	size_t left;
};

/* Returns the next bytes of a message, or NULL if fewer are left. */
const void *ranks_take(struct ranks_reader *reader, size_t bytes);

/* Sends all messages, empties 'out' and receives the other ranks' messages. Returns 0 or -EIO. */
int ranks_exchange(struct ranks *ranks);
/* Makes all further exchanges fail, because a message could not be built or is invalid. */
void ranks_fail(struct ranks *ranks, const char *why);

/* Replaces each value with the maximum or sum over all ranks. Returns 0 or -EIO (unchanged). */
int ranks_max(struct ranks *ranks, uint64_t *value, unsigned values);
int ranks_sum(struct ranks *ranks, uint64_t *value, unsigned values);

/* Replaces the bytes with rank 0's. Returns 0 or -EIO. */
int ranks_share(struct ranks *ranks, void *bytes, size_t size);

/* Agrees on one outcome for all ranks: 'result' (0 or negative) and error of the first rank that
 * failed. The rank number, if not 0, is prefixed to the text. 'ranks' may be NULL. */
int ranks_agree(struct ranks *ranks, int result, struct error *error);

/* Returns -EINVAL in all ranks, with error set, if 'bytes', described by 'what', differ. */
int ranks_compare(
	struct ranks *ranks, const void *bytes, size_t size, const char *what, struct error *error);
