// The noise of each series between nightlies and within one. A noisy series needs more pairs, or stays undecided.

import { h } from './dom.js';
import { level, plural } from './format.js';
import { binsOf, histogram } from './histogram.js';
import { seriesAddress } from './links.js';
import { table } from './table.js';

const edges = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];

function percent(share) {
  if (share === null) return '–';
  return `${(100 * share).toFixed(share < 0.01 ? 2 : 1)}%`;
}

function edgeText(share) {
  return `${100 * share}%`;
}

function noiseTable(rows, threshold) {
  const share = (name) => (row) => h('span', { class: row[name] > threshold ? 'bad' : null }, percent(row[name]));
  return table([
    { title: 'Series', value: (row) => row.name, cell: (row) => h('a', { href: seriesAddress(row) }, row.name) },
    { title: 'Fleet', value: (row) => row.fleet, cell: (row) => row.fleet },
    { title: 'Between nightlies', number: true, value: (row) => row.between, cell: share('between'), descending: true },
    { title: 'Within a nightly', number: true, value: (row) => row.within, cell: share('within'), descending: true },
    { title: 'Median level', number: true, value: (row) => row.level, cell: (row) => (row.level === null ? '–' : level(row.level, row.unit)), narrowHidden: true, descending: true },
    { title: 'Nightlies', number: true, value: (row) => row.nights, cell: (row) => row.nights, narrowHidden: true },
  ], rows, { caption: `${plural(rows.length, 'series', 'series')}, noisiest first. Between nightlies: spread of the levels. Within a nightly: range of its processes. Both in % of the level. Red: above the tolerance`, sort: 2, descending: true, most: 25 });
}

function drawn(rows, threshold) {
  const known = rows.filter((row) => row.between !== null);
  if (known.length === 0) return [h('p', { class: 'quiet' }, 'No series of this metric has two nightlies with a level above zero yet.')];
  const bins = binsOf(known.map((row) => [row.between, 1]), edges, edgeText).map((bin) => ({ ...bin, bad: bin.from >= threshold }));
  return [
    h('figure', { class: 'narrow-figure' }, h('figcaption', null, 'Number of series by spread between nightlies (% of the level)'), histogram(bins, 'Number of series by spread between nightlies')),
    noiseTable(rows, threshold),
  ];
}

export function noiseSection(all, threshold, query, remember) {
  const heading = h('h2', null, 'Noise of each series');
  if (all.length === 0) return [heading, h('p', { class: 'quiet' }, 'No series yet. The first two nightlies fill this section. ', h('code', null, 'torchwatch config check'), ' reports whether the service can find and measure one.')];
  const metrics = [...new Set(all.map((row) => row.metric))];
  const shown = h('div');
  const draw = (metric) => shown.replaceChildren(...drawn(all.filter((row) => row.metric === metric), threshold));
  const chosen = metrics.includes(query.get('metric')) ? query.get('metric') : metrics.find((metric) => metric === 'latency') ?? metrics[0];
  draw(chosen);
  return [heading,
    h('p', { class: 'quiet' }, 'Computed from the last 30 nightlies. A real change does not count as noise: the spread ignores up to half of the nightlies.'),
    h('div', { class: 'controls' }, h('label', null, 'Metric', h('select', { change: (event) => {
      query.set('metric', event.target.value);
      remember(query);
      draw(event.target.value);
    } }, metrics.map((metric) => h('option', { value: metric, selected: metric === chosen }, metric))))),
    shown];
}
