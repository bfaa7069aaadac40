//===- Statements.h - texts that say things by name -------------*- C++ -*-===//
//
// A layout says of parameters how they are sharded, a list of replays of units what backward
// computes again.  Both are statements `PATTERN: WHAT`, a line each; `;` ends a statement as the
// line's end does, and `#` begins a comment.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_INPUT_STATEMENTS_H
#define BRAID_LIB_INPUT_STATEMENTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

namespace braid {

/// A statement that is there, without spaces around it.
struct Statement {
  llvm::StringRef text;
  unsigned line;
};

/// In the order in which they stand; they refer to `text`.
llvm::SmallVector<Statement> splitStatements(llvm::StringRef text);

/// The pattern that stands before a colon, or what is wrong with it.  It refers to the text.
llvm::Expected<llvm::GlobPattern> parsePattern(llvm::StringRef pattern);

/// What an option says, or else what the file that it names holds.
llvm::Expected<std::string> readStatements(llvm::StringRef text, llvm::StringRef file);

} // namespace braid

#endif // BRAID_LIB_INPUT_STATEMENTS_H
