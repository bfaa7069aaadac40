//===- OutputFile.cpp - files that are whole or not there -----------------===//

#include "lib/Driver/OutputFile.h"
#include "lib/Driver/ChildProcess.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;
using namespace braid;

std::string braid::inFolder(StringRef folder, StringRef rest) {
  SmallString<128> path(folder);
  sys::path::append(path, rest);
  return path.str().str();
}

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

/// A device or a pipe: it is written to, never replaced.
static bool isSpecial(StringRef path) {
  return sys::fs::exists(path) && !sys::fs::is_regular_file(path) && !sys::fs::is_directory(path);
}

static void removeTemporary(StringRef temporary) {
  sys::fs::remove(temporary);
  sys::DontRemoveFileOnSignal(temporary);
}

/// Creates an empty file beside `path`, which goes if a signal ends the process.
static Error createBeside(StringRef path, SmallVectorImpl<char> &temporary) {
  if (sys::fs::is_directory(path))
    return makeError("cannot write '" + path + "': it is a folder");
  if (isSpecial(path))
    return makeError("cannot write '" + path + "': it is not a file that can be replaced");
  // Not createUniqueFile: it would replace a '%' of the path.
  (path + "." + Twine(sys::Process::getProcessId()) + ".tmp").toVector(temporary);
  int descriptor;
  if (std::error_code code = sys::fs::openFileForWrite(temporary, descriptor, sys::fs::CD_CreateNew))
    return fileError(path, code);
  ::close(descriptor);
  sys::RemoveFileOnSignal(StringRef(temporary.data(), temporary.size()));
  return Error::success();
}

Error braid::checkWritable(StringRef path) {
  if (isSpecial(path))
    return Error::success();
  SmallString<128> temporary;
  if (Error error = createBeside(path, temporary))
    return error;
  removeTemporary(temporary);
  return Error::success();
}

Error braid::replaceFile(StringRef path, llvm::function_ref<Error(StringRef)> write) {
  SmallString<128> temporary;
  if (Error error = createBeside(path, temporary))
    return error;
  auto fail = [&](Error error) {
    removeTemporary(temporary);
    return error;
  };
  if (Error error = write(temporary))
    return fail(std::move(error));
  if (std::error_code code = syncFile(temporary.str().str()))
    return fail(fileError(path, code));
  if (std::error_code code = sys::fs::rename(temporary, path))
    return fail(fileError(path, code));
  sys::DontRemoveFileOnSignal(temporary);
  return Error::success();
}

static Error writeAndCheck(raw_fd_ostream &os, StringRef path, StringRef text) {
  os << text;
  os.flush();
  if (!os.has_error())
    return Error::success();
  std::error_code code = os.error();
  os.clear_error(); // reported by us
  return fileError(path, code);
}

Error braid::writeTextFile(StringRef path, StringRef text) {
  auto write = [&](StringRef target) -> Error {
    std::error_code code;
    raw_fd_ostream os(target, code);
    return code ? fileError(path, code) : writeAndCheck(os, path, text);
  };
  if (path == "-")
    return writeAndCheck(outs(), "standard output", text);
  return isSpecial(path) ? write(path) : replaceFile(path, write);
}

Expected<TemporaryFolder> TemporaryFolder::create() {
  SmallString<128> path;
  if (std::error_code code = sys::fs::createUniqueDirectory("braidc", path))
    return makeError("cannot make a temporary folder: " + code.message());
  TemporaryFolder folder(path.str().str());
  removeWhenInterrupted(folder.path);
  return folder;
}

TemporaryFolder::~TemporaryFolder() {
  if (path.empty())
    return;
  sys::fs::remove_directories(path);
  keepWhenInterrupted(path);
}
