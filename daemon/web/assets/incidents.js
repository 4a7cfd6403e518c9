// All incidents.

import { h } from './dom.js';
import { growth, time } from './format.js';
import { incidentLink, nightlyLink, seriesLink } from './links.js';
import { listTable } from './table.js';

/** They come worst first. There is none where all are muted. */
function worstOf(incident) {
  return incident.changes[0];
}

export async function show(place) {
  place.show(h('h1', null, 'Incidents'),
    await listTable('/api/v1/incidents', [
      { title: 'Incident', number: true, value: (row) => row.id, cell: (row) => incidentLink(row.id, String(row.id)), descending: true },
      { title: 'Nightly', value: (row) => row.nightly.date, cell: (row) => nightlyLink(row.nightly.id, row.nightly.date), descending: true },
      { title: 'Series', number: true, value: (row) => row.changes.length, cell: (row) => row.changes.length, descending: true },
      { title: 'Worst', number: true, value: (row) => growth(worstOf(row)), descending: true,
        cell: (row) => (worstOf(row) ? h('span', { class: 'bad' }, worstOf(row).headline) : '–') },
      { title: 'Of', cell: (row) => (worstOf(row) ? seriesLink(worstOf(row)) : '–') },
      { title: 'Opened', value: (row) => row.opened_at, cell: (row) => time(row.opened_at), narrowHidden: true, descending: true },
    ], place, { caption: 'One for each night with a regression that nobody had muted, newest first',
      empty: 'No nightly has regressed yet. When one does, it is compared, bisected and reported here.' }));
}
