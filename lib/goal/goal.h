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
 * The duration of a calc is in nanoseconds. 'requires': starts after the other operation has ended;
 * 'irequires': after it has started. In a recv, source -1 and tag -1 match any. Labels are optional
 * and local to their rank; they are words or numbers. tag, cpu and nic are optional (0). Comments
 * start with // or #, or use the C form. A statement ends with its line, with ';' or with the
 * rank's '}'. A rank that does not appear has no operations.
 *
 * The binary form that txt2bin writes is also read, and recognised by its first bytes.
 *
 * Stricter than txt2bin: no rank appears twice, each label is defined once (in any order), and
 * dependencies have no cycles.
 *
 * A schedule is constant once read, so any thread may read it. base/arrays.h allocates its large
 * arrays. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"

#define GOAL_RANKS_MAX   65534
#define GOAL_OPS_MAX     (1u << 28)
#define GOAL_EDGES_MAX   (1u << 29)
#define GOAL_FILE_MAX    ((size_t)1 << 34)
#define GOAL_TEXT_MAX    ((size_t)1 << 30) /* for matrices and flows */
#define GOAL_BYTES_MAX   ((uint64_t)1 << 40)
#define GOAL_CALC_MAX_NS ((uint64_t)1 << 63)
#define GOAL_CPU_MAX     UINT16_MAX
#define GOAL_ANY         UINT32_MAX /* any source of a recv */

enum goal_kind { GOAL_SEND, GOAL_RECV, GOAL_CALC };

struct goal_op {
	uint64_t amount; /* bytes, or nanoseconds of a calc */
	uint32_t peer;   /* rank, or GOAL_ANY */
	uint32_t tag;
	uint32_t label; /* offset in 'labels' */
	uint32_t line;  /* line in the file */
	uint32_t waits; /* number of incoming edges */
	uint16_t cpu;   /* index among the CPUs of the rank, in ascending order */
	uint8_t kind;   /* enum goal_kind */
	bool any_tag;   /* recv only */
};

struct goal_rank {
	uint32_t first, count; /* its operations, in file order */
};

/* An edge: the waiting operation, and the event of the other operation for which it waits. */
#define GOAL_EDGE_STARTED 0x80000000u /* set for 'irequires' */

/* One of the schedules that goal_join() merged. */
struct goal_name {
	char name[64];
	uint32_t first_rank;
};

struct goal {
	uint32_t ranks, ops, edges;
	struct goal_rank *rank;
	struct goal_op *op;
	uint32_t *first_edge; /* [ops + 1]: first edge of each operation, and the end */
	uint32_t *edge;       /* waiting operation, with GOAL_EDGE_STARTED */
	char *labels;
	uint32_t nic_line;      /* line of the first operation with a non-zero nic; 0: none */
	struct goal_name *part; /* [parts], by first rank */
	uint32_t parts;         /* 0: not joined */
	uint32_t starts;        /* operations that goal_join() added */
};

/* Return NULL with errno and 'error' set: "ORIGIN:LINE:COLUMN: what is wrong, what was expected",
 * or "ORIGIN: rank R, operation N: …" for the binary form. */
struct goal *goal_parse(const char *text, size_t length, const char *origin, struct error *error);
struct goal *goal_load(const char *path, struct error *error);
void goal_destroy(struct goal *goal);

/* Returns "" if there is no label. */
static inline const char *goal_label(const struct goal *goal, uint32_t op)
{
	return goal->labels + goal->op[op].label;
}

/* Writes "rank 3", or "a: rank 3" for rank 3 of part a, to 'text', which is returned. */
#define GOAL_RANK_TEXT 96
const char *goal_rank_text(const struct goal *goal, uint32_t rank, char text[GOAL_RANK_TEXT]);
/* Returns the number of a rank within its part. */
uint32_t goal_rank_number(const struct goal *goal, uint32_t rank);

/* Returns "send", "recv" or "calc". */
const char *goal_kind_name(enum goal_kind kind);

/* Merges schedules that run concurrently into one. Ranks are numbered consecutively; operation
 * numbers and labels stay separate. */

struct goal_part {
	const struct goal *goal;
	const char *name;
	uint64_t delay_ns; /* delay of its operations, as a calc 'start' */
};

/* Returns a schedule for goal_destroy(), or NULL with errno and 'error' set: EINVAL if ranks,
 * operations or dependencies exceed the limits of a schedule, or ENOMEM. */
struct goal *goal_join(const struct goal_part *part, uint32_t parts, struct error *error);

/* The matrix of an all-to-allv: a file of lines SRC DST BYTES with rank numbers; '#' starts a
 * comment. If a pair has several lines, the last one applies; pairs without a line have 0. */

#define GOAL_MATRIX_RANKS_MAX 8192

/* Allocates '*matrix', indexed by [from * ranks + to], and reads it. The caller frees it, even
 * after an error. Returns 0, or a negative errno with 'error' set. */
int goal_matrix_load(const char *path, uint32_t ranks, uint64_t **matrix, struct error *error);
/* The same for a 0-terminated text in memory, which is modified. 'matrix' must be zeroed. */
int goal_matrix_parse(char *text, size_t length, const char *path, uint32_t ranks, uint64_t *matrix,
	struct error *error);

/* Reads the binary format of LogGOPSim's txt2bin, for goal_parse.c. */

/* Returns whether the bytes start like that format and not like GOAL text. */
bool goal_binary_is(const char *bytes, size_t length);
/* Fills a zeroed schedule. Returns 0, -ENOMEM or -EINVAL; call goal_destroy() in every case. */
int goal_binary_read(struct goal *goal, const char *bytes, size_t length, const char *origin,
	struct error *error);
