//===- StatePrecision.cpp - optimizer moments in bf16 and 8 bits ----------===//
//
// A moment is stored in fewer bits and updated in f32. Rounding to nearest would lose the change of a slow moment:
// Adam's variance changes by a thousandth per step, but neighbouring bf16 values differ by up to 1/128. So the
// rounding is stochastic: up or down with the probability that gives the right mean.
//
// The rounding threshold depends only on the element: it is a Weyl sequence over steps, shifted by the parameter's bits
// below bf16. It needs no index, so the update of bf16 moments stays elementwise. Flat ZeRO shards and kernels over
// many parameters work unchanged, and all layouts give the same bits from the same parameter and gradient.
//
// In 8 bits, neighbours in a row share a scale, which is a separate state (`tg.quantize`). Blocks are chosen so that
// no block spans two ranks, in flat ranges or in sharded columns. If no such block exists, bf16 is used instead. A
// second loop over a block finds the codes, after its largest absolute value is known. This loop uses the gradient's
// low bits in place of the parameter's. So it does not read the parameter, and the first loop can overwrite it with
// the new value.
//
//===----------------------------------------------------------------------===//

#include "dialects/Comm/Mesh.h"
#include "dialects/TG/Facts.h"
#include "dialects/TG/TGBuilder.h"
#include "passes/Base/Signature.h"
#include "passes/FrontEnd/ForwardFacts.h"
#define GEN_PASS_DEF_STATEPRECISIONPASS
#include "passes/Precision/Passes.h"

using namespace mlir;
using namespace braid;
using namespace braid::tg;

//===----------------------------------------------------------------------===//
// Stochastic rounding
//===----------------------------------------------------------------------===//

namespace {
/// The two neighbouring bf16 values around an f32 value.
struct Bracket {
  Value nearest; ///< bf16.
  Value next;    ///< bf16.
  /// Position from `nearest` to `next`, f32: 0 to 1/2, exact.
  Value fraction;
};
} // namespace

/// Both differences are exact. The gap between neighbours is a power of two, so the fraction is exact too.
static Bracket bracketOf(TensorBuilder &b, Value x) {
  Type bf16 = b.builder.getBF16Type();
  Value nearest = b.convert(x, bf16), wide = b.widen(nearest);
  Value rest = b.sub(x, wide);
  // Neighbouring bf16 values differ by 2^-8 to 2^-7 of the value. 0.6 * 2^-7 is more than half and less than one and a
  // half of that gap, so the sum rounds to the neighbour.
  Value reach = b.mul(b.make<math::AbsFOp>(wide), 0.6 / 128);
  Value isAbove = b.compare(arith::CmpFPredicate::OGT, rest, b.constantLike(rest, 0.0));
  Value next = b.convert(b.add(wide, b.select(isAbove, reach, b.neg(reach))), bf16);
  Value gap = b.sub(b.widen(next), wide);
  Value isApart = b.compare(arith::CmpFPredicate::ONE, gap, b.constantLike(gap, 0.0));
  return {nearest, next, b.select(isApart, b.div(rest, gap), b.constantLike(rest, 0.0))};
}

/// Returns the step's term of a Weyl sequence in units of 2^-15, by the golden ratio, so that any few successive steps
/// are spread evenly. The step is masked first, so that the product has 31 bits.
static Value weylTerm(TensorBuilder &b, Value step) {
  Value mask = b.constantLike(step, 0x7fff);
  Value product = b.make<arith::MulIOp>(b.make<arith::AndIOp>(step, mask), b.constantLike(step, 20251));
  Value term = b.make<arith::AndIOp>(product, mask);
  return b.mul(b.convert(term, b.builder.getF32Type()), 1.0 / 0x8000);
}

/// Returns a threshold in [0, 1) for each element. All terms are multiples of 2^-17 and exact in f32, so every target
/// and the interpreter compute the same value.
static Value thresholds(TensorBuilder &b, const Bracket &noise, Value stepTerm, unsigned slot) {
  // An odd factor, different for each state, moves the fraction's highest bits to other places.
  Value shift = b.mul(noise.fraction, 61.0 + 2 * slot);
  Value sum = b.add(shift, b.broadcastScalar(stepTerm, shift));
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

/// Block sizes of `tg.quantize`, in elements. Shorter blocks save too little memory to pay for their scales.
static constexpr int64_t kLargestBlock = 128, kSmallestBlock = 32;

/// Returns the largest block size that divides a row's parts and each of `ranges` equal ranges of the tensor; 0 if
/// there is none.
static int64_t blockOf(RankedTensorType type, int64_t partsOfRow, int64_t ranges) {
  if (type.getRank() == 0 || type.getShape().back() % partsOfRow != 0)
    return 0;
  for (int64_t block = kLargestBlock; block >= kSmallestBlock; --block)
    if (type.getShape().back() / partsOfRow % block == 0 && type.getNumElements() / block % ranges == 0)
      return block;
  return 0;
}

/// Returns how many ranks share a row under the known layout of the parameter. Fails if the layout names a missing
/// mesh.
static FailureOr<int64_t> partsOfRow(func::FuncOp function, BlockArgument moment) {
  auto sharding = function.getArgAttrOfType<comm::ShardingAttr>(moment.getArgNumber(), comm::CommDialect::kSharding);
  if (!sharding || sharding.getDims().empty())
    return 1;
  FailureOr<comm::Mesh> mesh = comm::Mesh::require(function, sharding.getMesh());
  return failed(mesh) ? FailureOr<int64_t>() : mesh->sizeOf(sharding.getDims().back());
}

namespace {
/// A moment that only its update reads and replaces.
struct Moment {
  UpdateOp update;
  unsigned place; ///< Index in the update's states.
  BlockArgument argument;
  int64_t block = 0;    ///< 0 for bf16.
  BlockArgument scales; ///< Scales of blocks.
};

struct StatePrecision final : braid::impl::StatePrecisionPassBase<StatePrecision> {
  using StatePrecisionPassBase::StatePrecisionPassBase;

  void runOnOperation() final {
    func::FuncOp function = getOperation();
    if (function.isExternal() || type == MomentType::F32)
      return;
    FailureOr<SmallVector<Moment>> found = findMoments(function);
    if (failed(found))
      return signalPassFailure();
    SmallVector<Moment> &moments = *found;
    if (moments.empty())
      return;
    remarkTensorsWithoutBlocks(moments);
    Value step = addArguments(function, moments);
    SmallVector<Value> scales = store(moments, step);
    SignatureEditor editor(function);
    for (auto [moment, value] : llvm::zip_equal(moments, scales))
      if (value)
        editor.addResult(value, kUpdates, stateOf(moment.scales).getName());
    editor.finish();
    setFactsOfUpdates(function);
  }

private:
  /// Returns the f32 moments of f32 parameters that only their update reads.
  FailureOr<SmallVector<Moment>> findMoments(func::FuncOp function) {
    SmallVector<Moment> moments;
    auto isF32 = [](Value value) { return typeOf(value).getElementType().isF32(); };
    for (UpdateOp update : function.getOps<UpdateOp>())
      for (auto [place, state] : llvm::enumerate(update.getStates())) {
        auto argument = dyn_cast<BlockArgument>(state);
        StateAttr attribute = argument ? stateOf(argument) : StateAttr();
        if (!attribute || attribute.getKind() != TensorKind::Moment || !argument.hasOneUse() || !isF32(state) ||
            !isF32(update.getParam()))
          continue;
        FailureOr<int64_t> parts = partsOfRow(function, argument);
        if (failed(parts))
          return failure();
        int64_t block = type == MomentType::Int8 ? blockOf(typeOf(argument), *parts, ranks.getValue()) : 0;
        moments.push_back({update, static_cast<unsigned>(place), argument, block, {}});
      }
    return moments;
  }

  void remarkTensorsWithoutBlocks(ArrayRef<Moment> moments) {
    auto hasNone = [](const Moment &one) { return one.block == 0; };
    const Moment *first = llvm::find_if(moments, hasNone);
    if (type != MomentType::Int8 || first == moments.end())
      return;
    getOperation().emitRemark() << llvm::count_if(moments, hasNone) << " of " << moments.size()
                                << " moments are stored in bf16, such as " << stateOf(first->argument).getName()
                                << " of type " << first->argument.getType() << ": no block of " << kSmallestBlock
                                << " to " << kLargestBlock << " divides its rows, or a rank's part of them, and its "
                                << "part on each of " << int64_t(ranks.getValue()) << " ranks";
  }

  /// Adds the arguments for the scales of blocks; returns the step. New ops can stand anywhere in the block, since
  /// arguments dominate all ops.
  static Value addArguments(func::FuncOp function, MutableArrayRef<Moment> moments) {
    SignatureEditor editor(function);
    llvm::StringMap<BlockArgument> parameters = parametersByOwner(function);
    Value step = editor.scalarInput(Role::Step, Builder(function.getContext()).getI32Type());
    for (Moment &moment : moments) {
      if (moment.block == 0)
        continue;
      StateAttr state = stateOf(moment.argument);
      SmallVector<int64_t> shape(typeOf(moment.argument).getShape());
      shape.back() /= moment.block;
      BlockArgument parameter = state.getOf() ? parameters.lookup(state.getOf()) : BlockArgument();
      moment.scales = editor.addState(withShape(typeOf(moment.argument), shape), state.getName().str() + ".scale",
                                      TensorKind::Moment, parameter);
    }
    editor.finish();
    return step;
  }

  /// Makes updates read and write the stored types. Returns the new scales; null for bf16.
  static SmallVector<Value> store(ArrayRef<Moment> moments, Value step) {
    SmallVector<Value> scales;
    UpdateOp last;
    std::optional<Bracket> noise;
    Value stepTerm;
    for (const Moment &moment : moments) {
      UpdateOp update = moment.update;
      OpBuilder builder(update);
      TensorBuilder b(builder, withoutTensor(update.getLoc()));
      if (update != last) {
        // Uses the old parameter, because the interpreter's new one may differ in the last bit.
        noise = bracketOf(b, moment.block ? update.getGradient() : update.getParam());
        stepTerm = weylTerm(b, step);
        last = update;
      }
      scales.push_back(storeMoment(b, moment, [&] { return thresholds(b, *noise, stepTerm, moment.place); }));
    }
    return scales;
  }

  static Value storeMoment(TensorBuilder &b, const Moment &moment, llvm::function_ref<Value()> threshold) {
    UpdateOp update = moment.update;
    BlockArgument argument = moment.argument;
    Type element = moment.block ? Type(b.builder.getI8Type()) : b.builder.getBF16Type();
    argument.setType(withElement(typeOf(argument), element));
    Value wide = moment.block ? b.make<DequantizeOp>(argument, moment.scales) : b.widen(argument);
    update.getStatesMutable()[moment.place].set(wide);
    b.builder.setInsertionPointAfter(update);
    Value made = update.getNewStates()[moment.place], stored, scales;
    SmallVector<OpOperand *> uses = llvm::map_to_vector(made.getUses(), [](OpOperand &use) { return &use; });
    if (moment.block) {
      auto quantized = b.builder.create<QuantizeOp>(b.loc, made, threshold(), moment.block);
      stored = quantized.getCodes(), scales = quantized.getScales();
    } else {
      stored = roundStochastically(b, made, threshold());
    }
    for (OpOperand *use : uses)
      use->set(stored);
    return scales;
  }
};
} // namespace
