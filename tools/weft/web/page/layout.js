// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Weft developers

// Where devices are drawn: levels of a tree, groups of a Dragonfly, a grid, or else a ring. The unit is about the
// distance of two neighbours.

const FULL = 2 * Math.PI;
const APART = 0.06; // share of their length; links that lie side by side

class Places {
	constructor(fabric, kind) {
		this.kind = kind;
		this.fabric = fabric;
		this.x = new Float32Array(fabric.devices.length);
		this.y = new Float32Array(fabric.devices.length);
		this.groups = []; // circles behind the devices: x, y, radius, name
		this.paths = [];  // by link: x, y of 3 points or more; the middle one is where its ways meet
		this.spacing = 1; // between switches that are close
	}

	put(device, x, y) {
		this.x[device] = x;
		this.y[device] = y;
	}

	// The hosts of a switch on an arc around it.
	fan(at, angle, spread, distance) {
		const hosts = this.fabric.hostsOf[at];
		hosts.forEach((host, i) => {
			const turn = angle + (hosts.length > 1 ? (i / (hosts.length - 1) - 0.5) * spread : 0);
			this.put(host, this.x[at] + distance * Math.cos(turn), this.y[at] + distance * Math.sin(turn));
		});
	}

	straight(link) {
		const [a, b] = this.fabric.links[link].ends;
		const x = this.x, y = this.y;
		return [x[a], y[a], (x[a] + x[b]) / 2, (y[a] + y[b]) / 2, x[b], y[b]];
	}

	// A curve of nine points, 'bend' of its length beside the line.
	bent(link, bend) {
		const [ax, ay, mx, my, bx, by] = this.straight(link);
		const cx = mx - 2 * bend * (by - ay), cy = my + 2 * bend * (bx - ax);
		const path = [];
		for (let i = 0; i <= 8; i++) {
			const t = i / 8, u = 1 - t;
			path.push(u * u * ax + 2 * u * t * cx + t * t * bx, u * u * ay + 2 * u * t * cy + t * t * by);
		}
		return path;
	}

	// How far each link bends so that links between the same two devices are apart.
	fanOut() {
		const {links} = this.fabric, bundles = new Map(), bends = new Float32Array(links.length);
		links.forEach(({ends}, link) => {
			const key = `${Math.min(...ends)} ${Math.max(...ends)}`;
			bundles.set(key, [...bundles.get(key) ?? [], link]);
		});
		for (const bundle of bundles.values())
			bundle.forEach((link, i) => {
				const [a, b] = links[link].ends, side = a < b ? 1 : -1;
				bends[link] = side * (i - (bundle.length - 1) / 2) * Math.min(APART, 6 * APART / bundle.length);
			});
		return bends;
	}

	finish(bendOf = () => 0) {
		const bends = this.fanOut();
		this.paths = this.fabric.links.map((_, link) => {
			const bend = bendOf(link) + bends[link];
			return bend === 0 ? this.straight(link) : this.bent(link, bend);
		});
		this.bounds = [Infinity, Infinity, -Infinity, -Infinity];
		const include = (x, y) => {
			const b = this.bounds;
			this.bounds = [Math.min(b[0], x), Math.min(b[1], y), Math.max(b[2], x), Math.max(b[3], y)];
		};
		for (const path of this.paths)
			for (let i = 0; i < path.length; i += 2)
				include(path[i], path[i + 1]);
		for (const group of this.groups) {
			include(group.x - group.radius, group.y - group.radius);
			include(group.x + group.radius, group.y + group.radius);
		}
		return this;
	}
}

// Hosts in the lowest row below their switches, a row for each stage above.
function levels(fabric) {
	const places = new Places(fabric, "levels");
	const rows = [];
	for (let i = 0; i < fabric.switches; i++)
		(rows[fabric.devices[i].stage] ??= []).push(i);
	const leaves = rows[1] ?? [];
	let width = 0;
	const slots = leaves.map((leaf) => {
		const from = width;
		width += Math.max(fabric.hostsOf[leaf].length, 1) + 0.6;
		return [from, width];
	});
	width = Math.max(width, ...rows.filter(Boolean).map((row) => row.length));
	const rise = Math.max(width / (1.8 * (rows.length - 1.3)), 1.2);
	leaves.forEach((leaf, i) => {
		const [from, to] = slots[i];
		const hosts = fabric.hostsOf[leaf];
		places.put(leaf, (from + to) / 2, 0);
		hosts.forEach((host, n) => places.put(host, (from + to) / 2 + n - (hosts.length - 1) / 2, rise * 0.7));
	});
	rows.forEach((row, stage) => {
		if (stage > 1)
			row.forEach((at, i) => places.put(at, (i + 0.5) / row.length * width, -rise * (stage - 1)));
	});
	// Hosts above the lowest stage.
	rows.forEach((row, stage) => stage > 1 && row.forEach((at) => places.fan(at, -FULL / 4, 2, rise * 0.3)));
	places.spacing = Math.min(...rows.filter(Boolean).map((row) => width / row.length));
	return places.finish();
}

// Small circles of switches on a large one; hosts outside of each small one.
function groups(fabric, size) {
	const places = new Places(fabric, "groups");
	const count = fabric.switches / size;
	const inner = Math.max(size * 1.1 / FULL, 0.6) * 1.2, reach = inner + 1.5;
	const outer = count > 1 ? Math.max(reach * 1.12 / Math.sin(Math.PI / count), reach * 1.2) : 0;
	for (let group = 0; group < count; group++) {
		const angle = group / count * FULL - FULL / 4;
		const x = outer * Math.cos(angle), y = outer * Math.sin(angle);
		places.groups.push({x, y, angle, radius: reach, name: `group ${group}`});
		for (let i = 0; i < size; i++) {
			const at = group * size + i, turn = angle + (i + 0.5) / size * FULL;
			places.put(at, x + inner * Math.cos(turn), y + inner * Math.sin(turn));
			places.fan(at, turn, Math.min(FULL / size * 0.7, 1.6), 0.85);
		}
	}
	return places.finish();
}

// Planes of two dimensions beside each other.
function grid(fabric, dims) {
	const places = new Places(fabric, "grid");
	const [wide, high = 1] = dims;
	const planes = fabric.switches / (wide * high), columns = Math.ceil(Math.sqrt(planes));
	const at = (i) => {
		const plane = Math.floor(i / (wide * high));
		return [i % wide, Math.floor(i / wide) % high, plane];
	};
	for (let i = 0; i < fabric.switches; i++) {
		const [x, y, plane] = at(i);
		places.put(i, x + (plane % columns) * (wide + 1), y + Math.floor(plane / columns) * (high + 1));
		places.fan(i, FULL / 8, Math.min(0.5 * fabric.hostsOf[i].length, 2.4), 0.36);
	}
	return places.finish((link) => {
		const [a, b] = fabric.links[link].ends;
		if (a >= fabric.switches || b >= fabric.switches)
			return 0;
		const [ax, ay, ap] = at(a), [bx, by, bp] = at(b);
		if (ap !== bp)
			return 0.06;
		return Math.abs(ax - bx) > 1 ? 0.12 : Math.abs(ay - by) > 1 ? -0.12 : 0;
	});
}

function ring(fabric) {
	const places = new Places(fabric, "ring");
	const radius = Math.max(fabric.switches / FULL, fabric.switches > 1 ? 1 : 0);
	for (let i = 0; i < fabric.switches; i++) {
		const angle = i / fabric.switches * FULL - FULL / 4;
		places.put(i, radius * Math.cos(angle), radius * Math.sin(angle));
		const hosts = fabric.hostsOf[i].length;
		places.fan(i, angle, fabric.switches === 1 ? FULL * (1 - 1 / Math.max(hosts, 1)) : Math.min(0.4 * hosts, 2),
			0.8);
	}
	return places.finish();
}

export function place(fabric) {
	const [, kind, numbers] = /^([a-z-]*[a-z])(?:-(\d.*))?$/.exec(fabric.name) ?? [];
	const switches = fabric.devices.slice(0, fabric.switches);
	if (kind === "dragonfly") {
		const size = parseInt(numbers, 10);
		if (size > 0 && fabric.switches % size === 0)
			return groups(fabric, size);
	}
	const dims = /^\d+(?:x\d+)+/.exec(numbers ?? "")?.[0].split("x").map(Number);
	if (dims && dims.reduce((a, b) => a * b, 1) === fabric.switches)
		return grid(fabric, dims);
	if (switches.length > 0 && switches.every((at) => at.stage > 0))
		return levels(fabric);
	return ring(fabric);
}
