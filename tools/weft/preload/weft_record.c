/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Loaded by 'weft lab mpirun --record' into each rank of an MPI program. Writes the ranks' messages
 * and computing times as a GOAL schedule (lib/goal/goal.h). Each rank stores its own text;
 * MPI_Finalize gathers the texts on rank 0, which writes the file $WEFT_RECORD.
 *
 * Between two MPI calls, a rank computes for as long as its thread had a CPU. A recv contains the
 * source and tag of the message that it received. Collectives become messages: bcast, reduce and
 * allreduce binomial trees, barrier a dissemination, allgather a ring, alltoall and alltoallv
 * pairwise, gather and scatter one message per rank. The functions in NOT_RECORDED are not
 * recorded, but listed at the end. For C and C++, and a single thread that calls MPI. */

#include "weft_record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#define PIECE_BYTES (64 << 20)

struct record record;

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The memory stream does not report later that memory ran out. */
__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	record.incomplete |= vfprintf(record.out, format, arguments) < 0;
	va_end(arguments);
}

static void require(uint32_t label, uint32_t other)
{
	if (other != 0)
		print("%" PRIu32 " requires %" PRIu32 "\n", label, other);
}

static uint32_t put_calc(uint64_t ns)
{
	print("%" PRIu32 ": calc %" PRIu64 "\n", ++record.labels, ns);
	require(record.labels, record.last);
	return record.last = record.labels;
}

void record_account(void)
{
	uint64_t now = cpu_ns();

	record.done_ns += now - record.left_ns;
	record.left_ns = now;
}

void record_flush(void)
{
	if (record.out != NULL && record.done_ns > 0)
		put_calc(record.done_ns);
	record.done_ns = 0;
}

void record_enter(void)
{
	record_account();
	record_flush();
}

int record_leave(int result)
{
	record.left_ns = cpu_ns();
	return result;
}

/* The world's rank numbers; the members of any other communicator make up its number. */

int record_world_rank(MPI_Comm comm, int rank)
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

uint32_t record_number_of(MPI_Comm comm)
{
	uint32_t number = 2166136261u;
	int same = MPI_UNEQUAL, size = 0;

	PMPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
	if (same == MPI_IDENT || same == MPI_CONGRUENT)
		return 0;
	PMPI_Comm_size(comm, &size);
	for (int i = 0; i < size; i++)
		number = (number ^ (uint32_t)record_world_rank(comm, i)) * 16777619u;
	return number ^ number >> 16;
}

uint32_t record_tag_of(MPI_Comm comm, int tag)
{
	return (record_number_of(comm) & 0x7f) << 24 | ((uint32_t)tag & 0xffffff);
}

uint64_t record_bytes_of(int count, MPI_Datatype type)
{
	int size = 0;

	PMPI_Type_size(type, &size);
	return (uint64_t)count * (uint64_t)size;
}

/* Operations of one step depend on 'last'; the next operation depends on all of them. */

uint32_t record_put(
	uint32_t label, const char *text, uint64_t bytes, int peer, uint32_t tag, uint32_t after)
{
	print("%" PRIu32 ": %s %" PRIu64 "b %s %d tag %" PRIu32 "\n", label, text, bytes,
		text[0] == 's' ? "to" : "from", peer, tag);
	require(label, after);
	return label;
}

void record_join(const uint32_t *label, unsigned count)
{
	uint32_t before = record.last;

	if (count == 0)
		return;
	print("%" PRIu32 ": calc 0\n", ++record.labels);
	require(record.labels, before);
	for (unsigned i = 0; i < count; i++)
		require(record.labels, label[i]);
	record.last = record.labels;
}

void record_put_blocking(const char *text, uint64_t bytes, int peer, uint32_t tag)
{
	if (peer != MPI_PROC_NULL)
		record.last = record_put(++record.labels, text, bytes, peer, tag, record.last);
}

/* --- start and end --- */

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

/* Rank 0 writes its own text, and receives the texts of the other ranks in pieces. */
static void write_rank(FILE *file, int rank, unsigned long long length, MPI_Comm comm)
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

		PMPI_Recv(piece, now, MPI_CHAR, rank, 0, comm, MPI_STATUS_IGNORE);
		fwrite(piece, 1, (size_t)now, file);
		left -= (unsigned)now;
	}
	fputs("}\n", file);
	free(piece);
}

static void write_all(int size, const unsigned long long *length, MPI_Comm comm)
{
	const char *path = getenv("WEFT_RECORD");
	FILE *file = path != NULL ? fopen(path, "we") : NULL;
	int bad = file == NULL;

	file = file != NULL ? file : fopen("/dev/null", "w");
	if (file == NULL)
		PMPI_Abort(MPI_COMM_WORLD, 3);
	fprintf(file, "num_ranks %d\n", size);
	for (int rank = 0; rank < size; rank++)
		write_rank(file, rank, length[rank], comm);
	bad |= ferror(file) != 0;
	bad |= fclose(file) != 0;
	if (bad) {
		fprintf(stderr, "weft lab mpirun: %s: cannot be written\n",
			path != NULL ? path : "WEFT_RECORD");
		PMPI_Abort(MPI_COMM_WORLD, 3);
	}
}

static void send_text(MPI_Comm comm)
{
	for (size_t at = 0; at < record.length; at += PIECE_BYTES) {
		size_t left = record.length - at;

		PMPI_Send(record.text + at, left < PIECE_BYTES ? (int)left : PIECE_BYTES, MPI_CHAR,
			0, 0, comm);
	}
}

static void close_text(int rank)
{
	record.incomplete |= fclose(record.out) != 0;
	if (!record.incomplete)
		return;
	fprintf(stderr, "weft lab mpirun: rank %d: not enough memory for the schedule\n", rank);
	PMPI_Abort(MPI_COMM_WORLD, 3);
}

int MPI_Finalize(void)
{
	unsigned long long length, *lengths;
	int rank = 0, size = 0;
	MPI_Comm comm;

	record_enter();
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	close_text(rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	lengths = calloc((size_t)size, sizeof(*lengths));
	if (lengths == NULL)
		PMPI_Abort(MPI_COMM_WORLD, 3);
	length = record.length;
	/* The program on rank 0 may have a pending wildcard receive on MPI_COMM_WORLD, which must
	 * not match these messages. */
	if (PMPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm) != MPI_SUCCESS)
		PMPI_Abort(MPI_COMM_WORLD, 3);
	PMPI_Gather(
		&length, 1, MPI_UNSIGNED_LONG_LONG, lengths, 1, MPI_UNSIGNED_LONG_LONG, 0, comm);
	if (rank == 0)
		write_all(size, lengths, comm);
	else
		send_text(comm);
	record_name_missed(rank);
	free(lengths);
	free(record.text);
	free(record.pending);
	return PMPI_Finalize();
}

/* Records that the function was called, and jumps to it with its arguments unchanged. */
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

void record_name_missed(int rank)
{
#if defined(__x86_64__)
#define X(name)                                                                           \
	if (missed_##name)                                                                \
		fprintf(stderr,                                                           \
			"weft lab mpirun: rank %d: MPI_" #name                            \
			" is not recorded; its messages are missing from the schedule\n", \
			rank);
	NOT_RECORDED(X)
#undef X
#endif
}
