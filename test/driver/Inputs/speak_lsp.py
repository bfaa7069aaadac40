#!/usr/bin/env python3
"""speak_lsp.py GRAPH.mlir [hover|complete TEXT]...: opens a graph in braid-lsp as an editor does and prints the
diagnostics; then what is shown under the pointer in the middle of a text, or what completes it. `change TEXT` puts a
text in the last line, before the last bracket."""

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
    for action, argument in zip(sys.argv[2::2], sys.argv[3::2]):
        if action == "change":
            text = text[:text.rindex("}")] + argument + "\n}\n"
            server.send("textDocument/didChange", {"textDocument": {"uri": path.as_uri(), "version": 2},
                                                   "contentChanges": [{"text": text}]})
            continue
        offset = text.index(argument) + (len(argument) // 2 if action == "hover" else len(argument))
        before = text[:offset]
        place = {"textDocument": {"uri": path.as_uri()},
                 "position": {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}}
        if action == "hover":
            result = server.ask("textDocument/hover", place)
            print("hover:", result and result["contents"]["value"])
        else:
            for item in server.ask("textDocument/completion", place)["items"]:
                edit = item.get("textEdit", {"range": {"start": {"character": -1}}, "newText": ""})
                print("item:", item["label"], "from column", edit["range"]["start"]["character"], "is", edit["newText"])
                print("  detail:", item.get("detail"))
                print("  documentation:", json.dumps(item.get("documentation")))
    server.ask("shutdown", None)
    server.send("exit", None)
    sys.exit(server.process.wait())


main()
