// --runs runs the module once for each line of a file, each time in a process of its own: one that fails leaves the others.
// RUN: rm -rf %t && split-file %s %t
// RUN: not braid-interp %t/f.mlir --set a=1 --runs=%t/lines > %t/found 2> %t/errors
// RUN: FileCheck %s < %t/found
// CHECK: {{^}}result0: tensor<f32> = 3
// CHECK-NEXT: {{^}}ended with 0
// CHECK-NEXT: {{^}}ended with 1
// CHECK-NEXT: {{^}}ended with 2
// CHECK-NEXT: {{^}}result0: tensor<f32> = 5
// CHECK-NEXT: {{^}}ended with 0
// RUN: FileCheck %s --check-prefix=ERRORS < %t/errors
// ERRORS: --set: no input is called 'c'
// ERRORS: --frobnicate

// All that end well end well together; lines come from standard input, too.
// RUN: echo "'--set' \"b=4\"" | braid-interp %t/f.mlir --set a=1 --runs=- | FileCheck %s --check-prefix=INPUT
// INPUT: {{^}}result0: tensor<f32> = 5
// INPUT-NEXT: {{^}}ended with 0
// RUN: not braid-interp %t/f.mlir --runs=%t/none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: braid-interp: error: cannot read '{{.*}}none'

//--- lines
--set b=2
--set c=2
--frobnicate
--set b=4
//--- f.mlir
func.func @f(%a: tensor<f32> {tg.input = "a"}, %b: tensor<f32> {tg.input = "b"}) -> tensor<f32> {
  %c = arith.addf %a, %b : tensor<f32>
  return %c : tensor<f32>
}
