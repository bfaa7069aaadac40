//===- Toolchain.cpp - compiles generated sources to a binary -------------===//

#include "compiler/Driver/Toolchain.h"
#include "compiler/Driver/ChildProcess.h"
#include "compiler/Driver/LibraryExports.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/TargetOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace braid;

//===----------------------------------------------------------------------===//
// The runtime
//===----------------------------------------------------------------------===//

SmallVector<TransportLibrary> braid::transportLibraries(const DriverOptions &options) {
  static constexpr TransportLibrary libraries[] = {{"nccl", "BRAID_WITH_NCCL", "NCCL (libnccl-dev)"},
                                                   {"gloo", "BRAID_WITH_GLOO", "Gloo (libgloo-dev)"},
                                                   {"mpi", "BRAID_WITH_MPI", "Open MPI (libopenmpi-dev)"}};
  ArrayRef<StringLiteral> transports = targetOf(options).transports;
  return llvm::to_vector(make_filter_range(
      libraries, [&](const TransportLibrary &library) { return is_contained(transports, library.name); }));
}

/// Returns the archive of a part with the description beside it, or none if the archive does not exist.
static Expected<std::optional<RuntimePart>> findPart(StringRef folder, StringRef name) {
  std::string stem = inFolder(folder, ("braid_rt_" + name).str());
  RuntimePart part{name.str(), inFolder(folder, ("libbraid_rt_" + name + ".a").str()), {}};
  if (!sys::fs::exists(part.archive))
    return std::nullopt;
  auto text = MemoryBuffer::getFile(stem + ".link");
  if (!text)
    return makeError("cannot read '" + stem + ".link', which lists the libraries of '" + part.archive +
                     "': " + text.getError().message());
  SmallVector<StringRef> lines;
  (*text)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  part.words.assign(lines.begin(), lines.end());
  return part;
}

/// Adds the named transports, or all available ones.
static Error findTransports(RuntimeFolder &runtime, const DriverOptions &options, StringRef folder) {
  const std::vector<std::string> &named = options.parallel.transports;
  for (auto [name, macro, package] : transportLibraries(options)) {
    if (!options.parallel.isParallel() || (!named.empty() && !is_contained(named, name)))
      continue;
    auto part = findPart(folder, name);
    if (!part)
      return part.takeError();
    if (*part)
      runtime.parts.push_back(std::move(**part));
    else if (!named.empty())
      return makeError("--transports=" + join(named, ",") + ": the runtime in '" + folder + "' was built without " +
                       name + "; install " + package + " and build Braid again, or leave it out");
  }
  return Error::success();
}

/// Adds the runtime of the target, unless that is the CPU.
static Error findTargetPart(RuntimeFolder &runtime, const DriverOptions &options, StringRef folder) {
  if (!targetOf(options).onDevice())
    return Error::success();
  auto part = findPart(folder, options.passes.target.name);
  if (!part)
    return part.takeError();
  if (!*part)
    return makeError("the runtime in '" + folder + "' was built without " + options.passes.target.name +
                     "; build Braid again where the CUDA toolkit is, or write --emit=dir and build the folder there");
  runtime.parts.push_back(std::move(**part));
  return Error::success();
}

Expected<RuntimeFolder> braid::findRuntime(const DriverOptions &options, const char *program) {
  std::string prefix = options.runtimeDir;
  if (prefix.empty()) {
    // braidc is <prefix>/bin/braidc, in a build tree as well as after installation.
    static char anchor;
    std::string executable = sys::fs::getMainExecutable(program, &anchor);
    prefix = sys::path::parent_path(sys::path::parent_path(executable)).str();
  }
  std::string archives = inFolder(prefix, "lib/braid");
  RuntimeFolder runtime{inFolder(prefix, "share/braid/runtime"),
                        inFolder(prefix, "share/braid/include"),
                        inFolder(archives, "libbraid_rt.a"),
                        {}};
  for (const std::string &path : {inFolder(runtime.sources, "braid_rt.h"), runtime.library})
    if (!sys::fs::exists(path))
      return makeError("found no runtime: '" + path +
                       "' does not exist; name the folder with lib/braid and "
                       "share/braid by --runtime-dir=");
  // The CMake project in the folder links the runtime.
  if (options.emit == Emit::Dir)
    return runtime;
  if (Error error = findTransports(runtime, options, archives))
    return error;
  if (Error error = findTargetPart(runtime, options, archives))
    return error;
  return runtime;
}

//===----------------------------------------------------------------------===//
// Running compilers
//===----------------------------------------------------------------------===//

namespace {
/// A program and its arguments, which may run beside others. Its messages go to the file `log`, and its temporary files
/// to the folder of `log`.
class Command {
public:
  Command(std::vector<std::string> arguments, std::string log) : arguments(std::move(arguments)), log(std::move(log)) {}

  Error start(bool verbose);
  /// Waits for the program and shows its warnings. An error holds its whole output.
  Error finish();

private:
  std::vector<std::string> arguments;
  std::string log;
  std::optional<ChildProcess> process;
};
} // namespace

Error Command::start(bool verbose) {
  if (verbose)
    errs() << llvm::join(arguments, " ") << "\n";
  auto started = ChildProcess::start(arguments, log, sys::path::parent_path(log).str());
  if (!started)
    return started.takeError();
  process = std::move(*started);
  return Error::success();
}

/// Returns advice if a compiler ended because memory ran out; empty for other failures.
static StringRef outOfMemoryAdvice(StringRef problem, StringRef output) {
  bool lacksMemory = problem == "signal 9" || output.contains("Killed signal terminated program") ||
                     output.contains("out of memory") || output.contains("memory exhausted");
  return lacksMemory ? "the compiler had too little memory: free some, raise the limit of this process, or build the "
                       "folder of --emit=dir on a machine with more memory\n"
                     : "";
}

Error Command::finish() {
  std::string problem = process->wait(), output;
  if (auto buffer = MemoryBuffer::getFile(log))
    output = (*buffer)->getBuffer().str();
  if (problem.empty()) {
    errs() << output; // warnings, if any
    return Error::success();
  }
  return makeError("'" + arguments.front() + "' failed on generated code (" + problem + "):\n" + output +
                   outOfMemoryAdvice(problem, output));
}

/// Starts all commands, then waits for all. Returns the first error.
static Error runAll(MutableArrayRef<Command> commands, bool verbose) {
  Error first = Error::success();
  auto note = [&](Error error) {
    if (first)
      consumeError(std::move(error));
    else
      first = std::move(error);
  };
  size_t started = 0;
  while (started < commands.size() && !first) {
    note(commands[started].start(verbose));
    started += !first;
  }
  for (Command &command : commands.take_front(started))
    note(command.finish());
  return first;
}

//===----------------------------------------------------------------------===//
// Binaries
//===----------------------------------------------------------------------===//

namespace {
/// Compile commands of a binary, and its link command.
struct Build {
  StringRef folder, scratch;
  const RuntimeFolder &runtime;
  const DriverOptions &options;
  std::string compiler; // path of the C++ compiler
  std::vector<Command> compiles;
  std::vector<std::string> objects;

  void compile(StringRef source, std::vector<std::string> words);
  void compileHost(StringRef source);
  void compileDevice(StringRef source);
  bool isLibrary() const { return options.emit == Emit::Lib; }
  std::vector<std::string> linkWords(StringRef output) const;
  std::string exportsFile() const { return inFolder(scratch, kExportsFile); }
};
} // namespace

/// Adds a compilation of `source`; `words` are the compiler and its flags.
void Build::compile(StringRef source, std::vector<std::string> words) {
  StringRef stem = sys::path::stem(source);
  objects.push_back(inFolder(scratch, (stem + ".o").str()));
  words.insert(words.end(), {"-I" + runtime.sources, "-c", inFolder(folder, source), "-o", objects.back()});
  compiles.emplace_back(std::move(words), inFolder(scratch, (stem + ".log").str()));
}

void Build::compileHost(StringRef source) {
  std::vector<std::string> words{compiler, "-std=c++20", "-O3"};
  // Compiles kernels of the CPU target for the processor that will run them.
  if (!targetOf(options).onDevice())
    words.insert(words.end(), {"-march=" + (options.cpu.empty() ? "native" : options.cpu), "-ffp-contract=fast"});
  if (!options.keepSources.empty())
    words.push_back("-g1"); // for profilers, because the sources are kept
  if (isLibrary())
    words.insert(words.end(), {"-fPIC", "-fvisibility=hidden", "-DBRAID_LIBRARY"});
  for (const RuntimePart &part : runtime.parts)
    for (const TransportLibrary &library : transportLibraries(options))
      if (library.name == part.name)
        words.push_back(("-D" + library.macro).str());
  compile(source, std::move(words));
}

void Build::compileDevice(StringRef source) {
  std::vector<std::string> words{options.nvcc, "-std=c++20", "-O3", "-arch=" + options.passes.target.arch,
                                 "-ccbin=" + compiler};
  if (!options.keepSources.empty())
    words.push_back("-lineinfo");
  if (isLibrary())
    words.push_back("-Xcompiler=-fPIC,-fvisibility=hidden");
  compile(source, std::move(words));
}

std::vector<std::string> Build::linkWords(StringRef output) const {
  std::vector<std::string> words{compiler, "-o", output.str()};
  if (isLibrary())
    words.insert(words.end(), {"-shared", "-Wl,-u,braid_create", "-Wl,-Bsymbolic", "-Wl,--no-undefined",
                               "-Wl,--version-script=" + exportsFile()});
  llvm::append_range(words, objects);
  for (const RuntimePart &part : runtime.parts)
    words.push_back(part.archive);
  words.insert(words.end(), {runtime.library, "-ldnnl", "-lcrypto", "-fopenmp"});
  for (const RuntimePart &part : runtime.parts)
    words.insert(words.end(), part.words.begin(), part.words.end());
  return words;
}

Error braid::compileBinary(StringRef folder, StringRef scratch, const RuntimeFolder &runtime,
                           const DriverOptions &options, StringRef output) {
  ErrorOr<std::string> compiler = sys::findProgramByName(options.compiler);
  if (!compiler)
    return makeError("cannot find the C++ compiler '" + options.compiler + "' (" + compiler.getError().message() +
                     "); install g++ or name one by --cc=");
  Build build{folder, scratch, runtime, options, *compiler, {}, {}};
  if (!targetOf(options).onDevice())
    build.compileHost("step.cpp");
  else
    build.compileDevice("step.cu");
  build.compileHost("model.cpp");
  if (Error error = runAll(build.compiles, options.verbose))
    return error;
  if (build.isLibrary())
    if (Error error = writeTextFile(build.exportsFile(), kLibraryExports))
      return error;
  Command linker(build.linkWords(output), inFolder(scratch, "link.log"));
  return runAll(linker, options.verbose);
}
