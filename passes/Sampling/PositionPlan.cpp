//===- PositionPlan.cpp - values needed for one position ------------------===//

#include "passes/Sampling/PositionPlan.h"
#include "dialects/TG/Facts.h"
#include "passes/Base/Signature.h"
#include "passes/FrontEnd/PositionRow.h"

using namespace mlir;
using namespace braid;

ArrayRef<unsigned> PositionPlan::getNeededDims(Value value) const {
  auto dims = rows.find(value);
  return dims == rows.end() ? ArrayRef<unsigned>() : ArrayRef<unsigned>(dims->second);
}

void PositionPlan::need(Value value, std::optional<unsigned> dim) {
  if (!dim) {
    whole.insert(value);
    return;
  }
  SmallVector<unsigned, 1> &dims = rows[value];
  if (!llvm::is_contained(dims, *dim))
    dims.push_back(*dim);
}

std::optional<FactorDims> PositionPlan::dimsOf(OpResult value, unsigned dim) const {
  Operation *op = value.getOwner();
  // A conversion of a parameter must stay its first reader: tg-working-copies then replaces both by a parameter of the
  // converted type.
  bool isOfParameter = isConversion(op) && !dependsOnTokens(value);
  if (op->getNumRegions() > 0 || isOfParameter)
    return std::nullopt;
  std::optional<FactorDims> dims = FactorDims::through(op, value, dim);
  bool hasRows = dims && dims->areWhole() && dims->getFactor().kind != FactorKind::Whole;
  return hasRows ? std::move(dims) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

void PositionPlan::addCache(Operation *op, Value value, unsigned dim, StringRef what) {
  StringAttr unit = tg::unitOf(tg::factsOf(op));
  std::string name = (unit ? unit.str() + "." : "") + "cache." + what.str();
  auto isAlreadySharded = [&](StringRef other) {
    return llvm::any_of(caches, [&](const auto &entry) { return entry.second.name == other; });
  };
  std::string unique = name;
  for (unsigned number = 1; isAlreadySharded(unique); ++number)
    unique = name + "." + std::to_string(number);
  caches.insert({value, {value, dim, std::move(unique)}});
}

void PositionPlan::visitCausal(CausalOpInterface op, const SequenceDims &dims) {
  for (auto [number, dim] : llvm::enumerate(dims.operands)) {
    Value operand = op->getOperand(number);
    auto past = llvm::find_if(dims.past, [&](const auto &entry) { return entry.first == number; });
    if (past == dims.past.end()) {
      need(operand, dim);
    } else if (!dependsOnTokens(operand)) {
      need(operand, std::nullopt);
    } else {
      need(operand, dim);
      if (!caches.contains(operand))
        addCache(op, operand, *dim, past->second);
    }
  }
}

//===----------------------------------------------------------------------===//
// Backwards from the results
//===----------------------------------------------------------------------===//

static std::string nameOf(Operation *op) { return "'" + op->getName().getStringRef().str() + "'"; }

LogicalResult PositionPlan::visitWhole(OpResult value, std::string &why) {
  if (!dependsOnTokens(value))
    return success();
  if (Value table = extractedFrom(value.getOwner(), position)) {
    need(table, 0);
    return success();
  }
  for (Value operand : value.getOwner()->getOperands()) {
    if (operand == tokens) {
      why = nameOf(value.getOwner()) + " reads all tokens";
      return failure();
    }
    need(operand, std::nullopt);
  }
  return success();
}

LogicalResult PositionPlan::visitRow(OpResult value, unsigned dim, std::string &why) {
  Operation *op = value.getOwner();
  std::optional<SequenceDims> sequence;
  if (auto causal = dyn_cast<CausalOpInterface>(op))
    sequence = causal.getSequenceDims();
  if (sequence && sequence->results[value.getResultNumber()] == dim) {
    visitCausal(cast<CausalOpInterface>(op), *sequence);
    return success();
  }
  std::optional<FactorDims> dims = dimsOf(value, dim);
  if (!dims && !dependsOnTokens(value))
    return success(); // its row is picked from the value
  if (!dims) {
    why = nameOf(op) + " needs all positions of the sequence at once";
    return failure();
  }
  if (dims->getFactor().decomposed && isa<DecomposableOpInterface>(op))
    composites.insert(op);
  for (auto [operand, at] : llvm::zip_equal(op->getOperands(), dims->operands))
    need(operand, at);
  return success();
}

LogicalResult PositionPlan::find(std::string &why) {
  ofTokens.insert(tokens);
  Block &block = function.front();
  for (Operation &op : block.without_terminator())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return dependsOnTokens(operand); }))
      ofTokens.insert(op.result_begin(), op.result_end());
  for (Value returned : returnOf(function).getOperands())
    need(returned, std::nullopt);
  for (Operation &op : llvm::reverse(block.without_terminator()))
    for (OpResult result : op.getResults()) {
      if (isNeededWhole(result) && failed(visitWhole(result, why)))
        return failure();
      for (unsigned dim : SmallVector<unsigned, 1>(getNeededDims(result)))
        if (failed(visitRow(result, dim, why)))
          return failure();
    }
  if (isNeededWhole(tokens)) {
    why = "a result is the tokens";
    return failure();
  }
  return success();
}
