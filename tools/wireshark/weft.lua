-- SPDX-License-Identifier: BSD-3-Clause
-- Copyright (c) 2026, the Weft developers
--
-- Wireshark dissector of the Weft frame (EtherType 0x88B5). It follows lib/wire/frame.h, latency.h,
-- control.h, cn.h and mapper_message.h; docs/reference/wire-format.md has the same in words. Needs Wireshark 3.6 or later.
--
--   tshark -X lua_script:tools/wireshark/weft.lua -r FILE -Y 'weft.vc == 1'
--   tools/install-dissector        installs it

local ETHERTYPE = 0x88B5
local VERSION, VERSION_MIN = 3, 2 -- 2 differs in the addresses alone
local ETHERNET_BYTES, FRAME_BYTES_MIN = 14, 60
local SEAL_BYTES = 16
local DATA_TAG_BYTES = 8
local HEADER_BYTES = 32
local ROUTE_MAX, ROUTE_USUAL = 64, 32
local VCS_MAX = 16
local HOST_NONE = 0xFFFF
local LATENCY_BYTES = 40
local FLOWS_MAX, PATH_MAX, PATH_UNKNOWN = 8, 15, 0xFF

local kinds = {
	[1] = "data", [2] = "credit", [3] = "arn", [4] = "ack",
	[5] = "cn", [6] = "hello", [7] = "scout", [8] = "mapper", [9] = "flow",
	[10] = "clock",
}
local KIND_FLOW, KIND_CLOCK = 9, 10
local KIND_DATA, KIND_CREDIT, KIND_ARN, KIND_ACK, KIND_HELLO, KIND_SCOUT, KIND_MAPPER = 1, 2, 3, 4, 6, 7, 8
local KIND_CN = 5
local sealed_kinds = { [2] = true, [3] = true, [4] = true, [5] = true, [6] = true, [9] = true, [10] = true }

local flow_steps = { [1] = "ask", [2] = "offer" }
local clock_steps = { [1] = "ask", [2] = "answer" }
local element_types = { [1] = "host", [2] = "itb", [3] = "agent", [4] = "step", [9] = "+64", [10] = "+128", [11] = "+192" }
for layer = 1, 15 do
	element_types[16 + layer] = "layer " .. layer
end
local TYPE_AGENT, TYPE_STEP, TYPE_HIGH, TYPE_HIGH_MAX, TYPE_LAYER = 3, 4, 9, 11, 16
local STEPS_MAX = 2
local device_kinds = { [0] = "switch", [1] = "interface" }

local MAPPER_ENVELOPE_BYTES, MAPPER_TAG_BYTES = 32, 16
local mapper_types = {
	[1] = "probe", [2] = "reply", [3] = "table", [4] = "phase", [5] = "status",
	[6] = "heartbeat", [7] = "report", [8] = "acknowledge", [9] = "read", [10] = "image",
}
local mapper_commands = { [1] = "pause", [2] = "commit", [3] = "resume", [4] = "abort" }
local mapper_stages = { [0] = "none", [1] = "parts", [2] = "ready", [3] = "refused" }

local weft = Proto("weft", "Weft interconnect")

-- Fields -------------------------------------------------------------------------------------

local f = {
	fabric = ProtoField.uint16("weft.fabric", "Number of the fabric", base.HEX),
	version = ProtoField.uint8("weft.version", "Version"),
	kind = ProtoField.uint8("weft.kind", "Kind", base.DEC, kinds),
	src = ProtoField.uint16("weft.src", "Source host"),
	dst = ProtoField.uint16("weft.dst", "Destination host"),
	length = ProtoField.uint16("weft.length", "Payload length"),
	route_length = ProtoField.uint8("weft.route_length", "Route length"),
	sl = ProtoField.uint8("weft.sl", "Service level"),
	msg = ProtoField.uint32("weft.msg", "Message"),
	flow = ProtoField.uint16("weft.flow", "Flow"),
	seq = ProtoField.uint32("weft.seq", "Frame sequence number"),
	payload_crc = ProtoField.uint32("weft.payload_crc", "Payload CRC-32C", base.HEX),
	payload_crc_ok = ProtoField.bool("weft.payload_crc.ok", "Payload CRC correct"),
	injected = ProtoField.uint32("weft.injected", "Injected (ns, modulo 2^32)"),
	vc = ProtoField.uint8("weft.vc", "VC"),
	vc_original = ProtoField.uint8("weft.vc_original", "Original VC"),
	cursor = ProtoField.uint8("weft.cursor", "Cursor"),
	flags = ProtoField.uint8("weft.flags", "Flags", base.HEX),
	adapted = ProtoField.bool("weft.adapted", "Adapted", 8, nil, 0x01),
	fecn = ProtoField.bool("weft.fecn", "FECN", 8, nil, 0x02),
	becn = ProtoField.bool("weft.becn", "BECN", 8, nil, 0x04),
	tail = ProtoField.bool("weft.tail", "Last frame of its message", 8, nil, 0x08),
	latency_recording = ProtoField.bool("weft.latency_recording", "Latency extension follows the route", 8, nil, 0x10),
	end_mark = ProtoField.bool("weft.end_mark", "Message complete when sent", 8, nil, 0x20),
	crc = ProtoField.uint16("weft.crc", "Header CRC-16", base.HEX),
	crc_ok = ProtoField.bool("weft.crc.ok", "Header CRC correct"),
	route = ProtoField.string("weft.route", "Route"),
	element = ProtoField.uint8("weft.element", "Element", base.HEX),
	element_port = ProtoField.uint8("weft.element.port", "Output port", base.DEC, nil, 0x3F),
	element_adaptive = ProtoField.bool("weft.element.adaptive", "May be replaced", 8, nil, 0x40),
	element_type = ProtoField.uint8("weft.element.type", "Interface type", base.DEC, element_types, 0x7F),
	element_used = ProtoField.bool("weft.element.used", "Used already"),
	payload = ProtoField.bytes("weft.payload", "Payload"),
	padding = ProtoField.bytes("weft.padding", "Padding"),
	data_tag = ProtoField.bytes("weft.data_tag", "Tag of the data"),
	seal_counter = ProtoField.uint64("weft.seal.counter", "Counter of the seal"),
	seal_tag = ProtoField.bytes("weft.seal.tag", "Tag of the seal"),

	credit_session = ProtoField.uint32("weft.credit.session", "Session", base.HEX),
	credit_peer_session = ProtoField.uint32("weft.credit.peer_session", "Peer's session", base.HEX),
	credit_vcs = ProtoField.uint8("weft.credit.vcs", "VCs"),
	credit_vc = ProtoField.uint8("weft.credit.vc", "VC"),
	credit_sent = ProtoField.uint32("weft.credit.sent", "Sent (FCTBS, blocks)"),
	credit_limit = ProtoField.uint32("weft.credit.limit", "Limit (FCCL, blocks)"),

	hello_device = ProtoField.uint64("weft.hello.device", "Device", base.HEX),
	hello_session = ProtoField.uint32("weft.hello.session", "Session", base.HEX),
	hello_peer_session = ProtoField.uint32("weft.hello.peer_session", "Peer's session", base.HEX),
	hello_port = ProtoField.uint8("weft.hello.port", "Port"),
	hello_kind = ProtoField.uint8("weft.hello.kind", "Device kind", base.DEC, device_kinds),
	hello_formats = ProtoField.uint16("weft.hello.formats", "Formats"),
	hello_generation = ProtoField.uint32("weft.hello.generation", "Generation"),
	hello_peer_generation = ProtoField.uint32("weft.hello.peer_generation", "Peer's generation"),

	ack_expected = ProtoField.uint32("weft.ack.expected", "Expected sequence number"),
	ack_again = ProtoField.uint8("weft.ack.again", "Request to send again"),
	ack_missing = ProtoField.uint8("weft.ack.missing", "Frames missing"),
	ack_flow = ProtoField.uint16("weft.ack.flow", "Flow"),
	ack_session = ProtoField.uint32("weft.ack.session", "Session", base.HEX),

	flow_step = ProtoField.uint8("weft.flow.step", "Step", base.DEC, flow_steps),
	flow_asked = ProtoField.uint16("weft.flow.asked", "Flow that asks, or of the frame answered"),
	flow_sequence = ProtoField.uint32("weft.flow.sequence", "Its sequence number"),
	flow_offered = ProtoField.uint16("weft.flow.offered", "Flow offered"),
	flow_number = ProtoField.uint16("weft.flow.number", "Number of its first message"),
	flow_first = ProtoField.uint32("weft.flow.first", "Sequence number of its first frame"),
	flow_session = ProtoField.uint32("weft.flow.session", "Session", base.HEX),

	clock_step = ProtoField.uint8("weft.clock.step", "Step", base.DEC, clock_steps),
	clock_clock = ProtoField.uint32("weft.clock.clock", "Name of the sender's clock", base.HEX),
	clock_number = ProtoField.uint64("weft.clock.number", "Number of the question", base.HEX),
	clock_heard = ProtoField.uint64("weft.clock.heard", "The question had arrived (ns)"),
	clock_left = ProtoField.uint64("weft.clock.left", "Left not before (ns)"),

	arn_id = ProtoField.uint32("weft.arn.id", "Root of congestion", base.HEX),
	arn_destination = ProtoField.uint16("weft.arn.destination", "Destination of the packets"),
	arn_vc = ProtoField.uint8("weft.arn.vc", "Original VC of the packets"),
	arn_root_info = ProtoField.uint8("weft.arn.root_info", "Stage that acts (0: hosts)"),

	latency_waiting = ProtoField.uint32("weft.latency.waiting", "Waited in switches (ns)"),
	latency_predictive = ProtoField.bool("weft.latency.predictive", "Contending flows recorded", 8, nil, 0x01),
	latency_path = ProtoField.uint8("weft.latency.path", "Path of the source", base.DEC, nil, 0xF0),
	latency_flows = ProtoField.uint8("weft.latency.flows", "Contending flows"),
	latency_check = ProtoField.uint16("weft.latency.check", "CRC-16 of the extension", base.HEX),
	latency_check_ok = ProtoField.bool("weft.latency.check.ok", "CRC of the extension correct"),
	latency_source = ProtoField.uint16("weft.latency.source", "Source of a contending flow"),
	latency_destination = ProtoField.uint16("weft.latency.destination", "Destination of a contending flow"),

	cn_message = ProtoField.uint32("weft.cn.message", "Message answered"),
	cn_sequence = ProtoField.uint32("weft.cn.sequence", "Frame answered"),
	cn_waiting = ProtoField.uint32("weft.cn.waiting", "It waited in switches (ns)"),
	cn_path = ProtoField.uint8("weft.cn.path", "Path of the source (255: not known)"),
	cn_predictive = ProtoField.bool("weft.cn.predictive", "Contending flows recorded", 8, nil, 0x01),
	cn_fecn = ProtoField.bool("weft.cn.fecn", "It was marked", 8, nil, 0x02),
	cn_becn = ProtoField.bool("weft.cn.becn", "The source shall react to the mark", 8, nil, 0x04),
	cn_flows = ProtoField.uint8("weft.cn.flows", "Contending flows"),
	cn_source = ProtoField.uint16("weft.cn.source", "Source of a contending flow"),
	cn_destination = ProtoField.uint16("weft.cn.destination", "Destination of a contending flow"),

	mapper_type = ProtoField.uint8("weft.mapper.type", "Type", base.DEC, mapper_types),
	mapper_keyed = ProtoField.bool("weft.mapper.keyed", "Authenticated"),
	mapper_body = ProtoField.uint16("weft.mapper.body", "Body length"),
	mapper_target_session = ProtoField.uint32("weft.mapper.target_session", "Receiver's session", base.HEX),
	mapper_sender = ProtoField.uint64("weft.mapper.sender", "Sender", base.HEX),
	mapper_counter = ProtoField.uint64("weft.mapper.counter", "Counter"),
	mapper_target = ProtoField.uint64("weft.mapper.target", "Receiver (0: whoever it reaches)", base.HEX),
	mapper_tag = ProtoField.bytes("weft.mapper.tag", "Tag"),
	mapper_priority = ProtoField.uint16("weft.mapper.priority", "Mapper's priority"),
	mapper_session = ProtoField.uint32("weft.mapper.session", "Mapper's session", base.HEX),
	mapper_back = ProtoField.string("weft.mapper.back", "Way back"),
	mapper_probe = ProtoField.uint32("weft.mapper.probe", "Number of the probe"),
	mapper_epoch = ProtoField.uint32("weft.mapper.epoch", "Epoch"),
	mapper_kind = ProtoField.uint8("weft.mapper.kind", "Device kind", base.DEC, device_kinds),
	mapper_ports = ProtoField.uint8("weft.mapper.ports", "Ports"),
	mapper_entry = ProtoField.uint8("weft.mapper.entry", "Port by which the probe came"),
	mapper_candidate = ProtoField.bool("weft.mapper.candidate", "May be the mapper", 8, nil, 0x01),
	mapper_reply_paused = ProtoField.bool("weft.mapper.paused", "Injection is paused", 8, nil, 0x02),
	mapper_device_session = ProtoField.uint32("weft.mapper.device_session", "Device's session", base.HEX),
	mapper_followed = ProtoField.uint64("weft.mapper.followed", "Mapper obeyed", base.HEX),
	mapper_followed_priority = ProtoField.uint16("weft.mapper.followed_priority", "Priority of the mapper obeyed"),
	mapper_own_priority = ProtoField.uint16("weft.mapper.own_priority", "Own priority"),
	mapper_number = ProtoField.uint16("weft.mapper.number", "Number that it has or wants"),
	mapper_age = ProtoField.uint8("weft.mapper.age", "Age of its tables (n: 2^(n-1) us and longer)"),
	mapper_name = ProtoField.string("weft.mapper.name", "Name"),
	mapper_version = ProtoField.uint32("weft.mapper.version", "Software version", base.HEX),
	mapper_linked = ProtoField.uint64("weft.mapper.linked", "Ports with a neighbour", base.HEX),
	mapper_digest = ProtoField.uint64("weft.mapper.digest", "Digest of its tables", base.HEX),
	mapper_total = ProtoField.uint32("weft.mapper.total", "Image length"),
	mapper_offset = ProtoField.uint32("weft.mapper.offset", "Offset of the part"),
	mapper_part_length = ProtoField.uint16("weft.mapper.part_length", "Part length"),
	mapper_part = ProtoField.bytes("weft.mapper.part", "Part of the image"),
	mapper_command = ProtoField.uint8("weft.mapper.command", "Command", base.DEC, mapper_commands),
	mapper_purge = ProtoField.bool("weft.mapper.purge", "Throw away what is stored", 8, nil, 0x01),
	mapper_round = ProtoField.uint16("weft.mapper.round", "Round"),
	mapper_staged = ProtoField.uint32("weft.mapper.staged", "Bytes staged"),
	mapper_committed = ProtoField.uint32("weft.mapper.committed", "Epoch in use"),
	mapper_stage = ProtoField.uint8("weft.mapper.stage", "Stage", base.DEC, mapper_stages),
	mapper_status_paused = ProtoField.bool("weft.mapper.paused", "Injection is paused", 8, nil, 0x01),
	mapper_idle = ProtoField.bool("weft.mapper.idle", "Idle", 8, nil, 0x02),
	mapper_rank = ProtoField.uint16("weft.mapper.rank", "Rank among those who stand by"),
	mapper_sequence = ProtoField.uint32("weft.mapper.sequence", "Sequence of the report"),
	mapper_port = ProtoField.uint8("weft.mapper.port", "Port"),
	mapper_up = ProtoField.bool("weft.mapper.up", "Link is up"),

	-- From the comment that a Weft capture puts on each packet.
	state_vc = ProtoField.uint8("weft.state.vc", "VC"),
	state_credits = ProtoField.uint32("weft.state.credits", "Credits left (blocks)"),
	state_voq = ProtoField.uint32("weft.state.voq", "VOQ depth (blocks)"),
	state_waited = ProtoField.uint32("weft.state.waited", "Waited at its source (ns)"),
	state_reason = ProtoField.string("weft.state.reason", "Reason"),
}
weft.fields = f

local function define(name, text, group, severity)
	return ProtoExpert.new("weft." .. name, text, group, severity)
end

local e = {
	short = define("short", "Frame too short", expert.group.MALFORMED, expert.severity.ERROR),
	version = define("bad_version", "Unknown version", expert.group.PROTOCOL, expert.severity.ERROR),
	kind = define("bad_kind", "Unknown kind", expert.group.PROTOCOL, expert.severity.ERROR),
	length = define("bad_length", "Payload longer than the frame", expert.group.MALFORMED, expert.severity.ERROR),
	route_length = define("bad_route_length", "Wrong route length", expert.group.PROTOCOL, expert.severity.ERROR),
	cursor = define("bad_cursor", "Cursor past the route", expert.group.PROTOCOL, expert.severity.ERROR),
	vc = define("bad_vc", "VC out of range", expert.group.PROTOCOL, expert.severity.ERROR),
	sl = define("bad_sl", "Service level out of range", expert.group.PROTOCOL, expert.severity.ERROR),
	crc = define("bad_crc", "Wrong header CRC", expert.group.CHECKSUM, expert.severity.ERROR),
	payload_crc = define("bad_payload_crc", "Wrong payload CRC", expert.group.CHECKSUM, expert.severity.ERROR),
	extension = define("bad_extension", "Wrong latency extension", expert.group.PROTOCOL, expert.severity.ERROR),
	routing = define("routing_error", "Routing error", expert.group.PROTOCOL, expert.severity.ERROR),
	payload = define("bad_payload", "Payload makes no sense for the kind", expert.group.MALFORMED, expert.severity.ERROR),
	discarded = define("discarded", "Discarded by the device", expert.group.SEQUENCE, expert.severity.WARN),
	audit = define("audit", "Breaks a rule of the fabric", expert.group.SEQUENCE, expert.severity.ERROR),
	again = define("again", "Asks to send again", expert.group.SEQUENCE, expert.severity.NOTE),
}
weft.experts = e

weft.prefs.check_crcs = Pref.bool("Check the CRCs", true, "Verify the header CRC-16 and the payload CRC-32C")
weft.prefs.decode_payload = Pref.bool("Decode payloads", true,
	"Hand payloads that are whole IPv4 packets or Ethernet frames to their dissectors")

local comment_field = Field.new("frame.comment")
local ip_dissector = Dissector.get("ip")
local eth_dissector = Dissector.get("eth_withoutfcs")
local data_dissector = Dissector.get("data")

-- CRCs ---------------------------------------------------------------------------------------

-- Lua 5.2 has bit32, 5.3 and later have operators that 5.2 cannot parse.
local bits = bit32 or bit
local bxor, band, rshift
if bits then
	bxor, band, rshift = bits.bxor, bits.band, bits.rshift
else
	local operators = load("return function(a, b) return a ~ b end, function(a, b) return a & b end, " ..
		"function(a, n) return a >> n end")
	bxor, band, rshift = operators()
end

-- Bit-reflected table: the remainder of every byte.
local function crc_table(polynomial)
	local entries = {}
	for byte = 0, 255 do
		local crc = byte
		for _ = 1, 8 do
			local odd = crc % 2 == 1
			crc = rshift(crc, 1)
			if odd then
				crc = bxor(crc, polynomial)
			end
		end
		entries[byte] = crc
	end
	return entries
end

local crc16_table = crc_table(0x8408)
local crc32c_table = crc_table(0x82F63B78)

local byte_at = string.byte

local function crc_add(entries, crc, text, first, last)
	for i = first, last do
		crc = bxor(rshift(crc, 8), entries[band(bxor(crc, byte_at(text, i)), 0xFF)])
	end
	return crc
end

local function crc16_zeros(crc, count)
	for _ = 1, count do
		crc = bxor(rshift(crc, 8), crc16_table[band(crc, 0xFF)])
	end
	return crc
end

-- Over 64 bytes: the route, zero-padded to 32, then the fixed header without its CRC field. From 0,
-- so that a route of zeros adds nothing; inverted at the end. The elements after the 32nd, padded
-- likewise, come first.
local function header_crc(header, route, route_length)
	local crc = 0
	if route_length > 0 then
		local usual = math.min(route_length, ROUTE_USUAL)
		if route_length > usual then
			crc = crc_add(crc16_table, crc, route, usual + 1, route_length)
			crc = crc16_zeros(crc, ROUTE_MAX - route_length)
		end
		crc = crc_add(crc16_table, crc, route, 1, usual)
		crc = crc16_zeros(crc, ROUTE_USUAL - usual)
	end
	crc = crc_add(crc16_table, crc, header, 1, HEADER_BYTES - 2)
	return bxor(crc16_zeros(crc, 2), 0xFFFF)
end

-- BitOp gives signed numbers, bit32 unsigned ones.
local function payload_crc(payload)
	local crc = 0xFFFFFFFF
	if payload then
		crc = crc_add(crc32c_table, crc, payload, 1, #payload)
	end
	return bxor(crc, 0xFFFFFFFF) % 0x100000000
end

-- Route --------------------------------------------------------------------------------------

local function is_port(element)
	return element >= 0x80
end

local function element_text(element)
	if is_port(element) then
		return "p" .. element % 0x40 .. (element % 0x80 >= 0x40 and "*" or "")
	end
	return element_types[element] or string.format("0x%02x", element)
end

-- "p3 p1 | host": the elements before the bar are used; the first one after it comes next.
local function route_text(elements, cursor)
	local words = {}
	for i = 0, #elements do
		if i == cursor then
			words[#words + 1] = "|"
		end
		words[#words + 1] = elements[i + 1] and element_text(elements[i + 1])
	end
	return table.concat(words, " ")
end

-- Routes of frames between mapper and devices: ports, and the agent at the end.
local function agent_route_fault(elements)
	for i, element in ipairs(elements) do
		if is_port(element) == (i == #elements) or (i == #elements and element ~= TYPE_AGENT) then
			return string.format("element %d: expected ports and an agent at the end", i - 1)
		end
	end
	return #elements == 0 and "no agent at the end" or nil
end

local function is_high(element)
	return element >= TYPE_HIGH and element <= TYPE_HIGH_MAX
end

local function is_layer(element)
	return element > TYPE_LAYER and element <= TYPE_LAYER + 15
end

-- Next steps stand between two ports; a port follows a high prefix.
local function steps_fault(elements)
	local steps = 0
	for i, element in ipairs(elements) do
		if element == TYPE_STEP then
			steps = steps + 1
			local after = elements[i + 1] or 0
			if not is_port(elements[i - 1] or 0) or not (is_port(after) or is_high(after)) then
				return string.format("element %d: a step begins, and ports are not around it", i - 1)
			end
		elseif is_layer(element) and (i > 1 or not (is_port(elements[2] or 0) or is_high(elements[2] or 0))) then
			return string.format("element %d: a layer is first, before a port", i - 1)
		elseif is_high(element) and not is_port(elements[i + 1] or 0) then
			return string.format("element %d: a high prefix without a port", i - 1)
		end
	end
	return steps > STEPS_MAX and string.format("%d next steps, at most %d", steps, STEPS_MAX) or nil
end

-- The error of a route, for any device; nil if there is none.
local function route_fault(elements, cursor, kind)
	if kind == KIND_SCOUT or kind == KIND_MAPPER then
		return agent_route_fault(elements)
	end
	for i, element in ipairs(elements) do
		if not is_port(element) and (not element_types[element] or element == TYPE_AGENT) then
			return string.format("element %d: no interface knows type %d", i - 1, element)
		end
		if element_types[element] == "host" and i < #elements then
			return string.format("element %d delivers, and elements follow", i - 1)
		end
	end
	if #elements > 0 and is_port(elements[#elements]) then
		return "the last element does not deliver"
	end
	if #elements > 0 and cursor == #elements then
		return "all elements are used"
	end
	return steps_fault(elements)
end

local function dissect_route(tvb, tree, elements, cursor, kind)
	local text = route_text(elements, cursor)
	local item = tree:add(f.route, tvb(), text)
	local fault = route_fault(elements, cursor, kind)

	for i, element in ipairs(elements) do
		local range = tvb(i - 1, 1)
		local part = item:add(f.element, range)
		part:append_text(" (" .. element_text(element) .. ")")
		if is_port(element) then
			part:add(f.element_port, range)
			part:add(f.element_adaptive, range)
		else
			part:add(f.element_type, range)
		end
		part:add(f.element_used, range, i - 1 < cursor):set_generated()
	end
	if fault then
		item:add_proto_expert_info(e.routing, "Routing error: " .. fault)
	end
	return text
end

-- Kinds that never leave their link.
local function is_link_local(kind)
	return kind == KIND_CREDIT or kind == KIND_ARN or kind == KIND_HELLO
end

local function host_text(host)
	return host == HOST_NONE and "-" or "h" .. host
end

-- Payloads -----------------------------------------------------------------------------------

local function bad_payload(item, kind)
	item:add_proto_expert_info(e.payload, "Not the payload of a " .. kinds[kind] .. " frame")
end

local function dissect_credit(tvb, tree, item)
	local vcs = tvb:len() >= 12 and tvb(8, 1):uint() or 0
	if tvb:len() < 12 or vcs > VCS_MAX or tvb:len() ~= 12 + 8 * vcs or tvb(0, 4):uint() == 0 then
		bad_payload(item, KIND_CREDIT)
		return ""
	end
	tree:add(f.credit_session, tvb(0, 4))
	tree:add(f.credit_peer_session, tvb(4, 4))
	tree:add(f.credit_vcs, tvb(8, 1))
	local words = {}
	for vc = 0, vcs - 1 do
		local range = tvb(12 + 8 * vc, 8)
		local sent, limit = range(0, 4):uint(), range(4, 4):uint()
		local part = tree:add(weft, range, string.format("VC %d: sent %d, limit %d", vc, sent, limit))
		part:add(f.credit_vc, range, vc)
		part:add(f.credit_sent, range(0, 4))
		part:add(f.credit_limit, range(4, 4))
		words[#words + 1] = string.format("vc%d %d/%d", vc, sent, limit)
	end
	return " sent/limit " .. table.concat(words, " ")
end

local function dissect_hello(tvb, tree, item)
	if tvb:len() ~= 28 or tvb(8, 4):uint() == 0 or tvb(17, 1):uint() > 1 then
		bad_payload(item, KIND_HELLO)
		return ""
	end
	tree:add(f.hello_device, tvb(0, 8))
	tree:add(f.hello_session, tvb(8, 4))
	tree:add(f.hello_peer_session, tvb(12, 4))
	tree:add(f.hello_port, tvb(16, 1))
	tree:add(f.hello_kind, tvb(17, 1))
	tree:add(f.hello_formats, tvb(18, 2))
	tree:add(f.hello_generation, tvb(20, 4))
	tree:add(f.hello_peer_generation, tvb(24, 4))
	return string.format(" from %s %s port %d", device_kinds[tvb(17, 1):uint()],
		tvb(0, 8):uint64():tohex(), tvb(16, 1):uint())
end

local function dissect_ack(tvb, tree, item)
	if tvb:len() ~= 12 or tvb(8, 4):uint() == 0 then
		bad_payload(item, KIND_ACK)
		return ""
	end
	local again = tvb(4, 1):uint()
	tree:add(f.ack_expected, tvb(0, 4))
	local again_item = tree:add(f.ack_again, tvb(4, 1))
	tree:add(f.ack_missing, tvb(5, 1))
	tree:add(f.ack_flow, tvb(6, 2))
	tree:add(f.ack_session, tvb(8, 4))
	if again == 0 then
		return string.format(" flow %d expects %d", tvb(6, 2):uint(), tvb(0, 4):uint())
	end
	again_item:add_proto_expert_info(e.again)
	return string.format(" flow %d again from %d", tvb(6, 2):uint(), tvb(0, 4):uint())
end

local function dissect_flow(tvb, tree, item)
	local offer = tvb:len() == 20 and tvb(2, 1):uint() == 2
	if tvb:len() ~= 20 or not flow_steps[tvb(2, 1):uint()] or (offer and tvb(16, 4):uint() == 0) then
		bad_payload(item, KIND_FLOW)
		return ""
	end
	tree:add(f.flow_asked, tvb(0, 2))
	tree:add(f.flow_step, tvb(2, 1))
	tree:add(f.flow_sequence, tvb(4, 4))
	if not offer then
		return string.format(" ask %d:%d", tvb(0, 2):uint(), tvb(4, 4):uint())
	end
	tree:add(f.flow_offered, tvb(8, 2))
	tree:add(f.flow_number, tvb(10, 2))
	tree:add(f.flow_first, tvb(12, 4))
	tree:add(f.flow_session, tvb(16, 4))
	return string.format(" offer %d:%d to %d:%d", tvb(8, 2):uint(), tvb(12, 4):uint(),
		tvb(0, 2):uint(), tvb(4, 4):uint())
end

-- The steps are known, and the times can be.
local function is_clock(tvb)
	if tvb:len() ~= 32 or tvb(4, 4):uint() == 0 or tvb(8, 8):uint64() == UInt64(0) then
		return false
	end
	local step, heard, left = tvb(0, 1):uint(), tvb(16, 8):uint64(), tvb(24, 8):uint64()
	if left >= UInt64(0, 0x20000000) then
		return false
	end
	return (step == 1 and heard == UInt64(0)) or (step == 2 and heard <= left)
end

local function dissect_clock(tvb, tree, item)
	if not is_clock(tvb) then
		bad_payload(item, KIND_CLOCK)
		return ""
	end
	tree:add(f.clock_step, tvb(0, 1))
	tree:add(f.clock_clock, tvb(4, 4))
	tree:add(f.clock_number, tvb(8, 8))
	tree:add(f.clock_heard, tvb(16, 8))
	tree:add(f.clock_left, tvb(24, 8))
	return " " .. clock_steps[tvb(0, 1):uint()] .. " " .. tvb(8, 8):uint64():tohex()
end

local function dissect_arn(tvb, tree, item)
	if tvb:len() ~= 8 or tvb(4, 2):uint() == HOST_NONE or tvb(6, 1):uint() >= VCS_MAX then
		bad_payload(item, KIND_ARN)
		return ""
	end
	tree:add(f.arn_id, tvb(0, 4))
	tree:add(f.arn_destination, tvb(4, 2))
	tree:add(f.arn_vc, tvb(6, 1))
	tree:add(f.arn_root_info, tvb(7, 1))
	local stage = tvb(7, 1):uint()
	return string.format(" packets to %s of vc %d, root 0x%08x, for %s", host_text(tvb(4, 2):uint()),
		tvb(6, 1):uint(), tvb(0, 4):uint(), stage == 0 and "hosts" or "stage " .. stage)
end

-- Pairs of source and destination, from 'at' on. Nil if one is there twice or is of no host.
local function read_flows(tvb, at, count)
	local flows, seen = {}, {}
	for i = 1, count do
		local range = tvb(at + 4 * (i - 1), 4)
		local source, destination = range(0, 2):uint(), range(2, 2):uint()
		if source == HOST_NONE or destination == HOST_NONE or seen[range:uint()] then
			return nil
		end
		seen[range:uint()] = true
		flows[i] = { range = range, text = host_text(source) .. " > " .. host_text(destination) }
	end
	return flows
end

local function add_flows(tree, flows, prefix)
	for _, flow in ipairs(flows) do
		local part = tree:add(weft, flow.range, "Contending flow: " .. flow.text)
		part:add(f[prefix .. "_source"], flow.range(0, 2))
		part:add(f[prefix .. "_destination"], flow.range(2, 2))
	end
end

-- The flows of a payload that is a notification; nil if it is none.
local function cn_flows_of(tvb)
	local count = tvb:len() >= 16 and tvb(14, 1):uint() or FLOWS_MAX + 1
	if count > FLOWS_MAX or tvb:len() ~= 16 + 4 * count or tvb(15, 1):uint() ~= 0 then
		return nil
	end
	local path, flags = tvb(12, 1):uint(), tvb(13, 1):uint()
	local predictive, fecn, becn = flags % 2 == 1, flags % 4 >= 2, flags % 8 >= 4
	local told = predictive or tvb(8, 4):uint() ~= 0
	if flags > 7 or (becn and not fecn) or (count > 0 and not predictive) or
		(path > PATH_MAX and (path ~= PATH_UNKNOWN or told)) then
		return nil
	end
	return read_flows(tvb, 16, count)
end

local function dissect_cn(tvb, tree, item)
	local flows = cn_flows_of(tvb)
	if not flows then
		bad_payload(item, KIND_CN)
		return ""
	end
	tree:add(f.cn_message, tvb(0, 4))
	tree:add(f.cn_sequence, tvb(4, 4))
	tree:add(f.cn_waiting, tvb(8, 4))
	tree:add(f.cn_path, tvb(12, 1))
	for _, name in ipairs({ "predictive", "fecn", "becn" }) do
		tree:add(f["cn_" .. name], tvb(13, 1))
	end
	tree:add(f.cn_flows, tvb(14, 1))
	add_flows(tree, flows, "cn")
	local path = tvb(12, 1):uint()
	return string.format(" msg %d seq %d%s waited %d ns%s", tvb(0, 4):uint(), tvb(4, 4):uint(),
		path == PATH_UNKNOWN and "" or " path " .. path, tvb(8, 4):uint(),
		tvb(13, 1):uint() >= 4 and " becn" or "")
end

-- What is wrong with an extension; nil if nothing is.
local function extension_fault(tvb, flows)
	if not flows then
		return "flows"
	end
	if tvb(4, 1):uint() % 16 > 1 or (#flows > 0 and tvb(4, 1):uint() % 2 == 0) then
		return "flags"
	end
	for at = 8 + 4 * #flows, LATENCY_BYTES - 1 do
		if tvb(at, 1):uint() ~= 0 then
			return "bytes behind the flows"
		end
	end
	return nil
end

local function dissect_extension(tvb, parent)
	local tree = parent:add(weft, tvb(), string.format("Latency extension: waited %d ns", tvb(0, 4):uint()))
	local count = tvb(5, 1):uint()
	local flows = count <= FLOWS_MAX and read_flows(tvb, 8, count)
	tree:add(f.latency_waiting, tvb(0, 4))
	tree:add(f.latency_predictive, tvb(4, 1))
	tree:add(f.latency_path, tvb(4, 1))
	tree:add(f.latency_flows, tvb(5, 1))
	local check_item = tree:add(f.latency_check, tvb(6, 2))
	add_flows(tree, flows or {}, "latency")
	local fault = extension_fault(tvb, flows)
	if fault then
		tree:add_proto_expert_info(e.extension, "Latency extension: wrong " .. fault)
	end
	if weft.prefs.check_crcs then
		local crc = crc_add(crc16_table, 0, tvb(0, 6):raw(), 1, 6)
		crc = crc_add(crc16_table, crc16_zeros(crc, 2), tvb(8, 32):raw(), 1, 32)
		local ok = bxor(crc, 0xFFFF) == tvb(6, 2):uint()
		tree:add(f.latency_check_ok, tvb(6, 2), ok):set_generated()
		if not ok then
			check_item:add_proto_expert_info(e.extension, string.format("CRC, expected 0x%04x", bxor(crc, 0xFFFF)))
		end
	end
end

-- Bodies of mapper and scout frames, field by field: the number of bytes, then their fields, or none if
-- they are zero. A command begins with the mapper's identity and the return route. If a part of an image
-- ends the body, its length is in the body.
local mapper_bodies = {
	probe = { command = true, { 4, "probe" }, { 4, "epoch" } },
	reply = {
		{ 4, "probe" }, { 1, "kind" }, { 1, "ports" }, { 1, "entry" }, { 1, "candidate", "reply_paused" },
		{ 4, "device_session" }, { 4, "committed" }, { 8, "followed" }, { 2, "followed_priority" },
		{ 2, "own_priority" }, { 2, "number" }, { 1, "age" }, { 1 }, { 4, "version" }, { 8, "linked" },
		{ 8, "digest" }, { 64, "name" },
	},
	table = {
		command = true, part = true,
		{ 4, "epoch" }, { 4, "total" }, { 4, "offset" }, { 2, "part_length" }, { 2 },
	},
	phase = { command = true, { 4, "epoch" }, { 1, "command" }, { 1, "purge" }, { 2, "round" } },
	status = {
		{ 4, "epoch" }, { 4, "staged" }, { 4, "committed" }, { 1, "stage" }, { 1, "status_paused", "idle" },
		{ 2, "followed_priority" }, { 4, "device_session" }, { 8, "followed" }, { 2, "round" }, { 2 },
	},
	heartbeat = { command = true, { 4, "epoch" }, { 2, "rank" }, { 2 } },
	report = { { 4, "sequence" }, { 4, "device_session" }, { 1, "port" }, { 1, "up" }, { 2 } },
	acknowledge = { command = true, { 4, "sequence" }, { 4 } },
	read = { command = true, { 4, "offset" }, { 2, "part_length" }, { 2 } },
	image = {
		part = true,
		{ 4, "committed" }, { 4, "total" }, { 4, "offset" }, { 2, "part_length" }, { 2 }, { 8, "digest" },
	},
}

-- Bytes of a body without the part of an image.
local function mapper_body_bytes(body)
	local bytes = body.command and 40 or 0
	for _, entry in ipairs(body) do
		bytes = bytes + entry[1]
	end
	return bytes
end

-- Offset of the part's length.
local function mapper_part_length(tvb, body)
	local at = MAPPER_ENVELOPE_BYTES + (body.command and 40 or 0)
	return tvb(at + 12, 2):uint()
end

-- The body's description, or nil if the payload is no message of the mapper.
local function mapper_body_of(tvb)
	if tvb:len() < MAPPER_ENVELOPE_BYTES + MAPPER_TAG_BYTES then
		return nil
	end
	local body = mapper_bodies[mapper_types[tvb(0, 1):uint()] or ""]
	local bytes = tvb:len() - MAPPER_ENVELOPE_BYTES - MAPPER_TAG_BYTES
	if not body or tvb(2, 2):uint() ~= bytes or bytes < mapper_body_bytes(body) then
		return nil
	end
	if bytes ~= mapper_body_bytes(body) + (body.part and mapper_part_length(tvb, body) or 0) then
		return nil
	end
	if tvb(8, 8):uint64() == UInt64(0) or tvb(16, 8):uint64() == UInt64(0) or tvb(1, 1):uint() > 1 then
		return nil
	end
	local back = body.command and tvb(MAPPER_ENVELOPE_BYTES + 2, 1):uint() or 1
	return back > 0 and back <= ROUTE_MAX and body or nil
end

local function dissect_mapper_command(tvb, tree)
	local elements = {}
	for i = 1, tvb(2, 1):uint() do
		elements[i] = tvb(7 + i, 1):uint()
	end
	tree:add(f.mapper_priority, tvb(0, 2))
	tree:add(f.mapper_session, tvb(4, 4))
	tree:add(f.mapper_back, tvb(8, #elements), route_text(elements, -1))
end

-- The values that distinguish messages of one type, for the line of the packet.
local function mapper_text(tvb, name, at)
	if name == "table" then
		return string.format(" epoch %d, %d bytes from %d of %d", tvb(at, 4):uint(), tvb(at + 12, 2):uint(),
			tvb(at + 8, 4):uint(), tvb(at + 4, 4):uint())
	elseif name == "phase" then
		return string.format(" %s epoch %d", mapper_commands[tvb(at + 4, 1):uint()] or "?", tvb(at, 4):uint())
	elseif name == "reply" then
		return string.format(" %s, %d ports, by port %d", device_kinds[tvb(at + 4, 1):uint()] or "?",
			tvb(at + 5, 1):uint(), tvb(at + 6, 1):uint())
	elseif name == "status" then
		return string.format(" epoch %d %s, uses %d", tvb(at, 4):uint(),
			mapper_stages[tvb(at + 12, 1):uint()] or "?", tvb(at + 8, 4):uint())
	elseif name == "report" then
		return string.format(" port %d %s", tvb(at + 8, 1):uint(), tvb(at + 9, 1):uint() == 1 and "up" or "down")
	end
	return ""
end

local function dissect_mapper(tvb, kind, tree, item)
	local body = mapper_body_of(tvb)
	if not body then
		bad_payload(item, kind)
		tree:add(f.payload, tvb())
		return ""
	end
	local at = MAPPER_ENVELOPE_BYTES
	tree:add(f.mapper_type, tvb(0, 1))
	tree:add(f.mapper_keyed, tvb(1, 1))
	tree:add(f.mapper_body, tvb(2, 2))
	tree:add(f.mapper_target_session, tvb(4, 4))
	tree:add(f.mapper_sender, tvb(8, 8))
	tree:add(f.mapper_counter, tvb(16, 8))
	tree:add(f.mapper_target, tvb(24, 8))
	if body.command then
		dissect_mapper_command(tvb(at, 40), tree)
		at = at + 40
	end
	local name = mapper_types[tvb(0, 1):uint()]
	local text = " " .. name .. " from " .. tvb(8, 8):uint64():tohex() .. mapper_text(tvb, name, at)
	for _, entry in ipairs(body) do
		for i = 2, #entry do
			tree:add(f["mapper_" .. entry[i]], tvb(at, entry[1]))
		end
		at = at + entry[1]
	end
	if at < tvb:len() - MAPPER_TAG_BYTES then
		tree:add(f.mapper_part, tvb(at, tvb:len() - MAPPER_TAG_BYTES - at))
	end
	tree:add(f.mapper_tag, tvb(tvb:len() - MAPPER_TAG_BYTES, MAPPER_TAG_BYTES))
	return text
end

-- A whole IPv4 packet: version, lengths and header checksum agree. Synthetic payloads never begin
-- so; a frame from the middle of a message does by chance once in 2^30.
-- 'bytes': its length on the wire. A capture may have cut it.
local function is_ipv4(tvb, bytes)
	if tvb:len() < 20 or rshift(tvb(0, 1):uint(), 4) ~= 4 or tvb(2, 2):uint() ~= bytes then
		return false
	end
	local header_bytes = tvb(0, 1):uint() % 16 * 4
	if header_bytes < 20 or header_bytes > tvb:len() then
		return false
	end
	local sum = 0
	for i = 0, header_bytes - 2, 2 do
		sum = sum + tvb(i, 2):uint()
	end
	return (sum % 0x10000 + math.floor(sum / 0x10000)) % 0xFFFF == 0
end

local function is_ethernet(tvb, bytes)
	if tvb:len() < 42 then
		return false
	end
	local ethertype = tvb(12, 2):uint()
	if ethertype == 0x0806 then
		return tvb(14, 6):bytes():tohex() == "000108000604"
	end
	return ethertype == 0x0800 and is_ipv4(tvb(14):tvb(), bytes - 14)
end

local function dissect_data(tvb, bytes, pinfo, tree, root)
	if tvb:len() == 0 then
		return
	end
	-- a long TCP segment (lib/wire/frame.h)
	if tvb:len() > 4 and tvb(0, 1):uint() == 0x51 and is_ipv4(tvb(4):tvb(), bytes - 4) then
		tvb, bytes = tvb(4):tvb(), bytes - 4
	end
	local is_ip = weft.prefs.decode_payload and is_ipv4(tvb, bytes)
	if not is_ip and not (weft.prefs.decode_payload and is_ethernet(tvb, bytes)) then
		tree:add(f.payload, tvb())
		return
	end
	-- The text of Weft stays in the line; the inner protocol adds its own.
	pinfo.cols.info:append(" | ")
	pinfo.cols.info:fence();
	(is_ip and ip_dissector or eth_dissector):call(tvb, pinfo, root)
end

-- The state in the comment of a captured packet -----------------------------------------------

-- "vc 1, credits 7, voq 2, waited 250, REASON" (lib/capture/capture_file.c), after it what 'weft audit --mark' adds:
-- "; audit check 6: TEXT".
local function dissect_state(tvb, tree)
	local comment = comment_field()
	local text = tostring(comment and comment.value or "")
	local mark = text:find("audit check %d: ")
	if mark then
		tree:add_proto_expert_info(e.audit, text:sub(mark))
		text = text:sub(1, mark - 1):gsub("; $", "")
	end
	local vc, rest = text:match("^vc (%d+)(.*)$")
	if not vc then
		return
	end
	local part = tree:add(weft, tvb(0, 0), "State of the device: " .. text)
	part:set_generated()
	part:add(f.state_vc, tvb(0, 0), tonumber(vc)):set_generated()
	local credits, after = rest:match("^, credits (%d+)(.*)$")
	if credits then
		part:add(f.state_credits, tvb(0, 0), tonumber(credits)):set_generated()
		rest = after
	end
	local voq, last = rest:match("^, voq (%d+)(.*)$")
	if voq then
		part:add(f.state_voq, tvb(0, 0), tonumber(voq)):set_generated()
		rest = last
	end
	local waited, more = rest:match("^, waited (%d+)(.*)$")
	if waited then
		part:add(f.state_waited, tvb(0, 0), tonumber(waited)):set_generated()
		rest = more
	end
	local reason = rest:match("^, (.+)$")
	if not reason then
		return
	end
	part:add(f.state_reason, tvb(0, 0), reason):set_generated()
	if reason:find("routing_error") then
		part:add_proto_expert_info(e.routing, "Routing error: the device discards the frame")
	elseif reason:find("discard") or reason:find("^refused") then
		part:add_proto_expert_info(e.discarded, "The device discards the frame: " .. reason)
	end
end

-- The frame ----------------------------------------------------------------------------------

local function add_flags(tree, range)
	local item = tree:add(f.flags, range)
	for _, name in ipairs({ "adapted", "fecn", "becn", "tail", "latency_recording", "end_mark" }) do
		item:add(f[name], range)
	end
end

-- The fixed header. Returns nothing if the rest cannot be dissected.
local function dissect_header(tvb, pinfo, tree)
	local version_item = tree:add(f.version, tvb(0, 1))
	if tvb(0, 1):uint() > VERSION or tvb(0, 1):uint() < VERSION_MIN then
		version_item:add_proto_expert_info(e.version)
		pinfo.cols.info:set("version " .. tvb(0, 1):uint())
		return nil
	end
	local header = {
		kind = tvb(1, 1):uint(),
		source = tvb(2, 2):uint(),
		destination = tvb(4, 2):uint(),
		length = tvb(6, 2):uint(),
		route_length = tvb(8, 1):uint(),
		cursor = tvb(28, 1):uint(),
		vc = tvb(26, 1):uint(),
	}
	header.has_latency = header.kind == KIND_DATA and tvb(29, 1):uint() % 0x20 >= 0x10
	local kind_item = tree:add(f.kind, tvb(1, 1))
	if not kinds[header.kind] then
		kind_item:add_proto_expert_info(e.kind)
	end
	tree:add(f.src, tvb(2, 2))
	tree:add(f.dst, tvb(4, 2))
	header.length_item = tree:add(f.length, tvb(6, 2))
	header.route_length_item = tree:add(f.route_length, tvb(8, 1))
	local sl_item = tree:add(f.sl, tvb(9, 1))
	if tvb(9, 1):uint() > 15 then
		sl_item:add_proto_expert_info(e.sl)
	end
	tree:add(f.msg, tvb(10, 4)):add(f.flow, tvb(10, 2))
	tree:add(f.seq, tvb(14, 4))
	header.payload_crc_item = tree:add(f.payload_crc, tvb(18, 4))
	tree:add(f.injected, tvb(22, 4))
	local vc_item = tree:add(f.vc, tvb(26, 1))
	local original_item = tree:add(f.vc_original, tvb(27, 1))
	if header.vc >= VCS_MAX then
		vc_item:add_proto_expert_info(e.vc)
	end
	if tvb(27, 1):uint() >= VCS_MAX then
		original_item:add_proto_expert_info(e.vc)
	end
	local cursor_item = tree:add(f.cursor, tvb(28, 1))
	if header.cursor > header.route_length then
		cursor_item:add_proto_expert_info(e.cursor)
	end
	add_flags(tree, tvb(29, 1))
	header.crc_item = tree:add(f.crc, tvb(30, 2))
	local local_kind = is_link_local(header.kind)
	if header.route_length > ROUTE_MAX or (local_kind and header.route_length ~= 0) then
		header.route_length_item:add_proto_expert_info(e.route_length)
		pinfo.cols.info:set((kinds[header.kind] or "?") .. " with a route of " .. header.route_length)
		return nil
	end
	return header
end

local function check_header_crc(tvb, tree, header)
	local route = header.route_length > 0 and tvb(HEADER_BYTES, header.route_length):raw()
	local right = header_crc(tvb(0, HEADER_BYTES):raw(), route, header.route_length)
	local ok = right == tvb(30, 2):uint()
	tree:add(f.crc_ok, tvb(30, 2), ok):set_generated()
	if not ok then
		header.crc_item:add_proto_expert_info(e.crc, string.format("Header CRC, expected 0x%04x", right))
	end
end

local function check_payload_crc(payload, tvb, tree, header)
	local right = payload_crc(payload)
	local ok = right == tvb(18, 4):uint()
	tree:add(f.payload_crc_ok, tvb(18, 4), ok):set_generated()
	if not ok then
		header.payload_crc_item:add_proto_expert_info(e.payload_crc,
			string.format("Payload CRC, expected 0x%08x", right))
	end
end

-- Payload of a frame that was captured whole.
local function dissect_payload(tvb, header, pinfo, tree, item, root)
	if header.kind == KIND_CREDIT then
		pinfo.cols.info:append(dissect_credit(tvb, tree, item))
	elseif header.kind == KIND_HELLO then
		pinfo.cols.info:append(dissect_hello(tvb, tree, item))
	elseif header.kind == KIND_ACK then
		pinfo.cols.info:append(dissect_ack(tvb, tree, item))
	elseif header.kind == KIND_FLOW then
		pinfo.cols.info:append(dissect_flow(tvb, tree, item))
	elseif header.kind == KIND_CLOCK then
		pinfo.cols.info:append(dissect_clock(tvb, tree, item))
	elseif header.kind == KIND_CN then
		pinfo.cols.info:append(dissect_cn(tvb, tree, item))
	elseif header.kind == KIND_ARN then
		pinfo.cols.info:append(dissect_arn(tvb, tree, item))
	elseif header.kind == KIND_SCOUT or header.kind == KIND_MAPPER then
		pinfo.cols.info:append(dissect_mapper(tvb, header.kind, tree, item))
	else
		dissect_data(tvb, tvb:len(), pinfo, tree, root)
	end
end

local function set_info(tvb, pinfo, header, route)
	local text = kinds[header.kind] or "kind " .. header.kind
	if header.source ~= HOST_NONE or header.destination ~= HOST_NONE then
		text = text .. " " .. host_text(header.source) .. " > " .. host_text(header.destination)
	end
	if header.kind == KIND_DATA then
		text = text .. string.format(" msg %d seq %d", tvb(10, 4):uint(), tvb(14, 4):uint())
		if tvb(29, 1):uint() % 2 == 1 then
			text = text .. " adapted"
		end
	end
	if not is_link_local(header.kind) then
		text = text .. " vc " .. header.vc
	end
	if route then
		text = text .. " [" .. route .. "]"
	end
	pinfo.cols.info:set(text .. (header.kind == KIND_DATA and " len " .. header.length or ""))
end

-- The number of the fabric ends the source address.
local eth_src = Field.new("eth.src")
local function dissect_fabric(item)
	local source = eth_src()
	if source then
		item:add(f.fabric, source.range(4, 2))
	end
end

-- A seal, a tag of data, or padding. Short frames are padded to 60 bytes, and a seal makes each longer
-- than that. Padding is zeros; a tag is zero once in 2^64 frames.
local function dissect_behind_payload(tvb, item, kind, at)
	if sealed_kinds[kind] and tvb:len() >= at + SEAL_BYTES and
		tvb:len() + ETHERNET_BYTES > FRAME_BYTES_MIN then
		item:add(f.seal_counter, tvb(at, 8))
		item:add(f.seal_tag, tvb(at + 8, 8))
		at = at + SEAL_BYTES
	elseif kind == KIND_DATA and tvb:len() >= at + DATA_TAG_BYTES and
		tvb(at, DATA_TAG_BYTES):uint64() ~= UInt64(0) then
		item:add(f.data_tag, tvb(at, DATA_TAG_BYTES))
		at = at + DATA_TAG_BYTES
	end
	if tvb:len() > at then
		item:add(f.padding, tvb(at))
	end
end

function weft.dissector(tvb, pinfo, root)
	local item = root:add(weft, tvb())
	dissect_fabric(item)
	pinfo.cols.protocol:set("Weft")
	pinfo.cols.info:set("")
	dissect_state(tvb, item)
	if tvb:len() < HEADER_BYTES then
		item:add_proto_expert_info(e.short)
		pinfo.cols.info:set("too short")
		return tvb:len()
	end
	local header = dissect_header(tvb, pinfo, item)
	if not header then
		data_dissector:call(tvb(HEADER_BYTES):tvb(), pinfo, root)
		return tvb:len()
	end
	local route_end = HEADER_BYTES + header.route_length
	local payload_at = route_end + (header.has_latency and LATENCY_BYTES or 0)
	local payload_end = payload_at + header.length
	if payload_end > tvb:reported_len() then
		header.length_item:add_proto_expert_info(e.length)
	end
	if tvb:len() < route_end then
		set_info(tvb, pinfo, header)
		return tvb:len() -- cut by the capture
	end
	local route
	if header.route_length > 0 then
		local range, elements = tvb(HEADER_BYTES, header.route_length), {}
		for i = 1, header.route_length do
			elements[i] = range(i - 1, 1):uint()
		end
		route = dissect_route(range, item, elements, header.cursor, header.kind)
	end
	set_info(tvb, pinfo, header, route)
	if weft.prefs.check_crcs then
		check_header_crc(tvb, item, header)
	end
	if header.has_latency and tvb:len() >= payload_at then
		dissect_extension(tvb(route_end, LATENCY_BYTES):tvb(), item)
	end
	if tvb:len() < payload_end then
		if tvb:len() > payload_at and header.kind == KIND_DATA then
			dissect_data(tvb(payload_at):tvb(), header.length, pinfo, item, root)
		elseif tvb:len() > payload_at then
			item:add(f.payload, tvb(payload_at))
		end
		return tvb:len()
	end
	local payload = header.length > 0 and tvb(payload_at, header.length)
	if weft.prefs.check_crcs then
		check_payload_crc(payload and payload:raw(), tvb, item, header)
	end
	dissect_behind_payload(tvb, item, header.kind, payload_end)
	if payload then
		dissect_payload(payload:tvb(), header, pinfo, item, item, root)
	elseif header.kind ~= KIND_DATA and kinds[header.kind] then
		bad_payload(item, header.kind)
	end
	return tvb:len()
end

DissectorTable.get("ethertype"):add(ETHERTYPE, weft)
