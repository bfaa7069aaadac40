//===- TGDialect.td - the training graph: dialect, types, attributes -*- tablegen -*-//
#ifndef BRAID_TG_DIALECT
#define BRAID_TG_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "dialects/Interfaces/Interfaces.td"

def TG_Dialect : Dialect {
  let name = "tg";
  let cppNamespace = "::braid::tg";
  let summary = "The training graph: tensors, values, one device.";
  let description = [{
    Pure SSA on ranked, static tensors.  A graph is a `func.func` whose arguments
    say what they are:

    * `tg.param = #tg.param<"name", init, unit = "h.0">`: a parameter; `frozen`
      ones get no gradient.
    * `tg.state = #tg.state<"name", init>`: optimizer state, accumulators.
    * `tg.input = "name"`: data and run-time scalars; `tg.role` says which
      (`tokens`, `targets`, `features`, `labels`, `lr`, `step`, `key`, `position`).

    Results say what they are with `tg.role` (`loss`, `logits`, `grad_norm`, …),
    `tg.updates = "name"` (the new value of a parameter or state) or
    `tg.grad_of = "name"`.  Elementwise arithmetic is `arith` and `math` on
    tensors.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def TG_Element : AnyTypeOf<[F64, F32, BF16, I32, I64, I1], "f64, f32, bf16, i32, i64 or i1">;
def TG_Tensor : StaticShapeTensorOf<[F64, F32, BF16, I32, I64, I1]>;
def TG_Float : StaticShapeTensorOf<[F64, F32, BF16]>;
def TG_Int : StaticShapeTensorOf<[I32, I64]>;
def TG_Bool : StaticShapeTensorOf<[I1]>;
def TG_Offset : Type<0DTensorOf<[I32]>.predicate, "tensor<i32>", "::mlir::RankedTensorType">,
                BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI32Type())">;
/// The Philox key: seed low, seed high, step, microbatch.
def TG_Key : StaticShapeTensorOf<[I32]>;

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class TG_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::braid::tg";
}

def TG_ReduceKind : TG_Enum<"ReduceKind", "how elements combine", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Mean", 2, "mean">]>;

def TG_LossReduction : TG_Enum<"LossReduction", "how row losses combine", [
    I32EnumAttrCase<"Mean", 0, "mean">, I32EnumAttrCase<"Sum", 1, "sum">]>;

def TG_GeluKind : TG_Enum<"GeluKind", "which formula of GELU", [
    I32EnumAttrCase<"Tanh", 0, "tanh">, I32EnumAttrCase<"Erf", 1, "erf">]>;

def TG_InitKind : TG_Enum<"InitKind", "the distribution of initial values", [
    I32EnumAttrCase<"Zeros", 0, "zeros">, I32EnumAttrCase<"Ones", 1, "ones">,
    I32EnumAttrCase<"Constant", 2, "constant">, I32EnumAttrCase<"Normal", 3, "normal">,
    I32EnumAttrCase<"Uniform", 4, "uniform">]>;

def TG_TensorKind : TG_Enum<"TensorKind", "what a tensor is to the parameter it belongs to", [
    I32EnumAttrCase<"Parameter", 0, "parameter">, I32EnumAttrCase<"WorkingCopy", 1, "working_copy">,
    I32EnumAttrCase<"Master", 2, "master">, I32EnumAttrCase<"Gradient", 3, "gradient">,
    I32EnumAttrCase<"Accumulator", 4, "accumulator">, I32EnumAttrCase<"Moment", 5, "moment">,
    I32EnumAttrCase<"RunningStatistic", 6, "running_statistic">]>;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class TG_Attr<string name, string mnemonic_> : AttrDef<TG_Dialect, name> {
  let mnemonic = mnemonic_;
}

def TG_InitAttr : TG_Attr<"Init", "init"> {
  let summary = "The initial values of a parameter or state.";
  let description = [{
    `#tg.init<zeros>`, `#tg.init<ones>`, `#tg.init<constant, 0.5>`,
    `#tg.init<normal, 0.0, 0.02>` (mean, standard deviation),
    `#tg.init<uniform, -0.1, 0.1>`.  `layers = L` scales random values by
    1/sqrt(2 L), GPT-2's rule for projections into the residual stream.
  }];
  let parameters = (ins EnumParameter<TG_InitKind>:$kind,
                        APFloatParameter<"mean, value or lower bound">:$a,
                        APFloatParameter<"standard deviation or upper bound">:$b,
                        DefaultValuedParameter<"int64_t", "0">:$layers);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def TG_ParamAttr : TG_Attr<"Param", "param"> {
  let summary = "A parameter: name, initial values, unit, frozen or not.";
  let description = [{
    `#tg.param<"h.0.ln_1.weight", #tg.init<ones>, unit = "h.0">`, with `frozen`
    for one that is not trained and `transposed` for a matrix that the arena
    holds with its two dims exchanged (checkpoints keep the logical layout, which
    is then the transpose of the argument's type).  `copy_of = "w"` names the state
    that it always equals, rounded to its own type: checkpoints hold that one.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "InitAttr":$init,
                        OptionalParameter<"::mlir::StringAttr">:$unit,
                        OptionalParameter<"::mlir::StringAttr">:$copyOf,
                        DefaultValuedParameter<"bool", "false">:$frozen,
                        DefaultValuedParameter<"bool", "false">:$transposed);
  let hasCustomAssemblyFormat = 1;
}

def TG_StateAttr : TG_Attr<"State", "state"> {
  let summary = "State that lives across steps: optimizer moments, accumulators.";
  let description = [{
    `#tg.state<"h.0.ln_1.weight.exp_avg", #tg.init<zeros>, cause = "optimizer_state">`;
    `scratch` state is left out of checkpoints; `transposed` as for parameters.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "InitAttr":$init,
                        "::mlir::StringAttr":$cause,
                        DefaultValuedParameter<"bool", "false">:$scratch,
                        DefaultValuedParameter<"bool", "false">:$transposed);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

/// `shardMethods`: `buildShard`, of an op that is not simply itself on a shard.
/// `wideMethods`: `buildWide`, of an op that computes and whose result is rounded only to be stored.
class TG_Op<string mnemonic, list<Trait> traits = [], list<string> shardMethods = [], list<string> wideMethods = []>
    : Op<TG_Dialect, mnemonic, !listconcat(traits, [Pure,
         DeclareOpInterfaceMethods<ShardingRuleOpInterface, shardMethods>,
         DeclareOpInterfaceMethods<PrecisionOpInterface, wideMethods>])>;

defvar TG_Infer = InferTypeOpAdaptor;
/// Whose operands decide all but the width of the result's floats.
defvar TG_InferToWidth = InferTypeOpAdaptorWithIsCompatible;
defvar TG_Diff = DeclareOpInterfaceMethods<DifferentiableOpInterface>;
defvar TG_Composite = DeclareOpInterfaceMethods<DecomposableOpInterface>;
defvar TG_Cost = DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>;
defvar TG_DefaultCost = DeclareOpInterfaceMethods<CostOpInterface>;

#endif // BRAID_TG_DIALECT
