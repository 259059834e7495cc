#!/usr/bin/env python3
"""An end point for webhooks under test, on a port of its own.

    hook_receiver.py FOLDER

Writes its port to FOLDER/port, and each request to FOLDER/requests as a line of JSON: path, headers
(small letters) and body. The path says how it answers: /ok with 200, /500 with that, /redirect with
302 to /ok, /large with 200 and 1 MiB, /hang never.
"""
import http.server
import json
import pathlib
import sys
import threading

folder = pathlib.Path(sys.argv[1])
guard = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        line = {"path": self.path, "body": body.decode(),
                "headers": {name.lower(): value for name, value in self.headers.items()}}
        with guard, open(folder / "requests", "a") as out:
            out.write(json.dumps(line) + "\n")
        if self.path == "/hang":
            threading.Event().wait()
        self.send_response({"/500": 500, "/redirect": 302}.get(self.path, 200))
        if self.path == "/redirect":
            self.send_header("location", "/ok")
        self.end_headers()
        self.wfile.write(b"x" * (1 << 20) if self.path == "/large" else b"thanks")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
(folder / "port.new").write_text(str(server.server_port))
(folder / "port.new").rename(folder / "port")
server.serve_forever()
