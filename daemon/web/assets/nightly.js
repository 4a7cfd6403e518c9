// The page of one nightly: its verdicts.

import { read } from './api.js';
import { h, untrusted } from './dom.js';
import { comparisonColumns } from './findings.js';
import { growth, sha, time } from './format.js';
import { incidentLinks, nightlyLink } from './links.js';
import { facts, table } from './table.js';
import { stateText } from './tonight.js';

const changes = ['regression', 'improvement'];

function hasEnded({ state }) {
  return ['bisected', 'done', 'failed'].includes(state);
}

function captionOf(verdicts) {
  const changed = verdicts.filter((row) => changes.includes(row.verdict));
  if (changed.length === 0) return 'Series compared with the baseline, run by run';
  const most = changed.reduce((worst, one) => (growth(one) > growth(worst) ? one : worst));
  return `${changed.length} of ${verdicts.length} compared series changed, at most ${most.headline}`;
}

/** The reason why there are no verdicts. `baseline`: the nightly's baseline, or null. */
function emptyText(nightly, baseline) {
  if (nightly.state === 'failed') return 'No verdicts: the nightly failed before its comparisons.';
  if (!hasEnded(nightly)) return 'No verdicts yet: the nightly was not compared yet.';
  if (!baseline) return 'No verdicts: the nightly has no baseline.';
  if (baseline.commit === nightly.commit) return 'No verdicts: the baseline has the same commit.';
  return 'No verdicts: no series was suspicious enough to be compared.';
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
      ['Baseline', baseline ? nightlyLink(baseline.id, baseline.date) : hasEnded(nightly) ? 'none' : 'none yet'],
      ['Announced', time(nightly.announced_at)],
      nightly.incidents.length ? [nightly.incidents.length === 1 ? 'Incident' : 'Incidents', incidentLinks(nightly.incidents.map(({ id }) => id))] : null,
      nightly.baseline ? ['All values', h('a', { href: `/compare?before=${nightly.baseline}&after=${nightly.id}` }, 'Compare with the baseline')] : null,
    ]),
    h('h2', null, 'Verdicts'),
    table(comparisonColumns, nightly.verdicts, { sort: 2, descending: true, caption: captionOf(nightly.verdicts), empty: emptyText(nightly, baseline) }),
    nightly.anchored.length ? [h('h2', null, 'Compared with anchors'),
      table(comparisonColumns, nightly.anchored, { caption: 'Series compared with a much older nightly, to find many small steps' })] : null);
}
