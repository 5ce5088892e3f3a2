/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Sessions with machines. A machine without an address is this one, so the program at the other end
 * is this test itself, started with the words "lab part". The machine's name determines its
 * behaviour. */

#include "lab/lab_remote.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/lab_lock.h"
#include "lab/lab_query.h"
#include "unit.h"

#define LONG_TEXT 100000
#define FIFO_NAME "LAB_REMOTE_TEST_FIFO"
#define SIGNALS   50
#define ENDED     7 /* an exit code */

/* --- the machines --- */

static void say(json_t *answer)
{
	json_dumpf(answer, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(answer);
}

/* "first" answers only after "second" was called. */
static void meet(const char *name)
{
	close(open(getenv(FIFO_NAME), strcmp(name, "first") == 0 ? O_RDONLY : O_WRONLY));
}

static json_t *answer_to(const char *name, const json_t *request)
{
	const char *op = lab_text(request, "op");

	if (strcmp(op, "call") == 0) {
		meet(name);
		return json_pack("{s:s}", "reply", "{\"/weft/control\":\"ok\"}");
	}
	if (strcmp(op, "file") == 0) {
		char *text = malloc(LONG_TEXT + 1);

		memset(text, 'x', LONG_TEXT);
		text[LONG_TEXT] = '\0';
		return json_pack("{s:o}", "text", json_string(text));
	}
	return json_pack("{s:s,s:b}", "dir", "/nowhere", "up", 1);
}

static int be_machine(void)
{
	char name[32] = "", *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		json_t *request = json_loads(line, 0, NULL);

		if (json_object_get(request, "machine") != NULL)
			snprintf(name, sizeof(name), "%s", lab_text(request, "machine"));
		if (strcmp(name, "mute") == 0)
			pause();
		say(answer_to(name, request));
		if (strcmp(name, "deaf") == 0)
			pause();
	}
	return 0;
}

/* --- the claims --- */

static void start(struct lab_remote *remote, const char *name)
{
	struct lab_ssh_target target = {.name = name, .ssh = "", .weft = ""};

	lab_remote_start(remote, &target, "test");
}

static void start_and_greet(struct lab_remote *remote, const char *name)
{
	struct error error = {""};
	json_t *greeting;

	start(remote, name);
	greeting = lab_remote_greeted(remote, LAB_REMOTE_GREET_MS, &error);
	if (greeting == NULL)
		fail_msg("%s", error.text);
	json_decref(greeting);
}

UNIT_TEST(a_signal_ends_sending_to_a_machine_that_takes_nothing)
{
	struct lab_remote remote;
	struct error error = {""};
	char *text = malloc(8 << 20);

	memset(text, 'x', (8 << 20) - 1);
	text[(8 << 20) - 1] = '\0';
	start_and_greet(&remote, "deaf");
	lab_catch_signals();
	raise(SIGINT);
	assert_int_equal(
		lab_remote_send(&remote, json_pack("{s:s}", "text", text), &error), -EHOSTUNREACH);
	lab_forget_interrupt();
	assert_non_null(strstr(error.text, "interrupted"));
	assert_true(lab_remote_is_broken(&remote));
	lab_remote_close(&remote);
	free(text);
}

UNIT_TEST(a_signal_ends_waiting_for_a_greeting)
{
	struct lab_remote remote;
	struct error error = {""};

	start(&remote, "mute");
	lab_catch_signals();
	raise(SIGTERM);
	assert_null(lab_remote_greeted(&remote, LAB_REMOTE_GREET_MS, &error));
	lab_forget_interrupt();
	assert_non_null(strstr(error.text, "interrupted"));
	lab_remote_close(&remote);
}

UNIT_TEST(after_a_signal_a_machine_that_listens_still_obeys)
{
	struct lab_remote remote;
	struct error error = {""};
	json_t *answer;

	start_and_greet(&remote, "good");
	lab_catch_signals();
	raise(SIGINT);
	answer = lab_remote_call(&remote, json_pack("{s:s}", "op", "state"), NULL, &error);
	lab_forget_interrupt();
	assert_non_null(answer);
	json_decref(answer);
	lab_remote_close(&remote);
}

/* One after the other, the first would wait for the second permanently. */
UNIT_TEST(all_machines_have_an_order_before_the_first_has_obeyed)
{
	static const char *const names[] = {"first", "second"};
	char folder[] = "/tmp/weft-remote-XXXXXX", fifo[64];
	struct lab_remote remote[2];
	struct lab_connection connection[2];
	struct lab_obedience all[2];

	assert_non_null(mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	setenv(FIFO_NAME, fifo, 1);
	for (unsigned i = 0; i < 2; i++) {
		start_and_greet(&remote[i], names[i]);
		connection[i] = (struct lab_connection){
			.prefix = names[i], .fd = remote[i].fd, .remote = &remote[i]};
		all[i] = (struct lab_obedience){.connection = &connection[i]};
	}
	lab_control_all(all, 2, "traffic start 1");
	for (unsigned i = 0; i < 2; i++) {
		if (all[i].result != 0)
			fail_msg("%s: %s", names[i], all[i].error.text);
		lab_remote_close(&remote[i]);
	}
	unlink(fifo);
	rmdir(folder);
}

UNIT_TEST(an_answer_that_cannot_be_kept_leaves_no_file)
{
	struct rlimit before, small;
	struct lab_remote remote;
	struct lab_record record = {.name = "s0"};
	struct lab_connection connection;
	char path[LAB_CONTROL_PATH] = "";
	struct error error = {""};
	int result;

	start_and_greet(&remote, "good");
	connection = (struct lab_connection){.prefix = "s0", .fd = remote.fd, .remote = &remote};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){.rlim_cur = LONG_TEXT / 2, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	errno = 0;
	result = lab_control_file(&connection, &record, "/nowhere", "report", path, &error);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(result, -EFBIG);
	assert_non_null(strstr(error.text, strerror(EFBIG)));
	assert_int_not_equal(access(path, F_OK), 0);
	lab_remote_close(&remote);
}

static void on_signal(int number)
{
	(void)number;
}

/* A console's 'weft lab capture' mistook an interruption by a second Ctrl-C for a normal end. */
UNIT_TEST(a_child_is_waited_for_whatever_signals_come)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct sigaction before;
	int status;
	pid_t pid;

	sigaction(SIGUSR1, &action, &before);
	pid = fork();
	assert_true(pid >= 0);
	for (unsigned i = 0; pid == 0 && i < SIGNALS; i++) {
		kill(getppid(), SIGUSR1);
		lab_sleep_ms(1);
	}
	if (pid == 0)
		_exit(ENDED);
	status = lab_wait_child(pid);
	sigaction(SIGUSR1, &before, NULL);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ENDED);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "lab") == 0 && strcmp(argv[2], "part") == 0)
		return be_machine();
	return unit_run(NULL, NULL);
}
