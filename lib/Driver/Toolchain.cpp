//===- Toolchain.cpp - from generated sources to a binary -----------------===//

#include "lib/Driver/Toolchain.h"
#include "lib/Driver/OutputFile.h"
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

static std::string inFolder(StringRef folder, StringRef rest) {
  SmallString<128> path(folder);
  sys::path::append(path, rest);
  return path.str().str();
}

//===----------------------------------------------------------------------===//
// The runtime
//===----------------------------------------------------------------------===//

/// Transports with a library of their own: their name, and what model.cpp is told.
static constexpr std::pair<StringLiteral, StringLiteral> kTransports[] = {{"gloo", "BRAID_WITH_GLOO"},
                                                                          {"mpi", "BRAID_WITH_MPI"}};

/// The archive of a transport and the description beside it; none if there is no
/// such archive.
static Expected<std::optional<TransportLibrary>> findTransport(StringRef folder, StringRef name) {
  std::string stem = inFolder(folder, ("braid_rt_" + name).str());
  TransportLibrary library{name.str(), inFolder(folder, ("libbraid_rt_" + name + ".a").str()), {}};
  if (!sys::fs::exists(library.archive))
    return std::nullopt;
  auto text = MemoryBuffer::getFile(stem + ".link");
  if (!text)
    return makeError("cannot read '" + stem + ".link', which says what '" + library.archive + "' is linked with: " +
                     text.getError().message());
  SmallVector<StringRef> lines;
  (*text)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  library.words.assign(lines.begin(), lines.end());
  return library;
}

/// Those that are named, or all that there are.
static Error findTransports(RuntimeFolder &runtime, const DriverOptions &options, StringRef folder) {
  const std::vector<std::string> &named = options.parallel.transports;
  for (auto [name, macro] : kTransports) {
    if (!options.parallel.isParallel() || (!named.empty() && !is_contained(named, name)))
      continue;
    auto library = findTransport(folder, name);
    if (!library)
      return library.takeError();
    if (*library)
      runtime.transports.push_back(std::move(**library));
    else if (!named.empty())
      return makeError("--transports=" + join(named, ",") + ": the runtime in '" + folder + "' was built without " + name +
                       "; install " + (name == "mpi" ? "Open MPI (libopenmpi-dev)" : "Gloo (libgloo-dev)") +
                       " and build Braid again, or leave it out");
  }
  return Error::success();
}

Expected<RuntimeFolder> braid::findRuntime(const DriverOptions &options, const char *program) {
  std::string prefix = options.runtimeDir;
  if (prefix.empty()) {
    // <prefix>/bin/braidc, in a build tree as after installation.
    static char anchor;
    std::string executable = sys::fs::getMainExecutable(program, &anchor);
    prefix = sys::path::parent_path(sys::path::parent_path(executable)).str();
  }
  std::string archives = inFolder(prefix, "lib/braid");
  RuntimeFolder runtime{inFolder(prefix, "share/braid/runtime"), inFolder(archives, "libbraid_rt.a"), {}};
  for (const std::string &path : {inFolder(runtime.sources, "braid_rt.h"), runtime.library})
    if (!sys::fs::exists(path))
      return makeError("the runtime is not there: '" + path + "' does not exist; name the folder with lib/braid and "
                       "share/braid by --runtime-dir=");
  // A folder of sources is linked where it is built.
  if (options.emit == Emit::Dir)
    return runtime;
  if (Error error = findTransports(runtime, options, archives))
    return error;
  return runtime;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

namespace {
/// A command that may run beside others; its messages go to a file.
class Command {
public:
  Command(std::vector<std::string> arguments, std::string log) : arguments(std::move(arguments)), log(std::move(log)) {}

  Error start(bool verbose) {
    std::vector<StringRef> words(arguments.begin(), arguments.end());
    if (verbose)
      errs() << llvm::join(words, " ") << "\n";
    std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
    std::string message;
    bool failed = false;
    process = sys::ExecuteNoWait(words.front(), words, std::nullopt, redirects, 0, &message, &failed);
    return failed ? makeError("cannot run '" + words.front() + "': " + message) : Error::success();
  }

  Error finish() {
    std::string message;
    sys::ProcessInfo result = sys::Wait(process, std::nullopt, &message);
    std::string output;
    if (auto buffer = MemoryBuffer::getFile(log))
      output = (*buffer)->getBuffer().str();
    if (result.ReturnCode == 0) {
      errs() << output; // warnings, if any
      return Error::success();
    }
    return makeError("'" + arguments.front() + "' failed on generated code" +
                     (message.empty() ? "" : " (" + message + ")") + ":\n" + output);
  }

private:
  std::vector<std::string> arguments;
  std::string log;
  sys::ProcessInfo process;
};
} // namespace

/// Starts all, then waits for all; returns the first error.
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

/// What tells model.cpp that the binary has a transport.
static std::string macroOf(StringRef transport) {
  for (auto [name, macro] : kTransports)
    if (name == transport)
      return macro.str();
  llvm_unreachable("not a transport with a library");
}

Error braid::compileBinary(StringRef folder, StringRef scratch, const RuntimeFolder &runtime,
                           const DriverOptions &options, StringRef output) {
  ErrorOr<std::string> compiler = sys::findProgramByName(options.compiler);
  if (!compiler)
    return makeError("there is no C++ compiler '" + options.compiler + "' (" + compiler.getError().message() +
                     "); install g++ or name one by --cc=");

  std::vector<Command> compiles;
  std::vector<std::string> link{*compiler, "-o", output.str()};
  for (StringRef source : {"step", "model"}) {
    std::string object = inFolder(scratch, (source + ".o").str());
    std::vector<std::string> arguments{*compiler, "-std=c++20", "-O3", "-march=" + options.cpu, "-ffp-contract=fast",
                                       "-I" + runtime.sources, "-c", inFolder(folder, (source + ".cpp").str()), "-o", object};
    if (!options.keep.empty())
      arguments.push_back("-g1"); // the sources stay: profilers can show them
    for (const TransportLibrary &transport : runtime.transports)
      arguments.push_back("-D" + macroOf(transport.name));
    compiles.emplace_back(std::move(arguments), inFolder(scratch, (source + ".log").str()));
    link.push_back(object);
  }
  if (Error error = runAll(compiles, options.verbose))
    return error;

  for (const TransportLibrary &transport : runtime.transports)
    link.push_back(transport.archive);
  link.insert(link.end(), {runtime.library, "-ldnnl", "-fopenmp"});
  for (const TransportLibrary &transport : runtime.transports)
    link.insert(link.end(), transport.words.begin(), transport.words.end());
  Command linker(std::move(link), inFolder(scratch, "link.log"));
  return runAll(linker, options.verbose);
}

//===----------------------------------------------------------------------===//
// Folders of sources
//===----------------------------------------------------------------------===//

Error braid::writeSources(StringRef folder, ArrayRef<SourceFile> sources) {
  if (std::error_code code = sys::fs::create_directories(folder))
    return makeError("cannot make the folder '" + folder + "': " + code.message());
  for (const SourceFile &source : sources)
    if (Error error = writeTextFile(inFolder(folder, source.name), source.text))
      return error;
  return Error::success();
}

/// Copies the runtime's C++ and CMake files, and nothing else.
static Error copyRuntime(StringRef from, StringRef to) {
  SmallString<128> root;
  if (std::error_code code = sys::fs::real_path(from, root))
    return makeError("cannot read '" + from + "': " + code.message());
  std::error_code code;
  for (sys::fs::recursive_directory_iterator file(root, code), end; file != end && !code; file.increment(code)) {
    StringRef path = file->path(), extension = sys::path::extension(path);
    if (!is_contained({".h", ".cpp"}, extension) && sys::path::filename(path) != "CMakeLists.txt")
      continue;
    auto text = MemoryBuffer::getFile(path);
    if (!text)
      return makeError("cannot read '" + path + "': " + text.getError().message());
    std::string target = inFolder(to, path.drop_front(root.size() + 1));
    if ((code = sys::fs::create_directories(sys::path::parent_path(target))))
      break;
    if (Error error = writeTextFile(target, (*text)->getBuffer()))
      return error;
  }
  return code ? makeError("cannot copy the runtime to '" + to + "': " + code.message()) : Error::success();
}

/// Links a transport where its library is found; one that was named must be.
static std::string cmakeTransport(StringRef name, StringRef transport, StringRef macro, bool isNamed) {
  std::string target = ("braid_rt_" + transport).str();
  std::string text = ("if(TARGET " + target + ")\n  target_compile_definitions(" + name + " PRIVATE " + macro +
                      ")\n  target_link_libraries(" + name + " PRIVATE " + target + ")\n")
                         .str();
  if (isNamed)
    text += ("else()\n  message(FATAL_ERROR \"" + name + " is to run over " + transport + ", which is not installed\")\n").str();
  return text + "endif()\n";
}

static std::string cmakeText(StringRef name, const ParallelOptions &parallel) {
  std::string text = ("# Builds the training binary `" + name + "`: needs CMake, a C++20 compiler and oneDNN.\n" +
                      "#   cmake -S . -B build && cmake --build build\n"
                      "cmake_minimum_required(VERSION 3.20)\n"
                      "project(" +
                      name +
                      " LANGUAGES CXX)\n"
                      "if(NOT CMAKE_BUILD_TYPE)\n"
                      "  set(CMAKE_BUILD_TYPE Release)\n"
                      "endif()\n"
                      "set(CPU native CACHE STRING \"The processor to compile for: -march=\")\n\n"
                      "add_subdirectory(runtime)\n"
                      "add_executable(" +
                      name +
                      " step.cpp model.cpp)\n"
                      "target_compile_options(" +
                      name +
                      " PRIVATE -O3 -march=${CPU} -ffp-contract=fast)\n"
                      "target_link_libraries(" +
                      name + " PRIVATE braid_rt)\n")
                         .str();
  bool areNamed = !parallel.transports.empty();
  for (auto [transport, macro] : kTransports)
    if (parallel.isParallel() && (!areNamed || is_contained(parallel.transports, transport)))
      text += cmakeTransport(name, transport, macro, areNamed);
  return text;
}

Error braid::writeSourceFolder(StringRef folder, ArrayRef<SourceFile> sources, const RuntimeFolder &runtime,
                               const DriverOptions &options, StringRef name) {
  if (Error error = writeSources(folder, sources))
    return error;
  if (Error error = copyRuntime(runtime.sources, inFolder(folder, "runtime")))
    return error;
  return writeTextFile(inFolder(folder, "CMakeLists.txt"), cmakeText(name, options.parallel));
}
