// What a person may ask of the service. Each needs the token, and says what came of it.

import { Problem, send } from './api.js';
import { ask } from './dialog.js';
import { h, notice } from './dom.js';

const who = { name: 'who', label: 'Who you are' };
const why = { name: 'why', label: 'Why' };

/** A button that does something, and says what came of it. */
function button(label, text, act) {
  const element = h('button', { type: 'button', click: async () => {
    element.disabled = true;
    try {
      const said = await act();
      if (said) notice(said, 'good');
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

/** `again`: called when something was changed. */
export function bisectionActions(bisection, again) {
  const steer = (state, said) => async () => {
    await send(`/api/v1/bisections/${bisection.id}`, { state });
    again();
    return said;
  };
  const hasEnded = ['done', 'failed', 'cancelled'].includes(bisection.state);
  const buttons = [
    hasEnded ? button('Bisect again', 'The same commits and series, measured anew', async () => {
      const asked = await send('/api/v1/bisections', { again: bisection.id });
      again();
      return `Bisection ${asked.id} is ${asked.state}.`;
    }) : null,
    ['queued', 'running'].includes(bisection.state) ? button('Pause', 'Until somebody resumes it', steer('paused', 'Paused.')) : null,
    bisection.state === 'paused' ? button('Resume', 'It goes on where it was', steer('queued', 'It goes on.')) : null,
    hasEnded ? null : button('Cancel', 'For good', async () => {
      const sure = await ask('Cancel the bisection?', 'It ends for good. What was measured stays.', [], 'Cancel the bisection');
      return sure ? steer('cancelled', 'Cancelled.')() : null;
    }),
  ];
  return h('div', { class: 'actions' }, buttons.filter(Boolean));
}

export function incidentActions(incident, again) {
  const rule = (kind, title, text, action, said) => async () => {
    const given = await ask(title, text, [who, why], action);
    if (!given) return null;
    await send('/api/v1/rulings', { kind, incident: incident.id, ...given });
    again();
    return said;
  };
  const mute = async () => {
    const [worst] = incident.changes;
    const given = await ask('Mute the series?', `Regressions of ${worst.name} on ${worst.fleet} are recorded, and nobody is told.`,
      [who, why, { name: 'until', label: 'Until', type: 'date', required: false, hint: 'Without a date: until somebody unmutes it.' }], 'Mute');
    if (!given) return null;
    const { until, ...words } = given;
    await send('/api/v1/rulings', { kind: 'mute', fleet: worst.fleet, benchmark: worst.benchmark, metric: worst.metric, ...words, ...(until ? { until } : {}) });
    again();
    return 'Muted.';
  };
  return h('div', { class: 'actions' },
    button('Accept', 'The change is wanted', rule('accept', 'Accept the change?', 'The new level is the reference from now on.', 'Accept', 'Accepted.')),
    button('False alarm', 'There was no such change', rule('false_alarm', 'A false alarm?', 'It counts against the service\'s precision.', 'It was false', 'Noted as a false alarm.')),
    incident.changes.length ? button('Mute', 'Its worst series', mute) : null);
}
