/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_file.h"

#include <inttypes.h>
#include <string.h>

#include "wire/frame.h"

/* Like snprintf(), which would take most of the time for a large file. */
static size_t append(char *out, size_t size, size_t used, const char *text)
{
	for (; *text != '\0'; text++, used++)
		if (used + 1 < size) {
			out[used] = *text;
			out[used + 1] = '\0';
		}
	return used;
}

static size_t append_number(char *out, size_t size, size_t used, unsigned number)
{
	const char text[] = {(char)('0' + number / 100), (char)('0' + number / 10 % 10),
		(char)('0' + number % 10), '\0'};

	return append(out, size, used, text + (number < 10 ? 2 : number < 100));
}

int route_text(const struct topology *topology, uint32_t source, const uint8_t *route,
	unsigned length, char *out, size_t size)
{
	struct topology_port at;
	const char *gap = "";
	size_t used = 0;

	if (!topology_peer(
		    topology, (struct topology_port){.kind = DEVICE_HOST, .device = source}, &at))
		return -EINVAL;
	for (unsigned i = 0; i < length; i++, gap = " ") {
		bool step = route[i] == ROUTE_TYPE_STEP && i + 1 < length;

		i += step;
		if (route_is_layer(route[i])) {
			used = append(out, size, used, "+");
			used = append_number(out, size, used, route[i] & ROUTE_LAYER_MASK);
			continue;
		}
		if (at.kind != DEVICE_SWITCH && route[i] != ROUTE_TYPE_ITB)
			break;
		used = append(out, size, used, gap);
		if (at.kind == DEVICE_SWITCH)
			at.port = (uint8_t)route_port(route, &i);
		else
			used = append(out, size, used, "!");
		used = append(out, size, used, step ? "^" : "");
		used = append(out, size, used, topology_device_name(topology, at));
		if (at.kind == DEVICE_SWITCH) {
			used = append(out, size, used, ":");
			used = append_number(out, size, used, at.port);
		}
		if (!topology_peer(topology, at, &at))
			return -EINVAL;
	}
	return (int)used;
}

static uint64_t count_routes(const struct topology *topology, const struct route_set *set)
{
	uint64_t routes = 0;

	for (uint32_t source = 0; source < topology->hosts; source++)
		for (uint32_t destination = 0; destination < topology->hosts; destination++)
			routes += route_set_count(set, source, destination);
	return routes;
}

static int write_header(const struct topology *topology, const struct route_set *set, FILE *out)
{
	const struct route_origin *origin = route_set_origin_const(set);
	const struct vc_rule *rule = route_set_vc_rule(set);
	char name[ROUTE_LABEL_MAX];

	route_file_label(topology->name, name);
	fprintf(out, ROUTE_FILE_MAGIC " topology=%s", name);
	if (origin->algorithm[0] != '\0')
		fprintf(out, " algorithm=%s", origin->algorithm);
	fprintf(out, " seed=%" PRIu64, origin->seed);
	if (origin->root[0] != '\0')
		fprintf(out, " root=%s", origin->root);
	if (rule != NULL)
		fprintf(out, " vcs=%u", rule->classes);
	if (rule != NULL && vc_steps_name(rule->steps) != NULL)
		fprintf(out, " steps=%s", vc_steps_name(rule->steps));
	fprintf(out, " routes=%" PRIu64, count_routes(topology, set));
	return fputc('\n', out) == EOF ? -EIO : 0;
}

static void write_vc_rule(const struct topology *topology, const struct vc_rule *rule, FILE *out)
{
	for (uint32_t at = 0; at < rule->switches; at++)
		for (unsigned port = 0; port < VC_RULE_PORTS; port++) {
			bool dateline = (rule->dateline[at] >> port & 1) != 0;

			if (vc_rule_ring(rule, at, port) != VC_RULE_NO_RING)
				fprintf(out, ROUTE_FILE_VC "%s:%u ring=%u%s\n",
					topology->switch_at[at].name, port,
					vc_rule_ring(rule, at, port), dateline ? " dateline" : "");
		}
}

static int write_pair(const struct topology *topology, const struct route_set *set, uint32_t source,
	uint32_t destination, FILE *out, struct error *error)
{
	char text[ROUTE_ELEMENTS_MAX * (TOPOLOGY_NAME_MAX + 4)];
	const uint8_t *route;
	unsigned length;

	for (unsigned i = 0; (route = route_set_get(set, source, destination, i, &length)) != NULL;
		i++) {
		if (route_text(topology, source, route, length, text, sizeof(text)) < 0)
			return error_set(error, EINVAL,
				"%s: route %u from %s to %s leaves through a port without a link",
				topology->name, i, topology->host_at[source].name,
				topology->host_at[destination].name);
		fprintf(out, "%s %s %s\n", topology->host_at[source].name,
			topology->host_at[destination].name, text);
	}
	return 0;
}

int route_file_write(const struct topology *topology, const struct route_set *set, FILE *out,
	struct error *error)
{
	int result = write_header(topology, set, out);

	if (result == 0 && route_set_vc_rule(set) != NULL)
		write_vc_rule(topology, route_set_vc_rule(set), out);
	for (uint32_t source = 0; source < topology->hosts && result == 0; source++)
		for (uint32_t destination = 0; destination < topology->hosts && result == 0;
			destination++)
			result = write_pair(topology, set, source, destination, out, error);
	if (result == -EINVAL)
		return result;
	if (result < 0 || fflush(out) != 0 || ferror(out))
		return error_set(error, EIO, "%s: cannot write the routes: %s", topology->name,
			strerror(errno));
	return 0;
}

void route_file_label(const char *name, char label[ROUTE_LABEL_MAX])
{
	snprintf(label, ROUTE_LABEL_MAX, "%s", name);
	for (char *at = label; *at != '\0'; at++)
		if ((unsigned char)*at <= ' ')
			*at = '_';
}
