//===- KernelAnalysis.h - how a kernel's body becomes loops -----*- C++ -*-===//
//
// A body of whole-tensor generics says what is computed; this says when.  The row
// loop around it is split into *phases* at the reductions over lanes: what reads
// the result of a reduction of phase p runs in phase p + 1, in a lane loop of its
// own.  A lane value read in several phases is computed again in each, or *kept*
// in an array when it is expensive.  A reduction over rows is an *accumulator*
// that outlives the row loop.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_KERNELANALYSIS_H
#define BRAID_LIB_CODEGEN_KERNELANALYSIS_H

#include "dialects/Exec/KernelBody.h"
#include "dialects/Exec/LanePatterns.h"
#include "lib/Codegen/ScalarOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace braid::codegen {

/// For each dim of a tensor, the dim of the kernel's space that indexes it.
using Dims = llvm::SmallVector<int64_t, 4>;
/// In place of a dim: the index is always 0.
constexpr int64_t kNoDim = -1;

/// What the runtime splits into blocks.
enum class Partition {
  Rows,   // any range of rows
  Blocks, // whole blocks of rows, one partial sum each
  Lanes,  // any range of lanes; the row loop runs inside the lane loop
};

/// How elements combine in a reduction.
enum class Combine { Sum, Max };

/// A generic of the body.
struct Node {
  mutable mlir::linalg::GenericOp op; // mutable: MLIR's accessors are not const
  /// The dim of the space of each loop.
  Dims loops;
  bool reducesLanes = false, reducesRows = false;
  Combine combine = Combine::Sum;
  /// The phase in which all its inputs exist.
  unsigned phase = 0;
  /// Read in several phases, and stored by the first.
  bool kept = false;
  /// A sum of exponentials that the loop of a maximum computes: of each the other.
  mlir::Operation *online = nullptr;
  /// A sum that is one lane of an operand, if it is one.
  std::optional<exec::PickedLane> picked;

  bool reduces() const { return reducesLanes || reducesRows; }
  /// A sum whose terms the loop of its maximum adds.
  bool isOnlineSum() const { return online && combine == Combine::Sum; }
  /// Whether a loop over lanes computes it.
  bool loopsOverLanes() const { return reducesLanes && !picked; }
  /// The dims of the space that index operand `number`, in its tensor's order.
  Dims operandDims(unsigned number) const;
  Dims resultDims() const { return operandDims(op.getNumDpsInputs()); }
  mlir::Value result() const { return op->getResult(0); }
  /// In a reduction, what is added: the operand of the combining op that is not
  /// the old value.
  mlir::Value contribution() const;
};

/// A result of the kernel.
struct Output {
  unsigned number; // among the outs
  const Node *node;
  Dims dims;
  /// The phase that stores it; row accumulators are stored after the row loop.
  unsigned phase = 0;
  /// The operand that is the same reference, or -1.
  int64_t tied = -1;
};

class KernelAnalysis {
public:
  KernelAnalysis() = default;
  KernelAnalysis(KernelAnalysis &&) = default; // not copied: outputs point to nodes
  KernelAnalysis &operator=(KernelAnalysis &&) = default;
  /// Fails, with an error on the kernel, for a body that no loop can run.
  static mlir::FailureOr<KernelAnalysis> compute(exec::KernelDefOp kernel, llvm::StringRef target);

  mutable exec::KernelDefOp kernel;
  /// A flat kernel's launches say how many elements there are or, with `anyRows`, how many rows.
  bool flat = false, anyRows = false;
  /// Sizes of the row dims; the lanes are dim `rowSizes.size()` of the space.
  llvm::SmallVector<int64_t> rowSizes;
  int64_t rows = 1, lanes = 1;
  Partition partition = Partition::Rows;
  /// With Partition::Blocks: how many leading row dims count the blocks.
  unsigned blockDims = 0;
  unsigned phases = 1;
  llvm::MapVector<mlir::Operation *, Node> nodes;
  llvm::SmallVector<Output> outputs;

  int64_t laneDim() const { return rowSizes.size(); }
  bool isLane(int64_t dim) const { return dim == laneDim(); }
  /// With a single lane there is nothing to run over: lane values are row values.
  bool hasLanes() const { return flat || lanes > 1; }
  /// Whether a tensor of these dims differs between lanes.
  bool hasLane(llvm::ArrayRef<int64_t> dims) const { return hasLanes() && llvm::is_contained(dims, laneDim()); }
  /// Whether the lanes are a multiple of every vector width.
  bool wholeLanes() const { return !flat && lanes % 16 == 0; }
  int64_t blocks() const;
  /// Whether a reduction is a sum of floats with so many terms that their rounding errors,
  /// which grow with the number of terms, would show: such a sum is compensated.
  bool isLongSum(const Node &node) const;
  /// The number of operands; they are followed by the outs in `layouts`.
  /// Whether an out goes past the caches.
  bool isStreamed(const Output &output) const {
    auto streamed = kernel->getAttrOfType<mlir::DenseI64ArrayAttr>(exec::kStreamed);
    return streamed && llvm::is_contained(streamed.asArrayRef(), output.number);
  }
  unsigned numIns() const { return kernel.getBody().getNumArguments(); }
  exec::RefType layout(unsigned operand) const {
    return mlir::cast<exec::RefType>(mlir::cast<mlir::TypeAttr>(kernel.getLayouts()[operand]).getValue());
  }
  const Node *nodeOf(mlir::Value value) const;

private:
  llvm::StringRef target; // for messages
  mlir::LogicalResult readBody();
  mlir::LogicalResult readNode(mlir::linalg::GenericOp op);
  mlir::LogicalResult readReduction(Node &node);
  mlir::LogicalResult readMarks(Node &node);
  mlir::LogicalResult readOutputs();
  void choosePartition();
  mlir::LogicalResult checkStack();
  void placeTiedOutputs();
  void chooseKept();
  /// Calls `visit` on the nodes that evaluating `node` in some phase evaluates
  /// too; it goes on below a node when `visit` says so.
  void visitInputs(const Node &node, llvm::function_ref<bool(Node &)> visit);
  bool readsOperand(const Node &node, int64_t operand);
  mlir::InFlightDiagnostic error(mlir::Operation *op) const;
};

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_KERNELANALYSIS_H
