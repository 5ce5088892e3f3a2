/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The command line of ssh, and what is said when a connection ends. */

#include "lab_ssh.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define SELF "/usr/bin/weft"

static const struct lab_ssh_target far = {.name = "b", .ssh = "ann@b", .weft = ""};

/* The words behind the options: "--" and what follows. */
static void expect_tail(const struct lab_ssh_command *command, const char *const *words)
{
	unsigned at = 0;

	while (command->word[at] != NULL && strcmp(command->word[at], "--") != 0)
		at++;
	for (; *words != NULL; words++)
		assert_string_equal(command->word[at++], *words);
	assert_null(command->word[at]);
}

static bool has(const struct lab_ssh_command *command, const char *word)
{
	for (unsigned i = 0; i < command->words; i++)
		if (strcmp(command->word[i], word) == 0)
			return true;
	return false;
}

static void the_remote_command_is_always_the_same(void **state)
{
	static const char *const words[] = {"--", "ann@b", "weft", "lab", "part", NULL};
	struct lab_ssh_command command;

	lab_ssh_command(&far, SELF, &command);
	assert_string_equal(command.word[0], "ssh");
	assert_true(has(&command, "BatchMode=yes"));
	expect_tail(&command, words);
}

static void a_machine_can_have_its_weft_elsewhere(void **state)
{
	static const char *const words[] = {"--", "b", "/opt/weft", "lab", "part", NULL};
	const struct lab_ssh_target target = {.name = "b", .ssh = "b", .weft = "/opt/weft"};
	struct lab_ssh_command command;

	lab_ssh_command(&target, SELF, &command);
	expect_tail(&command, words);
}

static void a_machine_without_an_address_is_this_one(void **state)
{
	const struct lab_ssh_target target = {.name = "b", .ssh = "", .weft = ""};
	struct lab_ssh_command command;

	lab_ssh_command(&target, SELF, &command);
	assert_int_equal(command.words, 3);
	assert_string_equal(command.word[0], SELF);
	assert_string_equal(command.word[2], "part");
}

static void connections_are_shared_where_a_socket_fits(void **state)
{
	struct lab_ssh_target target = far;
	struct lab_ssh_command command;
	char folder[120];

	target.control_dir = "/run/weft/x.console";
	lab_ssh_command(&target, SELF, &command);
	assert_true(has(&command, "ControlPath=/run/weft/x.console/%C"));
	memset(folder, 'x', sizeof(folder));
	folder[0] = '/';
	folder[sizeof(folder) - 1] = '\0';
	target.control_dir = folder;
	lab_ssh_command(&target, SELF, &command);
	assert_false(has(&command, "ControlMaster=auto"));
}

static void the_environment_names_a_configuration(void **state)
{
	struct lab_ssh_command command;

	setenv("WEFT_SSH_CONFIG", "/tmp/c", 1);
	lab_ssh_command(&far, SELF, &command);
	unsetenv("WEFT_SSH_CONFIG");
	assert_true(has(&command, "-F") && has(&command, "/tmp/c"));
}

/* 'code' as an exit code in a status of waitpid(). */
static void expect_why(int code, const char *said, const char *part)
{
	char why[LAB_SSH_WHY_MAX];

	lab_ssh_explain(&far, code << 8, said, why);
	if (strstr(why, part) == NULL)
		fail_msg("'%s' is not in '%s'", part, why);
	assert_null(strchr(why, '\n'));
}

static void what_went_wrong_has_what_to_do_beside_it(void **state)
{
	expect_why(
		255, "ssh: connect to host b port 22: Connection refused\r\n", "is sshd up there");
	expect_why(255, "No ED25519 host key is known for b\r\nHost key verification failed.\r\n",
		"its host key is not known here: log in once");
	expect_why(255, "ann@b: Permission denied (publickey).\r\n", "ssh-copy-id");
	expect_why(255, "ssh: connect to host b port 22: Connection timed out", "is it on");
	expect_why(127, "bash: line 1: weft: command not found\n", "install the package");
	expect_why(2, "weft lab: 'part', expected up, list", "install version " WEFT_VERSION);
	expect_why(255, "", "ssh failed: it says nothing");
	expect_why(0, "", "the connection has ended");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_remote_command_is_always_the_same),
		cmocka_unit_test(a_machine_can_have_its_weft_elsewhere),
		cmocka_unit_test(a_machine_without_an_address_is_this_one),
		cmocka_unit_test(connections_are_shared_where_a_socket_fits),
		cmocka_unit_test(the_environment_names_a_configuration),
		cmocka_unit_test(what_went_wrong_has_what_to_do_beside_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
