//===- CutForward.cpp - cut evaluation and generation into stages ---------===//

#include "dialects/TG/Facts.h"
#include "lib/Schedule/Forward.h"
#include "passes/Base/Signature.h"
#include "passes/Stages/CutProgram.h"
#include "passes/Stages/RankFunctions.h"

using namespace mlir;
using namespace braid;

FailureOr<SmallVector<func::FuncOp>> braid::cutForward(func::FuncOp program, const StageMap &map, const StageAxis &axis,
                                                       llvm::function_ref<unsigned(unsigned)> rankOf) {
  RankFunctions functions(program, axis);
  // First finds the values that each rank's ops read, then adds the arguments of each rank in their order.
  auto rankOfValue = [&](Value value) {
    SmallVector<Value> staged = map.stagedAmong(value);
    return staged.empty() ? std::nullopt : std::optional(rankOf(*map.stageOf(staged.back())));
  };
  std::vector<SmallVector<Value>> read(axis.size);
  for (Operation &op : program.front().without_terminator())
    if (std::optional<unsigned> stage = map.stageOf(&op))
      llvm::append_range(read[rankOf(*stage)], valuesReadBy(&op));
  // All ranks read the same rows of the batch, even if their stages need only some inputs.
  for (unsigned rank = 0; rank < axis.size; ++rank) {
    llvm::append_range(read[rank], batchInputs(program));
    for (BlockArgument argument : map.argumentsReadBy(read[rank]))
      functions[rank].addArgument(argument);
  }

  for (Operation &op : program.front().without_terminator()) {
    std::optional<unsigned> stage = map.stageOf(&op);
    if (!stage)
      continue;
    unsigned rank = rankOf(*stage);
    for (Value value : map.stagedReads(&op))
      if (!functions[rank].lookup(value))
        functions.send(value, rankOf(*map.stageOf(value)), rank);
    functions[rank].clone(&op, map);
  }
  tg::ProgramSignature signature(program);
  for (OpOperand &operand : returnOf(program)->getOpOperands()) {
    DictionaryAttr attributes =
        emptyIfNull(program.getResultAttrDict(operand.getOperandNumber()), program.getContext());
    std::optional<unsigned> owner = rankOfValue(operand.get());
    bool isUpdate = bool(signature.result(operand.getOperandNumber()).updates);
    if (owner && !isUpdate) { // all ranks read it
      functions[*owner].obtain(operand.get(), map);
      functions.broadcast(operand.get(), *owner);
    }
    for (unsigned rank = 0; rank < axis.size; ++rank)
      if (!isUpdate || owner == rank)
        functions[rank].addResult(functions[rank].obtain(operand.get(), map), attributes);
    if (!isUpdate || !owner)
      continue;
    // The new value is written in place, so its argument is needed too.
    if (BlockArgument argument = signature.updatedArgument(operand.getOperandNumber()))
      functions[*owner].addArgument(argument);
  }
  return functions.finish();
}
