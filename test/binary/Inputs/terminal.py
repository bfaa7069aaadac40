#!/usr/bin/env python3
"""terminal.py COLUMNS COMMAND...: runs a command on a terminal of so many columns, prints what
it wrote, with <CR> for carriage returns that refresh a line, and fails if a line of it is
longer than the terminal is wide.  0 columns: a terminal without a size.
"""

import fcntl
import os
import pty
import re
import struct
import sys
import termios


def main():
    columns, command = int(sys.argv[1]), sys.argv[2:]
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
        os.environ["TERM"] = "xterm"
        os.execvp(command[0], command)
    written = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError: # the other side is closed
            break
        if not piece:
            break
        written += piece
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = written.decode().replace("\r\n", "\n")
    for line in re.split(r"[\r\n]", text):
        shown = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line)
        if columns and line.startswith("\x1b") and len(shown) >= columns:
            sys.exit(f"{len(shown)} columns in a terminal of {columns}: {shown}")
    print(text.replace("\r\x1b[K", "\n<CR>"))
    sys.exit(status)


main()
