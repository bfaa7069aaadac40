//===- Passes.td - kernels, on values ----------------------*- tablegen -*-===//
//
// Turns the remaining ops into kernels. Order: exec-chunk-sums (before calls are selected), exec-form-kernels,
// exec-fuse-kernels, exec-fuse-gathers (Gathers.td), exec-recompute-operands, exec-gather-kernels.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_PASSES_KERNELS
#define BRAID_PASSES_KERNELS

include "passes/Kernels/Gathers.td"
include "passes/Select/TargetPass.td"

def ChunkSumsPass : TargetPass<"exec-chunk-sums", "::mlir::func::FuncOp"> {
  let summary = "Sums many tensors as chunks of one length";
  let description = [{
    Applies to a scalar that adds the sums of at least four whole tensors, such as the square of the norm of all
    gradients. First each tensor is split into chunks of 4096 elements, the rest into chunks of 64, and the rest of
    that into single elements; each chunk is summed. Chunks of all tensors have the same lengths, so
    `exec-batch-launches` makes one launch of them. Then the sums of all chunks, side by side, are added as one
    vector, or by chunks again if there are more than 65,536.

    Elementwise ops that only the sum reads are applied to the chunks. The order of additions depends only on
    shapes.

    Input:
    ```mlir
    func.func @f(%a: tensor<2x4096xf32>, %b: tensor<64xf32>, %c: tensor<4096xf32>, %d: tensor<2xf32>) -> tensor<f32> {
      %aa = arith.mulf %a, %a : tensor<2x4096xf32>
      %0 = tg.reduce sum %aa dims [0, 1] : tensor<2x4096xf32> -> tensor<f32>
      %1 = tg.reduce sum %b dims [0] : tensor<64xf32> -> tensor<f32>
      %2 = tg.reduce sum %c dims [0] : tensor<4096xf32> -> tensor<f32>
      %3 = tg.reduce sum %d dims [0] : tensor<2xf32> -> tensor<f32>
      %4 = arith.addf %0, %1 : tensor<f32>
      %5 = arith.addf %4, %2 : tensor<f32>
      %6 = arith.addf %5, %3 : tensor<f32>
      return %6 : tensor<f32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%a: tensor<2x4096xf32>, %b: tensor<64xf32>, %c: tensor<4096xf32>, %d: tensor<2xf32>) -> tensor<f32> {
      %aa = arith.mulf %a, %a : tensor<2x4096xf32>
      %0 = tg.reduce sum %aa dims [1] : tensor<2x4096xf32> -> tensor<2xf32>
      %bs = tg.reshape %b : tensor<64xf32> -> tensor<1x64xf32>
      %1 = tg.reduce sum %bs dims [1] : tensor<1x64xf32> -> tensor<1xf32>
      %cs = tg.reshape %c : tensor<4096xf32> -> tensor<1x4096xf32>
      %2 = tg.reduce sum %cs dims [1] : tensor<1x4096xf32> -> tensor<1xf32>
      %all = tg.concat %0, %1, %2, %d dim 0 : (tensor<2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<2xf32>) -> tensor<6xf32>
      %3 = tg.reduce sum %all dims [0] : tensor<6xf32> -> tensor<f32>
      return %3 : tensor<f32>
    }
    ```
  }];
}

def FormKernelsPass : TargetPass<"exec-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "Makes a kernel of every op that computes";
  let description = [{
    Each op becomes one `exec.kernel`. Constants, iotas, broadcasts and cheap arithmetic on constants and iotas are
    copied into each kernel that reads them. Reductions reduce lanes first; reduced rows are split into blocks whose
    partials a second kernel combines in order. Collectives stay as they are.

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
  let summary = "Fuses kernels";
  let description = [{
    Merges each kernel, in program order, with kernels that make its operands and with earlier kernels that read the
    same tensors. Their spaces must have a common refinement in which shared values have the same coordinates, no op
    between them may forbid it, and no sum over rows may be read. Collectives keep their order. A value that only
    the merged kernel reads disappears. A layer norm becomes one kernel, its backward with the partial sums of the
    weight gradients another.

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
      %z = exec.kernel "sin__exp"(%x) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
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

def RecomputeOperandsPass : Pass<"exec-recompute-operands", "::mlir::func::FuncOp"> {
  let summary = "Recomputes an operand in a kernel that also reads the operand's sources";
  let description = [{
    Backward often reads an activation that forward saved, and also the tensors that the activation was computed
    from: the gradient of `silu(gate) * up` reads gate, up and silu(gate). If another kernel made an operand
    elementwise, from tensors that this kernel reads at the same coordinates, this kernel computes the operand
    again, from values in registers. The kernel then does not read the operand. If nothing else reads it either, it
    is neither written nor kept. No tensor lives longer than before. The same scalar ops compute it, with their
    conversions to narrower types, so values do not change.

    Operands that depend on indices, random numbers, reductions or broadcasts are left alone, and so are operands
    that are read through a view.

    Input:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<8xf32>, %dy: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %y, %s = exec.kernel "tanh"(%x) space [8] : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      ^bb0(%kx: tensor<8xf32>):
        %e0 = tensor.empty() : tensor<8xf32>
        %k0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%kx : tensor<8xf32>) outs(%e0 : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = math.tanh %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        %e1 = tensor.empty() : tensor<8xf32>
        %k1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%k0 : tensor<8xf32>) outs(%e1 : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = arith.negf %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        exec.yield %k1, %k0 : tensor<8xf32>, tensor<8xf32>
      }
      %dx = exec.kernel "tanh_grad"(%x, %s, %dy) space [8] : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%kx: tensor<8xf32>, %ks: tensor<8xf32>, %kd: tensor<8xf32>):
        %e0 = tensor.empty() : tensor<8xf32>
        %k0 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
            ins(%kx, %ks, %kd : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%e0 : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
          %p = arith.mulf %a, %b : f32
          %v = arith.mulf %p, %c : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        exec.yield %k0 : tensor<8xf32>
      }
      return %y, %dx : tensor<8xf32>, tensor<8xf32>
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<8xf32>, %dy: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %y = exec.kernel "tanh"(%x) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%kx: tensor<8xf32>):
        %e0 = tensor.empty() : tensor<8xf32>
        %k0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%kx : tensor<8xf32>) outs(%e0 : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = math.tanh %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        %e1 = tensor.empty() : tensor<8xf32>
        %k1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%k0 : tensor<8xf32>) outs(%e1 : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = arith.negf %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        exec.yield %k1 : tensor<8xf32>
      }
      %dx = exec.kernel "tanh_grad"(%x, %dy) space [8] : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%kx: tensor<8xf32>, %kd: tensor<8xf32>):
        %e0 = tensor.empty() : tensor<8xf32>
        %ks = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
            ins(%kx : tensor<8xf32>) outs(%e0 : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%in: f32, %out: f32):
          %v = math.tanh %in : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        %k0 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
            ins(%kx, %ks, %kd : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%e0 : tensor<8xf32>) attrs = {exec.dims = array<i64: 0>} {
        ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
          %p = arith.mulf %a, %b : f32
          %v = arith.mulf %p, %c : f32
          linalg.yield %v : f32
        } -> tensor<8xf32>
        exec.yield %k0 : tensor<8xf32>
      }
      return %y, %dx : tensor<8xf32>, tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::exec::ExecDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def GatherKernelsPass : TargetPass<"exec-gather-kernels", "::mlir::ModuleOp"> {
  let summary = "Moves equal kernels next to each other";
  let description = [{
    Equal kernels that do not depend on each other can be one launch (`exec-batch-launches`) if they follow each
    other; their results then live from the launch on. So a kernel moves down to the next equal kernels, if nothing
    before them reads its results. Operands of a moved kernel live longer, so the pass moves it only if the program
    needs no more memory than before. For example, the kernels that add the partial sums of all biases and norms
    come together: at the end of the backward pass or, among ranks, before the collective that takes the gradients.

    Input:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>, %m: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>) {
      %a = exec.kernel "sin"(%x) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
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
      %b = exec.matmul "mk,kn->mn"(%m, %m) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
      %c = exec.kernel "sin"(%y) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
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
      return %a, %b, %c : tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>
    }
    ```
    Output:
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>, %m: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>) {
      %b = exec.matmul "mk,kn->mn"(%m, %m) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
      %a = exec.kernel "sin"(%x) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
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
      %c = exec.kernel "sin"(%y) space [8] : (tensor<8xf32>) -> tensor<8xf32> {
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
      return %a, %b, %c : tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>
    }
    ```
  }];
}

#endif // BRAID_PASSES_KERNELS
