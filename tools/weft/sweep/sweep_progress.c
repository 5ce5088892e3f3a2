/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_run.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sweep_table.h"

#define WIDTH_USUAL 80
#define BAR_MIN     4
#define LINE_MAX_   256

void sweep_progress_init(struct sweep_progress *progress, unsigned points, unsigned had, double now)
{
	*progress = (struct sweep_progress){
		.out = stderr,
		.terminal = isatty(STDERR_FILENO) == 1,
		.points = points,
		.had = had,
		.done = had,
		.started = now,
		.last_ended = now,
	};
}

static void format_left(const struct sweep_progress *progress, char *out, size_t size)
{
	unsigned ended = progress->done - progress->had + progress->failed;
	unsigned left = progress->points - progress->done - progress->failed;
	unsigned seconds;

	out[0] = '\0';
	if (ended == 0 || left == 0)
		return;
	seconds = (unsigned)((progress->last_ended - progress->started) * left / ended + 0.5);
	if (seconds >= 3600)
		snprintf(out, size, ", %u:%02u:%02u left", seconds / 3600, seconds / 60 % 60,
			seconds % 60);
	else
		snprintf(out, size, ", %u:%02u left", seconds / 60, seconds % 60);
}

void sweep_progress_format(
	const struct sweep_progress *progress, double now, unsigned width, char *out, size_t size)
{
	unsigned ended = progress->done + progress->failed, bar, full;
	char text[128], failed[32] = "", left[32];

	format_left(progress, left, sizeof(left));
	if (progress->failed > 0)
		snprintf(failed, sizeof(failed), ", %u failed", progress->failed);
	snprintf(text, sizeof(text), "%u/%u points, %u running%s%s", ended, progress->points,
		progress->running, failed, left);
	bar = width > strlen(text) + 3 ? width - (unsigned)strlen(text) - 3 : 0;
	if (bar < BAR_MIN) {
		snprintf(out, size, "%.*s", (int)width, text);
		return;
	}
	bar = bar > 40 ? 40 : bar;
	full = progress->points > 0 ? (unsigned)((uint64_t)bar * ended / progress->points) : bar;
	snprintf(out, size, "[%.*s%.*s] %s", (int)full, "########################################",
		(int)(bar - full), "........................................", text);
}

void sweep_progress_draw(const struct sweep_progress *progress, double now)
{
	struct winsize window;
	char line[LINE_MAX_];
	unsigned width = WIDTH_USUAL;
	int fd = fileno(progress->out);

	if (!progress->terminal)
		return;
	/* A guarded standard error has no descriptor (terminal_guard.h). */
	if (ioctl(fd >= 0 ? fd : STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
		width = window.ws_col;
	sweep_progress_format(progress, now, width - 1, line, sizeof(line));
	fprintf(progress->out, "\r\033[K%s", line);
	fflush(progress->out);
}

void sweep_progress_end(const struct sweep_progress *progress)
{
	if (progress->terminal)
		fputs("\r\033[K", progress->out);
	fflush(progress->out);
}

static double number_at(const json_t *result, const char *section, const char *key)
{
	return json_number_value(json_object_get(json_object_get(result, section), key));
}

/* The count comes first, so that the following text is aligned. */
static void begin_line(const struct sweep_progress *progress)
{
	int digits = snprintf(NULL, 0, "%u", progress->points);

	fprintf(progress->out, "%s[%*u/%u] ", progress->terminal ? "\r\033[K" : "", digits,
		progress->done + progress->failed, progress->points);
}

void sweep_progress_done(struct sweep_progress *progress, const char *label, const json_t *result,
	double seconds, double now)
{
	const json_t *mean = json_object_get(
		json_object_get(json_object_get(result, "latency_ns"), "total"), "mean");
	const char *nothing = json_string_value(json_object_get(result, "nothing_measured"));
	char latency[32] = "-";
	bool bad = sweep_result_is_bad(result);

	progress->done++;
	progress->last_ended = now;
	if (progress->terminal && !bad && nothing == NULL)
		return;
	begin_line(progress);
	if (nothing != NULL) {
		fprintf(progress->out, "%s: nothing was measured: %s (%.1f s)\n", label, nothing,
			seconds);
		fflush(progress->out);
		return;
	}
	if (json_is_number(mean))
		snprintf(latency, sizeof(latency), "%.1f us", json_number_value(mean) / 1e3);
	fprintf(progress->out,
		"%s: offered %.1f %%, accepted %.1f %%, total latency %s%s (%.1f s)\n", label,
		100 * number_at(result, "throughput", "offered"),
		100 * number_at(result, "throughput", "accepted"), latency,
		bad ? "; packets lost, doubled, out of order or in deadlock" : "", seconds);
	fflush(progress->out);
}

void sweep_progress_failed(
	struct sweep_progress *progress, const char *label, const char *why, double now)
{
	progress->failed++;
	progress->last_ended = now;
	begin_line(progress);
	fprintf(progress->out, "%s: failed: %s\n", label, why);
	fflush(progress->out);
}

void sweep_progress_skipped(
	struct sweep_progress *progress, const char *label, const char *why, double now)
{
	progress->points--;
	progress->last_ended = now;
	begin_line(progress);
	fprintf(progress->out, "%s: skipped: %s\n", label, why);
	fflush(progress->out);
}
