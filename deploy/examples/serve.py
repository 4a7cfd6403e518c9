"""Streams tokens over HTTP. Metrics: ttft in ms, lower is better; tokens_per_s in 1/s, higher is better."""
import http.client, http.server, json, threading, time
import torch

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200), self.end_headers()
        state = model(torch.ones(1, 512))
        for _ in range(100):
            self.wfile.write(b'%d\n' % int(state.argmax()))
            state = model(state)

model = torch.nn.GRUCell(512, 512)
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for run in range(13):
    client, times = http.client.HTTPConnection(*server.server_address), [time.perf_counter()]
    client.request('GET', '/')
    times += [time.perf_counter() for token in client.getresponse()]
    if run > 2: print(json.dumps({'ttft': (times[1] - times[0]) * 1e3, 'tokens_per_s': 99 / (times[-1] - times[1])}))
