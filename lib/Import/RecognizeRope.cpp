//===- RecognizeRope.cpp - rotary embeddings by their tables --------------===//
//
// x C + rotated(x) S with known tables C and S is a rotary embedding if C and S are cosines and sines of s f(i) at
// position s, where f(i) is theta^(-i/half) or a scaling of it. The same may be spelled for both halves of x. Theta is
// read off the tables, and then every entry of them is checked.
//
// Neighboring lanes may turn together instead of halves. Such lanes are put in the order of halves, turned, and put
// back.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/MatchRows.h"
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

/// Even or odd lanes of a tensor.
namespace {
struct Lanes {
  Value of;
  bool isOdd;
};
} // namespace

/// Returns the lanes that a value has: those of a slice with stride 2, or of one of the pairs that a reshape made.
static std::optional<Lanes> lanesOf(Value value) {
  auto slice = match::beforeOnes(value).getDefiningOp<tg::SliceOp>();
  if (!slice || slice.getOffset() > 1)
    return std::nullopt;
  Value of = slice.getInput();
  uint64_t last = tg::typeOf(of).getRank() - 1;
  if (slice.getDim() != last)
    return std::nullopt;
  auto pairs = of.getDefiningOp<tg::ReshapeOp>();
  if (slice.getSize() != 1)
    return slice.getStride() == 2 && slice.getSize() * 2 == static_cast<uint64_t>(tg::typeOf(of).getDimSize(last))
               ? std::optional(Lanes{of, slice.getOffset() == 1})
               : std::nullopt;
  if (!pairs || tg::typeOf(of).getDimSize(last) != 2 ||
      tg::typeOf(pairs.getInput()).getRank() != static_cast<int64_t>(last) ||
      tg::typeOf(pairs.getInput()).getShape().drop_back() != tg::typeOf(of).getShape().drop_back(2))
    return std::nullopt;
  return Lanes{pairs.getInput(), slice.getOffset() == 1};
}

/// Returns the even and the odd lanes from which a value is joined, or nulls.
static std::pair<Value, Value> joinedLanes(Value value) {
  auto reshape = value.getDefiningOp<tg::ReshapeOp>();
  auto concat = reshape ? reshape.getInput().getDefiningOp<tg::ConcatOp>() : nullptr;
  RankedTensorType type = tg::typeOf(value);
  if (!concat || concat.getInputs().size() != 2 || tg::typeOf(concat).getRank() != type.getRank() + 1 ||
      concat.getDim() != static_cast<uint64_t>(type.getRank()) || tg::typeOf(concat).getShape().back() != 2 ||
      tg::typeOf(concat).getShape().drop_back(2) != type.getShape().drop_back())
    return {};
  return {match::beforeOnes(concat.getInputs()[0]), match::beforeOnes(concat.getInputs()[1])};
}

/// Returns x if a value is x with neighboring lanes exchanged, the first of each pair negated.
static Value rotatedPairs(Value value) {
  auto [even, odd] = joinedLanes(value);
  auto negated = even ? even.getDefiningOp<arith::NegFOp>() : nullptr;
  std::optional<Lanes> first = negated ? lanesOf(negated.getOperand()) : std::nullopt,
                       second = odd ? lanesOf(odd) : std::nullopt;
  bool isRotated = first && second && first->isOdd && !second->isOdd && first->of == second->of &&
                   first->of.getType() == value.getType();
  return isRotated ? first->of : Value();
}

/// Numbers by position and lane.
namespace {
struct Table {
  std::shared_ptr<const std::vector<double>> numbers;
  int64_t positions, lanes;
  /// Dim of the positions in the tensor that is turned.
  int64_t dim;
  double at(int64_t position, int64_t lane) const { return (*numbers)[position * lanes + lane]; }
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
      const auto *dense = std::get_if<Dense>(&found->second.value);
      if (dense && static_cast<int64_t>(dense->numbers->size()) == positions * lanes)
        return Table{dense->numbers, positions, lanes, dim};
    }
    Operation *definition = source.getDefiningOp();
    source = isa_and_present<tg::BroadcastOp, tg::ReshapeOp>(definition) ? definition->getOperand(0) : Value();
  }
  return std::nullopt;
}

/// Tables in f32 give a base to about six digits; bases are round numbers.
static double roundBase(double theta) {
  double unit = std::pow(10, std::floor(std::log10(theta)) - 3), round = std::round(theta / unit) * unit;
  return std::abs(round - theta) < 1e-4 * theta ? round : theta;
}

/// Returns the angle of a lane at position 1 (#tg.rope_scaling says how a scaling changes it).
static double frequencyOf(const RopeAngles &angles, int64_t lane, int64_t half) {
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

/// Whether all entries of the tables are cosines and sines of these angles, as float32 computes them. A frequency is a
/// power, a reciprocal and a product with the position, so the relative error of an angle is at most 4 * 2^-24 (2.4 for
/// Transformers' models at positions up to 131072), and a scaling adds as many roundings. A cosine or sine adds 2 *
/// 2^-24.
static bool areTablesOf(const RopeAngles &angles, const Table &cosines, const Table &sines) {
  int64_t half = cosines.lanes / 2;
  for (int64_t lane = 0; lane < cosines.lanes; ++lane) {
    double frequency = frequencyOf(angles, lane % half, half);
    for (int64_t position = 0; position < cosines.positions; ++position) {
      double angle = position * frequency, bound = 0x1p-24 * (2 + (angles.scaling ? 8 : 4) * angle);
      if (std::abs(cosines.at(position, lane) - std::cos(angle)) > bound ||
          std::abs(sines.at(position, lane) - std::sin(angle)) > bound)
        return false;
    }
  }
  return true;
}

/// Returns the angles of which the tables are cosines and sines. Candidates are read off position 1: no scaling, a
/// linear one, and that of Llama 3 with its usual bounds.
static std::optional<RopeAngles> anglesOf(const Table &cosines, const Table &sines, MLIRContext *context) {
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
  SmallVector<RopeAngles> candidates{{whole, {}}};
  if (double factor = std::round(1e4 / first) / 1e4; factor > 1)
    candidates.push_back({whole, scaling(factor, 0, 0, 0)});
  double slowest = std::pow(fast, -static_cast<double>(half - 1) / half);
  if (double factor = std::round(slowest / last * 1e3) / 1e3; factor > 1)
    candidates.push_back({fast, scaling(factor, 1, 4, 8192)});
  for (const RopeAngles &angles : candidates)
    if (angles.theta > 1 && angles.theta < 1e12 && areTablesOf(angles, cosines, sines))
      return angles;
  return std::nullopt;
}

/// Returns the table of a whole head, whose halves are equal, for a table of half a head.
static Table ofWholeHead(const Table &table, int64_t size) {
  if (table.lanes * 2 != size)
    return table;
  auto numbers = std::make_shared<std::vector<double>>();
  for (int64_t position = 0; position < table.positions; ++position)
    for (int64_t lane = 0; lane < size; ++lane)
      numbers->push_back(table.at(position, lane % table.lanes));
  return {numbers, table.positions, size, table.dim};
}

/// Returns the numbers of half of the lanes, if neighbors are equal.
static std::optional<Table> ofPairs(const Table &table) {
  auto numbers = std::make_shared<std::vector<double>>();
  for (int64_t position = 0; position < table.positions; ++position)
    for (int64_t lane = 0; lane + 1 < table.lanes; lane += 2) {
      if (table.at(position, lane) != table.at(position, lane + 1))
        return std::nullopt;
      numbers->push_back(table.at(position, lane));
    }
  return Table{numbers, table.positions, table.lanes / 2, table.dim};
}

namespace {
/// The lanes of a head that turn together.
enum class Pairing { Halves, Neighbors };
} // namespace

/// Returns what anglesOf finds for a head of `size` lanes. All layers of a model have the same tables, which are
/// compared once.
static std::optional<RopeAngles> anglesOnce(const Table &cosines, const Table &sines, int64_t size, Pairing pairing,
                                            MLIRContext *context, RopeTables &compared) {
  bool ofNeighbors = pairing == Pairing::Neighbors;
  auto [found, isNew] =
      compared.try_emplace({cosines.numbers.get(), sines.numbers.get(), cosines.lanes, ofNeighbors ? -size : size});
  if (!isNew || cosines.lanes != sines.lanes)
    return found->second;
  bool isWhole = ofNeighbors && cosines.lanes == size;
  std::optional<Table> cosine = isWhole ? ofPairs(cosines) : cosines, sine = isWhole ? ofPairs(sines) : sines;
  if (cosine && sine)
    found->second = anglesOf(ofWholeHead(*cosine, size), ofWholeHead(*sine, size), context);
  return found->second;
}

/// Puts even lanes in front of odd ones, or back.
static Value reordered(tg::TensorBuilder &b, Value x, bool isBack) {
  SmallVector<int64_t> shape(tg::typeOf(x).getShape()), pairs(shape);
  pairs.back() = isBack ? 2 : shape.back() / 2;
  pairs.push_back(isBack ? shape.back() / 2 : 2);
  return b.reshape(b.transpose(b.reshape(x, pairs), {0, 1, 2, 4, 3}), shape);
}

/// Turns x, whose positions are in dim 1 or 2, if the tables hold cosines and sines of angles. tg.rope has positions in
/// dim 1.
static Value turned(Operation *op, Value x, Value cosines, Value sines, Pairing pairing, const KnownValues &known,
                    RopeTables &compared) {
  std::optional<Table> cosine = tableOf(cosines, known), sine = tableOf(sines, known);
  if (!cosine || !sine || cosine->dim != sine->dim)
    return {};
  std::optional<RopeAngles> angles =
      anglesOnce(*cosine, *sine, tg::typeOf(x).getDimSize(3), pairing, op->getContext(), compared);
  if (!angles)
    return {};
  OpBuilder builder(op);
  tg::TensorBuilder b(builder, op->getLoc());
  bool ofNeighbors = pairing == Pairing::Neighbors;
  auto exchanged = [&](Value a) { return cosine->dim == 1 ? a : b.transpose(a, {0, 2, 1, 3}); };
  Value first = ofNeighbors ? reordered(b, exchanged(x), /*isBack=*/false) : exchanged(x);
  Value result =
      b.make<tg::RopeOp>(first.getType(), first, APFloat(angles->theta), IntegerAttr(), angles->scaling, false);
  return exchanged(ofNeighbors ? reordered(b, result, /*isBack=*/true) : result);
}

/// x C + rotated(x) S.
static Value ropeOfSum(Operation *op, const KnownValues &known, RopeTables &compared) {
  Value result;
  match::either<arith::AddFOp>(op->getResult(0), [&](Value straight, Value crossed) {
    return match::either<arith::MulFOp>(crossed, [&](Value rotated, Value sines) {
      Value halves = rotatedHalves(rotated), x = halves ? halves : rotatedPairs(rotated);
      return x && match::either<arith::MulFOp>(straight, [&](Value same, Value cosines) {
               Pairing pairing = halves ? Pairing::Halves : Pairing::Neighbors;
               result = same == x ? turned(op, x, cosines, sines, pairing, known, compared) : Value();
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

/// Whether two values repeat the same table.
static bool isSameTable(Value a, Value b, const KnownValues &known) {
  if (!a || a == b)
    return a == b;
  std::optional<Table> first = tableOf(a, known), second = tableOf(b, known);
  return first && second && first->numbers == second->numbers && first->dim == second->dim;
}

/// Two parts of the lanes of a head that were turned: first C - second S and second C + first S. `wholeOf` returns the
/// tensor whose parts two values are, or null.
static Value ropeOfParts(Operation *op, Value firstTurned, Value secondTurned, Pairing pairing,
                         llvm::function_ref<Value(Value first, Value second)> wholeOf, const KnownValues &known,
                         RopeTables &compared) {
  auto difference = firstTurned.getDefiningOp<arith::SubFOp>();
  Value result;
  if (!difference)
    return result;
  match::either<arith::MulFOp>(difference.getLhs(), [&](Value first, Value cosines) {
    return match::either<arith::MulFOp>(difference.getRhs(), [&](Value second, Value sines) {
      Value x = wholeOf(first, second);
      if (!x || x.getType() != op->getResult(0).getType())
        return false;
      bool isTurned = match::either<arith::AddFOp>(secondTurned, [&](Value a, Value b) {
        return isSameTable(otherFactor(a, second), cosines, known) && isSameTable(otherFactor(b, first), sines, known);
      });
      if (isTurned)
        result = turned(op, x, cosines, sines, pairing, known, compared);
      return result != Value();
    });
  });
  return result;
}

/// Halves that were turned, side by side.
static Value ropeOfHalves(tg::ConcatOp op, const KnownValues &known, RopeTables &compared) {
  if (op.getInputs().size() != 2 || op.getDim() != 3)
    return {};
  auto wholeOf = [](Value low, Value high) -> Value {
    auto first = low.getDefiningOp<tg::SliceOp>(), second = high.getDefiningOp<tg::SliceOp>();
    uint64_t half = tg::typeOf(low).getDimSize(3);
    auto isHalf = [&](tg::SliceOp slice, uint64_t offset) {
      return slice && slice.getDim() == 3 && slice.getOffset() == offset && slice.getStride() == 1;
    };
    bool areHalves = isHalf(first, 0) && isHalf(second, half) && first.getInput() == second.getInput();
    return areHalves ? first.getInput() : Value();
  };
  return ropeOfParts(op, op.getInputs()[0], op.getInputs()[1], Pairing::Halves, wholeOf, known, compared);
}

/// Neighboring lanes that were turned.
static Value ropeOfPairs(tg::ReshapeOp op, const KnownValues &known, RopeTables &compared) {
  auto [even, odd] = joinedLanes(op);
  if (!even)
    return {};
  auto wholeOf = [](Value low, Value high) -> Value {
    std::optional<Lanes> first = lanesOf(low), second = lanesOf(high);
    bool arePairs = first && second && !first->isOdd && second->isOdd && first->of == second->of;
    return arePairs ? first->of : Value();
  };
  return ropeOfParts(op, even, odd, Pairing::Neighbors, wholeOf, known, compared);
}

Value patterns::rope(Operation *op, const KnownValues &known, RopeTables &compared) {
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) ||
      tg::typeOf(op->getResult(0)).getRank() != 4)
    return {};
  if (auto concat = dyn_cast<tg::ConcatOp>(op))
    return ropeOfHalves(concat, known, compared);
  if (auto reshape = dyn_cast<tg::ReshapeOp>(op))
    return ropeOfPairs(reshape, known, compared);
  return isa<arith::AddFOp>(op) ? ropeOfSum(op, known, compared) : Value();
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
