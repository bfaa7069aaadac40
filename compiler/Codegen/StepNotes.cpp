//===- StepNotes.cpp - comments above calls -------------------------------===//
//
// The arguments of a call are offsets in the arena. The comment above it states the action, its results and the source
// location. A second line names the values at these offsets, and the sizes of a GEMM.
//
//===----------------------------------------------------------------------===//

#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/Initializer.h"
#include "compiler/Codegen/ModelPrinter.h"
#include "compiler/Codegen/StepPrinter.h"
#include "dialects/Comm/Comm.h"
#include "dialects/TG/Facts.h"
#include "lib/Target/MatmulShape.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

static exec::RefType typeOf(Value ref) { return cast<exec::RefType>(ref.getType()); }

/// Returns the first line: "matmul -> h.0.mlp@40 [256 x 3072]; gpt.mlir:40".
std::string StepPrinter::actionText(Operation *op, const BufferNames &names) {
  auto action = cast<exec::ActionOpInterface>(op);
  std::string text = action.getActionName();
  OperandRange outs = action.getActionOuts();
  if (!outs.empty()) {
    auto launch = dyn_cast<exec::LaunchOp>(op);
    if (launch && launch.getBatch() > 1)
      text += " of " + std::to_string(launch.getBatch()) + " tuples";
    else
      text += " -> " + names.after(outs[0]) + " [" + shapeText(typeOf(outs[0]).getShape()) + "]";
  }
  text += collectiveText(op);
  std::string origin = originText(op->getLoc());
  return text + (origin.empty() ? "" : "; " + origin);
}

/// Returns `name` without the part that it shares with the previous name: after "attn@9#0", "attn@9#1" becomes "#1";
/// after "attn@9", "attn@9 + 1536" becomes "+ 1536".
static StringRef shortened(StringRef name, StringRef previous) {
  size_t end = name.find_first_of("#+");
  bool hasSharedStem =
      end != StringRef::npos &&
      previous.take_while([](char c) { return c != '#' && c != '+'; }).trim() == name.take_front(end).trim();
  return hasSharedStem ? name.drop_front(end) : name;
}

/// Returns the names of these places by `nameOf`, without duplicates, and at most the first `maxNames`.
static std::string listNames(OperandRange refs, size_t maxNames, llvm::function_ref<std::string(Value)> nameOf) {
  SmallVector<std::string> names;
  for (Value ref : refs)
    if (std::string name = nameOf(ref); !llvm::is_contained(names, name))
      names.push_back(std::move(name));
  size_t omitted = names.size() > maxNames ? names.size() - maxNames : 0;
  std::string text;
  for (size_t i = 0; i + omitted < names.size(); ++i)
    text += i ? (", " + shortened(names[i], names[i - 1])).str() : names[i];
  return omitted ? text + ", and " + std::to_string(omitted) + " more" : text;
}

/// Returns "64 x 2304 x 768": m, n and k of the GEMM, and the loops around it.
static std::string sizesText(const MatmulShape &shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const MatmulLoop &loop : shape.batch)
    os << loop.size << " of ";
  os << shape.m << " x " << shape.n << " x " << shape.k;
  for (const MatmulLoop &loop : shape.outer)
    os << ", sum of " << loop.size;
  return text;
}

/// Returns the second line of a matmul: "m x n x k = 64 x 3072 x 768: h.0.ln_2@12 by fc.weight@2, bias fc.bias@2,
/// gelu_tanh of what is kept in h.0.mlp@13#1".
std::string StepPrinter::matmulNote(exec::MatmulOp op, const BufferNames &names) {
  FailureOr<MatmulShape> shape = matmulShape(op);
  if (failed(shape))
    return ""; // reported where the call is printed
  Value lhs = shape->swapped ? op.getRhs() : op.getLhs(), rhs = shape->swapped ? op.getLhs() : op.getRhs();
  std::string text = "m x n x k = " + sizesText(*shape) + ": " + names.before(lhs) + " by " + names.before(rhs);
  if (op.getBias())
    text += ", bias " + names.before(op.getBias());
  if (op.getAccumulator())
    text += ", added to " + names.before(op.getAccumulator());
  if (op.getAddend())
    text += ", plus " + names.before(op.getAddend());
  if (op.getEpilogue() != exec::Epilogue::None)
    text += ", " + exec::stringifyEpilogue(op.getEpilogue()).str();
  if (op.getAux())
    text += " at " + names.before(op.getAux());
  if (op.keepsInput())
    text += " of what " + names.after(op.getOuts()[1]) + " keeps";
  if (Value summed = op.getSummed())
    text += ", and the sum of " + names.before(summed) + " -> " + names.after(op.getOuts()[1]);
  return text;
}

/// Returns a name that actions of the same kind share: the kernel, or the sizes of the GEMM.
static std::string kernelOf(exec::ActionOpInterface action) {
  auto op = dyn_cast<exec::MatmulOp>(action.getOperation());
  if (!op)
    return action.getActionName();
  FailureOr<MatmulShape> shape = matmulShape(op);
  return succeeded(shape) ? op.getActionName() + " " + sizesText(*shape) : op.getActionName();
}

/// Returns the initializer of a br_action_desc.
std::string StepPrinter::actionRow(exec::ActionOpInterface action, StringRef name) {
  Initializer row;
  row.always("name", stringLiteral(name)).newLine();
  row.always("op", stringLiteral(action->getName().stripDialect())).always("kernel", stringLiteral(kernelOf(action)));
  if (tg::FactsAttr facts = tg::factsOf(action)) {
    if (StringAttr unit = tg::unitOf(facts))
      row.always("unit", stringLiteral(unit));
    row.always("phase", stringLiteral(tg::stringifyPhase(facts.getPhase())));
  }
  // Leaves out the costs of collectives and copies: computing only waits for them.
  bool isElsewhere = action.getActionBegin() != action || action.getActionEnd() != action;
  if (isElsewhere || isa<comm::QueuedOpInterface>(action.getOperation()))
    return row.text(4);
  exec::ActionCost cost = action.getActionCost();
  if (cost.matrixFlops)
    row.always("type", dtypeText(exec::tensorOf(action.getActionIns()[0].getType()).getElementType()));
  return row.addUnlessZero("matrix_flops", cost.matrixFlops)
      .addUnlessZero("vector_flops", cost.vectorFlops)
      .addUnlessZero("bytes", cost.bytesRead + cost.bytesWritten)
      .text(4);
}

std::string StepPrinter::noteText(Operation *op, const BufferNames &names) {
  if (auto matmul = dyn_cast<exec::MatmulOp>(op))
    return matmulNote(matmul, names);
  auto action = cast<exec::ActionOpInterface>(op);
  auto launch = dyn_cast<exec::LaunchOp>(op);
  OperandRange ins = action.getActionIns(), outs = action.getActionOuts();
  size_t tuples = launch ? launch.getBatch() : 1, maxNames = action.isOrdered() ? 2 : 12;
  auto before = [&](Value ref) { return names.before(ref); };
  auto after = [&](Value ref) { return names.after(ref); };
  std::string read = listNames(ins.take_front(ins.size() / tuples), maxNames, before);
  std::string written = listNames(outs.take_front(outs.size() / tuples), maxNames, after);
  if (action.isOrdered())
    return read.empty() ? "" : "of " + read;
  std::string text = tuples > 1 ? "the first " : "";
  text += read.empty() ? "" : "reads " + read;
  // The line above already names a single result.
  if (outs.size() > 1)
    text += (read.empty() ? "" : "; ") + ("writes " + written);
  return text;
}
