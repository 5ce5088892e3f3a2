/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include "base/rng.h"
#include "experiment/result/run_result_private.h"

/* Too large for the stack because of its histograms. */
static struct run_result *new_result(void)
{
	struct run_result *result = calloc(1, sizeof(*result));

	assert_non_null(result);
	return result;
}

static void free_result(struct run_result *result)
{
	run_result_free(result);
	free(result);
}

static void add(struct run_result *into, const struct run_result *from)
{
	json_t *part = run_result_part_json(from);

	assert_non_null(part);
	assert_int_equal(run_result_add_part(into, part), 0);
	json_decref(part);
}

UNIT_TEST(histograms_of_parts_add_up_to_that_of_the_whole)
{
	struct run_result *a = new_result(), *b = new_result(), *all = new_result();
	struct histogram *whole = calloc(1, sizeof(*whole));
	struct rng rng;

	assert_non_null(whole);
	rng_init(&rng, 1, 2, 3);
	for (unsigned i = 0; i < 10000; i++) {
		uint64_t value = rng_next(&rng) >> (i % 60);

		histogram_record(i % 3 == 0 ? &a->network_ns : &b->network_ns, value);
		histogram_record(whole, value);
	}
	add(all, a);
	add(all, b);
	assert_memory_equal(&all->network_ns, whole, sizeof(*whole));
	free(whole);
	free_result(a);
	free_result(b);
	free_result(all);
}

/* The starvation of the whole run is known if each part knows it. */
UNIT_TEST(a_circle_and_what_starves_are_those_of_the_parts)
{
	struct run_result *a = new_result(), *b = new_result(), *all = new_result();
	const struct topology_port port = {DEVICE_SWITCH, 0, 1};
	struct topology_device sw = {.name = "s0", .ports = 2};
	const struct topology topology = {.switches = 1, .switch_at = &sw};
	struct run_starved *starved;

	a->starvation_known = true;
	b->deadlock = true;
	assert_int_equal(run_result_add_cycle(b, &topology, &port, 1), 0);
	b->channels = 100;
	starved = run_result_add_starved(b);
	strcpy(starved->input, "s0:0");
	strcpy(starved->output, "s0:1");
	starved->stuck = true;
	starved->waited_ns = 7;
	for (unsigned i = 0; i < 2; i++) {
		struct run_pool *pool = run_result_add_pool(i == 0 ? a : b);

		snprintf(pool->host, sizeof(pool->host), "h%u", i);
		pool->came = 100 + i;
		pool->left = 50;
	}
	add(all, a);
	assert_true(all->starvation_known);
	add(all, b);
	assert_false(all->starvation_known);
	assert_true(all->deadlock);
	assert_int_equal(all->cycles, 1);
	assert_int_equal(all->channels, 100);
	assert_string_equal(all->cycle[0].from, "s0:1");
	assert_int_equal(all->starved_count, 1);
	assert_string_equal(all->starved[0].host, "");
	assert_string_equal(all->starved[0].output, "s0:1");
	assert_true(all->starved[0].stuck);
	assert_int_equal(all->starved[0].waited_ns, 7);
	assert_int_equal(all->pools, 2);
	assert_string_equal(all->pool[1].host, "h1");
	assert_int_equal(all->pool[1].came, 101);
	assert_int_equal(all->pool[1].left, 50);
	free_result(a);
	free_result(b);
	free_result(all);
}

UNIT_TEST(the_table_names_the_hosts_that_starve_in_any_part)
{
	struct run_result *a = new_result(), *b = new_result(), *all = new_result();
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	strcpy(run_result_add_starved(a)->input, "s0:0");
	strcpy(run_result_add_starved(a)->input, "s0:1");
	strcpy(run_result_add_starved(b)->host, "h7");
	add(all, a);
	add(all, b);
	add(all, a);
	assert_non_null(out);
	run_result_print_starved(all, out);
	fclose(out);
	assert_non_null(
		strstr(text, "  starved                1 host (h7), 4 queues of switches\n"));
	free(text);
	free_result(a);
	free_result(b);
	free_result(all);
}

/* Frames that wait in one process are in the sums of both, and so is traffic of edges. */
UNIT_TEST(releases_and_edges_add_up)
{
	struct run_result *part = new_result(), *all = new_result();
	struct run_sample *sample = run_result_add_sample(part);

	assert_non_null(sample);
	*sample = (struct run_sample){.accepted = 0.1,
		.released = 0.2,
		.edges = 0.05,
		.latency_ns = 10,
		.released_latency_ns = 40};
	part->accepted = 0.3;
	part->released = 0.25;
	part->edges.count = 1;
	part->edges.offered = 0.125;
	part->edges.accepted = 0.0625;
	histogram_record(&part->edges.network_ns, 7);
	histogram_record(&part->waited.waited_ns, 9);
	histogram_record(&part->waited.total_released_ns, 11);
	add(all, part);
	sample->released = 0.6;
	sample->released_latency_ns = 80;
	add(all, part);
	assert_true(all->released == 0.5 && all->edges.offered == 0.25);
	assert_true(all->edges.accepted == 0.125);
	assert_int_equal(all->edges.count, 2);
	assert_int_equal(all->edges.network_ns.sum, 14);
	assert_int_equal(all->waited.waited_ns.sum, 18);
	assert_int_equal(all->waited.total_released_ns.count, 2);
	assert_float_equal(all->sample[0].latency_ns, 10, 1e-9);
	assert_float_equal(all->sample[0].released, 0.8, 1e-9);
	assert_float_equal(all->sample[0].released_latency_ns, 70, 1e-9);
	assert_float_equal(all->sample[0].edges, 0.1, 1e-9);
	free_result(part);
	free_result(all);
}

UNIT_TEST(counts_add_up)
{
	struct run_result *part = new_result(), *all = new_result();

	part->packets.delivered = 5;
	part->lost = 1;
	part->out_of_order = 3;
	assert_int_equal(run_result_count(part, "stall_credit", 7), 0);
	add(all, part);
	add(all, part);
	assert_int_equal(all->packets.delivered, 10);
	assert_int_equal(all->lost, 2);
	assert_int_equal(all->out_of_order, 6);
	assert_int_equal(all->counters, 1);
	assert_int_equal(all->counter[0].value, 14);
	free_result(part);
	free_result(all);
}

UNIT_TEST(messages_that_arrive_more_often_than_they_left_are_a_surplus)
{
	struct run_result *run = new_result(), *before = new_result();

	run->messages.injected = 10;
	run->messages.delivered = 12;
	assert_int_equal(run_result_surplus(run, NULL), 2);
	before->messages.injected = 101;
	before->messages.delivered = 100;
	assert_int_equal(run_result_surplus(run, before), 1);
	/* A process that had sent messages has ended since. */
	before->messages.injected = 50;
	assert_int_equal(run_result_surplus(run, before), 2);
	run->messages.delivered = 9;
	assert_int_equal(run_result_surplus(run, before), 0);
	free_result(run);
	free_result(before);
}

UNIT_TEST(what_one_part_sent_and_another_received_is_not_pending)
{
	struct run_result *a = new_result(), *b = new_result(), *all = new_result();

	a->messages.generated = 100;
	a->messages.delivered = 40;
	a->messages.pending = 60;
	b->messages.generated = 50;
	b->messages.delivered = 105;
	b->messages.dropped = 2; /* never sent */
	add(all, a);
	add(all, b);
	assert_int_equal(all->messages.pending, 3);
	free_result(a);
	free_result(b);
	free_result(all);
}

/* One process has the sender, and the other the receiver. */
UNIT_TEST(entries_add_up_over_senders_and_receivers)
{
	struct run_result *a = new_result(), *b = new_result(), *all = new_result();
	struct run_entry *from = run_result_add_entry(a), *to = run_result_add_entry(b), *whole;
	uint64_t ns;

	assert_non_null(from);
	assert_non_null(to);
	from->finite = to->finite = from->ended = to->ended = true;
	from->continuous = to->continuous = true;
	a->batches = 2;
	b->batches = 3;
	from->generated = 8;
	from->offered = 0.5;
	from->batch[1].generated = 6;
	*run_entry_add_flow(from) = (struct run_flow){.from = "h1", .generated = 8};
	to->delivered = 8;
	to->accepted = 0.25;
	to->batch[1].delivered = 5;
	histogram_record(&to->network_ns, 70);
	histogram_record(&to->total_ns, 90);
	*run_entry_add_flow(to) = (struct run_flow){.from = "h1", .delivered = 8, .last_ns = 500};
	add(all, a);
	add(all, b);
	assert_int_equal(all->entries, 1);
	whole = &all->entry[0];
	assert_int_equal(whole->generated, 8);
	assert_int_equal(whole->delivered, 8);
	assert_true(whole->offered == 0.5 && whole->accepted == 0.25);
	assert_true(whole->continuous);
	assert_int_equal(whole->batch[1].generated, 6);
	assert_int_equal(whole->batch[1].delivered, 5);
	assert_int_equal(all->batches, 3);
	assert_int_equal(whole->network_ns.max, 70);
	assert_int_equal(whole->total_ns.max, 90);
	assert_int_equal(whole->flows, 1);
	assert_true(run_entry_completion(whole, &ns));
	assert_int_equal(ns, 500);
	free_result(a);
	free_result(b);
	free_result(all);
}

UNIT_TEST(a_latency_by_an_unknown_clock_is_null)
{
	struct run_result *run = new_result();
	json_t *json, *network, *total, *clocks;

	run->clocks_differ = true;
	run->clocks.untimed = 1;
	histogram_record(&run->total_ns, 700);
	assert_non_null(run_result_add_sample(run));
	json = run_result_json(run, NULL);
	network = json_object_get(json_object_get(json, "latency_ns"), "network");
	total = json_object_get(json_object_get(json, "latency_ns"), "total");
	assert_int_equal(json_object_size(network), json_object_size(total));
	assert_true(json_is_null(json_object_get(network, "mean")));
	assert_true(json_is_null(json_object_get(network, "p999")));
	/* It could be measured between hosts of this machine. */
	assert_int_equal(json_integer_value(json_object_get(total, "max")), 700);
	clocks = json_object_get(json, "clocks");
	assert_true(json_is_null(json_object_get(clocks, "bound_ns")));
	assert_true(json_is_null(json_object_get(clocks, "mean_bound_ns")));
	assert_int_equal(json_integer_value(json_object_get(clocks, "frames_untimed")), 1);
	assert_true(json_is_null(
		json_object_get(json_array_get(json_object_get(json, "series"), 0), "latency_ns")));
	json_decref(json);
	free_result(run);
}

UNIT_TEST(the_bound_of_clocks_is_the_greatest_of_all_parts)
{
	struct run_result *a = new_result(), *b = new_result(), *all = new_result();
	json_t *json, *clocks;

	a->clocks = (struct run_clocks){.timed = 3, .bound_ns = 900, .bounds_ns = 1000};
	b->clocks = (struct run_clocks){.timed = 1, .bound_ns = 200, .bounds_ns = 200};
	run_result_count(b, "host_clock_steps", 2);
	add(all, a);
	add(all, b);
	assert_non_null(run_result_add_sample(all));
	json = run_result_json(all, NULL);
	assert_null(json_object_get(json, "clocks"));
	json_decref(json);
	all->clocks_differ = true;
	json = run_result_json(all, NULL);
	clocks = json_object_get(json, "clocks");
	assert_int_equal(json_integer_value(json_object_get(clocks, "bound_ns")), 900);
	assert_true(json_real_value(json_object_get(clocks, "mean_bound_ns")) == 300);
	assert_int_equal(json_integer_value(json_object_get(clocks, "frames_timed")), 4);
	assert_int_equal(json_integer_value(json_object_get(clocks, "frames_untimed")), 0);
	assert_int_equal(json_integer_value(json_object_get(clocks, "steps")), 2);
	/* All clocks are known, so samples have latencies. */
	assert_true(json_is_real(
		json_object_get(json_array_get(json_object_get(json, "series"), 0), "latency_ns")));
	json_decref(json);
	free_result(a);
	free_result(b);
	free_result(all);
}

UNIT_TEST(histograms_are_in_the_document_only_if_asked_for)
{
	struct run_result *run = new_result();
	json_t *json = run_result_json(run, json_pack("{s:{s:b}}", "measure", "latencies", 0));
	json_t *total, *expected;

	total = json_object_get(json_object_get(json, "latency_ns"), "total");
	assert_null(json_object_get(total, "histogram"));
	json_decref(json);
	histogram_record(&run->total_ns, 100);
	histogram_record(&run->total_ns, 1000);
	histogram_record(&run->total_ns, 1001);
	histogram_record(&run->total_ns, 5000);
	json = run_result_json(run, json_pack("{s:{s:b}}", "measure", "latencies", 1));
	total = json_object_get(json_object_get(json, "latency_ns"), "total");
	/* 1000 and 1001 are in the step 1000 to 1007. The last step ends at the maximum value. */
	total = json_object_get(total, "histogram");
	expected = json_loads("[[100,1],[1007,2],[5000,1]]", 0, NULL);
	assert_true(json_equal(total, expected));
	json_decref(expected);
	json_decref(json);
	free_result(run);
}

UNIT_TEST(shares_of_the_fabric_add_up)
{
	struct run_result *part = new_result(), *all = new_result();

	part->accepted = 0.5;
	add(all, part);
	part->accepted = 0.25;
	add(all, part);
	assert_true(all->accepted > 0.749 && all->accepted < 0.751);
	free_result(part);
	free_result(all);
}

UNIT_TEST(the_measuring_is_from_the_first_beginning_to_the_last_end)
{
	static const uint64_t from_ns[] = {7, 0, 5}, to_ns[] = {100, 300, 200};
	struct run_result *part = new_result(), *all = new_result(), *late = new_result();

	for (unsigned i = 0; i < 3; i++) {
		part->from_ns = from_ns[i];
		part->to_ns = to_ns[i];
		add(all, part);
		if (i != 1)
			add(late, part);
	}
	assert_int_equal(all->from_ns, 0);
	assert_int_equal(all->to_ns, 300);
	assert_int_equal(late->from_ns, 5);
	free_result(part);
	free_result(all);
	free_result(late);
}

/* --- reasons --- */

UNIT_TEST(reasons_of_parts_are_those_of_the_whole_once_each)
{
	struct run_result *a = new_result(), *b = new_result(), *all = new_result();

	run_result_add_reason(a, true, "a %s", "signal");
	run_result_add_reason(b, true, "a signal");
	add(all, a);
	add(all, b);
	assert_true(all->incomplete);
	assert_int_equal(all->reasons, 1);
	assert_string_equal(all->reason[0].text, "a signal");
	assert_int_equal(run_result_exit(all), EXIT_DONE);
	run_result_add_reason(b, false, "another");
	add(all, b);
	assert_int_equal(all->reasons, 2);
	assert_int_equal(run_result_exit(all), EXIT_BAD_ANSWER);
	free_result(a);
	free_result(b);
	free_result(all);
}

UNIT_TEST(a_run_that_a_signal_ended_is_interrupted_unless_it_was_bad_before)
{
	struct run_result *run = new_result();

	run_result_add_reason(run, true, RUN_REASON_SIGNAL);
	snprintf(run->nothing, sizeof(run->nothing), "no message was due");
	assert_int_equal(run_result_exit(run), EXIT_INTERRUPTED);
	run->lost = 1;
	assert_int_equal(run_result_exit(run), EXIT_BAD_ANSWER);
	free_result(run);
}

UNIT_TEST(a_loop_that_is_away_for_longer_than_the_bound_is_a_reason)
{
	struct run_result *run = new_result();

	run_result_judge_stall(run, "s0", RUN_STALL_MAX_NS);
	assert_false(run->incomplete);
	run_result_judge_stall(run, "s0", RUN_STALL_MAX_NS + 1);
	assert_true(run->incomplete);
	assert_int_equal(run_result_exit(run), EXIT_BAD_ANSWER);
	assert_int_equal(strncmp(run->reason[0].text,
				 "s0: the loop was stopped or had no CPU for 0.50 s", 49),
		0);
	free_result(run);
}

UNIT_TEST(messages_that_do_not_arrive_are_a_reason)
{
	struct run_result *run = new_result();

	run->messages.generated = 100; /* not sent in time: no loss */
	run->messages.injected = 10;
	run->messages.delivered = 7;
	run->behind = 1; /* lost at a TAP: it has arrived */
	run_result_judge_under_way(run, 2);
	assert_false(run->incomplete);
	run_result_judge_under_way(run, 1);
	assert_int_equal(run_result_exit(run), EXIT_BAD_ANSWER);
	assert_string_equal(run->reason[0].text, "2 messages left their hosts but did not arrive");
	free_result(run);
}

UNIT_TEST(the_document_has_the_reasons)
{
	struct run_result *run = new_result();
	json_t *json;

	run->wall.stall_ns = 70;
	run_result_add_reason(run, false, "s0 is gone");
	json = run_result_json(run, NULL);
	assert_true(json_is_true(json_object_get(json, "incomplete")));
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(json, "incomplete_reasons"), 0)),
		"s0 is gone");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(json, "wall"), "stall_ns")), 70);
	json_decref(json);
	free_result(run);
}

/* --- many samples --- */

UNIT_TEST(samples_keep_their_values_while_their_room_grows)
{
	struct run_result *run = new_result(), *copy = new_result();

	for (unsigned i = 0; i < 1000; i++) {
		struct run_sample *sample = run_result_add_sample(run);

		assert_non_null(sample);
		assert_int_equal(sample->t_ns, 0);
		sample->t_ns = i;
	}
	assert_int_equal(run_result_copy_samples(copy, run), 0);
	assert_int_equal(copy->samples, 1000);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(copy->sample[i].t_ns, i);
	free_result(run);
	free_result(copy);
}

UNIT_TEST(a_signal_ends_a_document_but_not_that_of_a_run_that_it_ended)
{
	struct run_result *run = new_result();
	atomic_bool stop = false;
	json_t *json;
	FILE *out = tmpfile();

	assert_non_null(out);
	assert_non_null(run_result_add_sample(run));
	run_result_heed(run, &stop);
	json = run_result_json(run, NULL);
	assert_non_null(json);
	assert_int_equal(run_result_dump(run, json, out), 0);
	atomic_store(&stop, true);
	assert_int_equal(run_result_dump(run, json, out), -EINTR);
	json_decref(json);
	assert_null(run_result_json(run, NULL));
	run_result_heed(run, &stop);
	json = run_result_json(run, NULL);
	assert_non_null(json);
	json_decref(json);
	fclose(out);
	free_result(run);
}

UNIT_TEST(a_long_document_is_written_whole)
{
	struct run_result *run = new_result();
	char *text = malloc(50001);
	json_t *json, *read;
	FILE *out = tmpfile();

	assert_non_null(out);
	assert_non_null(text);
	memset(text, 'x', 50000);
	text[50000] = '\0';
	json = json_pack("{s:s,s:[i,i],s:s}", "one", text, "two", 1, 2, "three", text);
	assert_int_equal(run_result_dump(run, json, out), 0);
	rewind(out);
	read = json_loadf(out, 0, NULL);
	assert_true(json_equal(json, read));
	json_decref(read);
	json_decref(json);
	free(text);
	fclose(out);
	free_result(run);
}

UNIT_TEST(something_else_is_refused)
{
	struct run_result *all = new_result();
	json_t *other = json_pack("{s:s}", "weft", "lab/1");

	assert_int_equal(run_result_add_part(all, other), -EINVAL);
	json_decref(other);
	free_result(all);
}

UNIT_TEST(a_bucket_out_of_range_is_refused)
{
	struct run_result *part = new_result(), *all = new_result();
	json_t *text = run_result_part_json(part);

	json_array_append_new(json_object_get(json_object_get(text, "total_ns"), "buckets"),
		json_pack("[I,I]", (json_int_t)HISTOGRAM_BUCKETS, (json_int_t)1));
	assert_int_equal(run_result_add_part(all, text), -EINVAL);
	json_decref(text);
	free_result(part);
	free_result(all);
}
