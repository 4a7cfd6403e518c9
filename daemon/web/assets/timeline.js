// The timeline of an incident: each event, and what was published about it, when and where.

import { h, untrusted } from './dom.js';
import { sha, time } from './format.js';
import { bisectionLink, nightlyLink } from './links.js';
import { stateWord } from './states.js';

const places = { github: 'GitHub issue', file: 'file', webhook: 'webhook', email: 'email', pull_request: 'pull request' };
const parts = {
  open_issue: 'report', edit_body: 'description', comment: 'comment', close_completed: 'closing as completed', close_not_planned: 'closing as not planned', reopen: 'reopening',
};

function partText({ action, place }) {
  const words = parts[action] ?? stateWord(action);
  return place && /^https?:/.test(place) ? h('a', { href: place, rel: 'noreferrer' }, words) : words;
}

/** Why a message has not arrived; nothing when it has. */
function troubleText({ progress, failure, next_at: nextAt }) {
  if (progress === 'sent') return null;
  return h('span', { class: progress === 'given_up' ? 'bad' : 'warn' }, progress === 'given_up' ? ' given up' : ' not sent yet',
    failure ? [': ', untrusted(failure)] : null, nextAt ? [', next attempt ', time(nextAt)] : null);
}

function messageItem(message) {
  return h('li', { class: 'quiet' }, `${places[message.destination] ?? message.destination}: `, partText(message), message.progress === 'sent' ? [' ', time(message.done_at)] : null, troubleText(message));
}

/** Links the commit and the bisections. The headline names the nightly. */
function linksOf({ nightly, commit, bisections }) {
  const links = [nightly?.date ? nightlyLink(nightly.id, nightly.date) : null, commit ? sha(commit.sha, commit.url) : null, ...bisections.map((id) => bisectionLink(id))].filter(Boolean);
  return links.map((link) => [', ', link]);
}

/** The words of the headline before the nightly, which is a link. */
function wordsOf({ headline, nightly }) {
  return nightly?.date ? headline.replace(` in nightly ${nightly.date}`, '') : headline;
}

function eventItem(event) {
  const isSaid = event.bisections.length > 0; // the detail only lists the bisections
  return h('li', null, time(event.at), ' ', h('b', null, wordsOf(event)), linksOf(event),
    event.detail && !isSaid ? h('div', null, untrusted(event.detail)) : null,
    event.messages.length ? h('ul', { class: 'plain' }, event.messages.map(messageItem)) : null);
}

const ruledStates = { accept: 'accepted', false_alarm: 'false_alarm' };

/** Rulings without an event: the service stores one in its next pass. */
function pendingRulings({ rulings, timeline }) {
  const hasEvent = (ruling) => timeline.some((event) => event.kind === 'ruled' && event.state === ruledStates[ruling.kind] && event.detail === `${ruling.who}: ${ruling.why}`);
  return rulings.filter((ruling) => !hasEvent(ruling)).map((ruling) => ({
    at: ruling.given_at, headline: stateWord(ruledStates[ruling.kind] ?? ruling.kind), nightly: null, commit: null, bisections: [],
    detail: `${ruling.who}: ${ruling.why}`, messages: [],
  }));
}

export function timelineSection(incident) {
  const events = [...incident.timeline, ...pendingRulings(incident)].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return [h('h2', null, 'Timeline'),
    events.length ? h('ol', { class: 'timeline' }, events.map(eventItem))
      : h('p', { class: 'quiet' }, 'No event yet. The report is filed as soon as it is known whether the regression belongs to an earlier incident. Watch the bisections below.')];
}
