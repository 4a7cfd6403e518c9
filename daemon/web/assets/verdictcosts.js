// How many pairs of processes a verdict takes, by kind.

import { h } from './dom.js';
import { plural } from './format.js';
import { binsOf, histogram } from './histogram.js';
import { table } from './table.js';

const edges = [2, 4, 8, 13, 20, 30, 45, 60];
const kinds = ['regression', 'improvement', 'unchanged', 'inconclusive'];

/** The value that half of them do not exceed. */
function middle(costs, count) {
  let seen = 0;
  return costs.find(({ verdicts }) => { seen += verdicts; return 2 * seen >= count; }).pairs;
}

function summaryOf(verdict, items) {
  const costs = items.filter((item) => item.verdict === verdict).sort((one, other) => one.pairs - other.pairs);
  const count = costs.reduce((sum, item) => sum + item.verdicts, 0);
  const pairs = costs.reduce((sum, item) => sum + item.verdicts * item.pairs, 0);
  return { verdict, costs, count, pairs, median: count > 0 ? middle(costs, count) : null, most: costs.at(-1)?.pairs };
}

function figure(summary) {
  const bins = binsOf(summary.costs.map((cost) => [cost.pairs, cost.verdicts]), edges, String);
  return h('figure', null, h('figcaption', null, summary.verdict), histogram(bins, `Pairs that ${summary.verdict} took`));
}

export function costSection({ nights, items }) {
  const heading = h('h2', null, 'What a verdict costs');
  if (items.length === 0) return [heading, h('p', { class: 'quiet' }, 'No comparison was decided yet: a nightly needs one before it to be compared with.')];
  const summaries = kinds.map((kind) => summaryOf(kind, items)).filter((one) => one.count > 0);
  return [heading,
    h('p', { class: 'quiet' }, `Pairs of processes until a comparison was decided, over the last ${plural(nights, 'nightly', 'nightlies')}.`),
    h('div', { class: 'figures' }, summaries.map(figure)),
    table([
      { title: 'Verdict', value: (row) => row.verdict, cell: (row) => row.verdict },
      { title: 'Verdicts', number: true, value: (row) => row.count, cell: (row) => row.count.toLocaleString(), descending: true },
      { title: 'Pairs, median', number: true, value: (row) => row.median, cell: (row) => row.median, descending: true },
      { title: 'Most', number: true, value: (row) => row.most, cell: (row) => row.most, descending: true },
      { title: 'All of them', number: true, value: (row) => row.pairs, cell: (row) => row.pairs.toLocaleString(), descending: true, narrowHidden: true },
    ], summaries, { caption: 'Pairs by kind of verdict' })];
}
