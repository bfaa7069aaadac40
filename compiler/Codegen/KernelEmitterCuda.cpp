//===- KernelEmitterCuda.cpp - emits kernels for a GPU --------------------===//
//
// Names in the generated code:
//   L      lanes per row
//   R      rows
//   B      rows per block with partial sums
//   W      lanes that a thread processes at once
//   T      threads that share a row
//   ROWS   groups of T threads in a block
//   ITERS  iterations of a thread's lane loop
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/KernelEmitter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

const CudaKernelEmitter codegen::cudaKernelEmitter;

/// Lane loops with arrays are fully unrolled up to `kUnrolledTurns` iterations, so that indices are constants and the
/// arrays stay in registers. Loops without arrays are unrolled up to `kUnrolledLanes` lanes per thread.
static constexpr int64_t kUnrolledTurns = 16, kUnrolledLanes = 48;
/// Largest number of lanes that an int can count, including the step past the last one.
static constexpr int64_t kIntLanes = int64_t{1} << 30;

//===----------------------------------------------------------------------===//
// The head
//===----------------------------------------------------------------------===//

static std::string counted(int64_t count, StringRef what) {
  return std::to_string(count) + " " + what.str() + (count == 1 ? "" : "s");
}

std::string CudaKernelEmitter::comment(const KernelForm &kernel) const {
  const LaunchShape &shape = kernel.shape;
  std::string threads = counted(shape.threads, "thread");
  std::string text = shape.hasTable ? "blocks of " + threads : counted(shape.blocks, "block") + " of " + threads;
  if (kernel.analysis.partition == Partition::Lanes && shape.rowGroups > 1)
    text += ", " + counted(shape.rowGroups, "row") + " at once";
  else if (kernel.analysis.partition != Partition::Lanes && shape.threads > 1)
    text += ", " + std::to_string(shape.rowThreads) + " a row";
  if (kernel.analysis.hasLanes())
    text += ", " + counted(shape.width, "lane") + " at a time";
  return "; " + text;
}

static std::string pointerText(const Parameter &parameter) {
  return parameter.type + (parameter.aliased ? " *" : " *__restrict__ ") + parameter.name;
}

/// Returns the constants and types that `text` uses, and those that these use in turn.
static std::string constantsText(const KernelForm &kernel, StringRef text) {
  const KernelAnalysis &analysis = kernel.analysis;
  const LaunchShape &shape = kernel.shape;
  std::string types;
  for (auto [name, element] : {std::pair("V", "float"), std::pair("VI", "int32_t"), std::pair("VM", "bool")})
    if (containsIdentifier(text, name))
      types += "  using " + std::string(name) + " = Vec<" + element + ", W>;\n";
  auto list = [&](StringRef type, ArrayRef<std::pair<StringRef, int64_t>> constants) {
    SmallVector<std::string> parts;
    for (auto [name, value] : constants)
      if (containsIdentifier(text, name) || containsIdentifier(types, name))
        parts.push_back((name + " = " + Twine(value)).str());
    return parts.empty() ? "" : "  constexpr " + type.str() + " " + llvm::join(parts, ", ") + ";\n";
  };
  SmallVector<std::pair<StringRef, int64_t>> narrow{
      {"W", shape.width}, {"T", shape.rowThreads}, {"ROWS", shape.rowGroups}, {"ITERS", shape.iterations}};
  SmallVector<std::pair<StringRef, int64_t>> wide{{"R", analysis.rows}, {"B", analysis.rows / analysis.blocks()}};
  auto &ofLanes = analysis.lanes <= kIntLanes ? narrow : wide;
  ofLanes.insert(ofLanes.begin(), {"L", analysis.lanes});
  return list("int", narrow) + list("int64_t", wide) + types;
}

std::string CudaKernelEmitter::head(const KernelForm &kernel, const std::string &function,
                                    ArrayRef<Parameter> parameters, StringRef body) const {
  std::string bounds = std::to_string(kernel.shape.threads);
  if (kernel.shape.blocksAtOnce > 0)
    bounds += ", " + std::to_string(kernel.shape.blocksAtOnce);
  std::string start = "__global__ __launch_bounds__(" + bounds + ") void " + function;
  SmallVector<std::string> pointers = llvm::map_to_vector(parameters, pointerText);
  if (!kernel.shape.hasTable)
    return wrapCall(start, pointers, " {") + "\n" + constantsText(kernel, body) + "  enter_kernel();\n";

  std::string count = std::to_string(parameters.size());
  std::string text = wrapCall(start, {"const __grid_constant__ Vectors<" + count + "> vectors"}, " {") + "\n" +
                     constantsText(kernel, body) + "  enter_kernel();\n  const Part<" + count +
                     "> part = vectors.part();\n";
  for (auto [i, pointer] : llvm::enumerate(pointers))
    if (containsIdentifier(body, parameters[i].name))
      text += "  " + pointer + " = part[" + std::to_string(i) + "];\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Returns the first row of a group of threads; `first` is the first row of the block.
static std::string firstRow(const KernelForm &kernel, std::string first) {
  if (kernel.shape.rowGroups == 1)
    return first;
  std::string group = kernel.shape.rowThreads == 1 ? "threadIdx.x" : "threadIdx.x / T";
  return first == "0" ? group : first + " + " + group;
}

LoopText CudaKernelEmitter::rowLoop(const KernelForm &kernel) const {
  bool grouped = kernel.shape.rowGroups > 1;
  if (kernel.analysis.rows == 1)
    return {};
  std::string step = grouped ? "r += ROWS" : "++r";
  if (kernel.analysis.partition == Partition::Blocks)
    return {"for (int64_t r = " + firstRow(kernel, "blockIdx.x * B") + "; r < (blockIdx.x + 1) * B; " + step + ") {"};
  if (kernel.shape.hasTable)
    return {"for (int64_t r = " + firstRow(kernel, "part.begin") + "; r < part.end; " + step + ") {"};
  if (!grouped)
    return {"for (int64_t r = blockIdx.x; r < R; r += gridDim.x) {"};
  return {"for (int64_t r = " + firstRow(kernel, "blockIdx.x * ROWS") + "; r < R; r += gridDim.x * ROWS) {"};
}

LoopText CudaKernelEmitter::innerRowLoop(const KernelForm &kernel, StringRef first, StringRef last) const {
  if (kernel.analysis.rows == 1)
    return {};
  return {"for (int64_t r = " + firstRow(kernel, first.str()) + "; r < " + last.str() + "; " +
          (kernel.shape.rowGroups > 1 ? "r += ROWS" : "++r") + ") {"};
}

static bool hasWholeLanes(const KernelForm &kernel) {
  return !kernel.analysis.flat && kernel.analysis.lanes % kernel.shape.width == 0;
}

bool CudaKernelEmitter::wholeLanes(const KernelForm &kernel) const { return hasWholeLanes(kernel); }

/// Returns the first line of an iteration: the number of its lanes, if the last iteration may have fewer.
static StringRef remainingLanesText(const KernelForm &kernel) {
  return hasWholeLanes(kernel) ? "" : "\n  const int n = L - l < W ? L - l : W;";
}

/// Returns a loop over whole vectors, with an iteration for the remaining lanes.
static LoopText vectorLoop(StringRef type, StringRef first, StringRef end, StringRef step) {
  std::string arguments = (first + ", " + end + ", " + step).str();
  return {("each_vector<W, " + type + ">(" + arguments + ", [&](" + type + " l, auto n) {").str(), "});"};
}

/// Returns a loop over lanes by all threads of the grid, or by those of a block over its part.
static LoopText gridLoop(const KernelForm &kernel) {
  bool isInt = kernel.analysis.lanes <= kIntLanes;
  if (kernel.shape.hasTable)
    return {"for (" + std::string(isInt ? "int" : "int64_t") + " l = part.begin + " +
            (kernel.shape.rowGroups > 1 ? "threadIdx.x % T" : "threadIdx.x") + " * W; l < part.end; l += T * W) {" +
            remainingLanesText(kernel).str()};
  std::string block = isInt ? "blockIdx.x" : "int64_t{blockIdx.x}", grid = isInt ? "gridDim.x" : "int64_t{gridDim.x}";
  std::string thread = kernel.shape.rowGroups > 1 ? "threadIdx.x % T" : "threadIdx.x";
  return {"for (" + std::string(isInt ? "int" : "int64_t") + " l = (" + block + " * T + " + thread +
          ") * W; l < L; l += " + grid + " * T * W) {" + remainingLanesText(kernel).str()};
}

/// Returns whether a thread has more lanes of a row than should be in registers at once.
static bool isLong(const KernelForm &kernel) { return kernel.shape.iterations * kernel.shape.width > kUnrolledLanes; }

/// Returns a loop over lanes by the threads that share a row.
static LoopText turnLoop(const KernelForm &kernel, ArrayRef<std::string> body) {
  const LaunchShape &shape = kernel.shape;
  bool counts = llvm::any_of(body, [](StringRef line) { return containsIdentifier(line, "i"); });
  std::string type = kernel.analysis.lanes <= kIntLanes ? "int" : "int64_t";
  std::string first = shape.rowGroups > 1 ? "threadIdx.x % T * W" : "threadIdx.x * W";
  if (!counts && isLong(kernel)) {
    if (!hasWholeLanes(kernel))
      return vectorLoop(type, first, "L", "T * W");
    return {"#pragma unroll 4\nfor (" + type + " l = " + first + "; l < L; l += T * W) {"};
  }
  // Arrays for many iterations do not fit into registers, so their indices need not be constants.
  bool even = kernel.analysis.lanes % (shape.rowThreads * shape.width) == 0;
  bool unrolls = !counts || shape.iterations <= kUnrolledTurns;
  return {std::string(unrolls ? "#pragma unroll" : "#pragma unroll 1") + "\nfor (" + type + " i = 0, l = " + first +
          "; i < ITERS" + (even ? "" : " && l < L") + "; ++i, l += T * W) {" + remainingLanesText(kernel).str()};
}

LoopText CudaKernelEmitter::laneLoop(const KernelForm &kernel, bool ofBlock, ArrayRef<std::string> body) const {
  if (kernel.analysis.flat)
    return vectorLoop("int64_t", "part.begin + threadIdx.x * W", "part.end", "blockDim.x * W");
  return ofBlock ? gridLoop(kernel) : turnLoop(kernel, body);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

bool CudaKernelEmitter::accessesAsVector(const KernelForm &kernel, unsigned operand) const {
  return kernel.shape.aligned[operand];
}

std::string CudaKernelEmitter::element(StringRef pointer, unsigned index) const {
  return ("ld1(" + pointer + " + " + Twine(index) + ")").str();
}

/// Returns a prefetch. Long rows have enough loads in flight without prefetching.
std::string CudaKernelEmitter::prefetch(const KernelForm &kernel, StringRef address) const {
  return isLong(kernel) ? "" : ("prefetch(" + address + ");").str();
}

/// Returns the next row to prefetch. A block that sums over its rows uses all its registers and holds few rows at once.
/// While it reduces them over their lanes, its next rows are loaded into the L2 cache.
std::string CudaKernelEmitter::nextRow(const KernelForm &kernel) const {
  const KernelAnalysis &analysis = kernel.analysis;
  if (analysis.partition != Partition::Blocks || isLong(kernel) ||
      analysis.rows / analysis.blocks() <= kernel.shape.rowGroups)
    return "";
  StringRef next = kernel.shape.rowGroups > 1 ? "r + ROWS" : "r + 1";
  return (next + " < (blockIdx.x + 1) * B ? " + next + " : r").str();
}

//===----------------------------------------------------------------------===//
// Threads that share a row, and rows that share a block
//===----------------------------------------------------------------------===//

std::string CudaKernelEmitter::storesRow(const KernelForm &kernel) const {
  return kernel.shape.rowThreads == 1 ? "" : "leader<T>()";
}

std::string CudaKernelEmitter::storesSum(const KernelForm &kernel, bool lane) const {
  if (!lane)
    return kernel.shape.threads == 1 ? "" : "threadIdx.x == 0";
  return kernel.shape.rowGroups == 1 ? "" : "threadIdx.x < T";
}

std::string CudaKernelEmitter::barrierBeforeTiedStore(const KernelForm &kernel) const {
  return kernel.shape.rowThreads == 1 ? "" : "row_barrier<T>();";
}

std::string CudaKernelEmitter::completeSum(const KernelForm &kernel, codegen::Combine combine, StringRef name) const {
  if (kernel.shape.rowGroups == 1)
    return "";
  return ((combine == codegen::Combine::Sum ? "sum_groups<T, ROWS>(" : "max_groups<T, ROWS>(") + name + ");").str();
}
