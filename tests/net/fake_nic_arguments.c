/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fake_nic_arguments.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_kvargs.h>

#include "fake_nic_device.h"

typedef int argument_fn(struct fake_nic_arguments *arguments, const char *value);

/* --- numbers --- */

struct number {
	const char *key;
	size_t at;
};

#define NUMBER(name)                                              \
	{                                                         \
#name, offsetof(struct fake_nic_arguments, name), \
	}

static const struct number numbers[] = {
	NUMBER(keep),
	NUMBER(done_cleanup),
	NUMBER(split),
	NUMBER(room),
	NUMBER(no_scatter),
	NUMBER(no_multi),
	NUMBER(max_mtu),
	NUMBER(min_mtu),
	NUMBER(max_frame),
	NUMBER(overhead),
	NUMBER(lsc),
	NUMBER(speed),
	NUMBER(error),
	NUMBER(pause),
	NUMBER(stamps),
	NUMBER(stamps_ahead),
	NUMBER(stamps_shift),
	NUMBER(stamps_every),
	NUMBER(timesync),
};

static int parse_number(const char *text, uint32_t *number)
{
	char *end;

	errno = 0;
	*number = (uint32_t)strtoul(text, &end, 0);
	return errno != 0 || end == text || *end != '\0' ? -EINVAL : 0;
}

/* --- words --- */

static int parse_cable(struct fake_nic_arguments *arguments, const char *value)
{
	if (strlen(value) >= sizeof(arguments->cable))
		return -EINVAL;
	strcpy(arguments->cable, value);
	return 0;
}

static int parse_end(struct fake_nic_arguments *arguments, const char *value)
{
	arguments->end = strcmp(value, "b") == 0;
	return arguments->end == 1 || strcmp(value, "a") == 0 ? 0 : -EINVAL;
}

static int parse_round(struct fake_nic_arguments *arguments, const char *value)
{
	if (strcmp(value, "pow2") != 0)
		return parse_number(value, &arguments->round);
	arguments->round = FAKE_ROUND_POW2;
	return 0;
}

static int parse_scatter(struct fake_nic_arguments *arguments, const char *value)
{
	arguments->scatter_always = strcmp(value, "always") == 0;
	return arguments->scatter_always ? 0 : -EINVAL;
}

static int parse_carrier(struct fake_nic_arguments *arguments, const char *value)
{
	arguments->carrier_peer = strcmp(value, "peer") == 0;
	return arguments->carrier_peer ? 0 : -EINVAL;
}

static int parse_down(struct fake_nic_arguments *arguments, const char *value)
{
	arguments->hold = strcmp(value, "hold") == 0;
	return arguments->hold ? 0 : -EINVAL;
}

static int parse_promisc(struct fake_nic_arguments *arguments, const char *value)
{
	arguments->promisc_unsupported = strcmp(value, "unsupported") == 0;
	return arguments->promisc_unsupported ? 0 : -EINVAL;
}

static int parse_descriptors(struct fake_nic_arguments *arguments, const char *value)
{
	char rest;

	if (sscanf(value, "%u:%u:%u%c", &arguments->descriptors_min, &arguments->descriptors_max,
		    &arguments->descriptors_align, &rest) != 3)
		return -EINVAL;
	return arguments->descriptors_align == 0 ||
			       arguments->descriptors_max < arguments->descriptors_min
		       ? -EINVAL
		       : 0;
}

static int parse_fail(struct fake_nic_arguments *arguments, const char *value)
{
	static const char *const steps[] = {
#define X(name) #name,
		FAKE_STEPS(X)
#undef X
	};

	for (unsigned i = 0; i < RTE_DIM(steps); i++)
		if (strcmp(steps[i], value) == 0) {
			arguments->fail = (enum fake_step)i;
			return 0;
		}
	return -EINVAL;
}

struct word {
	const char *key;
	argument_fn *parse;
};

static const struct word words[] = {
	{"cable", parse_cable},
	{"end", parse_end},
	{"round", parse_round},
	{"scatter", parse_scatter},
	{"carrier", parse_carrier},
	{"down", parse_down},
	{"promisc", parse_promisc},
	{"descriptors", parse_descriptors},
	{"fail", parse_fail},
};

/* --- all --- */

static int parse_one(const char *key, const char *value, void *ctx)
{
	struct fake_nic_arguments *arguments = ctx;
	int result = -EINVAL;

	value = value == NULL ? "" : value;
	for (unsigned i = 0; i < RTE_DIM(numbers); i++)
		if (strcmp(numbers[i].key, key) == 0)
			result = parse_number(
				value, (uint32_t *)((char *)arguments + numbers[i].at));
	for (unsigned i = 0; i < RTE_DIM(words); i++)
		if (strcmp(words[i].key, key) == 0)
			result = words[i].parse(arguments, value);
	if (result < 0)
		FAKE_NIC_SAY(ERR, "no such argument: %s=%s", key, value);
	return result;
}

/* The frame limit follows from the MTU limit, or vice versa; the default is ixgbe's. */
static int fill_limits(struct fake_nic_arguments *arguments)
{
	if (arguments->max_frame == 0)
		arguments->max_frame =
			arguments->max_mtu == 0 ? 9728 : arguments->max_mtu + arguments->overhead;
	if (arguments->max_mtu == 0)
		arguments->max_mtu = arguments->max_frame - arguments->overhead;
	if (arguments->cable[0] != '\0' && arguments->overhead >= RTE_ETHER_HDR_LEN &&
		arguments->max_mtu + arguments->overhead <= arguments->max_frame &&
		arguments->max_frame <= UINT16_MAX && arguments->min_mtu <= arguments->max_mtu)
		return 0;
	FAKE_NIC_SAY(ERR, "expected cable=NAME, and max_mtu and overhead within max_frame");
	return -EINVAL;
}

int fake_nic_arguments_parse(struct fake_nic_arguments *arguments, const char *text)
{
	struct rte_kvargs *pairs = rte_kvargs_parse(text, NULL);
	int result;

	*arguments = (struct fake_nic_arguments){
		.overhead = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN,
		.min_mtu = RTE_ETHER_MIN_MTU,
		.speed = 10000,
		.error = EIO,
		.descriptors_min = 32,
		.descriptors_max = 4096,
		.descriptors_align = 8,
	};
	if (pairs == NULL)
		return -EINVAL;
	result = rte_kvargs_process(pairs, NULL, parse_one, arguments);
	rte_kvargs_free(pairs);
	return result < 0 ? -EINVAL : fill_limits(arguments);
}
