// Links as pipes: users on the left, receivers on the right; widths are rates, levels are queues.

const PIPES = DATA.pipes;
const OF_CLASS = PIPES ? PIPES.classes.map(([name]) => DATA.streams.flatMap((one, n) => (one.class === name ? [n] : []))) : [];
const TANK = 20; // pixels of a queue's width

const peakOf = (values) => values.reduce((most, value) => Math.max(most, value), 0); // there may be too many for one call

function at(values, time) {
  const before = Math.floor(time), after = Math.min(before + 1, LAST);
  return values[before] + (time - before) * (values[after] - values[before]);
}

// Pixels of the picture, for a canvas of that size; where columns are crowded, type is smaller and texts are fewer.
const CROWD = PIPES ? Math.max(...PIPES.slots.map(([, , left]) => PIPES.slots.filter((other) => other[2] === left && other[0] !== "lane").length)) : 1;
function frameOf(width, height) {
  const room = (height - 20) / CROWD, size = Math.min(17, Math.max(8, Math.min(width / 70, room / 2.6)));
  const top = size * 2.2, scale = (height - top - size) / PIPES.height;
  return { x: (x) => 2 + x * (width - 4), y: (y) => top + y * scale, scale, size, compact: room < 5 * size };
}

// Where the middle of each course is in each of its slots, and how wide it is.
function laidOut(time, to) {
  const wide = PIPES.courses.map(([stream, part]) => Math.max(1, part * at(PIPES.flows[stream], time) * PIPES.per_mbps * to.scale));
  const middle = PIPES.courses.map(() => []);
  PIPES.slots.forEach(([, , , , y, , courses], slot) => {
    let above = to.y(y) - courses.reduce((sum, course) => sum + wide[course], 0) / 2;
    for (const course of courses) {
      middle[course][slot] = above + wide[course] / 2;
      above += wide[course];
    }
  });
  return { wide, middle };
}

// One edge of a course, `aside` pixels from its middle, on from where the pen is or back.
function edge(pen, course, lines, to, aside, back) {
  const slots = PIPES.courses[course][2], last = slots.length - 1, points = [];
  slots.forEach((slot, n) => {
    const [, , left, right] = PIPES.slots[slot], y = lines.middle[course][slot] + aside;
    if (n > 0) points.push([to.x(left), y]);
    if (n < last) points.push([to.x(right), y]);
  });
  if (back) points.reverse();
  points.forEach(([x, y], n) => {
    const [before, from] = points[n - 1] || [x, y], half = (x + before) / 2;
    if (n % 2) pen.bezierCurveTo(half, from, half, y, x, y); // from one slot to the next
    else pen.lineTo(x, y);
  });
}

// Ribbons as wide as rates, with marks that move on: they show the direction, not the speed.
function drawFlows(pen, time, lines, to, look) {
  pen.lineCap = "butt";
  PIPES.courses.forEach(([stream], course) => {
    if (at(PIPES.flows[stream], time) <= 0) return;
    const half = lines.wide[course] / 2;
    pen.globalAlpha = 0.82; pen.fillStyle = tone(stream, look);
    pen.beginPath(); edge(pen, course, lines, to, -half, false); edge(pen, course, lines, to, half, true); pen.fill();
    pen.setLineDash([3, 21]); pen.lineDashOffset = -60 * secondsAt(time);
    pen.globalAlpha = 0.5; pen.lineWidth = Math.max(1, half);
    pen.strokeStyle = look.halo; pen.beginPath(); edge(pen, course, lines, to, 0, false); pen.stroke();
  });
  pen.setLineDash([]); pen.globalAlpha = 1;
}

function rounded(pen, left, top, width, height, radius) {
  pen.beginPath(); pen.roundRect(left, top, width, height, Math.min(radius, height / 2));
}

function label(pen, text, x, y, look, size, how = {}) {
  pen.font = (how.bold ? "600 " : "") + size + "px " + look.font;
  pen.textAlign = how.align || "center"; pen.textBaseline = how.base || "alphabetic";
  pen.strokeStyle = look.halo; pen.lineWidth = 3; pen.lineJoin = "round"; pen.strokeText(text, x, y);
  pen.fillStyle = how.colour || look.ink; pen.fillText(text, x, y);
}

const pixels = ([, , left, right, y, height], to) => {
  const half = (height * to.scale) / 2;
  return { left: to.x(left), right: to.x(right), top: to.y(y) - half, base: to.y(y) + half };
};

function drawPipe(pen, slot, to, look) {
  const { left, right, top, base } = pixels(slot, to);
  const cut = (PIPES.pipes[slot[1]].rate || 0) * PIPES.per_mbps > 1.05 * slot[5];
  pen.fillStyle = look.band; pen.strokeStyle = look.faint; pen.lineWidth = 1.4; pen.setLineDash(cut ? [6, 4] : []);
  rounded(pen, left, top - 3, right - left, base - top + 6, 10); pen.fill(); pen.stroke(); pen.setLineDash([]);
}

// A pipe's name and rate; what its queue holds, as a level up to its limit; and what was dropped of late.
function drawTank(pen, slot, time, to, look) {
  const pipe = PIPES.pipes[slot[1]], box = pixels(slot, to), size = to.size;
  const flow = slot[6].reduce((sum, n) => sum + PIPES.courses[n][1] * at(PIPES.flows[PIPES.courses[n][0]], time), 0);
  const rate = digits(flow) + (pipe.of ? " of " + pipe.of : " Mb/s"), middle = (box.left + box.right + TANK) / 2;
  if (!to.compact) {
    label(pen, pipe.name, box.left, box.top - 9, look, size, { bold: true, align: "left" });
    label(pen, rate, box.right, box.top - 9, look, size * 0.9, { align: "right" });
  }
  if (pipe.queue.length) drawQueue(pen, pipe, box, time, to, look);
  if (!to.compact) return;
  const text = pipe.name + ": " + rate, fit = fitted(pen, text, box.right - box.left - TANK - 4, size, look);
  label(pen, text, middle, (box.top + box.base) / 2, look, fit, { base: "middle" });
}

// The size at which a text is at most so many pixels wide.
function fitted(pen, text, width, size, look, bold) {
  pen.font = (bold ? "600 " : "") + size + "px " + look.font;
  return size * Math.min(1, width / pen.measureText(text).width);
}

function drawQueue(pen, pipe, box, time, to, look) {
  const size = to.size;
  const top = box.top - 3, base = box.base + 3, most = levelOf(pipe), height = (packets) => (base - top) * Math.min(1, packets / most);
  const waiting = at(pipe.queue, time), drops = at(pipe.drops, time);
  pen.fillStyle = look.page; pen.strokeStyle = look.faint; pen.lineWidth = 1.4;
  rounded(pen, box.left, top, TANK, base - top, 4); pen.fill();
  pen.save(); pen.clip();
  pen.fillStyle = look.queue; pen.fillRect(box.left, base - height(waiting), TANK, height(waiting));
  pen.restore(); pen.stroke();
  pen.strokeStyle = look.ink; pen.lineWidth = 1; pen.setLineDash([3, 2]);
  for (const mark of pipe.marks) if (mark < most) tick(pen, box.left, base - height(mark), TANK, 0);
  pen.setLineDash([]);
  if (to.compact) return;
  const text = Math.round(waiting) + (Math.round(waiting) === 1 ? " packet" : " packets");
  const below = base + 3 + size;
  label(pen, text, box.left, below, look, size * 0.9, { align: "left" });
  if (drops > 0) label(pen, digits(drops) + " drops/s", box.left, below + size * 1.15, look, size * 0.9, { align: "left", colour: look.drop });
  pen.fillStyle = look.drop;
  for (let n = 0; n < Math.min(drops, 12); n++) { // packets that fall out of the queue
    const fall = (secondsAt(time) * 0.9 + n / Math.min(drops, 12)) % 1;
    pen.globalAlpha = 1 - fall;
    pen.beginPath(); pen.arc(box.left - 5 - 4 * (n % 2), base - 8 + fall * size * 2.4, 2.4, 0, 7); pen.fill();
  }
  pen.globalAlpha = 1;
}

// The most that a tank shows: what the queue held at most, RED's second threshold, or its limit if that is near.
const levels = new Map();
function levelOf(pipe) {
  if (!levels.has(pipe)) {
    const most = Math.max(1, peakOf(pipe.queue), ...pipe.marks) * 1.1;
    levels.set(pipe, pipe.room && pipe.room < 1.6 * most ? pipe.room : most);
  }
  return levels.get(pipe);
}

function drawEnds(pen, slot, time, to, look) {
  const [kind, number] = slot, [name, users, controller] = PIPES.classes[number], box = pixels(slot, to), size = to.size;
  const own = OF_CLASS[number], middle = (box.left + box.right) / 2, first = own[0];
  const total = own.reduce((sum, stream) => sum + at(PIPES.flows[stream], time), 0);
  const rate = digits(total / users) + " Mb/s";
  const wide = kind === "class"
    ? [[name, true], [(users === 1 ? "1 user" : users + " users") + ", " + controller, false]]
    : [[rate, true], [name + (users === 1 ? "" : ", per user"), false]];
  const texts = to.compact ? [[kind === "class" ? name : name + ": " + rate, true]] : wide;
  const crowd = kind === "class" && users > 1 && !to.compact ? size * 0.9 * Math.ceil(Math.min(users, 50) / 10) + 4 : 0;
  const tall = Math.max(box.base - box.top, size * (to.compact ? 1.6 : 2.9) + crowd), top = (box.top + box.base) / 2 - tall / 2;
  pen.fillStyle = look.ground; pen.strokeStyle = tone(first, look); pen.lineWidth = 2;
  rounded(pen, box.left + 1, top, box.right - box.left - 2, tall, 8); pen.fill(); pen.stroke();
  let y = top + (tall - crowd) / 2 + size * (to.compact ? 0.35 : -0.2);
  for (const [text, bold] of texts) {
    label(pen, text, middle, y, look, fitted(pen, text, box.right - box.left - 10, size * (bold ? 1 : 0.82), look, bold), { bold });
    y += size * 1.15;
  }
  if (crowd) drawCrowd(pen, users, middle, y - size * 0.35, size, tone(first, look));
}

function drawCrowd(pen, users, middle, top, size, colour) {
  const shown = Math.min(users, 50), columns = Math.min(shown, 10), step = size * 0.75;
  pen.fillStyle = colour;
  for (let n = 0; n < shown; n++) {
    const row = Math.floor(n / 10), x = middle + (n % 10 - (columns - 1) / 2) * step, y = top + row * size * 0.9;
    pen.beginPath(); pen.arc(x, y, size * 0.16, 0, 7); pen.fill();
    pen.beginPath(); pen.arc(x, y + size * 0.5, size * 0.26, Math.PI, 0); pen.fill();
  }
}

// All of it at a time between two samples.
function drawPipes(pen, width, height, time, look) {
  const to = frameOf(width, height), lines = laidOut(time, to);
  pen.clearRect(0, 0, width, height);
  const pipes = PIPES.slots.filter(([kind]) => kind === "pipe");
  pipes.forEach((slot) => drawPipe(pen, slot, to, look));
  drawFlows(pen, time, lines, to, look);
  pipes.forEach((slot) => drawTank(pen, slot, time, to, look));
  PIPES.slots.filter(([kind]) => kind === "class" || kind === "end").forEach((slot) => drawEnds(pen, slot, time, to, look));
}
