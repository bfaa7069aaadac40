//===- TGCanonicalize.cpp - rewrites towards one form ---------------------===//

#include "dialects/TG/TG.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace braid::tg;

void ContractOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {}
void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {}
