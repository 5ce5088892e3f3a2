/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_filter.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "wire/frame.h"

#define SPACES       " \t\n"
#define PACKET_BYTES 65535
#define TEXT_MAX     2048 /* a text plus what is_start() appends */
#define LINE_MAX     72   /* maximum length of a text in a message */
#define BEFORE_MAX   48   /* maximum length of the text before the error */

/* Sets "--filter 'TEXT': REASON, at character 5: 'WORD'", with a caret below that position. */
static int refuse(struct error *error, const char *option, const char *text, const char *at,
	const char *reason)
{
	int word = (int)strcspn(at, SPACES), before = (int)(at - text);
	char place[64] = "the end";

	if (word > 0)
		snprintf(place, sizeof(place), "character %d: '%.*s'", before + 1,
			word < 40 ? word : 40, at);
	before = before < BEFORE_MAX ? before : BEFORE_MAX;
	return error_set(error, EINVAL, "%s '%.100s': %.200s, at %s\n  %.*s\n  %*s", option, text,
		reason, place, LINE_MAX, at - before, before + 1, "^");
}

/* --- packets --- */

static bool compiles(pcap_t *pcap, struct bpf_program *program, const char *text)
{
	return pcap_compile(pcap, program, text, 1, PCAP_NETMASK_UNKNOWN) == 0;
}

/* Returns whether the first 'bytes' of a text could start an expression. */
static bool is_start(pcap_t *pcap, const char *text, size_t bytes)
{
	static const char *const rest[] = {
		"", " ip", " 1", " 10.0.0.1", " host 10.0.0.1", " = 1", "] = 1"};
	char whole[TEXT_MAX];
	struct bpf_program program;
	unsigned open = 0;

	for (size_t i = 0; i < bytes; i++)
		open += text[i] == '(' ? 1 : text[i] == ')' && open > 0 ? -1u : 0;
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		int used = snprintf(whole, sizeof(whole), "%.*s%s", (int)bytes, text, rest[i]);

		for (unsigned k = 0; k < open && (size_t)used + 1 < sizeof(whole); k++)
			whole[used++] = ')';
		whole[used] = '\0';
		if (compiles(pcap, &program, whole)) {
			pcap_freecode(&program);
			return true;
		}
	}
	return false;
}

/* Returns the position of an error. libpcap does not report it, but may quote the word. */
static const char *find_place(pcap_t *pcap, const char *text)
{
	const char *quoted = strchr(pcap_geterr(pcap), '\''), *found, *at;
	char word[64];

	if (quoted != NULL && sscanf(quoted, "'%63[^']'", word) == 1 &&
		(found = strstr(text, word)) != NULL)
		return found;
	for (at = text + strspn(text, SPACES); *at != '\0'; at += strspn(at, SPACES)) {
		size_t word_bytes = strcspn(at, SPACES);

		if (!is_start(pcap, text, (size_t)(at - text) + word_bytes))
			break;
		at += word_bytes;
	}
	return at;
}

static int refuse_packets(pcap_t *pcap, const char *text, struct error *error)
{
	static const char prefix[] = "can't parse filter expression: ";
	char reason[PCAP_ERRBUF_SIZE];
	const char *words = pcap_geterr(pcap);

	if (strncmp(words, prefix, sizeof(prefix) - 1) == 0)
		words += sizeof(prefix) - 1;
	snprintf(reason, sizeof(reason), "%s", words);
	return refuse(error, "--filter", text, find_place(pcap, text), reason);
}

static int parse_packets(struct capture_filter *filter, const char *text, struct error *error)
{
	pcap_t *pcap = pcap_open_dead(DLT_RAW, PACKET_BYTES);
	struct bpf_program program;
	int result = 0;

	if (pcap == NULL)
		return error_set(error, ENOMEM, "--filter: out of memory");
	if (!compiles(pcap, &program, text)) {
		result = refuse_packets(pcap, text, error);
	} else {
		capture_filter_set_kinds(filter, 1u << FRAME_DATA);
		if (program.bf_len > CAPTURE_FILTER_STEPS)
			result = error_set(error, EINVAL,
				"--filter '%.200s' needs %u BPF instructions; at most %d are "
				"allowed",
				text, program.bf_len, CAPTURE_FILTER_STEPS);
		else
			memcpy(filter->program, program.bf_insns,
				program.bf_len * sizeof(filter->program[0]));
		filter->steps = (uint8_t)(result == 0 ? program.bf_len : 0);
		pcap_freecode(&program);
	}
	pcap_close(pcap);
	return result;
}

/* --- where --- */

static const char *const kinds[FRAME_KIND_COUNT] = {
	"", "data", "credit", "arn", "ack", "cn", "hello", "scout", "mapper", "flow", "clock"};

struct word {
	const char *text; /* whole text, for messages */
	const char *at;
	char value[TEXT_MAX];
};

static int refuse_word(const struct word *word, const char *reason, struct error *error)
{
	return refuse(error, "--where", word->text, word->at, reason);
}

static int vc_of(const char *name)
{
	uint64_t vc;

	return quantity_number(name, 0, FRAME_VCS_MAX - 1, &vc) ? (int)vc : -1;
}

static int kind_of(const char *name)
{
	for (unsigned kind = 1; kind < FRAME_KIND_COUNT; kind++)
		if (strcmp(kinds[kind], name) == 0)
			return (int)kind;
	return -1;
}

/* Returns the set of the members of a comma-separated list, or -1 if one of them is unknown. */
static int parse_set(struct word *word, int (*number_of)(const char *name))
{
	char *rest = word->value, *name;
	int set = 0;

	while ((name = strsep(&rest, ",")) != NULL) {
		int number = number_of(name);

		if (number < 0)
			return -1;
		set |= 1 << number;
	}
	return set;
}

static int parse_host(struct word *word, const struct topology *topology,
	void (*take)(struct capture_filter *, uint16_t), struct capture_filter *filter,
	struct error *error)
{
	int32_t host = topology != NULL ? topology_find_host(topology, word->value) : -1;

	if (host < 0 || host >= FRAME_HOST_NONE)
		return refuse_word(word, "expected a host name", error);
	take(filter, (uint16_t)host);
	return 0;
}

static bool is_key(struct word *word, const char *key)
{
	size_t bytes = strlen(key);

	if (strncmp(word->at, key, bytes) != 0)
		return false;
	snprintf(word->value, sizeof(word->value), "%.*s", (int)strcspn(word->at + bytes, SPACES),
		word->at + bytes);
	return true;
}

static int parse_word(struct capture_filter *filter, struct word *word,
	const struct topology *topology, struct error *error)
{
	int set;

	if (is_key(word, "src="))
		return parse_host(word, topology, capture_filter_set_source, filter, error);
	if (is_key(word, "dst="))
		return parse_host(word, topology, capture_filter_set_destination, filter, error);
	if (is_key(word, "vc=")) {
		set = parse_set(word, vc_of);
		if (set < 0)
			return refuse_word(
				word, "expected VCs from 0 to 15, such as vc=0,1", error);
		filter->vcs &= (uint16_t)set;
		return 0;
	}
	if (is_key(word, "kind=")) {
		set = parse_set(word, kind_of);
		if (set < 0)
			return refuse_word(word,
				"expected kinds of data, credit, arn, ack, cn, hello, scout, "
				"mapper, flow, clock",
				error);
		capture_filter_set_kinds(filter, (uint16_t)set);
		return 0;
	}
	if (!is_key(word, "dropped") || word->value[0] != '\0')
		return refuse_word(word, "expected vc=, kind=, src=, dst= or dropped", error);
	filter->dropped = true;
	return 0;
}

int capture_expression_parse(struct capture_filter *filter, const char *packets, const char *where,
	const struct topology *topology, struct error *error)
{
	struct word word = {.text = where, .at = where};
	int result = 0;

	capture_filter_init(filter);
	if ((packets != NULL && strlen(packets) > TEXT_MAX / 2) ||
		(where != NULL && strlen(where) > TEXT_MAX / 2))
		return error_set(error, EINVAL,
			"--filter and --where must have at most %d "
			"characters",
			TEXT_MAX / 2);
	snprintf(filter->text, sizeof(filter->text), "%s%s%s%s%s%s%s",
		packets != NULL ? "--filter '" : "", packets != NULL ? packets : "",
		packets != NULL ? "'" : "", packets != NULL && where != NULL ? " " : "",
		where != NULL ? "--where '" : "", where != NULL ? where : "",
		where != NULL ? "'" : "");
	if (packets != NULL)
		result = parse_packets(filter, packets, error);
	while (result == 0 && where != NULL && *(word.at += strspn(word.at, SPACES)) != '\0') {
		result = parse_word(filter, &word, topology, error);
		word.at += strcspn(word.at, SPACES);
	}
	return result;
}
