// The contract of backward in numbers, and what attached ops do to gradients.
//
// RUN: braid-interp %s --pipeline-before=tg-differentiate --function=sum | FileCheck %s --check-prefix=SUM
// RUN: braid-interp %s --pipeline-before=tg-differentiate --function=double --set g=1 | FileCheck %s --check-prefix=DOUBLE
// RUN: braid-interp %s --pipeline-before="tg-differentiate" --function=squares --set x=3 | FileCheck %s --check-prefix=PLAIN
// RUN: braid-interp %s --pipeline-before="tg-differentiate,tg-attach-hooks{at=x.grad,x.grad,x.grad,x.grad action=scale:0.5,norm,clip:1.0,keep}" \
// RUN:     --function=squares --set x=3 | FileCheck %s --check-prefix=ATTACHED
// RUN: braid-interp %s --pipeline-before="tg-differentiate,tg-attach-hooks{at=x.grad action=clip:100}" \
// RUN:     --function=squares --set x=3 | FileCheck %s --check-prefix=PLAIN

// SUM: grad_of x: tensor<3xf32> = [1, 1, 1]
func.func @sum(%x: tensor<3xf32> {tg.input = "x", tg.grad}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %loss = tg.reduce sum %x dims [0] : tensor<3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// DOUBLE: grad_of x: tensor<3xf32> = [2, 2, 2]
func.func @double(%x: tensor<3xf32> {tg.input = "x", tg.grad}, %g: tensor<3xf32> {tg.input = "g", tg.seed = 0 : i64})
    -> (tensor<3xf32> {tg.role = #tg.role<loss>}) {
  %two = arith.constant dense<2.0> : tensor<3xf32>
  %y = arith.mulf %x, %two : tensor<3xf32>
  return %y : tensor<3xf32>
}

// PLAIN: grad_of x: tensor<4xf32> = [6, 6, 6, 6]
// ATTACHED: grad_of x: tensor<4xf32> = [0.5, 0.5, 0.5, 0.5]
// ATTACHED: norm:x.grad: tensor<f32> = 6
// ATTACHED: keep:x.grad: tensor<4xf32> = [0.5, 0.5, 0.5, 0.5]
func.func @squares(%x: tensor<4xf32> {tg.input = "x", tg.grad}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %h = tg.hook %x "x" order 0 : tensor<4xf32>
  %y = arith.mulf %h, %h : tensor<4xf32>
  %loss = tg.reduce sum %y dims [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
