/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Commands to a lab's process. The process's end of the socket is written in advance. */

#include "lab/lab_query.h"

#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

/* Returns whether the connection is still open after a command to a process with this reply; NULL:
 * it closes the socket. Stores the command's result. */
static bool is_open_after(const char *reply, int *result)
{
	struct lab_connection connection = {"x", -1, 10, NULL};
	struct error error;
	bool open;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	connection.fd = ends[0];
	if (reply == NULL)
		close(ends[1]);
	else if (reply[0] != '\0')
		send(ends[1], reply, strlen(reply), 0);
	*result = lab_order(&connection, "/weft/control,x", NULL, 0, &error);
	open = connection.fd >= 0;
	lab_disconnect(&connection);
	if (reply != NULL)
		close(ends[1]);
	return open;
}

UNIT_TEST(a_socket_that_the_process_closed_is_closed_here_too)
{
	int result;

	assert_false(is_open_after(NULL, &result));
	assert_true(result < 0);
}

UNIT_TEST(a_process_that_refuses_stays_connected)
{
	int result;

	assert_true(is_open_after("{\"/weft/control\":\"error: no\"}", &result));
	assert_int_equal(result, -EINVAL);
}

UNIT_TEST(a_process_that_does_not_answer_in_time_stays_connected)
{
	int result;

	assert_true(is_open_after("", &result));
	assert_true(result < 0);
}
