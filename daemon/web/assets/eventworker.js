// Holds the line to the service's events for all tabs of a browser, as a SharedWorker. A browser has six connections to
// one host: a line in each tab would leave none for the sixth. Tabs with different tokens have different lines.

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

// A tab sends its token when it begins to listen and when it is given another one, and null when it stops.
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
