//===- Holders.cpp - which ranks of a pipeline hold which tensors ---------===//

#include "passes/Graph/Signature.h"
#include "passes/Stages/CutProgram.h"

using namespace mlir;
using namespace braid;

/// The name under which what belongs together lies on the same ranks; empty for what is no
/// parameter or state, or of a microbatch.
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
    for (BlockArgument argument : cell.getArguments())
      if (StringRef owner = ownerOf(argument); !owner.empty())
        ofOwner.try_emplace(owner, axis.size).first->second.set(ranks.getCoordinates().front());
  }
}

llvm::SmallBitVector Holders::of(BlockArgument argument) const {
  StringRef owner = ownerOf(argument);
  if (owner.empty())
    return all;
  auto found = ofOwner.find(owner);
  if (found != ofOwner.end())
    return found->second;
  // What no microbatch reads has to be somewhere.
  llvm::SmallBitVector first(all.size());
  return first.set(0);
}

std::string Holders::nameOn(unsigned rank, StringRef accumulator) const {
  auto found = shared.find(accumulator);
  return found == shared.end() ? accumulator.str() : found->second.at(rank);
}

SmallVector<unsigned> Holders::partsOf(StringRef accumulator) const {
  auto found = shared.find(accumulator);
  if (found == shared.end())
    return {};
  return llvm::map_to_vector(found->second, [](const auto &part) { return part.first; });
}
