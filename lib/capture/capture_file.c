/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_file.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arrays.h"
#include "os/program_threads.h"
#include "port/tsc_clock.h"

#define ROUND_MS       1
#define READER_WAIT_MS 20           /* between checks for a FIFO's reader */
#define STUCK_MS       1000         /* maximum wait at the end for a reader that does not read */
#define STUCK_ROUNDS   50           /* while the process is stopped, one passes at most */
#define OUT_ENOUGH     (256u << 10) /* the rings are not read while more is buffered */

struct member {
	struct port *port;
	struct capture *capture;
	uint64_t offered_before, dropped_before, abandoned;
	uint64_t written, told; /* in this file; drops reported in earlier files */
	uint32_t interface;
	bool leaving;
};

struct capture_file {
	char *path;
	struct capture_rotation rotation;
	const struct capture_options *options;
	int fd;      /* -1 until a FIFO has a reader */
	int wake_fd; /* eventfd: the state has changed */
	pthread_t thread;
	pthread_mutex_t lock; /* protects everything below */
	pthread_cond_t left;  /* signalled when a member has left */
	struct member *member;
	unsigned members, room;
	struct pcapng pcapng;
	uint8_t *out; /* formatted, but not yet written */
	size_t out_used;
	uint32_t out_room;
	weft_time newest;
	bool closing;
	bool ended; /* its reader closed it, or an error occurred */
	int result; /* 0, or the error that ended writing */
};

static int out_append(void *ctx, const void *bytes, size_t count)
{
	struct capture_file *file = ctx;

	if (!array_reserve(&file->out, &file->out_room, file->out_used + count, 1))
		return -ENOMEM;
	memcpy(file->out + file->out_used, bytes, count);
	file->out_used += count;
	file->rotation.bytes += count;
	return 0;
}

static int flush(struct capture_file *file);

static int member_begin(struct capture_file *file, struct member *member)
{
	const struct capture_filter *filter = capture_filter_of(member->capture);
	int interface;

	file->pcapng.filter = filter != NULL && filter->text[0] != '\0' ? filter->text : NULL;
	interface = pcapng_add_interface(
		&file->pcapng, member->port->name, capture_snap_bytes(member->capture), 0);
	member->interface = (uint32_t)interface;
	return interface < 0 ? interface : 0;
}

static struct capture_counts member_counts(const struct member *member)
{
	const struct capture *capture = member->capture;

	return (struct capture_counts){
		.offered = atomic_load(&capture->offered) - member->offered_before,
		.dropped =
			atomic_load(&capture->dropped) - member->dropped_before + member->abandoned,
	};
}

/* Ends the member's part of the file with counts. They show whether frames were removed later. */
static void member_write_counts(struct capture_file *file, struct member *member)
{
	uint64_t dropped = member_counts(member).dropped - member->told;

	pcapng_write_counts(&file->pcapng, member->interface,
		file->options->epoch_ns + file->newest / PS_PER_NS, member->written + dropped,
		dropped);
	member->told += dropped;
	member->written = 0;
}

/* Ends the current file with all frames so far, and opens the next one. */
static void next_file(struct capture_file *file)
{
	int result;

	for (unsigned i = 0; i < file->members; i++)
		member_write_counts(file, &file->member[i]);
	do
		result = flush(file);
	while (result == -EAGAIN);
	close(file->fd);
	file->fd = capture_rotation_open(&file->rotation, O_TRUNC | O_NONBLOCK);
	if (result == 0 && file->fd < 0)
		result = file->fd;
	pcapng_begin(&file->pcapng, out_append, file, "weft " WEFT_VERSION);
	for (unsigned i = 0; i < file->members; i++)
		member_begin(file, &file->member[i]);
	if (result < 0)
		file->pcapng.failed = result;
}

static void slot_write(
	struct capture_file *file, struct member *member, const struct capture_slot *slot)
{
	char comment[PCAPNG_COMMENT_MAX];
	struct pcapng_packet packet = {
		.direction = slot->direction,
		.time_ns = file->options->epoch_ns + slot->now / PS_PER_NS,
		.bytes = slot->bytes,
		.captured_bytes = slot->captured_bytes,
		.frame_bytes = slot->frame_bytes,
		.comment = comment,
	};

	capture_state_format(&slot->state, file->options->reason, comment, sizeof(comment));
	while (capture_rotation_is_due(
		       &file->rotation, packet.time_ns, pcapng_packet_bytes(&packet)) &&
		file->pcapng.failed == 0)
		next_file(file);
	packet.interface = member->interface;
	member->written++;
	pcapng_write_packet(&file->pcapng, &packet);
}

/* Returns the oldest frame that is not written yet, or NULL. */
static struct capture_slot *member_head(const struct member *member)
{
	uint32_t bytes;

	return record_ring_next(member->capture->ring, &bytes);
}

static uint64_t member_discard(struct member *member)
{
	uint64_t frames = 0;

	for (; member_head(member) != NULL; frames++)
		record_ring_done(member->capture->ring);
	return frames;
}

static struct capture_slot *oldest(struct capture_file *file, struct member **of)
{
	struct capture_slot *best = NULL;

	for (unsigned i = 0; i < file->members; i++) {
		struct capture_slot *head = member_head(&file->member[i]);

		if (head != NULL && (best == NULL || head->now < best->now)) {
			best = head;
			*of = &file->member[i];
		}
	}
	return best;
}

/* Writes frames up to 'watermark'. Returns true if some are left because 'out' is full. */
static bool write_frames(struct capture_file *file, weft_time watermark)
{
	struct capture_slot *slot;
	struct member *member;

	while ((slot = oldest(file, &member)) != NULL && slot->now <= watermark) {
		if (file->out_used >= OUT_ENOUGH)
			return true;
		slot_write(file, member, slot);
		record_ring_done(member->capture->ring);
	}
	return false;
}

static weft_time newest_offered(const struct capture_file *file)
{
	weft_time newest = file->newest;

	for (unsigned i = 0; i < file->members; i++) {
		weft_time at = atomic_load(&file->member[i].capture->newest);

		newest = RTE_MAX(newest, at);
	}
	return newest;
}

static void member_delete(struct capture_file *file, struct member *member)
{
	*member = file->member[--file->members];
	pthread_cond_broadcast(&file->left);
}

static void let_leave(struct capture_file *file)
{
	for (unsigned i = file->members; i-- > 0;) {
		struct member *member = &file->member[i];

		if (!member->leaving || member_head(member) != NULL)
			continue;
		member_write_counts(file, member);
		member_delete(file, member);
	}
}

static bool drain(struct capture_file *file)
{
	weft_time watermark = file->newest;
	bool more;

	file->newest = newest_offered(file);
	more = write_frames(file, watermark);
	let_leave(file);
	return more;
}

/* Writes as much as the file accepts without blocking. Returns 0, -EAGAIN, or the error. */
static int flush(struct capture_file *file)
{
	size_t done = 0;
	int result = file->pcapng.failed;

	while (result == 0 && done < file->out_used) {
		ssize_t n = write(file->fd, file->out + done, file->out_used - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			result = -errno;
	}
	memmove(file->out, file->out + done, file->out_used - done);
	file->out_used -= done;
	return result;
}

/* Sleeps until the file accepts more (if 'blocked'), another thread wakes this one, or the time
 * expires. Returns -EPIPE if the reader closed the file. */
static int pause_round(struct capture_file *file, bool blocked, int ms)
{
	struct pollfd fds[2] = {
		{.fd = file->wake_fd, .events = POLLIN},
		{.fd = file->fd, .events = blocked ? POLLOUT : 0},
	};
	uint64_t ignored;

	poll(fds, 2, ms);
	if (fds[0].revents & POLLIN && read(file->wake_fd, &ignored, sizeof(ignored)) < 0)
		return 0;
	return fds[1].revents & POLLERR ? -EPIPE : 0;
}

/* Waits at the end for the file to accept more. -ETIMEDOUT: the reader has stopped reading. */
static int pause_last(struct capture_file *file)
{
	struct pollfd fd = {.fd = file->fd, .events = POLLOUT};
	int ready = 0;

	for (unsigned round = 0; ready == 0 && round < STUCK_ROUNDS; round++)
		ready = poll(&fd, 1, STUCK_MS / STUCK_ROUNDS);
	return ready == 0 ? -ETIMEDOUT : 0;
}

static bool fifo_has_reader(struct capture_file *file)
{
	bool open_now;

	pthread_mutex_lock(&file->lock);
	if (file->fd < 0)
		file->fd = open(file->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	open_now = file->fd >= 0;
	pthread_mutex_unlock(&file->lock);
	return open_now;
}

static void end_all(struct capture_file *file, int result)
{
	pthread_mutex_lock(&file->lock);
	file->ended = true;
	file->result = result == -EPIPE ? 0 : result;
	while (file->members > 0) {
		struct member *member = &file->member[0];

		__atomic_store_n(&member->port->capture, NULL, __ATOMIC_RELEASE);
		member_discard(member);
		member_delete(file, member);
	}
	pthread_mutex_unlock(&file->lock);
}

/* One iteration of the thread. Returns 0 to continue, 1 when done, or the error that ends it. */
static int turn(struct capture_file *file)
{
	bool more, blocked, closing;
	int result;

	pthread_mutex_lock(&file->lock);
	more = drain(file);
	closing = file->closing && file->members == 0;
	/* Nothing is written before a port is added, so that an error can be reported for it. */
	result = file->pcapng.interfaces > 0 ? flush(file) : 0;
	pthread_mutex_unlock(&file->lock);
	blocked = result == -EAGAIN;
	if (result < 0 && !blocked)
		return result;
	if (closing)
		return blocked ? pause_last(file) : 1;
	if (more && !blocked)
		return 0;
	return pause_round(file, blocked, ROUND_MS);
}

static bool is_closing(struct capture_file *file)
{
	bool closing;

	pthread_mutex_lock(&file->lock);
	closing = file->closing;
	pthread_mutex_unlock(&file->lock);
	return closing;
}

static void *writer_main(void *ctx)
{
	struct capture_file *file = ctx;
	int result = 0;

	while (result == 0) {
		if (fifo_has_reader(file))
			result = turn(file);
		else if (is_closing(file))
			result = -EPIPE;
		else
			pause_round(file, false, READER_WAIT_MS);
	}
	end_all(file, result < 0 ? result : 0);
	return NULL;
}

/* The thread blocks signals: the program receives them, and SIGPIPE becomes an errno here. */
static int start_thread(struct capture_file *file)
{
	sigset_t all, before;
	int result;

	sigfillset(&all);
	sigdelset(&all, THREAD_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&file->thread, NULL, writer_main, file);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -result;
}

/* Sets '*fd' to -1 for a FIFO, which is opened once it has a reader: open() would block. */
static int open_path(struct capture_rotation *rotation, int *fd)
{
	struct stat status;

	*fd = -1;
	if (!capture_rotates(rotation) && stat(rotation->path, &status) == 0 &&
		S_ISFIFO(status.st_mode))
		return 0;
	*fd = capture_rotation_open(rotation, O_TRUNC | O_NONBLOCK);
	return *fd < 0 ? *fd : 0;
}

static void file_free(struct capture_file *file)
{
	if (file == NULL)
		return;
	if (file->fd >= 0)
		close(file->fd);
	if (file->wake_fd >= 0)
		close(file->wake_fd);
	free(file->member);
	free(file->out);
	free(file->path);
	free(file);
}

struct capture_file *capture_file_open(
	const char *path, const struct capture_options *options, struct error *error)
{
	struct capture_file *file = calloc(1, sizeof(*file));
	int result = -ENOMEM;

	if (file == NULL)
		goto err;
	*file = (struct capture_file){.options = options,
		.fd = -1,
		.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.path = strdup(path)};
	if (file->path == NULL || file->wake_fd < 0)
		goto err;
	pthread_mutex_init(&file->lock, NULL);
	pthread_cond_init(&file->left, NULL);
	file->rotation.limits = options->limits;
	file->rotation.path = file->path;
	result = open_path(&file->rotation, &file->fd);
	if (result == 0)
		result = pcapng_begin(&file->pcapng, out_append, file, "weft " WEFT_VERSION);
	if (result == 0)
		result = start_thread(file);
	if (result == 0)
		return file;
err:
	error_set(error, -result, "%s: cannot write a capture: %s", path, strerror(-result));
	file_free(file);
	errno = -result;
	return NULL;
}

const char *capture_file_path(const struct capture_file *file)
{
	return file->path;
}

static void wake(struct capture_file *file)
{
	const uint64_t one = 1;

	/* This can fail only if the thread is about to wake up anyway. */
	if (write(file->wake_fd, &one, sizeof(one)) < 0)
		return;
}

static struct member *find(struct capture_file *file, const struct port *port)
{
	for (unsigned i = 0; i < file->members; i++)
		if (file->member[i].port == port)
			return &file->member[i];
	return NULL;
}

static struct member *member_new(struct capture_file *file)
{
	if (!array_reserve(&file->member, &file->room, file->members + 1u, sizeof(*file->member)))
		return NULL;
	return &file->member[file->members];
}

static int add_locked(struct capture_file *file, struct port *port, struct capture *capture)
{
	struct member *member = member_new(file);
	int result;

	if (file->ended)
		return file->result < 0 ? file->result : -EPIPE;
	if (member == NULL)
		return -ENOMEM;
	*member = (struct member){
		.port = port,
		.capture = capture,
		.offered_before = atomic_load(&capture->offered),
		.dropped_before = atomic_load(&capture->dropped),
	};
	result = member_begin(file, member);
	if (result < 0)
		return result;
	/* Discards frames that arrived too late for the previous file. */
	member_discard(member);
	file->members++;
	__atomic_store_n(&port->capture, capture, __ATOMIC_RELEASE);
	return 0;
}

int capture_file_add(struct capture_file *file, struct port *port, struct capture *capture)
{
	int result;

	pthread_mutex_lock(&file->lock);
	result = add_locked(file, port, capture);
	pthread_mutex_unlock(&file->lock);
	return result;
}

/* Waits until the thread releases the member. If the reader is stuck, discards the member's frames
 * and returns their number. */
static uint64_t wait_left(struct capture_file *file, struct port *port)
{
	struct timespec until;
	struct member *member;
	uint64_t abandoned;

	wake(file);
	for (unsigned rounds = 0; find(file, port) != NULL && file->fd >= 0;) {
		clock_deadline(&until, STUCK_MS / STUCK_ROUNDS);
		rounds = pthread_cond_timedwait(&file->left, &file->lock, &until) != 0 ? rounds + 1
										       : 0;
		/* With less output pending, the reader is not stuck: the thread had no CPU time. */
		if (rounds >= STUCK_ROUNDS && file->out_used >= OUT_ENOUGH)
			break;
	}
	member = find(file, port);
	if (member == NULL)
		return 0;
	member->abandoned = abandoned = member_discard(member);
	member_write_counts(file, member);
	member_delete(file, member);
	return abandoned;
}

static void begin_leaving(struct member *member)
{
	__atomic_store_n(&member->port->capture, NULL, __ATOMIC_RELEASE);
	member->leaving = true;
}

bool capture_file_remove(
	struct capture_file *file, struct port *port, struct capture_counts *counts)
{
	struct capture_counts now = {0};
	struct member *member;

	pthread_mutex_lock(&file->lock);
	member = find(file, port);
	if (member != NULL) {
		begin_leaving(member);
		now = member_counts(member);
		now.dropped += wait_left(file, port);
	}
	pthread_mutex_unlock(&file->lock);
	if (counts != NULL)
		*counts = now;
	return member != NULL;
}

bool capture_file_has(struct capture_file *file, const struct port *port)
{
	bool has;

	pthread_mutex_lock(&file->lock);
	has = find(file, port) != NULL;
	pthread_mutex_unlock(&file->lock);
	return has;
}

bool capture_file_idle(struct capture_file *file)
{
	bool idle;

	pthread_mutex_lock(&file->lock);
	idle = file->members == 0;
	pthread_mutex_unlock(&file->lock);
	return idle;
}

int capture_file_close(struct capture_file *file)
{
	int result;

	pthread_mutex_lock(&file->lock);
	file->closing = true;
	for (unsigned i = 0; i < file->members; i++)
		begin_leaving(&file->member[i]);
	pthread_mutex_unlock(&file->lock);
	wake(file);
	pthread_join(file->thread, NULL);
	result = file->result;
	pthread_cond_destroy(&file->left);
	pthread_mutex_destroy(&file->lock);
	file_free(file);
	return result;
}
