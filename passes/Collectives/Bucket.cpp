//===- Bucket.cpp - merge many collectives into a few ---------------------===//
//
// No data is packed: the merged collective has the tensors of all its members as operands.
// lib/Schedule/Buckets.h finds the members and the place of the merged collective.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/MovedValues.h"
#include "dialects/TG/Facts.h"
#include "lib/Schedule/Agreement.h"
#include "lib/Schedule/Buckets.h"
#include "passes/Base/Signature.h"
#include "passes/Collectives/BucketProgram.h"
#define GEN_PASS_DEF_BUCKETPASS
#include "passes/Collectives/Passes.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// One collective for many
//===----------------------------------------------------------------------===//

/// Builds the collective over the tensors of `members`, in their order, with the other attributes of `first`.
static CollectiveOpInterface joinCollectives(OpBuilder &builder, CollectiveOpInterface first,
                                             ArrayRef<CollectiveOpInterface> members) {
  SmallVector<tg::FactsAttr> facts;
  for (CollectiveOpInterface member : members)
    llvm::append_range(facts, tg::factsOfTensors(member->getResults()));
  OperationState state(tg::withFacts(first.getLoc(), facts), first->getName());
  state.attributes = sharedAttributes(first);
  SmallVector<int64_t> dims;
  SmallVector<Attribute> moved;
  for (CollectiveOpInterface member : members) {
    state.addOperands(member.getSent());
    state.addTypes(member->getResultTypes());
    if (auto own = member->getAttrOfType<DenseI64ArrayAttr>("dims"))
      llvm::append_range(dims, own.asArrayRef());
    if (auto own = movedValuesOf(member))
      llvm::append_range(moved, own);
  }
  if (first->hasAttr("dims"))
    state.attributes.set("dims", builder.getDenseI64ArrayAttr(dims));
  if (moved.size() == facts.size())
    state.attributes.set(kMoved, builder.getArrayAttr(moved));
  int32_t sent = state.operands.size();
  state.attributes.set("operandSegmentSizes", builder.getDenseI32ArrayAttr({sent, 0}));
  return cast<CollectiveOpInterface>(builder.create(state));
}

static StringRef nameOf(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return tg::nameOf(function.getArgAttrDict(argument.getArgNumber()));
}

/// Emits a remark such as `comm.all_reduce over {dp}: bucket of 14 tensors, 1003520 of at most 1048576 bytes, from
/// 'ln_f.bias' to 'h.11.ln_1.weight'`.
static void explain(CollectiveOpInterface op, const Bucket &bucket, const BucketProgram &program) {
  // The remark is not emitted on the op: an op's own remark prints the op, which numbers all values of the
  // function.
  InFlightDiagnostic remark = emitRemark(op->getLoc())
                              << op->getName() << " over " << textOf(op.getAxes()) << ": bucket of "
                              << op.getSent().size() << " tensors, " << bucket.bytes;
  int64_t enough = program.problem.kinds[program.problem.items[bucket.items.front()].kind].enough;
  if (!bucket.cap)
    remark << " bytes, the results of one bucket";
  else if (*bucket.cap != BucketProblem::kUnlimited)
    remark << " of at most " << *bucket.cap << " bytes";
  else if (enough != BucketProblem::kUnlimited)
    remark << " bytes, where " << enough << " are enough";
  else
    remark << " bytes";
  BlockArgument from = program.arguments[bucket.items.front()].first;
  BlockArgument to = program.arguments[bucket.items.back()].second;
  if (from && to)
    remark << ", from '" << nameOf(from) << "' to '" << nameOf(to) << "'";
}

/// Builds the buckets and reorders the block.
static void apply(func::FuncOp function, const BucketProgram &program, const BucketSolution &solution) {
  OpBuilder builder(returnOf(function));
  SmallVector<Operation *> actions(program.actions);
  SmallVector<Operation *> replaced;
  for (const Bucket &bucket : solution.buckets) {
    if (bucket.items.size() == 1)
      continue;
    SmallVector<CollectiveOpInterface> members;
    unsigned first = program.problem.items[bucket.items.front()].action;
    for (unsigned item : bucket.items) {
      members.push_back(program.collective(item));
      first = std::min(first, program.problem.items[item].action);
    }
    CollectiveOpInterface joined = joinCollectives(builder, program.collective(bucket.items.front()), members);
    auto result = joined->result_begin();
    for (CollectiveOpInterface member : members) {
      for (Value old : member->getResults())
        old.replaceAllUsesWith(*result++);
      replaced.push_back(member);
    }
    actions[first] = joined;
    explain(joined, bucket, program);
  }
  for (unsigned action : solution.order)
    actions[action]->moveBefore(returnOf(function));
  for (Operation *op : replaced)
    op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct BucketCollectives final : braid::impl::BucketPassBase<BucketCollectives> {
  using BucketPassBase::BucketPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    FailureOr<Machine> machine = machineOf(function);
    if (failed(machine))
      return signalPassFailure();
    llvm::Expected<BucketSettings> settings = readOptions();
    if (!settings) {
      function.emitError() << llvm::toString(settings.takeError());
      return signalPassFailure();
    }
    auto program = function->getAttrOfType<ProgramAttr>(CommDialect::kProgram);
    if (!program || function.isExternal())
      return;
    FailureOr<Mesh> mesh = Mesh::require(function, program.getMesh());
    if (failed(mesh))
      return signalPassFailure();
    BucketProgram read = readBucketProgram(function, *mesh, *machine, *settings);
    if (failed(solve(function, read)))
      return signalPassFailure();
  }

private:
  llvm::Expected<BucketSettings> readOptions();
  LogicalResult solve(func::FuncOp function, const BucketProgram &program);
};
} // namespace

llvm::Expected<BucketSettings> BucketCollectives::readOptions() {
  BucketSettings settings;
  llvm::Expected<BucketSize> size = BucketSize::parse("bucket-mb", bucketMb, /*mayBeAuto=*/true);
  if (!size)
    return size.takeError();
  llvm::Expected<BucketSize> first = BucketSize::parse("first-bucket-mb", firstBucketMb, /*mayBeAuto=*/false);
  if (!first)
    return first.takeError();
  settings.size = *size;
  settings.first = *first;
  settings.perUnit = perUnit;
  return settings;
}

LogicalResult BucketCollectives::solve(func::FuncOp function, const BucketProgram &program) {
  if (llvm::Error error = check(program.problem))
    return function.emitError() << "comm-bucket: " << llvm::toString(std::move(error));
  BucketSolution solution = findBuckets(program.problem);
  if (llvm::Error error = verify(program.problem, solution))
    return function.emitError() << "comm-bucket found buckets that are wrong: " << llvm::toString(std::move(error));
  if (llvm::all_of(solution.buckets, [](const Bucket &bucket) { return bucket.items.size() == 1; })) {
    markAllAnalysesPreserved();
    return success();
  }
  apply(function, program, solution);
  return success();
}
