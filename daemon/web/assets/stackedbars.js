// A chart of stacked bars over time.

import { h, s } from './dom.js';

const width = 430;
const height = 150;
const foot = 22;
const head = 16;
const widest = 40;

function barOf(row, at, kinds, step, y) {
  let below = 0;
  const size = Math.min(widest, step * 0.8);
  return s('g', null, s('title', null, `${row.label}: ${kinds.map(([kind, text]) => `${row[kind]} ${text}`).join(', ')}`),
    kinds.map(([kind, , look]) => {
      const part = s('rect', { class: look, x: (at + 0.5) * step - size / 2, width: size, y: y(below + row[kind]), height: y(below) - y(below + row[kind]) });
      below += row[kind];
      return part;
    }));
}

/** Draws `rows`: {label} and a number for each of `kinds`, [name, text, class], lowest first. `name`: the title for screen readers. */
export function stackedBars(rows, kinds, name) {
  const total = (row) => kinds.reduce((sum, [kind]) => sum + row[kind], 0);
  const most = Math.max(...rows.map(total), 1);
  const step = width / rows.length;
  const y = (count) => head + (height - head - foot) * (1 - count / most);
  const label = (at, anchor, x) => s('text', { class: 'quiet-fill', x, y: height - 6, 'text-anchor': anchor }, rows.at(at).label);
  return [
    h('p', { class: 'quiet' }, kinds.map(([, text, look]) => [h('span', { class: `key ${look}` }), ` ${text}, `]), `highest bar: ${most}`),
    s('svg', { class: 'figure', width, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': name },
      rows.map((row, at) => barOf(row, at, kinds, step, y)),
      s('line', { class: 'zero', x1: 0, x2: width, y1: height - foot, y2: height - foot }),
      rows.length === 1 ? label(0, 'middle', width / 2) : [label(0, 'start', 0), label(-1, 'end', width)]),
  ];
}
