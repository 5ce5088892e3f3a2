/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fake_nic_cable.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ether.h>

/* Header of each frame in a ring. */
struct record {
	uint32_t bytes; /* SKIP: the ring continues at its start */
	uint32_t descriptors;
	uint64_t sent_tsc; /* arrival time at the far end */
};

#define SKIP  UINT32_MAX
#define ALIGN 8u
/* A NIC pads shorter frames. */
#define BYTES_MIN (RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN)

/* --- cables within this process --- */

struct fake_local {
	struct fake_local *next;
	char name[64];
	int file; /* in memory */
	unsigned ends;
};

static pthread_mutex_t local_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fake_local *local_first;

static struct fake_local *local_create(const char *name)
{
	struct fake_local *local = calloc(1, sizeof(*local));

	if (local == NULL)
		return NULL;
	snprintf(local->name, sizeof(local->name), "%s", name);
	local->file = memfd_create(name, MFD_CLOEXEC);
	if (local->file < 0) {
		free(local);
		return NULL;
	}
	local->next = local_first;
	local_first = local;
	return local;
}

static struct fake_local *local_get(const char *name)
{
	struct fake_local *local;

	pthread_mutex_lock(&local_lock);
	for (local = local_first; local != NULL; local = local->next)
		if (strcmp(local->name, name) == 0)
			break;
	if (local == NULL)
		local = local_create(name);
	if (local != NULL)
		local->ends++;
	pthread_mutex_unlock(&local_lock);
	return local;
}

static void local_put(struct fake_local *local)
{
	struct fake_local **at = &local_first;

	pthread_mutex_lock(&local_lock);
	if (--local->ends == 0) {
		while (*at != local)
			at = &(*at)->next;
		*at = local->next;
		close(local->file);
		free(local);
	}
	pthread_mutex_unlock(&local_lock);
}

/* --- ends --- */

/* Each end opens the file separately, because locks belong to open files. */
static int open_file(struct fake_cable *cable, const char *name)
{
	char path[64];

	if (strchr(name, '/') != NULL)
		return open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cable->local = local_get(name);
	if (cable->local == NULL)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", cable->local->file);
	return open(path, O_RDWR | O_CLOEXEC);
}

static struct flock lock_of(unsigned side)
{
	return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = side, .l_len = 1};
}

static int map_file(struct fake_cable *cable)
{
	struct flock lock = lock_of(cable->side);
	void *map;

	if (fcntl(cable->file, F_OFD_SETLK, &lock) < 0)
		return -EBUSY;
	if (ftruncate(cable->file, sizeof(*cable->map)) < 0)
		return -errno;
	map = mmap(NULL, sizeof(*cable->map), PROT_READ | PROT_WRITE, MAP_SHARED, cable->file, 0);
	if (map == MAP_FAILED)
		return -errno;
	cable->map = map;
	cable->own = &cable->map->end[cable->side];
	cable->far = &cable->map->end[1 - cable->side];
	cable->out = cable->map->ring[cable->side];
	cable->in = cable->map->ring[1 - cable->side];
	return 0;
}

int fake_cable_open(struct fake_cable *cable, const char *name, unsigned side)
{
	int result;

	*cable = (struct fake_cable){.side = side};
	cable->file = open_file(cable, name);
	result = cable->file < 0 ? -errno : map_file(cable);
	if (result < 0)
		fake_cable_close(cable);
	else
		fake_cable_deaf(cable);
	return result;
}

void fake_cable_close(struct fake_cable *cable)
{
	if (cable->map != NULL) {
		fake_cable_deaf(cable);
		munmap(cable->map, sizeof(*cable->map));
	}
	if (cable->file >= 0)
		close(cable->file);
	if (cable->local != NULL)
		local_put(cable->local);
	*cable = (struct fake_cable){.file = -1};
}

void fake_cable_listen(
	struct fake_cable *cable, uint32_t descriptors, uint32_t buffer_bytes, uint32_t split)
{
	struct fake_cable_end *own = cable->own;

	own->taken = __atomic_load_n(&cable->far->given, __ATOMIC_ACQUIRE);
	own->tail = __atomic_load_n(&cable->far->head, __ATOMIC_ACQUIRE);
	own->buffer_bytes = buffer_bytes;
	own->split = split;
	__atomic_store_n(&own->descriptors, descriptors, __ATOMIC_RELEASE);
}

void fake_cable_deaf(struct fake_cable *cable)
{
	__atomic_store_n(&cable->own->descriptors, 0, __ATOMIC_RELEASE);
}

bool fake_cable_is_cut(const struct fake_cable *cable)
{
	return __atomic_load_n(&cable->map->cut, __ATOMIC_ACQUIRE) != 0;
}

void fake_cable_cut(struct fake_cable *cable, bool cut)
{
	__atomic_store_n(&cable->map->cut, cut, __ATOMIC_RELEASE);
}

bool fake_cable_far_started(const struct fake_cable *cable)
{
	struct flock lock = lock_of(1 - cable->side);

	return __atomic_load_n(&cable->far->descriptors, __ATOMIC_ACQUIRE) != 0 &&
	       fcntl(cable->file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* --- frames --- */

static uint32_t record_bytes(uint32_t frame_bytes)
{
	return (uint32_t)sizeof(struct record) + RTE_ALIGN_CEIL(frame_bytes, ALIGN);
}

static void copy_frame(uint8_t *to, const struct rte_mbuf *frame, uint32_t bytes)
{
	uint32_t done = 0;

	for (; frame != NULL; frame = frame->next) {
		memcpy(to + done, rte_pktmbuf_mtod(frame, const void *), frame->data_len);
		done += frame->data_len;
	}
	memset(to + done, 0, bytes - done);
}

/* Returns whether the far end has space for the frame. *at is its position. */
static bool reserve(struct fake_cable *cable, uint32_t needed, uint32_t descriptors, uint64_t *at)
{
	uint64_t tail = __atomic_load_n(&cable->far->tail, __ATOMIC_ACQUIRE);
	uint64_t taken = __atomic_load_n(&cable->far->taken, __ATOMIC_ACQUIRE);
	uint64_t head = cable->own->head;
	uint32_t left = FAKE_CABLE_RING_BYTES - (uint32_t)(head % FAKE_CABLE_RING_BYTES);
	uint32_t skipped = left < needed ? left : 0;

	if (head + skipped + needed - tail > FAKE_CABLE_RING_BYTES ||
		cable->own->given + descriptors - taken > cable->far->descriptors)
		return false;
	if (skipped > 0)
		*(struct record *)(cable->out + head % FAKE_CABLE_RING_BYTES) =
			(struct record){.bytes = SKIP};
	*at = head + skipped;
	return true;
}

void fake_cable_send(struct fake_cable *cable, const struct rte_mbuf *frame)
{
	uint32_t bytes = RTE_MAX(frame->pkt_len, BYTES_MIN), descriptors;
	struct record *record;
	uint64_t at;

	cable->own->sent++;
	if (__atomic_load_n(&cable->far->descriptors, __ATOMIC_ACQUIRE) == 0)
		return;
	descriptors = RTE_MAX(cable->far->split,
		(bytes + cable->far->buffer_bytes - 1) / cable->far->buffer_bytes);
	if (!reserve(cable, record_bytes(bytes), descriptors, &at)) {
		__atomic_fetch_add(&cable->far->missed, 1, __ATOMIC_RELAXED);
		return;
	}
	record = (struct record *)(cable->out + at % FAKE_CABLE_RING_BYTES);
	*record = (struct record){
		.bytes = bytes, .descriptors = descriptors, .sent_tsc = rte_rdtsc()};
	copy_frame((uint8_t *)(record + 1), frame, bytes);
	__atomic_store_n(&cable->own->given, cable->own->given + descriptors, __ATOMIC_RELEASE);
	__atomic_store_n(&cable->own->head, at + record_bytes(bytes), __ATOMIC_RELEASE);
}

static const struct record *first_record(struct fake_cable *cable)
{
	uint64_t head = __atomic_load_n(&cable->far->head, __ATOMIC_ACQUIRE);
	uint64_t tail = cable->own->tail;
	const struct record *record;

	if (tail == head)
		return NULL;
	record = (const struct record *)(cable->in + tail % FAKE_CABLE_RING_BYTES);
	if (record->bytes != SKIP)
		return record;
	tail += FAKE_CABLE_RING_BYTES - tail % FAKE_CABLE_RING_BYTES;
	__atomic_store_n(&cable->own->tail, tail, __ATOMIC_RELEASE);
	return (const struct record *)cable->in;
}

const uint8_t *fake_cable_first(struct fake_cable *cable, uint32_t *bytes)
{
	const struct record *record = first_record(cable);

	if (record == NULL)
		return NULL;
	*bytes = record->bytes;
	return (const uint8_t *)(record + 1);
}

uint64_t fake_cable_first_tsc(struct fake_cable *cable)
{
	return first_record(cable)->sent_tsc;
}

void fake_cable_take(struct fake_cable *cable)
{
	const struct record *record = first_record(cable);
	struct fake_cable_end *own = cable->own;

	__atomic_store_n(&own->taken, own->taken + record->descriptors, __ATOMIC_RELEASE);
	__atomic_store_n(&own->tail, own->tail + record_bytes(record->bytes), __ATOMIC_RELEASE);
}
