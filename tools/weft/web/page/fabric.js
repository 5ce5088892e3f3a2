// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Weft developers

// The fabric, and the newest sample of it. A way is one direction of a link: way 2i of link i leads from its end
// a to b, way 2i + 1 from b to a.

export const HISTORY = 120; // samples of each way
const UNKNOWN = 65535;

function deviceOf(port) {
	return port.slice(0, port.lastIndexOf(":"));
}

export class Fabric {
	constructor(topology) {
		this.lab = topology.lab;
		this.name = topology.name;
		this.vcs = topology.vcs;
		this.run = topology.run ?? null; // a result; null: a lab
		this.devices = topology.switches.map(([name, stage]) => ({name, stage, host: false}))
			.concat(topology.hosts.map((name) => ({name, stage: 0, host: true})));
		this.switches = topology.switches.length;
		const number = new Map(this.devices.map((device, i) => [device.name, i]));
		// A host with several ports is a device per port, of the port's name.
		const deviceAt = (port) => number.get(port) ?? number.get(deviceOf(port));
		this.links = topology.links.map(([a, b, rate]) => ({ports: [a, b], rate,
			ends: [deviceAt(a), deviceAt(b)]}));
		this.ways = 2 * this.links.length;
		this.wayFrom = new Map();
		this.links.forEach((link, i) => link.ports.forEach((port, side) => this.wayFrom.set(port, 2 * i + side)));
		this.findNeighbours();
		this.load = new Uint16Array(this.run ? 0 : this.ways * HISTORY).fill(UNKNOWN);
		this.blocked = new Uint16Array(this.load.length).fill(UNKNOWN);
		this.told = null; // in a run: the lists of the link that is chosen, up to sample "at"
		this.samples = 0;
		this.sample = null;
		this.number = number;
	}

	// The hosts of each switch, in their order.
	findNeighbours() {
		this.hostsOf = this.devices.map(() => []);
		for (const link of this.links)
			for (const [at, other] of [link.ends, [...link.ends].reverse()])
				if (!this.devices[at].host && this.devices[other].host)
					this.hostsOf[at].push(other);
		this.switchOf = new Map();
		this.hostsOf.forEach((hosts, at) => {
			hosts.sort((a, b) => a - b);
			hosts.forEach((host) => this.switchOf.set(host, at));
		});
	}

	take(sample) {
		this.sample = sample;
		this.roots = new Set(sample.roots.map((port) => this.wayFrom.get(port)));
		if (!this.run)
			this.remember(sample);
	}

	remember(sample) {
		const at = this.samples++ % HISTORY;
		for (let way = 0; way < this.ways; way++) {
			const load = sample.utilisation[way];
			const place = way * HISTORY + at;
			this.load[place] = load === null || sample.seconds === 0 ? UNKNOWN : Math.min(load, 1) * 10000;
			this.blocked[place] = load === null || sample.seconds === 0 ? UNKNOWN :
				Math.min(sample.blocked[way] ?? 0, 1) * 10000;
		}
	}

	// "up", "cut", "down", …; "unknown": its process has not told.
	stateOf(way) {
		if (this.sample === null || this.sample.utilisation[way] === null)
			return "unknown";
		return this.sample.state[way] ?? "up";
	}

	// A cut cable has a cut end; otherwise the state of the end that is not up counts.
	stateOfLink(link) {
		const states = [this.stateOf(2 * link), this.stateOf(2 * link + 1)];
		if (states.includes("cut"))
			return "cut";
		return states.find((state) => state !== "up" && state !== "unknown") ??
			(states.includes("up") ? "up" : "unknown");
	}

	loadOf(way) {
		return this.sample?.utilisation[way] ?? 0;
	}

	// As in the topology, or as changed with 'weft lab set'.
	rateOf(way) {
		return this.sample?.rate[way] ?? this.links[way >> 1].rate;
	}

	value(list, way) {
		return this.sample?.[list][way] ?? 0;
	}

	fillOf(way) {
		return this.sample?.fill[way] ?? [];
	}

	// Shares, oldest first; null where it is unknown. 'list': "load" or "blocked".
	series(list, way) {
		if (this.run)
			return this.told?.link === way >> 1 ? this.told[list][way % 2] : [];
		const count = Math.min(this.samples, HISTORY);
		return Array.from({length: count}, (_, i) => {
			const value = this[list][way * HISTORY + (this.samples - count + i) % HISTORY];
			return value === UNKNOWN ? null : value / 10000;
		});
	}

	nameOf(link) {
		return this.links[link].ports.join(" – ");
	}

	nameOfWay(way) {
		const [a, b] = this.links[way >> 1].ports;
		return way % 2 === 0 ? `${a} → ${b}` : `${b} → ${a}`;
	}
}
