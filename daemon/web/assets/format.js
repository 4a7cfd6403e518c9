// Formats numbers and times.

import { h } from './dom.js';

/** 1.121 → "+12.1%". */
export function change(ratio) {
  if (ratio === null || ratio === undefined) return '–';
  const percent = 100 * (ratio - 1);
  const digits = Math.abs(percent) >= 100 ? 0 : 1;
  const rounded = Number(percent.toFixed(digits)) || 0; // never -0
  return `${rounded >= 0 ? '+' : ''}${rounded.toFixed(digits)}%`;
}

/** "+12.1% (at least +10.0%, confidence 99.9%)", as the service words a comparison. */
export function changeText({ headline, certainty }) {
  return certainty ? `${headline} (${certainty})` : headline;
}

/** The ratio of costs: above 1 is worse. The reciprocal of a ratio of values where higher values are better. */
export function costRatio(ratio, better) {
  return better === 'higher' ? 1 / ratio : ratio;
}

/** The sort key of a change: how much worse it is. Infinity for an increase from zero, such as a leak. */
export function growth(comparison) {
  if (!comparison) return null;
  const { ratio, better, before, after } = comparison;
  if (ratio !== null && ratio !== undefined) return costRatio(ratio, better);
  return (better === 'higher' ? after < before : after > before) ? Infinity : null;
}

/** At most four significant digits, without zeros at the end: "10.4". For axes and counts. */
export function number(value) {
  if (value === null || value === undefined) return '–';
  return Number(value.toPrecision(4)).toLocaleString(undefined, { maximumSignificantDigits: 4 });
}

/** Four significant digits: measurements are not more precise. "10.40", so that levels line up; zero is "0". */
export function measured(value) {
  if (value === null || value === undefined) return '–';
  if (value === 0) return '0';
  return Number(value.toPrecision(4)).toLocaleString(undefined, { minimumSignificantDigits: 4, maximumSignificantDigits: 4 });
}

/** A level with its unit, which any suite may declare. Bytes are scaled: "1.5 GiB". The unit "1" of counts is left out. */
export function level(value, unit) {
  if (value === null || value === undefined) return '–';
  if (unit === 'bytes') return bytes(value);
  if (unit === 'bytes/iteration') return `${bytes(value)}/iteration`;
  if (unit === '1') return value.toLocaleString();
  return `${measured(value)} ${unit}`;
}

/** "271.5 → 263.9 ms": two levels, with one unit when both have the same. */
export function levels(before, after, unit) {
  const [one, other] = [level(before, unit), level(after, unit)];
  const unitOf = (text) => text.slice(text.indexOf(' '));
  const isSame = one.includes(' ') && unitOf(one) === unitOf(other);
  return `${isSame ? one.slice(0, one.indexOf(' ')) : one} → ${other}`;
}

/** A level on an axis. Bytes have their units, because they are scaled; the title of the axis has other units. */
export function axisLevel(value, unit) {
  return ['bytes', 'bytes/iteration'].includes(unit) ? level(value, unit) : number(value);
}

/** 0.993 → "99.3%". A probability below 1 is never shown as "100%". */
export function probability(value) {
  if (value > 0.999 && value < 1) return '> 99.9%';
  if (value < 0.001 && value > 0) return '< 0.1%';
  return `${Number((100 * value).toPrecision(3))}%`;
}

export function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  while (Math.abs(value) >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${at === 0 ? number(value) : measured(value)} ${units[at]}`;
}

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A time in the browser's time zone. The tooltip has UTC. */
export function time(iso) {
  if (!iso) return '–';
  return h('time', { datetime: iso, title: `${iso.replace('T', ' ').replace('Z', '')} UTC` }, moment.format(new Date(iso)));
}

/** 5400 → "1 h 30 min". */
export function duration(seconds) {
  const minutes = Math.max(0, Math.round(seconds / 60));
  if (minutes < 1) return 'less than a minute';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

/** "2 h 5 min ago" or "in 5 min". */
export function ago(iso) {
  const seconds = (Date.now() - Date.parse(iso)) / 1000;
  return seconds >= 0 ? `${duration(seconds)} ago` : `in ${duration(-seconds)}`;
}

/** The time since `iso`: "3 days". The tooltip has the time. */
export function age(iso) {
  return h('time', { class: 'together', datetime: iso, title: `since ${iso.replace('T', ' ').replace('Z', '')} UTC` }, duration((Date.now() - Date.parse(iso)) / 1000));
}

export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

/** The text as a sentence: with a capital letter, unless it begins with a name, and with a full stop. */
export function sentence(text) {
  return text.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase()) + (/[.?!]$/.test(text) ? '' : '.');
}

export function shortSha(sha) {
  return sha ? sha.slice(0, 12) : '–';
}

export function sha(value, url) {
  const text = h('code', null, shortSha(value));
  return url ? h('a', { href: url, rel: 'noreferrer' }, text) : text;
}

/** The CSS class of a verdict. Verdicts know which direction of the metric is better; the sign of a change does not. */
export function verdictClass(verdict) {
  return { regression: 'bad', improvement: 'good', inconclusive: 'warn' }[verdict] ?? '';
}
