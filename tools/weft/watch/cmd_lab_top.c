/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab top: shows the current activity of a lab. */

#include "lab/cmd_lab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lab_collect.h"
#include "status_print.h"

#define COMMAND "lab top"

#define STEP_MS 20

/* Switches to the alternate screen, without a cursor, and back. */
#define BEGIN_SCREEN "\033[?1049h\033[?25l\033[2J"
#define END_SCREEN   "\033[?25h\033[?1049l"

struct top {
	const struct lab_arguments *arguments;
	struct lab_watch watch;
	bool terminal;
	bool screen; /* refreshed in place */
	json_t *before;
	uint64_t before_ns;
};

static unsigned terminal_rows(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

/* Bypasses the guard on standard output, which would remove terminal sequences (terminal.h);
 * top_print() escapes the texts between them. A reader that stops reading does not block signals.
 * Returns 0 or -errno. */
static int write_all(const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t written = write(STDOUT_FILENO, text, bytes);

		if (written < 0 && (errno != EINTR || lab_interrupted()))
			return -errno;
		text += written > 0 ? written : 0;
		bytes -= written > 0 ? (size_t)written : 0;
	}
	return 0;
}

static void print_frame(const struct top *top, json_t *line, FILE *out)
{
	const struct top_print to = {.out = out,
		.colour = top->terminal,
		.rows = top->screen ? terminal_rows() : 0,
		.end_of_line = top->screen ? "\033[K\n" : "\n"};

	if (top->arguments->json_lines) {
		json_dumpf(line, out, JSON_COMPACT);
		fputc('\n', out);
		return;
	}
	if (top->screen)
		fputs("\033[H", out);
	top_print(&to, line);
	if (top->screen)
		fputs("\033[J", out);
	else if (!top->arguments->once)
		fputc('\n', out);
}

/* Returns 0, or -errno if the line could not be written. */
static int show(const struct top *top, json_t *line)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int result;

	if (out == NULL)
		return -ENOMEM;
	print_frame(top, line, out);
	result = fclose(out) == 0 ? write_all(text, bytes) : -ENOMEM;
	free(text);
	return result;
}

/* Queries the lab once more. Returns 0, or -errno with error set. */
static int next(struct top *top, json_t **line, struct error *error)
{
	int result;
	json_t *now = lab_watch_ask(&top->watch, &result, error);
	uint64_t now_ns = lab_watch_now_ns();

	*line = NULL;
	if (now == NULL)
		return result;
	if (top->before != NULL)
		*line = lab_rates(
			&top->watch.lab, top->before, now, (double)(now_ns - top->before_ns) / 1e9);
	json_decref(top->before);
	top->before = now;
	top->before_ns = now_ns;
	return 0;
}

/* Runs once, or until a signal arrives or the reader closes the output. Returns 0, or -errno with
 * error set. */
static int watch_lab(struct top *top, struct error *error)
{
	json_t *line;

	while (!lab_interrupted()) {
		int result = next(top, &line, error);
		bool last = line != NULL && top->arguments->once;
		uint64_t until;

		if (result < 0)
			return result;
		if (line != NULL)
			result = show(top, line);
		json_decref(line);
		if (result == -EPIPE || result == -EINTR)
			return 0;
		if (result < 0)
			return error_set(error, -result, "standard output: cannot be written: %s",
				strerror(-result));
		if (last)
			return 0;
		until = lab_now_ms() + top->arguments->interval_ps / PS_PER_MS;
		for (uint64_t now; (now = lab_now_ms()) < until && !lab_interrupted();)
			lab_sleep_ms(until - now < STEP_MS ? (int)(until - now) : STEP_MS);
	}
	return 0;
}

enum weft_exit cmd_lab_top(const struct lab_arguments *arguments)
{
	struct top top = {.arguments = arguments};
	enum weft_exit code = lab_watch_open(&top.watch, arguments, COMMAND);
	struct error error;
	int result;

	if (code != EXIT_DONE)
		return code;
	lab_catch_signals();
	top.terminal = isatty(STDOUT_FILENO) && !arguments->json_lines;
	top.screen = top.terminal && !arguments->once;
	if (top.screen)
		write_all(BEGIN_SCREEN, strlen(BEGIN_SCREEN));
	result = watch_lab(&top, &error);
	if (top.screen)
		write_all(END_SCREEN, strlen(END_SCREEN));
	json_decref(top.before);
	lab_watch_close(&top.watch);
	if (result == 0)
		return EXIT_DONE;
	return command_fail(
		COMMAND, result == -ENOENT ? EXIT_BAD_ANSWER : EXIT_NOT_ABLE, "%s", error.text);
}
