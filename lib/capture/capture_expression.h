/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Makes a filter from the arguments of --filter and --where. Not for the data plane: libpcap may
 * resolve names. */

#include "base/weft_error.h"
#include "capture_filter.h"
#include "topo/topology.h"

/* Either text may be NULL; with both, a frame has to match both.
 *
 * 'packets': an expression of pcap-filter(7) for the IPv4 packet of a data frame. 'where': words
 * separated by spaces: vc=1,2 kind=data,credit src=h0 dst=h3 dropped. Returns 0, or -EINVAL with
 * error set, which names the position in the text and libpcap's message. 'topology' NULL: no
 * hosts. */
int capture_expression_parse(struct capture_filter *filter, const char *packets, const char *where,
	const struct topology *topology, struct error *error);
