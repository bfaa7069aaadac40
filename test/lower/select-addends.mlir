// A tensor that is added to the result of a matmul becomes an operand of the call, if the target's
// library adds it and it is in memory anyway.
// RUN: braid-opt %s --split-input-file --exec-set-target=name=cuda --exec-select-addends | FileCheck %s
// RUN: braid-opt %s --split-input-file --exec-select-addends | FileCheck %s --check-prefix=CPU
// CPU-NOT: addend

// On either side of the sum, with a bias and without; the residual is read again later.
// CHECK-LABEL: @residual
// CHECK:         %[[S:.*]] = exec.matmul "bsf,df->bsd"(%arg1, %arg2 bias %arg3 : tensor<8xf32> addend %arg0 : tensor<2x4x8xf32>) : tensor<2x4x16xf32>, tensor<8x16xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    %[[T:.*]] = exec.matmul "bsf,df->bsd"(%arg1, %arg2 addend %[[S]] : tensor<2x4x8xf32>) : tensor<2x4x16xf32>, tensor<8x16xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    return %[[S]], %[[T]]
func.func @residual(%x: tensor<2x4x8xf32>, %y: tensor<2x4x16xf32>, %w: tensor<8x16xf32>, %b: tensor<8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>) {
  %p = exec.matmul "bsf,df->bsd"(%y, %w bias %b : tensor<8xf32>) : tensor<2x4x16xf32>, tensor<8x16xf32> -> tensor<2x4x8xf32>
  %s = arith.addf %x, %p : tensor<2x4x8xf32>
  %q = exec.matmul "bsf,df->bsd"(%y, %w) : tensor<2x4x16xf32>, tensor<8x16xf32> -> tensor<2x4x8xf32>
  %t = arith.addf %q, %s : tensor<2x4x8xf32>
  return %s, %t : tensor<2x4x8xf32>, tensor<2x4x8xf32>
}

// -----

// What a kernel computes and an earlier op reads is in memory.  Of two matmuls the later one adds, whose
// operands are rounded to bf16.
// CHECK-LABEL: @made
// CHECK:         %[[X:.*]] = arith.mulf
// CHECK:         %[[N:.*]] = math.exp %[[X]]
// CHECK:         %[[S:.*]] = exec.matmul "bd,ed->be"(%[[N]], %arg1 addend %[[X]] : tensor<4x8xf32>)
// CHECK:         %[[P:.*]] = exec.matmul "bd,ed->be"(%arg2, %arg3) : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xf32>
// CHECK:         %[[T:.*]] = exec.matmul "bd,ed->be"(%arg2, %arg3 addend %[[P]] : tensor<4x8xf32>) : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xf32>
// CHECK:         return %[[S]], %[[T]]
func.func @made(%y: tensor<4x8xf32>, %w: tensor<8x8xf32>, %h: tensor<4x8xbf16>, %v: tensor<8x8xbf16>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %x = arith.mulf %y, %y : tensor<4x8xf32>
  %n = math.exp %x : tensor<4x8xf32>
  %p = exec.matmul "bd,ed->be"(%n, %w) : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %s = arith.addf %x, %p : tensor<4x8xf32>
  %q = exec.matmul "bd,ed->be"(%h, %v) : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xf32>
  %r = exec.matmul "bd,ed->be"(%h, %v) : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xf32>
  %t = arith.addf %r, %q : tensor<4x8xf32>
  return %s, %t : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Other readers of the product, a mask between, and a type between: the sum is not of what the call writes.
// CHECK-LABEL: @between
// CHECK-NOT:     addend
func.func @between(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %w: tensor<8x8xf32>, %mask: tensor<4x8xf32>, %h: tensor<4x8xbf16>, %v: tensor<8x8xbf16>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %p = exec.matmul "bd,ed->be"(%y, %w) : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %s = arith.addf %x, %p : tensor<4x8xf32>
  %q = exec.matmul "bd,ed->be"(%y, %w) : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %dropped = arith.mulf %q, %mask : tensor<4x8xf32>
  %t = arith.addf %x, %dropped : tensor<4x8xf32>
  %r = exec.matmul "bd,ed->be"(%y, %w) : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %twice = arith.addf %r, %r : tensor<4x8xf32>
  %n = exec.matmul "bd,ed->be"(%h, %v) : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
  %wide = tg.convert %n : tensor<4x8xbf16> -> tensor<4x8xf32>
  %u = arith.addf %x, %wide : tensor<4x8xf32>
  return %p, %s, %t, %twice, %u : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A call with an activation, an accumulator, a second result, or several GEMMs that add up.
// CHECK-LABEL: @others
// CHECK-NOT:     addend
func.func @others(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %w: tensor<8x8xf32>, %sum: tensor<8x8xf32>, %r: tensor<8x8xf32>, %part: tensor<2x4x8xf32>)
    -> (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>) {
  %p = exec.matmul "bd,ed->be"(%y, %w) epilogue gelu_tanh : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %s = arith.addf %x, %p : tensor<4x8xf32>
  %q = exec.matmul "bd,be->ed"(%x, %y acc %sum : tensor<8x8xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  %t = arith.addf %r, %q : tensor<8x8xf32>
  %g, %bias = exec.matmul "bd,be->ed"(%x, %y) bias_grad rhs : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>, tensor<8xf32>
  %u = arith.addf %r, %g : tensor<8x8xf32>
  %slice = exec.view %part offset 0 strides [32, 8, 1] : tensor<2x4x8xf32> -> tensor<2x3x8xf32>
  %o = exec.matmul "bsd,bse->de"(%slice, %slice) : tensor<2x3x8xf32>, tensor<2x3x8xf32> -> tensor<8x8xf32>
  %v = arith.addf %r, %o : tensor<8x8xf32>
  return %s, %t, %u, %bias, %v : tensor<4x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>
}

// -----

// Addends that need not be in memory: what a kernel computes for the sum alone, what is read where it
// repeats, a view, rows that a kernel looks up; and one that is made behind the matmul.
// CHECK-LABEL: @elsewhere
// CHECK-NOT:     addend
func.func @elsewhere(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %w: tensor<8x8xf32>, %row: tensor<4xf32>, %turned: tensor<8x4xf32>, %table: tensor<16x8xf32>, %ids: tensor<4xi32>, %half: tensor<4x4xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %square = arith.mulf %x, %x : tensor<4x8xf32>
  %p = exec.matmul "bd,ed->be"(%y, %w) : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %s = arith.addf %square, %p : tensor<4x8xf32>
  %rows = tg.broadcast %row dims [0] : tensor<4xf32> -> tensor<4x8xf32>
  %q = exec.matmul "bd,ed->be"(%y, %w) : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %t = arith.addf %rows, %q : tensor<4x8xf32>
  %view = exec.view %turned offset 0 strides [1, 4] : tensor<8x4xf32> -> tensor<4x8xf32>
  %r = exec.matmul "bd,ed->be"(%y, %w) : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %u = arith.addf %view, %r : tensor<4x8xf32>
  %embedded = exec.gather(%table, %ids) : (tensor<16x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  %n = exec.matmul "bd,ed->be"(%y, %w) : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %v = arith.addf %embedded, %n : tensor<4x8xf32>
  %m = exec.matmul "bd,ed->be"(%y, %w) : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %late = exec.concat %half, %half dim 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %z = arith.addf %late, %m : tensor<4x8xf32>
  return %s, %t, %u, %v, %z : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
