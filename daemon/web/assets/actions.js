// Buttons that change something in the service. Each needs the token, and reports its result.

import { Problem, send } from './api.js';
import { ask } from './dialog.js';
import { h, notice } from './dom.js';

const who = { name: 'who', label: 'Your name' };
const why = { name: 'why', label: 'Reason' };

/** A button that calls `act`, and reports its result or its error. `text`: the tooltip. */
function button(label, text, act) {
  const element = h('button', { type: 'button', click: async () => {
    element.disabled = true;
    try {
      const result = await act();
      if (result) notice(result, 'good');
    } catch (failure) {
      if (!(failure instanceof Problem)) throw failure;
      const reasons = failure.errors?.map((error) => `${error.field}: ${error.detail}`).join('; ');
      notice(`${failure.message}${reasons ? ` (${reasons})` : ''}`, 'bad');
    } finally {
      element.disabled = false;
    }
  }, title: text }, label);
  return element;
}

/** The buttons of a bisection. `again` is called after each change. */
export function bisectionActions(bisection, again) {
  const steer = (state, result) => async () => {
    await send(`/api/v1/bisections/${bisection.id}`, { state });
    again();
    return result;
  };
  const hasEnded = ['done', 'failed', 'cancelled'].includes(bisection.state);
  const buttons = [
    hasEnded ? button('Bisect again', 'Measure these commits and series again', async () => {
      const started = await send('/api/v1/bisections', { again: bisection.id });
      again();
      return `Bisection ${started.id} is ${started.state}.`;
    }) : null,
    ['queued', 'running'].includes(bisection.state) ? button('Pause', 'Pause until you resume it', steer('paused', 'Bisection paused.')) : null,
    bisection.state === 'paused' ? button('Resume', 'Continue after the last step', steer('queued', 'Bisection resumed.')) : null,
    hasEnded ? null : button('Cancel', 'End the bisection; it cannot be resumed', async () => {
      const sure = await ask('Cancel the bisection?', 'A cancelled bisection cannot be resumed. Its measurements are kept.', [], 'Cancel the bisection');
      return sure ? steer('cancelled', 'Bisection cancelled.')() : null;
    }),
  ];
  return h('div', { class: 'actions' }, buttons.filter(Boolean));
}

/** The buttons of an incident. `again` is called after each change. */
export function incidentActions(incident, again) {
  const rule = (kind, title, text, action, result) => async () => {
    const given = await ask(title, text, [who, why], action);
    if (!given) return null;
    await send('/api/v1/rulings', { kind, incident: incident.id, ...given });
    again();
    return result;
  };
  const mute = async () => {
    const [worst] = incident.changes;
    const given = await ask('Mute the series?', `Regressions of ${worst.name} on ${worst.fleet} are recorded but not reported.`,
      [who, why, { name: 'until', label: 'Until', type: 'date', required: false, hint: 'Without a date, the series is muted until you unmute it.' }], 'Mute');
    if (!given) return null;
    const { until, ...words } = given;
    await send('/api/v1/rulings', { kind: 'mute', fleet: worst.fleet, benchmark: worst.benchmark, metric: worst.metric, ...words, ...(until ? { until } : {}) });
    again();
    return 'Series muted.';
  };
  return h('div', { class: 'actions' },
    button('Accept', 'The change is intended', rule('accept', 'Accept the change?', 'The new level becomes the reference.', 'Accept', 'Incident accepted.')),
    button('False alarm', 'The change is not real', rule('false_alarm', 'Mark as false alarm?', 'The page Trust counts it as a false incident.', 'Mark as false alarm', 'Marked as a false alarm.')),
    incident.changes.length ? button('Mute', 'Stop reports on the worst series', mute) : null);
}
