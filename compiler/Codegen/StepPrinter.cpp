//===- StepPrinter.cpp - programs as C++ functions ------------------------===//

#include "compiler/Codegen/StepPrinter.h"
#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/Initializer.h"
#include "compiler/Codegen/KernelPrinter.h"
#include "compiler/Codegen/ModelPrinter.h"
#include "compiler/Codegen/Sections.h"
#include "dialects/Comm/Comm.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

const StepEmitter *codegen::findStepEmitter(StringRef target) {
  for (const StepEmitter *emitter : stepEmitters)
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

std::string StepPrinter::Rows::numberOf(const std::string &row) {
  auto [it, isNew] = index.try_emplace(row, rows.size());
  if (isNew)
    rows.push_back(row);
  return std::to_string(it->second);
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
// Programs
//===----------------------------------------------------------------------===//

LogicalResult StepPrinter::printAction(Operation *op) {
#define BRAID_PRINTERS(FILE)                                                                                           \
  if (std::optional<LogicalResult> printed = printers::FILE(*this, op))                                                \
    return *printed;
#include "compiler/Codegen/Printers.inc"
#undef BRAID_PRINTERS
  return op->emitOpError() << "has no code; bring the module into memory form first (exec-plan-memory)";
}

/// Splits a long list of actions into parts of about equal length, if possible at the beginning of a section. The last
/// part has the remaining actions.
static SmallVector<ArrayRef<ActionText>> splitIntoParts(ArrayRef<ActionText> actions) {
  constexpr size_t minActions = 48, maxActions = 80;
  SmallVector<ArrayRef<ActionText>> parts;
  while (actions.size() > maxActions) {
    size_t end = minActions;
    while (end < maxActions && !actions[end].beginsSection)
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

/// Returns the line "  // ---- forward: h.0 ----"; "" if no section begins.
static std::string sectionHeading(StringRef section) {
  return section.empty() ? "" : "  // ---- " + commentText(section) + " ----\n";
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
