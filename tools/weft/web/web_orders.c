/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "web_orders.h"

#include <pthread.h>
#include <stdlib.h>

struct web_orders {
	pthread_mutex_t lock; /* of everything */
	bool ended;
	struct web_order *first, **last;
};

struct web_orders *web_orders_create(void)
{
	struct web_orders *orders = calloc(1, sizeof(*orders));

	if (orders == NULL)
		return NULL;
	pthread_mutex_init(&orders->lock, NULL);
	orders->last = &orders->first;
	return orders;
}

void web_orders_destroy(struct web_orders *orders)
{
	if (orders == NULL)
		return;
	pthread_mutex_destroy(&orders->lock);
	free(orders);
}

static void refuse(struct web_order *order)
{
	order->result = fault_set(&order->fault, ECANCELED, "the server ends");
}

bool web_orders_add(struct web_orders *orders, struct web_order *order)
{
	bool accepted;

	pthread_mutex_lock(&orders->lock);
	accepted = !orders->ended;
	order->next = NULL;
	if (!accepted) {
		refuse(order);
	} else {
		*orders->last = order;
		orders->last = &order->next;
		MHD_suspend_connection(order->connection);
	}
	pthread_mutex_unlock(&orders->lock);
	return accepted;
}

struct web_order *web_orders_take(struct web_orders *orders)
{
	struct web_order *order;

	pthread_mutex_lock(&orders->lock);
	order = orders->first;
	if (order != NULL) {
		orders->first = order->next;
		if (orders->first == NULL)
			orders->last = &orders->first;
	}
	pthread_mutex_unlock(&orders->lock);
	return order;
}

void web_orders_finish(struct web_order *order)
{
	MHD_resume_connection(order->connection);
}

void web_orders_end(struct web_orders *orders)
{
	struct web_order *order;

	pthread_mutex_lock(&orders->lock);
	orders->ended = true;
	pthread_mutex_unlock(&orders->lock);
	while ((order = web_orders_take(orders)) != NULL) {
		refuse(order);
		web_orders_finish(order);
	}
}
