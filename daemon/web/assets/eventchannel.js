// One line to the service's events for all tabs of a browser that has no SharedWorker: one tab holds it, and says to the
// others what it hears, over a BroadcastChannel.

import { holdLine } from './eventline.js';

const beat = 2000; // of the tab that holds the line
const patience = 5000; // of the others, until one of them takes over
const waitForAnswer = 500; // of a new tab, which asks whether a tab holds the line

/** Tabs that came at the same time do not all take over at the same time. */
const sometimeAfter = (pause) => pause + Math.random() * pause;

/** Until `signal` says stop. Tabs with different tokens have different channels. */
export function shareLine(token, onEvent, onState, signal) {
  const channel = new BroadcastChannel(`torchwatch events ${token}`);
  const id = Math.random();
  let line = null; // an AbortController while this tab holds the line
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
    } else if (!line || data.id < id) { // of two that hold a line, one goes on
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
