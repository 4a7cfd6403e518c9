// A connection to the service's events, for one page or for the worker that all pages share.

/** The names of the complete events in `text`, and the rest: the incomplete last event. */
function eventsIn(text) {
  const blocks = text.split('\n\n');
  const rest = blocks.pop();
  const names = blocks.map((block) => /^event: (.*)$/m.exec(block)?.[1]).filter(Boolean);
  return { names, rest };
}

async function holdOnce(token, onEvent, onOpen, signal) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const response = await fetch('/api/v1/events', { headers, signal, cache: 'no-store', credentials: 'omit' });
  if (!response.ok) throw new Error(`/api/v1/events: status ${response.status}, expected 200`);
  onOpen();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const { names, rest } = eventsIn(text + value);
    text = rest;
    names.forEach(onEvent);
  }
}

/**
 * Reads server-sent events until `signal` aborts. Reconnects after 1 s, and after up to 30 s when that fails repeatedly.
 * EventSource cannot send a token. `onEvent` gets the name of each event, `onState` gets "open" or "lost".
 */
export async function holdLine(token, onEvent, onState, signal) {
  let pause = 1;
  while (!signal.aborted) {
    try {
      await holdOnce(token, onEvent, () => { pause = 1; onState('open'); }, signal);
    } catch {
      // Any failure: reconnect below.
    }
    if (signal.aborted) return;
    onState('lost');
    await new Promise((resolve) => { setTimeout(resolve, 1000 * pause); });
    pause = Math.min(30, 2 * pause);
  }
}
