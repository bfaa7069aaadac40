//===- StepPrinter.h - programs as C++ functions ----------------*- C++ -*-===//
//
// Prints each exec.program as a function that launches kernels and calls the
// library in block order, and gathers the matmul descriptors they share.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_STEPPRINTER_H
#define BRAID_LIB_CODEGEN_STEPPRINTER_H

#include "dialects/Exec/Exec.h"
#include "lib/Codegen/KernelAnalysis.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"

namespace braid::codegen {

/// Kernels by symbol, in the order of the module.
using KernelTable = llvm::MapVector<mlir::StringAttr, KernelAnalysis>;

/// Resolves references into the arena, and kernels, by tables: modules have
/// thousands of each.
class ArenaMap {
public:
  explicit ArenaMap(mlir::ModuleOp module);
  /// The byte where a reference starts.
  uint64_t offsetOf(mlir::Value ref) const;
  /// The name, for comments, of the tensor it refers to.
  llvm::StringRef nameOf(mlir::Value ref) const;
  /// The buffer or persistent tensor.
  mlir::Operation *storageOf(mlir::Value ref) const;
  /// The kernel that a launch runs; null when the module has none of its name.
  exec::KernelDefOp kernelOf(exec::LaunchOp launch) const;

private:
  /// Symbols of the module, and of each program.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::StringAttr>, mlir::Operation *> symbols;
  mlir::ModuleOp module;
};

/// For each kernel, the operands (ins, then outs) that in some launch overlap an
/// out without being the same reference.
llvm::DenseMap<mlir::StringAttr, llvm::SmallBitVector> findAliased(mlir::ModuleOp module, const ArenaMap &arena);

/// A program's C++ name.
std::string programFunction(llvm::StringRef symbol);

class StepPrinter {
public:
  StepPrinter(mlir::ModuleOp module, const KernelTable &kernels) : module(module), arena(module), kernels(kernels) {}

  /// The text of step.cpp.
  mlir::FailureOr<std::string> print();
  /// The rows of br_model.matmuls, as initializers; complete after print().
  llvm::ArrayRef<std::string> matmuls() const { return matmulRows; }

private:
  mlir::LogicalResult printProgram(exec::ProgramOp program);
  mlir::LogicalResult printAction(mlir::Operation *op);
  mlir::LogicalResult printLaunch(exec::LaunchOp op);
  mlir::LogicalResult printMatmul(exec::MatmulOp op);
  mlir::LogicalResult printGather(exec::GatherOp op);
  mlir::LogicalResult printScatterAdd(exec::ScatterAddOp op);
  void printTable(exec::LaunchOp op, const KernelAnalysis &kernel);
  void printCall(llvm::StringRef function, llvm::ArrayRef<std::string> arguments);
  std::string actionComment(mlir::Operation *op, unsigned number);
  std::string addressText(mlir::Value ref) const;

  mlir::ModuleOp module;
  ArenaMap arena;
  const KernelTable &kernels;
  std::string actionText; // of the action being printed
  std::string programs, tables;
  unsigned numTables = 0;
  uint64_t workspaceOffset = 0, workspaceBytes = 0; // of the program being printed
  llvm::SmallVector<std::string> matmulRows;
  llvm::StringMap<unsigned> matmulIndex;
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_STEPPRINTER_H
