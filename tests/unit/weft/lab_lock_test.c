/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "lab/lab_lock.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

struct place {
	char folder[32], dir[64], file[80];
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->folder, "/tmp/weft-lock-XXXXXX");
	assert_non_null(mkdtemp(place->folder));
	snprintf(place->dir, sizeof(place->dir), "%s/lab", place->folder);
	snprintf(place->file, sizeof(place->file), "%s.lock", place->dir);
	*state = place;
	return 0;
}

static int remove_place(void **state)
{
	struct place *place = *state;
	int result = rmdir(place->folder); /* empty: no lock left a file */

	free(place);
	return result;
}

UNIT_WITH(only_one_holds_the_lock_of_a_lab_and_the_other_is_told_of_it, make_place, remove_place)
{
	const struct place *place = *state;
	struct lab_lock one, two;
	struct error error;
	char expected[160];

	assert_int_equal(lab_lock_take(&one, place->dir, "brought up", &error), 0);
	assert_int_equal(lab_lock_take(&two, place->dir, "taken down", &error), -EINVAL);
	snprintf(expected, sizeof(expected), "%s: this lab is being brought up by process %ld",
		place->dir, (long)getpid());
	assert_string_equal(error.text, expected);
	lab_lock_release(&two); /* not held: nothing happens */
	assert_int_equal(access(place->file, F_OK), 0);
	lab_lock_release(&one);
	assert_int_equal(lab_lock_take(&two, place->dir, "taken down", &error), 0);
	lab_lock_release(&two);
}

/* Like a command that was started by another command, which waits for it. */
UNIT_WITH(a_lock_that_is_passed_on_is_taken_once_and_left_to_whom_it_belongs, make_place,
	remove_place)
{
	const struct place *place = *state;
	struct lab_lock one, passed, other;
	struct error error;

	assert_int_equal(lab_lock_take(&one, place->dir, "brought up", &error), 0);
	lab_lock_pass(&one);
	assert_int_equal(lab_lock_take(&passed, place->dir, "brought up", &error), 0);
	assert_int_equal(passed.fd, one.fd);
	assert_int_equal(fcntl(one.fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(lab_lock_take(&other, place->dir, "taken down", &error), -EINVAL);
	passed.fd = fcntl(one.fd, F_DUPFD_CLOEXEC, 0); /* in another process, it is another lock */
	lab_lock_release(&passed);
	assert_int_equal(access(place->file, F_OK), 0);
	assert_int_equal(lab_lock_take(&other, place->dir, "taken down", &error), -EINVAL);
	lab_lock_release(&one);
	assert_int_not_equal(access(place->file, F_OK), 0);
}

UNIT_WITH(
	a_lock_of_another_lab_is_not_taken_for_the_one_that_was_passed_on, make_place, remove_place)
{
	const struct place *place = *state;
	struct lab_lock one, two;
	struct error error;
	char dir[80];

	snprintf(dir, sizeof(dir), "%s2", place->dir);
	assert_int_equal(lab_lock_take(&one, place->dir, "brought up", &error), 0);
	lab_lock_pass(&one);
	assert_int_equal(lab_lock_take(&two, dir, "brought up", &error), 0);
	assert_int_not_equal(two.fd, one.fd);
	lab_lock_release(&two);
	lab_lock_release(&one);
}

UNIT_WITH(a_slash_after_the_folder_makes_no_other_lab_of_it, make_place, remove_place)
{
	const struct place *place = *state;
	struct lab_lock one, two;
	struct error error;
	char dir[80];

	snprintf(dir, sizeof(dir), "%s/", place->dir);
	assert_int_equal(lab_lock_take(&one, place->dir, "brought up", &error), 0);
	assert_int_equal(lab_lock_take(&two, dir, "brought up", &error), -EINVAL);
	lab_lock_release(&one);
}

/* As after a command was killed: its file exists, but no process holds it. */
UNIT_WITH(a_file_that_nobody_holds_is_in_nobodys_way, make_place, remove_place)
{
	const struct place *place = *state;
	struct lab_lock one, two;
	struct error error;
	FILE *file = fopen(place->file, "w");

	assert_non_null(file);
	fputs("brought up by process 12345678901234567890", file);
	fclose(file);
	assert_int_equal(lab_lock_take(&one, place->dir, "taken down", &error), 0);
	assert_int_equal(lab_lock_take(&two, place->dir, "brought up", &error), -EINVAL);
	assert_null(strstr(error.text, "1234567890"));
	lab_lock_release(&one);
}

struct latecomer {
	int watch; /* reports when the file is closed */
	const char *file;
};

static void *write_name_after_a_look(void *ctx)
{
	const struct latecomer *latecomer = ctx;
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];
	FILE *file;

	if (read(latecomer->watch, event, sizeof(event)) <= 0)
		return NULL;
	file = fopen(latecomer->file, "r+");
	fputs("brought up by process 7", file);
	fclose(file);
	return NULL;
}

UNIT_WITH(who_holds_the_lock_is_given_time_to_say_what_it_does, make_place, remove_place)
{
	const struct place *place = *state;
	struct latecomer latecomer = {inotify_init1(IN_CLOEXEC), place->file};
	int holder = open(place->file, O_RDWR | O_CREAT, 0644);
	struct lab_lock lock;
	struct error error;
	pthread_t thread;

	assert_int_equal(flock(holder, LOCK_EX | LOCK_NB), 0);
	assert_true(inotify_add_watch(latecomer.watch, place->file, IN_CLOSE) >= 0);
	assert_int_equal(pthread_create(&thread, NULL, write_name_after_a_look, &latecomer), 0);
	assert_int_equal(lab_lock_take(&lock, place->dir, "brought up", &error), -EINVAL);
	assert_non_null(strstr(error.text, "this lab is being brought up by process 7"));
	pthread_join(thread, NULL);
	close(latecomer.watch);
	close(holder);
	assert_int_equal(unlink(place->file), 0);
}

/* Like a process of a lab: the holder starts it, and it survives when the holder is killed. */
UNIT_WITH(a_program_that_the_holder_started_does_not_keep_the_lock, make_place, remove_place)
{
	const struct place *place = *state;
	struct lab_lock lock;
	struct error error;
	int word[2], ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(word), 0);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(lab_lock_take(&lock, place->dir, "brought up", &error), 0);
	pid = fork();
	if (pid == 0) {
		dup2(word[0], STDIN_FILENO);
		dup2(ready[1], STDOUT_FILENO);
		close(word[1]);
		execl("/bin/sh", "sh", "-c", "echo; read end", NULL);
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(lock.fd); /* as the kernel does when the holder is killed */
	assert_int_equal(lab_lock_take(&lock, place->dir, "brought up", &error), 0);
	lab_lock_release(&lock);
	close(word[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(word[0]);
	close(ready[0]);
	close(ready[1]);
}
