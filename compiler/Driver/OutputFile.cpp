//===- OutputFile.cpp - writes files completely or not at all -------------===//

#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/ChildProcess.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace braid;

std::string braid::inFolder(StringRef folder, StringRef rest) {
  SmallString<128> path(folder);
  sys::path::append(path, rest);
  return path.str().str();
}

Error braid::makeError(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

LogicalResult braid::reportError(Error error) {
  if (!error)
    return success();
  WithColor::error(errs(), "braidc") << toString(std::move(error)) << "\n";
  return failure();
}

static Error fileError(StringRef path, std::error_code code) {
  return makeError("cannot write '" + path + "': " + code.message());
}

/// Syncs a closed file to the disk.
static std::error_code syncFile(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0)
    return errnoAsErrorCode();
  std::error_code code = ::fsync(descriptor) == 0 ? std::error_code() : errnoAsErrorCode();
  ::close(descriptor);
  return code;
}

/// Returns whether `path` is a device or a pipe, which is written to and never replaced.
static bool isSpecial(StringRef path) {
  return sys::fs::exists(path) && !sys::fs::is_regular_file(path) && !sys::fs::is_directory(path);
}

static void removeTemporary(StringRef temporary) {
  sys::fs::remove(temporary);
  sys::DontRemoveFileOnSignal(temporary);
}

/// Creates an empty file beside `path`; a signal that ends the process removes it. Only this user can open it until it
/// is renamed.
static Error createBeside(StringRef path, SmallVectorImpl<char> &temporary, int &descriptor) {
  if (sys::fs::is_directory(path))
    return makeError("cannot write '" + path + "': it is a folder");
  if (isSpecial(path))
    return makeError("cannot write '" + path + "': it is not a file that can be replaced");
  // createUniqueFile would replace a '%' in the path. Process ids are not unique across containers.
  (path + ".XXXXXX.tmp").toVector(temporary);
  temporary.push_back('\0');
  descriptor = ::mkostemps(temporary.data(), /*suffixlen=*/4, O_CLOEXEC);
  temporary.pop_back();
  if (descriptor < 0)
    return fileError(path, errnoAsErrorCode());
  sys::RemoveFileOnSignal(StringRef(temporary.data(), temporary.size()));
  return Error::success();
}

Error braid::checkWritable(StringRef path) {
  if (isSpecial(path))
    return Error::success();
  SmallString<128> temporary;
  int descriptor;
  if (Error error = createBeside(path, temporary, descriptor))
    return error;
  ::close(descriptor);
  removeTemporary(temporary);
  return Error::success();
}

/// Gives a private file the default mode of a new file or program. Linkers keep the mode of an existing file.
static void publish(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0)
    (void)!::chmod(path.c_str(), (info.st_mode & S_IXUSR ? 0777 : 0666) & ~sys::fs::getUmask());
}

/// Calls `write` with the temporary file and its descriptor.
static Error replaceFile(StringRef path, llvm::function_ref<Error(StringRef, int)> write) {
  SmallString<128> temporary;
  int descriptor;
  if (Error error = createBeside(path, temporary, descriptor))
    return error;
  auto closing = llvm::make_scope_exit([&] { ::close(descriptor); });
  auto fail = [&](Error error) {
    removeTemporary(temporary);
    return error;
  };
  if (Error error = write(temporary, descriptor))
    return fail(std::move(error));
  if (std::error_code code = syncFile(temporary.str().str()))
    return fail(fileError(path, code));
  publish(temporary.str().str());
  if (std::error_code code = sys::fs::rename(temporary, path))
    return fail(fileError(path, code));
  sys::DontRemoveFileOnSignal(temporary);
  return Error::success();
}

Error braid::replaceFile(StringRef path, llvm::function_ref<Error(StringRef)> write) {
  return ::replaceFile(path, [&](StringRef temporary, int) { return write(temporary); });
}

static Error writeAndCheck(raw_fd_ostream &os, StringRef path, StringRef text) {
  os << text;
  os.flush();
  if (!os.has_error())
    return Error::success();
  std::error_code code = os.error();
  os.clear_error(); // this function reports the error
  return fileError(path, code);
}

Error braid::writeTextFile(StringRef path, StringRef text) {
  if (path == "-")
    return writeAndCheck(outs(), "standard output", text);
  if (isSpecial(path)) {
    std::error_code code;
    raw_fd_ostream os(path, code);
    return code ? fileError(path, code) : writeAndCheck(os, path, text);
  }
  return ::replaceFile(path, [&](StringRef, int descriptor) -> Error {
    raw_fd_ostream os(descriptor, /*shouldClose=*/false);
    return writeAndCheck(os, path, text);
  });
}

Expected<TemporaryFolder> TemporaryFolder::create() {
  SmallString<128> path;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  sys::path::append(path, "braidc-XXXXXX");
  // mkdtemp sets the mode 0700, because a compiler runs what it reads there as this user.
  if (!::mkdtemp(const_cast<char *>(path.c_str())))
    return makeError("cannot make a temporary folder in '" + sys::path::parent_path(path) +
                     "': " + errnoAsErrorCode().message());
  TemporaryFolder folder(path.str().str());
  removeOnInterrupt(folder.path);
  return folder;
}

TemporaryFolder::~TemporaryFolder() {
  if (path.empty())
    return;
  sys::fs::remove_directories(path);
  keepOnInterrupt(path);
}
