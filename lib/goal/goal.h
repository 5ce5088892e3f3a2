/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Schedules in GOAL (Group Operation Assembly Language; Hoefler, Siebert, Lumsdaine, ICPP 2009), in
 * the text form that LogGOPSim's txt2bin and ATLAHS read and write:
 *
 *     num_ranks 2
 *     rank 0 {
 *     l1: calc 100 cpu 0
 *     l2: send 4096b to 1 tag 5 cpu 0 nic 0
 *     l2 requires l1
 *     }
 *     rank 1 {
 *     l1: recv 4096b from -1 tag -1
 *     }
 *
 * calc is in nanoseconds. 'requires': begins after the other has ended; 'irequires': after it has
 * begun. A recv from -1 takes any source, tag -1 any tag. Labels are optional and local to their
 * rank; they are words or numbers. tag, cpu and nic are optional (0). Comments are //, # and the C
 * form. A statement ends with its line, with ';' or with the rank's '}'. A rank that does not
 * appear has no operations.
 *
 * The binary form that txt2bin writes is read as well, and recognised by its first bytes.
 *
 * Stricter than txt2bin: no rank appears twice, labels are defined once, in any order, and
 * dependencies have no cycle.
 *
 * A schedule is constant once read; any thread may read it. Its large arrays come from
 * base/spill.h. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"

#define GOAL_RANKS_MAX   65534
#define GOAL_OPS_MAX     (1u << 28)
#define GOAL_EDGES_MAX   (1u << 29)
#define GOAL_FILE_MAX    ((size_t)1 << 34)
#define GOAL_TEXT_MAX    ((size_t)1 << 30) /* matrices, flows */
#define GOAL_BYTES_MAX   ((uint64_t)1 << 40)
#define GOAL_CALC_MAX_NS ((uint64_t)1 << 63)
#define GOAL_CPU_MAX     UINT16_MAX
#define GOAL_ANY         UINT32_MAX /* source of a recv */

enum goal_kind { GOAL_SEND, GOAL_RECV, GOAL_CALC };

struct goal_op {
	uint64_t amount; /* bytes; nanoseconds for a calc */
	uint32_t peer;   /* rank; GOAL_ANY: any */
	uint32_t tag;
	uint32_t label; /* goal_label() */
	uint32_t line;  /* line in the file */
	uint32_t waits; /* incoming edges */
	uint16_t cpu;   /* the i-th that the rank's file names, in ascending order */
	uint8_t kind;   /* enum goal_kind */
	bool any_tag;   /* recv only */
};

struct goal_rank {
	uint32_t first, count; /* its operations, in the order of the file */
};

/* An edge: the operation that waits, and the event of the other one that it waits for. */
#define GOAL_EDGE_STARTED 0x80000000u /* 'irequires' */

/* A schedule joined from several (goal.h). */
struct goal_name {
	char name[64];
	uint32_t first_rank;
};

struct goal {
	uint32_t ranks, ops, edges;
	struct goal_rank *rank;
	struct goal_op *op;
	uint32_t *first_edge; /* operation i has edge[first_edge[i]] .. [first_edge[i + 1] - 1] */
	uint32_t *edge;       /* operation, GOAL_EDGE_STARTED */
	char *labels;
	uint32_t nic_line;      /* line of the first operation with a nic other than 0; 0: none */
	struct goal_name *part; /* [parts] by first rank */
	uint32_t parts;         /* 0: it was not joined */
	uint32_t starts;        /* operations that goal_join() added */
};

/* Returns NULL with errno and error set: "ORIGIN:LINE:COLUMN: what is wrong, what was expected";
 * for the binary form "ORIGIN: rank R, operation N: …". */
struct goal *goal_parse(const char *text, size_t length, const char *origin, struct error *error);
struct goal *goal_load(const char *path, struct error *error);
void goal_destroy(struct goal *goal);

/* "" without a label. */
static inline const char *goal_label(const struct goal *goal, uint32_t op)
{
	return goal->labels + goal->op[op].label;
}

/* For messages: "rank 3", or "a: rank 3" for rank 3 of part a. */
#define GOAL_RANK_TEXT 96
const char *goal_rank_text(const struct goal *goal, uint32_t rank, char text[GOAL_RANK_TEXT]);
/* Number of a rank in its part. */
uint32_t goal_rank_number(const struct goal *goal, uint32_t rank);

/* "send", "recv", "calc" */
const char *goal_kind_name(enum goal_kind kind);

/* Merges schedules that run concurrently into one: ranks are numbered consecutively, and the
 * numbers and labels of operations stay separate. */

struct goal_part {
	const struct goal *goal;
	const char *name;
	uint64_t delay_ns; /* its operations start this much later, after a calc 'start' */
};

/* The caller owns the result. Returns NULL with errno and error set: EINVAL if ranks, operations or
 * dependencies exceed the limits of a schedule; ENOMEM. */
struct goal *goal_join(const struct goal_part *part, uint32_t parts, struct error *error);

/* The matrix of an all-to-allv: a file of lines SRC DST BYTES, ranks by number, '#' for comments.
 * If a pair has several lines, the last one counts; pairs without a line have 0. */

#define GOAL_MATRIX_RANKS_MAX 8192

/* [from * ranks + to]. The caller frees '*matrix' in every case. Returns 0, or a negative errno
 * with error set. */
int goal_matrix_load(const char *path, uint32_t ranks, uint64_t **matrix, struct error *error);
/* The same for a text in memory that ends with a 0 byte, which is changed; 'matrix' has only
 * zeros. */
int goal_matrix_parse(char *text, size_t length, const char *path, uint32_t ranks, uint64_t *matrix,
	struct error *error);

/* Reads schedules in the binary format of LogGOPSim's txt2bin. For goal_parse.c. */

/* True if the bytes are not GOAL text but start like that format. */
bool goal_binary_is(const char *bytes, size_t length);
/* Fills a zeroed schedule; call goal_destroy() even after an error. Returns 0, -ENOMEM, or -EINVAL
 * with error set. */
int goal_binary_read(struct goal *goal, const char *bytes, size_t length, const char *origin,
	struct error *error);
