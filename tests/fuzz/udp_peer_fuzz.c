/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Headers of datagrams of a UDP link, from a sender with rising numbers and from forged addresses.
 * The sender's next datagram is always accepted, so forged ones cannot end the link. Numbers of the
 * current life only rise, and exactly the skipped numbers count as missing.
 *
 * Input: records of a kind, a life and a number. */

#include <string.h>

#include "fuzz.h"
#include "port/port_udp.h"

#define RECORD 6
#define LIFE   0x80000000u /* the sender's; others have small numbers, or send it as well */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct udp_peer peer = {.life.name = 0};
	uint32_t sent = 0, missing;

	for (; size >= RECORD; data += RECORD, size -= RECORD) {
		const struct udp_life before = peer.life;
		uint32_t number, life = data[1];
		enum udp_verdict verdict;

		memcpy(&number, data + 2, sizeof(number));
		if (data[0] % 2 == 0) {
			sent += 1 + number % 1000;
			verdict = udp_peer_take(&peer, LIFE, sent, &missing);
			REQUIRE(verdict == UDP_TAKEN);
			REQUIRE(before.name != LIFE || missing == sent - before.received - 1);
		} else {
			/* Frames may come again; the next numbers are unknown. */
			if (life == 1 && sent > 0) {
				life = LIFE;
				number = 1 + number % sent;
			}
			verdict = udp_peer_take(&peer, life, number, &missing);
			REQUIRE(life != 0 || verdict == UDP_FOREIGN);
			REQUIRE(verdict == UDP_TAKEN ||
				memcmp(&before, &peer.life, sizeof(before)) == 0);
		}
		REQUIRE(verdict != UDP_TAKEN || before.name != peer.life.name ||
			(int32_t)(peer.life.received - before.received) > 0);
	}
	return 0;
}
