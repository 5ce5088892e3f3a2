/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared_ring.h"

void shared_ring_tx_init(struct shared_ring_tx *tx, const struct shared_ring *ring)
{
	*tx = (struct shared_ring_tx){
		.ring = *ring,
		.written = atomic_load_explicit(&ring->marks->written, memory_order_acquire),
		.read = atomic_load_explicit(&ring->marks->read, memory_order_acquire),
	};
	/* No correct writer leaves such positions. The reader then treats the ring as empty. */
	if (tx->written - tx->read > ring->size)
		tx->written = tx->read;
	shared_ring_flush(tx);
}

void shared_ring_rx_init(
	struct shared_ring_rx *rx, const struct shared_ring *ring, uint32_t longest)
{
	*rx = (struct shared_ring_rx){.ring = *ring, .longest = longest};
	shared_ring_release(rx, atomic_load_explicit(&ring->marks->written, memory_order_acquire));
	shared_ring_wake(rx);
}

bool shared_ring_sleep(struct shared_ring_rx *rx)
{
	atomic_store_explicit(&rx->ring.sleep->set, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&rx->ring.marks->written, memory_order_acquire) == rx->read)
		return true;
	shared_ring_wake(rx);
	return false;
}

/* Discards everything that arrived, because the position of the next record is unknown. */
static __attribute__((noinline, cold)) void empty(struct shared_ring_rx *rx, uint64_t written)
{
	shared_ring_release(rx, written);
	__atomic_store_n(&rx->damaged, rx->damaged + 1, __ATOMIC_RELAXED);
}

uint16_t shared_ring_peek(
	struct shared_ring_rx *rx, struct shared_ring_record *records, uint16_t count)
{
	uint64_t written = atomic_load_explicit(&rx->ring.marks->written, memory_order_acquire);
	uint64_t waiting = written - rx->read, at = rx->read;
	uint16_t found = 0;

	if (waiting > rx->ring.size) {
		empty(rx, written);
		return 0;
	}
	for (; found < count && waiting > 0; found++) {
		const uint8_t *record = rx->ring.bytes + (at & (rx->ring.size - 1));
		uint64_t bytes;
		uint32_t length;

		memcpy(&length, record, sizeof(length));
		/* Prevents a second read: the other process may change it after the check. */
		__asm__ volatile("" : "+r"(length));
		bytes = shared_ring_record_bytes(length);
		if (length == 0 || length > rx->longest || bytes > waiting)
			break;
		at += bytes;
		waiting -= bytes;
		records[found] = (struct shared_ring_record){
			.frame = record + SHARED_RING_HEAD, .length = length, .next = at};
		memcpy(&records[found].due, record + SHARED_RING_DUE, sizeof(weft_time));
	}
	/* Records before the damage are valid. */
	if (found == 0 && waiting > 0)
		empty(rx, written);
	return found;
}

static uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* --- the file --- */

/* The kernel releases the lock when the process ends, however it ends. */
static int lock_end(int fd, const char *path, unsigned end, struct error *error)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = end, .l_len = 1};

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return error_set(
			error, EBUSY, "%s: another process uses end %u of this link", path, end);
	return error_set(error, errno, "%s: %s", path, strerror(errno));
}

static int check_owner(const char *path, const struct stat *status, struct error *error)
{
	if (!S_ISREG(status->st_mode) || status->st_uid != geteuid() ||
		(status->st_mode & 077) != 0)
		return error_set(error, EPERM, "%s: only user %u must have access to this file",
			path, (unsigned)geteuid());
	return 0;
}

/* Reserves the memory, because a page that cannot be allocated later would kill the process. Both
 * ends may do this concurrently, and neither shortens the file. */
static int reserve(int fd, const char *path, uint64_t bytes, struct error *error)
{
	struct stat status;
	int result = fstat(fd, &status) == 0 ? check_owner(path, &status, error)
					     : error_set(error, errno, "%s: cannot be examined: %s",
						       path, strerror(errno));

	if (result < 0)
		return result;
	if (status.st_size == 0 && fallocate(fd, 0, 0, (off_t)bytes) < 0)
		return error_set(error, errno, "%s: cannot reserve %u KiB: %s", path,
			(unsigned)(bytes >> 10), strerror(errno));
	if (fstat(fd, &status) < 0)
		return error_set(error, errno, "%s: cannot be examined: %s", path, strerror(errno));
	if ((uint64_t)status.st_size == bytes)
		return 0;
	return error_set(error, EINVAL,
		"%s has %lld bytes instead of %llu; does it belong to another lab file?", path,
		(long long)status.st_size, (unsigned long long)bytes);
}

/* --- the memory --- */

static void *map(int fd, uint64_t offset, uint64_t bytes, void *at)
{
	int flags = MAP_SHARED | MAP_POPULATE | (at != NULL ? MAP_FIXED : 0);

	return mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
}

/* Returns NULL if there is no address space. */
static uint8_t *map_twice(int fd, uint64_t offset, uint64_t bytes)
{
	uint8_t *both = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (both == MAP_FAILED)
		return NULL;
	if (map(fd, offset, bytes, both) != MAP_FAILED &&
		map(fd, offset, bytes, both + bytes) != MAP_FAILED)
		return both;
	munmap(both, 2 * bytes);
	return NULL;
}

static bool map_all(struct shared_file *file, unsigned end, uint64_t ring_bytes)
{
	uint64_t first = page_bytes(), second = first + ring_bytes;
	struct shared_ring_marks *marks = map(file->fd, 0, first, NULL);
	struct shared_ring_sleep *sleep;

	if (marks == MAP_FAILED)
		return false;
	file->marks = marks;
	sleep = (struct shared_ring_sleep *)(marks + 2);
	file->tx = (struct shared_ring){.marks = &marks[end],
		.sleep = &sleep[end],
		.bytes = map_twice(file->fd, end == 0 ? first : second, ring_bytes),
		.size = ring_bytes};
	file->rx = (struct shared_ring){.marks = &marks[1 - end],
		.sleep = &sleep[1 - end],
		.bytes = map_twice(file->fd, end == 0 ? second : first, ring_bytes),
		.size = ring_bytes};
	return file->tx.bytes != NULL && file->rx.bytes != NULL;
}

int shared_file_open(struct shared_file *file, const char *path, unsigned end, uint64_t ring_bytes,
	struct error *error)
{
	int result;

	*file = (struct shared_file){
		.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), .watch = -1};
	if (file->fd < 0)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	result = lock_end(file->fd, path, end, error);
	if (result == 0)
		result = reserve(file->fd, path, page_bytes() + 2 * ring_bytes, error);
	if (result == 0 && !map_all(file, end, ring_bytes))
		result =
			error_set(error, ENOMEM, "%s: cannot be mapped: %s", path, strerror(errno));
	if (result < 0)
		shared_file_close(file);
	return result;
}

void shared_file_close(struct shared_file *file)
{
	if (file->marks != NULL)
		munmap(file->marks, page_bytes());
	if (file->tx.bytes != NULL)
		munmap(file->tx.bytes, 2 * file->tx.size);
	if (file->rx.bytes != NULL)
		munmap(file->rx.bytes, 2 * file->rx.size);
	/* A watch applies to the file, not to the descriptor. */
	if (file->watch >= 0)
		inotify_rm_watch(file->inotify, file->watch);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct shared_file){.fd = -1, .watch = -1};
}

int shared_file_watch(struct shared_file *file, int inotify)
{
	char path[32];

	if (file->watch >= 0 && file->inotify == inotify)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	file->inotify = inotify;
	file->watch = inotify_add_watch(inotify, path, IN_MODIFY);
	return file->watch < 0 ? -errno : 0;
}

/* Writes a byte after the positions, because a watch does not see stores to mapped memory. */
void shared_file_notify(const struct shared_file *file)
{
	(void)!pwrite(file->fd, "", 1, (off_t)page_bytes() - 1);
}
