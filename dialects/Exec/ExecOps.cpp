//===- ExecOps.cpp - what actions read and write, and their verifiers ----===//

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

/// Exactly one of outs and results, the first of the given type.
template <typename Action>
static LogicalResult checkForm(Action action, RankedTensorType expected, unsigned written = 1) {
  Operation *op = action.getOperation();
  if (action.getOuts().size() + op->getNumResults() != written || (!action.getOuts().empty() && op->getNumResults()))
    return op->emitOpError() << "has " << op->getNumResults() << " results and " << action.getOuts().size()
                             << " outs: it needs " << (written == 1 ? "one result" : "two results")
                             << " (on values) or as many outs (in memory)";
  RankedTensorType found = tensorOf(op->getNumResults() ? op->getResult(0).getType() : action.getOuts()[0].getType());
  if (found == expected)
    return success();
  return op->emitOpError() << "writes " << found << " but its operands make " << expected;
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
BRAID_EXEC_ACTION(MatmulOp, "matmul")
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

/// Where all elements are treated alike, the rows of contiguous memory are one.
bool KernelOp::readsRows(unsigned in) {
  size_t rank = getSpace().size();
  return !treatsElementsAlike(*getBlock(), rank) && readsAlongLanes(*getBlock(), rank - 1, in);
}

bool KernelOp::writesRows(unsigned result) {
  size_t rank = getSpace().size();
  return !treatsElementsAlike(*getBlock(), rank) && writesAlongLanes(*getBlock(), rank - 1, result);
}

LogicalResult KernelDefOp::verifyRegions() {
  SmallVector<Type> layouts;
  for (Attribute layout : getLayouts()) {
    auto ref = dyn_cast<RefType>(cast<TypeAttr>(layout).getValue());
    if (!ref)
      return emitOpError() << "layout " << layout << " is no !exec.ref";
    layouts.push_back(ref.getTensorType());
  }
  unsigned numIns = getNumIns();
  if (layouts.size() < numIns || layouts.size() - numIns != getTies().size())
    return emitOpError() << "has " << layouts.size() << " layouts and " << getTies().size() << " ties for " << numIns
                         << " operands";
  return verifyKernelBody(*this, *getBlock(), getSpace(), ArrayRef(layouts).take_front(numIns),
                          ArrayRef(layouts).drop_front(numIns));
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = dyn_cast_or_null<KernelDefOp>(lookupSymbol(*this, getKernelAttr(), symbols));
  if (!kernel)
    return emitOpError() << "of '" << getKernel() << "', which is no exec.kernel_def";
  unsigned numIns = kernel.getNumIns(), numOuts = kernel.getTies().size();
  int64_t batch = getBatch();
  if (batch < 1 || static_cast<int64_t>(getIns().size()) != batch * numIns ||
      static_cast<int64_t>(getOuts().size()) != batch * numOuts)
    return emitOpError() << "passes " << getIns().size() << " operands and " << getOuts().size() << " outs, but " << batch
                         << " tuples of '" << getKernel() << "' are " << numIns << " operands and " << numOuts
                         << " outs each";
  if (kernel.getFlat())
    return success();
  for (auto [index, ref] : llvm::enumerate(getOperands())) {
    unsigned layout = index < getIns().size() ? index % numIns : numIns + (index - getIns().size()) % numOuts;
    Type expected = cast<TypeAttr>(kernel.getLayouts()[layout]).getValue();
    if (ref.getType() != expected)
      return emitOpError() << "passes " << ref.getType() << " where '" << getKernel() << "' takes " << expected;
  }
  return success();
}

bool LaunchOp::mayWriteInPlace(unsigned result, unsigned in) {
  // Kernels stand beside the program, in the module.
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
      return emitOpError() << "takes indices from linalg.index only";
  return success();
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

/// Binds the letters of an operand to sizes; a letter must mean one size.
static LogicalResult bindLetters(Operation *op, StringRef spec, StringRef letters, RankedTensorType type,
                                 llvm::SmallDenseMap<char, int64_t> &sizes) {
  if (static_cast<int64_t>(letters.size()) != type.getRank())
    return op->emitOpError() << "'" << letters << "' of \"" << spec << "\" names " << letters.size()
                             << " dims but its tensor is " << type;
  for (auto [letter, size] : llvm::zip(letters, type.getShape()))
    if (sizes.try_emplace(letter, size).first->second != size)
      return op->emitOpError() << "'" << StringRef(&letter, 1) << "' of \"" << spec << "\" is both "
                               << sizes.lookup(letter) << " and " << size;
  return success();
}

/// That of what is multiplied, but sums of products of bf16 may stay in f32.
static Type elementOfSums(MatmulOp op, Type multiplied) {
  SmallVector<Type> written(op->getResultTypes());
  llvm::append_range(written, op.getOuts().getTypes());
  bool isWide = multiplied.isBF16() && !written.empty() && tensorOf(written[0]).getElementType().isF32();
  return isWide ? tensorOf(written[0]).getElementType() : multiplied;
}

/// The input of GELU: kept where it is applied, read where its gradient is.
static LogicalResult verifyAux(MatmulOp op, RankedTensorType expected) {
  bool isGrad = op.getEpilogue() == Epilogue::GeluTanhGrad;
  if (static_cast<bool>(op.getAux()) != isGrad)
    return op.emitOpError() << (isGrad ? "needs 'aux', at which gelu_tanh_grad is taken"
                                       : "has 'aux', which only epilogue gelu_tanh_grad reads");
  if (isGrad && tensorOf(op.getAux().getType()) != expected)
    return op.emitOpError() << "aux is " << tensorOf(op.getAux().getType()) << " but the result is " << expected;
  if (isGrad && (op.getBias() || op.getAccumulator()))
    return op.emitOpError() << "has epilogue gelu_tanh_grad with a bias or an accumulator, which no library combines";
  if (!op.keepsInput())
    return success();
  if (op.getEpilogue() != Epilogue::GeluTanh)
    return op.emitOpError() << "keeps the input of epilogue " << stringifyEpilogue(op.getEpilogue())
                            << "; only that of gelu_tanh can be kept";
  RankedTensorType kept = tensorOf(op.getOuts().empty() ? op.getWritten()[1].getType() : op.getOuts()[1].getType());
  if (kept != expected)
    return op.emitOpError() << "keeps " << kept << " but the result is " << expected;
  return success();
}

/// The sum of an operand over what is contracted: one dim is left.
static LogicalResult verifyBiasGrad(MatmulOp op, RankedTensorType expected) {
  if (!op.getBiasGrad())
    return success();
  if (op.getBias() || op.getAux() || op.getEpilogue() != Epilogue::None)
    return op.emitOpError() << "has bias_grad with a bias or an epilogue, which no library combines";
  auto [inputs, result] = op.getSpec().split("->");
  auto [lhs, rhs] = inputs.split(',');
  bool isLeft = *op.getBiasGrad() == Side::Lhs;
  StringRef letters = isLeft ? lhs : rhs, others = isLeft ? rhs : lhs;
  SmallVector<int64_t> left;
  for (auto [letter, size] : llvm::zip(letters, tensorOf(op.getSummed().getType()).getShape()))
    if (result.contains(letter)) {
      left.push_back(size);
      if (others.contains(letter))
        return op.emitOpError() << "has bias_grad of '" << letters << "', but '" << StringRef(&letter, 1) << "' of \""
                                << op.getSpec() << "\" is in both operands and the result";
    }
  if (left.size() != 1)
    return op.emitOpError() << "has bias_grad of '" << letters << "', of which \"" << op.getSpec() << "\" keeps "
                            << left.size() << " dims; the sum has one";
  auto sum = RankedTensorType::get(left, expected.getElementType());
  RankedTensorType found = tensorOf(op.getOuts().empty() ? op.getWritten()[1].getType() : op.getOuts()[1].getType());
  if (found != sum)
    return op.emitOpError() << "writes " << found << " as the gradient of a bias but its operands make " << sum;
  return success();
}

LogicalResult MatmulOp::verify() {
  StringRef spec = getSpec();
  auto [inputs, result] = spec.split("->");
  auto [lhs, rhs] = inputs.split(',');
  RankedTensorType left = tensorOf(getLhs().getType()), right = tensorOf(getRhs().getType());
  llvm::SmallDenseMap<char, int64_t> sizes;
  if (failed(bindLetters(*this, spec, lhs, left, sizes)) || failed(bindLetters(*this, spec, rhs, right, sizes)))
    return failure();
  SmallVector<int64_t> shape;
  for (char letter : result) {
    if (!sizes.count(letter))
      return emitOpError() << "result letter '" << StringRef(&letter, 1) << "' of \"" << spec << "\" is in no operand";
    shape.push_back(sizes.lookup(letter));
  }
  auto expected = RankedTensorType::get(shape, elementOfSums(*this, left.getElementType()));
  if (getBias()) {
    RankedTensorType bias = tensorOf(getBias().getType());
    if (shape.empty() || bias.getShape() != ArrayRef(shape).take_back())
      return emitOpError() << "bias " << bias << " does not fit the last dim of " << expected;
  }
  if (getAccumulator() && tensorOf(getAccumulator().getType()) != expected)
    return emitOpError() << "accumulator is " << tensorOf(getAccumulator().getType()) << " but the result is " << expected;
  if (failed(verifyAux(*this, expected)) || failed(checkForm(*this, expected, keepsInput() || getBiasGrad() ? 2 : 1)))
    return failure();
  return verifyBiasGrad(*this, expected);
}

void MatmulOp::build(OpBuilder &builder, OperationState &state, Type result, StringRef spec, Value lhs, Value rhs,
                     Value bias, Value accumulator, ValueRange outs, Epilogue epilogue) {
  build(builder, state, TypeRange(result), spec, lhs, rhs, bias, accumulator, /*aux=*/Value(), outs, epilogue,
        /*biasGrad=*/SideAttr());
}

int64_t MatmulOp::getTiedIn(unsigned result) { return result == 0 && getAccumulator() ? 2 + (getBias() ? 1 : 0) : -1; }
int64_t MatmulOp::getWorkspaceBytes(const WorkspaceRule &rule) { return rule.library; }

/// Only the last dim must stay contiguous: the others become loops if need be.  What
/// is kept for a gradient is one matrix, and so is the result beside it, or beside the
/// gradient of a bias.
bool MatmulOp::mayWriteStrided(unsigned, ArrayRef<int64_t> strides) {
  return !keepsInput() && !getAux() && !strides.empty() && strides.back() == 1 &&
         (!getBiasGrad() || strides.size() == 2);
}

/// Whether the dims of an operand that are contracted, and those that are not, walk
/// together with these strides: then neither makes loops around the product.
static bool isMatrix(StringRef letters, StringRef result, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  for (bool contracted : {false, true}) {
    int64_t last = -1;
    for (int64_t d = 0; d < static_cast<int64_t>(letters.size()); ++d) {
      if (shape[d] == 1 || result.contains(letters[d]) == contracted)
        continue;
      if (last >= 0 && strides[last] != shape[d] * strides[d])
        return false;
      last = d;
    }
  }
  return true;
}

/// With the gradient of a bias there are no loops, in each of whose steps the library
/// would write another.
bool MatmulOp::mayReadStrided(unsigned in, ArrayRef<int64_t> strides) {
  Value operand = getActionIns()[in];
  if (!getBiasGrad() || (operand != getLhs() && operand != getRhs()))
    return !getAux() || operand != getAux();
  auto [inputs, result] = getSpec().split("->");
  auto [lhs, rhs] = inputs.split(',');
  return isMatrix(in == 0 ? lhs : rhs, result, tensorOf(operand.getType()).getShape(), strides);
}

/// Whether the last dim of a tensor with these letters cannot be one dim of the product
/// together with those before it: they are in other tensors than it is.
static bool isRowOfProduct(StringRef spec, StringRef letters, ArrayRef<int64_t> shape) {
  auto [inputs, result] = spec.split("->");
  auto [lhs, rhs] = inputs.split(',');
  auto tensorsOf = [&, lhs = lhs, rhs = rhs, result = result](char letter) {
    return std::tuple(lhs.contains(letter), rhs.contains(letter), result.contains(letter));
  };
  for (size_t dim = letters.size() - 1; dim > 0; --dim)
    if (shape[dim - 1] != 1)
      return tensorsOf(letters[dim - 1]) != tensorsOf(letters.back());
  return false;
}

bool MatmulOp::readsRows(unsigned in) {
  if (getAccumulator() && getActionIns()[in] == getAccumulator())
    return writesRows(0);
  auto [lhs, rhs] = getSpec().split("->").first.split(',');
  StringRef letters = in == 0 ? lhs : rhs;
  return in < 2 && !letters.empty() && isRowOfProduct(getSpec(), letters, tensorOf(getActionIns()[in].getType()).getShape());
}

bool MatmulOp::writesRows(unsigned result) {
  StringRef letters = getSpec().split("->").second;
  Type type = getOuts().empty() ? getResultTypes()[result] : getOuts()[result].getType();
  return result == 0 && !letters.empty() && isRowOfProduct(getSpec(), letters, tensorOf(type).getShape());
}

LogicalResult GatherOp::verify() {
  RankedTensorType table = tensorOf(getTable().getType()), indices = tensorOf(getIndices().getType());
  if (table.getRank() != 2)
    return emitOpError() << "table must have rank 2 (rows x width), found " << table;
  SmallVector<int64_t> shape(indices.getShape());
  shape.push_back(table.getDimSize(1));
  return checkForm(*this, RankedTensorType::get(shape, table.getElementType()));
}

/// Rows are found by their number alone.
bool GatherOp::mayReadStrided(unsigned, ArrayRef<int64_t>) { return false; }

LogicalResult ScatterAddOp::verify() {
  RankedTensorType indices = tensorOf(getIndices().getType()), updates = tensorOf(getUpdates().getType());
  if (updates.getRank() == 0 || updates.getShape().drop_back() != indices.getShape())
    return emitOpError() << "updates " << updates << " must be a row for each of the indices " << indices;
  Type found = getOperation()->getNumResults() ? getResult().getType()
               : getOuts().empty()             ? Type()
                                               : getOuts()[0].getType();
  int64_t rows = found && tensorOf(found).getRank() == 2 ? tensorOf(found).getDimSize(0) : 0;
  auto expected = RankedTensorType::get({rows, updates.getShape().back()}, updates.getElementType());
  if (getAccumulator() && tensorOf(getAccumulator().getType()) != expected)
    return emitOpError() << "accumulator is " << tensorOf(getAccumulator().getType()) << " but the result is " << expected;
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

LogicalResult RefOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *target = lookupSymbol(*this, getBufferAttr(), symbols);
  int64_t bytes;
  if (auto buffer = dyn_cast_or_null<BufferOp>(target))
    bytes = buffer.getBytes();
  else if (auto tensor = dyn_cast_or_null<TensorOp>(target))
    bytes = tensor.getBytes();
  else
    return emitOpError() << "to '" << getBuffer() << "', which is no exec.buffer or exec.tensor";
  int64_t offset = getOffset(), end = offset + getType().getSpanBytes();
  if (offset < 0 || end > bytes)
    return emitOpError() << "covers bytes " << offset << " to " << end << " of '" << getBuffer() << "', which has "
                         << bytes;
  return success();
}
