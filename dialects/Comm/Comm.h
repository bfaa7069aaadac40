//===- Comm.h - the dialect of meshes, shardings and collectives -*- C++ -*-===//
#ifndef BRAID_DIALECTS_COMM_COMM_H
#define BRAID_DIALECTS_COMM_COMM_H

#include "dialects/Exec/Exec.h"
#include "dialects/Interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/CollectiveKinds.h"

#include "dialects/Comm/CommDialect.h.inc"
#include "dialects/Comm/CommEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Comm/CommAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Comm/CommTypes.h.inc"

namespace braid::comm {
/// Value in a list of dims: the tensor is sharded along its flat order. See `#comm.sharding`.
inline constexpr int64_t kFlat = -1;

class Mesh;

/// Queues of a device beside computation: exchanges with other ranks, copies from the memory of its host,
/// and copies to it. Each queue runs in the order of its starts.
enum class Queue : unsigned { Ranks, FromHost, ToHost };
inline constexpr unsigned kNumQueues = 3;

/// Functions that all collectives share; in Collectives.cpp and CollectiveVerifier.cpp.
namespace detail {
llvm::LogicalResult verifyCollective(mlir::Operation *op, mlir::SymbolTableCollection &tables);
int64_t bytesSent(mlir::Operation *op, int64_t ranks);
void collectEffects(mlir::Operation *op, llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);
} // namespace detail
} // namespace braid::comm

#include "dialects/Comm/CommInterfaces.h.inc"

namespace braid::comm {
/// Return the types of the tensors that a collective sends and receives, on values or in memory.
llvm::SmallVector<mlir::RankedTensorType> sentTypes(CollectiveOpInterface op);
llvm::SmallVector<mlir::RankedTensorType> receivedTypes(CollectiveOpInterface op);

/// Returns the larger of the bytes sent and received: the bytes of the whole tensors if this rank has them.
int64_t wholeBytes(CollectiveOpInterface op);
} // namespace braid::comm

#define GET_OP_CLASSES
#include "dialects/Comm/CommOps.h.inc"

namespace braid::comm {
/// Returns the queue of an action, or of the action that it starts. No value for computing actions and for waits.
std::optional<Queue> queueOf(mlir::Operation *action);
/// Returns the host copy that an action is, starts or waits for; null for others.
CopyOp copyOf(mlir::Operation *action);
} // namespace braid::comm

#endif // BRAID_DIALECTS_COMM_COMM_H
