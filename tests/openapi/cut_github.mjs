// Cuts GitHub's own OpenAPI description (npm pack @octokit/openapi@23.0.2, generated/api.github.com.json) down to the requests that
// torchwatch sends: parameters and bodies. It adds what GitHub enforces and the description leaves out: the limits of texts, and
// that a misspelt member is an error.
//
//     node cut_github.mjs api.github.com.json > github_requests.json
import { readFileSync } from 'node:fs';

const source = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const repository = '/repos/{owner}/{repo}';
const issues = `${repository}/issues`;
const kept = {
  '/user': ['get'],
  [repository]: ['get'],
  [issues]: ['get', 'post'],
  [`${issues}/{issue_number}`]: ['get', 'patch'],
  [`${issues}/{issue_number}/comments`]: ['get', 'post'],
  [`${issues}/comments`]: ['get'],
  [`${issues}/comments/{comment_id}/reactions`]: ['post'],
  [`${repository}/collaborators/{username}/permission`]: ['get'],
  [`${repository}/installation`]: ['get'],
  '/app/installations/{installation_id}': ['get'],
  '/app/installations/{installation_id}/access_tokens': ['post'],
};
const longest = { title: 256, body: 65536 };

/** Replaces each reference by the schema that it names. */
function resolved(part) {
  if (Array.isArray(part)) return part.map(resolved);
  if (part === null || typeof part !== 'object') return part;
  if (typeof part.$ref === 'string')
    return resolved(part.$ref.slice(2).split('/').reduce((place, name) => place[name], source));
  const isText = ([name, value]) => ['description', 'x-multi-segment'].includes(name) && typeof value !== 'object';
  return Object.fromEntries(Object.entries(part)
    .filter((entry) => !isText(entry) && !['example', 'examples'].includes(entry[0]))
    .map(([name, value]) => [name, resolved(value)]));
}

/** Allows null where OpenAPI 3.0 says `nullable`, in words of JSON Schema. */
function withNull(schema) {
  if (Array.isArray(schema)) return schema.map(withNull);
  if (schema === null || typeof schema !== 'object') return schema;
  const { nullable, ...rest } = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, withNull(value)]));
  return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest;
}

/** Limits each text of a schema. */
function limited(schema, length) {
  const each = (schemas) => schemas?.map((one) => limited(one, length));
  if (schema.type === 'string') return { ...schema, maxLength: length };
  return { ...schema, ...(schema.anyOf && { anyOf: each(schema.anyOf) }), ...(schema.oneOf && { oneOf: each(schema.oneOf) }) };
}

/** Adds limits, and forbids unknown members. */
function strict(schema) {
  if (!schema?.properties) return schema;
  const properties = Object.fromEntries(Object.entries(schema.properties)
    .map(([name, value]) => [name, name in longest ? limited(value, longest[name]) : value]));
  return { ...schema, properties, additionalProperties: false };
}

const operations = Object.entries(kept).flatMap(([path, methods]) => methods.map((method) => {
  const described = source.paths[path][method];
  const parameters = (described.parameters ?? []).map(resolved)
    .map(({ name, in: place, required, schema }) => ({ name, in: place, required: required === true, schema: withNull(schema) }));
  const body = described.requestBody && strict(withNull(resolved(described.requestBody.content['application/json'].schema)));
  return { method: method.toUpperCase(), path, parameters, needsBody: described.requestBody?.required === true, body };
}));
process.stdout.write(`${JSON.stringify({ source: '@octokit/openapi 23.0.2', operations }, null, 1)}\n`);
