//===- OutputFile.h - writes files completely or not at all -----*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_OUTPUTFILE_H
#define BRAID_COMPILER_DRIVER_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/LogicalResult.h"

namespace braid {

/// Writes the file `path`: `write` fills a temporary file beside it, which is synced and renamed. On failure, the old
/// content of `path` is untouched.
llvm::Error replaceFile(llvm::StringRef path, llvm::function_ref<llvm::Error(llvm::StringRef temporary)> write);

/// Checks that `replaceFile` could write to `path`, as far as this is known in advance.
llvm::Error checkWritable(llvm::StringRef path);

/// Like `replaceFile`, for text. "-" is standard output.
llvm::Error writeTextFile(llvm::StringRef path, llvm::StringRef text);

/// Returns the path of `rest` in `folder`.
std::string inFolder(llvm::StringRef folder, llvm::StringRef rest);

/// Returns an error with a message.
llvm::Error makeError(const llvm::Twine &message);

/// Prints the message of an error. Fails if there is one.
llvm::LogicalResult reportError(llvm::Error error);

/// A temporary folder; the destructor removes it with its content.
class TemporaryFolder {
public:
  static llvm::Expected<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder &&other) : path(std::move(other.path)) { other.path.clear(); }
  ~TemporaryFolder();
  std::string path;

private:
  explicit TemporaryFolder(std::string path) : path(std::move(path)) {}
};

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_OUTPUTFILE_H
