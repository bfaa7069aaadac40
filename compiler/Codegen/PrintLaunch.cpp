//===- PrintLaunch.cpp - launches of kernels, as C++ ----------------------===//
//
// On the CPU a launch states the iteration space, and the runtime partitions it among its threads. On a device a launch
// states the numbers of blocks and threads; kernels with tables compute the number of blocks from the lengths of their
// tuples.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/KernelPrinter.h"
#include "compiler/Codegen/LaunchCheck.h"
#include "compiler/Codegen/StepPrinter.h"
#include "dialects/TG/TG.h"
#include "lib/Memory/Persistent.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

/// Returns the operands that a kernel's function takes. An operand and an out at the same reference share one pointer.
static SmallVector<Value> pointersOf(exec::LaunchOp op, const KernelAnalysis &kernel, uint64_t tuple) {
  size_t numIns = op.getIns().size() / op.getBatch(), numOuts = op.getOuts().size() / op.getBatch();
  SmallVector<Value> pointers(op.getIns().slice(tuple * numIns, numIns));
  for (const Output &output : kernel.outputs)
    if (output.tied < 0)
      pointers.push_back(op.getOuts()[tuple * numOuts + output.number]);
  return pointers;
}

static int64_t elements(Type ref) { return cast<exec::RefType>(ref).getTensorType().getNumElements(); }

/// Returns the number of lanes or rows that the runtime splits among threads; for a flat kernel, those of one tuple.
static int64_t lengthOf(exec::LaunchOp op, const KernelAnalysis &kernel, uint64_t tuple) {
  if (!kernel.flat && !kernel.anyRows)
    return kernel.partition == Partition::Lanes ? kernel.lanes : kernel.rows;
  size_t numOuts = op.getOuts().size() / op.getBatch();
  return elements(op.getOuts()[tuple * numOuts].getType()) / elements(kernel.layout(kernel.numIns()));
}

namespace {
/// The function that launches a kernel, and its arguments before the pointers.
struct LaunchText {
  StringRef function;
  SmallVector<std::string> arguments;
};
} // namespace

/// Returns the launch on the host. `length` is the number of elements of a flat kernel's vectors, or the number of
/// rows.
static LaunchText launchOnHost(const KernelAnalysis &kernel, int64_t length) {
  std::string lanes = std::to_string(kernel.flat ? length : kernel.lanes);
  auto count = [](int64_t n) { return std::to_string(n); };
  switch (kernel.partition) {
  case Partition::Rows:
    return {"launch_rows", {"ctx", count(length), lanes}};
  case Partition::Blocks:
    return {"launch_blocks", {"ctx", count(kernel.blocks()), count(kernel.rows / kernel.blocks()), lanes}};
  case Partition::Lanes:
    return {"launch_lanes", {"ctx", count(kernel.rows), lanes}};
  }
  llvm_unreachable("unknown partition");
}

static LaunchText launchOnDevice(const KernelAnalysis &kernel, const LaunchShape &shape, int64_t length) {
  if (kernel.flat)
    return {"launch_flat", {"m", std::to_string(length), std::to_string(shape.threads)}};
  if (shape.hasTable)
    return {"launch_parts", {"m", std::to_string(length), std::to_string(shape.part), std::to_string(shape.threads)}};
  return {"launch", {"m", std::to_string(shape.blocks), std::to_string(shape.threads)}};
}

/// Returns the number of blocks of a launch over vectors or tensors of these lengths, as the runtime splits them
/// (cuda/Launch.h).
static int64_t countBlocks(const KernelToPrint &kernel, ArrayRef<int64_t> lengths) {
  const LaunchShape &shape = kernel.shape;
  if (!shape.hasTable)
    return shape.blocks;
  int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0}), blocks = 0;
  int64_t part = kernel.analysis.flat ? shape.threads * (total < (int64_t{1} << 22) ? 8 : 16) : shape.part;
  for (int64_t length : lengths)
    blocks += llvm::divideCeil(length, part);
  return blocks;
}

template <> LogicalResult StepPrinter::print(exec::LaunchOp op) {
  auto it = kernels.find(op.getKernelAttr().getAttr());
  if (it == kernels.end())
    return op.emitError() << "kernel " << op.getKernelAttr() << " is not defined in the module";
  const KernelAnalysis &kernel = it->second.analysis;
  if (target.onDevice()) {
    SmallVector<int64_t> lengths;
    for (uint64_t tuple = 0; tuple < op.getBatch(); ++tuple)
      lengths.push_back(lengthOf(op, kernel, tuple));
    const LaunchShape &shape = it->second.shape;
    if (failed(verifyLaunch(op, op.getKernel(), {countBlocks(it->second, lengths), shape.threads, shape.sharedBytes},
                            *target.gpu)))
      return failure();
  }
  // A table holds offsets in the arena, but slots are chosen when the program runs.
  bool usesSlots = llvm::any_of(op->getOperands(), [&](Value ref) { return arena.slotsOf(ref) > 0; });
  if (op.getBatch() > 1 && kernel.partition != Partition::Blocks && !usesSlots) {
    printTable(op, it->second);
    return success();
  }
  for (uint64_t tuple = 0; tuple < op.getBatch(); ++tuple) {
    int64_t length = lengthOf(op, kernel, tuple);
    LaunchText launch =
        target.onDevice() ? launchOnDevice(kernel, it->second.shape, length) : launchOnHost(kernel, length);
    launch.arguments.push_back(kernelFunction(op.getKernel()));
    for (Value pointer : pointersOf(op, kernel, tuple))
      launch.arguments.push_back(addressText(pointer));
    printCall(launch.function, launch.arguments);
  }
  return success();
}

/// Returns the name for a launch in comments: the parameter that it updates, or else its first out.
static StringRef launchSubject(ValueRange outs, const ArenaMap &arena) {
  for (Value out : outs)
    if (auto tensor = dyn_cast<exec::TensorOp>(arena.storageOf(out)); tensor && isa<tg::ParamAttr>(tensor.getValue()))
      return nameOf(tensor);
  return arena.nameOf(outs[0]);
}

/// Prints a launch over many tuples of operands, whose lengths and offsets are in a constant table.
void StepPrinter::printTable(exec::LaunchOp op, const KernelToPrint &kernel) {
  std::string function = kernelFunction(op.getKernel()), name = function + "_table" + std::to_string(numTables++);
  size_t numOuts = op.getOuts().size() / op.getBatch(), numPointers = pointersOf(op, kernel.analysis, 0).size();
  tables += "static constexpr Tuple<" + std::to_string(numPointers) + "> " + name + "[] = {\n";
  for (uint64_t tuple = 0; tuple < op.getBatch(); ++tuple) {
    ValueRange outs = op.getOuts().slice(tuple * numOuts, numOuts);
    std::string offsets = llvm::join(
        llvm::map_range(pointersOf(op, kernel.analysis, tuple), [&](Value ref) { return places.of(ref); }), ", ");
    tables += "    {" + std::to_string(lengthOf(op, kernel.analysis, tuple)) + ", {" + offsets + "}}, // " +
              commentText(launchSubject(outs, arena)) + "\n";
  }
  tables += "};\n\n";
  const KernelAnalysis &analysis = kernel.analysis;
  auto count = [](int64_t n) { return std::to_string(n); };
  if (target.onDevice() && analysis.flat)
    printCall("launch_table", {"m", name, count(kernel.shape.threads), function});
  else if (target.onDevice())
    printCall("launch_table", {"m", name, count(kernel.shape.part), count(kernel.shape.threads), function});
  else if (analysis.flat)
    printCall("launch_table", {"ctx", "m", name, function});
  else if (analysis.partition == Partition::Lanes)
    printCall("launch_table", {"ctx", "m", name, function, count(analysis.rows)});
  else
    printCall("launch_table<1>", {"ctx", "m", name, function, count(analysis.lanes)});
}

std::optional<LogicalResult> printers::Launch(StepPrinter &printer, Operation *op) {
  return printer.printIf<exec::LaunchOp>(op);
}
