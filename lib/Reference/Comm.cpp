//===- Comm.cpp - ops of comm without communication -----------------------===//
//
// Annotations are the identity.  A rank's place in the mesh, and ops that depend on it, exist only in local functions.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Blocks.h"
#include "lib/Reference/Evaluator.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;

static Tensor evaluateConstrain(comm::ConstrainOp op, const Operands &in) { return in(op.getInput()); }
static Tensor evaluateReshard(comm::ReshardOp op, const Operands &in) { return in(op.getInput()); }

/// Reports an op of ranks in a program without ranks; with ranks, `evaluateAtRank` evaluates it.
template <typename OpT> static Results refuseWithoutRanks(OpT op, const Operands &) {
  return op.emitError() << "'" << op->getName() << "' is in a function without 'comm.program', which has no ranks";
}

void braid::reference::addComm(OpTable &table) {
  table.addAll(evaluateConstrain, evaluateReshard, refuseWithoutRanks<comm::AxisIndexOp>,
               refuseWithoutRanks<comm::SliceOp>, refuseWithoutRanks<comm::AssembleOp>);
}

/// Returns the number of the block that is `shift` after this rank's.
static int64_t blockNumber(int64_t rank, int64_t shift, int64_t ranks) {
  return ((rank + shift) % ranks + ranks) % ranks;
}

static Tensor evaluateHere(comm::AxisIndexOp op, ArrayRef<const Tensor *>, int64_t number, int64_t) {
  Tensor result(op.getType());
  result.n(0) = number;
  return result;
}

static Tensor evaluateHere(comm::SliceOp op, ArrayRef<const Tensor *> in, int64_t number, int64_t ranks) {
  return blockOf(*in[0], op.getDim(), ranks, blockNumber(number, op.getShift(), ranks));
}

static Tensor evaluateHere(comm::AssembleOp op, ArrayRef<const Tensor *> in, int64_t number, int64_t ranks) {
  SmallVector<const Tensor *> blocks(ranks);
  for (auto [tensor, shift] : llvm::zip_equal(in, op.getShifts()))
    blocks[blockNumber(number, shift, ranks)] = tensor;
  return joinBlocks(blocks, op.getDim(), op.getType().getShape());
}

std::optional<Tensor> braid::reference::evaluateAtRank(Operation *op, ArrayRef<const Tensor *> operands,
                                                       const comm::Mesh &mesh, int64_t rank) {
  return llvm::TypeSwitch<Operation *, std::optional<Tensor>>(op)
      .Case<comm::AxisIndexOp, comm::SliceOp, comm::AssembleOp>([&](auto local) {
        comm::AxesAttr axes = local.getAxes();
        return evaluateHere(local, operands, mesh.numberInGroup(rank, axes), mesh.sizeOf(axes));
      })
      .Default([](Operation *) { return std::nullopt; });
}
