// The sum over the contracted dims of a matmul becomes a second result of the call, if the
// target's library supports that and no kernel can compute the sum from registers.
// RUN: braid-opt %s --split-input-file --exec-set-target=name=cuda --exec-select-bias-gradients | FileCheck %s
// RUN: braid-opt %s --split-input-file --exec-select-bias-gradients | FileCheck %s --check-prefix=CPU
// CPU-NOT: bias_grad

// CHECK-LABEL: @linear
// CHECK:         %[[D:.*]]:2 = exec.matmul "bsd,bsf->fd"(%arg0, %arg1) bias_grad rhs : tensor<2x4x8xf32>, tensor<2x4x16xf32> -> tensor<16x8xf32>, tensor<16xf32>
// CHECK-NOT:     tg.reduce
// CHECK:         return %[[D]]#0, %[[D]]#1
func.func @linear(%x: tensor<2x4x8xf32>, %dy: tensor<2x4x16xf32>) -> (tensor<16x8xf32>, tensor<16xf32>) {
  %dw = exec.matmul "bsd,bsf->fd"(%x, %dy) : tensor<2x4x8xf32>, tensor<2x4x16xf32> -> tensor<16x8xf32>
  %db = tg.reduce sum %dy dims [0, 1] : tensor<2x4x16xf32> -> tensor<16xf32>
  return %dw, %db : tensor<16x8xf32>, tensor<16xf32>
}

// -----

// f32 gradients of bf16 operands, of which the left is summed; a tie, which no kernel makes.
// CHECK-LABEL: @widened
// CHECK:         %[[C:.*]] = exec.concat
// CHECK:         exec.matmul "bsf,bsd->fd"(%[[C]], %arg0) bias_grad lhs : tensor<2x4x16xbf16>, tensor<2x4x8xbf16> -> tensor<16x8xf32>, tensor<16xf32>
// CHECK-NOT:     tg.
// CHECK:         return
func.func @widened(%x: tensor<2x4x8xbf16>, %p: tensor<2x4x8xbf16>, %q: tensor<2x4x8xbf16>) -> (tensor<16x8xf32>, tensor<16xf32>) {
  %dy = exec.concat %p, %q dim 2 : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>) -> tensor<2x4x16xbf16>
  %dw = exec.matmul "bsf,bsd->fd"(%dy, %x) : tensor<2x4x16xbf16>, tensor<2x4x8xbf16> -> tensor<16x8xf32>
  %wide = tg.convert %dy : tensor<2x4x16xbf16> -> tensor<2x4x16xf32>
  %db = tg.reduce sum %wide dims [0, 1] : tensor<2x4x16xf32> -> tensor<16xf32>
  return %dw, %db : tensor<16x8xf32>, tensor<16xf32>
}

// -----

// The weight gradient accumulates in the call, the bias gradient after it.  The reader of
// the sum comes before the matmul, so the call moves to the position of the sum.
// CHECK-LABEL: @microbatch
// CHECK:         %[[DY:.*]] = exec.matmul "bf,fd->bd"
// CHECK:         %[[D:.*]]:2 = exec.matmul "bd,be->ed"(%arg0, %[[DY]] acc %arg3 : tensor<8x8xf32>) bias_grad rhs
// CHECK:         %[[B:.*]] = arith.addf %arg4, %[[D]]#1 : tensor<8xf32>
// CHECK:         exec.matmul "bd,ed->be"(%[[DY]]
// CHECK:         return %[[D]]#0, %[[B]]
func.func @microbatch(%x: tensor<4x8xf32>, %dz: tensor<4x16xf32>, %w: tensor<16x8xf32>, %sumw: tensor<8x8xf32>, %sumb: tensor<8xf32>)
    -> (tensor<8x8xf32>, tensor<8xf32>, tensor<4x16xf32>) {
  %dy = exec.matmul "bf,fd->bd"(%dz, %w) : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
  %db = tg.reduce sum %dy dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %b = arith.addf %sumb, %db : tensor<8xf32>
  %dx = exec.matmul "bd,ed->be"(%dy, %w) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  %dw = exec.matmul "bd,be->ed"(%x, %dy acc %sumw : tensor<8x8xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  return %dw, %b, %dx : tensor<8x8xf32>, tensor<8xf32>, tensor<4x16xf32>
}

// -----

// A kernel computes or reads the summed value anyway, so the sum costs it nothing.
// CHECK-LABEL: @computed
// CHECK-NOT:     bias_grad
// CHECK:         tg.reduce sum
// CHECK:         tg.reduce sum
func.func @computed(%x: tensor<4x8xf32>, %dz: tensor<4x16xf32>, %dy: tensor<4x16xf32>)
    -> (tensor<16x8xf32>, tensor<16xf32>, tensor<16x8xf32>, tensor<16xf32>, tensor<4x16xf32>) {
  %p = arith.mulf %dz, %dz : tensor<4x16xf32>
  %dw = exec.matmul "bd,bf->fd"(%x, %p) : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<16x8xf32>
  %db = tg.reduce sum %p dims [0] : tensor<4x16xf32> -> tensor<16xf32>
  %dv = exec.matmul "bd,bf->fd"(%x, %dy) : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<16x8xf32>
  %dc = tg.reduce sum %dy dims [0] : tensor<4x16xf32> -> tensor<16xf32>
  %q = arith.addf %dy, %dz : tensor<4x16xf32>
  return %dw, %db, %dv, %dc, %q : tensor<16x8xf32>, tensor<16xf32>, tensor<16x8xf32>, tensor<16xf32>, tensor<4x16xf32>
}

// -----

// A sum over other dims than the contracted ones, a mean, a type other than the matmul's.
// CHECK-LABEL: @others
// CHECK-NOT:     bias_grad
func.func @others(%x: tensor<2x4x8xbf16>, %dy: tensor<2x4x16xbf16>)
    -> (tensor<16x8xf32>, tensor<4x16xbf16>, tensor<16xbf16>, tensor<16xbf16>, tensor<bf16>) {
  %dw = exec.matmul "bsd,bsf->fd"(%x, %dy) : tensor<2x4x8xbf16>, tensor<2x4x16xbf16> -> tensor<16x8xf32>
  %rows = tg.reduce sum %dy dims [0] : tensor<2x4x16xbf16> -> tensor<4x16xbf16>
  %narrow = tg.reduce sum %dy dims [0, 1] : tensor<2x4x16xbf16> -> tensor<16xbf16>
  %mean = tg.reduce mean %dy dims [0, 1] : tensor<2x4x16xbf16> -> tensor<16xbf16>
  %all = tg.reduce sum %dy dims [0, 1, 2] : tensor<2x4x16xbf16> -> tensor<bf16>
  return %dw, %rows, %narrow, %mean, %all : tensor<16x8xf32>, tensor<4x16xbf16>, tensor<16xbf16>, tensor<16xbf16>, tensor<bf16>
}

// -----

// Several GEMMs: a batch, two free dims, and a loop over contracted dims, because the rows of
// a slice are not one dim.  And a call that already has an epilogue.
// CHECK-LABEL: @loops
// CHECK-NOT:     bias_grad
func.func @loops(%x: tensor<2x4x8xf32>, %dy: tensor<2x4x16xf32>, %dh: tensor<2x4x2x8xf32>, %part: tensor<2x4x16xf32>, %y: tensor<4x8xf32>, %dz: tensor<4x16xf32>, %b: tensor<8xf32>)
    -> (tensor<2x16x8xf32>, tensor<2x16xf32>, tensor<2x8x8xf32>, tensor<2x8xf32>, tensor<16x8xf32>, tensor<16xf32>, tensor<16x8xf32>, tensor<16xf32>) {
  %dw0 = exec.matmul "bsd,bsf->bfd"(%x, %dy) : tensor<2x4x8xf32>, tensor<2x4x16xf32> -> tensor<2x16x8xf32>
  %db0 = tg.reduce sum %dy dims [1] : tensor<2x4x16xf32> -> tensor<2x16xf32>
  %dw1 = exec.matmul "bsd,bshf->hfd"(%x, %dh) : tensor<2x4x8xf32>, tensor<2x4x2x8xf32> -> tensor<2x8x8xf32>
  %db1 = tg.reduce sum %dh dims [0, 1] : tensor<2x4x2x8xf32> -> tensor<2x8xf32>
  %xs = exec.view %x offset 0 strides [32, 8, 1] : tensor<2x4x8xf32> -> tensor<2x3x8xf32>
  %ds = exec.view %part offset 0 strides [64, 16, 1] : tensor<2x4x16xf32> -> tensor<2x3x16xf32>
  %dw2 = exec.matmul "bsd,bsf->fd"(%xs, %ds) : tensor<2x3x8xf32>, tensor<2x3x16xf32> -> tensor<16x8xf32>
  %db2 = tg.reduce sum %ds dims [0, 1] : tensor<2x3x16xf32> -> tensor<16xf32>
  %dw3 = exec.matmul "bd,bf->fd"(%y, %dz bias %b : tensor<8xf32>) : tensor<4x8xf32>, tensor<4x16xf32> -> tensor<16x8xf32>
  %db3 = tg.reduce sum %dz dims [0] : tensor<4x16xf32> -> tensor<16xf32>
  return %dw0, %db0, %dw1, %db1, %dw2, %db2, %dw3, %db3 : tensor<2x16x8xf32>, tensor<2x16xf32>, tensor<2x8x8xf32>, tensor<2x8xf32>, tensor<16x8xf32>, tensor<16xf32>, tensor<16x8xf32>, tensor<16xf32>
}

// -----

// The matmul depends on the sum.
// CHECK-LABEL: @ordered
// CHECK:         tg.reduce sum
// CHECK:         exec.matmul "bd,bf->fd"
// CHECK-NOT:     bias_grad
func.func @ordered(%x: tensor<4x8xf32>, %dy: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %db = tg.reduce sum %dy dims [0] : tensor<4x8xf32> -> tensor<8xf32>
  %rows = tg.broadcast %db dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %y = arith.mulf %x, %rows : tensor<4x8xf32>
  %dw = exec.matmul "bd,bf->fd"(%y, %dy) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  return %dw, %db : tensor<8x8xf32>, tensor<8xf32>
}
