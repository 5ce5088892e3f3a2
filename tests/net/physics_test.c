/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The links of the real clock obey physics, whenever the loops poll. Drawn fabrics of
 * pipelines/real run on a simulated clock, in one process or two, with whole or divided switches.
 * Their devices belong to loops with iterations of different lengths, and are visited in drawn
 * order, at drawn times, some after long pauses. Rates, delays, jitter and reordering change during
 * the run. The ports are checked (physics_watch.h). The virtual clock is the reference for an idle
 * network. */

#include <sys/socket.h>
#include <unistd.h>

#include "eal_tests.h"
#include "physics_watch.h"
#include "real/real_private.h"
#include "virtual_lab.h"

#define CASES     200
#define SETS      24
#define SET_BYTES 96
#define LOOPS     4
#define LCORES    16
#define PROCESSES 2
#define TAPS      2
/* Later than the fabric's own clock, with which it was created. */
#define BEGIN_PS (1000 * PS_PER_S)
#define PATIENCE 20000 /* turns */

static const char base[] = "weft: run/1\n"
			   "topology: \"rlft:ports=4,stages=2\"\n"
			   "clock: real\n"
			   "routing: {algorithm: ud, mode: source}\n"
			   "traffic:\n"
			   "  - {pattern: uniform, from: all, load: 20%, message: 4KiB}\n"
			   "measure: {duration: 1s}\n"
			   "watchdog: off\n";

struct drawn {
	char text[SETS][SET_BYTES];
	const char *set[SETS];
	unsigned sets;
	uint64_t rate_mbps;
	weft_time delay_ps, turn_ps;
	uint64_t pause_turns;
	unsigned loops, processes, parts; /* shards of each switch */
	bool paced;                       /* links between the processes have a rate and a delay */
	bool changes;                     /* rates and delays change while it runs */
	bool impairs;                     /* some links have jitter, or data overtakes other data */
	bool purges;                      /* switches are purged */
};

/* A poll loop: the length of its iterations, in units, and when the next one is. */
struct loop {
	unsigned factor;
	weft_time next;
};

/* A host, a switch, or a shard of a switch. */
struct device {
	struct poll_nic *nic;
	struct poll_switch *poll;
	unsigned loop;
};

struct world {
	struct run_config *config;
	struct topology *topology;
	struct real_fabric *fabric[PROCESSES];
	bool *switch_here[PROCESSES], *host_here[PROCESSES];
	char *external[PROCESSES][WATCH_ENDS]; /* by link: the device in that process, or NULL */
	struct rng rng;
	struct drawn drawn;
	struct loop loop[LOOPS];
	struct device device[WATCH_ENDS];
	unsigned devices;
	int tap[TAPS]; /* the programs' ends */
	unsigned taps, tap_host[TAPS];
	weft_time now;
};

static struct world world;
static char dir[] = "/tmp/weft-physics-XXXXXX";

/* --- distances --- */

static uint32_t vertex_of(const struct topology_port *at)
{
	return at->kind == DEVICE_HOST ? at->device : WATCH_HOSTS + at->device;
}

/* Distance of all hosts from host 'from' over timed links, by relaxation. The networks are
 * small. */
static void measure_distances(uint32_t from)
{
	static uint32_t far[WATCH_HOSTS + WATCH_ENDS];
	bool changed = true;

	memset(far, 0x3F, sizeof(far));
	far[from] = 0;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < world.topology->links; i++) {
			const struct topology_link *link = &world.topology->link_at[i];
			uint32_t *a = &far[vertex_of(&link->a)], *b = &far[vertex_of(&link->b)];
			uint32_t length = world.external[0][i] == NULL;

			changed |= *a > *b + length || *b > *a + length;
			*a = *a > *b + length ? *b + length : *a;
			*b = *b > *a + length ? *a + length : *b;
		}
	}
	memcpy(watch.distance[from], far, sizeof(watch.distance[from]));
}

/* --- processes --- */

static unsigned process_of(const struct topology_port *at)
{
	return world.switch_here[0][at->device] ? 0 : 1;
}

/* Neighbouring switches and their hosts stay together. Links between the processes are shared
 * memory. */
static void share_out(const struct drawn *drawn)
{
	const struct topology *topology = world.topology;

	for (unsigned p = 0; p < drawn->processes; p++) {
		world.switch_here[p] = calloc(topology->switches, sizeof(bool));
		world.host_here[p] = calloc(topology->hosts, sizeof(bool));
	}
	for (uint32_t i = 0; i < topology->switches; i++)
		world.switch_here[i * drawn->processes / topology->switches][i] = true;
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		const struct topology_port *host = &link->b, *other = &link->a;

		if (link->a.kind == DEVICE_HOST) {
			host = &link->a;
			other = &link->b;
		}
		if (host->kind == DEVICE_HOST)
			world.host_here[process_of(other)][host->device] = true;
		else if (process_of(host) != process_of(other))
			for (unsigned p = 0; p < PROCESSES; p++)
				assert_true(asprintf(&world.external[p][i], "shared:%s/l%u:%u", dir,
						    i, process_of(&link->a) != p) > 0);
	}
}

/* Each process opens its own end. */
static void create_fabric(const struct drawn *drawn, unsigned process)
{
	const struct topology *topology = world.topology;
	char name[16];
	struct real_fabric_options options = {.name = name,
		.session = process + 1,
		.topology = topology,
		.run = world.config,
		.switch_here = world.switch_here[process],
		.host_here = world.host_here[process],
		.external = (const char *const *)world.external[process],
		.divides = drawn->parts > 1};
	struct error error = {""};

	for (uint32_t i = 0; i < topology->switches; i++)
		options.lcores += drawn->parts * options.switch_here[i];
	snprintf(name, sizeof(name), "physics%u", process);
	world.fabric[process] = real_fabric_create(&options, &error);
	if (world.fabric[process] == NULL)
		fail_msg("%s", error.text);
	/* A real process has one. */
	telemetry_destroy(world.fabric[process]->telemetry);
	world.fabric[process]->telemetry = NULL;
}

/* --- the fabric on an invented clock --- */

static bool links_are_up(void)
{
	for (unsigned i = 0; i < world.devices; i++) {
		const struct device *device = &world.device[i];

		if (device->nic != NULL ? !nic_link_up(device->nic->nic)
					: (device->poll->sw->linked & device->poll->present) !=
						  device->poll->present)
			return false;
	}
	return true;
}

/* Late hellos take no link down. */
static void excuse_all(void)
{
	for (unsigned i = 0; i < watch.ends; i++)
		if (watch.wire[i].end != NULL)
			link_end_forgive_stall(watch.wire[i].link, world.now);
}

static void visit(struct device *device)
{
	watch.now = ++world.now;
	if (device->nic != NULL)
		poll_nic_run(device->nic, world.now);
	else
		poll_switch_run(device->poll, world.now);
	watch_turn(world.now);
}

static struct loop *next_loop(void)
{
	struct loop *next = &world.loop[0];

	for (unsigned i = 1; i < world.drawn.loops; i++)
		if (world.loop[i].next < next->next)
			next = &world.loop[i];
	return next;
}

/* An iteration of a loop: most of its devices, in drawn order. The next one comes after a drawn
 * time, which may be long. */
static void turn_of(struct loop *loop)
{
	unsigned first = (unsigned)rng_below(&world.rng, world.devices);
	weft_time unit = loop->factor * world.drawn.turn_ps;

	world.now = loop->next > world.now ? loop->next : world.now;
	excuse_all();
	for (unsigned i = 0; i < world.devices; i++) {
		struct device *device = &world.device[(first + i) % world.devices];

		if (device->loop == loop - world.loop && rng_below(&world.rng, 8) != 0)
			visit(device);
	}
	loop->next = world.now + 1 + rng_below(&world.rng, 2 * unit);
	if (rng_below(&world.rng, 100) == 0)
		loop->next += rng_below(&world.rng, world.drawn.pause_turns * unit);
}

/* Sets rate and delay of an end, like 'lab set', and drawn jitter and reordering. Rate and delay 0:
 * none. */
static void set_end(unsigned i, uint64_t rate_bps, weft_time delay_ps)
{
	const struct real_end *end = watch.wire[i].end;
	weft_time jitter_ps = 0, reorder_ppm = 0;
	char name[64], text[160];

	if (world.drawn.impairs && rng_below(&world.rng, 2) == 0) {
		jitter_ps = rng_below(&world.rng, 3) *
			    rng_below(&world.rng, world.drawn.delay_ps + world.drawn.turn_ps);
		reorder_ppm = rng_below(&world.rng, 3) * 100000;
	}
	topology_port_name(world.topology, end->at, name, sizeof(name));
	snprintf(text, sizeof(text), "%s> %llu %llu %llu 0 0 0 %llu", name,
		(unsigned long long)rate_bps, (unsigned long long)delay_ps,
		(unsigned long long)jitter_ps, (unsigned long long)reorder_ppm);
	if ((jitter_ps | reorder_ppm) != 0)
		watch_impair(i, world.now);
	watch_change(i);
	real_links_set(world.fabric[end >= world.fabric[0]->end + watch.ends ||
				    end < world.fabric[0]->end],
		text);
	if (delay_ps < watch.delay_ps)
		watch.delay_ps = delay_ps;
	if (byte_time_of(rate_bps) < watch.byte_time)
		watch.byte_time = byte_time_of(rate_bps);
}

static void change_an_end(void)
{
	unsigned i = (unsigned)rng_below(&world.rng, watch.ends);
	uint64_t rate_bps = world.drawn.rate_mbps * 1000000;

	if (watch.wire[i].end == NULL)
		return;
	if (world.external[0][i / 2] != NULL && rng_below(&world.rng, 4) == 0)
		set_end(i, 0, 0);
	else
		set_end(i, rate_bps * (1 + rng_below(&world.rng, 4)) / 2,
			world.drawn.delay_ps * rng_below(&world.rng, 4) / 2);
}

/* --- programs at TAPs --- */

int __wrap_tap_open(const struct tap_options *options, struct error *error);

/* A TAP that needs no privileges. Its name ends with the number of its host. */
int __wrap_tap_open(const struct tap_options *options, struct error *error)
{
	int pair[2];

	(void)error;
	assert_true(world.taps < TAPS);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	world.tap_host[world.taps] = (unsigned)atoi(options->name + 1);
	world.tap[world.taps++] = pair[0];
	return pair[1];
}

/* A program sends to the other program, which has read everything. */
static void write_tap(unsigned from)
{
	struct {
		struct virtio_net_hdr offload;
		uint8_t ethernet[EDGE_ETHERNET_BYTES];
		struct watch_written written;
		uint8_t more[1200];
	} __attribute__((packed)) frame = {.written = {.mark = WATCH_MARK, .at = world.now}};
	uint16_t bytes = (uint16_t)(sizeof(frame.written) + rng_below(&world.rng, 1200));
	uint8_t read_back[2048];

	frame_host_mac((uint16_t)world.tap_host[TAPS - 1 - from], frame.ethernet);
	frame_host_mac((uint16_t)world.tap_host[from], frame.ethernet + 6);
	frame.ethernet[12] = 0x08;
	frame.written.ip[0] = 0x45;
	frame.written.ip[2] = (uint8_t)(bytes >> 8);
	frame.written.ip[3] = (uint8_t)bytes;
	(void)send(world.tap[from], &frame, offsetof(__typeof__(frame), written) + bytes, 0);
	while (recv(world.tap[from], read_back, sizeof(read_back), 0) > 0)
		continue;
}

/* Programs, purges and changed links. */
static void disturb(void)
{
	const struct device *device = &world.device[rng_below(&world.rng, world.devices)];

	for (unsigned i = 0; world.taps == TAPS && i < TAPS; i++)
		if (rng_below(&world.rng, 2) == 0)
			write_tap(i);
	if (world.drawn.purges && device->poll != NULL && rng_below(&world.rng, 4) == 0)
		watch_purge(device->poll, ++world.now);
	if (world.drawn.changes && rng_below(&world.rng, 4) == 0)
		change_an_end();
}

/* One iteration of each loop, on average. */
static void turn(void)
{
	for (unsigned i = 0; i < world.drawn.loops; i++)
		turn_of(next_loop());
	disturb();
}

static void add_device(struct poll_nic *nic, struct poll_switch *poll)
{
	assert_true(world.devices < WATCH_ENDS);
	world.device[world.devices++] = (struct device){.nic = nic,
		.poll = poll,
		.loop = (unsigned)rng_below(&world.rng, world.drawn.loops)};
}

static void watch_fabric(struct real_fabric *fabric)
{
	for (unsigned i = 0; i < fabric->host_count; i++) {
		struct poll_nic *nic = fabric->hosts[i].poll;

		add_device(nic, NULL);
		watch_end((unsigned)(fabric->hosts[i].end - fabric->end), fabric->hosts[i].end,
			&nic->tx, nic_link(nic->nic), NULL);
	}
	for (unsigned i = 0; i < fabric->polled_count; i++) {
		struct poll_switch *poll = fabric->polled[i].poll;
		struct topology_port at = {DEVICE_SWITCH, fabric->polled[i].device->number, 0};

		add_device(NULL, poll);
		for (; at.port < poll->ports; at.port++)
			if ((poll->present >> at.port & 1) != 0) {
				struct real_end *end = real_end_at(fabric, at);

				watch_end((unsigned)(end - fabric->end), end,
					&poll->port[at.port].tx, &poll->sw->port[at.port].link,
					poll->sw);
			}
	}
}

static void draw_loops(void)
{
	static const unsigned factors[] = {1, 1, 3, 10};

	for (unsigned i = 0; i < world.drawn.loops; i++)
		world.loop[i] = (struct loop){.factor = factors[rng_below(&world.rng, 4)],
			.next = BEGIN_PS + rng_below(&world.rng, world.drawn.turn_ps)};
}

static void open_world(const struct drawn *drawn, unsigned seed)
{
	struct error error = {""};

	memset(&world, 0, sizeof(world));
	world.drawn = *drawn;
	rng_init(&world.rng, seed, 77, 0);
	world.config =
		run_config_parse(base, strlen(base), "physics", drawn->set, drawn->sets, &error);
	if (world.config == NULL || run_config_supported(world.config, &error) != 0 ||
		(world.topology = run_config_open_topology(world.config, &error)) == NULL)
		fail_msg("case %u: %s", seed, error.text);
	assert_true(world.topology->hosts <= WATCH_HOSTS);
	watch_begin(world.topology->links);
	share_out(drawn);
	draw_loops();
	for (unsigned i = 0; i < drawn->processes; i++) {
		create_fabric(drawn, i);
		watch_fabric(world.fabric[i]);
	}
	world.now = BEGIN_PS;
	watch.window = world.config->nic.window_frames;
	watch.delay_ps = drawn->delay_ps;
	watch.byte_time = byte_time_of(drawn->rate_mbps * 1000000);
	watch.store_and_forward =
		world.config->sw.switching == RUN_SWITCHING_STORE_AND_FORWARD && !drawn->changes;
	for (uint32_t i = 0; i < world.topology->hosts; i++)
		measure_distances(i);
	for (unsigned i = 0; i < watch.ends; i++)
		if (world.external[0][i / 2] != NULL ? drawn->paced : drawn->impairs)
			set_end(i, drawn->rate_mbps * 1000000, drawn->delay_ps);
}

static void close_world(void)
{
	for (unsigned p = 0; p < world.drawn.processes; p++)
		real_fabric_destroy(world.fabric[p]);
	for (unsigned i = 0; i < world.taps; i++)
		close(world.tap[i]);
	for (unsigned p = 0; p < world.drawn.processes; p++) {
		free(world.switch_here[p]);
		free(world.host_here[p]);
	}
	for (uint32_t i = 0; i < world.topology->links; i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/l%u", dir, i);
		assert_true(world.external[0][i] == NULL || unlink(path) == 0);
		free(world.external[0][i]);
		free(world.external[1][i]);
	}
	topology_destroy(world.topology);
	run_config_destroy(world.config);
}

static bool hosts_are_busy(void)
{
	for (unsigned i = 0; i < world.devices; i++)
		if (world.device[i].nic != NULL && poll_nic_busy(world.device[i].nic, world.now))
			return true;
	return false;
}

static void start_traffic(struct real_fabric *fabric)
{
	struct error error = {""};

	fabric->traffic_from = fabric->measure_from = world.now;
	fabric->traffic_until = WEFT_TIME_NEVER;
	for (unsigned i = 0; i < fabric->host_count; i++)
		if (real_host_start_traffic(fabric, &fabric->hosts[i], &error) < 0)
			fail_msg("%s", error.text);
}

/* Sends traffic for 'turns' iterations, then runs as many without. With long links and small
 * buffers, some frames have not arrived by then. */
static void carry(unsigned turns)
{
	uint64_t lost = 0;

	for (unsigned waits = 0; !links_are_up(); waits++) {
		assert_true(waits < PATIENCE);
		turn();
	}
	for (unsigned i = 0; i < world.drawn.processes; i++)
		start_traffic(world.fabric[i]);
	for (unsigned i = 0; i < turns; i++)
		turn();
	for (unsigned i = 0; i < world.devices; i++)
		if (world.device[i].nic != NULL)
			poll_nic_stop_traffic(world.device[i].nic, world.now);
	for (unsigned i = 0; i < turns && hosts_are_busy(); i++)
		turn();
	for (unsigned i = 0; i < world.devices; i++)
		if (world.device[i].nic != NULL) {
			const struct measure_sink *sink = world.device[i].nic->sink;

			lost += sink->altered + sink->duplicated + sink->out_of_order +
				(world.drawn.purges ? 0 : sink->lost);
		}
	assert_int_equal(lost, 0);
}

/* --- drawing --- */

static void add_set(struct drawn *drawn, const char *format, ...)
{
	va_list arguments;

	assert_true(drawn->sets < SETS);
	va_start(arguments, format);
	vsnprintf(drawn->text[drawn->sets], SET_BYTES, format, arguments);
	va_end(arguments);
	drawn->set[drawn->sets] = drawn->text[drawn->sets];
	drawn->sets++;
}

/* Network, rate, delay and switching. */
static void draw_links(struct drawn *drawn, struct rng *rng)
{
	static const char *const networks[] = {"rlft:ports=4,stages=2", "full:switches=4,hosts=2",
		"irregular:switches=6,hosts=2,seed=3", "torus:dims=3x3,hosts=1"};
	static const uint64_t rates[] = {1000, 2500, 10000, 25000, 40000, 100000, 400000};
	static const uint64_t delays_ns[] = {30, 1000, 20000, 200000, 10000000};
	uint64_t delay_ns = delays_ns[rng_below(rng, 5)];

	drawn->rate_mbps = rates[rng_below(rng, 7)];
	drawn->delay_ps = delay_ns * PS_PER_NS;
	add_set(drawn, "topology=%s", networks[rng_below(rng, 4)]);
	add_set(drawn, "link.rate=%lluMbps", (unsigned long long)drawn->rate_mbps);
	add_set(drawn, "link.delay=%lluns", (unsigned long long)delay_ns);
	add_set(drawn, "switch.switching=%s",
		rng_below(rng, 2) ? "cut-through" : "store-and-forward");
	add_set(drawn, "seed=%u", 1 + (unsigned)rng_below(rng, 1000));
	drawn->loops = 1 + (unsigned)rng_below(rng, LOOPS);
	drawn->processes = 1 + (unsigned)rng_below(rng, PROCESSES);
	drawn->parts = 1 + (unsigned)rng_below(rng, 2);
}

/* A hot spot about which switches notify each other or the hosts. */
static void draw_notifications(struct drawn *drawn, struct rng *rng)
{
	uint64_t turn_ns = drawn->turn_ps / PS_PER_NS + 1000;

	drawn->parts = 1;
	snprintf(drawn->text[0], SET_BYTES, "topology=rlft:ports=4,stages=2");
	add_set(drawn, "routing={algorithm: dmodk, mode: table, adaptive: arn, afi: true}");
	add_set(drawn, "switch.voq=true");
	add_set(drawn,
		"traffic.0={pattern: hotspot, from: [h2, h3, h4, h5, h6, h7], to: [h0], load: 90%%}");
	add_set(drawn, "detector.variants={down-roots: stage, hosts-act: %s}",
		rng_below(rng, 2) ? "true" : "false");
	add_set(drawn, "detector.fcth=1%%");
	add_set(drawn, "detector.hcdth=10%%");
	add_set(drawn, "detector.lcdth=5%%");
	add_set(drawn, "detector.crt=%lluns", (unsigned long long)turn_ns);
	add_set(drawn, "detector.arn-ttl=%lluns", (unsigned long long)turn_ns * 10);
	add_set(drawn, "detector.arn-refresh=%lluns", (unsigned long long)turn_ns * 2);
	add_set(drawn, "detector.arn-rate=0");
}

static void draw(struct drawn *drawn, unsigned seed)
{
	static const char *const messages[] = {"64B", "1KiB", "4KiB", "20KiB"};
	static const char *const buffers[] = {"16KiB", "128KiB", "1MiB"};
	static const char *const algorithms[] = {"ud", "ud-itb"};
	struct rng rng;

	memset(drawn, 0, sizeof(*drawn));
	rng_init(&rng, seed, 5, 5);
	draw_links(drawn, &rng);
	drawn->pause_turns = 300;
	add_set(drawn, "traffic.0.load=%u%%", 1 + (unsigned)rng_below(&rng, 100));
	add_set(drawn, "traffic.0.message=%s", messages[rng_below(&rng, 4)]);
	add_set(drawn, "switch.buffer=%s", buffers[rng_below(&rng, 3)]);
	add_set(drawn, "switch.credits=%s", rng_below(&rng, 2) ? "each" : "coalesced");
	add_set(drawn, "routing.algorithm=%s", algorithms[rng_below(&rng, 2)]);
	add_set(drawn, "switch.voq=%s", drawn->parts > 1 || rng_below(&rng, 2) ? "true" : "false");
	add_set(drawn, "nic.window=%u", 1u << rng_below(&rng, 9));
	drawn->paced = rng_below(&rng, 2);
	drawn->changes = rng_below(&rng, 3) == 0;
	/* From a tenth of a frame's time to ten times that. */
	drawn->turn_ps = bytes_ps(
		(1 + rng_below(&rng, 100)) * 420, byte_time_of(drawn->rate_mbps * 1000000));
	if (drawn->turn_ps < drawn->delay_ps / 50)
		drawn->turn_ps = drawn->delay_ps / 50;
	if (seed % 5 == 0)
		draw_notifications(drawn, &rng);
	if (seed % 4 == 1)
		add_set(drawn, "edges=[{host: h0, tap: t0}, {host: h5, tap: t5}]");
	drawn->purges = drawn->parts == 1 && seed % 3 == 0;
	drawn->impairs = rng_below(&rng, 3) == 0;
}

/* --- claims --- */

static void print_violations(const struct drawn *drawn, unsigned seed)
{
	print_message("case %u: %u loops, %u processes%s, %u parts%s%s\n", seed, drawn->loops,
		drawn->processes, drawn->paced ? " paced" : "", drawn->parts,
		drawn->changes ? ", changes" : "", drawn->impairs ? ", jitter" : "");
	for (unsigned i = 0; i < drawn->sets; i++)
		print_message("  %s\n", drawn->set[i]);
#define X(name)                                                                      \
	if (watch.early.name > 0)                                                    \
		print_message("  earlier than its " #name ": %llu of %llu frames\n", \
			(unsigned long long)watch.early.name, (unsigned long long)watch.frames);
	WATCH_FINDINGS(X)
#undef X
}

UNIT_TEST(no_frame_is_early_and_no_wire_faster_than_its_rate)
{
	uint64_t frames = 0, violations = 0, by_window = 0, by_notification = 0, programs = 0;
	uint64_t jittered = 0, swapped = 0;

	for (unsigned seed = 1; seed <= CASES; seed++) {
		struct drawn drawn;

		draw(&drawn, seed);
		open_world(&drawn, seed);
		carry(60);
		if (watch_violations() > 0)
			print_violations(&drawn, seed);
		violations += watch_violations();
		frames += watch.frames;
		by_window += watch.bound_by_window;
		by_notification += watch.bound_by_notification;
		programs += watch.of_programs;
		jittered += watch.jittered;
		swapped += watch.swapped;
		close_world();
	}
	print_message("%llu frames, %llu of them when the window opened, %llu when a notification "
		      "came, %llu of programs, %llu with jitter, %llu overtaken\n",
		(unsigned long long)frames, (unsigned long long)by_window,
		(unsigned long long)by_notification, (unsigned long long)programs,
		(unsigned long long)jittered, (unsigned long long)swapped);
	assert_true(frames > 100 * CASES);
	assert_true(by_window > 10 * CASES);
	assert_true(by_notification > 0);
	assert_true(programs > CASES);
	assert_true(jittered > 10 * CASES && swapped > CASES);
	assert_int_equal(violations, 0);
}

/* A load at which at most two frames are on a link at a time, in ppm. */
static uint64_t idle_load(const struct drawn *drawn, unsigned bytes)
{
	weft_time takes = bytes_ps(bytes, byte_time_of(drawn->rate_mbps * 1000000));
	uint64_t load = drawn->delay_ps > 0 ? 2 * takes * 1000000 / drawn->delay_ps : 10000;

	return load < 10000 ? load : 10000;
}

/* One host sends to one other host, in frames that meet no others. */
static void draw_idle(struct drawn *drawn, unsigned seed)
{
	static const unsigned messages[] = {64, 500, 1024, 4096};
	unsigned from, to, bytes;
	weft_time duration;
	struct rng rng;

	rng_init(&rng, seed, 6, 6);
	do {
		memset(drawn, 0, sizeof(*drawn));
		draw_links(drawn, &rng);
		bytes = messages[rng_below(&rng, 4)];
	} while (idle_load(drawn, bytes) < 10);
	drawn->pause_turns = 5;
	/* A link between processes delays whole frames, where the virtual clock uses
	 * cut-through. */
	drawn->paced = true;
	if (strcmp(drawn->set[3], "switch.switching=cut-through") == 0)
		drawn->processes = 1;
	from = (unsigned)rng_below(&rng, 8);
	to = (from + 1 + (unsigned)rng_below(&rng, 7)) % 8;
	add_set(drawn, "traffic.0.from=[h%u]", from);
	add_set(drawn, "traffic.0.to=[h%u]", to);
	add_set(drawn, "traffic.0.load=%.4f%%", (double)idle_load(drawn, bytes) / 1e4);
	add_set(drawn, "traffic.0.message=%uB", bytes);
	drawn->turn_ps = bytes_ps(25 * bytes, byte_time_of(drawn->rate_mbps * 1000000));
	if (drawn->turn_ps < drawn->delay_ps / 50)
		drawn->turn_ps = drawn->delay_ps / 50;
	/* No loop is stalled for longer than it can catch up. */
	if (drawn->turn_ps > REAL_CATCH_UP_PS / 80)
		drawn->turn_ps = REAL_CATCH_UP_PS / 80;
	duration = 40 * drawn->delay_ps + 1000 * drawn->turn_ps;
	add_set(drawn, "measure.duration=%lluns", (unsigned long long)(duration / PS_PER_NS));
	add_set(drawn, "measure.sample=%lluns", (unsigned long long)(duration / PS_PER_NS));
}

/* The latency on the virtual clock, the same for each frame. */
static uint64_t virtual_latency_ns(struct drawn *drawn)
{
	OWNED(run_result) result;
	uint64_t ns;

	add_set(drawn, "clock=virtual");
	result = virtual_lab_result(base, drawn->set, drawn->sets);
	assert_true(result.network_ns.count > 10);
	ns = result.network_ns.sum / result.network_ns.count;
	return ns;
}

/* Frames leave at any picosecond and carry nanoseconds. A few meet a hello or a credit frame. */
UNIT_TEST(due_latencies_of_an_idle_network_are_those_of_the_virtual_clock)
{
	for (unsigned seed = 1; seed <= CASES / 4; seed++) {
		struct drawn drawn;
		unsigned same = 0;
		uint64_t ns;

		draw_idle(&drawn, seed);
		open_world(&drawn, seed);
		carry(1000);
		close_world();
		ns = virtual_latency_ns(&drawn);
		for (unsigned i = 0; i < watch.samples; i++) {
			assert_true(watch.latency[i] + PS_PER_NS >= ns * PS_PER_NS);
			same += watch.latency[i] / PS_PER_NS <= ns + 1;
		}
		if (watch.samples < 10 || same < watch.samples * 19 / 20) {
			print_violations(&drawn, seed);
			fail_msg("%u of %u frames took %llu ns", same, watch.samples,
				(unsigned long long)ns);
		}
	}
}

int main(void)
{
	char name[] = "physics";
	int failed;

	if (mkdtemp(dir) == NULL)
		return 1;
	failed = run_fabrics_with_eal(name, LCORES, 1024);
	return rmdir(dir) == 0 ? failed : 1;
}
