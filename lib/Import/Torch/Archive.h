//===- Archive.h - the zip file that torch.export.save writes ---*- C++ -*-===//
//
// A .pt2 file is a zip archive of stored entries under one folder: models/NAME.json has the program, data/weights the
// tensors' bytes with a table beside them. Nothing in it is executed or unpickled, and no entry is written under the
// name that the archive gives it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_IMPORT_TORCH_ARCHIVE_H
#define BRAID_LIB_IMPORT_TORCH_ARCHIVE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>

struct zip; // of libzip

namespace braid::torch {

class Archive {
public:
  /// Opens a file. Refuses archives with compressed, encrypted or repeated entries, and archives whose entries claim
  /// more bytes than the file has.
  static llvm::Expected<Archive> open(const std::string &path);

  /// Returns the names of entries below the archive's folder that begin with `prefix` and end with `suffix`, sorted.
  std::vector<std::string> find(llvm::StringRef prefix, llvm::StringRef suffix) const;
  /// Returns the size of an entry in bytes, or nothing if there is no such entry.
  std::optional<uint64_t> sizeOf(llvm::StringRef name) const;
  /// Reads an entry of at most `maxBytes` bytes.
  llvm::Expected<std::string> read(llvm::StringRef name, uint64_t maxBytes) const;
  /// Passes the bytes of an entry to `use`, a block at a time.
  llvm::Error stream(llvm::StringRef name, llvm::function_ref<llvm::Error(llvm::StringRef block)> use) const;

  const std::string &getPath() const { return path; }

private:
  struct Entry {
    uint64_t index, size;
  };
  struct Close {
    void operator()(::zip *archive) const;
  };

  llvm::Error list(uint64_t fileBytes);
  llvm::Error fail(const llvm::Twine &message) const;

  std::string path;
  std::unique_ptr<::zip, Close> archive;
  /// Entries by their names below the archive's folder.
  llvm::StringMap<Entry> entries;
};

} // namespace braid::torch

#endif // BRAID_LIB_IMPORT_TORCH_ARCHIVE_H
