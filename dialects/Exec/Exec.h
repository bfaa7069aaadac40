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
/// Work of an action, on values or in memory. A function such as exp counts as the
/// operations that a vector unit needs for it.
struct ActionCost {
  /// FLOPs of matmuls, and of everything else.
  int64_t matrixFlops = 0, vectorFlops = 0;
  int64_t bytesRead = 0, bytesWritten = 0;
  /// FLOPs of matmuls that a mask saves; the model FLOPs in papers include them.
  int64_t maskedFlops = 0;
  /// True if matmuls run in f32, whatever the element type of the operands.
  bool matmulsRunInF32 = false;
};

/// Scratch memory that the calls of a target may use, in bytes.
struct WorkspaceRule {
  /// Upper limit for a matmul. With `dependsOnShape`, a matmul whose shape needs less
  /// (runtime/CallWorkspace.h) gets less.
  int64_t matmul;
  bool dependsOnShape;
  /// How the attention library sums gradients.
  AttentionSums attention;
  /// Cache of a core that holds the tiles, for attention in generated code. 0 if the tiles are
  /// in the shared memory of a GPU and need no scratch memory.
  int64_t attentionCache;
  /// Memory in which scatter_add sorts its indices: bytes per index, bytes per table
  /// row, and a constant. All are 0 if it does not sort.
  int64_t perIndex, perRow, fixed;
};
/// A rule that gives scratch memory to every call that may use some on any target.
constexpr WorkspaceRule kConservativeWorkspace = {1, false, {}, 0, 1, 1, 1};

/// A number that a library call holds in 32 bits, and what it counts.
struct LibraryNumber {
  std::string what;
  int64_t value;
};

/// Attribute of the arguments of adjacent parameters: the name of their pack.
inline constexpr llvm::StringLiteral kPack = "exec.pack";
/// Attribute of an argument that is a state: it is stored in the host's memory, not in the device's arena.
inline constexpr llvm::StringLiteral kHost = "exec.host";
/// Attribute of an argument: the `exec.slots` that contain it.
inline constexpr llvm::StringLiteral kSlots = "exec.slots";

namespace detail {
/// Returns the cost of an action that only moves data.
ActionCost dataMovementCost(mlir::Operation *action);
} // namespace detail
} // namespace braid::exec

#include "dialects/Exec/ExecInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/Exec/ExecOps.h.inc"

namespace braid::exec {
/// Returns the logical tensor type of an operand in either form.
mlir::RankedTensorType tensorOf(mlir::Type type);

/// Collects the effects of an action whose last operands are its outs. On values it has none,
/// so it can be moved and dropped. In memory form it reads its operands and writes its outs.
void collectEffects(ActionOpInterface action, llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);

/// Returns the op that a symbol names inside a program: a buffer of the program, else a
/// tensor or kernel of the module. Null if there is none.
mlir::Operation *lookupSymbol(mlir::Operation *user, mlir::FlatSymbolRefAttr symbol,
                              mlir::SymbolTableCollection &tables);
} // namespace braid::exec

#endif // BRAID_DIALECTS_EXEC_EXEC_H
