// One connection to the service's events for all tabs, for browsers without SharedWorker. One tab holds the connection and
// sends the events to the others over a BroadcastChannel.

import { holdLine } from './eventline.js';

const beat = 2000; // ms between signs of life of the tab with the connection
const patience = 5000; // ms without a sign of life until another tab takes over
const waitForAnswer = 500; // ms that a new tab waits for a tab with the connection

/** A random pause, so that tabs opened together do not all take over together. */
const sometimeAfter = (pause) => pause + Math.random() * pause;

/** Shares one connection until `signal` aborts. Tabs with different tokens have different channels. */
export function shareLine(token, onEvent, onState, signal) {
  const channel = new BroadcastChannel(`torchwatch events ${token}`);
  const id = Math.random();
  let line = null; // an AbortController while this tab holds the connection
  let state = '';
  let timer = null;
  const say = (message) => channel.postMessage({ id, ...message });
  const wait = (action, pause) => { clearTimeout(timer); timer = setTimeout(action, pause); };

  function beatOn() {
    say({ beat: true });
    wait(beatOn, beat);
  }
  function take() {
    line = new AbortController();
    const onLineState = (now) => { state = now; onState(now); say({ state: now }); };
    holdLine(token, (event) => { onEvent(event); say({ event }); }, onLineState, line.signal);
    beatOn();
  }
  function letGo() {
    line?.abort();
    line = null;
  }

  channel.addEventListener('message', ({ data }) => {
    if (data.question) {
      if (line) say({ beat: true, state });
    } else if (data.gone) {
      if (!line) wait(take, sometimeAfter(100));
    } else if (!line || data.id < id) { // two tabs hold a connection: the lower id keeps its own
      letGo();
      wait(take, sometimeAfter(patience));
      if (data.event) onEvent(data.event);
      if (data.state) onState(data.state);
    }
  });
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    if (line) say({ gone: true });
    letGo();
    channel.close();
  });
  say({ question: true });
  wait(take, sometimeAfter(waitForAnswer));
}
