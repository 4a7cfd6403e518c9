// A SharedWorker that holds the connection to the service's events for all tabs. A browser opens at most six connections to
// a host: with one per tab, six tabs would leave none for requests. Each token has its own connection.

import { holdLine } from './eventline.js';

const lines = new Map(); // token → {ports, state, end}

function open(token) {
  const line = { ports: new Set(), state: '', end: new AbortController() };
  const say = (message) => line.ports.forEach((port) => port.postMessage(message));
  const onState = (state) => { line.state = state; say({ state }); };
  lines.set(token, line);
  holdLine(token, (event) => say({ event }), onState, line.end.signal);
  return line;
}

function leave(port) {
  for (const [token, line] of lines) {
    line.ports.delete(port);
    if (line.ports.size > 0) continue;
    line.end.abort();
    lines.delete(token);
  }
}

function join(port, token) {
  const line = lines.get(token) ?? open(token);
  line.ports.add(port);
  if (line.state) port.postMessage({ state: line.state });
}

// A tab sends its token when it starts and when the token changes, and null when it stops.
self.addEventListener('connect', ({ ports: [port] }) => {
  port.addEventListener('message', ({ data }) => {
    const line = lines.get(data.token);
    if (line?.ports.has(port)) return;
    leave(port);
    if (data.token === null) port.close();
    else join(port, data.token);
  });
  port.start();
});
