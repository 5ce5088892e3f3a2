/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A virtual fabric on several threads (docs/how-to/use-many-cores.md). The topology is cut into
 * parts (topology_cut.h), switches with their hosts. Each part is a struct virtual_fabric of its
 * own: it has the pointers of the whole fabric, but an event queue, packets, records and sums of
 * its own, which one thread at a time uses, and it only touches the devices of its part. The fabric
 * itself is part 0.
 *
 * Parts run in rounds (virtual_threads.h), on threads (virtual_threads.h). A round is as long as
 * the lookahead (virtual_lookahead.h): nothing that is sent in a round can reach another part
 * before its end, so packets between parts are exchanged between rounds (virtual_cross.h). All
 * events at a device depend only on what has reached it (docs/developer/architecture.md), so the
 * result has the same bytes for every number of parts. */

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "ranks.h"
#include "virtual_cross.h"
#include "virtual_lookahead.h"
#include "virtual_private.h"

#define VIRTUAL_WORKERS_MAX 256u

/* Said by a part at the end of a round. */
struct virtual_told {
	weft_time next;  /* nothing happens in it before, by all that it has and has sent */
	weft_time end;   /* the next listed end of a transmission (virtual_lookahead.h) */
	uint64_t out;    /* packets that it has or has sent */
	uint64_t events; /* of the round; of several parts: the most */
	bool pause;      /* all are to stop after this round */
	struct virtual_goal_state goal;
} __attribute__((aligned(64)));

#define VIRTUAL_TOLD_NOTHING \
	((struct virtual_told){.next = WEFT_TIME_NEVER, .end = WEFT_TIME_NEVER})

/* A part's post for one other part of the process, at the end of a round: its figures for the
 * round, and the contents of the box for that part. It is one cache line, so that the number which
 * the reader waits for arrives together with the rest. */
struct virtual_post {
	atomic_uint number; /* written last: the posts of this part until now */
	uint32_t out, events;
	bool pause;
	weft_time next, end;
	struct virtual_box_contents contents;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct virtual_post) == 64, "one cache line");

struct virtual_worker {
	/* Other threads read the fields up to 'steps' as well: no field that changes shares their
	 * cache line. */
	struct virtual_fabric *fabric; /* its part */
	struct virtual_parts *parts;
	struct virtual_box *box[2];   /* [side][parts]: for each part, its own unused */
	struct virtual_post *post[2]; /* [side][own parts]: likewise */
	uint32_t *steps;              /* worker 0: events until it asks for a pause */
	struct virtual_told told[2];  /* by side */
	unsigned side;                /* being filled */
	atomic_uint claim;            /* the thread that has the part (virtual_threads.c) */
	atomic_uint posts;            /* since creation */
	weft_time ran;                /* up to there */
	bool pause;
	struct run_worker use;
	uint64_t events_told;     /* of use.events */
	uint64_t critical_events; /* worker 0: of the busiest part in each round, the sum */
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct virtual_worker, told) == 64, "the others have a cache line");

/* Of the post with this number. */
#define VIRTUAL_SIDE_OF(number) (((number) + 1) % 2)

/* How a thread is related to a part. */
enum virtual_having {
	VIRTUAL_OTHERS,
	VIRTUAL_OWN,     /* it runs it by default */
	VIRTUAL_CLAIMED, /* the same, and no other thread may run it now */
	VIRTUAL_ADOPTED  /* it ran the part last, because the part's own thread did not come */
};

/* One that runs rounds (virtual_threads.h). */
struct virtual_thread {
	struct virtual_parts *parts;
	unsigned number;
	pthread_t id;
	struct virtual_worker *first; /* a part of its own */
	clockid_t core_clock;         /* its time on cores */
	atomic_uint needless_us;      /* it should stay out: others have waited this long for it */
	unsigned looks;               /* unsuccessful, so far */
	double since, waiting;        /* of the first of them; total wait, in seconds */
	/* The thread that it waits for, in which round of which part, since when, and that thread's
	 * CPU time at that moment. NULL: none. */
	struct virtual_thread *culprit;
	const struct virtual_worker *noted_part;
	unsigned noted_post;
	double noted, noted_core;
	/* How long it last stayed out, and when that ends. */
	double out, joined;
	unsigned factor;
	uint8_t has[VIRTUAL_WORKERS_MAX]; /* enum virtual_having, of each part */
} __attribute__((aligned(64)));

/* Worker 0, after each round: what all parts have put into this side of something is complete. The
 * other side is being filled. In several processes rank 0 calls it, and may read what the others
 * have appended (virtual_ranks_rest()). */
typedef void virtual_round_fn(void *ctx, unsigned side);
/* Worker 0 of another rank, likewise: appends it for rank 0. 0 or -ENOMEM. */
typedef int virtual_append_fn(void *ctx, unsigned side, struct ranks_message *message);

struct virtual_parts {
	unsigned count;                   /* of all ranks */
	unsigned own;                     /* of this process, numbers below it */
	struct ranks *ranks;              /* NULL: there is one process */
	struct virtual_told others;       /* by other ranks, all together, in this round */
	atomic_bool garbled;              /* a message of theirs is none */
	uint64_t out_elsewhere;           /* packets of other ranks, after the run */
	struct run_worker *use_elsewhere; /* [count - own], likewise */
	uint16_t *of_device;              /* [switches + hosts]: its part */
	struct virtual_lookahead lookahead;
	uint64_t out_max; /* more packets than this: hosts would have to wait for each other */
	weft_time limit;  /* of virtual_threads_run() */
	bool reached;
	uint64_t pauses;              /* even while all threads wait */
	virtual_round_fn *each_round; /* NULL: none */
	virtual_append_fn *append;    /* NULL: nothing */
	void *round_ctx;
	unsigned threads;              /* that parts are distributed over, at most 'own' */
	unsigned started;              /* of these; thread 0 is the caller's */
	struct virtual_thread *thread; /* [threads] */
	/* Unsuccessful polls before a thread runs parts of others, and before it sleeps. */
	unsigned help_looks, spin_looks;
	_Alignas(64) atomic_uint stopped; /* parts, until the next virtual_threads_run() */
	atomic_uint quit;
	atomic_uint exchanged; /* the last post that ranks have exchanged */
	atomic_uint blamed;    /* the last post for which a thread was sent out */
	atomic_uint bell;      /* wakes sleeping threads */
	atomic_uint sleepers;
	struct virtual_worker worker[]; /* [own] */
};

/* Cuts the fabric into 'workers' parts for each rank ('ranks' NULL: for this process), 2 or more in
 * all, before its run. -EINVAL if it cannot be cut, or if it has a feature that one thread is
 * needed for: the text names it. -ENOMEM. */
int virtual_parts_create(
	struct virtual_fabric *fabric, struct ranks *ranks, unsigned workers, struct fault *fault);
void virtual_parts_destroy(struct virtual_fabric *fabric);

/* The latest time and the failures of all parts become the fabric's. Between rounds. */
void virtual_parts_join(struct virtual_fabric *fabric);

/* Adds what parts have measured to the fabric's own figures. Between rounds. */
void virtual_parts_gather(struct virtual_fabric *fabric);

/* The box for the device of an event. */
static inline struct virtual_box *virtual_box_for(struct virtual_fabric *fabric, uint32_t order)
{
	struct virtual_worker *worker = &fabric->parts->worker[fabric->part];

	return &worker->box[worker->side]
			   [fabric->parts->of_device[virtual_device_of(fabric, order)]];
}

/* Parts of a fabric in this process: itself if it is not cut. */
static inline unsigned virtual_parts_count(const struct virtual_fabric *fabric)
{
	return fabric->parts == NULL ? 1 : fabric->parts->own;
}

/* True if other processes have other parts. */
static inline bool virtual_has_ranks(const struct virtual_fabric *fabric)
{
	return fabric->parts != NULL && fabric->parts->ranks != NULL;
}

/* The same in all processes. */
static inline unsigned virtual_parts_in_all(const struct virtual_fabric *fabric)
{
	return fabric->parts == NULL ? 1 : fabric->parts->count;
}

/* How the user asked for them, for messages: "--workers 4", "--mpi 2 --workers 4". */
#define VIRTUAL_PARTS_TEXT 64
const char *virtual_parts_text(const struct virtual_fabric *fabric, char text[VIRTUAL_PARTS_TEXT]);

static inline struct virtual_fabric *virtual_part_at(struct virtual_fabric *fabric, unsigned part)
{
	return part == 0 ? fabric : fabric->parts->worker[part].fabric;
}

/* True if the switch, or the host by the number of switches and its own, is in a part of this
 * process. */
static inline bool virtual_is_ours(const struct virtual_fabric *fabric, uint32_t device)
{
	return fabric->parts == NULL || fabric->parts->of_device[device] < fabric->parts->own;
}

/* The part of such a device, which is ours. */
static inline struct virtual_fabric *virtual_part_of(struct virtual_fabric *fabric, uint32_t device)
{
	return fabric->parts == NULL ? fabric
				     : virtual_part_at(fabric, fabric->parts->of_device[device]);
}

/* True if the device belongs to another part. */
static inline bool virtual_is_elsewhere(const struct virtual_fabric *fabric, uint32_t device)
{
	return fabric->parts != NULL && fabric->parts->of_device[device] != fabric->part;
}

/* The run of a part cannot go on as it would with one worker. */
static inline void virtual_refuse_parts(struct virtual_fabric *fabric, const char *why)
{
	fabric->failed = true;
	fabric->refused = why;
}

/* Packets that a part has, or has sent in this round. */
uint64_t virtual_packets_of(const struct virtual_worker *worker);
/* Packets that are out: in all parts of this process, and between them. Between rounds; after a run
 * rank 0 counts those of all ranks. */
uint64_t virtual_packets_out(const struct virtual_fabric *fabric);
