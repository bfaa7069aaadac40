// How inputs get their values and results are printed.
//
// RUN: split-file %s %t
// RUN: braid-interp %t/shapes.mlir --set x=2 --set n=3 | FileCheck %t/shapes.mlir
// RUN: braid-interp %t/shapes.mlir --set x=2 --print-limit=3 | FileCheck %t/shapes.mlir --check-prefix=SHORT
// RUN: braid-interp %t/round.mlir --set x=0.1 | FileCheck %t/round.mlir
// RUN: braid-interp %t/round.mlir --set x=0.1 --arithmetic=f64 | FileCheck %t/round.mlir --check-prefix=EXACT
// RUN: braid-interp %t/defaults.mlir --seed=4294967298 | FileCheck %t/defaults.mlir
// RUN: braid-interp %t/initial.mlir --init | FileCheck %t/initial.mlir
// RUN: braid-interp %t/tokens.mlir --seed=1 > %t/first
// RUN: braid-interp %t/tokens.mlir --seed=1 | diff - %t/first
// RUN: braid-interp %t/tokens.mlir --seed=2 | not diff - %t/first
// RUN: braid-interp %t/several.mlir --set x=1 | FileCheck %t/several.mlir
// RUN: braid-interp %t/several.mlir --set x=1 --function=twice | FileCheck %t/several.mlir --check-prefix=ONE
// RUN: braid-interp %t/several.mlir --function=twice --outputs=%t/out.safetensors --set x=1.5
// RUN: braid-interp %t/several.mlir --function=twice --expect=%t/out.safetensors --set x=1.5 | FileCheck %t/several.mlir --check-prefix=SAME
// RUN: not braid-interp %t/several.mlir --function=twice --expect=%t/out.safetensors --set x=1.6 2>&1 | FileCheck %t/several.mlir --check-prefix=OTHER

//--- shapes.mlir
// CHECK: y: tensor<2x2xf32> = {{\[\[}}4, 4], [4, 4]]
// CHECK-NEXT: updates w: tensor<i32> = 4
// CHECK-NEXT: grad_of x: tensor<i1> = true
// CHECK-NEXT: result3: tensor<0xf32> = []
// SHORT: y: tensor<2x2xf32> = 4 elements, norm 8, sum 16
func.func @f(%x: tensor<2x2xf32> {tg.input = "x"}, %n: tensor<i32> {tg.input = "n"})
    -> (tensor<2x2xf32> {tg.output = "y"}, tensor<i32> {tg.updates = "w"}, tensor<i1> {tg.grad_of = "x"}, tensor<0xf32>) {
  %y = arith.addf %x, %x : tensor<2x2xf32>
  %one = arith.constant dense<1> : tensor<i32>
  %m = arith.addi %n, %one : tensor<i32>
  %b = arith.cmpi sgt, %m, %one : tensor<i32>
  %e = arith.constant dense<> : tensor<0xf32>
  return %y, %m, %b, %e : tensor<2x2xf32>, tensor<i32>, tensor<i1>, tensor<0xf32>
}

//--- round.mlir
// Each op rounds its result to its type, or nothing is rounded.
// CHECK: y: tensor<bf16> = 0.100098
// CHECK: d: tensor<f32> = -1.49012e-09
// EXACT: y: tensor<bf16> = 0.1
// EXACT: d: tensor<f32> = 0
func.func @f(%x: tensor<f64> {tg.input = "x"}) -> (tensor<bf16> {tg.output = "y"}, tensor<f32> {tg.output = "d"}) {
  %y = tg.convert %x : tensor<f64> -> tensor<bf16>
  %z = tg.convert %x : tensor<f64> -> tensor<f32>
  %w = tg.convert %z : tensor<f32> -> tensor<f64>
  %d = arith.subf %x, %w : tensor<f64>
  %r = tg.convert %d : tensor<f64> -> tensor<f32>
  return %y, %r : tensor<bf16>, tensor<f32>
}

//--- defaults.mlir
// CHECK: lr: tensor<f32> = 0.001
// CHECK: step: tensor<i32> = 1
// CHECK: position: tensor<i32> = 0
// CHECK: key: tensor<4xi32> = [2, 1, 1, 0]
func.func @f(%lr: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>}, %step: tensor<i32> {tg.input = "step", tg.role = #tg.role<step>},
             %position: tensor<i32> {tg.input = "position", tg.role = #tg.role<position>}, %key: tensor<4xi32> {tg.input = "key", tg.role = #tg.role<key>})
    -> (tensor<f32> {tg.role = #tg.role<lr>}, tensor<i32> {tg.role = #tg.role<step>}, tensor<i32> {tg.role = #tg.role<position>}, tensor<4xi32> {tg.role = #tg.role<key>}) {
  return %lr, %step, %position, %key : tensor<f32>, tensor<i32>, tensor<i32>, tensor<4xi32>
}

//--- initial.mlir
// CHECK: ones: tensor<2xf32> = [1, 1]
// CHECK: half: tensor<2xf32> = [0.5, 0.5]
// CHECK: zeros: tensor<2xf32> = [0, 0]
// CHECK: mean: tensor<f32> = {{2.99|3.00}}
func.func @f(%a: tensor<2xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
             %b: tensor<2xf32> {tg.param = #tg.param<"b", #tg.init<constant, 0.5>>},
             %c: tensor<2xf32> {tg.state = #tg.state<"c", #tg.init<zeros>, kind = running_statistic>},
             %d: tensor<1000xf32> {tg.param = #tg.param<"d", #tg.init<normal, 3.0, 0.1>>})
    -> (tensor<2xf32> {tg.output = "ones"}, tensor<2xf32> {tg.output = "half"}, tensor<2xf32> {tg.output = "zeros"}, tensor<f32> {tg.output = "mean"}) {
  %mean = tg.reduce mean %d dims [0] : tensor<1000xf32> -> tensor<f32>
  return %a, %b, %c, %mean : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<f32>
}

//--- tokens.mlir
// Random tokens stay inside of the table that they index, random targets among
// the classes.
func.func @f(%table: tensor<3x2xf32>, %tokens: tensor<50xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
             %logits: tensor<50x2xf32>, %targets: tensor<50xi32> {tg.input = "targets", tg.role = #tg.role<targets>}) -> (tensor<50x2xf32>, tensor<f32>) {
  %y = tg.gather %table, %tokens : (tensor<3x2xf32>, tensor<50xi32>) -> tensor<50x2xf32>
  %loss, %lse = tg.cross_entropy sum %logits, %targets ignore -1 : (tensor<50x2xf32>, tensor<50xi32>) -> (tensor<f32>, tensor<50xf32>)
  return %y, %loss : tensor<50x2xf32>, tensor<f32>
}

//--- several.mlir
// CHECK: @once
// CHECK-NEXT: y: tensor<f32> = 1
// CHECK-NEXT: @twice
// CHECK-NEXT: y: tensor<f32> = 2
// ONE-NOT: @
// ONE: y: tensor<f32> = 2
// SAME: 'twice': 1 results agree with the file
// OTHER: 'twice': result 'y' differs from 'y' of the file: at [] expected 3, found 3.2
func.func @once(%x: tensor<f32> {tg.input = "x"}) -> (tensor<f32> {tg.output = "y"}) {
  return %x : tensor<f32>
}
func.func @twice(%x: tensor<f32> {tg.input = "x"}) -> (tensor<f32> {tg.output = "y"}) {
  %y = arith.addf %x, %x : tensor<f32>
  return %y : tensor<f32>
}
