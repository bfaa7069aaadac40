//===- PadMatmuls.cpp - matmuls over padded rows --------------------------===//
//
// Runs in memory form. A matmul whose result has padded rows also computes the padding, if zero rows follow the
// operand that gives its columns (lib/Memory/ZeroRows.h): it writes zeros there. A matmul that contracts such rows
// then also contracts the padding, if the other operand has zeros behind its rows. Kernels in between skip the padding
// of rows, so it stays zero.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/Exec.h"
#include "lib/Memory/ZeroRows.h"
#define GEN_PASS_DEF_PADMATMULSPASS
#include "passes/Arena/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

namespace {
class ProgramPadder {
public:
  ProgramPadder(ProgramOp program, const llvm::StringMap<TensorOp> &tensors);
  void run();

private:
  RefOp refOf(Value value) { return value.getDefiningOp<RefOp>(); }
  int64_t pitchOfPaddedRows(RefOp ref);
  bool hasZerosBehind(RefOp ref, int64_t rows);
  Value resized(RefOp ref, unsigned dim, int64_t size);
  void padResult(MatmulOp matmul);
  void padContraction(MatmulOp matmul);

  ProgramOp program;
  const llvm::StringMap<TensorOp> &tensors;
  llvm::StringMap<BufferOp> buffers;
  llvm::StringSet<> zeroed; // buffers whose whole padding a matmul has written
  llvm::MapVector<std::pair<Operation *, Type>, Value> references;
};
} // namespace

ProgramPadder::ProgramPadder(ProgramOp program, const llvm::StringMap<TensorOp> &tensors)
    : program(program), tensors(tensors) {
  for (auto buffer : program.getOps<BufferOp>())
    buffers[buffer.getSymName()] = buffer;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

/// Returns the pitch of a reference's rows, if padding of its buffer lies between them; else 0. A slice of longer rows
/// has the same strides and no padding.
int64_t ProgramPadder::pitchOfPaddedRows(RefOp ref) {
  BufferOp buffer = buffers.lookup(ref.getBuffer());
  RefType type = ref.getType();
  if (!buffer || !buffer.getPadding() || type.getShape().size() < 2 || type.getStrides().back() != 1)
    return 0;
  int64_t pitch = 0, columns = type.getShape().back(), element = elementBytes(type.getElementType());
  for (auto [size, stride] : llvm::zip(type.getShape().drop_back(), type.getStrides()))
    if (size != 1)
      pitch = pitch == 0 ? stride : std::min(pitch, stride);
  if (pitch <= columns)
    return 0;
  int64_t row = pitch * element, bytes = buffer.getBytes(), padding = *buffer.getPadding();
  bool isWhole = bytes % row == 0 && static_cast<int64_t>(ref.getOffset()) % row == 0;
  return isWhole && padding == bytes / row * (pitch - columns) * element ? pitch : 0;
}

/// Whether zeros follow the rows of this reference, up to `rows` rows. The rows must be the last of a persistent
/// tensor.
bool ProgramPadder::hasZerosBehind(RefOp ref, int64_t rows) {
  TensorOp tensor = tensors.lookup(ref.getBuffer());
  RefType type = ref.getType();
  if (!tensor || !type.isContiguous() || type.getShape().empty())
    return false;
  auto whole = cast<RankedTensorType>(tensor.getType());
  int64_t row = type.getSpanBytes() / type.getShape().front(), begin = ref.getOffset();
  bool isLast = begin + type.getSpanBytes() == whole.getNumElements() * elementBytes(whole.getElementType());
  return isLast && begin + rows * row <= static_cast<int64_t>(tensor.getBytes());
}

/// Returns the reference with another size of a dim, at the same address.
Value ProgramPadder::resized(RefOp ref, unsigned dim, int64_t size) {
  RefType type = ref.getType();
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  auto wide = RefType::get(ref.getContext(), shape, type.getElementType(), type.getStrides());
  Value &known = references[{ref, wide}];
  if (!known) {
    OpBuilder builder(ref);
    builder.setInsertionPointAfter(ref);
    known = builder.create<RefOp>(ref.getLoc(), wide, ref.getBuffer(), ref.getOffset());
  }
  return known;
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

void ProgramPadder::padResult(MatmulOp matmul) {
  std::optional<unsigned> operand = operandOfColumns(matmul);
  if (!operand)
    return;
  RefOp rows = refOf(matmul->getOperand(*operand)), result = refOf(matmul.getOuts().front());
  int64_t pitch = pitchOfPaddedRows(result);
  if (pitch == 0 || !hasZerosBehind(rows, pitch))
    return;
  Value wide = resized(result, result.getType().getShape().size() - 1, pitch);
  if (result.getOffset() == 0 && cast<RefType>(wide.getType()).getSpanBytes() ==
                                     static_cast<int64_t>(buffers.lookup(result.getBuffer()).getBytes()))
    zeroed.insert(result.getBuffer());
  matmul->setOperand(*operand, resized(rows, 0, pitch));
  matmul.getOutsMutable()[0].set(wide);
}

void ProgramPadder::padContraction(MatmulOp matmul) {
  StringRef letters[] = {matmul.getContraction().getLhs(), matmul.getContraction().getRhs()};
  for (unsigned padded : {0, 1}) {
    StringRef of = letters[padded], other = letters[1 - padded];
    char letter = of.empty() ? '\0' : of.back();
    if (of.empty() || other.empty() || other.front() != letter || matmul.getBiasGrad() ||
        matmul.getContraction().getResult().contains(letter))
      continue;
    RefOp rows = refOf(matmul->getOperand(padded)), zeros = refOf(matmul->getOperand(1 - padded));
    int64_t pitch = zeroed.contains(rows.getBuffer()) ? pitchOfPaddedRows(rows) : 0;
    if (pitch == 0 || !hasZerosBehind(zeros, pitch))
      continue;
    matmul->setOperand(padded, resized(rows, of.size() - 1, pitch));
    matmul->setOperand(1 - padded, resized(zeros, 0, pitch));
    return;
  }
}

void ProgramPadder::run() {
  for (auto matmul : program.getOps<MatmulOp>()) {
    padResult(matmul);
    padContraction(matmul);
  }
  llvm::SetVector<Operation *> replaced;
  for (auto &[from, to] : references)
    if (from.first->use_empty())
      replaced.insert(from.first);
  for (Operation *ref : replaced)
    ref->erase();
}

namespace {
struct PadMatmulsPass : braid::impl::PadMatmulsPassBase<PadMatmulsPass> {
  using PadMatmulsPassBase::PadMatmulsPassBase;

  void runOnOperation() final {
    llvm::StringMap<TensorOp> tensors;
    for (auto tensor : getOperation().getOps<TensorOp>())
      tensors[tensor.getSymName()] = tensor;
    for (auto program : getOperation().getOps<ProgramOp>())
      ProgramPadder(program, tensors).run();
  }
};
} // namespace
