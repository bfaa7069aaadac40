// RUN: not braid-opt %s --tg-make-programs=model=net 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: not braid-opt %s --tg-make-programs=programs=test 2>&1 | FileCheck %s --check-prefix=PROGRAM
// RUN: not braid-opt %s --tg-make-programs=programs=train 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: not braid-opt %s --tg-make-programs=programs=generate 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not braid-opt %s --tg-make-programs=model=nothing 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not braid-opt %s --tg-make-programs="model=twice programs=eval" 2>&1 | FileCheck %s --check-prefix=TWICE

// MODEL: error: no function 'net' to make programs from
// PROGRAM: error: unknown program 'test'; expected train, eval, generate or predict
// LOSS: error: program 'train' needs a result with the role loss, which 'model' does not have
// ROWS: error: logits 'tensor<1x8xf32>' of one example must have a row for each position of the tokens 'tensor<1x6xi32>'; leave out the program generate
func.func @model(%t: tensor<4x6xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}, %e: tensor<16x8xf32> {tg.param = #tg.param<"e", #tg.init<ones>>})
    -> (tensor<4x8xf32> {tg.role = #tg.role<logits>}) {
  %0 = tg.gather %e, %t : (tensor<16x8xf32>, tensor<4x6xi32>) -> tensor<4x6x8xf32>
  %1 = tg.reduce mean %0 dims [1] : tensor<4x6x8xf32> -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// NOTHING: error: 'nothing' has no result with the role loss or logits
func.func @nothing(%t: tensor<4x6xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}) -> tensor<4x6xi32> {
  return %t : tensor<4x6xi32>
}

// TWICE: error: the module already has a function 'eval'; rename it
func.func @twice(%t: tensor<f32> {tg.input = "x"}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  return %t : tensor<f32>
}
func.func private @eval()
