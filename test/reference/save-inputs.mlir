// --save-inputs writes what a run drew for its inputs, which others can run on.
// RUN: braid-interp %s --seed=3 --ignored-share=0.5 --set w=2 --save-inputs=%t.inputs --outputs=%t.results
// RUN: braid-interp %s --seed=4 --set w=2 --inputs=%t.inputs --expect=%t.results | FileCheck %s
// RUN: not braid-interp %s --seed=4 --set w=2 --expect=%t.results 2>&1 | FileCheck %s --check-prefix=OTHERS
// OTHERS: differs from 'loss' of the file
// CHECK: 'f': 1 results agree
// RUN: not braid-interp %s --steps=1 --save-inputs=%t.inputs 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: --save-inputs

func.func @f(%w: tensor<f32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %x: tensor<2x3xf32> {tg.input = "x"},
    %t: tensor<2xi32> {tg.input = "t", tg.role = #tg.role<labels>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %b = tg.broadcast %w dims [] : tensor<f32> -> tensor<2x3xf32>
  %y = arith.mulf %x, %b : tensor<2x3xf32>
  %l, %s = tg.cross_entropy mean %y, %t ignore -100 : (tensor<2x3xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>)
  return %l : tensor<f32>
}
