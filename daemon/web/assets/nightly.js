// One nightly: what was found on it.

import { read } from './api.js';
import { h, untrusted } from './dom.js';
import { comparisonColumns } from './findings.js';
import { growth, sha, time } from './format.js';
import { incidentLink, nightlyLink } from './links.js';
import { facts, table } from './table.js';
import { stateText } from './tonight.js';

const moves = ['regression', 'improvement'];

function hasEnded({ state }) {
  return ['bisected', 'done', 'failed'].includes(state);
}

function captionOf(verdicts) {
  const moved = verdicts.filter((row) => moves.includes(row.verdict));
  if (moved.length === 0) return 'Series that were compared with the night before, run by run';
  const most = moved.reduce((worst, one) => (growth(one) > growth(worst) ? one : worst));
  return `${moved.length} of ${verdicts.length} compared series moved, at most ${most.headline}`;
}

/** Why there are no verdicts. `baseline`: the nightly it stands beside, or null. */
function emptyText(nightly, baseline) {
  if (nightly.state === 'failed') return 'It failed before anything was compared.';
  if (!hasEnded(nightly)) return 'Not compared yet.';
  if (!baseline) return 'It was not compared: there is nothing to compare it with.';
  if (baseline.commit === nightly.commit) return 'It was not compared: its baseline has the same commit.';
  return 'No series was suspicious enough to be compared.';
}

export async function show(place) {
  const nightly = await read(`/api/v1/nightlies/${place.id}`, place.signal);
  const baseline = nightly.baseline ? await read(`/api/v1/nightlies/${nightly.baseline}`, place.signal) : null;
  place.title(`Nightly ${nightly.date}`);
  place.show(h('h1', null, `Nightly ${nightly.date}`),
    facts([
      ['State', [stateText(nightly), nightly.failure ? [': ', untrusted(nightly.failure)] : null]],
      ['Commit', sha(nightly.commit, null)],
      nightly.version ? ['Version', untrusted(nightly.version)] : null,
      ['Compared with', baseline ? nightlyLink(baseline.id, baseline.date) : hasEnded(nightly) ? 'nothing' : 'nothing yet'],
      ['Announced', time(nightly.announced_at)],
      nightly.incident ? ['Incident', incidentLink(nightly.incident.id)] : null,
      nightly.baseline ? ['All its figures', h('a', { href: `/compare?before=${nightly.baseline}&after=${nightly.id}` }, 'beside those of the night before')] : null,
    ]),
    h('h2', null, 'Verdicts'),
    table(comparisonColumns, nightly.verdicts, { sort: 2, descending: true, caption: captionOf(nightly.verdicts), empty: emptyText(nightly, baseline) }),
    nightly.anchored.length ? [h('h2', null, 'Beside their anchors'),
      table(comparisonColumns, nightly.anchored, { caption: 'Against much older nightlies, so that many small steps are seen' })] : null);
}
