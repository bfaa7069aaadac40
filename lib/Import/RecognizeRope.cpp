//===- RecognizeRope.cpp - rotary embeddings by their tables --------------===//
//
// x C + rotated(x) S with known tables C and S is a rotary embedding if C and S are cosines and sines of s
// theta^(-i/half) at position s. Theta is read off the first position that turns, and then every entry of the tables is
// checked.
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
  std::vector<double> numbers;
  int64_t positions, lanes;
  double at(int64_t position, int64_t lane) const { return numbers[position * lanes + lane]; }
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
      std::optional<std::vector<double>> numbers = found->second.numbers();
      ArrayRef<int64_t> dims = broadcast ? ArrayRef<int64_t>(broadcast.getDims()) : ArrayRef<int64_t>();
      bool isPlaced = !broadcast || (dims.size() >= 2 && dims.take_back(2) == ArrayRef<int64_t>({2, 3}));
      if (!isPlaced || !numbers || static_cast<int64_t>(numbers->size()) != positions * lanes)
        return std::nullopt;
      return Table{std::move(*numbers), positions, lanes};
    }
    Operation *definition = source.getDefiningOp();
    source = isa_and_present<tg::BroadcastOp, tg::ReshapeOp>(definition) ? definition->getOperand(0) : Value();
  }
  return std::nullopt;
}

/// Returns the base of the angles, if the tables are those of a rotary embedding.
static std::optional<double> thetaOf(const Table &cosines, const Table &sines) {
  int64_t half = cosines.lanes / 2;
  if (cosines.positions < 2 || half < 1)
    return std::nullopt;
  double slowest = std::atan2(sines.at(1, half - 1), cosines.at(1, half - 1));
  double theta = half == 1 ? 1e4 : std::pow(slowest, -static_cast<double>(half) / (half - 1));
  if (!(theta > 1 && theta < 1e12))
    return std::nullopt;
  // Tables in f32 give a base to about six digits; bases are round numbers.
  double unit = std::pow(10, std::floor(std::log10(theta)) - 3), round = std::round(theta / unit) * unit;
  if (std::abs(round - theta) < 1e-4 * theta)
    theta = round;
  for (int64_t position = 0; position < cosines.positions; ++position)
    for (int64_t lane = 0; lane < cosines.lanes; ++lane) {
      double angle = position * std::pow(theta, -static_cast<double>(lane % half) / half);
      double bound = 1e-6 * (2 + position);
      if (std::abs(cosines.at(position, lane) - std::cos(angle)) > bound ||
          std::abs(sines.at(position, lane) - std::sin(angle)) > bound)
        return std::nullopt;
    }
  return theta;
}

Value patterns::rope(Operation *op, const KnownValues &known) {
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
               std::optional<double> theta = cosine && sine ? thetaOf(*cosine, *sine) : std::nullopt;
               if (!theta)
                 return false;
               // Here x is batch x heads x sequence x size, and tg.rope has the sequence first.
               OpBuilder builder(op);
               tg::TensorBuilder b(builder, op->getLoc());
               Value first = b.transpose(x, {0, 2, 1, 3});
               Value turned = b.make<tg::RopeOp>(first.getType(), first, APFloat(*theta), IntegerAttr(),
                                                 tg::RopeScalingAttr(), false);
               result = b.transpose(turned, {0, 2, 1, 3});
               return true;
             });
    });
  });
  return result;
}
