// The page of all incidents.

import { h } from './dom.js';
import { growth, time } from './format.js';
import { incidentLink, nightlyLink, seriesLink } from './links.js';
import { listTable } from './table.js';

/** The worst change. The API sorts changes worst first. Undefined when all are muted. */
function worstOf(incident) {
  return incident.changes[0];
}

export async function show(place) {
  place.show(h('h1', null, 'Incidents'),
    await listTable('/api/v1/incidents', [
      { title: 'Incident', number: true, value: (row) => row.id, cell: (row) => incidentLink(row.id, String(row.id)), descending: true },
      { title: 'Nightly', value: (row) => row.nightly.date, cell: (row) => nightlyLink(row.nightly.id, row.nightly.date), descending: true },
      { title: 'Series', number: true, value: (row) => row.changes.length, cell: (row) => row.changes.length, descending: true },
      { title: 'Worst change', number: true, value: (row) => growth(worstOf(row)), descending: true,
        cell: (row) => (worstOf(row) ? h('span', { class: 'bad' }, worstOf(row).headline) : '–') },
      { title: 'Worst series', cell: (row) => (worstOf(row) ? seriesLink(worstOf(row)) : '–') },
      { title: 'Opened', value: (row) => row.opened_at, cell: (row) => time(row.opened_at), narrowHidden: true, descending: true },
    ], place, { caption: 'One incident per nightly with a regression that was not muted, newest first',
      empty: 'No incident yet. When a nightly regresses, torchwatch compares, bisects and reports the regression here.' }));
}
