//===- TGInfer.cpp - result types from operand types ----------------------===//
//
// Every message names the two shapes (or numbers) that disagree.
//
//===----------------------------------------------------------------------===//

#include "dialects/Interfaces/TensorShape.h"
#include "dialects/TG/TG.h"
#include "dialects/TG/TGBuilder.h"

using namespace mlir;
using namespace braid::tg;

namespace {
using Loc = std::optional<Location>;
using Types = SmallVectorImpl<Type>;

/// Fails unless `type` has the shape and element type of `expected`.
LogicalResult expect(Loc loc, StringRef what, RankedTensorType type, RankedTensorType expected, StringRef why) {
  if (type == expected)
    return success();
  return emitOptionalError(loc, what, " is ", type, " but ", why, " needs ", expected);
}

LogicalResult checkDim(Loc loc, int64_t dim, RankedTensorType type) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return emitOptionalError(loc, "dim ", dim, " is out of range for ", type);
}
} // namespace

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

LogicalResult ContractOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType left = typeOf(adaptor.getLhs()), right = typeOf(adaptor.getRhs());
  if (left.getElementType() != right.getElementType())
    return emitOptionalError(loc, "operands have the element types ", left, " and ", right);
  llvm::Expected<SmallVector<int64_t>> shape = adaptor.getContraction().getResultShape(left, right);
  if (!shape)
    return emitOptionalError(loc, llvm::toString(shape.takeError()));
  RankedTensorType type = withShape(left, *shape);
  bool isWide = adaptor.getWide() && type.getElementType().isBF16();
  types.push_back(isWide ? RankedTensorType::get(*shape, Float32Type::get(type.getContext())) : type);
  return success();
}

bool ContractOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange actual) {
  if (inferred == actual)
    return true;
  auto narrow = cast<RankedTensorType>(inferred.front()), wide = cast<RankedTensorType>(actual.front());
  return narrow.getShape() == wide.getShape() && narrow.getElementType().isBF16() && wide.getElementType().isF32();
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType type = typeOf(adaptor.getInput());
  SmallVector<int64_t> shape;
  int64_t next = 0;
  for (int64_t dim : adaptor.getDims()) {
    if (failed(checkDim(loc, dim, type)))
      return failure();
    if (dim < next)
      return emitOptionalError(loc, "dims must be strictly increasing, found ", dim, " after ", next - 1);
    for (; next < dim; ++next)
      shape.push_back(type.getDimSize(next));
    ++next;
  }
  for (; next < type.getRank(); ++next)
    shape.push_back(type.getDimSize(next));
  types.push_back(withShape(type, shape));
  return success();
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType type = typeOf(adaptor.getInput());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  SmallVector<int64_t> shape, seen(type.getRank(), 0);
  if (static_cast<int64_t>(permutation.size()) != type.getRank())
    return emitOptionalError(loc, "permutation has ", permutation.size(), " dims but the operand is ", type);
  for (int64_t dim : permutation) {
    if (failed(checkDim(loc, dim, type)))
      return failure();
    if (seen[dim]++)
      return emitOptionalError(loc, "permutation names dim ", dim, " twice");
    shape.push_back(type.getDimSize(dim));
  }
  types.push_back(withShape(type, shape));
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType type = typeOf(adaptor.getInput());
  int64_t dim = adaptor.getDim(), offset = adaptor.getOffset(), size = adaptor.getSize(), stride = adaptor.getStride();
  if (failed(checkDim(loc, dim, type)))
    return failure();
  int64_t extent = type.getDimSize(dim);
  // Each number is bounded before they are combined, so nothing overflows.
  if (offset < 0 || size < 1 || stride < 1 || offset >= extent || size > extent || stride > extent ||
      offset + (size - 1) * stride >= extent)
    return emitOptionalError(loc, "slice of offset ", offset, ", size ", size, " and stride ", stride, " exceeds dim ",
                             dim, " of ", type);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  types.push_back(withShape(type, shape));
  return success();
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(loc, "concat needs at least one operand");
  RankedTensorType first = typeOf(adaptor.getInputs().front());
  int64_t dim = adaptor.getDim();
  if (failed(checkDim(loc, dim, first)))
    return failure();
  SmallVector<int64_t> shape(first.getShape());
  shape[dim] = 0;
  for (Value input : adaptor.getInputs()) {
    RankedTensorType type = typeOf(input);
    SmallVector<int64_t> expected(first.getShape());
    if (type.getRank() == first.getRank())
      expected[dim] = type.getDimSize(dim);
    if (failed(expect(loc, "an operand", type, withShape(first, expected), "concat with the first operand")))
      return failure();
    shape[dim] += type.getDimSize(dim);
  }
  types.push_back(withShape(first, shape));
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType type = typeOf(adaptor.getInput());
  if (failed(checkDim(loc, adaptor.getDim(), type)))
    return failure();
  int64_t low = adaptor.getLow(), high = adaptor.getHigh();
  if (low < 0 || high < 0)
    return emitOptionalError(loc, "padding must not be negative, found low ", low, " and high ", high);
  if (low > braid::kMaxElements || high > braid::kMaxElements)
    return emitOptionalError(loc, "padding of low ", low, " and high ", high, " makes more than 2^53 elements");
  SmallVector<int64_t> shape(type.getShape());
  shape[adaptor.getDim()] += low + high;
  types.push_back(withShape(type, shape));
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType table = typeOf(adaptor.getTable());
  if (table.getRank() != 2)
    return emitOptionalError(loc, "table must have rank 2 (rows x width), found ", table);
  SmallVector<int64_t> shape(typeOf(adaptor.getIndices()).getShape());
  shape.push_back(table.getDimSize(1));
  types.push_back(withShape(table, shape));
  return success();
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Returns the type of one value per row: the last dim dropped. Fails on rank 0.
static FailureOr<RankedTensorType> rowsOf(Loc loc, RankedTensorType type) {
  if (type.getRank() == 0)
    return emitOptionalError(loc, "operand must have a last dim, found ", type);
  return withShape(type, type.getShape().drop_back());
}

static RankedTensorType lanesOf(RankedTensorType type) { return withShape(type, type.getShape().take_back()); }

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType input = typeOf(adaptor.getInput());
  auto rows = rowsOf(loc, input);
  if (failed(rows) ||
      failed(expect(loc, "weight", typeOf(adaptor.getWeight()), lanesOf(input), "the input's last dim")))
    return failure();
  if (adaptor.getBias() &&
      failed(expect(loc, "bias", typeOf(adaptor.getBias()), lanesOf(input), "the input's last dim")))
    return failure();
  types.append({input, *rows, *rows});
  return success();
}

LogicalResult LayerNormGradOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType input = typeOf(adaptor.getInput());
  auto rows = rowsOf(loc, input);
  if (failed(rows) ||
      failed(expect(loc, "weight", typeOf(adaptor.getWeight()), lanesOf(input), "the input's last dim")) ||
      failed(expect(loc, "mean", typeOf(adaptor.getMean()), *rows, "the input's rows")) ||
      failed(expect(loc, "rstd", typeOf(adaptor.getRstd()), *rows, "the input's rows")) ||
      failed(expect(loc, "gradient", typeOf(adaptor.getGradient()), input, "the input")))
    return failure();
  types.append({input, lanesOf(input), lanesOf(input)});
  return success();
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType input = typeOf(adaptor.getInput());
  auto rows = rowsOf(loc, input);
  if (failed(rows) ||
      failed(expect(loc, "weight", typeOf(adaptor.getWeight()), lanesOf(input), "the input's last dim")))
    return failure();
  types.append({input, *rows});
  return success();
}

LogicalResult RmsNormGradOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType input = typeOf(adaptor.getInput());
  auto rows = rowsOf(loc, input);
  if (failed(rows) ||
      failed(expect(loc, "weight", typeOf(adaptor.getWeight()), lanesOf(input), "the input's last dim")) ||
      failed(expect(loc, "rrms", typeOf(adaptor.getRrms()), *rows, "the input's rows")) ||
      failed(expect(loc, "gradient", typeOf(adaptor.getGradient()), input, "the input")))
    return failure();
  types.append({input, lanesOf(input)});
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Checks q, k, v and documents; returns the type of the row log-sum-exp.
template <typename Adaptor> static FailureOr<RankedTensorType> attentionRows(Loc loc, Adaptor adaptor) {
  RankedTensorType query = typeOf(adaptor.getQuery()), key = typeOf(adaptor.getKey());
  RankedTensorType value = typeOf(adaptor.getValue());
  MaskAttr mask = adaptor.getMask();
  if (query.getRank() != 4 || key.getRank() != 4)
    return emitOptionalError(loc, "query and key must be batch x sequence x heads x size, found ", query, " and ", key);
  if (failed(expect(loc, "value", value, key, "the key")))
    return failure();
  if (query.getDimSize(0) != key.getDimSize(0) || query.getDimSize(3) != key.getDimSize(3) ||
      query.getElementType() != key.getElementType())
    return emitOptionalError(loc, "query ", query, " and key ", key,
                             " must agree in batch, head size and element type");
  if (query.getDimSize(2) % key.getDimSize(2))
    return emitOptionalError(loc, "the ", key.getDimSize(2), " heads of key ", key, " do not divide the ",
                             query.getDimSize(2), " heads of query ", query);
  bool atPositions = false;
  if constexpr (requires { adaptor.getQueryStart(); }) {
    atPositions = adaptor.getQueryStart() != nullptr;
    if (atPositions != (adaptor.getKeyStart() != nullptr))
      return emitOptionalError(loc, "needs the positions of both the first query and the first key, or of neither");
  }
  std::string problem = mask.problemOf(query.getDimSize(1), key.getDimSize(1), atPositions);
  if (Value documents = adaptor.getDocuments(); documents && problem.empty())
    problem =
        mask.problemOf(typeOf(documents), query.getDimSize(0), query.getDimSize(1), key.getDimSize(1), atPositions);
  if (!problem.empty())
    return emitOptionalError(loc, "attention of query ", query, " and key ", key, " ", problem);
  // The log-sum-exp is an exponent: in bf16 its error would change the weights by several percent.
  Type element = query.getElementType();
  return RankedTensorType::get({query.getDimSize(0), query.getDimSize(2), query.getDimSize(1)},
                               element.isBF16() ? Float32Type::get(query.getContext()) : element);
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType query = typeOf(adaptor.getQuery());
  auto rows = attentionRows(loc, adaptor);
  if (failed(rows))
    return failure();
  types.append({query, *rows});
  return success();
}

LogicalResult DropoutAttentionOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  if (failed(attentionRows(loc, adaptor)))
    return failure();
  types.append({typeOf(adaptor.getQuery())});
  return success();
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType query = typeOf(adaptor.getQuery()), key = typeOf(adaptor.getKey());
  auto rows = attentionRows(loc, adaptor);
  if (failed(rows) || failed(expect(loc, "output", typeOf(adaptor.getOutput()), query, "the query")) ||
      failed(expect(loc, "lse", typeOf(adaptor.getLse()), *rows, "the query's rows")) ||
      failed(expect(loc, "gradient", typeOf(adaptor.getGradient()), query, "the query")))
    return failure();
  types.append({query, key, key});
  return success();
}

//===----------------------------------------------------------------------===//
// Loss and optimizers
//===----------------------------------------------------------------------===//

static LogicalResult checkTargets(Loc loc, RankedTensorType rows, RankedTensorType targets) {
  if (rows.getShape() == targets.getShape())
    return success();
  return emitOptionalError(loc, "targets ", targets, " must have the shape of the logits' rows, ", rows);
}

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType logits = typeOf(adaptor.getLogits());
  auto rows = rowsOf(loc, logits);
  if (failed(rows) || failed(checkTargets(loc, *rows, typeOf(adaptor.getTargets()))))
    return failure();
  types.append({withShape(logits, {}), *rows});
  return success();
}

LogicalResult CrossEntropyGradOp::inferReturnTypes(MLIRContext *, Loc loc, Adaptor adaptor, Types &types) {
  RankedTensorType logits = typeOf(adaptor.getLogits());
  auto rows = rowsOf(loc, logits);
  if (failed(rows) || failed(checkTargets(loc, *rows, typeOf(adaptor.getTargets()))) ||
      failed(expect(loc, "lse", typeOf(adaptor.getLse()), *rows, "the logits' rows")) ||
      failed(expect(loc, "gradient", typeOf(adaptor.getGradient()), withShape(logits, {}), "a scalar loss")))
    return failure();
  types.push_back(logits);
  return success();
}
