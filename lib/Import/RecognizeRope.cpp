//===- RecognizeRope.cpp - rotary embeddings by their tables --------------===//
//
// x C + rotated(x) S with known tables C and S is a rotary embedding if C and S are cosines and sines of s f(i) at
// position s, where f(i) is theta^(-i/half) or a scaling of it. The same may be spelled for both halves of x. Theta is
// read off the tables, and then every entry of them is checked.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Match.h"
#include "lib/Import/Recognize.h"

using namespace llvm;
using namespace mlir;
using namespace braid;

/// Returns x if a value is x with its halves exchanged, the first one negated.
static Value rotatedHalves(Value value) {
  auto concat = value.getDefiningOp<tg::ConcatOp>();
  if (!concat || concat.getInputs().size() != 2)
    return {};
  auto negated = concat.getInputs()[0].getDefiningOp<arith::NegFOp>();
  auto high = negated ? negated.getOperand().getDefiningOp<tg::SliceOp>() : nullptr;
  auto low = concat.getInputs()[1].getDefiningOp<tg::SliceOp>();
  RankedTensorType type = tg::typeOf(value);
  uint64_t last = type.getRank() - 1, half = type.getShape().back() / 2;
  auto isHalf = [&](tg::SliceOp slice, uint64_t offset) {
    return slice.getDim() == last && slice.getOffset() == offset && slice.getSize() == half && slice.getStride() == 1;
  };
  if (!high || !low || concat.getDim() != last || type.getShape().back() % 2 || high.getInput() != low.getInput())
    return {};
  return isHalf(high, half) && isHalf(low, 0) ? low.getInput() : Value();
}

/// Numbers by position and lane.
namespace {
struct Table {
  std::vector<double> numbers;
  int64_t positions, lanes;
  /// Dim of the positions in the tensor that is turned.
  int64_t dim;
  double at(int64_t position, int64_t lane) const { return numbers[position * lanes + lane]; }
};
} // namespace

/// Returns the dim of positions, 1 or 2, if a broadcast repeats a table over batch and heads, the other dims; 2 without
/// a broadcast, or -1.
static int64_t positionDim(tg::BroadcastOp broadcast) {
  if (!broadcast)
    return 2;
  ArrayRef<int64_t> dims = broadcast.getDims(), from = tg::typeOf(broadcast.getInput()).getShape();
  SmallVector<int64_t> wide;
  for (auto [dim, size] : zip_equal(dims, from))
    if (size != 1)
      wide.push_back(dim);
  return wide.size() == 2 && wide[1] == 3 && (wide[0] == 1 || wide[0] == 2) ? wide[0] : -1;
}

/// Returns the table that is repeated over batch and heads, if it is known.
static std::optional<Table> tableOf(Value value, const KnownValues &known) {
  RankedTensorType type = tg::typeOf(value);
  int64_t dim = positionDim(value.getDefiningOp<tg::BroadcastOp>());
  for (Value source = value; source && dim > 0;) {
    auto found = known.find(source);
    if (found != known.end()) {
      int64_t positions = type.getDimSize(dim), lanes = type.getDimSize(3);
      std::optional<std::vector<double>> numbers = found->second.numbers();
      if (numbers && static_cast<int64_t>(numbers->size()) == positions * lanes)
        return Table{std::move(*numbers), positions, lanes, dim};
    }
    Operation *definition = source.getDefiningOp();
    source = isa_and_present<tg::BroadcastOp, tg::ReshapeOp>(definition) ? definition->getOperand(0) : Value();
  }
  return std::nullopt;
}

namespace {
/// The angles of a rotary embedding.
struct Angles {
  double theta;
  tg::RopeScalingAttr scaling;
};
} // namespace

/// Tables in f32 give a base to about six digits; bases are round numbers.
static double roundBase(double theta) {
  double unit = std::pow(10, std::floor(std::log10(theta)) - 3), round = std::round(theta / unit) * unit;
  return std::abs(round - theta) < 1e-4 * theta ? round : theta;
}

/// Returns the angle of a lane at position 1 (#tg.rope_scaling says how a scaling changes it).
static double frequencyOf(const Angles &angles, int64_t lane, int64_t half) {
  double frequency = std::pow(angles.theta, -static_cast<double>(lane) / half);
  if (!angles.scaling)
    return frequency;
  double factor = angles.scaling.getFactor().convertToDouble();
  if (angles.scaling.isLinear())
    return frequency / factor;
  double low = angles.scaling.getLow().convertToDouble(), high = angles.scaling.getHigh().convertToDouble();
  double turns = angles.scaling.getPositions() * frequency / (2 * M_PI);
  double weight = std::clamp((turns - low) / (high - low), 0.0, 1.0);
  return frequency * (weight + (1 - weight) / factor);
}

/// Whether all entries of the tables are cosines and sines of these angles.
static bool areTablesOf(const Angles &angles, const Table &cosines, const Table &sines) {
  int64_t half = cosines.lanes / 2;
  for (int64_t lane = 0; lane < cosines.lanes; ++lane) {
    double frequency = frequencyOf(angles, lane % half, half);
    for (int64_t position = 0; position < cosines.positions; ++position) {
      double bound = 1e-6 * (2 + position);
      if (std::abs(cosines.at(position, lane) - std::cos(position * frequency)) > bound ||
          std::abs(sines.at(position, lane) - std::sin(position * frequency)) > bound)
        return false;
    }
  }
  return true;
}

/// Returns the angles of which the tables are cosines and sines. Candidates are read off position 1: no scaling, a
/// linear one, and that of Llama 3 with its usual bounds.
static std::optional<Angles> anglesOf(const Table &cosines, const Table &sines, MLIRContext *context) {
  int64_t half = cosines.lanes / 2;
  if (cosines.positions < 2 || half < 2)
    return std::nullopt;
  auto frequency = [&](int64_t lane) { return std::atan2(sines.at(1, lane), cosines.at(1, lane)); };
  double first = frequency(0), second = frequency(1), last = frequency(half - 1);
  if (!(first > 0 && second > 0 && last > 0))
    return std::nullopt;
  auto scaling = [&](double factor, double low, double high, int64_t positions) {
    return tg::RopeScalingAttr::get(context, APFloat(factor), APFloat(low), APFloat(high), positions);
  };
  double whole = roundBase(std::pow(last / first, -static_cast<double>(half) / (half - 1)));
  double fast = roundBase(std::pow(second / first, -static_cast<double>(half)));
  SmallVector<Angles> candidates{{whole, {}}};
  if (double factor = std::round(1e4 / first) / 1e4; factor > 1)
    candidates.push_back({whole, scaling(factor, 0, 0, 0)});
  double slowest = std::pow(fast, -static_cast<double>(half - 1) / half);
  if (double factor = std::round(slowest / last * 1e3) / 1e3; factor > 1)
    candidates.push_back({fast, scaling(factor, 1, 4, 8192)});
  for (const Angles &angles : candidates)
    if (angles.theta > 1 && angles.theta < 1e12 && areTablesOf(angles, cosines, sines))
      return angles;
  return std::nullopt;
}

/// Turns x, whose positions are in dim 1 or 2, if the tables are those of angles. tg.rope has positions in dim 1.
static Value turned(Operation *op, Value x, Value cosines, Value sines, const KnownValues &known) {
  std::optional<Table> cosine = tableOf(cosines, known), sine = tableOf(sines, known);
  if (!cosine || !sine || cosine->dim != sine->dim)
    return {};
  // Tables of half a head are those of a whole one, whose halves are equal.
  int64_t size = tg::typeOf(x).getDimSize(3);
  for (Table *table : {&*cosine, &*sine})
    if (table->lanes * 2 == size) {
      std::vector<double> numbers;
      for (int64_t position = 0; position < table->positions; ++position)
        for (int64_t lane = 0; lane < size; ++lane)
          numbers.push_back(table->at(position, lane % table->lanes));
      *table = {std::move(numbers), table->positions, size, table->dim};
    }
  std::optional<Angles> angles = anglesOf(*cosine, *sine, op->getContext());
  if (!angles)
    return {};
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  auto exchanged = [&](Value a) { return cosine->dim == 1 ? a : b.transpose(a, {0, 2, 1, 3}); };
  Value first = exchanged(x);
  return exchanged(
      b.make<tg::RopeOp>(first.getType(), first, APFloat(angles->theta), IntegerAttr(), angles->scaling, false));
}

/// x C + rotated(x) S.
static Value ropeOfSum(Operation *op, const KnownValues &known) {
  Value result;
  match::either<arith::AddFOp>(op->getResult(0), [&](Value straight, Value crossed) {
    return match::either<arith::MulFOp>(crossed, [&](Value rotated, Value sines) {
      Value x = rotatedHalves(rotated);
      return x && match::either<arith::MulFOp>(straight, [&](Value same, Value cosines) {
               result = same == x ? turned(op, x, cosines, sines, known) : Value();
               return result != Value();
             });
    });
  });
  return result;
}

/// Returns the other factor of a product with `factor`, or null.
static Value otherFactor(Value product, Value factor) {
  Value other;
  match::either<arith::MulFOp>(product, [&](Value a, Value b) {
    other = a == factor ? b : Value();
    return other != Value();
  });
  return other;
}

/// Halves that were turned, side by side: low C - high S and high C + low S.
static Value ropeOfHalves(tg::ConcatOp op, const KnownValues &known) {
  if (op.getInputs().size() != 2 || op.getDim() != 3)
    return {};
  auto difference = op.getInputs()[0].getDefiningOp<arith::SubFOp>();
  Value result;
  if (!difference)
    return result;
  match::either<arith::MulFOp>(difference.getLhs(), [&](Value low, Value cosines) {
    return match::either<arith::MulFOp>(difference.getRhs(), [&](Value high, Value sines) {
      auto first = low.getDefiningOp<tg::SliceOp>(), second = high.getDefiningOp<tg::SliceOp>();
      uint64_t half = tg::typeOf(low).getDimSize(3);
      auto isHalf = [&](tg::SliceOp slice, uint64_t offset) {
        return slice && slice.getDim() == 3 && slice.getOffset() == offset && slice.getStride() == 1;
      };
      if (!isHalf(first, 0) || !isHalf(second, half) || first.getInput() != second.getInput() ||
          first.getInput().getType() != op.getType())
        return false;
      bool isTurned = match::either<arith::AddFOp>(op.getInputs()[1], [&](Value a, Value b) {
        return otherFactor(a, high) == cosines && otherFactor(b, low) == sines;
      });
      result = isTurned ? turned(op, first.getInput(), cosines, sines, known) : Value();
      return result != Value();
    });
  });
  return result;
}

Value patterns::rope(Operation *op, const KnownValues &known) {
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) ||
      tg::typeOf(op->getResult(0)).getRank() != 4)
    return {};
  if (auto concat = dyn_cast<tg::ConcatOp>(op))
    return ropeOfHalves(concat, known);
  return isa<arith::AddFOp>(op) ? ropeOfSum(op, known) : Value();
}

/// The first lanes of a head turn, and the others follow as they are.
Value patterns::partialRope(Operation *op) {
  auto concat = dyn_cast<tg::ConcatOp>(op);
  if (!concat || concat.getInputs().size() != 2 || tg::typeOf(concat).getRank() != 4 || concat.getDim() != 3)
    return {};
  // transpose(rope(transpose(low lanes))) is what `rope` has left here.
  auto back = concat.getInputs()[0].getDefiningOp<tg::TransposeOp>();
  auto rope = back ? back.getInput().getDefiningOp<tg::RopeOp>() : nullptr;
  auto there = rope && !rope.getDims() ? rope.getInput().getDefiningOp<tg::TransposeOp>() : nullptr;
  auto low = there ? there.getInput().getDefiningOp<tg::SliceOp>() : nullptr;
  auto high = concat.getInputs()[1].getDefiningOp<tg::SliceOp>();
  if (!low || !high || low.getInput() != high.getInput() || low.getInput().getType() != concat.getType())
    return {};
  uint64_t turned = low.getSize();
  if (low.getDim() != 3 || high.getDim() != 3 || low.getOffset() != 0 || high.getOffset() != turned ||
      low.getStride() != 1 || high.getStride() != 1 || back.getPermutation() != ArrayRef<int64_t>({0, 2, 1, 3}))
    return {};
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  Value first = b.transpose(low.getInput(), {0, 2, 1, 3});
  Value result = b.make<tg::RopeOp>(first.getType(), first, rope.getThetaAttr(), builder.getI64IntegerAttr(turned),
                                    rope.getScalingAttr(), UnitAttr());
  return b.transpose(result, {0, 2, 1, 3});
}
