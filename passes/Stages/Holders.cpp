//===- Holders.cpp - ranks of a pipeline that hold a tensor ---------------===//

#include "passes/Base/Signature.h"
#include "passes/Stages/CutProgram.h"

using namespace mlir;
using namespace braid;

/// Returns the name that tensors on the same ranks share: the owner's. Empty for other arguments, and for states of a
/// microbatch.
static StringRef ownerOf(tg::ParamAttr parameter, tg::StateAttr state) {
  if (parameter)
    return parameter.getOf();
  if (!state || state.isOfMicrobatch())
    return {};
  return state.getOf() ? state.getOf().getValue() : state.getName().getValue();
}

static StringRef ownerOf(BlockArgument argument) { return ownerOf(parameterOf(argument), stateOf(argument)); }

Holders::Holders(ArrayRef<func::FuncOp> cells, const StageAxis &axis, SharedSums shared)
    : all(axis.size, true), shared(std::move(shared)) {
  for (func::FuncOp cell : cells) {
    auto ranks = cell->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
    for (BlockArgument argument : cell.getArguments()) {
      if (StringRef owner = ownerOf(argument); !owner.empty())
        ofOwner.try_emplace(owner, axis.size).first->second.set(ranks.getCoordinates().front());
      if (tg::StateAttr state = stateOf(argument); state && state.isAccumulator())
        ofSums.try_emplace(state.getName(), axis.size).first->second.set(ranks.getCoordinates().front());
    }
  }
}

llvm::SmallBitVector Holders::of(BlockArgument argument) const {
  StringRef owner = ownerOf(argument);
  if (owner.empty())
    return all;
  auto found = ofOwner.find(owner);
  if (found != ofOwner.end())
    return found->second;
  // A tensor that no microbatch reads is held by rank 0.
  llvm::SmallBitVector first(all.size());
  return first.set(0);
}

std::string Holders::nameOn(unsigned rank, StringRef name) const {
  auto found = shared.find(name);
  return found == shared.end() ? name.str() : found->second.at(rank);
}

SmallVector<unsigned> Holders::partsOf(StringRef accumulator) const {
  if (auto found = shared.find(accumulator); found != shared.end())
    return llvm::map_to_vector(found->second, [](const auto &part) { return part.first; });
  auto found = ofSums.find(accumulator);
  return found == ofSums.end() ? SmallVector<unsigned>{0} : SmallVector<unsigned>(found->second.set_bits());
}

bool Holders::isShared(BlockArgument argument) const {
  tg::StateAttr state = stateOf(argument);
  return state && state.isAccumulator() && of(argument).count() > 1;
}
