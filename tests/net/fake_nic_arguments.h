/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The device arguments of a fake NIC; fake_nic.h says what each means. */

#include <stdbool.h>
#include <stdint.h>

/* fake_nic_arguments.round */
#define FAKE_ROUND_POW2 UINT32_MAX

#define FAKE_STEPS(X) X(none) X(configure) X(rxq) X(txq) X(start) X(stamps) X(clock)

enum fake_step {
#define X(name) FAKE_STEP_##name,
	FAKE_STEPS(X)
#undef X
};

struct fake_nic_arguments {
	char cable[96];
	uint32_t end; /* 0: a */
	uint32_t keep, done_cleanup, round, split, room, no_scatter, no_multi;
	uint32_t max_mtu, min_mtu, max_frame, overhead, lsc, speed, error, pause;
	uint32_t stamps, stamps_ahead, stamps_shift, stamps_every, timesync;
	uint32_t descriptors_min, descriptors_max, descriptors_align;
	bool scatter_always, carrier_peer, hold, promisc_unsupported;
	enum fake_step fail;
};

/* Returns 0, or -EINVAL with a line in the log. */
int fake_nic_arguments_parse(struct fake_nic_arguments *arguments, const char *text);
