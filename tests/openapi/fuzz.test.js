// openapi.json describes the responses to all requests, also to wrong ones.

import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { generate, serve } from '../browser/service.js';
import { allowsBody, allowsQuery, faultsOfExchange, operations, templateOf } from './description.js';
import { Requests } from './requests.js';

const count = Number(process.env.TORCHWATCH_FUZZ_REQUESTS ?? 20000);
const seed = Number(process.env.TORCHWATCH_FUZZ_SEED ?? 1);
const inFlight = 32;
/** A service with generated years has no commits to bisect. */
const cannotBisect = 'POST /api/v1/bisections';
/** Paths that can refuse a request whose parameters are each allowed: not all go together, as their summaries describe. */
const needMore = ['/api/v1/series', '/api/v1/compare'];

let service;
const agent = new http.Agent({ keepAlive: true, maxSockets: inFlight });

before(async () => { service = await serve(generate(['--nights', '60', '--series', '60', '--hostile'])); });

after(async () => {
  agent.destroy();
  await service?.remove();
});

/** Returns {method, target, status, headers, body}. The body of a response without an end is its first piece. */
function send({ method, target, headers, body }) {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const request = http.request({ agent, hostname, port, method, path: target, headers: { ...headers, ...(headers['transfer-encoding'] ? {} : { 'content-length': Buffer.byteLength(body) }) } });
    let answered = false;
    request.on('response', (response) => {
      answered = true;
      let text = '';
      const done = () => resolve({ method, target, status: response.statusCode, headers: response.headers, body: text });
      response.setEncoding('utf8');
      response.on('data', (piece) => {
        text += piece;
        if (response.headers['content-type'] !== 'text/event-stream') return;
        done();
        request.destroy();
      });
      response.on('end', done);
      response.on('error', done);
    });
    // A server may close the connection between two requests, and after it refuses a body.
    request.on('error', (error) => { if (!answered) reject(Object.assign(error, { mayBeSentAgain: true })); });
    request.end(body);
  });
}

async function sendUntilAnswered(request) {
  for (let times = 0; ; ++times) {
    try {
      return await send(request);
    } catch (error) {
      if (times === 3 || !error.mayBeSentAgain) throw error;
    }
  }
}

const read = async (target) => JSON.parse((await send({ method: 'GET', target, headers: {}, body: '' })).body);

/** Returns ids and names that exist in the service. */
async function wordsOfService() {
  const series = (await read('/api/v1/series?limit=500')).items;
  const sides = await read('/api/v1/sides');
  const metric = (await read('/api/v1/compare')).metrics.map((one) => one.metric);
  const nightlies = (await read('/api/v1/nightlies?limit=500')).items;
  const builds = (await read('/api/v1/builds')).items.map(({ name }) => name);
  const id = {};
  for (const { template, method } of operations) {
    if (method !== 'get' || !template.startsWith('/api/') || !template.endsWith('/{id}')) continue;
    const { items } = await read(template.replace('/{id}', '?limit=500'));
    id[template] = items.length > 0 ? items.map((one) => String(one.id ?? one.name)) : ['1'];
    id[template.replace('/api/v1', '')] = id[template];
  }
  id['/assets/{id}'] = ['style.css', 'tonight.js', 'openapi.json', 'frame.html'];
  return { id, series, metric, state: ['open', 'fixed', 'open,explained', 'open,closed'], fleet: sides.fleets, device: sides.devices, backend: sides.backends, benchmark: [...new Set(series.map((one) => one.benchmark))],
    sha: nightlies.map(({ commit }) => commit).filter(Boolean), build: [...builds, nightlies[0].date, `nightly-${nightlies[0].id}`], nightly: sides.nightlies.id, before: sides.nightlies.id, after: sides.nightlies.id };
}

const decoded = (text) => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
};

/** Returns the differences between a response and the document. `metrics`: the declared ones, which the document cannot know. */
function faultsOf(request, answer, metrics) {
  const faults = faultsOfExchange(answer);
  const mayBeUnavailable = templateOf(request.target) === '/healthz' || `${request.method} ${request.path}` === cannotBisect;
  const isAlright = answer.status < 500 || answer.status === 501 || (answer.status === 503 && mayBeUnavailable);
  if (!isAlright) faults.push('the service failed');
  const { described } = request;
  if (described === undefined || request.method !== described.method.toUpperCase() || templateOf(request.target) !== described.template) return faults;
  const query = request.query.map(([name, text]) => [decoded(name), decoded(text)]);
  if (query.flat().includes(undefined)) return faults;
  const isGood = answer.status < 400;
  const namesOtherMetric = query.some(([name, text]) => name === 'metric' && !metrics.includes(text));
  const mayBe = request.method === 'POST' ? request.query.length === 0 && allowsBody(described, request.body) : allowsQuery(described, query);
  if (isGood && !mayBe) faults.push('accepted, but not as described');
  if (!isGood && mayBe && answer.status === 400 && request.method === 'GET' && !needMore.includes(described.template) && !namesOtherMetric && !query.some(([name]) => name === 'before') && !request.headers.host) faults.push('refused, but as described');
  return faults;
}

test(`${count} requests`, { timeout: 570000 }, async (t) => {
  const requests = new Requests(seed, await wordsOfService(), service.token);
  const statuses = new Map();
  const good = new Set();
  const wrong = [];
  let left = count;
  const work = async () => {
    while (left > 0 && wrong.length < 20) {
      --left;
      const request = requests.next();
      const answer = await sendUntilAnswered(request).catch((error) => assert.fail(`${request.method} ${request.target.slice(0, 200)}: ${error.message}`));
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status < 300) good.add(`${request.method} ${templateOf(request.target)}`);
      const faults = faultsOf(request, answer, requests.known.metric);
      if (faults.length > 0) wrong.push(`${request.method} ${request.target.slice(0, 300)} ${request.body.slice(0, 300)} -> ${answer.status} ${answer.body.slice(0, 300)}: ${faults.join('; ')}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  t.diagnostic(`seed ${seed}, answers by status: ${[...statuses].sort().map(([status, times]) => `${status}: ${times}`).join(', ')}`);
  assert.deepEqual(wrong, []);
  const unseen = operations.map(({ method, template }) => `${method.toUpperCase()} ${template}`).filter((one) => !good.has(one) && one !== cannotBisect);
  assert.deepEqual(unseen, [], 'no successful response from these');
});
