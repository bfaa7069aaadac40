"""Attributes of arguments and results are read by dialects/TG/ProgramSignature alone.

usage: check_signature_reads.py ROOT
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
OWNERS = {"dialects/TG/ProgramSignature.cpp", "dialects/TG/TGDialect.cpp"}  # the second verifies them
READ = re.compile(r"(?:get(?:Arg|Result)Attr\w*|getAs|contains|\.get)(?:<[^<>]*>)?\([^;{]*?"
                  r"(?:\b(?:tg::)?k(Param|State|Input|Role|Output|Updates|GradOf)\b|"
                  r"\"tg\.(param|state|input|role|output|updates|grad_of)\")")

files = problems = 0
for folder in ("dialects", "lib", "passes", "compiler", "tools"):
    for path in sorted((ROOT / folder).rglob("*.cpp")) + sorted((ROOT / folder).rglob("*.h")):
        name = str(path.relative_to(ROOT))
        text = path.read_text()
        files += 1
        for found in READ.finditer(text) if name not in OWNERS else ():
            problems += 1
            line = text.count("\n", 0, found.end()) + 1
            print(f"{name}:{line} reads tg.{(found[1] or found[2]).lower()}: ask dialects/TG/ProgramSignature.h")
print(f"{files} files, {problems} problems")
sys.exit(1 if problems or not files else 0)
