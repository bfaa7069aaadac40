//===- StepPrinter.h - programs as C++ functions ----------------*- C++ -*-===//
//
// Prints each exec.program as a function that launches kernels and calls the library in block order, and gathers the
// matmul descriptors they share.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_STEPPRINTER_H
#define BRAID_COMPILER_CODEGEN_STEPPRINTER_H

#include "compiler/Codegen/LaunchShape.h"
#include "compiler/Codegen/PipelineTables.h"
#include "compiler/Codegen/PlaceNames.h"
#include "compiler/Codegen/RankTables.h"
#include "compiler/Codegen/StepEmitter.h"
#include "dialects/Exec/Exec.h"
#include "lib/Target/MatmulShape.h"
#include "lib/Target/TargetInfo.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace braid::codegen {

/// A kernel's loops, and its launch shape if it runs on a device.
struct KernelToPrint {
  KernelAnalysis analysis;
  LaunchShape shape;
};
/// Kernels by symbol, in the order of the module.
using KernelTable = llvm::MapVector<mlir::StringAttr, KernelToPrint>;

/// An action in C++ with the comments above it, and whether it begins a section.
struct ActionText {
  std::string text;
  bool beginsSection;
};

/// Returns the C++ name of a program.
std::string programFunction(llvm::StringRef symbol);

class StepPrinter {
public:
  StepPrinter(mlir::ModuleOp module, const ArenaMap &arena, const KernelTable &kernels, RankTables &ranks,
              PipelineTables &pipeline, const TargetInfo &target, const StepEmitter &emitter)
      : module(module), arena(arena), kernels(kernels), ranks(ranks), pipeline(pipeline), target(target),
        emitter(emitter), places(module, arena), matmulsOf(ranks.getKinds().size()),
        attentionsOf(ranks.getKinds().size()), transfersOf(ranks.getKinds().size()) {}

  /// Returns the text of the file of programs.
  mlir::FailureOr<std::string> print();
  /// Returns the rows of br_program.actions, as initializers; complete after print().
  llvm::ArrayRef<std::string> actionsOf(exec::ProgramOp program) const { return actionRows.at(program); }
  const StepEmitter &getEmitter() const { return emitter; }
  /// Returns the rows of br_model.matmuls of a kind of ranks, as initializers; complete after print().
  llvm::ArrayRef<std::string> matmuls(unsigned kind) const { return matmulsOf[kind].rows; }
  /// Returns the rows of br_model.attentions in the same form.
  llvm::ArrayRef<std::string> attentions(unsigned kind) const { return attentionsOf[kind].rows; }
  /// Return the rows of br_model.transfers in the same form, and the arrays that these name.
  llvm::ArrayRef<std::string> transfers(unsigned kind) const { return transfersOf[kind].rows; }
  llvm::StringRef transferParts(unsigned kind) const { return transfersOf[kind].parts; }

  /// Prints an action of one of these kinds; returns no value for other actions.
  template <typename... Ops> std::optional<mlir::LogicalResult> printIf(mlir::Operation *op) {
    std::optional<mlir::LogicalResult> printed;
    ((mlir::isa<Ops>(op) && (printed = print(mlir::cast<Ops>(op)))) || ...);
    return printed;
  }

private:
  mlir::LogicalResult printProgram(exec::ProgramOp program);
  mlir::LogicalResult addMessage(exec::ProgramOp program);
  mlir::LogicalResult printAction(mlir::Operation *op);
  /// Prints the calls of an action; specialized in a file Print*.cpp.
  template <typename Op> mlir::LogicalResult print(Op op);
  std::string matmulRow(exec::MatmulOp op, const MatmulShape &shape, mlir::Value lhs, mlir::Value rhs);
  template <typename Op> mlir::LogicalResult printCallOrTiles(Op op, mlir::Value output, mlir::ValueRange gradients);
  template <typename Op> std::string attentionRow(Op op, mlir::Value output, mlir::ValueRange gradients);
  template <typename Op> void printTiles(Op op, std::string row);
  mlir::FailureOr<unsigned> addTransfer(comm::CopyOp op);
  mlir::FailureOr<std::string> copyTable(mlir::Operation *op, llvm::ArrayRef<int64_t> shape, exec::RefType from,
                                         exec::RefType to);
  std::string collectiveText(mlir::Operation *action);
  std::string blockNumber(comm::AxesAttr axes, int64_t shift);
  void printTable(exec::LaunchOp op, const KernelToPrint &kernel);
  void printCall(llvm::StringRef function, llvm::ArrayRef<std::string> arguments);
  void printTyped(llvm::StringRef function, llvm::ArrayRef<mlir::Type> elements,
                  llvm::SmallVector<std::string> arguments);
  mlir::LogicalResult verifyRows(mlir::Operation *op, exec::RefType indices, llvm::ArrayRef<exec::RefType> operands);
  std::string actionText(mlir::Operation *op, const BufferNames &names);
  std::string actionRow(exec::ActionOpInterface action, llvm::StringRef name);
  std::string noteText(mlir::Operation *op, const BufferNames &names);
  std::string matmulNote(exec::MatmulOp op, const BufferNames &names);
  std::string programText(llvm::StringRef function, llvm::StringRef declarations, llvm::ArrayRef<ActionText> actions);
  std::string addressText(mlir::Value ref, int64_t elements = 0) const;
  Initializer &addWorkspace(exec::ActionOpInterface action, Initializer &row) const;

  mlir::ModuleOp module;
  const ArenaMap &arena;
  const KernelTable &kernels;
  RankTables &ranks;
  PipelineTables &pipeline;
  const TargetInfo &target;
  const StepEmitter &emitter;
  std::string calls; // of the action being printed
  PlaceNames places;
  std::string programs, tables, sharedTables; // tables of the program being printed, and of all
  unsigned numTables = 0;
  uint64_t workspaceOffset = 0, workspaceBytes = 0; // of the program being printed
  unsigned kind = 0;                                // of the ranks that run it
  struct Rows {
    llvm::SmallVector<std::string> rows;
    llvm::StringMap<unsigned> index;
    /// Returns the index of a row, which is added if it is new.
    std::string numberOf(const std::string &row);
  };
  std::vector<Rows> matmulsOf, attentionsOf;                              // by kind
  Rows tiledAttentions;                                                   // the target's own
  llvm::DenseMap<mlir::Operation *, std::vector<std::string>> actionRows; // by program
  /// Copies from and to the host. Each start has its own descriptor.
  struct Transfers {
    std::vector<std::string> rows;
    std::string parts;
  };
  std::vector<Transfers> transfersOf;                       // by kind
  llvm::DenseMap<mlir::Operation *, unsigned> collectiveOf; // by start, transfers too
  llvm::StringMap<unsigned> copies;                         // tables of block copies
};

/// Functions of the files Print*.cpp, each of which states the actions that its file prints.
namespace printers {
#define BRAID_PRINTERS(FILE) std::optional<mlir::LogicalResult> FILE(StepPrinter &printer, mlir::Operation *op);
#include "compiler/Codegen/Printers.inc"
#undef BRAID_PRINTERS
} // namespace printers

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_STEPPRINTER_H
