"""A program that behaves to a service as ours does: it owns the data folder, tells where it listens, and answers there.

stand_in.py DATA_DIR well|dies|stubborn|silent … --log-file FILE
"""

from __future__ import annotations

import http.server
import os
import signal
import sys
import time
from pathlib import Path

from bot.node.lock import Control, announced, holding


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 503)
        self.end_headers()
        self.wfile.write(b'{"status": "not ready", "telegram:work": "connecting"}')

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the log has our own words."""


def main(data_dir: Path, manner: str) -> None:
    if manner == "dies":
        sys.exit("signalbox: model.name: is wrong.")
    with holding(data_dir):
        if manner == "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if manner == "silent":
            time.sleep(60)
        server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
        signal.signal(signal.SIGTERM, signal.SIG_IGN if manner == "stubborn" else lambda *_: sys.exit(0))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        with announced(data_dir, Control(f"http://127.0.0.1:{server.server_port}", "t", os.getpid())):
            server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
