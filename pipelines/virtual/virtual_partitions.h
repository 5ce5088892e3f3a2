/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A virtual fabric on several threads (docs/how-to/use-many-cores.md). The topology is cut into
 * partitions (topology.h), switches with their hosts. Each partition is a struct virtual_fabric
 * of its own: it has the pointers of the whole fabric, but its own event queue, packets, records
 * and sums, which are used by one thread at a time. It only touches the devices of its partition.
 * The fabric itself is partition 0.
 *
 * Partitions run in rounds, on threads (virtual_threads.h). A round is as long as the lookahead
 * (virtual_partitions.h): nothing sent in a round can reach another partition before its end, so
 * packets between partitions are exchanged between rounds (partition_message.h). All events at a
 * device depend only on what has reached it (docs/developer/architecture.md), so the result has the
 * same bytes for every number of partitions. */

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "partition_message.h"
#include "virtual/parallel/ranks.h"
#include "virtual_private.h"

/* How long a round of a fabric on several threads may be (virtual_partitions.h,
 * docs/how-to/use-many-cores.md): it ends before anything sent in it can reach another partition.
 *
 * A packet needs the delay of a cut link and the routing delay of the switch behind it. A credit
 * frame needs the delay alone, so it limits the round. But a switch sends it when the tail of a
 * packet has left, and that time is known when the packet starts to leave. So a partition lists
 * these times, the ends, and reports the next one. */

struct virtual_lookahead {
	weft_time min_ps;    /* nothing reaches another partition sooner */
	weft_time packet_ps; /* no packet crosses earlier; 'min_ps' if rounds may not be longer */
	weft_time frame_ps;  /* the shortest transmission */
};

/* For a cut: 'of_device' has the partition of each device, and the channels know whether they
 * cross. 'min_ps' becomes 0 if a link without delay is cut, or if hosts interact without delay. */
void virtual_lookahead_open(struct virtual_lookahead *lookahead,
	const struct virtual_fabric *fabric, const uint16_t *of_device);

/* True if a round can be longer than 'min_ps'. Then partitions must list ends. */
static inline bool virtual_lookahead_wants_ends(const struct virtual_lookahead *lookahead)
{
	return lookahead->packet_ps > lookahead->min_ps;
}

/* The end of a round that starts at 'start'. 'listed' is the next listed end of all partitions. If
 * that is not after 'start', an end may occur at any time, and the round takes 'min_ps'. */
weft_time virtual_lookahead_end(
	const struct virtual_lookahead *lookahead, weft_time start, weft_time listed);

/* Lists a transmission that ends at 'at': a credit frame for another partition may be due then. */
static inline void virtual_ends_list(struct virtual_ends *ends, weft_time at)
{
	if (ends->count < VIRTUAL_ENDS_MAX)
		ends->at[ends->count++] = at;
	else if (at >= ends->unlisted_before)
		ends->unlisted_before = at + 1;
}

/* Drops the ends before 'from' and returns the earliest of the rest; 'from' if an end that was
 * dropped for lack of room may still lie ahead, WEFT_TIME_NEVER if there is none. */
weft_time virtual_ends_next(struct virtual_ends *ends, weft_time from);

#define VIRTUAL_WORKERS_MAX 256u

/* A partition's report at the end of a round. */
struct partition_summary {
	weft_time next;  /* the earliest future event among all that it has and has sent */
	weft_time end;   /* the next listed end of a transmission (virtual_partitions.h) */
	uint64_t out;    /* packets that it has or has sent */
	uint64_t events; /* in this round; over several partitions, the highest number */
	bool pause;      /* all stop after this round */
	struct virtual_goal_state goal;
} __attribute__((aligned(64)));

#define VIRTUAL_TOLD_NOTHING \
	((struct partition_summary){.next = WEFT_TIME_NEVER, .end = WEFT_TIME_NEVER})

/* A partition's post for one other partition of the process, at the end of a round: its figures for
 * the round, and the contents of the mailbox for that partition. It is one cache line, so the
 * number that the reader waits for arrives together with the rest. */
struct partition_header {
	atomic_uint number; /* written last: the number of this partition's posts */
	uint32_t out, events;
	bool pause;
	weft_time next, end;
	struct partition_mailbox_contents contents;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct partition_header) == 64, "one cache line");

struct virtual_worker {
	/* Other threads also read the fields up to 'steps': no field that changes shares their
	 * cache line. */
	struct virtual_fabric *fabric; /* its partition */
	struct virtual_partitions *partitions;
	struct partition_mailbox
		*box[2]; /* [side][partitions]: for each partition, its own unused */
	struct partition_header *post[2]; /* [side][own partitions]: likewise */
	uint32_t *steps;                  /* worker 0: events until it asks for a pause */
	struct partition_summary told[2]; /* by side */
	unsigned side;                    /* being filled */
	atomic_uint claim; /* the thread that has the partition (virtual_threads.c) */
	atomic_uint posts; /* since creation */
	weft_time ran;     /* up to there */
	bool pause;
	struct run_worker use;
	uint64_t events_told;     /* how many of use.events it has reported */
	uint64_t critical_events; /* worker 0: sum over the rounds of the busiest partition's events
				   */
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct virtual_worker, told) == 64, "the others have a cache line");

/* Side of the post with this number. */
#define VIRTUAL_SIDE_OF(number) (((number) + 1) % 2)

/* A thread's relation to a partition. */
enum virtual_having {
	VIRTUAL_OTHERS,
	VIRTUAL_OWN,     /* it runs it by default */
	VIRTUAL_CLAIMED, /* the same, and no other thread may run it now */
	VIRTUAL_ADOPTED  /* it ran the partition last, because the partition's own thread did not
			    come */
};

/* A thread that runs rounds (virtual_threads.h). */
struct virtual_thread {
	struct virtual_partitions *partitions;
	unsigned number;
	pthread_t id;
	struct virtual_worker *first; /* a partition of its own */
	clockid_t core_clock;         /* its time on cores */
	/* It should not take part: others have waited this long for it. */
	atomic_uint needless_us;
	unsigned looks;        /* unsuccessful, so far */
	double since, waiting; /* start of the first poll; total wait, in seconds */
	/* The thread being waited for, in which round of which partition, since when, and the CPU
	 * time of that thread at that moment. NULL: none. */
	struct virtual_thread *culprit;
	const struct virtual_worker *noted_part;
	unsigned noted_post;
	double noted, noted_core;
	/* How long it last stayed out, and when that period ends. */
	double out, joined;
	unsigned factor;
	uint8_t has[VIRTUAL_WORKERS_MAX]; /* enum virtual_having, of each partition */
} __attribute__((aligned(64)));

/* For worker 0, called after each round: everything that the partitions put into this side is
 * complete. The other side is being filled. In several processes rank 0 calls it, and may read what
 * the others appended (virtual_ranks_rest()). */
typedef void virtual_round_fn(void *ctx, unsigned side);
/* The same for worker 0 of another rank: appends it for rank 0. Returns 0 or -ENOMEM. */
typedef int virtual_append_fn(void *ctx, unsigned side, struct ranks_message *message);

struct virtual_partitions {
	unsigned count;      /* partitions of all ranks */
	unsigned own;        /* partitions of this process; their numbers are below it */
	struct ranks *ranks; /* NULL: there is one process */
	struct partition_summary others;  /* by other ranks in total, in this round */
	atomic_bool garbled;              /* a message of theirs is none */
	uint64_t out_elsewhere;           /* packets of other ranks, after the run */
	struct run_worker *use_elsewhere; /* [count - own], likewise */
	uint16_t *of_device;              /* [switches + hosts]: its partition */
	struct virtual_lookahead lookahead;
	uint64_t out_max; /* with more packets, hosts would wait for each other */
	weft_time limit;  /* as given to virtual_threads_run() */
	bool reached;
	uint64_t pauses;              /* even while all threads wait */
	virtual_round_fn *each_round; /* NULL: none */
	virtual_append_fn *append;    /* NULL: nothing */
	void *round_ctx;
	unsigned threads;              /* that partitions are distributed over, at most 'own' */
	unsigned started;              /* threads that were started; thread 0 is the caller's */
	struct virtual_thread *thread; /* [threads] */
	/* Unsuccessful polls before a thread runs partitions of others, and before it sleeps. */
	unsigned help_looks, spin_looks;
	_Alignas(64) atomic_uint stopped; /* partitions, until the next virtual_threads_run() */
	atomic_uint quit;
	atomic_uint exchanged; /* the last post that ranks have exchanged */
	atomic_uint blamed;    /* the last post for which a thread was told to stay out */
	atomic_uint bell;      /* wakes sleeping threads */
	atomic_uint sleepers;
	struct virtual_worker worker[]; /* [own] */
};

/* Cuts the fabric into 'workers' partitions for each rank ('ranks' NULL: for this process), 2 or
 * more in all, before its run. Returns -EINVAL if it cannot be cut, or if it has a feature that
 * needs one thread: the text names it. May return -ENOMEM. */
int virtual_partitions_create(
	struct virtual_fabric *fabric, struct ranks *ranks, unsigned workers, struct error *error);
void virtual_partitions_destroy(struct virtual_fabric *fabric);

/* Merges the latest time and the failures of all partitions into the fabric. Between rounds. */
void virtual_partitions_join(struct virtual_fabric *fabric);

/* Adds the partitions' measurements to the fabric's own figures. Between rounds. */
void virtual_partitions_gather(struct virtual_fabric *fabric);

/* The mailbox for the device of an event. */
static inline struct partition_mailbox *partition_mailbox_for(
	struct virtual_fabric *fabric, uint32_t order)
{
	struct virtual_worker *worker = &fabric->partitions->worker[fabric->partition];

	return &worker->box[worker->side]
			   [fabric->partitions->of_device[virtual_device_of(fabric, order)]];
}

/* Number of partitions of a fabric in this process: 1 if it is not cut. */
static inline unsigned virtual_partitions_count(const struct virtual_fabric *fabric)
{
	return fabric->partitions == NULL ? 1 : fabric->partitions->own;
}

/* True if other processes have other partitions. */
static inline bool virtual_has_ranks(const struct virtual_fabric *fabric)
{
	return fabric->partitions != NULL && fabric->partitions->ranks != NULL;
}

/* The same in all processes. */
static inline unsigned virtual_partitions_in_all(const struct virtual_fabric *fabric)
{
	return fabric->partitions == NULL ? 1 : fabric->partitions->count;
}

/* How the user requested them, for messages: "--workers 4", "--mpi 2 --workers 4". */
#define VIRTUAL_PARTITIONS_TEXT 64
const char *virtual_partitions_text(
	const struct virtual_fabric *fabric, char text[VIRTUAL_PARTITIONS_TEXT]);

static inline struct virtual_fabric *virtual_partition_at(
	struct virtual_fabric *fabric, unsigned partition)
{
	return partition == 0 ? fabric : fabric->partitions->worker[partition].fabric;
}

/* True if the switch, or the host (numbered after the switches), is in a partition of this
 * process. */
static inline bool virtual_is_ours(const struct virtual_fabric *fabric, uint32_t device)
{
	return fabric->partitions == NULL ||
	       fabric->partitions->of_device[device] < fabric->partitions->own;
}

/* The partition of such a device, which belongs to this process. */
static inline struct virtual_fabric *virtual_partition_of(
	struct virtual_fabric *fabric, uint32_t device)
{
	return fabric->partitions == NULL
		       ? fabric
		       : virtual_partition_at(fabric, fabric->partitions->of_device[device]);
}

/* True if the device belongs to another partition. */
static inline bool virtual_is_elsewhere(const struct virtual_fabric *fabric, uint32_t device)
{
	return fabric->partitions != NULL &&
	       fabric->partitions->of_device[device] != fabric->partition;
}

/* The partition can no longer continue as it would with one worker. */
static inline void virtual_refuse_partitions(struct virtual_fabric *fabric, const char *why)
{
	fabric->failed = true;
	fabric->refused = why;
}

/* Packets that a partition has, or has sent in this round. */
uint64_t virtual_packets_of(const struct virtual_worker *worker);
/* Packets in use: in all partitions of this process, and between them. Between rounds; after a run
 * rank 0 counts all ranks' packets. */
uint64_t virtual_packets_out(const struct virtual_fabric *fabric);
