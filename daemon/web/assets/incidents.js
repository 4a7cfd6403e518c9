// The page of incidents, with a filter by state.

import { h } from './dom.js';
import { age, growth } from './format.js';
import { culpritLink, incidentLink, nightlyLink, reportLink, seriesLink } from './links.js';
import { allStates, stateText, stateWord, unfinished } from './states.js';
import { listTable } from './table.js';

/** The worst change. The API sorts changes worst first. Undefined when all are muted. */
function worstOf(incident) {
  return incident.changes[0];
}

function worstText(incident) {
  const worst = worstOf(incident);
  if (!worst) return '–';
  const others = incident.changes.length - 1;
  return [h('span', { class: 'bad together' }, worst.headline), ' ', seriesLink(worst), others > 0 ? h('span', { class: 'quiet' }, ` and ${others} more`) : null];
}

const columns = [
  { title: 'Incident', number: true, value: (row) => row.id, cell: (row) => incidentLink(row.id, String(row.id)), descending: true },
  { title: 'Nightly', value: (row) => row.nightly.date, cell: (row) => nightlyLink(row.nightly.id, row.nightly.date), descending: true },
  { title: 'State', value: (row) => allStates.indexOf(row.state), cell: (row) => stateText(row.state) },
  { title: 'Worst change', value: (row) => growth(worstOf(row)), cell: worstText, descending: true },
  { title: 'Culprit', value: (row) => row.culprit?.sha, cell: (row) => culpritLink(row.culprit) ?? '–' },
  { title: 'Age', value: (row) => Date.now() - Date.parse(row.opened_at), cell: (row) => age(row.opened_at), descending: true },
  { title: 'Report', cell: (row) => reportLink(row.report) },
];

function emptyText(states) {
  if (states) return 'No incident is in this state. Choose All to see the others.';
  return 'No incident yet. When a nightly regresses, torchwatch compares, bisects and reports the regression here.';
}

/** The choices of the filter, [value, text] each. `chosen`: what the address has. */
function choices(chosen) {
  const usual = [['', 'All'], [unfinished.join(','), 'Unfinished'], ...allStates.map((state) => [state, stateWord(state)])];
  return usual.some(([value]) => value === chosen) ? usual : [...usual, [chosen, chosen.split(',').map(stateWord).join(', ')]];
}

export async function show(place) {
  const { query, remember } = place;
  const list = h('div');
  const chosen = () => query.get('state') ?? '';
  const fill = async () => {
    let states;
    let shown;
    do { // again if the user chose another state meanwhile
      states = chosen();
      const path = states ? `/api/v1/incidents?${new URLSearchParams({ state: states })}` : '/api/v1/incidents';
      shown = await listTable(path, columns, place, { caption: 'One incident for each change, newest first', empty: emptyText(states) });
    } while (states !== chosen());
    list.replaceChildren(shown);
  };
  const choose = (event) => {
    if (event.target.value) query.set('state', event.target.value);
    else query.delete('state');
    remember(query);
    fill().catch((problem) => { if (problem.name !== 'AbortError') list.replaceChildren(h('p', { class: 'bad', role: 'alert' }, problem.message)); });
  };
  await fill();
  place.show(h('h1', null, 'Incidents'),
    h('div', { class: 'controls' }, h('label', null, 'State',
      h('select', { change: choose }, choices(chosen()).map(([value, text]) => h('option', { value, selected: value === chosen() }, text))))),
    list);
}
