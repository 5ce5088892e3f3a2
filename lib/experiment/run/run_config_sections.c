/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Keys, units, ranges and choices of the sections. */

#include "nic/selectors/route_choice.h"
#include "route/route_algorithm.h"
#include "run_config_fields.h"
#include "switch/adaptive_routing.h"
#include "traffic/traffic_pattern.h"
#include "wire/cn.h"

const char *const run_clock_choices[] = {RUN_CLOCKS(WORD_TEXT) NULL};
static const char *const switching_choices[] = {RUN_SWITCHINGS(WORD_TEXT) NULL};
static const char *const until_choices[] = {RUN_UNTILS(WORD_TEXT) NULL};

const struct run_words run_words[] = {
	{"routing.algorithm", &route_algorithms},
	{"routing.adaptive", &adaptive_modes},
	{"nic.selector", &route_choices},
	{"queuing", &queuing_schemes},
	{"traffic[0].pattern", &traffic_patterns},
	{NULL, NULL},
};

const char *run_clock_name(enum run_clock clock)
{
	return run_clock_choices[clock];
}

const char *run_until_value_name(enum run_until_value value)
{
	return until_choices[value];
}

const char *run_switching_name(enum run_switching switching)
{
	return switching_choices[switching];
}

#define SHARE_FIELD(key, type, member, text)                                                 \
	{                                                                                    \
		key, YAML_FIELD_SHARE, YAML_MEMBER(type, member), .max = QUANTITY_WHOLE_PPM, \
								  .doc = text                \
	}

const struct yaml_field run_link_fields[] = {
	{"rate", YAML_FIELD_RATE, YAML_MEMBER(struct topology_defaults, rate_bps),
		.min = TOPOLOGY_RATE_MIN_BPS, .max = TOPOLOGY_RATE_MAX_BPS,
		.doc = "Rate of each direction."},
	{"delay", YAML_FIELD_TIME, YAML_MEMBER(struct topology_defaults, delay_ps),
		.max = TOPOLOGY_DELAY_MAX_PS, .doc = "Propagation delay."},
	{NULL},
};

/* Reads up to 'room' numbers, each at most 'max'. */
static int read_numbers(const struct yaml_tree_node *node, uint8_t *out, uint32_t room,
	uint32_t max, uint32_t *count, struct error *error)
{
	*count = 0;
	if (node->kind != YAML_TREE_SEQUENCE || node->count == 0 || node->count > room)
		return yaml_tree_refuse(
			node, error, "'%s': expected a list of up to %u numbers", node->key, room);
	for (const struct yaml_tree_node *one = node->first; one != NULL; one = one->next) {
		unsigned value;
		char end;

		if (one->kind != YAML_TREE_SCALAR ||
			sscanf(one->text, "%3u%c", &value, &end) != 1 || value > max)
			return yaml_tree_refuse(
				one, error, "expected a whole number from 0 to %u", max);
		out[(*count)++] = (uint8_t)value;
	}
	return 0;
}

static void write_numbers(const uint8_t *from, uint32_t count, FILE *out)
{
	for (uint32_t i = 0; i < count; i++)
		fprintf(out, "%s%u", i == 0 ? " [" : ", ", from[i]);
	fputc(']', out);
}

static int read_sl_to_vc(const struct yaml_tree_node *node, void *member, struct error *error)
{
	struct run_config_sl *map = member;

	return read_numbers(node, map->vc, 16, FRAME_VCS_MAX - 1, &map->count, error);
}

static void write_sl_to_vc(const void *member, FILE *out, unsigned indent)
{
	const struct run_config_sl *map = member;

	write_numbers(map->vc, map->count, out);
}

static int read_weights(const struct yaml_tree_node *node, void *member, struct error *error)
{
	uint8_t *weight = member;
	uint32_t count;

	memset(weight, 0, FRAME_VCS_MAX);
	return read_numbers(node, weight, FRAME_VCS_MAX, UINT8_MAX, &count, error);
}

static uint32_t weights_of(const uint8_t *weight)
{
	uint32_t count = FRAME_VCS_MAX;

	while (count > 0 && weight[count - 1] == 0)
		count--;
	return count;
}

static void write_weights(const void *member, FILE *out, unsigned indent)
{
	write_numbers(member, weights_of(member), out);
}

#define S struct run_config_ecn
static const struct yaml_field ecn_fields[] = {
	{"kmin", YAML_FIELD_BYTES, YAML_MEMBER(S, kmin_bytes), .max = (uint64_t)256 << 20,
		.doc = "Queue length of an output above which packets may be marked."},
	{"kmax", YAML_FIELD_BYTES, YAML_MEMBER(S, kmax_bytes), .max = (uint64_t)256 << 20,
		.doc = "Queue length above which all packets are marked. 0 disables marking."},
	SHARE_FIELD("pmax", S, pmax_ppm, "Share of the packets that are marked at `kmax`."),
	{NULL},
};
#undef S

#define S struct run_config_pfc
static const struct yaml_field pfc_fields[] = {
	{"xoff", YAML_FIELD_BYTES, YAML_MEMBER(S, xoff_bytes), .max = (uint64_t)256 << 20,
		.doc = "Fill level of a VC's buffer at which a pause frame is sent. 0 leaves just the headroom that the link needs."},
	{"xon", YAML_FIELD_BYTES, YAML_MEMBER(S, xon_bytes), .max = (uint64_t)256 << 20,
		.doc = "Fill level at which sending resumes. 0 is two full frames below `xoff`."},
	{NULL},
};
#undef S

static int read_contention(const struct yaml_tree_node *node, void *member, struct error *error)
{
	return run_read_time_or("auto", node, member, error);
}

static void write_contention(const void *member, FILE *out, unsigned indent)
{
	run_write_time_or("auto", member, out);
}

#define S struct run_config_switch
const struct yaml_field run_switch_fields[] = {
	{"switching", YAML_FIELD_CHOICE, YAML_MEMBER(S, switching), .choices = switching_choices,
		.doc = "How a switch forwards a frame. `wormhole` needs `stop-go` and the virtual clock."},
	{"buffer", YAML_FIELD_BYTES, YAML_MEMBER(S, buffer_bytes), .min = 16,
		.max = (uint64_t)256 << 20,
		.doc = "Buffer of one input port, split equally among the VCs."},
	{"stop", YAML_FIELD_BYTES, YAML_MEMBER(S, stop_bytes), .min = 1, .max = 65536,
		.doc = "Fill level at which a wormhole buffer sends STOP."},
	{"go", YAML_FIELD_BYTES, YAML_MEMBER(S, go_bytes), .min = 1, .max = 65536,
		.doc = "Fill level at which a wormhole buffer sends GO again."},
	{"mtu", YAML_FIELD_BYTES, YAML_MEMBER(S, mtu_bytes), .min = 64, .max = FRAME_PAYLOAD_MAX,
		.doc = "Largest payload that switches accept. Each VC must hold a frame of this size."},
	{"vcs", YAML_FIELD_NUMBER, YAML_MEMBER(S, vcs), .min = 1, .max = FRAME_VCS_MAX,
		.doc = "Virtual channels per link. They share the buffer equally, so VCs that routes, `queuing` or service levels do not use leave their part of it idle; a warning counts them."},
	{"voq", YAML_FIELD_BOOL, YAML_MEMBER(S, voq),
		.doc = "Virtual output queues. Without them, an input has one queue per VC."},
	{"flow-control", YAML_FIELD_CHOICE, YAML_MEMBER(S, flow_control),
		.choices = YAML_CHOICES(RUN_FLOW_CONTROLS),
		.doc = "Credits, the STOP and GO of wormhole switches, or Ethernet: `pfc` pauses each VC, `lossy` drops frames that do not fit."},
	{"arbitration", YAML_FIELD_CHOICE, YAML_MEMBER(S, arbitration.inputs),
		.choices = YAML_CHOICES(ARBITRATIONS),
		.doc = "Which input an output serves next: in turn, the one with the oldest message, or in proportion to the flows behind it."},
	{"vc-service", YAML_FIELD_CHOICE, YAML_MEMBER(S, arbitration.vcs),
		.choices = YAML_CHOICES(VC_SERVICES),
		.doc = "Which VC an output serves first: in turn, the highest, or in proportion to `vc-weights`."},
	{"vc-weights", YAML_FIELD_CUSTOM, YAML_MEMBER(S, arbitration.weight), .read = read_weights,
		.write = write_weights, .optional = true, .form = "<list>",
		.doc = "Weights of VCs 0, 1, …, such as `[1, 4]`. The others have weight 1."},
	{"sl-to-vc", YAML_FIELD_CUSTOM, YAML_MEMBER(S, sl_to_vc), .read = read_sl_to_vc,
		.write = write_sl_to_vc, .optional = true, .form = "<list>",
		.doc = "The VCs of service levels 0, 1, …, such as `[0, 0, 1]`. A level that is not listed uses the VC with its number, or VC 0 if there is none."},
	{"pfc", YAML_FIELD_SECTION, YAML_MEMBER(S, pfc), .fields = pfc_fields,
		.doc = "Thresholds of `flow-control: pfc`."},
	{"ecn", YAML_FIELD_SECTION, YAML_MEMBER(S, ecn), .fields = ecn_fields,
		.doc = "RED: marks that depend on the output's queue, in addition to `fecn`."},
	{"credits", YAML_FIELD_CHOICE, YAML_MEMBER(S, credits),
		.choices = YAML_CHOICES(RUN_CREDITS),
		.doc = "Whether credits are returned together or for each packet. The default depends on the adaptive mode and the buffer."},
	{"fecn", YAML_FIELD_NUMBER, YAML_MEMBER(S, fecn), .max = 15,
		.doc = "Threshold of congestion marks. 0 disables them; N marks packets that find more than (16 - N)/16 of their VC full."},
	{"marking-rate", YAML_FIELD_NUMBER, YAML_MEMBER(S, marking_rate), .max = UINT16_MAX,
		.doc = "Packets that pass unmarked between two marks of a VC."},
	{"packet-size", YAML_FIELD_BYTES, YAML_MEMBER(S, mark_bytes), .max = FRAME_BYTES_MAX,
		.doc = "Frames shorter than this are never marked."},
	{"victim-mask", YAML_FIELD_BOOL, YAML_MEMBER(S, victim_mask),
		.doc = "`true` marks roots and victims of congestion; `false` marks only at the root."},
	{"contention", YAML_FIELD_CUSTOM, YAML_MEMBER(S, contention_ps), .read = read_contention,
		.write = write_contention, .form = "<time>|auto",
		.doc = "Waiting time after which the first switch records contending flows. `auto` is twice the time of a full frame."},
	{"flows", YAML_FIELD_NUMBER, YAML_MEMBER(S, flows), .max = CN_FLOWS_MAX,
		.doc = "Maximum number of flows that one packet records. Each flow is recorded once."},
	{"contending", YAML_FIELD_CHOICE, YAML_MEMBER(S, contending),
		.choices = YAML_CHOICES(RUN_CONTENDINGS),
		.doc = "Which flows are recorded: those with the same output, or those in the same VC of the same input."},
	{"recording", YAML_FIELD_CHOICE, YAML_MEMBER(S, recording),
		.choices = YAML_CHOICES(RUN_RECORDINGS),
		.doc = "Which switch of a path records. `auto` is `last` with `drb-cc` and `first` otherwise."},
	{"routing-delay", YAML_FIELD_TIME, YAML_MEMBER(S, routing_delay_ps), .max = PS_PER_MS,
		.doc = "Time that a switch needs to route a frame, on the virtual clock."},
	{"routing-start", YAML_FIELD_CHOICE, YAML_MEMBER(S, routing_start),
		.choices = YAML_CHOICES(RUN_ROUTING_STARTS),
		.doc = "Whether a wormhole switch routes a header when its output is granted or when the header is first in its buffer."},
	{NULL},
};
#undef S

/* A route file replaces the optional members, so that they may be unset. */
#define S struct run_config_routing
const struct yaml_field run_routing_fields[] = {
	{"file", YAML_FIELD_CUSTOM, YAML_MEMBER(S, file), RUN_PATH,
		.doc = "A route file. No routes are computed then."},
	{"algorithm", YAML_FIELD_CUSTOM, .offset = 0, .size = sizeof(S), .words = &route_algorithms,
		.read = run_read_algorithms, .write = run_write_algorithms,
		.present = run_algorithms_present, .form = "<word>|^[a-z0-9-]+(\\+[a-z0-9-]+)+$",
		.doc = "The routing algorithm, or several joined by `+`. `weft route algorithms` lists them."},
	{"mode", YAML_FIELD_CHOICE, YAML_MEMBER(S, mode),
		.choices = YAML_CHOICES(RUN_ROUTING_MODES),
		.doc = "With `source`, the frame contains its route. With `table`, switches look up the output."},
	{"alternatives", YAML_FIELD_NUMBER, YAML_MEMBER(S, alternatives), .min = 1, .max = 10,
		.optional = true,
		.doc = "Routes per pair, among which `nic.selector` chooses. The default depends on the algorithm."},
	{"granularity", YAML_FIELD_CHOICE, YAML_MEMBER(S, granularity),
		.choices = YAML_CHOICES(RUN_GRANULARITIES), .optional = true,
		.unset = RUN_GRANULARITY_UNSET,
		.doc = "Whether each pair of hosts or each pair of switches has its own routes. Only algorithms that draw routes differ."},
	{"root", YAML_FIELD_TEXT, YAML_MEMBER(S, root), .form = "best|centre|random|<text>",
		.doc = "Root of algorithms that build a tree: a switch, or a choice. The default is a leaf of a tree with levels, else the first switch."},
	{"itb-hosts", YAML_FIELD_CHOICE, YAML_MEMBER(S, itb_hosts),
		.choices = YAML_CHOICES(RUN_ITB_HOSTS), .optional = true,
		.doc = "Which host at a switch absorbs the packets of a route: a random one (`random`, the default), or the one that absorbs for the fewest routes (`balanced`)."},
	{"itb-absorb", YAML_FIELD_CHOICE, YAML_MEMBER(S, itb_absorb),
		.choices = YAML_CHOICES(RUN_ITB_ABSORBS),
		.doc = "With `contention`, a switch bypasses the host that would absorb a frame if the frame's next output is idle and has credits."},
	{"radius", YAML_FIELD_NUMBER, YAML_MEMBER(S, radius), .min = 1, .max = ROUTE_RADIUS_MAX,
		.optional = true,
		.doc = "Maximum distance in links of the intermediate switches of `msp` from the ends of a path."},
	{"steps", YAML_FIELD_CHOICE, YAML_MEMBER(S, steps), .choices = YAML_CHOICES(RUN_STEPS),
		.optional = true, .unset = RUN_STEPS_UNSET,
		.doc = "What separates the steps of an `msp` path: VC classes (`next`) or in-transit buffers."},
	{"ties", YAML_FIELD_CHOICE, YAML_MEMBER(S, ties), .choices = YAML_CHOICES(RUN_TIES),
		.optional = true, .unset = RUN_TIES_UNSET,
		.doc = "How `dor` and `msp` choose among equal paths: lowest port number, or drawn with the seed."},
	{"ugal-queues", YAML_FIELD_CHOICE, YAML_MEMBER(S, ugal_queues),
		.choices = YAML_CHOICES(RUN_UGAL_QUEUES),
		.doc = "The queues that `df-ugal-l`, `df-par`, `ugal`, `omni-war` and `dal` compare: the packet's VC, all VCs of the port, or (`hybrid`) the VC if both paths begin at the same port (`ugal`: all VCs)."},
	{"ugal-bias", YAML_FIELD_BYTES, YAML_MEMBER(S, ugal_bias_bytes), .max = 1 << 20,
		.doc = "By how much the minimal path's queue may exceed twice the detour's queue. `ugal` multiplies each queue by the links of its path, or by 1 and 2 with routes from a mapper. `omni-war` and `dal` add it to the weight of a detour."},
	{"adaptive", YAML_FIELD_WORD, YAML_MEMBER(S, adaptive), .words = &adaptive_modes,
		.doc = "How switches choose among the ports of a table. Requires `algorithm: dmodk`."},
	{"afi", YAML_FIELD_BOOL, YAML_MEMBER(S, afi),
		.doc = "Adapted packets follow the tables in a separate VC for the rest of their path."},
	{"may-deadlock", YAML_FIELD_BOOL, YAML_MEMBER(S, may_deadlock),
		.doc = "Allows routes that are not guaranteed to be deadlock-free."},
	{"flowlet-gap", YAML_FIELD_TIME, YAML_MEMBER(S, flowlet_gap_ps), .max = PS_PER_S,
		.doc = "Pause of a flow after which `flowlet` may choose another port."},
	SHARE_FIELD("threshold", S, threshold_ppm,
		"Fill level at which `adaptive-th` leaves the table's port."),
	{NULL},
};
#undef S

#define S struct run_config_variants
static const struct yaml_field variants_fields[] = {
	{"retest", YAML_FIELD_CHOICE, YAML_MEMBER(S, retest), .choices = YAML_CHOICES(RUN_RETESTS),
		.doc = "When `fcth` is tested again between `hcdth` and `crt`: `starts` at arrivals that may begin a suspicion, `holds` at arrivals that may end it."},
	{"occupancy", YAML_FIELD_CHOICE, YAML_MEMBER(S, occupancy),
		.choices = YAML_CHOICES(RUN_OCCUPANCIES),
		.doc = "Whether a VOQ counts against the buffer of its VC or of its port."},
	{"notifiers", YAML_FIELD_CHOICE, YAML_MEMBER(S, notifiers),
		.choices = YAML_CHOICES(RUN_NOTIFIERS), .former = "speakers",
		.doc = "Which VOQs report a root: all above `hcdth`, or the first."},
	{"down-roots", YAML_FIELD_CHOICE, YAML_MEMBER(S, down_roots),
		.choices = YAML_CHOICES(RUN_DOWN_ROOTS),
		.doc = "Who diverts packets for a root at an output that leads down: the sending hosts, or the stage below."},
	{"watch-afc", YAML_FIELD_BOOL, YAML_MEMBER(S, watch_afc),
		.doc = "Whether VOQs of the adapted-flow channel count like others."},
	{"adapted-notify", YAML_FIELD_BOOL, YAML_MEMBER(S, adapted_notify),
		.doc = "Whether adapted packets also cause notifications."},
	{"adapted-roots", YAML_FIELD_BOOL, YAML_MEMBER(S, adapted_roots),
		.doc = "Whether a root that hosts must act on is also reported for adapted packets."},
	{"waiting-first", YAML_FIELD_BOOL, YAML_MEMBER(S, waiting_first),
		.doc = "Whether the waiting entry is used if a waiting and a consumed one match a packet."},
	{"hosts-act", YAML_FIELD_BOOL, YAML_MEMBER(S, hosts_act),
		.doc = "Whether a notified host sends the affected packets in the adapted-flow channel."},
	{NULL},
};
#undef S

#define S struct run_config_detector
const struct yaml_field run_detector_fields[] = {
	SHARE_FIELD(
		"hcdth", S, hcdth_ppm, "Fill level of a VOQ above which its output is suspected."),
	SHARE_FIELD("lcdth", S, lcdth_ppm, "Fill level below which all VOQs end the congestion."),
	SHARE_FIELD("fcth", S, fcth_ppm,
		"Free share of the next buffer above which an output is suspected."),
	{"crt", YAML_FIELD_TIME, YAML_MEMBER(S, crt_ps), .max = 10 * PS_PER_S,
		.doc = "Time after which a suspected output becomes a root."},
	{"arn-ttl", YAML_FIELD_TIME, YAML_MEMBER(S, arn_ttl_ps), .max = 10 * PS_PER_S,
		.doc = "Switches forget a root after this time without a notification."},
	{"arn-refresh", YAML_FIELD_TIME, YAML_MEMBER(S, arn_refresh_ps), .min = PS_PER_US,
		.max = 10 * PS_PER_S, .doc = "Interval of notifications per port."},
	{"arn-rate", YAML_FIELD_NUMBER, YAML_MEMBER(S, arn_rate), .max = 1000000,
		.doc = "Notifications that a port accepts per millisecond on the real clock. 0 accepts all."},
	{"variants", YAML_FIELD_SECTION, YAML_MEMBER(S, variants), .fields = variants_fields,
		.former = "readings",
		.doc = "Interpretations of points that the paper leaves open. The literal reading comes last."},
	{NULL},
};
#undef S

#define S struct run_config_itb
static const struct yaml_field run_itb_fields[] = {
	{"pool", YAML_FIELD_BYTES, YAML_MEMBER(S, pool_bytes), .min = 128,
		.max = (uint64_t)256 << 20,
		.doc = "Memory of each host for frames in transit. It must hold a frame of `nic.mtu`."},
	{"detection", YAML_FIELD_TIME, YAML_MEMBER(S, detection_ps), .max = PS_PER_MS,
		.doc = "Time from the start of a frame until the host detects the transit, on the virtual clock."},
	{"programming", YAML_FIELD_TIME, YAML_MEMBER(S, programming_ps), .max = PS_PER_MS,
		.doc = "Time until re-injection starts, on the virtual clock."},
	{"pause", YAML_FIELD_TIME, YAML_MEMBER(S, pause_ps), .min = PS_PER_US,
		.max = 3600 * PS_PER_S,
		.doc = "If a message in transit pauses for longer, its end is refused and it is resent."},
	{NULL},
};
#undef S

#define S struct run_config_nic
/* The kernel's limit for Ethernet devices, without the header. */
#define TAP_MTU_MAX (65535 - 14)

const struct yaml_field run_nic_fields[] = {
	{"selector", YAML_FIELD_WORD, YAML_MEMBER(S, selector), .words = &route_choices,
		.doc = "Chooses the route of each message. The default depends on the algorithm."},
	{"selection", YAML_FIELD_SECTION, YAML_MEMBER(S, selection), .fields = run_selection_fields,
		.doc = "Constants of the selectors."},
	{"mtu", YAML_FIELD_BYTES, YAML_MEMBER(S, mtu_bytes), .min = 64, .max = FRAME_PAYLOAD_MAX,
		.doc = "Payload of a frame, at most `switch.mtu`."},
	{"tap-mtu", YAML_FIELD_BYTES, YAML_MEMBER(S, tap_mtu_bytes), .min = 68, .max = TAP_MTU_MAX,
		.optional = true,
		.doc = "MTU of TAPs, by default `mtu`. Longer packets take several frames. A TAP takes 65 MB "
		       "of address space, and 4 MB of memory while it is idle."},
	{"window", YAML_FIELD_NUMBER, YAML_MEMBER(S, window_frames), .min = 1, .max = 4096,
		.doc = "Maximum number of frames per destination that are unacknowledged, or lost on a cut cable."},
	{"retry", YAML_FIELD_TIME, YAML_MEMBER(S, retry_ps), .min = 10 * PS_PER_US,
		.max = 10 * PS_PER_S,
		.doc = "Time without an acknowledgement after which frames are resent."},
	{"give-up", YAML_FIELD_TIME, YAML_MEMBER(S, give_up_ps), .min = PS_PER_MS,
		.max = 3600 * PS_PER_S,
		.doc = "Time after which an unacknowledged message is dropped."},
	{"hardware-stamps", YAML_FIELD_BOOL, YAML_MEMBER(S, hardware_stamps),
		.doc = "Whether hosts on several machines compare clocks with the time stamps of NICs that support them."},
	{"itb", YAML_FIELD_SECTION, YAML_MEMBER(S, itb), .fields = run_itb_fields,
		.doc = "In-transit buffers, for routes that use them."},
	{"control", YAML_FIELD_CHOICE, YAML_MEMBER(S, control), .choices = run_control_choices,
		.doc = "How a source reacts to congestion. `dcqcn` needs the virtual clock."},
	{"recovery", YAML_FIELD_CHOICE, YAML_MEMBER(S, recovery),
		.choices = YAML_CHOICES(RUN_RECOVERIES),
		.doc = "With `flow-control: lossy`: what a receiver does with frames after a lost one."},
	{"dcqcn", YAML_FIELD_SECTION, YAML_MEMBER(S, dcqcn), .fields = run_dcqcn_fields,
		.doc = "The congestion control of RDMA over Ethernet."},
	{"iba-cc", YAML_FIELD_SECTION, YAML_MEMBER(S, iba_cc), .fields = run_iba_cc_fields,
		.doc = "InfiniBand's congestion control."},
	{"drb", YAML_FIELD_SECTION, YAML_MEMBER(S, drb), .fields = run_drb_fields,
		.doc = "Distributed routing balancing: when a pair opens and closes paths."},
	{"pr-drb", YAML_FIELD_SECTION, YAML_MEMBER(S, pr_drb), .fields = run_pr_drb_fields,
		.doc = "Stored solutions of predictive routing balancing."},
	{NULL},
};
#undef S

const struct yaml_field run_faults_fields[] = {
	SHARE_FIELD("credit-loss", struct run_config_faults, credit_loss_ppm,
		"Share of credit frames that are lost."),
	SHARE_FIELD("corrupt", struct run_config_faults, corrupt_ppm,
		"Share of frames that are damaged."),
	{NULL},
};

const struct yaml_field run_reconfigure_fields[] = {
	{"mode", YAML_FIELD_CHOICE, YAML_MEMBER(struct run_config_reconfigure, mode),
		.choices = YAML_CHOICES(RUN_RECONFIGURES),
		.doc = "Whether old and new routes may coexist: never (`drain`), always (`immediate`), with in-transit buffers where they could deadlock (`itb`), or if they cannot deadlock (`auto`)."},
	{NULL},
};

const struct yaml_field run_fidelity_fields[] = {
	{"late", YAML_FIELD_CUSTOM, YAML_MEMBER(struct run_config_fidelity, late_ps),
		.read = run_read_time_or_off, .write = run_write_time_or_off, .form = "<time>|off",
		.doc = "Maximum lateness of an arrival on links that Weft times."},
	SHARE_FIELD("share", struct run_config_fidelity, share_ppm,
		"Share of the arrivals that must be late by at most `late`."),
	{NULL},
};

const struct yaml_field run_host_fields[] = {
	{"copy-rate", YAML_FIELD_RATE, YAML_MEMBER(struct run_config_host, copy_rate_bps),
		.min = TOPOLOGY_RATE_MIN_BPS, .max = 100 * TOPOLOGY_RATE_MAX_BPS,
		.doc = "Rate of messages between ranks of a schedule on the same host."},
	{"overhead", YAML_FIELD_TIME, YAML_MEMBER(struct run_config_host, overhead_ps),
		.max = PS_PER_S,
		.doc = "CPU time of each send and recv in a schedule: o of LogGP."},
	{"gap", YAML_FIELD_TIME, YAML_MEMBER(struct run_config_host, gap_ps), .max = PS_PER_S,
		.doc = "Minimum time between two messages of a host with ranks: g of LogGP."},
	{"rendezvous", YAML_FIELD_BYTES, YAML_MEMBER(struct run_config_host, rendezvous_bytes),
		.min = 1, .max = (uint64_t)1 << 40, .optional = true,
		.doc = "Longer messages of a schedule wait for their recv; receivers copy shorter ones at `copy-rate`: S of LogGP."},
	{NULL},
};

static const struct yaml_field until_fields[] = {
	{"interval", YAML_FIELD_SHARE, YAML_MEMBER(struct run_config_until, interval_ppm),
		.max = QUANTITY_WHOLE_PPM / 2,
		.doc = "Half-width of the 95 % confidence interval, relative to the mean. 0% switches it off."},
	{"of", YAML_FIELD_CHOICE, YAML_MEMBER(struct run_config_until, of),
		.choices = until_choices, .doc = "The value whose confidence interval counts."},
	{NULL},
};

#define S struct run_config_measure
const struct yaml_field run_measure_fields[] = {
	{"warmup", YAML_FIELD_TIME, YAML_MEMBER(S, warmup_ps), .max = 24 * 3600 * PS_PER_S,
		.doc = "Time before the measurement starts."},
	{"duration", YAML_FIELD_TIME, YAML_MEMBER(S, duration_ps), .min = PS_PER_US,
		.max = 30 * 24 * 3600 * PS_PER_S,
		.doc = "Length of the whole run, including the warm-up."},
	{"sample", YAML_FIELD_TIME, YAML_MEMBER(S, sample_ps), .min = PS_PER_US,
		.max = 24 * 3600 * PS_PER_S,
		.doc = "Time between two samples. In a run of less than 10 ms, the default is a tenth of `duration`."},
	{"until", YAML_FIELD_SECTION, YAML_MEMBER(S, until), .fields = until_fields,
		.doc = "Ends the run as soon as a value is known with this precision. The warm-up is automatic."},
	{"at-most", YAML_FIELD_TIME, YAML_MEMBER(S, max_ps), .max = 30 * 24 * 3600 * PS_PER_S,
		.doc = "Limits a run with `until`, instead of `duration`."},
	{"warmup-messages", YAML_FIELD_NUMBER, YAML_MEMBER(S, warmup_messages), .max = UINT32_MAX,
		.doc = "Messages before the measurement starts, for wormhole switching."},
	{"messages", YAML_FIELD_NUMBER, YAML_MEMBER(S, messages), .max = UINT32_MAX,
		.doc = "Measured messages after which the run ends, for wormhole switching. 0 sets no limit."},
	{"links", YAML_FIELD_BOOL, YAML_MEMBER(S, links),
		.doc = "Adds `links` to the result: load, stalls and buffers of each link."},
	{"link-series", YAML_FIELD_BOOL, YAML_MEMBER(S, link_series),
		.doc = "Adds these values in each sample to `links`."},
	{"switches", YAML_FIELD_BOOL, YAML_MEMBER(S, switches),
		.doc = "Adds the mean waiting time in each switch, on the virtual clock."},
	{"hosts", YAML_FIELD_BOOL, YAML_MEMBER(S, hosts),
		.doc = "Adds the traffic of each host, for wormhole switching."},
	{"latencies", YAML_FIELD_BOOL, YAML_MEMBER(S, latencies),
		.doc = "Adds the histograms of the latencies."},
	{NULL},
};
#undef S
