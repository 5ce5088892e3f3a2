/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "ethdev_private.h"

#include <stdlib.h>

#include <rte_log.h>

void log_capture_begin(struct log_capture *log)
{
	*log = (struct log_capture){.text = NULL};
	log->stream = open_memstream(&log->text, &log->size);
	if (log->stream != NULL)
		rte_openlog_stream(log->stream);
}

void log_capture_end(struct log_capture *log)
{
	if (log->stream == NULL)
		return;
	rte_openlog_stream(NULL);
	fclose(log->stream);
	log->stream = NULL;
}

void log_capture_free(struct log_capture *log)
{
	free(log->text);
	log->text = NULL;
}
