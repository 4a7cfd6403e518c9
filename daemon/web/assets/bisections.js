// The page of all bisections.

import { h } from './dom.js';
import { time } from './format.js';
import { findingText, incidentLink, bisectionLink, seriesLink } from './links.js';
import { listTable } from './table.js';

function stepsText(row) {
  return row.steps_done === row.steps_planned ? row.steps_done : `${row.steps_done} of ${row.steps_planned}`;
}

export async function show(place) {
  place.show(h('h1', null, 'Bisections'), await listTable('/api/v1/bisections', [
    { title: 'Bisection', number: true, value: (row) => row.id, cell: (row) => bisectionLink(row.id, String(row.id)), descending: true },
    { title: 'State', value: (row) => row.headline, cell: (row) => row.headline },
    { title: 'Finding', cell: (row) => (row.findings.length ? findingText(row.findings[0]) : '–') },
    { title: 'Series', cell: (row) => [seriesLink(row.request.series[0]), row.request.series.length > 1 ? h('span', { class: 'quiet' }, ` and ${row.request.series.length - 1} more`) : null], narrowHidden: true },
    { title: 'Incident', value: (row) => row.incident, cell: (row) => (row.incident ? incidentLink(row.incident, String(row.incident)) : 'on request') },
    { title: 'Steps', number: true, value: (row) => row.steps_done, cell: stepsText, descending: true, narrowHidden: true },
    { title: 'Requested', value: (row) => row.asked_at, cell: (row) => time(row.asked_at), narrowHidden: true, descending: true },
  ], place, { caption: 'Newest first', empty: ['No bisection yet. An incident starts one. To bisect any two commits, run ', h('code', null, 'torchwatch bisect --server URL'), '.'] }));
}
