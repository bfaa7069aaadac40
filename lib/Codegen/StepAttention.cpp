//===- StepAttention.cpp - calls of the attention library -----------------===//

#include "lib/Codegen/CppText.h"
#include "lib/Codegen/ModelPrinter.h"
#include "lib/Codegen/StepPrinter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

static exec::RefType typeOf(Value ref) { return cast<exec::RefType>(ref.getType()); }

/// The strides of batch, sequence and heads.
static std::string stridesText(Value ref) { return listText(typeOf(ref).getStrides().drop_back()); }

/// Checks that the target has an attention library, which accesses 16 bytes at a time.
static LogicalResult verifyCall(Operation *op, const ArenaMap &arena, const TargetInfo &target) {
  if (!target.attention.maxHeadSize)
    return op->emitError() << "the " << target.name
                           << " target has no library for attention: compile the graph with --attention=decompose";
  for (Value ref : op->getOperands())
    if (uint64_t offset = arena.offsetOf(ref); offset % 16)
      return op->emitError() << "uses '" << arena.nameOf(ref) << "' at byte " << offset
                             << " of the arena, and the attention library needs multiples of 16: compile with "
                                "--attention=decompose";
  return success();
}

/// A row of br_model.attentions: sizes, and the strides of the tensors that both passes read;
/// `gradients` are the outs of the backward pass.
template <typename Op> std::string StepPrinter::attentionRow(Op op, Value output, ValueRange gradients) {
  ArrayRef<int64_t> query = typeOf(op.getQuery()).getShape(), key = typeOf(op.getKey()).getShape();
  std::string row;
  llvm::raw_string_ostream os(row);
  os << "    {" << query[0] << ", " << query[2] << ", " << key[2] << ", " << query[1] << ", " << key[1] << ", "
     << query[3] << ", // batch, heads, key heads, queries, keys, size\n     " << stridesText(op.getQuery()) << ", "
     << stridesText(op.getKey()) << ", " << stridesText(op.getValue()) << ", " << stridesText(output)
     << ", // strides of q, k, v and o\n     " << (gradients.empty() ? 0 : 1) << ", ";
  for (unsigned number = 0; number < 4; ++number)
    os << (gradients.empty() ? "{}" : stridesText(gradients[number])) << ", ";
  os << "// of their gradients\n     " << dtypeText(typeOf(op.getQuery()).getElementType()) << ", "
     << llvm::format("%.17g", op.getScale().convertToDouble()) << ", " << (op.getCausal() ? 1 : 0) << ", "
     << workspaceOffset << ", " << workspaceBytes << "},";
  return row;
}

std::string StepPrinter::attentionNumber(const std::string &row) {
  Rows &attentions = attentionsOf[kind];
  auto [it, isNew] = attentions.index.try_emplace(row, attentions.rows.size());
  if (isNew)
    attentions.rows.push_back(row);
  return std::to_string(it->second);
}

LogicalResult StepPrinter::printAttention(exec::AttentionOp op) {
  if (failed(verifyCall(op, arena, target)))
    return failure();
  SmallVector<std::string> arguments{"ctx", attentionNumber(attentionRow(op, op.getOuts()[0], {}))};
  for (Value ref : op->getOperands())
    arguments.push_back(addressText(ref));
  printCall("br_attention", arguments);
  return success();
}

LogicalResult StepPrinter::printAttentionGrad(exec::AttentionGradOp op) {
  if (failed(verifyCall(op, arena, target)))
    return failure();
  SmallVector<Value> gradients{op.getGradient()};
  llvm::append_range(gradients, op.getOuts());
  SmallVector<std::string> arguments{"ctx", attentionNumber(attentionRow(op, op.getOutput(), gradients))};
  for (Value ref : op->getOperands())
    arguments.push_back(addressText(ref));
  printCall("br_attention_grad", arguments);
  return success();
}
