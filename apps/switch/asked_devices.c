/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "standalone.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include "port_ethdev.h"
#include "program.h"

/* The X of "--vdev X", "--vdev=X", "-a X" or "-aX" at argv[*i]; NULL: another argument. */
static const char *asked(char **argv, int end, int *i)
{
	static const char *const option[] = {"--vdev", "--allow", "-a"};

	for (unsigned o = 0; o < RTE_DIM(option); o++) {
		size_t length = strlen(option[o]);
		const char *rest = argv[*i] + length;

		if (strncmp(argv[*i], option[o], length) != 0)
			continue;
		if (*rest == '=')
			return rest + 1;
		if (*rest != '\0' && option[o][1] != '-')
			return rest;
		if (*rest == '\0' && *i + 1 < end)
			return argv[++*i];
	}
	return NULL;
}

/* Other classes of DPDK devices have other names. */
static bool is_port(const char *device)
{
	return strncmp(device, "net_", 4) == 0 || strncmp(device, "eth_", 4) == 0 ||
	       strchr(device, ':') == device + strcspn(device, ",:");
}

static int check(const char *device, struct fault *fault)
{
	char name[RTE_ETH_NAME_MAX_LEN], full[RTE_ETH_NAME_MAX_LEN];
	struct port port;
	uint16_t ethdev;
	int result;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(device, ","), device);
	snprintf(full, sizeof(full), "0000:%s", name); /* PCI addresses may be without domain */
	if (!is_port(device) || rte_eth_dev_get_port_by_name(name, &ethdev) == 0 ||
		rte_eth_dev_get_port_by_name(full, &ethdev) == 0)
		return 0;
	/* Tries again to learn the reason. */
	result = port_attach_ethdev(&port, name, device, fault);
	if (result < 0)
		return result;
	port_close(&port);
	return fault_set(fault, ENODEV, "%s: could not be opened at start", device);
}

bool asked_devices_all(int argc, char **argv)
{
	int end = program_separator(argc, argv);

	for (int i = 1; i < end; i++)
		if (strncmp(argv[i], "-b", 2) == 0 || strncmp(argv[i], "--block", 7) == 0)
			return true;
	return false;
}

unsigned asked_devices_count(int argc, char **argv)
{
	int end = program_separator(argc, argv);
	unsigned count = 0;

	for (int i = 1; i < end; i++) {
		const char *device = asked(argv, end, &i);

		count += device != NULL && is_port(device);
	}
	return count;
}

int asked_devices_check(int argc, char **argv, struct fault *fault)
{
	int end = program_separator(argc, argv), result = 0;

	for (int i = 1; i < end && result == 0; i++) {
		const char *device = asked(argv, end, &i);

		if (device != NULL)
			result = check(device, fault);
	}
	return result;
}
