//===- Collectives.cpp - what collectives answer and require --------------===//

#include "dialects/Comm/Sharding.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

/// The program attribute of the function that holds an op.
static ProgramAttr programOf(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (auto program = parent->getAttrOfType<ProgramAttr>(CommDialect::kProgram))
      return program;
  return {};
}

/// On values a collective is pure where all ranks run the function: removing or
/// merging it does the same on each.  Where only some run it, where nothing but
/// the order is the result, or in a start, whose ticket holds the results, it has
/// an effect.
static void collectEffects(Operation *op, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  ProgramAttr program = programOf(op);
  bool onlySome = program && program.getAxis();
  if (onlySome || op->getNumResults() == 0 || isa_and_nonnull<StartOp>(op->getParentOp()))
    effects.emplace_back(MemoryEffects::Write::get());
}

//===----------------------------------------------------------------------===//
// What every collective answers
//===----------------------------------------------------------------------===//

static LogicalResult verifyCollective(CollectiveOpInterface op) {
  FailureOr<Mesh> mesh = Mesh::require(op, op.getMeshAttr());
  if (failed(mesh) || failed(verifyAxes([&] { return op->emitOpError(); }, *mesh, op.getAxes())))
    return failure();
  return op.verifyGroup(mesh->sizeOf(op.getAxes()));
}

#define BRAID_COLLECTIVE(Op, name)                                                                                     \
  LogicalResult Op::verifySymbolUses(SymbolTableCollection &) { return verifyCollective(*this); }                      \
  void Op::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) { collectEffects(*this, effects); }     \
  OperandRange Op::getSent() { return getIns(); }                                                                      \
  OperandRange Op::getActionIns() { return getIns(); }                                                                 \
  OperandRange Op::getActionOuts() { return getOuts(); }                                                               \
  std::string Op::getActionName() { return name; }                                                                     \
  bool Op::mayWriteInPlace(unsigned, unsigned) { return false; }                                                       \
  LogicalResult Op::verifyGroup(int64_t) { return success(); }                                                         \
  int64_t Op::getBytesSent(int64_t) { return 0; }

BRAID_COLLECTIVE(AllReduceOp, "all_reduce")
BRAID_COLLECTIVE(AllGatherOp, "all_gather")
BRAID_COLLECTIVE(ReduceScatterOp, "reduce_scatter")
BRAID_COLLECTIVE(AllToAllOp, "all_to_all")
BRAID_COLLECTIVE(BroadcastOp, "broadcast")
BRAID_COLLECTIVE(ReduceOp, "reduce")
BRAID_COLLECTIVE(GatherOp, "gather")
BRAID_COLLECTIVE(ScatterOp, "scatter")
BRAID_COLLECTIVE(PermuteOp, "permute")
BRAID_COLLECTIVE(SendOp, "send")
BRAID_COLLECTIVE(RecvOp, "recv")
BRAID_COLLECTIVE(BarrierOp, "barrier")

bool AllReduceOp::resultsAgree() { return true; }
bool AllGatherOp::resultsAgree() { return true; }
bool BroadcastOp::resultsAgree() { return true; }
std::optional<Reduction> AllReduceOp::getReductionKind() { return getKind(); }
std::optional<Reduction> ReduceScatterOp::getReductionKind() { return getKind(); }
std::optional<Reduction> ReduceOp::getReductionKind() { return getKind(); }
std::optional<int64_t> BroadcastOp::getRootRank() { return getRoot(); }
std::optional<int64_t> ReduceOp::getRootRank() { return getRoot(); }
std::optional<int64_t> GatherOp::getRootRank() { return getRoot(); }
std::optional<int64_t> ScatterOp::getRootRank() { return getRoot(); }
