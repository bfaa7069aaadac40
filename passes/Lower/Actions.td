//===- Actions.td - kernels, calls and views, on values -------*- tablegen -*-===//
//
// From ops to actions: exec-select-calls, exec-select-bias-gradients,
// exec-form-kernels, exec-fuse-kernels, and before them, while activations are whole,
// exec-select-epilogues.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_LOWER_ACTIONS
#define BRAID_PASSES_LOWER_ACTIONS

include "mlir/Pass/PassBase.td"

def SetTargetPass : Pass<"exec-set-target", "::mlir::ModuleOp"> {
  let summary = "Says what a module is compiled for";
  let description = [{
    Sets `exec.target`, which later passes ask what the target has: epilogues, an attention
    library, alignments, rates.  A target with GPUs and no `arch` has the default architecture.
    A module without the attribute is lowered for the CPU.

    Input:
    ```mlir
    module {
    }
    ```
    Output:
    ```mlir
    module attributes {exec.target = #exec.target<"cpu">} {
    }
    ```
  }];
  let options = [Option<"name", "name", "std::string", /*default=*/"\"cpu\"", "cpu or cuda">,
                 Option<"arch", "arch", "std::string", /*default=*/"\"\"", "The architecture of a GPU: sm_90">];
  let dependentDialects = ["::braid::exec::ExecDialect"];
}

/// Asks what the target of the module has.
class TargetPass<string name, string op> : Pass<name, op> {
  let dependentDialects = ["::braid::exec::ExecDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def SelectEpiloguesPass : TargetPass<"exec-select-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Lets library calls apply activations to their results";
  let description = [{
    Runs before `tg-decompose`, while activations are whole.  A contraction (and
    its bias) that only a GELU or SiLU reads becomes a call with that epilogue,
    where the target's library has it.  In training the activation's operand is
    saved for backward.  Where the library can write it beside the activation
    (cuBLASLt, for GELU by tanh), it becomes the call's second result, and the
    gradient of GELU the epilogue of the contraction before it; elsewhere nothing
    happens.

    Input:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
      %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
      %y = tg.gelu tanh %h : tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<4x16xf32> {
      %y = exec.matmul "bd,fd->bf" (%x, %w) epilogue gelu_tanh : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
      return %y : tensor<4x16xf32>
    }
    ```
  }];
}

def SelectCallsPass : TargetPass<"exec-select-calls", "::mlir::func::FuncOp"> {
  let summary = "Selects library calls and views";
  let description = [{
    * `tg.contract` becomes `exec.matmul`.  Operands are read through views; where
      no GEMM takes the strides, the operand is copied.  Contractions that are no
      matmuls (nothing contracted, or only dot products) become elementwise products
      and reductions.
    * A bias added to a call's only use moves into the call.  A sum of a call and
      a tensor that dies there becomes a call that accumulates.
    * `tg.gather`, `tg.scatter_add`, `tg.concat`, `tg.pad` become their exec forms.
      A sum of disjoint pads (gradients of slices) becomes one concat.
    * `tg.slice`, `tg.transpose`, `tg.reshape` become `exec.view` of a contiguous
      tensor, after a copy where no strides express them.

    Input:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<16x4xf32> {
      %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
      %c = tg.broadcast %b dims [1] : tensor<16xf32> -> tensor<4x16xf32>
      %y = arith.addf %h, %c : tensor<4x16xf32>
      %t = tg.transpose %y [1, 0] : tensor<4x16xf32> -> tensor<16x4xf32>
      return %t : tensor<16x4xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>) -> tensor<16x4xf32> {
      %y = exec.matmul "bd,fd->bf"(%x, %w bias %b : tensor<16xf32>) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
      %t = exec.view %y offset 0 strides [1, 16] : tensor<4x16xf32> -> tensor<16x4xf32>
      return %t : tensor<16x4xf32>
    }
    ```
  }];
}

def SelectBiasGradientsPass : TargetPass<"exec-select-bias-gradients", "::mlir::func::FuncOp"> {
  let summary = "Lets the matmul of a weight gradient compute the bias gradient too";
  let description = [{
    Runs after `exec-select-calls`, while reductions are ops.  The gradient of a bias is
    the sum over all positions of the gradient of the layer's result.  The matmul that
    computes the weight gradient contracts the same positions.  Where the target's GEMM
    library supports it (cuBLASLt), the sum becomes the second result of that call, so
    that no kernel reads the tensor only for the sum.

    A sum is left alone
    * if a kernel computes its operand, because that kernel sums the values while they
      are in registers;
    * if it is over more or fewer dims than the matmul contracts, or if its type differs
      from the type of the matmul's result;
    * if the matmul takes several library calls, each of which would restart the sum;
    * if the matmul depends on a reader of the sum, or if a reader of the sum comes before
      the operands of the matmul.

    Accumulation over microbatches stays an op of its own: the call writes the bias
    gradient and does not accumulate.

    Input:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda">} {
      func.func @f(%x: tensor<2x4x8xf32>, %dy: tensor<2x4x16xf32>) -> (tensor<16x8xf32>, tensor<16xf32>) {
        %dw = exec.matmul "bsd,bsf->fd"(%x, %dy) : tensor<2x4x8xf32>, tensor<2x4x16xf32> -> tensor<16x8xf32>
        %db = tg.reduce sum %dy dims [0, 1] : tensor<2x4x16xf32> -> tensor<16xf32>
        return %dw, %db : tensor<16x8xf32>, tensor<16xf32>
      }
    }
    ```
    Output:
    ```mlir
    module attributes {exec.target = #exec.target<"cuda">} {
      func.func @f(%x: tensor<2x4x8xf32>, %dy: tensor<2x4x16xf32>) -> (tensor<16x8xf32>, tensor<16xf32>) {
        %dw, %db = exec.matmul "bsd,bsf->fd"(%x, %dy) bias_grad rhs : tensor<2x4x8xf32>, tensor<2x4x16xf32> -> tensor<16x8xf32>, tensor<16xf32>
        return %dw, %db : tensor<16x8xf32>, tensor<16xf32>
      }
    }
    ```
  }];
}

def FormKernelsPass : TargetPass<"exec-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "Makes a kernel of every op that computes";
  let description = [{
    One `exec.kernel` an op at first.  Constants, iotas, broadcasts and cheap
    arithmetic on constants and iotas are written into each kernel that reads
    them.  Reductions go by lanes first; reduced rows are split into blocks whose
    partials a second kernel combines in order.  Collectives stay as they are.

    Input:
    ```mlir
    func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %two = arith.constant dense<2.0> : tensor<8xf32>
      %y = arith.mulf %x, %two : tensor<8xf32>
      return %y : tensor<8xf32>
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = exec.kernel "mulf"(%x) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%kx: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %ky = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%kx : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %two = arith.constant 2.0 : f32
          %product = arith.mulf %in, %two : f32
          linalg.yield %product : f32
        } -> tensor<8xf32>
        exec.yield %ky : tensor<8xf32>
      }
      return %y : tensor<8xf32>
    }
    ```
  }];
}

def FuseKernelsPass : TargetPass<"exec-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Moves kernels into one another";
  let description = [{
    In program order each kernel is merged with kernels that make its operands
    and with earlier ones that read the same tensors, when their spaces have a
    common refinement in which shared values have the same coordinates, nothing
    between them forbids it, and no sum over rows is read.  Collectives keep their
    order.  A value that only the
    kernel reads disappears.  A layer norm becomes one kernel, its backward with
    the partial sums of the weight gradients another.

    Input:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = exec.kernel "sin"(%x) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%kx: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %ky = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%kx : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = math.sin %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        exec.yield %ky : tensor<8xf32>
      }
      %z = exec.kernel "exp"(%y) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%ky: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %kz = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%ky : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = math.exp %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        exec.yield %kz : tensor<8xf32>
      }
      return %z : tensor<8xf32>
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
      %z = exec.kernel "sin"(%x) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%kx: tensor<8xf32>):
        %empty = tensor.empty() : tensor<8xf32>
        %ky = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%kx : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = math.sin %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        %empty2 = tensor.empty() : tensor<8xf32>
        %kz = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%ky : tensor<8xf32>) outs(%empty2 : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = math.exp %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        exec.yield %kz : tensor<8xf32>
      }
      return %z : tensor<8xf32>
    }
    ```
  }];
}

def VerifyValuesPass : Pass<"exec-verify-values"> {
  let summary = "Fails if an op of the graph is left: everything is an action or a view";
  let description = [{
    The boundary between choosing actions and planning their memory.  Changes
    nothing.

    Leaves:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<16x4xf32> {
      %y = exec.matmul "bd,fd->bf"(%x, %w) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
      %t = exec.view %y offset 0 strides [1, 16] : tensor<4x16xf32> -> tensor<16x4xf32>
      return %t : tensor<16x4xf32>
    }
    ```
  }];
}

#endif // BRAID_PASSES_LOWER_ACTIONS
