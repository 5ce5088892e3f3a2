/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "traffic.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "synthetic.h"
#include "traffic_pattern.h"
#include "wire/frame.h"

#define PPM 1000000u

/* Random streams. Each source of a host uses three, offset by its index times STREAMS_A_SOURCE. */
#define STREAM_DESTINATION 0x7400
#define STREAM_LENGTH      0x7401
#define STREAM_ARRIVAL     0x7402
#define STREAMS_A_SOURCE   16

/* State of message lengths and intervals, and due time of the next message. */
struct schedule {
	union {
		struct rng length;
		struct {
			uint32_t packet, loop; /* pcap: next packet; passes completed */
		};
	};
	struct arrivals_stream arrival;
	weft_time next_ps;
};

/* A schedule has two readers. One counts messages that become due. The other provides the messages:
 * later if the interface refuses them, or earlier if it takes them ahead of the clock. */
struct traffic {
	/* Used by traffic_take(); two cache lines. */
	struct schedule handed;
	weft_time until_ps;    /* end of the source; 0: sends nothing (more) */
	weft_time distance_ps; /* mean interval for messages of the first length */
	struct rng destination;
	struct traffic_counters counters;
	uint32_t message_bytes, other_share_ppm;
	uint16_t next_destination; /* destination of the next message to be drawn */
	uint16_t host, others;     /* others: number of hosts except this one */
	uint8_t sl;
	bool constant : 1, uniform : 1; /* constant arrivals; uniform pattern without targets */
	bool drawn : 1;                 /* lengths are drawn from a range, or taken from packets */
	bool railed : 1;                /* config.rails is set */
	/* Accessed less often. */
	struct schedule counted;
	uint64_t handed_frames, counted_frames; /* frames so far, per reader, if 'drawn' */
	const struct traffic_pattern *pattern;
	void *state; /* state of the pattern */
	struct traffic_message message;
	uint64_t handed_messages;    /* messages drawn by traffic_poll() */
	weft_time other_distance_ps; /* mean interval for messages of the second length */
	bool pending;                /* 'message' was provided but is not accepted yet */
	struct traffic_config config;
	uint64_t byte_time; /* time per byte at the full rate */
	struct arrivals arrivals;
} __attribute__((aligned(64)));

#define LINE          64u
#define TRAFFIC_LINES 2u

_Static_assert(offsetof(struct traffic, counted) == TRAFFIC_LINES * LINE, "two lines");

static int check_bursts(const struct traffic_config *config, struct error *error)
{
	uint64_t cycle = config->value.on_ps + config->value.off_ps;

	if (config->value.arrivals != ARRIVALS_BURSTY)
		return 0;
	if (config->value.on_ps == 0 || config->value.on_ps > TRAFFIC_BURST_MAX_PS ||
		config->value.off_ps > TRAFFIC_BURST_MAX_PS)
		return error_set(error, EINVAL,
			"bursty traffic: mean on and off times must be at most 1000s, and the on "
			"time must be above 0");
	if ((unsigned __int128)config->value.load_ppm * cycle >
		(unsigned __int128)PPM * config->value.on_ps)
		return error_set(error, EINVAL,
			"bursty traffic that is on for %.4g%% of the time cannot have a mean load "
			"of %.4g%%",
			100.0 * (double)config->value.on_ps / (double)cycle,
			config->value.load_ppm / 1e4);
	return 0;
}

static uint64_t frames_of(const struct traffic_config *config, uint32_t bytes)
{
	return config->bare ? 0 : frame_count(bytes, config->frame_bytes);
}

/* Returns the size on the wire, in units of 1 / TRAFFIC_ROUTE_BYTE bytes. */
static uint64_t wire_parts(const struct traffic_config *config, uint32_t bytes)
{
	uint64_t frames = frames_of(config, bytes);

	return (bytes + frames * (FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD)) * TRAFFIC_ROUTE_BYTE +
	       frames * config->mean_route;
}

/* Random intervals, which are up to 45 times as long as the mean, must not wrap. */
static int check_distance(const struct traffic_config *config, struct error *error)
{
	uint32_t lengths[] = {config->value.message_bytes, config->value.message_max_bytes,
		config->value.other_message_bytes, config->value.other_message_max_bytes};
	unsigned __int128 parts = 0;

	for (unsigned i = 0; i < 4; i++)
		parts = wire_parts(config, lengths[i]) > parts ? wire_parts(config, lengths[i])
							       : parts;
	if ((parts * byte_time_of(config->rate_bps) * PPM >> BYTE_TIME_SHIFT) /
			TRAFFIC_ROUTE_BYTE <=
		(unsigned __int128)config->value.load_ppm * (WEFT_TIME_NEVER / 64))
		return 0;
	return error_set(error, EINVAL,
		"messages would be days apart at this load and rate; use shorter messages or a "
		"higher load");
}

static bool is_range(uint32_t min, uint32_t max)
{
	return max == 0 || min <= max;
}

static int check(const struct traffic_config *config, struct error *error)
{
	if (config->pattern->schedule)
		return error_set(error, EINVAL, "pattern %s is a schedule and has no sources",
			config->pattern->name);
	if (config->host >= config->hosts)
		return error_set(error, EINVAL, "traffic: no host %u; there are only %u hosts",
			config->host, config->hosts);
	if (config->value.load_ppm > PPM || config->value.other_share_ppm > PPM ||
		config->value.share_ppm > PPM)
		return error_set(error, EINVAL,
			"the load and the shares of traffic must be at "
			"most 100%%");
	if (config->rate_bps == 0 || config->frame_bytes == 0)
		return error_set(error, EINVAL, "traffic needs a link rate and an MTU above 0");
	if (config->value.message_bytes < SYNTHETIC_PREFIX_BYTES ||
		(config->value.other_share_ppm > 0 &&
			config->value.other_message_bytes < SYNTHETIC_PREFIX_BYTES))
		return error_set(error, EINVAL,
			"messages must have at least %uB, the minimum that can be measured",
			SYNTHETIC_PREFIX_BYTES);
	if (!is_range(config->value.message_bytes, config->value.message_max_bytes) ||
		!is_range(config->value.other_message_bytes, config->value.other_message_max_bytes))
		return error_set(error, EINVAL, "the maximum message length is below the minimum");
	if (config->value.load_ppm != 0 && check_distance(config, error) < 0)
		return -EINVAL;
	return check_bursts(config, error);
}

/* Returns the interval, in whole ps, at which messages of this size produce the configured load. */
static weft_time mean_distance(const struct traffic *traffic, uint32_t bytes)
{
	unsigned __int128 parts = wire_parts(&traffic->config, bytes);

	return (weft_time)((parts * traffic->byte_time * PPM >> BYTE_TIME_SHIFT) /
			   ((uint64_t)traffic->config.value.load_ppm * TRAFFIC_ROUTE_BYTE));
}

static bool is_due(const struct traffic *traffic, const struct schedule *schedule, weft_time now)
{
	return schedule->next_ps <= now && schedule->next_ps < traffic->until_ps;
}

static void skip_distance(struct traffic *traffic, struct schedule *schedule, weft_time mean)
{
	schedule->next_ps += traffic->constant
				     ? mean
				     : arrivals_next(&traffic->arrivals, &schedule->arrival, mean);
}

/* advance() for packets of a capture. */
static uint32_t advance_packet(struct traffic *traffic, struct schedule *schedule)
{
	const struct traffic_config *config = &traffic->config;
	uint32_t bytes = config->packet[schedule->packet].bytes;

	if (++schedule->packet == config->packets) {
		schedule->packet = 0;
		schedule->loop++;
	}
	schedule->next_ps = schedule->loop == config->loops
				    ? WEFT_TIME_NEVER
				    : config->start_ps + schedule->loop * config->loop_ps +
					      config->packet[schedule->packet].at_ps;
	return bytes;
}

/* advance() for drawn lengths: each interval follows from the message's own length. */
static __attribute__((noinline)) uint32_t advance_drawn(
	struct traffic *traffic, struct schedule *schedule, bool other)
{
	const struct traffic_config *config = &traffic->config;
	uint32_t bytes = other ? config->value.other_message_bytes : config->value.message_bytes;
	uint32_t max =
		other ? config->value.other_message_max_bytes : config->value.message_max_bytes;

	if (config->packets > 0)
		bytes = advance_packet(traffic, schedule);
	else if (max > bytes)
		bytes += (uint32_t)rng_below(&schedule->length, max - bytes + 1);
	*(schedule == &traffic->handed ? &traffic->handed_frames : &traffic->counted_frames) +=
		frames_of(config, bytes);
	if (config->packets == 0)
		skip_distance(traffic, schedule, mean_distance(traffic, bytes));
	return bytes;
}

/* Returns the length of the message due at next_ps, and advances to the next message. */
static inline uint32_t advance(struct traffic *traffic, struct schedule *schedule)
{
	bool other = traffic->other_share_ppm > 0 &&
		     rng_chance_ppm(&schedule->length, traffic->other_share_ppm);

	if (traffic->drawn)
		return advance_drawn(traffic, schedule, other);
	skip_distance(traffic, schedule, other ? traffic->other_distance_ps : traffic->distance_ps);
	return other ? traffic->config.value.other_message_bytes : traffic->message_bytes;
}

static void count_what_was_handed(struct traffic *traffic)
{
	traffic->counted = traffic->handed;
	traffic->counted_frames = traffic->handed_frames;
}

/* Counts messages taken ahead of the clock, which have already been drawn. */
static void count_taken(struct traffic *traffic)
{
	struct traffic_counters *count = &traffic->counters;

	if (count->accepted_messages <= count->generated_messages)
		return;
	count_what_was_handed(traffic);
	count->generated_messages = count->accepted_messages;
	count->generated_bytes = count->accepted_bytes;
}

static void count_due(struct traffic *traffic, weft_time now)
{
	if (traffic->config.lane != 0)
		return;
	count_taken(traffic);
	while (is_due(traffic, &traffic->counted, now)) {
		traffic->counters.generated_messages++;
		traffic->counters.generated_bytes += advance(traffic, &traffic->counted);
	}
}

/* Draws hosts until the rule allows the port to send to one. */
static __attribute__((noinline)) void draw_port(struct traffic *traffic)
{
	const struct traffic_config *config = &traffic->config;

	for (unsigned i = 0; i < RAIL_DRAWS_MAX; i++) {
		uint32_t host = traffic->pattern->destination(
			traffic->state, config, &traffic->destination);
		uint32_t port = rails_port(
			config->rails, config->rail, config->port, host, &traffic->destination);

		if (port == RAILS_NONE)
			continue;
		traffic->next_destination = (uint16_t)port;
		return;
	}
	traffic->until_ps = 0;
}

static inline void draw_next_destination(struct traffic *traffic)
{
	/* Handles the most common pattern without a call. */
	if (traffic->uniform)
		traffic->next_destination = traffic_other(
			traffic->host, rng_below(&traffic->destination, traffic->others));
	else if (traffic->railed)
		draw_port(traffic);
	else
		traffic->next_destination = traffic->pattern->destination(
			traffic->state, &traffic->config, &traffic->destination);
}

/* Draws the due message and the destination of the next one. */
static void draw(struct traffic *traffic)
{
	traffic->message = (struct traffic_message){
		.destination = traffic->next_destination,
		.sl = traffic->config.sl,
		.generated_ps = traffic->handed.next_ps,
	};
	traffic->message.bytes = advance(traffic, &traffic->handed);
	traffic->handed_messages++;
	draw_next_destination(traffic);
}

/* While no message has had to wait, both readers are at the same message, which is drawn once for
 * both. */
static void hand_out_in_step(struct traffic *traffic, weft_time now)
{
	if (traffic->config.lane != 0 || traffic->config.queuing != NULL || traffic->pending ||
		traffic->handed_messages != traffic->counters.generated_messages ||
		!is_due(traffic, &traffic->handed, now))
		return;
	draw(traffic);
	traffic->pending = true;
	traffic->counters.generated_messages++;
	traffic->counters.generated_bytes += traffic->message.bytes;
	count_what_was_handed(traffic);
}

/* Returns the mean length of messages of the first length or range. */
static uint32_t mean_bytes(const struct traffic_config *config)
{
	uint32_t max = config->value.message_max_bytes;

	return max == 0 ? config->value.message_bytes : (config->value.message_bytes + max) / 2;
}

static void init_schedule(struct traffic *traffic)
{
	const struct traffic_config *config = &traffic->config;
	uint64_t base = (uint64_t)config->index * STREAMS_A_SOURCE;
	struct schedule *schedule = &traffic->counted;

	rng_init(&traffic->destination, config->seed, traffic_port(config),
		STREAM_DESTINATION + base);
	rng_init(&schedule->length, config->seed, traffic_port(config), STREAM_LENGTH + base);
	rng_init(&schedule->arrival.rng, config->seed, traffic_port(config), STREAM_ARRIVAL + base);
	arrivals_init(&traffic->arrivals, config->value.arrivals, config->value.on_ps,
		config->value.off_ps);
	if (config->packets > 0)
		schedule->packet = schedule->loop = 0;
	/* A host excluded by the pattern sends nothing. */
	if ((config->value.load_ppm != 0 || config->packets > 0) &&
		traffic_pattern_sends(traffic->pattern, traffic->state, config))
		traffic->until_ps = config->stop_ps;
	schedule->next_ps = config->start_ps;
	/* The first message is due at a random time within the first interval, so that sources are
	 * not synchronised. */
	if (config->packets > 0)
		schedule->next_ps += config->packet[0].at_ps;
	else if (traffic->until_ps != 0)
		schedule->next_ps += arrivals_first(&traffic->arrivals, &schedule->arrival,
			rng_below(&schedule->length, mean_distance(traffic, mean_bytes(config))));
	traffic->handed = *schedule;
	if (traffic->until_ps != 0)
		draw_next_destination(traffic);
}

static void init_distances(struct traffic *traffic)
{
	const struct traffic_config *config = &traffic->config;

	if (config->value.load_ppm == 0)
		return;
	traffic->distance_ps = mean_distance(traffic, config->value.message_bytes);
	if (config->value.other_share_ppm > 0)
		traffic->other_distance_ps =
			mean_distance(traffic, config->value.other_message_bytes);
}

struct traffic *traffic_create(const struct traffic_config *config, struct error *error)
{
	struct traffic *traffic;

	if (check(config, error) < 0)
		return NULL;
	traffic = aligned_alloc(LINE, sizeof(*traffic));
	if (traffic == NULL) {
		error_set(error, ENOMEM, "not enough memory for a traffic source");
		return NULL;
	}
	memset(traffic, 0, sizeof(*traffic));
	traffic->config = *config;
	traffic->pattern = config->pattern;
	if (traffic_pattern_init(traffic->pattern, &traffic->state, config, error) < 0) {
		free(traffic);
		return NULL;
	}
	/* These lists are the caller's; the pattern has copied what it needs. */
	traffic->config.targets = traffic->config.near = traffic->config.permutation = NULL;
	traffic->byte_time = byte_time_of(config->rate_bps);
	traffic->message_bytes = config->value.message_bytes;
	traffic->other_share_ppm = config->value.other_share_ppm;
	traffic->drawn =
		config->value.message_max_bytes != 0 || config->packets > 0 ||
		(config->value.other_share_ppm != 0 && config->value.other_message_max_bytes != 0);
	traffic->host = config->host;
	traffic->others = (uint16_t)(config->hosts - 1);
	traffic->sl = config->sl;
	traffic->constant = config->value.arrivals == ARRIVALS_CONSTANT;
	traffic->railed = config->rails != NULL;
	traffic->uniform = !traffic->railed && traffic->state == NULL &&
			   traffic->pattern->destination == traffic_uniform.destination;
	init_distances(traffic);
	init_schedule(traffic);
	return traffic;
}

void traffic_destroy(struct traffic *traffic)
{
	if (traffic == NULL)
		return;
	traffic_pattern_fini(traffic->pattern, traffic->state);
	free(traffic);
}

bool traffic_poll(struct traffic *traffic, weft_time now, struct traffic_message *message)
{
	hand_out_in_step(traffic, now);
	count_due(traffic, now);
	while (!traffic->pending && is_due(traffic, &traffic->handed, now)) {
		draw(traffic);
		traffic->pending =
			traffic->config.queuing == NULL ||
			queuing_sl(traffic->config.queuing, traffic_port(&traffic->config),
				traffic->message.destination) == traffic->config.lane;
	}
	if (traffic->pending)
		*message = traffic->message;
	return traffic->pending;
}

void traffic_accept(struct traffic *traffic)
{
	traffic->pending = false;
	traffic->counters.accepted_messages++;
	traffic->counters.accepted_bytes += traffic->message.bytes;
}

void traffic_skip(struct traffic *traffic)
{
	traffic->pending = false;
}

static inline weft_time next_due(const struct traffic *traffic)
{
	weft_time next = traffic->handed.next_ps;

	return next < traffic->until_ps ? next : WEFT_TIME_NEVER;
}

bool traffic_take(struct traffic *traffic, weft_time latest, struct traffic_taken *taken)
{
	taken->next_ps = next_due(traffic);
	if (taken->next_ps > latest)
		return false;
	taken->message.destination = traffic->next_destination;
	taken->message.sl = traffic->sl;
	taken->message.generated_ps = taken->next_ps;
	taken->message.bytes = advance(traffic, &traffic->handed);
	traffic->counters.accepted_messages++;
	traffic->counters.accepted_bytes += taken->message.bytes;
	draw_next_destination(traffic);
	taken->next_ps = next_due(traffic);
	taken->next_destination = traffic->next_destination;
	return true;
}

void traffic_turn_to_polling(struct traffic *traffic)
{
	/* After count_taken(), both readers are in the same state as if all messages had been
	 * polled. */
	traffic->handed_messages = traffic->counters.accepted_messages;
}

weft_time traffic_due_of(const struct traffic *traffic, unsigned n)
{
	struct traffic copy = *traffic;
	weft_time due = 0;

	for (; n > 0 && is_due(&copy, &copy.handed, WEFT_TIME_NEVER); n--) {
		due = copy.handed.next_ps;
		advance(&copy, &copy.handed);
	}
	return due;
}

void traffic_count(struct traffic *traffic, weft_time now)
{
	count_due(traffic, now);
}

void traffic_abandon(struct traffic *traffic, weft_time now)
{
	count_due(traffic, now);
	traffic->pending = false;
	traffic->until_ps = 0;
}

weft_time traffic_due(const struct traffic *traffic)
{
	if (traffic->pending)
		return 0;
	return traffic_finished(traffic, 0) ? WEFT_TIME_NEVER : traffic->handed.next_ps;
}

weft_time traffic_next(const struct traffic *traffic)
{
	return traffic->until_ps == 0 ? WEFT_TIME_NEVER : traffic->handed.next_ps;
}

uint16_t traffic_next_destination(const struct traffic *traffic)
{
	return traffic->next_destination;
}

void traffic_fetch(const struct traffic *traffic)
{
	const char *memory = (const char *)traffic;

	for (unsigned i = 0; i < TRAFFIC_LINES; i++)
		__builtin_prefetch(memory + i * LINE, 1);
}

bool traffic_finished(const struct traffic *traffic, weft_time now)
{
	return !traffic->pending && traffic->handed.next_ps >= traffic->until_ps;
}

const struct traffic_counters *traffic_counters(const struct traffic *traffic)
{
	return &traffic->counters;
}

/* Returns how many messages of the second length were generated, from counts and bytes. */
static uint64_t generated_others(const struct traffic *traffic)
{
	const struct traffic_config *config = &traffic->config;
	int64_t more = (int64_t)config->value.other_message_bytes - config->value.message_bytes;
	uint64_t min = traffic->counters.generated_messages * config->value.message_bytes;

	if (config->value.other_share_ppm == 0 || more == 0)
		return 0;
	return (uint64_t)((int64_t)(traffic->counters.generated_bytes - min) / more);
}

uint64_t traffic_generated_frames(const struct traffic *traffic)
{
	const struct traffic_config *config = &traffic->config;
	uint64_t others = generated_others(traffic);
	uint64_t usual = traffic->counters.generated_messages - others;

	if (traffic->drawn)
		return traffic->counted_frames;
	return usual * frames_of(config, config->value.message_bytes) +
	       (others > 0 ? others * frames_of(config, config->value.other_message_bytes) : 0);
}

uint64_t traffic_generated_wire_bytes(const struct traffic *traffic)
{
	uint64_t frames = traffic_generated_frames(traffic);

	return traffic->counters.generated_bytes +
	       frames * (FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD) +
	       (uint64_t)((unsigned __int128)frames * traffic->config.mean_route /
			  TRAFFIC_ROUTE_BYTE);
}

const struct traffic_config *traffic_config(const struct traffic *traffic)
{
	return &traffic->config;
}
