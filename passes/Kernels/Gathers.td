//===- Gathers.td - rows of tables by number ----------------*- tablegen -*-===//
#ifndef BRAID_PASSES_KERNELS_GATHERS
#define BRAID_PASSES_KERNELS_GATHERS

include "mlir/Pass/PassBase.td"

def FuseGathersPass : Pass<"exec-fuse-gathers", "::mlir::func::FuncOp"> {
  let summary = "Fuses gathers of table rows into the kernels that read them";
  let description = [{
    A gather copies rows of a table, and the kernel that reads the copy reads as many bytes again. If the first
    reader of the rows is a kernel with the same lanes as the table, the kernel looks up the rows itself. It takes
    the table and the row numbers, and one generic of its body reads `tensor.extract %table[%row, %lane]`. If the
    rows have other readers, too, they become a result of the kernel; otherwise they take no memory. So the
    embedding of tokens, the addition to it and the first norm become one kernel.

    A row number beyond the table is clamped to the last row, so a kernel never reads outside the table; the runtime
    refuses such numbers in data.

    A gather is left alone if a library call or a collective reads it first, if its rows are the rows of the
    kernel's space, or if the kernel reads its rows in parts or at other places.

    Input:
    ```mlir
    #id = affine_map<(r, l) -> (r, l)>
    func.func @f(%table: tensor<16x8xf32>, %ids: tensor<4xi32>) -> tensor<4x8xf32> {
      %x = exec.gather(%table, %ids) : (tensor<16x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
      %y = exec.kernel "tanh"(%x) space [4, 8] : (tensor<4x8xf32>) -> tensor<4x8xf32> {
      ^bb0(%kx: tensor<4x8xf32>):
        %e = tensor.empty() : tensor<4x8xf32>
        %k = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%kx : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) attrs = {exec.dims = array<i64: 0, 1>} {
        ^bb0(%a: f32, %out: f32):
          %v = math.tanh %a : f32
          linalg.yield %v : f32
        } -> tensor<4x8xf32>
        exec.yield %k : tensor<4x8xf32>
      }
      return %y : tensor<4x8xf32>
    }
    ```
    Output:
    ```mlir
    #row = affine_map<(r, l) -> (r)>
    #id = affine_map<(r, l) -> (r, l)>
    func.func @f(%table: tensor<16x8xf32>, %ids: tensor<4xi32>) -> tensor<4x8xf32> {
      %y = exec.kernel "gather"(%table, %ids) space [4, 8] : (tensor<16x8xf32>, tensor<4xi32>) -> tensor<4x8xf32> {
      ^bb0(%kt: tensor<16x8xf32>, %ki: tensor<4xi32>):
        %e0 = tensor.empty() : tensor<4x8xf32>
        %kx = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
            ins(%ki : tensor<4xi32>) outs(%e0 : tensor<4x8xf32>) attrs = {exec.dims = array<i64: 0, 1>} {
        ^bb0(%i: i32, %out: f32):
          %first = arith.constant 0 : i32
          %last = arith.constant 15 : i32
          %max = arith.maxsi %i, %first : i32
          %number = arith.minsi %max, %last : i32
          %row = arith.index_cast %number : i32 to index
          %lane = linalg.index 1 : index
          %v = tensor.extract %kt[%row, %lane] : tensor<16x8xf32>
          linalg.yield %v : f32
        } -> tensor<4x8xf32>
        %e1 = tensor.empty() : tensor<4x8xf32>
        %k = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%kx : tensor<4x8xf32>) outs(%e1 : tensor<4x8xf32>) attrs = {exec.dims = array<i64: 0, 1>} {
        ^bb0(%a: f32, %out: f32):
          %v = math.tanh %a : f32
          linalg.yield %v : f32
        } -> tensor<4x8xf32>
        exec.yield %k : tensor<4x8xf32>
      }
      return %y : tensor<4x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::exec::ExecDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // BRAID_PASSES_KERNELS_GATHERS
