//===- PrintCommunication.cpp - actions of communicating ranks ------------===//
//
// A collective, or a copy between the arena and the host's memory, consists of a call that starts it and a call that
// waits for it, both with the index of its descriptor. Actions without communication that depend on the rank number are
// copies whose loops are a constant table.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/Initializer.h"
#include "compiler/Codegen/StepPrinter.h"
#include "dialects/Comm/Sharding.h"
#include "dialects/Comm/Timing.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

static constexpr size_t kMaxLoops = 8; // BR_MAX_RANK

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

static int64_t placeBytes(exec::RefType type) {
  return type.getTensorType().getNumElements() * elementBytes(type.getElementType());
}

/// Returns ", predicted 31.2 us, exposed 4.0 us, waits for layer_norm", if the schedule has predictions.
static std::string timingText(Operation *action) {
  std::optional<comm::Timing> timing = comm::timingOf(action);
  if (!timing)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format(", predicted %.1f us, exposed %.1f us", timing->predicted * 1e6, timing->exposed * 1e6);
  if (!timing->waitsFor.empty())
    os << ", waits for " << timing->waitsFor;
  return text;
}

/// Returns the part of the comment that is specific to a collective or copy: " and 2 more, sum over {dp}, sends 64
/// bytes".
std::string StepPrinter::collectiveText(Operation *action) {
  if (auto wait = dyn_cast<comm::WaitOp>(action))
    return " for " + wait.getStart().getActionName() + " " + std::to_string(collectiveOf.at(wait.getStart()));
  if (comm::CopyOp copy = comm::copyOf(action)) {
    size_t tensors = copy.getIns().size();
    int64_t bytes = 0;
    for (Value in : copy.getIns())
      bytes += placeBytes(cast<exec::RefType>(in.getType()));
    return (tensors > 1 ? " and " + std::to_string(tensors - 1) + " more, " : ", ") + std::to_string(bytes) + " bytes" +
           timingText(action);
  }
  auto start = dyn_cast<comm::StartOp>(action);
  auto op = start ? start.getCollective() : dyn_cast<comm::CollectiveOpInterface>(action);
  if (!op)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  if (size_t tensors = op.getSent().size(); tensors > 1)
    os << " and " << tensors - 1 << " more";
  os << ",";
  if (std::optional<comm::Reduction> reduction = op.getReductionKind())
    os << " " << comm::stringifyReduction(*reduction);
  os << " over " << op.getAxes().str();
  os << ", sends " << op.getBytesSent(ranks.sizeOf(op.getAxes())) << " bytes";
  return text + timingText(action);
}

static std::string checkedCall(StringRef function, unsigned number) {
  return function.str() + "(ctx, " + std::to_string(number) + ") != BR_OK";
}

template <> LogicalResult StepPrinter::print(comm::CollectiveOpInterface op) {
  FailureOr<unsigned> number = ranks.add(op, arena);
  if (failed(number))
    return failure();
  calls += "  if (" + checkedCall("br_start", *number) + " || " + checkedCall("br_wait", *number) +
           ")\n    return BR_ERROR;\n";
  return success();
}

template <> LogicalResult StepPrinter::print(comm::StartOp op) {
  comm::CopyOp copy = comm::copyOf(op);
  FailureOr<unsigned> number = copy ? addTransfer(copy) : ranks.add(op.getCollective(), arena);
  if (failed(number))
    return failure();
  collectiveOf[op] = *number;
  calls += "  if (" + checkedCall(copy ? "br_start_transfer" : "br_start", *number) + ")\n    return BR_ERROR;\n";
  return success();
}

template <> LogicalResult StepPrinter::print(comm::WaitOp op) {
  StringRef function = comm::copyOf(op) ? "br_wait_transfer" : "br_wait";
  calls += "  if (" + checkedCall(function, collectiveOf.at(op.getStart())) + ")\n    return BR_ERROR;\n";
  return success();
}

//===----------------------------------------------------------------------===//
// The host's memory
//===----------------------------------------------------------------------===//

/// Adds the descriptor of a copy. Returns its index.
FailureOr<unsigned> StepPrinter::addTransfer(comm::CopyOp op) {
  if (!target.onDevice())
    return op.emitError() << "copies between a device and its host, but the " << emitter.target
                          << " target has one memory";
  Transfers &transfers = transfersOf[kind];
  unsigned number = transfers.rows.size();
  bool isToHost = op.getTo() == comm::Memory::Host;
  std::string parts = "transfer_parts_" + std::to_string(number) + suffixOf(kind);
  transfers.parts += "static const br_transfer_part " + parts + "[] = {\n";
  for (auto [in, out] : llvm::zip_equal(op.getIns(), op.getOuts())) {
    Initializer part;
    part.always("device", arena.offsetOf(isToHost ? in : out)).always("host", arena.offsetOf(isToHost ? out : in));
    part.always("bytes", placeBytes(cast<exec::RefType>(in.getType())));
    transfers.parts += "    " + part.text(4) + ", // " + commentText(arena.nameOf(isToHost ? out : in)) + "\n";
  }
  transfers.parts += "};\n";
  Initializer row;
  row.addUnlessZero("to_host", isToHost ? 1 : 0).rows("parts", parts, "n_parts", op.getIns().size());
  transfers.rows.push_back(row.text(4));
  return number;
}

template <> LogicalResult StepPrinter::print(comm::CopyOp op) {
  FailureOr<unsigned> number = addTransfer(op);
  if (failed(number))
    return failure();
  calls += "  if (" + checkedCall("br_start_transfer", *number) + " || " + checkedCall("br_wait_transfer", *number) +
           ")\n    return BR_ERROR;\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Actions without communication
//===----------------------------------------------------------------------===//

template <> LogicalResult StepPrinter::print(comm::AxisIndexOp op) {
  if (failed(ranks.requireRanks(op, op.getMeshAttr())))
    return failure();
  std::string group = std::to_string(ranks.groupOf(op.getAxes())), out = addressText(op.getOuts().front());
  if (target.onDevice())
    printCall("axis_index", {"m", group, out});
  else
    calls += "  *static_cast<int32_t *>(" + out + ") = br_axis_index(ctx, " + group + ");\n";
  return success();
}

/// Returns the index of the block `shift` positions behind the rank's own.
std::string StepPrinter::blockNumber(comm::AxesAttr axes, int64_t shift) {
  int64_t size = ranks.sizeOf(axes);
  return "block_number(ctx, " + std::to_string(ranks.groupOf(axes)) + ", " + std::to_string(size) + ", " +
         std::to_string((shift % size + size) % size) + ")";
}

namespace {
struct Loop {
  int64_t size, from, to;
};
} // namespace

/// Returns the loops over a block. Adjacent loops that can be collapsed are merged.
static SmallVector<Loop> loopsOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<Loop> loops;
  for (auto [size, fromStride, toStride] : llvm::zip(shape, from, to)) {
    if (size == 1)
      continue;
    if (!loops.empty() && loops.back().from == fromStride * size && loops.back().to == toStride * size)
      loops.back() = {loops.back().size * size, fromStride, toStride};
    else
      loops.push_back({size, fromStride, toStride});
  }
  if (loops.empty())
    loops.push_back({1, 1, 1});
  return loops;
}

/// Returns the name of the table for a copy of `shape` elements between references of these types.
FailureOr<std::string> StepPrinter::copyTable(Operation *op, ArrayRef<int64_t> shape, exec::RefType from,
                                              exec::RefType to) {
  SmallVector<Loop> loops = loopsOf(shape, from.getStrides(), to.getStrides());
  if (loops.size() > kMaxLoops)
    return op->emitError() << "copies a block by " << loops.size() << " loops; the runtime supports at most "
                           << kMaxLoops;
  auto column = [&](int64_t Loop::*member) {
    return listText(llvm::map_to_vector(loops, [&](const Loop &loop) { return loop.*member; }));
  };
  std::string row = Initializer()
                        .always("bytes", elementBytes(from.getElementType()))
                        .always("loops", loops.size())
                        .always("size", column(&Loop::size))
                        .always("from", column(&Loop::from))
                        .always("to", column(&Loop::to))
                        .text();
  auto [it, isNew] = copies.try_emplace(row, copies.size());
  std::string name = "copy_" + std::to_string(it->second);
  if (isNew)
    sharedTables += "static constexpr BlockCopy " + name + " = " + row + ";\n\n";
  return name;
}

/// Checks that the references of a flat range are contiguous.
static LogicalResult verifyFlat(Operation *op, ValueRange places) {
  for (Value place : places)
    if (auto type = cast<exec::RefType>(place.getType()); !type.isContiguous())
      return op->emitError() << "splits the flat order, but has a strided place of type " << type
                             << "; flat ranges are of contiguous ones";
  return success();
}

/// Returns the offset of the first element of block `number`.
static std::string startText(const std::string &number, exec::RefType whole, exec::RefType block, int64_t dim) {
  return number + " * " + std::to_string(whole.getStrides()[dim] * block.getShape()[dim]);
}

template <> LogicalResult StepPrinter::print(comm::SliceOp op) {
  if (failed(ranks.requireRanks(op, op.getMeshAttr())))
    return failure();
  Value out = op.getOuts().front();
  auto whole = cast<exec::RefType>(op.getInput().getType()), block = cast<exec::RefType>(out.getType());
  std::string number = blockNumber(op.getAxes(), op.getShift());
  if (static_cast<int64_t>(op.getDim()) == comm::kFlat) {
    printCall("take_range", {emitter.launcher.str(), addressText(op.getInput()), std::to_string(placeBytes(whole)),
                             number, std::to_string(placeBytes(block)), addressText(out)});
    return verifyFlat(op, {op.getInput(), out});
  }
  FailureOr<std::string> table = copyTable(op, block.getShape(), whole, block);
  if (failed(table))
    return failure();
  printCall("copy_block", {emitter.launcher.str(), *table, addressText(op.getInput()),
                           startText(number, whole, block, op.getDim()), addressText(out), "0"});
  return success();
}

template <> LogicalResult StepPrinter::print(comm::AssembleOp op) {
  if (failed(ranks.requireRanks(op, op.getMeshAttr())))
    return failure();
  Value out = op.getOuts().front();
  auto whole = cast<exec::RefType>(out.getType());
  bool isFlat = static_cast<int64_t>(op.getDim()) == comm::kFlat;
  if (isFlat && (failed(verifyFlat(op, op.getBlocks())) || failed(verifyFlat(op, out))))
    return failure();
  for (auto [value, shift] : llvm::zip(op.getBlocks(), op.getShifts())) {
    auto block = cast<exec::RefType>(value.getType());
    std::string number = blockNumber(op.getAxes(), shift);
    if (isFlat) {
      printCall("put_range", {emitter.launcher.str(), addressText(value), number, std::to_string(placeBytes(block)),
                              addressText(out), std::to_string(placeBytes(whole))});
      continue;
    }
    FailureOr<std::string> table = copyTable(op, block.getShape(), block, whole);
    if (failed(table))
      return failure();
    printCall("copy_block", {emitter.launcher.str(), *table, addressText(value), "0", addressText(out),
                             startText(number, whole, block, op.getDim())});
  }
  return success();
}

std::optional<LogicalResult> printers::Communication(StepPrinter &printer, Operation *op) {
  return printer.printIf<comm::CollectiveOpInterface, comm::CopyOp, comm::StartOp, comm::WaitOp, comm::AxisIndexOp,
                         comm::SliceOp, comm::AssembleOp>(op);
}
