//===- TGRoutes.cpp - the ops of tg that send tokens somewhere ------------===//

#include "dialects/TG/TGRoutes.h"
#include "dialects/Interfaces/Routing.h"
#include "dialects/TG/TG.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {

/// Experts come first.
struct DispatchedTokens : RoutingOpInterface::ExternalModel<DispatchedTokens, DispatchOp> {
  OpResult getRouted(Operation *op) const { return op->getResult(0); }
  unsigned getDestinationDim(Operation *) const { return 0; }
};

} // namespace

void tg::attachRoutes(MLIRContext &context) { DispatchOp::attachInterface<DispatchedTokens>(context); }
