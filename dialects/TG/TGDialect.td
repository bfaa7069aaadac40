//===- TGDialect.td - the training graph: dialect, types, attributes -*- tablegen -*-//
#ifndef BRAID_TG_DIALECT
#define BRAID_TG_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Interfaces/Tensors.td"

def TG_Dialect : Dialect {
  let name = "tg";
  let cppNamespace = "::braid::tg";
  let summary = "The training graph: tensors, values, one device";
  let description = [{
    Pure SSA on ranked, static tensors. A graph is a `func.func`. Each argument has one of these attributes:

    * `tg.param = #tg.param<"name", init, unit = "h.0">`: a parameter. A `frozen` parameter gets no gradient.
    * `tg.state = #tg.state<"name", init, of = "w", kind = moment>`: a tensor besides parameters that lives across
      steps, with the parameter that it belongs to and its kind.
    * `tg.input = "name"`: data and run-time scalars; `tg.role = #tg.role<tokens>` says which: `tokens`, `targets`,
      `features`, `labels` (dim 0 is the batch), `shared` (no batch), `key`, `lr`, `step`, `position`, and the values
      that ranks agree on, `stop` and `values`.

    Results have one of these attributes:

    * `tg.role`: `loss`, `logits`, `count` (the divisor of the loss), `grad_norm`, `grad_sq_local`,
      `grad_sq_global`, `stop` or `values`.
    * `tg.output = "name"`: an additional output of the model. A scalar float is a counter of the batch, which a
      training step reports.
    * `tg.updates = "name"`: the new value of a parameter or state.
    * `tg.grad_of = "name"`: a gradient.

    Elementwise arithmetic is `arith` and `math` on tensors.

    Every op ends with `: operand types -> result types`. Parentheses around either list may be left out; the
    printer writes them around two or more types. Ops whose operands and results have one type, such as `tg.gelu`,
    may write that type alone, as `arith` does:

    ```mlir
    %h = tg.contract "bi,oi->bo" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
    %h = tg.contract "bi,oi->bo" %x, %w : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
    %y = tg.gelu tanh %h : tensor<4x16xf32>
    ```

    A module may have `tg.config = "{...}"`, the text of the `config.json` that its graph was made from: nothing is
    computed from it, and `export` of the training binary writes it beside the weights. A module made by `braidc`
    has `tg.training`, a dictionary of facts that no op shows, such as the optimizer and the microbatches of a step
    (`dialects/TG/TrainingFacts.h`).
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

def TG_Element : AnyTypeOf<[F64, F32, BF16, I32, I64, I8, I1], "f64, f32, bf16, i32, i64, i8 or i1">;
def TG_Tensor : Braid_TensorOf<[F64, F32, BF16, I32, I64, I8, I1]>;
def TG_Float : Braid_TensorOf<[F64, F32, BF16]>;
def TG_Int : Braid_TensorOf<[I32, I64]>;
def TG_Bool : Braid_TensorOf<[I1]>;
def TG_Single : Braid_TensorOf<[F32]>;
def TG_Codes : Braid_TensorOf<[I8]>;
def TG_Offset : Type<0DTensorOf<[I32]>.predicate, "tensor<i32>", "::mlir::RankedTensorType">,
                BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI32Type())">;
/// The Philox key: seed low, seed high, step, microbatch.
def TG_Key : Braid_TensorOf<[I32]>;

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
    I32EnumAttrCase<"RunningStatistic", 6, "running_statistic">, I32EnumAttrCase<"Cache", 7, "cache">,
    I32EnumAttrCase<"Saved", 8, "saved">, I32EnumAttrCase<"Message", 9, "message">]>;

def TG_Role : TG_Enum<"Role", "what an input or result is to training", [
    I32EnumAttrCase<"Tokens", 0, "tokens">, I32EnumAttrCase<"Targets", 1, "targets">,
    I32EnumAttrCase<"Features", 2, "features">, I32EnumAttrCase<"Labels", 3, "labels">,
    I32EnumAttrCase<"Key", 4, "key">, I32EnumAttrCase<"Lr", 5, "lr">, I32EnumAttrCase<"Step", 6, "step">,
    I32EnumAttrCase<"Position", 7, "position">, I32EnumAttrCase<"Stop", 8, "stop">,
    I32EnumAttrCase<"Values", 9, "values">, I32EnumAttrCase<"Loss", 10, "loss">,
    I32EnumAttrCase<"Logits", 11, "logits">, I32EnumAttrCase<"Count", 12, "count">,
    I32EnumAttrCase<"GradNorm", 13, "grad_norm">, I32EnumAttrCase<"GradSqLocal", 14, "grad_sq_local">,
    I32EnumAttrCase<"GradSqGlobal", 15, "grad_sq_global">, I32EnumAttrCase<"Shared", 16, "shared">]> {
  let genSpecializedAttr = 0;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class TG_Attr<string name, string mnemonic_> : AttrDef<TG_Dialect, name> {
  let mnemonic = mnemonic_;
}

def TG_RoleAttr : EnumAttr<TG_Dialect, TG_Role, "role"> {
  let summary = "The role of an input or result in training";
  let assemblyFormat = "`<` $value `>`";
}

def TG_InitAttr : TG_Attr<"Init", "init"> {
  let summary = "The initial values of a parameter or state";
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
    `#tg.param<"h.0.ln_1.weight", #tg.init<ones>, unit = "h.0">`, `frozen` marks a parameter that is not trained.
    `transposed` marks a matrix that the arena holds with its two dims exchanged; checkpoints keep the logical
    layout, the transpose of the argument's type. `copy_of = "w"` makes the parameter a working copy: it always
    equals the master `w`, rounded to its own type, and checkpoints hold the master.

    `fused = 1` says that dims 1 and 2 are one dim in files: a matrix of `[q|k|v]`
    side by side is `tensor<768x3x768xf32>`, and its last dim can be sharded by head.

    A name with a star, such as `h.0.experts.*.w1.weight`, stands for tensors side by side along dim 0. Weight files
    of other programs have one tensor for each number in place of the star.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "InitAttr":$init,
                        OptionalParameter<"::mlir::StringAttr">:$unit,
                        OptionalParameter<"::mlir::StringAttr">:$copyOf,
                        DefaultValuedParameter<"bool", "false">:$frozen,
                        DefaultValuedParameter<"bool", "false">:$transposed,
                        DefaultValuedParameter<"int64_t", "-1">:$fused);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    TensorKind getKind() const { return getCopyOf() ? TensorKind::WorkingCopy : TensorKind::Parameter; }
    /// Name of the model's parameter, or of the master of a working copy; states and gradients belong to this name.
    ::mlir::StringAttr getOf() const { return getCopyOf() ? getCopyOf() : getName(); }
  }];
}

def TG_StateAttr : TG_Attr<"State", "state"> {
  let summary = "State that lives across steps: optimizer moments, accumulators";
  let description = [{
    `#tg.state<"h.0.ln_1.weight.exp_avg", #tg.init<zeros>, of = "h.0.ln_1.weight", kind = moment>`. Only checkpoints
    and reports use the name; the other fields define the state. `of` names the parameter that it belongs to
    (`ParamAttr::getOf`), and `kind` is one of

    * `moment`: an optimizer's state for a parameter;
    * `master`: the parameter itself, of which programs read a working copy;
    * `accumulator`: the sum over microbatches of a parameter's gradient or, without `of`, of the loss or of the
      count that the loss is divided by. It starts from its initial value in every step and is left out of
      checkpoints;
    * `running_statistic`: state of the model itself, without a parameter;
    * `cache`: values of earlier positions of a sequence that later positions read, a row for each position
      (`tg-make-decode`). It lives from `generate` to the last `decode` of a text, has no memory while other
      programs run, and is left out of checkpoints;
    * `saved`: a value that a stage of a pipeline keeps for a microbatch, from its forward to its backward;
    * `message`: a value that a stage of a pipeline sends or receives (`comm-stages`). `saved` and `message` states
      lie in slots (`exec.slots`), are written before they are read, and are left out of checkpoints.

    `transposed` and `fused` are as for parameters.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "InitAttr":$init,
                        OptionalParameter<"::mlir::StringAttr">:$of,
                        EnumParameter<TG_TensorKind>:$kind,
                        DefaultValuedParameter<"bool", "false">:$transposed,
                        DefaultValuedParameter<"int64_t", "-1">:$fused);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isAccumulator() const { return getKind() == TensorKind::Accumulator; }
    bool isCache() const { return getKind() == TensorKind::Cache; }
    /// Whether checkpoints hold the state.
    bool isSaved() const { return !isAccumulator() && !isCache() && !isOfMicrobatch(); }
    /// Whether a pipeline has one copy of the state for each microbatch in flight.
    bool isOfMicrobatch() const { return getKind() == TensorKind::Saved || getKind() == TensorKind::Message; }
    /// Whether the state accumulates the loss, the loss's divisor or a counter of the model.
    bool isOfLoss() const { return isAccumulator() && !getOf(); }
  }];
}

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

/// The element types of an operand, as words.
class TG_ElementsOf<TypeConstraint operand> {
  TypeConstraint one = !if(!isa<Variadic>(operand), !cast<TypeConstraint>(!cast<Variadic>(operand).baseType),
                       !if(!isa<Optional>(operand), !cast<TypeConstraint>(!cast<Optional>(operand).baseType), operand));
  string words = !if(!isa<Braid_TensorOf>(one), !cast<Braid_TensorOf>(one).elements, "i32");
}

/// The part of an assembly format that reads and prints types (TypeSyntax.h). For each operand it has the name, the
/// element types, a reference to the operands and their types; then it has the types of results.
class TG_Types<string isOneType, dag arguments, dag results> {
  string operands = !foldl("", !range(!size(arguments)), text, i, text #
      !if(!isa<TypeConstraint>(!getdagarg<Constraint>(arguments, i)),
          ", \"\\\"" # !getdagname(arguments, i) # "\\\"\", \"\\\"" #
          TG_ElementsOf<!cast<TypeConstraint>(!getdagarg<Constraint>(arguments, i))>.words # "\\\"\", ref($" #
          !getdagname(arguments, i) # "), type($" # !getdagname(arguments, i) # ")", ""));
  string outcomes = !foldl("", !range(!size(results)), text, i, text # ", type($" # !getdagname(results, i) # ")");
  string format = "attr-dict `:` custom<Types>(\"" # isOneType # "\"" # operands # outcomes # ")";
}

/// `kind` is the NumericKind, by which a precision policy classifies the op. `shardMethods` has `buildShard` if the op
/// changes on a shard. `wideMethods` has `buildWide` if the op computes, and rounds its result only for storage.
class TG_Op<string mnemonic, string kind, list<Trait> traits = [], list<string> shardMethods = [],
            list<string> wideMethods = []>
    : Op<TG_Dialect, mnemonic, !listconcat(traits, [Pure,
         DeclareOpInterfaceMethods<ShardingRuleOpInterface, shardMethods>,
         DeclareOpInterfaceMethods<PrecisionOpInterface, wideMethods>, HasNumericKind<kind>])> {
  /// The end of an assembly format: `operand types -> result types`, or one type for all operands and results.
  string typeList = TG_Types<"false", arguments, results>.format;
  string oneType = TG_Types<"true", arguments, results>.format;
}

/// Result types follow from the operands. The trait replaces MLIR's check by one whose message has the expected types.
def TG_CheckedResults : NativeOpTrait<"CheckedResults", [], [{
  static ::llvm::LogicalResult refineReturnTypes(
      ::mlir::MLIRContext *, ::std::optional<::mlir::Location>, ::mlir::ValueRange, ::mlir::DictionaryAttr,
      ::mlir::OpaqueProperties, ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
    return ::llvm::success();
  }
}]> {
  let cppNamespace = "::braid::tg";
}
def TG_Infer : TraitList<[InferTypeOpAdaptor, TG_CheckedResults]>;
/// Result types follow from the operands, except for the width of floats.
def TG_InferToWidth : TraitList<[InferTypeOpAdaptorWithIsCompatible, TG_CheckedResults]>;
defvar TG_Diff = DeclareOpInterfaceMethods<DifferentiableOpInterface>;
defvar TG_Composite = DeclareOpInterfaceMethods<DecomposableOpInterface>;
defvar TG_Loss = DeclareOpInterfaceMethods<LossOpInterface, ["ignoresExamples"]>;
defvar TG_Training = DeclareOpInterfaceMethods<TrainingOpInterface>;
defvar TG_Causal = DeclareOpInterfaceMethods<CausalOpInterface>;
defvar TG_Blockwise = DeclareOpInterfaceMethods<BlockwiseOpInterface>;
defvar TG_Cost = DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>;
defvar TG_DefaultCost = DeclareOpInterfaceMethods<CostOpInterface>;

#endif // BRAID_TG_DIALECT
