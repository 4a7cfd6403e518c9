// Where the time of an iteration went on a GPU, as in the paper's figures 1 and 2: only incidents are profiled, so there
// is seldom more than a few.

import { h, s } from './dom.js';
import { domainText } from './ratiofigures.js';
import { table } from './table.js';

const kinds = [['active', 'Active'], ['data_movement', 'Data movement'], ['idle', 'Idle']];
const width = 430;
const left = 190;
const rowHeight = 19;

function percent(share) {
  return `${(100 * share).toFixed(1)}%`;
}

function bar(row, at) {
  const top = at * rowHeight;
  const length = width - left - 4;
  let from = left;
  return s('g', null,
    s('title', null, `${row.benchmark} on ${row.fleet}: ${kinds.map(([kind, text]) => `${text.toLowerCase()} ${percent(row[kind])}`).join(', ')}`),
    s('text', { x: left - 6, y: top + 13, 'text-anchor': 'end' }, `${row.test} ${row.model}`.slice(0, 26)),
    kinds.map(([kind]) => {
      const part = s('rect', { class: `gpu-${kind}`, x: from, y: top + 3, height: 12, width: length * row[kind] });
      from += length * row[kind];
      return part;
    }));
}

function picture(rows, name) {
  return h('figure', null, h('figcaption', null, name),
    s('svg', { class: 'figure', width, viewBox: `0 0 ${width} ${rows.length * rowHeight + 4}`, role: 'img', 'aria-label': `${name}: shares of time; the table below has the figures` },
      rows.map(bar)));
}

/** Means by domain and test: the paper's table 2. */
function meansOf(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = `${row.test} ${row.domain}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()].map((group) => ({
    test: group[0].test, domain: group[0].domain, count: group.length,
    ...Object.fromEntries(kinds.map(([kind]) => [kind, group.reduce((sum, row) => sum + row[kind], 0) / group.length])),
  }));
}

/** Nothing where neither side was profiled. */
export function gpuSection(comparison) {
  const { before, after } = comparison.gpu;
  if (before.length + after.length === 0) return null;
  const rows = [...meansOf(before).map((row) => ({ ...row, side: 'before' })), ...meansOf(after).map((row) => ({ ...row, side: 'after' }))];
  return [
    h('h2', null, 'Where the GPU\'s time went'),
    h('p', { class: 'quiet' }, 'Of what incidents had profiled: ', kinds.map(([kind, text], at) => [at > 0 ? ', ' : null, h('span', { class: `key gpu-${kind}` }), ` ${text.toLowerCase()}`])),
    h('div', { class: 'figures' }, [[before, 'Before'], [after, 'After']].map(([side, name]) => (side.length > 0 ? picture(side, name) : null))),
    table([
      { title: 'Side', cell: (row) => row.side }, { title: 'Test', cell: (row) => row.test },
      { title: 'Domain', value: (row) => domainText(row.domain), cell: (row) => domainText(row.domain) },
      ...kinds.map(([kind, text]) => ({ title: text, number: true, value: (row) => row[kind], descending: true, cell: (row) => percent(row[kind]) })),
      { title: 'Tests', number: true, cell: (row) => row.count },
    ], rows, { caption: 'Means by domain' }),
  ];
}
