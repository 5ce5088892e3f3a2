/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "weft_record.h"

#include <stdlib.h>
#include <string.h>

/* Records point-to-point messages. */

/* --- one message --- */

#define SEND(name)                                                                                \
	int MPI_##name(                                                                           \
		const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) \
	{                                                                                         \
		record_enter();                                                                   \
		record_put_blocking("send", record_bytes_of(count, type),                         \
			record_world_rank(comm, to), record_tag_of(comm, tag));                   \
		return record_leave(PMPI_##name(buffer, count, type, to, tag, comm));             \
	}
SEND(Send)
SEND(Ssend)
SEND(Rsend)
SEND(Bsend)

static void put_received(const MPI_Status *status, MPI_Datatype type, MPI_Comm comm)
{
	int count = 0;

	PMPI_Get_count(status, type, &count);
	record_put_blocking("recv", record_bytes_of(count, type),
		record_world_rank(comm, status->MPI_SOURCE), record_tag_of(comm, status->MPI_TAG));
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	MPI_Status *status)
{
	MPI_Status own;
	int result;

	record_enter();
	status = status == MPI_STATUS_IGNORE ? &own : status;
	result = PMPI_Recv(buffer, count, type, from, tag, comm, status);
	put_received(status, type, comm);
	return record_leave(result);
}

int MPI_Sendrecv(const void *out, int outs, MPI_Datatype out_type, int to, int out_tag, void *in,
	int ins, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
	uint32_t after, label[2];
	MPI_Status own;
	int result;

	record_enter();
	after = record.last;
	status = status == MPI_STATUS_IGNORE ? &own : status;
	record_put_blocking("send", record_bytes_of(outs, out_type), record_world_rank(comm, to),
		record_tag_of(comm, out_tag));
	label[0] = record.last;
	record.last = after;
	result = PMPI_Sendrecv(
		out, outs, out_type, to, out_tag, in, ins, in_type, from, in_tag, comm, status);
	put_received(status, in_type, comm);
	label[1] = record.last;
	record.last = after;
	record_join(label, 2);
	return record_leave(result);
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

#define ISEND(name)                                                                           \
	int MPI_##name(const void *buffer, int count, MPI_Datatype type, int to, int tag,     \
		MPI_Comm comm, MPI_Request *request)                                          \
	{                                                                                     \
		int result, peer = record_world_rank(comm, to);                               \
                                                                                              \
		record_enter();                                                               \
		result = PMPI_##name(buffer, count, type, to, tag, comm, request);            \
		if (peer != MPI_PROC_NULL) {                                                  \
			begin(*request, 0, type, comm);                                       \
			record_put(record.labels, "send", record_bytes_of(count, type), peer, \
				record_tag_of(comm, tag), record.last);                       \
		}                                                                             \
		return record_leave(result);                                                  \
	}
ISEND(Isend)
ISEND(Issend)
ISEND(Irsend)
ISEND(Ibsend)

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	MPI_Request *request)
{
	int result;

	record_enter();
	result = PMPI_Irecv(buffer, count, type, from, tag, comm, request);
	if (from != MPI_PROC_NULL)
		begin(*request, 1, type, comm);
	return record_leave(result);
}

/* Removes a completed request. Returns its label, or 0 if the request was not recorded. */
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
		return record_put(done.label, "recv", (uint64_t)bytes,
			record_world_rank(done.comm, status->MPI_SOURCE),
			record_tag_of(done.comm, status->MPI_TAG), done.after);
	}
	return 0;
}

/* Calls 'wait', which completes either 'count' requests or those listed in 'index', and records the
 * completions. */
#define COMPLETE(requests, number, statuses, wait)                                         \
	do {                                                                               \
		size_t all = (size_t)(number);                                             \
		MPI_Request *before = malloc((all + 1) * sizeof(*before));                 \
		MPI_Status *own = malloc((all + 1) * sizeof(*own));                        \
		uint32_t *label = calloc(all + 1, sizeof(*label));                         \
		unsigned labels = 0;                                                       \
		int result, *index = NULL, done = 0;                                       \
                                                                                           \
		record_account();                                                          \
		if (before == NULL || own == NULL || label == NULL)                        \
			PMPI_Abort(MPI_COMM_WORLD, 3);                                     \
		memcpy(before, requests, all * sizeof(*before));                           \
		result = wait;                                                             \
		for (int i = 0; i < done; i++)                                             \
			if ((label[labels] = complete(                                     \
				     before[index != NULL ? index[i] : i], &own[i])) != 0) \
				labels++;                                                  \
		if (labels > 0)                                                            \
			record_flush();                                                    \
		record_join(label, labels);                                                \
		if ((statuses) != MPI_STATUSES_IGNORE && done > 0)                         \
			memcpy(statuses, own, (size_t)done * sizeof(*own));                \
		free(before);                                                              \
		free(own);                                                                 \
		free(label);                                                               \
		return record_leave(result);                                               \
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
