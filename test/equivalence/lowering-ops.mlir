// Lowering keeps values: selected calls, kernels, fused kernels.
// RUN: braid-interp %s --compare --seeds=2 --arithmetic=f64 --rtol=1e-5 --pipeline="func.func(tg-decompose,exec-select-calls)"
// RUN: braid-interp %s --compare --seeds=2 --arithmetic=f64 --rtol=1e-5 --pipeline="func.func(tg-decompose,exec-select-calls,exec-form-kernels)"
// RUN: braid-interp %s --compare --seeds=2 --arithmetic=f64 --rtol=1e-5 --pipeline="func.func(exec-select-epilogues,tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels)"
// RUN: braid-interp %s --compare --seeds=2 --arithmetic=f64 --rtol=1e-5 --pipeline="func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels,exec-recompute-operands)"

func.func @layer_norm(%x: tensor<4x32x64xf32>, %r: tensor<4x32x64xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>, %dy: tensor<4x32x64xf32>)
    -> (tensor<4x32x64xf32>, tensor<4x32x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %h = arith.addf %x, %r : tensor<4x32x64xf32>
  %y, %m, %s = tg.layer_norm %h, %w, %b eps 1.0e-5 : (tensor<4x32x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<4x32x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>)
  %dx, %dw, %db = tg.layer_norm_grad %h, %w, %m, %s, %dy : (tensor<4x32x64xf32>, tensor<64xf32>, tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32x64xf32>) -> (tensor<4x32x64xf32>, tensor<64xf32>, tensor<64xf32>)
  %dh = arith.addf %dx, %dy : tensor<4x32x64xf32>
  return %y, %dh, %dw, %db : tensor<4x32x64xf32>, tensor<4x32x64xf32>, tensor<64xf32>, tensor<64xf32>
}

func.func @attention(%q: tensor<2x8x4x4xf32>, %k: tensor<2x8x2x4xf32>, %v: tensor<2x8x2x4xf32>, %do: tensor<2x8x4x4xf32>)
    -> (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) {
  %r = tg.rope %q theta 1.0e4 : tensor<2x8x4x4xf32>
  %o, %lse = tg.attention %r, %k, %v scale 0.5 causal : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  %dq, %dk, %dv = tg.attention_grad %r, %k, %v, %o, %lse, %do scale 0.5 causal
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x4x4xf32>, tensor<2x4x8xf32>, tensor<2x8x4x4xf32>)
      -> (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>)
  return %o, %dq, %dk, %dv : tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>
}

func.func @cross_entropy(%x: tensor<4x8x50xf32>, %t: tensor<4x8xi32>) -> (tensor<f32>, tensor<4x8x50xf32>) {
  %one = arith.constant dense<1.0> : tensor<f32>
  %loss, %lse = tg.cross_entropy mean %x, %t ignore -100 : (tensor<4x8x50xf32>, tensor<4x8xi32>) -> (tensor<f32>, tensor<4x8xf32>)
  %dx = tg.cross_entropy_grad mean %x, %t, %lse, %one ignore -100 : (tensor<4x8x50xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8x50xf32>
  return %loss, %dx : tensor<f32>, tensor<4x8x50xf32>
}

// Dropout over a space that a reshape splits: the same numbers.
func.func @dropout(%x: tensor<24x8xf32>, %key: tensor<4xi32> {tg.input = "key", tg.role = #tg.role<key>}) -> tensor<4x6x8xf32> {
  %d = tg.dropout %x, %key rate 0.3 stream 5 : (tensor<24x8xf32>, tensor<4xi32>) -> tensor<24x8xf32>
  %r = tg.reshape %d : tensor<24x8xf32> -> tensor<4x6x8xf32>
  %y = arith.addf %r, %r : tensor<4x6x8xf32>
  return %y : tensor<4x6x8xf32>
}

func.func @reductions(%x: tensor<4x48x8xf32>) -> (tensor<8xf32>, tensor<48x8xf32>, tensor<48xf32>, tensor<f32>, tensor<4x8xf32>, tensor<8xf32>) {
  %a = tg.reduce sum %x dims [0, 1] : tensor<4x48x8xf32> -> tensor<8xf32>
  %b = tg.reduce mean %x dims [0] : tensor<4x48x8xf32> -> tensor<48x8xf32>
  %c = tg.reduce max %x dims [0, 2] : tensor<4x48x8xf32> -> tensor<48xf32>
  %d = tg.reduce mean %x dims [0, 1, 2] : tensor<4x48x8xf32> -> tensor<f32>
  %e = tg.reduce max %x dims [1] : tensor<4x48x8xf32> -> tensor<4x8xf32>
  %f = tg.reduce mean %x dims [0, 1] : tensor<4x48x8xf32> -> tensor<8xf32>
  return %a, %b, %c, %d, %e, %f : tensor<8xf32>, tensor<48x8xf32>, tensor<48xf32>, tensor<f32>, tensor<4x8xf32>, tensor<8xf32>
}

// A long vector is reduced as rows of lanes.
func.func @vector(%x: tensor<73728xf32>) -> (tensor<f32>, tensor<f32>) {
  %a = tg.reduce sum %x dims [0] : tensor<73728xf32> -> tensor<f32>
  %b = tg.reduce max %x dims [0] : tensor<73728xf32> -> tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}

func.func @contractions(%x: tensor<3x4x16xf32>, %w: tensor<3x5x8xf32>, %v: tensor<8x3xf32>)
    -> (tensor<4x5x3xf32>, tensor<3x4xf32>, tensor<3x4x8x8xf32>, tensor<3x4x3xf32>, tensor<5x4xf32>) {
  %s = tg.slice %x dim 2 offset 1 size 8 stride 2 : tensor<3x4x16xf32> -> tensor<3x4x8xf32>
  %a = tg.contract "bmk,bnk->mnb" %s, %w : (tensor<3x4x8xf32>, tensor<3x5x8xf32>) -> tensor<4x5x3xf32>
  %b = tg.contract "bmk,bmk->bm" %s, %s : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4xf32>
  %c = tg.contract "bmk,bml->bmkl" %s, %s : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8x8xf32>
  %d = tg.contract "bmk,kn->bmn" %s, %v : (tensor<3x4x8xf32>, tensor<8x3xf32>) -> tensor<3x4x3xf32>
  %e = tg.contract "bmk,bnk->nm" %s, %w : (tensor<3x4x8xf32>, tensor<3x5x8xf32>) -> tensor<5x4xf32>
  return %a, %b, %c, %d, %e : tensor<4x5x3xf32>, tensor<3x4xf32>, tensor<3x4x8x8xf32>, tensor<3x4x3xf32>, tensor<5x4xf32>
}

func.func @epilogues(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>, %v: tensor<16x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %h = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %r = tg.broadcast %b dims [1] : tensor<16xf32> -> tensor<4x16xf32>
  %s = arith.addf %h, %r : tensor<4x16xf32>
  %y = tg.gelu erf %s : tensor<4x16xf32>
  %p = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %q = tg.contract "bd,fd->bf" %x, %v : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %z = arith.addf %p, %q : tensor<4x16xf32>
  return %y, %z : tensor<4x16xf32>, tensor<4x16xf32>
}

func.func @movement(%x: tensor<4x6xf32>) -> (tensor<7x6xf32>, tensor<24xf32>, tensor<4x12xf32>, tensor<2x4x6xf32>, tensor<4xi32>) {
  %p = tg.pad %x dim 0 low 1 high 2 value 0.5 : tensor<4x6xf32> -> tensor<7x6xf32>
  %t = tg.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %r = tg.reshape %t : tensor<6x4xf32> -> tensor<24xf32>
  %c = tg.concat %x, %x dim 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  %b = tg.broadcast %x dims [1, 2] : tensor<4x6xf32> -> tensor<2x4x6xf32>
  %k = arith.constant dense<[3, 1, 4, 1]> : tensor<4xi32>
  return %p, %r, %c, %b, %k : tensor<7x6xf32>, tensor<24xf32>, tensor<4x12xf32>, tensor<2x4x6xf32>, tensor<4xi32>
}

// SwiGLU: backward computes silu(gate) again.
func.func @swiglu(%g: tensor<4x6x8xf32>, %u: tensor<4x6x8xf32>, %w: tensor<8x8xf32>, %dy: tensor<4x6x8xf32>)
    -> (tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>) {
  %s = tg.silu %g : tensor<4x6x8xf32>
  %h = arith.mulf %s, %u : tensor<4x6x8xf32>
  %y = tg.contract "abd,de->abe" %h, %w : (tensor<4x6x8xf32>, tensor<8x8xf32>) -> tensor<4x6x8xf32>
  %dh = tg.contract "abe,de->abd" %dy, %w : (tensor<4x6x8xf32>, tensor<8x8xf32>) -> tensor<4x6x8xf32>
  %du = arith.mulf %dh, %s : tensor<4x6x8xf32>
  %ds = arith.mulf %dh, %u : tensor<4x6x8xf32>
  %dg = tg.silu_grad %g, %ds : tensor<4x6x8xf32>
  return %y, %du, %dg : tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>
}
