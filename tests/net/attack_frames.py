# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""Frames of an attacker who has only read docs/reference/wire-format.md: correct CRCs, all kinds, forged and mutated.
Nothing comes from lib/wire, so that its mistakes are not repeated here."""
import random
import struct

DATA, CREDIT, ARN, ACK, CN, HELLO, SCOUT, MAPPER, FLOW, CLOCK = range(1, 11)
KINDS = {"data": DATA, "credit": CREDIT, "arn": ARN, "ack": ACK, "cn": CN, "hello": HELLO,
         "scout": SCOUT, "mapper": MAPPER, "flow": FLOW, "clock": CLOCK}
NAMES = {number: name for name, number in KINDS.items()}
LINK_LOCAL = (CREDIT, HELLO, ARN)

ETHERTYPE = b"\x88\xb5"
HEADER, ROUTE = 14, 46  # where the fixed header and the route begin
ROUTE_MAX, PAYLOAD_MAX, FRAME_MIN = 32, 9000, 60
NONE = 0xFFFF
EXTENSION, LATENCY_RECORDING = 40, 0x10
FLOWS_MAX = 8


def _crc16_places():
    """Header CRC-16 of each value of each of the 64 bytes, all others zero. With start value 0, the CRC of several
    bytes is the exclusive or of theirs."""
    places, values = [], [0] * 256
    for value in range(256):
        crc = value
        for _ in range(8):
            crc = crc >> 1 ^ (0x8408 if crc & 1 else 0)
        values[value] = crc
    one = values
    for _ in range(64):
        places.append(one)
        # One byte of zeros further from the end.
        one = [crc >> 8 ^ values[crc & 0xFF] for crc in one]
    return places[::-1]


def _crc32c_values():
    values = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        values.append(value)
    return values


CRC16, CRC32C = _crc16_places(), _crc32c_values()


def payload_crc(payload):
    crc = 0xFFFFFFFF
    for byte in payload:
        crc = crc >> 8 ^ CRC32C[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF if payload else 0


def header_crc(frame):
    """CRC over the route, padded to 32 bytes, and the fixed header without its last two bytes."""
    crc, at = 0, 0
    for byte in frame[ROUTE:ROUTE + min(frame[22], ROUTE_MAX)]:
        crc ^= CRC16[at][byte]
        at += 1
    at = ROUTE_MAX
    for byte in frame[HEADER:44]:
        crc ^= CRC16[at][byte]
        at += 1
    return ~crc & 0xFFFF


def extension_of(frame):
    """Returns the bytes between route and payload."""
    return EXTENSION if frame[15] == DATA and frame[43] & LATENCY_RECORDING else 0


def extension_check(extension):
    """The header's CRC-16, over 40 bytes with the check as zero."""
    crc = 0
    for at, byte in enumerate(extension):
        crc ^= CRC16[64 - EXTENSION + at][0 if at in (6, 7) else byte]
    return ~crc & 0xFFFF


def payload_of(frame):
    start = ROUTE + frame[22] + extension_of(frame)
    return frame[start:start + int.from_bytes(frame[20:22], "big")]


def mend(frame):
    """Recomputes all CRCs of a bytearray."""
    start = ROUTE + frame[22]
    if extension_of(frame) and len(frame) >= start + EXTENSION:
        struct.pack_into("!H", frame, start + 6, extension_check(frame[start:start + EXTENSION]))
    struct.pack_into("!I", frame, 32, payload_crc(payload_of(frame)))
    struct.pack_into("!H", frame, 44, header_crc(frame))
    return frame


def build(kind, fabric, payload=b"", source=NONE, destination=NONE, route=b"", extension=b"", **fields):
    """A frame without seal or tag. 'fields': sl, message, sequence, injected, vc, vc_original, cursor, flags. With an
    extension, they include the flag."""
    def field(name):
        return fields.get(name, 0)

    frame = bytearray(struct.pack("!IHIH", 0x57454654, fabric, 0x02000000, fabric) + ETHERTYPE)
    frame += struct.pack("!BBHHHBBIIIIBBBBH", 3, kind, source, destination, len(payload), len(route),
                         field("sl"), field("message"), field("sequence"), 0, field("injected"),
                         field("vc"), field("vc_original"), field("cursor"), field("flags"), 0)
    frame += route + extension + payload
    return mend(frame.ljust(FRAME_MIN, b"\0"))


# --- payloads of all kinds, with random contents that are as valid as nobody's can be without a key ---

BODIES = {1: 48, 3: 56 + 64, 4: 48, 6: 48, 8: 48, 9: 48, 2: 116, 5: 32, 7: 12, 10: 24 + 64}


def credit(draw, vcs):
    totals = [draw.choice((0, draw.getrandbits(10), draw.getrandbits(32))) for _ in range(2 * vcs)]
    return struct.pack("!IIB3x", draw.getrandbits(32) or 1, draw.getrandbits(32), vcs) + \
        struct.pack(f"!{2 * vcs}I", *totals)


def hello(draw):
    device = draw.choice((draw.randrange(8), (1 << 32) + draw.randrange(8), draw.getrandbits(64)))
    return struct.pack("!QIIBBHII", device, draw.getrandbits(32) or 1, draw.getrandbits(32),
                       draw.randrange(4), draw.randrange(2), 0, draw.randrange(3), draw.randrange(3))


def arn(draw, hosts):
    root = draw.randrange(8) << 16 | draw.randrange(4) << 8 | draw.randrange(4)
    return struct.pack("!IHBB", draw.choice((root, draw.getrandbits(32))), draw.randrange(hosts + 1),
                       draw.randrange(2), draw.randrange(3))


def ack(draw):
    return struct.pack("!IBBHI", draw.getrandbits(32), draw.randrange(256), draw.randrange(256),
                       draw.getrandbits(16), draw.getrandbits(32) or 1)


def flow(draw):
    step = draw.randrange(1, 3)
    offer = struct.pack("!HHII", draw.getrandbits(16), draw.getrandbits(16), draw.getrandbits(32),
                        draw.getrandbits(32) or 1)
    return struct.pack("!HBBI", draw.getrandbits(16), step, 0, draw.getrandbits(32)) + \
        (offer if step == 2 else bytes(12))


def clock(draw):
    """A question or an answer."""
    heard, left = sorted(draw.getrandbits(61) for _ in range(2))
    step = draw.randrange(1, 3)
    return struct.pack("!BxxxIQQQ", step, draw.getrandbits(32) or 1, draw.getrandbits(64) or 1,
                       heard if step == 2 else 0, left)


def flows(draw, hosts):
    """Up to eight different contending flows."""
    pairs = {(draw.randrange(hosts), draw.randrange(hosts)) for _ in range(draw.randrange(FLOWS_MAX + 1))}
    return b"".join(struct.pack("!HH", *pair) for pair in sorted(pairs))


def cn(draw, hosts):
    """A notification: marked or not, with or without a path and contending flows."""
    contending = flows(draw, hosts) if draw.random() < 0.5 else b""
    path = draw.choice((255, draw.randrange(16)))
    flags = (1 if contending else draw.randrange(2)) | draw.choice((0, 2, 6))
    return struct.pack("!IIIBBBx", draw.getrandbits(32), draw.getrandbits(32),
                       0 if path == 255 else draw.getrandbits(32), path, flags, len(contending) // 4) + contending


def latency(draw, hosts):
    """The extension of a data frame."""
    contending = flows(draw, hosts) if draw.random() < 0.5 else b""
    flags = (1 if contending else draw.randrange(2)) | draw.randrange(16) << 4
    return bytearray(struct.pack("!IBBH", draw.getrandbits(32), flags, len(contending) // 4, 0) +
                     contending).ljust(EXTENSION, b"\0")


def mapper(draw, types):
    """An envelope, a body of the right length and a tag that was not computed."""
    number = draw.choice(types)
    body = bytearray(draw.randbytes(BODIES[number]))
    if number in (1, 3, 4, 6, 8, 9):  # the common beginning of commands
        body[2:4] = b"\x01\0"
        body[8:40] = (b"\x80\x03" if draw.random() < 0.5 else b"\x03").ljust(32, b"\0")
        body[2] = 2 if body[8] == 0x80 else 1
        body[44:48] = bytes(4)
    if number == 3:
        struct.pack_into("!IIIHH", body, 40, draw.getrandbits(32) or 1, 64, 0, 64, 0)
    if number == 4:
        struct.pack_into("!IBBH", body, 40, draw.getrandbits(32) or 1, draw.randrange(1, 5), 0,
                         draw.getrandbits(16))
    keyed = draw.randrange(2)
    envelope = struct.pack("!BBHIQQQ", number, keyed, len(body), draw.choice((0, draw.getrandbits(32))),
                           draw.choice((1, 1 << 32, (1 << 32) + 1, draw.getrandbits(64) or 1)),
                           draw.getrandbits(64) or 1, 0)
    return envelope + bytes(body) + (draw.randbytes(16) if keyed else bytes(16))


def forged(draw, kind, fabric, hosts, vcs, routes):
    """A frame of an attacker who knows the fabric's number, hosts and routes, but not this link."""
    if kind in LINK_LOCAL:
        payload = {CREDIT: lambda: credit(draw, vcs), HELLO: lambda: hello(draw),
                   ARN: lambda: arn(draw, hosts)}[kind]()
        return build(kind, fabric, payload)
    if kind in (SCOUT, MAPPER):
        route = b"\x03" if draw.random() < 0.3 else bytes([0x80 | draw.randrange(3), 3])
        return build(kind, fabric, mapper(draw, (1, 2) if kind == SCOUT else tuple(range(3, 11))),
                     route=route, cursor=draw.randrange(len(route)))
    source = draw.randrange(hosts)
    fields = dict(source=source, destination=draw.choice([h for h in range(hosts) if h != source]),
                  sl=0, vc=draw.randrange(vcs) if kind == DATA else 0)
    if routes and draw.random() < 0.8:
        frame = draw.choice(routes)
        fields.update(source=int.from_bytes(frame[16:18], "big"),
                      destination=int.from_bytes(frame[18:20], "big"),
                      route=bytes(frame[ROUTE:ROUTE + frame[22]]), cursor=frame[42], vc=frame[40])
    if kind == ACK:
        return build(kind, fabric, ack(draw), **fields)
    if kind == FLOW:
        return build(kind, fabric, flow(draw), **fields)
    if kind == CLOCK:
        return build(kind, fabric, clock(draw), **fields)
    if kind == CN:
        return build(kind, fabric, cn(draw, hosts), **fields)
    extension = latency(draw, hosts) if draw.random() < 0.5 else b""
    return build(kind, fabric, draw.randbytes(draw.randrange(16, 80)), message=draw.getrandbits(32),
                 sequence=draw.getrandbits(32), injected=draw.getrandbits(32), extension=extension,
                 flags=draw.choice((0, 8, 8, 0x21)) | (LATENCY_RECORDING if extension else 0), **fields)


def mutated(draw, recorded):
    """A recorded frame with a few changes after the addresses, and correct CRCs. A change is another byte, or a
    slightly different number."""
    frame = bytearray(recorded)
    end = max(HEADER + 2, min(len(frame), ROUTE + frame[22] + extension_of(frame) +
                              int.from_bytes(frame[20:22], "big") + 24))
    for _ in range(draw.randrange(1, 4)):
        at = draw.choice((draw.randrange(16, 44), draw.randrange(HEADER + 2, end)))
        if draw.random() < 0.5 or at + 4 > len(frame):
            frame[at] = draw.randrange(256)
            continue
        value = int.from_bytes(frame[at:at + 4], "big") + draw.randrange(-3, 100)
        frame[at:at + 4] = (value & 0xFFFFFFFF).to_bytes(4, "big")
    if frame == recorded:
        frame[28] ^= 1
    return mend(frame)


class Arsenal:
    """Frames of all kinds: forged, recorded in this session or an earlier one, mutated."""
    WAYS = ("forged", "replayed", "of an earlier life", "mutated")

    def __init__(self, seed, fabric, hosts, vcs):
        self.draw = random.Random(seed)
        self.fabric, self.hosts, self.vcs = fabric, hosts, vcs
        self.now, self.before = {}, {}

    @staticmethod
    def sort(frames):
        """Sorts frames by kind, all with seal and padding."""
        kinds = {}
        for frame in frames:
            kinds.setdefault(frame[15], []).append(frame)
        return kinds

    def ways(self, kind, place):
        """Returns the forms of this kind; 'place' is where the recordings were made."""
        return [way for way in self.WAYS if way == "forged" or
                (self.before if way == "of an earlier life" else self.now).get(place, {}).get(kind)]

    def make(self, kind, way, place):
        draw, now = self.draw, self.now.get(place, {})
        if way == "forged":
            frame = forged(draw, kind, self.fabric, self.hosts, self.vcs, now.get(DATA))
            return next(iter(now.values()))[0][:12] + frame[12:] if now else frame
        if way == "replayed":
            return draw.choice(now[kind])
        if way == "of an earlier life":
            return draw.choice(self.before[place][kind])
        return mutated(draw, draw.choice(now[kind]))
