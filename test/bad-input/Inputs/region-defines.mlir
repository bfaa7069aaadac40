func.func @m(%x: tensor<4xf32>) -> tensor<4xf32> {
  %q = arith.mulf %y, %y : tensor<4xf32>
  "func.func"() ({
  ^bb0(%z: tensor<4xf32>):
      %y = arith.negf %z : tensor<4xf32>
      %w = arith.negf %z : tensor<4xf32> foo
  }) {sym_name = "i", function_type = (tensor<4xf32>) -> ()} : () -> ()
  return %q : tensor<4xf32>
}
