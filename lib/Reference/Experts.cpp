//===- Experts.cpp - routing, dispatch and router losses ------------------===//

#include "dialects/TG/TG.h"
#include "lib/Reference/Rows.h"
#include <cmath>
#include <map>
#include <numeric>

using namespace mlir;
using namespace braid;
using namespace braid::reference;

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

static Results evaluateTopK(tg::TopKOp op, const Operands &in) {
  const Tensor &x = in(op.getInput());
  Tensor values(op.getValues().getType()), indices(op.getIndices().getType());
  int64_t lanes = x.shape.back(), k = op.getK();
  std::vector<int64_t> order(lanes);
  for (int64_t row = 0; row < x.size() / lanes; ++row) {
    std::iota(order.begin(), order.end(), 0);
    llvm::stable_sort(order, [&](int64_t a, int64_t b) { return x.f(row * lanes + a) > x.f(row * lanes + b); });
    for (int64_t i = 0; i < k; ++i) {
      values.f(row * k + i) = x.f(row * lanes + order[i]);
      indices.n(row * k + i) = order[i];
    }
  }
  return results(std::move(values), std::move(indices));
}

static Results evaluateExpertSlots(tg::ExpertSlotsOp op, const Operands &in) {
  const Tensor &chosen = in(op.getChosen());
  Tensor slots(op.getSlots().getType()), choices(op.getChoices().getType());
  int64_t experts = op.getExperts(), capacity = op.getCapacity(), rows = chosen.shape[0];
  int64_t perRow = chosen.size() / rows, bound = op.getBound().value_or(capacity);
  const Tensor *present = in.optional(op.getPresent());
  for (int64_t i = 0; i < choices.size(); ++i)
    choices.n(i) = -1;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<int64_t> taken(experts, 0);
    std::map<std::pair<int64_t, int64_t>, int64_t> ofDocument;
    for (int64_t i = 0; i < perRow; ++i) {
      int64_t expert = chosen.n(row * perRow + i), token = row * chosen.shape[1] + i / chosen.shape[2];
      if (expert < 0 || expert >= experts)
        return op->emitError() << "choice " << i << " of row " << row << " is expert " << expert
                               << ", but the number of experts is " << experts;
      int64_t document = present ? present->n(token) : 0;
      slots.n(row * perRow + i) = -1;
      if (document < 0)
        continue;
      int64_t slot = taken[expert]++;
      if (ofDocument[{document, expert}]++ >= bound || slot >= capacity)
        continue;
      slots.n(row * perRow + i) = expert * capacity + slot;
      choices.n((expert * rows + row) * capacity + slot) = i;
    }
  }
  return results(std::move(slots), std::move(choices));
}

//===----------------------------------------------------------------------===//
// Dispatch and collect
//===----------------------------------------------------------------------===//

/// Copies row `from` of one tensor to row `to` of another.
static void copyRow(const Tensor &x, int64_t from, Tensor &y, int64_t to) {
  int64_t width = x.shape.back();
  for (int64_t i = 0; i < width; ++i)
    y[to * width + i] = x[from * width + i];
}

static Results evaluateDispatch(tg::DispatchOp op, const Operands &in) {
  const Tensor &x = in(op.getInput()), &choices = in(op.getChoices());
  Tensor y(op.getResult().getType());
  int64_t rows = x.shape[0], tokens = x.shape[1], ofToken = op.getSlots().getType().getDimSize(2);
  for (int64_t i = 0; i < choices.size(); ++i) {
    int64_t row = i / choices.shape[2] % rows, choice = choices.n(i);
    if (choice >= tokens * ofToken)
      return op->emitError() << "choice " << choice << " is not one of the " << tokens * ofToken << " of a row";
    if (choice >= 0)
      copyRow(x, row * tokens + choice / ofToken, y, i);
  }
  return results(std::move(y));
}

static Results evaluateCollect(tg::CollectOp op, const Operands &in) {
  const Tensor &x = in(op.getInput()), &slots = in(op.getSlots());
  Tensor y(op.getResult().getType());
  int64_t experts = x.shape[0], rows = x.shape[1], capacity = x.shape[2], perRow = slots.size() / rows;
  for (int64_t i = 0; i < slots.size(); ++i) {
    int64_t row = i / perRow, slot = slots.n(i);
    if (slot >= experts * capacity)
      return op->emitError() << "slot " << slot << " is not one of the " << experts * capacity << " of a row";
    if (slot >= 0)
      copyRow(x, (slot / capacity * rows + row) * capacity + slot % capacity, y, i);
  }
  return results(std::move(y));
}

//===----------------------------------------------------------------------===//
// Losses of routers
//===----------------------------------------------------------------------===//

static Tensor evaluateLoadBalance(tg::LoadBalanceOp op, const Operands &in) {
  Tensor loss(op.getResult().getType());
  int64_t experts = in(op.getProbabilities().front()).shape.back(), tokens = 0;
  std::vector<double> probability(experts, 0.0), count(experts, 0.0);
  auto isThere = [&](int64_t token) { return !op.getPresent() || in(op.getPresent()).n(token) >= 0; };
  for (auto [p, chosen] : llvm::zip_equal(op.getProbabilities(), op.getChosen())) {
    const Tensor &probabilities = in(p), &choices = in(chosen);
    int64_t ofToken = choices.shape.back();
    for (int64_t token = 0; token < probabilities.size() / experts; ++token) {
      if (!isThere(token))
        continue;
      ++tokens;
      for (int64_t i = 0; i < experts; ++i)
        probability[i] += probabilities.f(token * experts + i);
      for (int64_t i = token * ofToken; i < (token + 1) * ofToken; ++i)
        if (choices.n(i) >= 0 && choices.n(i) < experts)
          ++count[choices.n(i)];
    }
  }
  tokens = std::max<int64_t>(tokens, 1);
  for (int64_t expert = 0; expert < experts; ++expert)
    loss.f(0) += experts * (count[expert] / tokens) * (probability[expert] / tokens);
  return loss;
}

static Tensor evaluateRouterZ(tg::RouterZOp op, const Operands &in) {
  Tensor loss(op.getResult().getType());
  int64_t rows = 0;
  for (Value value : op.getLogits()) {
    const Tensor &logits = in(value);
    int64_t experts = logits.shape.back();
    for (int64_t row = 0; row < logits.size() / experts; ++row) {
      if (op.getPresent() && in(op.getPresent()).n(row) < 0)
        continue;
      ++rows;
      loss.f(0) += std::pow(logSumExp(experts, [&](int64_t i) { return logits.f(row * experts + i); }), 2);
    }
  }
  loss.f(0) /= std::max<int64_t>(rows, 1);
  return loss;
}

void braid::reference::addExperts(OpTable &table) {
  table.addAll(evaluateTopK, evaluateExpertSlots, evaluateDispatch, evaluateCollect, evaluateLoadBalance,
               evaluateRouterZ);
}
