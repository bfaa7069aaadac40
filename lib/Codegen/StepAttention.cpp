//===- StepAttention.cpp - calls of the attention library -----------------===//

#include "lib/Codegen/CppText.h"
#include "lib/Codegen/Initializer.h"
#include "lib/Codegen/ModelPrinter.h"
#include "lib/Codegen/StepPrinter.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

static exec::RefType typeOf(Value ref) { return cast<exec::RefType>(ref.getType()); }

/// The strides of batch, sequence and heads.
static ArrayRef<int64_t> stridesOf(Value ref) { return typeOf(ref).getStrides().drop_back(); }

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

static StringRef orderText(exec::AttentionOp) { return "BR_ORDER_FIXED"; }
static StringRef orderText(exec::AttentionGradOp op) {
  switch (op.getOrder()) {
  case exec::SumOrder::Any:
    return "BR_ORDER_ANY";
  case exec::SumOrder::Fixed:
    return "BR_ORDER_FIXED";
  case exec::SumOrder::Serial:
    return "BR_ORDER_SERIAL";
  }
  llvm_unreachable("unknown order");
}

/// A row of br_model.attentions: sizes, and the strides of the tensors that both passes read;
/// `gradients` are the outs of the backward pass.
template <typename Op> std::string StepPrinter::attentionRow(Op op, Value output, ValueRange gradients) {
  ArrayRef<int64_t> query = typeOf(op.getQuery()).getShape(), key = typeOf(op.getKey()).getShape();
  Initializer row;
  row.always("batch", query[0]).always("heads", query[2]).always("key_heads", key[2]);
  row.always("queries", query[1]).always("keys", key[1]).always("size", query[3]).newLine();
  row.always("q", listText(stridesOf(op.getQuery()))).always("k", listText(stridesOf(op.getKey())));
  row.always("v", listText(stridesOf(op.getValue()))).always("o", listText(stridesOf(output))).newLine();
  if (!gradients.empty())
    row.always("gradient", 1);
  constexpr llvm::StringLiteral names[] = {"dout", "dq", "dk", "dv"};
  for (auto [name, gradient] : llvm::zip(names, gradients))
    row.always(name, listText(stridesOf(gradient)));
  if (!gradients.empty())
    row.always("order", orderText(op).str());
  row.newLine().always("type", dtypeText(typeOf(op.getQuery()).getElementType()));
  row.always("scale", doubleLiteral(op.getScale().convertToDouble())).unlessZero("causal", op.getCausal() ? 1 : 0);
  addWorkspace(op, row.newLine());
  return row.text(4);
}

LogicalResult StepPrinter::printAttention(exec::AttentionOp op) {
  if (failed(verifyCall(op, arena, target)))
    return failure();
  SmallVector<std::string> arguments{"ctx", attentionsOf[kind].numberOf(attentionRow(op, op.getOuts()[0], {}))};
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
  SmallVector<std::string> arguments{"ctx", attentionsOf[kind].numberOf(attentionRow(op, op.getOutput(), gradients))};
  for (Value ref : op->getOperands())
    arguments.push_back(addressText(ref));
  printCall("br_attention_grad", arguments);
  return success();
}
