/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_remote.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/private_dir.h"

#define SOCKET_NAME_MAX 64 /* "/%C" and the suffix that ssh appends while it creates the socket */
#define SOCKET_PATH_MAX 104

/* ssh gives '%', '$', '~', spaces and quotes in a path a special meaning. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-"

/* Every command must find the same sockets. Labs must not share sockets, because 'down' of one lab
 * would end the connections of another. The name therefore contains the device and inode numbers of
 * the folder. */
int lab_ssh_control(const char *dir, char control[LAB_SSH_CONTROL_MAX], struct error *error)
{
	size_t length = strlen(dir);
	struct stat status;
	char folder[32];
	int result;

	if (length + SOCKET_NAME_MAX <= SOCKET_PATH_MAX && strspn(dir, PLAIN) == length) {
		snprintf(control, LAB_SSH_CONTROL_MAX, "%s/", dir);
		return 0;
	}
	control[0] = '\0';
	snprintf(folder, sizeof(folder), "/tmp/weft-%u", (unsigned)geteuid());
	if (stat(dir, &status) < 0)
		return error_set(error, errno, "%s: %s", dir, strerror(errno));
	result = private_dir_make(folder, error);
	if (result == 0)
		snprintf(control, LAB_SSH_CONTROL_MAX, "%s/%jx-%jx-", folder,
			(uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
	return result;
}

static void add(struct lab_ssh_command *command, const char *word)
{
	if (command->words < LAB_SSH_WORDS_MAX)
		command->word[command->words++] = (char *)(uintptr_t)word;
	command->word[command->words] = NULL;
}

static void add_option(struct lab_ssh_command *command, const char *option)
{
	add(command, "-o");
	add(command, option);
}

/* The commands of a lab share a connection for a minute, so that the next command needs no new
 * login. */
static void add_sharing(const struct lab_ssh_target *target, struct lab_ssh_command *command)
{
	char *path = command->text[command->texts];

	if (target->control[0] == '\0')
		return;
	snprintf(path, sizeof(command->text[0]), "ControlPath=%s%%C", target->control);
	command->texts++;
	add_option(command, "ControlMaster=auto");
	add_option(command, path);
	add_option(command, "ControlPersist=60");
}

static void add_config(struct lab_ssh_command *command)
{
	const char *config = getenv("WEFT_SSH_CONFIG");

	if (config == NULL || config[0] == '\0')
		return;
	add(command, "-F");
	add(command, config);
}

void lab_ssh_command(
	const struct lab_ssh_target *target, const char *self, struct lab_ssh_command *command)
{
	*command = (struct lab_ssh_command){.words = 0};
	if (target->ssh[0] == '\0') {
		add(command, self);
	} else {
		add(command, "ssh");
		add_config(command);
		add(command, "-T");
		add_option(command, "BatchMode=yes");
		add_option(command, "ConnectTimeout=15");
		add_option(command, "ServerAliveInterval=3");
		add_option(command, "ServerAliveCountMax=3");
		add_option(command, "ForwardX11=no");
		add_option(command, "RequestTTY=no");
		add_sharing(target, command);
		add(command, "--");
		add(command, target->ssh);
		add(command, target->weft[0] != '\0' ? target->weft : "weft");
	}
	add(command, "lab");
	add(command, "part");
}

void lab_ssh_end_command(const struct lab_ssh_target *target, struct lab_ssh_command *command)
{
	*command = (struct lab_ssh_command){.words = 0};
	add(command, "ssh");
	add_config(command);
	add_sharing(target, command);
	add(command, "-O");
	add(command, "exit");
	add(command, "--");
	add(command, target->ssh);
}

/* --- why it ended --- */

/* Messages of ssh and their remedies; the first match counts. */
static const struct {
	const char *said, *what, *mend;
} known[] = {
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", "the host key has changed",
		"if the machine was reinstalled, 'ssh-keygen -R ADDRESS' removes the old key"},
	{"host key is known", "the host key is unknown here",
		"log in once by hand with ssh, and verify the key that it shows"},
	{"Host key verification failed", "the host key is unknown here",
		"log in once by hand with ssh, and verify the key that it shows"},
	{"Permission denied", "the machine refused this user's keys",
		"install a key with 'ssh-copy-id', because ssh must not ask for a password"},
	{"Connection refused", "the connection was refused",
		"is sshd running there, on this port?"},
	{"Could not resolve", "the name cannot be resolved", "is the address correct?"},
	{"timed out", "the machine does not answer", "is it on, and is the address correct?"},
	{"No route to host", "there is no route to the machine",
		"is it on, and is the address correct?"},
	{"Network is unreachable", "there is no route to the machine", "is the address correct?"},
};

/* Finds the last non-empty line, without the CR and LF with which ssh ends lines. */
static void last_line(const char *said, char *line, size_t size)
{
	size_t length = strlen(said), begin;

	while (length > 0 && strchr("\r\n ", said[length - 1]) != NULL)
		length--;
	for (begin = length; begin > 0 && strchr("\r\n", said[begin - 1]) == NULL;)
		begin--;
	snprintf(line, size, "%.*s", (int)(length - begin), said + begin);
}

static void explain_ssh(const char *said, const char *line, char *why)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strstr(said, known[i].said) != NULL) {
			snprintf(why, LAB_SSH_WHY_MAX, "%s: %s (%s)", known[i].what, known[i].mend,
				line);
			return;
		}
	snprintf(why, LAB_SSH_WHY_MAX, "ssh failed: %s", line[0] != '\0' ? line : "no message");
}

void lab_ssh_explain(const struct lab_ssh_target *target, int status, const char *said,
	char why[LAB_SSH_WHY_MAX])
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	char line[200];

	last_line(said, line, sizeof(line));
	if (code == 255)
		explain_ssh(said, line, why);
	else if (code == 127 && target->ssh[0] == '\0')
		snprintf(why, LAB_SSH_WHY_MAX, "cannot start the session: %s", line);
	else if (code == 127 || code == 126)
		snprintf(why, LAB_SSH_WHY_MAX,
			"cannot run '%s' there; install the package, or set the program's path with 'weft: PATH' of the machine (%s)",
			target->weft[0] != '\0' ? target->weft : "weft", line);
	else if (code == 2)
		snprintf(why, LAB_SSH_WHY_MAX,
			"weft there has no 'weft lab part'; install version " WEFT_VERSION
			", as here (%s)",
			line);
	else
		snprintf(why, LAB_SSH_WHY_MAX, "the connection ended%s%s",
			line[0] != '\0' ? ": " : "", line);
}
