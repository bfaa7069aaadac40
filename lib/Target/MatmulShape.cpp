//===- MatmulShape.cpp - roles of a contraction's letters -----------------===//
//
// Each letter has one role: m (left and result), n (right and result), k (both
// operands) or batch (all three).  Letters of a role that are one strided walk in both
// of their tensors form one dimension.  One dimension of each role goes into the GEMM:
// the legal choice with the most work. The others become loops.
//
//===----------------------------------------------------------------------===//

#include "lib/Target/MatmulShape.h"

using namespace mlir;
using namespace braid;

namespace {
/// One letter, or several that are one strided walk; strides are 0 in a tensor without it.
struct Dim {
  int64_t size, lhs, rhs, out, addend;
};

struct Roles {
  SmallVector<Dim> batch, m, n, k;
};
} // namespace

static int64_t strideOf(StringRef letters, char letter, exec::RefType ref) {
  size_t dim = letters.find(letter);
  return dim == StringRef::npos ? 0 : ref.getStrides()[dim];
}

/// Adds a dim inside `dims.back()`. Merges the two if they are one strided walk.
static void addDim(SmallVectorImpl<Dim> &dims, Dim dim) {
  if (!dims.empty()) {
    Dim &outer = dims.back();
    if (outer.lhs == dim.lhs * dim.size && outer.rhs == dim.rhs * dim.size && outer.out == dim.out * dim.size &&
        outer.addend == dim.addend * dim.size) {
      outer = {outer.size * dim.size, dim.lhs, dim.rhs, dim.out, dim.addend};
      return;
    }
  }
  dims.push_back(dim);
}

/// Returns the letters by role, in the order of the result; for k, in the order of the left operand.
static Roles sortLetters(tg::ContractionAttr contraction, exec::RefType lhs, exec::RefType rhs, exec::RefType out,
                         exec::RefType addend) {
  StringRef left = contraction.getLhs(), right = contraction.getRhs(), result = contraction.getResult();
  Roles roles;
  auto dimOf = [&](char letter, int64_t size) {
    return Dim{size, strideOf(left, letter, lhs), strideOf(right, letter, rhs), strideOf(result, letter, out),
               strideOf(result, letter, addend)};
  };
  for (auto [letter, size] : llvm::zip(result, out.getShape())) {
    bool inLeft = left.contains(letter), inRight = right.contains(letter);
    if (size > 1)
      addDim(inLeft && inRight ? roles.batch : inLeft ? roles.m : roles.n, dimOf(letter, size));
  }
  for (auto [letter, size] : llvm::zip(left, lhs.getShape()))
    if (size > 1 && !result.contains(letter))
      addDim(roles.k, dimOf(letter, size));
  return roles;
}

/// Makes one stride of a matrix 1 if possible; else returns false. A dim of size 1 may
/// have any stride; a matrix has no repeated dim (stride 0).
static bool makeUnit(int64_t rows, int64_t columns, int64_t &row, int64_t &column) {
  if (rows == 1)
    row = column == 1 ? columns : 1;
  if (columns == 1)
    column = row == 1 ? rows : 1;
  return row > 0 && column > 0 && (row == 1 || column == 1);
}

/// Returns the GEMM over one dim of each role (-1: size 1); fails if it is not legal.
static FailureOr<MatmulShape> tryShape(const Roles &roles, int mDim, int nDim, int kDim) {
  const Dim one{1, 0, 0, 0, 0};
  Dim m = mDim < 0 ? one : roles.m[mDim], n = nDim < 0 ? one : roles.n[nDim], k = kDim < 0 ? one : roles.k[kDim];
  MatmulShape shape;
  shape.m = m.size, shape.n = n.size, shape.k = k.size;
  shape.lhsM = m.lhs, shape.lhsK = k.lhs, shape.rhsK = k.rhs, shape.rhsN = n.rhs;
  shape.outM = m.out, shape.outN = n.out, shape.addendM = m.addend, shape.addendN = n.addend;
  if (!makeUnit(m.size, k.size, shape.lhsM, shape.lhsK) || !makeUnit(k.size, n.size, shape.rhsK, shape.rhsN))
    return failure();
  if (n.size == 1)
    shape.outN = shape.addendN = 1;
  if (m.size == 1)
    shape.outM = shape.addendM = shape.n;
  if (shape.outN != 1 || shape.outM < shape.n || shape.addendN != 1 || shape.addendM < shape.n)
    return failure();
  auto addLoops = [](SmallVectorImpl<MatmulLoop> &loops, ArrayRef<Dim> dims, int excluded) {
    for (auto [index, dim] : llvm::enumerate(dims))
      if (static_cast<int>(index) != excluded)
        loops.push_back({dim.size, dim.lhs, dim.rhs, dim.out, dim.addend});
  };
  addLoops(shape.batch, roles.batch, -1);
  addLoops(shape.batch, roles.m, mDim);
  addLoops(shape.batch, roles.n, nDim);
  addLoops(shape.outer, roles.k, kDim);
  return shape;
}

/// Returns the legal choice with the most work in one GEMM.
static FailureOr<MatmulShape> bestShape(const Roles &roles) {
  FailureOr<MatmulShape> best = failure();
  auto first = [](ArrayRef<Dim> dims) { return dims.empty() ? -1 : 0; };
  for (int m = first(roles.m); m < static_cast<int>(roles.m.size()); ++m)
    for (int n = first(roles.n); n < static_cast<int>(roles.n.size()); ++n)
      for (int k = first(roles.k); k < static_cast<int>(roles.k.size()); ++k) {
        FailureOr<MatmulShape> shape = tryShape(roles, m, n, k);
        if (succeeded(shape) && (failed(best) || shape->m * shape->n * shape->k > best->m * best->n * best->k))
          best = shape;
      }
  return best;
}

/// Returns the same contraction with left and right exchanged.
static Roles exchanged(const Roles &roles) {
  Roles result{roles.batch, roles.n, roles.m, roles.k};
  for (auto *dims : {&result.batch, &result.m, &result.n, &result.k})
    for (Dim &dim : *dims)
      std::swap(dim.lhs, dim.rhs);
  return result;
}

static FailureOr<MatmulShape> matmulShape(tg::ContractionAttr contraction, exec::RefType lhs, exec::RefType rhs,
                                          exec::RefType out, exec::RefType addend, std::string *reason) {
  // Take the order of operands in which n has stride 1 in the result. If both orders have it
  // (vectors), take the one with more work.
  Roles roles = sortLetters(contraction, lhs, rhs, out, addend);
  FailureOr<MatmulShape> straight = bestShape(roles), swapped = bestShape(exchanged(roles));
  if (succeeded(swapped)) {
    swapped->swapped = true;
    if (failed(straight) || swapped->m * swapped->n * swapped->k > straight->m * straight->n * straight->k)
      return swapped;
  }
  if (failed(straight) && reason)
    *reason = "no matrix of \"" + contraction.getSpec() + "\" has unit strides that a GEMM could use";
  return straight;
}

FailureOr<MatmulShape> braid::matmulShape(tg::ContractionAttr contraction, exec::RefType lhs, exec::RefType rhs,
                                          exec::RefType out, std::string *reason) {
  return ::matmulShape(contraction, lhs, rhs, out, /*addend=*/out, reason);
}

FailureOr<MatmulShape> braid::matmulShape(exec::MatmulOp matmul, std::string *reason) {
  auto type = [](Value ref) { return cast<exec::RefType>(ref.getType()); };
  Value out = matmul.getOuts().front();
  return ::matmulShape(matmul.getContraction(), type(matmul.getLhs()), type(matmul.getRhs()), type(out),
                       type(matmul.getAddend() ? matmul.getAddend() : out), reason);
}
