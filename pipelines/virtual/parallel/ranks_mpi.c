/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Ranks over MPI. A message takes two steps, because the receiver does not know its length: first
 * the length and the first bytes, then the rest, if any. The messages of a round are short enough
 * for one step (some 40,000 bytes with 3,456 hosts in two ranks). */

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "ranks.h"

/* Data size of the first step in bytes. With MPI's header, it stays below the size from which Open
 * MPI uses the rendezvous protocol: 65,536 over TCP and, between processes of one machine,
 * EAGER_NAME (default 4,096). */
#define FIRST_BYTES 60000u
#define EAGER_NAME  "OMPI_MCA_btl_vader_eager_limit"
#define EAGER_BYTES "65536"

/* After this many unsuccessful tests, some 1 ms or, with fewer CPUs than ranks, 100 us, a rank
 * sleeps before each further test. On a busy machine, it then gets a core back much sooner than
 * after yielding, although it may wait for 4 ms. Open MPI yields in each test if there are fewer
 * cores than ranks, unless YIELD_NAME is 0. */
#define TESTS_AWAKE   10000u
#define TESTS_CROWDED 1000u
#define TESTS_PART    500u
#define NAP_NS        10000
#define YIELD_NAME    "OMPI_MCA_mpi_yield_when_idle"

/* MPI counts are ints. */
#define PIECE_BYTES ((size_t)1 << 30)

enum { TAG_FIRST, TAG_REST };

struct first {
	uint64_t bytes; /* size of the message */
	int cpu;        /* sender's CPU */
	uint8_t begin[FIRST_BYTES];
};

struct ways {
	MPI_Comm comm;
	cpu_set_t cpus;          /* CPUs that this rank may use */
	bool have_cpus;          /* all ranks are on this machine, with one CPU per rank */
	struct first *to, *from; /* [count] */
	MPI_Request *request;    /* [2 * count] */
};

static int fail(struct ranks *ranks, int code, struct error *error)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length = 0;

	MPI_Error_string(code, text, &length);
	return error_set(error, EIO, "rank %u of %u lost the connection to the other ranks: %s",
		ranks->own, ranks->count, text);
}

static size_t first_of(uint64_t bytes)
{
	return bytes < FIRST_BYTES ? (size_t)bytes : FIRST_BYTES;
}

/* On a busy machine the kernel may leave two ranks on one CPU, where each waits until the other
 * sleeps, which takes ten times as long. The rank with the higher number moves away. */
static void part_from_others(const struct ranks *ranks)
{
	const struct ways *ways = ranks->ctx;
	int cpu = sched_getcpu();
	cpu_set_t others = ways->cpus;
	bool shared = false;

	for (unsigned i = 0; i < ranks->own; i++)
		shared = shared || ways->from[i].cpu == cpu;
	CPU_CLR(cpu, &others);
	if (shared && CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0)
		sched_setaffinity(0, sizeof(ways->cpus), &ways->cpus);
}

static int wait_all(const struct ranks *ranks, unsigned requests, MPI_Request *request)
{
	const struct ways *ways = ranks->ctx;
	const struct timespec nap = {0, NAP_NS};
	int code = MPI_SUCCESS, done = 0;

	for (unsigned tests = 0; code == MPI_SUCCESS && !done; tests++) {
		if (tests == TESTS_PART && ways->have_cpus)
			part_from_others(ranks);
		if (tests > (ways->have_cpus ? TESTS_AWAKE : TESTS_CROWDED))
			ppoll(NULL, 0, &nap, NULL);
		code = MPI_Testall((int)requests, request, &done, MPI_STATUSES_IGNORE);
	}
	return code;
}

/* Exchanges lengths and first bytes. */
static int exchange_first(struct ranks *ranks, struct ways *ways)
{
	unsigned requests = 0;
	int code = MPI_SUCCESS;

	for (unsigned i = 0; i < ranks->count && code == MPI_SUCCESS; i++)
		if (i != ranks->own)
			code = MPI_Irecv(&ways->from[i], sizeof(struct first), MPI_BYTE, (int)i,
				TAG_FIRST, ways->comm, &ways->request[requests++]);
	for (unsigned i = 0; i < ranks->count && code == MPI_SUCCESS; i++) {
		size_t bytes = first_of(ranks->out[i].used);

		if (i == ranks->own)
			continue;
		ways->to[i].bytes = ranks->out[i].used;
		ways->to[i].cpu = sched_getcpu();
		if (bytes > 0)
			memcpy(ways->to[i].begin, ranks->out[i].bytes, bytes);
		code = MPI_Isend(&ways->to[i], (int)(offsetof(struct first, begin) + bytes),
			MPI_BYTE, (int)i, TAG_FIRST, ways->comm, &ways->request[requests++]);
	}
	if (code == MPI_SUCCESS)
		code = wait_all(ranks, requests, ways->request);
	return code;
}

/* Returns the size of the piece of a message that starts at 'from'. */
static size_t piece(const struct ranks_message *message, size_t from)
{
	size_t left = message->used > from ? message->used - from : 0;

	return left < PIECE_BYTES ? left : PIECE_BYTES;
}

/* Exchanges the piece at 'from' of each message that is long enough. Sets *more if there is any. */
static int exchange_rest(struct ranks *ranks, struct ways *ways, size_t from, bool *more)
{
	unsigned requests = 0;
	int code = MPI_SUCCESS;

	for (unsigned i = 0; i < ranks->count && code == MPI_SUCCESS; i++)
		if (i != ranks->own && piece(&ranks->in[i], from) > 0)
			code = MPI_Irecv(ranks->in[i].bytes + from, (int)piece(&ranks->in[i], from),
				MPI_BYTE, (int)i, TAG_REST, ways->comm, &ways->request[requests++]);
	for (unsigned i = 0; i < ranks->count && code == MPI_SUCCESS; i++)
		if (i != ranks->own && piece(&ranks->out[i], from) > 0)
			code = MPI_Isend(ranks->out[i].bytes + from,
				(int)piece(&ranks->out[i], from), MPI_BYTE, (int)i, TAG_REST,
				ways->comm, &ways->request[requests++]);
	*more = requests > 0;
	if (code == MPI_SUCCESS && requests > 0)
		code = wait_all(ranks, requests, ways->request);
	return code;
}

/* Allocates buffers for incoming messages and copies their first bytes. Returns 0 or -ENOMEM. */
static int take_first(struct ranks *ranks, const struct ways *ways)
{
	for (unsigned i = 0; i < ranks->count; i++) {
		uint64_t bytes = ways->from[i].bytes;

		if (i == ranks->own)
			continue;
		if (ranks_reserve(&ranks->in[i], bytes) < 0)
			return -ENOMEM;
		memcpy(ranks->in[i].bytes, ways->from[i].begin, first_of(bytes));
		ranks->in[i].used = bytes;
	}
	return 0;
}

static int exchange(struct ranks *ranks, struct error *error)
{
	struct ways *ways = ranks->ctx;
	int code = exchange_first(ranks, ways);
	bool more = true;

	if (code != MPI_SUCCESS)
		return fail(ranks, code, error);
	if (take_first(ranks, ways) < 0)
		return error_set(error, EIO, "rank %u of %u: not enough memory for messages",
			ranks->own, ranks->count);
	for (size_t from = FIRST_BYTES; more && code == MPI_SUCCESS; from += PIECE_BYTES)
		code = exchange_rest(ranks, ways, from, &more);
	return code == MPI_SUCCESS ? 0 : fail(ranks, code, error);
}

static __attribute__((noreturn)) void end_all(struct ranks *ranks, int code)
{
	const struct ways *ways = ranks->ctx;

	MPI_Abort(ways->comm, code);
	__builtin_unreachable();
}

static void destroy(struct ranks *ranks)
{
	struct ways *ways = ranks->ctx;

	if (ways != NULL) {
		free(ways->to);
		free(ways->from);
		free(ways->request);
	}
	free(ways);
	ranks_fini(ranks);
	free(ranks);
}

static void close_ranks(struct ranks *ranks)
{
	destroy(ranks);
	MPI_Finalize();
}

static struct ranks *create(unsigned count, unsigned own)
{
	static const struct ranks_ops ops = {exchange, end_all, close_ranks};
	struct ranks *ranks = calloc(1, sizeof(*ranks));
	struct ways *ways = calloc(1, sizeof(*ways));
	const char *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");

	if (ranks == NULL || ways == NULL) {
		free(ranks);
		free(ways);
		return NULL;
	}
	ranks->ops = &ops;
	ranks->ctx = ways;
	ways->comm = MPI_COMM_WORLD;
	ways->have_cpus = here != NULL && strtoul(here, NULL, 10) == count &&
			  sched_getaffinity(0, sizeof(ways->cpus), &ways->cpus) == 0 &&
			  count <= (unsigned)CPU_COUNT(&ways->cpus);
	ways->to = calloc(count, sizeof(*ways->to));
	ways->from = calloc(count, sizeof(*ways->from));
	ways->request = calloc(2 * (size_t)count, sizeof(MPI_Request));
	if (ranks_init(ranks, count, own) == 0 && ways->to != NULL && ways->from != NULL &&
		ways->request != NULL)
		return ranks;
	destroy(ranks);
	return NULL;
}

int ranks_open(struct ranks **ranks, struct error *error)
{
	int provided = 0, count = 0, own = 0;

	*ranks = NULL;
	setenv(EAGER_NAME, EAGER_BYTES, 0); /* keeps the user's setting */
	setenv(YIELD_NAME, "0", 0);
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
		provided < MPI_THREAD_FUNNELED)
		return error_set(error, EIO, "--mpi: this MPI library does not support threads");
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_size(MPI_COMM_WORLD, &count);
	MPI_Comm_rank(MPI_COMM_WORLD, &own);
	if (count == 1) {
		MPI_Finalize();
		return 0;
	}
	*ranks = create((unsigned)count, (unsigned)own);
	if (*ranks == NULL)
		MPI_Abort(MPI_COMM_WORLD,
			EXIT_NOT_ABLE); /* the other ranks are waiting for this one */
	return 0;
}
