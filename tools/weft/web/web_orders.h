/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Orders of viewers to the lab. The server's thread queues them and lets their connections wait;
 * the command's thread carries them out, so a slow lab delays no other viewer. */

#include <microhttpd.h>
#include <stdbool.h>

#include "lab_cable.h"

struct web_order {
	char port[LAB_PORT_MAX];
	bool cut;
	int result; /* filled with 'fault' when it is done */
	struct fault fault;
	struct MHD_Connection *connection;
	struct web_order *next;
};

struct web_orders;

/* NULL without memory. */
struct web_orders *web_orders_create(void);
void web_orders_destroy(struct web_orders *orders);

/* In the server's thread. Suspends the connection until the order is done, and 'order', which stays
 * the caller's, must not be read before. False: it is refused already, with 'result' and 'fault'.
 */
bool web_orders_add(struct web_orders *orders, struct web_order *order);

/* The oldest one, which web_orders_finish() must follow; NULL: none. */
struct web_order *web_orders_take(struct web_orders *orders);
/* The order is done; it may vanish now. */
void web_orders_finish(struct web_order *order);

/* Refuses all, and later ones at once. */
void web_orders_end(struct web_orders *orders);
