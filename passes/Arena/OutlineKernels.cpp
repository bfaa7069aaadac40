//===- OutlineKernels.cpp - kernels shared by launches --------------------===//
//
// Kernels with equal bodies, layouts and ties share one definition. A kernel that treats all elements or all rows
// alike, on whole contiguous tensors, is first made independent of their number, so that kernels of different shapes
// share a definition too.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/KernelBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "passes/Arena/Passes.h"
#include "passes/Kernels/KernelNames.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;
using linalg::GenericOp;

namespace {
/// The dimension that may have any size: none, elements or rows.
enum class DynamicDim { Nothing, Elements, Rows };
} // namespace

/// Whether every operand of a generic is a scalar or has all rows.
static bool readsRowsAlike(GenericOp generic) {
  return !generic.hasIndexSemantics() && generic.getRegion().front().getOps<exec::RandomUniformOp>().empty() &&
         llvm::all_of(generic->getOpOperands(), [&](OpOperand &operand) {
           SmallVector<int64_t> dims = exec::operandDims(generic, operand);
           return dims.empty() || (dims.front() == 0 && llvm::is_sorted(dims));
         });
}

/// Whether each row of two-dimensional tensors becomes one value, alike for all rows.
static bool reducesRowsAlike(exec::KernelOp kernel) {
  auto generics = kernel.getBlock()->getOps<GenericOp>();
  auto isOfKind = [](exec::GenericKind kind) {
    return [kind](GenericOp generic) { return exec::kindOf(generic, /*lanes=*/1) == kind; };
  };
  return kernel.getSpace().size() == 2 && llvm::all_of(generics, readsRowsAlike) &&
         llvm::any_of(generics, isOfKind(exec::GenericKind::LaneReduction)) &&
         llvm::none_of(generics, isOfKind(exec::GenericKind::RowReduction)) &&
         llvm::all_of(kernel.getOuts().getTypes(),
                      [](Type type) { return cast<exec::RefType>(type).getShape().size() == 1; });
}

/// Returns the dimension on whose size a kernel does not depend: its elements or rows are computed alike and are
/// contiguous.
static DynamicDim dynamicDimOf(exec::KernelOp kernel) {
  auto isContiguous = [](Type type) { return cast<exec::RefType>(type).isContiguous(); };
  auto isScalar = [](Type type) { return cast<exec::RefType>(type).getShape().empty(); };
  if (!llvm::all_of(kernel->getOperandTypes(), isContiguous) || llvm::any_of(kernel.getOuts().getTypes(), isScalar))
    return DynamicDim::Nothing;
  if (exec::isElementwiseBody(*kernel.getBlock(), kernel.getSpace().size()))
    return DynamicDim::Elements;
  return reducesRowsAlike(kernel) ? DynamicDim::Rows : DynamicDim::Nothing;
}

/// Returns the type with one element or one row; scalars stay.
static RankedTensorType typeOfOne(Type type, DynamicDim any) {
  auto tensor = cast<RankedTensorType>(type);
  if (any == DynamicDim::Nothing || tensor.getRank() == 0)
    return tensor;
  SmallVector<int64_t> shape{1};
  if (any == DynamicDim::Rows)
    llvm::append_range(shape, tensor.getShape().drop_front());
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// Rewrites a body in place for one row.
static void rewriteForOneRow(Block &body) {
  for (BlockArgument argument : body.getArguments())
    argument.setType(typeOfOne(argument.getType(), DynamicDim::Rows));
  for (Operation &op : body.without_terminator())
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()))
        result.setType(typeOfOne(result.getType(), DynamicDim::Rows));
}

/// Rewrites a body in place for vectors of length 1.
static void flatten(Block &body) {
  auto flatType = [](Type type) { return typeOfOne(type, DynamicDim::Elements); };
  for (BlockArgument argument : body.getArguments())
    argument.setType(flatType(argument.getType()));
  OpBuilder builder(body.getParentOp()->getContext());
  for (Operation &op : body.without_terminator()) {
    if (isa<tensor::EmptyOp>(op))
      op.getResult(0).setType(flatType(op.getResult(0).getType()));
    auto generic = dyn_cast<GenericOp>(op);
    if (!generic)
      continue;
    generic.getResult(0).setType(flatType(generic.getResult(0).getType()));
    bool isScalar = generic.getNumLoops() == 0;
    SmallVector<Attribute> maps;
    for (AffineMap map : generic.getIndexingMapsArray()) {
      SmallVector<AffineExpr> results;
      if (map.getNumResults())
        results.push_back(builder.getAffineDimExpr(0));
      maps.push_back(AffineMapAttr::get(AffineMap::get(isScalar ? 0 : 1, 0, results, builder.getContext())));
    }
    generic.setIndexingMapsAttr(builder.getArrayAttr(maps));
    auto parallel = linalg::IteratorTypeAttr::get(builder.getContext(), utils::IteratorType::parallel);
    generic.setIteratorTypesAttr(builder.getArrayAttr(SmallVector<Attribute>(isScalar ? 0 : 1, parallel)));
    generic->setAttr(exec::ExecDialect::kDims,
                     builder.getDenseI64ArrayAttr(isScalar ? ArrayRef<int64_t>() : ArrayRef<int64_t>{0}));
  }
}

/// Returns, for each out, the operand with the same reference, or -1.
static SmallVector<int64_t> tiesOf(exec::KernelOp kernel) {
  auto key = [](Value value) {
    auto ref = value.getDefiningOp<exec::RefOp>();
    return std::tuple(ref.getBuffer(), ref.getOffset(), value.getType());
  };
  return llvm::map_to_vector(kernel.getOuts(), [&](Value out) -> int64_t {
    for (auto [index, in] : llvm::enumerate(kernel.getIns()))
      if (key(in) == key(out))
        return index;
    return -1;
  });
}

/// Returns a hash that is equal for definitions that differ only in name and location.
static llvm::hash_code hashOf(exec::KernelDefOp kernel) {
  llvm::hash_code hash = llvm::hash_combine(kernel.getSpaceAttr(), kernel.getLayouts(), kernel.getTiesAttr());
  kernel.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName(), op->getAttrDictionary(),
                              llvm::hash_combine_range(op->result_type_begin(), op->result_type_end()));
  });
  return hash;
}

static bool isSame(exec::KernelDefOp a, exec::KernelDefOp b) {
  return a.getSpaceAttr() == b.getSpaceAttr() && a.getLayouts() == b.getLayouts() &&
         a.getTiesAttr() == b.getTiesAttr() && a.getFlat() == b.getFlat() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

namespace {
struct OutlineKernelsPass : public braid::impl::OutlineKernelsPassBase<OutlineKernelsPass> {
  using OutlineKernelsPassBase::OutlineKernelsPassBase;

  void runOnOperation() final {
    SmallVector<exec::KernelOp> kernels;
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      for (auto kernel : program.getBody().front().getOps<exec::KernelOp>())
        kernels.push_back(kernel);
    for (Operation &op : *getOperation().getBody())
      if (auto symbol = dyn_cast<SymbolOpInterface>(op))
        names.insert(symbol.getName());
    for (exec::KernelOp kernel : kernels)
      outline(kernel);
  }

private:
  void outline(exec::KernelOp kernel) {
    std::string name = definitionName(kernel);
    exec::KernelDefOp definition = define(kernel);
    SmallVector<exec::KernelDefOp> &similar = definitions[hashOf(definition)];
    auto *known = llvm::find_if(similar, [&](exec::KernelDefOp other) { return isSame(definition, other); });
    if (known != similar.end()) {
      definition.erase();
      definition = *known;
    } else {
      definition.setSymName(uniqueName(name));
      similar.push_back(definition);
    }
    OpBuilder builder(kernel);
    builder.create<exec::LaunchOp>(kernel.getLoc(), TypeRange(), definition.getSymName(), 1, kernel.getIns(),
                                   kernel.getOuts());
    kernel.erase();
  }

  /// Builds a definition without a name.
  exec::KernelDefOp define(exec::KernelOp kernel) {
    DynamicDim any = dynamicDimOf(kernel);
    // Definitions come first, so that a lookup does not walk over all tensors.
    Block *module = getOperation().getBody();
    OpBuilder builder(module, llvm::find_if_not(*module, llvm::IsaPred<exec::KernelDefOp>));
    SmallVector<Attribute> layouts;
    for (Type type : kernel->getOperandTypes()) {
      Type one = exec::RefType::contiguous(typeOfOne(cast<exec::RefType>(type).getTensorType(), any));
      layouts.push_back(TypeAttr::get(any == DynamicDim::Nothing ? type : one));
    }
    SmallVector<int64_t> space(kernel.getSpace());
    if (any == DynamicDim::Elements)
      space = {1};
    else if (any == DynamicDim::Rows)
      space.front() = 1;
    auto definition = builder.create<exec::KernelDefOp>(kernel.getLoc(), "kernel", space, builder.getArrayAttr(layouts),
                                                        tiesOf(kernel), any != DynamicDim::Nothing);
    definition.getBody().takeBody(kernel.getBody());
    if (any == DynamicDim::Elements)
      flatten(*definition.getBlock());
    else if (any == DynamicDim::Rows)
      rewriteForOneRow(*definition.getBlock());
    return definition;
  }

  std::string uniqueName(const std::string &stem) {
    std::string name = stem;
    for (int64_t number = 1; !names.insert(name).second; ++number)
      name = stem + "_" + std::to_string(number);
    return name;
  }

  llvm::DenseMap<llvm::hash_code, SmallVector<exec::KernelDefOp>> definitions;
  llvm::StringSet<> names;
};
} // namespace
