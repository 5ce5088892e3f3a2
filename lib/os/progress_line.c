/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "progress_line.h"

#include <unistd.h>

#define COLUMNS 78

static bool begin(struct progress_line *line)
{
	if (line->silent || !isatty(STDERR_FILENO))
		return false;
	line->shown = true;
	return true;
}

static double seconds(weft_time time)
{
	return (double)time / (double)PS_PER_S;
}

void progress_line_tell(struct progress_line *line, weft_time done, weft_time whole)
{
	if (!begin(line))
		return;
	if (done > whole)
		done = whole;
	if (whole == WEFT_TIME_NEVER)
		fprintf(line->out, "\r%.1f s   ", seconds(done));
	else
		fprintf(line->out, "\r%5.1f %%  %.1f of %.1f s, %.0f s left   ",
			whole > 0 ? 100 * (double)done / (double)whole : 100, seconds(done),
			seconds(whole), seconds(whole - done));
}

void progress_line_wait(struct progress_line *line, const char *what)
{
	if (begin(line))
		fprintf(line->out, "\rwaiting for %s   ", what);
}

void progress_line_wipe(struct progress_line *line)
{
	if (line->shown)
		fprintf(line->out, "\r%*s\r", COLUMNS, "");
	line->shown = false;
}
