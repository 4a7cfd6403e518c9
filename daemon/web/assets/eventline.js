// One connection to the service's events, for a page or for the worker that all pages share.

/** The names of the events in `text`, and what is left of the last one. */
function eventsIn(text) {
  const blocks = text.split('\n\n');
  const rest = blocks.pop();
  const names = blocks.map((block) => /^event: (.*)$/m.exec(block)?.[1]).filter(Boolean);
  return { names, rest };
}

async function holdOnce(token, onEvent, onOpen, signal) {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const response = await fetch('/api/v1/events', { headers, signal, cache: 'no-store', credentials: 'omit' });
  if (!response.ok) throw new Error(`the service answers ${response.status}`);
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
 * Listens to server-sent events until `signal` says stop, and comes back when the line drops, after one second first
 * and thirty at most. EventSource would not send a token. `onState` gets "open" or "lost".
 */
export async function holdLine(token, onEvent, onState, signal) {
  let pause = 1;
  while (!signal.aborted) {
    try {
      await holdOnce(token, onEvent, () => { pause = 1; onState('open'); }, signal);
    } catch {
      // Whatever it was, it is tried again.
    }
    if (signal.aborted) return;
    onState('lost');
    await new Promise((resolve) => { setTimeout(resolve, 1000 * pause); });
    pause = Math.min(30, 2 * pause);
  }
}
