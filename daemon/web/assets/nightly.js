// One nightly: what was found on it.

import { read } from './api.js';
import { h, untrusted } from './dom.js';
import { change, changeWithInterval, level, sha, time, verdictClass } from './format.js';
import { incidentLink, nightlyLink, seriesLink } from './links.js';
import { facts, table } from './table.js';
import { stateText } from './tonight.js';

const columns = [
  { title: 'Series', value: (row) => row.name, cell: (row) => seriesLink(row) },
  { title: 'Verdict', value: (row) => row.verdict, cell: (row) => h('span', { class: verdictClass(row.verdict) }, row.verdict, row.muted ? ' (muted)' : '') },
  { title: 'Change', number: true, value: (row) => row.ratio, cell: (row) => changeWithInterval(row), descending: true },
  { title: 'Before', number: true, cell: (row) => level(row.before, row.unit), narrowHidden: true },
  { title: 'After', number: true, cell: (row) => level(row.after, row.unit), narrowHidden: true },
  { title: 'Pairs', number: true, value: (row) => row.pairs, cell: (row) => row.pairs, narrowHidden: true },
];

export async function show(place) {
  const nightly = await read(`/api/v1/nightlies/${place.id}`, place.signal);
  place.title(`Nightly ${nightly.date}`);
  const moved = nightly.verdicts.filter((row) => row.verdict === 'regression' || row.verdict === 'improvement');
  place.show(h('h1', null, `Nightly ${nightly.date}`),
    facts([
      ['State', [stateText(nightly), nightly.failure ? [': ', untrusted(nightly.failure)] : null]],
      ['Commit', sha(nightly.commit, null)],
      nightly.version ? ['Version', untrusted(nightly.version)] : null,
      ['Compared with', nightly.baseline ? nightlyLink(nightly.baseline, `nightly ${nightly.baseline}`) : 'nothing yet'],
      ['Announced', time(nightly.announced_at)],
      nightly.incident ? ['Incident', incidentLink(nightly.incident.id)] : null,
      nightly.baseline ? ['All its figures', h('a', { href: `/compare?before=${nightly.baseline}&after=${nightly.id}` }, 'beside those of the night before')] : null,
    ]),
    h('h2', null, 'Verdicts'),
    table(columns, nightly.verdicts, { sort: 2, descending: true,
      caption: moved.length ? `${moved.length} of ${nightly.verdicts.length} compared series moved, at most ${change(Math.max(...moved.map((row) => row.ratio ?? 1)))}` : 'Series that were compared with the night before, run by run',
      empty: 'No series was suspicious enough to be compared.' }),
    nightly.anchored.length ? [h('h2', null, 'Beside their anchors'),
      table(columns, nightly.anchored, { caption: 'Against much older nightlies, so that many small steps are seen' })] : null);
}
