// Listens to the service's events, on one line for all tabs of this browser.

import { followToken } from './api.js';
import { shareLine } from './eventchannel.js';

function listenByChannel(onEvent, onState, signal) {
  let line = new AbortController();
  signal.addEventListener('abort', () => line.abort());
  followToken((token) => {
    line.abort();
    line = new AbortController();
    shareLine(token, onEvent, onState, line.signal);
  }, signal);
}

function listenByWorker(onEvent, onState, signal) {
  const worker = new SharedWorker('/assets/eventworker.js', { type: 'module' });
  const { port } = worker;
  const heard = ({ data }) => {
    if (signal.aborted) return;
    if (data.event) onEvent(data.event);
    if (data.state) onState(data.state);
  };
  port.addEventListener('message', heard);
  port.start();
  followToken((token) => port.postMessage({ token }), signal);
  signal.addEventListener('abort', () => port.postMessage({ token: null }));
  // A browser that has no modules in workers.
  worker.addEventListener('error', () => { if (!signal.aborted) listenByChannel(onEvent, onState, signal); }, { once: true });
}

/** Until `signal` says stop. `onEvent` gets each event's name, `onState` "open" or "lost". */
export function listen(onEvent, onState, signal) {
  if ('SharedWorker' in window) listenByWorker(onEvent, onState, signal);
  else listenByChannel(onEvent, onState, signal);
}
