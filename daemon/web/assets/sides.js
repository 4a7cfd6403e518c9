// The controls that choose the two sides of a comparison. The address contains the choices.

import { h } from './dom.js';
import { metricText } from './ratiofigures.js';

export const words = ['fleet', 'device', 'backend'];
export const sides = ['before', 'after'];
export const asked = [...sides, ...sides.flatMap((side) => words.map((word) => `${side}_${word}`))];

/** The orders of models, [value, text] each: by name, by domain, and by the ratio of each metric that was measured. */
function ordersOf({ metrics }) {
  return [['model', 'Model'], ['domain', 'Domain'], ...metrics.map(({ metric }) => [metric, `${metricText(metric)} ratio, highest first`])];
}

function option(value, text, chosen) {
  return h('option', { value, selected: String(value) === String(chosen) }, text);
}

/** The options for nightlies, grouped by year. */
function nightlyOptions({ id, date }, chosen) {
  const years = new Map();
  id.forEach((one, at) => {
    const year = date[at].slice(0, 4);
    years.set(year, [...(years.get(year) ?? []), option(one, date[at] === date[at - 1] || date[at] === date[at + 1] ? `${date[at]} (${one})` : date[at], chosen)]);
  });
  if (years.size < 2) return [...years.values()].flat();
  return [...years.entries()].map(([year, options]) => h('optgroup', { label: year }, options));
}

function wordChoice(side, word, values, query, onChange) {
  if (values.length < 2) return null;
  const name = `${side}_${word}`;
  return h('label', null, word[0].toUpperCase() + word.slice(1),
    h('select', { name, change: (event) => onChange(name, event.target.value) },
      option('', 'any, or that of the other side', query.get(name) ?? ''), values.map((value) => option(value, value, query.get(name)))));
}

function sideControls(side, choices, comparison, query, onChange) {
  const wanted = Number(query.get(side) ?? comparison[side]?.nightly.id);
  const chosen = choices.nightlies.id.includes(wanted) ? wanted : '';
  return h('fieldset', { class: 'controls' }, h('legend', null, side === 'before' ? 'Baseline' : 'Candidate'),
    h('label', null, 'Nightly', h('select', { name: side, change: (event) => onChange(side, event.target.value) },
      chosen === '' ? option('', 'none', '') : null, nightlyOptions(choices.nightlies, chosen))),
    words.map((word) => wordChoice(side, word, choices[`${word}s`], query, onChange)));
}

function swapped(query) {
  const turned = new URLSearchParams(query);
  for (const name of asked) {
    const other = name.startsWith('before') ? name.replace('before', 'after') : name.replace('after', 'before');
    if (query.has(other)) turned.set(name, query.get(other));
    else turned.delete(name);
  }
  return turned;
}

/** The choices with both nightlies, including the default ones. */
export function withNightlies(query, comparison) {
  const whole = new URLSearchParams(query);
  for (const side of sides) if (comparison[side] && !whole.has(side)) whole.set(side, comparison[side].nightly.id);
  return whole;
}

/** Links that compare each other backend with eager, or with the first one, on the nightly of the candidate. */
export function backendLinks({ choices, comparison }) {
  const { backends, nightlies } = choices;
  const nightly = comparison.after?.nightly.id ?? nightlies.id[0];
  if (backends.length < 2 || nightly === undefined) return null;
  const first = backends.includes('eager') ? 'eager' : backends[0];
  const link = (backend) => {
    const query = new URLSearchParams({ before: nightly, after: nightly, before_backend: first, after_backend: backend });
    return h('a', { href: `/compare?${query}` }, `${backend} with ${first}`);
  };
  return h('p', null, 'Backends of one nightly: ', backends.filter((one) => one !== first).map((backend, at) => [at > 0 ? ' · ' : null, link(backend)]));
}

/** The controls. `change(name, value)` stores a choice; an empty value removes it. `go(address)` opens another address. */
export function sideChoices({ choices, comparison }, query, change, go) {
  if (choices.nightlies.id.length === 0) return [];
  return [
    ...sides.map((side) => sideControls(side, choices, comparison, query, change)),
    h('div', { class: 'controls' },
      h('button', { type: 'button', click: () => go(`/compare?${swapped(withNightlies(query, comparison))}`) }, 'Swap sides'),
      h('label', null, 'Sort by', h('select', { name: 'sort', change: (event) => change('sort', event.target.value) },
        ordersOf(choices).map(([value, text]) => option(value, text, query.get('sort') ?? 'domain'))))),
  ];
}
