//===- RecognizeRope.cpp - rotary embeddings by their tables --------------===//
//
// x C + rotated(x) S with known tables C and S is a rotary embedding if C and S are cosines and sines of s f(i) at
// position s, where f(i) is theta^(-i/half) or a scaling of it. Theta is read off the tables, and then every entry of
// them is checked.
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

/// A table of numbers by position and lane.
namespace {
struct Table {
  std::shared_ptr<const std::vector<double>> numbers;
  int64_t positions, lanes;
  double at(int64_t position, int64_t lane) const { return (*numbers)[position * lanes + lane]; }
};
} // namespace

/// Returns the table that is repeated over batch and heads (dims 0 and 1), if it is known.
static std::optional<Table> tableOf(Value value, const KnownValues &known) {
  RankedTensorType type = tg::typeOf(value);
  auto broadcast = value.getDefiningOp<tg::BroadcastOp>();
  for (Value source = value; source;) {
    auto found = known.find(source);
    if (found != known.end()) {
      int64_t positions = type.getDimSize(2), lanes = type.getDimSize(3);
      const auto *dense = std::get_if<Dense>(&found->second.value);
      ArrayRef<int64_t> dims = broadcast ? ArrayRef<int64_t>(broadcast.getDims()) : ArrayRef<int64_t>();
      bool isPlaced = !broadcast || (dims.size() >= 2 && dims.take_back(2) == ArrayRef<int64_t>({2, 3}));
      if (!isPlaced || !dense || static_cast<int64_t>(dense->numbers->size()) != positions * lanes)
        return std::nullopt;
      return Table{dense->numbers, positions, lanes};
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

/// Returns what anglesOf finds. All layers of a model have the same tables, which are compared once.
static std::optional<RopeAngles> anglesOnce(const Table &cosines, const Table &sines, MLIRContext *context,
                                            RopeTables &compared) {
  auto [found, isNew] = compared.try_emplace({cosines.numbers.get(), sines.numbers.get()});
  if (isNew)
    found->second = anglesOf(cosines, sines, context);
  return found->second;
}

Value patterns::rope(Operation *op, const KnownValues &known, RopeTables &compared) {
  Value result;
  if (!isa<arith::AddFOp>(op) || tg::typeOf(op->getResult(0)).getRank() != 4)
    return result;
  match::either<arith::AddFOp>(op->getResult(0), [&](Value straight, Value turned) {
    return match::either<arith::MulFOp>(turned, [&](Value rotated, Value sines) {
      Value x = rotatedHalves(rotated);
      return x && match::either<arith::MulFOp>(straight, [&](Value same, Value cosines) {
               if (same != x)
                 return false;
               std::optional<Table> cosine = tableOf(cosines, known), sine = tableOf(sines, known);
               std::optional<RopeAngles> angles =
                   cosine && sine ? anglesOnce(*cosine, *sine, op->getContext(), compared) : std::nullopt;
               if (!angles)
                 return false;
               // Here x is batch x heads x sequence x size, and tg.rope has the sequence first.
               OpBuilder builder(op);
               tg::TensorBuilder b(builder, op->getLoc());
               Value first = b.transpose(x, {0, 2, 1, 3});
               Value turned = b.make<tg::RopeOp>(first.getType(), first, APFloat(angles->theta), IntegerAttr(),
                                                 angles->scaling, false);
               result = b.transpose(turned, {0, 2, 1, 3});
               return true;
             });
    });
  });
  return result;
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
