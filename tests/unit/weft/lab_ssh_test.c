/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The command line of ssh, and the messages when a connection ends. */

#include "lab/lab_remote.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "unit.h"

#define SELF "/usr/bin/weft"

static const struct lab_ssh_target far = {.name = "b", .ssh = "ann@b", .weft = ""};

/* The words after the options: "--" and the rest. */
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

UNIT_TEST(the_remote_command_is_always_the_same)
{
	static const char *const words[] = {"--", "ann@b", "weft", "lab", "part", NULL};
	struct lab_ssh_command command;

	lab_ssh_command(&far, SELF, &command);
	assert_string_equal(command.word[0], "ssh");
	assert_true(has(&command, "BatchMode=yes"));
	expect_tail(&command, words);
}

UNIT_TEST(a_machine_can_have_its_weft_elsewhere)
{
	static const char *const words[] = {"--", "b", "/opt/weft", "lab", "part", NULL};
	const struct lab_ssh_target target = {.name = "b", .ssh = "b", .weft = "/opt/weft"};
	struct lab_ssh_command command;

	lab_ssh_command(&target, SELF, &command);
	expect_tail(&command, words);
}

UNIT_TEST(a_machine_without_an_address_is_this_one)
{
	const struct lab_ssh_target target = {.name = "b", .ssh = "", .weft = ""};
	struct lab_ssh_command command;

	lab_ssh_command(&target, SELF, &command);
	assert_int_equal(command.words, 3);
	assert_string_equal(command.word[0], SELF);
	assert_string_equal(command.word[2], "part");
}

UNIT_TEST(connections_are_shared_where_a_socket_fits)
{
	struct lab_ssh_target target = far;
	struct lab_ssh_command command;
	struct error error;

	assert_int_equal(lab_ssh_control("/run/weft/x.console", target.control, &error), 0);
	lab_ssh_command(&target, SELF, &command);
	assert_true(has(&command, "ControlPath=/run/weft/x.console/%C"));
	target.control[0] = '\0';
	lab_ssh_command(&target, SELF, &command);
	assert_false(has(&command, "ControlMaster=auto"));
}

/* Finds the path of the sockets of a folder with this name. */
static void find_control(const char *name, char control[LAB_SSH_CONTROL_MAX])
{
	char above[] = "/tmp/weft-ssh-XXXXXX", dir[sizeof(above) + 120];
	struct error error;

	assert_non_null(mkdtemp(above));
	snprintf(dir, sizeof(dir), "%s/%s", above, name);
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(lab_ssh_control(dir, control, &error), 0);
	rmdir(dir);
	rmdir(above);
}

UNIT_TEST(a_folder_whose_sockets_ssh_cannot_make_has_them_elsewhere)
{
	static const char *const names[] = {
		"0123456789012345678901234567890123456789", "100%C", "a b"};
	char control[LAB_SSH_CONTROL_MAX], elsewhere[32];

	snprintf(elsewhere, sizeof(elsewhere), "/tmp/weft-%u/", (unsigned)geteuid());
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		find_control(names[i], control);
		assert_int_equal(strncmp(control, elsewhere, strlen(elsewhere)), 0);
		/* %C, and the text that ssh appends. */
		assert_true(strlen(control) + 40 + 17 < sizeof((struct sockaddr_un){0}.sun_path));
	}
}

UNIT_TEST(two_labs_never_share_a_connection)
{
	char long_name[101] = "", one[LAB_SSH_CONTROL_MAX], other[LAB_SSH_CONTROL_MAX];
	char dir[2][128], above[] = "/tmp/weft-ssh-XXXXXX";
	struct error error;

	memset(long_name, 'x', sizeof(long_name) - 1);
	assert_non_null(mkdtemp(above));
	for (unsigned i = 0; i < 2; i++) {
		snprintf(dir[i], sizeof(dir[i]), "%s/%s%u", above, long_name, i);
		assert_int_equal(mkdir(dir[i], 0700), 0);
	}
	assert_int_equal(lab_ssh_control(dir[0], one, &error), 0);
	assert_int_equal(lab_ssh_control(dir[1], other, &error), 0);
	assert_string_not_equal(one, other);
	assert_int_equal(lab_ssh_control(dir[0], other, &error), 0);
	assert_string_equal(one, other);
	rmdir(dir[0]);
	rmdir(dir[1]);
	rmdir(above);
}

UNIT_TEST(the_environment_names_a_configuration)
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

UNIT_TEST(what_went_wrong_has_what_to_do_beside_it)
{
	expect_why(255, "ssh: connect to host b port 22: Connection refused\r\n",
		"is sshd running there");
	expect_why(255, "No ED25519 host key is known for b\r\nHost key verification failed.\r\n",
		"the host key is unknown here: log in once");
	expect_why(255, "ann@b: Permission denied (publickey).\r\n", "ssh-copy-id");
	expect_why(255, "ssh: connect to host b port 22: Connection timed out", "is it on");
	expect_why(127, "bash: line 1: weft: command not found\n", "install the package");
	expect_why(2, "weft lab: 'part': expected up, list", "install version " WEFT_VERSION);
	expect_why(255, "", "ssh failed: no message");
	expect_why(0, "", "the connection ended");
}
