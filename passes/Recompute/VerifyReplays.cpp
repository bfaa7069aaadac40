//===- VerifyReplays.cpp - check that replays equal their originals -------===//
//
// Independent of how replays were chosen and built.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/Replays.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#define GEN_PASS_DEF_VERIFYREPLAYSPASS
#include "passes/Recompute/Passes.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace braid;

/// Returns all attributes except the marks of replays.
static DictionaryAttr attributesOf(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase(tg::kRepeated);
  attributes.erase(tg::kReplays);
  return attributes.getDictionary(op->getContext());
}

/// Whether a value equals another, or is a replay's result that replaces it.
static bool standsFor(Value value, Value repeated) {
  if (value == repeated)
    return true;
  auto result = dyn_cast<OpResult>(value), original = dyn_cast<OpResult>(repeated);
  if (!result || !original || result.getResultNumber() != original.getResultNumber())
    return false;
  std::optional<int64_t> number = tg::replayNumber(result.getOwner(), tg::kReplays);
  return number && number == tg::replayNumber(original.getOwner(), tg::kRepeated);
}

/// Returns how a replay and its original differ; empty if they do not.
static std::string difference(Operation *replay, Operation *repeated) {
  if (replay->getName() != repeated->getName())
    return "is another op";
  if (attributesOf(replay) != attributesOf(repeated))
    return "has other attributes";
  if (replay->getResultTypes() != repeated->getResultTypes())
    return "has results of other types";
  if (replay->getNumOperands() != repeated->getNumOperands())
    return "has another number of operands";
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(replay->getOperands(), repeated->getOperands())))
    if (!standsFor(std::get<0>(pair), std::get<1>(pair)))
      return "has an operand #" + std::to_string(index) + " that is neither the same nor a replay of it";
  return "";
}

static LogicalResult checkReplay(Operation *replay, Operation *repeated) {
  auto collective = dyn_cast<comm::CollectiveOpInterface>(replay);
  if (collective && collective.getReductionKind())
    return replay->emitOpError() << "is replayed, but a reduction over ranks is computed once";
  if (replay->getNumRegions() != 0 || (!collective && !isMemoryEffectFree(replay)))
    return replay->emitOpError() << "is replayed, but has effects";
  if (tg::phaseOf(replay) != tg::Phase::Backward || tg::phaseOf(repeated) != tg::Phase::Forward)
    return replay->emitOpError() << "is a replay, so it must be backward and repeat an op of forward, but the facts of "
                                    "the two ops have other phases";
  std::string found = difference(replay, repeated);
  if (found.empty())
    return success();
  InFlightDiagnostic diagnostic = replay->emitOpError() << "differs from the op that it repeats: it " << found;
  diagnostic.attachNote(repeated->getLoc()) << "the repeated op";
  return diagnostic;
}

namespace {
struct VerifyReplaysPass final : braid::impl::VerifyReplaysPassBase<VerifyReplaysPass> {
  void runOnOperation() final {
    markAllAnalysesPreserved();
    if (getOperation().isExternal())
      return;
    llvm::DenseMap<int64_t, Operation *> repeated;
    for (Operation &op : getOperation().getOps()) {
      if (std::optional<int64_t> number = tg::replayNumber(&op, tg::kRepeated))
        if (auto [other, isNew] = repeated.try_emplace(*number, &op); !isNew) {
          op.emitOpError() << "is repeated under the number " << *number << ", but another op has the same number";
          return signalPassFailure();
        }
      std::optional<int64_t> number = tg::replayNumber(&op, tg::kReplays);
      if (!number)
        continue;
      Operation *original = repeated.lookup(*number);
      if (!original) {
        op.emitOpError() << "replays number " << *number << ", but no op above has this '" << tg::kRepeated << "'";
        return signalPassFailure();
      }
      if (failed(checkReplay(&op, original)))
        return signalPassFailure();
    }
  }
};
} // namespace
