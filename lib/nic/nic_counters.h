/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The counters of an interface. The enum and the names come from one list, so they cannot diverge.
 * Telemetry, 'weft lab status' and results use these names.
 *
 * Invariants, checked by nic_check():
 *     messages_queued = messages_acked + messages_failed + currently held
 *     frames_injected = frames_acked + frames_abandoned + in flight   (first transmissions only)
 *     frames_received = frames_delivered + the receive discards + itb_absorbed + currently held
 *     itb_absorbed    = itb_reinjected + itb_abandoned + currently in transit */

#define NIC_COUNTERS(X)                                                                            \
	/* The host's messages. */                                                                 \
	X(MESSAGES_QUEUED, "messages_queued")                                                      \
	X(MESSAGES_REFUSED, "messages_refused")         /* -EAGAIN: no room */                     \
	X(MESSAGES_UNREACHABLE, "messages_unreachable") /* no route */                             \
	X(MESSAGES_SILENT, "messages_silent") /* -EHOSTDOWN: no room, and the peer is silent */    \
	X(MESSAGES_INJECTED, "messages_injected") /* first frame or request was sent */            \
	X(MESSAGES_ACKED, "messages_acked")                                                        \
	X(MESSAGES_FAILED, "messages_failed") /* given up; reported to the host */                 \
	X(MESSAGES_DELIVERED, "messages_delivered")                                                \
	/* Outgoing data frames. */                                                                \
	X(FRAMES_INJECTED, "frames_injected")                                                      \
	X(FRAMES_RETRANSMITTED, "frames_retransmitted")                                            \
	X(FRAMES_ACKED, "frames_acked")                                                            \
	X(FRAMES_ABANDONED, "frames_abandoned") /* in flight when their flow ended */              \
	X(BYTES_INJECTED, "bytes_injected")     /* payload of first transmissions */               \
	X(BYTES_RETRANSMITTED, "bytes_retransmitted")                                              \
	X(MESSAGES_DIVERTED, "messages_diverted") /* moved to the adapted-flow channel */          \
	X(FRAMES_ADAPTED, "frames_adapted")       /* sent on the adapted-flow channel */           \
	X(ROUTE_CHANGES, "route_changes") /* number of times that all routes were replaced */      \
	X(MESSAGES_REROUTED, "messages_rerouted") /* in flight when their routes changed */        \
	X(MESSAGES_STRANDED, "messages_stranded") /* waiting because there is no route */          \
	X(STALL_CREDIT, "stall_credit")           /* a ready frame whose VC had no credits */      \
	/* Incoming data frames. */                                                                \
	X(FRAMES_RECEIVED, "frames_received")                                                      \
	X(FRAMES_DELIVERED, "frames_delivered")                                                    \
	X(BYTES_DELIVERED, "bytes_delivered")   /* payload */                                      \
	X(FRAMES_REORDERED, "frames_reordered") /* held until earlier frames arrived */            \
	X(DISCARD_DUPLICATE, "discard_duplicate")                                                  \
	X(DISCARD_BEYOND_WINDOW, "discard_beyond_window")                                          \
	X(DISCARD_NO_WINDOW, "discard_no_window") /* all resequencing windows are in use */        \
	X(DISCARD_OLD_FLOW, "discard_old_flow") /* from a flow that ended or never started here */ \
	X(DISCARD_FLOW_END, "discard_flow_end") /* held when their flow ended */                   \
	X(DISCARD_PAYLOAD_CRC, "discard_payload_crc")                                              \
	X(DISCARD_DATA_TAG, "discard_data_tag")           /* missing or wrong tag */               \
	X(DISCARD_ROUTING_ERROR, "discard_routing_error") /* cursor not at a host element */       \
	X(DISCARD_MISROUTED, "discard_misrouted")         /* for another host */                   \
	X(DISCARD_SOURCE, "discard_source")               /* nonexistent source host */            \
	X(DISCARD_VC, "discard_vc")                       /* VC that this link does not have */    \
	X(DISCARD_CREDIT_VIOLATION, "discard_credit_violation") /* arrived without credit */       \
	X(DISCARD_DRAINED, "discard_drained")                   /* held at the end of the run */   \
	X(DISCARD_END_MARK, "discard_end_mark") /* re-injection overtook reception in transit */   \
	/* Data frames in transit (itb.h). */                                                      \
	X(ITB_ABSORBED, "itb_absorbed")                                                            \
	X(ITB_REINJECTED, "itb_reinjected")                                                        \
	X(ITB_DISCARDED, "itb_discarded") /* the pool was full */                                  \
	X(ITB_ABANDONED, "itb_abandoned") /* the link went down, or the run ended */               \
	X(ITB_MESSAGES, "itb_messages")   /* messages whose last frame was absorbed */             \
	X(ITB_OVERTAKEN, "itb_overtaken") /* re-injection overtook reception; no end mark */       \
	X(ITB_CONTROL, "itb_control")     /* control frames forwarded */                           \
	X(ITB_CONTROL_DISCARDED, "itb_control_discarded")                                          \
	/* Acknowledgements and recovery. */                                                       \
	X(ACKS_SENT, "acks_sent")                                                                  \
	X(ACKS_RECEIVED, "acks_received")                                                          \
	X(ACKS_STALE, "acks_stale") /* below the last acknowledged number */                       \
	X(ACKS_FOREIGN,                                                                            \
		"acks_foreign") /* for a different flow or session, or for frames never sent */    \
	X(AGAIN_SENT, "again_sent")                                                                \
	X(AGAIN_RECEIVED, "again_received")                                                        \
	X(GO_BACKS, "go_backs")                                                                    \
	X(RETRY_TIMEOUTS, "retry_timeouts")                                                        \
	X(GIVE_UPS, "give_ups")           /* peers without progress for too long */                \
	X(FLOW_RESTARTS, "flow_restarts") /* the peer lost its state */                            \
	X(ASKS_SENT, "asks_sent")         /* requests for the start of a flow */                   \
	X(OFFERS_SENT, "offers_sent")     /* answers to requests and to frames of unknown flows */ \
	X(ASKS_FOREIGN, "asks_foreign")   /* for a flow in use or on offer */                      \
	X(OFFERS_FOREIGN, "offers_foreign") /* not an answer to frames in flight */                \
	/* Control. */                                                                             \
	X(CREDITS_RECEIVED, "credits_received")                                                    \
	X(ARNS_RECEIVED, "arns_received") /* set a mark */                                         \
	X(ARNS_REFUSED, "arns_refused")   /* not from a switch, unknown root, or too many */       \
	X(CNS_SENT, "cns_sent")           /* notifications in answer to data frames */             \
	X(CNS_LOST, "cns_lost")           /* answer queue was full */                              \
	X(CNS_RECEIVED, "cns_received")   /* answer to an outstanding frame */                     \
	X(CNS_STALE, "cns_stale")         /* answer to a frame already acknowledged or answered */ \
	X(CNS_FOREIGN, "cns_foreign")     /* answer to no frame that was sent */                   \
	X(EXTENSION_BAD, "extension_bad") /* data with an invalid latency extension */             \
	/* Clocks of other machines (peer_clocks.h). */                                            \
	X(CLOCK_ASKS_SENT, "clock_asks_sent")                                                      \
	X(CLOCK_ANSWERS_SENT, "clock_answers_sent")                                                \
	X(CLOCK_ANSWERS_TAKEN, "clock_answers_taken")                                              \
	X(CLOCK_STEPS, "clock_steps") /* answers that contradicted earlier ones */                 \
	X(CLOCKS_REFUSED,                                                                          \
		"clocks_refused") /* answers without a question, or too many questions */          \
	X(HELLOS_RECEIVED, "hellos_received")                                                      \
	X(CONTROL_BAD, "control_bad")         /* undecodable payload */                            \
	X(CONTROL_IGNORED, "control_ignored") /* frame kind that interfaces do not use */          \
	X(AGENT_ASTRAY, "agent_astray")       /* mapper frame that is not for an agent here */

enum nic_counter {
#define X(id, text) NIC_##id,
	NIC_COUNTERS(X)
#undef X
		NIC_COUNTER_COUNT
};

/* Returns a name such as "messages_queued", or NULL if out of range. */
const char *nic_counter_name(unsigned counter);
