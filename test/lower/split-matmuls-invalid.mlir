// Marks of matmuls in two calls that text gives wrongly.
// RUN: braid-opt %s --split-input-file --verify-diagnostics
#t = #exec.target<"cuda", arch = "sm_90">
module attributes {exec.target = #t} {
exec.program @train arena 1024 {
  exec.buffer @x at 0 bytes 256 live -1 to 1 category inputs name "x" "input" role "x" : tensor<8x8xf32>
  exec.buffer @y at 256 bytes 256 live 0 to 1 category activations name "y" "result" role "y" : tensor<8x8xf32>
  %x = exec.ref @x + 0 : !exec.ref<8x8xf32, [8, 1]>
  %y = exec.ref @y + 0 : !exec.ref<8x8xf32, [8, 1]>
  // expected-error@+1 {{'exec.rows_apart' is the number of an exec.matmul's rows or columns, i64 and at least 1, found 0 : i64}}
  exec.matmul "mk,kn->mn"(%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) {exec.rows_apart = 0 : i64} : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
}
}

// -----
module {
exec.program @train arena 1024 {
  exec.buffer @x at 0 bytes 256 live -1 to 1 category inputs name "x" "input" role "x" : tensor<8x8xf32>
  exec.buffer @y at 256 bytes 256 live 0 to 1 category activations name "y" "result" role "y" : tensor<8x8xf32>
  %x = exec.ref @x + 0 : !exec.ref<8x8xf32, [8, 1]>
  %y = exec.ref @y + 0 : !exec.ref<8x8xf32, [8, 1]>
  // expected-error@+1 {{has 'exec.columns_apart', but a bias, an epilogue, an addend or a second result, which a matmul in two calls cannot have}}
  exec.matmul "mk,kn->mn"(%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) epilogue gelu_tanh {exec.columns_apart = 1 : i64} : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
}
}

// -----
module {
exec.program @train arena 1024 {
  exec.buffer @x at 0 bytes 256 live -1 to 1 category inputs name "x" "input" role "x" : tensor<8x8xf32>
  exec.buffer @y at 256 bytes 256 live 0 to 1 category activations name "y" "result" role "y" : tensor<8x8xf32>
  %x = exec.ref @x + 0 : !exec.ref<8x8xf32, [8, 1]>
  %y = exec.ref @y + 0 : !exec.ref<8x8xf32, [8, 1]>
  // expected-error@+1 {{has 'exec.rows_apart' and 'exec.columns_apart'; a matmul is split by rows or by columns: drop one of them}}
  exec.matmul "mk,kn->mn"(%x, %x) outs(%y : !exec.ref<8x8xf32, [8, 1]>) {exec.columns_apart = 1 : i64, exec.rows_apart = 1 : i64} : !exec.ref<8x8xf32, [8, 1]>, !exec.ref<8x8xf32, [8, 1]>
}
}
