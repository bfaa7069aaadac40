//===- ArenaMap.cpp - offsets and overlaps of references ------------------===//

#include "compiler/Codegen/ArenaMap.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

ArenaMap::ArenaMap(ModuleOp module) : module(module) {
  auto add = [&](Operation *scope) {
    for (Operation &op : scope->getRegion(0).front())
      if (auto name = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()))
        symbols[{scope, name}] = &op;
  };
  add(module.getOperation());
  for (auto program : module.getOps<exec::ProgramOp>())
    add(program);
  for (auto slots : module.getOps<exec::SlotsOp>())
    slotNumbers.try_emplace(slots.getSymNameAttr(), slotNumbers.size() + 1);
}

unsigned ArenaMap::slotsOf(Value value) const {
  auto tensor = dyn_cast<exec::TensorOp>(storageOf(value));
  return tensor && tensor.getSlots() ? slotNumbers.lookup(tensor.getSlotsAttr().getAttr()) : 0;
}

Operation *ArenaMap::inModule(StringAttr name) const {
  return symbols.lookup({static_cast<Operation *>(module), name});
}

exec::ArenaRangeOpInterface ArenaMap::rangeOf(exec::RefOp ref) const {
  StringAttr name = ref.getBufferAttr().getAttr();
  Operation *buffer = symbols.lookup({ref->getParentOp(), name});
  return cast<exec::ArenaRangeOpInterface>(buffer ? buffer : inModule(name));
}

Operation *ArenaMap::storageOf(Value value) const {
  auto ref = value.getDefiningOp<exec::RefOp>();
  Operation *range = rangeOf(ref);
  auto pack = dyn_cast<exec::PackOp>(range);
  if (!pack)
    return range;
  int64_t begin = offsetOf(value), end = begin + ref.getType().getSpanBytes();
  for (auto name : pack.getTensors().getAsRange<FlatSymbolRefAttr>())
    if (auto tensor = cast<exec::TensorOp>(inModule(name.getAttr()));
        tensor.getBegin() <= begin && end <= tensor.getBegin() + tensor.getSize())
      return tensor;
  return pack;
}

exec::KernelDefOp ArenaMap::kernelOf(exec::LaunchOp launch) const {
  return dyn_cast_or_null<exec::KernelDefOp>(inModule(launch.getKernelAttr().getAttr()));
}

uint64_t ArenaMap::offsetOf(Value value) const {
  auto ref = value.getDefiningOp<exec::RefOp>();
  return rangeOf(ref).getBegin() + ref.getOffset();
}

StringRef ArenaMap::nameOf(Value value) const {
  Operation *storage = storageOf(value);
  if (auto buffer = dyn_cast<exec::BufferOp>(storage))
    return buffer.getName();
  return cast<SymbolOpInterface>(storage).getName();
}

namespace {
struct ByteRange {
  uint64_t begin, end;
  bool overlaps(const ByteRange &other) const { return begin < other.end && other.begin < end; }
};
} // namespace

/// Returns the byte range from the first to the last byte of each operand of a tuple, then of each out.
static SmallVector<ByteRange> rangesOf(exec::LaunchOp launch, uint64_t tuple, const ArenaMap &arena) {
  size_t numIns = launch.getIns().size() / launch.getBatch(), numOuts = launch.getOuts().size() / launch.getBatch();
  SmallVector<ByteRange> ranges;
  auto add = [&](ValueRange refs) {
    for (Value ref : refs) {
      uint64_t begin = arena.offsetOf(ref);
      ranges.push_back({begin, begin + cast<exec::RefType>(ref.getType()).getSpanBytes()});
    }
  };
  add(launch.getIns().slice(tuple * numIns, numIns));
  add(launch.getOuts().slice(tuple * numOuts, numOuts));
  return ranges;
}

llvm::DenseMap<StringAttr, llvm::SmallBitVector> codegen::findAliased(ModuleOp module, const ArenaMap &arena) {
  llvm::DenseMap<StringAttr, llvm::SmallBitVector> aliased;
  module.walk([&](exec::LaunchOp launch) {
    exec::KernelDefOp kernel = arena.kernelOf(launch);
    if (!kernel)
      return; // reported where the launch is printed
    size_t numIns = launch.getIns().size() / launch.getBatch();
    ArrayRef<int64_t> ties = kernel.getTies();
    llvm::SmallBitVector &bits = aliased[kernel.getSymNameAttr()];
    bits.resize(kernel.getLayouts().size());
    for (uint64_t tuple = 0; tuple < launch.getBatch(); ++tuple) {
      SmallVector<ByteRange> ranges = rangesOf(launch, tuple, arena);
      for (size_t out = numIns; out < ranges.size(); ++out)
        for (size_t other = 0; other < out; ++other)
          if (ties[out - numIns] != static_cast<int64_t>(other) && ranges[out].overlaps(ranges[other])) {
            bits.set(other);
            bits.set(out);
          }
    }
    // A single pointer is used for an out and its tied operand.
    for (auto [out, tied] : llvm::enumerate(ties))
      if (tied >= 0 && bits[numIns + out])
        bits.set(tied);
  });
  return aliased;
}
