//===- OutlineKernels.cpp - kernels that launches share -------------------===//
//
// Two kernels are one when their bodies, layouts and ties are equal.  A
// kernel that treats all elements alike, on whole contiguous tensors, is first
// made independent of its length, so that shapes share it too.
//
//===----------------------------------------------------------------------===//

#include "dialects/Exec/KernelBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Lower/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace braid {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "passes/Lower/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;
using linalg::GenericOp;

/// True if nothing of it depends on the shape: every element is computed alike, and lies
/// behind the one before.
static bool isFlat(exec::KernelOp kernel) {
  if (!exec::treatsElementsAlike(*kernel.getBlock(), kernel.getSpace().size()))
    return false;
  auto isContiguous = [](Type type) { return cast<exec::RefType>(type).isContiguous(); };
  return llvm::all_of(kernel->getOperandTypes(), isContiguous) &&
         llvm::none_of(kernel.getOuts().getTypes(),
                       [](Type type) { return cast<exec::RefType>(type).getShape().empty(); });
}

/// A vector of length 1 in place of a tensor; scalars stay.
static RankedTensorType flatType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() ? RankedTensorType::get({1}, tensor.getElementType()) : tensor;
}

/// Rewrites a body in place for vectors of length 1.
static void flatten(Block &body) {
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

/// For each out, the operand that is the same reference.
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

/// Equal for definitions that are the same but for name and location.
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
    exec::KernelDefOp definition = define(kernel);
    SmallVector<exec::KernelDefOp> &similar = definitions[hashOf(definition)];
    auto *known = llvm::find_if(similar, [&](exec::KernelDefOp other) { return isSame(definition, other); });
    if (known != similar.end()) {
      definition.erase();
      definition = *known;
    } else {
      definition.setSymName(uniqueName(kernel.getName()));
      similar.push_back(definition);
    }
    OpBuilder builder(kernel);
    builder.create<exec::LaunchOp>(kernel.getLoc(), TypeRange(), definition.getSymName(), 1, kernel.getIns(),
                                   kernel.getOuts());
    kernel.erase();
  }

  /// A definition, as yet without name.
  exec::KernelDefOp define(exec::KernelOp kernel) {
    bool flat = isFlat(kernel);
    // Definitions come first: looking one up must not walk over all tensors.
    Block *module = getOperation().getBody();
    OpBuilder builder(module, llvm::find_if_not(*module, llvm::IsaPred<exec::KernelDefOp>));
    SmallVector<Attribute> layouts;
    for (Type type : kernel->getOperandTypes()) {
      Type layout = flat ? exec::RefType::contiguous(flatType(cast<exec::RefType>(type).getTensorType())) : type;
      layouts.push_back(TypeAttr::get(layout));
    }
    SmallVector<int64_t> space(kernel.getSpace());
    if (flat)
      space = {1};
    auto definition = builder.create<exec::KernelDefOp>(kernel.getLoc(), "kernel", space, builder.getArrayAttr(layouts),
                                                        tiesOf(kernel), flat);
    definition.getBody().takeBody(kernel.getBody());
    if (flat)
      flatten(*definition.getBlock());
    return definition;
  }

  std::string uniqueName(StringRef base) {
    std::string stem;
    for (size_t i = 0; i < base.size(); ++i)
      if (!base.substr(i).starts_with("__"))
        stem += base[i];
    std::string name = stem;
    for (int64_t number = 1; !names.insert(name).second; ++number)
      name = stem + "_" + std::to_string(number);
    return name;
  }

  llvm::DenseMap<llvm::hash_code, SmallVector<exec::KernelDefOp>> definitions;
  llvm::StringSet<> names;
};
} // namespace
