#!/usr/bin/env python3
"""speak_lsp.py GRAPH.mlir: opens a graph in braid-lsp as an editor does; prints the diagnostics, and
for a graph without any what is shown under the pointer at tg.cross_entropy."""

import json
import pathlib
import subprocess
import sys


class Server:
    def __init__(self):
        self.process = subprocess.Popen(["braid-lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)

    def send(self, method, parameters, **number):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": parameters, **number}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self, wanted):
        """The next message that is wanted."""
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            message = json.loads(self.process.stdout.read(length)) if length else sys.exit("the server has ended")
            if wanted(message):
                return message

    def ask(self, method, parameters):
        self.send(method, parameters, id=1)
        return self.receive(lambda message: message.get("id") == 1)["result"]


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    text, server = path.read_text(), Server()
    server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    document = {"uri": path.as_uri(), "languageId": "mlir", "version": 1, "text": text}
    server.send("textDocument/didOpen", {"textDocument": document})
    diagnostics = server.receive(lambda message: message.get("method") == "textDocument/publishDiagnostics")
    diagnostics = diagnostics["params"]["diagnostics"]
    print(len(diagnostics), "diagnostics")
    for each in diagnostics:
        print(f"line {each['range']['start']['line'] + 1}: {each['message']}")
    if not diagnostics:
        before = text[:text.index("tg.cross_entropy")]
        position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n")}
        hover = server.ask("textDocument/hover", {"textDocument": {"uri": path.as_uri()}, "position": position})
        print("hover:", json.dumps(hover))
    server.ask("shutdown", None)
    server.send("exit", None)
    sys.exit(server.process.wait())


main()
