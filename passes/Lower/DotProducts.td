//===- DotProducts.td - a matrix times a vector ----------------*- tablegen -*-===//
#ifndef BRAID_PASSES_LOWER_DOTPRODUCTS
#define BRAID_PASSES_LOWER_DOTPRODUCTS

include "mlir/Pass/PassBase.td"

def SelectDotProductsPass : Pass<"exec-select-dot-products", "::mlir::func::FuncOp"> {
  let summary = "Makes a matrix times a vector a sum of products for each row";
  let description = [{
    Runs before `tg-decompose`. A contraction of a matrix with a vector along the matrix's last
    dims, as all those with weights are when one token is decoded, becomes products and their sums, which
    are a kernel later. Such a contraction reads each number of the matrix once, and a library's GEMM
    copies the matrix before. Other contractions are left to the library, and so are all those of programs
    that train, whose calls compute gradients of biases as well.

    Input:
    ```mlir
    func.func @f(%w: tensor<6x4xbf16>, %x: tensor<1x1x4xbf16>) -> tensor<1x1x6xf32> {
      %y = tg.contract "bsd,ed->bse" %x, %w : (tensor<1x1x4xbf16>, tensor<6x4xbf16>) -> tensor<1x1x6xf32>
      return %y : tensor<1x1x6xf32>
    }
    ```
    Output:
    ```mlir
    func.func @f(%w: tensor<6x4xbf16>, %x: tensor<1x1x4xbf16>) -> tensor<1x1x6xf32> {
      %0 = tg.convert %w : tensor<6x4xbf16> -> tensor<6x4xf32>
      %1 = tg.reshape %x : tensor<1x1x4xbf16> -> tensor<4xbf16>
      %2 = tg.convert %1 : tensor<4xbf16> -> tensor<4xf32>
      %3 = tg.broadcast %2 dims [1] : tensor<4xf32> -> tensor<6x4xf32>
      %4 = arith.mulf %0, %3 : tensor<6x4xf32>
      %5 = tg.reduce sum %4 dims [1] : tensor<6x4xf32> -> tensor<6xf32>
      %y = tg.reshape %5 : tensor<6xf32> -> tensor<1x1x6xf32>
      return %y : tensor<1x1x6xf32>
    }
    ```
  }];
  let dependentDialects = ["::braid::tg::TGDialect", "::mlir::arith::ArithDialect"];
}

#endif // BRAID_PASSES_LOWER_DOTPRODUCTS
