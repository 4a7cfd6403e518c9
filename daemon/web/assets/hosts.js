// Hosts that measure otherwise than the others of their fleet.

import { h, untrusted } from './dom.js';
import { change, plural } from './format.js';
import { ratioBars } from './ratiobars.js';
import { table } from './table.js';

/** What a host says of itself and not all of `others` do. */
function differences(host, others) {
  const names = Object.keys(host.fingerprint).filter((name) => others.some((other) => JSON.stringify(other.fingerprint[name]) !== JSON.stringify(host.fingerprint[name])));
  return names.map((name) => `${name} ${host.fingerprint[name] ?? 'unknown'}`).join(', ');
}

/** Its own name, with what has changed where it changed. */
function nameOf(host, fleet) {
  const own = host.fingerprint.host ?? 'unnamed';
  const changed = differences(host, fleet.filter((other) => other.fingerprint.host === host.fingerprint.host));
  return changed ? `${own}, ${changed}` : own;
}

function named(items) {
  const hosts = items.map((host) => {
    const fleet = items.filter((other) => other.fleet === host.fleet);
    return { ...host, name: nameOf(host, fleet), differences: differences(host, fleet) || 'nothing: it is alone', isAlone: fleet.length === 1 };
  });
  return hosts.sort((one, other) => one.fleet.localeCompare(other.fleet) || one.name.localeCompare(other.name));
}

function barOf(host) {
  return { label: host.name, ratio: host.ratio, low: host.low, high: host.high,
    title: `${host.name} of fleet ${host.fleet}: ${change(host.ratio)} beside the medians of ${plural(host.series, 'series', 'series')}` };
}

function hostTable(hosts) {
  return table([
    { title: 'Host', value: (row) => row.name, cell: (row) => untrusted(row.name) },
    { title: 'Fleet', value: (row) => row.fleet, cell: (row) => row.fleet },
    { title: 'Beside the others', number: true, value: (row) => row.ratio, cell: (row) => change(row.ratio), descending: true },
    { title: 'Eight of ten series', number: true, cell: (row) => `${change(row.low)} to ${change(row.high)}` },
    { title: 'Series', number: true, value: (row) => row.series, cell: (row) => row.series, descending: true, narrowHidden: true },
    { title: 'Nights of them', number: true, value: (row) => row.levels, cell: (row) => row.levels, descending: true, narrowHidden: true },
    { title: 'What tells it apart', cell: (row) => untrusted(row.differences), narrowHidden: true },
  ], hosts, { caption: 'A host that changes what it says of itself, its kernel for one, is another one' });
}

export function hostSection({ nights, items }) {
  const heading = h('h2', null, 'Hosts');
  if (items.length === 0) return [heading, h('p', { class: 'quiet' }, 'No host has measured a series on two nights yet.')];
  const hosts = named(items);
  const isEachAlone = hosts.every((host) => host.isAlone);
  return [heading,
    h('p', { class: 'quiet' }, `Times on each host beside the median of their series over the last ${plural(nights, 'night')}. `,
      isEachAlone ? 'Each fleet has one host, so there is nothing to tell apart.' : 'Lines are what eight of ten series keep within.'),
    isEachAlone ? null : h('figure', { class: 'narrow-figure' }, ratioBars(hosts.map(barOf), 'Pace of each host beside its fleet; the table below has the figures')),
    hostTable(hosts)];
}
