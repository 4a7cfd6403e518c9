// The page of alarms: problems of torchwatch itself.

import { h, untrusted } from './dom.js';
import { time } from './format.js';
import { listTable } from './table.js';

export async function show(place) {
  place.show(h('h1', null, 'Alarms'),
    h('p', { class: 'quiet' }, 'An alarm is a problem of torchwatch itself, not of PyTorch. It is raised once and stays open while the problem lasts. The first nightly without the problem clears it. The alarm drift is different: a series grew in small steps since an older nightly.'),
    await listTable('/api/v1/alarms', [
      { title: 'State', value: (row) => (row.cleared_at ? 1 : 0), cell: (row) => (row.cleared_at ? 'cleared' : h('b', { class: 'bad' }, 'open')) },
      { title: 'Kind', value: (row) => row.kind, cell: (row) => h('span', { class: 'together' }, row.kind.replaceAll('_', ' ')) },
      { title: 'Subject', value: (row) => row.subject, cell: (row) => (row.subject ? untrusted(row.subject) : '–') },
      { title: 'Detail', cell: (row) => untrusted(row.detail) },
      { title: 'Raised', value: (row) => row.raised_at, cell: (row) => time(row.raised_at), descending: true },
      { title: 'Cleared', value: (row) => row.cleared_at, cell: (row) => time(row.cleared_at), descending: true },
    ], place, { caption: 'Newest first', empty: 'No alarm yet. torchwatch raises one when it has a problem itself, such as a missing nightly or a lost runner.' }));
}
