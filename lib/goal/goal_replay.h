/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Replays a schedule (goal.h) with a state machine for each host, which has any number of ranks.
 * The driver, on either clock, passes the time and the arrivals. As in traffic.h, the replay
 * returns the message that is due:
 *
 *     goal_replay_poll(), goal_replay_accept()   while a message is due and the interface takes it
 *     goal_replay_deliver()                      for each message that has arrived completely
 *     goal_replay_next()                         when to poll again if nothing arrives
 *
 * An operation starts at the time when its last requirement was met, however late the driver polls.
 * Then
 *
 *     calc  waits for its CPU, which runs one calc at a time, in order of readiness
 *     send  is due. A host sends messages in the order in which they became due. A send ends when
 *           the interface has taken the message (an eager send), not when it arrives. A message
 *           longer than a piece is passed to the interface piece by piece. With 'interleave', the
 *           destinations of a host take turns, one piece each. A message between ranks of one host,
 *           or from a rank to itself, is copied, one at a time per host. When the copy is complete,
 *           the send ends and the message arrives
 *     recv  ends when it has a message: the first arrived one that matches (source, tag), else the
 *           first to arrive that no earlier recv takes. Lengths are not compared
 *
 * With 'overhead_ps', a CPU is busy for that time before a send is due, and after a recv has its
 * message. With 'gap_ps', the first pieces of two messages of a host are at least that far apart.
 * Both are parameters of LogGP (Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995).
 *
 * With 'rendezvous_bytes', a longer message between hosts is preceded by a request. The receiver
 * answers it when a recv takes it, and then the message is sent. Requests and answers are messages
 * without bytes, and use no CPU. A shorter message is eager: when a recv has it, the CPU copies it
 * out of a buffer at 'copy_rate_bps'.
 *
 * Ranks and tags are not transmitted. Messages from one host to another must be delivered in the
 * order in which they were accepted, as the interfaces guarantee: the n-th delivered is the n-th
 * accepted. 'nic' is ignored: a host has one interface. An 'irequires' is met when the other
 * operation starts; for a calc, when its CPU starts it.
 *
 * Nothing is allocated after goal_replay_create(). All calls for one host come from one thread;
 * hosts may have different threads.
 *
 * Several processes can replay a schedule together. Each has a replay of the whole schedule and
 * calls these functions for its own hosts. The process that receives a message also calls
 * goal_replay_accept_elsewhere(). At the end, goal_replay_end() and goal_replay_set_end() copy the
 * final states, so that each replay can be queried about all ranks. */

#include <stdbool.h>

#include "base/weft_time.h"
#include "goal.h"

struct goal_replay;

struct goal_replay_config {
	const struct goal *goal;   /* must outlive the replay */
	weft_time start;           /* start of operations without requirements */
	const uint16_t *host_of;   /* [ranks]: must outlive the replay; NULL: rank i is on host i */
	uint32_t hosts;            /* number of hosts; ignored if 'host_of' is NULL */
	uint64_t copy_rate_bps;    /* rate of copies; 0: they take no time */
	weft_time overhead_ps;     /* CPU time of each send and each recv: LogGP's o */
	weft_time gap_ps;          /* minimum time between messages of a host: LogGP's g */
	uint64_t piece_bytes;      /* maximum size that an interface takes at once; 0: any size */
	uint64_t rendezvous_bytes; /* longer messages use rendezvous; 0: no requests, no copies */
	bool interleave;           /* destinations take turns */
	bool spills; /* allocates with base/arrays.h: no fork(), and slow page faults */
	bool times;  /* goal_replay_times() will be called */
};

/* A message, a piece of one, or a request or answer. */
struct goal_message {
	uint32_t op; /* for goal_replay_accept_elsewhere() */
	uint32_t to; /* destination host */
	uint64_t bytes;
	bool first;       /* first piece of its message */
	weft_time due_ps; /* earliest time at which it can be sent */
};

/* Returns NULL with errno ENOMEM if out of memory. */
struct goal_replay *goal_replay_create(const struct goal_replay_config *config);
void goal_replay_destroy(struct goal_replay *replay);

/* Returns the host's message that is due at 'now', the same one until it is accepted, and true.
 * Returns false if none is due. */
bool goal_replay_poll(
	struct goal_replay *replay, uint32_t host, weft_time now, struct goal_message *message);
/* Call when the interface has taken the message or piece, before it can be delivered. */
void goal_replay_accept(struct goal_replay *replay, uint32_t host, weft_time now);
/* The same for the first piece of a message accepted in another process, which replays the sender.
 * The message is then also in flight here. Returns false if 'op' is not a send over the network, or
 * if too many were in flight. */
bool goal_replay_accept_elsewhere(struct goal_replay *replay, uint32_t op);
/* Call when the oldest message or piece in flight from host 'from' has arrived at 'host'. Returns
 * false if none is in flight. */
bool goal_replay_deliver(struct goal_replay *replay, uint32_t host, uint32_t from, weft_time now);

/* Returns when this host next acts without a delivery: the end of a calc or copy, or a past time if
 * a message is due. WEFT_TIME_NEVER: only after a delivery. */
weft_time goal_replay_next(const struct goal_replay *replay, uint32_t host);

/* Returns whether all operations of the host's ranks have ended. Call from the host's thread. */
bool goal_replay_host_done(const struct goal_replay *replay, uint32_t host);
/* Returns whether all operations have ended. */
bool goal_replay_done(const struct goal_replay *replay);
/* Returns when the latest operation so far ended. */
weft_time goal_replay_ended(const struct goal_replay *replay);
/* Returns the number of operations that have ended. */
uint64_t goal_replay_count(const struct goal_replay *replay);

/* The final state of a rank, for a copy of the replay in another process. */
struct goal_replay_end {
	weft_time ended_ps;
	uint32_t ended, posted, unexpected;
};
struct goal_replay_end goal_replay_end(const struct goal_replay *replay, uint32_t rank);
void goal_replay_set_end(
	struct goal_replay *replay, uint32_t rank, const struct goal_replay_end *end);
/* Returns the states of the rank's operations, one byte each, owned by the replay. */
uint8_t *goal_replay_states(struct goal_replay *replay, uint32_t rank, size_t *count);

/* When a send was due, and when its message arrived (WEFT_TIME_NEVER: it did not). Requires
 * 'times'. The caller may set these in a copy of the replay in another process. */
struct goal_replay_times {
	weft_time due_ps, arrived_ps;
};
struct goal_replay_times *goal_replay_times(struct goal_replay *replay, uint32_t send);

/* Replays without a network: messages arrive when they are sent, and time advances only when
 * nothing else can happen. */
void goal_replay_alone(struct goal_replay *replay);

/* Call at the end. Returns 0 if everything is done and no message is left. Otherwise returns
 * -EINVAL with the first recv without a message, the first waiting operation, or the first message
 * without a recv, with rank, label and line, and the number of unfinished operations. */
int goal_replay_diagnose(const struct goal_replay *replay, struct error *error);
