//===- ExecOps.cpp - effects, memory rules and verifiers of actions -------===//

#include "dialects/Exec/ActionForm.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Exec/KernelBody.h"
#include "dialects/Exec/Views.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace braid;
using namespace braid::exec;

RankedTensorType exec::tensorOf(Type type) {
  if (auto ref = dyn_cast<RefType>(type))
    return ref.getTensorType();
  return cast<RankedTensorType>(type);
}

Operation *exec::lookupSymbol(Operation *user, FlatSymbolRefAttr symbol, SymbolTableCollection &tables) {
  for (Operation *table = SymbolTable::getNearestSymbolTable(user); table;
       table = table->getParentOp() ? SymbolTable::getNearestSymbolTable(table->getParentOp()) : nullptr)
    if (Operation *found = tables.lookupSymbolIn(table, symbol))
      return found;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

void exec::collectEffects(ActionOpInterface action, SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (action.getActionOuts().empty())
    return;
  unsigned numIns = action->getNumOperands() - action.getActionOuts().size();
  for (OpOperand &operand : action->getOpOperands()) {
    if (operand.getOperandNumber() < numIns)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

LogicalResult exec::checkForm(ActionOpInterface action, RankedTensorType expected, unsigned written) {
  OperandRange outs = action.getActionOuts();
  unsigned results = action->getNumResults();
  if (outs.size() + results != written || (!outs.empty() && results))
    return action->emitOpError() << "has " << results << " results and " << outs.size() << " outs: it needs "
                                 << (written == 1 ? "one result" : "two results")
                                 << " (on values) or as many outs (in memory)";
  RankedTensorType found = tensorOf(results ? action->getResult(0).getType() : outs[0].getType());
  if (found == expected)
    return success();
  return action->emitOpError() << "writes " << found << " but its operands make " << expected;
}

#define BRAID_EXEC_ACTION(Action, NAME)                                                                                \
  void Action::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {              \
    collectEffects(*this, effects);                                                                                    \
  }                                                                                                                    \
  OperandRange Action::getActionIns() { return getOperation()->getOperands().drop_back(getOuts().size()); }            \
  OperandRange Action::getActionOuts() { return getOuts(); }                                                           \
  std::string Action::getActionName() { return NAME; }

BRAID_EXEC_ACTION(KernelOp, getName().str())
BRAID_EXEC_ACTION(LaunchOp, getKernel().str())
BRAID_EXEC_ACTION(GatherOp, "gather")
BRAID_EXEC_ACTION(ScatterAddOp, "scatter_add")
#undef BRAID_EXEC_ACTION

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  if ((getOuts().empty()) == (getResults().empty()))
    return emitOpError() << "has " << getResults().size() << " results and " << getOuts().size()
                         << " outs: it needs results (on values) or outs (in memory)";
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  SmallVector<Type> ins, outs;
  for (Type type : getIns().getTypes())
    ins.push_back(tensorOf(type));
  for (Type type : getOuts().empty() ? TypeRange(getResultTypes()) : TypeRange(getOuts().getTypes()))
    outs.push_back(tensorOf(type));
  return verifyKernelBody(*this, *getBlock(), getSpace(), ins, outs);
}

bool KernelOp::mayWriteInPlace(unsigned result, unsigned in) {
  return writesInPlace(*getBlock(), getSpace().size() - 1, result, in);
}

bool KernelOp::mayWriteStrided(unsigned result, ArrayRef<int64_t> strides) {
  return strides.empty() || strides.back() == 1;
}

/// If the kernel treats all elements alike, rows of contiguous memory need no separate treatment.
bool KernelOp::readsRows(unsigned in) {
  size_t rank = getSpace().size();
  return !isElementwiseBody(*getBlock(), rank) && readsAlongLanes(*getBlock(), rank - 1, in);
}

bool KernelOp::writesRows(unsigned result) {
  size_t rank = getSpace().size();
  return !isElementwiseBody(*getBlock(), rank) && writesAlongLanes(*getBlock(), rank - 1, result);
}

LogicalResult KernelDefOp::verifyRegions() {
  SmallVector<Type> layouts;
  for (Attribute layout : getLayouts()) {
    auto ref = dyn_cast<RefType>(cast<TypeAttr>(layout).getValue());
    if (!ref)
      return emitOpError() << "layout " << layout << " is not an !exec.ref";
    layouts.push_back(ref.getTensorType());
  }
  unsigned numIns = getNumIns();
  if (layouts.size() < numIns || layouts.size() - numIns != getTies().size())
    return emitOpError() << "has " << layouts.size() << " layouts and " << getTies().size() << " ties for " << numIns
                         << " operands";
  auto isOne = [](Type layout) {
    auto shape = cast<RankedTensorType>(layout).getShape();
    return shape.empty() || shape.front() == 1;
  };
  if (getFlat() && (getSpace().front() != 1 || !llvm::all_of(layouts, isOne)))
    return emitOpError() << "is flat, so dim 0 of its space and of each layout must be 1, which stands for any number";
  return verifyKernelBody(*this, *getBlock(), getSpace(), ArrayRef(layouts).take_front(numIns),
                          ArrayRef(layouts).drop_front(numIns));
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = dyn_cast_or_null<KernelDefOp>(lookupSymbol(*this, getKernelAttr(), symbols));
  if (!kernel)
    return emitOpError() << "of '" << getKernel() << "', which is not an exec.kernel_def";
  unsigned numIns = kernel.getNumIns(), numOuts = kernel.getTies().size();
  int64_t batch = getBatch();
  if (batch < 1 || static_cast<int64_t>(getIns().size()) != batch * numIns ||
      static_cast<int64_t>(getOuts().size()) != batch * numOuts)
    return emitOpError() << "passes " << getIns().size() << " operands and " << getOuts().size() << " outs, but "
                         << batch << " tuples of '" << getKernel() << "' are " << numIns << " operands and " << numOuts
                         << " outs each";
  SmallVector<int64_t> lengths(batch, 0);
  for (auto [index, ref] : llvm::enumerate(getOperands())) {
    bool isIn = index < getIns().size();
    unsigned place = isIn ? index : index - getIns().size(), layout = isIn ? place % numIns : numIns + place % numOuts;
    auto expected = cast<RefType>(cast<TypeAttr>(kernel.getLayouts()[layout]).getValue());
    if (kernel.getFlat() && !expected.getShape().empty()) {
      // Number of elements or rows, equal for all operands of a tuple.
      int64_t ofOne = ShapedType::getNumElements(expected.getShape());
      int64_t elements = cast<RefType>(ref.getType()).getTensorType().getNumElements();
      int64_t &length = lengths[place / (isIn ? numIns : numOuts)];
      length = length ? length : elements / ofOne;
      if (elements != length * ofOne || !cast<RefType>(ref.getType()).isContiguous())
        return emitOpError() << "passes " << ref.getType() << " where '" << getKernel() << "' takes " << length
                             << " consecutive " << expected;
      continue;
    }
    if (ref.getType() != expected)
      return emitOpError() << "passes " << ref.getType() << " where '" << getKernel() << "' takes " << expected;
  }
  return success();
}

int64_t ProgramOp::getHostBytes() {
  int64_t end = 0;
  for (auto buffer : getBody().getOps<BufferOp>())
    if (buffer.getHost())
      end = std::max<int64_t>(end, buffer.getOffset() + buffer.getBytes());
  return end;
}

bool LaunchOp::mayWriteInPlace(unsigned result, unsigned in) {
  // Kernels are in the module, beside the program.
  Operation *module = (*this)->getParentOfType<ProgramOp>()->getParentOp();
  auto kernel = cast<KernelDefOp>(SymbolTable::lookupSymbolIn(module, getKernelAttr()));
  unsigned numIns = kernel.getNumIns(), numOuts = kernel.getTies().size();
  return result / numOuts == in / numIns &&
         writesInPlace(*kernel.getBlock(), kernel.getSpace().size() - 1, result % numOuts, in % numIns);
}

bool LaunchOp::mayWriteStrided(unsigned, ArrayRef<int64_t> strides) { return strides.empty() || strides.back() == 1; }

LogicalResult RandomUniformOp::verify() {
  if (getKey().getType().getShape() != ArrayRef<int64_t>{4})
    return emitOpError() << "needs a key of 4 words, found " << getKey().getType();
  if (getIndices().size() != getStrides().size())
    return emitOpError() << "has " << getIndices().size() << " indices but " << getStrides().size() << " strides";
  if (getOffsets().size() != getSteps().size())
    return emitOpError() << "has " << getOffsets().size() << " offsets but " << getSteps().size() << " steps";
  for (Value index : getIndices())
    if (!index.getDefiningOp<linalg::IndexOp>())
      return emitOpError() << "has an index that is not the result of a linalg.index";
  return success();
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  RankedTensorType table = tensorOf(getTable().getType()), indices = tensorOf(getIndices().getType());
  if (table.getRank() != 2)
    return emitOpError() << "table must have rank 2 (rows x width), found " << table;
  SmallVector<int64_t> shape(indices.getShape());
  shape.push_back(table.getDimSize(1));
  return checkForm(*this, RankedTensorType::get(shape, table.getElementType()));
}

/// The rows of a table are addressed by number alone, so they must be contiguous.
bool GatherOp::mayReadStrided(unsigned, ArrayRef<int64_t>) { return false; }

LogicalResult ScatterAddOp::verify() {
  RankedTensorType indices = tensorOf(getIndices().getType()), updates = tensorOf(getUpdates().getType());
  if (updates.getRank() == 0 || updates.getShape().drop_back() != indices.getShape())
    return emitOpError() << "updates " << updates << " must be a row for each of the indices " << indices;
  Type found = getOperation()->getNumResults() ? getResult().getType()
               : getOuts().empty()             ? Type()
                                               : getOuts()[0].getType();
  int64_t rows = found && tensorOf(found).getRank() == 2 ? tensorOf(found).getDimSize(0) : 0;
  // Sums of bf16 may be kept in f32.
  bool isWide = found && updates.getElementType().isBF16() && tensorOf(found).getElementType().isF32();
  Type element = isWide ? tensorOf(found).getElementType() : updates.getElementType();
  auto expected = RankedTensorType::get({rows, updates.getShape().back()}, element);
  if (getAccumulator() && tensorOf(getAccumulator().getType()) != expected)
    return emitOpError() << "accumulator is " << tensorOf(getAccumulator().getType()) << " but the result is "
                         << expected;
  return checkForm(*this, expected);
}

bool ScatterAddOp::mayReadStrided(unsigned, ArrayRef<int64_t>) { return false; }

int64_t ScatterAddOp::getTiedIn(unsigned) { return getAccumulator() ? 2 : -1; }

int64_t ScatterAddOp::getWorkspaceBytes(const WorkspaceRule &rule) {
  Type result = getResult() ? getResult().getType() : getOuts().front().getType();
  int64_t rows = tensorOf(result).getDimSize(0), indices = tensorOf(getIndices().getType()).getNumElements();
  return rule.perIndex * indices + rule.perRow * rows + rule.fixed;
}

//===----------------------------------------------------------------------===//
// Ties and references
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::verify() {
  RankedTensorType result = getType();
  int64_t dim = getDim(), total = 0;
  if (dim < 0 || dim >= result.getRank())
    return emitOpError() << "dim " << dim << " is out of range for " << result;
  for (Type input : getInputs().getTypes()) {
    auto type = cast<RankedTensorType>(input);
    SmallVector<int64_t> shape(type.getShape());
    if (type.getRank() == result.getRank()) {
      total += shape[dim];
      shape[dim] = result.getDimSize(dim);
    }
    if (RankedTensorType::get(shape, type.getElementType()) != result)
      return emitOpError() << "operand " << type << " does not fit the result " << result << " along dim " << dim;
  }
  if (total != result.getDimSize(dim))
    return emitOpError() << "operands are " << total << " long along dim " << dim << " but the result is " << result;
  return success();
}

void TensorOp::build(OpBuilder &builder, OperationState &state, StringRef name, uint64_t offset, uint64_t bytes,
                     Category category, Type type, Attribute value) {
  build(builder, state, name, offset, bytes, /*host=*/false, /*slots=*/FlatSymbolRefAttr(), category, type, value);
}

LogicalResult TensorOp::verify() {
  constexpr Category kept[] = {Category::Parameters, Category::Gradients, Category::OptimizerState, Category::Caches};
  if (!getSlots() && !llvm::is_contained(kept, getCategory()))
    return emitOpError() << "has the category " << stringifyCategory(getCategory())
                         << ", but lives across programs: expected parameters, gradients, optimizer_state or caches";
  return success();
}

LogicalResult SlotsOp::verify() {
  int64_t count = getCount();
  if (count < 1)
    return emitOpError() << "has " << count << " slots; expected at least 1";
  return success();
}

LogicalResult PackOp::verifySymbolUses(SymbolTableCollection &symbols) {
  int64_t end = getOffset();
  for (auto name : getTensors().getAsRange<FlatSymbolRefAttr>()) {
    auto tensor = symbols.lookupNearestSymbolFrom<TensorOp>(*this, name);
    if (!tensor)
      return emitOpError() << "of " << name << ", which is not an exec.tensor";
    if (tensor.getBegin() != end)
      return emitOpError() << "has " << name << " at " << tensor.getBegin() << ", but the tensor before it ends at "
                           << end;
    end += tensor.getSize();
  }
  if (end != getBegin() + getSize())
    return emitOpError() << "has " << getSize() << " bytes, but its tensors have " << end - getBegin();
  return success();
}

LogicalResult RefOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto range = dyn_cast_or_null<ArenaRangeOpInterface>(lookupSymbol(*this, getBufferAttr(), symbols));
  if (!range)
    return emitOpError() << "to '" << getBuffer() << "', which is not an exec.buffer, exec.tensor or exec.pack";
  int64_t offset = getOffset(), end = offset + getType().getSpanBytes();
  if (offset < 0 || end > range.getSize())
    return emitOpError() << "covers bytes " << offset << " to " << end << " of '" << getBuffer() << "', which has "
                         << range.getSize();
  return success();
}
