/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Mapped routes of a real-clock fabric: its control plane and the thread that runs it. */

#include "real_private.h"

/* Nothing if routes are static; before there are devices. */
int real_control_create(struct real_fabric *fabric, struct fault *fault);
void real_control_destroy(struct real_fabric *fabric);
/* The control thread. */
void real_control_start(struct real_fabric *fabric);
void real_control_stop(struct real_fabric *fabric);
/* Of a device that lives here; NULL if routes are static. */
struct device_control *real_control_of(
	const struct real_fabric *fabric, enum device_kind kind, uint32_t number);
/* Static routes, or mapped ones from each host here to all others. */
bool real_is_routed(const struct real_fabric *fabric);
/* Routes may come: there is a control thread, and a host here that may be the mapper. */
bool real_may_be_routed(const struct real_fabric *fabric);
/* Why there are none, when the control thread is stopped. */
void real_control_why(const struct real_fabric *fabric, struct fault *fault);
/* control_plane_ask(); false if routes are static, too. */
bool real_control_ask(struct real_fabric *fabric, const char *request);
