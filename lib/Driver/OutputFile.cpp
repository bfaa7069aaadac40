//===- OutputFile.cpp - files that are whole or not there -----------------===//

#include "lib/Driver/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
using namespace braid;

Error braid::makeError(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

static Error fileError(StringRef path, std::error_code code) {
  return makeError("cannot write '" + path + "': " + code.message());
}

/// Brings a closed file to the disk.
static std::error_code syncFile(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY);
  if (descriptor < 0)
    return errnoAsErrorCode();
  std::error_code code = ::fsync(descriptor) == 0 ? std::error_code() : errnoAsErrorCode();
  ::close(descriptor);
  return code;
}

/// Creates an empty file beside `path`.
static Error createBeside(StringRef path, SmallVectorImpl<char> &temporary) {
  if (sys::fs::is_directory(path))
    return makeError("cannot write '" + path + "': it is a folder");
  if (std::error_code code = sys::fs::createUniqueFile(path + ".%%%%%%.tmp", temporary))
    return fileError(path, code);
  return Error::success();
}

Error braid::checkWritable(StringRef path) {
  SmallString<128> temporary;
  if (Error error = createBeside(path, temporary))
    return error;
  sys::fs::remove(temporary);
  return Error::success();
}

Error braid::replaceFile(StringRef path, function_ref<Error(StringRef)> write) {
  SmallString<128> temporary;
  if (Error error = createBeside(path, temporary))
    return error;
  auto fail = [&](Error error) {
    sys::fs::remove(temporary);
    return error;
  };
  if (Error error = write(temporary))
    return fail(std::move(error));
  if (std::error_code code = syncFile(temporary.str().str()))
    return fail(fileError(path, code));
  if (std::error_code code = sys::fs::rename(temporary, path))
    return fail(fileError(path, code));
  return Error::success();
}

Error braid::writeTextFile(StringRef path, StringRef text) {
  if (path == "-") {
    outs() << text;
    return Error::success();
  }
  return replaceFile(path, [&](StringRef temporary) -> Error {
    std::error_code code;
    raw_fd_ostream os(temporary, code);
    if (code)
      return fileError(path, code);
    os << text;
    os.close();
    if (!os.has_error())
      return Error::success();
    code = os.error();
    os.clear_error();
    return fileError(path, code);
  });
}

Expected<TemporaryFolder> TemporaryFolder::create() {
  SmallString<128> path;
  if (std::error_code code = sys::fs::createUniqueDirectory("braidc", path))
    return makeError("cannot make a temporary folder: " + code.message());
  return TemporaryFolder(path.str().str());
}

TemporaryFolder::~TemporaryFolder() {
  if (!path.empty())
    sys::fs::remove_directories(path);
}
