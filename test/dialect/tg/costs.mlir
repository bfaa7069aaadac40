// Operations and bytes.  A contraction counts a multiplication and an addition
// for each term; a causal mask halves attention; i1 takes a byte.
//
// RUN: braid-opt %s --tg-print-costs --verify-diagnostics -o /dev/null

// expected-remark @below {{f: 37441 FLOP, 12712 bytes read, 6996 bytes written}}
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %q: tensor<2x8x4x4xf32>, %k: tensor<2x8x2x4xf32>, %b: tensor<4x8xbf16>, %lse: tensor<2x4x8xf32>,
             %lr: tensor<f32>, %step: tensor<i32>, %w1: tensor<8xf32>) {
  // expected-remark @below {{tg.contract: 1024 FLOP, 640 bytes read, 256 bytes written}}
  %0 = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // expected-remark @below {{tg.reduce: 32 FLOP, 128 bytes read, 16 bytes written}}
  %1 = tg.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  // expected-remark @below {{tg.attention: 8192 FLOP, 2048 bytes read, 1280 bytes written}}
  %2:2 = tg.attention %q, %k, %k scale 0.5 : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  // expected-remark @below {{tg.attention: 4096 FLOP, 2048 bytes read, 1280 bytes written}}
  %3:2 = tg.attention %q, %k, %k scale 0.5 causal : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  // A window of 2 of 8 keys leaves 2 x 2 / 2 + 6 x 2 pairs of 64.
  // expected-remark @below {{tg.attention: 1792 FLOP, 2048 bytes read, 1280 bytes written}}
  %windowed:2 = tg.attention %q, %k, %k scale 0.5 causal window 2 : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  // expected-remark @below {{tg.attention_grad: 20480 FLOP,}}
  %4:3 = tg.attention_grad %q, %k, %k, %q, %lse, %q scale 0.5
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x4x4xf32>, tensor<2x4x8xf32>, tensor<2x8x4x4xf32>)
      -> (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>)
  // expected-remark @below {{tg.softmax: 160 FLOP, 64 bytes read, 64 bytes written}}
  %5 = tg.softmax %b : tensor<4x8xbf16>
  // expected-remark @below {{tg.update: 480 FLOP, 520 bytes read, 384 bytes written}}
  %6:3 = tg.update "adam" %x, %x, %lr, %step states %x, %x {beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, weight_decay = 0.0}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  // expected-remark @below {{tg.quantize: 704 FLOP, 256 bytes read, 64 bytes written}}
  %codes, %scales = tg.quantize %x at %x block 4 : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xi8>, tensor<4x2xf32>)
  // expected-remark @below {{tg.dequantize: 160 FLOP, 64 bytes read, 128 bytes written}}
  %decoded = tg.dequantize %codes, %scales : (tensor<4x8xi8>, tensor<4x2xf32>) -> tensor<4x8xf32>
  // expected-remark @below {{tg.global_norm: 65 FLOP, 128 bytes read, 4 bytes written}}
  %7 = tg.global_norm %x : tensor<4x8xf32> -> tensor<f32>
  // expected-remark @below {{arith.cmpf: 32 FLOP, 256 bytes read, 32 bytes written}}
  %8 = arith.cmpf ogt, %x, %x : tensor<4x8xf32>
  // expected-remark @below {{tg.layer_norm: 224 FLOP,}}
  %9:3 = tg.layer_norm %x, %w1 eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}
