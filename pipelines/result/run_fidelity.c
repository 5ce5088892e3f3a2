/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_fidelity.h"

#include <inttypes.h>

#include "link_end.h"

uint64_t run_fidelity_step(uint64_t ns)
{
	uint64_t decade = 1;

	while (5 * decade < ns && decade < UINT64_MAX / 100)
		decade *= 10;
	if (decade > 1 && ns <= decade)
		return decade;
	return ns <= decade ? decade : ns <= 2 * decade ? 2 * decade : 5 * decade;
}

/* To two digits, in the unit that suits it. */
static const char *time_text(uint64_t ns, char text[32])
{
	double value = (double)ns;

	if (ns < 1000)
		snprintf(text, 32, "%" PRIu64 " ns", ns);
	else if (ns < 9950)
		snprintf(text, 32, "%.2g us", value / 1e3);
	else if (ns < 99500)
		snprintf(text, 32, "%.0f us", value / 1e3);
	else if (ns < 9950000)
		snprintf(text, 32, "%.2g ms", value / 1e6);
	else if (ns < 999500000)
		snprintf(text, 32, "%.0f ms", value / 1e6);
	else
		snprintf(text, 32, "%.1f s", value / 1e9);
	return text;
}

static uint64_t p99(const struct run_result *result)
{
	return histogram_quantile(&result->wall.spent_ns, 0.99);
}

void run_fidelity_add(json_t *wall, const struct run_result *result)
{
	json_object_set_new(wall, "away_ns", json_integer((json_int_t)result->wall.away_ns));
	json_object_set_new(wall, "away_p99_ns", json_integer((json_int_t)p99(result)));
}

static uint64_t count_ordered(const struct run_result *result)
{
	return run_result_counter(result, "host_link_downs_ordered") +
	       run_result_counter(result, "link_downs_ordered");
}

/* Without those that somebody ordered. */
static uint64_t count_downs(const struct run_result *result)
{
	return run_result_minus(run_result_counter(result, "host_link_downs") +
					run_result_counter(result, "link_downs"),
		count_ordered(result));
}

/* A cable that is cut may be the cause of messages that are refused. */
static bool suffers(const struct run_result *result)
{
	bool cut = result->wall.cut_ends > 0 || count_ordered(result) > 0;

	return count_downs(result) > 0 || (!cut && run_result_refused(result) > 0);
}

bool run_fidelity_starved(
	const struct run_result *result, weft_time hello_ps, char *text, size_t size)
{
	const char *who = result->wall.away_who;
	char away[32];

	if (result->wall.away_ns <= LINK_HELLOS_MISSED * hello_ps / PS_PER_NS || !suffers(result))
		return false;
	snprintf(text, size, "%s%s was away %s", who[0] != '\0' ? who : "a loop",
		who[0] != '\0' ? "'s loop" : "", time_text(result->wall.away_ns, away));
	return true;
}

void run_fidelity_print(const struct run_result *result, weft_time hello_ps, FILE *out)
{
	char usual[32], longest[32], above[32], why[160];

	if (result->wall.spent_ns.count == 0)
		return;
	if (run_fidelity_starved(result, hello_ps, why, sizeof(why)))
		fprintf(out,
			"  %-22s %s: %" PRIu64 " ends of links went down, %" PRIu64
			" messages were refused\n",
			"CPU starved", why, count_downs(result), run_result_refused(result));
	fprintf(out, "  %-22s p99 %s, longest %s: link times are trustworthy above %s\n",
		"loops away", time_text(p99(result), usual),
		time_text(result->wall.away_ns, longest),
		time_text(run_fidelity_step(result->wall.away_ns), above));
}
