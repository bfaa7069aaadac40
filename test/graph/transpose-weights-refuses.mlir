// RUN: braid-opt %s --split-input-file --tg-transpose-weights --verify-diagnostics

// expected-error @below {{weights of 'train' have gradients already; run tg-transpose-weights before tg-differentiate}}
func.func @train(%x: tensor<4x8xf32>, %w: tensor<8x16xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %g: tensor<8x16xf32>)
    -> (tensor<4x16xf32>, tensor<8x16xf32> {tg.grad_of = "w"}) {
  %0 = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %0, %g : tensor<4x16xf32>, tensor<8x16xf32>
}
