// Measures the cost of the dashboard on ten years of a thousand series: node dashboard_cost.js [NIGHTS | DIRECTORY]
// NIGHTS: 30 to 365, or whole years. 1095 is the smallest number of years with a thousand nightlies. DIRECTORY: written by
// torchwatch-years. The load needs wrk (a Debian package). During it, the service sweeps another nightly, with workers that
// take 50 ms. Prints a table of figures and goals, and exits with 1 when a goal is missed.

import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { jobsMeasured, sweepNextNightly } from './service.js';
import { generate, openBrowser, openPage, serve, visit } from './world.js';

const inFlight = 50;
const loadSeconds = 5;
const panSeconds = 2;
const trustPages = 3;
const trustSeconds = 10;
const ticksPerSecond = 100; // of /proc

/** Copies a history, because the service writes to it. */
function copyOf(history) {
  const copy = mkdtempSync(path.join(tmpdir(), 'torchwatch-cost-'));
  cpSync(history, copy, { recursive: true });
  return copy;
}

/** Waits until the service has checked the database, which it does once and which slows it down. */
async function databaseIsChecked(state) {
  for (let tries = 0; !existsSync(path.join(state, 'torchwatch.sqlite.checked')); tries += 1) {
    if (tries > 300) throw new Error('the database was not checked within a minute');
    await new Promise((resolve) => { setTimeout(resolve, 200); });
  }
}

const given = process.argv[2] ?? '3650';
const isGenerated = /^\d+$/.test(given);
const folder = isGenerated ? generate(['--nights', given, '--series', '1000']) : copyOf(given);
// The directory of builds in the history. A copy of a history still uses the original one.
const builds = path.resolve(isGenerated ? folder : given, 'state/builds');
const service = await serve(folder);
await databaseIsChecked(path.join(folder, 'state'));
const browser = await openBrowser();
const rows = [];
const report = (what, value, goal, unit, isGood) => rows.push({ what, value, goal, unit, isGood });
const most = (what, value, goal, unit) => report(what, value, `at most ${goal}`, unit, value <= goal);

const read = async (address) => (await fetch(service.url + address)).json();

const [nightlies, allSeries] = await Promise.all(['nightlies', 'series'].map(async (list) => (await read(`/api/v1/${list}?limit=1`)).total));
console.log(`${nightlies} nightlies, ${allSeries} series`);
const series = (await read('/api/v1/series?limit=500')).items.find((one) => one.metric === 'latency');
const query = new URLSearchParams({ fleet: series.fleet, benchmark: series.benchmark, metric: series.metric });
const incident = (await read('/api/v1/incidents')).items[3];
const pages = {
  Tonight: '/', 'all series': '/series', 'one series': `/series?${query}`, incidents: '/incidents', incident: `/incidents/${incident.id}`,
  bisections: '/bisections', nightlies: '/nightlies', compare: '/compare', trust: '/trust', alarms: '/alarms',
};

/** Milliseconds from the request for a page until it shows its data, in a browser without a cache. */
async function pageTime(address) {
  const page = await openPage(browser, service);
  const began = performance.now();
  await visit(page, address);
  if (address.includes('benchmark=')) await page.locator('.dygraph-axis-label').first().waitFor();
  const took = performance.now() - began;
  await page.context().close();
  return took;
}

/** {drawn, frames}: milliseconds to draw the chart, and frames per second while it is panned. */
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

/** Latencies of requests, {median, p99} in ms, measured by wrk with `inFlight` requests at a time. */
function latenciesOf(address) {
  return new Promise((resolve, reject) => {
    execFile('wrk', ['-t1', `-c${inFlight}`, `-d${loadSeconds}`, '--latency', service.url + address], (failed, output) => {
      if (failed) reject(failed);
      const at = (share) => milliseconds(new RegExp(`${share}%\\s+(\\S+)`).exec(output)[1]);
      resolve({ median: at(50), p99: at(99) });
    });
  });
}

/** Converts wrk's "1.10ms", "380.00us" or "1.20s". */
function milliseconds(text) {
  const [, value, unit] = /^([\d.]+)(us|ms|s)$/.exec(text);
  return Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit];
}

function residentMib() {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))[1]) / 1024;
}

/** CPU seconds that the HTTP thread has used. */
function answeringSeconds() {
  const tasks = `/proc/${service.pid}/task`;
  const thread = readdirSync(tasks).find((id) => readFileSync(path.join(tasks, id, 'comm'), 'utf8') === 'answering\n');
  if (!thread) throw new Error(`no thread in ${tasks} is named "answering"`);
  const stat = readFileSync(path.join(tasks, thread, 'stat'), 'utf8');
  const [user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 13).map(Number); // utime, stime: proc(5)
  return (user + system) / ticksPerSecond;
}

/** The CPU use of the HTTP thread, in percent, while `trustPages` Trust pages are open. */
async function trustShare() {
  const open = [];
  while (open.length < trustPages) {
    const page = await openPage(browser, service);
    await visit(page, pages.trust);
    await page.getByRole('heading', { name: 'Noise of each series' }).waitFor();
    open.push(page);
  }
  const [began, before] = [performance.now(), answeringSeconds()];
  await new Promise((resolve) => { setTimeout(resolve, 1000 * trustSeconds); });
  const share = 100 * (answeringSeconds() - before) / ((performance.now() - began) / 1000);
  await Promise.all(open.map((page) => page.context().close()));
  return share;
}

/** Runs `work` during a sweep. The service caches a response until the next write, so its cost shows only then. */
async function duringSweep(work) {
  const before = await jobsMeasured(service);
  await work();
  const jobs = await jobsMeasured(service) - before;
  report('jobs written by the sweep', jobs, 'at least 20', '', jobs >= 20);
}

for (const [name, address] of Object.entries(pages)) most(`${name}: usable after`, await pageTime(address), 1000, 'ms');
const chart = await chartCost();
most('draw a chart', chart.drawn, 300, 'ms');
report('pan a chart', chart.frames, 'at least 30', 'frames/s', chart.frames >= 30);
await sweepNextNightly(service, 0.05, builds);
await duringSweep(async () => {
  for (const [name, address] of [['Tonight', '/api/v1/tonight'], ['one series', `/api/v1/history?${query}`]]) {
    const { median, p99 } = await latenciesOf(address);
    report(`${name}, ${inFlight} in flight, median`, median, '', 'ms', true);
    most(`${name}, ${inFlight} in flight, p99`, p99, 20, 'ms');
  }
});
await duringSweep(async () => most(`HTTP thread, ${trustPages} Trust pages open`, await trustShare(), 10, '%'));
most('database', statSync(path.join(folder, 'state/torchwatch.sqlite')).size / 2 ** 20, 1024, 'MiB');
most('service, resident memory', residentMib(), 100, 'MiB');

for (const { what, value, goal, unit, isGood } of rows) console.log(`${what.padEnd(36)} ${value.toFixed(1).padStart(8)} ${unit.padEnd(9)} ${goal}${isGood ? '' : '  MISSED'}`);
await browser.close();
await service.remove();
process.exit(rows.every((row) => row.isGood) ? 0 : 1);
