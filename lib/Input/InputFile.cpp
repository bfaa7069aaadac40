//===- InputFile.cpp - files that users name ------------------------------===//

#include "lib/Input/InputFile.h"
#include "runtime/cli/RegularFile.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

Expected<std::unique_ptr<MemoryBuffer>> braid::readInputFile(StringRef path, uint64_t maxBytes) {
  std::string problem;
  int file = cli::openRegularFile(path.str(), problem);
  if (file < 0)
    return createStringError(problem);
  auto closing = make_scope_exit([&] { ::close(file); });
  struct stat info;
  if (::fstat(file, &info) != 0)
    return createStringError(errnoAsErrorCode().message());
  if (!S_ISREG(info.st_mode))
    return createStringError("it is a device; copy its content into a file");
  if (uint64_t(info.st_size) > maxBytes)
    return createStringError(("it has " + Twine(info.st_size) + " bytes, above the limit of " + Twine(maxBytes)).str());
  // Texts get a terminating zero, which parsers need. Larger files are mapped.
  auto buffer = MemoryBuffer::getOpenFile(file, path, /*FileSize=*/uint64_t(info.st_size),
                                          /*RequiresNullTerminator=*/maxBytes <= kMaxTextBytes);
  if (!buffer)
    return createStringError(buffer.getError().message());
  return std::move(*buffer);
}
