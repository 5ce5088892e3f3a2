/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Constants of the pcapng format (draft-ietf-opsawg-pcapng) for the code that writes, reads and
 * joins pcapng files. */

#define PCAPNG_ORDER_MAGIC 0x1A2B3C4Du
#define PCAPNG_BLOCK_MIN   12u /* block type, and the length before and after the body */

enum pcapng_block {
	PCAPNG_BLOCK_SECTION = 0x0A0D0D0A,
	PCAPNG_BLOCK_INTERFACE = 1,
	PCAPNG_BLOCK_SIMPLE = 3,
	PCAPNG_BLOCK_COUNTS = 5,
	PCAPNG_BLOCK_PACKET = 6,
};

/* The meaning of an option code depends on the block. */
enum pcapng_option {
	PCAPNG_OPTION_END = 0,
	PCAPNG_OPTION_COMMENT = 1,
	PCAPNG_OPTION_NAME = 2,        /* interface block */
	PCAPNG_OPTION_FLAGS = 2,       /* packet block */
	PCAPNG_OPTION_APPLICATION = 4, /* section block */
	PCAPNG_OPTION_RECEIVED = 4,    /* counts block */
	PCAPNG_OPTION_DROPPED = 5,
	PCAPNG_OPTION_SPEED = 8, /* interface block, like the following */
	PCAPNG_OPTION_RESOLUTION = 9,
	PCAPNG_OPTION_FILTER = 11, /* one byte (0: the filter is text), then the text */
	PCAPNG_OPTION_OFFSET = 14,
};
