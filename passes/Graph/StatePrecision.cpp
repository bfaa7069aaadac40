//===- StatePrecision.cpp - moments of optimizers in bf16 -----------------===//
//
// A moment is stored in bf16 and updated in f32.  Rounding to nearest would lose what a
// step adds to a slow moment: Adam's variance moves by a thousandth a step, and bf16 has
// steps of up to 1/128.  So the rounding is stochastic: up or down with the probability
// that makes the mean right.
//
// The number that decides is computed from the element alone: a Weyl sequence in the step,
// shifted by the parameter's bits below bf16.  It needs no index, so the update remains
// elementwise: flat shards of ZeRO and kernels over many parameters take it as it is, and
// all layouts give the same bits from the same parameter and gradient.
//
//===----------------------------------------------------------------------===//

#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "passes/Graph/ForwardFacts.h"
#include "passes/Graph/Passes.h"
#include "passes/Graph/Signature.h"

namespace braid {
#define GEN_PASS_DEF_STATEPRECISIONPASS
#include "passes/Graph/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Stochastic rounding
//===----------------------------------------------------------------------===//

namespace {
/// An f32 value between its nearest number of bf16 and the next one on its own side.
struct Bracket {
  Value nearest; ///< In bf16.
  Value next;    ///< In bf16.
  /// Of the way from `nearest` to `next`, in f32: 0 to 1/2, and exact.
  Value fraction;
};
} // namespace

/// Both differences are exact, and that of neighbours is a power of two, so is the fraction.
static Bracket bracketOf(TensorBuilder &b, Value x) {
  Type bf16 = b.builder.getBF16Type();
  Value nearest = b.convert(x, bf16), wide = b.widen(nearest);
  Value rest = b.sub(x, wide);
  // A step of bf16 is between 2^-8 and 2^-7 of the number: 0.6 * 2^-7 is more than half of
  // one step and less than one and a half, so what it leads to is rounded to the neighbour.
  Value reach = b.mul(b.make<math::AbsFOp>(wide), 0.6 / 128);
  Value isAbove = b.compare(arith::CmpFPredicate::OGT, rest, b.like(rest, 0.0));
  Value next = b.convert(b.add(wide, b.select(isAbove, reach, b.neg(reach))), bf16);
  Value gap = b.sub(b.widen(next), wide);
  Value isApart = b.compare(arith::CmpFPredicate::ONE, gap, b.like(gap, 0.0));
  return {nearest, next, b.select(isApart, b.div(rest, gap), b.like(rest, 0.0))};
}

/// The step's term of a Weyl sequence in units of 2^-15, by the golden ratio: any few
/// successive steps spread evenly.  Masked first, so that the product has 31 bits.
static Value termOfStep(TensorBuilder &b, Value step) {
  Value mask = b.like(step, 0x7fff);
  Value product = b.make<arith::MulIOp>(b.make<arith::AndIOp>(step, mask), b.like(step, 20251));
  Value term = b.make<arith::AndIOp>(product, mask);
  return b.mul(b.convert(term, b.builder.getF32Type()), 1.0 / 0x8000);
}

/// A number in [0, 1) for each element.  All terms are multiples of 2^-17 and exact in f32, so
/// every target and the interpreter find the same one.
static Value thresholds(TensorBuilder &b, const Bracket &parameter, Value stepTerm, unsigned slot) {
  // An odd factor, another for each state, takes the highest of the bits elsewhere.
  Value shift = b.mul(parameter.fraction, 61.0 + 2 * slot);
  Value sum = b.add(shift, b.fromScalar(stepTerm, shift));
  return b.sub(sum, b.make<math::FloorOp>(sum));
}

static Value roundStochastically(TensorBuilder &b, Value x, Value threshold) {
  Bracket bracket = bracketOf(b, x);
  Value moves = b.compare(arith::CmpFPredicate::OLT, threshold, bracket.fraction);
  return b.select(moves, bracket.next, bracket.nearest);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct StatePrecision final : braid::impl::StatePrecisionPassBase<StatePrecision> {
  using StatePrecisionPassBase::StatePrecisionPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (type != "f32" && type != "bf16") {
      function.emitError() << "tg-state-precision: type must be f32 or bf16, found '" << type << "'";
      return signalPassFailure();
    }
    if (function.isExternal() || type == "f32")
      return;
    SmallVector<UpdateOp> updates(function.getOps<UpdateOp>());
    if (llvm::none_of(updates, [](UpdateOp update) { return !momentsOf(update).empty(); }))
      return;
    SignatureEditor editor(function);
    // The scalar may be added behind what the first update's block has: arguments dominate all.
    Value step = editor.scalarInput(Role::Step, Builder(&getContext()).getI32Type());
    editor.finish();
    for (UpdateOp update : updates)
      narrow(update, step);
    updateType(function);
    setFactsOfUpdates(function);
  }

private:
  /// The places among the states of those to be stored in bf16: moments in f32 that only
  /// this update reads, of a parameter in f32.
  static SmallVector<unsigned> momentsOf(UpdateOp update) {
    SmallVector<unsigned> places;
    auto isF32 = [](Value value) { return typeOf(value).getElementType().isF32(); };
    for (auto [place, state] : llvm::enumerate(update.getStates())) {
      auto argument = dyn_cast<BlockArgument>(state);
      StateAttr attribute = argument ? stateOf(argument) : StateAttr();
      if (attribute && attribute.getKind() == TensorKind::Moment && argument.hasOneUse() && isF32(state) &&
          isF32(update.getParam()))
        places.push_back(place);
    }
    return places;
  }

  static void narrow(UpdateOp update, Value step) {
    SmallVector<unsigned> places = momentsOf(update);
    if (places.empty())
      return;
    OpBuilder builder(update);
    TensorBuilder before(builder, withoutTensor(update.getLoc()));
    // The old parameter: the interpreter's new one may differ in the last bit.
    Bracket parameter = bracketOf(before, update.getParam());
    Value stepTerm = termOfStep(before, step);
    for (unsigned place : places) {
      auto argument = cast<BlockArgument>(update.getStates()[place]);
      argument.setType(withElement(typeOf(argument), builder.getBF16Type()));
      builder.setInsertionPoint(update);
      update.getStatesMutable()[place].set(before.widen(argument));
      builder.setInsertionPointAfter(update);
      Value wide = update.getNewStates()[place];
      SmallVector<OpOperand *> uses = llvm::map_to_vector(wide.getUses(), [](OpOperand &use) { return &use; });
      Value stored = roundStochastically(before, wide, thresholds(before, parameter, stepTerm, place));
      for (OpOperand *use : uses)
        use->set(stored);
    }
  }
};
} // namespace
