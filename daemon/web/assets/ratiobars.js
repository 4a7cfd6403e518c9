// Ratios as bars on a logarithmic axis. Bars start at 1: below 1 they go left, above 1 right.

import { h, s } from './dom.js';
import { costRatio, number } from './format.js';

const width = 430;
const left = 190;
const right = 48;
const rowHeight = 19;
const head = 22;
const longest = 26; // characters of a label
const even = 0.005; // two equal builds differ by this much

// The ends of an axis, [reach, mark]: it goes from 1 / reach to reach, with marks at 1 / mark and mark.
const reaches = [[1.1, 1.05], [1.2, 1.1], [1.5, 1.2], [2, 1.4], [3, 1.7], [5, 2], [10, 3], [30, 5], [100, 10], [1000, 30], [1e6, 1e3]];

/** Shortens a name in its middle: the start names the family, the end the variant. */
function clip(text) {
  const end = 18;
  return text.length > longest ? `${text.slice(0, longest - end - 1)}…${text.slice(-end)}` : text;
}

/** Three decimals close to 1, three significant digits elsewhere. */
export function ratioText(ratio) {
  if (ratio === null || ratio === undefined) return '–';
  return Math.abs(ratio - 1) < 0.0995 ? ratio.toFixed(3) : Number(ratio.toPrecision(3)).toLocaleString(undefined, { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
}

/** The smallest [reach, mark] whose axis contains all ratios. */
function axisOf(ratios) {
  const most = Math.max(...ratios.map((ratio) => Math.exp(Math.abs(Math.log(ratio)))));
  return reaches.find(([reach]) => reach >= most) ?? reaches.at(-1);
}

function classOf({ ratio, better }) {
  if (Math.abs(ratio - 1) < even) return 'bar-even';
  return costRatio(ratio, better) > 1 ? 'bar-bad' : 'bar-good';
}

function bar(row, at, x) {
  const top = head + at * rowHeight;
  const from = Math.min(x(1), x(row.ratio));
  const to = Math.max(x(1), x(row.ratio));
  const strong = row.strong ? 'strong' : null;
  return s('g', null,
    s('title', null, row.title),
    s('text', { x: left - 6, y: top + 13, 'text-anchor': 'end', class: strong ?? 'label' }, clip(row.label)),
    s('rect', { class: classOf(row), x: from, y: top + (row.strong ? 3 : 4), height: row.strong ? 12 : 10, width: Math.max(1.5, to - from) }),
    row.low ? s('line', { class: 'whisker', x1: x(row.low), x2: x(row.high), y1: top + 9, y2: top + 9 }) : null,
    s('text', { x: width - right + 8, y: top + 13, class: strong }, ratioText(row.ratio)));
}

function axis([reach, mark], x, bottom) {
  return [1 / reach, 1 / mark, 1, mark, reach].map((ratio) => [
    s('line', { class: ratio === 1 ? 'zero' : 'axis', x1: x(ratio), x2: x(ratio), y1: head - 4, y2: bottom }),
    s('text', { class: 'quiet-fill', x: x(ratio), y: head - 9, 'text-anchor': 'middle' }, number(Number(ratio.toPrecision(ratio < 1 ? 2 : 3)))),
  ]);
}

/**
 * Draws `rows`: {label, ratio, better, title, strong, low, high}, in this order. Rows without a ratio are left out. Without
 * `better`, lower is better. `name`: the title for screen readers.
 */
export function ratioBars(rows, name) {
  const shown = rows.filter((row) => row.ratio > 0);
  if (shown.length === 0) return h('p', { class: 'quiet' }, 'No ratios: a level is zero or missing.');
  const reach = axisOf(shown.flatMap((row) => [row.ratio, row.low || row.ratio, row.high || row.ratio]));
  const middle = (left + width - right) / 2;
  const x = (ratio) => middle + ((width - right - left) / 2) * (Math.log(ratio) / Math.log(reach[0]));
  const bottom = head + shown.length * rowHeight;
  return s('svg', { class: 'figure', width, viewBox: `0 0 ${width} ${bottom + 4}`, role: 'img', 'aria-label': name },
    axis(reach, x, bottom), shown.map((row, at) => bar(row, at, x)));
}
