/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* libweft. A message that fits in a piece is sent immediately. For a longer message, the first
 * piece is a request. The receiver grants it when a receive matches, and copies further data
 * directly to the buffer of the receive. An unexpected message therefore needs no more memory than
 * a piece. When unexpected messages hold STORED_MAX bytes, the first piece of a further long
 * message is dropped and sent again after the grant. */

#include "weft_client_private.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define IDLE_POLLS 4096 /* empty polls between checks of the socket */
#define SPIN_POLLS 64   /* empty polls before the CPU is yielded to the lab's poll loops */
#define STORED_MAX (64 << 20)

/* --- progress --- */

static void go_down(struct weft *weft)
{
	struct operation_list *const all[] = {
		&weft->sending, &weft->asking, &weft->acking, &weft->posted, &weft->moving};

	weft->down = true;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		while (all[i]->head != NULL)
			operation_finish(weft, all[i]->head, -ENETDOWN);
	for (uint32_t i = 0; i < (uint32_t)weft->layout.hosts * weft->layout.endpoints; i++) {
		struct arriving *arriving = &weft->from[i];

		if (arriving->into != NULL && arriving->into->id == OPERATION_NO_ID)
			operation_finish(weft, arriving->into, -ENETDOWN);
		if (arriving->stored != NULL && arriving->stored->claimed != NULL) {
			operation_finish(weft, arriving->stored->claimed, -ENETDOWN);
			free(arriving->stored);
		}
		*arriving = (struct arriving){0};
	}
}

static void progress(struct weft *weft)
{
	const bool waits = weft->idle >= SPIN_POLLS;

	if (weft->down)
		return;
	if (client_take_completions(weft) + client_take_arrivals(weft) > 0)
		weft->idle = 0;
	else if (++weft->idle > SPIN_POLLS)
		sched_yield();
	if (weft->idle % IDLE_POLLS == IDLE_POLLS - 1 && weft_socket_is_dead(&weft->socket))
		weft->broken = true;
	if (weft->broken) {
		go_down(weft);
		return;
	}
	weft->dry = !waits && weft->free_slots == ENDPOINT_SEND_SLOTS;
	client_send_pieces(weft);
}

int weft_poll(struct weft *weft, struct weft_event *events, int max)
{
	int count = 0;

	progress(weft);
	for (; count < max && weft->events > 0; count++, weft->events--)
		events[count] = weft->event[weft->event_head++ & (weft->event_room - 1)];
	return count == 0 && weft->events == 0 && weft->down ? -ENETDOWN : count;
}

/* Also returns true if an event is already queued. */
static bool has_news(const struct weft *weft)
{
	return weft->events > 0 || weft->down || weft->broken || client_can_send(weft) ||
	       atomic_load(&weft->marks->completed) != weft->completed ||
	       atomic_load(&weft->marks->arrived) != weft->arrived;
}

int weft_arm(struct weft *weft)
{
	eventfd_t value;

	eventfd_read(weft->socket.bell, &value);
	atomic_store(&weft->marks->sleeps, 1);
	weft->broken = weft->broken || weft_socket_is_dead(&weft->socket);
	if (has_news(weft))
		return 0;
	weft->idle = SPIN_POLLS;
	return 1;
}

int weft_fd(const struct weft *weft)
{
	return weft->waits;
}

/* Arms the timer for 'timeout_ms'. Returns its descriptor; -1 if the timeout is negative. */
static int set_timer(struct weft *weft, int timeout_ms)
{
	const struct itimerspec at = {
		.it_value = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L}};

	if (timeout_ms < 0)
		return -1;
	if (weft->timer < 0)
		weft->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (weft->timer >= 0)
		timerfd_settime(weft->timer, 0, &at, NULL);
	return weft->timer;
}

int weft_wait(struct weft *weft, int timeout_ms)
{
	struct pollfd watched[] = {{weft->waits, POLLIN, 0}, {-1, POLLIN, 0}};

	for (bool timed = false; !timed; timed = watched[1].revents != 0) {
		progress(weft);
		if (weft->events > 0)
			return 1;
		if (weft->down)
			return -ENETDOWN;
		if (timeout_ms == 0)
			return 0;
		if (watched[1].fd < 0)
			watched[1].fd = set_timer(weft, timeout_ms);
		if (timeout_ms > 0 && watched[1].fd < 0)
			return -errno;
		if (poll(watched, 2, weft_arm(weft) ? -1 : 0) < 0)
			return -errno;
	}
	progress(weft);
	return weft->events > 0;
}

/* --- sends and receives --- */

int weft_post_send(struct weft *weft, const struct weft_message *message)
{
	struct operation *op;
	bool eager = message->bytes <= weft->layout.piece_bytes;

	if (message->to.host >= weft->layout.hosts ||
		message->to.endpoint >= weft->layout.endpoints ||
		(message->buffer == NULL && message->bytes > 0))
		return -EINVAL;
	if (weft->down)
		return -ENETDOWN;
	if ((message->flags & WEFT_IMMEDIATE) &&
		(!eager || weft->sending.head != NULL || weft->free_slots == 0))
		return -EAGAIN;
	op = operation_begin(weft, WEFT_SENT);
	if (op == NULL)
		return -ENOMEM;
	op->flags = message->flags;
	op->peer = message->to;
	op->space = message->space;
	op->has_data = message->has_data;
	op->tag = message->tag;
	op->data = message->data;
	op->buffer = (uint8_t *)message->buffer;
	op->message = op->bytes = message->bytes;
	op->context = message->context;
	if (!eager && !operation_give_id(weft, op)) {
		weft->live--;
		op->next = weft->spare;
		weft->spare = op;
		return -ENOMEM;
	}
	operation_put(&weft->sending, op);
	client_send_pieces(weft);
	return 0;
}

int weft_send(struct weft *weft, const struct weft_address *to, uint64_t tag, const void *buffer,
	uint64_t bytes, void *context)
{
	const struct weft_message message = {
		.to = *to, .tag = tag, .buffer = buffer, .bytes = bytes, .context = context};

	return weft_post_send(weft, &message);
}

static void describe(struct operation *op, const struct weft_receive *receive)
{
	op->flags = receive->flags;
	op->any = receive->from == NULL;
	if (receive->from != NULL)
		op->peer = *receive->from;
	op->space = receive->space;
	op->tag = receive->tag;
	op->mask = receive->mask;
	op->buffer = receive->buffer;
	op->bytes = receive->bytes;
	op->context = receive->context;
}

int weft_post_recv(struct weft *weft, const struct weft_receive *receive)
{
	struct operation *op;

	if (weft->down)
		return -ENETDOWN;
	if (receive->buffer == NULL && receive->bytes > 0)
		return -EINVAL;
	op = operation_begin(weft, WEFT_RECEIVED);
	if (op == NULL)
		return -ENOMEM;
	describe(op, receive);
	client_post(weft, op);
	client_send_pieces(weft);
	return 0;
}

int weft_recv(struct weft *weft, const struct weft_address *from, uint64_t tag, uint64_t mask,
	void *buffer, uint64_t bytes, void *context)
{
	const struct weft_receive receive = {.from = from,
		.tag = tag,
		.mask = mask,
		.buffer = buffer,
		.bytes = bytes,
		.context = context};

	return weft_post_recv(weft, &receive);
}

int weft_peek(struct weft *weft, const struct weft_receive *receive, struct weft_event *event)
{
	struct operation op = {.kind = WEFT_RECEIVED};
	const struct unexpected *stored;

	progress(weft);
	describe(&op, receive);
	stored = *client_find_unexpected(weft, &op);
	if (stored == NULL)
		return weft->down ? -ENETDOWN : -EAGAIN;
	*event = (struct weft_event){.kind = WEFT_RECEIVED,
		.context = receive->context,
		.bytes = stored->piece.bytes,
		.tag = stored->piece.tag,
		.data = stored->piece.data,
		.space = stored->piece.space,
		.has_data = stored->piece.has_data,
		.from = stored->from};
	return 0;
}

int weft_cancel(struct weft *weft, void *context)
{
	for (struct operation *op = weft->posted.head; op != NULL; op = op->next)
		if (op->context == context) {
			operation_finish(weft, op, -ECANCELED);
			return 0;
		}
	return -ENOENT;
}

/* --- opening --- */

static void map(struct weft *weft)
{
	const struct endpoint_layout *layout = &weft->layout;

	weft->marks = (void *)(weft->memory + layout->marks);
	weft->orders = (void *)(weft->memory + layout->orders);
	weft->completions = (void *)(weft->memory + layout->completions);
	weft->arrivals = (void *)(weft->memory + layout->arrivals);
	weft->returns = (void *)(weft->memory + layout->returns);
	weft->send = weft->memory + layout->send;
	weft->receive = weft->memory + layout->receive;
	weft->unexpected_end = &weft->unexpected;
	for (unsigned i = ENDPOINT_SEND_SLOTS; i-- > 0;)
		weft->free_slot[weft->free_slots++] = (uint16_t)i;
}

/* The end of the lab process wakes a program, as an event does. */
static int watch(struct weft *weft)
{
	struct epoll_event event = {.events = EPOLLIN};

	weft->waits = epoll_create1(EPOLL_CLOEXEC);
	return weft->waits < 0 ||
			       epoll_ctl(weft->waits, EPOLL_CTL_ADD, weft->socket.bell, &event) <
				       0 ||
			       epoll_ctl(weft->waits, EPOLL_CTL_ADD, weft->socket.connection,
				       &event) < 0
		       ? -errno
		       : 0;
}

static int prepare(struct weft *weft)
{
	weft->memory = mmap(NULL, weft->socket.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		weft->socket.memory, 0);
	if (weft->memory == MAP_FAILED) {
		weft->memory = NULL;
		return -ENOMEM;
	}
	memcpy(&weft->layout, weft->memory, sizeof(weft->layout));
	if (weft->layout.magic != ENDPOINT_MAGIC || weft->layout.version != ENDPOINT_VERSION ||
		weft->layout.bytes > weft->socket.bytes)
		return -EPROTO;
	map(weft);
	weft->ids = 64;
	weft->by_id = calloc(weft->ids, sizeof(struct operation *));
	weft->from =
		calloc((size_t)weft->layout.hosts * weft->layout.endpoints, sizeof(*weft->from));
	return weft->by_id != NULL && weft->from != NULL ? watch(weft) : -ENOMEM;
}

int weft_open_endpoint(const char *host, int endpoint, struct weft **opened)
{
	struct weft *weft;
	int result;

	if (endpoint < -1 || endpoint >= ENDPOINTS_MAX)
		return -ENOENT;
	weft = calloc(1, sizeof(*weft));
	if (weft == NULL)
		return -ENOMEM;
	weft->timer = weft->waits = -1;
	weft->stored_left = STORED_MAX;
	result = weft_socket_open(
		&weft->socket, host, endpoint < 0 ? ENDPOINT_ANY : (uint16_t)endpoint);
	if (result == 0)
		result = prepare(weft);
	if (result < 0) {
		weft_close(weft);
		return result;
	}
	*opened = weft;
	return 0;
}

int weft_open(const char *host, struct weft **weft)
{
	return weft_open_endpoint(host, -1, weft);
}

static void free_operations(struct operation *op)
{
	while (op != NULL) {
		struct operation *next = op->next;

		free(op);
		op = next;
	}
}

void weft_close(struct weft *weft)
{
	if (weft == NULL)
		return;
	if (weft->from != NULL)
		go_down(weft);
	while (weft->unexpected != NULL) {
		struct unexpected *next = weft->unexpected->next;

		free(weft->unexpected);
		weft->unexpected = next;
	}
	free_operations(weft->spare);
	if (weft->memory != NULL)
		munmap(weft->memory, weft->socket.bytes);
	weft_socket_close(&weft->socket);
	if (weft->timer >= 0)
		close(weft->timer);
	if (weft->waits >= 0)
		close(weft->waits);
	free(weft->by_id);
	free(weft->from);
	free(weft->event);
	free(weft);
}

struct weft_address weft_address(const struct weft *weft)
{
	return (struct weft_address){weft->layout.host, weft->layout.endpoint, weft->layout.life};
}

uint64_t weft_eager_bytes(const struct weft *weft)
{
	return weft->layout.piece_bytes;
}

int weft_find(struct weft *weft, const char *host, unsigned endpoint, struct weft_address *address)
{
	struct endpoint_answer answer;
	int result = weft_socket_ask(&weft->socket, ENDPOINT_FIND, host, 0, &answer);

	if (result < 0)
		return result;
	if (endpoint >= weft->layout.endpoints)
		return -ENOENT;
	*address = (struct weft_address){answer.host, (uint16_t)endpoint, 0};
	return 0;
}

int weft_host_name(struct weft *weft, unsigned host, char *name, unsigned bytes)
{
	struct endpoint_answer answer;
	int result = host >= weft->layout.hosts ? -ENOENT
						: weft_socket_ask(&weft->socket, ENDPOINT_NAME, "",
							  (uint16_t)host, &answer);

	if (result < 0)
		return result;
	answer.name[sizeof(answer.name) - 1] = '\0';
	if (strlen(answer.name) >= bytes)
		return -ENAMETOOLONG;
	strcpy(name, answer.name);
	return 0;
}
