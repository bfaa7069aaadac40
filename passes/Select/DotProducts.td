//===- DotProducts.td - a matrix times a vector ----------------*- tablegen -*-===//
#ifndef BRAID_PASSES_SELECT_DOTPRODUCTS
#define BRAID_PASSES_SELECT_DOTPRODUCTS

include "mlir/Pass/PassBase.td"

def SelectDotProductsPass : Pass<"exec-select-dot-products", "::mlir::func::FuncOp"> {
  let summary = "Turns matrix-vector products into a sum of products for each row";
  let description = [{
    Runs before `tg-decompose`. A contraction of a matrix with a vector along the matrix's last dims becomes
    products and their sums, which later form a kernel. All contractions with weights are of this form when one
    token is decoded. The kernel reads each number of the matrix once, but a library's GEMM would copy the matrix
    first. Other contractions are left to the library, and so are all contractions of programs that train, whose
    calls also compute gradients of biases.

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

#endif // BRAID_PASSES_SELECT_DOTPRODUCTS
