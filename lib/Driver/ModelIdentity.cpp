//===- ModelIdentity.cpp - what a model computes, beside its shapes -------===//
//
// A line for each operation: its name, its attributes, the constants and parameters that it reads, and shapes where
// they say what nothing else does, such as heads.  Extents that only follow from the batch and its sequences have
// letters.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/ModelIdentity.h"
#include "dialects/TG/ModelConfig.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Sharding/TokenDims.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Graph/Signature.h"
#include "passes/Graph/TrainingOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace braid;

namespace {
class OperationLines {
public:
  OperationLines(func::FuncOp function, bool hasConfig) : dims(function), hasConfig(hasConfig) {}

  /// Empty for an operation that only brings numbers elsewhere, in a way that depends on the batch.
  std::string lineOf(Operation *op) const;

private:
  bool isLeftOut(Operation *op) const;
  void printAttributes(Operation *op, llvm::raw_ostream &os) const;
  void printOperand(Value operand, llvm::raw_ostream &os) const;
  void printShape(Value value, llvm::raw_ostream &os) const;

  TokenDims dims;
  bool hasConfig;
};
} // namespace

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); }
static bool isParameter(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && parameterOf(argument);
}

bool OperationLines::isLeftOut(Operation *op) const {
  if (op->getNumResults() == 0 || !isFloat(op->getResult(0)) || op->hasTrait<OpTrait::ConstantLike>())
    return true;
  switch (numericKindOf(op)) {
  case NumericKind::Source:
  case NumericKind::Embedding:
  case NumericKind::Conversion:
    return true;
  case NumericKind::Movement:
    break;
  default:
    return false;
  }
  // Of movements, parts and heads of features tell models apart, and parts of a sequence do not.
  if (auto slice = dyn_cast<tg::SliceOp>(op))
    return dims.kindOf(slice.getResult(), slice.getDim()) != TokenDims::Kind::None;
  return !isa<tg::ReshapeOp, tg::TransposeOp, tg::ConcatOp>(op);
}

/// The letters of an einsum in the order in which they come.
static std::string canonicalLetters(tg::ContractionAttr einsum) {
  std::string text = (einsum.getLhs() + "," + einsum.getRhs() + "->" + einsum.getResult()).str();
  llvm::DenseMap<char, char> names;
  for (char &letter : text)
    if (llvm::isAlpha(letter))
      letter = names.try_emplace(letter, static_cast<char>('a' + names.size())).first->second;
  return text;
}

void OperationLines::printAttributes(Operation *op, llvm::raw_ostream &os) const {
  constexpr StringLiteral leftOut[] = {"operandSegmentSizes", "stream", "capacity", "bound"};
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    StringRef name = attribute.getName();
    Attribute value = attribute.getValue();
    if (llvm::is_contained(leftOut, name) || name.starts_with("comm."))
      continue;
    if (isa<tg::SliceOp>(op) && name == "size")
      continue; // the shape of the result says it
    if (auto mask = dyn_cast<tg::MaskAttr>(value);
        mask && hasConfig) // which has the window, be a sequence longer or not
      value = tg::MaskAttr::get(op->getContext(), mask.getCausal());
    os << " " << name << "=";
    if (auto einsum = dyn_cast<tg::ContractionAttr>(value))
      os << canonicalLetters(einsum);
    else
      value.print(os, /*elideType=*/true);
  }
}

/// Of a tensor with as many numbers as the batch has, extents of the batch and of sequences are letters.
void OperationLines::printShape(Value value, llvm::raw_ostream &os) const {
  llvm::interleave(
      llvm::enumerate(tg::typeOf(value).getShape()), os,
      [&](auto extent) {
        TokenDims::Kind kind = dims.kindOf(value, extent.index());
        if (kind == TokenDims::Kind::None)
          os << extent.value();
        else
          os << (kind == TokenDims::Kind::Batch ? "B" : "S");
      },
      "x");
}

void OperationLines::printOperand(Value operand, llvm::raw_ostream &os) const {
  DenseElementsAttr constant;
  if (isParameter(operand)) {
    os << " parameter ";
    printShape(operand, os);
  } else if (matchPattern(operand, m_Constant(&constant)) && constant.isSplat()) {
    os << " ";
    constant.getSplatValue<Attribute>().print(os, /*elideType=*/true);
  }
}

std::string OperationLines::lineOf(Operation *op) const {
  if (isLeftOut(op))
    return "";
  std::string line;
  llvm::raw_string_ostream os(line);
  os << op->getName();
  printAttributes(op, os);
  for (Value operand : op->getOperands())
    printOperand(operand, os);
  NumericKind kind = numericKindOf(op);
  bool hasParameter = llvm::any_of(op->getOperands(), isParameter);
  if (kind == NumericKind::Attention || (kind == NumericKind::Contraction && !hasParameter)) {
    for (Value operand : op->getOperands())
      if (isFloat(operand)) {
        os << " ";
        printShape(operand, os);
      }
  } else if (kind == NumericKind::Movement) {
    os << " to ";
    printShape(op->getResult(0), os);
  }
  return line;
}

tg::ModelIdentity braid::identityOf(func::FuncOp model) {
  bool hasConfig = model->getParentOfType<ModuleOp>()->hasAttr(tg::kConfig);
  OwningOpRef<func::FuncOp> copy = model.clone();
  removeTrainingOps(*copy);
  std::optional<unsigned> result = resultWithRole(*copy, tg::Role::Logits);
  if (!result)
    result = resultWithRole(*copy, tg::Role::Loss);
  Operation *last = result ? returnOf(*copy).getOperand(*result).getDefiningOp() : nullptr;
  if (!last)
    return {};
  SetVector<Operation *> before;
  BackwardSliceOptions options;
  options.inclusive = true;
  getBackwardSlice(last, &before, options);
  OperationLines lines(*copy, hasConfig);
  llvm::StringMap<int64_t> counts;
  SmallVector<std::string> kinds; // in their order
  tg::ModelIdentity identity;
  std::string all;
  for (Operation &op : copy->front())
    if (std::string line = before.contains(&op) ? lines.lineOf(&op) : ""; !line.empty()) {
      if (++counts[line] == 1)
        kinds.push_back(line);
      all += line + "\n";
    }
  for (const std::string &line : kinds)
    identity.operations += std::to_string(counts[line]) + " " + line + "\n";
  identity.hash = llvm::xxh3_64bits(all);
  return identity;
}
