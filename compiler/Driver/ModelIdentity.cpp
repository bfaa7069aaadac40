//===- ModelIdentity.cpp - operations that identify a model ---------------===//
//
// Each operation is a line: its name, its attributes, the constants and parameters that it reads, and shapes that no
// other part of the line implies, such as heads. Letters replace the extents that follow from the batch and its
// sequences.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/ModelIdentity.h"
#include "dialects/TG/ModelConfig.h"
#include "dialects/TG/TGBuilder.h"
#include "lib/Sharding/TokenDims.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/Base/Signature.h"
#include "passes/FrontEnd/TrainingOps.h"
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

  /// Returns the line of `op`, or an empty string if `op` only moves data and the batch determines how.
  std::string lineOf(Operation *op) const;

private:
  bool isExcluded(Operation *op) const;
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

bool OperationLines::isExcluded(Operation *op) const {
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
  // Splitting features into parts or heads identifies a model; splitting a sequence does not.
  if (auto slice = dyn_cast<tg::SliceOp>(op))
    return dims.kindOf(slice.getResult(), slice.getDim()) != TokenDims::Kind::None;
  return !isa<tg::ReshapeOp, tg::TransposeOp, tg::ConcatOp>(op);
}

/// Returns the einsum with its letters renamed in order of appearance.
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
      continue; // the shape of the result implies it
    if (auto mask = dyn_cast<tg::MaskAttr>(value);
        mask && hasConfig) // the config states the window for every sequence length
      value = tg::MaskAttr::get(op->getContext(), mask.getCausal());
    os << " " << name << "=";
    if (auto einsum = dyn_cast<tg::ContractionAttr>(value))
      os << canonicalLetters(einsum);
    else
      value.print(os, /*elideType=*/true);
  }
}

/// Prints a shape. Letters replace the extents of the batch and of sequences.
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
  if (isExcluded(op))
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
  llvm::SetVector<Operation *> before;
  BackwardSliceOptions options;
  options.inclusive = true;
  getBackwardSlice(last, &before, options);
  OperationLines lines(*copy, hasConfig);
  llvm::StringMap<int64_t> counts;
  SmallVector<std::string> kinds; // in order of appearance
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
