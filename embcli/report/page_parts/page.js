"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const { words, k } = data, n = words.length;
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const places = new Uint16Array(bytes(data.places));
  const near = data.wide ? new Int32Array(bytes(data.near)) : new Uint16Array(bytes(data.near));
  const scores = new Int16Array(bytes(data.scores)), counts = new Uint32Array(bytes(data.counts));
  const NONE = data.wide ? -1 : 65535;
  const map = $("map"), dots = $("dots"), over = $("over"), tip = $("tip"), side = $("side");
  const pen = dots.getContext("2d"), ink = over.getContext("2d");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const INSIDE = location.protocol === "about:";  // a frame of another page
  const number = (x) => x.toLocaleString("en-US");

  // ---- what is looked at: a place p of the map is drawn at p * view.s + view.x, in CSS pixels
  const view = { s: 1, x: 0, y: 0 };
  let W = 0, H = 0, ratio = 1, fine = 1, pixels = null, image = null;
  let chosen = -1, hovered = -1, byCount = true, flight = null, due = false, dotted = false;
  const X = (i) => places[2 * i] * view.s + view.x, Y = (i) => (65535 - places[2 * i + 1]) * view.s + view.y;

  function whole() {
    let top = 0, right = 0, left = 65535, low = 65535;
    for (let i = 0; i < n; i++) {
      const x = places[2 * i], y = 65535 - places[2 * i + 1];
      if (x < left) left = x; if (x > right) right = x; if (y < low) low = y; if (y > top) top = y;
    }
    const s = Math.min((W - 90) / Math.max(right - left, 1), (H - 60) / Math.max(top - low, 1));
    return { s, x: W / 2 - s * (left + right) / 2, y: H / 2 - s * (low + top) / 2 };
  }

  // ---- colors: numbers 0xAABBGGRR for the buffer of pixels, one of 64 steps for each word
  const STEPS = 64, level = new Uint8Array(n);
  let palette, pale, paper, style, stamps = new Map();
  const most = counts.reduce((a, b) => Math.max(a, b), 1), least = counts.reduce((a, b) => Math.min(a, b), most);
  const span = Math.log(most / Math.max(least, 1)) || 1;
  for (let i = 0; i < n; i++) level[i] = Math.round((STEPS - 1) * Math.max(0, Math.log(Math.max(counts[i], 1) / Math.max(least, 1)) / span));
  // rare words first, so that frequent ones lie on top
  const order = Uint32Array.from({ length: n }, (_, i) => i).sort((a, b) => counts[a] - counts[b] || b - a);
  const rgb = (text) => [1, 3, 5].map((i) => parseInt(text.trim().slice(i, i + 2), 16));
  const packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  const mixed = (a, b, t) => a.map((v, i) => Math.round(v + (b[i] - v) * t));

  function colors() {
    const css = getComputedStyle(document.documentElement), get = (name) => css.getPropertyValue(name).trim();
    const stops = get("--scale").split(",").map(rgb), back = rgb(get("--paper"));
    style = { ink: get("--ink"), muted: get("--muted"), paper: get("--paper"), mark: get("--mark"), faint: get("--faint") };
    paper = packed(back);
    stamps = new Map();
    palette = new Uint32Array(STEPS); pale = new Uint32Array(STEPS);
    for (let i = 0; i < STEPS; i++) {
      const at = i / (STEPS - 1) * (stops.length - 1), j = Math.min(Math.floor(at), stops.length - 2);
      const c = byCount ? mixed(stops[j], stops[j + 1], at - j) : stops[2];
      palette[i] = packed(c); pale[i] = packed(mixed(c, back, 0.62));
    }
  }

  // ---- dots: written into a buffer of pixels, which is as fast everywhere and needs no graphics card
  const sprites = new Map();
  function sprite(r) {
    const key = Math.round(r * 4);
    if (sprites.has(key)) return sprites.get(key);
    const size = Math.ceil(r), made = [];
    for (let y = -size; y <= size; y++) for (let x = -size; x <= size; x++) {
      const cover = Math.max(0, Math.min(1, r + 0.5 - Math.hypot(x, y)));
      if (cover > 0.03) made.push(x, y, Math.round(cover * 256));
    }
    const found = { size, spots: Int16Array.from(made) };
    sprites.set(key, found);
    return found;
  }

  function drawDots() {
    const w = dots.width, h = dots.height, s = view.s * fine, left = view.x * fine, top = view.y * fine;
    const colors = chosen >= 0 ? pale : palette;
    pixels.fill(paper);
    const grow = Math.min(2.4, Math.pow(view.s / base.s, 0.3)) * fine * (n > 20000 ? 0.75 : n > 3000 ? 1 : 1.6);
    const offsets = [], alphas = [], sizes = [];
    for (let q = 0; q < 4; q++) {
      const { size, spots } = sprite((1.1 + 0.55 * q) * grow);
      const o = new Int32Array(spots.length / 3), a = new Int32Array(spots.length / 3);
      for (let i = 0; i < o.length; i++) { o[i] = spots[3 * i] + spots[3 * i + 1] * w; a[i] = spots[3 * i + 2]; }
      offsets.push(o); alphas.push(a); sizes.push(size);
    }
    for (let j = 0; j < n; j++) {
      const i = order[j], x = (places[2 * i] * s + left + 0.5) | 0, y = ((65535 - places[2 * i + 1]) * s + top + 0.5) | 0;
      const q = level[i] >> 4, size = sizes[q];
      if (x < size || y < size || x >= w - size || y >= h - size) continue;
      const c = colors[level[i]], o = offsets[q], a = alphas[q], at = y * w + x;
      const cr = c & 255, cg = (c >> 8) & 255, cb = (c >> 16) & 255;
      for (let m = 0; m < o.length; m++) {
        const alpha = a[m], p = at + o[m];
        if (alpha === 256) { pixels[p] = c; continue; }
        const d = pixels[p], r = d & 255, g = (d >> 8) & 255, b = (d >> 16) & 255;
        pixels[p] = 0xff000000 | ((b + ((cb - b) * alpha >> 8)) << 16) | ((g + ((cg - g) * alpha >> 8)) << 8) | (r + ((cr - r) * alpha >> 8));
      }
    }
    pen.putImageData(image, 0, 0);
  }

  // ---- labels: the frequent words first, each where it covers no other
  const widths = new Float32Array(n), BOLD = "650 14px ", PLAIN = "12px ";
  const FACE = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
  const shown = (i) => words[i].length > 40 ? words[i].slice(0, 39) + "\u2026" : words[i];
  let taken = new Uint8Array(0), cells = 0;
  function room(x, y, w, h, take) {
    const a = Math.max(0, x >> 2), b = Math.min(cells - 1, (x + w) >> 2), c = Math.max(0, y >> 2), d = (y + h) >> 2;
    for (let v = c; v <= d; v++) for (let u = a; u <= b; u++) {
      if (take) taken[v * cells + u] = 1; else if (taken[v * cells + u]) return false;
    }
    return true;
  }
  // a label is drawn once, with a rim of paper around its letters, and stamped from then on
  function stamp(i, bold, color) {
    const key = i * 4 + (bold ? 2 : 0) + (color === style.ink ? 1 : 0), old = stamps.get(key);
    if (old) return old;
    if (stamps.size > 3000) stamps = new Map();
    const sheet = document.createElement("canvas"), p = sheet.getContext("2d"), font = (bold ? BOLD : PLAIN) + FACE;
    p.font = font;
    const width = p.measureText(shown(i)).width, height = bold ? 22 : 18;
    sheet.width = Math.ceil((width + 8) * ratio); sheet.height = Math.ceil(height * ratio);
    p.setTransform(ratio, 0, 0, ratio, 0, 0);
    p.font = font; p.textBaseline = "middle"; p.lineJoin = "round"; p.lineWidth = 3.2;
    p.strokeStyle = style.paper; p.strokeText(shown(i), 4, height / 2);
    p.fillStyle = color; p.fillText(shown(i), 4, height / 2);
    const made = { sheet, width, height };
    stamps.set(key, made);
    return made;
  }
  function put(mark, x, y) {
    const snap = (v) => Math.round(v * ratio) / ratio;
    ink.drawImage(mark.sheet, snap(x - 4), snap(y - mark.height / 2), mark.sheet.width / ratio, mark.sheet.height / ratio);
    room((x - 3) | 0, (y - 9) | 0, mark.width + 6, 17, true);
  }
  function label(i, bold, color) {
    const x = X(i), y = Y(i), far = bold ? 9 : 6;
    const mark = widths[i] && !bold ? null : stamp(i, bold, color), width = mark ? mark.width : widths[i];
    if (!bold) widths[i] = width;
    for (const [a, b] of [[x + far, y], [x - far - width, y], [x - width / 2, y - 13], [x - width / 2, y + 13]]) {
      if (a < 2 || b < 10 || a + width > W - 2 || b > H - 10) continue;
      if (!room((a - 3) | 0, (b - 9) | 0, width + 6, 17, false)) continue;
      put(mark || stamp(i, bold, color), a, b);
      return true;
    }
    if (bold) put(mark, x + far, y);
    return bold;
  }

  function drawOver() {
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, W, H);
    cells = (W >> 2) + 2;
    const need = cells * ((H >> 2) + 8);
    if (taken.length < need) taken = new Uint8Array(need); else taken.fill(0);
    const ring = (i, r, color) => { ink.beginPath(); ink.arc(X(i), Y(i), r, 0, 7); ink.fillStyle = color; ink.fill();
      ink.lineWidth = 1.5; ink.strokeStyle = style.paper; ink.stroke(); };
    let labelled = new Set();
    if (chosen >= 0) {
      const others = neighbors(chosen).map(([i]) => i);
      ink.strokeStyle = style.mark; ink.lineWidth = 1; ink.globalAlpha = 0.55;
      ink.beginPath();
      for (const i of others) { ink.moveTo(X(chosen), Y(chosen)); ink.lineTo(X(i), Y(i)); }
      ink.stroke(); ink.globalAlpha = 1;
      for (const i of others) ring(i, 4, style.ink);
      ring(chosen, 6, style.mark);
      label(chosen, true, style.ink);
      for (const i of others) label(i, false, style.ink);
      labelled = new Set([chosen, ...others]);
    }
    if (hovered >= 0 && hovered !== chosen) ring(hovered, 5, style.mark);
    let left = Math.min(160, W * H / 5500), color = chosen >= 0 ? style.muted : style.ink;
    if (chosen >= 0) left *= 0.5;
    ink.globalAlpha = chosen >= 0 ? 0.75 : 1;
    for (let j = n - 1, tries = 900; j >= 0 && left > 0 && tries > 0; j--) {
      const i = order[j], x = X(i), y = Y(i);
      if (x < 0 || y < 0 || x > W || y > H || labelled.has(i)) continue;
      tries--;
      if (label(i, false, color)) left--;
    }
    ink.globalAlpha = 1;
  }

  let base = view;
  function frame(now) {
    due = false;
    if (flight) {
      const t = Math.min(1, Math.max(0, now - flight.start) / flight.time), e = t * t * (3 - 2 * t), a = flight.from, b = flight.to;
      view.s = a.s * Math.pow(b.s / a.s, e);
      // the point that is flown to moves evenly on the screen
      view.x = (a.px + (b.px - a.px) * e) - flight.wx * view.s;
      view.y = (a.py + (b.py - a.py) * e) - flight.wy * view.s;
      if (t < 1) draw(); else flight = null;
    }
    paint();
  }
  function paint() {
    if (!dotted) { drawDots(); dotted = true; }
    drawOver();
  }
  // what only marks a word leaves the dots as they are
  function draw(all = true) { if (all) dotted = false; if (!due) { due = true; requestAnimationFrame(frame); } }

  function resize() {
    const box = map.getBoundingClientRect(), before = W ? { W, H, ratio } : null;
    W = Math.max(1, Math.round(box.width)); H = Math.max(1, Math.round(box.height));
    ratio = window.devicePixelRatio || 1;
    if (before && before.W === W && before.H === H && before.ratio === ratio) return;  // an observer's first call
    fine = Math.min(ratio, Math.max(1, Math.sqrt(4e6 / (W * H))));
    dots.width = Math.round(W * fine); dots.height = Math.round(H * fine);
    over.width = Math.round(W * ratio); over.height = Math.round(H * ratio);
    image = pen.createImageData(dots.width, dots.height);
    pixels = new Uint32Array(image.data.buffer);
    stamps = new Map();
    base = whole();
    if (!before) Object.assign(view, base);
    else { view.x += (W - before.W) / 2; view.y += (H - before.H) / 2; }
    dotted = false;
    paint();  // at once: the new size has emptied the canvases, and nobody shall see them so
  }

  // ---- which word is under the pointer: a grid of the map, each cell with its words
  const SIDE = 256, starts = new Uint32Array(SIDE * SIDE + 1), listed = new Uint32Array(n);
  const cell = (i) => (places[2 * i + 1] >> 8) * SIDE + (places[2 * i] >> 8);
  for (let i = 0; i < n; i++) starts[cell(i) + 1]++;
  for (let i = 0; i < SIDE * SIDE; i++) starts[i + 1] += starts[i];
  { const next = starts.slice(); for (let i = 0; i < n; i++) listed[next[cell(i)]++] = i; }
  function under(x, y) {
    const reach = 11, clamp = (v) => Math.max(0, Math.min(SIDE - 1, v >> 8));
    const a = clamp((x - reach - view.x) / view.s), b = clamp((x + reach - view.x) / view.s);
    const c = clamp(65535 - (y + reach - view.y) / view.s), d = clamp(65535 - (y - reach - view.y) / view.s);
    let best = -1, least = reach * reach;
    for (let v = c; v <= d; v++) for (let u = a; u <= b; u++) {
      for (let j = starts[v * SIDE + u]; j < starts[v * SIDE + u + 1]; j++) {
        const i = listed[j], far = (X(i) - x) ** 2 + (Y(i) - y) ** 2;
        if (far < least || (far === least && counts[i] > counts[best])) { least = far; best = i; }
      }
    }
    return best;
  }

  // ---- moving
  function zoom(factor, x = W / 2, y = H / 2) {
    const s = Math.max(base.s * 0.5, Math.min(base.s * 400, view.s * factor)), f = s / view.s;
    flight = null;
    view.x = x - (x - view.x) * f; view.y = y - (y - view.y) * f; view.s = s;
    draw();
  }
  function fly(i) {  // to where the word and its neighbors fill the map
    let [left, right] = [places[2 * i], places[2 * i]], [low, top] = [65535 - places[2 * i + 1], 65535 - places[2 * i + 1]];
    for (const [j] of neighbors(i)) {
      const x = places[2 * j], y = 65535 - places[2 * j + 1];
      left = Math.min(left, x); right = Math.max(right, x); low = Math.min(low, y); top = Math.max(top, y);
    }
    const fit = Math.min((W - 200) / Math.max(right - left, 1), (H - 120) / Math.max(top - low, 1));
    const s = Math.max(base.s * 0.9, Math.min(fit, base.s * 10)), wx = (left + right) / 2, wy = (low + top) / 2;
    const from = { s: view.s, px: wx * view.s + view.x, py: wy * view.s + view.y };
    flight = { from, to: { s, px: W / 2, py: H / 2 }, wx, wy, start: performance.now(), time: calm.matches ? 1 : 450 };
    draw();
  }
  function home() { flight = null; Object.assign(view, whole()); draw(); }

  const fingers = new Map();
  let moved = 0;
  const spot = (e) => { const box = over.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
  over.addEventListener("pointerdown", (e) => {
    if (e.button) return;
    over.setPointerCapture(e.pointerId); fingers.set(e.pointerId, spot(e)); moved = 0;
    if (document.activeElement === $("search")) $("search").blur();
  });
  over.addEventListener("pointermove", (e) => {
    const at = spot(e), last = fingers.get(e.pointerId);
    if (!last) { hover(at); return; }
    const others = [...fingers].filter(([id]) => id !== e.pointerId);
    if (others.length) {
      const [, o] = others[0], was = Math.hypot(last[0] - o[0], last[1] - o[1]), is = Math.hypot(at[0] - o[0], at[1] - o[1]);
      zoom(is / Math.max(was, 1), (at[0] + o[0]) / 2, (at[1] + o[1]) / 2);
      moved = 99;
    } else {
      moved += Math.abs(at[0] - last[0]) + Math.abs(at[1] - last[1]);
      if (moved > 3) { flight = null; over.classList.add("drag"); hover(null); view.x += at[0] - last[0]; view.y += at[1] - last[1]; draw(); }
    }
    fingers.set(e.pointerId, at);
  });
  const lift = (e) => {
    if (!fingers.delete(e.pointerId)) return;
    over.classList.remove("drag");
    if (e.type === "pointerup" && moved <= 3) choose(under(...spot(e)), false);
  };
  over.addEventListener("pointerup", lift);
  over.addEventListener("pointercancel", lift);
  over.addEventListener("pointerleave", () => hover(null));
  over.addEventListener("wheel", (e) => {
    if (INSIDE && !document.hasFocus() && !e.ctrlKey) return;  // who has not clicked yet scrolls the page around
    e.preventDefault();
    zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : e.ctrlKey ? 0.01 : 0.0016)), ...spot(e));
  }, { passive: false });
  over.addEventListener("dblclick", (e) => zoom(2, ...spot(e)));

  function hover(at) {
    const i = at ? under(...at) : -1;
    if (i < 0) tip.hidden = true;
    else {
      tip.replaceChildren(Object.assign(document.createElement("b"), { textContent: words[i] }),
        Object.assign(document.createElement("small"), { textContent: facts(i) }));
      tip.hidden = false;
      const w = tip.offsetWidth, h = tip.offsetHeight;
      tip.style.left = Math.max(4, Math.min(W - w - 4, X(i) + 12)) + "px";
      tip.style.top = (Y(i) + 14 + h > H ? Y(i) - h - 10 : Y(i) + 10) + "px";
    }
    over.classList.toggle("point", i >= 0);
    if (i !== hovered) { hovered = i; draw(false); }
  }
  const facts = (i) => counts[i] ? `count ${number(counts[i])}` : "";

  // ---- the panel
  function neighbors(i) {
    const found = [];
    for (let j = i * k; j < (i + 1) * k && near[j] !== NONE; j++) found.push([near[j], scores[j] / 10000]);
    return found;
  }
  function make(tag, text, kind) { const e = document.createElement(tag); e.textContent = text; if (kind) e.className = kind; return e; }
  function panel() {
    side.replaceChildren();
    if (chosen < 0) {
      side.append(make("p", "Click a word, or search one, for its nearest neighbors. Drag to move, wheel or pinch to zoom."));
      return;
    }
    const list = document.createElement("ol");
    side.append(make("h2", words[chosen]), make("p", facts(chosen)), list);
    const found = neighbors(chosen);
    for (const [i, score] of found) {
      const row = document.createElement("button"), bar = document.createElement("i");
      row.type = "button";
      bar.style.width = Math.max(2, 100 * score) + "%";
      row.append(make("span", words[i]), make("span", score.toFixed(4), "count"), make("span", counts[i] ? number(counts[i]) : "", "count"), bar);
      row.addEventListener("click", () => choose(i, true));
      row.addEventListener("pointerenter", () => { hovered = i; draw(false); });
      row.addEventListener("pointerleave", () => { hovered = -1; draw(false); });
      list.appendChild(document.createElement("li")).append(row);
    }
    if (!found.length) side.append(make("p", "This row has no direction, so no neighbors."));
  }
  function choose(i, go) {
    chosen = i;
    panel();
    if (i >= 0 && go) fly(i);
    if (INSIDE) { draw(); return; }  // there is no address to change
    const hash = i < 0 ? "" : "#" + encodeURIComponent(words[i]);
    if (decodeURIComponent(location.hash) !== decodeURIComponent(hash)) history.replaceState(null, "", hash || location.pathname + location.search);
    draw();
  }

  // ---- searching
  const field = $("search"), found = $("found"), folded = words.map((w) => w.toLowerCase());
  let hits = [], at = 0;
  function search() {
    const wanted = field.value.trim().toLowerCase();
    hits = [];
    if (wanted) {
      const first = [], second = [], third = [];
      for (let j = n - 1; j >= 0; j--) {
        const i = order[j], place = folded[i].indexOf(wanted);
        if (place < 0) continue;
        const list = folded[i].trim() === wanted ? first : place === 0 ? second : third;
        if (list.length < 10) list.push(i);
      }
      hits = [...first, ...second, ...third].slice(0, 10);
    }
    at = 0;
    found.hidden = !wanted;
    field.setAttribute("aria-expanded", String(!found.hidden));
    list();
    if (wanted && !hits.length) found.append(make("li", `no word here contains \u201c${field.value.trim()}\u201d`, "none"));
  }
  function list() {
    found.replaceChildren(...hits.map((i, j) => {
      const row = document.createElement("li");
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", String(j === at));
      row.append(make("span", words[i]), make("small", counts[i] ? number(counts[i]) : ""));
      row.addEventListener("pointerdown", (e) => { e.preventDefault(); take(j); });
      return row;
    }));
  }
  function take(j) {
    if (j >= hits.length) return;
    const i = hits[j];
    field.value = words[i]; found.hidden = true; field.setAttribute("aria-expanded", "false");
    field.select();
    choose(i, true);
  }
  field.addEventListener("input", search);
  field.addEventListener("focus", () => { if (field.value) field.select(); });
  field.addEventListener("blur", () => { found.hidden = true; });
  field.addEventListener("keydown", (e) => {
    if (e.key === "Enter") take(at);
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      at = (at + (e.key === "ArrowDown" ? 1 : hits.length - 1)) % Math.max(hits.length, 1);
      list();
    } else if (e.key === "Escape") { field.value = ""; search(); field.blur(); }
    e.stopPropagation();
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[e.key];
    if (e.key === "/") { e.preventDefault(); field.focus(); }
    else if (e.key === "Escape") choose(-1, false);
    else if (e.key === "+" || e.key === "=") zoom(1.4);
    else if (e.key === "-") zoom(1 / 1.4);
    else if (e.key === "0") home();
    else if (step && document.activeElement === over) { e.preventDefault(); flight = null; view.x += step[0]; view.y += step[1]; draw(); }
  });

  // ---- looks
  $("color").addEventListener("click", () => {
    byCount = !byCount;
    $("color").setAttribute("aria-pressed", String(byCount));
    $("scale").style.visibility = byCount ? "" : "hidden";
    colors(); draw();
  });
  $("whole").addEventListener("click", home);
  $("theme").addEventListener("click", () => {
    const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    root.dataset.theme = (root.dataset.theme || system) === "dark" ? "light" : "dark";
    colors(); draw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colors(); draw(); });
  $("low").textContent = number(least);
  $("high").textContent = number(most);

  function fromHash() {
    let word = "";
    try { word = decodeURIComponent(location.hash.slice(1)); } catch { /* not ours */ }
    const i = word ? words.indexOf(word) : -1;
    if (i >= 0 && i !== chosen) choose(i, true);
  }
  colors();
  panel();
  new ResizeObserver(resize).observe(map);
  resize();
  fromHash();
  addEventListener("hashchange", fromHash);
})();
