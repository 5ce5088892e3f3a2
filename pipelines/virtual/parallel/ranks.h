/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The ranks of a run: processes on one or several machines, each of which does a part of the run.
 * All of them execute the same steps. A step is an exchange: each rank has a message for each other
 * one, and receives theirs. Everything else is built from exchanges: sums, maxima, agreement on
 * errors.
 *
 * The transport is behind the ops; ranks_open() provides MPI's. Ranks trust each other as threads
 * do, but not the length of a message. One thread calls.
 *
 * Once a rank is lost, each exchange fails. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"

/* Bytes for a rank or from it. Grows while a run finds out how much it needs. */
struct ranks_message {
	uint8_t *bytes;
	size_t used, room;
};

struct ranks;

struct ranks_ops {
	/* Sends all of ranks->out and fills ranks->in. Returns 0, or -EIO with error set: a rank is
	 * lost. */
	int (*exchange)(struct ranks *ranks, struct error *error);
	/* Ends all ranks, including this one, with this exit code. */
	void (*end_all)(struct ranks *ranks, int code) __attribute__((noreturn));
	void (*close)(struct ranks *ranks);
};

struct ranks {
	const struct ranks_ops *ops;
	unsigned count, own;            /* number of processes; which this is */
	struct ranks_message *out, *in; /* [count]; its own are unused */
	bool failed;                    /* an exchange failed: there will be no more */
	struct error error;             /* why */
	void *ctx;                      /* the ops' */
};

/* True if 'program' was started by Open MPI's mpirun as one of several ranks. Reads the environment
 * only. */
bool ranks_were_started(const char *program);
/* The rank according to the environment, before ranks_open(); 0 if it is not set. */
unsigned ranks_of_environment(void);

/* Joins the other ranks; '*ranks' is NULL if there are none. Returns 0 or -EIO. Once in the life of
 * a process. In ranks_mpi.c, for programs that are linked with MPI. */
int ranks_open(struct ranks **ranks, struct error *error);
/* All ranks leave. NULL has no effect. */
void ranks_close(struct ranks *ranks);
/* One rank leaves, the others end with it. */
void ranks_end_all(struct ranks *ranks, int code) __attribute__((noreturn));

/* For ops: messages for 'count' ranks, of which this is 'own'. Returns 0 or -ENOMEM. */
int ranks_init(struct ranks *ranks, unsigned count, unsigned own);
void ranks_fini(struct ranks *ranks);

/* Appends bytes to a message, to be filled in; NULL: out of memory. */
void *ranks_append(struct ranks_message *message, size_t bytes);
/* Makes room for this many bytes; the message keeps its contents. Returns 0 or -ENOMEM. */
int ranks_reserve(struct ranks_message *message, size_t bytes);

/* Reads from a message in order. */
struct ranks_reader {
	const uint8_t *at;
	size_t left;
};

/* The next bytes of a message, or NULL if fewer are left. */
const void *ranks_take(struct ranks_reader *reader, size_t bytes);

/* Sends all messages and receives the others' messages; empties 'out'. Returns 0 or -EIO. */
int ranks_exchange(struct ranks *ranks);
/* Ends all exchanges, because a message could not be built or is invalid. */
void ranks_fail(struct ranks *ranks, const char *why);

/* Each value becomes the maximum, or the sum, over all ranks. Returns 0, or -EIO with the values
 * unchanged. */
int ranks_max(struct ranks *ranks, uint64_t *value, unsigned values);
int ranks_sum(struct ranks *ranks, uint64_t *value, unsigned values);

/* Replaces the bytes with rank 0's. Returns 0 or -EIO. */
int ranks_share(struct ranks *ranks, void *bytes, size_t size);

/* One outcome for all ranks: 'result', 0 or negative, and the fault of the first rank that failed;
 * a rank number other than 0 precedes the text. 'ranks' may be NULL. */
int ranks_agree(struct ranks *ranks, int result, struct error *error);

/* Returns -EINVAL in all ranks if 'bytes' differ between them: "rank 2: another WHAT than rank 0's,
 * expected the same in all ranks". */
int ranks_compare(
	struct ranks *ranks, const void *bytes, size_t size, const char *what, struct error *error);
