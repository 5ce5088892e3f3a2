/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Link-down events caused by a command that cut the cable; they are not faults. */

#include "link/link_end.h"
#include "port/port.h"

struct link_falls {
	uint64_t noted;   /* link_end.downs when it last went down */
	uint64_t ordered; /* how many of these by command */
};

/* The link just went down. */
static inline void link_falls_note(
	struct link_falls *falls, const struct link_end *link, const struct port *port)
{
	if (port_is_cut_by(port, PORT_CUT_ORDERED))
		falls->ordered += link->downs - falls->noted;
	falls->noted = link->downs;
}
