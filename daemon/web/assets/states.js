// The states of incidents, in words.

import { h } from './dom.js';

/** The states that a nightly may still end. */
export const unfinished = ['open', 'explained', 'fix_expected', 'partly_fixed', 'returned', 'stale'];
export const allStates = [...unfinished, 'fixed', 'accepted', 'false_alarm'];

const looks = {
  open: 'bad', explained: 'bad', returned: 'bad', fix_expected: 'warn', partly_fixed: 'warn', stale: 'warn', fixed: 'good', accepted: 'quiet', false_alarm: 'quiet',
};
const meanings = {
  open: 'Confirmed; its cause is not known yet', explained: 'A bisection found its cause', fix_expected: 'The trunk has a commit that should end it',
  fixed: 'All series are back at the level before', partly_fixed: 'Some series are back at the level before', returned: 'Series regressed again after a fix',
  accepted: 'A user ruled that the change is intended', false_alarm: 'A user ruled that nothing changed', stale: 'A series is not measured any more',
};

/** "fix expected". */
export function stateWord(state) {
  return state.replaceAll('_', ' ');
}

export function stateText(state) {
  return h('span', { class: `${looks[state] ?? ''} together`, title: meanings[state] ?? null }, stateWord(state));
}

/** The address of the list of incidents in these states. */
export function incidentsAddress(states) {
  return `/incidents?${new URLSearchParams({ state: states.join(',') })}`;
}
