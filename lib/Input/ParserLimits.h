//===- ParserLimits.h - text that parsers do not take -----------*- C++ -*-===//
//
// The parsers of MLIR and of LLVM's JSON call themselves for what is inside of something, so
// a file of opening brackets would end a tool by a stack overflow.  A number takes MLIR's a time
// that grows with the square of its digits.  Whatever is parsed by them is looked through first.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_INPUT_PARSERLIMITS_H
#define BRAID_LIB_INPUT_PARSERLIMITS_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace braid {

/// The most brackets that may be open at a place.
inline constexpr unsigned kMaxNesting = 256;

/// Where a bracket of MLIR's syntax or of JSON is opened in more than kMaxNesting others; npos
/// if none is.  Strings and comments do not count.
size_t findDeepNesting(llvm::StringRef text);

/// The most digits that a number may have.
inline constexpr size_t kMaxDigits = 4096;

/// Where a number of more digits begins; npos if there is none.  Strings and comments do not count.
size_t findLongNumber(llvm::StringRef text);

/// Where a string, or the text itself, has a control character other than a blank (as it is or as
/// \1B); npos if there is none.  Names are printed, and must not command a terminal.
size_t findControlCharacter(llvm::StringRef text);

/// Where an array of i1 has numbers, which MLIR reads and cannot print; npos if none has.
size_t findNumbersOfBits(llvm::StringRef text);

/// Where a region, or a function, defines a value that an op around it has used already; npos if none does.
/// MLIR 19 frees such uses twice where the text behind them is wrong.
size_t findUseOutsideOfRegion(llvm::StringRef text);

/// All of these as an error that names the file and the line.
llvm::Error checkParserLimits(const llvm::MemoryBuffer &file);

/// llvm::json::parse of text that may nest deeply.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace braid

#endif // BRAID_LIB_INPUT_PARSERLIMITS_H
