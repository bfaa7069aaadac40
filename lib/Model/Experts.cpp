//===- Experts.cpp - a mixture of experts in a decoder --------------------===//

#include "lib/Model/Experts.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace llvm;
using namespace braid;
using namespace braid::model;

ExpertWeights model::declareExperts(GraphWriter &writer, const DecoderConfig &config, const std::string &path,
                                    StringRef unit) {
  const ExpertsConfig &experts = config.experts;
  const DecoderNames &names = config.names;
  auto declare = [&](const std::string &name, ArrayRef<int64_t> shape) {
    return writer.param(path + "." + name + ".weight", shape, normalInit(config.initStd), unit);
  };
  std::string each = names.experts + ".*.";
  int64_t count = experts.count, inner = experts.inner, width = config.width;
  ExpertWeights weights;
  weights.router = declare(names.router, {count, width});
  weights.gate = declare(each + names.gate, {count, inner, width});
  weights.up = declare(each + names.up, {count, inner, width});
  weights.down = declare(each + names.down, {count, width, inner});
  return weights;
}

int64_t ExpertsBuilder::capacityOf(const ExpertsConfig &experts, BatchShape shape) {
  int64_t capacity = shape.sequence;
  if (shape.expertBound)
    capacity = *shape.expertBound;
  else if (shape.capacityFactor)
    capacity = std::ceil(*shape.capacityFactor * shape.sequence * experts.chosen / experts.count);
  return std::clamp<int64_t>(capacity, 1, shape.sequence);
}

bool ExpertsBuilder::hasBound() const { return experts.count && capacityOf(experts, shape) < shape.sequence; }

void ExpertsBuilder::declareInputs() {
  if (experts.count && (hasBound() || experts.balanceWeight || experts.zWeight))
    present = writer.input("present", "features", {shape.batch, shape.sequence}, "i32");
}

GraphValue ExpertsBuilder::scaled(StringRef hint, const GraphValue &value, double factor) {
  return writer.mul(hint, value, writer.constant("factor", number(factor), value.shape));
}

/// Returns the weights of each token's experts, and appends the experts' numbers to `choices`.
GraphValue ExpertsBuilder::weightsOf(const GraphValue &x, const ExpertWeights &weights) {
  SmallVector<int64_t, 4> all = {shape.batch, shape.sequence, experts.count}, some = all;
  some.back() = experts.chosen;
  logits.push_back(writer.op("router", "tg.contract \"bsd,ed->bse\" " + x.name + ", " + weights.router.name + " wide",
                             {x, weights.router}, all));
  probabilities.push_back(writer.addOpLike("probability", "tg.softmax " + logits.back().name, logits.back()));
  const GraphValue &probability = probabilities.back();
  std::vector<GraphValue> top =
      writer.ops({"weight", "chosen"}, "tg.top_k " + probability.name + " k " + std::to_string(experts.chosen),
                 probability, {GraphValue{"", some}, GraphValue{"", some, "i32"}});
  choices.push_back(top[1]);
  if (!experts.normalized)
    return top[0];
  GraphValue sum = writer.op("sum", "tg.reduce sum " + top[0].name + " dims [2]", top[0], {shape.batch, shape.sequence},
                             "f32", /*functional=*/false);
  GraphValue sums = writer.broadcast("sum", sum, {0, 1}, some);
  return writer.addOpLike("weight", "arith.divf " + top[0].name + ", " + sums.name, top[0]);
}

/// Counts the choices of tokens that got no slot.
void ExpertsBuilder::count(const GraphValue &slots) {
  GraphValue zero = writer.constant("zero", "0", slots.shape, "i32");
  auto compare = [&](StringRef hint, StringRef predicate, const GraphValue &value) {
    GraphValue result =
        writer.addOpLike(hint, ("arith.cmpi " + predicate + ", " + value.name + ", " + zero.name).str(), value);
    result.element = "i1";
    return result;
  };
  GraphValue hasNone = compare("has_none", "slt", slots);
  GraphValue isThere = compare("is_there", "sge", writer.broadcast("document", *present, {0, 1}, slots.shape));
  GraphValue isLost = writer.addOpLike("is_dropped", "arith.andi " + hasNone.name + ", " + isThere.name, hasNone);
  GraphValue ones = writer.op("one", "tg.convert " + isLost.name, isLost, slots.shape, "f32", /*functional=*/false);
  GraphValue sum = writer.op("dropped", "tg.reduce sum " + ones.name + " dims [0, 1, 2]", ones, {}, "f32",
                             /*functional=*/false);
  droppedChoices = droppedChoices ? writer.add("dropped", *droppedChoices, sum) : sum;
}

GraphValue ExpertsBuilder::run(const GraphValue &x, const ExpertWeights &weights) {
  GraphValue weight = weightsOf(x, weights);
  int64_t room = capacityOf(experts, shape);
  // Each document has its own room, so the documents of a row may together take as many slots as the row has tokens.
  int64_t capacity = shape.isPacked ? shape.sequence : room;
  SmallVector<int64_t, 4> slotted = {experts.count, shape.batch, capacity};
  SmallVector<GraphValue, 2> operands = {choices.back()};
  std::string words = "tg.expert_slots " + choices.back().name;
  if (hasBound()) {
    operands.push_back(*present);
    words += " present " + present->name;
  }
  words += " capacity " + std::to_string(capacity) + " of " + std::to_string(experts.count);
  if (room < capacity)
    words += " bound " + std::to_string(room);
  std::vector<GraphValue> slots =
      writer.ops({"slot", "choice"}, words, operands, {choices.back(), GraphValue{"", slotted, "i32"}});
  if (hasBound())
    count(slots[0]);

  auto move = [&](StringRef hint, StringRef op, const GraphValue &from, ArrayRef<int64_t> to) {
    return writer.op(hint, (op + " " + from.name + ", " + slots[0].name + ", " + slots[1].name).str(),
                     {from, slots[0], slots[1]}, to);
  };
  SmallVector<int64_t, 4> narrow = slotted, wide = slotted, back = weight.shape;
  narrow.push_back(config.width);
  wide.push_back(experts.inner);
  back.push_back(config.width);
  GraphValue in = move("routed", "tg.dispatch", x, narrow);
  GraphValue gate = writer.contract("gate", "ebcd,efd->ebcf", in, weights.gate, wide);
  GraphValue up = writer.contract("up", "ebcd,efd->ebcf", in, weights.up, wide);
  GraphValue active = writer.addOpLike("active", "tg." + config.activation + " " + gate.name, gate);
  GraphValue out = writer.contract("down", "ebcf,edf->ebcd", writer.mul("gated", active, up), weights.down, narrow);
  return writer.contract("mixed", "bskd,bsk->bsd", move("each", "tg.collect", out, back), weight, x.shape);
}

GraphValue ExpertsBuilder::addLosses(GraphValue loss) {
  auto list = [](ArrayRef<GraphValue> values) {
    return join(map_range(values, [](const GraphValue &value) { return value.name; }), ", ");
  };
  auto addTimes = [&](StringRef hint, const std::string &text, std::vector<GraphValue> operands, double weight) {
    operands.push_back(*present);
    GraphValue own = writer.op(hint, text + " present " + present->name, operands, {});
    loss = writer.add("loss", loss, scaled(hint, own, weight));
  };
  if (logits.empty())
    return loss;
  if (experts.balanceWeight) {
    std::vector<GraphValue> operands = probabilities;
    operands.insert(operands.end(), choices.begin(), choices.end());
    addTimes("balance", "tg.load_balance " + list(probabilities) + " choices " + list(choices), operands,
             experts.balanceWeight);
  }
  if (experts.zWeight)
    addTimes("z", "tg.router_z " + list(logits), logits, experts.zWeight);
  return loss;
}
