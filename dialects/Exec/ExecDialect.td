//===- ExecDialect.td - the dialect and the reference type ------*- tablegen -*-===//
#ifndef BRAID_EXEC_DIALECT
#define BRAID_EXEC_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Interfaces/Tensors.td"
include "dialects/Exec/ExecInterfaces.td"

def Exec_Dialect : Dialect {
  let name = "exec";
  let cppNamespace = "::braid::exec";
  let summary = "Actions on queues: kernels, library calls, on values or in memory";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::braid::tg::TGDialect"];
  let extraClassDeclaration = [{
    /// On a generic of a kernel body: for each of its loops, the dim of the kernel's iteration space.
    static constexpr ::llvm::StringLiteral kDims = "exec.dims";
    /// Target of the module, a TargetAttr.
    static constexpr ::llvm::StringLiteral kTarget = "exec.target";
    /// On a module: rates of the machine that replace those of the target, a MachineAttr.
    static constexpr ::llvm::StringLiteral kMachine = "exec.machine";
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Exec_TargetAttr : AttrDef<Exec_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "The target of a module: `#exec.target<\"cuda\", arch = \"sm_90\">`";
  let description = [{
    `exec.target` on a module. The name, and the architecture or the card of a GPU, select a row of the table in
    lib/Target, from which passes read the target's properties.
  }];
  let parameters = (ins StringRefParameter<>:$name, StringRefParameter<"", "\"\"">:$arch,
                    StringRefParameter<"", "\"\"">:$card);
  let assemblyFormat = "`<` $name (`,` `arch` `=` $arch^)? (`,` `card` `=` $card^)? `>`";
}

def Exec_MachineAttr : AttrDef<Exec_Dialect, "Machine"> {
  let mnemonic = "machine";
  let summary = "Rates of the machine: `#exec.machine<compute = [100.0, 20.0], link = [20.0, 1.25]>`";
  let description = [{
    `exec.machine` on a module.  Each entry replaces rates of the target's row in lib/Target; `machineOf` (lib/Cost)
    returns the result to every pass that predicts times.

    `compute` is a rank's GFLOP/s and GB/s of memory traffic.  `link` is the latency in us and the GB/s between ranks.
    `links` has the same for single axes of the mesh: `links = {tp = array<f64: 5.0, 100.0>}`.
  }];
  let parameters = (ins OptionalParameter<"::mlir::DenseF64ArrayAttr">:$compute,
                        OptionalParameter<"::mlir::DenseF64ArrayAttr">:$link,
                        OptionalParameter<"::mlir::DictionaryAttr">:$links);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Exec_RefType : TypeDef<Exec_Dialect, "Ref"> {
  let mnemonic = "ref";
  let summary = "A strided tensor in the arena: `!exec.ref<8x768xf32, [768, 1]>`";
  let description = [{
    Shape, element type and a stride in elements for each dim (0 repeats).
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        ArrayRefParameter<"int64_t">:$strides);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The contiguous, row-major reference of a tensor type.
    static RefType contiguous(::mlir::RankedTensorType type);
    /// The reference with these strides. The stride of a dim of size 1 has no effect, so the dim gets the stride that
    /// it has in a contiguous tensor. References to the same elements thus have the same type.
    static RefType strided(::mlir::RankedTensorType type, ::llvm::ArrayRef<int64_t> strides);
    /// The logical tensor.
    ::mlir::RankedTensorType getTensorType() const;
    /// Bytes from the first to past the last element.
    int64_t getSpanBytes() const;
    bool isContiguous() const;
  }];
}

def Exec_Tensor : Braid_TensorOf<[F64, F32, BF16, I32, I64, I8, I1]>;
def Exec_Operand : AnyTypeOf<[Exec_Tensor, Exec_RefType], "tensor (on values) or !exec.ref (in memory)">;

#endif // BRAID_EXEC_DIALECT
