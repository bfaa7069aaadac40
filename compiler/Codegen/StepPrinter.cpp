//===- StepPrinter.cpp - programs as C++ functions ------------------------===//

#include "compiler/Codegen/StepPrinter.h"
#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/Initializer.h"
#include "compiler/Codegen/KernelPrinter.h"
#include "compiler/Codegen/ModelPrinter.h"
#include "compiler/Codegen/Sections.h"
#include "dialects/Comm/Comm.h"
#include "dialects/Exec/MatmulMarks.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
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

std::string StepPrinter::addressText(Value ref, int64_t elements) const {
  if (!ref)
    return "nullptr";
  int64_t extraBytes = elements ? elements * elementBytes(cast<exec::RefType>(ref.getType()).getElementType()) : 0;
  std::string offset = places.of(ref, extraBytes);
  if (unsigned slots = arena.slotsOf(ref))
    return "m.in(" + std::to_string(slots - 1) + ", " + offset + ")";
  return "m[" + offset + "]";
}

/// Adds the offset of the scratch memory that calls share, and the bytes that this call may use.
Initializer &StepPrinter::addWorkspace(exec::ActionOpInterface action, Initializer &row) const {
  uint64_t bytes = std::min<uint64_t>(action.getWorkspaceBytes(target.workspace), workspaceBytes);
  return row.always("workspace_offset", workspaceOffset).always("workspace_bytes", bytes);
}

void StepPrinter::printCall(StringRef function, ArrayRef<std::string> arguments) {
  calls += wrapCall("  " + function.str(), arguments, ";") + "\n";
}

/// Prints a call of a runtime function that takes element types; equal types are passed once. They are an argument on
/// the CPU, and template arguments on a device.
void StepPrinter::printTyped(StringRef function, ArrayRef<Type> elements, SmallVector<std::string> arguments) {
  if (target.onDevice()) {
    arguments.insert(arguments.begin(), "m");
    llvm::SmallSetVector<StringRef, 2> types;
    for (Type element : elements)
      types.insert(element.isF64() ? "double" : memoryType(element));
    return printCall((function + "<" + llvm::join(types, ", ") + ">").str(), arguments);
  }
  arguments.insert(arguments.begin(), {"ctx", dtypeText(elements.front())});
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

/// Returns a br_matrix: strides of rows, of columns and of the loops.
static std::string matrixText(Value ref, int64_t row, int64_t column, const MatmulShape &shape,
                              int64_t MatmulLoop::*stride, bool isResult = false) {
  auto strides = [&](ArrayRef<MatmulLoop> loops) {
    return llvm::map_to_vector(loops, [&](const MatmulLoop &loop) { return loop.*stride; });
  };
  Initializer matrix;
  matrix.always("type", dtypeText(cast<exec::RefType>(ref.getType()).getElementType()))
      .always("row_stride", row)
      .always("column_stride", column)
      .unlessZero("batch_strides", strides(shape.batch));
  return isResult ? matrix.text() : matrix.unlessZero("outer_strides", strides(shape.outer)).text();
}

/// Returns the initializer of a br_matmul_desc.
std::string StepPrinter::matmulRow(exec::MatmulOp op, const MatmulShape &shape, Value lhs, Value rhs) {
  auto sizes = [](ArrayRef<MatmulLoop> loops) {
    return llvm::map_to_vector(loops, [](const MatmulLoop &loop) { return loop.size; });
  };
  Value out = op.getOuts()[0];
  Initializer row;
  row.always("m", shape.m).always("n", shape.n).always("k", shape.k);
  row.unlessZero("n_batch", shape.batch.size()).unlessZero("batch", sizes(shape.batch));
  row.unlessZero("n_outer", shape.outer.size()).unlessZero("outer", sizes(shape.outer));
  row.newLine().always("a", matrixText(lhs, shape.lhsM, shape.lhsK, shape, &MatmulLoop::lhs));
  row.newLine().always("b", matrixText(rhs, shape.rhsK, shape.rhsN, shape, &MatmulLoop::rhs));
  row.newLine().always("c", matrixText(out, shape.outM, shape.outN, shape, &MatmulLoop::out, /*isResult=*/true));
  row.newLine();
  if (Value bias = op.getBias())
    row.always("has_bias", 1).always("bias_type", dtypeText(cast<exec::RefType>(bias.getType()).getElementType()));
  if (Value addend = op.getAddend())
    row.always("has_addend", 1)
        .always("addend", matrixText(addend, shape.addendM, shape.addendN, shape, &MatmulLoop::addend, true))
        .newLine();
  row.unlessZero("accumulate", op.getAccumulator() ? 1 : 0);
  if (op.getEpilogue() != exec::Epilogue::None)
    row.always("epilogue", epilogueText(op.getEpilogue()).str());
  addWorkspace(op, row.newLine()).newLine();
  // The input of GELU, which the call keeps or reads.
  if (Value aux = op.keepsInput() ? op.getOuts()[1] : op.getAux())
    row.always("has_aux", 1)
        .always("aux_m", shape.n)
        .always("aux_offset", arena.offsetOf(aux))
        .unlessZero("aux_slots", arena.slotsOf(aux));
  if (op.getBiasGrad()) {
    bool isLeft = (*op.getBiasGrad() == exec::Side::Lhs) != shape.swapped;
    row.always("bias_grad", isLeft ? "BR_BIAS_GRAD_A" : "BR_BIAS_GRAD_B")
        .always("bias_grad_offset", arena.offsetOf(op.getOuts()[1]));
  }
  row.unlessZero("copy_b", op->hasAttr(exec::kPanels) ? 1 : 0);
  row.unlessZero("beside_collective", op->hasAttr(comm::CommDialect::kBesideCollective) ? 1 : 0);
  return row.text(4);
}

std::string StepPrinter::Rows::numberOf(const std::string &row) {
  auto [it, isNew] = index.try_emplace(row, rows.size());
  if (isNew)
    rows.push_back(row);
  return std::to_string(it->second);
}

namespace {
/// A call, and the offsets in elements of its matrices within those of the matmul.
struct MatmulPart {
  MatmulShape shape;
  int64_t lhs = 0, rhs = 0, out = 0;
};
} // namespace

/// Returns one call, or two if the last rows or columns are computed separately.
static SmallVector<MatmulPart, 2> partsOf(exec::MatmulOp op, const MatmulShape &whole) {
  auto splitSize = [&](StringRef mark) {
    auto count = op->getAttrOfType<IntegerAttr>(mark);
    return count ? count.getInt() : 0;
  };
  SmallVector<MatmulPart, 2> parts = {{whole}};
  if (int64_t rows = splitSize(exec::kRowsApart)) {
    int64_t first = parts[0].shape.m -= rows;
    parts.push_back({whole, first * whole.lhsM, 0, first * whole.outM});
    parts[1].shape.m = rows;
  } else if (int64_t columns = splitSize(exec::kColumnsApart)) {
    int64_t first = parts[0].shape.n -= columns;
    parts.push_back({whole, 0, first * whole.rhsN, first * whole.outN});
    parts[1].shape.n = columns;
  }
  return parts;
}

/// Refuses marks that a GEMM's size or loops contradict, which text may have.
static LogicalResult verifyApart(exec::MatmulOp op, const MatmulShape &shape) {
  for (auto [mark, size] : {std::pair(exec::kRowsApart, shape.m), {exec::kColumnsApart, shape.n}})
    if (auto count = op->getAttrOfType<IntegerAttr>(mark);
        count && (count.getInt() >= size || !shape.batch.empty() || !shape.outer.empty()))
      return op.emitError() << "'" << mark << "' is " << count.getInt() << ", but the matmul is "
                            << (shape.batch.empty() && shape.outer.empty() ? "one GEMM with " + std::to_string(size)
                                                                           : std::string("several GEMMs"))
                            << "; run exec-split-matmuls instead of writing the mark";
  return success();
}

LogicalResult StepPrinter::print(exec::MatmulOp op) {
  auto type = [](Value ref) { return cast<exec::RefType>(ref.getType()); };
  Value out = op.getOuts()[0];
  std::string reason;
  FailureOr<MatmulShape> shape = matmulShape(op, &reason);
  if (failed(shape))
    return op.emitError() << reason;
  if (shape->batch.size() > 6 || shape->outer.size() > 6)
    return op.emitError() << "\"" << op.getContraction().getSpec() << "\" needs more than 6 loops around its matrices";
  if (op.getBias() && type(op.getBias()).getTensorType().getNumElements() != shape->n)
    return op.emitError() << "the bias has " << type(op.getBias()).getTensorType().getNumElements()
                          << " elements, but the GEMM of \"" << op.getContraction().getSpec() << "\" has " << shape->n
                          << " columns";
  if (op.getAddend() && !target.addendEpilogue)
    return op.emitError() << "adds a tensor to a product, which calls of the " << emitter.target
                          << " target do not; it was not lowered for it";
  if (op.getAddend() && !shape->outer.empty())
    return op.emitError() << "adds a tensor to a product, but \"" << op.getContraction().getSpec()
                          << "\" takes several GEMM calls that add up";
  if (op.getBiasGrad() && !(shape->batch.empty() && shape->outer.empty()))
    return op.emitError() << "sums an operand for the gradient of a bias, but \"" << op.getContraction().getSpec()
                          << "\" takes several GEMM calls";
  if (failed(verifyApart(op, *shape)))
    return failure();
  Value lhs = shape->swapped ? op.getRhs() : op.getLhs(), rhs = shape->swapped ? op.getLhs() : op.getRhs();

  for (const MatmulPart &part : partsOf(op, *shape))
    printCall("br_matmul", {"ctx", matmulsOf[kind].numberOf(matmulRow(op, part.shape, lhs, rhs)),
                            addressText(lhs, part.lhs), addressText(rhs, part.rhs), addressText(out, part.out),
                            addressText(op.getBias()), addressText(op.getAddend())});
  // Computes the epilogue if the library does not, which is known at program start.
  if (target.onDevice() && (op.getBias() || op.getEpilogue() != exec::Epilogue::None || op.getBiasGrad()))
    printCall("finish_matmul<" + memoryType(type(out).getElementType()).str() + ", " +
                  memoryType(type(lhs).getElementType()).str() + ">",
              {"m"});
  return success();
}

/// Checks the runtime's requirements: contiguous operands and 32-bit indices.
LogicalResult StepPrinter::verifyRows(Operation *op, exec::RefType indices, ArrayRef<exec::RefType> operands) {
  if (!indices.getElementType().isInteger(32))
    return op->emitError() << "indices of type " << indices.getElementType() << " are not supported; the "
                           << emitter.target << " target reads i32";
  if (!indices.isContiguous() || !llvm::all_of(operands, [](exec::RefType type) { return type.isContiguous(); }))
    return op->emitError() << "the " << emitter.target << " target's "
                           << cast<exec::ActionOpInterface>(op).getActionName() << " needs contiguous operands";
  return success();
}

LogicalResult StepPrinter::print(exec::GatherOp op) {
  auto table = cast<exec::RefType>(op.getTable().getType()), indices = cast<exec::RefType>(op.getIndices().getType());
  if (failed(verifyRows(op, indices, {table, cast<exec::RefType>(op.getOuts()[0].getType())})))
    return failure();
  int64_t rows = table.getShape()[0], count = indices.getTensorType().getNumElements();
  printTyped("gather", {table.getElementType()},
             {std::to_string(count), std::to_string(rows),
              std::to_string(table.getTensorType().getNumElements() / rows), addressText(op.getTable()),
              addressText(op.getIndices()), addressText(op.getOuts()[0])});
  return success();
}

LogicalResult StepPrinter::print(exec::ScatterAddOp op) {
  auto indices = cast<exec::RefType>(op.getIndices().getType()),
       updates = cast<exec::RefType>(op.getUpdates().getType());
  auto out = cast<exec::RefType>(op.getOuts()[0].getType());
  if (failed(verifyRows(op, indices, {updates, out})))
    return failure();
  if (updates.getElementType() != out.getElementType() && !target.wideScatter)
    return op->emitError() << "sums rows of " << updates.getElementType() << " into a table of " << out.getElementType()
                           << ", which the " << emitter.target << " target does not; it was not lowered for it";
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
  if (target.onDevice())
    arguments.push_back("m[" + places.scratch().str() + "]");
  printTyped("scatter_add", {out.getElementType(), updates.getElementType()}, std::move(arguments));
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

LogicalResult StepPrinter::printAction(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<exec::LaunchOp, exec::MatmulOp, exec::AttentionOp, exec::AttentionGradOp, exec::GatherOp,
            exec::ScatterAddOp, comm::CollectiveOpInterface, comm::CopyOp, comm::StartOp, comm::WaitOp,
            comm::AxisIndexOp, comm::SliceOp, comm::AssembleOp>([&](auto action) { return print(action); })
      .Default([](Operation *other) {
        return other->emitOpError() << "has no code; has the module been brought into memory form?";
      });
}

/// Splits a long list of actions into parts of about equal length, if possible at the beginning of a section. The last
/// part has the remaining actions.
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

/// Returns a function that runs these actions. Compile time grows faster than linearly with the length of a function,
/// so a long list becomes several functions that each run a part.
std::string StepPrinter::programText(StringRef function, StringRef declarations, ArrayRef<ActionText> actions) {
  std::string head = "(br_context *ctx) {\n  const Memory m(ctx);\n",
              end = "  return " + emitter.status.str() + ";\n}\n", space = "at::" + function.str();
  auto join = [](ArrayRef<ActionText> actions) {
    return llvm::join(llvm::map_range(actions, [](const ActionText &action) { return action.text; }), "\n");
  };
  SmallVector<ArrayRef<ActionText>> lists = splitIntoParts(actions);
  if (actions.empty())
    return "br_status " + function.str() + "(br_context *) { return BR_OK; }\n";
  std::string parts, body, unused = target.onDevice() ? "[[maybe_unused]] " : "";
  for (auto [number, list] : llvm::enumerate(lists)) {
    std::string name = lists.size() == 1 ? "run" : "run_" + std::to_string(number);
    parts +=
        "static br_status " + name + "(" + unused + "br_context *ctx, const Memory m) {\n" + join(list) + end + "\n";
    body += "  if (" + space + "::" + name + "(ctx, m) != BR_OK)\n    return BR_ERROR;\n";
  }
  return "namespace " + space + " {\n" + StringRef(declarations).rtrim().str() + "\n\n" + parts + "} // namespace " +
         space + "\n\nbr_status " + function.str() + head + body + "  return BR_OK;\n}\n";
}

/// Returns the heading of a part of a file.
static std::string sectionText(StringRef title) {
  std::string rule = "//===" + std::string(70, '-') + "===//\n";
  return rule + "// " + commentText(title) + "\n" + rule + "\n";
}

/// Returns "  // ---- forward: h.0 ----" and an empty line; "" if no section begins.
static std::string sectionHeading(StringRef section) {
  return section.empty() ? "" : "  // ---- " + commentText(section) + " ----\n\n";
}

/// Returns a comment. Its lines may be wider than those of the code, because names can be long.
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
  std::vector<std::string> &rows = actionRows[program];
  BufferNames names(program, arena);
  places.enter(names);
  Sections sections(program, arena);
  tables.clear();
  for (Operation &op : program.getBody().front()) {
    auto action = dyn_cast<exec::ActionOpInterface>(op);
    if (!action)
      continue;
    calls.clear();
    names.enter(action);
    if (failed(printAction(&op)))
      return failure();
    std::string number = std::to_string(rows.size()), section = sections.begin(action);
    std::string text = actionText(&op, names);
    rows.push_back(actionRow(action, text));
    actions.push_back({sectionHeading(section) + stepComment(number + ": " + text) + stepComment(noteText(&op, names)) +
                           "  m.at(" + number + ");\n" + calls,
                       !section.empty()});
  }
  programs += "\n" + (target.onDevice() ? sectionText(program.getSymName()) : "") +
              programText(programFunction(program.getSymName()),
                          "// " + commentText(program.getSymName()) + ": an arena of " +
                              std::to_string(program.getArenaBytes()) + " bytes.\n" + places.buffersText() +
                              (tables.empty() ? "" : "\n" + tables),
                          actions);
  return success();
}

/// Returns a table that makes the runtime load all device kernels at the start.
static std::string preloadText(const KernelTable &kernels) {
  std::vector<std::string> names;
  for (auto &[symbol, kernel] : kernels)
    names.push_back(kernelFunction(symbol.getValue()));
  if (names.empty())
    return "";
  return "\n" + sectionText("Kernels, which are loaded at the start") +
         wrapCall("static const Preload kernels", names, ";") + "\n";
}

/// Adds descriptors for the collectives of a pipeline's message. The runtime starts them by the table of the pipeline.
LogicalResult StepPrinter::addMessage(exec::ProgramOp program) {
  for (Operation &op : program.getBody().front()) {
    auto start = dyn_cast<comm::StartOp>(op);
    auto collective = start ? start.getCollective() : dyn_cast<comm::CollectiveOpInterface>(op);
    if (isa<exec::ActionOpInterface>(op) && !collective && !isa<comm::WaitOp>(op))
      return op.emitOpError() << "is in '" << program.getSymName() << "', which only sends or receives";
    FailureOr<unsigned> number = collective ? ranks.add(collective, arena) : 0;
    if (failed(number))
      return failure();
    if (collective)
      pipeline.addMessage(program, *number);
  }
  return success();
}

FailureOr<std::string> StepPrinter::print() {
  for (auto program : module.getOps<exec::ProgramOp>())
    if (failed(isPipelineMessage(program) ? addMessage(program) : printProgram(program)))
      return failure();
  std::string preload = target.onDevice() ? preloadText(kernels) : "", shared = sharedTables;
  if (target.onDevice() && !shared.empty())
    shared = sectionText("Copies of blocks, and attention by tiles") + shared;
  StringRef attention = tiledAttentions.rows.empty() ? StringRef() : StringRef(emitter.attentionInclude);
  return "// The programs of the model: kernels and library calls in their order.\n#include \"" +
         emitter.kernelsFile.str() + "\"\n#include \"step.h\"\n" + (emitter.stepIncludes + attention).str() +
         "\nnamespace braid {\n\n" + places.tensorsText() + "\n" + shared +
         StringRef(programs).drop_front(programs.empty() ? 0 : 1).str() + preload + "\n} // namespace braid\n";
}
