// Receives the service's events over one connection for all tabs of this browser.

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
  const receive = ({ data }) => {
    if (signal.aborted) return;
    if (data.event) onEvent(data.event);
    if (data.state) onState(data.state);
  };
  port.addEventListener('message', receive);
  port.start();
  followToken((token) => port.postMessage({ token }), signal);
  signal.addEventListener('abort', () => port.postMessage({ token: null }));
  // For a browser that does not support modules in workers.
  worker.addEventListener('error', () => { if (!signal.aborted) listenByChannel(onEvent, onState, signal); }, { once: true });
}

/** Receives events until `signal` aborts. `onEvent` gets the name of each event, `onState` gets "open" or "lost". */
export function listen(onEvent, onState, signal) {
  if ('SharedWorker' in window) listenByWorker(onEvent, onState, signal);
  else listenByChannel(onEvent, onState, signal);
}
