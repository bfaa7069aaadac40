//===- ParserLimits.h - limits of text for parsers --------------*- C++ -*-===//
//
// The parsers of MLIR and of LLVM's JSON are recursive, so a file of opening brackets would overflow their stack. MLIR
// parses a number in quadratic time in its digits. So every text is checked before these parsers read it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_INPUT_PARSERLIMITS_H
#define BRAID_LIB_INPUT_PARSERLIMITS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <string>

namespace braid {

/// Upper limit of nested brackets.
inline constexpr unsigned kMaxNesting = 256;

/// Returns the position of the first bracket, of MLIR's syntax or JSON, that is nested in more than kMaxNesting
/// brackets, or npos. Ignores strings and comments.
size_t findDeepNesting(llvm::StringRef text);

/// Upper limit of a number's digits.
inline constexpr size_t kMaxDigits = 4096;

/// Returns the position of the first number with more digits, or npos. Ignores strings and comments.
size_t findLongNumber(llvm::StringRef text);

/// Returns the position of the first control character other than white space, as a byte or as an escape (\1B), or
/// npos. Names are printed, and must not control a terminal.
size_t findControlCharacter(llvm::StringRef text);

/// Returns the position of the first array of i1 with numbers, or npos. MLIR reads such arrays but cannot print them.
size_t findNumbersOfBits(llvm::StringRef text);

/// Returns the position of the first `sparse<...>` constant, or npos. MLIR 19 crashes if its numbers have another type.
/// Ignores strings and comments.
size_t findSparseConstant(llvm::StringRef text);

/// Returns the position where a region or function defines a value that an op outside has already used, or npos. An op
/// of a region that ended is outside, too. MLIR 19 frees such uses twice if the text behind them has an error.
size_t findUseOutsideOfRegion(llvm::StringRef text);

/// Checks all of these limits. The error names the file and the line.
llvm::Error checkParserLimits(const llvm::MemoryBuffer &file);

/// Like llvm::json::parse, but refuses text that nests too deeply.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// Returns an error message for unpaired quotes or brackets in the text of a pipeline or of a pass's options; empty if
/// all are in pairs. MLIR's parser would not terminate on unpaired ones.
std::string problemOfPairs(llvm::StringRef text);

} // namespace braid

#endif // BRAID_LIB_INPUT_PARSERLIMITS_H
