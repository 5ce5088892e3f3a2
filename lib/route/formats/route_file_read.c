/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_text.h"
#include "route_binary.h"
#include "route_file.h"
#include "topo/topology.h"
#include "wire/frame.h"

#define BLANK " \t\r\n"
/* Includes the newline; nearly twice the longest route with the longest names. */
#define LINE_MAX_BYTES 8192

static struct topology_port host_end(uint32_t host)
{
	return (struct topology_port){.kind = DEVICE_HOST, .device = host};
}

struct reader {
	const struct topology *topology; /* NULL: only the header is read */
	const char *origin;
	struct error *error;
	struct route_set *set;
	struct vc_rule *rule; /* moved to the set when complete */
	unsigned classes;     /* from the header; 0: none */
	unsigned steps;       /* from the header (enum vc_steps) */
	char line[LINE_MAX_BYTES + 1];
	unsigned number;    /* line number, from 1 */
	uint64_t routes;    /* read so far */
	uint64_t announced; /* number of routes in the header; UINT64_MAX: not given */
};

/* Sets an error "ORIGIN:LINE:COLUMN: …", where 'at' determines the column. */
#define REFUSE(reader, at, ...)                                       \
	error_at((reader)->error, (reader)->origin, (reader)->number, \
		(uint32_t)((at) - (reader)->line) + 1, __VA_ARGS__)

static int find_host(struct reader *reader, const char *token, uint32_t *host)
{
	int32_t found = topology_find_host(reader->topology, token);

	if (found < 0)
		return REFUSE(reader, token, "no host '%.64s' in topology %s", token,
			reader->topology->name);
	*host = (uint32_t)found;
	return 0;
}

static int take_label(struct reader *reader, const char *value, char label[ROUTE_LABEL_MAX])
{
	if (strlen(value) >= ROUTE_LABEL_MAX)
		return REFUSE(reader, value,
			"the name has %zu characters; at most %u are "
			"allowed",
			strlen(value), ROUTE_LABEL_MAX - 1);
	for (const char *at = value; *at != '\0'; at++)
		if ((unsigned char)*at < ' ')
			return REFUSE(reader, at, "the name contains a control character");
	strcpy(label, value);
	return 0;
}

static int take_number(struct reader *reader, const char *key, const char *value, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(value, &end, 10);
	if (errno != 0 || !isdigit((unsigned char)value[0]) || *end != '\0')
		return REFUSE(reader, value, "%s '%.32s'; expected a 64-bit number", key, value);
	return 0;
}

static int take_classes(struct reader *reader, const char *value)
{
	struct vc_rule *rule;

	if (value[0] < '1' || value[0] > '0' + VC_RULE_CLASSES_MAX || value[1] != '\0')
		return REFUSE(reader, value, "vcs '%.32s'; expected 1 to %u VC classes", value,
			VC_RULE_CLASSES_MAX);
	reader->classes = (unsigned)(value[0] - '0');
	if (reader->topology == NULL)
		return 0;
	if (topology_max_ports(reader->topology) > VC_RULE_PORTS)
		return REFUSE(reader, value,
			"vcs: VC classes for switches with up to %u ports; expected at most %u",
			topology_max_ports(reader->topology), VC_RULE_PORTS);
	rule = vc_rule_create(reader->topology->switches, (uint8_t)(value[0] - '0'));
	if (rule == NULL)
		return -ENOMEM;
	reader->rule = rule;
	route_set_use_vc_rule(reader->set, rule);
	return 0;
}

static int take_layout(struct reader *reader, const char *value)
{
	reader->steps = vc_steps_find(value);
	if (reader->steps == VC_STEPS_COUNT)
		return REFUSE(reader, value,
			"steps '%.32s'; expected links, equal, halves or layers", value);
	return 0;
}

/* Checks the step layout. Call after all keys of the header are read. */
static int use_layout(struct reader *reader)
{
	if (!vc_steps_fit(reader->steps, reader->classes))
		return REFUSE(reader, reader->line,
			"steps=%s with vcs=%u in the header; expected vcs=%s",
			vc_steps_name(reader->steps), reader->classes,
			reader->steps == VC_STEPS_HALVES  ? "2 or more, an even number"
			: reader->steps == VC_STEPS_EQUAL ? "3 or more, a multiple of 3"
							  : "3 or more");
	if (reader->rule != NULL)
		reader->rule->steps = (uint8_t)reader->steps;
	return 0;
}

static int take_topology(struct reader *reader, const char *value, struct route_origin *origin)
{
	char label[ROUTE_LABEL_MAX];

	if (reader->topology != NULL)
		route_file_label(reader->topology->name, label);
	if (reader->topology != NULL && strcmp(label, value) != 0)
		return REFUSE(
			reader, value, "routes of topology '%.64s'; expected '%s'", value, label);
	return take_label(reader, value, origin->topology);
}

static int take_field(struct reader *reader, char *token)
{
	struct route_origin *origin = route_set_origin(reader->set);
	char *value = strchr(token, '=');

	if (value == NULL)
		return REFUSE(reader, token, "'%.64s' in the header; expected KEY=VALUE", token);
	*value++ = '\0';
	if (strcmp(token, "topology") == 0)
		return take_topology(reader, value, origin);
	if (strcmp(token, "algorithm") == 0)
		return take_label(reader, value, origin->algorithm);
	if (strcmp(token, "root") == 0)
		return take_label(reader, value, origin->root);
	if (strcmp(token, "seed") == 0)
		return take_number(reader, token, value, &origin->seed);
	if (strcmp(token, "routes") == 0)
		return take_number(reader, token, value, &reader->announced);
	if (strcmp(token, "vcs") == 0)
		return take_classes(reader, value);
	if (strcmp(token, "steps") == 0)
		return take_layout(reader, value);
	return REFUSE(reader, token,
		"unknown key '%.64s' in the header; expected topology, algorithm, seed, root, vcs, steps or routes",
		token);
}

static int take_header(struct reader *reader)
{
	const size_t magic = strlen(ROUTE_FILE_MAGIC);
	char *rest, *token;
	int result = 0;

	if (strncmp(reader->line, ROUTE_FILE_MAGIC, magic) != 0 ||
		!isspace((unsigned char)reader->line[magic]))
		return REFUSE(reader, reader->line,
			"not a Weft route file; expected '" ROUTE_FILE_MAGIC " topology=…'");
	for (token = strtok_r(reader->line + magic, BLANK, &rest); token != NULL && result == 0;
		token = strtok_r(NULL, BLANK, &rest))
		result = take_field(reader, token);
	if (result == 0)
		result = use_layout(reader);
	if (result == 0 && route_set_origin(reader->set)->topology[0] == '\0')
		return REFUSE(reader, reader->line,
			"no topology in the header; expected topology=%s",
			reader->topology != NULL ? reader->topology->name : "NAME");
	return result;
}

/* A route that is being read: the position of the message, and the elements so far. */
struct partial {
	struct topology_port at;
	uint8_t element[ROUTE_ELEMENTS_MAX];
	unsigned length;
};

static int push(struct reader *reader, const char *token, struct partial *route, uint8_t element)
{
	if (route->length == ROUTE_ELEMENTS_MAX)
		return REFUSE(reader, token,
			"there are too many route elements; at most %u are "
			"allowed",
			ROUTE_ELEMENTS_MAX);
	route->element[route->length++] = element;
	return 0;
}

/* Parses "s0:9", where the message is at s0. */
static int take_switch(struct reader *reader, const char *token, struct partial *route)
{
	const char *name = reader->topology->switch_at[route->at.device].name;
	size_t length = strlen(name);
	uint8_t element[2];
	unsigned long port;
	int result = 0;
	char *end;

	if (strncmp(token, name, length) != 0 || token[length] != ':' ||
		!isdigit((unsigned char)token[length + 1]))
		return REFUSE(reader, token, "'%.80s'; expected '%s:PORT': the message is at %s",
			token, name, name);
	port = strtoul(token + length + 1, &end, 10);
	if (*end != '\0' || port >= TOPOLOGY_PORTS_MAX)
		return REFUSE(reader, token, "'%.80s'; expected a port from 0 to %u", token,
			TOPOLOGY_PORTS_MAX - 1);
	route->at.port = (uint8_t)port;
	if (!topology_peer(reader->topology, route->at, &route->at))
		return REFUSE(reader, token, "'%.80s' has no link", token);
	for (unsigned i = 0, elements = route_put_port(element, (unsigned)port);
		i < elements && result == 0; i++)
		result = push(reader, token, route, element[i]);
	return result;
}

/* Parses "!h12", where the message has just arrived at h12. */
static int take_absorber(struct reader *reader, const char *token, struct partial *route)
{
	const char *name = reader->topology->host_at[route->at.device].name;

	if (token[0] != '!' || strcmp(token + 1, name) != 0)
		return REFUSE(reader, token,
			"'%.80s'; expected the end of the route or '!%s': the message is at %s",
			token, name, name);
	if (!topology_peer(reader->topology, host_end(route->at.device), &route->at))
		return REFUSE(reader, token, "host %s has no link", name);
	return push(reader, token, route, ROUTE_TYPE_ITB);
}

/* Parses "s0:9", or "^s0:9" for the first hop of a step. */
static int take_hop(struct reader *reader, const char *token, struct partial *route)
{
	bool step = token[0] == '^';
	int result = 0;

	if (step)
		result = push(reader, token, route, ROUTE_TYPE_STEP);
	if (result == 0)
		result = take_switch(reader, token + step, route);
	if (result == 0 && step && !frame_steps_ok(route->element, route->length))
		return REFUSE(reader, token,
			"'%.80s' begins a step; expected at most %u steps, none at the first hop or after a host",
			token, ROUTE_STEPS_MAX);
	return result;
}

/* Parses "+2" before the first hop: layer 2. */
static int take_layer(struct reader *reader, const char *token, struct partial *route)
{
	char *end;
	unsigned long layer = strtoul(token + 1, &end, 10);

	if (!isdigit((unsigned char)token[1]) || *end != '\0' || layer == 0 ||
		layer >= VC_RULE_CLASSES_MAX)
		return REFUSE(reader, token, "'%.80s'; expected a layer from +1 to +%u", token,
			VC_RULE_CLASSES_MAX - 1);
	return push(reader, token, route, (uint8_t)(ROUTE_TYPE_LAYER | layer));
}

static int take_hops(struct reader *reader, char **rest, struct partial *route)
{
	int result = 0;
	char *token;

	while (result == 0 && (token = strtok_r(NULL, BLANK, rest)) != NULL)
		result = token[0] == '+' && route->length == 0 ? take_layer(reader, token, route)
			 : route->at.kind == DEVICE_SWITCH     ? take_hop(reader, token, route)
							   : take_absorber(reader, token, route);
	return result;
}

static int add_route(
	struct reader *reader, uint32_t source, uint32_t destination, struct partial *route)
{
	const struct topology_device *host = reader->topology->host_at;
	int result;

	if (route->at.kind != DEVICE_HOST || route->at.device != destination)
		return REFUSE(reader, reader->line, "the route ends at %s; expected %s",
			route->at.kind == DEVICE_HOST
				? host[route->at.device].name
				: reader->topology->switch_at[route->at.device].name,
			host[destination].name);
	result = push(reader, reader->line, route, ROUTE_TYPE_HOST);
	if (result == 0)
		result = route_set_add(
			reader->set, source, destination, route->element, route->length);
	if (result == -ENOSPC)
		return REFUSE(reader, reader->line,
			"there are too many routes from %s to %s; at most %u are allowed",
			host[source].name, host[destination].name, ROUTE_ALTERNATIVES_MAX);
	return result;
}

static int take_route(struct reader *reader, char *first, char **rest)
{
	char *second = strtok_r(NULL, BLANK, rest);
	struct partial route = {.length = 0};
	uint32_t source = 0, destination = 0;
	int result = find_host(reader, first, &source);

	if (result == 0 && second == NULL)
		result = REFUSE(reader, first,
			"the destination is missing; expected SOURCE "
			"DESTINATION HOP...");
	if (result == 0)
		result = find_host(reader, second, &destination);
	if (result != 0)
		return result;
	if (source == destination)
		return REFUSE(reader, second, "a route must not lead from %s to itself", first);
	if (!topology_peer(reader->topology, host_end(source), &route.at))
		return REFUSE(reader, first, "host %s has no link", first);
	result = take_hops(reader, rest, &route);
	if (result == 0)
		result = add_route(reader, source, destination, &route);
	reader->routes += result == 0;
	return result;
}

/* Parses "s0:1 ring=0 dateline", the rest of a "# vc " line. */
static int take_vc(struct reader *reader, char *line)
{
	struct topology_port port = {.kind = DEVICE_HOST};
	char *rest, *name = strtok_r(line, BLANK, &rest), *ring = strtok_r(NULL, BLANK, &rest);
	char *dateline = strtok_r(NULL, BLANK, &rest), *end;
	unsigned long number;

	if (reader->rule == NULL)
		return REFUSE(reader, line, "a VC class needs vcs= in the header");
	if (name == NULL || topology_find_port(reader->topology, name, &port) != 0 ||
		port.kind != DEVICE_SWITCH)
		return REFUSE(reader, name == NULL ? line : name, "'%.80s'; expected a switch port",
			name == NULL ? "" : name);
	if (ring == NULL || strncmp(ring, "ring=", 5) != 0 || !isdigit((unsigned char)ring[5]))
		return REFUSE(reader, ring == NULL ? name : ring, "'%.32s'; expected ring=NUMBER",
			ring == NULL ? "" : ring);
	number = strtoul(ring + 5, &end, 10);
	if (*end != '\0' || number >= VC_RULE_NO_RING)
		return REFUSE(reader, ring, "'%.32s'; expected a ring from 0 to %u", ring,
			VC_RULE_NO_RING - 1);
	if (dateline != NULL && strcmp(dateline, "dateline") != 0)
		return REFUSE(reader, dateline, "'%.32s'; expected dateline or nothing", dateline);
	reader->rule->ring[(size_t)port.device * VC_RULE_PORTS + port.port] = (uint8_t)number;
	if (dateline != NULL)
		reader->rule->dateline[port.device] |= (uint64_t)1 << port.port;
	return 0;
}

static int take_line(struct reader *reader, size_t length)
{
	char *rest, *first;

	reader->number++;
	if (length == LINE_MAX_BYTES && reader->line[length - 1] != '\n')
		return REFUSE(reader, reader->line, "the line has more than %u characters",
			LINE_MAX_BYTES - 1);
	if (strlen(reader->line) != length)
		return REFUSE(reader, reader->line + strlen(reader->line),
			"the file contains a NUL byte; a text file is required");
	if (reader->number == 1)
		return take_header(reader);
	if (strncmp(reader->line, ROUTE_FILE_VC, strlen(ROUTE_FILE_VC)) == 0)
		return take_vc(reader, reader->line + strlen(ROUTE_FILE_VC));
	if (reader->line[0] == '#')
		return 0;
	first = strtok_r(reader->line, BLANK, &rest);
	return first == NULL ? 0 : take_route(reader, first, &rest);
}

/* Reads the next line with its newline. Returns its length; 0 at the end of the file. getline()
 * would use all memory for a stream without newlines. */
static size_t read_line(struct reader *reader, FILE *in)
{
	size_t length = 0;
	int byte = 0;

	while (length < LINE_MAX_BYTES && byte != '\n' && (byte = getc_unlocked(in)) != EOF)
		reader->line[length++] = (char)byte;
	reader->line[length] = '\0';
	return length;
}

static int refuse_empty(struct reader *reader)
{
	return error_at(reader->error, reader->origin, 1, 1,
		"an empty file; expected '" ROUTE_FILE_MAGIC " topology=…'");
}

static int read_lines(struct reader *reader, FILE *in)
{
	size_t length;
	int result = 0;

	while (result == 0 && (length = read_line(reader, in)) > 0)
		result = take_line(reader, length);
	if (result == -ENOMEM)
		return error_set(reader->error, ENOMEM, "%s: not enough memory for the routes",
			reader->origin);
	if (result == 0 && ferror(in))
		return error_set(reader->error, EIO, "%s: %s", reader->origin, strerror(errno));
	if (result == 0 && reader->number == 0)
		return refuse_empty(reader);
	if (result == 0 && reader->announced != UINT64_MAX && reader->announced != reader->routes)
		return error_at(reader->error, reader->origin, reader->number, 0,
			"the file ends after %" PRIu64 " routes, but the header announces %" PRIu64
			". If you edited the file, remove routes= from the header; otherwise it is truncated",
			reader->routes, reader->announced);
	return result;
}

static int read_text(const struct topology *topology, FILE *in, const char *origin,
	struct route_file *file, struct error *error)
{
	struct reader reader = {.topology = topology,
		.origin = origin,
		.error = error,
		.announced = UINT64_MAX,
		.set = route_set_create(topology->hosts)};
	int result;

	if (reader.set == NULL)
		return error_set(error, ENOMEM, "%s: not enough memory for the routes", origin);
	result = read_lines(&reader, in);
	if (result == 0)
		file->set = reader.set;
	else
		route_set_destroy(reader.set);
	return result;
}

static int read_text_header(
	FILE *in, const char *origin, struct route_file_header *header, struct error *error)
{
	struct reader reader = {.origin = origin, .error = error, .set = route_set_create(0)};
	size_t length;
	int result;

	if (reader.set == NULL)
		return error_set(error, ENOMEM, "%s: not enough memory for the routes", origin);
	length = read_line(&reader, in);
	result = length == 0 ? refuse_empty(&reader) : take_line(&reader, length);
	header->origin = *route_set_origin_const(reader.set);
	header->tables = false;
	route_set_destroy(reader.set);
	return result;
}

/* Checks the binary magic. No text file starts with its first byte, which determines the format. */
static int read_magic(FILE *in, const char *origin, struct error *error)
{
	char magic[sizeof(ROUTE_BINARY_MAGIC)] = "";

	if (fread(magic, 1, sizeof(magic) - 1, in) == sizeof(magic) - 1 &&
		strcmp(magic, ROUTE_BINARY_MAGIC) == 0)
		return 0;
	return error_set(error, EINVAL,
		"%s: byte 0: not a Weft route file; expected '" ROUTE_FILE_MAGIC
		"' or the binary signature 'WEFTRT1'",
		origin);
}

static bool begins_as_binary(FILE *in)
{
	int first = fgetc(in);

	if (first != EOF)
		ungetc(first, in);
	return first == ROUTE_BINARY_MAGIC[0];
}

int route_file_read(const struct topology *topology, FILE *in, const char *origin,
	struct route_file *file, struct error *error)
{
	int result;

	*file = (struct route_file){NULL, NULL};
	if (!begins_as_binary(in))
		return read_text(topology, in, origin, file, error);
	result = read_magic(in, origin, error);
	return result < 0 ? result : route_binary_read(topology, in, origin, file, error);
}

int route_file_read_header(
	FILE *in, const char *origin, struct route_file_header *header, struct error *error)
{
	int result;

	*header = (struct route_file_header){.tables = false};
	if (!begins_as_binary(in))
		return read_text_header(in, origin, header, error);
	result = read_magic(in, origin, error);
	return result < 0 ? result : route_binary_read_header(in, origin, header, error);
}

/* A directory can be opened like a file, but not read. */
static bool is_folder(FILE *in)
{
	struct stat status;

	return fstat(fileno(in), &status) == 0 && S_ISDIR(status.st_mode);
}

int route_file_load(const struct topology *topology, const char *path, struct route_file *file,
	struct error *error)
{
	struct error why;
	FILE *in;
	int result;

	if (strcmp(path, "-") == 0)
		return route_file_read(topology, stdin, path, file, error);
	in = file_text_open(path, &why);
	if (in == NULL)
		return errno == EINVAL ? error_set(error, EINVAL, "%s", why.text)
				       : error_set(error, errno, "%s; use a route file", why.text);
	result = is_folder(in) ? error_set(error, EINVAL, "%s is a folder; use a route file", path)
			       : route_file_read(topology, in, path, file, error);
	fclose(in);
	return result;
}

int route_file_load_header(const char *path, struct route_file_header *header, struct error *error)
{
	struct stat status;
	FILE *in;
	int result;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return error_set(error, EINVAL, "%s: not a regular file; use a route file", path);
	in = fopen(path, "r");
	if (in == NULL)
		return error_set(error, errno, "%s: %s; use a route file", path, strerror(errno));
	result = route_file_read_header(in, path, header, error);
	fclose(in);
	return result;
}

void route_file_close(struct route_file *file)
{
	route_set_destroy(file->set);
	route_table_destroy(file->table);
	*file = (struct route_file){NULL, NULL};
}
