// The processes behind a verdict. Each process is a dot; a line joins the two of a pair.

import { figureWidth, h, s } from './dom.js';
import { level } from './format.js';

const widest = 640;
const height = 92;
const left = 72;
const right = 16;
const names = { before: 'baseline', after: 'candidate' };

/** Groups processes into pairs by the seed of their round, which both share. */
function pairsOf(points, before, after) {
  const rounds = new Map();
  for (const point of points) {
    const round = rounds.get(point.seed) ?? {};
    if (point.commit === before) round.before = point.value;
    else if (point.commit === after) round.after = point.value;
    rounds.set(point.seed, round);
  }
  return [...rounds.values()].filter((round) => round.before !== undefined || round.after !== undefined);
}

/** Five ticks from `low` to `high`, or three where five do not fit. */
function ticks(low, high, width) {
  const shares = width < widest ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  return shares.map((share) => low + share * (high - low));
}

/** Draws the pairs of a change. `points`: series points of the API, of both builds. `before`, `after`: their commits. */
export function pairFigure(change, points, before, after) {
  const rounds = pairsOf(points, before, after);
  const values = rounds.flatMap((round) => [round.before, round.after]).filter((value) => value !== undefined);
  if (values.length === 0) return h('p', { class: 'quiet' }, 'The raw samples were deleted. The nightly summary is kept.');
  const width = figureWidth(widest);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const span = high - low || Math.abs(high) || 1;
  const x = (value) => left + ((width - left - right) * (value - low)) / span;
  const rows = { before: 22, after: 52 };
  const joined = rounds.filter((round) => round.before !== undefined && round.after !== undefined);
  const text = `${joined.length} pairs of processes of ${change.name}: baseline around ${level(change.before, change.unit)}, candidate around ${level(change.after, change.unit)}`;
  return s('svg', { class: 'figure', width, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': text },
    ['before', 'after'].map((row) => s('text', { x: 4, y: rows[row] + 4 }, names[row])),
    joined.map((round) => s('line', { class: 'join', x1: x(round.before), y1: rows.before, x2: x(round.after), y2: rows.after })),
    rounds.map((round) => ['before', 'after'].filter((row) => round[row] !== undefined).map((row) =>
      s('circle', { class: row, cx: x(round[row]), cy: rows[row], r: 4 }, s('title', null, level(round[row], change.unit))))),
    s('line', { class: 'axis', x1: left, x2: width - right, y1: 70, y2: 70 }),
    ticks(low, low + span, width).map((value, at, all) => s('text', { x: x(value), y: 86, class: 'quiet-fill', 'text-anchor': at === all.length - 1 ? 'end' : at === 0 ? 'start' : 'middle' }, level(value, change.unit))));
}
