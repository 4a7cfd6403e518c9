// Each request that the tests make of GitHub is one that GitHub's own description of its API allows.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { program } from '../browser/service.js';

const require = createRequire(path.join(process.env.TORCHWATCH_NODE, 'package.json'));
const { default: Ajv } = require('ajv');
const { default: addFormats } = require('ajv-formats');

// cut_github.mjs makes this file from the description.
const { operations } = JSON.parse(readFileSync(new URL('github_requests.json', import.meta.url), 'utf8'));
const ajv = new Ajv({ strict: false, allErrors: true, coerceTypes: true });
addFormats(ajv);
const ajvOfBodies = new Ajv({ strict: false, allErrors: true });
addFormats(ajvOfBodies);

const described = operations.map((operation) => ({
  ...operation,
  segments: operation.path.slice(1).split('/'),
  checks: new Map(operation.parameters.map((parameter) => [parameter.name, ajv.compile({ type: 'object', properties: { value: parameter.schema } })])),
  checkBody: operation.body && ajvOfBodies.compile(operation.body),
}));

/** The path below the API's root. GitHub's own links name a repository by its number. */
const pathOf = (target) => target.replace(/^https:\/\/[^/]+/, '').replace(/^\/api\/v3/, '').replace(/^\/repositories\/\d+(?=\/|\?|$)/, '/repos/o/r');

const isVariable = (word) => word.startsWith('{');

/** The operation of a request. Of several, it is the one with the fewest variables: /issues/comments is not an issue. */
function operationOf(method, pathname) {
  const segments = pathname.slice(1).split('/');
  const leads = (pattern) => pattern.length === segments.length && pattern.every((word, place) => isVariable(word) || word === segments[place]);
  const variables = (one) => one.segments.filter(isVariable).length;
  return described.filter((one) => one.method === method && leads(one.segments)).sort((one, other) => variables(one) - variables(other))[0];
}

const texts = (check) => check.errors.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);

function faultsOfPath(operation, pathname) {
  const segments = pathname.slice(1).split('/');
  return operation.segments.flatMap((word, place) => {
    if (!isVariable(word)) return [];
    const value = decodeURIComponent(segments[place]);
    const check = operation.checks.get(word.slice(1, -1));
    if (value === '') return [`${word} is empty`];
    return check({ value }) ? [] : texts(check).map((text) => `${word}${text}`);
  });
}

function faultsOfQuery(operation, query) {
  return [...query].flatMap(([name, value]) => {
    const check = operation.checks.get(name);
    if (check === undefined) return [`no such parameter: ${name}`];
    if (name === 'per_page' && Number(value) > 100) return ['per_page is above 100'];
    return check({ value }) ? [] : texts(check).map((text) => `${name}${text}`);
  });
}

function faultsOfBody(operation, body, headers) {
  if (operation.checkBody === undefined) return body === '' ? [] : ['it has a body'];
  if (headers['content-type'] !== 'application/json') return ['its content-type is not application/json'];
  let value;
  try {
    value = JSON.parse(body);
  } catch (error) {
    return [error.message];
  }
  return operation.checkBody(value) ? [] : texts(operation.checkBody);
}

/** An App asks for its installation with a JSON Web Token, and for everything else with the token of the installation. */
const isOfApp = (operation) => operation.path.startsWith('/app/') || operation.path.endsWith('/installation');

function faultsOfHeaders(operation, headers) {
  const faults = [];
  if (!headers['user-agent']) faults.push('no User-Agent');
  if (headers.accept !== 'application/vnd.github+json') faults.push(`Accept: ${headers.accept}`);
  if (!['2022-11-28', '2026-03-10'].includes(headers['x-github-api-version'])) faults.push(`X-GitHub-Api-Version: ${headers['x-github-api-version']}`);
  const { authorization = '' } = headers;
  if (!/^Bearer \S+$/.test(authorization)) faults.push('no bearer token');
  if (/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/.test(authorization) !== isOfApp(operation)) faults.push('the wrong kind of token');
  return faults;
}

function faultsOf({ method, target, headers, body }) {
  const [pathname, query = ''] = pathOf(target).split('?');
  const operation = operationOf(method, pathname);
  if (operation === undefined) return ['no such operation is described'];
  return [...faultsOfHeaders(operation, headers), ...faultsOfPath(operation, pathname), ...faultsOfQuery(operation, new URLSearchParams(query)), ...faultsOfBody(operation, body, headers)];
}

const isWhole = process.env.TORCHWATCH_GITHUB_TESTS === 'all';

/**
 * The tests with a GitHub, by program: all of them, or those that take a minute together. Left out: those of the fake itself
 * and of the network layer, which are wrong on purpose.
 */
const sources = {
  github_test: '-FakeGithub*:CurlTransport*:ByProxy*:InterruptedRequest*', report_test: '*', outbox_schedules_test: isWhole ? '*' : '*/0',
  'e2e-tests': isWhole ? 'Life*.*:Filing.*:*/CrashWhileFiling.*:FirstRun.*:CheckedConfiguration.*:*/Kill.*' : 'Life*.*',
  ...(isWhole ? { 'e2e-real-tests': 'RealKill.*' } : {}),
};

/** The requests of these tests, without those of their users. */
function requestsOfTests() {
  const folder = mkdtempSync(path.join(tmpdir(), 'torchwatch-github-'));
  const env = { ...process.env, TORCHWATCH_GITHUB_REQUESTS: folder };
  try {
    for (const [name, filter] of Object.entries(sources))
      execFileSync(program(name), [`--gtest_filter=${filter}`, '--gtest_brief=1'], { env, stdio: 'pipe', maxBuffer: 2 ** 30 });
    const lines = readdirSync(folder).flatMap((name) => readFileSync(path.join(folder, name), 'utf8').trim().split('\n'));
    return [...new Set(lines)].map((line) => JSON.parse(line))
      .filter(({ headers }) => headers['user-agent'] !== 'test');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const good = {
  method: 'PATCH', target: '/repos/o/r/issues/1', body: '{"state":"closed","state_reason":"completed"}',
  headers: { 'user-agent': 'x', accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28', authorization: 'Bearer t', 'content-type': 'application/json' },
};

const ofApp = { ...good.headers, authorization: 'Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl' };

test('faultsOf finds each difference from the description', () => {
  assert.deepEqual(faultsOf(good), []);
  assert.deepEqual(faultsOf({ ...good, method: 'POST', target: '/repos/o/r/issues', body: '{"title":"t","body":"b","labels":["x"]}' }), []);
  assert.deepEqual(faultsOf({ ...good, method: 'GET', target: '/repositories/7/issues?state=all&per_page=100&page=2', body: '' }), []);
  assert.deepEqual(faultsOf({ ...good, method: 'GET', target: '/repos/o/r/issues/comments?sort=updated&since=2026-01-02T03:04:05Z', body: '' }), []);
  assert.deepEqual(faultsOf({ ...good, method: 'GET', target: '/repos/o/r/collaborators/dependabot%5Bbot%5D/permission', body: '' }), []);
  assert.deepEqual(faultsOf({ ...good, method: 'POST', target: '/app/installations/1/access_tokens', body: '{"permissions":{"issues":"write"}}', headers: ofApp }), []);
  const wrong = {
    method: { method: 'PUT' }, path: { target: '/repos/o/r/issue/1' }, slash: { target: '/repos/o/r/issues/1/' },
    state: { body: '{"state":"done"}' }, reason: { body: '{"state_reason":"fixed"}' }, 'odd member': { body: '{"states":"closed"}' }, 'no JSON': { body: '' },
    'long body': { body: JSON.stringify({ body: 'x'.repeat(65537) }) }, 'long title': { body: JSON.stringify({ title: 'x'.repeat(257) }) },
    'no title': { method: 'POST', target: '/repos/o/r/issues', body: '{"body":"b"}' },
    'no comment': { method: 'POST', target: '/repos/o/r/issues/1/comments', body: '{"text":"b"}' },
    parameter: { method: 'GET', target: '/repos/o/r/issues?states=all', body: '' }, value: { method: 'GET', target: '/repos/o/r/issues?state=opened', body: '' },
    page: { method: 'GET', target: '/repos/o/r/issues?per_page=101', body: '' }, 'body of GET': { method: 'GET' },
    version: { headers: { ...good.headers, 'x-github-api-version': '2023-01-01' } }, token: { headers: { ...good.headers, authorization: undefined } },
    'number of issue': { target: '/repos/o/r/issues/one' }, reaction: { method: 'POST', target: '/repos/o/r/issues/comments/1/reactions', body: '{"content":"seen"}' },
    'comment of reaction': { method: 'POST', target: '/repos/o/r/issues/comments/x/reactions', body: '{"content":"eyes"}' },
    'order of comments': { method: 'GET', target: '/repos/o/r/issues/comments?sort=comments', body: '' },
    permission: { method: 'POST', target: '/app/installations/1/access_tokens', body: '{"permissions":{"issues":"admin"}}', headers: ofApp },
    'token of an App': { method: 'GET', target: '/app/installations/1', body: '' }, 'JSON Web Token': { headers: ofApp },
    agent: { headers: { ...good.headers, 'user-agent': '' } }, type: { headers: { ...good.headers, 'content-type': undefined } },
  };
  for (const [what, change] of Object.entries(wrong)) assert.notDeepEqual(faultsOf({ ...good, ...change }), [], what);
});

test('requests of the tests are as GitHub describes them', (t) => {
  const requests = requestsOfTests();
  const wrong = requests.flatMap((request) => faultsOf(request).map((fault) => `${request.method} ${request.target}: ${fault}\n${request.body.slice(0, 200)}`));
  assert.deepEqual(wrong.slice(0, 10), []);
  const seen = new Set(requests.map(({ method, target }) => operationOf(method, pathOf(target).split('?')[0])));
  assert.deepEqual(operations.filter((_, place) => !seen.has(described[place])).map(({ method, path: where }) => `${method} ${where}`), [], 'no test makes them');
  t.diagnostic(`${requests.length} requests`);
});
