/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The images that a mapper distributes (table_image.h), in the forms that switches and interfaces
 * use. Done by the control thread: allocates. */

#include <stdint.h>

#include "device_control.h"

/* 'image' is one that table_image_check() has passed, for this device. 'hosts': destinations in the
 * tables; the image may have fewer or more, those beyond either are left out. NULL with errno
 * ENOMEM. */
struct switch_tables *control_switch_tables(const uint8_t *image, unsigned ports, uint32_t hosts);

/* Likewise; '*reached' is the number of destinations with a route. */
struct host_tables *control_host_tables(const uint8_t *image, uint16_t hosts, uint16_t *reached);
