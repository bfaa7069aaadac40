//===- Routing.cpp - tokens in the order of their experts -----------------===//

#include "lib/Import/Torch/Routing.h"
#include "lib/Import/Torch/Translation.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;
using namespace braid;
using namespace braid::torch;

using Kind = Routed::Kind;

/// Ops that compute each row of the order by itself, and whose dim, if they have one, is the last.
static constexpr StringLiteral kRowwise[] = {
    "aten.chunk.default", "aten.split.Tensor",    "aten.silu.default",  "aten.gelu.default",      "aten.relu.default",
    "aten.tanh.default",  "aten.sigmoid.default", "aten.mul.Tensor",    "aten.add.Tensor",        "aten.sub.Tensor",
    "aten.to.dtype",      "aten.clone.default",   "aten.clamp.default", "aten.contiguous.default"};

static const TensorName *tensorOf(const Call &call, StringRef name) {
  for (const auto &[key, argument] : call.arguments)
    if (key == name)
      return std::get_if<TensorName>(&argument);
  return nullptr;
}

const Routed *Translator::routedOf(const Call &call, StringRef name) const {
  if (const TensorName *tensor = tensorOf(call, name))
    if (auto found = routed.find(tensor->name); found != routed.end())
      return &found->second;
  return nullptr;
}

/// Whether a call reads a tensor in the order of experts.
bool Translator::readsRouted(const Call &call) const {
  return any_of(call.arguments, [&](const auto &argument) {
    if (const auto *tensors = std::get_if<TensorNames>(&argument.second))
      return any_of(*tensors, [&](const TensorName &each) { return routed.contains(each.name); });
    const auto *tensor = std::get_if<TensorName>(&argument.second);
    return tensor && routed.contains(tensor->name);
  });
}

/// Begins a route at the sort of a router's choices. Returns false for a sort of anything else.
bool Translator::beginRoute(const Call &call) {
  const TensorName *input = tensorOf(call, "self");
  if (call.op != "aten.sort.default" || !input || call.results.size() != 2 || call.arguments.size() != 1)
    return false;
  Value source = operands[memory.canonical(input->name)].value;
  auto reshape = source ? source.getDefiningOp<tg::ReshapeOp>() : nullptr;
  auto top = reshape ? reshape.getInput().getDefiningOp<tg::TopKOp>() : nullptr;
  if (!top || reshape.getInput() != top.getIndices() || tg::typeOf(source).getRank() != 1)
    return false;
  auto route = std::make_shared<Route>();
  route->chosen = top.getIndices();
  routed.insert({call.results[0], Routed{Kind::Experts, route, {}}});
  routed.insert({call.results[1], Routed{Kind::Order, route, {}}});
  return true;
}

/// Assigns slots to the choices. Tokens are in rows again as they were before a view joined them.
static void assignSlots(CallBuilder &call, Route &route, Value &input, int64_t experts) {
  int64_t tokens = tg::typeOf(input).getDimSize(0), size = tg::typeOf(input).getDimSize(1), rows = 1;
  if (auto reshape = input.getDefiningOp<tg::ReshapeOp>()) {
    RankedTensorType before = tg::typeOf(reshape.getInput());
    if (before.getRank() == 3 && before.getShape().back() == size)
      rows = before.getDimSize(0);
  }
  if (route.slots)
    rows = tg::typeOf(route.chosen).getDimSize(0);
  input = call.reshape(input, {rows, tokens / rows, size});
  if (route.slots)
    return;
  route.chosen = call.reshape(route.chosen, {rows, tokens / rows, route.k()});
  SmallVector<int64_t> slotShape{experts, rows, tokens / rows};
  RankedTensorType type = tg::typeOf(route.chosen);
  auto assigned = call.builder.create<tg::ExpertSlotsOp>(call.loc, TypeRange{type, tg::withShape(type, slotShape)},
                                                         route.chosen, Value(), tokens / rows, experts, IntegerAttr());
  route.slots = assigned.getSlots();
  route.choices = assigned.getChoices();
}

/// Multiplies each expert's rows by its weights, [experts, in, out].
FailureOr<Routed> Translator::multiplyByExperts(CallBuilder &call, const Routed &input, Value weight) {
  RankedTensorType type = tg::typeOf(weight);
  if (type.getRank() != 3 || !tg::isFloat(weight) || input.weights)
    return call.fail("the weights are no matrix for each expert"), failure();
  Value rows = input.value;
  if (input.kind == Kind::Inputs) {
    if (tg::typeOf(rows).getNumElements() / tg::typeOf(rows).getDimSize(1) * input.route->k() !=
        input.route->numChoices())
      return call.fail("the rows are not those of the router's tokens"), failure();
    assignSlots(call, *input.route, rows, type.getDimSize(0));
    rows = call.make<tg::DispatchOp>(rows, input.route->slots, input.route->choices);
  }
  if (tg::typeOf(rows).getDimSize(0) != type.getDimSize(0) || tg::typeOf(rows).getDimSize(3) != type.getDimSize(1) ||
      tg::typeOf(rows).getElementType() != type.getElementType())
    return call.fail("rows and weights do not fit together"), failure();
  return Routed{Kind::Rows, input.route, call.contract("ebcd,edf->ebcf", rows, weight)};
}

/// Returns rows in the order of choices, each times its weight.
static Value backToChoices(CallBuilder &call, const Routed &rows) {
  Value each = call.make<tg::CollectOp>(rows.value, rows.route->slots, rows.route->choices);
  if (rows.weights) {
    Value weights = call.reshape(rows.weights, tg::typeOf(rows.route->chosen).getShape());
    each = call.mul(each, call.broadcast(weights, tg::typeOf(each), {0, 1, 2}));
  }
  return call.reshape(each, call.resultType().shape);
}

/// Follows the indices of a route. Returns the kind of the result, or nothing.
static std::optional<Kind> indexKind(const Call &call, CallBuilder &builder, const Routed &self) {
  StringRef op = call.op;
  const Route &route = *self.route;
  int64_t choices = route.numChoices();
  if (self.kind == Kind::Order && op == "aten.floor_divide.default" && builder.isNumber("other") &&
      builder.number("other") == route.k())
    return Kind::Tokens;
  if (self.kind == Kind::Order && op == "aten.empty_like.default")
    return Kind::Empty;
  if (self.kind == Kind::Experts && op == "aten.to.dtype")
    return Kind::Experts;
  if (self.kind == Kind::Experts && op == "aten.histc.default" && builder.number("min", -1) == 0 &&
      builder.number("max") == builder.integer("bins") - 1)
    return Kind::Counts;
  if (self.kind == Kind::Counts && op == "aten.cumsum.default" && builder.integer("dim", -1) == 0)
    return Kind::Ends;
  if (self.kind == Kind::Weights && op == "aten.unsqueeze.default" &&
      (builder.integer("dim") == -1 || builder.integer("dim") == 1))
    return Kind::Weights;
  if ((self.kind == Kind::Weights || self.kind == Kind::Inputs) && op == "aten.to.dtype" &&
      builder.resultType().element == builder.typeOfArgument("self").element)
    return self.kind;
  if (self.kind == Kind::Empty && op.starts_with("aten.index_put")) {
    const MaybeKnown &places = builder.known("values");
    if (places && places->affine() && places->affine()->constant == 0 && places->shape == Shape{choices} &&
        (places->affine()->factors[0] == 1 || choices == 1))
      return Kind::Inverse;
  }
  return std::nullopt;
}

/// Picks rows by an index of a route: a new tensor in its order, or one that leaves it.
std::optional<Routed> Translator::pickRows(CallBuilder &call) {
  const TensorNames &indices = call.tensors("indices");
  auto found = indices.size() == 1 ? routed.find(indices[0].name) : routed.end();
  if (found == routed.end())
    return std::nullopt;
  const Routed &index = found->second, *self = routedOf(call.call, "self");
  size_t rank = call.typeOfArgument("self").shape.size();
  bool fits = self && self->kind == Kind::Rows && call.resultType().shape.size() == 2 &&
              call.resultType().shape[0] == index.route->numChoices() &&
              call.resultType().shape[1] == tg::typeOf(self->value).getShape().back();
  if (fits && index.kind == Kind::Inverse && self->route == index.route) {
    operands[call.call.results[0]].value = backToChoices(call, *self);
    return Routed{Kind::Rows, nullptr, {}};
  }
  if (!self && index.kind == Kind::Tokens && rank == 2 && tg::isFloat(call.tensor("self")))
    return Routed{Kind::Inputs, index.route, call.tensor("self")};
  bool isOfChoices = rank == 1 && call.typeOfArgument("self").shape[0] == index.route->numChoices();
  if (!self && index.kind == Kind::Order && isOfChoices && tg::isFloat(call.tensor("self")))
    return Routed{Kind::Weights, index.route, call.tensor("self")};
  return std::nullopt;
}

/// Builds an op that treats rows alike, on slots instead of rows.
LogicalResult Translator::buildRowwise(const Call &call, const Routed &rows, Location loc) {
  Call onSlots = call;
  for (auto &[name, argument] : onSlots.arguments)
    if (auto *dim = std::get_if<int64_t>(&argument); dim && name == "dim" && *dim == 1)
      argument = int64_t(-1);
    else if (dim && name == "dim" && *dim != -1)
      return emitError(loc) << call.op << ": dim " << *dim << " of rows in the order of experts is not supported";
  for (const auto &[name, argument] : call.arguments)
    if (const auto *tensor = std::get_if<TensorName>(&argument)) {
      auto found = routed.find(tensor->name);
      if (found == routed.end() || found->second.kind != Kind::Rows || found->second.route != rows.route ||
          found->second.weights)
        return emitError(loc) << call.op << ": '" << tensor->name << "' is no row of the experts' inputs";
    }
  ArrayRef<int64_t> slots = tg::typeOf(rows.value).getShape().take_front(3);
  for (const std::string &result : call.results) {
    TypeOfTensor type = program.typeOf(result);
    if (type.shape.size() != 2)
      return emitError(loc) << call.op << ": the result is not in rows, as its operand is";
    type.shape.erase(type.shape.begin());
    type.shape.insert(type.shape.begin(), slots.begin(), slots.end());
    retyped[result] = type;
  }
  const OpRow *row = findRow(call, loc);
  if (!row || failed(checkArguments(onSlots, *row, loc)) || failed(build(onSlots, *row, loc)))
    return failure();
  for (const std::string &result : call.results)
    routed.insert({result, Routed{Kind::Rows, rows.route, operands[result].value}});
  return success();
}

LogicalResult Translator::translateRouted(const Call &call, Location loc) {
  auto refuse = [&]() -> LogicalResult {
    return emitError(loc) << call.op
                          << ": is not supported of tokens in the order of experts; export with "
                             "model.set_experts_implementation('grouped_mm'), or compute all experts of each token";
  };
  StringRef op = call.op;
  if (op.starts_with("aten._assert_tensor_metadata"))
    return success();
  const OpRow *row = findRow(call, loc);
  if (!row || failed(checkArguments(call, *row, loc)))
    return failure();
  if (call.results.empty())
    return refuse();
  CallBuilder calls(*this, call, builder, loc);
  auto finish = [&](const Routed &result) {
    if (result.route)
      routed.insert({call.results[0], result});
    if (result.kind == Kind::Rows && result.route) {
      TypeOfTensor type = program.typeOf(call.results[0]);
      type.shape.assign(tg::typeOf(result.value).getShape().begin(), tg::typeOf(result.value).getShape().end());
      retyped[call.results[0]] = type;
      operands[call.results[0]].value = result.value;
    }
    return success();
  };
  if (op == "aten.index.Tensor") {
    if (call.results.size() != 1)
      return refuse();
    std::optional<Routed> picked = pickRows(calls);
    return picked ? finish(*picked) : refuse();
  }
  if (op == "transformers.grouped_mm_fallback.default" || op == "aten._grouped_mm.default") {
    bool isTorch = op == "aten._grouped_mm.default";
    StringRef inputName = isTorch ? "self" : "input", weightName = isTorch ? "mat2" : "weight";
    const Routed *input = routedOf(call, inputName), *ends = routedOf(call, "offs");
    if (!input || !ends || ends->kind != Kind::Ends || ends->route != input->route || routedOf(call, weightName) ||
        (input->kind != Kind::Rows && input->kind != Kind::Inputs))
      return refuse();
    FailureOr<Routed> product = multiplyByExperts(calls, *input, calls.tensor(weightName));
    return failed(product) ? LogicalResult(failure()) : finish(*product);
  }
  const Routed *self = routedOf(call, "self"), *other = routedOf(call, "other");
  if (!self)
    return refuse();
  if (std::optional<Kind> kind = indexKind(call, calls, *self))
    return finish(Routed{*kind, self->route, self->value});
  bool isWeighted = op == "aten.mul.Tensor" && self->kind == Kind::Rows && other && other->kind == Kind::Weights &&
                    !self->weights && self->route == other->route;
  if (isWeighted)
    return finish(Routed{Kind::Rows, self->route, self->value, other->value});
  if (self->kind == Kind::Rows && is_contained(kRowwise, op))
    return buildRowwise(call, Routed(*self), loc);
  return refuse();
}

static Values routedOnly(CallBuilder &call) {
  return {call.fail("is supported only in the routing of experts, as Transformers' grouped_mm has it")};
}

static Values emptyAsZeros(CallBuilder &call) { return {call.zeros(call.resultTensor())}; }

static constexpr OpRow kRoutingRows[] = {
    {"aten.sort.default", "self:T", routedOnly, nullptr, "tg.expert_slots"},
    {"aten.histc.default", "self:T bins:I min:N max:N", routedOnly, nullptr, "tg.expert_slots"},
    {"aten.empty_like.default", "self:T", emptyAsZeros, nullptr, "zeros, or nothing", "dtype device layout pin_memory"},
    {"aten.index_put_.default", "self:T indices:TL values:T", routedOnly, nullptr, "nothing"},
    {"aten._grouped_mm.default", "self:T mat2:T offs:T", routedOnly, nullptr, "tg.dispatch, tg.contract"},
    {"transformers.grouped_mm_fallback.default", "input:T weight:T offs:T", routedOnly, nullptr,
     "tg.dispatch, tg.contract"},
};

ArrayRef<OpRow> braid::torch::routingRows() { return kRoutingRows; }
