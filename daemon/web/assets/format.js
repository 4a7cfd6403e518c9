// Formats numbers and times.

import { h } from './dom.js';

/** 1.121 → "+12.1%". */
export function change(ratio) {
  if (ratio === null || ratio === undefined) return '–';
  const percent = 100 * (ratio - 1);
  const digits = Math.abs(percent) >= 100 ? 0 : 1;
  const text = percent.toFixed(digits);
  return `${percent >= 0 ? '+' : ''}${text}%`;
}

/** "+12.1% (at least +10.0%, confidence 99.9%)", as the service words a comparison. */
export function changeText({ headline, certainty }) {
  return certainty ? `${headline} (${certainty})` : headline;
}

/** The sort key of a change: its ratio, or infinity for an increase from zero. */
export function growth(comparison) {
  if (!comparison) return null;
  return comparison.ratio ?? (comparison.after > comparison.before ? Infinity : null);
}

/** Four significant digits: measurements are not more precise. */
export function number(value) {
  if (value === null || value === undefined) return '–';
  return Number(value.toPrecision(4)).toLocaleString(undefined, { maximumSignificantDigits: 4 });
}

/** A level with its unit. Bytes are scaled: "1.5 GiB". */
export function level(value, unit) {
  if (value === null || value === undefined) return '–';
  if (unit === 'bytes') return bytes(value);
  if (unit === 'bytes/iteration') return `${bytes(value)}/iteration`;
  return `${number(value)} ${unit}`;
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
  return `${number(value)} ${units[at]}`;
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

export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

export function shortSha(sha) {
  return sha ? sha.slice(0, 12) : '–';
}

export function sha(value, url) {
  const text = h('code', null, shortSha(value));
  return url ? h('a', { href: url, rel: 'noreferrer' }, text) : text;
}

/** The CSS class of a verdict. An increase is bad for every metric. */
export function verdictClass(verdict) {
  return { regression: 'bad', improvement: 'good', inconclusive: 'warn' }[verdict] ?? '';
}
