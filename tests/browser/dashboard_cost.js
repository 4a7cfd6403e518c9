// What the dashboard costs on ten years of a thousand series: node dashboard_cost.js [DIRECTORY that torchwatch-years wrote]
// Prints a table with its goals, and exits with 1 when one is missed.

import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import { generate, openBrowser, openPage, serve, visit } from './world.js';

const inFlight = 50;
const requests = 3000;
const writesASecond = 10;
const panSeconds = 2;

const given = process.argv[2];
const folder = given ?? generate(['--nights', '3650', '--series', '1000', '--scratch', '/dev/shm/torchwatch-years']);
const service = await serve(folder);
const browser = await openBrowser();
const rows = [];
const report = (what, value, goal, unit, isGood) => rows.push({ what, value, goal, unit, isGood });
const most = (what, value, goal, unit) => report(what, value, `at most ${goal}`, unit, value <= goal);

const read = async (address) => (await fetch(service.url + address)).json();
const quantile = (values, share) => [...values].sort((one, other) => one - other)[Math.min(values.length - 1, Math.floor(share * values.length))];

const series = (await read('/api/v1/series?limit=500')).items.find((one) => one.metric === 'latency');
const query = new URLSearchParams({ fleet: series.fleet, benchmark: series.benchmark, metric: series.metric });
const incident = (await read('/api/v1/incidents')).items[3];
const pages = {
  Tonight: '/', 'all series': '/series', 'one series': `/series?${query}`, incidents: '/incidents', incident: `/incidents/${incident.id}`,
  searches: '/bisections', nightlies: '/nightlies', compare: '/compare', trust: '/trust', alarms: '/alarms',
};

/** From the request for the page until it shows its figures, in a browser that has seen none of it. */
async function pageTime(address) {
  const page = await openPage(browser, service);
  const began = performance.now();
  await visit(page, address);
  if (address.includes('benchmark=')) await page.locator('.dygraph-axis-label').first().waitFor();
  const took = performance.now() - began;
  await page.context().close();
  return took;
}

/** Milliseconds to draw, and frames a second while it is panned. */
async function chartCost() {
  const page = await openPage(browser, service);
  await visit(page, pages['one series']);
  await page.locator('.dygraph-axis-label').first().waitFor();
  const drawn = await page.evaluate(() => performance.getEntriesByName('chart')[0].duration);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  const frames = await page.evaluate(async (seconds) => {
    const chart = document.querySelector('.chart');
    const end = performance.now() + 1000 * seconds;
    let count = 0;
    while (performance.now() < end) {
      chart.dispatchEvent(new WheelEvent('wheel', { shiftKey: true, deltaY: count % 20 < 10 ? -1 : 1, cancelable: true }));
      await new Promise((resolve) => { requestAnimationFrame(resolve); });
      count += 1;
    }
    return count / seconds;
  }, panSeconds);
  await page.context().close();
  return { drawn, frames };
}

/** Milliseconds of each of many requests, `inFlight` at a time, while something is written again and again. */
async function latenciesOf(address) {
  const latencies = [];
  let left = requests;
  const asking = async () => {
    while (left > 0) {
      left -= 1;
      const began = performance.now();
      await (await fetch(service.url + address)).arrayBuffer();
      latencies.push(performance.now() - began);
    }
  };
  const writer = setInterval(() => {
    fetch(`${service.url}/api/v1/rulings`, {
      method: 'POST', headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'mute', fleet: 'cpu', who: 'benchmark', why: 'it writes', until: '2026-07-01' }),
    });
  }, 1000 / writesASecond);
  await Promise.all(Array.from({ length: inFlight }, asking));
  clearInterval(writer);
  return latencies;
}

function residentMib() {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (!command.includes('serve') || !command.includes(path.join(folder, 'torchwatch.json'))) continue;
      return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
    } catch {
      // It has ended meanwhile.
    }
  }
  return NaN;
}

for (const [name, address] of Object.entries(pages)) most(`${name} is usable after`, await pageTime(address), 1000, 'ms');
const chart = await chartCost();
most('a chart is drawn in', chart.drawn, 300, 'ms');
report('and panned at', chart.frames, 'at least 30', 'frames/s', chart.frames >= 30);
for (const [name, address] of [['Tonight', '/api/v1/tonight'], ['one series', `/api/v1/history?${query}`]]) {
  const latencies = await latenciesOf(address);
  report(`${name}, ${inFlight} in flight, median`, quantile(latencies, 0.5), '', 'ms', true);
  most(`${name}, ${inFlight} in flight, p99`, quantile(latencies, 0.99), 20, 'ms');
}
most('the database', statSync(path.join(folder, 'state/torchwatch.sqlite')).size / 2 ** 20, 1024, 'MiB');
most('the service, resident', residentMib(), 100, 'MiB');

for (const { what, value, goal, unit, isGood } of rows) console.log(`${what.padEnd(36)} ${value.toFixed(1).padStart(8)} ${unit.padEnd(9)} ${goal}${isGood ? '' : '  MISSED'}`);
await browser.close();
if (given) await service.stop();
else await service.remove();
process.exit(rows.every((row) => row.isGood) ? 0 : 1);
