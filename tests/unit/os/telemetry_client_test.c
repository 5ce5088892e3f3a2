/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "os/telemetry_client.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/private_dir.h"
#include "unit.h"

#define WAIT_MS 50

static char root[] = "/tmp/weft-client-XXXXXX";

/* The socket of a program that accepts no connection, with space for one. */
static int listen_only(const char *prefix)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char dir[RUNTIME_DIR_MAX], command[RUNTIME_DIR_MAX + 32];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	assert_int_equal(setenv("RUNTIME_DIRECTORY", root, 1), 0);
	runtime_dir_path(prefix, dir);
	snprintf(command, sizeof(command), "mkdir -p -m 700 %s", dir);
	assert_int_equal(system(command), 0);
	assert_true(strlen(dir) + strlen(TELEMETRY_SOCKET) < sizeof(address.sun_path));
	strcpy(address.sun_path, dir);
	strcat(address.sun_path, TELEMETRY_SOCKET);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 0), 0);
	return fd;
}

UNIT_TEST(a_program_that_accepts_nothing_is_not_waited_for)
{
	struct error error;
	char command[64];
	int listener;

	assert_non_null(mkdtemp(root));
	listener = listen_only("stopped");
	/* The first connection waits for a greeting. There is no space for the second one. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(telemetry_client_open("stopped", WAIT_MS, &error), -ETIMEDOUT);
	assert_non_null(strstr(error.text, "timed out"));
	assert_int_equal(telemetry_client_open("stopped", 0, &error), -ETIMEDOUT);
	close(listener);
	assert_int_equal(telemetry_client_open("stopped", WAIT_MS, &error), -ECONNREFUSED);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}
