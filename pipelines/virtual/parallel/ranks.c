/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 4096u

/* --- messages --- */

int ranks_init(struct ranks *ranks, unsigned count, unsigned own)
{
	ranks->count = count;
	ranks->own = own;
	ranks->out = calloc(count, sizeof(*ranks->out));
	ranks->in = calloc(count, sizeof(*ranks->in));
	return ranks->out != NULL && ranks->in != NULL ? 0 : -ENOMEM;
}

void ranks_fini(struct ranks *ranks)
{
	for (unsigned i = 0; ranks->out != NULL && ranks->in != NULL && i < ranks->count; i++) {
		free(ranks->out[i].bytes);
		free(ranks->in[i].bytes);
	}
	free(ranks->out);
	free(ranks->in);
	ranks->out = ranks->in = NULL;
}

int ranks_reserve(struct ranks_message *message, size_t bytes)
{
	size_t room = message->room > 0 ? message->room : ROOM_FIRST;
	uint8_t *larger;

	if (bytes > SIZE_MAX / 2)
		return -ENOMEM;
	while (room < bytes)
		room *= 2;
	if (room == message->room)
		return 0;
	larger = realloc(message->bytes, room);
	if (larger == NULL)
		return -ENOMEM;
	message->bytes = larger;
	message->room = room;
	return 0;
}

void *ranks_append(struct ranks_message *message, size_t bytes)
{
	void *end;

	if (ranks_reserve(message, message->used + bytes) < 0)
		return NULL;
	end = message->bytes + message->used;
	message->used += bytes;
	return end;
}

const void *ranks_take(struct ranks_reader *reader, size_t bytes)
{
	const void *at = reader->at;

	if (bytes > reader->left)
		return NULL;
	reader->at += bytes;
	reader->left -= bytes;
	return at;
}

/* --- exchanges --- */

void ranks_fail(struct ranks *ranks, const char *why)
{
	if (!ranks->failed)
		error_set(&ranks->error, EIO, "rank %u of %u: %s", ranks->own, ranks->count, why);
	ranks->failed = true;
}

int ranks_exchange(struct ranks *ranks)
{
	if (!ranks->failed)
		ranks->failed = ranks->ops->exchange(ranks, &ranks->error) < 0;
	for (unsigned i = 0; i < ranks->count; i++)
		ranks->out[i].used = 0;
	return ranks->failed ? -EIO : 0;
}

/* Sends the same bytes to every other rank. Returns 0 or -EIO. */
static int send_all(struct ranks *ranks, const void *bytes, size_t size)
{
	for (unsigned i = 0; i < ranks->count; i++) {
		void *copy = i == ranks->own ? NULL : ranks_append(&ranks->out[i], size);

		if (copy != NULL)
			memcpy(copy, bytes, size);
		else if (i != ranks->own)
			ranks_fail(ranks, "not enough memory for messages");
	}
	return ranks_exchange(ranks);
}

/* Returns the message of a rank, or NULL if its size is not 'size'. */
static const void *message_of(struct ranks *ranks, unsigned rank, size_t size)
{
	if (ranks->in[rank].used == size)
		return ranks->in[rank].bytes;
	ranks_fail(ranks, "another rank sent a message of unexpected length");
	return NULL;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a + b;
}

static int combine(struct ranks *ranks, uint64_t *value, unsigned values,
	uint64_t (*with)(uint64_t a, uint64_t b))
{
	size_t size = values * sizeof(*value);

	if (send_all(ranks, value, size) < 0)
		return -EIO;
	for (unsigned i = 0; i < ranks->count; i++)
		if (i != ranks->own && message_of(ranks, i, size) == NULL)
			return -EIO;
	for (unsigned i = 0; i < ranks->count; i++) {
		for (unsigned k = 0; i != ranks->own && k < values; k++) {
			uint64_t other;

			memcpy(&other, ranks->in[i].bytes + k * sizeof(other), sizeof(other));
			value[k] = with(value[k], other);
		}
	}
	return 0;
}

int ranks_max(struct ranks *ranks, uint64_t *value, unsigned values)
{
	return combine(ranks, value, values, larger);
}

int ranks_sum(struct ranks *ranks, uint64_t *value, unsigned values)
{
	return combine(ranks, value, values, sum);
}

int ranks_share(struct ranks *ranks, void *bytes, size_t size)
{
	const void *from;

	if (send_all(ranks, bytes, ranks->own == 0 ? size : 0) < 0)
		return -EIO;
	if (ranks->own == 0)
		return 0;
	from = message_of(ranks, 0, size);
	if (from == NULL)
		return -EIO;
	memcpy(bytes, from, size);
	return 0;
}

/* --- agreement --- */

struct outcome {
	int result;
	struct error error;
};

int ranks_agree(struct ranks *ranks, int result, struct error *error)
{
	struct outcome outcome = {.result = result};

	if (ranks == NULL)
		return result;
	if (result < 0)
		outcome.error = *error;
	if (send_all(ranks, &outcome, sizeof(outcome)) < 0) {
		*error = ranks->error;
		return -EIO;
	}
	for (unsigned i = 0; i < ranks->count; i++) {
		const struct outcome *other = &outcome;

		if (i != ranks->own)
			other = message_of(ranks, i, sizeof(outcome));
		if (other == NULL) {
			*error = ranks->error;
			return -EIO;
		}
		if (other->result >= 0)
			continue;
		result = other->result;
		if (i == 0)
			*error = other->error;
		else
			error_set(error, -result, "rank %u: %.*s", i, ERROR_TEXT - 16,
				other->error.text);
		return result;
	}
	return 0;
}

int ranks_compare(
	struct ranks *ranks, const void *bytes, size_t size, const char *what, struct error *error)
{
	int result = 0;

	if (send_all(ranks, bytes, ranks->own == 0 ? size : 0) < 0) {
		*error = ranks->error;
		return -EIO;
	}
	if (ranks->own != 0 &&
		(ranks->in[0].used != size || memcmp(ranks->in[0].bytes, bytes, size) != 0))
		result = error_set(error, EINVAL,
			"its %s differs from rank 0's, but must be the same in all ranks", what);
	return ranks_agree(ranks, result, error);
}

void ranks_close(struct ranks *ranks)
{
	if (ranks != NULL)
		ranks->ops->close(ranks);
}

void ranks_end_all(struct ranks *ranks, int code)
{
	ranks->ops->end_all(ranks, code);
}

/* --- the environment --- */

unsigned ranks_of_environment(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	return rank != NULL ? (unsigned)strtoul(rank, NULL, 10) : 0;
}

bool ranks_were_started(const char *program)
{
	const char *count = getenv("OMPI_COMM_WORLD_SIZE"), *command = getenv("OMPI_COMMAND");
	const char *slash = command != NULL ? strrchr(command, '/') : NULL;

	/* The environment is inherited: mpirun may have started a program that runs this one. */
	return count != NULL && strtoul(count, NULL, 10) > 1 && command != NULL &&
	       strcmp(slash != NULL ? slash + 1 : command, program) == 0;
}
