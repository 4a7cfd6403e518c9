// The times to the culprit and to the fix of incidents, by month.

import { h } from './dom.js';
import { duration, plural } from './format.js';
import { table } from './table.js';

function timesText({ count, median_s: median, most_s: most }) {
  if (count === 0) return 'none yet';
  return count === 1 ? duration(median) : `${duration(median)} (at most ${duration(most)})`;
}

const columns = (title, end, name) => [
  { title, number: true, value: (row) => row[name].count, cell: (row) => row[name].count, descending: true, narrowHidden: true },
  { title: `Time to ${end}`, number: true, value: (row) => row[name].median_s, cell: (row) => timesText(row[name]), descending: true },
];

export function incidentTimesSection(months) {
  const heading = h('h2', null, 'Time to culprit and time to fix');
  if (months.length === 0) return [heading, h('p', { class: 'quiet' }, 'No incident yet. When a nightly regresses, this section counts from its confirmation to the culprit and to the fix.')];
  const incidents = months.reduce((sum, month) => sum + month.incidents, 0);
  return [heading,
    h('p', { class: 'quiet' }, `From the confirmation of ${plural(incidents, 'incident')}: until a bisection proved the culprit, and until a nightly was back at the level before. Medians, with the longest in brackets. An incident that returned is not fixed.`),
    table([
      { title: 'Month', value: (row) => row.month, cell: (row) => h('span', { class: 'together' }, row.month), descending: true },
      { title: 'Incidents', number: true, value: (row) => row.incidents, cell: (row) => row.incidents, descending: true },
      ...columns('Culprits', 'culprit', 'to_culprit'), ...columns('Fixed', 'fix', 'to_fix'),
    ], [...months].reverse(), { caption: 'Times by the month of the nightly, newest first', most: 24 })];
}
