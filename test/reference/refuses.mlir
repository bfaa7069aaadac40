// Errors have a message and exit status 1.
//
// RUN: split-file %s %t
// RUN: not braid-interp %t/missing.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not braid-interp %t/syntax.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: not braid-interp %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not braid-interp %t/good.mlir --function=g 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: not braid-interp %t/good.mlir --compare --pipeline=no-such-pass 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not braid-interp %t/good.mlir --compare --pipeline=@%t/none 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not braid-interp %t/good.mlir --pipeline=cse 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not braid-interp %t/good.mlir --set x 2>&1 | FileCheck %s --check-prefix=SET
// RUN: not braid-interp %t/good.mlir --set lr=1 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not braid-interp %t/good.mlir --inputs=%t/good.mlir 2>&1 | FileCheck %s --check-prefix=TENSORS
// RUN: not braid-interp %t/good.mlir --no-such-flag 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not braid-interp %t/good.mlir --steps=1 2>&1 | FileCheck %s --check-prefix=TRAIN
// RUN: not braid-interp %t/good.mlir --function=f --steps=1 --data=%t/good.mlir 2>&1 | FileCheck %s --check-prefix=DATA
// RUN: not braid-interp %t/good.mlir --function=f --outputs=%t/none/out 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not braid-interp %t/unknown.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not braid-interp %t/index.mlir --set i=5 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not braid-interp %t/target.mlir --set t=9 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not braid-interp %t/dynamic.mlir 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not braid-interp %t/resource.mlir 2>&1 | FileCheck %s --check-prefix=RESOURCE

// MISSING: error: cannot open input file {{.*}}missing.mlir
// SYNTAX: syntax.mlir:2:{{.*}}: error:
// EMPTY: error: the module has no function and no program
// FUNCTION: error: the module has no function or program 'g'; it has 'f'
// PASS: error: cannot read 'no-such-pass' of the pipeline: {{.*}}does not refer to a registered pass
// FILE: error: cannot read the pipeline from '{{.*}}none': No such file
// MODE: error: --pipeline needs --compare: add --compare, or leave --pipeline out
// SET: error: --set=x: invalid value; expected NAME=NUMBER, as in --set lr=0.1
// NAME: error: --set: no input is called 'lr'
// TENSORS: error: {{.*}}good.mlir: the length {{[0-9]+}} of the header exceeds the file
// FLAG: error: unknown option '--no-such-flag'
// TRAIN: error: the module has no function or program 'train'; it has 'f'
// DATA: error: {{.*}}good.mlir: no token file
// OUTPUT: error: {{.*}}out: No such file
// UNKNOWN: unknown.mlir:2:{{.*}}: error: the interpreter does not know 'tensor.expand_shape'
// INDEX: index.mlir:2:{{.*}}: error: index 5 at place 0 is outside the table of 3 rows
// TARGET: target.mlir:2:{{.*}}: error: target 9 at place 0 is neither one of the 3 classes nor the ignored index -100
// RESOURCE: resource.mlir:2:{{.*}}: error: the interpreter reads dense constants only
// DYNAMIC: error: argument #0 is 'tensor<?xf32>'; the interpreter takes ranked tensors of static shape

//--- syntax.mlir
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %y = tg.nothing %x : tensor<f32>
  return %y : tensor<f32>
}

//--- empty.mlir

//--- good.mlir
func.func @f(%x: tensor<2xf32> {tg.input = "x"}) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

//--- unknown.mlir
func.func @f(%x: tensor<2xf32>) -> tensor<2x1xf32> {
  %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 1] : tensor<2xf32> into tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

//--- index.mlir
func.func @f(%t: tensor<3x2xf32>, %i: tensor<2xi32> {tg.input = "i"}) -> tensor<2x2xf32> {
  %y = tg.gather %t, %i : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

//--- target.mlir
func.func @f(%x: tensor<2x3xf32>, %t: tensor<2xi32> {tg.input = "t"}) -> tensor<f32> {
  %loss, %lse = tg.cross_entropy mean %x, %t ignore -100 : (tensor<2x3xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>)
  return %loss : tensor<f32>
}

//--- dynamic.mlir
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

//--- resource.mlir
func.func @f() -> tensor<2xf32> {
  %y = arith.constant dense_resource<blob> : tensor<2xf32>
  return %y : tensor<2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F00000040"
    }
  }
#-}
