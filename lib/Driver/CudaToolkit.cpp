//===- CudaToolkit.cpp - the CUDA compiler and what it compiles for -------===//

#include "lib/Driver/CudaToolkit.h"
#include "lib/Driver/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace braid;

Expected<std::string> braid::findNvcc(StringRef named) {
  if (!named.empty()) {
    // A path is taken as it is, whether or not there is something.
    ErrorOr<std::string> path = sys::findProgramByName(named);
    if (!path || !sys::fs::can_execute(*path))
      return makeError("--nvcc=" + named + ": no such program");
    return *path;
  }
  if (std::optional<std::string> home = sys::Process::GetEnv("CUDA_HOME")) {
    SmallString<128> path(*home);
    sys::path::append(path, "bin", "nvcc");
    if (sys::fs::can_execute(path))
      return path.str().str();
  }
  ErrorOr<std::string> path = sys::findProgramByName("nvcc");
  return path ? *path : "";
}

/// The first GPU that computes in bf16, and the first with instructions of its own.
static constexpr unsigned kFirst = 80, kFirstOwn = 90;

/// The number of `sm_90`; 0 for what is none, or a variant.
static unsigned numberOf(StringRef name) {
  unsigned number = 0;
  return name.consume_front("sm_") && !name.getAsInteger(10, number) ? number : 0;
}

/// What nvcc says to `--list-gpu-code`.
static Expected<std::string> askNvcc(StringRef nvcc) {
  auto scratch = TemporaryFolder::create();
  if (!scratch)
    return scratch.takeError();
  std::string said = scratch->path + "/gpus";
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(said), std::nullopt};
  StringRef words[] = {nvcc, "--list-gpu-code"};
  std::string message;
  if (sys::ExecuteAndWait(nvcc, words, std::nullopt, redirects, 0, 0, &message) != 0)
    return makeError("'" + nvcc + " --list-gpu-code' failed" + (message.empty() ? "" : ": " + message));
  auto text = MemoryBuffer::getFile(said);
  if (!text)
    return makeError("cannot read '" + said + "': " + text.getError().message());
  return (*text)->getBuffer().str();
}

Expected<std::vector<std::string>> braid::gpuNames(StringRef nvcc) {
  std::string listed = "sm_80\nsm_86\nsm_87\nsm_89\nsm_90\nsm_100\nsm_103\nsm_110\nsm_120\nsm_121";
  if (!nvcc.empty()) {
    auto said = askNvcc(nvcc);
    if (!said)
      return said.takeError();
    listed = std::move(*said);
  }
  SmallVector<unsigned> numbers;
  SmallVector<StringRef> lines;
  StringRef(listed).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    if (unsigned number = numberOf(line.trim()); number >= kFirst)
      numbers.push_back(number);
  llvm::sort(numbers);
  std::vector<std::string> names;
  for (unsigned number : numbers) {
    names.push_back("sm_" + std::to_string(number));
    // nvcc knows these variants, but does not list them.
    if (number >= kFirstOwn)
      names.push_back(names.back() + "a");
  }
  return names;
}
