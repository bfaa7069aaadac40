"""The files of a visit: at most 8, in one folder, which always holds all results known so far.

  results.jsonl    a line per check: outcome, figures, when
  launches.jsonl   a line per action of the measured programs (predicted and measured seconds), and per matmul that was searched
  log.txt          what all commands printed
  verdict.txt      the summary so far
  *.json, *.csv    matmul plans, counters
"""

import json
import threading

# Upper limit in bytes of a file that a device machine returns, and of the log.
FILE_LIMIT = 16 << 20
LOG_LIMIT = FILE_LIMIT - (1 << 20)
EVERY = 5  # seconds between two looks at what commands have printed


class Output:
    def __init__(self, folder, clock):
        self.folder, self.clock, self.lock = folder, clock, threading.RLock()
        folder.mkdir(parents=True, exist_ok=True)
        self.last, self.full = None, False

    def path(self, name):
        return self.folder / name

    def append(self, name, text):
        with self.lock, open(self.folder / name, "a") as file:
            file.write(text)

    def launches(self, lines):
        self.append("launches.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    def log(self, label, output):
        """Appends to the log. If another command printed last, a line with the time and the label comes first."""
        text = output.decode(errors="replace")
        with self.lock, open(self.folder / "log.txt", "a") as file:
            if self.full:
                return
            if file.tell() + len(output) > LOG_LIMIT:
                self.full = True
                file.write("\nthe log is full; what follows is left out\n")
                return
            if label != self.last:
                file.write(f"---- {self.clock.now():.1f} s: {label}\n")
                self.last = label
            file.write(text)

    def verdict(self, text):
        partial = self.folder / "verdict.partial"
        partial.write_text(text + "\n")
        partial.rename(self.folder / "verdict.txt")


class Ticker(threading.Thread):
    """Calls `work` every few seconds until it is stopped."""

    def __init__(self, work, seconds):
        super().__init__(daemon=True)
        self.work, self.seconds, self.ended = work, seconds, threading.Event()

    def run(self):
        while not self.ended.wait(self.seconds):
            self.work()

    def stop(self):
        self.ended.set()
        self.join(timeout=5 * self.seconds)
