//===- SourceFolder.cpp - generated sources as files ----------------------===//

#include "compiler/Driver/SourceFolder.h"
#include "compiler/Driver/LibraryExports.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/TargetOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace braid;

Error braid::writeSources(StringRef folder, ArrayRef<SourceFile> sources) {
  if (std::error_code code = sys::fs::create_directories(folder))
    return makeError("cannot make the folder '" + folder + "': " + code.message());
  for (const SourceFile &source : sources)
    if (Error error = writeTextFile(inFolder(folder, source.name), source.text))
      return error;
  return Error::success();
}

/// Copies sources, headers and CMake files from the folder `from`, and no other files.
static Error copySources(StringRef from, StringRef to) {
  SmallString<128> root;
  if (std::error_code code = sys::fs::real_path(from, root))
    return makeError("cannot read '" + from + "': " + code.message());
  std::error_code code;
  for (sys::fs::recursive_directory_iterator file(root, code), end; file != end && !code; file.increment(code)) {
    StringRef path = file->path(), extension = sys::path::extension(path);
    if (!is_contained({".h", ".hpp", ".cpp"}, extension) && sys::path::filename(path) != "CMakeLists.txt")
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

/// Copies the runtime, and the header libraries that it needs.
static Error copyRuntime(const RuntimeFolder &runtime, StringRef to) {
  if (Error error = copySources(runtime.sources, to))
    return error;
  for (StringRef library : {"nlohmann", "CLI", "xxhash"})
    if (Error error = copySources(inFolder(runtime.headers, library), inFolder(to, ("include/" + library).str())))
      return error;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// CMakeLists.txt
//===----------------------------------------------------------------------===//

/// Links a transport if its library is found. A transport that the user named is required.
static std::string cmakeTransport(StringRef name, StringRef transport, StringRef macro, bool isNamed) {
  std::string target = ("braid_rt_" + transport).str();
  std::string text = ("if(TARGET " + target + ")\n  target_compile_definitions(" + name + " PRIVATE " + macro +
                      ")\n  target_link_libraries(" + name + " PRIVATE " + target + ")\n")
                         .str();
  if (isNamed)
    text +=
        ("else()\n  message(FATAL_ERROR \"" + name + " is to run over " + transport + ", which is not installed\")\n")
            .str();
  return text + "endif()\n";
}

/// Returns CMake text that links the binary with the transports that have libraries of their own.
static std::string cmakeTransports(StringRef name, const DriverOptions &options) {
  const ParallelOptions &parallel = options.parallel;
  std::string text;
  bool areNamed = !parallel.transports.empty();
  for (const TransportLibrary &library : transportLibraries(options))
    if (parallel.isParallel() && (!areNamed || is_contained(parallel.transports, library.name)))
      text += cmakeTransport(name, library.name, library.macro, areNamed);
  return text;
}

/// First line of CMakeLists.txt, which marks a folder as written by braidc.
static constexpr StringLiteral kGeneratedMarker = "# Written by braidc; it writes to this folder again when told to.\n";

Error braid::checkSourceFolder(StringRef folder) {
  std::error_code code;
  if (sys::fs::directory_iterator(folder, code) == sys::fs::directory_iterator())
    return Error::success(); // the function that creates it reports errors
  auto text = MemoryBuffer::getFile(inFolder(folder, "CMakeLists.txt"));
  if (text && (*text)->getBuffer().starts_with(kGeneratedMarker))
    return Error::success();
  return makeError("will not write to the folder '" + folder + "': " +
                   (text ? "its CMakeLists.txt was not written by braidc"
                         : "it holds files, but no CMakeLists.txt written by braidc") +
                   "; name a new folder, or an empty one, by -o");
}

static std::string cmakeForCpu(StringRef name) {
  return ("# Builds the training binary `" + name + "`: needs CMake, a C++20 compiler and oneDNN.\n" +
          "#   cmake -S . -B build && cmake --build build\n"
          "cmake_minimum_required(VERSION 3.20)\n"
          "project(" +
          name +
          " LANGUAGES CXX)\n"
          "if(NOT CMAKE_BUILD_TYPE)\n"
          "  set(CMAKE_BUILD_TYPE Release)\n"
          "endif()\n"
          "set(CPU native CACHE STRING \"The processor to compile for: -march=\")\n\n"
          "add_subdirectory(runtime EXCLUDE_FROM_ALL)\n"
          "add_executable(" +
          name +
          " step.cpp model.cpp)\n"
          "target_compile_options(" +
          name +
          " PRIVATE -O3 -march=${CPU} -ffp-contract=fast)\n"
          "target_link_libraries(" +
          name + " PRIVATE braid_rt)\n")
      .str();
}

/// Sets the GPU before project(): CMake tries the compiler for this GPU, and the compiler may no longer support CMake's
/// default.
static constexpr StringLiteral kCmakeForCuda = R"cmake(
# Builds the training binary `@name@`: needs CMake, nvcc with the libraries of its toolkit,
# and a C++20 compiler.  NCCL and cuDNN are used where they are found.
#   cmake -S . -B build && cmake --build build
cmake_minimum_required(VERSION 3.24)
set(CMAKE_CUDA_ARCHITECTURES @gpu@ CACHE STRING "The GPUs to compile for: 80, 90, 90a, 100; several as 80;90")
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared) # the one that the runtime and cuDNN use
project(@name@ LANGUAGES CXX CUDA)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(BRAID_RT_CPU OFF) # without oneDNN
add_subdirectory(runtime EXCLUDE_FROM_ALL)
if(NOT TARGET braid_rt_cuda)
  message(FATAL_ERROR "the libraries of the CUDA toolkit were not found: cudart and cublasLt")
endif()
add_executable(@name@ step.cu model.cpp)
target_compile_features(@name@ PRIVATE cxx_std_20)
# Said like this because CMake does not know of every nvcc that it has C++20.
target_compile_options(@name@ PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
target_link_libraries(@name@ PRIVATE braid_rt_cuda)
)cmake";

/// Builds the same sources as a library.
static constexpr StringLiteral kCmakeForLibrary = R"cmake(
# The model as a library, with the functions of braid/step.h: cmake --build build --target step
get_target_property(sources @name@ SOURCES)
add_library(step SHARED EXCLUDE_FROM_ALL ${sources})
foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS COMPILE_FEATURES LINK_LIBRARIES)
  get_target_property(value @name@ ${property})
  if(value)
    set_property(TARGET step PROPERTY ${property} ${value})
  endif()
endforeach()
target_compile_definitions(step PRIVATE BRAID_LIBRARY)
set_target_properties(step PROPERTIES CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)
target_link_options(step PRIVATE -Wl,-u,braid_create -Wl,-Bsymbolic
  -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/@exports@)
)cmake";

static std::string withMarks(StringRef pattern, ArrayRef<std::pair<StringRef, StringRef>> marks) {
  std::string text = pattern.str();
  for (auto [mark, value] : marks)
    for (size_t at; (at = text.find(mark.str())) != std::string::npos;)
      text.replace(at, mark.size(), value.str());
  return text;
}

Error braid::writeSourceFolder(StringRef folder, ArrayRef<SourceFile> sources, const RuntimeFolder &runtime,
                               const DriverOptions &options, StringRef name) {
  // Written first, so that the folder is recognized even if a later write fails.
  StringRef gpu = StringRef(options.passes.target.arch).substr(3);
  std::string text = targetOf(options).onDevice() ? withMarks(kCmakeForCuda.ltrim(), {{"@name@", name}, {"@gpu@", gpu}})
                                                  : cmakeForCpu(name);
  text += cmakeTransports(name, options) + withMarks(kCmakeForLibrary, {{"@name@", name}, {"@exports@", kExportsFile}});
  SourceFile cmake{"CMakeLists.txt", kGeneratedMarker.str() + text};
  if (Error error = writeSources(folder, cmake))
    return error;
  if (Error error = writeSources(folder, sources))
    return error;
  if (Error error = writeTextFile(inFolder(folder, kExportsFile), kLibraryExports))
    return error;
  return copyRuntime(runtime, inFolder(folder, "runtime"));
}
