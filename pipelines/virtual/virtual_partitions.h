/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A virtual fabric on several threads (docs/how-to/use-many-cores.md). The topology is cut into
 * partitions (topology.h) of switches with their hosts. Each partition is a struct virtual_fabric:
 * it shares the pointers of the whole fabric, but has its own event queue, packets, records and
 * sums, used by one thread at a time. It accesses only its own devices. The fabric itself is
 * partition 0.
 *
 * Partitions run in rounds, on threads (virtual_threads.h). A round is as long as the lookahead
 * (see below): nothing sent in a round can reach a different partition before the round ends, so
 * packets are exchanged between rounds (partition_message.h). Events at a device depend only on
 * what has reached it (docs/developer/architecture.md), so any number of partitions gives identical
 * results. */

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "partition_message.h"
#include "virtual/parallel/ranks.h"
#include "virtual_private.h"

/* Maximum length of a round of a fabric on several threads (docs/how-to/use-many-cores.md): a round
 * ends before anything sent in it can reach a different partition.
 *
 * A packet takes the delay of a cut link and the routing delay of the next switch. A credit frame
 * takes only the link delay, so it limits the round. However, a switch sends a credit frame when
 * the tail of a packet has left, and that time is known when the packet starts to leave. A
 * partition therefore lists these times, called ends, and reports the next one. */

struct virtual_lookahead {
	weft_time min_ps;    /* minimum time to reach a different partition */
	weft_time packet_ps; /* minimum time for packets; 'min_ps' if rounds may not be longer */
	weft_time frame_ps;  /* shortest transmission */
};

/* Computes the lookahead of a cut: 'of_device' maps devices to partitions, and channels that cross
 * are already marked. 'min_ps' becomes 0 if a cut link or an interaction of hosts has no delay. */
void virtual_lookahead_open(struct virtual_lookahead *lookahead,
	const struct virtual_fabric *fabric, const uint16_t *of_device);

/* Returns true if a round can be longer than 'min_ps', so that partitions must list ends. */
static inline bool virtual_lookahead_wants_ends(const struct virtual_lookahead *lookahead)
{
	return lookahead->packet_ps > lookahead->min_ps;
}

/* Returns the end of a round that starts at 'start'. 'listed' is the next listed end of all
 * partitions. If it is not after 'start', an end may occur at any time, so it takes 'min_ps'. */
weft_time virtual_lookahead_end(
	const struct virtual_lookahead *lookahead, weft_time start, weft_time listed);

/* Lists a transmission end at 'at': a credit frame to a different partition may be due then. */
static inline void virtual_ends_list(struct virtual_ends *ends, weft_time at)
{
	if (ends->count < VIRTUAL_ENDS_MAX)
		ends->at[ends->count++] = at;
	else if (at >= ends->unlisted_before)
		ends->unlisted_before = at + 1;
}

/* Removes the ends before 'from' and returns the earliest remaining one, or WEFT_TIME_NEVER if
 * there is none. Returns 'from' if an end that was not listed for lack of space may be ahead. */
weft_time virtual_ends_next(struct virtual_ends *ends, weft_time from);

#define VIRTUAL_WORKERS_MAX 256u

/* A partition's report at the end of a round. */
struct partition_summary {
	weft_time next;  /* earliest future event, including those it has sent */
	weft_time end;   /* next listed end of a transmission */
	uint64_t out;    /* packets in use, including those it has sent */
	uint64_t events; /* number in this round; for several partitions, the maximum */
	bool pause;      /* stop after this round */
	struct virtual_goal_state goal;
} __attribute__((aligned(64)));

#define VIRTUAL_TOLD_NOTHING \
	((struct partition_summary){.next = WEFT_TIME_NEVER, .end = WEFT_TIME_NEVER})

/* A partition's post to one other partition of the process at the end of a round: its summary of
 * the round, and the contents of the mailbox for that partition. It fits into one cache line, so
 * that the number that the reader polls arrives together with the rest. */
struct partition_header {
	atomic_uint number; /* number of posts of this partition; written last */
	uint32_t out, events;
	bool pause;
	weft_time next, end;
	struct partition_mailbox_contents contents;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct partition_header) == 64, "one cache line");

struct virtual_worker {
	/* Other threads also read the fields up to 'steps': no changing field shares their line. */
	struct virtual_fabric *fabric; /* this worker's partition */
	struct virtual_partitions *partitions;
	struct partition_mailbox
		*box[2]; /* [side][partitions]: a mailbox per partition; its own is unused */
	struct partition_header
		*post[2]; /* [side][own partitions]: a post per partition; its own is unused */
	uint32_t *steps;  /* worker 0: events until it requests a pause */
	struct partition_summary told[2]; /* its summary, by side */
	unsigned side;                    /* side being filled */
	atomic_uint claim; /* state and thread of the partition (virtual_threads.c) */
	atomic_uint posts; /* number of posts since creation */
	weft_time ran;     /* end of the last round */
	bool pause;
	struct run_worker use;
	uint64_t events_told;     /* part of use.events already reported */
	uint64_t critical_events; /* worker 0: sum of the rounds' maximum events per partition */
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct virtual_worker, told) == 64, "the others have a cache line");

/* Side used by the post with this number. */
#define VIRTUAL_SIDE_OF(number) (((number) + 1) % 2)

/* Relation of a thread to a partition. */
enum virtual_having {
	VIRTUAL_OTHERS,
	VIRTUAL_OWN,     /* run by the thread by default */
	VIRTUAL_CLAIMED, /* its own, and no other thread may run it now */
	VIRTUAL_ADOPTED  /* last run by the thread instead of the partition's own */
};

/* A thread that runs rounds (virtual_threads.h). */
struct virtual_thread {
	struct virtual_partitions *partitions;
	unsigned number;
	pthread_t id;
	struct virtual_worker *first; /* one of the thread's own partitions */
	clockid_t core_clock;         /* CPU-time clock of the thread */
	/* Set if the thread should stay out: the time that others have waited for it. */
	atomic_uint needless_us;
	unsigned looks;        /* unsuccessful polls so far */
	double since, waiting; /* start of the wait; total waiting time, in seconds */
	/* The thread being waited for (NULL: none), in which round of which partition, since when,
	 * and that thread's CPU time at that moment. */
	struct virtual_thread *culprit;
	const struct virtual_worker *noted_part;
	unsigned noted_post;
	double noted, noted_core;
	/* Duration and end of the last period for which it stayed out. */
	double out, joined;
	unsigned factor;
	uint8_t has[VIRTUAL_WORKERS_MAX]; /* by partition: enum virtual_having */
} __attribute__((aligned(64)));

/* Called for worker 0 after each round, when everything that the partitions wrote to this side is
 * complete; the other side is being filled. With several processes, only rank 0 calls it, and may
 * read what the others appended (virtual_ranks_rest()). */
typedef void virtual_round_fn(void *ctx, unsigned side);
/* Appends the data of a different rank's worker 0 for rank 0, likewise. Returns 0 or -ENOMEM. */
typedef int virtual_append_fn(void *ctx, unsigned side, struct ranks_message *message);

struct virtual_partitions {
	unsigned count; /* number of partitions of all ranks */
	unsigned own;   /* number of partitions of this process, which have the lowest numbers */
	struct ranks *ranks;             /* NULL: a single process */
	struct partition_summary others; /* combined summaries of the other ranks in this round */
	atomic_bool garbled;             /* a message from a different rank is invalid */
	uint64_t out_elsewhere;          /* packets in other ranks, after the run */
	struct run_worker
		*use_elsewhere; /* [count - own]: 'use' of other ranks' workers, after the run */
	uint16_t *of_device;    /* [switches + hosts]: partition of each device */
	struct virtual_lookahead lookahead;
	uint64_t out_max; /* packets up to which hosts need not wait for each other */
	weft_time limit;  /* limit of virtual_threads_run() */
	bool reached;
	uint64_t pauses;              /* number of the pause, or of the period between two pauses */
	virtual_round_fn *each_round; /* NULL: none */
	virtual_append_fn *append;    /* NULL: nothing to append */
	void *round_ctx;
	unsigned threads; /* number of threads used, at most 'own' */
	unsigned started; /* number of threads started, including the caller's, thread 0 */
	struct virtual_thread *thread; /* [threads] */
	/* Unsuccessful polls before a thread runs partitions of others, and before it sleeps. */
	unsigned help_looks, spin_looks;
	_Alignas(64) atomic_uint
		stopped; /* number of stopped partitions, until the next virtual_threads_run() */
	atomic_uint quit;
	atomic_uint exchanged; /* number of the last post exchanged between ranks */
	atomic_uint blamed;    /* number of the last post for which a thread was told to stay out */
	atomic_uint bell;      /* wakes sleeping threads */
	atomic_uint sleepers;
	struct virtual_worker worker[]; /* [own] */
};

/* Cuts the fabric into 'workers' partitions per rank ('ranks' NULL: one process), at least 2 in
 * total. Call before the run. Returns 0, or with error set -ENOMEM, or -EINVAL if the fabric cannot
 * be cut or uses a feature that requires one thread. */
int virtual_partitions_create(
	struct virtual_fabric *fabric, struct ranks *ranks, unsigned workers, struct error *error);
void virtual_partitions_destroy(struct virtual_fabric *fabric);

/* Merges the latest time and the failures of all partitions into the fabric, between rounds. */
void virtual_partitions_join(struct virtual_fabric *fabric);

/* Adds the partitions' measurements to the fabric's. Call between rounds. */
void virtual_partitions_gather(struct virtual_fabric *fabric);

/* Returns the mailbox for the device of an event. */
static inline struct partition_mailbox *partition_mailbox_for(
	struct virtual_fabric *fabric, uint32_t order)
{
	struct virtual_worker *worker = &fabric->partitions->worker[fabric->partition];

	return &worker->box[worker->side]
			   [fabric->partitions->of_device[virtual_device_of(fabric, order)]];
}

/* Returns the number of the fabric's partitions in this process; 1 if it is not cut. */
static inline unsigned virtual_partitions_count(const struct virtual_fabric *fabric)
{
	return fabric->partitions == NULL ? 1 : fabric->partitions->own;
}

/* Returns true if other processes have further partitions. */
static inline bool virtual_has_ranks(const struct virtual_fabric *fabric)
{
	return fabric->partitions != NULL && fabric->partitions->ranks != NULL;
}

/* Returns the number of partitions in all processes. */
static inline unsigned virtual_partitions_in_all(const struct virtual_fabric *fabric)
{
	return fabric->partitions == NULL ? 1 : fabric->partitions->count;
}

/* Formats the options that requested partitions: "--workers 4", "--mpi 2 --workers 4". */
#define VIRTUAL_PARTITIONS_TEXT 64
const char *virtual_partitions_text(
	const struct virtual_fabric *fabric, char text[VIRTUAL_PARTITIONS_TEXT]);

static inline struct virtual_fabric *virtual_partition_at(
	struct virtual_fabric *fabric, unsigned partition)
{
	return partition == 0 ? fabric : fabric->partitions->worker[partition].fabric;
}

/* Returns true if the device (a switch, or a host plus the number of switches) is in this rank. */
static inline bool virtual_is_ours(const struct virtual_fabric *fabric, uint32_t device)
{
	return fabric->partitions == NULL ||
	       fabric->partitions->of_device[device] < fabric->partitions->own;
}

/* Returns true if the port's device is in a partition of this process. */
static inline bool virtual_is_our_port(const struct virtual_fabric *fabric, struct topology_port at)
{
	return virtual_is_ours(
		fabric, at.kind == DEVICE_HOST ? fabric->switches + at.device : at.device);
}

/* Returns the partition of a device of this process. */
static inline struct virtual_fabric *virtual_partition_of(
	struct virtual_fabric *fabric, uint32_t device)
{
	return fabric->partitions == NULL
		       ? fabric
		       : virtual_partition_at(fabric, fabric->partitions->of_device[device]);
}

/* Returns true if the device is in a different partition. */
static inline bool virtual_is_elsewhere(const struct virtual_fabric *fabric, uint32_t device)
{
	return fabric->partitions != NULL &&
	       fabric->partitions->of_device[device] != fabric->partition;
}

/* Fails the partition because it cannot continue exactly as with one worker. */
static inline void virtual_refuse_partitions(struct virtual_fabric *fabric, const char *why)
{
	fabric->failed = true;
	fabric->refused = why;
}

/* Returns the number of packets that a partition has, or has sent in this round. */
uint64_t virtual_packets_of(const struct virtual_worker *worker);
/* Returns the number of packets in use in and between the partitions of this process. Call between
 * rounds. After a run, rank 0 counts the packets of all ranks. */
uint64_t virtual_packets_out(const struct virtual_fabric *fabric);
