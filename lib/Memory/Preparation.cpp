//===- Preparation.cpp - preparation for buffer assignment ----------------===//

#include "lib/Memory/Preparation.h"
#include "dialects/TG/Facts.h"
#include "lib/Memory/Layout.h"
#include "lib/Memory/Reads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

//===----------------------------------------------------------------------===//
// Kernels that copy or fill
//===----------------------------------------------------------------------===//

/// Builds a kernel of one generic over all elements; `scalar` makes an element from those of the operands.
static Value buildElementwise(OpBuilder &builder, Location loc, StringRef name, ValueRange operands,
                              RankedTensorType type, function_ref<Value(OpBuilder &, ValueRange)> scalar) {
  OpBuilder::InsertionGuard guard(builder);
  // A scalar is a space of one lane, over which the generic has no loop.
  SmallVector<int64_t> space(type.getShape());
  if (space.empty())
    space.push_back(1);
  auto kernel = builder.create<exec::KernelOp>(loc, TypeRange{type}, name, operands, ValueRange(), space);
  Block *body =
      builder.createBlock(&kernel.getBody(), {}, operands.getTypes(), SmallVector<Location>(operands.size(), loc));
  Value init = builder.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps(operands.size() + 1, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic = builder.create<linalg::GenericOp>(loc, TypeRange{type}, body->getArguments(), init, maps, iterators,
                                                   [&](OpBuilder &inner, Location innerLoc, ValueRange elements) {
                                                     inner.create<linalg::YieldOp>(innerLoc, scalar(inner, elements));
                                                   });
  generic->setAttr(exec::ExecDialect::kDims,
                   builder.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))));
  builder.create<exec::YieldOp>(loc, generic.getResults());
  return kernel.getResult(0);
}

Value braid::buildCopy(OpBuilder &builder, Location loc, Value source) {
  return buildElementwise(builder, loc, "copy", source, cast<RankedTensorType>(source.getType()),
                          [](OpBuilder &, ValueRange elements) { return elements[0]; });
}

Value braid::buildFill(OpBuilder &builder, Location loc, RankedTensorType type, TypedAttr element) {
  return buildElementwise(builder, loc, "fill", {}, type, [&](OpBuilder &inner, ValueRange) -> Value {
    return inner.create<arith::ConstantOp>(loc, element);
  });
}

//===----------------------------------------------------------------------===//
// Form
//===----------------------------------------------------------------------===//

static LogicalResult checkForm(Block &block) {
  for (Operation &op : block) {
    if (isa<ActionOpInterface, ViewOp, ConcatOp, arith::ConstantOp, func::ReturnOp>(op))
      continue;
    return op.emitOpError() << "cannot be planned: only exec actions on values, views and concats have a place in "
                               "memory; lower it first";
  }
  return success();
}

/// Erases dead ops, which would count as readers of their operands.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

//===----------------------------------------------------------------------===//
// Constants and other values without operands
//===----------------------------------------------------------------------===//

/// Adds fill kernels for constants that were not fused into a kernel: one before their
/// first use, and one for each time that the program returns them.
static LogicalResult materializeConstants(Block &block) {
  Operation *returnOp = block.getTerminator();
  OpBuilder builder(returnOp);
  for (auto constant : llvm::to_vector(block.getOps<arith::ConstantOp>())) {
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!type || !splat)
      return constant.emitOpError() << "cannot be planned: constants whose elements differ get no storage; make the "
                                       "tensor an input or a frozen parameter";
    auto element = splat.getSplatValue<TypedAttr>();
    for (OpOperand &use : llvm::make_early_inc_range(constant->getUses()))
      if (use.getOwner() == returnOp) {
        builder.setInsertionPoint(returnOp);
        use.set(buildFill(builder, constant.getLoc(), type, element));
      }
    if (constant->use_empty())
      continue;
    Operation *first = readerOf(*constant->use_begin());
    for (OpOperand &use : constant->getUses())
      if (Operation *reader = readerOf(use); reader->isBeforeInBlock(first))
        first = reader;
    builder.setInsertionPoint(first);
    constant.replaceAllUsesWith(buildFill(builder, constant.getLoc(), type, element));
  }
  eraseDead(block);
  return success();
}

/// Sinks kernels without operands (zeros of accumulators). They are cheap, but their
/// results may be as large as all parameters. So each result is computed right before it is
/// returned, and does not stay live.
static void sinkGenerators(Block &block) {
  OpBuilder builder(block.getTerminator());
  for (OpOperand &returned : block.getTerminator()->getOpOperands()) {
    auto kernel = returned.get().getDefiningOp<KernelOp>();
    if (!kernel || !kernel.getActionIns().empty())
      continue;
    unsigned number = cast<OpResult>(returned.get()).getResultNumber();
    returned.set(builder.clone(*kernel)->getResult(number));
  }
  eraseDead(block);
}

//===----------------------------------------------------------------------===//
// Views that need a copy
//===----------------------------------------------------------------------===//

/// Layouts of views whose source is contiguous, or is such a view.
using ViewLayouts = DenseMap<Value, Layout>;

/// Copies inner views where needed: a view of a view has no strides if a step along one of
/// its dims is not a constant number of elements.
static ViewLayouts copyUnreachableViews(Block &block) {
  OpBuilder builder(block.getTerminator());
  ViewLayouts layouts;
  for (auto view : llvm::to_vector(block.getOps<ViewOp>())) {
    ArrayRef<int64_t> sourceShape = view.getSource().getType().getShape(), shape = view.getType().getShape();
    auto inner = layouts.find(view.getSource());
    Layout source = inner == layouts.end() ? Layout::contiguous(sourceShape) : inner->second;
    auto layout = composeView(sourceShape, source, shape, view.getOffset(), view.getStrides());
    if (!layout) {
      builder.setInsertionPoint(view);
      view.setOperand(buildCopy(builder, view.getLoc(), view.getSource()));
      layout = composeView(sourceShape, Layout::contiguous(sourceShape), shape, view.getOffset(), view.getStrides());
    }
    layouts[view.getResult()] = *layout;
  }
  return layouts;
}

/// Copies a strided view if an action does not accept its strides; the name of the copy says so in reports.
static void copyStridedOperands(Block &block, const ViewLayouts &layouts) {
  OpBuilder builder(block.getTerminator());
  for (auto action : block.getOps<ActionOpInterface>()) {
    OperandRange ins = action.getActionIns();
    for (unsigned index = 0; index < ins.size(); ++index) {
      OpOperand &operand = ins.getBase()[index];
      auto view = layouts.find(operand.get());
      if (view == layouts.end() || action.mayReadStrided(index, view->second.strides) ||
          view->second.isContiguous(cast<RankedTensorType>(operand.get().getType()).getShape()))
        continue;
      std::string name = action.getActionName() + " operand " + std::to_string(index) + ", made contiguous";
      builder.setInsertionPoint(action);
      operand.set(buildCopy(builder, tg::withName(tg::withoutTensor(action.getLoc()), builder.getStringAttr(name)),
                            operand.get()));
    }
  }
}

LogicalResult braid::prepareForBufferAssignment(func::FuncOp program) {
  Block &block = program.getBody().front();
  if (failed(checkForm(block)))
    return failure();
  eraseDead(block);
  if (failed(materializeConstants(block)))
    return failure();
  sinkGenerators(block);
  ViewLayouts layouts = copyUnreachableViews(block);
  copyStridedOperands(block, layouts);
  return success();
}
