// Is everything fine? What is quiet is green, and says little.

import { health, read } from './api.js';
import { h, untrusted } from './dom.js';
import { ago, bytes, duration, plural, shortSha, time } from './format.js';
import { findingText, incidentLink, nightlyLink, bisectionLink, seriesLink } from './links.js';
import { table } from './table.js';

const stateWords = {
  announced: 'announced, its build is being brought', prepared: 'being measured', swept: 'measured, being looked through',
  screened: 'suspects are being compared', confirmed: 'compared, its commits are being bisected', bisected: 'compared, reported when no bisection of it goes on',
  done: 'done', failed: 'failed',
};

export function stateText(nightly) {
  return stateWords[nightly.state] ?? nightly.state;
}

function progressOf(nightly) {
  const { progress } = nightly;
  if (!progress) return null;
  const known = progress.expected !== null && progress.expected > 0;
  const share = known ? Math.min(1, progress.processes / progress.expected) : null;
  const left = progress.expected_end ? (Date.parse(progress.expected_end) - Date.now()) / 1000 : null;
  const text = [plural(progress.processes, 'process', 'processes'), known ? ` of about ${progress.expected.toLocaleString()}` : ''];
  if (left !== null) text.push(left > 0 ? `, about ${duration(left)} left` : ', longer than last time');
  return h('div', null,
    known ? h('progress', { max: '1', value: String(share), 'aria-label': 'Measured' }) : null,
    h('p', { class: 'quiet' }, text));
}

function newestPanel(nightlies) {
  if (nightlies.length === 0) {
    return h('section', { class: 'panel notice' }, h('h2', null, 'No nightly yet'),
      h('p', null, 'The service looks for one at its feed. ', h('code', null, 'torchwatch config check'), ' says whether it can.'));
  }
  const [newest] = nightlies;
  const kind = newest.state === 'failed' ? 'alert' : newest.incident ? 'alert' : newest.progress ? '' : 'calm';
  return h('section', { class: `panel ${kind}` },
    h('h2', null, 'Newest nightly: ', nightlyLink(newest.id, newest.date)),
    h('p', null, stateText(newest), newest.incident ? [', ', incidentLink(newest.incident)] : null),
    newest.failure ? h('p', { class: 'bad' }, untrusted(newest.failure)) : null,
    progressOf(newest),
    h('p', { class: 'quiet' }, 'commit ', h('code', null, shortSha(newest.commit)), ', announced ', time(newest.announced_at), ` (${ago(newest.announced_at)})`));
}

function isOpen(incident) {
  return incident.ruling === null;
}

/** Outcomes that the finding states by itself. */
const statedByFinding = ['culprit', 'range', 'layout'];

/** The culprit, and how the newest bisection stands where that is not all. */
function foundText({ finding, bisection }) {
  const newest = bisection?.headline ?? 'No bisection';
  if (!finding) return newest;
  return [findingText(finding), statedByFinding.includes(bisection?.outcome) ? null : `; its bisection: ${newest}`];
}

function incidentsPanel(incidents) {
  const open = incidents.filter(isOpen);
  const shown = open.length > 0 ? open : [];
  const heading = open.length === 0 ? 'No open incident' : plural(open.length, 'open incident');
  return h('section', { class: `panel ${open.length === 0 ? 'calm' : 'alert'}` },
    h('h2', null, heading),
    shown.length === 0 ? h('p', { class: 'quiet' }, 'None in the last 30 days that nobody has ruled on.') : null,
    h('ul', { class: 'plain' }, shown.slice(0, 6).map((incident) => h('li', null,
      incidentLink(incident.id, incident.date), ': ',
      incident.worst ? [h('b', { class: 'bad' }, incident.worst.headline), ' ', seriesLink(incident.worst)] : null,
      incident.series > 1 ? `, ${plural(incident.series - 1, 'other')}` : null,
      h('br'), h('span', { class: 'quiet' }, foundText(incident))))),
    h('p', null, h('a', { href: '/incidents' }, 'All incidents')));
}

function bisectionsPanel(bisections) {
  return h('section', { class: 'panel' },
    h('h2', null, bisections.length === 0 ? 'No bisection is running' : plural(bisections.length, 'bisection is open', 'bisections are open')),
    h('ul', { class: 'plain' }, bisections.map((bisection) => h('li', null,
      bisectionLink(bisection.id), ` ${bisection.state}, ${plural(bisection.steps, 'step')}`,
      bisection.incident ? [', ', incidentLink(bisection.incident)] : null,
      bisection.reason ? [h('br'), h('span', { class: 'quiet' }, untrusted(bisection.reason))] : null))),
    h('p', null, h('a', { href: '/bisections' }, 'All bisections')));
}

function alarmsPanel(alarms) {
  const heading = alarms.length === 0 ? 'No alarm' : plural(alarms.length, 'alarm about the watching itself', 'alarms about the watching itself');
  return h('section', { class: `panel ${alarms.length === 0 ? 'calm' : 'notice'}` },
    h('h2', null, heading),
    h('ul', { class: 'plain' }, alarms.slice(0, 6).map((alarm) => h('li', null,
      h('b', null, alarm.kind.replaceAll('_', ' ')), alarm.subject ? [' ', untrusted(alarm.subject)] : null,
      h('br'), h('span', { class: 'quiet' }, untrusted(alarm.detail), ', since ', time(alarm.raised_at))))),
    h('p', null, h('a', { href: '/alarms' }, 'All alarms')));
}

function servicePanel(vitals) {
  const isWell = vitals.status === 'ok';
  return h('section', { class: `panel ${isWell ? 'calm' : 'alert'}` },
    h('h2', null, isWell ? 'The service is well' : 'The service is in trouble'),
    h('ul', { class: 'plain' },
      (vitals.troubles ?? []).map((trouble) => h('li', { class: 'bad' }, untrusted(trouble))),
      Object.entries(vitals.slots ?? {}).map(([fleet, slots]) => h('li', null, `Fleet ${fleet}: ${slots.taken} of ${plural(slots.all, 'slot')} measuring`)),
      vitals.watching ? h('li', null, `${bytes(vitals.watching.free_mib * 1048576)} free on its disk`) : null,
      vitals.watching?.last_pass_at ? h('li', null, 'Last pass ', time(vitals.watching.last_pass_at)) : null));
}

function foundOn(nightly) {
  if (nightly.incident) return incidentLink(nightly.incident);
  if (nightly.progress) return '…';
  if (nightly.state === 'failed') return '–';
  return nightly.baseline ? 'nothing' : 'not compared';
}

function recent(nightlies) {
  return table([
    { title: 'Nightly', cell: (row) => nightlyLink(row.id, row.date) },
    { title: 'State', cell: (row) => h('span', { class: row.state === 'failed' ? 'bad' : '' }, stateText(row)) },
    { title: 'Commit', cell: (row) => h('code', null, shortSha(row.commit)), narrowHidden: true },
    { title: 'Found', cell: foundOn },
  ], nightlies, { caption: 'The last nights', empty: 'None has been announced yet.' });
}

function verdictOfTheNight(tonight, vitals) {
  const open = tonight.incidents.filter(isOpen).length;
  const troubles = [
    vitals.status === 'ok' ? null : 'the service is in trouble',
    open ? plural(open, 'open incident') : null,
    tonight.alarms.length ? plural(tonight.alarms.length, 'alarm') : null,
  ].filter(Boolean);
  return troubles.length === 0 ? ['good', 'Everything is fine.'] : ['bad', `Look at this: ${troubles.join(', ')}.`];
}

export async function show(place) {
  const [tonight, vitals] = await Promise.all([read('/api/v1/tonight', place.signal), health(place.signal)]);
  const [kind, text] = verdictOfTheNight(tonight, vitals);
  place.show(
    h('h1', null, 'Tonight'),
    h('p', { class: kind }, text),
    h('div', { class: 'cards' }, newestPanel(tonight.nightlies), incidentsPanel(tonight.incidents), bisectionsPanel(tonight.bisections),
      alarmsPanel(tonight.alarms), servicePanel(vitals)),
    recent(tonight.nightlies));
}
