// Talks to the service. Tokens stay in this module's memory: they are gone with the page.

/** What the service, or the way to it, said instead of an answer (RFC 9457). */
export class Problem extends Error {
  constructor(status, title, detail, errors = []) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.errors = errors;
  }
}

let token = '';
let askForToken = async () => '';
const tokenFollowers = new Set();
const known = new Map(); // path → {etag, data}, the newest last
const mostKnown = 40;

/** `ask` gets the reason, and gives a token, or nothing when the person would rather not. */
export function useTokensFrom(ask) {
  askForToken = ask;
}

/** Calls `follow` with the token now, and with each one that is given until `signal` says stop. */
export function followToken(follow, signal) {
  tokenFollowers.add(follow);
  signal.addEventListener('abort', () => tokenFollowers.delete(follow));
  follow(token);
}

function use(given) {
  token = given;
  tokenFollowers.forEach((follow) => follow(token));
}

async function problemOf(response) {
  const said = await response.json().catch(() => ({}));
  return new Problem(response.status, said.title ?? response.statusText, said.detail ?? '', said.errors);
}

async function call(path, options) {
  const headers = { ...options.headers };
  if (token) headers.authorization = `Bearer ${token}`;
  try {
    return await fetch(path, { ...options, headers, cache: 'no-store', credentials: 'omit' });
  } catch (failure) {
    if (failure.name === 'AbortError') throw failure;
    throw new Problem(0, 'The service does not answer', 'It may be restarting, or the network is down.');
  }
}

/** Asks again with a token where one is needed, once for each that is given. */
async function withToken(path, options) {
  let response = await call(path, options);
  while (response.status === 401) {
    const refused = token !== '';
    token = '';
    const given = await askForToken(refused ? 'The service refused this token.' : 'The service asks for a token.');
    if (!given) break;
    use(given);
    response = await call(path, options);
  }
  return response;
}

function remember(path, etag, data) {
  known.delete(path);
  known.set(path, { etag, data });
  if (known.size > mostKnown) known.delete(known.keys().next().value);
}

/** What is at `path`: the very object of last time when nothing has changed. */
export async function read(path, signal) {
  const before = known.get(path);
  const headers = before ? { 'if-none-match': before.etag } : {};
  const response = await withToken(path, { headers, signal });
  if (response.status === 304) return before.data;
  if (!response.ok) throw await problemOf(response);
  const data = await response.json();
  const etag = response.headers.get('etag');
  if (etag) remember(path, etag, data);
  return data;
}

/** The whole of a list that comes in pages. */
export async function readAll(path, signal) {
  const items = [];
  const limit = 500;
  const separator = path.includes('?') ? '&' : '?';
  for (let offset = 0; ; offset += limit) {
    const page = await read(`${path}${separator}limit=${limit}&offset=${offset}`, signal);
    items.push(...page.items);
    if (items.length >= page.total || page.items.length === 0) return items;
  }
}

/** /healthz answers 503 when the service is ill, and that is an answer. */
export async function health(signal) {
  const response = await call('/healthz', { signal });
  return response.json();
}

/** Asks the service to do something. */
export async function send(path, body) {
  if (!token) {
    use((await askForToken('To change something, the service wants its token.')) || '');
    if (!token) throw new Problem(401, 'No token', 'Nothing was changed.');
  }
  const response = await withToken(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw await problemOf(response);
  return response.json();
}
