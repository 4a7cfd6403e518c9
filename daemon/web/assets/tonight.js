// The first page: the newest nightly and everything that needs attention.

import { health, read } from './api.js';
import { h, untrusted } from './dom.js';
import { ago, bytes, duration, plural, sentence, shortSha, time } from './format.js';
import { findingText, incidentLink, incidentLinks, nightlyLink, bisectionLink, seriesLink } from './links.js';
import { incidentsAddress, stateText as incidentState, unfinished } from './states.js';
import { table } from './table.js';

const stateWords = {
  announced: 'announced, its build is being fetched', prepared: 'being measured', swept: 'measured, being checked for changes',
  screened: 'suspicious series are being compared', confirmed: 'compared, its commits are being bisected', bisected: 'compared, reported when its bisections have ended',
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
  if (left !== null) text.push(left > 0 ? `, about ${duration(left)} left` : ', longer than the previous nightly');
  return h('div', null,
    known ? h('progress', { max: '1', value: String(share), 'aria-label': 'Measured' }) : null,
    h('p', { class: 'quiet' }, text));
}

function newestPanel(nightlies) {
  if (nightlies.length === 0) {
    return h('section', { class: 'panel notice' }, h('h2', null, 'No nightly yet'),
      h('p', null, 'The service judges the newest one when it polls its feed next (feed.poll_s). ', h('code', null, 'torchwatch config check'), ' reports whether the feed works.'));
  }
  const [newest] = nightlies;
  const kind = newest.state === 'failed' ? 'alert' : newest.incidents.length ? 'alert' : newest.progress ? '' : 'calm';
  return h('section', { class: `panel ${kind}` },
    h('h2', null, 'Newest nightly: ', nightlyLink(newest.id, newest.date)),
    h('p', null, stateText(newest), newest.incidents.length ? [', ', incidentLinks(newest.incidents)] : null),
    newest.failure ? h('p', { class: 'bad' }, untrusted(newest.failure)) : null,
    progressOf(newest),
    h('p', { class: 'quiet' }, 'commit ', h('code', null, shortSha(newest.commit)), ', announced ', time(newest.announced_at), ` (${ago(newest.announced_at)})`));
}

/** Outcomes that a finding already states. */
const statedByFinding = ['culprit', 'range', 'layout'];

/** The finding, and the state of the newest bisection unless the finding states it. */
function foundText({ finding, bisection }) {
  const newest = bisection ? `bisection ${bisection.id}: ${bisection.headline.toLowerCase()}` : null;
  if (!finding) return newest ?? 'no bisection';
  return [findingText(finding), statedByFinding.includes(bisection?.outcome) ? null : `; ${newest}`];
}

const shownIncidents = 6;

/** `count`: the number of all unfinished incidents. `incidents` has the newest. */
function incidentsPanel(incidents, count) {
  const shown = incidents.slice(0, shownIncidents);
  return h('section', { class: `panel ${count === 0 ? 'calm' : 'alert'}` },
    h('h2', null, count === 0 ? 'No unfinished incident' : plural(count, 'unfinished incident')),
    count === 0 ? h('p', { class: 'quiet' }, 'Every incident is fixed, accepted or a false alarm.') : null,
    h('ul', { class: 'plain' }, shown.map((incident) => h('li', null,
      incidentLink(incident.id, incident.date), ', ', incidentState(incident.state), ': ',
      incident.worst ? [h('b', { class: 'bad' }, incident.worst.headline), ' ', seriesLink(incident.worst)] : null,
      incident.series > 1 ? `, ${plural(incident.series - 1, 'other series', 'other series')}` : null,
      h('br'), h('span', { class: 'quiet' }, foundText(incident))))),
    count > shown.length ? h('p', null, h('a', { href: incidentsAddress(unfinished) }, `All ${count} unfinished incidents`)) : null,
    h('p', null, h('a', { href: '/incidents' }, 'All incidents')));
}

function bisectionsPanel(bisections) {
  return h('section', { class: 'panel' },
    h('h2', null, bisections.length === 0 ? 'No open bisection' : plural(bisections.length, 'open bisection')),
    h('ul', { class: 'plain' }, bisections.map((bisection) => h('li', null,
      bisectionLink(bisection.id), ` ${bisection.state}, ${plural(bisection.steps, 'step')}`,
      ', ', bisection.incident ? incidentLink(bisection.incident) : 'on request',
      bisection.reason ? [h('br'), h('span', { class: 'quiet' }, untrusted(bisection.reason))] : null))),
    h('p', null, h('a', { href: '/bisections' }, 'All bisections')));
}

function alarmsPanel(alarms) {
  const heading = alarms.length === 0 ? 'No open alarm' : plural(alarms.length, 'open alarm about torchwatch itself', 'open alarms about torchwatch itself');
  return h('section', { class: `panel ${alarms.length === 0 ? 'calm' : 'notice'}` },
    h('h2', null, heading),
    h('ul', { class: 'plain' }, alarms.slice(0, 6).map((alarm) => h('li', null,
      h('b', null, alarm.kind.replaceAll('_', ' ')), alarm.subject ? [' ', untrusted(alarm.subject)] : null,
      h('br'), h('span', { class: 'quiet' }, untrusted(sentence(alarm.detail)), ' Open since ', time(alarm.raised_at), '.')))),
    h('p', null, h('a', { href: '/alarms' }, 'All alarms')));
}

function servicePanel(vitals) {
  const isWell = vitals.status === 'ok';
  return h('section', { class: `panel ${isWell ? 'calm' : 'alert'}` },
    h('h2', null, isWell ? 'The service is healthy' : 'The service has problems'),
    h('ul', { class: 'plain' },
      (vitals.troubles ?? []).map((trouble) => h('li', { class: 'bad' }, untrusted(trouble))),
      Object.entries(vitals.slots ?? {}).map(([fleet, slots]) => h('li', null, `Fleet ${fleet}: ${slots.taken} of ${plural(slots.all, 'slot')} measuring${slots.quarantined ? `, ${slots.quarantined} quarantined` : ''}`)),
      vitals.watching ? h('li', null, `${bytes(vitals.watching.free_mib * 1048576)} of disk space free`) : null,
      vitals.watching?.last_pass_at ? h('li', null, 'Last pass of the watch loop: ', time(vitals.watching.last_pass_at)) : null));
}

function incidentsOf(nightly) {
  if (nightly.incidents.length) return incidentLinks(nightly.incidents, String);
  if (nightly.progress) return 'not yet';
  if (nightly.state === 'failed') return '–';
  return nightly.baseline ? 'none' : 'not compared';
}

function recent(nightlies) {
  if (nightlies.length === 0) return null;
  return [table([
    { title: 'Nightly', cell: (row) => nightlyLink(row.id, row.date) },
    { title: 'State', cell: (row) => h('span', { class: row.state === 'failed' ? 'bad' : '' }, stateText(row)) },
    { title: 'Commit', cell: (row) => h('code', null, shortSha(row.commit)), narrowHidden: true },
    { title: 'Incident', cell: incidentsOf },
  ], nightlies, { caption: 'The newest nightlies' }), h('p', null, h('a', { href: '/nightlies' }, 'All nightlies'))];
}

function summaryOf(tonight, vitals) {
  const open = tonight.unfinished_incidents;
  const troubles = [
    vitals.status === 'ok' ? null : 'the service has problems',
    open ? plural(open, 'unfinished incident') : null,
    tonight.alarms.length ? plural(tonight.alarms.length, 'open alarm') : null,
  ].filter(Boolean);
  if (troubles.length > 0) return ['bad', `Needs attention: ${troubles.join(', ')}.`];
  return tonight.nightlies.length === 0 ? ['quiet', 'The service waits for its first nightly.'] : ['good', 'Everything is fine.'];
}

export async function show(place) {
  const [tonight, vitals] = await Promise.all([read('/api/v1/tonight', place.signal), health(place.signal)]);
  const [kind, text] = summaryOf(tonight, vitals);
  place.show(
    h('h1', null, 'Tonight'),
    h('p', { class: kind }, text),
    h('div', { class: 'cards tonight' }, newestPanel(tonight.nightlies), incidentsPanel(tonight.incidents, tonight.unfinished_incidents), bisectionsPanel(tonight.bisections),
      alarmsPanel(tonight.alarms), servicePanel(vitals)),
    recent(tonight.nightlies));
}
