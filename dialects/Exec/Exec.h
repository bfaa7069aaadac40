//===- Exec.h - the dialect of actions and memory ---------------*- C++ -*-===//
#ifndef BRAID_DIALECTS_EXEC_EXEC_H
#define BRAID_DIALECTS_EXEC_EXEC_H

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Attributes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/CallWorkspace.h"

#include "dialects/Exec/ExecDialect.h.inc"
#include "dialects/Exec/ExecEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Exec/ExecAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Exec/ExecTypes.h.inc"

namespace braid::exec {
/// The work of an action, on values or in memory.  A function such as exp counts
/// as many operations as a vector unit takes for it.
struct ActionCost {
  /// The FLOPs of matmuls, and of everything else.
  int64_t matrixFlops = 0, vectorFlops = 0;
  int64_t bytesRead = 0, bytesWritten = 0;
  /// The FLOPs of matmuls that a mask spares it: in papers, model FLOPs have them.
  int64_t maskedFlops = 0;
  /// Whether matmuls are of f32 whatever the operands are.
  bool productsAreWide = false;
};

/// The scratch memory that a target's calls may use, in bytes.
struct WorkspaceRule {
  /// The most that a matmul may use, and whether one that can do with less by its shape
  /// (runtime/CallWorkspace.h) gets less.
  int64_t matmul;
  bool isByShape;
  /// How the attention library sums gradients.
  AttentionSums attention;
  /// Of attention that generated code computes by tiles, the cache of a core that they lie in;
  /// 0 where they lie in the shared memory of a GPU, and need nothing else.
  int64_t attentionCache;
  /// What scatter_add sorts its indices in: for each index, for each row of the
  /// table, and in any case; all 0 where it needs none.
  int64_t perIndex, perRow, fixed;
};
/// One under which every call that may take scratch memory on some target does.
constexpr WorkspaceRule kSomeWorkspace = {1, false, {}, 0, 1, 1, 1};

/// A number of a call that its library holds in 32 bits, and what it counts.
struct LibraryNumber {
  std::string what;
  int64_t value;
};

/// On the arguments of parameters that lie side by side: the name of their pack.
inline constexpr llvm::StringLiteral kPack = "exec.pack";
/// Of an argument that is a state: it lies in the host's memory beside a device's arena.
inline constexpr llvm::StringLiteral kHost = "exec.host";
/// Of an argument: the `exec.slots` that it lies in.
inline constexpr llvm::StringLiteral kSlots = "exec.slots";

namespace detail {
/// Of an action that computes nothing.
ActionCost costOfMoving(mlir::Operation *action);
} // namespace detail
} // namespace braid::exec

#include "dialects/Exec/ExecInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/Exec/ExecOps.h.inc"

namespace braid::exec {
/// The logical tensor of an operand in either form.
mlir::RankedTensorType tensorOf(mlir::Type type);

/// The effects of an action whose last operands are its outs.  On values it has
/// none: it can be moved and dropped.  In memory it reads its operands and writes
/// its outs.
void collectEffects(ActionOpInterface action, llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);

/// What a symbol means inside a program: a buffer of the program, else a tensor
/// or kernel of the module.  Null when there is none.
mlir::Operation *lookupSymbol(mlir::Operation *user, mlir::FlatSymbolRefAttr symbol,
                              mlir::SymbolTableCollection &tables);
} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_EXEC_H
