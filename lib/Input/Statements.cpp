//===- Statements.cpp - statements about named things ---------------------===//

#include "lib/Input/Statements.h"
#include "lib/Input/InputFile.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

SmallVector<braid::Statement> braid::splitStatements(StringRef text) {
  SmallVector<Statement> statements;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (auto [number, line] : enumerate(lines)) {
    SmallVector<StringRef> parts;
    line.split('#').first.split(parts, ';');
    for (StringRef part : parts)
      if (!part.trim().empty())
        statements.push_back({part.trim(), unsigned(number) + 1});
  }
  return statements;
}

Expected<GlobPattern> braid::parsePattern(StringRef pattern) {
  auto glob = GlobPattern::create(pattern);
  if (!glob)
    return createStringError("invalid pattern '" + pattern + "': " + toString(glob.takeError()));
  return glob;
}

Expected<std::string> braid::readStatements(StringRef text, StringRef file) {
  if (file.empty())
    return text.str();
  auto buffer = readInputFile(file);
  if (!buffer)
    return createStringError("cannot read '" + file + "': " + toString(buffer.takeError()));
  return (*buffer)->getBuffer().str();
}
