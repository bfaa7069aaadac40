//===- PrintAttention.cpp - calls of attention ----------------------------===//
//
// Library calls name a row of br_model.attentions. Attention by tiles calls templates (runtime/cpu/Attention.h,
// runtime/cuda/AttentionTiles.h). Their arguments are the element type, the head size, on a CPU the positions of a
// tile, and whether scores are soft-capped. The row is a constant beside the programs. The last arguments give the
// positions of queries and keys.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/Initializer.h"
#include "compiler/Codegen/ModelPrinter.h"
#include "compiler/Codegen/StepPrinter.h"
#include "runtime/AttentionTile.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

static exec::RefType typeOf(Value ref) { return cast<exec::RefType>(ref.getType()); }

/// Returns the strides of batch, sequence and heads.
static ArrayRef<int64_t> stridesOf(Value ref) { return typeOf(ref).getStrides().drop_back(); }

/// Checks that the target has such library calls. Also checks the alignment of the tensors, because the calls access 16
/// bytes at a time.
template <typename Op> static LogicalResult verifyLibraryCall(Op op, const ArenaMap &arena, const TargetInfo &target) {
  if (!target.attention.maxHeadSize)
    return op->emitError() << "the " << target.name
                           << " target has no library for attention: compile the graph with --attention=tiles";
  if (op.getMask().isBand() || op.getSoftcap() || op.getDocuments() || op.getQueryStart())
    return op->emitError() << "the attention library of the " << target.name
                           << " target supports no mask with a window or an offset, no soft cap, no documents and no "
                              "positions: compile the graph with --attention=tiles";
  for (Value ref : op->getOperands())
    if (uint64_t offset = arena.offsetOf(ref); offset % 16)
      return op->emitError() << "uses '" << arena.nameOf(ref) << "' at byte " << offset
                             << " of the arena, but the attention library needs multiples of 16: compile the graph "
                                "with --attention=tiles";
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

/// Returns a row of br_model.attentions: sizes, and the strides of the tensors that both passes read. `gradients` are
/// the outs of the backward pass.
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
  row.always("scale", doubleLiteral(op.getScale().convertToDouble()));
  if (op.getSoftcap())
    row.always("softcap", doubleLiteral(op.getSoftcap()->convertToDouble()));
  row.addUnlessZero("causal", op.getMask().getCausal() ? 1 : 0).addUnlessZero("window", op.getMask().getWindow());
  row.addUnlessZero("first", op.getMask().getFirst());
  if (op.getDocuments())
    row.always("positions", typeOf(op.getDocuments()).getShape()[1]);
  addWorkspace(op, row.newLine());
  return row.text(4);
}

/// Prints a call of the header's template.
template <typename Op> void StepPrinter::printTiles(Op op, std::string row) {
  size_t known = tiledAttentions.rows.size();
  std::string table = "attention" + tiledAttentions.numberOf(row);
  if (known == 0)
    sharedTables +=
        "// Fields that are zero are left out.\n#pragma GCC diagnostic ignored \"-Wmissing-field-initializers\"\n\n";
  if (tiledAttentions.rows.size() > known)
    sharedTables += "static constexpr br_attention_desc " + table + " = " + row + ";\n\n";
  exec::RefType query = typeOf(op.getQuery());
  int64_t cache = target.workspace.attentionCache;
  SmallVector<std::string> arguments{emitter.launcher.str(), table};
  SmallVector<Value> offsets{op.getDocuments(), op.getQueryStart(), op.getKeyStart()};
  for (Value ref : op->getOperands())
    if (!is_contained(offsets, ref))
      arguments.push_back(addressText(ref));
  if (op.getWorkspaceBytes(target.workspace) > 0)
    arguments.push_back("m[" + places.scratch().str() + "]");
  while (!offsets.empty() && !offsets.back())
    offsets.pop_back();
  auto placeText = [&](Value place) { return place ? addressText(place) : std::string("nullptr"); };
  if (!offsets.empty())
    arguments.push_back("{" + llvm::join(llvm::map_range(offsets, placeText), ", ") + "}");
  std::string function =
      op.getActionName() + "<" + memoryType(query.getElementType()).str() + ", " + std::to_string(query.getShape()[3]) +
      (cache ? ", " + std::to_string(attentionTile(op.getSizes(), cache)) : "") + (op.getSoftcap() ? ", true>" : ">");
  printCall(function, arguments);
}

template <typename Op> LogicalResult StepPrinter::printCallOrTiles(Op op, Value output, ValueRange gradients) {
  std::string row = attentionRow(op, output, gradients);
  if (op.getTiles()) {
    printTiles(op, row);
    return success();
  }
  if (failed(verifyLibraryCall(op, arena, target)))
    return failure();
  SmallVector<std::string> arguments{"ctx", attentionsOf[kind].numberOf(row)};
  for (Value ref : op->getOperands())
    arguments.push_back(addressText(ref));
  printCall("br_" + op.getActionName(), arguments);
  return success();
}

template <> LogicalResult StepPrinter::print(exec::AttentionOp op) { return printCallOrTiles(op, op.getOuts()[0], {}); }

template <> LogicalResult StepPrinter::print(exec::AttentionGradOp op) {
  SmallVector<Value> gradients{op.getGradient()};
  llvm::append_range(gradients, op.getOuts());
  return printCallOrTiles(op, op.getOutput(), gradients);
}

std::optional<LogicalResult> printers::Attention(StepPrinter &printer, Operation *op) {
  return printer.printIf<exec::AttentionOp, exec::AttentionGradOp>(op);
}
