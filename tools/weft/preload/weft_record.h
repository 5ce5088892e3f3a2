/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Private to the recorder (weft_record.c). */

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A pending request. */
struct pending {
	MPI_Request request;
	uint32_t label, after;
	int recv, type_bytes;
	MPI_Comm comm;
};

struct record {
	FILE *out;
	int incomplete; /* memory ran out, so the text is incomplete */
	char *text;
	size_t length;
	uint32_t labels, last;     /* operation on which the next one depends; 0: none */
	uint64_t left_ns, done_ns; /* CPU time when MPI was last left; since the last calc */
	struct pending *pending;
	size_t count, room;
	uint16_t sequence; /* number of collectives */
	char missed[256];
};

extern struct record record;

/* Call before and after the body of an MPI function. record_leave() returns 'result'. */
void record_enter(void);
int record_leave(int result);
/* Adds the computing time since MPI was last left. */
void record_account(void);
/* Writes the accumulated computing time as a calc operation. */
void record_flush(void);

int record_world_rank(MPI_Comm comm, int rank);
/* Returns the number of a communicator; 0: MPI_COMM_WORLD. */
uint32_t record_number_of(MPI_Comm comm);
uint32_t record_tag_of(MPI_Comm comm, int tag);
uint64_t record_bytes_of(int count, MPI_Datatype type);

/* Writes a send or recv that depends on the operation 'after'. Returns its label. */
uint32_t record_put(
	uint32_t label, const char *text, uint64_t bytes, int peer, uint32_t tag, uint32_t after);
/* Makes the next operation depend on all of these. */
void record_join(const uint32_t *label, unsigned count);
void record_put_blocking(const char *text, uint64_t bytes, int peer, uint32_t tag);

/* Prints the functions that were called but not recorded. */
void record_name_missed(int rank);
