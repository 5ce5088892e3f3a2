// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Weft developers

// Draws the fabric on a canvas. Ways of one style are one path, so that ten thousand links are a few calls.

export const STYLES = {
	idle: {colour: "--idle", width: 1},
	load1: {colour: "--load1", width: 1.6},
	load2: {colour: "--load2", width: 2.1},
	load3: {colour: "--load3", width: 2.6},
	load4: {colour: "--load4", width: 3.1},
	load5: {colour: "--load5", width: 3.6},
	unknown: {colour: "--unknown", width: 1, dash: [1, 4]},
	down: {colour: "--down", width: 1.6, dash: [2, 4]},
	cut: {colour: "--cut", width: 1.6, dash: [6, 5]},
};

export const LEGEND = [["idle", "below 1 %"], ["load1", "to 20 %"], ["load2", "to 40 %"], ["load3", "to 60 %"],
	["load4", "to 80 %"], ["load5", "above"], ["blocked", "waits for credits"], ["cut", "cut"], ["down", "down"],
	["unknown", "not known"], ["root", "root of congestion"], ["fill", "buffer filled"], ["adapted", "adapts"]];
const MARKS = {
	blocked: {colour: "--load3", width: 2.6, dash: [4, 2]}, root: {colour: "--root", width: 2.4},
	fill: {colour: "--fill", width: 1}, adapted: {colour: "--adapted", width: 2},
};

const BLOCKED_SHOWN = 0.01; // share of the time
const LABEL_PX = 34;        // distance of devices with names
const HOST_PX = 5;
const PATH_WAYS = 4;

export function styleOf(fabric, way) {
	const state = fabric.stateOfLink(way >> 1);
	if (state === "cut" || state === "unknown")
		return state;
	if (state !== "up")
		return "down";
	if (fabric.stateOf(way) === "unknown")
		return "unknown";
	const load = fabric.loadOf(way);
	return load < 0.01 ? "idle" : `load${Math.min(Math.floor(load * 5), 4) + 1}`;
}

export function colours(element) {
	const style = getComputedStyle(element);
	const names = ["--back", "--text", "--quiet", "--line", "--switch", "--host", "--group", "--root", "--adapted",
		"--fill", "--cold", "--hot", ...Object.values(STYLES).map((entry) => entry.colour)];
	return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name).trim()]));
}

export class Drawing {
	constructor(canvas, fabric, places) {
		this.canvas = canvas;
		this.context = canvas.getContext("2d");
		this.fabric = fabric;
		this.places = places;
		this.drawn = new Array(fabric.ways).fill(""); // the style of each way, as it was drawn last
	}

	// 'view' says where the unit is: scale, x, y.
	draw(view, selected) {
		const context = this.context, ratio = window.devicePixelRatio || 1;
		this.view = view;
		this.colour = colours(this.canvas);
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, this.canvas.width, this.canvas.height);
		context.lineJoin = "round";
		this.drawGroups();
		if (selected >= 0)
			this.halo(selected);
		this.drawWays();
		this.drawBlocked();
		this.drawFill();
		this.drawRoots();
		this.drawDevices();
		this.drawCuts();
	}

	// Keeps the picture for shift().
	keep() {
		this.copy ??= document.createElement("canvas");
		this.copy.width = this.canvas.width;
		this.copy.height = this.canvas.height;
		this.copy.getContext("2d").drawImage(this.canvas, 0, 0);
		this.copied = {scale: this.view.scale, x: this.view.x, y: this.view.y};
	}

	// The kept picture where the view is now: enough while a large fabric is being moved.
	shift(view) {
		const factor = view.scale / this.copied.scale, ratio = window.devicePixelRatio || 1;
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
		this.context.drawImage(this.copy, view.x - this.copied.x * factor, view.y - this.copied.y * factor,
			this.copy.width / ratio * factor, this.copy.height / ratio * factor);
	}

	x(value) {
		return value * this.view.scale + this.view.x;
	}

	y(value) {
		return value * this.view.scale + this.view.y;
	}

	// The way's half of the path, from its sender to the middle.
	trace(way) {
		const path = this.places.paths[way >> 1], context = this.context;
		const points = path.length / 2, half = (points - 1) / 2;
		for (let i = 0; i <= half; i++) {
			const at = 2 * (way % 2 === 0 ? i : points - 1 - i);
			const x = this.x(path[at]), y = this.y(path[at + 1]);
			if (i === 0)
				context.moveTo(x, y);
			else
				context.lineTo(x, y);
		}
	}

	// A point at a share of the way's path, from its sender.
	along(way, share) {
		const path = this.places.paths[way >> 1], points = path.length / 2;
		const place = (way % 2 === 0 ? share : 1 - share) * (points - 1);
		const i = Math.min(Math.floor(place), points - 2), part = place - i;
		return [this.x(path[2 * i] + part * (path[2 * i + 2] - path[2 * i])),
			this.y(path[2 * i + 1] + part * (path[2 * i + 3] - path[2 * i + 1]))];
	}

	// The share of the way that is just beside the device at its end.
	beside(way) {
		const path = this.places.paths[way >> 1], last = path.length - 2;
		const length = Math.hypot(path[last] - path[0], path[last + 1] - path[1]) * this.view.scale;
		return Math.min((this.sizeOf(false) * 1.4 + 9) / Math.max(length, 1), 0.4);
	}

	stroke(name, width, dash = []) {
		this.context.strokeStyle = this.colour[name];
		this.context.lineWidth = width;
		this.context.setLineDash(dash);
		this.context.stroke();
	}

	// Many lines in one path cost more than their sum, as each could cross each.
	strokeWays(ways, colour, width, dash) {
		for (let first = 0; first < ways.length; first += PATH_WAYS) {
			this.context.beginPath();
			for (const way of ways.slice(first, first + PATH_WAYS))
				this.trace(way);
			this.stroke(colour, width, dash);
		}
	}

	drawGroups() {
		const context = this.context;
		for (const group of this.places.groups) {
			context.beginPath();
			context.arc(this.x(group.x), this.y(group.y), group.radius * this.view.scale, 0, 2 * Math.PI);
			context.fillStyle = this.colour["--group"];
			context.fill();
			if (group.radius * this.view.scale < LABEL_PX)
				continue;
			context.fillStyle = this.colour["--quiet"];
			context.font = "11px system-ui, sans-serif";
			context.textAlign = "center";
			context.textBaseline = "middle";
			const rim = group.radius * this.view.scale - 14;
			context.fillText(group.name, this.x(group.x) + rim * Math.cos(group.angle),
				this.y(group.y) + rim * Math.sin(group.angle));
		}
	}

	halo(link) {
		this.context.beginPath();
		this.trace(2 * link);
		this.trace(2 * link + 1);
		this.stroke("--line", 11);
	}

	// Lines and marks are thin where there is no room: 0.2 to 1.
	thinness() {
		return Math.min(1, 0.2 + this.view.scale * this.places.spacing / 50);
	}

	drawWays() {
		const lists = Object.fromEntries(Object.keys(STYLES).map((name) => [name, []]));
		for (let way = 0; way < this.fabric.ways; way++) {
			this.drawn[way] = styleOf(this.fabric, way);
			lists[this.drawn[way]].push(way);
		}
		const thin = this.thinness();
		for (const [name, style] of Object.entries(STYLES))
			this.strokeWays(lists[name], style.colour, style.width * thin, style.dash);
	}

	// Ways that wait for credits have gaps.
	drawBlocked() {
		const blocked = Object.entries(this.fabric.sample?.blocked ?? {}).filter(([, share]) => share >= BLOCKED_SHOWN);
		if (this.thinness() < 0.4)
			return;
		this.strokeWays(blocked.map(([way]) => Number(way)), "--back", 1.6, [2, 6]);
	}

	// A square at the receiver's end, as large as its fullest VC.
	drawFill() {
		const context = this.context;
		context.fillStyle = this.colour["--fill"];
		for (const [way, fill] of Object.entries(this.fabric.sample?.fill ?? {})) {
			const [x, y] = this.along(Number(way), 1 - this.beside(Number(way)));
			const size = 2 + 7 * this.thinness() * Math.min(Math.max(...fill), 1);
			context.fillRect(x - size / 2, y - size / 2, size, size);
		}
	}

	drawRoots() {
		this.context.beginPath();
		for (const way of this.fabric.roots ?? []) {
			const [x, y] = this.along(way, this.beside(way));
			this.context.moveTo(x + 6, y);
			this.context.arc(x, y, 6, 0, 2 * Math.PI);
		}
		this.stroke("--root", 2.4);
	}

	sizeOf(host) {
		const size = this.view.scale * this.places.spacing * (host ? 0.14 : 0.24);
		return Math.max(host ? 1 : 1.5, Math.min(size, host ? 5 : 9));
	}

	drawDevices() {
		const {x, y} = this.places, context = this.context;
		const box = this.sizeOf(false), dot = this.sizeOf(true);
		context.setLineDash([]);
		context.beginPath();
		for (let i = this.fabric.switches; i < this.fabric.devices.length; i++) {
			context.moveTo(this.x(x[i]) + dot, this.y(y[i]));
			context.arc(this.x(x[i]), this.y(y[i]), dot, 0, 2 * Math.PI);
		}
		context.fillStyle = this.colour["--host"];
		context.fill();
		context.beginPath();
		for (let i = 0; i < this.fabric.switches; i++)
			context.rect(this.x(x[i]) - box, this.y(y[i]) - box, 2 * box, 2 * box);
		context.fillStyle = this.colour["--switch"];
		context.fill();
		this.drawHeat(box);
		this.drawAdapted(this.fabric.sample?.switches, box + 3);
		this.drawAdapted(this.fabric.sample?.hosts, dot + 2);
		this.drawNames(box);
	}

	// The map of latencies: larger and from cold to hot, so that the colour is not needed.
	drawHeat(box) {
		const context = this.context;
		for (let i = 0; i < this.fabric.switches; i++) {
			const heat = this.heatOf?.(i) ?? null, size = box + 8 * heat;
			if (heat === null)
				continue;
			const x = this.x(this.places.x[i]) - size, y = this.y(this.places.y[i]) - size;
			context.fillStyle = this.colour["--cold"];
			context.fillRect(x, y, 2 * size, 2 * size);
			context.globalAlpha = heat;
			context.fillStyle = this.colour["--hot"];
			context.fillRect(x, y, 2 * size, 2 * size);
			context.globalAlpha = 1;
		}
	}

	// A frame around switches and hosts that send packets another way.
	drawAdapted(list = {}, size) {
		this.context.beginPath();
		for (const [name, entry] of Object.entries(list))
			if (entry.adapted_per_s > 0) {
				const at = this.fabric.number.get(name);
				this.context.rect(this.x(this.places.x[at]) - size, this.y(this.places.y[at]) - size, 2 * size, 2 * size);
			}
		this.stroke("--adapted", 2);
	}

	drawNames(box) {
		const {x, y, spacing} = this.places, context = this.context;
		const hosts = this.view.scale * (this.places.kind === "grid" ? 0.4 : 0.85) >= LABEL_PX;
		if (this.view.scale * spacing < LABEL_PX)
			return;
		context.font = "11px system-ui, sans-serif";
		context.textAlign = "center";
		context.textBaseline = "middle";
		context.lineWidth = 3;
		context.strokeStyle = this.colour["--back"];
		context.fillStyle = this.colour["--text"];
		this.fabric.devices.forEach((device, i) => {
			if (device.host && !hosts)
				return;
			const [right, under] = device.host ? this.outwards(i) : [0, -box - 8];
			context.strokeText(device.name, this.x(x[i]) + right, this.y(y[i]) + under);
			context.fillText(device.name, this.x(x[i]) + right, this.y(y[i]) + under);
		});
	}

	// The place of a host's name: on the side where its switch is not.
	outwards(host) {
		const {x, y, kind} = this.places, at = this.fabric.switchOf.get(host);
		if (kind === "levels" || at === undefined)
			return [0, HOST_PX + 9];
		const right = x[host] - x[at], under = y[host] - y[at], far = Math.hypot(right, under) || 1;
		return [18 * right / far, 14 * under / far];
	}

	// Crosses, so that the colour is not needed.
	drawCuts() {
		const context = this.context;
		context.beginPath();
		for (let link = 0; link < this.fabric.links.length; link++) {
			if (this.drawn[2 * link] !== "cut")
				continue;
			const [x, y] = this.along(2 * link, 0.5);
			context.moveTo(x - 5, y - 5);
			context.lineTo(x + 5, y + 5);
			context.moveTo(x - 5, y + 5);
			context.lineTo(x + 5, y - 5);
		}
		this.stroke("--cut", 2.6);
	}
}

// A sample of a line for the legend.
export function drawKey(canvas, name) {
	const ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d"), colour = colours(canvas);
	const style = STYLES[name] ?? MARKS[name];
	canvas.width = 26 * ratio;
	canvas.height = 12 * ratio;
	context.scale(ratio, ratio);
	context.fillStyle = context.strokeStyle = colour[style.colour];
	context.lineWidth = style.width;
	context.setLineDash(style.dash ?? []);
	context.beginPath();
	if (name === "root") {
		context.arc(13, 6, 5, 0, 2 * Math.PI);
	} else if (name === "adapted") {
		context.rect(8.5, 1.5, 9, 9);
	} else if (name === "fill") {
		context.fillRect(10, 3, 6, 6);
	} else {
		context.moveTo(1, 6);
		context.lineTo(25, 6);
	}
	context.stroke();
}
