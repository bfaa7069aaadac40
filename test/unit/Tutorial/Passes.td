//===- Passes.td - the pass of docs/WritingAPass.md --------*- tablegen -*-===//
#ifndef BRAID_TUTORIAL
#define BRAID_TUTORIAL

include "mlir/Pass/PassBase.td"

def FreezeUnitsPass : Pass<"tg-freeze-units", "::mlir::func::FuncOp"> {
  let summary = "Freezes the parameters of some units, for fine-tuning";
  let description = [{
    A frozen parameter gets no gradient, hence no optimizer state and no update.  So
    this runs on the model, before `tg-differentiate`.

    Input (`units=body`):
    ```mlir
    func.func @model(%x: tensor<2x3xf32> {tg.input = "x"},
                     %w: tensor<3x3xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "body">},
                     %v: tensor<1x3xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "head">}) -> tensor<2x1xf32> {
      %h = tg.contract "bi,oi->bo" %x, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %y = tg.contract "bi,oi->bo" %h, %v : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x1xf32>
      return %y : tensor<2x1xf32>
    }
    ```
    Output:
    ```mlir
    func.func @model(%x: tensor<2x3xf32> {tg.input = "x"},
                     %w: tensor<3x3xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "body", frozen>},
                     %v: tensor<1x3xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "head">}) -> tensor<2x1xf32> {
      %h = tg.contract "bi,oi->bo" %x, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %y = tg.contract "bi,oi->bo" %h, %v : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x1xf32>
      return %y : tensor<2x1xf32>
    }
    ```
  }];
  let options = [
    ListOption<"units", "units", "std::string", "Units whose parameters are frozen">,
  ];
}

#endif // BRAID_TUTORIAL
