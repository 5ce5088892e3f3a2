/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* How far the time stamp counters of two machines that share memory are apart.
 *
 *     common-clock FILE left|right SECONDS
 *
 * runs on both at the same time, with the same memory as FILE. Each writes its counter there, over
 * and over, and reads the other's, for so long from the time on at which the other one runs, too.
 * A word is written before it is read, so the other's counter less its own is at least what it
 * sees. It prints the greatest such difference, in cycles: a lower bound on one side, and the
 * negative of an upper bound on the other. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define MAP_BYTES  4096
#define LINE_WORDS 8     /* the sides' words are in cache lines of their own */
#define ROUND      10000 /* between looks at the time */
#define IN_FLIGHT  2000
#define PATIENCE   60 /* seconds, for the other side */

/* A processor may read its counter while it waits for a load before that, and does not wait for the
 * fences of an emulated one. It has no more instructions in flight than these. */
static void wait_for_loads(void)
{
	for (volatile unsigned i = 0; i < IN_FLIGHT; i++)
		;
	_mm_lfence();
}

static int64_t max_difference(volatile uint64_t *mine, volatile const uint64_t *other)
{
	int64_t max = INT64_MIN;

	for (unsigned i = 0; i < ROUND; i++) {
		uint64_t theirs;
		int64_t difference;

		*mine = __rdtsc();
		theirs = *other;
		wait_for_loads();
		difference = (int64_t)(theirs - __rdtsc());
		if (theirs != 0 && difference > max)
			max = difference;
	}
	return max;
}

int main(int argc, char **argv)
{
	bool right;
	int file;
	volatile uint64_t *words;
	int64_t max = INT64_MIN;
	time_t end = 0, begun = time(NULL);

	if (argc != 4) {
		fputs("usage: common-clock FILE left|right SECONDS\n", stderr);
		return 2;
	}
	right = strcmp(argv[2], "right") == 0;
	file = open(argv[1], O_RDWR | O_CLOEXEC);
	words = file < 0 ? MAP_FAILED
			 : mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (words == MAP_FAILED) {
		fprintf(stderr, "common-clock: %s: %s\n", argv[1], strerror(errno));
		return 3;
	}
	while (end == 0 ? time(NULL) <= begun + PATIENCE : time(NULL) <= end) {
		int64_t round = max_difference(
			&words[right ? LINE_WORDS : 0], &words[right ? 0 : LINE_WORDS]);

		if (round > max)
			max = round;
		if (end == 0 && max != INT64_MIN)
			end = time(NULL) + atoi(argv[3]);
	}
	if (max == INT64_MIN) {
		fputs("common-clock: the other machine has written nothing\n", stderr);
		return 1;
	}
	printf("%" PRId64 "\n", max);
	return 0;
}
