/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_yield.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include <rte_pause.h>

/* An iteration over a few empty ports takes some 100 ns, so the loop spins for about 5 us, longer
 * than a neighbour on another core needs to reply. It then yields for about the time that a
 * neighbour on this core needs for a burst. A sleep of 20 us costs as much as the wakeup; 50 us is
 * still short compared with a hello interval and with the data in flight in a credit loop. If there
 * are more loops than CPUs, the longest sleeps start after some 25 ms, because wakeups cost CPU
 * time that other loops need. */
#define IDLE_SPINNING    64
#define IDLE_SERVING     4 /* a program may need this CPU to send its next message */
#define IDLE_YIELDING    128
#define IDLE_SHORT       160
#define IDLE_MOST        512
#define SLEEP_SHORT_NS   20000
#define SLEEP_LONG_NS    50000
#define SLEEP_LONGEST_NS 200000
#define TIMER_SLACK_NS   1000
#define PRECEDING        (-10) /* ten times the weight of other programs */

static unsigned cpus(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	return (unsigned)CPU_COUNT(&set);
}

void poll_yield_precede(unsigned loops)
{
	if (loops < cpus() && getpriority(PRIO_PROCESS, 0) > PRECEDING)
		setpriority(PRIO_PROCESS, 0, PRECEDING);
}

void poll_yield_init(struct poll_yield *yield, bool crowded)
{
	*yield = (struct poll_yield){.crowded = crowded};
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
}

static long sleep_ns(const struct poll_yield *yield)
{
	if (yield->idle == IDLE_MOST && yield->crowded)
		return SLEEP_LONGEST_NS;
	return yield->idle > IDLE_SHORT ? SLEEP_LONG_NS : SLEEP_SHORT_NS;
}

void poll_yield_idle(struct poll_yield *yield)
{
	if (yield->idle < IDLE_MOST)
		yield->idle++;
	if (yield->idle <= (yield->serves ? IDLE_SERVING : IDLE_SPINNING))
		rte_pause();
	else if (yield->idle <= IDLE_YIELDING)
		sched_yield();
	else
		nanosleep(&(struct timespec){.tv_nsec = sleep_ns(yield)}, NULL);
}
