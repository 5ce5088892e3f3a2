/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_remote.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab_lock.h"
#include "lab_query.h"

#define STEP_BYTES 65536
#define ANSWER_MAX (256u << 20)
#define END_MS     2000 /* how long a session may take to end by itself */
#define STEP_MS    5
#define LOOK_MS    100 /* interval between two checks for a signal */

/* --- the process --- */

/* Runs in the child; does not return. */
static void become(const struct lab_ssh_command *command, int fd, int said)
{
	sigset_t none;

	setpgid(0, 0); /* Ctrl-C is for this program alone */
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
		dup2(said, STDERR_FILENO) < 0)
		_exit(127);
	execvp(command->word[0], command->word);
	dprintf(STDERR_FILENO, "%s: %s\n", command->word[0], strerror(errno));
	_exit(127);
}

static int spawn(struct lab_remote *remote, const struct lab_ssh_command *command)
{
	int ends[2] = {-1, -1}, said[2] = {-1, -1}, result = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
		pipe2(said, O_CLOEXEC | O_NONBLOCK) != 0)
		result = -errno;
	remote->pid = result == 0 ? fork() : -1;
	if (remote->pid == 0) {
		fcntl(said[1], F_SETFL, 0);
		become(command, ends[1], said[1]);
	}
	if (remote->pid < 0 && result == 0)
		result = -errno;
	close(ends[1]);
	close(said[1]);
	remote->fd = ends[0];
	remote->said = said[0];
	return result;
}

static void read_said(const struct lab_remote *remote, char said[LAB_REMOTE_SAID])
{
	size_t used = 0;
	ssize_t got;

	while (used + 1 < LAB_REMOTE_SAID &&
		(got = read(remote->said, said + used, LAB_REMOTE_SAID - 1 - used)) > 0)
		used += (size_t)got;
	said[used] = '\0';
}

/* Returns the status of the ended process. A process that does not end is killed. */
static int reap(struct lab_remote *remote, int patience_ms)
{
	int status = 0;

	for (int waited = 0; waited < patience_ms; waited += STEP_MS) {
		if (waitpid(remote->pid, &status, WNOHANG) != 0) {
			remote->pid = -1;
			return status;
		}
		lab_sleep_ms(STEP_MS);
	}
	kill(remote->pid, SIGKILL);
	status = lab_wait_child(remote->pid);
	remote->pid = -1;
	return status;
}

static void put_away(struct lab_remote *remote)
{
	if (remote->fd >= 0)
		close(remote->fd);
	if (remote->said >= 0)
		close(remote->said);
	free(remote->bytes);
	json_decref(remote->alive);
	remote->alive = NULL;
	remote->fd = remote->said = -1;
	remote->bytes = NULL;
	remote->used = remote->room = 0;
}

/* Breaks off the session. 'why' NULL: the session ended, and its own output gives the reason. */
static int break_off(struct lab_remote *remote, const char *why, struct error *error)
{
	char reason[LAB_SSH_WHY_MAX], said[LAB_REMOTE_SAID];
	const char *name = remote->target.name, *ssh = remote->target.ssh;
	int status = remote->pid > 0 ? reap(remote, why == NULL ? END_MS : 0) : 0;

	read_said(remote, said);
	if (why == NULL)
		lab_ssh_explain(&remote->target, status, said, reason);
	else
		snprintf(reason, sizeof(reason), "%s", why);
	snprintf(remote->why, sizeof(remote->why), "machine %s%s%s%s: %s", name,
		ssh[0] != '\0' ? " (" : "", ssh, ssh[0] != '\0' ? ")" : "", reason);
	put_away(remote);
	return error_set(error, EHOSTUNREACH, "%s", remote->why);
}

bool lab_remote_is_broken(const struct lab_remote *remote)
{
	return remote->fd < 0 || remote->greeting;
}

/* --- requests --- */

/* Waits until the session accepts input. A stopped session never does. */
static int wait_to_send(struct lab_remote *remote, uint64_t until, struct error *error)
{
	struct pollfd ready = {.fd = remote->fd, .events = POLLOUT};

	while (poll(&ready, 1, LOOK_MS) <= 0) {
		if (lab_interrupted())
			return break_off(
				remote, "interrupted while the session accepted no input", error);
		if (lab_now_ms() > until)
			return break_off(remote, "the session no longer accepts input", error);
	}
	return 0;
}

static int send_all(struct lab_remote *remote, const char *bytes, size_t count, struct error *error)
{
	uint64_t until = lab_now_ms() + LAB_REMOTE_CALL_MS;

	while (count > 0) {
		ssize_t sent = send(remote->fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent > 0) {
			bytes += sent;
			count -= (size_t)sent;
			until = lab_now_ms() + LAB_REMOTE_CALL_MS;
		} else if (errno != EAGAIN && errno != EINTR) {
			return break_off(remote, NULL, error);
		} else if (wait_to_send(remote, until, error) < 0) {
			return -EHOSTUNREACH;
		}
	}
	return 0;
}

int lab_remote_send(struct lab_remote *remote, json_t *request, struct error *error)
{
	char *text = request != NULL ? json_dumps(request, JSON_COMPACT) : NULL;
	int result;

	json_decref(request);
	if (text == NULL)
		return error_set(error, ENOMEM, "out of memory");
	if (remote->fd < 0)
		result = error_set(error, EHOSTUNREACH, "%s", remote->why);
	else
		result = send_all(remote, text, strlen(text), error);
	if (result == 0)
		result = send_all(remote, "\n", 1, error);
	free(text);
	return result;
}

/* Returns the end of the first line in the buffer; NULL: there is no complete line yet. */
static char *line_end(const struct lab_remote *remote)
{
	return remote->used > 0 ? memchr(remote->bytes, '\n', remote->used) : NULL;
}

/* Reads some bytes. Returns 0, or the result of break_off(). */
static int read_more(struct lab_remote *remote, struct error *error)
{
	ssize_t got;

	if (remote->room - remote->used < STEP_BYTES) {
		size_t room = 2 * remote->room + STEP_BYTES;
		char *more = room <= ANSWER_MAX ? realloc(remote->bytes, room) : NULL;

		if (more == NULL)
			return break_off(remote, "an answer is too long", error);
		remote->bytes = more;
		remote->room = room;
	}
	got = read(remote->fd, remote->bytes + remote->used, remote->room - remote->used);
	if (got < 0 && errno == EINTR)
		return 0;
	if (got <= 0)
		return break_off(remote, NULL, error);
	remote->used += (size_t)got;
	return 0;
}

static json_t *take_line(struct lab_remote *remote, char *end, struct error *error)
{
	size_t length = (size_t)(end - remote->bytes);
	json_error_t json_error;
	json_t *answer = json_loadb(remote->bytes, length, 0, &json_error);

	remote->used -= length + 1;
	memmove(remote->bytes, end + 1, remote->used);
	if (answer == NULL)
		break_off(remote, "the output is not an answer from 'weft lab part'", error);
	return answer;
}

/* Waits until there is something to read. Returns 0, or the result of break_off(). */
static int wait_to_receive(
	struct lab_remote *remote, uint64_t until, bool heeds, struct error *error)
{
	struct pollfd ready = {.fd = remote->fd, .events = POLLIN};

	for (;;) {
		uint64_t now = lab_now_ms(), left = now < until ? until - now : 0;

		if (poll(&ready, 1, left < LOOK_MS ? (int)left : LOOK_MS) > 0)
			return 0;
		if (heeds && lab_interrupted())
			return break_off(remote, "interrupted before the machine answered", error);
		if (left == 0)
			return break_off(remote, "the machine no longer answers", error);
	}
}

/* Returns the next line; NULL with error set if the session is broken. 'heeds': a signal ends the
 * wait; false after a signal, because processes that were told to stop still answer. */
static json_t *receive_line(
	struct lab_remote *remote, int timeout_ms, bool heeds, struct error *error)
{
	uint64_t until = lab_now_ms() + (uint64_t)timeout_ms;
	char *end;

	while ((end = line_end(remote)) == NULL)
		if (wait_to_receive(remote, until, heeds, error) < 0 ||
			read_more(remote, error) < 0)
			return NULL;
	return take_line(remote, end, error);
}

static json_t *receive(
	struct lab_remote *remote, int timeout_ms, bool heeds, int *code, struct error *error)
{
	json_t *answer = NULL;
	const char *message;
	int number;

	if (code != NULL)
		*code = -EHOSTUNREACH;
	if (remote->fd < 0)
		error_set(error, EHOSTUNREACH, "%s", remote->why);
	else
		answer = receive_line(remote, timeout_ms, heeds, error);
	message = json_string_value(json_object_get(answer, "error"));
	if (message == NULL)
		return answer;
	number = (int)json_integer_value(json_object_get(answer, "errno"));
	error_set(error, number > 0 ? number : EPROTO, "%s", message);
	if (code != NULL)
		*code = number > 0 ? -number : -EPROTO;
	json_decref(answer);
	return NULL;
}

json_t *lab_remote_receive(
	struct lab_remote *remote, int timeout_ms, int *code, struct error *error)
{
	return receive(remote, timeout_ms, false, code, error);
}

bool lab_remote_wait(struct lab_remote *remote, int timeout_ms)
{
	struct pollfd ready = {.fd = remote->fd, .events = POLLIN};

	return remote->fd < 0 || line_end(remote) != NULL || poll(&ready, 1, timeout_ms) > 0;
}

json_t *lab_remote_call(struct lab_remote *remote, json_t *request, int *code, struct error *error)
{
	return lab_remote_call_for(remote, request, LAB_REMOTE_CALL_MS, code, error);
}

json_t *lab_remote_call_for(
	struct lab_remote *remote, json_t *request, int timeout_ms, int *code, struct error *error)
{
	if (code != NULL)
		*code = -EHOSTUNREACH;
	if (lab_remote_send(remote, request, error) < 0)
		return NULL;
	return lab_remote_receive(remote, timeout_ms, code, error);
}

/* --- sessions --- */

void lab_remote_start(
	struct lab_remote *remote, const struct lab_ssh_target *target, const char *lab)
{
	struct lab_ssh_command command;
	char self[PATH_MAX];
	struct error error;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int result;

	*remote =
		(struct lab_remote){.target = *target, .lab = lab, .pid = -1, .fd = -1, .said = -1};
	self[length > 0 ? length : 0] = '\0';
	lab_ssh_command(target, self, &command);
	result = spawn(remote, &command);
	if (result < 0)
		break_off(remote, strerror(-result), &error);
	else
		lab_remote_send(remote,
			json_pack("{s:s,s:s,s:s,s:s}", "op", "open", "version", WEFT_VERSION, "lab",
				lab, "machine", target->name),
			&error);
}

json_t *lab_remote_greeted(struct lab_remote *remote, int timeout_ms, struct error *error)
{
	int code;
	json_t *answer = receive(remote, timeout_ms, true, &code, error);
	struct error there;

	if (answer != NULL) {
		const char *dir = json_string_value(json_object_get(answer, "dir"));

		snprintf(remote->dir, sizeof(remote->dir), "%s", dir != NULL ? dir : "");
	} else if (code != -EHOSTUNREACH) {
		there = *error;
		break_off(remote, there.text, error);
	}
	return answer;
}

json_t *lab_remote_retry(struct lab_remote *remote)
{
	struct lab_ssh_target target = remote->target;
	char why[sizeof(remote->why)];
	struct pollfd ready;
	struct error ignored;

	if (!remote->greeting) {
		memcpy(why, remote->why, sizeof(why));
		lab_remote_close(remote);
		lab_remote_start(remote, &target, remote->lab);
		if (remote->fd >= 0)
			memcpy(remote->why, why, sizeof(why));
		remote->greeting = remote->fd >= 0;
		return NULL;
	}
	ready = (struct pollfd){.fd = remote->fd, .events = POLLIN};
	if (poll(&ready, 1, 0) <= 0)
		return NULL;
	remote->greeting = false;
	return lab_remote_greeted(remote, LAB_REMOTE_CALL_MS, &ignored);
}

void lab_remote_interrupt(struct lab_remote *remote)
{
	if (remote->fd >= 0)
		shutdown(remote->fd, SHUT_WR);
}

int lab_remote_finish(struct lab_remote *remote, char said[LAB_REMOTE_SAID])
{
	int status = remote->pid > 0 ? reap(remote, END_MS) : 0;

	read_said(remote, said);
	put_away(remote);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_NOT_ABLE;
}

void lab_remote_close(struct lab_remote *remote)
{
	if (remote->fd >= 0)
		close(remote->fd);
	remote->fd = -1;
	if (remote->pid > 0)
		reap(remote, END_MS);
	put_away(remote);
}
