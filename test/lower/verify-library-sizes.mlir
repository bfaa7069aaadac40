// Sizes that libraries hold in 32 bits: the largest that they can, and one more.
// RUN: braid-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(exec-verify-library-sizes))' -o /dev/null

func.func @largest(%x: tensor<2147483647x1xbf16> {tg.role = #tg.role<features>}, %w: tensor<2x1xbf16>) -> tensor<2147483647x2xbf16> {
  %y = exec.matmul "bd,fd->bf"(%x, %w) : tensor<2147483647x1xbf16>, tensor<2x1xbf16> -> tensor<2147483647x2xbf16>
  return %y : tensor<2147483647x2xbf16>
}

// -----

// Batch and positions make up the rows.
func.func @rows(%x: tensor<64x33554432x1xbf16> {tg.role = #tg.role<features>}, %w: tensor<2x1xbf16>) -> tensor<64x33554432x2xbf16> {
  // expected-error @below {{the rows of the GEMM of "bsd,fd->bsf" are 2147483648, but the largest number of the library is 2147483647: a batch of 63 instead of 64 rows per rank and microbatch fits}}
  %y = exec.matmul "bsd,fd->bsf"(%x, %w) : tensor<64x33554432x1xbf16>, tensor<2x1xbf16> -> tensor<64x33554432x2xbf16>
  return %y : tensor<64x33554432x2xbf16>
}

// -----

// Large logits are no more than two sizes.
func.func @logits(%x: tensor<64x1024x768xbf16> {tg.role = #tg.role<features>}, %w: tensor<50257x768xbf16>) -> tensor<64x1024x50257xbf16> {
  %y = exec.matmul "bsd,vd->bsv"(%x, %w) : tensor<64x1024x768xbf16>, tensor<50257x768xbf16> -> tensor<64x1024x50257xbf16>
  return %y : tensor<64x1024x50257xbf16>
}

// -----

// Where nothing says what the batch is.
func.func @contracted(%x: tensor<2x2147483648xbf16>, %w: tensor<2x2147483648xbf16>) -> tensor<2x2xbf16> {
  // expected-error @below {{the contracted terms of the GEMM of "bd,fd->bf" are 2147483648, but the largest number of the library is 2147483647}}
  %y = exec.matmul "bd,fd->bf"(%x, %w) : tensor<2x2147483648xbf16>, tensor<2x2147483648xbf16> -> tensor<2x2xbf16>
  return %y : tensor<2x2xbf16>
}

// -----

func.func @matrices(%x: tensor<32x67108864x2x2xbf16> {tg.role = #tg.role<features>}) -> tensor<32x67108864x2x2xbf16> {
  // expected-error @below {{the matrices in the batch of the GEMM of "bhij,bhjk->bhik" are 2147483648, but the largest number of the library is 2147483647: a batch of 31 instead of 32}}
  %y = exec.matmul "bhij,bhjk->bhik"(%x, %x) : tensor<32x67108864x2x2xbf16>, tensor<32x67108864x2x2xbf16> -> tensor<32x67108864x2x2xbf16>
  return %y : tensor<32x67108864x2x2xbf16>
}

// -----

// A part of a tensor is read with the strides of the whole.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  func.func @attention(%p: tensor<1024x8192x3x128xbf16> {tg.role = #tg.role<features>}) -> tensor<1024x8192x1x128xbf16> {
    %q = exec.view %p offset 0 strides [3145728, 384, 128, 1] : tensor<1024x8192x3x128xbf16> -> tensor<1024x8192x1x128xbf16>
    // expected-error @below {{the elements around tensor<1024x8192x1x128xbf16> are 3221225472, but the largest number of the library is 2147483647: a batch of 682 instead of 1024}}
    %o, %lse = exec.attention(%q, %q, %q) scale 0.25 causal
        : (tensor<1024x8192x1x128xbf16>, tensor<1024x8192x1x128xbf16>, tensor<1024x8192x1x128xbf16>) -> tensor<1024x8192x1x128xbf16>, tensor<1024x1x8192xf32>
    return %o : tensor<1024x8192x1x128xbf16>
  }
}

// -----

// The scores are in memory for a fixed order alone, and one row may have too many.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  func.func @scores(%q: tensor<2x65536x1x8xbf16> {tg.role = #tg.role<features>}, %lse: tensor<2x1x65536xf32>) -> tensor<2x65536x1x8xbf16> {
    // expected-error @below {{the scores whose gradient is written for a fixed order are 8589934592, but the largest number of the library is 2147483647 even for one row of the batch: make the sequence shorter}}
    %0:3 = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal
        : (tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x1x65536xf32>, tensor<2x65536x1x8xbf16>)
        -> tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>
    %1:3 = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal order any
        : (tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x1x65536xf32>, tensor<2x65536x1x8xbf16>)
        -> tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>
    return %0#0 : tensor<2x65536x1x8xbf16>
  }
}

// -----

// Some libraries write down none for it.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_100">} {
  func.func @unwritten(%q: tensor<2x65536x1x8xbf16> {tg.role = #tg.role<features>}, %lse: tensor<2x1x65536xf32>) -> tensor<2x65536x1x8xbf16> {
    %0:3 = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal
        : (tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x1x65536xf32>, tensor<2x65536x1x8xbf16>)
        -> tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>
    return %0#0 : tensor<2x65536x1x8xbf16>
  }
}

// -----

module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  func.func @written(%q: tensor<2x65536x1x8xbf16> {tg.role = #tg.role<features>}, %lse: tensor<2x1x65536xf32>) -> tensor<2x65536x1x8xbf16> {
    // expected-error @below {{the scores whose gradient is written for a fixed order are 8589934592}}
    %0:3 = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal
        : (tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x1x65536xf32>, tensor<2x65536x1x8xbf16>)
        -> tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>
    %1:3 = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal order serial
        : (tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x1x65536xf32>, tensor<2x65536x1x8xbf16>)
        -> tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>, tensor<2x65536x1x8xbf16>
    return %0#0 : tensor<2x65536x1x8xbf16>
  }
}
