//===- CommDialect.td - meshes, shardings and programs of ranks -*- tablegen -*-===//
#ifndef BRAID_COMM_DIALECT
#define BRAID_COMM_DIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Interfaces/Interfaces.td"
include "dialects/Exec/ExecInterfaces.td"

def Comm_Dialect : Dialect {
  let name = "comm";
  let cppNamespace = "::braid::comm";
  let summary = "Meshes, shardings and collectives of ranks";
  let description = [{
    A `comm.mesh` names the ranks of a job.  A function is either *global* or
    *local*.  A global function has the shapes of one device; its arguments and
    results may carry `comm.sharding`, its ops `comm.shardings` (one for each
    result), and `comm.constrain` states the sharding of a value in between.

    A local function is the program of a rank: its types are the types of the rank's parts. `comm.program =
    #comm.program<@mesh>` on it names the ranks that run it. `comm.sharding` on an argument or result then names its
    part of the logical tensor `comm.global = tensor<...>`; without both attributes every rank holds the whole
    tensor.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Sharding of a function's argument or result.
    static constexpr ::llvm::StringLiteral kSharding = "comm.sharding";
    /// Shardings of the results of an op in a global function.
    static constexpr ::llvm::StringLiteral kShardings = "comm.shardings";
    /// Axes of the factors of an op's rule, as a sharding `{dp} {} {tp}`. Only on ops of a global function whose
    /// operands and results disagree.
    static constexpr ::llvm::StringLiteral kFactors = "comm.factors";
    /// Type of the logical tensor, on an argument or result of a local function.
    static constexpr ::llvm::StringLiteral kGlobal = "comm.global";
    /// Ranks that run a local function.
    static constexpr ::llvm::StringLiteral kProgram = "comm.program";
    /// Cells of a pipeline that run a local function.
    static constexpr ::llvm::StringLiteral kCell = "comm.cell";
    /// Name of the unit of the parameters that a collective gathers; "" for the root unit.
    static constexpr ::llvm::StringLiteral kUnit = "comm.unit";
    /// Maximum CTAs of a collective on a GPU, on the module.
    static constexpr ::llvm::StringLiteral kCtas = "comm.ctas";
    /// Axes along which blocks of a sequence go round a ring of ranks, on the module.
    static constexpr ::llvm::StringLiteral kRing = "comm.ring";
    /// Marks an action that the schedule runs beside a collective, so that it leaves multiprocessors to the
    /// collective's CTAs.
    static constexpr ::llvm::StringLiteral kBesideCollective = "comm.beside_collective";

  private:
    /// In CommOps.cpp, beside the syntax that the ops' formats use.
    void registerOps();

  public:
  }];
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def Comm_Reduction : I32EnumAttr<"Reduction", "how the values of ranks combine", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">]> {
  let cppNamespace = "::braid::comm";
}

def Comm_Memory : I32EnumAttr<"Memory", "where tensors lie", [
    I32EnumAttrCase<"Device", 0, "device">, I32EnumAttrCase<"Host", 1, "host">]> {
  let cppNamespace = "::braid::comm";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Comm_Attr<string name, string mnemonic_> : AttrDef<Comm_Dialect, name> {
  let mnemonic = mnemonic_;
}

def Comm_AxesAttr : Comm_Attr<"Axes", "axes"> {
  let summary = "A list of mesh axes, major to minor: `{dp, tp}`";
  let description = [{
    The axes of a collective define its groups: the ranks that differ only in these coordinates, numbered row-major.
    The axes of a dim in a sharding split the dim into as many equal blocks, block i on rank i of that group. `{tp,
    ?}` in an annotation is open: propagation may add axes behind those given.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        DefaultValuedParameter<"bool", "false">:$open);
  let builders = [AttrBuilder<(ins CArg<"::llvm::ArrayRef<::mlir::StringAttr>", "{}">:$names),
                              [{ return $_get($_ctxt, names, false); }]>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool empty() const { return getNames().empty(); }
    size_t size() const { return getNames().size(); }
    bool contains(::mlir::StringAttr name) const { return ::llvm::is_contained(getNames(), name); }
    /// `{dp, tp}`, for messages.
    std::string str() const;
  }];
}

def Comm_ShardingAttr : Comm_Attr<"Sharding", "sharding"> {
  let summary = "The part of a tensor that each rank holds";
  let description = [{
    `#comm.sharding<@mesh, {dp} {} {tp}>` gives each dim its axes; ranks that differ only in other axes hold the
    same part (replicas).

    `partial sum {tp}`: the ranks along tp hold partial values; the tensor is
    their sum (mean, max, min).

    `flat {dp}`: the rank's block by sharded dims is read row-major, padded at its end with zeros to a multiple of
    the number of ranks, and split into equal ranges. A range is a tensor of one dim.

    `priority 1` on an annotation: if two annotations cannot both hold for an op, the smaller number wins (default
    0). Equal numbers are an error.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh, ArrayRefParameter<"AxesAttr">:$dims,
                        "AxesAttr":$partial, "Reduction":$reduction, "AxesAttr":$flat,
                        DefaultValuedParameter<"int64_t", "0">:$priority);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Every rank holds the whole tensor of `rank` dims.
    static ShardingAttr replicated(::mlir::FlatSymbolRefAttr mesh, int64_t rank);
    /// The sharding without its priority and open dims.
    ShardingAttr canonical() const;
    bool isPartial() const { return !getPartial().empty(); }
    bool isFlat() const { return !getFlat().empty(); }
    bool isReplicated() const;
    bool hasOpenDims() const;
    ShardingAttr withDims(::llvm::ArrayRef<AxesAttr> dims) const;
    ShardingAttr withPartial(AxesAttr partial, Reduction reduction = Reduction::Sum) const;
    ShardingAttr withFlat(AxesAttr flat) const;
    ShardingAttr withPriority(int64_t priority) const;
  }];
}

def Comm_ProgramAttr : Comm_Attr<"Program", "program"> {
  let summary = "The ranks that run a local function";
  let description = [{
    `#comm.program<@mesh>`: all ranks (SPMD). `#comm.program<@mesh, pp = [1]>`: the ranks with coordinate 1 along
    pp; together with functions for the other coordinates it makes one program (MPMD). The attributes of one
    program's functions do not overlap and together name every rank. In a module with several such programs
    `comm.entry = "train"` names the program of a function.

    On an `exec.tensor` the attribute names the ranks that hold the tensor, if not all do.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh, OptionalParameter<"::mlir::StringAttr">:$axis,
                        OptionalArrayRefParameter<"int64_t">:$coordinates);
  let hasCustomAssemblyFormat = 1;
}

def Comm_CellKind : I32EnumAttr<"CellKind", "what a function of a pipeline does for a microbatch", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"Backward", 1, "backward">,
    I32EnumAttrCase<"InputGradient", 2, "input_gradient">, I32EnumAttrCase<"WeightGradient", 3, "weight_gradient">,
    I32EnumAttrCase<"SendActivation", 4, "send_activation">,
    I32EnumAttrCase<"ReceiveActivation", 5, "receive_activation">,
    I32EnumAttrCase<"SendGradient", 6, "send_gradient">,
    I32EnumAttrCase<"ReceiveGradient", 7, "receive_gradient">]> {
  let cppNamespace = "::braid::comm";
}

def Comm_CellAttr : Comm_Attr<"Cell", "cell"> {
  let summary = "The cells of a pipeline's table that run a function";
  let description = [{
    `#comm.cell<forward, 2>` on a function, as `comm.cell`: the forward of stage 2, for every microbatch. Functions
    that send and receive run beside the cells of their rank.
  }];
  let parameters = (ins EnumParameter<Comm_CellKind>:$kind, "int64_t":$stage);
  let assemblyFormat = "`<` $kind `,` $stage `>`";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Comm_TicketType : TypeDef<Comm_Dialect, "Ticket"> {
  let mnemonic = "ticket";
  let summary = "A collective or copy in flight; `!comm.ticket<tensor<4xf32>>` holds the types of its results";
  let description = [{
    A ticket is waited for exactly once, in the block of its start. In memory form, where the results are `outs` of
    the collective, its type is `!comm.ticket<>`.
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::Type">:$types);
  let hasCustomAssemblyFormat = 1;
}

#endif // BRAID_COMM_DIALECT
