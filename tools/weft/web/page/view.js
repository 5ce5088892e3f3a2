// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Weft developers

// The part of the fabric that is seen: moved and zoomed by mouse, touch and keys.

const MARGIN = 42, NEAR_PX = 9, STEP_PX = 60, CLICK_PX = 4;

export class View {
	// 'calls' has changed(moving), choose(link), hover(link) and key(name).
	constructor(canvas, places, calls) {
		this.canvas = canvas;
		this.places = places;
		this.calls = calls;
		this.moved = false;
		this.resize();
		this.listen();
	}

	listen() {
		const canvas = this.canvas;
		canvas.addEventListener("pointerdown", (event) => this.press(event));
		canvas.addEventListener("pointermove", (event) => this.drag(event));
		canvas.addEventListener("pointerup", (event) => this.release(event));
		canvas.addEventListener("pointercancel", () => { this.pressed = null; });
		canvas.addEventListener("keydown", (event) => this.pressKey(event));
		canvas.addEventListener("wheel", (event) => {
			event.preventDefault();
			this.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
		}, {passive: false});
		new ResizeObserver(() => this.resize()).observe(canvas);
	}

	resize() {
		const ratio = window.devicePixelRatio || 1, canvas = this.canvas;
		canvas.width = Math.round(canvas.clientWidth * ratio);
		canvas.height = Math.round(canvas.clientHeight * ratio);
		if (!this.moved)
			this.fit();
		this.calls.changed();
	}

	fit() {
		const [left, top, right, bottom] = this.places.bounds;
		const wide = this.canvas.clientWidth, high = this.canvas.clientHeight;
		this.scale = Math.max(Math.min((wide - 2 * MARGIN) / Math.max(right - left, 0.5),
			(high - 2 * MARGIN) / Math.max(bottom - top, 0.5)), 1e-3);
		this.x = wide / 2 - this.scale * (left + right) / 2;
		this.y = high / 2 - this.scale * (top + bottom) / 2;
		this.moved = false;
	}

	zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
		this.scale *= factor;
		this.x = x - (x - this.x) * factor;
		this.y = y - (y - this.y) * factor;
		this.moved = true;
		this.calls.changed(true);
	}

	move(x, y) {
		this.x += x;
		this.y += y;
		this.moved = true;
		this.calls.changed(true);
	}

	press(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.pressed = {x: event.offsetX, y: event.offsetY, far: false};
	}

	drag(event) {
		const from = this.pressed;
		if (!from) {
			this.calls.hover(this.linkAt(event.offsetX, event.offsetY));
			return;
		}
		const x = event.offsetX - from.x, y = event.offsetY - from.y;
		if (!from.far && Math.hypot(x, y) < CLICK_PX)
			return;
		this.pressed = {x: event.offsetX, y: event.offsetY, far: true};
		this.move(x, y);
	}

	release(event) {
		if (this.pressed && !this.pressed.far)
			this.calls.choose(this.linkAt(event.offsetX, event.offsetY));
		this.pressed = null;
	}

	pressKey(event) {
		const moves = {ArrowLeft: [STEP_PX, 0], ArrowRight: [-STEP_PX, 0], ArrowUp: [0, STEP_PX],
			ArrowDown: [0, -STEP_PX]};
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (moves[event.key]) {
			this.move(...moves[event.key]);
		} else if (event.key === "+" || event.key === "=") {
			this.zoom(1.25);
		} else if (event.key === "-") {
			this.zoom(0.8);
		} else if (event.key === "0") {
			this.fit();
			this.calls.changed();
		} else if (!this.calls.key(event.key)) {
			return;
		}
		event.preventDefault();
	}

	// The link closest to a point of the canvas; -1: none is near.
	linkAt(x, y) {
		let best = NEAR_PX / this.scale, found = -1;
		const px = (x - this.x) / this.scale, py = (y - this.y) / this.scale;
		this.places.paths.forEach((path, link) => {
			for (let i = 0; i + 3 < path.length; i += 2) {
				const ax = path[i], ay = path[i + 1], dx = path[i + 2] - ax, dy = path[i + 3] - ay;
				const t = Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1)));
				const far = Math.hypot(ax + t * dx - px, ay + t * dy - py);
				if (far < best) {
					best = far;
					found = link;
				}
			}
		});
		return found;
	}

	// Moves until the link is seen.
	show(link) {
		const path = this.places.paths[link], middle = (path.length / 2 - 1) / 2 * 2;
		const x = path[middle] * this.scale + this.x, y = path[middle + 1] * this.scale + this.y;
		const wide = this.canvas.clientWidth, high = this.canvas.clientHeight;
		if (x < 0 || y < 0 || x > wide || y > high)
			this.move(wide / 2 - x, high / 2 - y);
	}
}
