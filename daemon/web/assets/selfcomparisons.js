// Self-comparisons: nightlies compared with themselves. Every change found there is a false alarm.

import { figureWidth, h, s } from './dom.js';
import { change, changeText, growth, number, plural, verdictClass } from './format.js';
import { nightlyLink, seriesLink } from './links.js';
import { table } from './table.js';

const widest = 1000;
const height = 200;
const left = 76;
const foot = 22;
const head = 8;

function isFalseAlarm(comparison) {
  return comparison.verdict === 'regression' || comparison.verdict === 'improvement';
}

function percent(share, digits = 2) {
  return share === null ? '–' : `${number(Number((100 * share).toPrecision(digits)))}%`;
}

export function intervalText(share) {
  if (share.of === 0) return 'none yet';
  return `${percent(share.share)} [${percent(share.low)}, ${percent(share.high)}]`;
}

function dot(one, x, y) {
  const isFalse = isFalseAlarm(one);
  const title = s('title', null, `${one.date}, ${one.name} on ${one.fleet}: ${changeText(one)}, ${one.verdict}, ${plural(one.pairs, 'pair')}`);
  const [at, to] = [x(one), y(one.ratio)];
  return s('g', null, title,
    s('line', { class: isFalse ? 'alarm-line' : 'join', x1: at, x2: at, y1: y(one.low), y2: y(one.high) }),
    isFalse ? s('path', { class: 'alarm-dot', d: `M${at} ${to - 7}L${at + 7} ${to}L${at} ${to + 7}L${at - 7} ${to}Z` }) : s('circle', { class: 'dot', cx: at, cy: to, r: 3 }));
}

function lines(threshold, y, width) {
  return [1 / (1 + threshold), 1, 1 + threshold].map((ratio) => [
    s('line', { class: ratio === 1 ? 'zero' : 'limit', x1: left, x2: width, y1: y(ratio), y2: y(ratio) }),
    s('text', { class: 'quiet-fill', x: left - 6, y: y(ratio) + 4, 'text-anchor': 'end' }, ratio === 1 ? 'no change' : change(ratio)),
  ]);
}

/** The metric of the chart: latency, or the one with most comparisons. Exact metrics, such as peak memory, are mostly equal. */
function chartMetric(comparisons) {
  const counts = new Map();
  for (const { metric } of comparisons) counts.set(metric, (counts.get(metric) ?? 0) + 1);
  if (counts.has('latency') || counts.size === 0) return 'latency';
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

/** The chart of self-comparisons of one metric. */
function figure(comparisons, threshold) {
  const metric = chartMetric(comparisons);
  const shown = comparisons.filter((one) => one.metric === metric && one.ratio > 0);
  if (shown.length === 0) return null;
  const nights = [...new Set(shown.map((one) => one.nightly))];
  const reach = Math.max(1.2 * Math.log(1 + threshold), ...shown.flatMap((one) => [one.low, one.high].map((ratio) => Math.abs(Math.log(ratio)))));
  const width = figureWidth(widest);
  const middle = head + (height - head - foot) / 2;
  const y = (ratio) => middle - ((height - head - foot) / 2) * (Math.log(ratio) / reach);
  const x = (one) => left + 8 + (width - left - 16) * (nights.length === 1 ? 0.5 : nights.indexOf(one.nightly) / (nights.length - 1));
  const date = (at, anchor, from) => s('text', { class: 'quiet-fill', x: from, y: height - 6, 'text-anchor': anchor }, shown.at(at).date);
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Chart of self-comparisons' }, s('svg', { class: 'figure', width, viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': `${plural(shown.length, 'comparison')} of a nightly with itself over ${plural(nights.length, 'nightly', 'nightlies')}, ${plural(shown.filter(isFalseAlarm).length, 'false alarm')}` },
  lines(threshold, y, width), shown.map((one) => dot(one, x, y)), date(0, 'start', left), nights.length > 1 ? date(-1, 'end', width) : null));
}

function newestTable(comparisons) {
  const rows = [...comparisons].reverse();
  return table([
    { title: 'Nightly', value: (row) => row.date, cell: (row) => nightlyLink(row.nightly, row.date), descending: true },
    { title: 'Series', value: (row) => row.name, cell: (row) => seriesLink(row) },
    { title: 'Verdict', value: (row) => row.verdict, cell: (row) => h('span', { class: isFalseAlarm(row) ? 'bad' : verdictClass(row.verdict) }, row.verdict) },
    { title: 'Change', number: true, value: growth, cell: (row) => changeText(row) },
    { title: 'Pairs', number: true, value: (row) => row.pairs, cell: (row) => row.pairs, descending: true },
  ], rows, { caption: 'Self-comparisons, newest first' });
}

function monthTable(months) {
  return table([
    { title: 'Month', value: (row) => row.month, cell: (row) => h('span', { class: 'together' }, row.month), descending: true },
    { title: 'Comparisons', number: true, value: (row) => row.of, cell: (row) => row.of.toLocaleString(), descending: true, narrowHidden: true },
    { title: 'False alarms', number: true, value: (row) => row.false_alarms, cell: (row) => h('span', { class: row.false_alarms > 0 ? 'bad' : null }, row.false_alarms), descending: true },
    { title: 'Share [95% interval]', number: true, value: (row) => row.share, cell: intervalText, descending: true },
  ], [...months].reverse(), { caption: 'Self-comparisons by month, newest first', most: 24 });
}

export function selfComparisonSection({ newest, nights, months }, threshold) {
  if (months.length === 0) {
    return [h('h2', null, 'Self-comparisons'),
      h('p', { class: 'quiet' }, 'No nightly has been compared with itself yet. The service does this every night with some benchmarks of each fleet, unless ', h('code', null, 'decide.aa_benchmarks'), ' is 0.')];
  }
  return [
    h('h2', null, 'Self-comparisons by nightly'),
    h('p', { class: 'quiet' }, `Change of ${chartMetric(newest)} in %, over the last ${plural(nights, 'nightly', 'nightlies')}. Each dot is a nightly compared with itself on one benchmark, with its interval. The dashed lines are the tolerance. A diamond is a false alarm.`),
    figure(newest, threshold) ?? h('p', { class: 'quiet' }, `No ${chartMetric(newest)} was compared in these nightlies.`),
    monthTable(months),
    h('details', null, h('summary', null, `The last ${plural(newest.length, 'comparison')}`), newestTable(newest)),
  ];
}
