/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab inventory: prints the machines of a lab file as a dynamic inventory for Ansible. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/lab/lab_config.h"
#include "lab/cmd_lab.h"
#include "lab/lab_snapshot.h"
#include "topo/topology_file.h"

#define COMMAND "lab inventory"

/* Adds the parts of [ssh://][USER@]HOST[:PORT]. Only an ssh:// address may contain a port. */
static void add_address(json_t *vars, const char *ssh)
{
	char text[LAB_MACHINE_SSH_MAX], *host = text, *at, *port = NULL;
	bool uri = strncmp(ssh, "ssh://", 6) == 0;

	snprintf(text, sizeof(text), "%s", ssh + (uri ? 6 : 0));
	text[strcspn(text, "/")] = '\0';
	at = strrchr(text, '@');
	if (at != NULL) {
		*at = '\0';
		json_object_set_new(vars, "ansible_user", json_string(text));
		host = at + 1;
	}
	if (uri && strchr(host, ']') == NULL)
		port = strrchr(host, ':');
	else if (uri)
		port = strstr(host, "]:") != NULL ? strstr(host, "]:") + 1 : NULL;
	if (port != NULL) {
		*port = '\0';
		json_object_set_new(vars, "ansible_port", json_integer(atoi(port + 1)));
	}
	if (host[0] == '[') {
		host++;
		host[strcspn(host, "]")] = '\0';
	}
	json_object_set_new(vars, "ansible_host", json_string(host));
}

/* Lists the PCI addresses bound to the machine's ports. */
static json_t *pci_ports(const struct lab *lab, unsigned machine)
{
	const struct topology *topology = lab->topology;
	json_t *list = json_array();

	for (uint32_t i = 0; i < topology->bindings; i++) {
		const struct topology_binding *binding = &topology->binding_at[i];
		const char *device = topology_device_name(topology, binding->port);

		if (lab_machine_of(lab->config, device) == (int)machine &&
			strncmp(binding->dpdk, "net_", 4) != 0 && !topology_is_udp(binding->dpdk))
			json_array_append_new(list, json_string(binding->dpdk));
	}
	return list;
}

static json_t *variables(const struct lab *lab, unsigned machine)
{
	const struct lab_config_machine *at = &lab->config->machines.at[machine];
	const char *config = getenv("WEFT_SSH_CONFIG");
	char arguments[LAB_MACHINE_SSH_MAX + 600];
	json_t *vars = json_pack("{s:s,s:s,s:o}", "weft_machine", at->name, "weft_lab",
		lab->config->name, "weft_ports", pci_ports(lab, machine));

	if (at->ssh[0] == '\0')
		json_object_set_new(vars, "ansible_connection", json_string("local"));
	else
		add_address(vars, at->ssh);
	if (config != NULL && config[0] != '\0') {
		snprintf(arguments, sizeof(arguments), "-F %s", config);
		json_object_set_new(vars, "ansible_ssh_common_args", json_string(arguments));
	}
	return vars;
}

static json_t *inventory(const struct lab *lab)
{
	json_t *hosts = json_array(), *all = json_object();

	for (unsigned i = 0; i < lab->config->machines.count; i++) {
		const char *name = lab->config->machines.at[i].name;

		json_array_append_new(hosts, json_string(name));
		json_object_set_new(all, name, variables(lab, i));
	}
	return json_pack("{s:{s:o},s:{s:o}}", "weft", "hosts", hosts, "_meta", "hostvars", all);
}

enum weft_exit cmd_lab_inventory(const struct lab_arguments *arguments)
{
	struct lab_target target;
	struct error error;
	struct lab lab;
	int result = lab_snapshot_open(arguments, &lab, &target, &error);

	if (result < 0)
		return command_error(COMMAND, result, &error);
	if (lab.config->machines.count == 0)
		result = error_set(&error, EINVAL, "%s: the lab file has no 'machines'", lab.path);
	else
		command_print_json(inventory(&lab), 0);
	lab_close(&lab);
	return result == 0 ? EXIT_DONE : command_fail(COMMAND, EXIT_BAD_REQUEST, "%s", error.text);
}
