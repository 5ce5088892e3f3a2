/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads OpenSM options files. Accepted values are in range. Refused input gives a one-line reason
 * that starts with the file name. */

#include <string.h>

#include "experiment/run/opensm_cc.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opensm_cc cc;
	struct error error = {""};

	if (opensm_cc_parse((const char *)data, size, "fuzz", &cc, &error) < 0) {
		REQUIRE(strncmp(error.text, "fuzz:", 5) == 0);
		REQUIRE(strchr(error.text, '\n') == NULL);
		return 0;
	}
	REQUIRE(!cc.has_threshold || cc.threshold <= 15);
	REQUIRE(!cc.has_packet_size || cc.packet_bytes <= 255 * 64);
	REQUIRE(!cc.has_marking_rate || cc.marking_rate <= UINT16_MAX);
	REQUIRE(!cc.has_timer || cc.timer_ps >= PS_PER_US);
	REQUIRE(!cc.has_increase || cc.increase < CC_TABLE_ENTRIES);
	REQUIRE(!cc.has_min || cc.min < CC_TABLE_ENTRIES);
	REQUIRE(!cc.has_table || (cc.table.count >= 1 && cc.table.count <= CC_TABLE_ENTRIES));
	return 0;
}
