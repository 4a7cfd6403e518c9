// All searches.

import { h } from './dom.js';
import { time } from './format.js';
import { findingText, incidentLink, outcomeText, searchLink, seriesLink } from './links.js';
import { listTable } from './table.js';

export async function show(place) {
  place.show(h('h1', null, 'Searches'), await listTable('/api/v1/bisections', [
    { title: 'Search', number: true, value: (row) => row.id, cell: (row) => searchLink(row.id, String(row.id)), descending: true },
    { title: 'State', value: (row) => row.state, cell: (row) => (row.outcome ? outcomeText(row) : row.state) },
    { title: 'Found', cell: (row) => findingText(row.findings[0]) ?? '–' },
    { title: 'Series', cell: (row) => [seriesLink(row.request.series[0]), row.request.series.length > 1 ? h('span', { class: 'quiet' }, ` and ${row.request.series.length - 1} more`) : null], narrowHidden: true },
    { title: 'Incident', value: (row) => row.incident, cell: (row) => (row.incident ? incidentLink(row.incident) : 'asked for') },
    { title: 'Steps', number: true, value: (row) => row.steps_done, cell: (row) => row.steps_done, descending: true, narrowHidden: true },
    { title: 'Asked', value: (row) => row.asked_at, cell: (row) => time(row.asked_at), narrowHidden: true, descending: true },
  ], place, { caption: 'Newest first', empty: 'None yet. An incident starts one, and POST /api/v1/bisections asks for one.' }));
}
