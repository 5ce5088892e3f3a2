/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "weft_record.h"

#include <stdlib.h>

/* Records collectives as messages. */

#define COLLECTIVE 0x80000000u /* set in the tags of collectives */

struct team {
	MPI_Comm comm;
	int size, me;
	uint32_t tag;
};

static struct team team_of(MPI_Comm comm)
{
	struct team team = {.comm = comm};

	record_enter();
	PMPI_Comm_size(comm, &team.size);
	PMPI_Comm_rank(comm, &team.me);
	team.tag = COLLECTIVE | (record_number_of(comm) & 0x7fff) << 16 | record.sequence++;
	return team;
}

static void team_put(const struct team *team, const char *text, int peer, uint64_t bytes)
{
	if (peer != team->me)
		record_put_blocking(text, bytes, record_world_rank(team->comm, peer), team->tag);
}

/* Sends and receives concurrently. */
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
	record_join(label, 2);
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
	return record_leave(PMPI_Barrier(comm));
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	struct team team = team_of(comm);

	tree_down(&team, root, record_bytes_of(count, type));
	return record_leave(PMPI_Bcast(buffer, count, type, root, comm));
}

int MPI_Reduce(
	const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
	struct team team = team_of(comm);

	tree_up(&team, root, record_bytes_of(count, type));
	return record_leave(PMPI_Reduce(out, in, count, type, op, root, comm));
}

int MPI_Allreduce(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	struct team team = team_of(comm);

	tree_up(&team, 0, record_bytes_of(count, type));
	tree_down(&team, 0, record_bytes_of(count, type));
	return record_leave(PMPI_Allreduce(out, in, count, type, op, comm));
}

/* 'root' exchanges one message with each other rank. */
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
		record_join(label, (unsigned)team->size);
	free(label);
}

int MPI_Gather(const void *out, int outs, MPI_Datatype out_type, void *in, int ins,
	MPI_Datatype in_type, int root, MPI_Comm comm)
{
	struct team team = team_of(comm);

	star(&team, root,
		team.me == root ? record_bytes_of(ins, in_type) : record_bytes_of(outs, out_type),
		1);
	return record_leave(PMPI_Gather(out, outs, out_type, in, ins, in_type, root, comm));
}

int MPI_Scatter(const void *out, int outs, MPI_Datatype out_type, void *in, int ins,
	MPI_Datatype in_type, int root, MPI_Comm comm)
{
	struct team team = team_of(comm);

	star(&team, root,
		team.me == root ? record_bytes_of(outs, out_type) : record_bytes_of(ins, in_type),
		0);
	return record_leave(PMPI_Scatter(out, outs, out_type, in, ins, in_type, root, comm));
}

int MPI_Allgather(const void *out, int outs, MPI_Datatype out_type, void *in, int ins,
	MPI_Datatype in_type, MPI_Comm comm)
{
	struct team team = team_of(comm);
	uint64_t bytes = record_bytes_of(ins, in_type);

	for (int i = 1; i < team.size; i++)
		exchange(&team, (team.me + 1) % team.size, bytes,
			(team.me - 1 + team.size) % team.size, bytes);
	return record_leave(PMPI_Allgather(out, outs, out_type, in, ins, in_type, comm));
}

int MPI_Alltoall(const void *out, int outs, MPI_Datatype out_type, void *in, int ins,
	MPI_Datatype in_type, MPI_Comm comm)
{
	struct team team = team_of(comm);
	uint64_t bytes = record_bytes_of(ins, in_type);

	for (int i = 1; i < team.size; i++)
		exchange(&team, (team.me + i) % team.size, bytes,
			(team.me - i + team.size) % team.size, bytes);
	return record_leave(PMPI_Alltoall(out, outs, out_type, in, ins, in_type, comm));
}

int MPI_Alltoallv(const void *out, const int *outs, const int *out_at, MPI_Datatype out_type,
	void *in, const int *ins, const int *in_at, MPI_Datatype in_type, MPI_Comm comm)
{
	struct team team = team_of(comm);

	for (int i = 1; i < team.size; i++) {
		int to = (team.me + i) % team.size, from = (team.me - i + team.size) % team.size;

		exchange(&team, to, record_bytes_of(outs[to], out_type), from,
			record_bytes_of(ins[from], in_type));
	}
	return record_leave(
		PMPI_Alltoallv(out, outs, out_at, out_type, in, ins, in_at, in_type, comm));
}
