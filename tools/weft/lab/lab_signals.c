/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_lock.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

/* Global, because a signal handler can access nothing else. */
static atomic_bool interrupted;

static void on_signal(int number)
{
	(void)number;
	atomic_store(&interrupted, true);
}

void lab_catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool lab_interrupted(void)
{
	return atomic_load(&interrupted);
}

const atomic_bool *lab_stop_flag(void)
{
	return &interrupted;
}

void lab_forget_interrupt(void)
{
	atomic_store(&interrupted, false);
}

int lab_wait_child(pid_t pid)
{
	int status = 0;

	/* lab_catch_signals() lets signals end what waits. */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}
