//===- TargetOptions.cpp - resolves --target, checks options --------------===//

#include "compiler/Driver/TargetOptions.h"
#include "compiler/Driver/OutputFile.h"
#include "lib/Memory/LeadingDimPadding.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace braid;

//===----------------------------------------------------------------------===//
// The CUDA compiler, and its GPUs
//===----------------------------------------------------------------------===//

/// Returns the path of nvcc: `named` if not empty, else the one of CUDA_HOME or PATH; empty if there is none. Returns
/// an error if `named` does not exist.
static Expected<std::string> findNvcc(StringRef named) {
  if (!named.empty()) {
    // findProgramByName returns a path unchanged, even if no file exists there.
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

/// Architecture numbers of the first GPU that computes in bf16, and of the first with an architecture-specific variant
/// (sm_90a).
static constexpr unsigned kFirstBf16Arch = 80, kFirstSpecificArch = 90;

/// Returns the number of `sm_90`; 0 for other names and for variants.
static unsigned numberOf(StringRef name) {
  unsigned number = 0;
  return name.consume_front("sm_") && !name.getAsInteger(10, number) ? number : 0;
}

/// Returns the output of `nvcc --list-gpu-code`.
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

/// Returns the GPUs that this nvcc compiles for, or, without nvcc, those that CUDA 13 knows: sm_80, ..., with the
/// variants that have all instructions of one GPU (sm_90a).
static Expected<std::vector<std::string>> gpuNames(StringRef nvcc) {
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
    if (unsigned number = numberOf(line.trim()); number >= kFirstBf16Arch)
      numbers.push_back(number);
  llvm::sort(numbers);
  std::vector<std::string> names;
  for (unsigned number : numbers) {
    names.push_back("sm_" + std::to_string(number));
    // nvcc knows these variants, but does not list them.
    if (number >= kFirstSpecificArch)
      names.push_back(names.back() + "a");
  }
  return names;
}

static Error resolveGpu(DriverOptions &options, StringRef gpu) {
  auto nvcc = findNvcc(options.nvcc);
  if (!nvcc)
    return nvcc.takeError();
  options.nvcc = std::move(*nvcc);
  const TargetInfo *card = lookupTarget(options.passes.target.name, "", gpu);
  bool isCard = card && !gpu.empty();
  options.passes.target.card = isCard ? gpu.str() : "";
  options.passes.target.arch = isCard ? card->gpu->arch.str() : gpu.str();
  auto names = gpuNames(options.nvcc);
  if (!names)
    return names.takeError();
  if (is_contained(*names, options.passes.target.arch))
    return Error::success();
  if (gpu.empty())
    return makeError("--target=cuda: expected a GPU after the colon (cards: " + cardNames() +
                     "; architectures: " + join(*names, ", ") + ")");
  std::string who = options.nvcc.empty() ? "CUDA compiles" : "'" + options.nvcc + "' compiles";
  return makeError("--target=cuda:" + gpu + ": unknown GPU '" + gpu + "'; cards: " + cardNames() + "; " + who +
                   " for " + join(*names, ", "));
}

//===----------------------------------------------------------------------===//
// Options of the targets
//===----------------------------------------------------------------------===//

/// Refuses options of another target's compiler.
static Error checkOthers(const DriverOptions &options) {
  const GpuInfo *gpu = targetOf(options).gpu;
  if (gpu && !options.cpu.empty())
    return makeError("--cpu=" + options.cpu +
                     " applies to the cpu target; for CUDA name the GPU, as in --target=cuda:" + gpu->arch);
  if (!gpu && !options.nvcc.empty())
    return makeError("--nvcc=" + options.nvcc + " applies to CUDA, but the target is " + options.passes.target.name +
                     ": add --target=cuda, or leave it out");
  if (gpu && options.emit == Emit::Cpp)
    return makeError("--emit=cpp applies to the cpu target; for CUDA write --emit=cu");
  if (!gpu && options.emit == Emit::Cu)
    return makeError("--emit=cu applies to CUDA, but the target is " + options.passes.target.name +
                     ": add --target=cuda, or write --emit=cpp");
  return Error::success();
}

/// Checks that the target supports the transports.
static Error checkTransports(const DriverOptions &options) {
  ArrayRef<StringLiteral> known = targetOf(options).transports;
  for (const std::string &transport : options.parallel.transports)
    if (!is_contained(known, transport))
      return makeError("--transports: unknown transport '" + transport + "' for the " + options.passes.target.name +
                       " target (transports: " + join(known, ", ") + ")");
  return Error::success();
}

/// Checks that the target supports the requested attention.
static Error checkAttention(const DriverOptions &options) {
  if (options.passes.attention.method == AttentionMethod::Library && !targetOf(options).attention.maxHeadSize)
    return makeError("--attention=library: the " + options.passes.target.name +
                     " target has no library for attention; leave it out, write --attention=tiles, or compile for "
                     "--target=cuda");
  if (!options.has("--attention-order"))
    return Error::success();
  if (!targetOf(options).attention.maxHeadSize)
    return makeError("--attention-order applies to an attention library, but on the " + options.passes.target.name +
                     " target the order is always fixed: leave it out, or compile for --target=cuda");
  if (options.passes.attention.method == AttentionMethod::Tiles ||
      options.passes.attention.method == AttentionMethod::Decompose)
    return makeError("--attention-order applies to the attention library, which --attention=" +
                     StringRef(cli::wordOf(options.passes.attention.method)) + " does not call: leave one of them out");
  return Error::success();
}

/// Checks that the target has a memory apart from the host's, if data is kept on the host.
static Error checkOffload(const DriverOptions &options) {
  if (options.has("--offload-activations") && !options.offloadsActivations())
    return makeError("--offload-activations selects the activations to copy to the host, but --offload=" +
                     StringRef(cli::wordOf(options.offload)) + " copies none: add activations there (" +
                     (options.offloadsState() ? "--offload=optimizer,activations" : "--offload=activations") +
                     "), or leave it out");
  if (!options.offloads() || targetOf(options).gpu)
    return Error::success();
  return makeError(
      "--offload=" + StringRef(cli::wordOf(options.offload)) + ": on the " + options.passes.target.name +
      " target all memory is host memory, so nothing can be offloaded; leave it out, or compile for --target=cuda");
}

static Error checkRowAlignment(const DriverOptions &options) {
  const TargetInfo &target = targetOf(options);
  if (!options.has("--row-alignment") || canAlignRows(options.passes.plan.rowAlignment, target))
    return Error::success();
  return makeError("--row-alignment=" + std::to_string(options.passes.plan.rowAlignment) +
                   ": invalid value; expected 0 or a power of two from " + std::to_string(kMinRowAlignment) +
                   " bytes to the " + std::to_string(target.alignment) +
                   " at which buffers of --target=" + options.passes.target.name + " begin");
}

const TargetInfo &braid::targetOf(const DriverOptions &options) {
  return *lookupTarget(options.passes.target.name, options.passes.target.arch, options.passes.target.card);
}

Error braid::resolveTarget(DriverOptions &options) {
  std::string text = options.passes.target.name;
  auto [name, gpu] = StringRef(text).split(':');
  bool namesGpu = StringRef(text).contains(':');
  const TargetInfo *target = lookupTarget(name);
  if (!target)
    return makeError("unknown target '" + name + "' (targets: " + targetNames() + ")");
  options.passes.target.name = name.str();
  if (Error error = checkOthers(options))
    return error;
  if (Error error = checkTransports(options))
    return error;
  if (Error error = checkAttention(options))
    return error;
  if (Error error = checkRowAlignment(options))
    return error;
  if (Error error = checkOffload(options))
    return error;
  if (target->gpu)
    return resolveGpu(options, namesGpu ? gpu.str() : target->gpu->arch.str());
  if (namesGpu)
    return makeError("--target=" + text +
                     ": only the cuda target takes a GPU after the colon; name a processor by --cpu=");
  return Error::success();
}

Error braid::checkCompiler(const DriverOptions &options) {
  if (!targetOf(options).onDevice() || !compilesSources(options.emit) || !options.nvcc.empty())
    return Error::success();
  return makeError("found no CUDA compiler in CUDA_HOME or PATH: install nvcc, name it by --nvcc=, or write "
                   "--emit=dir and build the folder on a machine that has one");
}
