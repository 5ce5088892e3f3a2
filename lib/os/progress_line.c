/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "progress_line.h"

#include <stdarg.h>
#include <unistd.h>

#define COLUMNS 78

bool progress_line_visible(const struct progress_line *line)
{
	return !line->silent && isatty(STDERR_FILENO);
}

void progress_line_print(struct progress_line *line, const char *format, ...)
{
	va_list args;

	if (!progress_line_visible(line))
		return;
	line->shown = true;
	fputc('\r', line->out);
	va_start(args, format);
	vfprintf(line->out, format, args);
	va_end(args);
	/* Overwrites the end of a longer text. */
	fputs("   ", line->out);
}

static double seconds(weft_time time)
{
	return (double)time / (double)PS_PER_S;
}

void progress_line_show(struct progress_line *line, weft_time done, weft_time whole)
{
	if (done > whole)
		done = whole;
	if (whole == WEFT_TIME_NEVER)
		progress_line_print(line, "%.1f s", seconds(done));
	else
		progress_line_print(line, "%5.1f %%  %.1f of %.1f s, %.0f s left",
			whole > 0 ? 100 * (double)done / (double)whole : 100, seconds(done),
			seconds(whole), seconds(whole - done));
}

void progress_line_wait(struct progress_line *line, const char *what)
{
	progress_line_print(line, "waiting for %s", what);
}

void progress_line_wipe(struct progress_line *line)
{
	if (line->shown)
		fprintf(line->out, "\r%*s\r", COLUMNS, "");
	line->shown = false;
}
