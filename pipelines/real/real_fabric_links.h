/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The links of a real-clock fabric: in-memory ones between devices of this process, ethdevs where
 * the other end is elsewhere. */

#include "real_private.h"

/* Finds the devices of external links, which the pools depend on. */
int real_links_attach(struct real_fabric *fabric, struct fault *fault);
void real_links_needs(const struct real_fabric *fabric, struct real_pool_request *request);
/* Opens all links, when there are pools. */
int real_links_open(struct real_fabric *fabric, struct fault *fault);
void real_links_close(struct real_fabric *fabric);
/* The open end at a port of a device that lives here; NULL if there is no cable. */
struct real_end *real_end_at(struct real_fabric *fabric, struct topology_port at);
/* Whether the other end of its cable lives here, too. */
bool real_end_is_inside(const struct real_fabric *fabric, const struct real_end *end);
/* "s0:2 down" cuts the cable at this port, if that is here, "s0:2 up" joins it again. */
void real_links_cut(struct real_fabric *fabric, const char *text);
/* Of its control frames; NULL: a link inside this process, or no key. */
const struct link_key *real_end_key(const struct real_fabric *fabric, const struct real_end *end);
/* NULL if none is wanted. */
struct impairment *real_end_impairment(struct real_end *end);
