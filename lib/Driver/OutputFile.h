//===- OutputFile.h - files that are whole or not there ---------*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_OUTPUTFILE_H
#define BRAID_LIB_DRIVER_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace braid {

/// Makes the file `path`: `write` fills a temporary file beside it, which is synced
/// and renamed.  When anything fails, what `path` held before is untouched.
llvm::Error replaceFile(llvm::StringRef path, llvm::function_ref<llvm::Error(llvm::StringRef temporary)> write);

/// Whether `replaceFile` could write there, as far as one can tell in advance.
llvm::Error checkWritable(llvm::StringRef path);

/// The same as `replaceFile` for text; "-" is standard output.
llvm::Error writeTextFile(llvm::StringRef path, llvm::StringRef text);

/// The path `rest` in a folder.
std::string inFolder(llvm::StringRef folder, llvm::StringRef rest);

/// An error with a message.
llvm::Error makeError(const llvm::Twine &message);

/// A folder that goes away with its content.
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

#endif // BRAID_LIB_DRIVER_OUTPUTFILE_H
