//===- UpstreamModels.cpp - interfaces of arith and math ops --------------===//
//
// Attaches gradients, costs and sharding rules to the elementwise ops of upstream
// dialects. A gradient rule is a plain function: the gradient formula.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/TGBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

namespace {
using Gradients = SmallVector<Value>;

template <typename OpTy> using Rule = Gradients (*)(TensorBuilder &, OpTy, Value dy, ArrayRef<bool> needed);

template <typename OpTy, Rule<OpTy> rule>
struct Gradient : DifferentiableOpInterface::ExternalModel<Gradient<OpTy, rule>, OpTy> {
  SmallVector<Value> buildVJP(Operation *op, OpBuilder &builder, ArrayRef<Value> resultGradients,
                              ArrayRef<bool> needed) const {
    TensorBuilder t(builder, op->getLoc());
    return rule(t, cast<OpTy>(op), resultGradients[0], needed);
  }
};

/// One operation per element.
template <typename OpTy> struct ElementwiseCost : CostOpInterface::ExternalModel<ElementwiseCost<OpTy>, OpTy> {};

/// Constants and selections compute nothing.
template <typename OpTy> struct NoFlops : CostOpInterface::ExternalModel<NoFlops<OpTy>, OpTy> {
  int64_t getFlops(Operation *) const { return 0; }
};

/// Linear in each of these operands separately.
template <typename OpTy, unsigned... operands>
struct LinearIn : ShardingRuleOpInterface::ExternalModel<LinearIn<OpTy, operands...>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule = elementwiseRule(op);
    (rule.linearIn(operands), ...);
    return rule;
  }
};

/// Linear in these operands jointly.
template <typename OpTy, unsigned... operands>
struct JointlyLinearIn : ShardingRuleOpInterface::ExternalModel<JointlyLinearIn<OpTy, operands...>, OpTy> {
  ShardingRule getShardingRule(Operation *op) const { return elementwiseRule(op).linearIn({operands...}); }
};

/// A splat constant can have any shape; a table of different numbers stays whole.
struct ConstantShards : ShardingRuleOpInterface::ExternalModel<ConstantShards, arith::ConstantOp> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule = elementwiseRule(op);
    // Zero is a sum of zeros, so it may count as a partial sum.
    if (matchPattern(op, m_AnyZeroFloat()) || matchPattern(op, m_Zero()))
      rule.linearIn({});
    if (isa<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue()))
      return rule;
    for (Factor &factor : rule.factors)
      factor.kind = FactorKind::Whole;
    rule.flat = false;
    return rule;
  }

  SmallVector<Value> buildShard(Operation *op, OpBuilder &builder, const Shard &shard) const {
    auto constant = cast<arith::ConstantOp>(op);
    TypedAttr value = constant.getValue();
    if (auto splat = dyn_cast<SplatElementsAttr>(value))
      value = splat.resizeSplat(cast<ShapedType>(shard.resultTypes[0]));
    return {builder.create<arith::ConstantOp>(op->getLoc(), value)};
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Binary rules
//===----------------------------------------------------------------------===//

static Gradients addRule(TensorBuilder &, arith::AddFOp, Value dy, ArrayRef<bool>) { return {dy, dy}; }

static Gradients subRule(TensorBuilder &t, arith::SubFOp, Value dy, ArrayRef<bool> needed) {
  return {dy, needed[1] ? t.neg(dy) : Value()};
}

static Gradients mulRule(TensorBuilder &t, arith::MulFOp op, Value dy, ArrayRef<bool> needed) {
  return {needed[0] ? t.mul(dy, op.getRhs()) : Value(), needed[1] ? t.mul(dy, op.getLhs()) : Value()};
}

/// d(a/b) = da/b - (a/b)/b db.
static Gradients divRule(TensorBuilder &t, arith::DivFOp op, Value dy, ArrayRef<bool> needed) {
  Value quotient = t.div(dy, op.getRhs());
  return {quotient, needed[1] ? t.neg(t.mul(quotient, op.getResult())) : Value()};
}

/// The larger (or smaller) operand gets the gradient; equal operands share it.
template <typename OpTy, arith::CmpFPredicate wins>
static Gradients extremumRule(TensorBuilder &t, OpTy op, Value dy, ArrayRef<bool> needed) {
  Value equal = t.compare(arith::CmpFPredicate::OEQ, op.getLhs(), op.getRhs());
  Value zero = t.constantLike(dy, 0.0), half = t.mul(dy, 0.5);
  auto share = [&](Value own, Value other) {
    return t.select(equal, half, t.select(t.compare(wins, own, other), dy, zero));
  };
  return {needed[0] ? share(op.getLhs(), op.getRhs()) : Value(), needed[1] ? share(op.getRhs(), op.getLhs()) : Value()};
}

static Gradients selectRule(TensorBuilder &t, arith::SelectOp op, Value dy, ArrayRef<bool> needed) {
  Value zero = t.constantLike(dy, 0.0), condition = op.getCondition();
  return {Value(), needed[1] ? t.select(condition, dy, zero) : Value(),
          needed[2] ? t.select(condition, zero, dy) : Value()};
}

/// d(a^b) = b a^(b-1) da + a^b log(a) db. At a = 0 the second term is 0, and so is the first one if b is 0; one factor
/// of each is infinite there.
static Gradients powRule(TensorBuilder &t, math::PowFOp op, Value dy, ArrayRef<bool> needed) {
  Value base = op.getLhs(), exponent = op.getRhs();
  Gradients gradients(2);
  if (needed[0]) {
    Value slope = t.mul(exponent, t.pow(base, t.add(exponent, -1.0)));
    DenseFPElementsAttr known;
    if (!matchPattern(exponent, m_Constant(&known)) || !known.isSplat() || known.getSplatValue<APFloat>().isZero()) {
      Value zero = t.constantLike(exponent, 0.0);
      slope = t.select(t.compare(arith::CmpFPredicate::OEQ, exponent, zero), zero, slope);
    }
    gradients[0] = t.mul(dy, slope);
  }
  if (needed[1]) {
    Value zero = t.constantLike(base, 0.0);
    Value slope = t.mul(op.getResult(), t.log(base));
    Value isZero = t.compare(arith::CmpFPredicate::OEQ, base, zero);
    gradients[1] = t.mul(dy, t.select(isZero, zero, slope));
  }
  return gradients;
}

static Gradients fmaRule(TensorBuilder &t, math::FmaOp op, Value dy, ArrayRef<bool> needed) {
  return {needed[0] ? t.mul(dy, op.getB()) : Value(), needed[1] ? t.mul(dy, op.getA()) : Value(), dy};
}

//===----------------------------------------------------------------------===//
// Unary rules: dy times the derivative, written in terms of x or of y = f(x)
//===----------------------------------------------------------------------===//

using Derivative = Value (*)(TensorBuilder &t, Value x, Value y);

template <typename OpTy, Derivative derivative>
static Gradients unaryRule(TensorBuilder &t, OpTy op, Value dy, ArrayRef<bool>) {
  return {t.mul(dy, derivative(t, op->getOperand(0), op->getResult(0)))};
}

static Gradients negRule(TensorBuilder &t, arith::NegFOp, Value dy, ArrayRef<bool>) { return {t.neg(dy)}; }

static Gradients logRule(TensorBuilder &t, math::LogOp op, Value dy, ArrayRef<bool>) {
  return {t.div(dy, op.getOperand())};
}

static Gradients log1pRule(TensorBuilder &t, math::Log1pOp op, Value dy, ArrayRef<bool>) {
  return {t.div(dy, t.add(op.getOperand(), 1.0))};
}

static Gradients sqrtRule(TensorBuilder &t, math::SqrtOp op, Value dy, ArrayRef<bool>) {
  return {t.div(t.mul(dy, 0.5), op.getResult())};
}

/// dy times the sign of x, which is 0 at 0.
static Gradients absRule(TensorBuilder &t, math::AbsFOp op, Value dy, ArrayRef<bool>) {
  Value x = op.getOperand(), zero = t.constantLike(x, 0.0);
  Value negative = t.select(t.compare(arith::CmpFPredicate::OLT, x, zero), t.neg(dy), zero);
  return {t.select(t.compare(arith::CmpFPredicate::OGT, x, zero), dy, negative)};
}

static Value expSlope(TensorBuilder &, Value, Value y) { return y; }
static Value exp2Slope(TensorBuilder &t, Value, Value y) { return t.mul(y, llvm::numbers::ln2); }
static Value expm1Slope(TensorBuilder &t, Value, Value y) { return t.add(y, 1.0); }
static Value tanhSlope(TensorBuilder &t, Value x, Value y) { return t.sub(t.constantLike(x, 1.0), t.square(y)); }
static Value rsqrtSlope(TensorBuilder &t, Value, Value y) { return t.mul(t.mul(y, t.square(y)), -0.5); }
static Value sinSlope(TensorBuilder &t, Value x, Value) { return t.cos(x); }
static Value cosSlope(TensorBuilder &t, Value x, Value) { return t.neg(t.sin(x)); }
/// Returns 2/sqrt(pi) exp(-x^2).
static Value erfSlope(TensorBuilder &t, Value x, Value) {
  return t.mul(t.exp(t.neg(t.square(x))), 2.0 * llvm::numbers::inv_sqrtpi);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

template <typename OpTy, Rule<OpTy> rule> static void attach(MLIRContext *context) {
  OpTy::template attachInterface<Gradient<OpTy, rule>, ElementwiseCost<OpTy>>(*context);
}

template <typename OpTy, Derivative derivative> static void attachUnary(MLIRContext *context) {
  attach<OpTy, unaryRule<OpTy, derivative>>(context);
}

template <typename... Ops> static void attachCost(MLIRContext *context) {
  (Ops::template attachInterface<ElementwiseCost<Ops>>(*context), ...);
}

static void extendArith(MLIRContext *context, arith::ArithDialect *) {
  using namespace arith;
  attach<AddFOp, addRule>(context);
  attach<SubFOp, subRule>(context);
  attach<MulFOp, mulRule>(context);
  attach<DivFOp, divRule>(context);
  attach<NegFOp, negRule>(context);
  attach<MaximumFOp, extremumRule<MaximumFOp, CmpFPredicate::OGT>>(context);
  attach<MinimumFOp, extremumRule<MinimumFOp, CmpFPredicate::OLT>>(context);
  SelectOp::attachInterface<Gradient<SelectOp, selectRule>, NoFlops<SelectOp>>(*context);
  ConstantOp::attachInterface<NoFlops<ConstantOp>>(*context);
  AddFOp::attachInterface<JointlyLinearIn<AddFOp, 0, 1>>(*context);
  SubFOp::attachInterface<JointlyLinearIn<SubFOp, 0, 1>>(*context);
  SelectOp::attachInterface<JointlyLinearIn<SelectOp, 1, 2>>(*context);
  MulFOp::attachInterface<LinearIn<MulFOp, 0, 1>>(*context);
  DivFOp::attachInterface<LinearIn<DivFOp, 0>>(*context);
  NegFOp::attachInterface<LinearIn<NegFOp, 0>>(*context);
  ConstantOp::attachInterface<ConstantShards>(*context);
  attachCost<CmpFOp, CmpIOp, AddIOp, SubIOp, MulIOp, AndIOp, OrIOp, XOrIOp, RemFOp>(context);
}

static void extendMath(MLIRContext *context, math::MathDialect *) {
  using namespace math;
  attachUnary<ExpOp, expSlope>(context);
  attachUnary<Exp2Op, exp2Slope>(context);
  attachUnary<ExpM1Op, expm1Slope>(context);
  attachUnary<TanhOp, tanhSlope>(context);
  attachUnary<RsqrtOp, rsqrtSlope>(context);
  attachUnary<ErfOp, erfSlope>(context);
  attachUnary<SinOp, sinSlope>(context);
  attachUnary<CosOp, cosSlope>(context);
  attach<LogOp, logRule>(context);
  attach<Log1pOp, log1pRule>(context);
  attach<SqrtOp, sqrtRule>(context);
  attach<AbsFOp, absRule>(context);
  attach<PowFOp, powRule>(context);
  attach<FmaOp, fmaRule>(context);
  attachCost<FloorOp, CeilOp, RoundOp, AtanOp>(context);
}

void braid::registerUpstreamModels(DialectRegistry &registry) {
  registry.addExtension(extendArith);
  registry.addExtension(extendMath);
  registerPrecisionModels(registry);
}
