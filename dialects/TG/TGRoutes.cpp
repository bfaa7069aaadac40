//===- TGRoutes.cpp - tg ops that route tokens ----------------------------===//

#include "dialects/TG/TGRoutes.h"
#include "dialects/Interfaces/Routing.h"
#include "dialects/TG/TG.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {

/// The experts are dim 0.
struct DispatchedTokens : RoutingOpInterface::ExternalModel<DispatchedTokens, DispatchOp> {
  OpResult getRouted(Operation *op) const { return op->getResult(0); }
  unsigned getDestinationDim(Operation *) const { return 0; }
};

} // namespace

void tg::attachRoutes(MLIRContext &context) { DispatchOp::attachInterface<DispatchedTokens>(context); }
