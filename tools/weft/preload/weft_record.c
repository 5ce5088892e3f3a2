/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Loaded by 'weft lab mpirun --record' into each rank of an MPI program: writes what the ranks
 * send, receive and compute as a schedule in GOAL (lib/goal/goal.h). Each rank keeps its own text,
 * and MPI_Finalize gathers all of them in rank 0, which writes the file $WEFT_RECORD.
 *
 * Between two calls of MPI a rank computes for as long as its thread had a CPU. A recv has the
 * source and tag of the message that it got. Collectives become messages: bcast, reduce and
 * allreduce binomial trees, barrier a dissemination, allgather a ring, alltoall and alltoallv
 * pairwise, gather and scatter one message per rank. Not recorded, but named at the end: the
 * functions in NOT_RECORDED. For C and C++, and one thread that calls MPI. */

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE_BYTES (64 << 20)
#define COLLECTIVE  0x80000000u /* in tags */

/* A pending request. */
struct pending {
	MPI_Request request;
	uint32_t label, after;
	int recv, type_bytes;
	MPI_Comm comm;
};

static struct {
	FILE *out;
	char *text;
	size_t length;
	uint32_t labels, last;     /* the operation that the next one waits for; 0: none */
	uint64_t left_ns, done_ns; /* CPU time when MPI was left, and since the last calc */
	struct pending *pending;
	size_t count, room;
	uint16_t sequence; /* number of collectives so far */
	char missed[256];
} record;

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void require(uint32_t label, uint32_t other)
{
	if (other != 0)
		fprintf(record.out, "%" PRIu32 " requires %" PRIu32 "\n", label, other);
}

static uint32_t put_calc(uint64_t ns)
{
	fprintf(record.out, "%" PRIu32 ": calc %" PRIu64 "\n", ++record.labels, ns);
	require(record.labels, record.last);
	return record.last = record.labels;
}

static void account(void)
{
	uint64_t now = cpu_ns();

	record.done_ns += now - record.left_ns;
	record.left_ns = now;
}

static void flush(void)
{
	if (record.out != NULL && record.done_ns > 0)
		put_calc(record.done_ns);
	record.done_ns = 0;
}

static void enter(void)
{
	account();
	flush();
}

static int leave(int result)
{
	record.left_ns = cpu_ns();
	return result;
}

/* Ranks of the world; members of a communicator that is not the world make up its number. */

static int world_rank(MPI_Comm comm, int rank)
{
	MPI_Group of, world;
	int there = MPI_PROC_NULL;

	if (rank < 0)
		return MPI_PROC_NULL;
	PMPI_Comm_group(comm, &of);
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_translate_ranks(of, 1, &rank, world, &there);
	PMPI_Group_free(&of);
	PMPI_Group_free(&world);
	return there;
}

static uint32_t number_of(MPI_Comm comm)
{
	uint32_t number = 2166136261u;
	int same = MPI_UNEQUAL, size = 0;

	PMPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
	if (same == MPI_IDENT || same == MPI_CONGRUENT)
		return 0;
	PMPI_Comm_size(comm, &size);
	for (int i = 0; i < size; i++)
		number = (number ^ (uint32_t)world_rank(comm, i)) * 16777619u;
	return number ^ number >> 16;
}

static uint32_t tag_of(MPI_Comm comm, int tag)
{
	return (number_of(comm) & 0x7f) << 24 | ((uint32_t)tag & 0xffffff);
}

static uint64_t bytes_of(int count, MPI_Datatype type)
{
	int size = 0;

	PMPI_Type_size(type, &size);
	return (uint64_t)count * (uint64_t)size;
}

/* Operations of one step wait for 'last', and the next one for all of them. */

static uint32_t put(
	uint32_t label, const char *text, uint64_t bytes, int peer, uint32_t tag, uint32_t after)
{
	fprintf(record.out, "%" PRIu32 ": %s %" PRIu64 "b %s %d tag %" PRIu32 "\n", label, text,
		bytes, text[0] == 's' ? "to" : "from", peer, tag);
	require(label, after);
	return label;
}

static void join(const uint32_t *label, unsigned count)
{
	uint32_t before = record.last;

	if (count == 0)
		return;
	fprintf(record.out, "%" PRIu32 ": calc 0\n", ++record.labels);
	require(record.labels, before);
	for (unsigned i = 0; i < count; i++)
		require(record.labels, label[i]);
	record.last = record.labels;
}

static void put_blocking(const char *text, uint64_t bytes, int peer, uint32_t tag)
{
	if (peer != MPI_PROC_NULL)
		record.last = put(++record.labels, text, bytes, peer, tag, record.last);
}

/* --- one message --- */

#define SEND(name)                                                                                \
	int MPI_##name(                                                                           \
		const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) \
	{                                                                                         \
		enter();                                                                          \
		put_blocking(                                                                     \
			"send", bytes_of(count, type), world_rank(comm, to), tag_of(comm, tag));  \
		return leave(PMPI_##name(buffer, count, type, to, tag, comm));                    \
	}
SEND(Send)
SEND(Ssend)
SEND(Rsend)
SEND(Bsend)

static void put_received(const MPI_Status *status, MPI_Datatype type, MPI_Comm comm)
{
	int count = 0;

	PMPI_Get_count(status, type, &count);
	put_blocking("recv", bytes_of(count, type), world_rank(comm, status->MPI_SOURCE),
		tag_of(comm, status->MPI_TAG));
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	MPI_Status *status)
{
	MPI_Status own;
	int result;

	enter();
	status = status == MPI_STATUS_IGNORE ? &own : status;
	result = PMPI_Recv(buffer, count, type, from, tag, comm, status);
	put_received(status, type, comm);
	return leave(result);
}

int MPI_Sendrecv(const void *out, int outs, MPI_Datatype out_type, int to, int out_tag, void *in,
	int ins, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
	uint32_t after, label[2];
	MPI_Status own;
	int result;

	enter();
	after = record.last;
	status = status == MPI_STATUS_IGNORE ? &own : status;
	put_blocking("send", bytes_of(outs, out_type), world_rank(comm, to), tag_of(comm, out_tag));
	label[0] = record.last;
	record.last = after;
	result = PMPI_Sendrecv(
		out, outs, out_type, to, out_tag, in, ins, in_type, from, in_tag, comm, status);
	put_received(status, in_type, comm);
	label[1] = record.last;
	record.last = after;
	join(label, 2);
	return leave(result);
}

/* --- requests --- */

static void begin(MPI_Request request, int recv, MPI_Datatype type, MPI_Comm comm)
{
	struct pending *more = record.pending;
	int bytes = 0;

	PMPI_Type_size(type, &bytes);
	if (record.count == record.room) {
		record.room = 2 * record.room + 16;
		more = realloc(more, record.room * sizeof(*more));
		if (more == NULL)
			PMPI_Abort(MPI_COMM_WORLD, 3);
		record.pending = more;
	}
	record.pending[record.count++] = (struct pending){.request = request,
		.label = ++record.labels,
		.after = record.last,
		.recv = recv,
		.type_bytes = bytes,
		.comm = comm};
}

#define ISEND(name)                                                                                \
	int MPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag,          \
		MPI_Comm comm, MPI_Request *request)                                               \
	{                                                                                          \
		int result, peer = world_rank(comm, to);                                           \
                                                                                                   \
		enter();                                                                           \
		result = PMPI_##name(buffer, count, type, to, tag, comm, request);                 \
		if (peer != MPI_PROC_NULL) {                                                       \
			begin(*request, 0, type, comm);                                            \
			put(record.labels, "send", bytes_of(count, type), peer, tag_of(comm, tag), \
				record.last);                                                      \
		}                                                                                  \
		return leave(result);                                                              \
	}
ISEND(Isend)
ISEND(Issend)
ISEND(Irsend)
ISEND(Ibsend)

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	int result;

	enter();
	result = PMPI_Irecv(buffer, count, type, from, tag, comm, request);
	if (from != MPI_PROC_NULL)
		begin(*request, 1, type, comm);
	return leave(result);
}

/* The request has completed: its label, or 0 if it is not one of ours. */
static uint32_t complete(MPI_Request request, const MPI_Status *status)
{
	for (size_t i = 0; i < record.count; i++) {
		struct pending done = record.pending[i];
		int bytes = 0;

		if (done.request != request)
			continue;
		memmove(&record.pending[i], &record.pending[i + 1],
			(--record.count - i) * sizeof(done));
		if (!done.recv)
			return done.label;
		PMPI_Get_count(status, MPI_BYTE, &bytes);
		return put(done.label, "recv", (uint64_t)bytes,
			world_rank(done.comm, status->MPI_SOURCE),
			tag_of(done.comm, status->MPI_TAG), done.after);
	}
	return 0;
}

/* Calls 'wait', which completes 'count' of the requests or those in 'index', and notes them. */
#define COMPLETE(requests, number, statuses, wait)                                         \
	do {                                                                               \
		size_t all = (size_t)(number);                                             \
		MPI_Request *before = malloc((all + 1) * sizeof(*before));                 \
		MPI_Status *own = malloc((all + 1) * sizeof(*own));                        \
		uint32_t *label = calloc(all + 1, sizeof(*label));                         \
		unsigned labels = 0;                                                       \
		int result, *index = NULL, done = 0;                                       \
                                                                                           \
		account();                                                                 \
		if (before == NULL || own == NULL || label == NULL)                        \
			PMPI_Abort(MPI_COMM_WORLD, 3);                                     \
		memcpy(before, requests, all * sizeof(*before));                           \
		result = wait;                                                             \
		for (int i = 0; i < done; i++)                                             \
			if ((label[labels] = complete(                                     \
				     before[index != NULL ? index[i] : i], &own[i])) != 0) \
				labels++;                                                  \
		if (labels > 0)                                                            \
			flush();                                                           \
		join(label, labels);                                                       \
		if ((statuses) != MPI_STATUSES_IGNORE && done > 0)                         \
			memcpy(statuses, own, (size_t)done * sizeof(*own));                \
		free(before);                                                              \
		free(own);                                                                 \
		free(label);                                                               \
		return leave(result);                                                      \
	} while (0)

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	COMPLETE(request, 1, status, (done = 1, PMPI_Wait(request, own)));
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
	COMPLETE(requests, count, statuses, (done = count, PMPI_Waitall(count, requests, own)));
}

int MPI_Waitany(int count, MPI_Request *requests, int *which, MPI_Status *status)
{
	COMPLETE(requests, count, status,
		(result = PMPI_Waitany(count, requests, which, own), index = which,
			done = *which != MPI_UNDEFINED, result));
}

int MPI_Waitsome(int count, MPI_Request *requests, int *number, int *which, MPI_Status *statuses)
{
	COMPLETE(requests, count, statuses,
		(result = PMPI_Waitsome(count, requests, number, which, own), index = which,
			done = *number != MPI_UNDEFINED ? *number : 0, result));
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	COMPLETE(
		request, 1, status, (result = PMPI_Test(request, flag, own), done = *flag, result));
}

int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
	COMPLETE(requests, count, statuses,
		(result = PMPI_Testall(count, requests, flag, own), done = *flag ? count : 0,
			result));
}

int MPI_Testany(int count, MPI_Request *requests, int *which, int *flag, MPI_Status *status)
{
	COMPLETE(requests, count, status,
		(result = PMPI_Testany(count, requests, which, flag, own), index = which,
			done = *flag && *which != MPI_UNDEFINED, result));
}

/* --- collectives --- */

struct team {
	MPI_Comm comm;
	int size, me;
	uint32_t tag;
};

static struct team team_of(MPI_Comm comm)
{
	struct team team = {.comm = comm};

	enter();
	PMPI_Comm_size(comm, &team.size);
	PMPI_Comm_rank(comm, &team.me);
	team.tag = COLLECTIVE | (number_of(comm) & 0x7fff) << 16 | record.sequence++;
	return team;
}

static void team_put(const struct team *team, const char *text, int peer, uint64_t bytes)
{
	if (peer != team->me)
		put_blocking(text, bytes, world_rank(team->comm, peer), team->tag);
}

/* Sends and receives at once. */
static void exchange(
	const struct team *team, int to, uint64_t out_bytes, int from, uint64_t in_bytes)
{
	uint32_t after = record.last, label[2];

	team_put(team, "send", to, out_bytes);
	label[0] = record.last;
	record.last = after;
	team_put(team, "recv", from, in_bytes);
	label[1] = record.last;
	record.last = after;
	join(label, 2);
}

static void tree_down(const struct team *team, int root, uint64_t bytes)
{
	int size = team->size, place = (team->me - root + size) % size, mask = 1;

	while (mask < size && (place & mask) == 0)
		mask <<= 1;
	if (place != 0)
		team_put(team, "recv", (place - mask + root) % size, bytes);
	while ((mask >>= 1) > 0)
		if (place + mask < size)
			team_put(team, "send", (place + mask + root) % size, bytes);
}

static void tree_up(const struct team *team, int root, uint64_t bytes)
{
	int size = team->size, place = (team->me - root + size) % size, mask = 1;

	for (; mask < size && (place & mask) == 0; mask <<= 1)
		if (place + mask < size)
			team_put(team, "recv", (place + mask + root) % size, bytes);
	if (place != 0)
		team_put(team, "send", (place - mask + root) % size, bytes);
}

int MPI_Barrier(MPI_Comm comm)
{
	struct team team = team_of(comm);

	for (int far = 1; far < team.size; far *= 2)
		exchange(&team, (team.me + far) % team.size, 1,
			(team.me - far + team.size) % team.size, 1);
	return leave(PMPI_Barrier(comm));
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	struct team team = team_of(comm);

	tree_down(&team, root, bytes_of(count, type));
	return leave(PMPI_Bcast(buffer, count, type, root, comm));
}

int MPI_Reduce(
	const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
	struct team team = team_of(comm);

	tree_up(&team, root, bytes_of(count, type));
	return leave(PMPI_Reduce(out, in, count, type, op, root, comm));
}

int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	struct team team = team_of(comm);

	tree_up(&team, 0, bytes_of(count, type));
	tree_down(&team, 0, bytes_of(count, type));
	return leave(PMPI_Allreduce(out, in, count, type, op, comm));
}

/* 'root' and each of the others exchange a message. */
static void star(const struct team *team, int root, uint64_t bytes, int inwards)
{
	uint32_t after = record.last;
	uint32_t *label = calloc((size_t)team->size, sizeof(*label));

	if (label == NULL)
		PMPI_Abort(MPI_COMM_WORLD, 3);
	if (team->me != root)
		team_put(team, inwards ? "send" : "recv", root, bytes);
	for (int i = 0; i < team->size && team->me == root; i++, record.last = after) {
		team_put(team, inwards ? "recv" : "send", i, bytes);
		label[i] = record.last;
	}
	if (team->me == root)
		join(label, (unsigned)team->size);
	free(label);
}

int MPI_Gather(const void *out, int outs, MPI_Datatype out_type, void *in, int ins,
	MPI_Datatype in_type, int root, MPI_Comm comm)
{
	struct team team = team_of(comm);

	star(&team, root, team.me == root ? bytes_of(ins, in_type) : bytes_of(outs, out_type), 1);
	return leave(PMPI_Gather(out, outs, out_type, in, ins, in_type, root, comm));
}

int MPI_Scatter(const void *out, int outs, MPI_Datatype out_type, void *in, int ins,
	MPI_Datatype in_type, int root, MPI_Comm comm)
{
	struct team team = team_of(comm);

	star(&team, root, team.me == root ? bytes_of(outs, out_type) : bytes_of(ins, in_type), 0);
	return leave(PMPI_Scatter(out, outs, out_type, in, ins, in_type, root, comm));
}

int MPI_Allgather(const void *out, int outs, MPI_Datatype out_type, void *in, int ins,
	MPI_Datatype in_type, MPI_Comm comm)
{
	struct team team = team_of(comm);
	uint64_t bytes = bytes_of(ins, in_type);

	for (int i = 1; i < team.size; i++)
		exchange(&team, (team.me + 1) % team.size, bytes,
			(team.me - 1 + team.size) % team.size, bytes);
	return leave(PMPI_Allgather(out, outs, out_type, in, ins, in_type, comm));
}

int MPI_Alltoall(const void *out, int outs, MPI_Datatype out_type, void *in, int ins,
	MPI_Datatype in_type, MPI_Comm comm)
{
	struct team team = team_of(comm);
	uint64_t bytes = bytes_of(ins, in_type);

	for (int i = 1; i < team.size; i++)
		exchange(&team, (team.me + i) % team.size, bytes,
			(team.me - i + team.size) % team.size, bytes);
	return leave(PMPI_Alltoall(out, outs, out_type, in, ins, in_type, comm));
}

int MPI_Alltoallv(const void *out, const int *outs, const int *out_at, MPI_Datatype out_type,
	void *in, const int *ins, const int *in_at, MPI_Datatype in_type, MPI_Comm comm)
{
	struct team team = team_of(comm);

	for (int i = 1; i < team.size; i++) {
		int to = (team.me + i) % team.size, from = (team.me - i + team.size) % team.size;

		exchange(&team, to, bytes_of(outs[to], out_type), from,
			bytes_of(ins[from], in_type));
	}
	return leave(PMPI_Alltoallv(out, outs, out_at, out_type, in, ins, in_at, in_type, comm));
}

/* --- not recorded --- */

/* Notes the name and jumps to the function, whatever its arguments are. */
#if defined(__x86_64__)
/* clang-format off */
#define NOT_RECORDED(X)                                                                  \
	X(Allgatherv) X(Alltoallw) X(Exscan) X(Fetch_and_op) X(Gatherv) X(Get)           \
	X(Accumulate) X(Iallgather) X(Iallreduce) X(Ialltoall) X(Ibarrier) X(Ibcast)     \
	X(Igather) X(Imrecv) X(Ireduce) X(Iscatter) X(Mrecv) X(Neighbor_allgather)       \
	X(Neighbor_alltoall) X(Put) X(Reduce_scatter) X(Reduce_scatter_block)            \
	X(Recv_init) X(Scan) X(Scatterv) X(Send_init) X(Sendrecv_replace) X(Testsome)
/* clang-format on */
#define X(name)                                                               \
	__attribute__((used)) unsigned char missed_##name;                    \
	__asm__(".globl MPI_" #name "\n.type MPI_" #name ", @function\n"      \
		"MPI_" #name ": movq missed_" #name "@GOTPCREL(%rip), %rax\n" \
		"movb $1, (%rax)\n jmp PMPI_" #name "@PLT\n");
NOT_RECORDED(X)
#undef X
#endif

static void name_missed(int rank)
{
#if defined(__x86_64__)
#define X(name)                                                                \
	if (missed_##name)                                                     \
		fprintf(stderr,                                                \
			"weft lab mpirun: rank %d: MPI_" #name                 \
			" is not recorded, the schedule lacks its messages\n", \
			rank);
	NOT_RECORDED(X)
#undef X
#endif
}

/* --- begin and end --- */

static void start(void)
{
	record.out = open_memstream(&record.text, &record.length);
	if (record.out == NULL)
		PMPI_Abort(MPI_COMM_WORLD, 3);
	record.left_ns = cpu_ns();
}

int MPI_Init(int *argc, char ***argv)
{
	int result = PMPI_Init(argc, argv);

	start();
	return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int result = PMPI_Init_thread(argc, argv, required, provided);

	start();
	return result;
}

/* Rank 0 has its own text, and receives the others' in pieces. */
static void write_rank(FILE *file, int rank, unsigned long long length)
{
	char *piece = malloc(PIECE_BYTES);
	unsigned long long left = length;

	if (piece == NULL)
		PMPI_Abort(MPI_COMM_WORLD, 3);
	fprintf(file, "rank %d {\n", rank);
	if (rank == 0)
		fwrite(record.text, 1, record.length, file);
	while (rank != 0 && left > 0) {
		int now = left < PIECE_BYTES ? (int)left : PIECE_BYTES;

		PMPI_Recv(piece, now, MPI_CHAR, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		fwrite(piece, 1, (size_t)now, file);
		left -= (unsigned)now;
	}
	fputs("}\n", file);
	free(piece);
}

static void write_all(int size, const unsigned long long *length)
{
	const char *path = getenv("WEFT_RECORD");
	FILE *file = path != NULL ? fopen(path, "we") : NULL;
	int bad = file == NULL;

	file = file != NULL ? file : fopen("/dev/null", "w");
	if (file == NULL)
		PMPI_Abort(MPI_COMM_WORLD, 3);
	fprintf(file, "num_ranks %d\n", size);
	for (int rank = 0; rank < size; rank++)
		write_rank(file, rank, length[rank]);
	bad |= ferror(file) != 0;
	bad |= fclose(file) != 0;
	if (bad) {
		fprintf(stderr, "weft lab mpirun: %s: cannot be written\n",
			path != NULL ? path : "WEFT_RECORD");
		PMPI_Abort(MPI_COMM_WORLD, 3);
	}
}

static void send_text(void)
{
	for (size_t at = 0; at < record.length; at += PIECE_BYTES) {
		size_t left = record.length - at;

		PMPI_Send(record.text + at, left < PIECE_BYTES ? (int)left : PIECE_BYTES, MPI_CHAR,
			0, 0, MPI_COMM_WORLD);
	}
}

int MPI_Finalize(void)
{
	unsigned long long length, *lengths;
	int rank = 0, size = 0;

	enter();
	fclose(record.out);
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	lengths = calloc((size_t)size, sizeof(*lengths));
	if (lengths == NULL)
		PMPI_Abort(MPI_COMM_WORLD, 3);
	length = record.length;
	PMPI_Gather(&length, 1, MPI_UNSIGNED_LONG_LONG, lengths, 1, MPI_UNSIGNED_LONG_LONG, 0,
		MPI_COMM_WORLD);
	if (rank == 0)
		write_all(size, lengths);
	else
		send_text();
	name_missed(rank);
	free(lengths);
	free(record.text);
	free(record.pending);
	return PMPI_Finalize();
}
