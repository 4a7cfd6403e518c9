// Random requests from a seed: some as openapi.json describes, some nearly so, some not at all.

import { operations, parametersOf, schemaOf } from './description.js';

/** The random number generator Mulberry32. Equal seeds give equal numbers on all machines. */
export class Chance {
  constructor(seed) { this.state = seed >>> 0; }

  /** Returns a number from 0 to below 1. */
  number() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let value = this.state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  }

  below(end) { return Math.floor(this.number() * end); }
  happens(share) { return this.number() < share; }
  pick(all) { return all[this.below(all.length)]; }
}

const oddTexts = ['', ' ', '0', '-1', '1e3', '1.5', '+1', '007', '501', '99999999999999999999', '9223372036854775807', '-9223372036854775808', '18446744073709551615',
  'null', 'true', 'NaN', '[]', '{}', '%00', '%0d%0aSet-Cookie:%20x', '%ff%fe', '%C3%A9', '%F0%9F%94%A5', '%E2%80%AE', '../../etc/passwd', "'; DROP TABLE nightly; --",
  '<script>alert(1)</script>', 'x'.repeat(3000), 'test_train[]', 'test_train[dlrm-cpu-eager]', 'test_train[dlrm-tpu-eager]', 'latency', 'LATENCY', 'json', 'csv', 'markdown', 'local'];
const oddValues = [null, true, false, 0, -1, 1, 1.5, 1e308, 9007199254740993, '', ' ', '\t\n', 'x', 'é\u202e\u0000🔥', '\ud800', 'x'.repeat(1001), [], {}, [[]], [null], { a: 1 }, ['x', 'x'],
  'a'.repeat(40), 'A'.repeat(40), '2026-02-30', '2026-12-31T24:00:00Z', '2026-12-31'];
const oddBodies = ['', ' ', 'null', '[]', '"x"', '0', '{', '{}', '{"a":', '{"a":1,}', '[{}]', '{"who":"a","who":"b"}', '{"again":1e400}', '{"again":-1}',
  '\ufeff{}', '{"\\u0000":1}', `${'['.repeat(2000)}${']'.repeat(2000)}`, `{"a":${'{"a":'.repeat(500)}1${'}'.repeat(501)}`, `{"why":"${'x'.repeat(200000)}"}`];
const methods = ['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'POST', 'GET', 'SUBSCRIBE'];
const addresses = ['/api', '/api/v1', '/api/v1/', '/api/v2/nightlies', '/api/v1/nightlies/', '/api/v1/nightlies/1/2', '//api/v1/nightlies', '/%61pi/v1/nightlies', '/api%2Fv1/nightlies',
  '/%', '/%zz', '/api/v1/nightlies/%', '/..', '/assets/../healthz', '/assets/%2e%2e%2fhealthz', '/assets/', '/favicon.ico', '/healthz/', '/HEALTHZ', '*', 'http://localhost', 'http://localhost/healthz',
  'ftp://localhost/healthz', '/?', '/?&', '/api/v1/nightlies?limit=1&limit=2', '/api/v1/nightlies?=', '/api/v1/nightlies?%', '/api/v1/nightlies?limit', '/api/v1/nightlies?limit=%31', '/api/v1/nightlies#x'];

/** Draws requests. `known` has ids and names of the service by parameter: { fleet: [...], metric: [...], id: { '/api/v1/nightlies/{id}': [...] } }. */
export class Requests {
  constructor(seed, known, token, host) {
    this.chance = new Chance(seed);
    this.known = known;
    this.token = token;
    this.host = host;
  }

  next() {
    const { chance } = this;
    if (chance.happens(0.03)) return this.finished({ method: 'GET', target: chance.pick(addresses), headers: {}, body: '' });
    const described = chance.pick(operations);
    const request = { described, query: this.query(described), headers: {}, body: '' };
    request.method = described.method.toUpperCase();
    request.path = described.template.replace('{id}', () => this.id(described.template));
    if (described.method === 'post') {
      request.body = this.body(described);
      request.headers['content-type'] = chance.happens(0.95) ? 'application/json' : chance.pick(['', 'text/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'x']);
    }
    if (chance.happens(0.06)) request.method = chance.pick(methods);
    const query = request.query.map(([name, text]) => `${name}=${text}`).join('&');
    request.target = request.path + (query ? `?${query}` : '');
    return this.finished(request);
  }

  finished(request) {
    const { chance } = this;
    const { headers } = request;
    request.hasToken = chance.happens(0.7);
    if (request.hasToken) headers.authorization = `${chance.pick(['Bearer', 'bearer'])} ${this.token}`;
    else if (chance.happens(0.5)) headers.authorization = chance.pick(['', 'Bearer', 'Bearer ', 'Bearer x', `Basic ${this.token}`, `Bearer ${this.token}x`, `Bearer  ${this.token}`]);
    if (chance.happens(0.05)) headers['if-none-match'] = chance.pick(['*', '"x"', 'W/"0"', '', 'W/"x", "y"']);
    if (chance.happens(0.02)) headers.host = chance.pick(['localhost', '127.0.0.1', '[::1]:80', 'evil.example', '', 'a b', 'x'.repeat(300)]);
    if (chance.happens(0.01)) headers['x-padding'] = 'x'.repeat(chance.pick([100, 15000, 17000, 40000]));
    if (chance.happens(0.01)) headers.accept = 'text/html, application/xml;q=0.9';
    if (chance.happens(0.01)) request.body = 'x'.repeat(chance.pick([10, 70000, 1100000]));
    if (chance.happens(0.005)) headers['transfer-encoding'] = chance.pick(['gzip, chunked', 'chunked']);
    if (chance.happens(0.005)) headers.expect = '100-continue';
    return request;
  }

  id(template) {
    const { chance } = this;
    if (chance.happens(0.75)) return encodeURIComponent(chance.pick(this.known.id[template] ?? ['1']));
    return encodeURIComponent(chance.pick(oddTexts)).replaceAll('%25', '%');
  }

  query({ operation }) {
    const { chance } = this;
    const queries = parametersOf(operation).filter((one) => one.in === 'query' && !one.explode);
    const all = [];
    const series = chance.pick(this.known.series);
    const together = chance.happens(0.5);
    for (const parameter of queries) {
      const namesSeries = ['fleet', 'benchmark', 'metric'].includes(parameter.name);
      const wanted = parameter.required ? chance.happens(0.95) : namesSeries ? together : chance.happens(0.3);
      if (!wanted) continue;
      const value = namesSeries && chance.happens(0.9) ? encodeURIComponent(series[parameter.name]) : this.text(parameter);
      all.push([parameter.name, value]);
    }
    if (chance.happens(0.04)) all.push([chance.pick(['x', 'limit', 'fleet', 'Limit', 'limit%00', '%5B%5D', 'format']), chance.pick(oddTexts).replace(/[^%\w.-]/g, '')]);
    return all;
  }

  text({ name, schema }) {
    const { chance } = this;
    if (chance.happens(0.15)) return encodeURIComponent(chance.pick(oddTexts)).replaceAll('%25', '%');
    const { type, enum: words, minimum = 1, maximum = 1000 } = schemaOf(schema);
    if (words) return chance.pick(words);
    const known = this.known[name.replace(/^(before|after)_/, '')];
    if (known && chance.happens(0.8)) return encodeURIComponent(chance.pick(known));
    if (type === 'integer') return String(chance.pick([minimum, maximum, minimum - 1, maximum + 1, minimum + chance.below(Math.min(maximum - minimum, 120) + 1)]));
    return encodeURIComponent(chance.pick(known ?? ['x']));
  }

  body({ operation }) {
    const { chance } = this;
    if (chance.happens(0.08)) return chance.pick(oddBodies);
    let value = this.value(operation.requestBody.content['application/json'].schema);
    if (chance.happens(0.35)) value = this.spoilt(value);
    return JSON.stringify(value);
  }

  /** Returns a value that a schema allows. */
  value(given, field = '') {
    const { chance } = this;
    const schema = schemaOf(given);
    const choices = schema.oneOf;
    if (choices) return this.value(chance.pick(choices), field);
    if (schema.enum) return chance.pick(schema.enum);
    if (schema.type === 'object') return this.object(schema);
    if (schema.type === 'array') return [...new Set(Array.from({ length: 1 + chance.below(3) }, () => this.value(schema.items, field)))];
    if (schema.type === 'integer') return Number(chance.pick(this.known.id[field === 'incident' ? '/api/v1/incidents/{id}' : '/api/v1/bisections/{id}']));
    if (schema.type === 'number') return chance.pick([0.01, 0.07, 1]);
    if (schema.$name === 'Sha') return chance.pick(this.known.sha);
    if (schema.$name === 'Benchmark') return chance.pick(this.known.benchmark);
    if (schema.$name === 'Metric') return chance.pick(this.known.metric);
    if (field === 'fleet') return chance.pick(this.known.fleet);
    if (field === 'build') return chance.pick(this.known.build);
    if (field === 'until') return chance.pick(['2026-12-31', '2027-01-01T00:00:00Z']);
    return chance.pick(['Ada', 'a new default', 'é🔥']);
  }

  object({ properties, required = [], anyOf }) {
    const { chance } = this;
    const needed = new Set([...required, ...(anyOf ? chance.pick(anyOf).required : [])]);
    return Object.fromEntries(Object.entries(properties).filter(([name]) => needed.has(name) || chance.happens(0.3)).map(([name, schema]) => [name, this.value(schema, name)]));
  }

  /** Returns the value with one change, which usually makes it wrong. */
  spoilt(value) {
    const { chance } = this;
    const names = Object.keys(value);
    const name = chance.pick(names.length > 0 ? names : ['x']);
    const what = chance.below(5);
    if (what === 0) { const { [name]: _, ...rest } = value; return rest; }
    if (what === 1) return { ...value, [chance.pick(['x', 'Kind', 'until', 'incident', 'who', 'build', '__proto__x'])]: chance.pick(oddValues) };
    if (what === 2 && Array.isArray(value[name])) return { ...value, [name]: [...value[name], chance.pick(oddValues)] };
    return { ...value, [name]: chance.pick(oddValues) };
  }
}

