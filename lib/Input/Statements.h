//===- Statements.h - statements about named things -------------*- C++ -*-===//
//
// A layout states how parameters are sharded, and a list of replays states which values of units backward recomputes.
// Both consist of statements `PATTERN: WHAT`, one a line. `;` also ends a statement, and `#` begins a comment.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_INPUT_STATEMENTS_H
#define BRAID_LIB_INPUT_STATEMENTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

namespace braid {

/// A statement that is not empty, without surrounding spaces.
struct Statement {
  llvm::StringRef text;
  unsigned line;
};

/// Returns the statements in their order; they refer to `text`.
llvm::SmallVector<Statement> splitStatements(llvm::StringRef text);

/// Parses the pattern before a colon. The result refers to `pattern`.
llvm::Expected<llvm::GlobPattern> parsePattern(llvm::StringRef pattern);

/// Returns the text of an option, or the contents of `file` if one is given.
llvm::Expected<std::string> readStatements(llvm::StringRef text, llvm::StringRef file);

} // namespace braid

#endif // BRAID_LIB_INPUT_STATEMENTS_H
