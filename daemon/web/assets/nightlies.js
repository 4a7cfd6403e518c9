// The page of all nightlies.

import { h, untrusted } from './dom.js';
import { shortSha, time } from './format.js';
import { nightlyLink } from './links.js';
import { listTable } from './table.js';
import { stateText } from './tonight.js';

/** A version on one line, unless it is unusually long. */
function versionText(version) {
  return version.length > 40 ? untrusted(version) : h('span', { class: 'untrusted together', dir: 'auto' }, version);
}

export async function show(place) {
  place.show(h('h1', null, 'Nightlies'), await listTable('/api/v1/nightlies', [
    { title: 'Nightly', value: (row) => row.date, cell: (row) => nightlyLink(row.id, row.date), descending: true },
    { title: 'Version', value: (row) => row.version, cell: (row) => (row.version ? versionText(row.version) : '–') },
    { title: 'Commit', cell: (row) => h('code', null, shortSha(row.commit)) },
    { title: 'State', value: (row) => row.state, cell: (row) => [stateText(row), row.failure ? [': ', untrusted(row.failure)] : null] },
    { title: 'Announced', value: (row) => row.announced_at, cell: (row) => time(row.announced_at), narrowHidden: true, descending: true },
  ], place, { caption: 'Newest first', empty: ['No nightly yet. The service judges the newest one when it polls its feed next (feed.poll_s). ', h('code', null, 'torchwatch config check'), ' reports whether the feed works.'] }));
}
