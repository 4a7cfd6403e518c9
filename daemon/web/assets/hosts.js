// The speed of each host, compared with the other hosts of its fleet.

import { h, untrusted } from './dom.js';
import { change, plural } from './format.js';
import { ratioBars } from './ratiobars.js';
import { table } from './table.js';

/** The parts of a host's fingerprint that differ from at least one of `others`. */
function differences(host, others) {
  const names = Object.keys(host.fingerprint).filter((name) => others.some((other) => JSON.stringify(other.fingerprint[name]) !== JSON.stringify(host.fingerprint[name])));
  return names.map((name) => `${name} ${host.fingerprint[name] ?? 'unknown'}`).join(', ');
}

/** The name of a host, with the parts of its fingerprint that changed. */
function nameOf(host, fleet) {
  const own = host.fingerprint.host ?? 'unnamed';
  const changed = differences(host, fleet.filter((other) => other.fingerprint.host === host.fingerprint.host));
  return changed ? `${own}, ${changed}` : own;
}

function named(items) {
  const hosts = items.map((host) => {
    const fleet = items.filter((other) => other.fleet === host.fleet);
    return { ...host, name: nameOf(host, fleet), differences: differences(host, fleet) || 'nothing: only host of its fleet', isAlone: fleet.length === 1 };
  });
  return hosts.sort((one, other) => one.fleet.localeCompare(other.fleet) || one.name.localeCompare(other.name));
}

function barOf(host) {
  return { label: host.name, ratio: host.ratio, low: host.low, high: host.high,
    title: `${host.name} of fleet ${host.fleet}: ${change(host.ratio)} compared with the medians of ${plural(host.series, 'series', 'series')}` };
}

function hostTable(hosts) {
  return table([
    { title: 'Host', value: (row) => row.name, cell: (row) => untrusted(row.name) },
    { title: 'Fleet', value: (row) => row.fleet, cell: (row) => row.fleet },
    { title: 'Time compared with fleet', number: true, value: (row) => row.ratio, cell: (row) => change(row.ratio), descending: true },
    { title: '80% of series within', number: true, cell: (row) => `${change(row.low)} to ${change(row.high)}` },
    { title: 'Series', number: true, value: (row) => row.series, cell: (row) => row.series, descending: true, narrowHidden: true },
    { title: 'Nightly levels', number: true, value: (row) => row.levels, cell: (row) => row.levels, descending: true, narrowHidden: true },
    { title: 'Differs in', cell: (row) => untrusted(row.differences), narrowHidden: true },
  ], hosts, { caption: 'A host whose fingerprint changes, for example its kernel, counts as another host' });
}

export function hostSection({ nights, items }) {
  const heading = h('h2', null, 'Speed of each host');
  if (items.length === 0) return [heading, h('p', { class: 'quiet' }, 'No host has measured a series on two nightlies yet. The second nightly fills this table.')];
  const hosts = named(items);
  const isEachAlone = hosts.every((host) => host.isAlone);
  return [heading,
    h('p', { class: 'quiet' }, `Times on each host compared with the medians of its series, over the last ${plural(nights, 'nightly', 'nightlies')}. `,
      isEachAlone ? 'Each fleet has one host, so there is no other host to compare with.' : 'Each line is the range of 80% of the series. A ratio above 1 means that the host is slower.'),
    isEachAlone ? null : h('figure', { class: 'narrow-figure' }, ratioBars(hosts.map(barOf), 'Time on each host compared with its fleet; the table below lists the values')),
    hostTable(hosts)];
}
