/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "generator.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"

#define PAIR_MAX 64 /* capacity for "key=value" */

#define X(kind) &generator_##kind,
static const void *const kinds[] = {GENERATORS(X)};
#undef X

const struct name_table generators = WORD_LIST(kinds);

/* Returns the kind in 'kind': "torus" for "torus:dims=4x4". */
static void cut_kind(const char *spec, char kind[TOPOLOGY_NAME_MAX])
{
	snprintf(kind, TOPOLOGY_NAME_MAX, "%.*s", (int)strcspn(spec, ":"), spec);
}

const struct generator *generator_find(const char *spec)
{
	char kind[TOPOLOGY_NAME_MAX];

	cut_kind(spec, kind);
	return name_table_find(&generators, kind);
}

static int option_find(const struct generator *generator, const char *name)
{
	for (int i = 0; generator->options[i].name != NULL; i++)
		if (strcmp(generator->options[i].name, name) == 0)
			return i;
	return -1;
}

static int refuse_option(const struct generator *generator, const struct generator_request *request,
	const char *name)
{
	struct did_you_mean nearest;
	char hint[DID_YOU_MEAN_HINT];

	did_you_mean_init(&nearest, name);
	for (unsigned i = 0; generator->options[i].name != NULL; i++)
		did_you_mean_offer(&nearest, generator->options[i].name);
	did_you_mean_offer(&nearest, "rate");
	did_you_mean_offer(&nearest, "delay");
	return error_set(request->error, EINVAL, "%s: unknown option '%s'%s; %s takes %s",
		request->spec, name, did_you_mean_hint(&nearest, ", ", hint), generator->name,
		nearest.known);
}

/* Parses decimal digits up to 'stop'. Returns false if there are none or the number overflows. */
static bool number_parse(const char *text, char stop, uint64_t *number, const char **rest)
{
	const char *start = text;

	*number = 0;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(*number, 10, number) ||
			__builtin_add_overflow(*number, (uint64_t)(*text - '0'), number))
			return false;
	*rest = text;
	return text != start && (*text == '\0' || *text == stop);
}

static bool in_range(const struct generator_option *option, uint64_t number)
{
	return number >= option->min && number <= option->max;
}

static bool dims_parse(
	const struct generator_option *option, const char *text, struct generator_value *value)
{
	bool ratio = option->type == GENERATOR_RATIO;
	unsigned max = ratio ? 2 : GENERATOR_DIMS_MAX;
	uint64_t number;

	for (value->dim_count = 0; value->dim_count < max;) {
		if (!number_parse(text, ratio ? ':' : 'x', &number, &text) ||
			!in_range(option, number))
			return false;
		value->dims[value->dim_count++] = (uint32_t)number;
		if (*text++ == '\0')
			return !ratio || value->dim_count == max;
	}
	return false;
}

static int word_parse(const struct generator_option *option,
	const struct generator_request *request, const char *text, struct generator_value *value)
{
	struct did_you_mean nearest;

	did_you_mean_init(&nearest, text);
	for (value->number = 0; option->words[value->number] != NULL; value->number++) {
		if (strcmp(option->words[value->number], text) == 0)
			return 0;
		did_you_mean_offer(&nearest, option->words[value->number]);
	}
	return error_set(request->error, EINVAL, "%s: %s=%s: expected one of %s", request->spec,
		option->name, text, nearest.known);
}

static int value_parse(const struct generator_option *option,
	const struct generator_request *request, const char *text, struct generator_value *value)
{
	char expected[64] = "a whole number from";
	const char *rest;
	bool good;

	switch (option->type) {
	case GENERATOR_WORD:
		return word_parse(option, request, text, value);
	case GENERATOR_RATIO:
		good = dims_parse(option, text, value);
		snprintf(expected, sizeof(expected), "a ratio such as 3:1, each number");
		break;
	case GENERATOR_DIMS:
		good = dims_parse(option, text, value);
		snprintf(expected, sizeof(expected), "sizes such as 4x4, 1 to %u of them, each",
			GENERATOR_DIMS_MAX);
		break;
	default:
		good = number_parse(text, '\0', &value->number, &rest) &&
		       in_range(option, value->number);
	}
	return good ? 0
		    : error_set(request->error, EINVAL,
			      "%s: %s=%s: expected %s %" PRIu64 " to %" PRIu64, request->spec,
			      option->name, text, expected, option->min, option->max);
}

static int link_option_parse(struct generator_request *request, enum quantity_kind kind,
	const char *key, const char *text)
{
	uint64_t value = 0;
	int result = quantity_parse(kind, text, &value);

	if (result < 0)
		return error_set(request->error, EINVAL, "%s: %s=%s: expected %s", request->spec,
			key, text, quantity_expected(kind));
	if (kind == QUANTITY_RATE &&
		(value < TOPOLOGY_RATE_MIN_BPS || value > TOPOLOGY_RATE_MAX_BPS))
		return error_set(request->error, EINVAL,
			"%s: %s=%s: expected a rate from " TOPOLOGY_RATE_RANGE, request->spec, key,
			text);
	if (kind == QUANTITY_TIME && value > TOPOLOGY_DELAY_MAX_PS)
		return error_set(request->error, EINVAL,
			"%s: %s=%s: expected a delay from " TOPOLOGY_DELAY_RANGE, request->spec,
			key, text);
	if (kind == QUANTITY_RATE)
		request->links.rate_bps = value;
	else
		request->links.delay_ps = value;
	request->links.unset = false;
	return 0;
}

/* Parses one "key=value". 'given' has a bit for each option seen so far. */
static int pair_parse(const struct generator *generator, struct generator_request *request,
	char *pair, uint32_t *given)
{
	char *equals = strchr(pair, '=');
	int option;
	uint32_t bit;

	if (equals == NULL)
		return error_set(request->error, EINVAL, "%s: '%s': expected KEY=VALUE",
			request->spec, pair);
	*equals = '\0';
	option = option_find(generator, pair);
	bit = (uint32_t)1 << (option >= 0                 ? option
			      : strcmp(pair, "rate") == 0 ? GENERATOR_OPTIONS_MAX
							  : GENERATOR_OPTIONS_MAX + 1);
	if (option < 0 && strcmp(pair, "rate") != 0 && strcmp(pair, "delay") != 0)
		return refuse_option(generator, request, pair);
	if (*given & bit)
		return error_set(
			request->error, EINVAL, "%s: '%s' is set twice", request->spec, pair);
	*given |= bit;
	if (option >= 0)
		return value_parse(
			&generator->options[option], request, equals + 1, &request->values[option]);
	return link_option_parse(
		request, pair[0] == 'r' ? QUANTITY_RATE : QUANTITY_TIME, pair, equals + 1);
}

static int options_parse(
	const struct generator *generator, struct generator_request *request, const char *text)
{
	char pair[PAIR_MAX];
	uint32_t given = 0;
	int result = 0;

	while (*text != '\0' && result == 0) {
		size_t length = strcspn(text, ",");

		if (length == 0 || length >= sizeof(pair))
			return error_set(request->error, EINVAL,
				"%s: expected KEY=VALUE at '%.20s'", request->spec, text);
		memcpy(pair, text, length);
		pair[length] = '\0';
		result = pair_parse(generator, request, pair, &given);
		text += length + (text[length] == ',');
	}
	for (unsigned i = 0; generator->options[i].name != NULL && result == 0; i++)
		if (!(given & ((uint32_t)1 << i)) && generator->options[i].required)
			result = error_set(request->error, EINVAL,
				"%s: option '%s' is missing (%s)", request->spec,
				generator->options[i].name, generator->options[i].help);
		else if (!(given & ((uint32_t)1 << i)))
			request->values[i].number = generator->options[i].fallback;
	return result;
}

/* Returns true if the option was omitted and its default follows from other options. */
static bool is_derived(const struct generator_option *option, const struct generator_value *value)
{
	return !option->required && option->fallback == 0 && value->number == 0;
}

/* Composes a name from the kind and its values that never needs quoting, such as "torus-4x4-1". */
static void name_make(const struct generator *generator, const struct generator_request *request,
	char name[TOPOLOGY_NAME_MAX])
{
	size_t used = (size_t)snprintf(name, TOPOLOGY_NAME_MAX, "%s", generator->name);

	for (unsigned i = 0; generator->options[i].name != NULL; i++) {
		const struct generator_value *value = &request->values[i];

		const struct generator_option *option = &generator->options[i];

		if (value->dim_count == 0 && !is_derived(option, value) && used < TOPOLOGY_NAME_MAX)
			used += option->type == GENERATOR_WORD
					? (size_t)snprintf(name + used, TOPOLOGY_NAME_MAX - used,
						  "-%s", option->words[value->number])
					: (size_t)snprintf(name + used, TOPOLOGY_NAME_MAX - used,
						  "-%" PRIu64, value->number);
		for (unsigned d = 0; d < value->dim_count && used < TOPOLOGY_NAME_MAX; d++)
			used += (size_t)snprintf(name + used, TOPOLOGY_NAME_MAX - used, "%c%u",
				d == 0 ? '-' : 'x', value->dims[d]);
	}
}

static int refuse_kind(const char *spec, struct error *error)
{
	char kind[TOPOLOGY_NAME_MAX], hint[WORD_LIST_HINT];

	cut_kind(spec, kind);
	name_table_hint(&generators, kind, hint);
	return error_set(
		error, EINVAL, "%s: unknown topology kind '%s'; expected %s", spec, kind, hint);
}

int generator_run_kind(const struct generator *generator, const char *spec,
	const struct topology_defaults *defaults, struct topology **topology, struct error *error)
{
	char name[TOPOLOGY_NAME_MAX];
	struct generator_request request = {
		.spec = spec,
		.name = name,
		.links = {.delay_ps = WEFT_TIME_NEVER, .unset = true},
		.error = error,
	};
	struct topology *made = NULL;
	int result;

	if (defaults != NULL)
		request.links = *defaults;
	spec += strlen(generator->name);
	result = options_parse(generator, &request, *spec == ':' ? spec + 1 : spec);
	name_make(generator, &request, name);
	if (result == 0)
		result = generator->build(&request, &made);
	if (result == 0)
		result = topology_finish(made, request.spec, error);
	if (result < 0)
		topology_destroy(made);
	else
		*topology = made;
	return result;
}

int generator_run(const char *spec, const struct topology_defaults *defaults,
	struct topology **topology, struct error *error)
{
	const struct generator *generator = generator_find(spec);

	if (generator == NULL)
		return refuse_kind(spec, error);
	return generator_run_kind(generator, spec, defaults, topology, error);
}

int generator_create(const struct generator_request *request, uint64_t switches, uint64_t hosts,
	uint64_t ports, struct topology **topology)
{
	struct error *error = request->error;

	if (ports > TOPOLOGY_PORTS_MAX)
		return error_set(error, EINVAL,
			"%s: needs %" PRIu64 " ports per switch; the maximum is %u", request->spec,
			ports, TOPOLOGY_PORTS_MAX);
	if (hosts > TOPOLOGY_HOSTS_MAX)
		return error_set(error, EINVAL, "%s: needs %" PRIu64 " hosts; the maximum is %u",
			request->spec, hosts, TOPOLOGY_HOSTS_MAX);
	if (switches > TOPOLOGY_SWITCHES_MAX)
		return error_set(error, EINVAL, "%s: needs %" PRIu64 " switches; the maximum is %u",
			request->spec, switches, TOPOLOGY_SWITCHES_MAX);
	*topology = topology_create(request->name, (uint32_t)switches, (uint32_t)hosts);
	if (*topology == NULL)
		return error_set(error, ENOMEM, "%s: not enough memory for %" PRIu64 " switches",
			request->spec, switches);
	for (uint32_t s = 0; s < switches; s++)
		(*topology)->switch_at[s].ports = (uint8_t)ports;
	if (request->links.rate_bps != 0)
		(*topology)->default_rate_bps = request->links.rate_bps;
	if (request->links.delay_ps != WEFT_TIME_NEVER)
		(*topology)->default_delay_ps = request->links.delay_ps;
	(*topology)->default_given = !request->links.unset;
	return 0;
}

static int add_link(const struct generator_request *request, struct topology *topology,
	struct topology_port a, struct topology_port b)
{
	int result = topology_add_link(topology, a, b, 0, WEFT_TIME_NEVER, 0);

	if (result < 0)
		error_set(request->error, -result, "%s: not enough memory for %u links",
			request->spec, topology->links);
	return result;
}

int generator_link_switches(const struct generator_request *request, struct topology *topology,
	uint32_t a, unsigned port_a, uint32_t b, unsigned port_b)
{
	return add_link(request, topology,
		(struct topology_port){DEVICE_SWITCH, a, (uint8_t)port_a},
		(struct topology_port){DEVICE_SWITCH, b, (uint8_t)port_b});
}

int generator_link_host(const struct generator_request *request, struct topology *topology,
	uint32_t host, uint32_t at, unsigned port)
{
	return add_link(request, topology, (struct topology_port){DEVICE_HOST, host, 0},
		(struct topology_port){DEVICE_SWITCH, at, (uint8_t)port});
}

int generator_link_hosts(const struct generator_request *request, struct topology *topology,
	uint32_t per_switch, unsigned first_port)
{
	int result = 0;

	for (uint32_t host = 0; host < topology->hosts && result == 0; host++)
		result = generator_link_host(
			request, topology, host, host / per_switch, first_port + host % per_switch);
	return result;
}

int generator_link_adjacent(const struct generator_request *request, struct topology *topology,
	bool (*adjacent)(const void *ctx, uint32_t a, uint32_t b), const void *ctx)
{
	uint8_t *next = calloc(topology->switches, sizeof(*next));
	int result = next != NULL ? 0 : -ENOMEM;

	if (next == NULL)
		error_set(request->error, ENOMEM, "%s: not enough memory for %u switches",
			request->spec, topology->switches);
	for (uint32_t a = 0; a < topology->switches && result == 0; a++)
		for (uint32_t b = a + 1; b < topology->switches && result == 0; b++)
			if (adjacent(ctx, a, b))
				result = generator_link_switches(
					request, topology, a, next[a]++, b, next[b]++);
	free(next);
	return result;
}
