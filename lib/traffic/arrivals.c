/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arrivals.h"

#include "synthetic.h"

/* -ln(1 - i / 512) for i = 0 .. 256, fixed point, divided by the mean that results from linear
 * interpolation; on average, one half-life passes before the last one. All sources read the same
 * table, so that it stays in the cache. */
static const uint32_t quantile[ARRIVALS_STEPS + 1] = {0, 32800, 65664, 98593, 131587, 164645,
	197769, 230958, 264213, 297535, 330922, 364376, 397897, 431485, 465140, 498863, 532654,
	566514, 600441, 634438, 668503, 702638, 736842, 771116, 805461, 839875, 874361, 908917,
	943545, 978245, 1013016, 1047860, 1082776, 1117765, 1152827, 1187963, 1223172, 1258455,
	1293813, 1329245, 1364752, 1400335, 1435993, 1471728, 1507538, 1543425, 1579389, 1615430,
	1651549, 1687746, 1724021, 1760375, 1796807, 1833319, 1869911, 1906582, 1943334, 1980167,
	2017080, 2054075, 2091152, 2128311, 2165552, 2202876, 2240284, 2277775, 2315350, 2353009,
	2390753, 2428582, 2466497, 2504497, 2542584, 2580757, 2619018, 2657366, 2695801, 2734325,
	2772938, 2811640, 2850431, 2889312, 2928284, 2967346, 3006499, 3045744, 3085081, 3124510,
	3164033, 3203648, 3243358, 3283161, 3323060, 3363053, 3403142, 3443327, 3483608, 3523987,
	3564462, 3605036, 3645708, 3686479, 3727349, 3768319, 3809389, 3850561, 3891833, 3933207,
	3974683, 4016263, 4057945, 4099732, 4141622, 4183618, 4225719, 4267925, 4310239, 4352659,
	4395187, 4437823, 4480567, 4523421, 4566384, 4609458, 4652643, 4695939, 4739347, 4782867,
	4826501, 4870249, 4914111, 4958088, 5002180, 5046389, 5090715, 5135158, 5179719, 5224398,
	5269197, 5314116, 5359156, 5404316, 5449599, 5495004, 5540533, 5586185, 5631962, 5677864,
	5723892, 5770047, 5816328, 5862738, 5909277, 5955945, 6002744, 6049673, 6096734, 6143927,
	6191254, 6238714, 6286309, 6334039, 6381906, 6429909, 6478051, 6526330, 6574749, 6623309,
	6672009, 6720851, 6769835, 6818963, 6868236, 6917653, 6967217, 7016927, 7066785, 7116791,
	7166948, 7217254, 7267712, 7318322, 7369085, 7420002, 7471074, 7522303, 7573688, 7625230,
	7676932, 7728794, 7780816, 7833000, 7885347, 7937858, 7990534, 8043376, 8096384, 8149561,
	8202907, 8256422, 8310109, 8363969, 8418002, 8472209, 8526593, 8581153, 8635891, 8690808,
	8745906, 8801185, 8856647, 8912292, 8968123, 9024141, 9080346, 9136740, 9193324, 9250100,
	9307068, 9364231, 9421589, 9479144, 9536897, 9594849, 9653002, 9711358, 9769917, 9828682,
	9887652, 9946831, 10006220, 10065819, 10125631, 10185657, 10245898, 10306357, 10367034,
	10427931, 10489050, 10550393, 10611961, 10673755, 10735778, 10798032, 10860517, 10923235,
	10986189, 11049380, 11112810, 11176481, 11240394, 11304552, 11368956, 11433608, 11498510,
	11563664, 11629073};

void arrivals_init(
	struct arrivals *arrivals, enum arrivals_kind kind, weft_time on_ps, weft_time off_ps)
{
	arrivals->kind = kind;
	arrivals->on_ps = on_ps;
	arrivals->off_ps = off_ps;
	arrivals->quantile = quantile;
}

/* Draws an exponential value with mean 1, fixed point, from 64 random bits: the leading zeros of
 * the first 24 count half-lives, 8 bits select a segment, and 32 bits the position in it. */
static uint64_t exponential(struct rng *rng)
{
	uint64_t bits = rng_next(rng);
	unsigned half_lives = 0, i;

	while (bits >> 40 == 0) {
		half_lives += 24;
		bits = rng_next(rng);
	}
	half_lives += (unsigned)__builtin_clzll(bits);
	i = (unsigned)(bits >> 32) % ARRIVALS_STEPS;
	return (uint64_t)half_lives * quantile[ARRIVALS_STEPS] + quantile[i] +
	       ((quantile[i + 1] - quantile[i]) * (bits & UINT32_MAX) >> 32);
}

static weft_time draw_exponential(struct rng *rng, weft_time mean_ps)
{
	return (weft_time)(((unsigned __int128)mean_ps * exponential(rng)) >> ARRIVALS_SHIFT);
}

/* Converts a mean interval to the interval within bursts. */
static weft_time within_bursts(const struct arrivals *arrivals, weft_time mean_ps)
{
	return (weft_time)((unsigned __int128)mean_ps * arrivals->on_ps /
			   (arrivals->on_ps + arrivals->off_ps));
}

/* Returns the time until 'on_ps' has passed within bursts. An interval interrupted by the end of a
 * burst continues in the next one, so that short bursts neither gain nor lose messages. */
static weft_time pass_bursts(
	const struct arrivals *arrivals, struct arrivals_stream *stream, weft_time on_ps)
{
	weft_time passed = on_ps;

	while (on_ps > stream->burst_left_ps) {
		on_ps -= stream->burst_left_ps;
		passed += draw_exponential(&stream->rng, arrivals->off_ps);
		stream->burst_left_ps = draw_exponential(&stream->rng, arrivals->on_ps);
	}
	stream->burst_left_ps -= on_ps;
	return passed;
}

weft_time arrivals_first(
	const struct arrivals *arrivals, struct arrivals_stream *stream, weft_time phase_ps)
{
	weft_time off = 0;

	stream->burst_left_ps = 0;
	if (arrivals->kind != ARRIVALS_BURSTY)
		return phase_ps;
	/* Exponential times are memoryless: the remainder is distributed like the whole. */
	if (rng_below(&stream->rng, arrivals->on_ps + arrivals->off_ps) >= arrivals->on_ps)
		off = draw_exponential(&stream->rng, arrivals->off_ps);
	stream->burst_left_ps = draw_exponential(&stream->rng, arrivals->on_ps);
	return off + pass_bursts(arrivals, stream, within_bursts(arrivals, phase_ps));
}

weft_time arrivals_next(
	const struct arrivals *arrivals, struct arrivals_stream *stream, weft_time mean_ps)
{
	switch (arrivals->kind) {
	case ARRIVALS_POISSON:
		return draw_exponential(&stream->rng, mean_ps);
	case ARRIVALS_UNIFORM:
		return rng_below(&stream->rng, 2 * mean_ps + 1);
	case ARRIVALS_BURSTY:
		return pass_bursts(arrivals, stream, within_bursts(arrivals, mean_ps));
	case ARRIVALS_CONSTANT:
	case ARRIVALS_UNSET:
		break;
	}
	return mean_ps;
}

#define STEPS 65536

static const struct flow_size_point web_search[] = {{0, 0}, {10000, 0.15}, {20000, 0.20},
	{30000, 0.30}, {50000, 0.40}, {80000, 0.53}, {200000, 0.60}, {1000000, 0.70},
	{2000000, 0.80}, {5000000, 0.90}, {10000000, 0.97}, {30000000, 1}};

static const struct flow_size_point hadoop[] = {{0, 0}, {100, 0.01}, {200, 0.02}, {300, 0.05},
	{350, 0.15}, {400, 0.20}, {500, 0.30}, {600, 0.40}, {700, 0.50}, {1000, 0.60}, {2000, 0.67},
	{7000, 0.70}, {30000, 0.72}, {50000, 0.82}, {80000, 0.87}, {120000, 0.90}, {300000, 0.95},
	{1000000, 0.975}, {2000000, 0.99}, {10000000, 1}};

#define SIZES(text, points)                                        \
	{                                                          \
		(text), (points), sizeof(points) / sizeof(*points) \
	}

static const struct flow_sizes sizes_web_search = SIZES("web-search", web_search);
static const struct flow_sizes sizes_hadoop = SIZES("hadoop", hadoop);

static const void *const known[] = {&sizes_web_search, &sizes_hadoop};
const struct name_table flow_sizes_known = WORD_LIST(known);

/* Returns the size that this share of flows, below 1, does not exceed. */
static uint64_t size_at(const struct flow_sizes *sizes, double share)
{
	const struct flow_size_point *point = sizes->at, *before;
	double bytes;

	while (point->share <= share)
		point++;
	if (point == sizes->at)
		return point->bytes > 0 ? point->bytes : 1;
	before = point - 1;
	bytes = (double)before->bytes + (double)(point->bytes - before->bytes) *
						(share - before->share) /
						(point->share - before->share);
	return bytes < 1 ? 1 : (uint64_t)(bytes + 0.5);
}

uint64_t flow_sizes_draw(const struct flow_sizes *sizes, struct rng *rng)
{
	return size_at(sizes, (double)(rng_next(rng) >> 11) * 0x1p-53);
}

double flow_sizes_wire_bytes(
	const struct flow_sizes *sizes, uint32_t mtu_bytes, uint32_t overhead_bytes)
{
	double sum = 0;

	for (unsigned i = 0; i < STEPS; i++) {
		uint64_t drawn = size_at(sizes, (i + 0.5) / STEPS);
		uint64_t bytes = drawn < SYNTHETIC_PREFIX_BYTES ? SYNTHETIC_PREFIX_BYTES : drawn;
		uint64_t frames = (bytes + mtu_bytes - 1) / mtu_bytes;

		sum += (double)(bytes + frames * overhead_bytes);
	}
	return sum / STEPS;
}
