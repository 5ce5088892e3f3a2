/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The devices that the user named before '--' (--vdev, -a). EAL ignores those that it cannot open;
 * a switch must not start without one of its ports.
 */

#include <stdbool.h>

#include "fault.h"

/* 0 if each has an ethdev, or -errno and a fault with the first missing one and the reason. */
int asked_devices_check(int argc, char **argv, struct fault *fault);
/* The user excluded devices (-b) and so asked for all others. */
bool asked_devices_all(int argc, char **argv);
/* Number of devices that the user named. */
unsigned asked_devices_count(int argc, char **argv);
