//===- ArenaMap.cpp - where references lie, and which overlap -------------===//

#include "lib/Codegen/StepPrinter.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

Operation *ArenaMap::storageOf(Value value) const {
  auto ref = value.getDefiningOp<exec::RefOp>();
  auto program = ref->getParentOfType<exec::ProgramOp>();
  if (Operation *buffer = SymbolTable::lookupSymbolIn(program, ref.getBufferAttr()))
    return buffer;
  return SymbolTable::lookupSymbolIn(module, ref.getBufferAttr());
}

uint64_t ArenaMap::offsetOf(Value value) const {
  Operation *storage = storageOf(value);
  auto buffer = dyn_cast<exec::BufferOp>(storage);
  int64_t start = buffer ? buffer.getOffset() : cast<exec::TensorOp>(storage).getOffset();
  return start + value.getDefiningOp<exec::RefOp>().getOffset();
}

StringRef ArenaMap::nameOf(Value value) const {
  Operation *storage = storageOf(value);
  if (auto buffer = dyn_cast<exec::BufferOp>(storage))
    return buffer.getName();
  return cast<exec::TensorOp>(storage).getSymName();
}

llvm::DenseMap<StringAttr, llvm::SmallBitVector> codegen::findAliased(ModuleOp module, const ArenaMap &arena) {
  struct Range {
    uint64_t begin, end;
  };
  llvm::DenseMap<StringAttr, llvm::SmallBitVector> aliased;
  module.walk([&](exec::LaunchOp launch) {
    size_t numIns = launch.getIns().size() / launch.getBatch(), numOuts = launch.getOuts().size() / launch.getBatch();
    auto kernel = dyn_cast_or_null<exec::KernelDefOp>(SymbolTable::lookupSymbolIn(module, launch.getKernelAttr()));
    llvm::SmallBitVector &bits = aliased[launch.getKernelAttr().getAttr()];
    bits.resize(numIns + numOuts);
    for (uint64_t tuple = 0; tuple < launch.getBatch(); ++tuple) {
      SmallVector<Value> refs(launch.getIns().slice(tuple * numIns, numIns));
      llvm::append_range(refs, launch.getOuts().slice(tuple * numOuts, numOuts));
      auto ranges = llvm::map_to_vector(refs, [&](Value ref) {
        uint64_t begin = arena.offsetOf(ref);
        return Range{begin, begin + cast<exec::RefType>(ref.getType()).getSpanBytes()};
      });
      for (size_t out = 0; out < numOuts; ++out) {
        const Range &written = ranges[numIns + out];
        for (size_t other = 0; other < numIns + out; ++other) {
          bool isTied = kernel && !kernel.getTies().empty() && kernel.getTies()[out] == static_cast<int64_t>(other);
          if (isTied || ranges[other].end <= written.begin || written.end <= ranges[other].begin)
            continue;
          bits.set(other);
          bits.set(numIns + out);
        }
      }
    }
    // One pointer stands for an out and its operand.
    if (kernel)
      for (auto [out, tied] : llvm::enumerate(kernel.getTies()))
        if (tied >= 0 && bits[numIns + out])
          bits.set(tied);
  });
  return aliased;
}
