//===- InputFile.h - files that users name ----------------------*- C++ -*-===//
#ifndef BRAID_LIB_INPUT_INPUTFILE_H
#define BRAID_LIB_INPUT_INPUTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace braid {

/// Upper limit of a text's size in bytes, such as of a configuration or a layout.
inline constexpr uint64_t kMaxTextBytes = uint64_t(64) << 20;

/// Reads a regular file of at most `maxBytes` bytes. An error gives the reason without the file's name.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> readInputFile(llvm::StringRef path,
                                                                  uint64_t maxBytes = kMaxTextBytes);

} // namespace braid

#endif // BRAID_LIB_INPUT_INPUTFILE_H
