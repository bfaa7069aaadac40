//===- StepPrinter.cpp - programs as C++ functions ------------------------===//

#include "lib/Codegen/StepPrinter.h"
#include "dialects/Comm/Comm.h"
#include "lib/Codegen/ArenaText.h"
#include "lib/Codegen/CppText.h"
#include "lib/Codegen/KernelPrinter.h"
#include "lib/Codegen/ModelPrinter.h"
#include "lib/Codegen/Sections.h"
#include "lib/Target/MatmulShape.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

const StepEmitter *codegen::findStepEmitter(StringRef target) {
  for (const StepEmitter *emitter : {&cpuStepEmitter, &cudaStepEmitter})
    if (emitter->target == target)
      return emitter;
  return nullptr;
}

std::string codegen::programFunction(StringRef symbol) { return "step_" + identifier(symbol); }

std::string StepPrinter::addressText(Value ref) const {
  return ref ? "m[" + std::to_string(arena.offsetOf(ref)) + "]" : "nullptr";
}

void StepPrinter::printCall(StringRef function, ArrayRef<std::string> arguments) {
  calls += wrapCall("  " + function.str(), arguments, ";") + "\n";
}

/// A call of a runtime function that takes the element type: as an argument on the CPU, as a
/// template argument on a device.
void StepPrinter::printTyped(StringRef function, Type element, SmallVector<std::string> arguments) {
  if (emitter.onDevice) {
    arguments.insert(arguments.begin(), "m");
    StringRef type = element.isF64() ? "double" : memoryType(element);
    return printCall((function + "<" + type + ">").str(), arguments);
  }
  arguments.insert(arguments.begin(), {"ctx", dtypeText(element)});
  printCall(("br_" + function).str(), arguments);
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

static StringRef epilogueText(exec::Epilogue epilogue) {
  switch (epilogue) {
  case exec::Epilogue::None:
    return "BR_EPILOGUE_NONE";
  case exec::Epilogue::GeluTanh:
    return "BR_EPILOGUE_GELU_TANH";
  case exec::Epilogue::GeluErf:
    return "BR_EPILOGUE_GELU_ERF";
  case exec::Epilogue::Silu:
    return "BR_EPILOGUE_SILU";
  case exec::Epilogue::GeluTanhGrad:
    return "BR_EPILOGUE_GELU_TANH_GRAD";
  }
  llvm_unreachable("unknown epilogue");
}

/// The fields for the kept input of GELU: whether the call writes or reads it, its elements
/// per row, and its offset.
std::string StepPrinter::auxText(exec::MatmulOp op, int64_t columns) {
  Value aux = op.keepsInput() ? op.getOuts()[1] : op.getAux();
  return aux ? "1, " + std::to_string(columns) + ", " + std::to_string(arena.offsetOf(aux)) : "0, 0, 0";
}

/// Which operand of the GEMM is summed for the gradient of a bias, and the offset of the sum.
std::string StepPrinter::biasGradText(exec::MatmulOp op, bool swapped) {
  if (!op.getBiasGrad())
    return "BR_BIAS_GRAD_NONE, 0";
  bool isLeft = (*op.getBiasGrad() == exec::Side::Lhs) != swapped;
  return (isLeft ? "BR_BIAS_GRAD_A, " : "BR_BIAS_GRAD_B, ") + std::to_string(arena.offsetOf(op.getOuts()[1]));
}

LogicalResult StepPrinter::printMatmul(exec::MatmulOp op) {
  auto type = [](Value ref) { return cast<exec::RefType>(ref.getType()); };
  Value out = op.getOuts()[0];
  std::string reason;
  FailureOr<MatmulShape> shape =
      matmulShape(op.getContraction(), type(op.getLhs()), type(op.getRhs()), type(out), &reason);
  if (failed(shape))
    return op.emitError() << reason;
  if (shape->batch.size() > 6 || shape->outer.size() > 6)
    return op.emitError() << "\"" << op.getContraction().getSpec() << "\" needs more than 6 loops around its matrices";
  if (op.getBias() && type(op.getBias()).getTensorType().getNumElements() != shape->n)
    return op.emitError() << "the bias has " << type(op.getBias()).getTensorType().getNumElements()
                          << " elements, but the GEMM of \"" << op.getContraction().getSpec() << "\" has " << shape->n
                          << " columns";
  if (op.getBiasGrad() && !(shape->batch.empty() && shape->outer.empty()))
    return op.emitError() << "sums an operand for the gradient of a bias, but \"" << op.getContraction().getSpec()
                          << "\" takes several GEMM calls";
  Value lhs = shape->swapped ? op.getRhs() : op.getLhs(), rhs = shape->swapped ? op.getLhs() : op.getRhs();

  auto loops = [](ArrayRef<MatmulLoop> loops, int64_t MatmulLoop::*member) {
    return listText(llvm::map_to_vector(loops, [&](const MatmulLoop &loop) { return loop.*member; }));
  };
  std::string row;
  llvm::raw_string_ostream os(row);
  os << "    {" << shape->m << ", " << shape->n << ", " << shape->k << ", // m, n, k\n     " << shape->lhsM << ", "
     << shape->lhsK << ", " << shape->rhsK << ", " << shape->rhsN << ", " << shape->outM << ", " << shape->outN
     << ", // strides of A, B and C\n     " << shape->batch.size() << ", " << loops(shape->batch, &MatmulLoop::size)
     << ", " << loops(shape->batch, &MatmulLoop::lhs) << ", " << loops(shape->batch, &MatmulLoop::rhs) << ", "
     << loops(shape->batch, &MatmulLoop::out) << ", // batch\n     " << shape->outer.size() << ", "
     << loops(shape->outer, &MatmulLoop::size) << ", " << loops(shape->outer, &MatmulLoop::lhs) << ", "
     << loops(shape->outer, &MatmulLoop::rhs) << ", // outer\n     " << dtypeText(type(lhs).getElementType()) << ", "
     << dtypeText(type(rhs).getElementType()) << ", " << dtypeText(type(out).getElementType()) << ", "
     << (op.getBias() ? 1 : 0) << ", " << (op.getBias() ? dtypeText(type(op.getBias()).getElementType()) : "BR_F32")
     << ", " << (op.getAccumulator() ? 1 : 0) << ", " << epilogueText(op.getEpilogue()) << ",\n     " << workspaceOffset
     << ", " << workspaceBytes << ", " << auxText(op, shape->n) << ", " << biasGradText(op, shape->swapped) << "},";
  Rows &matmuls = matmulsOf[kind];
  auto [it, isNew] = matmuls.index.try_emplace(row, matmuls.rows.size());
  if (isNew)
    matmuls.rows.push_back(row);

  printCall("br_matmul", {"ctx", std::to_string(it->second), addressText(lhs), addressText(rhs), addressText(out),
                          addressText(op.getBias())});
  return success();
}

/// Checks what the runtime requires: contiguous operands and 32-bit indices.
LogicalResult StepPrinter::verifyRows(Operation *op, exec::RefType indices, ArrayRef<exec::RefType> operands) {
  if (!indices.getElementType().isInteger(32))
    return op->emitError() << "indices of type " << indices.getElementType() << " are not supported; the "
                           << emitter.target << " target reads i32";
  if (!indices.isContiguous() || !llvm::all_of(operands, [](exec::RefType type) { return type.isContiguous(); }))
    return op->emitError() << "the " << emitter.target << " target's "
                           << cast<exec::ActionOpInterface>(op).getActionName() << " needs contiguous operands";
  return success();
}

LogicalResult StepPrinter::printGather(exec::GatherOp op) {
  auto table = cast<exec::RefType>(op.getTable().getType()), indices = cast<exec::RefType>(op.getIndices().getType());
  if (failed(verifyRows(op, indices, {table, cast<exec::RefType>(op.getOuts()[0].getType())})))
    return failure();
  int64_t rows = table.getShape()[0], count = indices.getTensorType().getNumElements();
  printTyped("gather", table.getElementType(),
             {std::to_string(count), std::to_string(rows),
              std::to_string(table.getTensorType().getNumElements() / rows), addressText(op.getTable()),
              addressText(op.getIndices()), addressText(op.getOuts()[0])});
  return success();
}

LogicalResult StepPrinter::printScatterAdd(exec::ScatterAddOp op) {
  auto indices = cast<exec::RefType>(op.getIndices().getType()),
       updates = cast<exec::RefType>(op.getUpdates().getType());
  auto out = cast<exec::RefType>(op.getOuts()[0].getType());
  if (failed(verifyRows(op, indices, {updates, out})))
    return failure();
  int64_t rows = out.getShape()[0], count = indices.getTensorType().getNumElements();
  SmallVector<std::string> arguments{std::to_string(count),
                                     std::to_string(rows),
                                     std::to_string(out.getTensorType().getNumElements() / rows),
                                     addressText(op.getIndices()),
                                     addressText(op.getUpdates()),
                                     op.getAccumulator() ? "1" : "0",
                                     addressText(op.getOuts()[0])};
  uint64_t scratch = op.getWorkspaceBytes(target.workspace);
  if (scratch > workspaceBytes)
    return op.emitError() << "sorts in " << scratch << " bytes of scratch memory, but the program has "
                          << workspaceBytes << "; it was not planned for the " << emitter.target << " target";
  if (emitter.onDevice)
    arguments.push_back("m[" + std::to_string(workspaceOffset) + "]");
  printTyped("scatter_add", out.getElementType(), std::move(arguments));
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

LogicalResult StepPrinter::printAction(Operation *op) {
  if (auto launch = dyn_cast<exec::LaunchOp>(op))
    return printLaunch(launch);
  if (auto matmul = dyn_cast<exec::MatmulOp>(op))
    return printMatmul(matmul);
  if (auto attention = dyn_cast<exec::AttentionOp>(op))
    return printAttention(attention);
  if (auto gradient = dyn_cast<exec::AttentionGradOp>(op))
    return printAttentionGrad(gradient);
  if (auto gather = dyn_cast<exec::GatherOp>(op))
    return printGather(gather);
  if (auto scatter = dyn_cast<exec::ScatterAddOp>(op))
    return printScatterAdd(scatter);
  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op))
    return printCollective(collective);
  if (auto start = dyn_cast<comm::StartOp>(op))
    return printStart(start);
  if (auto wait = dyn_cast<comm::WaitOp>(op))
    return printWait(wait);
  if (auto index = dyn_cast<comm::AxisIndexOp>(op))
    return printAxisIndex(index);
  if (auto slice = dyn_cast<comm::SliceOp>(op))
    return printSlice(slice);
  if (auto assemble = dyn_cast<comm::AssembleOp>(op))
    return printAssemble(assemble);
  return op->emitError() << "no code is generated for " << op->getName()
                         << " yet; has the module been brought into memory form?";
}

/// Splits a long list of actions into parts of about equal length, if possible where a section
/// begins.  The last part has the remaining actions.
static SmallVector<ArrayRef<ActionText>> splitIntoParts(ArrayRef<ActionText> actions) {
  constexpr size_t least = 48, most = 80;
  SmallVector<ArrayRef<ActionText>> parts;
  while (actions.size() > most) {
    size_t end = least;
    while (end < most && !actions[end].beginsSection)
      ++end;
    parts.push_back(actions.take_front(end));
    actions = actions.drop_front(end);
  }
  parts.push_back(actions);
  return parts;
}

/// A function that runs these actions.  Compile time grows faster than linearly with the
/// length of a function, so a long list becomes several functions that run a part each.
std::string StepPrinter::programText(StringRef function, ArrayRef<ActionText> actions) {
  std::string head = "(br_context *ctx) {\n  const Memory m(ctx);\n",
              end = "  return " + emitter.status.str() + ";\n}\n";
  auto join = [](ArrayRef<ActionText> actions) {
    return llvm::join(llvm::map_range(actions, [](const ActionText &action) { return action.text; }), "\n");
  };
  SmallVector<ArrayRef<ActionText>> lists = splitIntoParts(actions);
  if (actions.empty())
    return "br_status " + function.str() + "(br_context *) { return BR_OK; }\n";
  if (lists.size() == 1)
    return "br_status " + function.str() + head + "\n" + join(actions) + end;
  std::string parts, body, unused = "[[maybe_unused]] ";
  for (auto [number, its] : llvm::enumerate(lists)) {
    std::string name = function.str() + "_" + std::to_string(number);
    parts += "static br_status " + name + "(" + (emitter.onDevice ? unused : "") + "br_context *ctx, " + unused +
             "const Memory m) {\n" + join(its) + end + "\n";
    body += "  if (" + name + "(ctx, m) != BR_OK)\n    return BR_ERROR;\n";
  }
  return parts + "br_status " + function.str() + head + body + "  return BR_OK;\n}\n";
}

/// "  // ---- forward: h.0 ----" and an empty line; "" if no section begins.
static std::string sectionHeading(StringRef section) {
  return section.empty() ? "" : "  // ---- " + commentText(section) + " ----\n\n";
}

/// Comments with long names get wider lines than the code.
static std::string stepComment(StringRef text) {
  return text.empty() ? "" : comment(text, "  ", /*columns=*/120, /*hang=*/2);
}

LogicalResult StepPrinter::printProgram(exec::ProgramOp program) {
  kind = ranks.kindOf(program);
  workspaceOffset = workspaceBytes = 0;
  for (auto buffer : program.getOps<exec::BufferOp>())
    if (buffer.getScratch()) {
      workspaceOffset = buffer.getOffset();
      workspaceBytes = buffer.getBytes();
    }
  SmallVector<ActionText> actions;
  std::vector<std::string> &texts = actionNames[program];
  BufferNames names(program, arena);
  Sections sections(program, arena);
  for (Operation &op : program.getBody().front()) {
    auto action = dyn_cast<exec::ActionOpInterface>(op);
    if (!action)
      continue;
    calls.clear();
    if (failed(printAction(&op)))
      return failure();
    std::string number = std::to_string(texts.size()), section = sections.begin(action);
    names.enter(action, texts.size());
    texts.push_back(actionText(&op, names));
    std::string mark = emitter.onDevice ? "  m.at(" + number + ");\n" : "";
    actions.push_back({sectionHeading(section) + stepComment(number + ": " + texts.back()) +
                           stepComment(noteText(&op, names)) + mark + calls,
                       !section.empty()});
  }
  programs += "\n" + (emitter.onDevice ? sectionText(program.getSymName()) : "") + arenaText(program, names) +
              programText(programFunction(program.getSymName()), actions);
  return success();
}

/// A table that makes the runtime load all device kernels at the start.
static std::string preloadText(const KernelTable &kernels) {
  std::vector<std::string> names;
  for (auto &[symbol, kernel] : kernels)
    names.push_back(kernelFunction(symbol.getValue()));
  if (names.empty())
    return "";
  return "\n" + sectionText("Kernels, which are loaded at the start") +
         wrapCall("static const Preload kernels", names, ";") + "\n";
}

FailureOr<std::string> StepPrinter::print() {
  for (auto program : module.getOps<exec::ProgramOp>())
    if (failed(printProgram(program)))
      return failure();
  std::string arenaTable, preload;
  if (emitter.onDevice) {
    preload = preloadText(kernels);
    arenaTable = sectionText("The arena") + tensorsText(module) + "\n" +
                 (tables.empty() ? "" : sectionText("Launches over many vectors, and copies of blocks"));
  }
  return "// The programs of the model: kernels and library calls in their order.\n#include \"" +
         emitter.kernelsFile.str() + "\"\n#include \"step.h\"\n" + emitter.stepIncludes.str() +
         "\nnamespace braid {\n\n" + arenaTable + tables +
         StringRef(programs).drop_front(programs.empty() ? 0 : 1).str() + preload + "\n} // namespace braid\n";
}
